/** Alerts about the caller's organization: seen and acknowledged by its people. */
import * as z from "zod";
import {
  ALERTS_PAGE_DEFAULT,
  ALERTS_PAGE_MAX,
  alertsResponseSchema,
  ownAcknowledgementSchema,
} from "../../domain/organization_alert.ts";
import { acknowledgeOwnAlert, listAlerts } from "../../operations/alerts/own_alerts.ts";
import type { Route } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { parseParameters, parseWith } from "../parse.ts";
import { integerParameter, recordPage } from "./parameters.ts";
import { KEYED_POST, KEYED_READ, keyFor, selfServe } from "./shared.ts";

const alertsParametersSchema = z.object({
  ...recordPage,
  limit: integerParameter({ min: 1, max: ALERTS_PAGE_MAX, fallback: ALERTS_PAGE_DEFAULT }),
  state: z.enum(["open", "all"]).default("open").meta({
    description: "`open`: the alerts that nobody has acknowledged since they were raised last.",
  }),
});

const getAlerts: Route = {
  ...KEYED_READ,
  ...keyFor("followUp"),
  path: "/v1/organization/alerts",
  operationId: "getAlerts",
  summary: "The alerts about your organization",
  description:
    "Returns a page of the alerts, the last created first, each with what happened, what to do next, and who has acknowledged it. All of it is made from signed entries of the audit log. `next_cursor` gets the next page; it is null on the last page.",
  parameters: alertsParametersSchema,
  success: { status: 200, description: "A page of alerts.", schema: alertsResponseSchema },
  examples: [
    { summary: "The open ones" },
    { summary: "All of them", query: { state: "all" } },
  ],
  async handler({ dependencies }, { exchange, request }) {
    const { state, limit, cursor = null } = parseParameters(request, alertsParametersSchema);
    const { alerts, next } = await listAlerts(dependencies, exchange.caller!, {
      isOpen: state === "open",
      below: cursor,
      limit,
    });
    return {
      status: 200,
      body: { alerts, count: alerts.length, next_cursor: next === null ? null : String(next) },
    };
  },
};

const alertPathSchema = z.object({
  alert_id: z.string().regex(/^[0-9A-Z]{26}$/, "must be the alert_id of an alert").meta({
    examples: ["01ALERTOFTHEEXAMPLE0000000"],
  }),
});

const postOwnAcknowledgement: Route = {
  ...KEYED_POST,
  ...keyFor("act"),
  headerKeyOnly: true,
  path: "/v1/organization/alerts/{alert_id}/ack",
  operationId: "postOwnAcknowledgement",
  summary: "Acknowledge an alert",
  description:
    "Records that somebody of the organization has seen the alert (event `ALERT_ACKNOWLEDGED`). A repeated call changes nothing. It ends no cause, and the administrator of the service keeps the alert.",
  body: null,
  pathParameters: alertPathSchema,
  success: { status: 200, description: "Acknowledged.", schema: ownAcknowledgementSchema },
  errors: ["NOT_FOUND", "GONE"],
  examples: [{ summary: "One", path: { alert_id: "01ALERTOFTHEEXAMPLE0000000" } }],
  async handler({ dependencies }, { context, exchange, path }) {
    const { alert_id: alertId } = parseWith(alertPathSchema, path);
    const { call } = exchange;
    const idempotency = idempotentCall(context);
    return {
      status: 200,
      ...await acknowledgeOwnAlert(dependencies, selfServe(exchange), { alertId, call, idempotency }),
    };
  },
};

export const ORGANIZATION_ALERT_ROUTES: readonly Route[] = [getAlerts, postOwnAcknowledgement];
