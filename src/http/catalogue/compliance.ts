/** Compliance: the report of a period, a report by its id, the measures of Article 14. */
import {
  article14ResponseSchema,
  reportFormatSchema,
  reportParametersSchema,
  reportPathSchema,
  reportResponseSchema,
} from "../../domain/report.ts";
import { reportsParametersSchema, reportsResponseSchema } from "../../domain/record_list.ts";
import { evidenceSchema } from "../../evidence/envelope.ts";
import type { Route } from "../exchange.ts";
import {
  getArticle14,
  getReport,
  getReports,
  getStoredReport,
  REPORT_FORMAT,
  REPORT_PARAMETERS,
  REPORTS_PARAMETERS,
} from "../handlers/compliance.ts";
import { KEYED_READ } from "./defaults.ts";

const reportSuccess = {
  status: 200,
  description: "The report, its SHA-256 and its evidence, or with format=html a page for printing.",
  schema: reportResponseSchema(evidenceSchema),
  otherTypes: ["text/html; charset=utf-8"],
} as const;

export const COMPLIANCE_ROUTES: readonly Route[] = [
  {
    ...KEYED_READ,
    path: "/v1/compliance/report",
    operationId: "getReport",
    summary: "The report of a period",
    description:
      "What the records of a period say of human oversight, provision by provision: evidence for a deployer's own assessment, no declaration of compliance. Without a period it is that of the last full calendar quarter (UTC); one bound alone is 422. Kept and citable; the same period over unchanged records is the same report, byte for byte in its `report` member.",
    parameters: { schema: reportParametersSchema, sources: REPORT_PARAMETERS },
    success: reportSuccess,
    examples: [
      { summary: "The last full quarter" },
      { summary: "A quarter", query: { period_start: "2026-10-01", period_end: "2027-01-01" } },
      {
        summary: "As a page",
        query: { period_start: "2026-10-01", period_end: "2027-01-01", format: "html" },
      },
    ],
    handler: getReport,
  },
  {
    ...KEYED_READ,
    path: "/v1/compliance/report/{report_id}",
    operationId: "getStoredReport",
    summary: "A report by its id",
    description: "The report as it was issued.",
    pathParameters: reportPathSchema,
    parameters: { schema: reportFormatSchema, sources: REPORT_FORMAT },
    success: reportSuccess,
    errors: ["NOT_FOUND", "GONE"],
    examples: [{ summary: "A report", path: { report_id: "report-of-the-example" } }],
    handler: getStoredReport,
  },
  {
    ...KEYED_READ,
    path: "/v1/compliance/reports",
    operationId: "getReports",
    summary: "The reports that were issued",
    description: "A page of the organization's reports, newest first: what each is about and what it said.",
    parameters: { schema: reportsParametersSchema, sources: REPORTS_PARAMETERS },
    success: { status: 200, description: "A page of reports.", schema: reportsResponseSchema },
    examples: [{ summary: "The newest" }, { summary: "The newest five", query: { limit: "5" } }],
    handler: getReports,
  },
  {
    ...KEYED_READ,
    path: "/v1/compliance/article14",
    operationId: "getArticle14",
    summary: "The measures of Article 14",
    description:
      "What the records of the last 90 days say of each measure of Article 14(4) of the EU AI Act, at the instant asked.",
    success: { status: 200, description: "The measures.", schema: article14ResponseSchema },
    examples: [{ summary: "Ask" }],
    handler: getArticle14,
  },
];
