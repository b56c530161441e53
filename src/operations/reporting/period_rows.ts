/**
 * What each operator of an organization did in a period, from rows that are held: every one carries its seal, no operator
 * is missing, and no row is missing where the period begins or ends, since each names the position of the one before it.
 * The same holds for the calls that an incident froze.
 * Source: scoring model, section 10.
 */
import type { Reading } from "../shared/capabilities.ts";
import { DIMENSIONS, type Domain } from "../../domain/enums.ts";
import type { Period } from "../../domain/report.ts";
import type { FullDimensions } from "../../scoring/dimensions.ts";
import type { PeriodData, PeriodRecord } from "../../scoring/period.ts";
import { type EpochSpan, epochSpansQuery } from "../../store/chains.ts";
import {
  edgeQuery,
  frozenOperatorsQuery,
  type Histories,
  PERIOD_EDGES,
  type PeriodEdge,
} from "../../store/interactions.ts";
import { operatorFiguresQuery } from "../../store/operators.ts";
import { organizationQuery, type StoredOrganization } from "../../store/organizations.ts";
import {
  type FrozenOperatorRow,
  frozenOperators,
  type InteractionRow,
  interactions,
  type OperatorFigures,
  operatorFigures,
  organizations,
  type SkippedInteractionRow,
  skippedInteractions,
} from "../../store/records.ts";
import { AlteredRows } from "../../store/seals.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { requireSealed, requireWholeSet, snapshotWithHead } from "../shared/sealed_reads.ts";

export interface HeldPeriod {
  readonly organization: StoredOrganization;
  readonly data: PeriodData;
  /** Entries, one of a chain at most, that must have been cut off: else rows are missing, and the data is wrong. */
  readonly cutOff: readonly CutOff[];
}

interface CutOff {
  readonly chain: string;
  readonly seq: number;
}

/**
 * @throws {AlteredRows} where a row is not what this installation wrote, or one is missing; {ServiceError}
 *   SERVICE_UNAVAILABLE where the database is behind what was issued.
 */
export async function readPeriod(
  dependencies: Reading,
  orgId: string,
  period: Period,
): Promise<HeldPeriod> {
  const family = evidenceChain(orgId);
  const { head, found } = await snapshotWithHead(dependencies, family, [
    organizationQuery(orgId),
    operatorFiguresQuery(orgId),
    frozenOperatorsQuery(orgId),
    epochSpansQuery(family),
    ...PERIOD_EDGES.map((edge) => edgeQuery("interaction", { orgId, period, edge })),
    ...PERIOD_EDGES.map((edge) => edgeQuery("skipped_interaction", { orgId, period, edge })),
  ]);
  const [[organization], all, frozen, epochs, ...edges] = found as unknown as [
    readonly StoredOrganization[],
    readonly OperatorFigures[],
    readonly FrozenOperatorRow[],
    readonly EpochSpan[],
    ...(readonly Histories[keyof Histories][])[],
  ];
  requireSealed(dependencies, organizations, [organization!]);
  requireWholeSet(dependencies, head, [
    ...requireSealed(dependencies, operatorFigures, all),
    ...requireSealed(dependencies, frozenOperators, frozen),
  ]);
  const scores = edges.slice(0, PERIOD_EDGES.length) as (readonly InteractionRow[])[];
  const freezes = edges.slice(PERIOD_EDGES.length) as (readonly SkippedInteractionRow[])[];
  for (const rows of scores) requireSealed(dependencies, interactions, rows);
  for (const rows of freezes) requireSealed(dependencies, skippedInteractions, rows);
  const cutOff = new Map<string, CutOff>();
  const isCutOff = (position: number) => {
    const index = epochs.findLastIndex(({ first_position }) => first_position <= position);
    const epoch = epochs[index];
    if (epoch === undefined || position - epoch.first_position >= epoch.min_index) return false;
    // What told of an older epoch's cut was itself cut off with the beginning of a later one.
    const later = epochs.findLast(({ min_index }, at) => at > index && min_index > 0);
    const { chain } = later ?? epoch;
    const seq = later === undefined ? position - epoch.first_position : 0;
    if (seq >= (cutOff.get(chain)?.seq ?? 0)) cutOff.set(chain, { chain, seq });
    return true;
  };
  const isHeld = (operator: Last, around: Around<Linked>) => isUnbroken(operator, around, isCutOff);
  const scored = byOperator(scores);
  const records = all.flatMap((operator) => {
    const around = scored(operator.operator_id);
    if (!isHeld(operator, around)) throw new AlteredRows(family, "a row of interaction");
    const { first, last } = around;
    return first === undefined || last === undefined ? [] : [recordOf(first, last)];
  });
  const skipped = byOperator(freezes);
  let incidentFreezes = 0;
  for (const operator of frozen) {
    const around = skipped(operator.operator_id);
    if (!isHeld(operator, around)) throw new AlteredRows(family, "a row of skipped_interaction");
    const { first, last } = around;
    if (first !== undefined && last !== undefined) incidentFreezes += last.n - first.n + 1;
  }
  return { organization: organization!, data: { records, incidentFreezes }, cutOff: [...cutOff.values()] };
}

/** What a row says of its place among those of its operator. */
type Linked = Pick<InteractionRow & SkippedInteractionRow, "position" | "previous" | "t0">;
/** What an operator's own row says of the last of them. */
type Last = Pick<OperatorFigures & FrozenOperatorRow, "position" | "t0">;
type Around<Row> = Readonly<Record<PeriodEdge, Row | undefined>>;

/** The rows around the edges of a period, by operator, from those at each edge in the order of the edges. */
function byOperator<Row extends { readonly operator_id: string }>(
  edges: readonly (readonly Row[])[],
): (operatorId: string) => Around<Row> {
  const [before, first, last, after] = edges.map((rows) =>
    new Map(rows.map((row) => [row.operator_id, row]))
  );
  return (operatorId) => ({
    before: before!.get(operatorId),
    first: first!.get(operatorId),
    last: last!.get(operatorId),
    after: after!.get(operatorId),
  });
}

/**
 * Whether the rows around the edges of a period follow one another, so that a deleted one leaves a gap, and whether all of
 * them are of the record that the operator has now: rows of before an erasure, put back, began at another instant.
 */
function isUnbroken(
  { position, t0 }: Last,
  { before, first, last, after }: Around<Linked>,
  isCutOff: (position: number) => boolean,
): boolean {
  if ([before, first, last, after].some((row) => row !== undefined && row.t0 !== t0)) return false;
  const end = after === undefined ? position : after.previous;
  if (first === undefined || last === undefined) return follows(end, before, isCutOff);
  return end === last.position && follows(first.previous, before, isCutOff);
}

/** Whether a row stands at the position that the next one names, or was cut off there. */
function follows(
  named: number | null,
  row: Linked | undefined,
  isCutOff: (position: number) => boolean,
): boolean {
  if (named === null || row !== undefined) return (row?.position ?? null) === named;
  return isCutOff(named);
}

/** The last row, with what was done from the first to it. */
function recordOf(first: InteractionRow, last: InteractionRow): PeriodRecord {
  const [wasDeparted, wasReferred] = ownCounts(first);
  const referrals = last.referred - first.referred + wasReferred;
  const values = [last.d1, last.d2, last.d3, last.d4, last.d5, last.d6, last.d7];
  return {
    at: last.t1,
    domain: last.domain as Domain,
    jis: last.jis,
    low: last.low,
    high: last.high,
    dimensions: Object.fromEntries(DIMENSIONS.map((name, index) => [name, values[index]!])) as FullDimensions,
    meanCorrectAcceptance: last.mean_c,
    n: last.n,
    t0: last.t0,
    groundTruth: last.ground_truth,
    tcrit: last.tcrit,
    critCount: last.crit_count,
    shareHs: last.share_hs,
    shareCrit: last.share_crit,
    interactions: last.n - first.n + 1,
    departures: last.departed - first.departed + wasDeparted - referrals,
    referrals,
  };
}

/** What a row itself counts as: departed or referred, and referred. */
function ownCounts({ departure, decision }: InteractionRow): readonly [departed: number, referred: number] {
  const isReferred = decision === "deferred" || decision === "escalated";
  return [departure > 0 || isReferred ? 1 : 0, isReferred ? 1 : 0];
}
