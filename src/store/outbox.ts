/**
 * The outbox: one row for each event that destinations receive, written with the record that it reports, and
 * one for each delivery, created when it is a destination's turn. A row holds no body: an event points at the
 * chain entry from which its body is made, so that personal data is not stored twice.
 */
import { type Insertable, type Selectable, sql } from "kysely";
import type { WebhookEvent } from "../domain/enums.ts";
import { PING } from "../domain/webhook.ts";
import { heldColumn } from "./chains.ts";
import { compileOnce } from "./compile_once.ts";
import { type Database, query, type Statement } from "./database.ts";
import { listed } from "./value_list.ts";
import type { WebhookRow } from "./records.ts";
import type { WebhookDeliveryTable, WebhookEventTable } from "./schema.ts";

export type EventRow = Selectable<WebhookEventTable>;
export type DeliveryRow = Selectable<WebhookDeliveryTable>;

export const insertEvent = compileOnce((
  event: Insertable<WebhookEventTable> & { readonly event: WebhookEvent },
) => query.insertInto("webhook_event").values(event).compile());

/** Condition on `webhook` and `event`: the webhook takes the event. */
export const SUBSCRIBES = sql<boolean>`instr(' ' || webhook.events || ' ', ' ' || event.event || ' ') > 0`;

/** Condition on `webhook`: its organization is active. Events wait while it is not. */
const OF_ACTIVE_ORGANIZATION = sql<
  boolean
>`exists (select 1 from organization where organization.org_id = webhook.org_id and organization.active = 1)`;

/** A destination, with the set that the head of its organization's audit log holds. */
export type DestinationRow = WebhookRow & { readonly held: Uint8Array | null };

/** Sets the cursor of a new destination to the newest event: it receives later events only. */
export function startAtNewestEvent(webhookId: string): Statement {
  return query.updateTable("webhook").set((row) => ({
    cursor: row.fn.coalesce(
      row.selectFrom("webhook_event").select((event) => event.fn.max("sequence").as("newest")),
      sql<number>`0`,
    ),
  })).where("webhook_id", "=", webhookId).compile();
}

// ---- due work ---------------------------------------------------------------------------------------------

/**
 * Active destinations with an event or a delivery that is due. Paused destinations are included only if their
 * probe is due.
 */
export async function readyDestinations(
  database: Database,
  now: number,
): Promise<readonly DestinationRow[]> {
  return await database.read(
    query.selectFrom("webhook").selectAll().select(heldColumn("webhook")).where("active", "=", 1).where(
      OF_ACTIVE_ORGANIZATION,
    )
      .where((row) => row.or([row("paused_at", "is", null), row("probe_at", "<=", now)]))
      .where((row) =>
        row.or([
          row.exists(
            row.selectFrom("webhook_delivery").select("delivery_id")
              .whereRef("webhook_delivery.webhook_id", "=", "webhook.webhook_id")
              .where("status", "=", sql.lit("queued")).where("next_at", "<=", now)
              .where("lease_until", "<=", now),
          ),
          row.exists(
            row.selectFrom("webhook_event as event").select("event.sequence")
              .whereRef("event.org_id", "=", "webhook.org_id").whereRef(
                "event.sequence",
                ">",
                "webhook.cursor",
              )
              .where(SUBSCRIBES),
          ),
        ])
      ).compile(),
  );
}

/** Due deliveries of a destination, the earliest first. */
export async function dueDeliveries(
  database: Database,
  { webhookId, now, limit }: { readonly webhookId: string; readonly now: number; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await database.read(
    query.selectFrom("webhook_delivery").select("delivery_id").where("webhook_id", "=", webhookId)
      .where("status", "=", sql.lit("queued")).where("next_at", "<=", now).where("lease_until", "<=", now)
      .orderBy("next_at").limit(limit).compile(),
  );
  return rows.map(({ delivery_id }) => delivery_id);
}

/** Events after a destination's cursor that it takes, in their order. */
export async function nextEvents(
  database: Database,
  { webhookId, limit }: { readonly webhookId: string; readonly limit: number },
): Promise<readonly Pick<EventRow, "sequence" | "at">[]> {
  return await database.read(
    query.selectFrom("webhook_event as event").innerJoin("webhook", "webhook.org_id", "event.org_id")
      .select(["event.sequence", "event.at"]).where("webhook_id", "=", webhookId)
      .whereRef("event.sequence", ">", "webhook.cursor").where(SUBSCRIBES).orderBy("event.sequence").limit(
        limit,
      )
      .compile(),
  );
}

// ---- claiming ---------------------------------------------------------------------------------------------

export interface Lease {
  /** Identifies the claim. An attempt with another claim's token changes nothing, unless it delivered. */
  readonly token: string;
  readonly until: number;
}

/** Claims those of the deliveries that nobody else has claimed. */
export function claimDeliveries(
  ids: readonly string[],
  { lease, now }: { readonly lease: Lease; readonly now: number },
): Statement {
  return query.updateTable("webhook_delivery").set({ lease: lease.token, lease_until: lease.until })
    .where("delivery_id", "in", listed<string>(ids)).where("status", "=", sql.lit("queued"))
    .where("lease_until", "<=", now).compile();
}

/** A delivery that is to be made from an event. */
export interface NewDelivery {
  readonly id: string;
  readonly sequence: number;
}

/** Makes deliveries from events. Leaves out events that were erased meanwhile. */
export function insertDeliveries(
  deliveries: readonly NewDelivery[],
  { webhookId, now, lease, status = "queued", redeliveryOf = null }: {
    readonly webhookId: string;
    readonly now: number;
    readonly lease: Lease | null;
    readonly status?: "queued" | "dead";
    readonly redeliveryOf?: string | null;
  },
): Statement {
  const list = JSON.stringify(deliveries.map(({ id, sequence }) => [id, sequence]));
  const finishedAt = status === "dead" ? now : null;
  return query.insertInto("webhook_delivery").columns([
    "delivery_id",
    "webhook_id",
    "sequence",
    "event",
    "request_id",
    "at",
    "redelivery_of",
    "status",
    "counted",
    "attempts",
    "created_at",
    "finished_at",
    "next_at",
    "lease",
    "lease_until",
  ]).expression(
    query.selectFrom("webhook_event").innerJoin(
      sql<{ value: string }>`json_each(${list})`.as("wanted"),
      (join) => join.on(sql<boolean>`webhook_event.sequence = wanted.value ->> 1`),
    ).select([
      sql<string>`wanted.value ->> 0`.as("delivery_id"),
      sql<string>`${webhookId}`.as("webhook_id"),
      "webhook_event.sequence",
      "webhook_event.event",
      "webhook_event.request_id",
      "webhook_event.at",
      sql<string | null>`${redeliveryOf}`.as("redelivery_of"),
      sql<string>`${status}`.as("status"),
      sql<number>`0`.as("counted"),
      sql<string>`'[]'`.as("attempts"),
      sql<number>`${now}`.as("created_at"),
      sql<number | null>`${finishedAt}`.as("finished_at"),
      sql<number>`${now}`.as("next_at"),
      sql<string | null>`${lease?.token ?? null}`.as("lease"),
      sql<number>`${lease?.until ?? 0}`.as("lease_until"),
    ]),
  ).compile();
}

/** Inserts a test delivery. The caller sends it at once. */
export function insertPing(
  { deliveryId, webhookId, requestId, now, lease }: {
    readonly deliveryId: string;
    readonly webhookId: string;
    readonly requestId: string;
    readonly now: number;
    readonly lease: Lease;
  },
): Statement {
  return query.insertInto("webhook_delivery").values({
    delivery_id: deliveryId,
    webhook_id: webhookId,
    sequence: null,
    event: PING,
    request_id: requestId,
    at: now,
    redelivery_of: null,
    status: "queued",
    counted: 0,
    attempts: "[]",
    created_at: now,
    finished_at: null,
    next_at: now,
    lease: lease.token,
    lease_until: lease.until,
  }).compile();
}

/** Moves a destination's cursor. It is a conflict if another process moved it first. */
export function moveCursor(
  { webhook_id, cursor: from }: Pick<WebhookRow, "webhook_id" | "cursor">,
  cursor: number,
): Statement {
  return {
    ...query.updateTable("webhook").set({ cursor }).where("webhook_id", "=", webhook_id).where(
      "cursor",
      "=",
      from,
    )
      .compile(),
    mustChange: 1,
  };
}

/** The deliveries that a claim has got. */
export async function readClaimsOf(
  database: Database,
  token: string,
): Promise<readonly Pick<DeliveryRow, "delivery_id" | "webhook_id">[]> {
  return await database.read(
    query.selectFrom("webhook_delivery").select(["delivery_id", "webhook_id"]).where("lease", "=", token)
      .where("status", "=", "queued").orderBy("sequence").compile(),
  );
}

/** A claimed delivery with the current state of its destination and event. */
export interface ClaimedDelivery extends DeliveryRow {
  readonly org_id: string;
  readonly wrapped_secret: Uint8Array;
  readonly paused_at: number | null;
  /** null for a ping, or if the event's record is gone. */
  readonly position: number | null;
}

/** null if the delivery must not be sent: the destination is gone or disabled, or another claim has it. */
export async function readClaimed(
  database: Database,
  { deliveryId, token }: { readonly deliveryId: string; readonly token: string },
): Promise<ClaimedDelivery | null> {
  const [row] = await database.read(
    query.selectFrom("webhook_delivery as delivery")
      .innerJoin("webhook", "webhook.webhook_id", "delivery.webhook_id")
      .leftJoin("webhook_event as event", "event.sequence", "delivery.sequence")
      .selectAll("delivery")
      .select([
        "webhook.org_id",
        "webhook.wrapped_secret",
        "webhook.paused_at",
        "event.position",
      ])
      .where("delivery.delivery_id", "=", deliveryId).where("lease", "=", token)
      .where("webhook.active", "=", 1).where(OF_ACTIVE_ORGANIZATION).compile(),
  );
  return row ?? null;
}

// ---- settling ---------------------------------------------------------------------------------------------

/** The change that an attempt makes to its delivery. */
export interface DeliveryChange {
  readonly status: "queued" | "delivered" | "dead" | "cancelled";
  readonly counted: number;
  readonly attempts: string;
  readonly nextAt: number;
  readonly finishedAt: number | null;
}

/** Settles a claimed delivery. If it was delivered, that counts even if the claim has expired meanwhile. */
export function settleDelivery(
  { deliveryId, token }: { readonly deliveryId: string; readonly token: string },
  { status, counted, attempts, nextAt, finishedAt }: DeliveryChange,
): Statement {
  const change = query.updateTable("webhook_delivery").set({
    status,
    counted,
    attempts,
    next_at: nextAt,
    finished_at: finishedAt,
    lease: null,
    lease_until: 0,
  }).where("delivery_id", "=", deliveryId);
  return (status === "delivered" ? change : change.where("lease", "=", token)).compile();
}

/** Releases a claimed delivery unchanged; `nextAt` postpones it if given. */
export function releaseDelivery(
  { deliveryId, token }: { readonly deliveryId: string; readonly token: string },
  nextAt: number | null = null,
): Statement {
  return query.updateTable("webhook_delivery")
    .set({ lease: null, lease_until: 0, ...(nextAt === null ? {} : { next_at: nextAt }) })
    .where("delivery_id", "=", deliveryId).where("lease", "=", token).compile();
}

/** Records an attempt at a destination: its count of failures, and the attempt as the newest. */
export function recordAttempt(
  webhookId: string,
  { at, failed, lastDelivery }: {
    readonly at: number;
    readonly failed: boolean;
    readonly lastDelivery: string;
  },
): Statement {
  return query.updateTable("webhook").set((row) => ({
    failures: failed ? row("failures", "+", 1) : 0,
    failing_since: failed ? row.fn.coalesce("failing_since", sql<number>`${at}`) : null,
    last_delivery: lastDelivery,
  })).where("webhook_id", "=", webhookId).compile();
}

export async function readDestinations(
  database: Database,
  ids: readonly string[],
): Promise<readonly DestinationRow[]> {
  return await database.read(
    query.selectFrom("webhook").selectAll().select(heldColumn("webhook"))
      .where("webhook_id", "in", listed<string>(ids)).compile(),
  );
}

/**
 * Marks queued deliveries as dead. One that is being sent still counts as delivered if the receiver accepts
 * it.
 */
export function markDeliveriesDead(
  webhookId: string,
  { now, only }: { readonly now: number; readonly only?: readonly string[] },
): Statement {
  const change = query.updateTable("webhook_delivery")
    .set({ status: "dead", finished_at: now, lease: null, lease_until: 0 })
    // A literal: sqld 0.24.32 crashes if the condition of a partial index has a bound parameter.
    .where("webhook_id", "=", webhookId).where("status", "=", sql.lit("queued"));
  return (only === undefined ? change : change.where("delivery_id", "in", listed<string>(only))).compile();
}

/**
 * Deletes the events about an operator, and cancels their deliveries that wait. The log of deliveries keeps
 * that something was sent, but no longer what.
 */
export function deleteEventsOf(
  [orgId, operatorId]: readonly [orgId: string, operatorId: string],
): readonly Statement[] {
  const events = query.selectFrom("webhook_event").select("sequence").where("org_id", "=", orgId)
    .where("operator_id", "=", operatorId);
  return [
    query.updateTable("webhook_delivery")
      .set((row) => ({
        sequence: null,
        status: row.case().when("status", "=", "queued").then("cancelled").else(row.ref("status")).end(),
      })).where("sequence", "in", events).compile(),
    query.deleteFrom("webhook_event").where("org_id", "=", orgId).where("operator_id", "=", operatorId)
      .compile(),
  ];
}
