/**
 * Finds the organization of a key. Every refusal looks the same from outside; here it costs the same too.
 * Source: specification, Authentication; contract, section 3.
 */
import type { Logging, Reading, Secrets, Writing } from "../shared/capabilities.ts";
import { SCOPES } from "../../domain/access.ts";
import { apiKeyPrefix, comparableKey, matchingPepper, mayBeHeld } from "../../keys/api_key.ts";
import { type MasterScope, type MasterSecrets, verifyMasterKey } from "../../keys/master_keys.ts";
import { isUnavailable } from "../../domain/errors.ts";
import { equalBytes } from "../../evidence/crypto.ts";
import { errorFields } from "../../observability/log.ts";
import { type NamedKeyRow, namedKeys, readNamedKeyHolder } from "../../store/named_keys.ts";
import {
  readKeyHolder,
  readOrganizationsOfOrigin,
  type StoredOrganization,
} from "../../store/organizations.ts";
import { organizations } from "../../store/records.ts";
import type { WriteJob } from "../../store/writer.ts";
import type { Call, GrantedCaller } from "../shared/call.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import { storedKey } from "./key_issue.ts";
import { readRegisteredRow, type Remembering } from "./registered.ts";
import { requireSealed } from "../shared/sealed_reads.ts";

/**
 * The organization of a presented key, its own or a named one; null if the key is unknown, revoked, expired, malformed or
 * missing, or if the organization is inactive.
 * @throws {AlteredRows} if a row is not what this installation wrote.
 */
export async function authenticateKey(
  dependencies: Needs,
  presented: string | undefined,
  { now }: Pick<Call, "now">,
): Promise<GrantedCaller | null> {
  const holder = await findCurrentHolder(dependencies, presented);
  if (holder === null) return await authenticateNamedKey(dependencies, presented, now);
  if (holder.row.inactive_reasons !== "[]") return null;
  const { key, prefix, pepper, row } = holder;
  const isOld = pepper !== dependencies.peppers[0] || row.pepper_id === null;
  if (isOld) rehash(dependencies, { orgId: row.org_id, key, before: row.key_hash! });
  return { actor: "api", orgId: row.org_id, prefix, grant: null };
}

/** Whether a key is the own key, with all powers, of an active organization. @throws as {@link authenticateKey}. */
export async function isOwnKey(
  dependencies: Needs,
  { key, orgId, now }: { readonly key: string; readonly orgId: string; readonly now: number },
): Promise<boolean> {
  const caller = await authenticateKey(dependencies, key, { now });
  return caller?.orgId === orgId && caller.grant === null;
}

type Needs = Reading & Pick<Writing, "writer"> & Logging & Pick<Secrets, "peppers"> & Remembering;

/** The organization of a named key, and its scopes; null if no named key in use is presented. */
async function authenticateNamedKey(
  dependencies: Needs,
  presented: string | undefined,
  now: number,
): Promise<GrantedCaller | null> {
  const { database, peppers } = dependencies;
  const key = comparableKey(presented);
  const prefix = apiKeyPrefix(key);
  const found = await readRegisteredRow(dependencies, async () => {
    const row = await readNamedKeyHolder(database, prefix);
    const pepper = matchingPepper(key, row?.key_hash ?? null, peppers);
    if (pepper === null || row === null) return null;
    requireSealed(dependencies, namedKeys, [row]);
    return { row, pepper };
  }, { mayBePutBack: false });
  if (found === null) return null;
  const { row, pepper, organization } = found;
  const { org_id: orgId } = row;
  if (row.expires_at !== null && row.expires_at <= now) return null;
  if (!isOpenTo(organization, row.created_at)) return null;
  noteUse(dependencies, { key, row, now, isOld: pepper !== peppers[0] });
  return {
    actor: "api",
    orgId,
    prefix,
    grant: { kind: "scopes", scopes: SCOPES.filter((scope) => row.scopes.split(" ").includes(scope)) },
  };
}

/** Whether there is an organization, and it is active. */
export function isOpen(organization: StoredOrganization | undefined): organization is StoredOrganization {
  return organization?.inactive_reasons === "[]";
}

/** Whether an organization is active, and lets in who was let in at an instant: its key was not destroyed since. */
export function isOpenTo(
  { inactive_reasons, access_from }: Pick<StoredOrganization, "inactive_reasons" | "access_from">,
  since: number,
): boolean {
  return inactive_reasons === "[]" && (access_from === null || since > access_from);
}

/**
 * Records the use of a named key, at most once a minute, and stores its hash under the pepper in use. No request waits
 * for it, and if it fails, the next use repeats it.
 */
function noteUse(
  { peppers, writer, log }: Needs,
  { key, row, now, isOld }: {
    readonly key: string;
    readonly row: NamedKeyRow;
    readonly now: number;
    readonly isOld: boolean;
  },
): void {
  if (!isOld && row.used_at !== null && now - row.used_at < USE_RECORDED_MS) return;
  const { key_hash, pepper_id } = storedKey(key, peppers[0]!);
  const job: WriteJob<void> = {
    needs: [{ kind: namedKeys, key: [row.key_id] }],
    chains: [adminChain(row.org_id)],
    plan(unit) {
      const before = unit.get(namedKeys, [row.key_id]);
      if (before !== null) {
        const used_at = Math.max(now, before.used_at ?? 0);
        unit.put(namedKeys, { ...before, key_hash: key_hash!, pepper_id: pepper_id!, used_at });
      }
      return () => undefined;
    },
  };
  writer.submit(job).catch((error) => {
    if (isUnavailable(error)) return;
    log.error("the use of a named key could not be recorded", errorFields(error));
  });
}

/** The last use of a key is exact to a minute: so a busy key costs one small commit a minute. */
const USE_RECORDED_MS = 60_000;

/**
 * The holder of a presented key, from a row that is registered now; null if there is none.
 * @throws {AlteredRows}
 */
async function findCurrentHolder(
  dependencies: Needs,
  presented: string | undefined,
): Promise<Holder | null> {
  return await readRegisteredRow(dependencies, async () => {
    const holder = await findHolder(dependencies, presented);
    if (holder !== null) requireSealed(dependencies, organizations, [holder.row]);
    return holder;
  });
}

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
