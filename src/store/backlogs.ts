/**
 * Backlogs of the outbox and rows past their retention: how many events each destination is behind, its
 * oldest queued deliveries, and the rows that may be deleted.
 */
import { type CompiledQuery, sql } from "kysely";
import { type Database, query, type Statement } from "./database.ts";
import { listed } from "./value_list.ts";
import { SUBSCRIBES } from "./outbox.ts";
import type { RecordKind, WebhookRow } from "./records.ts";

/**
 * Number of events that wait for an active destination: those without a delivery yet, and queued deliveries.
 */
export interface Backlog {
  readonly webhook_id: string;
  readonly org_id: string;
  readonly events: number;
  readonly queued: number;
  readonly paused_at: number | null;
}

const BACKLOGS = query.selectFrom("webhook").select((row) => [
  "webhook_id",
  "org_id",
  "paused_at",
  row.selectFrom("webhook_event as event").select((event) => event.fn.countAll<number>().as("count"))
    .whereRef("event.org_id", "=", "webhook.org_id").whereRef("event.sequence", ">", "webhook.cursor")
    .where(SUBSCRIBES).$asScalar().$notNull().as("events"),
  row.selectFrom("webhook_delivery as delivery").select((own) => own.fn.countAll<number>().as("count"))
    .whereRef("delivery.webhook_id", "=", "webhook.webhook_id").where("status", "=", sql.lit("queued"))
    .$asScalar().$notNull().as("queued"),
]);

export async function readBacklogs(database: Database): Promise<readonly Backlog[]> {
  return await database.read(BACKLOGS.where("active", "=", 1).compile());
}

/** The backlog of a destination, as a record kind that a plan can load. */
export const webhookBacklogs: RecordKind<Backlog> = {
  name: "webhook_backlog",
  load: (keys) =>
    BACKLOGS.where("webhook_id", "in", sql<string>`(select value ->> 0 from json_each(${keys}))`).compile(),
  keyOf: (row) => [row.webhook_id],
};

export function backlogQuery(webhookId: string): CompiledQuery<Backlog> {
  return BACKLOGS.where("webhook_id", "=", webhookId).compile();
}

/**
 * Destinations that take none of the events after their cursor, each with the newest sequence of all events.
 */
export async function readLaggingCursors(
  database: Database,
): Promise<readonly (Pick<WebhookRow, "webhook_id" | "cursor"> & { readonly newest: number })[]> {
  const newest = query.selectFrom("webhook_event").select((event) => event.fn.max("sequence").as("newest"));
  const rows = await database.read(
    query.selectFrom("webhook").select(["webhook_id", "cursor", newest.as("newest")])
      .where("cursor", "<", newest)
      .where((row) =>
        row.not(row.exists(
          row.selectFrom("webhook_event as event").select("event.sequence")
            .whereRef("event.org_id", "=", "webhook.org_id").whereRef("event.sequence", ">", "webhook.cursor")
            .where(SUBSCRIBES),
        ))
      ).compile(),
  );
  return rows.map((row) => ({ ...row, newest: row.newest! }));
}

/**
 * Queued deliveries that nobody is sending, oldest events first. `before` limits them to events older than
 * that instant.
 */
export async function oldestQueued(
  database: Database,
  { webhookId, now, limit, before }: {
    readonly webhookId: string;
    readonly now: number;
    readonly limit: number;
    readonly before?: number;
  },
): Promise<readonly string[]> {
  const queued = query.selectFrom("webhook_delivery").select("delivery_id")
    .where("webhook_id", "=", webhookId).where("status", "=", sql.lit("queued")).where(
      "lease_until",
      "<=",
      now,
    )
    .orderBy("at").limit(limit);
  const rows = await database.read(
    (before === undefined ? queued : queued.where("at", "<", before)).compile(),
  );
  return rows.map(({ delivery_id }) => delivery_id);
}

export async function destinationIds(database: Database): Promise<readonly string[]> {
  const rows = await database.read(query.selectFrom("webhook").select("webhook_id").compile());
  return rows.map(({ webhook_id }) => webhook_id);
}

/** Finished deliveries that are past their retention or beyond the number to keep. */
export async function pastDeliveries(
  database: Database,
  { webhookId, statuses, before, keep, limit }: {
    readonly webhookId: string;
    readonly statuses: readonly string[];
    /** Epoch milliseconds. */
    readonly before: number;
    readonly keep: number;
    readonly limit: number;
  },
): Promise<readonly string[]> {
  const finished = query.selectFrom("webhook_delivery").select("delivery_id")
    .where("webhook_id", "=", webhookId).where("status", "in", statuses);
  const [old, tooMany] = await database.snapshot([
    finished.where("finished_at", "<", before).limit(limit).compile(),
    finished.orderBy("created_at", "desc").limit(limit).offset(keep).compile(),
  ]);
  const ids = new Set([...old, ...tooMany].map(({ delivery_id }) => delivery_id));
  return [...ids].slice(0, limit);
}

export function deleteDeliveries(ids: readonly string[]): Statement {
  return {
    ...query.deleteFrom("webhook_delivery").where("delivery_id", "in", listed<string>(ids)).compile(),
    impersonal: true,
  };
}

/** Events that no active destination waits for and no delivery refers to. */
export async function pastEvents(database: Database, limit: number): Promise<readonly number[]> {
  const rows = await database.read(
    query.selectFrom("webhook_event as event").select("sequence").where((row) =>
      row.and([
        row.not(row.exists(
          row.selectFrom("webhook").select("webhook_id").whereRef("webhook.org_id", "=", "event.org_id")
            .where("active", "=", 1).whereRef("webhook.cursor", "<", "event.sequence"),
        )),
        row.not(row.exists(
          row.selectFrom("webhook_delivery as delivery").select("delivery_id")
            .whereRef("delivery.sequence", "=", "event.sequence"),
        )),
      ])
    ).limit(limit).compile(),
  );
  return rows.map(({ sequence }) => sequence);
}

export function deleteEvents(sequences: readonly number[]): Statement {
  return {
    ...query.deleteFrom("webhook_event").where("sequence", "in", listed<number>(sequences)).compile(),
    impersonal: true,
  };
}
