/**
 * Bounds of the outbox, and who may deliver: the queue's age and length, deletions, claims of several
 * processes, and secrets that only another process can open.
 * Source: contract, section 5.
 */
import assert from "node:assert/strict";
import {
  dropOldEvents,
  forgetOldDeliveries,
  skipUnsubscribedEvents,
} from "../../src/operations/webhooks/delivery_bounds.ts";
import { dispatchedDeliveries } from "../../src/operations/webhooks/deliveries.ts";
import { query, type Statement } from "../../src/store/database.ts";
import {
  deliveriesOf,
  FAILED,
  recordingDeliverer,
  register,
  score,
  settledOperator,
  withDeliveries,
} from "../delivering.ts";
import { type Harness, openHarness } from "../harness.ts";
import { storedEvents } from "../scenario.ts";

const DAY_MS = 86_400_000;

function statement(sql: string, ...parameters: readonly unknown[]): Statement {
  return { sql, parameters };
}

/** Adds `count` copies of the newest event. */
async function multiply({ database }: Harness, count: number): Promise<void> {
  await database.batch([statement(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO webhook_event (org_id, operator_id, event, position, request_id, at)
     SELECT org_id, operator_id, event, position, request_id, at
     FROM n, (SELECT * FROM webhook_event ORDER BY sequence DESC LIMIT 1)`,
    count,
  )]);
}

async function dropped(harness: Harness) {
  const events = await storedEvents(harness, "org/acme/admin");
  return events.filter(({ type }) => type === "WEBHOOK_EVENTS_DROPPED").map((
    { actor, detail },
  ) => [actor, detail]);
}

Deno.test(
  "100,000 events wait for a destination; with one more the oldest is dead, listed, recorded and counted",
  withDeliveries(async (harness, { key, recording }) => {
    const { dependencies, clock } = harness;
    await settledOperator(harness, key);
    const { id } = await register(harness, key);
    await score(harness, key, "oldest");
    clock.advance(1);
    await score(harness, key, "next");
    await multiply(harness, 99_998);
    await dropOldEvents(dependencies, clock.now());
    assert.deepEqual(await dropped(harness), []);
    await multiply(harness, 1);
    await dropOldEvents(dependencies, clock.now());
    assert.deepEqual(await dropped(harness), [["system", { id, count: 1, reason: "count" }]]);
    assert.equal(dependencies.deliveries.counts.dropped, 1);
    const { webhook, deliveries } = await deliveriesOf(harness, key, id);
    assert.equal(webhook.waiting, 100_000);
    assert.deepEqual(deliveries.map(({ status, attempts }: Record<string, unknown>) => [status, attempts]), [[
      "dead",
      [],
    ]]);
    await dropOldEvents(dependencies, clock.now());
    assert.equal((await dropped(harness)).length, 1);

    // A dropped event can be sent again.
    const path = `/v1/admin/webhook/${id}/deliveries/${deliveries[0].delivery_id}/redeliver`;
    assert.equal((await harness.send(path, { key, method: "POST" })).status, 200);
    assert.equal(await harness.deliver({ count: 1 }), 1);
    assert.equal(JSON.parse(recording.sent[0]!.text).session_id, "oldest");
  }),
);

Deno.test(
  "an event waits 7 days for its destination, tried or not, and is then dead; a younger one keeps waiting",
  withDeliveries(async (harness, { key, recording }) => {
    const { dependencies, clock } = harness;
    await settledOperator(harness, key);
    const { id } = await register(harness, key);
    await score(harness, key, "tried");
    recording.answer = () => FAILED;
    await harness.deliver();
    await score(harness, key, "waiting");
    const at = clock.now();
    clock.advance(DAY_MS);
    await score(harness, key, "younger");
    clock.advance(6 * DAY_MS);
    await dropOldEvents(dependencies, at + 7 * DAY_MS);
    assert.deepEqual(await dropped(harness), []);
    clock.advance(1);
    await dropOldEvents(dependencies, clock.now());
    assert.deepEqual(await dropped(harness), [["system", { id, count: 2, reason: "age" }]]);
    const { webhook, deliveries } = await deliveriesOf(harness, key, id);
    assert.equal(webhook.waiting, 1);
    assert.deepEqual(deliveries.map(({ status }: { status: string }) => status), ["dead", "dead"]);
    recording.answer = () => ({ status: 200 });
    const before = recording.sent.length;
    await harness.deliver();
    assert.deepEqual(recording.sent.slice(before).map(({ text }) => JSON.parse(text).session_id), [
      "younger",
    ]);
  }),
);

Deno.test(
  "delivered events are deleted after 7 days or beyond the newest 1,000, others after 30 days, and events for which no destination waits",
  withDeliveries(async (harness, { key, recording }) => {
    const { dependencies, clock, database } = harness;
    await settledOperator(harness, key);
    const { id } = await register(harness, key);
    const rows = async () => {
      const { webhook_event: events, webhook_delivery: deliveries } = await harness.rowCounts();
      return [events, deliveries];
    };
    recording.answer = (
      { body },
    ) => (JSON.parse(body).session_id === "dead" ? { status: 410, error: "status" } : {});
    await score(harness, key, "told");
    await multiply(harness, 1_499);
    while (await harness.deliver({ count: 500 }) > 0);
    assert.deepEqual(await rows(), [1_500, 1_500]);
    await forgetOldDeliveries(dependencies, clock.now());
    assert.deepEqual(await rows(), [1_000, 1_000]);
    clock.advance(7 * DAY_MS);
    await forgetOldDeliveries(dependencies, clock.now());
    assert.deepEqual(await rows(), [1_000, 1_000]);
    clock.advance(1);
    await score(harness, key, "dead");
    await harness.deliver();
    const goneAt = clock.now();
    await forgetOldDeliveries(dependencies, goneAt);
    assert.deepEqual(await rows(), [1, 1]);
    await forgetOldDeliveries(dependencies, goneAt + 30 * DAY_MS);
    assert.deepEqual(await rows(), [1, 1]);
    await forgetOldDeliveries(dependencies, goneAt + 30 * DAY_MS + 1);
    assert.deepEqual(await rows(), [0, 0]);
    // A sequence number is never used again: a cursor would skip its event.
    const [{ sequence }] = await database.read<{ sequence: number }>({
      sql: "SELECT seq AS sequence FROM sqlite_sequence WHERE name = 'webhook_event'",
      parameters: [],
      query: {} as never,
      queryId: {} as never,
    }) as [{ sequence: number }];
    const late = await register(harness, key);
    await score(harness, key, "after");
    const [event] = await database.read(query.selectFrom("webhook_event").selectAll().compile());
    assert.ok(event!.sequence > sequence);
    recording.answer = () => ({});
    const before = recording.sent.length;
    await harness.deliver();
    assert.equal(recording.sent.length, before + 1);
    assert.equal((await deliveriesOf(harness, key, late.id)).count, 1);
    assert.equal((await deliveriesOf(harness, key, id)).webhook.active, false);
  }),
);

Deno.test(
  "the cursor of a destination skips events that it does not subscribe to, and no others",
  withDeliveries(async (harness, { key, recording }) => {
    const { dependencies, database } = harness;
    await settledOperator(harness, key);
    await register(harness, key);
    const { id } = await register(harness, key, { events: ["drs.escalation"] });
    const cursor = async () => {
      const rows = await database.read(
        query.selectFrom("webhook").select("cursor").where("webhook_id", "=", id).compile(),
      );
      return rows[0]!.cursor;
    };
    await score(harness, key, "one");
    await score(harness, key, "two");
    await skipUnsubscribedEvents(dependencies);
    assert.equal(await cursor(), 2);
    const escalated = await harness.send("/v1/decision/score", {
      key,
      body: {
        decision_id: "reflexive",
        operator_id: "operator-1",
        domain: "general",
        scenario_type: "critical",
        time_to_decision_ms: 1_999,
        decision: "accepted",
      },
    });
    assert.equal(escalated.body.routing_decision, "escalation");
    await score(harness, key, "three");
    await skipUnsubscribedEvents(dependencies);
    assert.equal(await cursor(), 2);
    await harness.deliver();
    assert.equal(recording.sent.length, 5);
    await skipUnsubscribedEvents(dependencies);
    assert.equal(await cursor(), 4);
  }),
);

// ---- several processes ------------------------------------------------------------------------------------

/** Two services over one database, each with a recording of its own. */
async function withTwo(
  test: (
    services: readonly {
      readonly harness: Harness;
      readonly recording: ReturnType<typeof recordingDeliverer>;
    }[],
    key: string,
  ) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-test-" });
  const open = async (run: number) => {
    const recording = recordingDeliverer();
    const files = { path: `${directory}/jiss.db`, lockPath: `${directory}/lock.db` };
    return { harness: await openHarness({ ...files, run, deliverer: recording }), recording };
  };
  const first = await open(0);
  const key = await first.harness.organization("acme");
  const second = await open(1);
  try {
    await test([first, second], key);
  } finally {
    await second.harness.close();
    await first.harness.close();
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("processes never send the same event at once, and a claim that ran out can be claimed by another", () =>
  withTwo(async ([first, second], key) => {
    const { harness } = first!;
    await settledOperator(harness, key);
    const { id } = await register(harness, key);
    for (let n = 0; n < 40; n += 1) await score(harness, key, `session-${n}`);
    while ((await deliveriesOf(harness, key, id)).webhook.waiting > 0) {
      // Both see the same events, and one of them gets each. Then each runs by itself.
      await Promise.all([first!, second!].map(({ harness }) => harness.deliver({ count: 3 })));
      await second!.harness.deliver({ count: 1 });
      await first!.harness.deliver({ count: 1 });
    }
    const sent = [...first!.recording.sent, ...second!.recording.sent];
    assert.equal(sent.length, 40);
    assert.equal(new Set(sent.map(({ text }) => JSON.parse(text).session_id)).size, 40);
    assert.ok(first!.recording.sent.length > 0 && second!.recording.sent.length > 0);

    // One process claims an event and ends before it has sent it.
    await score(harness, key, "claimed");
    const lost = dispatchedDeliveries(harness.dependencies);
    const now = harness.clock.now();
    const [destination] = await lost.ready(now);
    const { claims } = await lost.claim([{ destination: destination!, count: 5 }], now);
    assert.equal(claims.length, 1);
    assert.equal(await second!.harness.deliver(), 0);
    second!.harness.clock.advance(24_999);
    assert.equal(await second!.harness.deliver(), 0);
    second!.harness.clock.advance(1);
    assert.equal(await second!.harness.deliver(), 1);
    assert.equal(second!.recording.sent.at(-1)!.deliveryId, claims[0]!.deliveryId);
    // The outcome of an expired claim changes nothing, except if the delivery was accepted.
    const attempt = await lost.attempt(claims[0]!, new AbortController().signal);
    assert.equal(attempt.kind, "released");
    await lost.settle([attempt], now);
    const { deliveries } = await deliveriesOf(harness, key, id, "?status=delivered");
    assert.ok(
      deliveries.some(({ delivery_id }: Record<string, unknown>) => delivery_id === claims[0]!.deliveryId),
    );
  }));

Deno.test("a delivery is left to the process that can open its secret", () =>
  withTwo(async ([first, second], key) => {
    await settledOperator(first!.harness, key);
    await register(first!.harness, key);
    await score(first!.harness, key, "told");
    const keys = second!.harness.dependencies.secretsKeys as Uint8Array[];
    keys[0] = new Uint8Array(32).fill(9);
    assert.equal(await second!.harness.deliver(), 0);
    assert.equal(await first!.harness.deliver(), 1);
    assert.equal(second!.recording.sent.length, 0);
  }));

Deno.test("several processes together drop no more of a queue than exceeds its bound", () =>
  withTwo(async ([first, second], key) => {
    const { harness } = first!;
    await settledOperator(harness, key);
    const { id } = await register(harness, key);
    await score(harness, key, "first");
    await multiply(harness, 111_000);
    for (let round = 0; round < 4; round += 1) {
      await Promise.all(
        [first!, second!].map(({ harness }) => dropOldEvents(harness.dependencies, harness.clock.now())),
      );
    }
    const { webhook } = await deliveriesOf(harness, key, id);
    assert.equal(webhook.waiting, 100_000);
    const droppedCounts = (await dropped(harness)).map(([, detail]) => (detail as { count: number }).count);
    assert.equal(droppedCounts.reduce((sum, count) => sum + count, 0), 11_001);
  }));

Deno.test(
  "an old event behind a younger one waits for its turn, and the younger one is not skipped",
  withDeliveries(async (harness, { key, recording }) => {
    const { clock, dependencies, database } = harness;
    await settledOperator(harness, key);
    const { id } = await register(harness, key);
    for (const session of ["old", "young", "misdated"]) await score(harness, key, session);
    // A wrong clock leaves this behind.
    const at = clock.now();
    await database.batch([
      statement("UPDATE webhook_event SET at = ? WHERE sequence IN (1, 3)", at - 8 * DAY_MS),
    ]);
    await dropOldEvents(dependencies, at);
    assert.deepEqual(await dropped(harness), [["system", { id, count: 1, reason: "age" }]]);
    await harness.deliver();
    assert.deepEqual(recording.sent.map(({ text }) => JSON.parse(text).session_id), ["young", "misdated"]);
  }),
);

Deno.test("events that several processes would drop are dropped and recorded once", () =>
  withTwo(async ([first, second], key) => {
    const { harness } = first!;
    await settledOperator(harness, key);
    const { id } = await register(harness, key);
    first!.recording.answer = () => FAILED;
    await score(harness, key, "tried");
    await harness.deliver();
    for (let n = 0; n < 3; n += 1) await score(harness, key, `waiting-${n}`);
    const now = harness.clock.now() + 8 * DAY_MS;
    await Promise.all([first!, second!].map(({ harness }) => dropOldEvents(harness.dependencies, now)));
    assert.deepEqual(await dropped(harness), [["system", { id, count: 4, reason: "age" }]]);
    assert.equal((await deliveriesOf(harness, key, id, "?status=dead")).count, 4);
    const counts = [first!, second!].map(({ harness }) => harness.dependencies.deliveries.counts.dropped);
    assert.deepEqual(counts.sort(), [0, 4]);
  }));
