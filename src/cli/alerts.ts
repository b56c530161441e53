/** `jiss alerts list`: the alerts that nobody has acknowledged yet, with the `alert_id` that an acknowledgement names. */
import type { AlertRow } from "../store/records.ts";
import { alertsQuery } from "../store/alerts.ts";
import { EXIT, type Shell } from "./shell.ts";
import { storageOf, withStored } from "./stored.ts";
import { columns } from "./table.ts";

export interface ListAlertsOptions {
  /** Whether to show acknowledged ones too. */
  readonly all: boolean;
  readonly json: boolean;
}

export async function listAlerts(shell: Shell, { all, json }: ListAlertsOptions): Promise<number> {
  const rows = await withStored(shell, storageOf(shell), (database) => database.read(alertsQuery({ all })));
  console.log(json ? JSON.stringify({ alerts: rows.map(wireAlert), count: rows.length }) : toldOf(rows, all));
  return EXIT.ok;
}

function wireAlert({ alert_id, org_id, severity, kind, detail, created_at, ...row }: AlertRow) {
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

function toldOf(rows: readonly AlertRow[], all: boolean): string {
  if (rows.length === 0) return all ? "There were no alerts." : "There is no open alert.";
  return columns([
    ["ALERT_ID", "ORG", "SEVERITY", "KIND", "CREATED", "ACKNOWLEDGED", "DETAIL"],
    ...rows.map((row) => [
      row.alert_id,
      row.org_id,
      row.severity,
      row.kind,
      iso(row.created_at),
      row.acknowledged_at === null ? "no" : iso(row.acknowledged_at),
      wordsOf(JSON.parse(row.detail)),
    ]),
  ]);
}

function wordsOf(detail: Readonly<Record<string, unknown>>): string {
  return Object.entries(detail).map(([name, value]) => `${name}=${value}`).join(" ");
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
