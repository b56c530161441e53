/** Compliance: the report of a period, a report by its id, the list of reports, the measures of Article 14. */
import * as z from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { instantSchema } from "../../domain/instant.ts";
import { reportsResponseSchema } from "../../domain/record_list.ts";
import { lastFullQuarter, type Period } from "../../domain/period.ts";
import { article14ResponseSchema, reportResponseSchema } from "../../domain/report.ts";
import { article14OfGroups, mayShowSmallGroups } from "../../domain/small_groups.ts";
import { evidenceSchema } from "../../evidence/envelope.ts";
import { probedOperators } from "../../operations/probes/figures.ts";
import { listReports } from "../../operations/reporting/record_list.ts";
import {
  activePeriod,
  article14,
  complianceReport,
  type IssuedReport,
  storedReport,
} from "../../operations/reporting/reports.ts";
import { reportPage, reportPagePolicy } from "../../pages/report.ts";
import type { Route, Services } from "../exchange.ts";
import type { Reply } from "../reply.ts";
import { parseParameters, parseWith, validationFailed } from "../parse.ts";
import { recordPage } from "./parameters.ts";
import { KEYED_READ } from "./shared.ts";

const reportSuccess = {
  status: 200,
  description: "The report, its SHA-256 and its evidence, or with format=html a page for printing.",
  schema: reportResponseSchema(evidenceSchema),
  otherTypes: ["text/html; charset=utf-8"],
} as const;

const reportFormatSchema = z.object({ format: z.enum(["json", "html"]).default("json") });

const reportParametersSchema = z.object({
  period_start: instantSchema.optional().meta({
    description:
      "Start of the period, included. Give it together with period_end. If both are left out, the period is the last full calendar quarter (UTC).",
  }),
  period_end: instantSchema.optional().meta({ description: "End of the period, excluded." }),
  ...reportFormatSchema.shape,
});

const getReport: Route = {
  ...KEYED_READ,
  path: "/v1/compliance/report",
  operationId: "getReport",
  summary: "The report of a period",
  description:
    "Reports, for each legal provision, what the records of a period show about human oversight. It is evidence for a deployer's own assessment, not a declaration of compliance. Without a period, it covers the last full calendar quarter (UTC); a call with only one bound gets 422. The report is stored and can be cited. If the records have not changed, the same period gives the same report: its `report` member is identical byte for byte.",
  parameters: reportParametersSchema,
  success: reportSuccess,
  errors: ["INSUFFICIENT_DATA"],
  examples: [
    { summary: "The last full quarter" },
    { summary: "A quarter", query: { period_start: "2026-10-01", period_end: "2027-01-01" } },
    {
      summary: "As a page",
      query: { period_start: "2026-10-01", period_end: "2027-01-01", format: "html" },
    },
  ],
  async handler({ dependencies }, { exchange, request }) {
    const { format, ...bounds } = parseParameters(request, reportParametersSchema);
    const { call } = exchange;
    const period = periodOf(bounds, call.now);
    const issued = await complianceReport(dependencies, exchange.caller!, { period, call });
    return renderReport(dependencies, issued, format);
  },
};

/**
 * The period between the bounds; the last full calendar quarter if none is given.
 * @throws {ServiceError} VALIDATION_FAILED if only one bound is given, or if the end is not after the start.
 */
function periodOf(
  { period_start: start, period_end: end }: { readonly period_start?: number; readonly period_end?: number },
  now: number,
): Period {
  if (start === undefined && end === undefined) return lastFullQuarter(now);
  if (start === undefined || end === undefined) {
    const [missing, given] = start === undefined
      ? ["period_start", "period_end"]
      : ["period_end", "period_start"];
    const message =
      `must be given with ${given}: give both, or leave both out for the last full calendar quarter`;
    throw validationFailed([{ path: missing!, message }]);
  }
  if (end <= start) throw validationFailed([{ path: "period_end", message: "must be after period_start" }]);
  return { start, end };
}

const reportPathSchema = z.object({
  report_id: z.string().regex(
    /^[A-Za-z0-9_-]{1,64}$/,
    "must be 1 to 64 letters, digits, hyphens or underscores",
  ),
});

const getStoredReport: Route = {
  ...KEYED_READ,
  path: "/v1/compliance/report/{report_id}",
  operationId: "getStoredReport",
  summary: "A report by its id",
  description: "Returns the report as it was issued.",
  pathParameters: reportPathSchema,
  parameters: reportFormatSchema,
  success: reportSuccess,
  errors: ["NOT_FOUND", "GONE"],
  examples: [{ summary: "A report", path: { report_id: "report-of-the-example" } }],
  async handler({ dependencies }, { exchange, path, request }) {
    const { report_id } = parseWith(reportPathSchema, path);
    const { format } = parseParameters(request, reportFormatSchema);
    const issued = await storedReport(dependencies, exchange.caller!, report_id);
    if (exchange.pseudonyms !== null && mayShowSmallGroups(issued.report)) {
      throw new ServiceError(
        "FORBIDDEN",
        "This report is from before figures of fewer than five reviewers were withheld, and may have some: ask for the report of its period, or read this one with a key.",
      );
    }
    return renderReport(dependencies, issued, format);
  },
};

function renderReport(
  { model }: Services["dependencies"],
  issued: IssuedReport,
  format: "json" | "html",
): Reply {
  if (format === "json") return { status: 200, body: { ...issued } };
  const { report } = issued;
  const text = reportPage({
    signed: issued,
    // An older report may have been made by another model, with other shares than the model in use.
    ...(report.model.sha256 === model.sha256 ? { partialShare: model.document.law.pass_share.partial } : {}),
  });
  return {
    status: 200,
    text,
    contentType: "text/html; charset=utf-8",
    policy: reportPagePolicy(report),
    namesNoOperator: true,
  };
}

const reportsParametersSchema = z.object(recordPage);

const getReports: Route = {
  ...KEYED_READ,
  path: "/v1/compliance/reports",
  operationId: "getReports",
  summary: "The issued reports",
  description:
    "Returns a page of the organization's reports, newest first, each with its period and its main results.",
  parameters: reportsParametersSchema,
  success: { status: 200, description: "A page of reports.", schema: reportsResponseSchema },
  examples: [{ summary: "The newest" }, { summary: "The newest five", query: { limit: "5" } }],
  async handler({ dependencies }, { exchange, request }) {
    const { limit, cursor = null } = parseParameters(request, reportsParametersSchema);
    const { reports, next } = await listReports(dependencies, exchange.caller!, { limit, below: cursor });
    return {
      status: 200,
      body: { reports, count: reports.length, next_cursor: next === null ? null : String(next) },
    };
  },
};

const getArticle14: Route = {
  ...KEYED_READ,
  path: "/v1/compliance/article14",
  operationId: "getArticle14",
  summary: "The measures of Article 14",
  description:
    "Returns what the records of the last 90 days show about each measure of Article 14(4) of the EU AI Act, at the time of the call.",
  success: { status: 200, description: "The measures.", schema: article14ResponseSchema },
  errors: ["INSUFFICIENT_DATA"],
  examples: [{ summary: "Ask" }],
  async handler({ dependencies }, { exchange }) {
    const { caller, call: { now }, pseudonyms } = exchange;
    const body = await article14(dependencies, caller!, now);
    if (pseudonyms === null) return { status: 200, body: { ...body } };
    const probed = await probedOperators(dependencies, caller!, activePeriod(dependencies, now));
    return { status: 200, body: { ...article14OfGroups(body, probed) } };
  },
};

export const REPORT_ROUTES: readonly Route[] = [getReport, getStoredReport, getReports, getArticle14];
