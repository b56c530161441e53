/**
 * Deliveries of webhooks: which events are sent, when, how and how often, and what happens to destinations
 * that fail.
 * Source: specification, Events; contract, sections 5, 8.14 and 8.15.
 */
import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/2020";
import { openApiDocument } from "../../src/http/openapi.ts";
import { dispatchedDeliveries } from "../../src/operations/webhooks/deliveries.ts";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import { query } from "../../src/store/database.ts";
import { readDestinations } from "../../src/store/outbox.ts";
import type { AttemptError } from "../../src/domain/webhook.ts";
import { deliveriesOf, FAILED, register, score, settledOperator, withDeliveries } from "../delivering.ts";
import { scoreRequest } from "../harness.ts";
import { storedEvents } from "../scenario.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

Deno.test(
  "each committed score is sent once with the whole response: single, of a batch, or at its commit; provisional, frozen and repeated ones are not",
  withDeliveries(async (harness, { key, recording }) => {
    await settledOperator(harness, key);
    await register(harness, key);
    await harness.deliver();
    assert.equal(recording.sent.length, 0, "scores from before the registration are not sent");

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
    const sent = new Set(items.map(({ session_id }) => session_id));
    assert.deepEqual(sent, new Set(["one", "two", "three"]));
    for (const item of items) {
      const index = ["one", "two", "three"].indexOf(item.session_id);
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

Deno.test(
  "a decision is sent if its final route is must_review or escalation; a repeated one is not sent again",
  withDeliveries(async (harness, { key, recording }) => {
    await settledOperator(harness, key);
    await register(harness, key);
    const decide = async (fields: Record<string, unknown>) => {
      const answer = await harness.send("/v1/decision/score", {
        key,
        body: {
          operator_id: "operator-1",
          domain: "general",
          time_to_decision_ms: 14_200,
          decision: "accepted",
          hover_events: 5,
          ...fields,
        },
      });
      assert.equal(answer.status, 200, answer.text);
      return answer.body;
    };
    const routine = await decide({ decision_id: "routine" });
    assert.ok(["auto", "review"].includes(routine.routing_decision), routine.routing_decision);
    const unproven = { operator_id: "operator-new", scenario_type: "critical", decision_id: "unproven" };
    const reviewed = await decide(unproven);
    await decide(unproven);
    const escalated = await decide({
      scenario_type: "critical",
      time_to_decision_ms: 1_999,
      decision_id: "reflexive",
    });
    assert.deepEqual([reviewed.routing_decision, escalated.routing_decision], ["must_review", "escalation"]);
    assert.equal(await harness.deliver(), 2);
    // Two events that are sent at once have no fixed order.
    const sent = recording.sent.map(({ deliveryId, text }) => ({ deliveryId, body: JSON.parse(text) }));
    for (
      const { event, answer } of [
        { event: "drs.must_review", answer: reviewed },
        { event: "drs.escalation", answer: escalated },
      ]
    ) {
      const found = sent.find(({ body }) => body.event === event)!;
      assert.deepEqual(found.body, { event, delivery_id: found.deliveryId, ...answer });
    }
  }),
);

Deno.test(
  "a destination gets the events that it subscribed to, of its own organization, after its registration, each under its own id",
  withDeliveries(async (harness, { key, recording }) => {
    const bank = await harness.organization("bank");
    for (const own of [key, bank]) await settledOperator(harness, own);
    const url = (name: string) => `https://review.acme.example/${name}`;
    await register(harness, key, { url: url("all") });
    await register(harness, key, { url: url("risk"), events: ["drs.must_review", "drs.escalation"] });
    await register(harness, bank, { url: url("bank") });
    await score(harness, key, "first");
    await register(harness, key, { url: url("late") });
    await score(harness, bank, "of-the-bank");
    await score(harness, key, "second");
    await harness.deliver();
    const sent = recording.sent.map(({ url, text }) =>
      `${url.split("/").at(-1)} ${JSON.parse(text).session_id}`
    );
    assert.deepEqual(sent.sort(), ["all first", "all second", "bank of-the-bank", "late second"]);
    assert.equal(new Set(recording.sent.map(({ deliveryId }) => deliveryId)).size, 4);
    assert.equal(await harness.deliver(), 0);
  }),
);

Deno.test(
  "an event without a destination that subscribed to it is not written; for ten destinations one row is written",
  withDeliveries(async (harness, { key }) => {
    await settledOperator(harness, key);
    const rows = async () => (await harness.rowCounts()).webhook_event;
    await score(harness, key, "untold");
    await register(harness, key, { events: ["drs.escalation"] });
    await score(harness, key, "untold-too");
    assert.equal(await rows(), 0);
    for (let n = 0; n < 9; n += 1) await register(harness, key);
    await score(harness, key, "told");
    assert.equal(await rows(), 1);
    assert.equal(await harness.deliver(), 9);
    const conflict = await harness.send("/v1/score", {
      key,
      body: scoreRequest({ session_id: "told" }, { hover_events: 9 }),
    });
    assert.equal(conflict.status, 409);
    assert.equal(await rows(), 1);
  }),
);

Deno.test(
  "every body matches the OpenAPI document's schema of its event",
  withDeliveries(async (harness, { key, recording }) => {
    await settledOperator(harness, key);
    const { id } = await register(harness, key);
    await register(harness, key, { url: "https://review.acme.example/cases", events: ["case.opened"] });
    await score(harness, key, "told");
    const opened = { operator_id: "operator-1", statement: "Three complaints about last week." };
    assert.equal((await harness.send("/v1/cases", { key, body: opened })).status, 201);
    for (const operator_id of ["operator-1", "operator-new"]) {
      const body = {
        decision_id: `decision-of-${operator_id}`,
        operator_id,
        domain: "general",
        scenario_type: "critical",
        time_to_decision_ms: operator_id === "operator-1" ? 1_999 : 14_200,
        decision: "accepted",
      };
      assert.equal((await harness.send("/v1/decision/score", { key, body })).status, 200);
    }
    await harness.deliver();
    await harness.send(`/v1/admin/webhook/${id}/test`, { key, method: "POST" });
    const document = openApiDocument("http://jiss.test") as { webhooks: Record<string, unknown> };
    const ajv = new Ajv2020({ strict: false, formats: { "date-time": true, date: true, uuid: UUID } });
    ajv.addSchema(document, "openapi");
    const events: { readonly event: string }[] = recording.sent.map(({ text }) => JSON.parse(text));
    assert.deepEqual(events.map(({ event }) => event).sort(), Object.keys(document.webhooks).sort());
    for (const body of events) {
      const pointer = `openapi#/webhooks/${body.event}/post/requestBody/content/application~1json/schema`;
      const validate = ajv.compile({ $ref: pointer });
      assert.ok(validate(body), `${body.event}: ${JSON.stringify(validate.errors)}`);
      assert.ok(!validate({ ...body, delivery_id: undefined }));
    }
  }),
);

// ---- attempts ---------------------------------------------------------------------------------------------

Deno.test(
  "a delivery is tried three times, 10 s and 60 s apart plus or minus a fifth, with one id and one body, and is then dead",
  withDeliveries(async (harness, { key, recording }) => {
    const { clock, send } = harness;
    await settledOperator(harness, key);
    const { id } = await register(harness, key);
    recording.answer = () => FAILED;
    await score(harness, key, "told");
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const before = clock.now();
      while (await harness.deliver() === 0) clock.advance(100);
      waits.push(clock.now() - before);
    }
    assert.equal(waits[0], 0);
    assert.ok(waits[1]! >= 8_000 && waits[1]! <= 12_200, `${waits[1]}`);
    assert.ok(waits[2]! >= 48_000 && waits[2]! <= 72_200, `${waits[2]}`);
    clock.advance(7 * 86_400_000);
    assert.equal(await harness.deliver(), 0);
    assert.equal(new Set(recording.sent.map(({ deliveryId, text }) => deliveryId + text)).size, 1);

    const { webhook, deliveries, count } = await deliveriesOf(harness, key, id);
    assert.deepEqual([webhook.active, webhook.paused_since, webhook.waiting, count], [true, null, 0, 1]);
    const [delivery] = deliveries;
    assert.deepEqual(
      [delivery.delivery_id, delivery.event, delivery.status, delivery.next_attempt_at],
      [recording.sent[0]!.deliveryId, "score.committed", "dead", null],
    );
    assert.deepEqual(
      delivery.attempts.map(({ at: _at, ...attempt }: Record<string, unknown>) => attempt),
      Array(3).fill({ response_status: 500, error: "status", duration_ms: 7, counted: true }),
    );
    const { webhooks: [listed] } = (await send("/v1/admin/webhook/list", { key })).body;
    assert.deepEqual(listed.last_delivery, {
      delivery_id: delivery.delivery_id,
      event: "score.committed",
      at: delivery.attempts[2].at,
      response_status: 500,
      error: "status",
    });
    const { last_failure, ...described } = webhook;
    assert.deepEqual(
      described,
      { ...listed, paused_since: null, waiting: 0 },
      "the destination is described",
    );
    const { at: givenUpAt, ...failure } = last_failure;
    const { at: _at, ...failed } = listed.last_delivery;
    assert.deepEqual(failure, failed);
    assert.ok(givenUpAt >= listed.last_delivery.at && givenUpAt.endsWith("Z"), givenUpAt);

    recording.answer = () => ({ status: 200, error: null });
    const path = `/v1/admin/webhook/${id}/deliveries/${delivery.delivery_id}/redeliver`;
    const again = await send(path, { key, method: "POST" });
    assert.deepEqual([again.status, again.body.redelivery_of, again.body.status], [
      200,
      delivery.delivery_id,
      "queued",
    ]);
    assert.equal(await harness.deliver(), 1);
    const [first, last] = [recording.sent[0]!, recording.sent.at(-1)!];
    assert.match(last.deliveryId, UUID);
    assert.notEqual(last.deliveryId, first.deliveryId);
    assert.equal(last.deliveryId, again.body.delivery_id);
    assert.deepEqual(
      { ...JSON.parse(last.text), delivery_id: null },
      { ...JSON.parse(first.text), delivery_id: null },
    );
    const log = await deliveriesOf(harness, key, id);
    assert.deepEqual(
      log.deliveries.map(({ status, redelivery_of }: Record<string, unknown>) => [status, redelivery_of]),
      [["delivered", delivery.delivery_id], ["dead", null]],
    );
    assert.equal((await deliveriesOf(harness, key, id, "?status=dead")).count, 1);
    assert.equal((await deliveriesOf(harness, key, id, "?limit=1")).deliveries[0].status, "delivered");
    const events = await storedEvents(harness, "org/acme/admin");
    assert.deepEqual(
      events.filter(({ type }) => type === "WEBHOOK_REDELIVERED").map(({ actor, detail }) => [actor, detail]),
      [
        ["self_serve", { id, delivery_id: last.deliveryId, redelivery_of: first.deliveryId }],
      ],
    );
  }),
);

Deno.test(
  "a receiver that answers 410 is disabled: nothing more is sent, queued deliveries are dead, and it stays disabled",
  withDeliveries(async (harness, { key, recording }) => {
    await settledOperator(harness, key);
    const { id } = await register(harness, key);
    recording.answer = () => ({ status: 410, error: "status" });
    for (const session of ["one", "two", "three"]) await score(harness, key, session);
    assert.equal(await harness.deliver({ count: 1 }), 1);
    await score(harness, key, "four");
    harness.clock.advance(3_600_000);
    assert.equal(await harness.deliver(), 0);
    const { webhook, deliveries } = await deliveriesOf(harness, key, id);
    assert.deepEqual([webhook.active, webhook.waiting], [false, 0]);
    assert.deepEqual(deliveries.map(({ status }: { status: string }) => status), ["dead"]);
    const { webhooks: [listed] } = (await harness.send("/v1/admin/webhook/list", { key })).body;
    assert.deepEqual([listed.active, listed.last_delivery.response_status], [false, 410]);
    for (const path of ["test", `deliveries/${deliveries[0].delivery_id}/redeliver`]) {
      const { status, text } = await harness.send(`/v1/admin/webhook/${id}/${path}`, { key, method: "POST" });
      assert.equal(status, 409, path);
      assert.match(text, /disabled because it answered 410/);
    }
    const events = await storedEvents(harness, "org/acme/admin");
    assert.deepEqual(
      events.filter(({ type }) => type === "WEBHOOK_DISABLED").map(({ actor, detail }) => [actor, detail]),
      [["system", { id, response_status: 410 }]],
    );
  }),
);

Deno.test(
  "deliveries that were claimed for a receiver that answers 410 are dead, also after they are released",
  withDeliveries(async (harness, { key, recording }) => {
    await settledOperator(harness, key);
    const { id } = await register(harness, key);
    recording.answer = () => ({ status: 410, error: "status" });
    for (const session of ["one", "two", "three"]) await score(harness, key, session);
    const dispatched = dispatchedDeliveries(harness.dependencies);
    const now = harness.clock.now();
    const [destination] = await dispatched.ready(now);
    const { claims: [first, ...others] } = await dispatched.claim(
      [{ destination: destination!, count: 3 }],
      now,
    );
    const { signal } = new AbortController();
    await dispatched.settle([await dispatched.attempt(first!, signal)], now);
    const late = await Promise.all(others.map((claim) => dispatched.attempt(claim, signal)));
    assert.deepEqual(late.map(({ kind }) => kind), ["released", "released"]);
    await dispatched.settle(late, now);
    const { deliveries } = await deliveriesOf(harness, key, id);
    assert.deepEqual(deliveries.map(({ status }: { status: string }) => status), ["dead", "dead", "dead"]);
    assert.equal(recording.sent.length, 1);
  }),
);

Deno.test(
  "the events of an inactive organization wait, and are sent once it is active again",
  withDeliveries(async (harness, { key, recording }) => {
    await settledOperator(harness, key);
    await register(harness, key);
    await score(harness, key, "told");
    const change = async (scope: "ORG_SUSPEND" | "ORG_REACTIVATE", action: string) => {
      const { status, text } = await harness.master(scope, `/v1/admin/org/acme/${action}`, {
        body: { confirm_org_id: "acme", idempotency_key: action },
        idempotencyKey: action,
      });
      assert.equal(status, 200, text);
    };
    await change("ORG_SUSPEND", "suspend");
    assert.equal(await harness.deliver(), 0);
    await change("ORG_REACTIVATE", "reactivate");
    assert.equal(await harness.deliver(), 1);
    assert.equal(recording.sent.length, 1);
  }, { adminDashboard: true }),
);

Deno.test(
  "a delivery pruned before it was sent is cancelled, and one pruned after it was sent cannot be sent again",
  withDeliveries(async (harness, { key, recording }) => {
    const { clock, dependencies } = harness;
    await settledOperator(harness, key);
    const { id } = await register(harness, key);
    await score(harness, key, "sent");
    await harness.deliver();
    await score(harness, key, "waiting");
    clock.advance(3 * 86_400_000);
    await score(harness, key, "recent");
    await pruneChains(dependencies, clock.now());
    await harness.deliver();
    assert.deepEqual(recording.sent.map(({ text }) => JSON.parse(text).session_id), ["sent", "recent"]);
    const { deliveries } = await deliveriesOf(harness, key, id);
    assert.deepEqual(
      deliveries.map(({ status }: { status: string }) => status).sort(),
      ["cancelled", "delivered", "delivered"],
    );
    const { delivery_id } = deliveries.at(-1);
    const path = `/v1/admin/webhook/${id}/deliveries/${delivery_id}/redeliver`;
    const { status, body } = await harness.send(path, { key, method: "POST" });
    assert.deepEqual([status, body.error.code], [410, "GONE"]);
  }, { evidenceRetentionDays: 1 }),
);

Deno.test(
  "after 20 failures in a row over 5 minutes a destination is paused: one uncounted probe a minute, and the first success sends the queue",
  withDeliveries(async (harness, { key, recording }) => {
    const { clock } = harness;
    await settledOperator(harness, key);
    const { id } = await register(harness, key);
    recording.answer = () => FAILED;
    const paused = async () => (await deliveriesOf(harness, key, id)).webhook.paused_since;
    // Twenty failures at once may be a bad moment; they pause nothing yet.
    for (let n = 0; n < 25; n += 1) await score(harness, key, `early-${n}`);
    assert.equal(await harness.deliver(), 25);
    assert.equal(await paused(), null);
    clock.advance(299_999);
    assert.equal(await harness.deliver({ count: 1 }), 1);
    assert.equal(await paused(), null);
    clock.advance(1);
    assert.equal(await harness.deliver({ count: 1 }), 1);
    const pausedAt = clock.now();
    assert.equal(await paused(), new Date(pausedAt).toISOString());

    const sent = recording.sent.length;
    for (let n = 0; n < 10; n += 1) await score(harness, key, `queued-${n}`);
    clock.advance(59_999);
    assert.equal(await harness.deliver(), 0);
    clock.advance(1);
    for (let minute = 0; minute < 12; minute += 1) {
      assert.equal(await harness.deliver(), 1, `${minute}`);
      assert.equal(await harness.deliver(), 0);
      clock.advance(60_000);
    }
    assert.equal(recording.sent.length, sent + 12);
    const probed = (await deliveriesOf(harness, key, id, "?limit=500")).deliveries
      .filter(({ attempts }: { attempts: { counted: boolean }[] }) =>
        attempts.some(({ counted }) => !counted)
      );
    for (const { status, attempts } of probed) {
      assert.equal(status, "queued");
      assert.ok(attempts.length <= 10);
    }

    recording.answer = () => ({ status: 200, error: null });
    assert.equal(await harness.deliver(), 1);
    assert.equal(await paused(), null);
    await harness.deliver();
    const { webhook, deliveries } = await deliveriesOf(harness, key, id, "?limit=500");
    assert.equal(webhook.waiting, 0);
    assert.deepEqual([...new Set(deliveries.map(({ status }: { status: string }) => status))], ["delivered"]);
    assert.equal(deliveries.length, 35);
    const events = await storedEvents(harness, "org/acme/admin");
    assert.deepEqual(
      events.filter(({ type }) => /PAUSED|RESUMED/.test(type)).map((
        { type, actor, detail },
      ) => [type, actor, detail]),
      [
        ["WEBHOOK_PAUSED", "system", { id }],
        ["WEBHOOK_RESUMED", "system", { id }],
      ],
    );
  }),
);

Deno.test(
  "a webhook that is deleted while its delivery is prepared gets nothing, and the log has no error",
  withDeliveries(async (harness, { key, recording }) => {
    await settledOperator(harness, key);
    const { id } = await register(harness, key);
    await score(harness, key, "alone");
    const { database } = harness.dependencies;
    let deleted = 0;
    let isClaimed = false;
    const deletingFirst: typeof database = new Proxy(database, {
      get(target, name) {
        const member = Reflect.get(target, name);
        if (name !== "read") return typeof member === "function" ? member.bind(target) : member;
        return async (statement: Parameters<typeof target.read>[0]) => {
          if (isClaimed && / from "webhook" where "webhook_id" in /.test(statement.sql)) {
            deleted = (await harness.send(`/v1/admin/webhook/${id}`, { key, method: "DELETE" })).status;
          }
          return await target.read(statement);
        };
      },
    });
    const dispatched = dispatchedDeliveries({ ...harness.dependencies, database: deletingFirst });
    const now = harness.clock.now();
    const [destination] = await dispatched.ready(now);
    const { claims: [claimed] } = await dispatched.claim([{ destination: destination!, count: 1 }], now);
    isClaimed = true;
    const outcome = await dispatched.attempt(claimed!, new AbortController().signal);
    assert.deepEqual([outcome.kind, recording.sent.length, deleted], ["released", 0, 200]);
    assert.deepEqual(harness.log.filter(({ level }) => level === "error"), []);
  }),
);

Deno.test(
  "a paused destination is not claimed again before its next probe",
  withDeliveries(async (harness, { key, recording }) => {
    const { clock, database } = harness;
    await settledOperator(harness, key);
    await register(harness, key);
    recording.answer = () => FAILED;
    for (let n = 0; n < 30; n += 1) await score(harness, key, `told-${n}`);
    await harness.deliver({ count: 20 });
    clock.advance(300_000);
    await harness.deliver({ count: 1 });
    clock.advance(60_000);
    const dispatched = dispatchedDeliveries(harness.dependencies);
    const now = clock.now();
    const [paused] = await dispatched.ready(now);
    assert.notEqual(paused!.paused_at, null);
    const { claims } = await dispatched.claim([{ destination: paused!, count: 1 }], now);
    assert.equal(claims.length, 1);
    const rows = await readDestinations(database, [paused!.webhook_id]);
    for (const destination of [paused!, rows[0]!]) {
      const again = await dispatched.claim([{ destination, count: 1 }], now + 59_999);
      assert.deepEqual(again.claims, []);
    }
    await dispatched.settle(claims.map((claimed) => dispatched.release(claimed)), now);
  }),
);

Deno.test(
  "nineteen failures over an hour pause nothing, and a success in between starts the count anew",
  withDeliveries(async (harness, { key, recording }) => {
    await settledOperator(harness, key);
    const { id } = await register(harness, key);
    for (const round of [1, 2]) {
      recording.answer = () => FAILED;
      for (let n = 0; n < 19; n += 1) {
        await score(harness, key, `${round}-${n}`);
        harness.clock.advance(200_000);
        await harness.deliver({ count: 1 });
      }
      assert.equal((await deliveriesOf(harness, key, id)).webhook.paused_since, null);
      recording.answer = () => ({ status: 200, error: null });
      await harness.deliver({ count: 1 });
    }
  }),
);

// ---- pings and refused targets ----------------------------------------------------------------------------

Deno.test(
  "a test sends one signed ping and answers with its result; a ping that succeeds ends a pause",
  withDeliveries(async (harness, { key, recording }) => {
    const { clock, send } = harness;
    await settledOperator(harness, key);
    const { id } = await register(harness, key);
    recording.answer = () => ({ status: null, error: "timeout" as AttemptError });
    const failed = await send(`/v1/admin/webhook/${id}/test`, { key, method: "POST" });
    const { request_id, timestamp, delivery_id, ...result } = failed.body;
    assert.deepEqual([failed.status, result], [200, {
      delivered: false,
      response_status: null,
      error: "timeout",
      duration_ms: 7,
    }]);
    assert.deepEqual(JSON.parse(recording.sent[0]!.text), {
      event: "ping",
      delivery_id,
      webhook_id: id,
      request_id,
      timestamp,
    });
    clock.advance(3_600_000);
    assert.equal(await harness.deliver(), 0, "a ping is not tried again");
    const { deliveries: [ping] } = await deliveriesOf(harness, key, id);
    assert.deepEqual([ping.event, ping.status, ping.event_request_id], ["ping", "dead", request_id]);
    const redelivery = await send(`/v1/admin/webhook/${id}/deliveries/${delivery_id}/redeliver`, {
      key,
      method: "POST",
    });
    assert.deepEqual([redelivery.status, redelivery.body.error.code], [409, "CONFLICT"]);

    await score(harness, key, "told");
    for (let n = 0; n < 20; n += 1) await send(`/v1/admin/webhook/${id}/test`, { key, method: "POST" });
    assert.notEqual((await deliveriesOf(harness, key, id)).webhook.paused_since, null);
    // A test of a paused destination is sent once, too, and never retried.
    await send(`/v1/admin/webhook/${id}/test`, { key, method: "POST" });
    const { webhook, deliveries } = await deliveriesOf(harness, key, id);
    assert.equal(webhook.waiting, 1);
    assert.ok(deliveries.every(({ status }: { status: string }) => status === "dead"));
    recording.answer = () => ({ status: 204, error: null });
    const taken = await send(`/v1/admin/webhook/${id}/test`, { key, method: "POST" });
    assert.deepEqual([taken.body.delivered, taken.body.response_status, taken.body.error], [true, 204, null]);
    assert.equal((await deliveriesOf(harness, key, id)).webhook.paused_since, null);
    assert.equal(await harness.deliver(), 1);
    const events = await storedEvents(harness, "org/acme/admin");
    assert.deepEqual(events.find(({ type }) => type === "WEBHOOK_TESTED")?.detail, { id, delivery_id });
  }),
);

Deno.test(
  "a second test of one webhook at the same time is 409, and the 101st of all is 503",
  withDeliveries(async (harness, { recording }) => {
    const { send } = harness;
    const held = Promise.withResolvers<void>();
    const all = Promise.withResolvers<void>();
    const { deliver } = recording;
    let sent = 0;
    recording.deliver = async (attempt, signal) => {
      sent += 1;
      if (sent === 100) all.resolve();
      await held.promise;
      return await deliver(attempt, signal);
    };
    const webhooks: { readonly key: string; readonly id: string }[] = [];
    for (let n = 0; n < 11; n += 1) {
      const key = await harness.organization(`tester-${n}`);
      for (let own = 0; own < 10; own += 1) webhooks.push({ key, id: (await register(harness, key)).id });
    }
    const test = ({ key, id }: (typeof webhooks)[number]) =>
      send(`/v1/admin/webhook/${id}/test`, { key, method: "POST" });
    const tests = webhooks.slice(0, 100).map(test);
    await all.promise;
    const twice = await test(webhooks[0]!);
    assert.deepEqual([twice.status, twice.body.error.code], [409, "CONFLICT"]);
    const more = await test(webhooks[100]!);
    assert.deepEqual([more.status, more.body.error.code], [503, "SERVICE_UNAVAILABLE"]);
    held.resolve();
    for (const { status } of await Promise.all(tests)) assert.equal(status, 200);
    assert.equal((await test(webhooks[100]!)).status, 200);
  }),
);

Deno.test(
  "a webhook or delivery that is not the caller's own is 404, and a parameter out of range is 422",
  withDeliveries(async (harness, { key }) => {
    await settledOperator(harness, key);
    const bank = await harness.organization("bank");
    const { id } = await register(harness, key);
    const other = await register(harness, key);
    await score(harness, key, "told");
    await harness.deliver();
    const { deliveries: [delivery] } = await deliveriesOf(harness, key, id);
    const nobody = "3f0a5f0c-8f1e-4b5a-9d0e-2f6a1c7b9e10";
    const calls: readonly (readonly [method: string, path: string, key: string, status: number])[] = [
      ["POST", `${id}/test`, bank, 404],
      ["GET", `${id}/deliveries`, bank, 404],
      ["POST", `${id}/deliveries/${delivery.delivery_id}/redeliver`, bank, 404],
      ["POST", `unknown/test`, key, 404],
      ["GET", `unknown/deliveries`, key, 404],
      ["POST", `${id}/deliveries/${nobody}/redeliver`, key, 404],
      ["POST", `${other.id}/deliveries/${delivery.delivery_id}/redeliver`, key, 404],
      ["POST", `${id}/deliveries/not-a-uuid/redeliver`, key, 422],
      ["GET", `${id}/deliveries?status=lost`, key, 422],
      ["GET", `${id}/deliveries?status=`, key, 422],
      ["GET", `${id}/deliveries?limit=0`, key, 422],
      ["GET", `${id}/deliveries?limit=501`, key, 422],
      ["GET", `${id}/deliveries?limit=1&limit=2`, key, 422],
    ];
    const before = await harness.rowCounts();
    for (const [method, path, own, expected] of calls) {
      const { status, body } = await harness.send(`/v1/admin/webhook/${path}`, { method, key: own });
      assert.equal(status, expected, `${method} ${path}`);
      assert.equal(body.error.code, expected === 404 ? "NOT_FOUND" : "VALIDATION_FAILED");
    }
    assert.deepEqual(await harness.rowCounts(), before);
  }),
);

// ---- erasure, removal, bounds -----------------------------------------------------------------------------

Deno.test(
  "an erasure cancels waiting deliveries about the operator, and those already sent cannot be sent again",
  withDeliveries(async (harness, { key, recording }) => {
    for (const operator of ["operator-1", "operator-2"]) await settledOperator(harness, key, operator);
    const { id } = await register(harness, key);
    await score(harness, key, "delivered");
    await harness.deliver();
    recording.answer = () => FAILED;
    await score(harness, key, "tried");
    await harness.deliver();
    await score(harness, key, "waiting");
    await score(harness, key, "of-another", { operator_id: "operator-2" });
    const erased = await harness.send("/v1/operator/operator-1", { key, method: "DELETE" });
    assert.equal(erased.status, 200, erased.text);

    recording.answer = () => ({ status: 200, error: null });
    const sent = recording.sent.length;
    harness.clock.advance(3_600_000);
    await harness.deliver();
    assert.deepEqual(recording.sent.slice(sent).map(({ text }) => JSON.parse(text).session_id), [
      "of-another",
    ]);
    const { deliveries } = await deliveriesOf(harness, key, id);
    assert.deepEqual(
      deliveries.map(({ status }: { status: string }) => status).sort(),
      ["cancelled", "delivered", "delivered"],
    );
    for (const { delivery_id, status } of deliveries) {
      const path = `/v1/admin/webhook/${id}/deliveries/${delivery_id}/redeliver`;
      const again = await harness.send(path, { key, method: "POST" });
      const isOther = recording.sent.at(-1)!.deliveryId === delivery_id;
      assert.deepEqual(
        [again.status, again.body.error?.code],
        isOther ? [200, undefined] : [410, "GONE"],
        status,
      );
    }
    const rows = await harness.database.read(query.selectFrom("webhook_event").selectAll().compile());
    assert.ok(rows.every(({ operator_id }) => operator_id === "operator-2"));
  }),
);

Deno.test(
  "a removed destination gets nothing more, and its deliveries are deleted",
  withDeliveries(async (harness, { key, recording }) => {
    await settledOperator(harness, key);
    const { id } = await register(harness, key);
    recording.answer = () => FAILED;
    await score(harness, key, "told");
    await harness.deliver();
    assert.equal((await harness.send(`/v1/admin/webhook/${id}`, { key, method: "DELETE" })).status, 200);
    harness.clock.advance(3_600_000);
    assert.equal(await harness.deliver(), 0);
    assert.equal((await harness.rowCounts()).webhook_delivery, 0);
  }),
);
