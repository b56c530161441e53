/** The public demo: no key, limited by address alone. */
import {
  assessmentPathSchema,
  assessmentRequestSchema,
  assessmentSchema,
  assessmentSubmittedSchema,
} from "../../domain/assessment.ts";
import { BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import type { Route } from "../exchange.ts";
import { getAssessment, postAssessment } from "../handlers/assessments.ts";
import { OPEN } from "./defaults.ts";

export const ASSESSMENT_ROUTES: readonly Route[] = [
  {
    ...OPEN,
    method: "POST",
    path: "/assessments",
    operationId: "postAssessment",
    summary: "Submit a run of the public demo",
    description:
      "Scores 1 to 100 interactions of a visitor as those of one fresh reviewer, in the domain `general`. The first submission under a `sessionId` stands: the same again gets its answer, with `Idempotency-Replayed: true`; a different one is 409. It belongs to no organization, counts nowhere, and is deleted after some time.",
    layer1: true,
    body: { schema: assessmentRequestSchema, limitBytes: BODY_LIMIT_BYTES },
    success: {
      status: 200,
      description: "The run is kept, and can be looked at.",
      schema: assessmentSubmittedSchema,
    },
    errors: ["CONFLICT", "SERVICE_UNAVAILABLE"],
    examples: [{
      summary: "Two cases",
      body: {
        sessionId: "demo-2026-000001",
        records: [
          {
            time_to_decision_ms: 14200,
            decision: "modified",
            modification_extent: 0.4,
            outcome_correct: true,
            hover_events: 5,
            scroll_depth: 0.8,
            alternative_views_checked: 1,
          },
          { time_to_decision_ms: 900, decision: "accepted", outcome_correct: false },
        ],
      },
    }],
    handler: postAssessment,
  },
  {
    ...OPEN,
    method: "GET",
    path: "/assessments/{sessionId}",
    operationId: "getAssessment",
    summary: "A run of the public demo",
    description:
      "The records as they were scored, the score after each of them with what moved it, and the summary after the last. With `Accept: text/html`, as browsers send it, the same figures as a page; failures are pages then, too.",
    layer1: true,
    pathParameters: assessmentPathSchema,
    success: {
      status: 200,
      description: "The run.",
      schema: assessmentSchema,
      otherTypes: ["text/html; charset=utf-8"],
    },
    negotiated: true,
    errors: ["NOT_FOUND"],
    examples: [{ summary: "A visitor's run", path: { sessionId: "demo-2026-000001" } }],
    handler: getAssessment,
  },
];
