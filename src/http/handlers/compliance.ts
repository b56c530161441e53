/** Compliance reports, by period and by id, and the measures of Article 14. */
import {
  lastFullQuarter,
  type Period,
  reportFormatSchema,
  reportParametersSchema,
  reportPathSchema,
} from "../../domain/report.ts";
import { reportsParametersSchema } from "../../domain/record_list.ts";
import { listReports } from "../../operations/reporting/record_list.ts";
import {
  article14,
  complianceReport,
  type IssuedReport,
  storedReport,
} from "../../operations/reporting/reports.ts";
import { REPORT_PAGE_CSP, reportPage } from "../../pages/report.ts";
import type { HandlerInput, Reply, Services } from "../exchange.ts";
import { type ParameterSource, parseWith, readParameters, validationFailed } from "../parse.ts";

export const REPORT_FORMAT: readonly ParameterSource[] = [{ name: "format" }];

export const REPORT_PARAMETERS: readonly ParameterSource[] = [
  { name: "period_start" },
  { name: "period_end" },
  ...REPORT_FORMAT,
];

export async function getReport(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { format, ...bounds } = parseWith(
    reportParametersSchema,
    readParameters(context.req.raw, REPORT_PARAMETERS),
  );
  const { call } = exchange;
  const period = periodOf(bounds, call.now);
  const issued = await complianceReport(dependencies, exchange.caller!, { period, call });
  return shown(dependencies, issued, format);
}

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

export async function getStoredReport(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { report_id } = parseWith(reportPathSchema, context.req.param());
  const { format } = parseWith(reportFormatSchema, readParameters(context.req.raw, REPORT_FORMAT));
  return shown(dependencies, await storedReport(dependencies, exchange.caller!, report_id), format);
}

export const REPORTS_PARAMETERS: readonly ParameterSource[] = [{ name: "limit" }, { name: "cursor" }];

export async function getReports(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { limit, cursor = null } = parseWith(
    reportsParametersSchema,
    readParameters(context.req.raw, REPORTS_PARAMETERS),
  );
  const { reports, next } = await listReports(dependencies, exchange.caller!, { limit, below: cursor });
  return {
    status: 200,
    body: { reports, count: reports.length, next_cursor: next === null ? null : String(next) },
  };
}

function shown(
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
  return { status: 200, text, contentType: "text/html; charset=utf-8", policy: REPORT_PAGE_CSP };
}

export async function getArticle14(
  { dependencies }: Services,
  { exchange }: HandlerInput,
): Promise<Reply> {
  const body = await article14(dependencies, exchange.caller!, exchange.call.now);
  return { status: 200, body: { ...body } };
}
