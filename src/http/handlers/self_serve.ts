/** Handlers for an organization's own key: rotate it, revoke it, read and export the audit log. */
import { auditLogExportParametersSchema, auditLogParametersSchema } from "../../domain/audit_log.ts";
import { exportAuditLog, readAuditLog } from "../../operations/organizations/audit_log.ts";
import type { OrganizationCaller } from "../../operations/shared/call.ts";
import { revokeOwnKey, rotateOwnKey } from "../../operations/organizations/organization_states.ts";
import type { Exchange, HandlerInput, Reply, Services } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { type ParameterSource, parseWith, readParameters } from "../parse.ts";

export const AUDIT_LOG_FILTERS: readonly ParameterSource[] = [
  { name: "event_type" },
  { name: "since" },
  { name: "until" },
];
export const AUDIT_LOG_PARAMETERS: readonly ParameterSource[] = [...AUDIT_LOG_FILTERS, { name: "limit" }];

export async function postKeyRotation(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { call } = exchange;
  return await rotateOwnKey(dependencies, selfServe(exchange), {
    call,
    idempotency: idempotentCall(context),
  });
}

export async function postKeyRevocation(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { call } = exchange;
  return await revokeOwnKey(dependencies, selfServe(exchange), {
    call,
    idempotency: idempotentCall(context),
  });
}

export async function getAuditLog(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { event_type, since, until, limit } = parseWith(
    auditLogParametersSchema,
    readParameters(context.req.raw, AUDIT_LOG_PARAMETERS),
  );
  const { call } = exchange;
  const asked = { eventType: event_type ?? null, since: since ?? null, until: until ?? call.now };
  const events = await readAuditLog(dependencies, selfServe(exchange), { ...asked, limit, call });
  return {
    status: 200,
    body: {
      events,
      count: events.length,
      filters: {
        event_type: asked.eventType,
        since: asked.since === null ? null : new Date(asked.since).toISOString(),
        until: new Date(asked.until).toISOString(),
        limit,
      },
    },
  };
}

export async function getAuditLogExport(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { event_type, since, until } = parseWith(
    auditLogExportParametersSchema,
    readParameters(context.req.raw, AUDIT_LOG_FILTERS),
  );
  const { call } = exchange;
  const caller = selfServe(exchange);
  const events = await exportAuditLog(dependencies, caller, {
    eventType: event_type ?? null,
    since: since ?? null,
    until: until ?? call.now,
    call,
  });
  return {
    status: 200,
    pieces: lines(events),
    contentType: "application/x-ndjson",
    headers: { "Content-Disposition": `attachment; filename="${caller.orgId}-audit-log.ndjson"` },
  };
}

async function* lines(values: AsyncGenerator<unknown>): AsyncGenerator<string> {
  for await (const value of values) yield `${JSON.stringify(value)}\n`;
}

/** The caller, with the actor that the audit log names on these routes. */
export function selfServe({ caller }: Exchange): OrganizationCaller {
  return { ...caller!, actor: "self_serve" };
}
