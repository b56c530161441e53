/**
 * The catalogue: every operation as data. The router, `GET /v1` and the OpenAPI document are made from it.
 * A resource is a file of `routes/`, which has each of its routes whole. Source: specification, Endpoints.
 */
import { ADMIN_ORGANIZATION_ROUTES } from "./routes/admin_organizations.ts";
import { ALERT_ROUTES } from "./routes/alerts.ts";
import { ASSESSMENT_ROUTES } from "./routes/assessments.ts";
import { AUDIT_LOG_ROUTES } from "./routes/audit_log.ts";
import { DECISION_ROUTES } from "./routes/decisions.ts";
import { EVIDENCE_ROUTES } from "./routes/evidence.ts";
import { MAINTENANCE_ROUTES } from "./routes/maintenance.ts";
import { OPERATOR_ROUTES } from "./routes/operators.ts";
import { ORGANIZATION_ROUTES } from "./routes/organization.ts";
import { OWN_EVENT_ROUTES } from "./routes/own_events.ts";
import { OWN_KEY_ROUTES } from "./routes/own_key.ts";
import { REPORT_ROUTES } from "./routes/reports.ts";
import { SCORE_ROUTES } from "./routes/scores.ts";
import { SERVICE_ROUTES } from "./routes/service.ts";
import { WEBHOOK_ROUTES } from "./routes/webhooks.ts";
import type { Route } from "./exchange.ts";

/** Operations that belong together: one tag of the OpenAPI document. */
export interface RouteGroup {
  readonly name: string;
  readonly description: string;
  readonly routes: readonly Route[];
}

export const ROUTE_GROUPS: readonly RouteGroup[] = [
  {
    name: "Service",
    description: "Health, self-description and this document. No key.",
    routes: SERVICE_ROUTES,
  },
  {
    name: "Scoring",
    description: "One interaction, a batch, a commit, the risk of a decision, and the replay of either.",
    routes: [...SCORE_ROUTES, ...DECISION_ROUTES],
  },
  {
    name: "Operators",
    description: "The reviewers who are scored, and the organization that they belong to.",
    routes: [...OPERATOR_ROUTES, ...ORGANIZATION_ROUTES, ...MAINTENANCE_ROUTES],
  },
  {
    name: "Compliance",
    description: "What the records say of human oversight, for a deployer's own assessment.",
    routes: REPORT_ROUTES,
  },
  {
    name: "Evidence",
    description: "Signed, chained entries: append to them, verify them, carry them away.",
    routes: [...OWN_EVENT_ROUTES, ...EVIDENCE_ROUTES],
  },
  {
    name: "Your organization",
    description: "With an organization's own key: the key itself, the audit log, webhooks.",
    routes: [...OWN_KEY_ROUTES, ...AUDIT_LOG_ROUTES, ...WEBHOOK_ROUTES],
  },
  {
    name: "Administration",
    description: "With a master key of its own for each operation: organizations, their keys, usage, alerts.",
    routes: [...ADMIN_ORGANIZATION_ROUTES, ...ALERT_ROUTES],
  },
  {
    name: "Public demo",
    description: "A visitor's run, which belongs to no organization. No key.",
    routes: ASSESSMENT_ROUTES,
  },
];

export const ROUTES: readonly Route[] = ROUTE_GROUPS.flatMap(({ routes }) => routes);

/** The methods of a path; a path with GET has HEAD too. */
export function methodsOf(path: string): readonly string[] {
  const methods = ROUTES.filter((route) => route.path === path).map((route) => route.method);
  return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])))];
}
