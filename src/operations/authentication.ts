/**
 * Who a key belongs to. Every refusal looks the same from outside; here it costs the same too.
 * Source: specification, Authentication; contract, section 3.
 */
import { apiKeyPrefix, comparableKey, isApiKey, verifyApiKey } from "../keys/api_key.ts";
import { type MasterScope, type MasterSecrets, verifyMasterKey } from "../keys/master_keys.ts";
import { query } from "../store/database.ts";
import type { Dependencies, OrganizationCaller } from "./dependencies.ts";

/** The organization of a presented key, or null: unknown, revoked, inactive, malformed or missing alike. */
export async function authenticateKey(
  { database, peppers }: Pick<Dependencies, "database" | "peppers">,
  presented: string | undefined,
): Promise<OrganizationCaller | null> {
  const key = comparableKey(presented);
  const prefix = apiKeyPrefix(key);
  const [row] = await database.read(
    query.selectFrom("organization").select(["org_id", "key_hash", "active"]).where("prefix", "=", prefix)
      .compile(),
  );
  const matches = verifyApiKey(key, row?.key_hash ?? null, peppers);
  if (!matches || row === undefined || row.active !== 1) return null;
  return { actor: "api", orgId: row.org_id, prefix };
}

/** Whether a presented value is a secret of this scope; each scope's handler reads only its own. */
export function authenticateMaster(
  { masterSecrets }: { readonly masterSecrets: MasterSecrets },
  { presented, scope }: { readonly presented: string | undefined; readonly scope: MasterScope },
): boolean {
  return verifyMasterKey(presented, { secrets: masterSecrets, scope });
}

/** The prefix of an organization's key that was presented where a master key belongs, for the audit log. */
export function prefixOfMisplacedKey(presented: string | undefined): string | null {
  return presented !== undefined && isApiKey(presented) ? apiKeyPrefix(presented) : null;
}

/** Which active organizations registered an origin; a browser at any other is refused. */
export async function organizationsOfOrigin(
  { database }: Pick<Dependencies, "database">,
  origin: string,
): Promise<readonly string[]> {
  const rows = await database.read(
    query.selectFrom("organization_origin as oo")
      .innerJoin("organization as o", "o.org_id", "oo.org_id")
      .select("oo.org_id").where("oo.origin", "=", origin).where("o.active", "=", 1).compile(),
  );
  return rows.map((row) => row.org_id);
}
