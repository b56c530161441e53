/** Operators and their organization: profile, sparkline, list, dashboard, maintenance. */
import { BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import {
  dashboardResponseSchema,
  maintenanceRequestSchema,
  maintenanceResponseSchema,
  operatorPathSchema,
  operatorsParametersSchema,
  operatorsResponseSchema,
  profileResponseSchema,
  sparklineParametersSchema,
  sparklineResponseSchema,
} from "../../domain/operator.ts";
import type { Route } from "../exchange.ts";
import {
  getDashboard,
  getOperators,
  getProfile,
  getSparkline,
  OPERATORS_PARAMETERS,
  postMaintenance,
  SPARKLINE_PARAMETERS,
} from "../handlers/operators.ts";
import { KEYED_POST, KEYED_READ } from "./defaults.ts";

export const OPERATOR_ROUTES: readonly Route[] = [
  {
    ...KEYED_READ,
    path: "/v1/operator/{operator_id}/profile",
    operationId: "getProfile",
    summary: "An operator's profile",
    description:
      "The operator's score with its interval, the seven dimensions, and the newest 100 points of the history.",
    pathParameters: operatorPathSchema,
    success: { status: 200, description: "The profile.", schema: profileResponseSchema },
    errors: ["NOT_FOUND"],
    examples: [{ summary: "A reviewer", path: { operator_id: "reviewer-17" } }],
    handler: getProfile,
  },
  {
    ...KEYED_READ,
    path: "/v1/operator/{operator_id}/sparkline",
    operationId: "getSparkline",
    summary: "An operator's days",
    description: "One point for each UTC day that has a score, as JSON or as an accessible picture.",
    pathParameters: operatorPathSchema,
    parameters: { schema: sparklineParametersSchema, sources: SPARKLINE_PARAMETERS },
    success: {
      status: 200,
      description: "The points, or with format=svg a picture of them.",
      schema: sparklineResponseSchema,
      otherTypes: ["image/svg+xml"],
    },
    errors: ["NOT_FOUND"],
    examples: [
      { summary: "The last 90 days", path: { operator_id: "reviewer-17" }, query: { days: "90" } },
      { summary: "As a picture", path: { operator_id: "reviewer-17" }, query: { format: "svg" } },
    ],
    handler: getSparkline,
  },
  {
    ...KEYED_READ,
    path: "/v1/organization/operators",
    operationId: "getOperators",
    summary: "The organization's operators",
    description:
      "A page of all operators, whenever they were last active. `next_cursor` starts the next page; it is null on the last.",
    parameters: { schema: operatorsParametersSchema, sources: OPERATORS_PARAMETERS },
    success: { status: 200, description: "A page of operators.", schema: operatorsResponseSchema },
    examples: [
      { summary: "The first page" },
      {
        summary: "The weakest at-risk operators with their days",
        query: { band: "at_risk", sort: "jis", limit: "20", include: "sparkline" },
      },
    ],
    handler: getOperators,
  },
  {
    ...KEYED_READ,
    path: "/v1/organization/dashboard",
    operationId: "getDashboard",
    summary: "The organization's dashboard",
    description:
      "Figures over the operators with an interaction in the last 90 days, at the instant asked. `compliance_status` is `non_compliant` when more than 10 percent of high-risk operators have a JIS below 60, or any critical-decision operator has one below 40.",
    success: { status: 200, description: "The dashboard.", schema: dashboardResponseSchema },
    examples: [{ summary: "Ask" }],
    handler: getDashboard,
  },
  {
    ...KEYED_POST,
    path: "/v1/maintenance/recommend",
    operationId: "postMaintenance",
    summary: "Recommend exercises",
    description:
      "What an operator should practise: the dimension whose lack costs most, and the exercises of the model's catalogue for it. Needs 50 interactions or 10 days of monitoring.",
    body: { schema: maintenanceRequestSchema, limitBytes: BODY_LIMIT_BYTES },
    success: {
      status: 200,
      description: "The recommendation with its exercises.",
      schema: maintenanceResponseSchema,
    },
    errors: ["NOT_FOUND", "INSUFFICIENT_DATA"],
    examples: [{ summary: "A reviewer", body: { operator_id: "reviewer-17" } }],
    handler: postMaintenance,
  },
];
