/**
 * Runs of the public demo: scored in memory by the engine, kept under the name that the visitor chose, and
 * deleted when their retention ends. They leave no trace in any organization, operator, usage figure or
 * chain.
 * Source: specification, Public demo; contract, section 5.
 */
import type { Proving, Reading, Retaining, Scoring, Writing } from "../shared/capabilities.ts";
import { ASSESSMENT_DOMAIN, type AssessmentRequest } from "../../domain/assessment.ts";
import { type Dimension, FORMULAS } from "../../domain/enums.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { Interaction } from "../../domain/interaction.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import { equalBytes } from "../../evidence/crypto.ts";
import { requestDigest } from "../../keys/secrets.ts";
import type { ModelDocument } from "../../scoring/model.ts";
import { type DimensionExplanation, explainScore } from "../../scoring/explain.ts";
import { readState } from "../../scoring/reading.ts";
import type { ScoringEvent } from "../../scoring/reducer.ts";
import { score, type Scored, type ScoreResult } from "../../scoring/score.ts";
import { initialState, type OperatorState } from "../../scoring/state.ts";
import type { Verdict } from "../../scoring/verdict.ts";
import { DAY_MS } from "../../domain/time.ts";
import { assessmentQuery, deleteAssessments, oldAssessmentsQuery } from "../../store/assessments.ts";
import { readModelDocumentsUpTo } from "../../store/model_documents.ts";
import { type AssessmentRow, assessments } from "../../store/records.ts";
import type { Call } from "../shared/call.ts";
import { verifiedModel } from "../shared/stored_models.ts";

/** The dependencies of these operations. */
type Needs =
  & Pick<Proving, "database" | "installation">
  & Writing
  & Scoring
  & Pick<Retaining, "assessmentRetentionDays">;

/** Most runs that one write deletes, so that no other write waits long for it. */
const RUNS_IN_WRITE = 500;

/** The call whose answer is given: the first submission of the run. */
export interface Submission {
  readonly call: Call;
  readonly replayed: boolean;
}

/** @throws {ServiceError} CONFLICT if the name was used for other records; SERVICE_UNAVAILABLE. */
export async function submitAssessment(
  { assessmentRetentionDays, database, installation, model, writer }: Needs,
  { request, call }: { readonly request: AssessmentRequest; readonly call: Call },
): Promise<Submission> {
  const { sessionId, records } = request;
  const digest = requestDigest(installation.key, canonicalJson({ kind: "assessment", ...request }));
  const oldest = oldestKept(assessmentRetentionDays, call.now);
  const [known] = await database.read(assessmentQuery(sessionId));
  if (known !== undefined) {
    if (known.created_at > oldest) return repeatedSubmission(known, digest);
    await writer.execute(deleteAssessments([sessionId], oldest));
  }
  // The run is scored before the commit, which others share: a visitor's hundred records delay no other
  // write.
  const row: AssessmentRow = {
    session_id: sessionId,
    request_digest: digest,
    request_id: call.requestId,
    created_at: call.now,
    records: JSON.stringify(records),
    ...columnsOf(scoredRun(model.document, records, call.now)),
  };
  return await writer.submit<Submission>({
    needs: [{ kind: assessments, key: [sessionId] }],
    chains: [],
    plan(unit) {
      const first = unit.get(assessments, [sessionId]);
      const submission = first === null ? { call, replayed: false } : repeatedSubmission(first, digest);
      if (first === null) unit.put(assessments, row);
      return () => submission;
    },
  });
}

/** @throws {ServiceError} CONFLICT if the first submission had other records. */
function repeatedSubmission(first: AssessmentRow, digest: Uint8Array): Submission {
  if (equalBytes(first.request_digest, digest)) {
    return { call: { now: first.created_at, requestId: first.request_id }, replayed: true };
  }
  throw new ServiceError(
    "CONFLICT",
    `sessionId ${first.session_id} was used for other records: send the same records again to get their answer, or use a new sessionId.`,
  );
}

/** One record, with the state before it and its result. */
interface ScoredRecord {
  /** The state before the record; null for the first record. */
  readonly state: OperatorState | null;
  readonly event: ScoringEvent;
  readonly result: ScoreResult;
}

function scoredRun(
  model: ModelDocument,
  records: readonly Interaction[],
  now: number,
): readonly ScoredRecord[] {
  let state: OperatorState | null = null;
  const run: ScoredRecord[] = [];
  for (const interaction of records) {
    const event = { interaction, domain: ASSESSMENT_DOMAIN, now };
    const next: Scored = score(model, state, event, { mode: "full", modeOverride: "normal" });
    run.push({ state, event, result: next.result });
    state = next.state;
  }
  return run;
}

/** The scores of a run as its row keeps them. */
function columnsOf(run: readonly ScoredRecord[]): Pick<AssessmentRow, "summary" | "results"> {
  const { jis, band, dimensions, compliance: { verdict }, prior_dimensions } = run.at(-1)!.result;
  return {
    // Formulas without a verdict leave no trace of one: JSON has no undefined.
    summary: JSON.stringify({ jis, band, dimensions, verdict, prior_dimensions }),
    results: JSON.stringify(run.map(({ result }) => ({ jis: result.jis, band: result.band }))),
  };
}

/** A run as it was scored when it was submitted. */
export interface KeptAssessment {
  readonly sessionId: string;
  readonly created_at: string;
  readonly records: readonly Interaction[];
  readonly summary: Pick<ScoreResult, "jis" | "band"> & {
    readonly dimensions: Readonly<Record<string, number>>;
    /** Absent if the formulas of the run's model have none. */
    readonly verdict?: Verdict;
    readonly prior_dimensions?: readonly Dimension[];
  };
  /** JIS of a new operator by the run's model; null if no known model gives the kept scores. */
  readonly initial_jis: number | null;
  readonly results: readonly KeptResult[];
}

type KeptResult = Pick<ScoreResult, "jis" | "band"> & {
  /** The dimensions that the record moved; null if no known model gives the kept scores. */
  readonly explanation: readonly DimensionExplanation[] | null;
};

/** @throws {ServiceError} NOT_FOUND. */
export async function readAssessment(
  { assessmentRetentionDays, database, crypto, model }:
    & Pick<Proving, "database" | "crypto">
    & Scoring
    & Pick<Retaining, "assessmentRetentionDays">,
  { sessionId, now }: { readonly sessionId: string; readonly now: number },
): Promise<KeptAssessment> {
  const [row] = await database.read(assessmentQuery(sessionId));
  if (row === undefined || row.created_at <= oldestKept(assessmentRetentionDays, now)) {
    throw new ServiceError(
      "NOT_FOUND",
      `There is no run ${sessionId}: it was never submitted, or it was deleted after its retention.`,
    );
  }
  const explained = await explainRun({ database, crypto, model }, row);
  const results: readonly Omit<KeptResult, "explanation">[] = JSON.parse(row.results);
  return {
    sessionId,
    created_at: new Date(row.created_at).toISOString(),
    records: JSON.parse(row.records),
    summary: JSON.parse(row.summary),
    initial_jis: explained?.initialJis ?? null,
    results: results.map((result, index) => ({
      ...result,
      explanation: explained?.explanations[index] ?? null,
    })),
  };
}

/**
 * Explains the score at each record by the model that scored the run; null if no such model is left.
 *
 * Decision: a row does not name its model. Its model is the one in use, or one that came into use before the
 * run was submitted. The records must give exactly the kept scores under it, so the explanation always fits
 * those scores.
 */
async function explainRun(
  { database, crypto, model }: Pick<Proving, "database" | "crypto"> & Scoring,
  row: AssessmentRow,
): Promise<ExplainedRun | null> {
  const inUse = explainedBy(model.document, row);
  if (inUse !== null) return inUse;
  for (const stored of await readModelDocumentsUpTo(database, row.created_at)) {
    const before = verifiedModel(crypto, stored);
    // An altered model explains nothing, and these functions cannot read a model of other formulas.
    const explained = before !== null && FORMULAS.includes(before.formulas) ? explainedBy(before, row) : null;
    if (explained !== null) return explained;
  }
  return null;
}

interface ExplainedRun {
  readonly initialJis: number;
  /** One item for each record. */
  readonly explanations: readonly (readonly DimensionExplanation[])[];
}

/** Explains a run by a model; null if the model gives other scores than the kept ones. */
function explainedBy(model: ModelDocument, row: AssessmentRow): ExplainedRun | null {
  const run = scoredRun(model, JSON.parse(row.records), row.created_at);
  const { summary, results } = columnsOf(run);
  if (summary !== row.summary || results !== row.results) return null;
  const start = readState(model, initialState(model), { domain: ASSESSMENT_DOMAIN, mode: "full" });
  return {
    initialJis: start.jis,
    explanations: run.map(({ state, event }) => explainScore(model, state, event)),
  };
}

/** Runs of this instant or before are past their retention, whether or not they were deleted yet. */
function oldestKept(retentionDays: number, now: number): number {
  return now - retentionDays * DAY_MS;
}

/** Deletes the runs whose retention has ended; their bytes go when the database is expunged. */
export async function forgetAssessments(
  { database, writer, assessmentRetentionDays }:
    & Pick<Reading, "database">
    & Pick<Writing, "writer">
    & Pick<Retaining, "assessmentRetentionDays">,
  now: number,
): Promise<void> {
  const until = oldestKept(assessmentRetentionDays, now);
  for (;;) {
    const old = await database.read(oldAssessmentsQuery({ until, limit: RUNS_IN_WRITE }));
    if (old.length === 0) return;
    await writer.execute(deleteAssessments(old.map((row) => row.session_id), until));
  }
}
