/**
 * Replays a score or a decision: it is recomputed from its recorded input and the model document of its time,
 * compared with the recorded result, and explained.
 * Source: specification, GET /v1/decision/replay/{id}; contract, section 4; evidence design, section 12.
 */
import type { Proving, Reading, Scoring } from "../shared/capabilities.ts";
import { AlteredError, ServiceError } from "../../domain/errors.ts";
import type { Interaction } from "../../domain/interaction.ts";
import { saidOfAdvice } from "../../domain/truth.ts";
import { hex } from "../../evidence/crypto.ts";
import { isCommitted } from "../../evidence/entry.ts";
import { type Evidence, evidenceOf, type InclusionProof } from "../../evidence/envelope.ts";
import { partCommitment } from "../../evidence/hashes.ts";
import {
  computeDecision,
  computeScore,
  type DecisionInput,
  decisionInputSchema,
  decisionResultPart,
  type Difference,
  differencesOf,
  labelInputSchema,
  lateLabelOf,
  modelReference,
  type ScoreInput,
  scoreInputSchema,
  scoreResultPart,
} from "../../evidence/record.ts";
import {
  type DimensionExplanation,
  explainDecision,
  explainLabel,
  explainScore,
} from "../../scoring/explain.ts";
import type { ModelDocument } from "../../scoring/model.ts";
import { verifiedModel } from "../shared/stored_models.ts";
import { type Place, readEntry, requireEntry, type StoredEntry } from "../../store/chains.ts";
import type { Database } from "../../store/database.ts";
import { positionOfDecision } from "../../store/decisions.ts";
import { readInteraction } from "../../store/interactions.ts";
import { readModelDocument } from "../../store/model_documents.ts";
import { newestOwnCheckpoint, proveHashes, requirePlace } from "../../store/proofs.ts";
import {
  type FollowingEntries,
  followingEntries,
  type InteractionRow,
  interactions,
  type OutcomeLabelRow,
  outcomeLabels,
  type ScoreCommitRow,
  scoreCommits,
} from "../../store/records.ts";
import { requireExpected } from "../shared/answers.ts";
import { originOf } from "../shared/deployment.ts";
import type { OrganizationCaller } from "../shared/call.ts";
import { SYSTEM_CHAIN } from "../../evidence/chain_name.ts";
import { requireFollowing } from "./following.ts";
import { placeOfRecord, requireNotGone } from "../shared/gone.ts";
import { requireSealed } from "../shared/sealed_reads.ts";
import { reportAlteredRecord, type Watching } from "../shared/tampering.ts";

/** The dependencies of these operations. */
type Needs = Watching & Reading & Scoring;

export interface Replay {
  readonly id: string;
  readonly kind: "score" | "decision";
  readonly recorded: Record<string, unknown>;
  readonly replayed: Record<string, unknown>;
  readonly match: boolean;
  readonly differences: readonly Difference[];
  readonly explanation: readonly DimensionExplanation[];
  readonly model: { readonly version: string; readonly sha256: string };
  /** The case, from the recorded input; null if that was altered. */
  readonly case: ReplayedCase | null;
  /** The score's late label and what it moved; null if there is none. */
  readonly label: ReplayedLabel | null;
  /** Evidence of the recorded result, against the current checkpoint. */
  readonly evidence: Evidence;
}

type ReplayedCase =
  & Pick<Interaction, "decision" | "time_to_decision_ms" | "ai_recommendation_presented">
  & { readonly ai_correct: boolean | null };

interface ReplayedLabel {
  readonly outcome_correct: boolean;
  readonly labelled_at: string;
  readonly explanation: readonly DimensionExplanation[];
}

/**
 * Replays a record. If a part was altered, its present commitment is shown beside the recorded one, an
 * altered input is not explained, and an alert is raised.
 * @throws {ServiceError} NOT_FOUND if neither a score nor a decision has this id; GONE; {AlteredError}.
 */
export async function replay(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<Replay> {
  const { database } = dependencies;
  const found = await findRecord(database, orgId, id);
  if (found === null) {
    await requireNotGone(dependencies, { kind: "record", orgId, name: id });
    throw new ServiceError(
      "NOT_FOUND",
      `${id} is neither a scored session_id nor a decision_id: check the id.`,
    );
  }
  const { kind, position } = found;
  const place = await placeOfRecord(dependencies, { orgId, position });
  const stored = await readEntry(database, place);
  const [input, result] = [stored?.parts.get("input"), stored?.parts.get("result")];
  if (!stored || input === undefined || result === undefined) {
    await requireNotGone(dependencies, { kind: "record", orgId, name: id });
    throw new AlteredError(place.chain, `entry ${place.seq} of ${place.chain} has no stored record`);
  }
  requireRecordOf(dependencies, stored, {
    event: EVENT_OF_KIND[kind],
    name: kind === "score" ? "session_id" : "decision_id",
    id,
  });
  const proof = await proveStored(dependencies, stored, place);
  const altered = reportAlteredParts(dependencies, { stored, place, now });
  const { recorded, replayed, explanation, model, interaction } = await computeFrom(
    place,
    altered,
    async () => ({
      recorded: JSON.parse(result.text),
      ...await recompute(dependencies, kind, { input: JSON.parse(input.text), auditId: stored.entry.id }),
    }),
  );
  const late = kind === "score" ? await replayLabel(dependencies, { orgId, sessionId: id, now }) : null;
  const differences = [...altered, ...differencesOf(recorded, replayed), ...(late?.altered ?? [])];
  return {
    id,
    kind,
    recorded,
    replayed,
    match: differences.length === 0,
    differences,
    explanation: includesInput(altered) ? [] : explanation,
    model,
    case: includesInput(altered) ? null : caseOf(interaction),
    label: late?.label ?? null,
    evidence: evidenceOf({ ...stored, part: result, proof }),
  };
}

const EVENT_OF_KIND = { score: "SCORE_COMPUTED", decision: "DRS_COMPUTED" } as const;

/**
 * Requires that a row led to the record of its own name, by the parts that were not altered: an altered part
 * is shown as it is.
 * @throws {AlteredError} if the record has another name.
 */
function requireRecordOf(
  { crypto }: Needs,
  stored: StoredEntry,
  { event, name, id }: { readonly event: string; readonly name: string; readonly id: string },
): void {
  const asked = { events: [event], members: { [name]: id } };
  for (const part of stored.parts.values()) {
    if (isCommitted(crypto, stored.entry, part)) requireExpected({ stored, text: part.text }, asked);
  }
}

/**
 * The proof of an entry against the newest checkpoint; its parts are not checked.
 * @throws {AlteredError} if the entry is not what was signed.
 */
async function proveStored(
  dependencies: Needs,
  stored: StoredEntry,
  { chain, seq }: Place,
): Promise<InclusionProof> {
  requireEntry(dependencies.crypto, stored);
  requirePlace(stored, { chain, seq });
  const origin = originOf(dependencies, chain);
  const checkpoint = await newestOwnCheckpoint(dependencies, { chain, origin });
  const hashes = new Map([[seq, stored.hash]]);
  return (await proveHashes(dependencies, { chain, hashes, checkpoint })).get(seq)!;
}

/** The parts that do not match the entry's commitments: results from them prove nothing. */
function alteredParts({ crypto }: Needs, { entry, parts }: StoredEntry): readonly Difference[] {
  return [...parts.values()].filter((part) => !isCommitted(crypto, entry, part)).map((part) => ({
    path: `commit.${part.name}`,
    recorded: entry.commit[part.name] ?? null,
    replayed: hex(partCommitment(crypto, part)),
  }));
}

/** The altered parts of an entry; raises an alert if there are any. */
function reportAlteredParts(
  dependencies: Needs,
  { stored, place: { chain, seq }, now }: {
    readonly stored: StoredEntry;
    readonly place: Place;
    readonly now: number;
  },
): readonly Difference[] {
  const altered = alteredParts(dependencies, stored);
  if (altered.length > 0) reportAlteredRecord(dependencies, { chain, seq, shown: "a replay", now });
  return altered;
}

function includesInput(altered: readonly Difference[]): boolean {
  return altered.some(({ path }) => path === "commit.input");
}

/**
 * The result of `compute`, which reads a stored record.
 * @throws as `compute` does; {AlteredError} instead, if parts of the record were altered.
 */
async function computeFrom<Result>(
  { chain, seq }: Place,
  altered: readonly Difference[],
  compute: () => Promise<Result>,
): Promise<Result> {
  try {
    return await compute();
  } catch (error) {
    if (altered.length === 0) throw error;
    throw new AlteredError(chain, `entry ${seq} of ${chain}, a part of it is no record any more`);
  }
}

async function findRecord(
  database: Database,
  orgId: string,
  id: string,
): Promise<{ readonly kind: Replay["kind"]; readonly position: number } | null> {
  const score = await readInteraction(database, orgId, id);
  if (score !== null) return { kind: "score", position: score.position };
  const position = await positionOfDecision(database, { orgId, decisionId: id });
  return position === null ? null : { kind: "decision", position };
}

type Recomputed = Pick<Replay, "replayed" | "explanation" | "model"> & { readonly interaction: Interaction };

/** The case as its recorded input tells it. Only an acceptance's outcome is the advice's, whatever answers there were. */
function caseOf(interaction: Interaction): ReplayedCase {
  const { decision, time_to_decision_ms, ai_recommendation_presented } = interaction;
  const ai_correct = saidOfAdvice(interaction) ??
    (decision === "accepted" ? interaction.outcome_correct : null);
  return { decision, time_to_decision_ms, ai_recommendation_presented, ai_correct };
}

async function recompute(
  dependencies: Needs,
  kind: Replay["kind"],
  { input, auditId }: { readonly input: unknown; readonly auditId: string },
): Promise<Recomputed> {
  return kind === "score"
    ? await recomputeScore(dependencies, scoreInputSchema.parse(input))
    : await recomputeDecision(dependencies, decisionInputSchema.parse(input), auditId);
}

async function recomputeScore(dependencies: Needs, input: ScoreInput): Promise<Recomputed> {
  const document = await modelDocument(dependencies, input.algo.model_sha256);
  const { result } = computeScore(document, input);
  const { interaction, domain, as_of } = input;
  return {
    replayed: scoreResultPart(input, result),
    explanation: explainScore(document, input.state, { interaction, domain, now: Date.parse(as_of) }),
    model: modelReference(input),
    interaction: input.interaction,
  };
}

async function recomputeDecision(
  dependencies: Needs,
  input: DecisionInput,
  auditId: string,
): Promise<Recomputed> {
  const document = await modelDocument(dependencies, input.algo.model_sha256);
  const { domain, as_of } = input;
  return {
    replayed: decisionResultPart(input, { result: computeDecision(document, input), auditId }),
    explanation: explainDecision(document, input.state, { domain, now: Date.parse(as_of) }),
    model: modelReference(input),
    interaction: input.interaction,
  };
}

/** Explains the late label of a score from the label's own recorded input; null if the score has none. */
async function replayLabel(
  dependencies: Needs,
  { orgId, sessionId, now }: { readonly orgId: string; readonly sessionId: string; readonly now: number },
): Promise<{ readonly label: ReplayedLabel; readonly altered: readonly Difference[] } | null> {
  const { database } = dependencies;
  const position = await positionOfLabel(dependencies, { orgId, sessionId });
  // There never was a label, or it was erased or pruned with its score since the score was read.
  if (position === null) {
    await requireNotGone(dependencies, { kind: "record", orgId, name: sessionId });
    return null;
  }
  const place = await placeOfRecord(dependencies, { orgId, position });
  const stored = await readEntry(database, place);
  const part = stored?.parts.get("input");
  if (!stored || part === undefined) {
    await requireNotGone(dependencies, { kind: "record", orgId, name: sessionId });
    throw new AlteredError(place.chain, `entry ${place.seq} of ${place.chain} has no stored record`);
  }
  requireRecordOf(dependencies, stored, { event: "OUTCOME_LABELLED", name: "session_id", id: sessionId });
  await proveStored(dependencies, stored, place);
  const altered = reportAlteredParts(dependencies, { stored, place, now });
  const { input, document } = await computeFrom(place, altered, async () => {
    const input = labelInputSchema.parse(JSON.parse(part.text));
    return { input, document: await modelDocument(dependencies, input.algo.model_sha256) };
  });
  return {
    label: {
      outcome_correct: input.label,
      labelled_at: input.as_of,
      explanation: includesInput(altered) ? [] : explainLabel(document, input.state, lateLabelOf(input)),
    },
    altered: altered.map((difference) => ({ ...difference, path: `label.${difference.path}` })),
  };
}

/**
 * Position of a score's label; null if there is none.
 * @throws {AlteredRows} if a row is not what this installation wrote, or the rows contradict one another.
 */
async function positionOfLabel(
  dependencies: Needs,
  { orgId, sessionId }: { readonly orgId: string; readonly sessionId: string },
): Promise<number | null> {
  const session = JSON.stringify([[orgId, sessionId]]);
  const [scores, commits, labels, [entries = null]] = await dependencies.database.snapshot<
    [InteractionRow, ScoreCommitRow, OutcomeLabelRow, FollowingEntries]
  >([
    interactions.load(session),
    scoreCommits.load(session),
    outcomeLabels.load(session),
    followingEntries.load(session),
  ]);
  requireSealed(dependencies, interactions, scores);
  requireSealed(dependencies, scoreCommits, commits);
  requireSealed(dependencies, outcomeLabels, labels);
  const [score, commit = null, label = null] = [scores[0], commits[0], labels[0]];
  if (score === undefined) return null;
  requireFollowing(score, { commit, label, entries });
  return label?.position ?? null;
}

/**
 * The model document of a recorded hash: the one in use, or an earlier one, which is kept for good.
 * @throws {AlteredError} if it is missing or was altered.
 */
export async function modelDocument(
  { database, crypto, model }: Pick<Proving, "database" | "crypto"> & Scoring,
  sha256: string,
): Promise<ModelDocument> {
  if (sha256 === model.sha256) return model.document;
  const text = await readModelDocument(database, sha256);
  if (text === null) {
    throw new AlteredError(SYSTEM_CHAIN, `the model document ${sha256} is not in the database`);
  }
  // The name of its formulas says that these functions can read it.
  const document = verifiedModel(crypto, { sha256, document: text });
  if (document === null) {
    throw new AlteredError(SYSTEM_CHAIN, `the model document ${sha256} is not the one that was used`);
  }
  return document;
}
