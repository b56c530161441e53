/**
 * The catalogue: every operation as data, from which the router, `GET /v1` and the OpenAPI document are made.
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

export const ROUTES: readonly Route[] = [
  ...SERVICE_ROUTES,
  ...SCORING_ROUTES,
  ...OPERATOR_ROUTES,
  ...COMPLIANCE_ROUTES,
  ...AUDIT_ROUTES,
  ...SELF_SERVE_ROUTES,
  ...ADMIN_ROUTES,
  ...ASSESSMENT_ROUTES,
];

/** The methods of a path; HEAD is answered wherever GET is. */
export function methodsOf(path: string): readonly string[] {
  const methods = ROUTES.filter((route) => route.path === path).map((route) => route.method);
  return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])))];
}
