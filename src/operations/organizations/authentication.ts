/**
 * Finds the organization of a key. Every refusal looks the same from outside; here it costs the same too.
 * Source: specification, Authentication; contract, section 3.
 */
import type { Logging, Reading, Secrets, Writing } from "../shared/capabilities.ts";
import { apiKeyPrefix, comparableKey, matchingPepper, mayBeHeld } from "../../keys/api_key.ts";
import { type MasterScope, type MasterSecrets, verifyMasterKey } from "../../keys/master_keys.ts";
import { isUnavailable } from "../../domain/errors.ts";
import { equalBytes } from "../../evidence/crypto.ts";
import { errorFields } from "../../observability/log.ts";
import { readKeyHolder, readOrganizationsOfOrigin } from "../../store/organizations.ts";
import { organizations } from "../../store/records.ts";
import { AlteredRows } from "../../store/seals.ts";
import type { WriteJob } from "../../store/writer.ts";
import type { OrganizationCaller } from "../shared/call.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import { storedKey } from "./key_issue.ts";
import { isRegistered, type Remembering } from "./registered.ts";
import { requireSealed } from "../shared/sealed_reads.ts";

/**
 * The organization of a presented key; null if the key is unknown, revoked, malformed or missing, or if the
 * organization is inactive.
 * @throws {AlteredRows} if the organization's row is not what this installation wrote.
 */
export async function authenticateKey(
  dependencies: Reading & Pick<Writing, "writer"> & Logging & Pick<Secrets, "peppers"> & Remembering,
  presented: string | undefined,
): Promise<OrganizationCaller | null> {
  const holder = await findCurrentHolder(dependencies, presented);
  if (holder === null) return null;
  if (holder.row.inactive_reasons !== "[]") return null;
  const { key, prefix, pepper, row } = holder;
  const isOld = pepper !== dependencies.peppers[0] || row.pepper_id === null;
  if (isOld) rehash(dependencies, { orgId: row.org_id, key, before: row.key_hash! });
  return { actor: "api", orgId: row.org_id, prefix };
}

/**
 * The holder of a presented key, from a row that is registered now; null if there is none.
 * @throws {AlteredRows}
 */
async function findCurrentHolder(
  dependencies: Parameters<typeof authenticateKey>[0],
  presented: string | undefined,
): Promise<Holder | null> {
  for (let reads = 1;; reads += 1) {
    const holder = await findHolder(dependencies, presented);
    if (holder === null) return null;
    requireSealed(dependencies, organizations, [holder.row]);
    if (await isRegistered(dependencies, holder.row)) return holder;
    // Another request may replace the row between two reads, but not each time.
    if (reads === READS_MAX) throw new AlteredRows(adminChain(holder.row.org_id), "a row of organization");
  }
}

const READS_MAX = 3;

type Holder = NonNullable<Awaited<ReturnType<typeof findHolder>>>;

/** The holder of a presented key, active or not; null, after the same work, if there is none. */
async function findHolder(
  { database, peppers }: Pick<Reading, "database"> & Pick<Secrets, "peppers">,
  presented: string | undefined,
) {
  const key = comparableKey(presented);
  const prefix = apiKeyPrefix(key);
  const row = await readKeyHolder(database, prefix);
  const pepper = matchingPepper(key, row?.key_hash ?? null, peppers);
  // A missing key is compared as a fixed key, which opens nothing even if an earlier program issued it.
  return pepper === null || row === null || !mayBeHeld(key) ? null : { key, prefix, pepper, row };
}

/**
 * Stores a key's hash under the pepper in use, and that pepper's id, in a later commit. No request waits for
 * it, and a key that was replaced meanwhile is left alone. If it fails, the next use of the key repeats it.
 */
function rehash(
  { peppers, writer, log }: Pick<Writing, "writer"> & Logging & Pick<Secrets, "peppers">,
  { orgId, key, before }: { readonly orgId: string; readonly key: string; readonly before: Uint8Array },
): void {
  const { key_hash, pepper_id } = storedKey(key, peppers[0]!);
  const job: WriteJob<void> = {
    needs: [{ kind: organizations, key: [orgId] }],
    chains: [adminChain(orgId)],
    plan(unit) {
      const row = unit.get(organizations, [orgId]);
      if (row?.key_hash != null && equalBytes(row.key_hash, before)) {
        unit.put(organizations, { ...row, key_hash, pepper_id });
      }
      return () => undefined;
    },
  };
  writer.submit(job).catch((error) => {
    if (isUnavailable(error)) return;
    log.error("a key could not be stored under the new pepper", errorFields(error));
  });
}

/** True if a presented value is a secret of this scope; each scope's handler reads only its own secrets. */
export function authenticateMaster(
  { masterSecrets }: { readonly masterSecrets: MasterSecrets },
  { presented, scope }: { readonly presented: string | undefined; readonly scope: MasterScope },
): boolean {
  return verifyMasterKey(presented, { secrets: masterSecrets, scope });
}

/**
 * The prefix of an organization's key that was presented instead of a master key, for the audit log. The
 * whole key is verified: else anybody who knows its first eight characters could accuse the organization.
 */
export async function prefixOfMisplacedKey(
  dependencies: Pick<Reading, "database"> & Pick<Secrets, "peppers">,
  presented: string | undefined,
): Promise<string | null> {
  return (await findHolder(dependencies, presented))?.prefix ?? null;
}

/** The active organizations that registered an origin; a browser at any other origin is refused. */
export async function organizationsOfOrigin(
  { database }: Pick<Reading, "database">,
  origin: string,
): Promise<readonly string[]> {
  return await readOrganizationsOfOrigin(database, origin);
}
