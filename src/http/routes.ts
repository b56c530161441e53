/**
 * The catalogue: every operation as data. The router, `GET /v1` and the OpenAPI document are made from it.
 * A resource is a file of `routes/`, which has each of its routes whole. Source: specification, Endpoints.
 */
import { ADMIN_ORGANIZATION_ROUTES } from "./routes/admin_organizations.ts";
import { ALERT_ROUTES } from "./routes/alerts.ts";
import { ASSESSMENT_ROUTES } from "./routes/assessments.ts";
import { AUDIT_LOG_ROUTES } from "./routes/audit_log.ts";
import { CASE_ROUTES } from "./routes/cases.ts";
import { CASE_SET_ROUTES } from "./routes/case_sets.ts";
import { DECISION_ROUTES } from "./routes/decisions.ts";
import { EVIDENCE_ROUTES } from "./routes/evidence.ts";
import { EXERCISE_ROUTES } from "./routes/exercises.ts";
import { KEY_ROUTES } from "./routes/keys.ts";
import { MAINTENANCE_ROUTES } from "./routes/maintenance.ts";
import { OPERATOR_ROUTES } from "./routes/operators.ts";
import { ORGANIZATION_ROUTES } from "./routes/organization.ts";
import { ORGANIZATION_ALERT_ROUTES } from "./routes/organization_alerts.ts";
import { OWN_EVENT_ROUTES } from "./routes/own_events.ts";
import { OWN_PAGE_ROUTES } from "./routes/own_page.ts";
import { OWN_KEY_ROUTES } from "./routes/own_key.ts";
import { PASSKEY_ROUTES } from "./routes/passkeys.ts";
import { PROBE_ROUTES } from "./routes/probes.ts";
import { REPORT_ROUTES } from "./routes/reports.ts";
import { SCORE_ROUTES } from "./routes/scores.ts";
import { SERVICE_ROUTES } from "./routes/service.ts";
import { SIGN_IN_ROUTES } from "./routes/sign_in.ts";
import { USER_ROUTES } from "./routes/users.ts";
import { WEBHOOK_ROUTES } from "./routes/webhooks.ts";
import { WEEK_ROUTES } from "./routes/weeks.ts";
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
    description: "Health, self-description and this document. No key is needed.",
    routes: SERVICE_ROUTES,
  },
  {
    name: "Scoring",
    description:
      "Scoring of one interaction or a batch, the commit of a score, the risk of a decision, and the replay of scores and decisions.",
    routes: [...SCORE_ROUTES, ...DECISION_ROUTES],
  },
  {
    name: "Probes",
    description:
      "Cases with known truth among live ones: sealed before anybody sees them, drawn by a seed that nobody can foresee, and opened with their score.",
    routes: PROBE_ROUTES,
  },
  {
    name: "Exercises",
    description:
      "Exercises that the service holds itself: case sets, links for reviewers, results and their effect. The page of a link needs no key.",
    routes: [...EXERCISE_ROUTES, ...CASE_SET_ROUTES],
  },
  {
    name: "Operators",
    description: "The reviewers who are scored, and their organization.",
    routes: [...OPERATOR_ROUTES, ...ORGANIZATION_ROUTES, ...WEEK_ROUTES, ...MAINTENANCE_ROUTES],
  },
  {
    name: "Cases",
    description: "Follow-ups on reviewers, from the cause over each step to the effect.",
    routes: CASE_ROUTES,
  },
  {
    name: "A reviewer's own page",
    description:
      "The link to a page on which a reviewer sees the own record and contests it. The calls of the page need the link and no key.",
    routes: OWN_PAGE_ROUTES,
  },
  {
    name: "Compliance",
    description: "Reports on human oversight, for a deployer's own assessment.",
    routes: REPORT_ROUTES,
  },
  {
    name: "Evidence",
    description: "Signed, chained entries: append, verify and export them.",
    routes: [...OWN_EVENT_ROUTES, ...EVIDENCE_ROUTES],
  },
  {
    name: "Your organization",
    description: "The organization's own key, named keys, audit log, alerts and webhooks.",
    routes: [
      ...OWN_KEY_ROUTES,
      ...KEY_ROUTES,
      ...AUDIT_LOG_ROUTES,
      ...ORGANIZATION_ALERT_ROUTES,
      ...WEBHOOK_ROUTES,
    ],
  },
  {
    name: "Users",
    description: "The people of an organization: invited, changed and erased by an admin.",
    routes: USER_ROUTES,
  },
  {
    name: "Signing in",
    description: "Sessions of users. Their cookies work on the pages of this service alone.",
    routes: [...SIGN_IN_ROUTES, ...PASSKEY_ROUTES],
  },
  {
    name: "Administration",
    description: "Organizations, their keys, usage and alerts. Each operation has its own master key.",
    routes: [...ADMIN_ORGANIZATION_ROUTES, ...ALERT_ROUTES],
  },
  {
    name: "Public demo",
    description: "The runs of visitors, which belong to no organization. No key is needed.",
    routes: ASSESSMENT_ROUTES,
  },
];

export const ROUTES: readonly Route[] = ROUTE_GROUPS.flatMap(({ routes }) => routes);

/** The methods of a path; a path with GET has HEAD too. */
export function methodsOf(path: string): readonly string[] {
  const methods = ROUTES.filter((route) => route.path === path).map((route) => route.method);
  return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])))];
}
