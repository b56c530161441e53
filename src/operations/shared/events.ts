/**
 * What destinations are told of: an event is written with the score or decision that it tells of, where some
 * destination takes it, and its body is made from the record when it is sent.
 * Source: specification, Events; contract, sections 5 and 8.15.
 */
import type { Proving, Writing } from "./capabilities.ts";
import { isGone } from "../../domain/errors.ts";
import type { WebhookEvent } from "../../domain/enums.ts";
import { subscriptions } from "../../store/records.ts";
import { insertEvent } from "../../store/outbox.ts";
import type { Need, UnitOfWork } from "../../store/unit_of_work.ts";
import { type Asked, storedAnswer, withMembers } from "./answers.ts";
import type { Call } from "./call.ts";

/** What these operations need. */
type Needs = Proving & Writing;

/** What a plan that emits events must have declared. */
export function subscriptionNeed(orgId: string): Need {
  return { kind: subscriptions, key: [orgId] };
}

export interface EmittedEvent {
  readonly orgId: string;
  readonly operatorId: string;
  readonly event: WebhookEvent;
  /** Of the entry in the evidence chain whose result is told, over its epochs. */
  readonly position: number;
  /** Whose answer it is: the body carries its id and its instant. */
  readonly call: Call;
}

/** Adds an event to the commit. */
export function emitEvent(
  unit: UnitOfWork,
  { orgId, operatorId, event, position, call }: EmittedEvent,
): void {
  const taken = unit.get(subscriptions, [orgId])?.events.split(" ") ?? [];
  if (!taken.includes(event)) return;
  unit.execute(insertEvent({
    org_id: orgId,
    operator_id: operatorId,
    event,
    position,
    request_id: call.requestId,
    at: call.now,
  }));
}

export interface ToldEvent {
  readonly org_id: string;
  readonly event: string;
  readonly delivery_id: string;
  readonly request_id: string;
  /** Of the event, epoch milliseconds. */
  readonly at: number;
  readonly position: number;
}

/** What the record of each event must be. */
const ASKED_BY: Readonly<Record<WebhookEvent, Asked>> = {
  "score.committed": { events: ["SCORE_COMMITTED", "SCORE_COMPUTED"], members: { committed: true } },
  "drs.must_review": { events: ["DRS_COMPUTED"], members: { routing_decision: "must_review" } },
  "drs.escalation": { events: ["DRS_COMPUTED"], members: { routing_decision: "escalation" } },
};

/**
 * The body of a delivery, the same at each attempt: the answer that the call was given, with the event and the
 * delivery's id. null where the record was erased or pruned.
 * @throws {AlteredError} where the record is not what was signed, or none that the event tells of.
 */
export async function bodyOfEvent(dependencies: Needs, told: ToldEvent): Promise<string | null> {
  const { org_id, event, delivery_id, position, request_id, at } = told;
  try {
    const answer = await storedAnswer(dependencies, org_id, {
      stored: { position, at, request_id },
      asked: ASKED_BY[event as WebhookEvent] ?? { events: [], members: {} },
    });
    if (answer === null) return null;
    const head = JSON.stringify({ event, delivery_id });
    return `${head.slice(0, -1)},${withMembers(answer.json, envelopeOf(told)).slice(1)}`;
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/** The body of a test. */
export function bodyOfPing(
  told: Omit<ToldEvent, "position" | "org_id"> & { readonly webhook_id: string },
): string {
  const { event, delivery_id, webhook_id } = told;
  return JSON.stringify({ event, delivery_id, webhook_id, ...envelopeOf(told) });
}

function envelopeOf({ request_id, at }: Pick<ToldEvent, "request_id" | "at">) {
  return { request_id, timestamp: new Date(at).toISOString() };
}
