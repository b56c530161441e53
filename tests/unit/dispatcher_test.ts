/**
 * The loop that sends. No destination waits for a slow or dead one, concurrency is bounded for each and in
 * total, and a stop leaves nothing behind. Claims, clock and attempts are those of the test.
 * Source: contract, section 5.
 */
import assert from "node:assert/strict";
import { LEAST_LEASE_MARGIN_MS } from "../../src/domain/limits.ts";
import {
  type DispatchedClaim,
  type DispatchedDestination,
  Dispatcher,
} from "../../src/webhooks/dispatcher.ts";
import { nextTurn } from "../../src/store/turn.ts";

const TIMEOUT_MS = 10_000;
const LEASE_MS = TIMEOUT_MS + 30_000;

interface Claim extends DispatchedClaim {
  readonly name: string;
}

interface Outcome {
  readonly claim: Claim;
  readonly kind: "attempted" | "released";
}

interface Timer {
  readonly at: number;
  fire(): void;
}

/** Queues in memory, attempts that the test ends, and a clock that only the test moves. */
class World {
  readonly queues = new Map<string, string[]>();
  readonly failures = new Map<string, number>();
  readonly paused = new Set<string>();
  readonly unproven = new Set<string>();
  readonly inFlight = new Map<string, { readonly claim: Claim; end(): void }[]>();
  readonly begun: string[] = [];
  readonly settled: Outcome[] = [];
  readonly errors: unknown[] = [];
  most = { each: 0, all: 0 };
  now = 1_000_000;
  readonly dispatcher: Dispatcher<DispatchedDestination, Claim, Outcome>;
  readonly #timers = new Set<Timer>();

  constructor({ leaseMs = LEASE_MS, settle }: {
    readonly leaseMs?: number;
    readonly settle?: () => Promise<void>;
  } = {}) {
    const destination = (id: string): DispatchedDestination => ({
      webhook_id: id,
      failures: this.failures.get(id) ?? 0,
      paused_at: this.paused.has(id) ? 1 : null,
      last_delivery: this.unproven.has(id) ? null : "{}",
    });
    this.dispatcher = new Dispatcher<DispatchedDestination, Claim, Outcome>({
      ready: () =>
        Promise.resolve(
          [...this.queues].filter(([, queue]) => queue.length > 0).map(([id]) => destination(id)),
        ),
      claim: (wants, now) => {
        const claims = wants.flatMap(({ destination: { webhook_id: webhookId }, count }) =>
          this.queues.get(webhookId)!.splice(0, count).map((name) => ({
            name,
            webhookId,
            lease: { until: now + leaseMs },
          }))
        );
        return Promise.resolve({
          claims,
          destinations: wants.map(({ destination: { webhook_id } }) => destination(webhook_id)),
        });
      },
      attempt: (claim, signal) => {
        const { promise, resolve } = Promise.withResolvers<Outcome>();
        const list = this.inFlight.get(claim.webhookId) ?? [];
        this.inFlight.set(claim.webhookId, list);
        const attempt = {
          claim,
          end: () => {
            list.splice(list.indexOf(attempt), 1);
            resolve({ claim, kind: "attempted" });
          },
        };
        list.push(attempt);
        signal.addEventListener("abort", () => attempt.end());
        this.begun.push(claim.name);
        const all = [...this.inFlight.values()].reduce((sum, { length }) => sum + length, 0);
        this.most = { each: Math.max(this.most.each, list.length), all: Math.max(this.most.all, all) };
        return promise;
      },
      release: (claim) => ({ claim, kind: "released" }),
      settle: async (outcomes) => {
        await settle?.();
        this.settled.push(...outcomes);
        return [...new Set(outcomes.map(({ claim: { webhookId } }) => webhookId))].map(destination);
      },
    }, {
      clock: {
        now: () => this.now,
        wait: (milliseconds, cut) => this.#wait(milliseconds, cut),
      },
      shouldYield: () => false,
      timeoutMs: TIMEOUT_MS,
      leaseMs,
      isPassing: (error) => (error as Error).message === "passing",
      onError: (error) => this.errors.push(error),
    });
  }

  queue(id: string, count: number): void {
    this.queues.set(id, Array.from({ length: count }, (_, index) => `${id}-${index}`));
  }

  endAll(id: string): void {
    for (const attempt of [...this.inFlight.get(id) ?? []]) attempt.end();
  }

  attempted(id: string): number {
    return this.settled.filter(({ kind, claim }) => kind === "attempted" && claim.webhookId === id).length;
  }

  #wait(milliseconds: number, cut?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = {
      at: this.now + milliseconds,
      fire: () => {
        this.#timers.delete(timer);
        resolve();
      },
    };
    this.#timers.add(timer);
    cut?.addEventListener("abort", timer.fire);
    return promise;
  }

  /** Moves the clock in steps of `step` milliseconds, firing every due timer, until `isSo` is true. */
  async until(condition: () => boolean, each = () => {}, step = 50): Promise<void> {
    while (!condition()) {
      each();
      const end = this.now + step;
      for (let next = this.#before(end); next !== null; next = this.#before(end)) {
        this.now = Math.max(this.now, next.at);
        next.fire();
        await nextTurn();
      }
      this.now = end;
      await nextTurn();
    }
  }

  /** The first timer that is due up to an instant. */
  #before(end: number): Timer | null {
    let first: Timer | null = null;
    for (const timer of this.#timers) {
      if (timer.at <= end && (first === null || timer.at < first.at)) first = timer;
    }
    return first;
  }

  /** Stops the loop. The clock keeps moving, so that attempts that never end are cut. */
  async stop(): Promise<void> {
    let isStopped = false;
    const stopped = this.dispatcher.stop().finally(() => isStopped = true);
    await this.until(() => isStopped);
    await stopped;
  }
}

Deno.test("a lease that does not outlast a whole attempt and its recording is refused at the start", () => {
  assert.throws(
    () => new World({ leaseMs: TIMEOUT_MS + LEAST_LEASE_MARGIN_MS - 1 }),
    /does not outlast an attempt/,
  );
  new World({ leaseMs: TIMEOUT_MS + LEAST_LEASE_MARGIN_MS });
});

Deno.test("destinations that never answer do not keep another one waiting, and no bound is exceeded", async () => {
  const world = new World();
  for (let n = 0; n < 40; n += 1) {
    world.queue(`dead-${n}`, 50);
    world.failures.set(`dead-${n}`, 5);
  }
  world.queue("well", 500);
  world.dispatcher.start();
  await world.until(() => world.attempted("well") === 500, () => world.endAll("well"));
  // How many attempts on dead destinations were made depends on the machine. Their bounds do not.
  const dead = () => [...world.inFlight].filter(([id]) => id.startsWith("dead"));
  const held = () => dead().reduce((sum, [, list]) => sum + list.length, 0);
  await world.until(() => held() >= 32);
  const { now } = world;
  await world.until(() => world.now > now + 1_000);
  assert.equal(held(), 32);
  assert.ok(world.most.each <= 8, `${world.most.each}`);
  assert.ok(world.most.all <= 64, `${world.most.all}`);
  assert.ok(dead().every(([, list]) => list.length <= 2));
  for (const [id] of dead()) world.queues.set(id, []);
  await world.stop();
  assert.deepEqual(world.errors, []);
});

Deno.test("destinations without any success and slow ones do not keep another one waiting", async () => {
  for (const kind of ["unproven", "slow"]) {
    const world = new World();
    for (let n = 0; n < 40; n += 1) {
      world.queue(`${kind}-${n}`, 50);
      if (kind === "unproven") world.unproven.add(`${kind}-${n}`);
    }
    world.dispatcher.start();
    const names = Array.from({ length: 40 }, (_, n) => `${kind}-${n}`);
    let known = 0;
    await world.until(() => names.every((name) => world.attempted(name) > 0), () => {
      if (world.begun.length < known + 16) return;
      known = world.begun.length;
      world.now += 2_000;
      for (const name of names) world.endAll(name);
    });
    // From now on only attempts on the new destination are answered.
    world.queue("well", 200);
    await world.until(() => world.attempted("well") === 200, () => world.endAll("well"), 5);
    const others = [...world.inFlight].reduce(
      (sum, [id, list]) => sum + (id === "well" ? 0 : list.length),
      0,
    );
    assert.ok(others <= 32, `${kind}: ${others}`);
    for (let n = 0; n < 40; n += 1) world.queue(`${kind}-${n}`, 0);
    await world.stop();
  }
});

Deno.test("a thousand destinations all get their turn, and no more is claimed than can be sent soon", async () => {
  const world = new World();
  for (let n = 0; n < 1_000; n += 1) world.queue(`one-${n}`, 3);
  world.dispatcher.start();
  await world.until(() => world.begun.length >= 32);
  const left = () => [...world.queues.values()].reduce((sum, queue) => sum + queue.length, 0);
  assert.ok(3_000 - left() <= 32 + 64, `${left()}`);
  const total = () => world.settled.length;
  await world.until(() => total() === 3_000, () => {
    for (const id of world.inFlight.keys()) world.endAll(id);
  });
  await world.stop();
});

Deno.test("a destination without any success has one attempt at a time, also after its first ones failed", async () => {
  const world = new World();
  world.unproven.add("silent");
  world.queue("silent", 20);
  world.dispatcher.start();
  for (const failures of [0, 1, 2]) {
    await world.until(() => world.inFlight.get("silent")?.length === 1);
    const { now } = world;
    await world.until(() => world.now > now + 10_000);
    assert.equal(world.inFlight.get("silent")!.length, 1, `${failures}`);
    world.unproven.delete("silent");
    world.failures.set("silent", failures + 1);
    world.endAll("silent");
  }
  // Now it counts as a failing destination.
  await world.until(() => world.inFlight.get("silent")?.length === 2);
  const { now } = world;
  await world.until(() => world.now > now + 1_000);
  world.queue("silent", 0);
  const stopped = world.stop();
  world.endAll("silent");
  await stopped;
  assert.ok(world.most.each <= 2);
});

Deno.test("a slow destination and a new one are served beside dead ones", async () => {
  const world = new World();
  for (let n = 0; n < 40; n += 1) {
    world.queue(`dead-${n}`, 50);
    world.failures.set(`dead-${n}`, 5);
  }
  world.queue("slow", 12);
  world.queue("new", 5);
  world.unproven.add("new");
  world.dispatcher.start();
  await world.until(() => world.inFlight.get("slow")?.length === 8);
  world.now += 1_500;
  world.endAll("slow");
  await world.until(() => world.attempted("slow") === 12 && world.attempted("new") === 5, () => {
    world.endAll("slow");
    world.endAll("new");
  }, 5);
  assert.equal([...world.inFlight.values()].reduce((sum, { length }) => sum + length, 0), 32);
  for (let n = 0; n < 40; n += 1) world.queue(`dead-${n}`, 0);
  await world.stop();
});

Deno.test("a paused destination has one attempt at a time, and earlier claims are released", async () => {
  const world = new World();
  world.queue("failing", 20);
  world.dispatcher.start();
  await world.until(() => (world.inFlight.get("failing")?.length ?? 0) === 8);
  world.failures.set("failing", 20);
  world.paused.add("failing");
  world.endAll("failing");
  await world.until(() => world.attempted("failing") >= 8);
  // Attempts that began before the pause was known end, too.
  world.endAll("failing");
  world.queue("failing", 20);
  const begun = world.begun.length;
  await world.until(() => world.now > 1_020_000);
  assert.equal(world.inFlight.get("failing")!.length, 1);
  assert.equal(world.begun.length, begun + 1);
  assert.ok(world.settled.some(({ kind }) => kind === "released"), "waiting claims were released");
  world.queue("failing", 0);
  world.endAll("failing");
  await world.stop();
});

Deno.test("a stop begins no attempt, lets running ones end, and releases other claims", async () => {
  const world = new World();
  world.queue("well", 30);
  world.dispatcher.start();
  await world.until(() => world.begun.length === 8);
  const stopped = world.stop();
  const { now } = world;
  await world.until(() => world.now > now + 100);
  assert.equal(world.settled.length, 0);
  world.endAll("well");
  await stopped;
  assert.equal(world.begun.length, 8);
  const kinds = Object.groupBy(world.settled, ({ kind }) => kind);
  assert.equal(kinds.attempted!.length, 8);
  const left = world.queues.get("well")!.length;
  assert.equal(kinds.attempted!.length + (kinds.released?.length ?? 0) + left, 30);
});

Deno.test("outcomes that the database refuses are settled with the next ones, and nothing is sent twice", async () => {
  let refusals = 3;
  const world = new World({
    settle: () => (refusals-- > 0 ? Promise.reject(new Error("passing")) : Promise.resolve()),
  });
  world.queue("well", 20);
  world.dispatcher.start();
  await world.until(() => world.attempted("well") === 20, () => world.endAll("well"));
  await world.stop();
  assert.equal(new Set(world.begun).size, 20);
  assert.equal(world.begun.length, 20);
  assert.deepEqual(world.errors, []);
});

Deno.test("a claim whose lease would not outlast an attempt any more is released", async () => {
  const world = new World();
  world.queue("slow", 16);
  world.dispatcher.start();
  await world.until(() => world.begun.length === 8);
  world.now += LEASE_MS - TIMEOUT_MS;
  world.endAll("slow");
  await world.until(() => world.settled.length === 16);
  assert.equal(world.begun.length, 8);
  assert.equal(world.settled.filter(({ kind }) => kind === "released").length, 8);
  await world.stop();
});
