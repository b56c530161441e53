/**
 * An organization's operations on its deliveries: their log, a test of a destination, the redelivery of a
 * delivery.
 * Source: contract, section 5.
 */
import type { Watching } from "../shared/tampering.ts";
import type { Remembering } from "../organizations/registered.ts";
import type { Reading, Secrets, Sending } from "../shared/capabilities.ts";
import type { DELIVERY_STATUSES } from "../../domain/enums.ts";
import { ServiceError, unavailable } from "../../domain/errors.ts";
import { type DeliveryAttempt, type LastFailure, PING } from "../../domain/webhook.ts";
import { backlogQuery } from "../../store/backlogs.ts";
import { newestDeliveriesQuery, readDelivery, readEventOfDelivery } from "../../store/deliveries.ts";
import { type DeliveryRow, insertDeliveries, insertPing } from "../../store/outbox.ts";
import { webhookDeliveries, type WebhookRow, webhooks } from "../../store/records.ts";
import { webhookQuery } from "../../store/webhooks.ts";
import { eventDraft } from "../shared/drafts.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import { attemptDelivery, type Claimed, drawLease, drawUuid, settle } from "./deliveries.ts";
import { bodyOfEvent } from "../shared/events.ts";
import type { IdempotentCall } from "../shared/idempotency.ts";
import {
  KeyedCall,
  type KnownCall,
  pastRetentionError,
  type RepeatableAnswer,
  repeatedAnswer,
} from "../shared/keyed_calls.ts";
import { listedWebhook, requireWebhook } from "./webhooks.ts";

/** The dependencies of these operations. */
type Needs = Watching & Reading & Pick<Secrets, "secretsKeys"> & Sending & Remembering;

interface WebhookCall {
  readonly id: string;
  readonly call: Call;
}

/** The newest deliveries that are asked for. */
interface DeliverySelection {
  /** Only those with this status; all if it is left out. */
  readonly status?: (typeof DELIVERY_STATUSES)[number];
  readonly limit: number;
}

interface RepeatableWebhookCall extends WebhookCall {
  readonly idempotency?: IdempotentCall | null;
}

/** The newest deliveries of a destination. The access is recorded first. */
export async function listDeliveries(
  { database, world, writer }: Needs,
  caller: OrganizationCaller,
  { id, call: { now }, parameters: { status, limit } }: WebhookCall & {
    readonly parameters: DeliverySelection;
  },
): Promise<Record<string, unknown>> {
  const { orgId } = caller;
  const draft = eventDraft(world, { type: "WEBHOOK_LISTED", caller, now, detail: { id } });
  const registered = await writer.submit<WebhookRow>({
    needs: [{ kind: webhooks, key: [id] }],
    chains: [adminChain(orgId)],
    plan(unit) {
      const row = requireWebhook(unit, { orgId, id });
      unit.append(adminChain(orgId), draft);
      return () => row;
    },
  });
  const [[present], [waiting], rows, [failed]] = await database.snapshot([
    webhookQuery(id),
    backlogQuery(id),
    newestDeliveriesQuery(id, { status, limit }),
    newestDeliveriesQuery(id, { status: "dead", limit: 1 }),
  ]);
  // Somebody may have removed the destination meanwhile.
  const active = present === undefined ? 0 : registered.active;
  const { paused_at = null, last_delivery = null } = present ?? {};
  return {
    webhook: {
      ...listedWebhook({ ...registered, active, last_delivery }),
      paused_since: instant(paused_at),
      waiting: active === 1 ? waiting!.events + waiting!.queued : 0,
      last_failure: failed === undefined ? null : failureBody(failed),
    },
    deliveries: rows.map(deliveryBody),
    count: rows.length,
  };
}

function failureBody({ delivery_id, event, attempts, finished_at, created_at }: DeliveryRow): LastFailure {
  const last = (JSON.parse(attempts) as DeliveryAttempt[]).at(-1);
  return {
    delivery_id,
    event: event as LastFailure["event"],
    at: instant(finished_at ?? created_at)!,
    response_status: last?.response_status ?? null,
    error: last?.error ?? null,
  };
}

function deliveryBody(row: DeliveryRow) {
  return {
    delivery_id: row.delivery_id,
    event: row.event,
    event_request_id: row.request_id,
    event_at: instant(row.at),
    status: row.status,
    attempts: JSON.parse(row.attempts) as DeliveryAttempt[],
    next_attempt_at: row.status === "queued" ? instant(row.next_at) : null,
    redelivery_of: row.redelivery_of,
    created_at: instant(row.created_at),
  };
}

function instant(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

/** Tests in progress at all destinations together. */
const TESTS_AT_ONCE = 100;

/**
 * Sends a signed `ping`, once, and returns the outcome. A paused destination that accepts it is resumed.
 * @throws {ServiceError} NOT_FOUND; CONFLICT if the destination is disabled or being tested, or if nothing
 *   was sent; SERVICE_UNAVAILABLE.
 */
export async function testWebhook(
  dependencies: Needs,
  caller: OrganizationCaller,
  webhookCall: RepeatableWebhookCall,
): Promise<RepeatableAnswer> {
  const { id, call, idempotency = null } = webhookCall;
  const { orgId } = caller;
  const keyed = new KeyedCall(dependencies.installation, { orgId, idempotency, request: {}, call });
  const before = await keyed.lookUp(dependencies);
  if (before !== null) return await readTestOutcome(dependencies, { id, known: before });
  const { tests } = dependencies.deliveries;
  const name = `${caller.orgId} ${webhookCall.id}`;
  if (tests.has(name)) {
    throw new ServiceError("CONFLICT", "This webhook is being tested: wait for that test's answer.");
  }
  if (tests.size >= TESTS_AT_ONCE) {
    throw unavailable("Too many webhooks are being tested; try again in a moment.");
  }
  const test = sendPing(dependencies, caller, { ...webhookCall, keyed });
  tests.set(name, test);
  try {
    return await test;
  } finally {
    tests.delete(name);
  }
}

async function sendPing(
  dependencies: Needs,
  caller: OrganizationCaller,
  { id, call, keyed }: WebhookCall & { readonly keyed: KeyedCall },
): Promise<RepeatableAnswer> {
  const { now, requestId } = call;
  const { world, writer, deliveries: { clock, stopping } } = dependencies;
  const { orgId } = caller;
  const deliveryId = drawUuid(world);
  const lease = drawLease(dependencies, now);
  const draft = eventDraft(world, {
    type: "WEBHOOK_TESTED",
    caller,
    now,
    detail: { id, delivery_id: deliveryId },
  });
  const known = await writer.submit<KnownCall | null>({
    needs: [{ kind: webhooks, key: [id] }, ...keyed.needs],
    chains: [adminChain(orgId)],
    plan(unit) {
      const before = keyed.findEarlier(unit);
      if (before !== null) return () => before;
      requireActive(requireWebhook(unit, { orgId, id }));
      unit.execute(insertPing({ deliveryId, webhookId: id, requestId, now, lease }));
      unit.append(adminChain(orgId), draft);
      keyed.remember(unit, { reference: deliveryId });
      return () => null;
    },
  });
  if (known !== null) return await readTestOutcome(dependencies, { id, known });
  const claimed: Claimed = { deliveryId, webhookId: id, lease };
  const outcome = await attemptDelivery(dependencies, claimed, stopping);
  await settle(dependencies, { outcomes: [outcome], now: clock.now() });
  if (outcome.kind !== "attempted") {
    throw new ServiceError(
      "CONFLICT",
      "Nothing was sent: the webhook was removed or disabled meanwhile, or this process cannot open its secret.",
    );
  }
  const { result } = outcome;
  const body = {
    delivery_id: deliveryId,
    delivered: result.error === null,
    response_status: result.status,
    error: result.error,
    duration_ms: Math.round(result.durationMs),
  };
  return { body, call, replayed: false };
}

/**
 * The outcome of a repeated call's test, from the log of deliveries.
 * @throws {ServiceError} CONFLICT if it is still going on, or nothing was sent; GONE if the log no longer
 *   holds it.
 */
async function readTestOutcome(
  { database }: Needs,
  { id, known }: { readonly id: string; readonly known: KnownCall },
): Promise<RepeatableAnswer> {
  const row = await readDelivery(database, { webhookId: id, deliveryId: known.reference! });
  if (row === null) throw pastRetentionError();
  const [attempt] = JSON.parse(row.attempts) as DeliveryAttempt[];
  if (attempt === undefined) {
    throw new ServiceError(
      "CONFLICT",
      "The test under this Idempotency-Key has no result: it is still going on, or nothing was sent. Test again with a new key.",
    );
  }
  return repeatedAnswer(known, {
    delivery_id: row.delivery_id,
    delivered: attempt.error === null,
    response_status: attempt.response_status,
    error: attempt.error,
    duration_ms: attempt.duration_ms,
  });
}

/**
 * Queues the event of a finished delivery again, as a new delivery with its own id.
 * @throws {ServiceError} NOT_FOUND; GONE; CONFLICT if it is not finished, is a test, or the destination is
 *   disabled.
 */
export async function redeliver(
  dependencies: Needs,
  caller: OrganizationCaller,
  { id, deliveryId, call, idempotency = null }: RepeatableWebhookCall & { readonly deliveryId: string },
): Promise<RepeatableAnswer> {
  const { world, writer, installation } = dependencies;
  const { orgId } = caller;
  const { now } = call;
  const keyed = new KeyedCall(installation, { orgId, idempotency, request: {}, call });
  const isHeld = await holdsBody(dependencies, { orgId, deliveryId });
  const newId = drawUuid(world);
  const detail = { id, delivery_id: newId, redelivery_of: deliveryId };
  const draft = eventDraft(world, { type: "WEBHOOK_REDELIVERED", caller, now, detail });
  const queued = (delivery_id: string | null) => ({
    delivery_id,
    redelivery_of: deliveryId,
    status: "queued",
  });
  return await writer.submit<RepeatableAnswer>({
    needs: [
      { kind: webhooks, key: [id] },
      { kind: webhookDeliveries, key: [deliveryId] },
      ...keyed.needs,
    ],
    chains: [adminChain(orgId)],
    plan(unit) {
      const known = keyed.findEarlier(unit);
      if (known !== null) return () => repeatedAnswer(known, queued(known.reference));
      const webhook = requireWebhook(unit, { orgId, id });
      const sequence = requireRepeatable(unit.get(webhookDeliveries, [deliveryId]), {
        webhookId: id,
        isHeld,
      });
      requireActive(webhook);
      unit.execute({
        ...insertDeliveries([{ id: newId, sequence }], {
          webhookId: id,
          now,
          lease: null,
          redeliveryOf: deliveryId,
        }),
        mustChange: 1,
      });
      unit.append(adminChain(orgId), draft);
      keyed.remember(unit, { reference: newId });
      return () => ({ body: queued(newId), call, replayed: false });
    },
  });
}

/** Whether the record of a delivery's event is still held. */
async function holdsBody(
  dependencies: Needs,
  { orgId, deliveryId }: { readonly orgId: string; readonly deliveryId: string },
): Promise<boolean> {
  const event = await readEventOfDelivery(dependencies.database, { orgId, deliveryId });
  return event !== null && await bodyOfEvent(dependencies, { ...event, delivery_id: deliveryId }) !== null;
}

/** The sequence of a finished delivery's event. @throws {ServiceError} NOT_FOUND; CONFLICT; GONE. */
function requireRepeatable(
  row: DeliveryRow | null,
  { webhookId, isHeld }: { readonly webhookId: string; readonly isHeld: boolean },
): number {
  if (row === null || row.webhook_id !== webhookId) {
    throw new ServiceError(
      "NOT_FOUND",
      `There is no such delivery: GET /v1/admin/webhook/${webhookId}/deliveries lists the deliveries.`,
    );
  }
  if (row.event === PING) {
    throw new ServiceError(
      "CONFLICT",
      "This delivery was a test: POST to the webhook's /test to send another test.",
    );
  }
  if (row.status === "queued") {
    throw new ServiceError("CONFLICT", "This delivery is still queued: the service will send it.");
  }
  if (row.sequence === null || !isHeld) {
    throw new ServiceError(
      "GONE",
      "The record of this delivery was erased, or its retention period has ended.",
    );
  }
  return row.sequence;
}

/** @throws {ServiceError} CONFLICT. */
function requireActive({ active }: WebhookRow): void {
  if (active === 1) return;
  throw new ServiceError(
    "CONFLICT",
    "This webhook is disabled because it answered 410: remove it and register it again.",
  );
}
