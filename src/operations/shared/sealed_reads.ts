/**
 * Reads the rows from which answers are made. Each row must carry its seal. If an answer covers all rows of a
 * kind, the rows must be the whole set that the newest issued head of their chain holds.
 */
import { equalBytes } from "../../evidence/crypto.ts";
import { headOf, type HeadRow, headsQuery, placeOfHead } from "../../store/chains.ts";
import type { CompiledQuery } from "../../store/database.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { frozenOperatorsQuery } from "../../store/interactions.ts";
import { operatorFiguresQuery } from "../../store/operators.ts";
import {
  probeProgrammeQuery,
  type ProbeProgrammeRow,
  probeProgrammes,
  type ProbeRow,
  probes,
  probesQuery,
} from "../../store/probes.ts";
import {
  type FrozenOperatorRow,
  frozenOperators,
  type Key,
  type OperatorFigures,
  operatorFigures,
  type RecordKind,
} from "../../store/records.ts";
import { AlteredRows, type Sealed, type SealedKind, setOf, shareOf } from "../../store/seals.ts";
import type { Reading } from "./capabilities.ts";

/**
 * Requires that each row carries its seal.
 * @param rows the rows of a kind, or only the columns that the seal covers.
 * @returns the share of each row in the hash of its set.
 * @throws {AlteredRows} if a row has no valid seal.
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

/** Reads rows by their keys. @throws {AlteredRows} if one of them has no valid seal. */
export async function readSealed<Row extends Sealed & { readonly org_id: string }>(
  dependencies: Pick<Reading, "database" | "seals">,
  kind: RecordKind<Row>,
  keys: readonly Key[],
): Promise<readonly Row[]> {
  const rows = await dependencies.database.read(kind.load(JSON.stringify(keys)));
  requireSealed(dependencies, kind, rows);
  return rows;
}

/**
 * Reads the head of a family and the results of the queries in one snapshot.
 * @param options.mayBePutBack true if a database that was found to be put back, and is read only, may be behind.
 *   Default: false.
 * @throws {ServiceError} SERVICE_UNAVAILABLE if the head is behind what was issued, or is suspect;
 *   {AlteredRows}.
 */
export async function snapshotWithHead<Rows extends readonly unknown[]>(
  { database, lock }: Pick<Reading, "database" | "lock">,
  family: string,
  queries: { readonly [Index in keyof Rows]: CompiledQuery<Rows[Index]> },
  { mayBePutBack = false }: { readonly mayBePutBack?: boolean } = {},
): Promise<
  { readonly head: HeadRow; readonly found: { readonly [Index in keyof Rows]: readonly Rows[Index][] } }
> {
  // The lock is read first. It is never ahead of the database, so a write by another process makes nothing
  // look old.
  const issued = lock.issuedOf([family]);
  const results = await database.snapshot<readonly unknown[]>([headsQuery([family]), ...queries]);
  const [[head], ...found] = results as unknown as readonly [readonly HeadRow[], ...Rows[]];
  if (head === undefined) throw new Error(`${family} is not in the database`);
  if (!mayBePutBack || !lock.isInDoubt()) lock.requireCurrent(issued, [headOf(head)]);
  return { head, found: found as never };
}

/**
 * Requires that sealed rows are the whole set that a head holds.
 * @param shares the shares of the rows.
 * @throws {AlteredRows} if a row is missing, an old row was put back, or the head does not hold a set of its
 *   own.
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

/** All rows whose set the head of an evidence chain holds. */
export interface HeldByEvidence {
  readonly operators: readonly OperatorFigures[];
  readonly frozen: readonly FrozenOperatorRow[];
  readonly programmes: readonly ProbeProgrammeRow[];
  readonly probes: readonly ProbeRow[];
}

/**
 * Reads the rows beside an organization's evidence, which must be all that there are, and as they were written; in the same snapshot
 * `queries`.
 * @throws as {@link requireSealed}, {@link requireWholeSet} and {@link snapshotWithHead}.
 */
export async function readHeldRows<Rows extends readonly unknown[]>(
  dependencies: Pick<Reading, "database" | "lock" | "seals">,
  orgId: string,
  queries: { readonly [Index in keyof Rows]: CompiledQuery<Rows[Index]> },
): Promise<
  {
    readonly held: HeldByEvidence;
    readonly found: { readonly [Index in keyof Rows]: readonly Rows[Index][] };
  }
> {
  const { head, found: results } = await snapshotWithHead<readonly unknown[]>(
    dependencies,
    evidenceChain(orgId),
    [
      operatorFiguresQuery(orgId),
      frozenOperatorsQuery(orgId),
      probeProgrammeQuery(orgId),
      probesQuery(orgId),
      ...queries,
    ],
  );
  const [operators, frozen, programmes, probeRows, ...found] = results as unknown as readonly [
    readonly OperatorFigures[],
    readonly FrozenOperatorRow[],
    readonly ProbeProgrammeRow[],
    readonly ProbeRow[],
    ...Rows[],
  ];
  requireWholeSet(dependencies, head, [
    ...requireSealed(dependencies, operatorFigures, operators),
    ...requireSealed(dependencies, frozenOperators, frozen),
    ...requireSealed(dependencies, probeProgrammes, programmes),
    ...requireSealed(dependencies, probes, probeRows),
  ]);
  return { held: { operators, frozen, programmes, probes: probeRows }, found: found as never };
}
