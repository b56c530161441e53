/** Reads over alerts. */
import { type CompiledQuery, sql } from "kysely";
import { type Database, query } from "./database.ts";
import { type AlertRow, loadOnce, type RecordKind } from "./records.ts";

/** The alert of an id; null if there is none. */
export async function readAlert(database: Database, alertId: string): Promise<AlertRow | null> {
  const [row] = await database.read(
    query.selectFrom("alert").selectAll().where("alert_id", "=", alertId).compile(),
  );
  return row ?? null;
}

/** Alerts, oldest first; acknowledged alerts are included only if `all` is set. */
export function alertsQuery({ all }: { readonly all: boolean }): CompiledQuery<AlertRow> {
  const alerts = query.selectFrom("alert").selectAll().orderBy("created_at").orderBy("alert_id");
  return (all ? alerts : alerts.where("acknowledged", "=", 0)).compile();
}

/** The newest alert of each organization and kind, for the given kinds. */
export function alertsOfKindsQuery(kinds: readonly string[]): CompiledQuery<AlertRow> {
  return query.selectFrom("alert as a").selectAll().where("kind", "in", kinds)
    .where(
      "day",
      "=",
      (newest) =>
        newest.selectFrom("alert as b").select(({ fn }) => fn.max("b.day").as("day"))
          .whereRef("b.org_id", "=", "a.org_id").whereRef("b.kind", "=", "a.kind"),
    )
    .compile();
}

/** An alert about the system chain. It belongs to no organization and is recorded in that chain only. */
export interface SystemAlertRow {
  readonly detail: string;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  readonly acknowledged_at: string | null;
}

/**
 * System alerts of a kind as the chain records them, oldest first. Does not check whether they are intact.
 */
export function systemAlertsQuery(
  kind: string,
  { all }: { readonly all: boolean },
): CompiledQuery<SystemAlertRow> {
  const entries = (type: string) =>
    sql`select p.data, e.ts from audit_chain as c join audit_entry as e on e.chain = c.chain
      join audit_part as p on p.chain = e.chain and p.seq = e.seq and p.name = 'detail'
      where c.family = 'sys' and e.event_type = ${type}`;
  return sql<SystemAlertRow>`with raised as (${entries("ALERT_RAISED")}),
      acknowledged as (${entries("ADMIN_ALERT_ACK")}),
      told as (select data as detail, ts as created_at, (
        select min(ts) from acknowledged as a where a.data ->> '$.alert_id' = raised.data ->> '$.alert_id'
      ) as acknowledged_at from raised where data ->> '$.kind' = ${kind})
    select * from told where ${all ? sql`true` : sql`acknowledged_at is null`} order by created_at`.compile(
    query,
  );
}

/** An alert as an organization's audit log records it, found by columns that are not signed. */
export interface RecordedAlertPlace {
  readonly alert_id: string | null;
  /** The position of its first ALERT_RAISED over all epochs. */
  readonly first: number;
  /** A JSON array of the positions of all its entries. */
  readonly positions: string;
}

/** The types of the entries about an organization's alert. */
const ENTRY_TYPES = sql`('ALERT_RAISED', 'ADMIN_ALERT_ACK', 'ALERT_ACKNOWLEDGED')`;
/** The alert that an entry names; null if its detail was altered or removed. */
const NAMED_ALERT = sql`case when json_valid(p.data) then p.data ->> '$.alert_id' end`;

/** The alerts of an audit log, the last created first. */
export function recordedAlertsQuery(
  { family, isOpen, alertId, below, limit }: {
    readonly family: string;
    /** Whether only alerts that nobody acknowledged since they were raised last. */
    readonly isOpen: boolean;
    /** Null for all alerts. */
    readonly alertId: string | null;
    /** Only alerts that were first raised before this position; null begins with the newest. */
    readonly below: number | null;
    readonly limit: number;
  },
): CompiledQuery<RecordedAlertPlace> {
  const named = alertId === null ? sql`true` : sql`alert_id = ${alertId}`;
  const earlier = below === null ? sql`true` : sql`first < ${below}`;
  const open = isOpen ? sql`(acknowledged is null or acknowledged < last)` : sql`true`;
  return sql<RecordedAlertPlace>`with told as (
      select c.first_position + e.seq as position, e.event_type = 'ALERT_RAISED' as raises, ${NAMED_ALERT} as alert_id
      from audit_chain as c join audit_entry as e on e.chain = c.chain
      left join audit_part as p on p.chain = e.chain and p.seq = e.seq and p.name = 'detail'
      where c.family = ${family} and e.event_type in ${ENTRY_TYPES}
    ), alerts as (
      select alert_id, min(case when raises then position end) as first, max(case when raises then position end) as last,
        max(case when not raises then position end) as acknowledged, json_group_array(position) as positions
      from told where ${named} group by alert_id
    )
    select alert_id, first, positions from alerts where first is not null and ${earlier} and ${open}
    order by first desc limit ${limit}`.compile(query);
}

/** How many entries a family has about an alert. */
export interface AlertEntryCount {
  readonly family: string;
  readonly alert_id: string;
  readonly count: number;
}

export const alertEntryCounts: RecordKind<AlertEntryCount> = {
  name: "alert_entry_count",
  load: loadOnce((keys) =>
    sql<AlertEntryCount>`select value ->> 0 as family, value ->> 1 as alert_id, (
        select count(*) from audit_chain as c join audit_entry as e on e.chain = c.chain
          left join audit_part as p on p.chain = e.chain and p.seq = e.seq and p.name = 'detail'
          where c.family = value ->> 0 and e.event_type in ${ENTRY_TYPES} and ${NAMED_ALERT} = value ->> 1
      ) as count from json_each(${keys})`.compile(query)
  ),
  keyOf: (row) => [row.family, row.alert_id],
};
