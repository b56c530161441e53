/**
 * Scores a batch: up to 100 interactions of one operator in the order of the array, all in one durable write.
 * Source: specification, POST /v1/score/batch; contract, sections 4 and 8.8; evidence design, section 5.
 */
import type { Proving, Scoring, Writing } from "../shared/capabilities.ts";
import { BATCH_PARAMETERS, type BatchRequest } from "../../domain/batch.ts";
import { AlteredError } from "../../domain/errors.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import { hex } from "../../evidence/crypto.ts";
import { type BatchEvidence, batchEvidenceOf, type BatchItemProof } from "../../evidence/envelope.ts";
import { requestDigest } from "../../keys/secrets.ts";
import { readEntries, requireIntact } from "../../store/chains.ts";
import { ownCheckpointOfCommit, proveHashes, requirePlace } from "../../store/proofs.ts";
import { decisions, interactions, scoreBatches, type ScoreBatchRow } from "../../store/records.ts";
import type { UnitOfWork } from "../../store/unit_of_work.ts";
import { addUsage } from "../../store/usage.ts";
import type { WriteJob } from "../../store/writer.ts";
import { answerUnlessGone, requireExpected } from "../shared/answers.ts";
import { originOf } from "../shared/deployment.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { placeOfRecord, refuseGone } from "../shared/gone.ts";
import type { IdempotentCall } from "../shared/idempotency.ts";
import { KeyedCall, pastRetentionError } from "../shared/keyed_calls.ts";
import { requireNoProbe } from "../probes/decide.ts";
import { needsOf, planScore, type PreparedScore, prepareScore, usedSession } from "./score.ts";

/** The dependencies of these operations. */
type Needs = Proving & Writing & Scoring;

export interface BatchAnswer {
  readonly body: {
    readonly results: readonly { readonly session_id: string; readonly jis: number }[];
    readonly count: number;
    readonly operator_id: string;
    readonly evidence: BatchEvidence;
  };
  readonly call: Call;
  readonly replayed: boolean;
}

type Outcome =
  | { readonly kind: "scored"; readonly body: BatchAnswer["body"] }
  | { readonly kind: "repeated"; readonly stored: ScoreBatchRow };

/**
 * Scores a batch, or gives its answer again if the whole batch was answered before.
 * @throws {ServiceError} CONFLICT if a session was used for another request; GONE; SERVICE_UNAVAILABLE.
 */
export async function scoreBatch(
  dependencies: Needs,
  caller: OrganizationCaller,
  { request, call, idempotency = null }: {
    readonly request: BatchRequest;
    readonly call: Call;
    readonly idempotency?: IdempotentCall | null;
  },
): Promise<BatchAnswer> {
  const { orgId } = caller;
  const { operator_id, domain } = request;
  const digest = hex(
    requestDigest(dependencies.installation.key, canonicalJson({ kind: "batch", ...request })),
  );
  const scores = request.interactions.map(({ session_id, interaction }) =>
    prepareScore(dependencies, {
      orgId,
      request: { session_id, operator_id, domain, interaction, ...BATCH_PARAMETERS },
      call,
    })
  );
  const batch = [orgId, digest] as const;
  const keyed = new KeyedCall(dependencies.installation, { orgId, idempotency, request, call });
  const job: WriteJob<Outcome> = {
    needs: [
      { kind: scoreBatches, key: batch },
      ...keyed.needs,
      ...scores.flatMap((score) => needsOf(orgId, score)),
    ],
    chains: [evidenceChain(orgId)],
    plan(unit) {
      const known = keyed.findEarlier(unit);
      if (known === null) keyed.remember(unit, { operatorId: operator_id });
      const repeated = unit.get(scoreBatches, batch);
      if (repeated !== null) return () => ({ kind: "repeated", stored: repeated });
      refuseUsedSessions(unit, orgId, scores);
      if (known !== null) throw pastRetentionError();
      const planned = scores.map((score, index) => {
        requireNoProbe(unit, [orgId, score.request.session_id], {
          path: `interactions.${index}.session_id`,
          message: "is the session of a probe, and probes cannot be in a batch: send it to POST /v1/score",
        });
        return planScore(unit, dependencies, { caller, score });
      });
      unit.put(scoreBatches, {
        org_id: orgId,
        request_digest: digest,
        request_id: call.requestId,
        at: call.now,
        operator_id,
        first_position: planned[0]!.appended.position,
        count: planned.length,
      });
      addUsage(orgId, { at: call.now, count: planned.length }).forEach((row) => unit.execute(row));
      return (receipts) => {
        const items = planned.map(({ appended, result }, index) => ({
          sessionId: scores[index]!.request.session_id,
          jis: result.jis as number,
          entryHash: appended.hash,
          proof: receipts.proofOf(appended),
        }));
        return { kind: "scored", body: bodyOf(operator_id, items) };
      };
    },
  };
  return await answerUnlessGone(dependencies, orgId, async () => {
    const outcome = await dependencies.writer.submit(job);
    if (outcome.kind === "scored") return { body: outcome.body, call, replayed: false };
    return await storedBatch(dependencies, orgId, { stored: outcome.stored, request });
  });
}

/** @throws {ServiceError} CONFLICT or GONE for the first session that was used. */
function refuseUsedSessions(unit: UnitOfWork, orgId: string, scores: readonly PreparedScore[]): void {
  for (const { request: { session_id }, tombstone } of scores) {
    const session = [orgId, session_id] as const;
    if (unit.get(interactions, session) !== null || unit.get(decisions, session) !== null) {
      throw usedSession(session_id);
    }
    refuseGone(unit, tombstone);
  }
}

interface Item extends BatchItemProof {
  readonly jis: number;
}

function bodyOf(operatorId: string, items: readonly Item[]): BatchAnswer["body"] {
  return {
    results: items.map(({ sessionId, jis }) => ({ session_id: sessionId, jis })),
    count: items.length,
    operator_id: operatorId,
    evidence: batchEvidenceOf(items),
  };
}

/**
 * The answer that was given first: its entries follow one another, under the checkpoint of their commit. null
 * if the result of one of them is no longer held.
 * @throws {ServiceError} GONE if an entry was pruned; {AlteredError} if the batch is not what was signed, or
 *   not the requested one.
 */
async function storedBatch(
  dependencies: Needs,
  orgId: string,
  { stored: { first_position: position, count, request_id, at }, request }: {
    readonly stored: ScoreBatchRow;
    readonly request: BatchRequest;
  },
): Promise<BatchAnswer | null> {
  const { database, crypto } = dependencies;
  const { operator_id, interactions } = request;
  const { chain, seq: first } = await placeOfRecord(dependencies, { orgId, position });
  const entries = await readEntries(database, { chain, first, count: interactions.length });
  if (entries.length !== interactions.length || count !== interactions.length) {
    throw new AlteredError(chain, `a batch at entry ${first} of ${chain} is not stored as a whole`);
  }
  if (entries.some(({ parts }) => !parts.has("result"))) return null;
  const items = entries.map((stored, index) => {
    const { session_id } = interactions[index]!;
    const { text } = stored.parts.get("result")!;
    requireIntact(crypto, stored);
    requirePlace(stored, { chain, seq: first + index });
    requireExpected({ stored, text }, { events: ["SCORE_COMPUTED"], members: { session_id, operator_id } });
    return { sessionId: session_id, jis: JSON.parse(text).jis, entryHash: stored.hash };
  });
  const last = first + count - 1;
  const place = { chain, origin: originOf(dependencies, chain), seq: last };
  const proofs = await proveHashes(dependencies, {
    chain,
    hashes: new Map(items.map(({ entryHash }, index) => [first + index, entryHash])),
    checkpoint: await ownCheckpointOfCommit(dependencies, place),
  });
  const proven = items.map((item, index) => ({ ...item, proof: proofs.get(first + index)! }));
  return { body: bodyOf(operator_id, proven), call: { now: at, requestId: request_id }, replayed: true };
}
