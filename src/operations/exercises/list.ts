/** Reads runs of exercises: a page of them, and one with its results and its effect on live work. */
import {
  EFFECT_INTERACTIONS,
  type ExerciseCaseResult,
  type ExerciseEffect,
  type ExerciseRun,
} from "../../exercises/answers.ts";
import { ServiceError } from "../../domain/errors.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { metricValue } from "../../exercises/measures.ts";
import { firstLiveAfterQuery, lastLiveBeforeQuery, newestEventsQuery } from "../../store/exercises.ts";
import { type InteractionRow, interactions, subjects } from "../../store/records.ts";
import type { OrganizationCaller } from "../shared/call.ts";
import { ownEpochs, readAtPositions } from "../shared/proven_records.ts";
import { readSealed, requireSealed } from "../shared/sealed_reads.ts";
import {
  decidedRows,
  listedRun,
  type Needs,
  readRun,
  resultsOf,
  type Run,
  runOfRecord,
  sessionsOf,
} from "./runs.ts";

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
  return (await newestRuns(dependencies, { ...of, below: null, limit: EARLIER_RUNS })).map(({ run }) => run);
}

/** Runs with the positions of their entries, newest first; those of erased operators are left out. */
async function newestRuns(
  dependencies: Needs,
  { orgId, operatorId, below, limit }: RunsOf & { readonly below: number | null; readonly limit: number },
): Promise<readonly { readonly run: Run; readonly position: number }[]> {
  const family = evidenceChain(orgId);
  let subject: string | null = null;
  if (operatorId !== null) {
    const [known] = await readSealed(dependencies, subjects, [[orgId, operatorId]]);
    if (known === undefined) return [];
    subject = known.pseudonym;
  }
  const places = await dependencies.database.read(
    newestEventsQuery({ family, eventType: "EXERCISE_SET", subject, below, limit }),
  );
  if (places.length === 0) return [];
  const positions = places.map(({ position }) => position);
  const records = await readAtPositions(dependencies, await ownEpochs(dependencies, family), positions);
  return positions.flatMap((position) => {
    const record = records.get(position);
    const run = record === undefined ? null : runOfRecord(orgId, record);
    return run === null ? [] : [{ run, position }];
  });
}

/** A page of the runs, the last set first; `next` is the position below which the next page begins. */
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
  const found = await newestRuns(dependencies, { orgId, operatorId, below, limit: limit + 1 });
  const page = found.slice(0, limit);
  const results = await resultsOf(dependencies, orgId, page.map(({ run }) => run));
  return {
    runs: page.map(({ run }) => listedRun(run, results.get(run.runId)!, now)),
    next: found.length > limit ? page.at(-1)!.position : null,
  };
}

/**
 * A run with its results, its effect and the evidence that it was set.
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
    input: run.input,
    evidence: run.evidence,
  };
}

/** What the scores of live work around a run say. */
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
  const positions = sessionsOf(dependencies, run).map((session) => rows.get(session)!.position);
  const operator = { orgId: run.orgId, operatorId: run.input.operator_id };
  const [[before], after] = await dependencies.database.snapshot([
    lastLiveBeforeQuery({ ...operator, position: Math.min(...positions) }),
    firstLiveAfterQuery({ ...operator, position: Math.max(...positions), limit: EFFECT_INTERACTIONS }),
  ]);
  requireSealed(dependencies, interactions, before === undefined ? after : [before, ...after]);
  const counted = { live_interactions: after.length, ...needed };
  if (before === undefined) return { status: "no_live_work_before", ...counted, ...nothing };
  const first = estimateOf(before);
  if (after.length < EFFECT_INTERACTIONS) {
    return { status: "too_early", ...counted, ...nothing, before: first };
  }
  const last = estimateOf(after.at(-1)!);
  return {
    status: "measured",
    ...counted,
    before: first,
    after: last,
    difference: Math.round(100 * (last.jis - first.jis)) / 100,
    clear: last.low > first.high || last.high < first.low,
  };
}

function estimateOf({ jis, low, high, t1 }: InteractionRow) {
  return { jis, low, high, at: new Date(t1).toISOString() };
}
