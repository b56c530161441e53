/**
 * Records that are gone: erased with their operator, or pruned with their time. Their names stay used.
 * Source: evidence design, "Read first", point 3, and section 12; contract, section 2.
 */
import { ServiceError } from "../domain/errors.ts";
import { canonicalJson } from "../evidence/canonical.ts";
import { hex } from "../evidence/crypto.ts";
import { requestDigest } from "../keys/secrets.ts";
import { type Place, placeOf } from "../store/chains.ts";
import { query } from "../store/database.ts";
import { readCause } from "../store/pruning.ts";
import { type TombstoneRow, tombstones } from "../store/records.ts";
import type { Need, UnitOfWork } from "../store/unit_of_work.ts";
import { type Dependencies, evidenceChain, type Installation } from "./dependencies.ts";

/** Kinds of names that outlive what they named: sessions and decisions share one, as they do while they live. */
type NameKind = "record" | "report" | "operator";

interface Name {
  readonly kind: NameKind;
  readonly orgId: string;
  readonly name: string;
}

/** What stands for a name that must not be told: its HMAC under the installation key. */
export function tombstoneName({ key }: Installation, { kind, orgId, name }: Name): Uint8Array {
  return requestDigest(key, canonicalJson({ kind: "tombstone", of: kind, org_id: orgId, name }));
}

/** The need by which a plan can tell a name that is gone from one that was never used. */
export function tombstoneNeed({ installation }: Pick<Dependencies, "installation">, name: Name): Need {
  return { kind: tombstones, key: [hex(tombstoneName(installation, name))] };
}

/** @throws {ServiceError} GONE where the record of a declared need was erased or pruned. */
export function refuseGone(unit: UnitOfWork, { key }: Need): void {
  const row = unit.get(tombstones, key);
  if (row !== null) throw gone(row);
}

/** @throws {ServiceError} GONE where the record of this name was erased or pruned. */
export async function requireNotGone(
  { database, installation }: Pick<Dependencies, "database" | "installation">,
  name: Name,
): Promise<void> {
  const [row] = await database.read(
    query.selectFrom("tombstone").selectAll().where("name", "=", tombstoneName(installation, name)).compile(),
  );
  if (row !== undefined) throw gone(row);
}

/** Where a record of an organization lies. @throws {ServiceError} GONE where its entry was pruned. */
export async function placeOfRecord(
  { database }: Pick<Dependencies, "database">,
  { orgId, position }: { readonly orgId: string; readonly position: number },
): Promise<Place> {
  const place = await placeOf(database, { family: evidenceChain(orgId), position });
  if (!place.pruned) return place;
  throw gone({ reason: "pruned", ...await readCause(database, place.chain) });
}

/** The refusal of what was erased or pruned, with the entry that tells of it. */
export function gone(
  { reason, seq, entry_hash }: Pick<TombstoneRow, "reason" | "seq" | "entry_hash">,
): ServiceError {
  const why = reason === "erased"
    ? "was erased with its operator's personal data"
    : "is past its retention and was pruned";
  return new ServiceError("GONE", `This record ${why}; its name stays used: use another id for a new one.`, {
    details: { reason, entry: { seq, entry_hash: hex(entry_hash) } },
  });
}
