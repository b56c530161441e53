/**
 * Webhook events. If a destination subscribes to an event, it is written in the commit of its score or
 * decision. Its body is made from the record when it is sent.
 * Source: specification, Events; contract, sections 5 and 8.15.
 */
import type { Proving, Writing } from "./capabilities.ts";
import { isGone } from "../../domain/errors.ts";
import type { WebhookEvent } from "../../domain/enums.ts";
import { subscriptions } from "../../store/records.ts";
import { insertEvent } from "../../store/outbox.ts";
import type { Need, UnitOfWork } from "../../store/unit_of_work.ts";
import { type ExpectedRecord, readStoredAnswer, withMembers } from "./answers.ts";
import type { Call } from "./call.ts";

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
  /** Position in the evidence chain of the entry whose result is sent, counted over the chain's epochs. */
  readonly position: number;
  /** The call that was answered: the body carries its id and its instant. */
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

/** The record that each event must lead to. */
const EXPECTED_RECORDS: Readonly<Record<WebhookEvent, ExpectedRecord>> = {
  "score.committed": { events: ["SCORE_COMMITTED", "SCORE_COMPUTED"], members: { committed: true } },
  "drs.must_review": { events: ["DRS_COMPUTED"], members: { routing_decision: "must_review" } },
  "drs.escalation": { events: ["DRS_COMPUTED"], members: { routing_decision: "escalation" } },
};

/**
 * The body of a delivery, the same at each attempt: the answer to the call, with the event and the delivery's
 * id. null if the record was erased or pruned.
 * @throws {AlteredError} if the record is not what was signed, or does not belong to such an event.
 */
export async function bodyOfEvent(dependencies: Needs, delivered: DeliveredEvent): Promise<string | null> {
  const { org_id, event, delivery_id, position, request_id, at } = delivered;
  try {
    const answer = await readStoredAnswer(dependencies, org_id, {
      stored: { position, at, request_id },
      expected: EXPECTED_RECORDS[event as WebhookEvent] ?? { events: [], members: {} },
    });
    if (answer === null) return null;
    const head = JSON.stringify({ event, delivery_id });
    return `${head.slice(0, -1)},${withMembers(answer.json, envelopeOf(delivered)).slice(1)}`;
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
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
