/**
 * Reads operators: profile, sparkline, list, and the maintenance recommendation. Every figure is computed
 * from stored rows at the time of the request, so that none is stale.
 * Source: specification, Operator profile and Maintenance recommendation; contract, section 4; scoring model, 8.
 */
import type { Reading, Scoring } from "../shared/capabilities.ts";
import type { Band, Dimension, Domain, OperatorSort, VerdictStatus } from "../../domain/enums.ts";
import { ServiceError } from "../../domain/errors.ts";
import { HISTORY_POINTS, LIST_SPARKLINE_DAYS } from "../../domain/limits.ts";
import { roundTo } from "../../scoring/arithmetic.ts";
import { PROFILE_BANDS } from "../../domain/operator.ts";
import { complianceOf } from "../../scoring/compliance.ts";
import { currentTrend, projectDecay, readProjection } from "../../scoring/decay.ts";
import { bandOf, type FullDimensions } from "../../scoring/dimensions.ts";
import { estimatesOf } from "../../scoring/estimates.ts";
import { type ExercisePlan, recommendExercises } from "../../scoring/maintenance.ts";
import type { ModelDocument } from "../../scoring/model.ts";
import { readState } from "../../scoring/reading.ts";
import { isCriticalDecision, isHighRisk } from "../../scoring/organization.ts";
import { minimumDataMet, type OperatorState, truthOf } from "../../scoring/state.ts";
import { DAY_MS } from "../../domain/time.ts";
import { article14Force } from "../../scoring/report.ts";
import type { Uncertainty } from "../../scoring/uncertainty.ts";
import type { Verdict } from "../../scoring/verdict.ts";
import {
  type DayPoint,
  type DaySpan,
  daysQuery,
  type HistoryPoint,
  historyQuery,
  newestQuery,
  operatorNamed,
  type OperatorNames,
  operatorsNamed,
  scoreBeforeQuery,
} from "../../store/interactions.ts";
import {
  namesOnPage,
  operatorQuery,
  operatorsPageQuery,
  type PageStart,
  startAfter,
  type StoredOperator,
} from "../../store/operators.ts";
import type { OperatorFigures } from "../../store/records.ts";
import { requireCurrentOperators } from "../scoring/current_operator.ts";
import type { OrganizationCaller } from "../shared/call.ts";
import { missingSubjectError } from "../shared/subjects.ts";

/** The dependencies of these operations. */
type Needs = Reading & Scoring;

const PROFILE_BAND: Readonly<Record<Band, (typeof PROFILE_BANDS)[number]>> = {
  exemplary: "Exemplary",
  proficient: "Proficient",
  adequate: "Adequate",
  at_risk: "At Risk",
};

/** A stored operator in the form that the organization rule reads. */
export function ruleRow(
  row: Omit<OperatorFigures, "org_id" | "operator_id" | "position" | "digest" | "seal">,
) {
  return {
    jis: row.jis,
    n: row.n,
    t0: row.t0,
    t1: row.t1,
    domain: row.domain as Domain,
    tcrit: row.tcrit,
    shareHs: row.share_hs,
    shareCrit: row.share_crit,
    critCount: row.crit_count,
    verdict: row.verdict as VerdictStatus | null,
  };
}

function unknownOperator(operatorId: string): ServiceError {
  return new ServiceError(
    "NOT_FOUND",
    `operator_id ${operatorId} has no interactions: check the operator_id, or score an interaction first.`,
  );
}

interface CurrentFigures {
  readonly state: OperatorState;
  readonly domain: Domain;
  readonly jis: number;
  readonly dimensions: FullDimensions;
  readonly uncertainty: Uncertainty;
  /** Null with the formulas before `jis-3`. */
  readonly verdict: Verdict | null;
  readonly priorDimensions: readonly Dimension[];
}

/** The figures of a stored state, without decay: nothing fades until the next interaction. */
export function currentFigures(model: ModelDocument, row: StoredOperator): CurrentFigures {
  const state: OperatorState = JSON.parse(row.state);
  const domain = row.domain as Domain;
  const { dimensions, uncertainty, judgment } = readState(model, state, { domain, mode: "full" });
  return {
    state,
    domain,
    jis: row.jis,
    dimensions: dimensions as FullDimensions,
    uncertainty,
    verdict: judgment?.verdict ?? null,
    priorDimensions: judgment?.priorDimensions ?? [],
  };
}

function timestamp(at: number): string {
  return new Date(at).toISOString();
}

const historyPoint = ({ at, jis }: HistoryPoint) => ({ timestamp: timestamp(at), jis });

/** @throws {ServiceError} NOT_FOUND; {AlteredRows}. */
export async function operatorProfile(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  { operatorId, projection, now }: {
    readonly operatorId: string;
    /** Whether to add the decay projection and the compliance. */
    readonly projection: boolean;
    readonly now: number;
  },
) {
  const { database, model: { document } } = dependencies;
  const [rows, newest, history] = await database.snapshot([
    operatorQuery(orgId, operatorId),
    newestQuery(orgId, operatorNamed(operatorId)),
    historyQuery(orgId, { operatorId, limit: HISTORY_POINTS }),
  ]);
  requireCurrentOperators(dependencies, orgId, { rows, newest });
  const [row] = rows;
  if (row === undefined) throw unknownOperator(operatorId);
  const figures = currentFigures(document, row);
  const { state, domain, jis, dimensions, uncertainty, verdict, priorDimensions } = figures;
  return {
    profile: {
      operator_id: operatorId,
      jis,
      band: PROFILE_BAND[bandOf(document, jis)],
      dimensions,
      minimum_data_met: minimumDataMet(document, row, now),
      total_interactions: row.n,
      uncertainty,
      verdict,
      prior_dimensions: [...priorDimensions],
      estimates: estimatesOf(document, state),
      domain,
      team: row.team,
      last_interaction_at: timestamp(row.t1),
      scored_by: state.v,
    },
    jis_history: history.toReversed().map(historyPoint),
    ...(projection ? outlookOf(document, figures, { lastAt: row.t1, now }) : {}),
  };
}

/** The decay projection as of `now`, the compliance that follows from it, and whether its law is in force; instants are epoch milliseconds. */
function outlookOf(
  model: ModelDocument,
  { state, domain, jis, dimensions, verdict }: CurrentFigures,
  { lastAt, now }: { readonly lastAt: number; readonly now: number },
) {
  const decay = readProjection(model, projectDecay(model, state, { jis, domain }), {
    lastAt,
    now,
    verdict,
  });
  const compliance = complianceOf(model, {
    jis,
    band: bandOf(model, jis),
    dimensions,
    daysToNonCompliance: decay.days_to_non_compliance,
    verdict,
  });
  return {
    decay_projection: decay,
    compliance,
    article14: article14Force(model, timestamp(now).slice(0, "YYYY-MM-DD".length)),
  };
}

/** The UTC days of a window that ends with the day of `now`. */
function daysUntil(now: number, days: number): DaySpan {
  const end = Math.floor(now / DAY_MS) + 1;
  return { first: end - days, end };
}

/** @throws {ServiceError} NOT_FOUND; {AlteredRows}. */
export async function operatorSparkline(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  { operatorId, days, now }: { readonly operatorId: string; readonly days: number; readonly now: number },
) {
  const { database, model: { document } } = dependencies;
  const span = daysUntil(now, days);
  const [rows, newest, found] = await database.snapshot([
    operatorQuery(orgId, operatorId),
    newestQuery(orgId, operatorNamed(operatorId)),
    daysQuery(orgId, { operators: operatorNamed(operatorId), days: span }),
  ]);
  requireCurrentOperators(dependencies, orgId, { rows, newest });
  const [row] = rows;
  if (row === undefined) throw unknownOperator(operatorId);
  const { state, jis, uncertainty, verdict } = currentFigures(document, row);
  const values = found.map((point) => point.jis);
  return {
    window: { from: span.first * DAY_MS, to: span.end * DAY_MS },
    verdict,
    body: {
      operator_id: operatorId,
      days,
      points: found.map(historyPoint),
      min: values.length === 0 ? null : Math.min(...values),
      max: values.length === 0 ? null : Math.max(...values),
      current: jis,
      trend: currentTrend(document, state),
      uncertainty,
      verdict: verdict?.status ?? null,
    },
  };
}

export interface OperatorsPage {
  readonly band: Band | null;
  /** Null for all verdicts. */
  readonly verdict: VerdictStatus | null;
  /** Null for all teams and none. */
  readonly team: string | null;
  /** A part of the id, or of the pseudonym if `byPseudonym`; null for all operators. */
  readonly part: string | null;
  readonly sort: OperatorSort;
  readonly limit: number;
  readonly after: PageStart | null;
  readonly sparkline: boolean;
  /** Whether equal operators are in the order of their pseudonyms, and the sort by id is one by pseudonym. */
  readonly byPseudonym: boolean;
  readonly now: number;
}

/** The JIS range of a band: from (inclusive) and below (exclusive); null if that side is open. */
function bandRange({ bands }: ModelDocument, band: Band | null): readonly [number | null, number | null] {
  switch (band) {
    case null:
      return [null, null];
    case "exemplary":
      return [bands.exemplary, null];
    case "proficient":
      return [bands.proficient, bands.exemplary];
    case "adequate":
      return [bands.adequate, bands.proficient];
    case "at_risk":
      return [null, bands.adequate];
  }
}

/** A page of operators, and the start of the next page; null on the last page. @throws {AlteredRows} */
export async function listOperators(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  { band, verdict: only, team, part, sort, limit, after, sparkline, byPseudonym, now }: OperatorsPage,
) {
  const { database, model: { document } } = dependencies;
  // One extra row shows whether there is a next page.
  const options = {
    sort,
    jis: bandRange(document, band),
    verdict: only,
    team,
    part,
    after,
    limit: limit + 1,
    byPseudonym,
  };
  const names = namesOnPage(orgId, options);
  const always = [operatorsPageQuery(orgId, options), newestQuery(orgId, names)] as const;
  const [rows, newest, points = [], before = []] =
    await (sparkline
      ? database.snapshot([...always, ...changeQueries(orgId, names, daysUntil(now, LIST_SPARKLINE_DAYS))])
      : database.snapshot(always));
  requireCurrentOperators(dependencies, orgId, { rows, newest });
  if (rows.some(({ name }) => name === null)) throw missingSubjectError(orgId);
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1)! : null;
  const lines = sparkline ? groupByOperator(points) : null;
  const changes = lines === null ? null : changesOf(lines, before);
  return {
    operators: page.map((row) => {
      const { uncertainty, verdict } = currentFigures(document, row);
      return {
        operator_id: row.operator_id,
        team: row.team,
        domain: row.domain,
        jis: row.jis,
        band: bandOf(document, row.jis),
        minimum_data_met: minimumDataMet(document, row, now),
        total_interactions: row.n,
        uncertainty,
        verdict,
        high_risk: isHighRisk(document, ruleRow(row), now),
        critical_decision: isCriticalDecision(document, ruleRow(row), now),
        last_interaction_at: timestamp(row.t1),
        ...(lines === null ? {} : {
          sparkline: lines.get(row.operator_id) ?? [],
          change_30_days: changes!.get(row.operator_id) ?? null,
        }),
      };
    }),
    next: last === null ? null : startAfter(last, options),
  };
}

function groupByOperator(points: readonly DayPoint[]): ReadonlyMap<string, readonly number[]> {
  const lines = new Map<string, number[]>();
  for (const { operator_id, jis } of points) {
    const line = lines.get(operator_id);
    if (line === undefined) lines.set(operator_id, [jis]);
    else line.push(jis);
  }
  return lines;
}

/** The queries that tell by how many points scores changed: the scores of the days, and the last ones before them. */
function changeQueries(orgId: string, operators: OperatorNames, days: DaySpan) {
  return [
    daysQuery(orgId, { operators, days }),
    scoreBeforeQuery(orgId, { operators, at: days.first * DAY_MS }),
  ] as const;
}

/**
 * By how many points the last score of the days differs from the last one before them, by operator; without those who had no
 * interaction in these days or none before: nobody who is new has changed.
 */
function changesOf(
  lines: ReadonlyMap<string, readonly number[]>,
  before: readonly { readonly operator_id: string; readonly jis: number }[],
): ReadonlyMap<string, number> {
  return new Map(
    before.flatMap(({ operator_id, jis }) => {
      const last = lines.get(operator_id)?.at(-1);
      return last === undefined ? [] : [[operator_id, roundTo(last - jis, 2)]];
    }),
  );
}

/** The changes of some operators' scores within the days of the list's sparkline, as the list has them. */
export async function recentChanges(
  { database }: Pick<Needs, "database">,
  orgId: string,
  { operatorIds, now }: { readonly operatorIds: readonly string[]; readonly now: number },
): Promise<ReadonlyMap<string, number>> {
  const [points, before] = await database.snapshot(
    changeQueries(orgId, operatorsNamed(operatorIds), daysUntil(now, LIST_SPARKLINE_DAYS)),
  );
  return changesOf(groupByOperator(points), before);
}

/**
 * The exercises that an operator should practise.
 * @throws {ServiceError} NOT_FOUND without interactions; INSUFFICIENT_DATA if the record is too short.
 */
export async function recommendMaintenance(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  { operatorId, now }: { readonly operatorId: string; readonly now: number },
): Promise<ExercisePlan> {
  const { database, model: { document } } = dependencies;
  const [rows, newest] = await database.snapshot([
    operatorQuery(orgId, operatorId),
    newestQuery(orgId, operatorNamed(operatorId)),
  ]);
  requireCurrentOperators(dependencies, orgId, { rows, newest });
  const [row] = rows;
  if (row === undefined) throw unknownOperator(operatorId);
  if (!minimumDataMet(document, row, now)) {
    const { interactions, days } = document.minimum_data;
    const monitoredDays = Math.floor((now - row.t0) / DAY_MS);
    throw new ServiceError(
      "INSUFFICIENT_DATA",
      `A recommendation needs at least ${interactions} interactions or ${days} days of monitoring; operator_id ${operatorId} has ${row.n} and ${monitoredDays}.`,
    );
  }
  const { state, domain, jis, dimensions, verdict } = currentFigures(document, row);
  return recommendExercises(document, {
    jis,
    dimensions,
    mode: "full",
    decay: projectDecay(document, state, { jis, domain }),
    minimumDataMet: true,
    groundTruth: truthOf(document, state),
    verdict,
    now,
    domain,
  });
}
