/**
 * Records that are gone: erased with their operator, or pruned after their retention. Their names stay used.
 * Source: evidence design, "Read first", point 3, and section 12; contract, section 2.
 */
import type { Proving } from "./capabilities.ts";
import { AlteredError, ServiceError } from "../../domain/errors.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import { evidenceChain, parseChain } from "../../evidence/chain_name.ts";
import { equalBytes, hex } from "../../evidence/crypto.ts";
import { retentionPrunedSchema } from "../../evidence/structural.ts";
import { requestDigest } from "../../keys/secrets.ts";
import { type Place, placeOf, readEntry, requireIntact } from "../../store/chains.ts";
import { newestOwnCheckpoint, proveHashes, readProven } from "../../store/proofs.ts";
import { type CauseOfCut, readCause, readCut } from "../../store/pruning.ts";
import { tombstones } from "../../store/records.ts";
import { type GoneCause, readTombstone } from "../../store/tombstones.ts";
import type { Need, UnitOfWork } from "../../store/unit_of_work.ts";
import { type Installation, originOf } from "./deployment.ts";

/**
 * Kinds of names that stay used after their record is gone; sessions and decisions share the kind `record`.
 */
type NameKind = "record" | "report" | "operator";

interface Name {
  readonly kind: NameKind;
  readonly orgId: string;
  readonly name: string;
}

/** The tombstone's name for a name that must not be stored: its HMAC under the installation key. */
export function tombstoneName({ key }: Installation, { kind, orgId, name }: Name): Uint8Array {
  return requestDigest(key, canonicalJson({ kind: "tombstone", of: kind, org_id: orgId, name }));
}

/** The need by which a plan distinguishes a name that is gone from one that was never used. */
export function tombstoneNeed({ installation }: Pick<Proving, "installation">, name: Name): Need {
  return { kind: tombstones, key: [hex(tombstoneName(installation, name))] };
}

/** GONE, as a row states it; {@link verifyingGone} checks it against the chain before the caller gets it. */
export class GoneError extends ServiceError {
  constructor(readonly row: GoneCause) {
    const phrase = row.reason === "erased"
      ? "was erased with its operator's personal data"
      : "is past its retention and was pruned";
    super("GONE", `This record ${phrase}; its name stays used: use another id for a new one.`, {
      details: { reason: row.reason, entry: { seq: row.seq, entry_hash: hex(row.entry_hash) } },
    });
  }
}

/**
 * @throws {ServiceError} GONE if the record of a declared need was erased or pruned; {@link verifyingGone}
 *   checks that against the chain.
 */
export function refuseGone(unit: UnitOfWork, { key }: Need): void {
  const row = unit.get(tombstones, key);
  if (row !== null) throw new GoneError(row);
}

/** @throws {ServiceError} GONE if the record of this name was erased or pruned; {AlteredError}. */
export async function requireNotGone(dependencies: GoneDependencies, name: Name): Promise<void> {
  const { database, installation } = dependencies;
  const row = await readTombstone(database, tombstoneName(installation, name));
  if (row === null) return;
  await verifyingGone(dependencies, name.orgId, () => {
    throw new GoneError(row);
  });
}

type GoneDependencies = Proving;

/**
 * Runs a function that may throw GONE, and checks that the organization's chain holds the entry that is named
 * as the reason.
 * @throws as the function does; {AlteredError} if it throws GONE and the chain does not confirm it.
 */
export async function verifyingGone<Result>(
  dependencies: GoneDependencies,
  orgId: string,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof GoneError) await requireGoneEntry(dependencies, orgId, error.row);
    throw error;
  }
}

/** Event type of the entry that makes a record gone, by reason. */
const EVENT_OF_REASON: Readonly<Record<string, string>> = {
  erased: "SUBJECT_ERASED",
  pruned: "RETENTION_PRUNED",
};

/**
 * @throws {AlteredError} if no entry of this hash stands there under a signed checkpoint, or if it is another
 *   event. If retention removed the entry itself, only its hash is left to check.
 */
export async function requireGoneEntry(
  dependencies: GoneDependencies,
  orgId: string,
  { reason, chain, seq, entry_hash }: GoneCause,
): Promise<void> {
  const family = evidenceChain(orgId);
  if (parseChain(chain)?.family !== family) {
    throw new AlteredError(family, `a record is said to be gone by an entry of ${chain}`);
  }
  const { database, crypto } = dependencies;
  const place = { chain, origin: originOf(dependencies, chain) };
  const checkpoint = await newestOwnCheckpoint(dependencies, place);
  await proveHashes(dependencies, { chain, hashes: new Map([[seq, entry_hash]]), checkpoint });
  const stored = await readEntry(database, { chain, seq });
  if (stored === null) return;
  requireIntact(crypto, stored);
  if (equalBytes(stored.hash, entry_hash) && stored.entry.event_type === EVENT_OF_REASON[reason]) return;
  throw new AlteredError(chain, `entry ${seq} of ${chain} does not tell why a record is gone`);
}

/**
 * The chain and place of an organization's record.
 * @throws {ServiceError} GONE if its entry was pruned; {AlteredError} if no entry records that cut.
 */
export async function placeOfRecord(
  dependencies: GoneDependencies,
  { orgId, position }: { readonly orgId: string; readonly position: number },
): Promise<Place> {
  const { database } = dependencies;
  const place = await placeOf(database, { family: evidenceChain(orgId), position });
  if (!place.pruned) return place;
  const row = { reason: "pruned", ...await causeOfCut(dependencies, place) };
  return await verifyingGone(dependencies, orgId, () => {
    throw new GoneError(row);
  });
}

/**
 * Requires that an entry which is not stored was cut off.
 * @throws {AlteredError} if no entry records the cut.
 */
export async function requireCutOff(
  dependencies: GoneDependencies,
  place: Pick<Place, "chain" | "seq">,
): Promise<void> {
  await causeOfCut(dependencies, place);
}

/** The entry by which an entry was cut off. @throws {AlteredError} if no entry records the cut. */
export async function causeOfCut(
  dependencies: GoneDependencies,
  { chain, seq }: Pick<Place, "chain" | "seq">,
): Promise<CauseOfCut> {
  const { database } = dependencies;
  const cause = await readCause(database, chain);
  const cut = await provenCut(dependencies, cause);
  if (cut.origin === originOf(dependencies, chain) && seq < cut.to) return { ...cause, entry_hash: cut.hash };
  throw new AlteredError(chain, `no entry tells that entry ${seq} of ${chain} was removed`);
}

/**
 * The cut that an entry records.
 * @throws {AlteredError} if the entry is not what was signed, or records no cut.
 */
async function provenCut(
  dependencies: GoneDependencies,
  { chain, seq }: Pick<CauseOfCut, "chain" | "seq">,
): Promise<{ readonly origin: string; readonly to: number; readonly hash: Uint8Array }> {
  const proven = await readProven(dependencies, { chain, origin: originOf(dependencies, chain), seq });
  const detail = retentionPrunedSchema.safeParse(
    JSON.parse(proven?.stored.parts.get("detail")?.text ?? "null"),
  ).data;
  const entry = proven?.stored.entry;
  // Anybody may have written the column, and the event counts only if the service itself is the actor.
  if (detail && entry?.event_type === "RETENTION_PRUNED" && entry.actor === "system") {
    return { origin: detail.origin, to: detail.to, hash: proven!.stored.hash };
  }
  throw new AlteredError(chain, `entry ${seq} of ${chain} does not record a cut`);
}

/**
 * The index at which a chain was cut; 0 if it was not cut.
 * @throws {AlteredError} if the chain's row and the newest entry of a cut do not agree on it.
 */
export async function provenMinIndex(dependencies: GoneDependencies, chain: string): Promise<number> {
  const { minIndex, cause } = await readCut(dependencies.database, chain);
  if (cause === null && minIndex === 0) return 0;
  if (cause !== null) {
    const { origin, to } = await provenCut(dependencies, cause);
    if (origin === originOf(dependencies, chain) && to === minIndex) return minIndex;
  }
  throw new AlteredError(chain, `no entry tells that ${chain} was cut at entry ${minIndex}`);
}
