/**
 * Scores a decision for its risk: reads the operator's state without changing it, and appends an entry.
 * Source: specification, POST /v1/decision/score; contract, section 4; scoring model, section 11.
 */
import type { Proving, Scoring, Writing } from "../shared/capabilities.ts";
import type { DecisionRequest } from "../../domain/decision.ts";
import type { Route, WebhookEvent } from "../../domain/enums.ts";
import { ServiceError } from "../../domain/errors.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import { equalBytes } from "../../evidence/crypto.ts";
import { computeDecision, decisionResultPart, inputHead } from "../../evidence/record.ts";
import { requestDigest } from "../../keys/secrets.ts";
import { decisions, interactions, skippedInteractions, subjects } from "../../store/records.ts";
import type { UnitOfWork } from "../../store/unit_of_work.ts";
import { currentOperator, operatorNeeds } from "./current_operator.ts";
import { drawSalt, makePart, signedBy } from "../shared/drafts.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { priorOf } from "./score.ts";
import { answerOnce, type EvidencedAnswer, type StoredAnswer } from "../shared/answers.ts";
import { emitEvent, subscriptionNeed } from "../shared/events.ts";
import { refuseGone, tombstoneNeed } from "../shared/gone.ts";
import type { IdempotentCall } from "../shared/idempotency.ts";
import { KeyedCall, pastRetentionError, requireSameId } from "../shared/keyed_calls.ts";
import { probeNeeds, type ProbeRefusal, requireNoProbe } from "../probes/decide.ts";
import { drawPseudonym, pseudonymOf } from "../shared/subjects.ts";

/** The dependencies of these operations. */
type Needs = Proving & Writing & Scoring;

/**
 * Scores a decision.
 * @throws {ServiceError} CONFLICT if the id was used for something else; GONE; SERVICE_UNAVAILABLE.
 */
export async function scoreDecisionRisk(
  dependencies: Needs,
  caller: OrganizationCaller,
  { request, call, idempotency = null }: {
    readonly request: SentDecision;
    readonly call: Call;
    readonly idempotency?: IdempotentCall | null;
  },
): Promise<EvidencedAnswer> {
  const { installation, world } = dependencies;
  const keyed = new KeyedCall(installation, { orgId: caller.orgId, idempotency, request, call });
  return await keyed.runUnderOneId(
    { given: request.decision_id, draw: () => world.ulid(call.now) },
    (decision_id) =>
      answerDecision(dependencies, caller, {
        request: { ...request, decision_id },
        call,
        keyed,
        drawn: request.decision_id === null,
      }),
  );
}

/** A decision as it was requested; `decision_id` is null if the service is to draw it. */
export type SentDecision = Omit<DecisionRequest, "decision_id"> & { readonly decision_id: string | null };

async function answerDecision(
  dependencies: Needs,
  caller: OrganizationCaller,
  { request, call, keyed, drawn }: {
    readonly request: DecisionRequest;
    readonly call: Call;
    readonly keyed: KeyedCall;
    /** True if the service drew the decision's id. */
    readonly drawn: boolean;
  },
): Promise<EvidencedAnswer> {
  const { world, installation, model } = dependencies;
  const { orgId } = caller;
  const { decision_id } = request;
  const name = [orgId, decision_id] as const;
  const operator = [orgId, request.operator_id] as const;
  const digest = requestDigest(installation.key, canonicalJson({ kind: "decision", ...request }));
  const auditId = world.ulid(call.now);
  const salts = { input: drawSalt(world), result: drawSalt(world) };
  const drawnPseudonym = drawPseudonym(world);
  const tombstone = tombstoneNeed(dependencies, { kind: "record", orgId, name: decision_id });

  return await answerOnce(dependencies, orgId, {
    call,
    expected: { events: ["DRS_COMPUTED"], members: { decision_id, operator_id: request.operator_id } },
    needs: [
      { kind: decisions, key: name },
      { kind: interactions, key: name },
      { kind: skippedInteractions, key: name },
      ...probeNeeds(name, null),
      ...operatorNeeds(operator),
      { kind: subjects, key: operator },
      subscriptionNeed(orgId),
      tombstone,
      ...keyed.needs,
    ],
    plan(unit) {
      const known = keyed.findEarlier(unit);
      requireSameId(known, decision_id);
      const stored = findRepeated(unit, name, digest);
      if (known === null) {
        keyed.remember(unit, { reference: drawn ? decision_id : null, operatorId: request.operator_id });
      }
      if (stored !== null) return { stored, replayed: true };
      refuseGone(unit, tombstone);
      if (known !== null) throw pastRetentionError();
      requireNoProbe(unit, name, PROBE_NAMED);
      const input = {
        ...inputHead(model, call.now),
        ...request,
        ...priorOf(currentOperator(unit, operator)),
      };
      const decision = computeDecision(model.document, input);
      const result = decisionResultPart(input, { result: decision, auditId });
      const appended = unit.append(evidenceChain(orgId), {
        id: auditId,
        ...signedBy(caller),
        eventType: "DRS_COMPUTED",
        subject: pseudonymOf(unit, operator, drawnPseudonym),
        at: call.now,
        parts: [makePart("input", salts.input, input), makePart("result", salts.result, result)],
      });
      unit.put(decisions, {
        org_id: orgId,
        decision_id,
        operator_id: request.operator_id,
        request_digest: digest,
        request_id: call.requestId,
        at: call.now,
        position: appended.position,
      });
      const event = EVENT_OF_ROUTE[decision.routing_decision];
      if (event !== undefined) {
        const { position } = appended;
        emitEvent(unit, { orgId, operatorId: request.operator_id, event, position, call });
      }
      return { appended };
    },
  });
}

/** The refusal of a decision under the session of a probe, which could then never be scored. */
const PROBE_NAMED: ProbeRefusal = {
  path: "decision_id",
  message: "is the session of a probe: send its decision to POST /v1/score, with its ticket",
};

/** The event of a decision, by its final route. Source: scoring model, section 11. */
const EVENT_OF_ROUTE: Readonly<Partial<Record<Route, WebhookEvent>>> = {
  must_review: "drs.must_review",
  escalation: "drs.escalation",
};

/**
 * The stored answer that this request repeats, or null if its id is free. The ids of sessions and decisions
 * are one name space; a frozen session keeps its id, so that it can be scored later.
 * @throws {ServiceError} CONFLICT.
 */
function findRepeated(
  unit: UnitOfWork,
  name: readonly [orgId: string, decisionId: string],
  digest: Uint8Array,
): StoredAnswer | null {
  const known = unit.get(decisions, name);
  if (known !== null && equalBytes(known.request_digest, digest)) return known;
  const taken = known !== null || unit.get(interactions, name) !== null ||
    unit.get(skippedInteractions, name) !== null;
  if (!taken) return null;
  throw new ServiceError(
    "CONFLICT",
    `decision_id ${
      name[1]
    } was used for something else: send the same request again to get its answer, or use a new decision_id.`,
  );
}
