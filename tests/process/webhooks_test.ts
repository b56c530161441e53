/**
 * Webhooks from the whole program to a real HTTPS receiver: the requests, their number, and delivery across a
 * crash.
 * Source: specification, Events; contract, section 5; Standard Webhooks, "Signature scheme".
 */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { startService, until } from "../program.ts";
import { scoreRequest } from "../harness.ts";
import { type Arrival, isSigned, openReceiver } from "../receiver.ts";
import { deliveriesOf, eventually, register, score, withProgram } from "../webhook_program.ts";

const QUICK = { JISS_WEBHOOK_BACKOFF_MS: "1100,1100", JISS_WEBHOOK_TIMEOUT_MS: "2000" };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function header({ headers }: Arrival, name: string): string {
  return headers.get(name) ?? "";
}

Deno.test("a receiver that answers 500 twice and then 200 gets three attempts, one idempotency key, three timestamps", () =>
  withProgram(QUICK, async (program) => {
    const receiver = await openReceiver((_, count) => new Response(null, { status: count < 3 ? 500 : 200 }));
    const { id, signing_secret } = await register(program, receiver);
    const answer = await score(program, "told");
    await until(() => receiver.arrivals.length === 3);
    for (const arrival of receiver.arrivals) {
      assert.deepEqual([arrival.method, arrival.path], ["POST", "/hook"]);
      assert.equal(header(arrival, "Content-Type"), "application/json");
      assert.equal(header(arrival, "User-Agent"), "SERVICE-Webhook/1.3");
      assert.ok(isSigned(arrival, signing_secret));
      const [delivery, timestamp] = [header(arrival, "webhook-id"), header(arrival, "webhook-timestamp")];
      const bytes = Uint8Array.fromBase64(signing_secret.slice("whsec_".length));
      const standard = createHmac("sha256", bytes).update(`${delivery}.${timestamp}.${arrival.text}`);
      assert.equal(header(arrival, "webhook-signature"), `v1,${standard.digest("base64")}`);
      assert.equal(timestamp, header(arrival, "X-SERVICE-Timestamp"));
      assert.ok(Math.abs(Number(timestamp) - arrival.at / 1000) < 60);
      assert.equal(delivery, header(arrival, "X-SERVICE-Idempotency-Key"));
      assert.match(delivery, UUID);
      assert.deepEqual(arrival.body, { event: "score.committed", delivery_id: delivery, ...answer });
    }
    const distinct = (name: string) =>
      new Set(receiver.arrivals.map((arrival) => header(arrival, name))).size;
    assert.deepEqual(
      ["X-SERVICE-Idempotency-Key", "X-SERVICE-Timestamp", "X-SERVICE-Signature", "webhook-signature"].map(
        distinct,
      ),
      [1, 3, 3, 3],
    );
    assert.equal(new Set(receiver.arrivals.map(({ text }) => text)).size, 1);

    const log = await eventually(
      () => deliveriesOf(program, id),
      ({ deliveries: [delivery] }) => delivery.status === "delivered",
    );
    assert.deepEqual(
      log.deliveries[0].attempts.map(({ response_status, error, counted }: Record<string, unknown>) => [
        response_status,
        error,
        counted,
      ]),
      [[500, "status", true], [500, "status", true], [200, null, true]],
    );
    await new Promise((wait) => setTimeout(wait, 1_500));
    assert.equal(receiver.arrivals.length, 3);
    await receiver.close();
  }));

Deno.test("metrics count attempts by their result, waiting events, pauses, and dropped events", () =>
  withProgram({ ...QUICK, JISS_METRICS_ADDR: "127.0.0.1:0" }, async (program) => {
    const receiver = await openReceiver((_, count) =>
      new Response(null, { status: count === 1 ? 503 : 200 })
    );
    await register(program, receiver);
    const { metrics_url } = program.service.log().find(({ msg }) => msg === "listening")!;
    const samples = async () => {
      const text = await (await fetch(`${metrics_url}/metrics`)).text();
      return text.split("\n").filter((line) => line.startsWith("jiss_webhook_"));
    };
    assert.deepEqual(await samples(), [
      "jiss_webhook_events_dropped_total 0",
      "jiss_webhook_paused 0",
      "jiss_webhook_backlog 0",
    ]);
    await score(program, "told");
    await until(() => receiver.arrivals.length === 1);
    const failed = await eventually(samples, (lines) => lines.length === 4);
    assert.deepEqual(failed.slice(0, 1), ['jiss_webhook_attempts_total{outcome="status"} 1']);
    assert.ok(failed.includes("jiss_webhook_backlog 1"));
    await until(() => receiver.arrivals.length === 2);
    const delivered = await eventually(samples, (lines) => lines.length === 5);
    assert.deepEqual(delivered, [
      'jiss_webhook_attempts_total{outcome="status"} 1',
      'jiss_webhook_attempts_total{outcome="delivered"} 1',
      "jiss_webhook_events_dropped_total 0",
      "jiss_webhook_paused 0",
      "jiss_webhook_backlog 0",
    ]);
    await receiver.close();
  }));

Deno.test("an event that was committed and not delivered when the program was killed is delivered after its next start", () =>
  withProgram(QUICK, async (program) => {
    const receiver = await openReceiver();
    await register(program, receiver);
    const { service } = program;
    // Killed at the very moment of the answer, before the loop has looked for events.
    const answer = await score(program, "killed");
    service.kill("SIGKILL");
    await service.status;
    assert.equal(receiver.arrivals.length, 0, "it was delivered before the kill: the test shows nothing");
    await program.restart();
    await until(() => receiver.arrivals.length === 1);
    assert.equal(receiver.arrivals[0]!.body.session_id, "killed");
    assert.deepEqual(receiver.arrivals[0]!.body.evidence, answer.evidence);
    await receiver.close();
  }));

Deno.test("a case that was opened and not told when the program was killed is told after its next start, signed", () =>
  withProgram(QUICK, async (program) => {
    const receiver = await openReceiver();
    const { signing_secret } = await register(program, receiver, { events: ["case.opened"] });
    const { service, key } = program;
    const { status, body: opened } = await service.send("/v1/cases", {
      key,
      body: { operator_id: "operator-1", statement: "Three complaints about last week." },
    });
    service.kill("SIGKILL");
    await service.status;
    assert.equal(status, 201, JSON.stringify(opened));
    assert.equal(receiver.arrivals.length, 0, "it was delivered before the kill: the test shows nothing");
    await program.restart();
    await until(() => receiver.arrivals.length === 1);
    const [arrival] = receiver.arrivals;
    assert.ok(isSigned(arrival!, signing_secret));
    const { event, case_id, operator_id, cause, entry_hash } = arrival!.body;
    assert.deepEqual([event, case_id, operator_id, cause, entry_hash], [
      "case.opened",
      opened.case_id,
      "operator-1",
      "by_hand",
      opened.entry_hash,
    ]);
    assert.ok(!arrival!.text.includes("complaints"));
    await receiver.close();
  }));

Deno.test("two services over one database send their own events; if one is killed the other sends what it had claimed, and no event is lost", () =>
  withProgram({ ...QUICK, JISS_WEBHOOK_TIMEOUT_MS: "1000" }, async (program) => {
    const EVENTS = 200;
    const receiver = await openReceiver(async () => {
      await new Promise((wait) => setTimeout(wait, 50));
      return new Response();
    });
    const { id } = await register(program, receiver);
    const other = await startService(["serve"], { env: program.env });
    const { interaction } = scoreRequest();
    for (let first = 0; first < EVENTS; first += 100) {
      const interactions = Array.from(
        { length: 100 },
        (_, index) => ({ ...interaction, session_id: `told-${first + index}` }),
      );
      const body = { operator_id: "operator-1", domain: "general", interactions };
      const { status } = await program.service.send("/v1/score/batch", { key: program.key, body });
      assert.equal(status, 200);
    }
    await until(() => receiver.arrivals.length >= EVENTS / 4);
    other.kill("SIGKILL");
    await other.status;
    const distinct = () => new Set(receiver.arrivals.map(({ body }) => body.session_id)).size;
    await until(() => distinct() === EVENTS);
    await eventually(() => deliveriesOf(program, id), ({ webhook }) => webhook.waiting === 0);
    // A delivery that was being sent at the kill, or to which a busy machine answered too late, comes twice, under the same id.
    assert.ok(receiver.arrivals.length <= 1.25 * EVENTS, `${receiver.arrivals.length}`);
    assert.equal(new Set(receiver.arrivals.map(({ body }) => body.delivery_id)).size, EVENTS);
    await receiver.close();
  }));

Deno.test("a stop lets the attempt in progress end, and waiting events are delivered by the next start", () =>
  withProgram({ ...QUICK, JISS_WEBHOOK_TIMEOUT_MS: "5000" }, async (program) => {
    const slow = Promise.withResolvers<Response>();
    const receiver = await openReceiver((_, count) => (count === 1 ? slow.promise : new Response()));
    const { id } = await register(program, receiver);
    await score(program, "slow");
    await until(() => receiver.arrivals.length === 1);
    const stopped = program.service.stop();
    setTimeout(() => slow.resolve(new Response(null, { status: 204 })), 500);
    assert.equal(await stopped, 0);
    await program.restart();
    const { deliveries } = await deliveriesOf(program, id);
    assert.deepEqual(deliveries.map(({ status }: { status: string }) => status), ["delivered"]);
    assert.equal(receiver.arrivals.length, 1);
    await receiver.close();
  }));

Deno.test("an attempt that a stop must cut is repeated at once by the next start, and does not count", () =>
  withProgram({ ...QUICK, JISS_WEBHOOK_TIMEOUT_MS: "60000" }, async (program) => {
    const never = new Promise<Response>(() => {});
    const receiver = await openReceiver((_, count) => (count === 1 ? never : new Response()));
    const { id } = await register(program, receiver);
    await score(program, "cut");
    await until(() => receiver.arrivals.length === 1);
    assert.equal(await program.service.stop(), 0);
    await program.restart();
    await until(() => receiver.arrivals.length === 2);
    const { deliveries: [delivery] } = await eventually(
      () => deliveriesOf(program, id),
      ({ deliveries }) => deliveries[0].status === "delivered",
    );
    assert.deepEqual(
      delivery.attempts.map(({ error, counted }: Record<string, unknown>) => [error, counted]),
      [["interrupted", false], [null, true]],
    );
    await receiver.close();
  }));
