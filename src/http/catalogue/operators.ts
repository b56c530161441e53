/**
 * Operators and their organization: profile, sparkline, subject access, erasure, list, decisions, dashboard,
 * shadow, maintenance.
 */
import { BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import {
  dashboardResponseSchema,
  erasureResponseSchema,
  maintenanceRequestSchema,
  maintenanceResponseSchema,
  operatorPathSchema,
  operatorsParametersSchema,
  operatorsResponseSchema,
  profileParametersSchema,
  profileResponseSchema,
  sparklineParametersSchema,
  sparklineResponseSchema,
} from "../../domain/operator.ts";
import { decisionsParametersSchema, decisionsResponseSchema } from "../../domain/record_list.ts";
import { shadowResponseSchema } from "../../domain/shadow.ts";
import { subjectParametersSchema, subjectResponseSchema } from "../../domain/subject.ts";
import { evidenceSchema } from "../../evidence/envelope.ts";
import type { Route } from "../exchange.ts";
import {
  DECISIONS_PARAMETERS,
  deleteOperator,
  getDashboard,
  getDecisions,
  getOperators,
  getProfile,
  getShadow,
  getSparkline,
  getSubjectAccess,
  OPERATORS_PARAMETERS,
  postMaintenance,
  PROFILE_PARAMETERS,
  SPARKLINE_PARAMETERS,
  SUBJECT_PARAMETERS,
} from "../handlers/operators.ts";
import { KEYED_DELETE, KEYED_POST, KEYED_READ } from "./defaults.ts";

export const OPERATOR_ROUTES: readonly Route[] = [
  {
    ...KEYED_READ,
    path: "/v1/operator/{operator_id}/profile",
    operationId: "getProfile",
    summary: "An operator's profile",
    description:
      "The operator's score with its interval, the seven dimensions, and the newest 100 points of the history. With include=projection also what follows from them, as in the answer to a score: the decay projection and the compliance block.",
    pathParameters: operatorPathSchema,
    parameters: { schema: profileParametersSchema, sources: PROFILE_PARAMETERS },
    success: { status: 200, description: "The profile.", schema: profileResponseSchema },
    errors: ["NOT_FOUND"],
    examples: [
      { summary: "A reviewer", path: { operator_id: "reviewer-ada" } },
      {
        summary: "With the projection",
        path: { operator_id: "reviewer-ada" },
        query: { include: "projection" },
      },
    ],
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
      { summary: "The last 90 days", path: { operator_id: "reviewer-ada" }, query: { days: "90" } },
      { summary: "As a picture", path: { operator_id: "reviewer-ada" }, query: { format: "svg" } },
    ],
    handler: getSparkline,
  },
  {
    ...KEYED_READ,
    path: "/v1/operator/{operator_id}/export",
    operationId: "getSubjectAccess",
    summary: "Everything about a reviewer, for the reviewer",
    description:
      "Subject access: all that is stored about one reviewer, each score with what moved it, and what the law has the reviewer told: what for, how, how long, to whom, and how to contest. Also for one who was never scored, of whom there are frozen calls or decisions alone. It is sent as it is made; a body that ends early is no copy. Not in it are keyed digests, by which a repeated request is known and from which nothing can be read. That a copy was asked for is an entry of the audit log, which names the pseudonym.",
    pathParameters: operatorPathSchema,
    parameters: { schema: subjectParametersSchema, sources: SUBJECT_PARAMETERS },
    success: {
      status: 200,
      description: "The copy, or with format=html a page in plain words.",
      schema: subjectResponseSchema,
      otherTypes: ["text/html; charset=utf-8"],
    },
    errors: ["NOT_FOUND"],
    examples: [
      { summary: "As data", path: { operator_id: "reviewer-ada" } },
      { summary: "As a page", path: { operator_id: "reviewer-ada" }, query: { format: "html" } },
    ],
    handler: getSubjectAccess,
  },
  {
    ...KEYED_DELETE,
    path: "/v1/operator/{operator_id}",
    operationId: "deleteOperator",
    summary: "Erase a reviewer",
    description:
      "Everything personal goes: what was sent and what came of it, the profile, and the tie between the operator_id and the entries. The entries stay, and the chain verifies. Session and decision ids stay used: 410. Usage figures and issued reports stay. The same operator_id may come back, as somebody new. It cannot be undone.",
    pathParameters: operatorPathSchema,
    success: {
      status: 200,
      description: "What the SUBJECT_ERASED entry says, and its evidence.",
      schema: erasureResponseSchema(evidenceSchema),
    },
    errors: ["NOT_FOUND"],
    examples: [{ summary: "Another reviewer", path: { operator_id: "reviewer-bruno" } }],
    handler: deleteOperator,
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
    path: "/v1/organization/decisions",
    operationId: "getDecisions",
    summary: "What was scored",
    description:
      "A page of the organization's scores and decisions, newest first, of all operators or of one: `GET /v1/decision/replay/{id}` has each in full.",
    parameters: { schema: decisionsParametersSchema, sources: DECISIONS_PARAMETERS },
    success: { status: 200, description: "A page of scores and decisions.", schema: decisionsResponseSchema },
    examples: [
      { summary: "The newest" },
      {
        summary: "The last five scores of a reviewer",
        query: { operator_id: "reviewer-ada", kind: "score", limit: "5" },
      },
    ],
    handler: getDecisions,
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
    ...KEYED_READ,
    path: "/v1/organization/shadow",
    operationId: "getShadow",
    summary: "What a candidate model would change",
    description:
      "Where the administrator lets a candidate model run in shadow: what it would have answered to the organization's interactions since the start of this process, beside what the model in use has answered. It changes no score, and is no evidence.",
    success: { status: 200, description: "The comparison, or null.", schema: shadowResponseSchema },
    examples: [{ summary: "Ask" }],
    handler: getShadow,
  },
  {
    ...KEYED_POST,
    // It changes nothing.
    honoursIdempotencyKey: false,
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
    examples: [{ summary: "A reviewer", body: { operator_id: "reviewer-ada" } }],
    handler: postMaintenance,
  },
];
