/** An organization's audit log: a page of it, and all of it. */
import * as z from "zod";
import { auditLogEventSchema, auditLogResponseSchema } from "../../domain/audit_log.ts";
import { instantSchema } from "../../domain/instant.ts";
import { AUDIT_LOG_DEFAULT, AUDIT_LOG_MAX } from "../../domain/limits.ts";
import { userIdSchema } from "../../domain/user.ts";
import { entrySchema } from "../../evidence/entry.ts";
import { exportAuditLog, readAuditLog } from "../../operations/organizations/audit_log.ts";
import type { Route } from "../exchange.ts";
import { parseParameters } from "../parse.ts";
import { integerParameter } from "./parameters.ts";
import { KEYED_READ, keyFor, selfServe } from "./shared.ts";

const ROTATIONS = { since: "2026-11-01", event_type: "KEY_ROTATED" };

const filters = {
  event_type: auditLogEventSchema.optional(),
  user_id: userIdSchema.optional().meta({ description: "Only what this user did." }),
  since: instantSchema.optional().meta({ description: "Start of the range, included." }),
  until: instantSchema.optional().meta({
    description: "End of the range, excluded. Default: the time of the call.",
  }),
};

const auditLogParametersSchema = z.object({
  ...filters,
  limit: integerParameter({ min: 1, max: AUDIT_LOG_MAX, fallback: AUDIT_LOG_DEFAULT })
    .meta({ description: "Maximum number of events; the newest are returned." }),
});

const getAuditLog: Route = {
  ...KEYED_READ,
  ...keyFor("export"),
  path: "/v1/admin/audit-log",
  operationId: "getAuditLog",
  summary: "Read your audit log",
  description:
    "Returns the actions on the organization and its keys, and what users did with records, newest first. Each read of the log is itself logged.",
  parameters: auditLogParametersSchema,
  success: {
    status: 200,
    description: "The newest events.",
    schema: auditLogResponseSchema(entrySchema.shape.actor),
  },
  examples: [{ summary: "The newest" }, { summary: "Rotations of the key", query: ROTATIONS }],
  async handler({ dependencies }, { exchange, request }) {
    const { event_type, user_id, since, until, limit } = parseParameters(
      request,
      auditLogParametersSchema,
    );
    const { call } = exchange;
    const query = {
      eventType: event_type ?? null,
      userId: user_id ?? null,
      since: since ?? null,
      until: until ?? call.now,
    };
    const events = await readAuditLog(dependencies, selfServe(exchange), { ...query, limit, call });
    return {
      status: 200,
      body: {
        events,
        count: events.length,
        filters: {
          event_type: query.eventType,
          user_id: query.userId,
          since: query.since === null ? null : new Date(query.since).toISOString(),
          until: new Date(query.until).toISOString(),
          limit,
        },
      },
    };
  },
};

const auditLogExportParametersSchema = z.object(filters);

const getAuditLogExport: Route = {
  ...KEYED_READ,
  ...keyFor("export"),
  path: "/v1/admin/audit-log/export",
  operationId: "getAuditLogExport",
  summary: "Export your audit log",
  description:
    "Returns all events of the audit log, newest first, as one JSON object on each line. To export them with their proofs, run `jiss export --chain admin`.",
  parameters: auditLogExportParametersSchema,
  success: {
    status: 200,
    description: "The events.",
    schema: null,
    otherTypes: ["application/x-ndjson"],
    onlyOtherTypes: true,
  },
  examples: [{ summary: "Everything" }],
  async handler({ dependencies }, { exchange, request }) {
    const { event_type, user_id, since, until } = parseParameters(
      request,
      auditLogExportParametersSchema,
    );
    const { call } = exchange;
    const caller = selfServe(exchange);
    const events = await exportAuditLog(dependencies, caller, {
      eventType: event_type ?? null,
      userId: user_id ?? null,
      since: since ?? null,
      until: until ?? call.now,
      call,
    });
    return {
      status: 200,
      pieces: lines(events),
      contentType: "application/x-ndjson",
      headers: { "Content-Disposition": `attachment; filename="${caller.orgId}-audit-log.ndjson"` },
      namesNoOperator: true,
    };
  },
};

async function* lines(values: AsyncGenerator<unknown>): AsyncGenerator<string> {
  for await (const value of values) yield `${JSON.stringify(value)}\n`;
}

export const AUDIT_LOG_ROUTES: readonly Route[] = [getAuditLog, getAuditLogExport];
