/**
 * Deliveries between the database and the network: events are claimed for a destination by a lease, sent, and
 * their outcome is written. A destination that fails for long is paused; one that answers 410 is disabled.
 * Source: specification, Events; contract, section 5.
 */
import type { Reading, Secrets, Sending } from "../shared/capabilities.ts";
import { AlteredError, isUnavailable } from "../../domain/errors.ts";
import { PING } from "../../domain/webhook.ts";
import { WEBHOOK_ATTEMPTS, WEBHOOK_PROBE_MS } from "../../domain/limits.ts";
import { unwrapSigningSecret } from "../../keys/webhook_secret.ts";
import { errorFields } from "../../observability/log.ts";
import type { Statement } from "../../store/database.ts";
import { backlogQuery } from "../../store/backlogs.ts";
import {
  claimDeliveries,
  type ClaimedDelivery,
  type DestinationRow,
  dueDeliveries,
  insertDeliveries,
  type Lease,
  markDeliveriesDead,
  moveCursor,
  nextEvents,
  readClaimed,
  readClaimsOf,
  readDestinations,
  readyDestinations,
  recordAttempt,
  releaseDelivery,
  settleDelivery,
} from "../../store/outbox.ts";
import { type WebhookRow, webhooks } from "../../store/records.ts";
import type { UnitOfWork } from "../../store/unit_of_work.ts";
import { setProbe } from "../../store/webhooks.ts";
import type { Dispatched } from "../../webhooks/dispatcher.ts";
import {
  afterAttempt,
  type AttemptResult,
  GONE_STATUS,
  mustPause,
  mustResume,
} from "../../webhooks/health.ts";
import { eventDraft } from "../shared/drafts.ts";
import type { Caller } from "../shared/call.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import type { World } from "../../domain/world.ts";
import { bodyOfEvent, bodyOfPing } from "../shared/events.ts";
import { registeredWith, type Remembering } from "../organizations/registered.ts";
import { requireSealed } from "../shared/sealed_reads.ts";
import { raiseTampering, tamperingOf, type Watching } from "../shared/tampering.ts";

/** The dependencies of these operations. */
type Needs = Watching & Reading & Pick<Secrets, "secretsKeys"> & Sending & Remembering;

/** A delivery that this process has claimed. */
export interface Claimed {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly lease: Lease;
}

/** The number of deliveries that a destination can take now. */
interface ClaimRequest {
  readonly destination: DestinationRow;
  readonly count: number;
}

const TOKEN_BYTES = 16;
/** Milliseconds until a delivery that could not be prepared is tried again. */
const POSTPONED_MS = 60_000;

/** A random UUID, version 4 (RFC 9562, section 5.4). */
export function drawUuid({ random }: Pick<World, "random">): string {
  const bytes = random(TOKEN_BYTES).slice();
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const text = bytes.toHex();
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join(
    "-",
  );
}

export function drawLease({ world, deliveries: { leaseMs } }: Needs, now: number): Lease {
  return { token: world.random(TOKEN_BYTES).toHex(), until: now + leaseMs };
}

/** The steps of the loop that sends deliveries. */
export function dispatchedDeliveries(
  dependencies: Needs,
): Dispatched<DestinationRow, Claimed, Outcome> {
  const { database, secretsKeys } = dependencies;
  const isRegisteredHere = registrationCheck(dependencies);
  return {
    async ready(now) {
      const ready: DestinationRow[] = [];
      for (const row of await readyDestinations(database, now)) {
        const { wrapped_secret: wrapped, webhook_id: webhookId } = row;
        // If another process's secrets key wrapped the secret, that process sends the deliveries.
        const isOpened = unwrapSigningSecret(wrapped, { keys: secretsKeys, webhookId }) !== null;
        if (isOpened && await isRegisteredHere(row)) ready.push(row);
      }
      return ready;
    },
    async claim(wants, now) {
      const claims = await claim(dependencies, { wants, now });
      const ids = [...new Set(claims.map(({ webhookId }) => webhookId))];
      return { claims, destinations: ids.length === 0 ? [] : await readDestinations(database, ids) };
    },
    attempt: (claimed, signal) => attemptDelivery(dependencies, claimed, signal),
    release: (claimed) => ({ kind: "released", claimed }),
    settle: (outcomes, now) => settle(dependencies, { outcomes, now }),
  };
}

/**
 * Whether its organization has a destination registered now: nothing is sent to an address that nobody
 * registered, or that was removed. An altered row is logged once for each destination, and raises the alert.
 */
function registrationCheck(dependencies: Needs): (row: DestinationRow) => Promise<boolean> {
  const { log, deliveries: { clock } } = dependencies;
  const logged = new Set<string>();
  return async (row) => {
    try {
      requireSealed(dependencies, webhooks, [row]);
      return await registeredWith(dependencies, row) !== null;
    } catch (error) {
      if (isUnavailable(error)) return false;
      if (!(error instanceof AlteredError)) throw error;
      const { org_id, webhook_id } = row;
      if (!logged.has(webhook_id)) {
        logged.add(webhook_id);
        log.error("a webhook's row was altered: nothing is sent to it", {
          audit: true,
          org_id,
          webhook_id,
          mend: "put the database back, or accept it without this webhook: jiss restore --acknowledge REASON",
        });
        void raiseTampering(dependencies, tamperingOf(error), clock.now());
      }
      return false;
    }
  };
}

interface Candidate extends ClaimRequest {
  readonly due: readonly string[];
  readonly events: readonly { readonly id: string; readonly sequence: number }[];
}

/**
 * Claims due deliveries for destinations: first those that wait for their next attempt, then new events in
 * their order. If another process claims the same delivery, only one of the two gets it.
 */
async function claim(
  dependencies: Needs,
  { wants, now }: { readonly wants: readonly ClaimRequest[]; readonly now: number },
): Promise<readonly Claimed[]> {
  const { database, world, writer } = dependencies;
  const lease = drawLease(dependencies, now);
  const candidates: Candidate[] = [];
  for (const { destination, count } of wants) {
    const webhookId = destination.webhook_id;
    const due = await dueDeliveries(database, { webhookId, now, limit: count });
    const limit = count - due.length;
    const next = limit === 0 ? [] : await nextEvents(database, { webhookId, limit });
    const events = next.map(({ sequence }) => ({ id: drawUuid(world), sequence }));
    if (due.length + events.length > 0) candidates.push({ destination, count, due, events });
  }
  if (candidates.length === 0) return [];
  await writer.submit<void>({
    needs: candidates.map(({ destination }) => ({ kind: webhooks, key: [destination.webhook_id] })),
    chains: [],
    plan(unit) {
      for (const candidate of candidates) planClaim(unit, candidate, { lease, now });
      return () => undefined;
    },
  });
  const claimed = await readClaimsOf(database, lease.token);
  return claimed.map(({ delivery_id, webhook_id }) => ({
    deliveryId: delivery_id,
    webhookId: webhook_id,
    lease,
  }));
}

function planClaim(
  unit: UnitOfWork,
  { destination, due, events }: Candidate,
  { lease, now }: { readonly lease: Lease; readonly now: number },
): void {
  const { webhook_id: webhookId } = destination;
  const row = unit.get(webhooks, [webhookId]);
  if (row === null || row.active === 0 || row.paused_at !== destination.paused_at) return;
  if (row.paused_at !== null) {
    if (row.probe_at === null || row.probe_at > now) return;
    unit.execute(setProbe(row, now + WEBHOOK_PROBE_MS));
  }
  if (due.length > 0) unit.execute(claimDeliveries(due, { lease, now }));
  // If the cursor moved, another process has these events.
  if (events.length === 0 || row.cursor !== destination.cursor) return;
  unit.execute(insertDeliveries(events, { webhookId, now, lease }));
  unit.execute(moveCursor(row, events.at(-1)!.sequence));
}

// ---- one attempt ------------------------------------------------------------------------------------------

/** The content and the destination of an attempt. */
interface ReadyAttempt {
  readonly delivery: ClaimedDelivery;
  readonly url: URL;
  readonly body: string;
  readonly secret: Uint8Array;
}

/** The outcome of a claimed delivery. */
export type Outcome =
  & { readonly claimed: Claimed }
  & (
    | {
      readonly kind: "attempted";
      readonly delivery: ClaimedDelivery;
      /** When the attempt began, epoch milliseconds. */
      readonly at: number;
      readonly result: AttemptResult;
    }
    /** The record of its event is gone. */
    | { readonly kind: "cancelled"; readonly delivery: ClaimedDelivery }
    /** Its claim was lost, its webhook is gone, or its secret cannot be opened here: nothing was sent. */
    | { readonly kind: "released" }
    /** It could not be prepared. */
    | { readonly kind: "postponed" }
  );

/** Makes one attempt at a claimed delivery. Never throws. */
export async function attemptDelivery(
  dependencies: Needs,
  claimed: Claimed,
  signal: AbortSignal,
): Promise<Outcome> {
  const { deliveries: { deliverer, clock }, log } = dependencies;
  const { deliveryId } = claimed;
  try {
    const prepared = await prepareAttempt(dependencies, claimed);
    if ("kind" in prepared) return prepared;
    const at = clock.now();
    const result = await deliverer.deliver({ ...prepared, deliveryId }, signal);
    return { kind: "attempted", claimed, delivery: prepared.delivery, at, result };
  } catch (error) {
    if (error instanceof AlteredError) {
      await raiseTampering(dependencies, tamperingOf(error), clock.now());
    }
    log.error("a delivery could not be prepared and is tried again", {
      delivery_id: deliveryId,
      ...errorFields(error),
    });
    return { kind: "postponed", claimed };
  }
}

/** The attempt to make for a claimed delivery, or its outcome if nothing is to be sent. */
async function prepareAttempt(
  dependencies: Needs,
  claimed: Claimed,
): Promise<ReadyAttempt | Outcome> {
  const { database, secretsKeys } = dependencies;
  const { deliveryId, webhookId, lease: { token } } = claimed;
  const delivery = await readClaimed(database, { deliveryId, token });
  if (delivery === null) return { kind: "released", claimed };
  const opened = unwrapSigningSecret(delivery.wrapped_secret, { keys: secretsKeys, webhookId });
  // Another process has the secrets key that wrapped this secret.
  if (opened === null) return { kind: "released", claimed };
  const { position } = delivery;
  const body = delivery.event === PING
    ? bodyOfPing(delivery)
    : position === null
    ? null
    : await bodyOfEvent(dependencies, { ...delivery, position });
  if (body === null) return { kind: "cancelled", claimed, delivery };
  const [destination] = await readDestinations(database, [webhookId]);
  // It was deleted after the delivery was read, and its deliveries with it.
  if (destination === undefined) return { kind: "released", claimed };
  requireSealed(dependencies, webhooks, [destination]);
  // A destination that was changed meanwhile is tried again later.
  if (await registeredWith(dependencies, destination) === null) return { kind: "postponed", claimed };
  const url = new URL(destination.url);
  return { delivery, url, body, secret: opened.plain };
}

// ---- settling ---------------------------------------------------------------------------------------------

/**
 * Writes the outcomes of claimed deliveries, then changes their destinations.
 * @returns the destinations after that.
 */
export async function settle(
  dependencies: Needs,
  { outcomes, now }: { readonly outcomes: readonly Outcome[]; readonly now: number },
): Promise<readonly DestinationRow[]> {
  const { database, writer, log } = dependencies;
  if (outcomes.length === 0) return [];
  const statements = outcomes.flatMap((outcome) => settlingStatements(dependencies, outcome, now));
  await writer.submit<void>({
    needs: [],
    chains: [],
    plan(unit) {
      for (const statement of statements) unit.execute(statement);
      return () => undefined;
    },
  });
  for (const outcome of outcomes) countAttempt(dependencies, outcome);
  const touched = [...new Set(outcomes.map(({ claimed: { webhookId } }) => webhookId))];
  const gone = new Set(outcomes.filter(isGone).map(({ claimed: { webhookId } }) => webhookId));
  const rows = await readDestinations(database, touched);
  for (const row of rows) {
    try {
      await updateDestination(dependencies, row, { now, isGone: gone.has(row.webhook_id) });
    } catch (error) {
      // The outcomes are written; the next attempt shows again that the destination must change.
      if (!isUnavailable(error)) log.error("a webhook's state could not be changed", errorFields(error));
    }
  }
  return await readDestinations(database, touched);
}

function isGone(outcome: Outcome): boolean {
  return outcome.kind === "attempted" && outcome.result.status === GONE_STATUS;
}

function countAttempt({ deliveries: { counts } }: Needs, outcome: Outcome): void {
  if (outcome.kind !== "attempted") return;
  const ending = outcome.result.error ?? "delivered";
  counts.attempts.set(ending, (counts.attempts.get(ending) ?? 0) + 1);
}

function settlingStatements(
  { deliveries, world }: Needs,
  outcome: Outcome,
  now: number,
): readonly Statement[] {
  const { claimed: { deliveryId, webhookId, lease: { token } } } = outcome;
  if (outcome.kind === "released") return [releaseDelivery({ deliveryId, token })];
  if (outcome.kind === "postponed") return [releaseDelivery({ deliveryId, token }, now + POSTPONED_MS)];
  const { delivery } = outcome;
  if (outcome.kind === "cancelled") {
    const { counted, attempts } = delivery;
    const change = { status: "cancelled", counted, attempts, nextAt: now, finishedAt: now } as const;
    return [settleDelivery({ deliveryId, token }, change)];
  }
  const { result, at } = outcome;
  const interrupted = result.error === "interrupted";
  const isPing = delivery.event === PING;
  const after = afterAttempt({ counted: delivery.counted, attempts: JSON.parse(delivery.attempts) }, {
    result,
    at,
    // Attempts at a paused destination do not count; a test is made once.
    counts: (delivery.paused_at === null || isPing) && !interrupted,
    attemptsMax: isPing ? 1 : WEBHOOK_ATTEMPTS,
    backoffMs: deliveries.backoffMs,
    jitter: () => 0.8 + 0.4 * (world.random(1)[0]! / 255),
  });
  const change = {
    status: after.status,
    counted: after.counted,
    attempts: JSON.stringify(after.attempts),
    nextAt: after.nextAt,
    finishedAt: after.status === "queued" ? null : now,
  };
  const attempt = JSON.stringify({
    delivery_id: deliveryId,
    event: delivery.event,
    at: new Date(at).toISOString(),
    response_status: result.status,
    error: result.error,
  });
  return [
    settleDelivery({ deliveryId, token }, change),
    ...(interrupted
      ? []
      : [recordAttempt(webhookId, { at, failed: result.error !== null, lastDelivery: attempt })]),
  ];
}

const SYSTEM: Omit<Caller, "orgId"> = { actor: "system", prefix: null };

/** Disables, pauses or resumes a destination if its attempts require it. */
async function updateDestination(
  dependencies: Needs,
  row: WebhookRow,
  { now, isGone }: { readonly now: number; readonly isGone: boolean },
): Promise<void> {
  const { webhook_id: id } = row;
  if (row.active === 0) return;
  if (isGone) {
    const [backlog] = await dependencies.database.read(backlogQuery(id));
    const waiting = backlog === undefined ? 0 : backlog.events + backlog.queued;
    const disabled = await changeDestination(dependencies, row, {
      type: "WEBHOOK_DISABLED",
      detail: { id, response_status: GONE_STATUS },
      now,
      isStillNeeded: ({ active }) => active === 1,
      set: { active: 0, paused_at: null, probe_at: null },
      extraStatements: [markDeliveriesDead(id, { now })],
    });
    if (disabled) dependencies.deliveries.counts.dropped += waiting;
  } else if (mustPause(row, now)) {
    await changeDestination(dependencies, row, {
      type: "WEBHOOK_PAUSED",
      detail: { id },
      now,
      isStillNeeded: (present) => mustPause(present, now),
      set: { paused_at: now, probe_at: now + WEBHOOK_PROBE_MS },
    });
  } else if (mustResume(row)) {
    await changeDestination(dependencies, row, {
      type: "WEBHOOK_RESUMED",
      detail: { id },
      now,
      isStillNeeded: mustResume,
      set: { paused_at: null, probe_at: null },
    });
  }
}

interface DestinationChange {
  readonly type: "WEBHOOK_DISABLED" | "WEBHOOK_PAUSED" | "WEBHOOK_RESUMED";
  readonly detail: Record<string, unknown>;
  readonly now: number;
  /** Whether the reason still holds: another process may have made the change first. */
  isStillNeeded(present: WebhookRow): boolean;
  readonly set: Partial<Pick<WebhookRow, "active" | "paused_at" | "probe_at">>;
  readonly extraStatements?: readonly Statement[];
}

/** Changes a destination and records the change, once. @returns whether this process made the change. */
async function changeDestination(
  { world, writer, log }: Needs,
  { webhook_id: id, org_id: orgId }: WebhookRow,
  { type, detail, now, isStillNeeded, set, extraStatements = [] }: DestinationChange,
): Promise<boolean> {
  const chain = adminChain(orgId);
  const draft = eventDraft(world, { type, caller: { ...SYSTEM, orgId }, now, detail });
  const changed = await writer.submit<boolean>({
    needs: [{ kind: webhooks, key: [id] }],
    chains: [chain],
    plan(unit) {
      const present = unit.get(webhooks, [id]);
      if (present === null || !isStillNeeded(present)) return () => false;
      unit.put(webhooks, { ...present, ...set });
      for (const statement of extraStatements) unit.execute(statement);
      unit.append(chain, draft);
      return () => true;
    },
  });
  if (!changed) return false;
  const write = type === "WEBHOOK_RESUMED" ? log.info : log.warn;
  write(CHANGE_MESSAGES[type], { org_id: orgId, webhook_id: id });
  return true;
}

const CHANGE_MESSAGES: Readonly<Record<DestinationChange["type"], string>> = {
  WEBHOOK_DISABLED: "a webhook answered that it is gone: it is disabled",
  WEBHOOK_PAUSED: "a webhook has failed for long and is paused; it is tried once a minute",
  WEBHOOK_RESUMED: "a paused webhook takes deliveries again",
};
