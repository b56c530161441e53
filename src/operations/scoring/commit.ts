/**
 * Commits a score and takes its late label. The recorded numbers never change: a label moves the operator's
 * state by an event of its own. With the formulas `jis-3` the operator's JIS and verdict count it at once, with
 * earlier ones from the next score on.
 * Source: specification, Score commit status; contract, section 4; scoring model, section 15, point 6.
 */
import type { Proving, Scoring, Writing } from "../shared/capabilities.ts";
import type { Domain } from "../../domain/enums.ts";
import { AlteredError, ServiceError } from "../../domain/errors.ts";
import { contradictionOf } from "../../domain/truth.ts";
import { type AccountOfPerson, isKnownAsOperator } from "../../domain/labelling.ts";
import { hex } from "../../evidence/crypto.ts";
import type { Entry } from "../../evidence/entry.ts";
import {
  computeLabel,
  inputHead,
  type LabelInput,
  labelInputSchema,
  type ScoreInput,
  scoreInputSchema,
} from "../../evidence/record.ts";
import { readInteraction } from "../../store/interactions.ts";
import { readProven } from "../../store/proofs.ts";
import {
  type InteractionRow,
  interactions,
  operators,
  type OutcomeLabelRow,
  outcomeLabels,
  scoreCommits,
  subjects,
} from "../../store/records.ts";
import type { UnitOfWork } from "../../store/unit_of_work.ts";
import { currentOperator, operatorNeeds } from "./current_operator.ts";
import { originOf } from "../shared/deployment.ts";
import { drawSalt, makePart, signedBy } from "../shared/drafts.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { emitEvent, subscriptionNeed } from "../shared/events.ts";
import { placeOfRecord, refuseGone, requireNotGone, tombstoneNeed } from "../shared/gone.ts";
import { followingNeeds, readFollowing, savePositionInScore } from "./following.ts";
import { priorOf, stateColumns, verdictColumn } from "./score.ts";
import type { IdempotentCall } from "../shared/idempotency.ts";
import { KeyedCall } from "../shared/keyed_calls.ts";
import { answerOnce, type EvidencedAnswer, requireExpected } from "../shared/answers.ts";
import { knownPseudonym } from "../shared/subjects.ts";

/** The dependencies of these operations. */
type Needs = Proving & Writing & Scoring;

export interface CommitRequest {
  readonly sessionId: string;
  /** The late label: true if the operator's decision proved right; null if no label is given. */
  readonly outcomeCorrect: boolean | null;
  /** Whether the recommendation was right, with a label; null if the label says nothing about it. */
  readonly aiCorrect: boolean | null;
  /** The account of the person who labels; null if a program does. */
  readonly labeller: AccountOfPerson | null;
}

/** The refusal of a label that a user would give to a decision of the user's own. */
export class OwnDecisionError extends ServiceError {
  constructor(sessionId: string) {
    super(
      "FORBIDDEN",
      `session_id ${sessionId} is your own decision: somebody else must label it. Your account has the name of its operator_id.`,
    );
  }
}

/**
 * Commits a score if it is provisional, and takes the late label of any score, each at most once.
 * @throws {ServiceError} NOT_FOUND; GONE; CONFLICT for a label that contradicts what is known; SERVICE_UNAVAILABLE;
 *   {OwnDecisionError}.
 */
export async function commitScore(
  dependencies: Needs,
  caller: OrganizationCaller,
  { request, call, idempotency = null }: {
    readonly request: CommitRequest;
    readonly call: Call;
    readonly idempotency?: IdempotentCall | null;
  },
): Promise<EvidencedAnswer> {
  const { world } = dependencies;
  const { orgId } = caller;
  const recorded = await readRecordedScore(dependencies, orgId, request.sessionId);
  const { labeller, outcomeCorrect } = request;
  if (
    outcomeCorrect !== null && labeller !== null && isKnownAsOperator(labeller, recorded.row.operator_id)
  ) {
    throw new OwnDecisionError(request.sessionId);
  }

  const session = [orgId, request.sessionId] as const;
  const operator = [orgId, recorded.row.operator_id] as const;
  const tombstone = tombstoneNeed(dependencies, { kind: "record", orgId, name: request.sessionId });
  const keyed = new KeyedCall(dependencies.installation, {
    orgId,
    idempotency,
    request: {
      outcome_correct: request.outcomeCorrect,
      ...(request.aiCorrect === null ? {} : { ai_correct: request.aiCorrect }),
    },
    call,
  });
  const drawn: Drawn = {
    commitId: world.ulid(call.now),
    labelId: world.ulid(call.now),
    salts: { detail: drawSalt(world), result: drawSalt(world), input: drawSalt(world) },
  };
  return await answerOnce(dependencies, orgId, {
    call,
    expected: {
      events: ["SCORE_COMMITTED", "SCORE_COMPUTED"],
      members: { session_id: request.sessionId, committed: true },
    },
    needs: [
      ...followingNeeds(session),
      ...operatorNeeds(operator),
      { kind: subjects, key: operator },
      subscriptionNeed(orgId),
      tombstone,
      ...keyed.needs,
    ],
    plan(unit) {
      // A score is committed once and labelled once: a repeated call finds what the first one wrote.
      const known = keyed.findEarlier(unit);
      const row = unit.get(interactions, session);
      if (row === null) {
        refuseGone(unit, tombstone);
        throw unknownSession(request.sessionId);
      }
      const context: Context = {
        caller,
        call,
        recorded,
        drawn,
        subject: knownPseudonym(unit, operator),
      };
      const following = readFollowing(unit, row);
      const committed = row.committed === 1 ? row : following.commit;
      if (known === null) keyed.remember(unit, { operatorId: row.operator_id });
      const label = planLabel(unit, dependencies, {
        context,
        request,
        known: following.label,
      });
      if (committed !== null) {
        // A call with a label is answered with the committed score under the id of the call that labelled it.
        const { at, request_id } = label?.row ?? committed;
        const stored = { position: committed.position, at, request_id };
        return { stored, replayed: label?.isNew !== true };
      }
      return planCommit(unit, context);
    },
  });
}

/** The ids and salts, drawn once: a commit that is planned anew writes the same ones. */
interface Drawn {
  readonly commitId: string;
  readonly labelId: string;
  readonly salts: Readonly<Record<"detail" | "result" | "input", Uint8Array>>;
}

interface Context {
  readonly caller: OrganizationCaller;
  readonly call: Call;
  readonly recorded: RecordedScore;
  readonly drawn: Drawn;
  readonly subject: string;
}

function unknownSession(sessionId: string): ServiceError {
  return new ServiceError(
    "NOT_FOUND",
    `session_id ${sessionId} has no score: score it first, or check the session_id.`,
  );
}

/** A score as it was recorded. */
interface RecordedScore {
  readonly row: InteractionRow;
  readonly entry: Entry;
  readonly hash: Uint8Array;
  readonly input: ScoreInput;
  readonly result: Record<string, unknown>;
  /** The input of its late label; null if it had none when it was read. */
  readonly label: LabelInput | null;
}

/** @throws {ServiceError} NOT_FOUND; GONE; {AlteredError}: altered data must not be signed anew. */
async function readRecordedScore(
  dependencies: Needs,
  orgId: string,
  sessionId: string,
): Promise<RecordedScore> {
  const row = await readInteraction(dependencies.database, orgId, sessionId);
  if (row === null) {
    await requireNotGone(dependencies, { kind: "record", orgId, name: sessionId });
    throw unknownSession(sessionId);
  }
  const { stored, parts: [input, result] } = await readParts(dependencies, {
    ...{ orgId, sessionId, position: row.position },
    ...{ event: "SCORE_COMPUTED", names: ["input", "result"] },
  });
  return {
    row,
    entry: stored.entry,
    hash: stored.hash,
    input: scoreInputSchema.parse(JSON.parse(input!)),
    result: JSON.parse(result!),
    label: row.label_position === null ? null : await readLabel(dependencies, orgId, row),
  };
}

async function readLabel(dependencies: Needs, orgId: string, row: InteractionRow): Promise<LabelInput> {
  const { session_id: sessionId, label_position: position } = row;
  const { parts: [input] } = await readParts(dependencies, {
    ...{ orgId, sessionId, position: position! },
    ...{ event: "OUTCOME_LABELLED", names: ["input"] },
  });
  return labelInputSchema.parse(JSON.parse(input!));
}

/** The proven texts of an entry's parts. @throws as {@link readRecordedScore}. */
async function readParts(
  dependencies: Needs,
  { orgId, sessionId, position, event, names }: {
    readonly orgId: string;
    readonly sessionId: string;
    readonly position: number;
    readonly event: string;
    readonly names: readonly ("input" | "result")[];
  },
) {
  const { chain, seq } = await placeOfRecord(dependencies, { orgId, position });
  const proven = await readProven(dependencies, { chain, origin: originOf(dependencies, chain), seq });
  const parts = names.map((name) => proven?.stored.parts.get(name)?.text);
  if (!proven || parts.includes(undefined)) {
    await requireNotGone(dependencies, { kind: "record", orgId, name: sessionId });
    throw new AlteredError(chain, `entry ${seq} of ${chain} has no stored record`);
  }
  const { stored } = proven;
  const expected = { events: [event], members: { session_id: sessionId } };
  for (const text of parts) requireExpected({ stored, text: text! }, expected);
  return { stored, parts: parts as string[] };
}

/** The common fields of the entries of a commit and of a label. */
function draftHead({ caller, call, subject }: Context) {
  return { ...signedBy(caller), subject, at: call.now };
}

/** The entry that finalizes a score; the numbers are the recorded ones. */
function planCommit(unit: UnitOfWork, context: Context) {
  const { call, recorded, drawn, caller: { orgId } } = context;
  const { row, entry, hash } = recorded;
  const result = { ...recorded.result, provisional: false, committed: true };
  const appended = unit.append(evidenceChain(orgId), {
    ...draftHead(context),
    id: drawn.commitId,
    eventType: "SCORE_COMMITTED",
    parts: [
      makePart("detail", drawn.salts.detail, {
        ref_id: entry.id,
        ref_seq: entry.seq,
        ref_entry_hash: hex(hash),
      }),
      makePart("result", drawn.salts.result, result),
    ],
  });
  unit.put(scoreCommits, {
    org_id: orgId,
    session_id: row.session_id,
    request_id: call.requestId,
    at: call.now,
    position: appended.position,
  });
  savePositionInScore(unit, row, { commit_position: appended.position });
  emitEvent(unit, {
    orgId,
    operatorId: row.operator_id,
    event: "score.committed",
    position: appended.position,
    call,
  });
  return { appended };
}

interface Labelled {
  readonly row: OutcomeLabelRow;
  /** False if the same label was given before. */
  readonly isNew: boolean;
}

/**
 * Plans a first label; a repeat of the same label writes nothing.
 * @returns null if no label is given.
 * @throws {ServiceError} CONFLICT if the outcome was known at scoring, or the score has another label.
 */
function planLabel(
  unit: UnitOfWork,
  { model }: Needs,
  { context, request, known }: {
    readonly context: Context;
    readonly request: CommitRequest;
    /** The label that was given before; null if there is none. */
    readonly known: OutcomeLabelRow | null;
  },
): Labelled | null {
  const { outcomeCorrect: label, aiCorrect } = request;
  if (label === null) return null;
  const { caller: { orgId }, call, recorded, drawn } = context;
  const { row, input } = recorded;
  requireLabelable(row.session_id, input.interaction);
  if (known !== null) {
    if ((known.outcome_correct === 1) !== label) {
      throw refusedLabelError(row.session_id, `it was labelled ${!label} before, and a label is final`);
    }
    requireSameAdvice(recorded, aiCorrect);
    return { row: known, isNew: false };
  }
  const advice = adviceOf(recorded, { label, aiCorrect });
  const operator = currentOperator(unit, [orgId, row.operator_id])!;
  const { prior, state } = priorOf(operator);
  const labelInput: LabelInput = {
    ...inputHead(model, call.now),
    operator_id: row.operator_id,
    session_id: row.session_id,
    ref_id: recorded.entry.id,
    ref_seq: recorded.entry.seq,
    ref_entry_hash: hex(recorded.hash),
    decision: input.interaction.decision,
    scenario_type: input.interaction.scenario_type,
    label,
    ...advice,
    weights: input.weights,
    prior,
    state: state!,
  };
  const after = computeLabel(model.document, labelInput);
  const appended = unit.append(evidenceChain(orgId), {
    ...draftHead(context),
    id: drawn.labelId,
    eventType: "OUTCOME_LABELLED",
    parts: [makePart("input", drawn.salts.input, labelInput)],
  });
  const verdict = verdictColumn(model.document, after, operator.domain as Domain);
  unit.put(operators, { ...operator, ...stateColumns(after, appended, verdict) });
  const labelled = {
    org_id: orgId,
    session_id: row.session_id,
    outcome_correct: label ? 1 : 0,
    request_id: call.requestId,
    at: call.now,
    position: appended.position,
  };
  unit.put(outcomeLabels, labelled);
  savePositionInScore(unit, row, { label_position: appended.position });
  return { row: labelled, isNew: true };
}

function requireLabelable(
  sessionId: string,
  { scenario_type, outcome_correct }: { scenario_type: string; outcome_correct: boolean | null },
): void {
  if (scenario_type === "error_injected") {
    throw refusedLabelError(sessionId, "the truth of an injected error is known by construction");
  }
  if (outcome_correct !== null) throw refusedLabelError(sessionId, "it was scored with its outcome");
}

/**
 * Gives what a new label records about the advice.
 * @throws {ServiceError} VALIDATION_FAILED if it cannot hold with the decision and the outcome; CONFLICT if the score
 * came with another one.
 */
function adviceOf(
  { row: { session_id }, input: { interaction } }: RecordedScore,
  { label, aiCorrect }: { readonly label: boolean; readonly aiCorrect: boolean | null },
): Pick<LabelInput, "ai_correct" | "ai_correct_at_scoring"> {
  const known = interaction.ai_correct;
  if (known !== undefined && aiCorrect !== null && aiCorrect !== known) {
    throw refusedAdviceError(session_id, `must be ${known}, as it was scored`);
  }
  const ai_correct = known ?? aiCorrect ?? undefined;
  const contradiction = contradictionOf({ ...interaction, outcome_correct: label, ai_correct });
  if (contradiction !== null) {
    throw new ServiceError("VALIDATION_FAILED", `session_id ${session_id}: ai_correct ${contradiction}.`, {
      details: [{ path: "ai_correct", message: contradiction }],
    });
  }
  if (known !== undefined) return { ai_correct_at_scoring: known };
  return aiCorrect === null ? {} : { ai_correct: aiCorrect };
}

/** @throws {ServiceError} CONFLICT if a repeated label says something else of the advice, or something new. */
function requireSameAdvice({ row: { session_id }, label }: RecordedScore, aiCorrect: boolean | null): void {
  if (aiCorrect === null) return;
  // Another call labelled it after it was read: what that one said is not known here.
  if (label === null) {
    throw new ServiceError(
      "SERVICE_UNAVAILABLE",
      `session_id ${session_id} was labelled at this moment by another call. Send the call again.`,
    );
  }
  const before = label.ai_correct ?? label.ai_correct_at_scoring ?? null;
  if (before !== aiCorrect) {
    const words = before === null ? "it was labelled without it" : `it was labelled ${before}`;
    throw refusedAdviceError(session_id, `cannot change: ${words} before, and a label is final`);
  }
}

function refusedAdviceError(sessionId: string, reason: string): ServiceError {
  return new ServiceError("CONFLICT", `session_id ${sessionId}: ai_correct ${reason}.`);
}

function refusedLabelError(sessionId: string, reason: string): ServiceError {
  return new ServiceError(
    "CONFLICT",
    `session_id ${sessionId} takes no outcome_correct: ${reason}. Leave outcome_correct out.`,
  );
}
