/**
 * Handlers for operators and their organization: profile, sparkline, list, decisions, dashboard, shadow,
 * maintenance, subject access, erasure.
 */
import * as z from "zod";
import {
  maintenanceRequestSchema,
  OPERATOR_SORTS,
  operatorPathSchema,
  operatorsParametersSchema,
  profileParametersSchema,
  sparklineParametersSchema,
} from "../../domain/operator.ts";
import { decisionsParametersSchema } from "../../domain/record_list.ts";
import { subjectParametersSchema } from "../../domain/subject.ts";
import { organizationDashboard } from "../../operations/reporting/dashboard.ts";
import type { Call } from "../../operations/shared/call.ts";
import { eraseOperator } from "../../operations/subjects/erasure.ts";
import {
  listOperators,
  operatorProfile,
  operatorSparkline,
  recommendMaintenance,
} from "../../operations/reporting/operators.ts";
import { listDecisions } from "../../operations/reporting/record_list.ts";
import { shadowReport } from "../../operations/scoring/shadow.ts";
import { openSubjectAccess, type SubjectAccess } from "../../operations/subjects/subject_access.ts";
import { SPARKLINE_CSP, sparklineSvg } from "../../pages/sparkline.ts";
import { SUBJECT_PAGE_CSP, subjectPage } from "../../pages/subject.ts";
import type { HandlerInput, Reply, Services } from "../exchange.ts";
import { type ParameterSource, parseWith, readParameters, validationFailed } from "../parse.ts";

export const PROFILE_PARAMETERS: readonly ParameterSource[] = [{ name: "include" }];

export const DECISIONS_PARAMETERS: readonly ParameterSource[] = [
  { name: "kind" },
  { name: "operator_id" },
  { name: "limit" },
  { name: "cursor" },
];

export const SPARKLINE_PARAMETERS: readonly ParameterSource[] = [{ name: "days" }, { name: "format" }];

export const SUBJECT_PARAMETERS: readonly ParameterSource[] = [{ name: "format" }];

export const OPERATORS_PARAMETERS: readonly ParameterSource[] = [
  { name: "band" },
  { name: "sort" },
  { name: "limit" },
  { name: "cursor" },
  { name: "include" },
];

export async function getProfile(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { operator_id } = parseWith(operatorPathSchema, context.req.param());
  const { include } = parseWith(
    profileParametersSchema,
    readParameters(context.req.raw, PROFILE_PARAMETERS),
  );
  const body = await operatorProfile(dependencies, exchange.caller!, {
    operatorId: operator_id,
    projection: include === "projection",
    now: exchange.call.now,
  });
  return { status: 200, body };
}

export async function getSparkline(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { operator_id } = parseWith(operatorPathSchema, context.req.param());
  const { days, format } = parseWith(
    sparklineParametersSchema,
    readParameters(context.req.raw, SPARKLINE_PARAMETERS),
  );
  const { window, body } = await operatorSparkline(dependencies, exchange.caller!, {
    operatorId: operator_id,
    days,
    now: exchange.call.now,
  });
  if (format === "json") return { status: 200, body };
  const text = sparklineSvg({
    operatorId: operator_id,
    days,
    points: body.points,
    uncertainty: body.uncertainty,
    minJis: dependencies.model.document.thresholds.min_jis,
    ...window,
  });
  return { status: 200, text, contentType: "image/svg+xml", policy: SPARKLINE_CSP };
}

export async function getOperators(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { band, sort, limit, cursor, include } = parseWith(
    operatorsParametersSchema,
    readParameters(context.req.raw, OPERATORS_PARAMETERS),
  );
  const { operators, next } = await listOperators(dependencies, exchange.caller!, {
    band: band ?? null,
    sort,
    limit,
    after: cursor === undefined ? null : readCursor(cursor, sort),
    sparkline: include === "sparkline",
    now: exchange.call.now,
  });
  return {
    status: 200,
    body: {
      operators,
      count: operators.length,
      next_cursor: next === null ? null : writeCursor({ sort, ...next }),
    },
  };
}

const cursorSchema = z.strictObject({
  sort: z.enum(OPERATOR_SORTS),
  value: z.union([z.number(), z.string()]),
  operatorId: z.string(),
});
type Cursor = z.infer<typeof cursorSchema>;

function writeCursor(cursor: Cursor): string {
  const bytes = new TextEncoder().encode(JSON.stringify(cursor));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

function readCursor(text: string, sort: Cursor["sort"]): Cursor {
  const cursor = decodeCursor(text);
  const type = sort === "operator_id" ? "string" : "number";
  if (cursor !== null && cursor.sort === sort && typeof cursor.value === type) return cursor;
  throw validationFailed([{
    path: "cursor",
    message: `must be the next_cursor of a page with sort=${sort}, unchanged`,
  }]);
}

function decodeCursor(text: string): Cursor | null {
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
    return cursorSchema.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export async function getDecisions(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { kind = null, operator_id = null, limit, cursor = null } = parseWith(
    decisionsParametersSchema,
    readParameters(context.req.raw, DECISIONS_PARAMETERS),
  );
  const { decisions, next } = await listDecisions(dependencies, exchange.caller!, {
    kind,
    operatorId: operator_id,
    limit,
    below: cursor,
  });
  return {
    status: 200,
    body: { decisions, count: decisions.length, next_cursor: next === null ? null : String(next) },
  };
}

export async function getDashboard(
  { dependencies }: Services,
  { exchange }: HandlerInput,
): Promise<Reply> {
  const body = await organizationDashboard(dependencies, exchange.caller!, exchange.call.now);
  return { status: 200, body };
}

export async function getShadow(
  { dependencies }: Services,
  { exchange }: HandlerInput,
): Promise<Reply> {
  return { status: 200, body: await shadowReport(dependencies, exchange.caller!) };
}

export async function postMaintenance(
  { dependencies }: Services,
  { exchange, json }: HandlerInput,
): Promise<Reply> {
  const { operator_id } = parseWith(maintenanceRequestSchema, json);
  const plan = await recommendMaintenance(dependencies, exchange.caller!, {
    operatorId: operator_id,
    now: exchange.call.now,
  });
  const { intervention_type, target_dimension, difficulty, frequency_ratio, exercises } = plan;
  return {
    status: 200,
    body: {
      recommendation: { intervention_type, target_dimension, difficulty, frequency_ratio },
      exercises,
    },
  };
}

export async function deleteOperator(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { operator_id } = parseWith(operatorPathSchema, context.req.param());
  const erasure = await eraseOperator(dependencies, exchange.caller!, {
    operatorId: operator_id,
    call: exchange.call,
  });
  return { status: 200, body: { ...erasure } };
}

export async function getSubjectAccess(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { operator_id } = parseWith(operatorPathSchema, context.req.param());
  const { format } = parseWith(
    subjectParametersSchema,
    readParameters(context.req.raw, SUBJECT_PARAMETERS),
  );
  const { call } = exchange;
  const access = await openSubjectAccess(dependencies, exchange.caller!, {
    operatorId: operator_id,
    format,
    call,
  });
  if (format === "json") {
    return { status: 200, pieces: subjectJson(access, call), contentType: "application/json" };
  }
  return {
    status: 200,
    pieces: subjectPage({ ...access, madeAt: new Date(call.now).toISOString() }),
    contentType: "text/html; charset=utf-8",
    policy: SUBJECT_PAGE_CSP,
  };
}

/** One JSON object with the envelope of every body; its records are written as they are read. */
async function* subjectJson(
  { head, records }: SubjectAccess,
  { now, requestId }: Call,
): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"records":[`;
  let separator = "";
  for await (const record of records) {
    yield separator + JSON.stringify(record);
    separator = ",";
  }
  const envelope = { request_id: requestId, timestamp: new Date(now).toISOString() };
  yield `],${JSON.stringify(envelope).slice(1)}`;
}
