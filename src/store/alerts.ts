/** Reads over alerts. */
import { type CompiledQuery, sql } from "kysely";
import { type Database, query } from "./database.ts";
import type { AlertRow } from "./records.ts";

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
