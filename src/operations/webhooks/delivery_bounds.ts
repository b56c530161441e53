/**
 * Bounds the outbox. Events that waited too long for a destination, or behind too many others, are dropped,
 * which is recorded. Finished deliveries are deleted after their time.
 * Source: contract, section 5.
 */
import type { Logging, Reading, Sending, Writing } from "../shared/capabilities.ts";
import {
  DEAD_DAYS,
  DEAD_MAX,
  DELIVERED_DAYS,
  DELIVERED_MAX,
  WEBHOOK_QUEUE_DAYS,
  WEBHOOK_QUEUE_MAX,
} from "../../domain/limits.ts";
import { DAY_MS } from "../../domain/time.ts";
import {
  type Backlog,
  backlogQuery,
  deleteDeliveries,
  deleteEvents,
  destinationIds,
  oldestQueued,
  pastDeliveries,
  pastEvents,
  readBacklogs,
  readLaggingCursors,
  webhookBacklogs,
} from "../../store/backlogs.ts";
import { insertDeliveries, markDeliveriesDead, moveCursor, nextEvents } from "../../store/outbox.ts";
import type { Database } from "../../store/database.ts";
import { webhookDeliveries, webhooks } from "../../store/records.ts";
import { eventDraft } from "../shared/drafts.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import { drawUuid } from "./deliveries.ts";

/** The dependencies of these operations. */
type Needs = Pick<Reading, "database"> & Writing & Logging & Sending;

/** Most events that one commit drops. */
const DROPPED_AT_ONCE = 5_000;
/** Number of times that another process may be first before the rest is left to the next minute. */
const COLLISIONS = 20;
/** Most rows that one commit deletes. */
const FORGOTTEN_AT_ONCE = 1_000;

/** Drops the events that are beyond the bounds. */
export async function dropOldEvents(dependencies: Needs, now: number): Promise<void> {
  const before = now - WEBHOOK_QUEUE_DAYS * DAY_MS;
  let longest = 0;
  for (const backlog of await readBacklogs(dependencies.database)) {
    const waiting = backlog.events + backlog.queued;
    if (backlog.paused_at === null) longest = Math.max(longest, waiting);
    if (waiting === 0) continue;
    const aged = await dropOldest(dependencies, backlog, { reason: "age", now, before });
    if (waiting - aged > WEBHOOK_QUEUE_MAX) await dropOldest(dependencies, backlog, { reason: "count", now });
  }
  // Deliveries give way to requests, but not so long that events are lost.
  dependencies.deliveries.counts.urgent = longest > WEBHOOK_QUEUE_MAX / 2;
}

/** Moves cursors past events that a destination does not take: otherwise each read would find them again. */
export async function skipUnsubscribedEvents({ database, writer }: Needs): Promise<void> {
  for (const row of await readLaggingCursors(database)) {
    // If the cursor has moved meanwhile, nothing is left to do.
    const { mustChange: _, ...statement } = moveCursor(row, row.newest);
    await writer.execute(statement);
  }
}

interface Drop {
  readonly reason: "age" | "count";
  readonly now: number;
  /** Drops events before this instant, epoch milliseconds; if absent, those beyond the number allowed. */
  readonly before?: number;
}

/**
 * Drops the oldest events: deliveries that were tried come before events that were not.
 * @returns how many.
 */
async function dropOldest(
  dependencies: Needs,
  { webhook_id: webhookId, org_id: orgId }: Backlog,
  { reason, now, before }: Drop,
): Promise<number> {
  const { database, world, writer, log, deliveries } = dependencies;
  const chain = adminChain(orgId);
  let dropped = 0;
  for (let collisions = 0; collisions < COLLISIONS;) {
    const limit = before === undefined ? await excessOf(database, webhookId) : DROPPED_AT_ONCE;
    const older = before === undefined ? {} : { before };
    const ids = await oldestQueued(database, { webhookId, now, limit, ...older });
    const next = await nextEvents(database, { webhookId, limit: limit - ids.length });
    // Events are dropped in their order of delivery, even if the clock jumped meanwhile: none is skipped.
    const firstFresh = before === undefined ? -1 : next.findIndex(({ at }) => at >= before);
    const events = next.slice(0, firstFresh < 0 ? next.length : firstFresh)
      .map(({ sequence }) => ({ id: drawUuid(world), sequence }));
    const count = ids.length + events.length;
    if (count === 0) break;
    const detail = { id: webhookId, count, reason };
    const caller = { actor: "system", prefix: null, orgId } as const;
    const draft = eventDraft(world, { type: "WEBHOOK_EVENTS_DROPPED", caller, now, detail });
    const [first] = ids;
    const isDropped = await writer.submit<boolean>({
      needs: [
        { kind: webhooks, key: [webhookId] },
        { kind: webhookBacklogs, key: [webhookId] },
        ...(first === undefined ? [] : [{ kind: webhookDeliveries, key: [first] }]),
      ],
      chains: [chain],
      plan(unit) {
        const row = unit.get(webhooks, [webhookId]);
        if (row === null) return () => false;
        // Another process has dropped or claimed them meanwhile.
        if (first !== undefined && unit.get(webhookDeliveries, [first])?.status !== "queued") {
          return () => false;
        }
        if (events.length > 0 && row.cursor >= events[0]!.sequence) return () => false;
        const { events: untried, queued } = unit.get(webhookBacklogs, [webhookId])!;
        if (reason === "count" && untried + queued - count < WEBHOOK_QUEUE_MAX) return () => false;
        if (ids.length > 0) unit.execute(markDeliveriesDead(webhookId, { now, only: ids }));
        if (events.length > 0) {
          unit.execute(insertDeliveries(events, { webhookId, now, lease: null, status: "dead" }));
          unit.execute(moveCursor(row, events.at(-1)!.sequence));
        }
        unit.append(chain, draft);
        return () => true;
      },
    });
    if (!isDropped) {
      collisions += 1;
      continue;
    }
    dropped += count;
    deliveries.counts.dropped += count;
    log.warn("events for a webhook were dropped", { org_id: orgId, webhook_id: webhookId, count, reason });
  }
  return dropped;
}

/** Number of events beyond those that may wait, at most as many as one commit drops. */
async function excessOf(database: Database, webhookId: string): Promise<number> {
  const [backlog] = await database.read(backlogQuery(webhookId));
  const waiting = backlog === undefined ? 0 : backlog.events + backlog.queued;
  return Math.max(0, Math.min(DROPPED_AT_ONCE, waiting - WEBHOOK_QUEUE_MAX));
}

/** Deletes finished deliveries beyond their time or number, and events that no destination waits for. */
export async function forgetOldDeliveries({ database, writer }: Needs, now: number): Promise<void> {
  const limit = FORGOTTEN_AT_ONCE;
  for (const webhookId of await destinationIds(database)) {
    for (const { days, ...bound } of RETENTION_BOUNDS) {
      const before = now - days * DAY_MS;
      for (let full = true; full;) {
        const ids = await pastDeliveries(database, { ...bound, webhookId, before, limit });
        if (ids.length > 0) await writer.execute(deleteDeliveries(ids));
        full = ids.length === limit;
      }
    }
  }
  for (let full = true; full;) {
    const sequences = await pastEvents(database, limit);
    if (sequences.length > 0) await writer.execute(deleteEvents(sequences));
    full = sequences.length === limit;
  }
}

const RETENTION_BOUNDS = [
  { statuses: ["delivered", "cancelled"], days: DELIVERED_DAYS, keep: DELIVERED_MAX },
  { statuses: ["dead"], days: DEAD_DAYS, keep: DEAD_MAX },
] as const;
