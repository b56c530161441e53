/** Reads runs of exercises: a page of them, and one with its results and its effect on live work. */
import {
  EFFECT_INTERACTIONS,
  type ExerciseCaseResult,
  type ExerciseEffect,
  type ExerciseRun,
} from "../../exercises/answers.ts";
import { ServiceError } from "../../domain/errors.ts";
import { EXERCISE_LINK_HOURS_MAX, EXERCISES_PAGE_DEFAULT } from "../../domain/limits.ts";
import { MINUTE_MS } from "../../domain/time.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { metricValue } from "../../exercises/measures.ts";
import { recentRunsQuery, scoresBesideQuery } from "../../store/exercises.ts";
import type { ProvenRecord } from "../../store/proven_pages.ts";
import { type InteractionRow, interactions, subjects } from "../../store/records.ts";
import { AlteredRows } from "../../store/seals.ts";
import type { OrganizationCaller } from "../shared/call.ts";
import { newestRecords } from "../shared/newest_records.ts";
import { ownEpochs, readAtPositions } from "../shared/proven_records.ts";
import { pseudonymsOf } from "../shared/pseudonyms.ts";
import { readSealed, requireSealed } from "../shared/sealed_reads.ts";
import { decidedRows, listedRun, type Needs, readRun, resultsOf, type Run, runOfRecord } from "./runs.ts";

/** Earlier runs of an operator that are looked at when cases are chosen. */
const EARLIER_RUNS = 50;

interface RunsOf {
  readonly orgId: string;
  /** Null for all operators. */
  readonly operatorId: string | null;
}

/** The newest runs that an operator was set. @throws {AlteredError} */
export async function earlierRuns(
  dependencies: Needs,
  of: RunsOf & { readonly operatorId: string },
): Promise<readonly Run[]> {
  return (await newestRuns(dependencies, { ...of, below: null, limit: EARLIER_RUNS })).runs;
}

/** The newest runs below a position, without those of erased operators. */
async function newestRuns(
  dependencies: Needs,
  { orgId, operatorId, below, limit }: RunsOf & { readonly below: number | null; readonly limit: number },
): Promise<{
  readonly runs: readonly Run[];
  /** The position of the last run that was looked at, if there are more; else null. */
  readonly next: number | null;
}> {
  let subject: string | null = null;
  if (operatorId !== null) {
    const [known] = await readSealed(dependencies, subjects, [[orgId, operatorId]]);
    if (known === undefined) return { runs: [], next: null };
    subject = known.pseudonym;
  }
  const { records, next } = await newestRecords(
    dependencies,
    { family: evidenceChain(orgId), eventType: "EXERCISE_SET" },
    { subject, below, limit },
  );
  return { runs: await runsOfRecords(dependencies, orgId, records), next };
}

/** The runs of proven entries, without those of erased operators. @throws {AlteredError} */
async function runsOfRecords(
  dependencies: Needs,
  orgId: string,
  records: readonly ProvenRecord[],
): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (const record of records) {
    const run = await runOfRecord(dependencies, orgId, record);
    if (run !== null) runs.push(run);
  }
  return runs;
}

/** A run that is neither done nor over. */
export type OpenRun = ExerciseRun & { readonly state: "open" | "started" };

/**
 * By operator, the newest run that is set and not over, among as many as the first page of a list has; without operators who have
 * none. It asks as often for many operators as for one.
 * @throws {AlteredError}; {AlteredRows}.
 */
export async function openRunsOf(
  dependencies: Needs,
  { orgId, operatorIds, now }: {
    readonly orgId: string;
    readonly operatorIds: readonly string[];
    readonly now: number;
  },
): Promise<ReadonlyMap<string, OpenRun>> {
  const family = evidenceChain(orgId);
  const pseudonyms = [...(await pseudonymsOf(dependencies, orgId, operatorIds)).values()];
  // No link lives longer, so no earlier run is open.
  const since = new Date(now - EXERCISE_LINK_HOURS_MAX * 60 * MINUTE_MS).toISOString();
  const places = await dependencies.database.read(
    recentRunsQuery({ family, pseudonyms, since, limit: EXERCISES_PAGE_DEFAULT }),
  );
  if (places.length === 0) return new Map();
  const positions = places.map(({ position }) => position);
  const records = await readAtPositions(dependencies, await ownEpochs(dependencies, family), positions);
  // Retention may have removed one during the look-up.
  const found = positions.flatMap((position) => records.get(position) ?? []);
  const runs = (await runsOfRecords(dependencies, orgId, found))
    .filter(({ input: { expires_at } }) => now <= Date.parse(expires_at));
  const results = await resultsOf(dependencies, orgId, runs);
  const open = runs.map((run) => listedRun(run, results.get(run.runId)!, now))
    .filter((run): run is OpenRun => run.state === "open" || run.state === "started");
  // The first of an operator is the newest: a map keeps the last.
  return new Map(open.toReversed().map((run) => [run.operator_id, run]));
}

/**
 * A page of the runs, the last set first; `next` is the position below which the next page begins. A page has fewer runs
 * than its limit, or none, if operators on it were erased.
 */
export async function listExercises(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  { operatorId, limit, below, now }: {
    readonly operatorId: string | null;
    readonly limit: number;
    readonly below: number | null;
    readonly now: number;
  },
): Promise<{ readonly runs: readonly ExerciseRun[]; readonly next: number | null }> {
  const { runs, next } = await newestRuns(dependencies, { orgId, operatorId, below, limit });
  const results = await resultsOf(dependencies, orgId, runs);
  return { runs: runs.map((run) => listedRun(run, results.get(run.runId)!, now)), next };
}

/**
 * A run with its results, its effect, and their places on the chain.
 * @throws {ServiceError} NOT_FOUND; GONE; {AlteredError}.
 */
export async function readExercise(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  { runId, now }: { readonly runId: string; readonly now: number },
) {
  const run = await readRun(dependencies, runId);
  if (run.orgId !== orgId) {
    throw new ServiceError("NOT_FOUND", `There is no exercise ${runId}: check the run_id.`);
  }
  const results = (await resultsOf(dependencies, orgId, [run])).get(runId)!;
  const { metric, success_threshold } = run.input.exercise;
  const isDone = results.length === run.input.cases.length;
  const value = isDone ? metricValue(metric, results) : null;
  return {
    ...listedRun(run, results, now),
    results,
    success: {
      metric,
      threshold: success_threshold,
      value,
      met: value === null ? null : value >= success_threshold,
    },
    effect: await effectOf(dependencies, run, results),
    ...run.place,
  };
}

/** The effect of a run: the scores of live work before it and after it. */
async function effectOf(
  dependencies: Needs,
  run: Run,
  results: readonly ExerciseCaseResult[],
): Promise<ExerciseEffect> {
  const nothing = { before: null, after: null, difference: null, clear: null };
  const needed = { live_interactions_needed: EFFECT_INTERACTIONS };
  if (results.length < run.input.cases.length) {
    return { status: "not_done", live_interactions: 0, ...needed, ...nothing };
  }
  const rows = await decidedRows(dependencies, run.orgId, [run]);
  const [first, last] = [results[0]!, results.at(-1)!].map(({ session_id }) => rows.get(session_id)!);
  const operator = { orgId: run.orgId, operatorId: run.input.operator_id };
  const before = await lastLive(dependencies, operator, first!);
  const after = await liveAfter(dependencies, operator, last!);
  const counted = { live_interactions: after.length, ...needed };
  if (before === null) return { status: "no_live_work_before", ...counted, ...nothing };
  const earlier = estimateOf(before);
  if (after.length < EFFECT_INTERACTIONS) {
    return { status: "too_early", ...counted, ...nothing, before: earlier };
  }
  const later = estimateOf(after.at(-1)!);
  return {
    status: "measured",
    ...counted,
    before: earlier,
    after: later,
    difference: Math.round(100 * (later.jis - earlier.jis)) / 100,
    clear: later.low > earlier.high || later.high < earlier.low,
  };
}

function estimateOf({ jis, low, high, t1 }: InteractionRow) {
  return { jis, low, high, at: new Date(t1).toISOString() };
}

/** The scenario type of announced tests, which are no live work. */
const ANNOUNCED = "calibration";
const ROWS_IN_PAGE = 100;

/** An operator of an organization. */
interface Scored {
  readonly orgId: string;
  readonly operatorId: string;
}

/**
 * The scores of an operator beside one of them, in the order away from it; before none of them: from the newest.
 * @throws {AlteredRows} if one does not lead to the next.
 */
async function* scoresBeside(
  dependencies: Needs,
  { orgId, operatorId }: Scored,
  { from, side }: { readonly from: InteractionRow | null; readonly side: "before" | "after" },
): AsyncGenerator<InteractionRow> {
  let known = from;
  for (;;) {
    const position = known?.position ?? Number.MAX_SAFE_INTEGER;
    const rows = await dependencies.database.read(
      scoresBesideQuery({ orgId, operatorId, position, side, limit: ROWS_IN_PAGE }),
    );
    requireSealed(dependencies, interactions, rows);
    for (const row of rows) {
      if (known !== null) {
        const [earlier, later] = side === "before" ? [row, known] : [known, row];
        // It is null if the one before was pruned long ago.
        if (later.previous !== null && later.previous !== earlier.position) {
          throw new AlteredRows(evidenceChain(orgId), "a row of interaction");
        }
      }
      known = row;
      yield row;
    }
    if (rows.length < ROWS_IN_PAGE) return;
  }
}

/** The last score of live work before a case, or of all; null if there is none. @throws {AlteredRows} */
async function lastLive(
  dependencies: Needs,
  operator: Scored,
  from: InteractionRow | null,
): Promise<InteractionRow | null> {
  for await (const row of scoresBeside(dependencies, operator, { from, side: "before" })) {
    if (row.scenario_type !== ANNOUNCED) return row;
  }
  return null;
}

/** The first scores of live work after a case, as many as the effect needs. */
async function liveAfter(
  dependencies: Needs,
  operator: Scored,
  from: InteractionRow,
): Promise<readonly InteractionRow[]> {
  const found: InteractionRow[] = [];
  for await (const row of scoresBeside(dependencies, operator, { from, side: "after" })) {
    if (row.scenario_type !== ANNOUNCED) found.push(row);
    if (found.length === EFFECT_INTERACTIONS) break;
  }
  return found;
}

/** The domain of an operator's latest live work; null if there is none. @throws {AlteredRows} */
export async function latestLiveDomain(dependencies: Needs, operator: Scored): Promise<string | null> {
  return (await lastLive(dependencies, operator, null))?.domain ?? null;
}
