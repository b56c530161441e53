/** Reads over alerts. */
import type { CompiledQuery } from "kysely";
import { query } from "./database.ts";
import type { AlertRow } from "./records.ts";

/** Alerts, the oldest first; those that were acknowledged only where `all` asks for them. */
export function alertsQuery({ all }: { readonly all: boolean }): CompiledQuery<AlertRow> {
  const alerts = query.selectFrom("alert").selectAll().orderBy("created_at").orderBy("alert_id");
  return (all ? alerts : alerts.where("acknowledged", "=", 0)).compile();
}
