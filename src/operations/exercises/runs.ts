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
import { evidenceChain } from "../../evidence/chain_name.ts";
import { hex } from "../../evidence/crypto.ts";
import { exerciseDecidedSchema, type ExerciseSet, exerciseSetSchema } from "../../evidence/exercises.ts";
import { scoreInputSchema } from "../../evidence/record.ts";
import { caseSessionId } from "../../keys/exercise_links.ts";
import type { ProvenRecord } from "../../store/proven_pages.ts";
import { type InteractionRow, interactions } from "../../store/records.ts";
import { AlteredRows } from "../../store/seals.ts";
import { requireErased } from "../shared/erased_entries.ts";
import { entryById } from "../shared/links.ts";
import { ownEpochs, readAtPositions } from "../shared/proven_records.ts";
import { readSealed } from "../shared/sealed_reads.ts";

/** The dependencies of these operations. */
export type Needs = Reading & Proving & Writing;

/** The place of an entry, with its hash in hexadecimal. */
export interface EntryOnChain {
  readonly chain: string;
  readonly seq: number;
  readonly entry_hash: string;
}

/** A run that was set. */
export interface Run {
  readonly orgId: string;
  /** The id of its entry. */
  readonly runId: string;
  /** The pseudonym of its operator. */
  readonly subject: string;
  readonly place: EntryOnChain;
  /** ISO 8601. */
  readonly setAt: string;
  readonly input: ExerciseSet;
}

/**
 * The run of an id, which anybody may have made up.
 * @throws {ServiceError} NOT_FOUND; GONE if its operator was erased; {AlteredError}.
 */
export async function readRun(dependencies: Needs, runId: string): Promise<Run> {
  const found = await entryById(dependencies, runId, { familyOf: evidenceChain, eventType: "EXERCISE_SET" });
  if (found === null) throw unknownRun();
  const run = await runOfRecord(dependencies, found.orgId, found.record);
  if (run !== null) return run;
  throw new ServiceError("GONE", "This exercise was erased with its operator's personal data.");
}

function unknownRun(): ServiceError {
  return new ServiceError("NOT_FOUND", "There is no such exercise: check the link, or the run_id.");
}

/** The run of a proven entry; null if its operator was erased. @throws {AlteredError} if it is another entry. */
export async function runOfRecord(
  dependencies: Needs,
  orgId: string,
  { entry, hash, parts }: ProvenRecord,
): Promise<Run | null> {
  const { id, chain, seq, subject, timestamp } = entry;
  if (entry.event_type !== "EXERCISE_SET") {
    throw new AlteredError(chain, `entry ${seq} of ${chain} is another than its row says`);
  }
  const text = parts.get("input")?.text;
  if (text === undefined) {
    await requireErased(dependencies, entry);
    return null;
  }
  return {
    orgId,
    runId: id,
    subject: subject!,
    place: { chain, seq, entry_hash: hex(hash) },
    setAt: timestamp,
    input: exerciseSetSchema.parse(JSON.parse(text)),
  };
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
 * The results of runs of one organization, by run, as the proven entries of their scores have them.
 * @throws {AlteredError} if an entry is not what was signed, or not that of its case; {AlteredRows} if a case is missing
 *   before one that was decided after it.
 */
export async function resultsOf(
  dependencies: Needs,
  orgId: string,
  runs: readonly Run[],
): Promise<ReadonlyMap<string, readonly ExerciseCaseResult[]>> {
  const rows = await decidedRows(dependencies, orgId, runs);
  const family = evidenceChain(orgId);
  // The entry of the choice follows that of the score.
  const positions = [...rows.values()].flatMap(({ position }) => [position, position + 1]);
  const epochs = positions.length === 0 ? [] : await ownEpochs(dependencies, family);
  const records = await readAtPositions(dependencies, epochs, positions);
  return new Map(runs.map((run) => {
    const own = sessionsOf(dependencies, run).map((session) => rows.get(session));
    const decided = own.findLastIndex((row) => row !== undefined) + 1;
    const results = own.slice(0, decided).map((row, index) => {
      if (row === undefined) throw new AlteredRows(family, "a row of interaction");
      const [score, choice] = [records.get(row.position), records.get(row.position + 1)];
      if (score === undefined || choice === undefined) {
        throw new AlteredError(family, `an entry of a case of an exercise of ${family} is missing`);
      }
      return resultOf(run, { score, choice, session: row.session_id, index });
    });
    return [run.runId, results];
  }));
}

function resultOf(
  { runId, input: { cases } }: Run,
  { score, choice, session, index }: {
    readonly score: ProvenRecord;
    readonly choice: ProvenRecord;
    readonly session: string;
    readonly index: number;
  },
): ExerciseCaseResult {
  const { entry, hash } = score;
  const inputOf = ({ parts }: ProvenRecord) => JSON.parse(parts.get("input")?.text ?? "null");
  const scored = scoreInputSchema.safeParse(inputOf(score)).data;
  const decided = exerciseDecidedSchema.safeParse(inputOf(choice)).data;
  if (
    scored?.session_id !== session || choice.entry.event_type !== "EXERCISE_DECIDED" ||
    decided?.run_id !== runId || decided.number !== index + 1
  ) {
    throw new AlteredError(
      entry.chain,
      `entry ${entry.seq} of ${entry.chain} is not the score of an exercise's case`,
    );
  }
  const { interaction } = scored;
  return {
    number: index + 1,
    case_id: cases[index]!,
    session_id: session,
    choice: decided.choice,
    first_choice: decided.first_choice,
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
