/**
 * The catalogue: every operation as data. The router, `GET /v1` and the OpenAPI document are made from it.
 * Source: specification, Endpoints.
 */
import { ADMIN_ROUTES } from "./catalogue/admin.ts";
import { ASSESSMENT_ROUTES } from "./catalogue/assessments.ts";
import { AUDIT_ROUTES } from "./catalogue/audit.ts";
import { COMPLIANCE_ROUTES } from "./catalogue/compliance.ts";
import { OPERATOR_ROUTES } from "./catalogue/operators.ts";
import { SCORING_ROUTES } from "./catalogue/scoring.ts";
import { SELF_SERVE_ROUTES } from "./catalogue/self_serve.ts";
import { SERVICE_ROUTES } from "./catalogue/service.ts";
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
    routes: SCORING_ROUTES,
  },
  {
    name: "Operators",
    description: "The reviewers who are scored, and the organization that they belong to.",
    routes: OPERATOR_ROUTES,
  },
  {
    name: "Compliance",
    description: "What the records say of human oversight, for a deployer's own assessment.",
    routes: COMPLIANCE_ROUTES,
  },
  {
    name: "Evidence",
    description: "Signed, chained entries: append to them, verify them, carry them away.",
    routes: AUDIT_ROUTES,
  },
  {
    name: "Your organization",
    description: "With an organization's own key: the key itself, the audit log, webhooks.",
    routes: SELF_SERVE_ROUTES,
  },
  {
    name: "Administration",
    description: "With a master key of its own for each operation: organizations, their keys, usage, alerts.",
    routes: ADMIN_ROUTES,
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
