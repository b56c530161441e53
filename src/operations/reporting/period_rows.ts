/**
 * The activity of each operator of an organization in a period, from verified rows: every row has a valid
 * seal, no operator is missing, and no row is missing at the beginning or the end of the period, because each
 * row names the position of the one before it. The same holds for the calls that an incident froze. The probes are
 * all that the head of the chain holds.
 * Source: scoring model, section 10.
 */
import type { Reading, Scoring } from "../shared/capabilities.ts";
import { DIMENSIONS, type Domain, type VerdictStatus } from "../../domain/enums.ts";
import type { Period } from "../../domain/period.ts";
import type { FullDimensions } from "../../scoring/dimensions.ts";
import type { ModelDocument } from "../../scoring/model.ts";
import type { PeriodData, PeriodRecord } from "../../scoring/period.ts";
import { readState } from "../../scoring/reading.ts";
import { type OperatorState, truthOf } from "../../scoring/state.ts";
import { type EpochSpan, epochSpansQuery } from "../../store/chains.ts";
import { edgeQuery, type Histories, PERIOD_EDGES, type PeriodEdge } from "../../store/interactions.ts";
import { movedOperatorsQuery, type StoredOperator } from "../../store/operators.ts";
import { organizationQuery, type StoredOrganization } from "../../store/organizations.ts";
import {
  type FrozenOperatorRow,
  type InteractionRow,
  interactions,
  type OperatorFigures,
  operators,
  organizations,
  type SkippedInteractionRow,
  skippedInteractions,
} from "../../store/records.ts";
import { AlteredRows } from "../../store/seals.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { probeFigures } from "../probes/figures.ts";
import { readHeldRows, requireSealed } from "../shared/sealed_reads.ts";

export interface VerifiedPeriod {
  readonly organization: StoredOrganization;
  readonly data: PeriodData;
  /** Entries, at most one in each chain, that must have been cut off: else rows are missing. */
  readonly cutOff: readonly CutOff[];
}

interface CutOff {
  readonly chain: string;
  readonly seq: number;
}

/**
 * @throws {AlteredRows} if a row is not what this installation wrote, or is missing; {ServiceError}
 *   SERVICE_UNAVAILABLE if the database is behind what was issued.
 */
export async function readPeriod(
  dependencies: Reading & Scoring,
  orgId: string,
  period: Period,
): Promise<VerifiedPeriod> {
  const { model: { document } } = dependencies;
  const family = evidenceChain(orgId);
  const { held: { operators: figures, frozen, probes }, found } = await readHeldRows(dependencies, orgId, [
    organizationQuery(orgId),
    movedOperatorsQuery(orgId, { unjudged: document.discrimination !== undefined }),
    epochSpansQuery(family),
    ...PERIOD_EDGES.map((edge) => edgeQuery("interaction", { orgId, period, edge })),
    ...PERIOD_EDGES.map((edge) => edgeQuery("skipped_interaction", { orgId, period, edge })),
  ]);
  const [[organization], moved, epochs, ...edges] = found as unknown as [
    readonly StoredOrganization[],
    readonly StoredOperator[],
    readonly EpochSpan[],
    ...(readonly Histories[keyof Histories][])[],
  ];
  requireSealed(dependencies, organizations, [organization!]);
  const scores = edges.slice(0, PERIOD_EDGES.length) as (readonly InteractionRow[])[];
  const freezes = edges.slice(PERIOD_EDGES.length) as (readonly SkippedInteractionRow[])[];
  for (const rows of scores) requireSealed(dependencies, interactions, rows);
  for (const rows of freezes) requireSealed(dependencies, skippedInteractions, rows);
  requireSealed(dependencies, operators, moved);
  const movedByName = new Map(moved.map((row) => [row.operator_id, row]));
  const cutOff = new Map<string, CutOff>();
  const isCutOff = (position: number) => {
    const index = epochs.findLastIndex(({ first_position }) => first_position <= position);
    const epoch = epochs[index];
    if (epoch === undefined || position - epoch.first_position >= epoch.min_index) return false;
    // If a later epoch was cut, the record of the older epoch's cut is gone, too: the later cut is checked
    // instead.
    const later = epochs.findLast(({ min_index }, at) => at > index && min_index > 0);
    const { chain } = later ?? epoch;
    const seq = later === undefined ? position - epoch.first_position : 0;
    if (seq >= (cutOff.get(chain)?.seq ?? 0)) cutOff.set(chain, { chain, seq });
    return true;
  };
  const isComplete = (operator: LastRow, edgeRows: EdgeRows<Linked>) =>
    isUnbroken(operator, edgeRows, isCutOff);
  const scoredEdges = byOperator(scores);
  const records = figures.flatMap((operator) => {
    const edgeRows = scoredEdges(operator.operator_id);
    if (!isComplete(operator, edgeRows)) throw new AlteredRows(family, "a row of interaction");
    const { first, last } = edgeRows;
    if (first === undefined || last === undefined) return [];
    const record = recordOf(first, last);
    const row = movedByName.get(operator.operator_id);
    if (operator.position !== last.position) return [{ ...record, isScoredSince: true as const }];
    return [row?.position === last.position ? asOfToday(document, record, row) : record];
  });
  const skippedEdges = byOperator(freezes);
  let incidentFreezes = 0;
  for (const operator of frozen) {
    const edgeRows = skippedEdges(operator.operator_id);
    if (!isComplete(operator, edgeRows)) throw new AlteredRows(family, "a row of skipped_interaction");
    const { first, last } = edgeRows;
    if (first !== undefined && last !== undefined) incidentFreezes += last.n - first.n + 1;
  }
  return {
    organization: organization!,
    data: { records, incidentFreezes, probes: probeFigures(probes, period) },
    cutOff: [...cutOff.values()],
  };
}

/** The columns of a row that give its place among its operator's rows. */
type Linked = Pick<InteractionRow & SkippedInteractionRow, "position" | "previous" | "t0">;
/** The columns of the operator's own row that describe the last of those rows. */
type LastRow = Pick<OperatorFigures & FrozenOperatorRow, "position" | "t0">;
type EdgeRows<Row> = Readonly<Record<PeriodEdge, Row | undefined>>;

/**
 * The rows around the edges of a period, by operator.
 * @param edges rows by edge, in `PERIOD_EDGES`' order.
 */
function byOperator<Row extends { readonly operator_id: string }>(
  edges: readonly (readonly Row[])[],
): (operatorId: string) => EdgeRows<Row> {
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
 * Whether the rows around the edges of a period follow one another without a gap, which a deleted row would
 * leave, and all belong to the operator's present record: rows that were put back after an erasure have
 * another `t0`.
 */
function isUnbroken(
  { position, t0 }: LastRow,
  { before, first, last, after }: EdgeRows<Linked>,
  isCutOff: (position: number) => boolean,
): boolean {
  if ([before, first, last, after].some((row) => row !== undefined && row.t0 !== t0)) return false;
  const end = after === undefined ? position : after.previous;
  if (first === undefined || last === undefined) return isRowAt(end, before, isCutOff);
  return end === last.position && isRowAt(first.previous, before, isCutOff);
}

/** Whether a row is at the position that the next one names, or was cut off there. */
function isRowAt(
  named: number | null,
  row: Linked | undefined,
  isCutOff: (position: number) => boolean,
): boolean {
  if (named === null || row !== undefined) return (row?.position ?? null) === named;
  return isCutOff(named);
}

/** The figures of the last row, with the counts from the first row to it. */
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
    verdict: last.verdict as VerdictStatus | null,
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

/**
 * A record of the operator's latest interaction with the figures that labels, or a model of other formulas, have
 * given the state since: so a report says of the same operator what profile and dashboard say. Formulas before
 * `jis-3` keep the other figures of the score.
 */
function asOfToday(model: ModelDocument, record: PeriodRecord, row: StoredOperator): PeriodRecord {
  const moved = { ...record, jis: row.jis, verdict: row.verdict as VerdictStatus | null };
  if (model.discrimination === undefined) return moved;
  // Its seal was verified, so it is a state that this service wrote: it can be parsed without a check.
  const state: OperatorState = JSON.parse(row.state);
  const { dimensions, uncertainty: { low, high }, means } = readState(model, state, {
    domain: record.domain,
    mode: "full",
  });
  return {
    ...moved,
    low,
    high,
    dimensions: dimensions as FullDimensions,
    meanCorrectAcceptance: means.C,
    groundTruth: truthOf(model, state),
  };
}

/** The counts that a row itself adds: 0 or 1 as departed or referred, and 0 or 1 as referred. */
function ownCounts({ departure, decision }: InteractionRow): readonly [departed: number, referred: number] {
  const isReferred = decision === "deferred" || decision === "escalated";
  return [departure > 0 || isReferred ? 1 : 0, isReferred ? 1 : 0];
}
