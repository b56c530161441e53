/**
 * Deliveries of webhooks: what is sent when, how, how often, and what becomes of destinations that fail.
 * Source: specification, Events; contract, sections 5, 8.14 and 8.15.
 */
import assert from "node:assert/strict";
import { query } from "../../src/store/database.ts";
import type { AttemptError } from "../../src/domain/webhook.ts";
import type { AttemptResult } from "../../src/webhooks/health.ts";
import type { Attempt, Deliverer } from "../../src/webhooks/delivery.ts";
import { type Harness, type HarnessOptions, scoreRequest, withHarness } from "../harness.ts";
import { storedEvents } from "../scenario.ts";

const REGISTER = "/v1/admin/webhook/register";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Takes everything down that would be sent, and answers as it is told. */
function recordingDeliverer(): Deliverer & {
  readonly sent: { readonly url: string; readonly deliveryId: string; readonly text: string }[];
  answer: (attempt: Attempt) => Partial<AttemptResult>;
} {
  const recording = {
    sent: [] as { url: string; deliveryId: string; text: string }[],
    answer: (_attempt: Attempt): Partial<AttemptResult> => ({ status: 204, error: null }),
    deliver(attempt: Attempt) {
      recording.sent.push({ url: attempt.url.href, deliveryId: attempt.deliveryId, text: attempt.body });
      return Promise.resolve({ status: null, error: null, durationMs: 7.4, ...recording.answer(attempt) });
    },
    close() {},
  };
  return recording;
}

type Recording = ReturnType<typeof recordingDeliverer>;

/** A test with an organization, its key and a recording in the place of the network. */
function withDeliveries(
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

const FAILED: Partial<AttemptResult> = { status: 500, error: "status" };

async function register(
  { send }: Harness,
  key: string,
  body: Record<string, unknown> = {},
): Promise<{ readonly id: string; readonly signing_secret: string }> {
  const request = { url: "https://review.acme.example/jiss", secret: "a-secret-of-the-receiver", ...body };
  const answer = await send(REGISTER, { key, body: request });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

async function score({ send }: Harness, key: string, session: string, fields: Record<string, unknown> = {}) {
  const { query: parameters = "", ...rest } = fields;
  const body = scoreRequest({ session_id: session, ...rest });
  const answer = await send(`/v1/score${parameters}`, { key, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** Enough interactions that scores are no longer provisional. */
async function settledOperator(harness: Harness, key: string, operator = "operator-1"): Promise<void> {
  const items = Array.from({ length: 60 }, (_, index) => {
    const { interaction } = scoreRequest();
    return { ...interaction, session_id: `${operator}-past-${index}` };
  });
  const body = { operator_id: operator, domain: "general", interactions: items };
  const answer = await harness.send("/v1/score/batch", { key, body });
  assert.equal(answer.status, 200, answer.text);
}

async function deliveriesOf({ send }: Harness, key: string, id: string, search = "") {
  const answer = await send(`/v1/admin/webhook/${id}/deliveries${search}`, { key });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

Deno.test(
  "each committed score is told once, alone, of a batch, or at its commit, with the whole response; provisional, frozen and repeated ones are not",
  withDeliveries(async (harness, { key, recording }) => {
    await settledOperator(harness, key);
    await register(harness, key);
    await harness.deliver();
    assert.equal(recording.sent.length, 0, "what was scored before it was registered");

    const alone = await score(harness, key, "alone");
    assert.equal(alone.committed, true);
    await score(harness, key, "alone");
    await score(harness, key, "frozen", { query: "?mode_override=incident_frozen" });
    const provisional = await score(harness, key, "provisional", { operator_id: "operator-new" });
    assert.equal(provisional.provisional, true);
    assert.equal(await harness.deliver(), 1);
    const [first] = recording.sent;
    const body = JSON.parse(first!.text);
    assert.match(first!.deliveryId, UUID);
    assert.deepEqual(body, { event: "score.committed", delivery_id: first!.deliveryId, ...alone });

    const commit = await harness.send("/v1/score/provisional/commit", { key, method: "POST" });
    assert.equal(commit.status, 200, commit.text);
    await harness.send("/v1/score/provisional/commit", { key, method: "POST" });
    assert.equal(await harness.deliver(), 1);
    assert.deepEqual(JSON.parse(recording.sent[1]!.text), {
      event: "score.committed",
      delivery_id: recording.sent[1]!.deliveryId,
      ...commit.body,
    });

    const { interaction } = scoreRequest();
    const batch = await harness.send("/v1/score/batch", {
      key,
      body: {
        operator_id: "operator-1",
        domain: "general",
        interactions: ["one", "two", "three"].map((session_id) => ({ ...interaction, session_id })),
      },
    });
    assert.equal(batch.status, 200, batch.text);
    assert.equal(await harness.deliver(), 3);
    const items = recording.sent.slice(2).map(({ text }) => JSON.parse(text));
    assert.deepEqual(items.map(({ session_id }) => session_id), ["one", "two", "three"]);
    for (const [index, item] of items.entries()) {
      assert.equal(item.jis, batch.body.results[index].jis);
      assert.equal(item.request_id, batch.body.request_id);
      assert.equal(item.evidence.v, alone.evidence.v);
      const replayed = await harness.send("/v1/decision/replay/" + item.session_id, { key });
      assert.equal(replayed.body.match, true);
      assert.equal(item.evidence.entry_hash, replayed.body.evidence.entry_hash);
      assert.deepEqual(Object.keys(item.dimensions), Object.keys(alone.dimensions));
    }
    assert.equal(await harness.deliver(), 0);
  }),
);
