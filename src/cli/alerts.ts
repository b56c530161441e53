/** `jiss alerts list`: lists the unacknowledged alerts, each with the `alert_id` that acknowledges it. */
import type { AlertRow } from "../store/records.ts";
import { CHAIN_TAMPERED_KINDS } from "../domain/alert.ts";
import { alertsQuery, type SystemAlertRow, systemAlertsQuery } from "../store/alerts.ts";
import { EXIT, type Shell } from "./shell.ts";
import { storageOf, withStored } from "./stored.ts";
import { columns } from "./table.ts";

export interface ListAlertsOptions {
  /** Whether to show acknowledged ones too. */
  readonly all: boolean;
  readonly json: boolean;
}

export async function listAlerts(shell: Shell, { all, json }: ListAlertsOptions): Promise<number> {
  const rows = await withStored(shell, storageOf(shell), async (database) => [
    ...(await database.read(systemAlertsQuery(CHAIN_TAMPERED_KINDS.system, { all }))).map(systemAlert),
    ...await database.read(alertsQuery({ all })),
  ]);
  console.log(json ? JSON.stringify({ alerts: rows.map(alertJson), count: rows.length }) : textOf(rows, all));
  return EXIT.ok;
}

/** An alert; one about the system chain belongs to no organization. */
type ShownAlert = Omit<AlertRow, "org_id" | "day"> & { readonly org_id: string | null };

function systemAlert({ detail: text, created_at, acknowledged_at }: SystemAlertRow): ShownAlert {
  const { alert_id, severity, kind, ...detail } = JSON.parse(text);
  return {
    alert_id,
    org_id: null,
    severity,
    kind,
    detail: JSON.stringify(detail),
    created_at: Date.parse(created_at),
    acknowledged: acknowledged_at === null ? 0 : 1,
    acknowledged_at: acknowledged_at === null ? null : Date.parse(acknowledged_at),
  };
}

function alertJson({ alert_id, org_id, severity, kind, detail, created_at, ...row }: ShownAlert) {
  return {
    alert_id,
    org_id,
    severity,
    kind,
    detail: JSON.parse(detail),
    created_at: iso(created_at),
    acknowledged: row.acknowledged,
    acknowledged_at: row.acknowledged_at === null ? null : iso(row.acknowledged_at),
  };
}

function textOf(rows: readonly ShownAlert[], all: boolean): string {
  if (rows.length === 0) return all ? "There were no alerts." : "There are no open alerts.";
  return columns([
    ["ALERT_ID", "ORG", "SEVERITY", "KIND", "CREATED", "ACKNOWLEDGED", "DETAIL"],
    ...rows.map((row) => [
      row.alert_id,
      row.org_id ?? "-",
      row.severity,
      row.kind,
      iso(row.created_at),
      row.acknowledged_at === null ? "no" : iso(row.acknowledged_at),
      detailText(JSON.parse(row.detail)),
    ]),
  ]);
}

function detailText(detail: Readonly<Record<string, unknown>>): string {
  return Object.entries(detail).map(([name, value]) => `${name}=${value}`).join(" ");
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
