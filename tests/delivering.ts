/** Shared by tests of deliveries with the harness. */
import assert from "node:assert/strict";
import type { Attempt, Deliverer } from "../src/webhooks/delivery.ts";
import type { AttemptResult } from "../src/webhooks/health.ts";
import { type Harness, type HarnessOptions, scoreRequest, withHarness } from "./harness.ts";

/** Records everything that would be sent, and answers as set. */
export interface Recording extends Deliverer {
  deliver: Deliverer["deliver"];
  readonly sent: { readonly url: string; readonly deliveryId: string; readonly text: string }[];
  /** The fields that differ from an accepted delivery. */
  answer: (attempt: Attempt) => Partial<AttemptResult>;
}

export function recordingDeliverer(): Recording {
  const recording: Recording = {
    sent: [],
    answer: () => ({ status: 204 }),
    deliver(attempt) {
      recording.sent.push({ url: attempt.url.href, deliveryId: attempt.deliveryId, text: attempt.body });
      return Promise.resolve({ status: null, error: null, durationMs: 7.4, ...recording.answer(attempt) });
    },
    close() {},
  };
  return recording;
}

export const FAILED: Partial<AttemptResult> = { status: 500, error: "status" };

/** A test with an organization, its key and a recording in place of the network. */
export function withDeliveries(
  test: (harness: Harness, world: { readonly key: string; readonly recording: Recording }) => Promise<void>,
  options: HarnessOptions = {},
): () => Promise<void> {
  return async () => {
    const recording = recordingDeliverer();
    await withHarness(
      async (harness) => test(harness, { key: await harness.organization("acme"), recording }),
      { ...options, deliverer: recording },
    )();
  };
}

export async function register(
  { send }: Pick<Harness, "send">,
  key: string,
  body: Record<string, unknown> = {},
): Promise<{ readonly id: string; readonly signing_secret: string }> {
  const request = { url: "https://review.acme.example/jiss", secret: "a-secret-of-the-receiver", ...body };
  const answer = await send("/v1/admin/webhook/register", { key, body: request });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

export async function score(
  { send }: Pick<Harness, "send">,
  key: string,
  session: string,
  { query: parameters = "", ...fields }: Record<string, unknown> = {},
) {
  const body = scoreRequest({ session_id: session, ...fields });
  const answer = await send(`/v1/score${parameters}`, { key, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** Interactions after which an operator's scores are no longer provisional. */
const PAST = 60;
/** In every sixth of them the advice is wrong: without known cases of wrong advice no score becomes final. */
const PER_WRONG_ADVICE = 6;

/**
 * The decision at `index` of work whose scores stay final: in every sixth interaction the advice is rejected,
 * and rightly so. With only accepted advice the error rate would soon be so low that the score falls below the
 * threshold, and scores would no longer be committed at once.
 */
export function decisionAt(index: number): "accepted" | "rejected" {
  return index % PER_WRONG_ADVICE === 0 ? "rejected" : "accepted";
}

export function pastOf(operator: string) {
  const { interaction } = scoreRequest();
  return {
    operator_id: operator,
    domain: "general",
    interactions: Array.from(
      { length: PAST },
      (_, index) => ({
        ...interaction,
        session_id: `${operator}-past-${index}`,
        decision: decisionAt(index),
      }),
    ),
  };
}

/** Brings an operator past the minimum of data, so that scores are committed at once. */
export async function settledOperator(
  { send }: Pick<Harness, "send">,
  key: string,
  operator = "operator-1",
): Promise<void> {
  const answer = await send("/v1/score/batch", { key, body: pastOf(operator) });
  assert.equal(answer.status, 200, answer.text);
}

export async function deliveriesOf({ send }: Pick<Harness, "send">, key: string, id: string, search = "") {
  const answer = await send(`/v1/admin/webhook/${id}/deliveries${search}`, { key });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}
