/** Rate limits that processes share: what they admit together, and that no failure ever opens them. */
import assert from "node:assert/strict";
import { manualClock, MASTER_KEY, scoreRequest, withHarness } from "../harness.ts";
import { sharedLimit, watchedStore, withStore } from "../shared_limits.ts";

const admitted = (limit: number, [remaining, resetMs]: readonly [number, number]) => (
  { admitted: true, counted: true, limit, remaining, resetMs }
);
const refused = (limit: number, resetMs: number) => (
  { admitted: false, counted: true, limit, remaining: 0, resetMs }
);
const uncounted = (limit: number, resetMs: number) => (
  { admitted: false, counted: false, limit, remaining: 0, resetMs }
);

Deno.test("two processes admit the limit together, and state what is left and when the oldest second leaves", () =>
  withStore(async (open) => {
    const clock = manualClock();
    const [one, other] = [sharedLimit(3, { open, clock }), sharedLimit(3, { open, clock })];
    clock.advance(250);
    assert.deepEqual(await one.admit("a"), admitted(3, [2, 60_750]));
    clock.advance(10_000);
    assert.deepEqual(await other.admit("a"), admitted(3, [1, 50_750]));
    assert.deepEqual(await one.admit("a"), admitted(3, [0, 50_750]));
    // It stays counted in its own second, so that the end of the first second leaves no room.
    assert.deepEqual(await other.admit("a"), refused(3, 60_750));
    assert.equal((await one.admit("b")).admitted, true, "another subject");
    clock.advance(60_749);
    assert.equal((await other.admit("a")).admitted, false);
    clock.advance(1);
    assert.deepEqual(await other.admit("a"), admitted(3, [2, 61_000]));
    await one.close();
    await other.close();
  }));

Deno.test("layers that share a store do not count each other's subjects", () =>
  withStore(async (open) => {
    const clock = manualClock();
    for (const layer of ["address", "key"]) {
      const side = sharedLimit(1, { open, clock, layer });
      assert.equal((await side.admit("a")).admitted, true, layer);
      await side.close();
    }
  }));

Deno.test("the first of simultaneous requests are admitted, up to the limit, in their order", () =>
  withStore(async (open) => {
    const side = sharedLimit(60, { open, clock: manualClock() });
    const answers = await Promise.all(Array.from({ length: 100 }, () => side.admit("a")));
    assert.deepEqual(
      answers.map((answer) => answer.admitted),
      [...Array<boolean>(60).fill(true), ...Array<boolean>(40).fill(false)],
    );
    await side.close();
  }));

Deno.test("a subject that is known to be refused is answered without the store", () =>
  withStore(async (open) => {
    const clock = manualClock();
    let transactions = 0;
    const watched = async () => watchedStore(await open(), () => void (transactions += 1));
    const [one, other] = [sharedLimit(1, { open: watched, clock }), sharedLimit(1, { open: watched, clock })];
    assert.equal((await one.admit("a")).admitted, true);
    assert.equal((await other.admit("a")).admitted, false);
    transactions = 0;
    for (let n = 1; n <= 10; n += 1) {
      clock.advance(5_000);
      assert.deepEqual(
        await one.admit("a"),
        refused(1, 60_000 - 5_000 * n),
        "it admitted the last one itself",
      );
      assert.deepEqual(await other.admit("a"), refused(1, 61_000 - 5_000 * n), "it was refused before");
    }
    assert.equal(transactions, 0);
    await one.close();
    await other.close();
  }));

// ---- the clock --------------------------------------------------------------------------------------------

Deno.test("after a step back of the clock nothing is admitted until the clock has caught up", () =>
  withStore(async (open) => {
    const clock = steppingClock();
    const side = sharedLimit(10, { open, clock });
    assert.equal((await side.admit("a")).admitted, true);
    clock.step(-20_000);
    assert.deepEqual(await side.admit("a"), uncounted(10, 20_000));
    clock.advance(19_999);
    assert.deepEqual(await side.admit("b"), uncounted(10, 1));
    clock.advance(1);
    assert.deepEqual(await side.admit("a"), admitted(10, [8, 61_000]));
    await side.close();
  }));

Deno.test("a long step back refuses for 60 seconds, after which instants in the future no longer count", () =>
  withStore(async (open) => {
    const clock = steppingClock();
    const stays = sharedLimit(1, { open, clock });
    clock.advance(30_000);
    assert.equal((await stays.admit("a")).admitted, true);
    clock.step(-3_600_000);
    assert.deepEqual(await stays.admit("b"), uncounted(1, 60_000));
    const late = sharedLimit(1, { open, clock });
    assert.deepEqual(await late.admit("a"), refused(1, 61_000), "a new process sees the admitted request");
    clock.advance(59_999);
    assert.deepEqual(await stays.admit("b"), uncounted(1, 1));
    clock.advance(1);
    assert.equal((await stays.admit("b")).admitted, true);
    clock.advance(2_000);
    assert.equal((await stays.admit("a")).admitted, true);
    for (const side of [stays, late]) await side.close();
  }));

Deno.test("after a step forward the requests that the same process has admitted still count", () =>
  withStore(async (open) => {
    const clock = steppingClock();
    const side = sharedLimit(2, { open, clock });
    for (let n = 0; n < 2; n += 1) assert.equal((await side.admit("a")).admitted, true);
    clock.step(3_600_000);
    assert.deepEqual(await side.admit("a"), refused(2, 60_000));
    clock.advance(60_000);
    assert.equal((await side.admit("a")).admitted, true);
    await side.close();
  }));

/** A manual clock whose wall clock can be set. */
function steppingClock() {
  const clock = manualClock();
  let offset = 0;
  return {
    ...clock,
    now: () => clock.now() + offset,
    step(milliseconds: number) {
      offset += milliseconds;
    },
  };
}

// ---- failures of the store --------------------------------------------------------------------------------

Deno.test("a store that cannot be opened admits nothing, is reported once a window, and counts once it can be", () =>
  withStore(async (open) => {
    const clock = manualClock();
    const reported: { total: number; cause: unknown }[] = [];
    let broken = true;
    const side = sharedLimit(2, {
      clock,
      reported,
      open: () => broken ? Promise.reject(new Error("unable to open database file")) : open(),
    });
    for (let n = 0; n < 5; n += 1) assert.deepEqual(await side.admit("a"), uncounted(2, 1_000));
    clock.advance(60_000);
    assert.deepEqual(await side.admit("a"), uncounted(2, 1_000));
    assert.equal(side.window.uncounted, 6);
    assert.deepEqual(reported.map(({ total, cause }) => [total, String((cause as Error).cause)]), [
      [1, "Error: unable to open database file"],
      [6, "Error: unable to open database file"],
    ]);
    broken = false;
    assert.deepEqual(await side.admit("a"), admitted(2, [1, 61_000]));
    await side.close();
  }));

Deno.test("a store that fails to sum admits nothing, and counts again once it succeeds", () =>
  withStore(async (open) => {
    let broken = false;
    const side = sharedLimit(2, {
      clock: manualClock(),
      open: async () =>
        watchedStore(await open(), () => {
          if (broken) throw new Error("disk I/O error");
        }),
    });
    assert.equal((await side.admit("a")).admitted, true);
    broken = true;
    for (let n = 0; n < 3; n += 1) assert.deepEqual(await side.admit("a"), uncounted(2, 1_000));
    broken = false;
    assert.equal((await side.admit("a")).admitted, true);
    assert.equal((await side.admit("a")).admitted, false);
    await side.close();
  }));

Deno.test("a store that is broken for good is opened anew", () =>
  withStore(async (open) => {
    let opened = 0;
    const side = sharedLimit(2, {
      clock: manualClock(),
      async open() {
        opened += 1;
        const broken = opened === 1;
        return watchedStore(await open(), () => {
          if (broken) throw new Error("file is not a database");
        });
      },
    });
    assert.equal((await side.admit("a")).counted, false);
    assert.equal((await side.admit("a")).admitted, true);
    await side.close();
  }));

Deno.test("a store that does not answer in time admits nothing, and later requests do not wait for it", () =>
  withStore(async (open) => {
    const clock = manualClock();
    let opened = 0;
    const hang = Promise.withResolvers<void>();
    const side = sharedLimit(100, {
      clock,
      timeoutMs: 20,
      open: async () => {
        opened += 1;
        return watchedStore(await open(), () => opened === 1 ? hang.promise : undefined);
      },
    });
    assert.deepEqual(await side.admit("a"), uncounted(100, 20));
    clock.advance(21);
    const waited = new Promise((resolve) => setTimeout(resolve, 0, "waited"));
    assert.deepEqual(await Promise.race([side.admit("b"), waited]), uncounted(100, 20));
    clock.advance(9_000);
    assert.deepEqual(await side.admit("b"), uncounted(100, 20));
    assert.equal(opened, 1);
    // The store is given up, but not closed: that would stop the whole program.
    clock.advance(1_000);
    let answer = await side.admit("b");
    for (let n = 0; n < 100 && !answer.counted; n += 1) answer = await side.admit("b");
    assert.deepEqual([answer.admitted, opened], [true, 2]);
    hang.resolve();
    await side.close();
  }));

Deno.test("a store that timed out is used again once it answers, with the counts it summed", () =>
  withStore(async (open) => {
    const clock = manualClock();
    let hang: PromiseWithResolvers<void> | null = Promise.withResolvers<void>();
    const side = sharedLimit(100, {
      clock,
      timeoutMs: 20,
      open: async () => watchedStore(await open(), () => hang?.promise),
    });
    const first = hang;
    assert.equal((await side.admit("a")).counted, false);
    hang = null;
    first.resolve();
    let answer = await side.admit("a");
    for (let n = 0; n < 100 && !answer.counted; n += 1) answer = await side.admit("a");
    assert.equal(answer.admitted, true);
    assert.ok(answer.remaining <= 98, "the first was summed, although it was refused");
    await side.close();
  }));

// ---- the content of the file ------------------------------------------------------------------------------

Deno.test("seconds that no window holds any more are deleted, so the store does not grow", () =>
  withStore(async (open) => {
    const clock = manualClock();
    const side = sharedLimit(60, { open, clock });
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(Array.from({ length: 1_200 }, (_, n) => side.admit(`${round} ${n}`)));
      clock.advance(70_000);
    }
    // With each request one page is swept.
    for (let n = 0; n < 20; n += 1) await side.admit("last");
    await side.close();
    const store = await open();
    const subjects: string[] = [];
    for await (const { key } of store.list({ prefix: ["rate"] })) subjects.push(String(key[2]));
    store.close();
    assert.deepEqual(subjects, ["last"]);
  }));

// ---- over HTTP --------------------------------------------------------------------------------------------

const away = () => sharedLimit(60, { clock: manualClock(), open: () => Promise.reject(new Error("away")) });

Deno.test(
  "if addresses cannot be counted everything inside Layer 1 is 503 with Retry-After, and no breach is recorded",
  withHarness(async (harness) => {
    const { send } = harness;
    for (
      const [path, options] of [
        ["/v1", {}],
        ["/nowhere", {}],
        ["/v1/score", { method: "PUT" }],
        ["/v1/score", { body: scoreRequest() }],
        ["/v1/admin/org/create", { key: MASTER_KEY, method: "POST" }],
        ["/", { headers: { Host: "x/v1?" } }],
      ] as const
    ) {
      const { status, headers, body } = await send(path, options);
      assert.deepEqual([status, body.error.code, headers.get("Retry-After")], [
        503,
        "SERVICE_UNAVAILABLE",
        "1",
      ]);
    }
    assert.equal((await send("/")).status, 200);
    assert.deepEqual(harness.log.filter(({ msg }) => msg === "authentication breach"), []);
  }, { addressWindow: away().window }),
);

Deno.test(
  "if keys cannot be counted a keyed call is 503 with Retry-After; a master call is not counted and is answered",
  withHarness(async ({ send, organization, log }) => {
    const key = await organization("acme");
    const refusal = await send("/v1/score", { key, body: scoreRequest() });
    assert.deepEqual([refusal.status, refusal.body.error.code], [503, "SERVICE_UNAVAILABLE"]);
    assert.equal(refusal.headers.get("Retry-After"), "1");
    const wrong = key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
    assert.equal((await send("/v1/score", { key: wrong, body: scoreRequest() })).status, 401);
    assert.equal((await send("/v1")).status, 200);
    const master = await send("/v1/admin/org/create", { key: MASTER_KEY, method: "POST", body: {} });
    assert.equal(master.status, 400, "its Idempotency-Key is missing");
    assert.deepEqual([...master.headers.keys()].filter((name) => name.startsWith("x-ratelimit")), []);
    assert.deepEqual(log.filter(({ msg }) => msg === "authentication breach"), []);
  }, { keyWindow: away().window }),
);
