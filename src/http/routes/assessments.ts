/** Runs of the public demo: no key, limited by address alone. */
import * as z from "zod";
import { assessmentIdSchema, assessmentSchema, assessmentSubmittedSchema } from "../../domain/assessment.ts";
import { INTERACTION_EXAMPLE, interactionSchema, sentInteraction } from "../../domain/interaction.ts";
import { ASSESSMENT_RECORDS_MAX, BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import { readAssessment, submitAssessment } from "../../operations/scoring/assessments.ts";
import { ASSESSMENT_PAGE_CSP, assessmentPage } from "../../pages/assessment.ts";
import type { Route, Services } from "../exchange.ts";
import { parseEach, parseWith } from "../parse.ts";
import { OPEN } from "./shared.ts";

const sentRecordSchema = sentInteraction(interactionSchema);

const assessmentRequestSchema = z.object({
  sessionId: assessmentIdSchema,
  records: z.array(sentRecordSchema).min(1).max(ASSESSMENT_RECORDS_MAX).meta({
    description: "Scored in this order, starting from the state of a new operator.",
  }),
}).meta({ id: "AssessmentRequest" });

/** The request before its records are parsed, so that no more than the allowed number of them is parsed. */
const assessmentFrameSchema = assessmentRequestSchema.extend({
  records: z.array(z.unknown()).min(1).max(ASSESSMENT_RECORDS_MAX),
});

const postAssessment: Route = {
  ...OPEN,
  method: "POST",
  path: "/assessments",
  operationId: "postAssessment",
  summary: "Submit a run of the public demo",
  description:
    "Scores 1 to 100 interactions of a visitor as those of one new reviewer, in the domain `general`. Only the first submission under a `sessionId` is scored. If the same submission is repeated, it gets the stored answer, with `Idempotency-Replayed: true`; a different submission gets 409. The run belongs to no organization, does not count as usage, and is deleted after a number of days that the deployment sets.",
  layer1: true,
  body: { schema: assessmentRequestSchema, limitBytes: BODY_LIMIT_BYTES },
  success: {
    status: 200,
    description: "The run was stored; `shareUrl` shows it.",
    schema: assessmentSubmittedSchema,
  },
  errors: ["CONFLICT", "SERVICE_UNAVAILABLE"],
  examples: [{
    summary: "Two cases",
    body: {
      sessionId: "demo-2026-000001",
      records: [
        INTERACTION_EXAMPLE,
        { time_to_decision_ms: 900, decision: "accepted", outcome_correct: false },
      ],
    },
  }],
  async handler({ dependencies, description }, { exchange, json }) {
    const frame = parseWith(assessmentFrameSchema, json);
    const records = parseEach(frame.records, { path: "records", schemaOf: () => sentRecordSchema });
    const { sessionId } = frame;
    const submission = await submitAssessment(dependencies, {
      request: { sessionId, records },
      call: exchange.call,
    });
    return {
      status: 200,
      body: { ok: true, sessionId, shareUrl: shareUrl(description, sessionId) },
      ...submission,
    };
  },
};

const assessmentPathSchema = z.object({ sessionId: assessmentIdSchema });

const getAssessment: Route = {
  ...OPEN,
  method: "GET",
  path: "/assessments/{sessionId}",
  operationId: "getAssessment",
  summary: "A run of the public demo",
  description:
    "Returns the scored records, the score after each record with the causes of its change, and the summary after the last record. With `Accept: text/html`, which browsers send, the answer is a page with the same figures; errors are then pages too.",
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
  async handler({ dependencies, description }, { exchange, path }) {
    const { sessionId } = parseWith(assessmentPathSchema, path);
    const run = await readAssessment(dependencies, { sessionId, now: exchange.call.now });
    const address = shareUrl(description, sessionId);
    const { min_jis, target_jis } = dependencies.model.document.thresholds;
    if (!exchange.prefersPage) {
      return {
        status: 200,
        body: { ok: true, ...run, thresholds: { min_jis, target_jis }, shareUrl: address },
      };
    }
    const text = assessmentPage({
      ...run,
      createdAt: run.created_at,
      initialJis: run.initial_jis,
      shareUrl: address,
      thresholds: { minJis: min_jis, targetJis: target_jis },
      retentionDays: dependencies.assessmentRetentionDays,
    });
    return { status: 200, text, contentType: "text/html; charset=utf-8", policy: ASSESSMENT_PAGE_CSP };
  },
};

function shareUrl({ baseUrl }: Services["description"], sessionId: string): string {
  return `${baseUrl()}/assessments/${sessionId}`;
}

export const ASSESSMENT_ROUTES: readonly Route[] = [postAssessment, getAssessment];
