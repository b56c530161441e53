/**
 * Webhook events. If a destination subscribes to an event, it is written in the commit of its score, decision
 * or case. Its body is made from the record when it is sent.
 * Source: specification, Events; contract, sections 5 and 8.15.
 */
import type { Proving, Writing } from "./capabilities.ts";
import { isGone } from "../../domain/errors.ts";
import type { OpenedCase } from "../../domain/case.ts";
import type { WebhookEvent } from "../../domain/enums.ts";
import { caseOpenedSchema } from "../../evidence/cases.ts";
import { hex } from "../../evidence/crypto.ts";
import { subscriptions } from "../../store/records.ts";
import { insertEvent } from "../../store/outbox.ts";
import { readEvidence } from "../../store/proofs.ts";
import type { Need, UnitOfWork } from "../../store/unit_of_work.ts";
import { type ExpectedRecord, readStoredAnswer, requireExpected, withMembers } from "./answers.ts";
import type { Call } from "./call.ts";
import { originOf } from "./deployment.ts";
import { placeOfRecord } from "./gone.ts";

/** The dependencies of these operations. */
type Needs = Proving & Writing;

/** The need that a plan must declare to emit events. */
export function subscriptionNeed(orgId: string): Need {
  return { kind: subscriptions, key: [orgId] };
}

export interface EmittedEvent {
  readonly orgId: string;
  readonly operatorId: string;
  readonly event: WebhookEvent;
  /** Position in the evidence chain of the entry whose content is sent, counted over the chain's epochs. */
  readonly position: number;
  /** The call that wrote the entry: the body carries its id and its instant. */
  readonly call: Call;
}

/** Adds an event to the commit if a destination subscribes to it. */
export function emitEvent(
  unit: UnitOfWork,
  { orgId, operatorId, event, position, call }: EmittedEvent,
): void {
  const subscribed = unit.get(subscriptions, [orgId])?.events.split(" ") ?? [];
  if (!subscribed.includes(event)) return;
  unit.execute(insertEvent({
    org_id: orgId,
    operator_id: operatorId,
    event,
    position,
    request_id: call.requestId,
    at: call.now,
  }));
}

export interface DeliveredEvent {
  readonly org_id: string;
  readonly event: string;
  readonly delivery_id: string;
  readonly request_id: string;
  /** Instant of the event, epoch milliseconds. */
  readonly at: number;
  readonly position: number;
}

const CASE_OPENED = "case.opened" satisfies WebhookEvent;

/** The record that each event must lead to. */
const EXPECTED_RECORDS: Readonly<Record<WebhookEvent, ExpectedRecord>> = {
  "score.committed": { events: ["SCORE_COMMITTED", "SCORE_COMPUTED"], members: { committed: true } },
  "drs.must_review": { events: ["DRS_COMPUTED"], members: { routing_decision: "must_review" } },
  "drs.escalation": { events: ["DRS_COMPUTED"], members: { routing_decision: "escalation" } },
  [CASE_OPENED]: { events: ["CASE_OPENED"], members: {} },
};

/**
 * The body of a delivery, the same at each attempt: the answer to the call, or the case, with the event and the
 * delivery's id. null if the record was erased or pruned.
 * @throws {AlteredError} if the record is not what was signed, or does not belong to such an event.
 */
export async function bodyOfEvent(dependencies: Needs, delivered: DeliveredEvent): Promise<string | null> {
  const { event, delivery_id } = delivered;
  try {
    const json = event === CASE_OPENED
      ? await openedCase(dependencies, delivered)
      : await storedAnswer(dependencies, delivered);
    if (json === null) return null;
    const head = JSON.stringify({ event, delivery_id });
    return `${head.slice(0, -1)},${withMembers(json, envelopeOf(delivered)).slice(1)}`;
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/** The answer to a score or a decision as JSON; null if it is no longer held. */
async function storedAnswer(
  dependencies: Needs,
  { org_id, event, position, request_id, at }: DeliveredEvent,
): Promise<string | null> {
  const answer = await readStoredAnswer(dependencies, org_id, {
    stored: { position, at, request_id },
    expected: EXPECTED_RECORDS[event as WebhookEvent] ?? { events: [], members: {} },
  });
  return answer?.json ?? null;
}

/**
 * The part of an opened case that is sent, as JSON; null if it is no longer held. The statement may be what a person wrote about a
 * person, and no erasure reaches the receiver: it is not sent.
 */
async function openedCase(
  dependencies: Needs,
  { org_id: orgId, position }: DeliveredEvent,
): Promise<string | null> {
  const { chain, seq } = await placeOfRecord(dependencies, { orgId, position });
  const origin = originOf(dependencies, chain);
  const found = await readEvidence(dependencies, { chain, origin, seq, covers: "input" });
  if (found === null) return null;
  requireExpected(found, EXPECTED_RECORDS[CASE_OPENED]);
  const { entry, hash } = found.stored;
  const { operator_id, cause } = caseOpenedSchema.parse(JSON.parse(found.text));
  return JSON.stringify(
    {
      case_id: entry.id,
      operator_id,
      cause,
      opened_at: entry.timestamp,
      chain,
      seq,
      entry_hash: hex(hash),
    } satisfies OpenedCase,
  );
}

/** The body of a test delivery. */
export function bodyOfPing(
  delivered: Omit<DeliveredEvent, "position" | "org_id"> & { readonly webhook_id: string },
): string {
  const { event, delivery_id, webhook_id } = delivered;
  return JSON.stringify({ event, delivery_id, webhook_id, ...envelopeOf(delivered) });
}

function envelopeOf({ request_id, at }: Pick<DeliveredEvent, "request_id" | "at">) {
  return { request_id, timestamp: new Date(at).toISOString() };
}
