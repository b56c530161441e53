/**
 * Reading rows that answers are made from: each must carry its seal, and where an answer speaks of all rows of a kind,
 * all of them must be there, as the newest that was issued of their chain holds them.
 */
import type { CompiledQuery } from "kysely";
import { equalBytes } from "../../evidence/crypto.ts";
import { headOf, type HeadRow, headsQuery, placeOfHead } from "../../store/chains.ts";
import { AlteredRows, type Sealed, type SealedKind, setOf, shareOf } from "../../store/seals.ts";
import type { Reading } from "./capabilities.ts";

/**
 * Rows of a kind, or those of their columns that the seal covers.
 * @returns the share of each in the hash of its set.
 * @throws {AlteredRows}
 */
export function requireSealed<Row extends Sealed & { readonly org_id: string }>(
  { seals }: Pick<Reading, "seals">,
  kind: SealedKind<Row>,
  rows: readonly Row[],
): readonly Uint8Array[] {
  return rows.map((row) => {
    const share = shareOf(seals, kind, row);
    if (share !== null) return share;
    throw new AlteredRows(kind.sealing?.heldBy?.(row) ?? `org/${row.org_id}`, `a row of ${kind.name}`);
  });
}

/**
 * A snapshot of the head of a family and of what the queries ask for.
 * @param options.ofPutBack whether a database that was found to be put back, and is read only, may be behind. Default: not.
 * @throws {ServiceError} SERVICE_UNAVAILABLE where the head is behind what was issued.
 */
export async function snapshotWithHead<Rows extends readonly unknown[]>(
  { database, lock }: Pick<Reading, "database" | "lock">,
  family: string,
  queries: { readonly [Index in keyof Rows]: CompiledQuery<Rows[Index]> },
  { ofPutBack = false }: { readonly ofPutBack?: boolean } = {},
): Promise<
  { readonly head: HeadRow; readonly found: { readonly [Index in keyof Rows]: readonly Rows[Index][] } }
> {
  // The lock first: it never leads, so that what another process writes meanwhile makes nothing look old.
  const issued = lock.issuedOf([family]);
  const all = await database.snapshot<readonly unknown[]>([headsQuery([family]), ...queries]);
  const [[head], ...found] = all as unknown as readonly [readonly HeadRow[], ...Rows[]];
  if (head === undefined) throw new Error(`${family} is not in the database`);
  if (!ofPutBack || lock.suspected() === null) lock.requireCurrent(issued, [headOf(head)]);
  return { head, found: found as never };
}

/**
 * Sealed rows must be all that a head holds.
 * @param shares those of the rows.
 * @throws {AlteredRows} where a row is missing, an old one was put back, or the head does not hold a set of its own.
 */
export function requireWholeSet(
  { seals }: Pick<Reading, "seals">,
  head: HeadRow,
  shares: Iterable<Uint8Array>,
): void {
  const held = head.held && seals.openSet(placeOfHead(headOf(head)), head.held);
  if (held === null || !equalBytes(held, setOf(shares))) {
    throw new AlteredRows(head.family, "the set of rows");
  }
}
