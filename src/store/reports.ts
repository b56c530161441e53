/** Rows of compliance reports. */
import { type CompiledQuery, sql } from "kysely";
import { placesOfEventsQuery, type PositionedPlace } from "./chains.ts";
import { type Database, query } from "./database.ts";
import { listed } from "./value_list.ts";
import type { ComplianceReportRow } from "./records.ts";

/** The row of a report; null if there is none. Does not check whether it is intact. */
export async function readReport(
  database: Database,
  { orgId, reportId }: { readonly orgId: string; readonly reportId: string },
): Promise<ComplianceReportRow | null> {
  const [row] = await database.read(
    query.selectFrom("compliance_report").selectAll().where("report_id", "=", reportId)
      .where("org_id", "=", orgId).compile(),
  );
  return row ?? null;
}

/** The positions of those of the given reports that an organization has. */
export function reportPositionsQuery(
  orgId: string,
  reportIds: readonly string[],
): CompiledQuery<Pick<ComplianceReportRow, "report_id" | "position">> {
  return query.selectFrom("compliance_report").select(["report_id", "position"]).where("org_id", "=", orgId)
    .where("report_id", "in", listed<string>(reportIds)).compile();
}

/** A report as it is stored. */
export interface StoredReport {
  readonly report_id: string;
  readonly position: number;
  /** Canonical JSON, unless somebody altered it. */
  readonly report: string;
}

/** An organization's reports before a position of its chain, newest first. */
export function reportsQuery(
  orgId: string,
  { below, limit }: { readonly below: number | null; readonly limit: number },
): CompiledQuery<StoredReport> {
  const reports = query.selectFrom("compliance_report").select(["report_id", "position", "report"])
    .where("org_id", "=", orgId).orderBy("position", "desc").limit(limit);
  return (below === null ? reports : reports.where("position", "<", below)).compile();
}

/** The reports of an organization, one by one. */
export async function* readReports(database: Database, orgId: string): AsyncGenerator<ComplianceReportRow> {
  for (let last = "";;) {
    const [row] = await database.read(
      query.selectFrom("compliance_report").selectAll().where("org_id", "=", orgId)
        .where("report_id", ">", last).orderBy("report_id").limit(1).compile(),
    );
    if (row === undefined) return;
    yield row;
    last = row.report_id;
  }
}

/** Entries of a family that record a report of the organization, if the report has no row. */
export async function readLostReports(
  database: Database,
  { orgId, family }: { readonly orgId: string; readonly family: string },
): Promise<readonly PositionedPlace[]> {
  const [issued, rows] = await database.snapshot([
    placesOfEventsQuery({ family, eventType: "REPORT_ISSUED" }),
    query.selectFrom("compliance_report").select("position").where("org_id", "=", orgId).compile(),
  ]);
  const positions = new Set(rows.map(({ position }) => position));
  return issued.filter(({ position }) => !positions.has(position));
}

/** Whether an entry of a family records a report, according to its stored part. */
export async function hasReportEntry(
  database: Database,
  { family, reportId }: { readonly family: string; readonly reportId: string },
): Promise<boolean> {
  const rows = await database.read(
    sql<{ one: number }>`select 1 as one from audit_chain as c
      join audit_entry as e on e.chain = c.chain and e.event_type = 'REPORT_ISSUED'
      join audit_part as p on p.chain = e.chain and p.seq = e.seq and p.name = 'detail'
      where c.family = ${family} and instr(p.data, ${JSON.stringify(reportId)}) > 0 limit 1`.compile(query),
  );
  return rows.length > 0;
}
