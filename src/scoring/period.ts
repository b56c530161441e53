/**
 * A period and its records: the last record of each operator inside it. The period's report reads no other
 * record. Source: scoring model, section 10.
 */
import type { ProbeFigures } from "../domain/probe.ts";
import type { Domain, VerdictStatus } from "../domain/enums.ts";
import type { Period } from "../domain/period.ts";
import type { FullDimensions } from "./dimensions.ts";
import type { ModelDocument } from "./model.ts";
import { countedVerdict } from "./organization.ts";
import { minimumDataMet } from "./state.ts";

/**
 * One operator's last record inside the period; times are epoch milliseconds. The figures are those at the record,
 * or with labels that came since, if it is the operator's latest and `jis-3` scores.
 */
export interface PeriodRecord {
  /** When the record was made: the instant at which the operator is judged. */
  readonly at: number;
  /**
   * True if the operator was scored again after the period: labels that came after the record are in later records
   * alone, and the figures are as of the record.
   */
  readonly isScoredSince?: true;
  /** The record's domain. */
  readonly domain: Domain;
  /** Full-mode JIS after the record, 0..100, two decimals. */
  readonly jis: number;
  /** The interval of the JIS, points. If there is a verdict, nothing is decided by it. */
  readonly low: number;
  readonly high: number;
  /** The full-mode verdict with `jis`; null with the formulas before `jis-3`. */
  readonly verdict: VerdictStatus | null;
  /** Full-mode dimensions after the record, integers 0..100. */
  readonly dimensions: FullDimensions;
  /** Mean of the bucket of correct acceptance after the record, 0..1. */
  readonly meanCorrectAcceptance: number;
  /** Interactions scored, up to and with the record. */
  readonly n: number;
  /** First interaction ever. */
  readonly t0: number;
  /** Known cases that a verdict rests on, as the formulas count them that made it. */
  readonly groundTruth: number;
  /** Latest critical interaction up to the record; null if there was none. */
  readonly tcrit: number | null;
  /** Critical interactions up to the record. */
  readonly critCount: number;
  /** Recent share of high-stakes or critical interactions at the record, 0..1. */
  readonly shareHs: number;
  /** Recent share of critical interactions at the record, 0..1. */
  readonly shareCrit: number;
  /** Interactions of the operator scored in the period. */
  readonly interactions: number;
  /** Number of these that departed from the recommendation, in whole or in part (section 2.3). */
  readonly departures: number;
  /** Number of these that were deferred or escalated. */
  readonly referrals: number;
}

/** The data of a period, all operators together. */
export interface PeriodData {
  /** One for each operator with an interaction in the period, in any order. */
  readonly records: readonly PeriodRecord[];
  /** Calls of the period that an incident froze: recorded, not scored. */
  readonly incidentFreezes: number;
  /** The figures of the period's sealed probes; null or absent if there was none. */
  readonly probes?: ProbeFigures | null;
}

/** The sum of one count over all these operators in the period. */
export function totalOf(
  records: readonly PeriodRecord[],
  what: "interactions" | "departures" | "referrals",
): number {
  return records.reduce((sum, record) => sum + record[what], 0);
}

/** The UTC date of the period's last millisecond. */
export function lastDayOf({ end }: Period): string {
  return new Date(end - 1).toISOString().slice(0, 10);
}

/** Population E: the records long enough for a verdict, each at its own instant. */
export function populationOf(
  model: ModelDocument,
  records: readonly PeriodRecord[],
): readonly PeriodRecord[] {
  return records.filter((record) => minimumDataMet(model, record, record.at));
}

const SIDES = { compliant: "above", non_compliant: "below", undetermined: "undetermined" } as const;

/**
 * The side of the minimum JIS on which the operator certainly is: by the verdict, or without one to count by the
 * side on which the whole interval lies, undetermined if it straddles the minimum.
 */
export function againstMinimum(
  model: ModelDocument,
  record: Pick<PeriodRecord, "low" | "high" | "verdict">,
): "above" | "below" | "undetermined" {
  const verdict = countedVerdict(model, record);
  if (verdict !== null) return SIDES[verdict];
  const { low, high } = record;
  if (low >= model.thresholds.min_jis) return "above";
  return high < model.thresholds.min_jis ? "below" : "undetermined";
}
