/** Handlers for the public demo: submit a visitor's run, and read it. */
import { assessmentFrameSchema, assessmentPathSchema } from "../../domain/assessment.ts";
import { interactionSchema } from "../../domain/interaction.ts";
import { readAssessment, submitAssessment } from "../../operations/scoring/assessments.ts";
import { ASSESSMENT_PAGE_CSP, assessmentPage } from "../../pages/assessment.ts";
import type { HandlerInput, Reply, Services } from "../exchange.ts";
import { parseEach, parseWith } from "../parse.ts";

export async function postAssessment(
  { dependencies, description }: Services,
  { exchange, json }: HandlerInput,
): Promise<Reply> {
  const frame = parseWith(assessmentFrameSchema, json);
  const records = parseEach(frame.records, { path: "records", schemaOf: () => interactionSchema });
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
}

export async function getAssessment(
  { dependencies, description }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { sessionId } = parseWith(assessmentPathSchema, context.req.param());
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
    shareUrl: address,
    thresholds: { minJis: min_jis, targetJis: target_jis },
    retentionDays: dependencies.assessmentRetentionDays,
  });
  return { status: 200, text, contentType: "text/html; charset=utf-8", policy: ASSESSMENT_PAGE_CSP };
}

function shareUrl({ baseUrl }: Services["description"], sessionId: string): string {
  return `${baseUrl()}/assessments/${sessionId}`;
}
