/**
 * Replaying a score or a decision: recomputed from its recorded input and the model document of its time, held
 * against the recorded result, and explained.
 * Source: specification, GET /v1/decision/replay/{id}; contract, section 4; evidence design, section 12.
 */
import { ServiceError } from "../domain/errors.ts";
import type { Evidence } from "../evidence/envelope.ts";
import {
  computeDecision,
  computeScore,
  decisionInputSchema,
  decisionResultPart,
  type Difference,
  differencesOf,
  scoreInputSchema,
  scoreResultPart,
} from "../evidence/record.ts";
import { type DimensionExplanation, explainDecision, explainScore } from "../scoring/explain.ts";
import { type ModelDocument, modelSchema } from "../scoring/model.ts";
import { newestCheckpoint, readEvidence } from "../store/chains.ts";
import { type Database, query } from "../store/database.ts";
import { readEntryParts } from "../store/interactions.ts";
import { type Dependencies, evidenceChain, type OrganizationCaller } from "./dependencies.ts";

export interface Replay {
  readonly id: string;
  readonly kind: "score" | "decision";
  readonly recorded: Record<string, unknown>;
  readonly replayed: Record<string, unknown>;
  readonly match: boolean;
  readonly differences: readonly Difference[];
  readonly explanation: readonly DimensionExplanation[];
  readonly model: { readonly version: string; readonly sha256: string };
  /** Over the recorded result, against the current checkpoint. */
  readonly evidence: Evidence;
}

/** @throws {ServiceError} NOT_FOUND where neither a score nor a decision has this id. */
export async function replay(
  dependencies: Dependencies,
  { orgId }: OrganizationCaller,
  id: string,
): Promise<Replay> {
  const { database, crypto } = dependencies;
  const chain = evidenceChain(orgId);
  const found = await find(database, orgId, id);
  if (found === null) {
    throw new ServiceError(
      "NOT_FOUND",
      `${id} is neither a scored session_id nor a decision_id: check the id.`,
    );
  }
  const { kind, seq } = found;
  const entry = await readEntryParts(database, { chain, seq });
  const checkpoint = await newestCheckpoint(database, chain);
  const stored = checkpoint &&
    await readEvidence(database, crypto, { chain, seq, covers: "result", checkpoint });
  if (entry === null || stored === null) throw new Error(`entry ${seq} of ${chain} has no stored record`);

  const input = JSON.parse(entry.input);
  const { replayed, explanation, algo } = kind === "score"
    ? await replayScore(dependencies, input)
    : await replayDecision(dependencies, input, entry.entryId);
  const differences = differencesOf(stored.data, replayed);
  return {
    id,
    kind,
    recorded: stored.data,
    replayed,
    match: differences.length === 0,
    differences,
    explanation,
    model: { version: algo.model_version, sha256: algo.model_sha256 },
    evidence: stored.evidence,
  };
}

async function find(
  database: Database,
  orgId: string,
  id: string,
): Promise<{ readonly kind: Replay["kind"]; readonly seq: number } | null> {
  const [score] = await database.read(
    query.selectFrom("interaction").select("seq").where("org_id", "=", orgId).where("session_id", "=", id)
      .compile(),
  );
  if (score !== undefined) return { kind: "score", seq: score.seq };
  const [decision] = await database.read(
    query.selectFrom("decision").select("seq").where("org_id", "=", orgId).where("decision_id", "=", id)
      .compile(),
  );
  return decision === undefined ? null : { kind: "decision", seq: decision.seq };
}

async function replayScore(dependencies: Dependencies, recorded: unknown) {
  const input = scoreInputSchema.parse(recorded);
  const document = await modelDocument(dependencies, input.algo.model_sha256);
  const { result } = computeScore(document, input);
  const { interaction, domain, as_of, algo } = input;
  return {
    replayed: scoreResultPart(input, result),
    explanation: explainScore(document, input.state, { interaction, domain, now: Date.parse(as_of) }),
    algo,
  };
}

async function replayDecision(dependencies: Dependencies, recorded: unknown, auditId: string) {
  const input = decisionInputSchema.parse(recorded);
  const document = await modelDocument(dependencies, input.algo.model_sha256);
  const { domain, as_of, algo } = input;
  return {
    replayed: decisionResultPart(input, { result: computeDecision(document, input), auditId }),
    explanation: explainDecision(document, input.state, { domain, now: Date.parse(as_of) }),
    algo,
  };
}

/** The document of a recorded hash: the one in use, or one that was used before and is kept for good. */
async function modelDocument({ database, model }: Dependencies, sha256: string): Promise<ModelDocument> {
  if (sha256 === model.sha256) return model.document;
  const [row] = await database.read(
    query.selectFrom("model_document").select("document").where("sha256", "=", sha256).compile(),
  );
  if (row === undefined) throw new Error(`model document ${sha256} is not in the database`);
  return modelSchema.parse(JSON.parse(row.document));
}
