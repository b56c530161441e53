/**
 * Runs of exercises, as their entries and the scores of their cases have them. A run has no row of its own: what was set
 * is an entry, and what was decided are scores. Source: oversight loop, section 2; evidence-format.md, section 12.
 */
import type { Proving, Reading, Writing } from "../shared/capabilities.ts";
import { AlteredError, ServiceError } from "../../domain/errors.ts";
import type {
  ExerciseCaseResult,
  ExerciseFigures,
  ExerciseRun,
  ExerciseState,
} from "../../exercises/answers.ts";
import { exactProportion } from "../../domain/proportion.ts";
import { evidenceChain, parseChain } from "../../evidence/chain_name.ts";
import { hex } from "../../evidence/crypto.ts";
import type { Evidence } from "../../evidence/envelope.ts";
import { type ExerciseSet, exerciseSetSchema } from "../../evidence/exercises.ts";
import { scoreInputSchema } from "../../evidence/record.ts";
import { caseSessionId } from "../../keys/exercise_links.ts";
import { placeOfEntry } from "../../store/exercises.ts";
import type { ProvenRecord } from "../../store/proven_pages.ts";
import { readEvidence } from "../../store/proofs.ts";
import { type InteractionRow, interactions } from "../../store/records.ts";
import { originOf } from "../shared/deployment.ts";
import { ownEpochs, readAtPositions } from "../shared/proven_records.ts";
import { readSealed } from "../shared/sealed_reads.ts";

/** The dependencies of these operations. */
export type Needs = Reading & Proving & Writing;

/** A run that was set. */
export interface Run {
  readonly orgId: string;
  /** The id of its entry. */
  readonly runId: string;
  /** ISO 8601. */
  readonly setAt: string;
  readonly input: ExerciseSet;
}

/** A run with the evidence that it was set. */
export interface EvidencedRun extends Run {
  readonly evidence: Evidence;
}

/**
 * The run of an id, which anybody may have made up.
 * @throws {ServiceError} NOT_FOUND; GONE if its operator was erased; {AlteredError}.
 */
export async function readRun(dependencies: Needs, runId: string): Promise<EvidencedRun> {
  const place = await placeOfEntry(dependencies.database, runId);
  const family = place && parseChain(place.chain)?.family;
  const orgId = family?.split("/")[1];
  if (place === null || orgId === undefined || family !== evidenceChain(orgId)) throw unknownRun();
  const { chain, seq } = place;
  const stored = await readEvidence(dependencies, {
    chain,
    seq,
    origin: originOf(dependencies, chain),
    covers: "input",
  });
  if (stored === null) {
    throw new ServiceError("GONE", "This exercise was erased with its operator's personal data.");
  }
  const { entry } = stored.evidence;
  if (entry.id !== runId || entry.event_type !== "EXERCISE_SET") throw unknownRun();
  return { ...runOf(orgId, entry, stored.text), evidence: stored.evidence };
}

function unknownRun(): ServiceError {
  return new ServiceError("NOT_FOUND", "There is no such exercise: check the link, or the run_id.");
}

/** The run of a proven entry; null if its content was erased, or it is none. */
export function runOfRecord(orgId: string, { entry, parts }: ProvenRecord): Run | null {
  const text = parts.get("input")?.text;
  return text === undefined || entry.event_type !== "EXERCISE_SET" ? null : runOf(orgId, entry, text);
}

function runOf(
  orgId: string,
  { id, timestamp }: { readonly id: string; readonly timestamp: string },
  text: string,
) {
  return { orgId, runId: id, setAt: timestamp, input: exerciseSetSchema.parse(JSON.parse(text)) };
}

/** The sessions of a run's cases, in their order. */
export function sessionsOf(
  { installation }: Pick<Proving, "installation">,
  { runId, input }: Run,
): readonly string[] {
  return input.cases.map((_, index) => caseSessionId(installation.key, runId, index + 1));
}

/**
 * The rows of the decided cases of runs of one organization, by session.
 * @throws {AlteredRows} if a row has no valid seal.
 */
export async function decidedRows(
  dependencies: Needs,
  orgId: string,
  runs: readonly Run[],
): Promise<ReadonlyMap<string, InteractionRow>> {
  const sessions = runs.flatMap((run) => sessionsOf(dependencies, run));
  const rows = await readSealed(dependencies, interactions, sessions.map((session) => [orgId, session]));
  return new Map(rows.map((row) => [row.session_id, row]));
}

/**
 * The results of runs of one organization, by run: what the proven entries of their scores say.
 * @throws {AlteredError} if an entry is not what was signed, or not the score of its case.
 */
export async function resultsOf(
  dependencies: Needs,
  orgId: string,
  runs: readonly Run[],
): Promise<ReadonlyMap<string, readonly ExerciseCaseResult[]>> {
  const rows = await decidedRows(dependencies, orgId, runs);
  const family = evidenceChain(orgId);
  const positions = [...rows.values()].map(({ position }) => position);
  const epochs = positions.length === 0 ? [] : await ownEpochs(dependencies, family);
  const records = await readAtPositions(dependencies, epochs, positions);
  return new Map(runs.map((run) => [
    run.runId,
    sessionsOf(dependencies, run).flatMap((session, index) => {
      const row = rows.get(session);
      if (row === undefined) return [];
      const record = records.get(row.position);
      if (record === undefined) throw new AlteredError(family, `an entry of a score of ${family} is missing`);
      return [resultOf(family, run, { record, session, index })];
    }),
  ]));
}

function resultOf(
  family: string,
  { input: { cases } }: Run,
  { record: { entry, hash, parts }, session, index }: {
    readonly record: ProvenRecord;
    readonly session: string;
    readonly index: number;
  },
): ExerciseCaseResult {
  const scored = scoreInputSchema.safeParse(JSON.parse(parts.get("input")?.text ?? "null")).data;
  // The service itself decided nothing else under this name, and no caller's entry has this actor.
  if (scored?.session_id !== session || entry.actor !== "system") {
    throw new AlteredError(
      family,
      `entry ${entry.seq} of ${entry.chain} is not the score of an exercise's case`,
    );
  }
  const { interaction } = scored;
  return {
    number: index + 1,
    case_id: cases[index]!,
    session_id: session,
    decision: interaction.decision,
    advised: interaction.ai_recommendation_presented,
    ai_correct: interaction.ai_correct ?? null,
    correct: interaction.outcome_correct === true,
    time_to_decision_ms: interaction.time_to_decision_ms,
    decided_at: entry.timestamp,
    chain: entry.chain,
    seq: entry.seq,
    entry_hash: hex(hash),
  };
}

/** The state of a run of which `decided` cases are decided. */
export function stateOf({ input: { cases, expires_at } }: Run, decided: number, now: number): ExerciseState {
  if (decided === cases.length) return "done";
  if (now > Date.parse(expires_at)) return "expired";
  return decided === 0 ? "open" : "started";
}

/** A run as a list shows it. */
export function listedRun(run: Run, results: readonly ExerciseCaseResult[], now: number): ExerciseRun {
  const { exercise, case_set, cases, ...input } = run.input;
  return {
    run_id: run.runId,
    operator_id: input.operator_id,
    exercise_id: exercise.id,
    title: exercise.title,
    domain: input.domain,
    language: input.language as ExerciseRun["language"],
    case_set,
    presentation: input.presentation,
    feedback: input.feedback,
    case_count: cases.length,
    decided: results.length,
    state: stateOf(run, results.length, now),
    set_at: run.setAt,
    expires_at: input.expires_at,
    figures: figuresOf(results),
  };
}

function figuresOf(results: readonly ExerciseCaseResult[]): ExerciseFigures {
  const counted = (own: readonly ExerciseCaseResult[], isCounted: (one: ExerciseCaseResult) => boolean) => {
    const count = own.filter(isCounted).length;
    const { share = null, low = null, high = null } = exactProportion(count, own.length) ?? {};
    return { of: own.length, count, share: rounded(share), low: rounded(low), high: rounded(high) };
  };
  const advised = (isRight: boolean) => results.filter(({ ai_correct }) => ai_correct === isRight);
  return {
    correct: counted(results, ({ correct }) => correct),
    wrong: counted(advised(false), ({ correct }) => correct),
    right: counted(advised(true), ({ correct }) => !correct),
  };
}

/** To four decimals. */
function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(1e4 * value) / 1e4;
}
