/**
 * The laws of rate limits: the sliding window, under adversarial schedules, equals its definition counted
 * request by request; and an address is one subject however it is spelt.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { clientAddress, limitSubject } from "../../src/limits/client_address.ts";
import { parseNetworks } from "../../src/limits/networks.ts";
import { manualClock, memoryWindow } from "../harness.ts";
import { sharedLimit, withStore } from "../shared_limits.ts";

const SEED = 20_261_120;
const WINDOW = 60_000;

interface Arrival {
  readonly subject: string;
  readonly at: number;
}

/** Gaps that show a window that is off by one: none, one, and just under, at and over the window. */
const gap = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(0, 0, 1, 0.5, WINDOW - 1, WINDOW, WINDOW + 1, WINDOW - 0.25) },
  { weight: 2, arbitrary: fc.nat({ max: 1_000 }) },
  { weight: 2, arbitrary: fc.nat({ max: 2 * WINDOW }) },
  { weight: 1, arbitrary: fc.constantFrom(WINDOW / 2, WINDOW / 3, 10 * WINDOW) },
);

const schedule = fc.array(fc.record({ subject: fc.constantFrom("a", "a", "b"), gap }), { maxLength: 200 })
  .map(
    (steps): readonly Arrival[] => {
      let at = 0;
      return steps.map(({ subject, gap }) => ({ subject, at: at += gap }));
    },
  );

const limits = fc.constantFrom(1, 2, 3, 5, 20);

function run(limit: number, arrivals: readonly Arrival[]) {
  const window = memoryWindow(limit);
  return arrivals.map(({ subject, at }) => ({ subject, at, ...window.admit(subject, at) }));
}

Deno.test("no span of 60 s, wherever it starts, admits more requests than the limit", () => {
  fc.assert(
    fc.property(limits, schedule, (limit, arrivals) => {
      for (const subject of ["a", "b"]) {
        const times = run(limit, arrivals).filter((row) => row.subject === subject && row.admitted)
          .map(({ at }) => at);
        // A half-open span with the most requests starts at an admitted request.
        for (const start of times) {
          const inside = times.filter((at) => at >= start && at < start + WINDOW);
          assert.ok(inside.length <= limit, `${inside.length} from ${start} on, at most ${limit}`);
        }
      }
    }),
    { seed: SEED, numRuns: 500 },
  );
});

Deno.test("a request is refused if and only if the limit was reached in the 60 s before it", () => {
  fc.assert(
    fc.property(limits, schedule, (limit, arrivals) => {
      const admitted: Arrival[] = [];
      for (const row of run(limit, arrivals)) {
        const counted = admitted.filter(({ subject, at }) => subject === row.subject && at > row.at - WINDOW);
        assert.equal(row.admitted, counted.length < limit, `at ${row.at}`);
        if (row.admitted) admitted.push(row);
      }
    }),
    { seed: SEED, numRuns: 500 },
  );
});

Deno.test("an answer states what is left now and when the oldest counted request leaves the window", () => {
  fc.assert(
    fc.property(limits, schedule, (limit, arrivals) => {
      const admitted: Arrival[] = [];
      for (const row of run(limit, arrivals)) {
        if (row.admitted) admitted.push(row);
        const counted = admitted.filter(({ subject, at }) => subject === row.subject && at > row.at - WINDOW);
        assert.equal(row.limit, limit);
        assert.equal(row.remaining, limit - counted.length, `at ${row.at}`);
        assert.equal(row.resetMs, counted[0]!.at + WINDOW - row.at, `at ${row.at}`);
        assert.ok(row.resetMs > 0 && row.resetMs <= WINDOW);
      }
    }),
    { seed: SEED, numRuns: 500 },
  );
});

Deno.test("refused requests are not counted: without them every other answer is the same", () => {
  fc.assert(
    fc.property(limits, schedule, (limit, arrivals) => {
      const all = run(limit, arrivals);
      const without = run(limit, arrivals.filter((_, index) => all[index]!.admitted));
      assert.deepEqual(without, all.filter(({ admitted }) => admitted));
    }),
    { seed: SEED, numRuns: 300 },
  );
});

Deno.test("a refused request is admitted after the wait that its answer states", () => {
  fc.assert(
    fc.property(limits, schedule, (limit, arrivals) => {
      const window = memoryWindow(limit);
      let last: Arrival & { readonly admitted: boolean; readonly resetMs: number } | undefined;
      for (const { subject, at } of arrivals) last = { subject, at, ...window.admit(subject, at) };
      fc.pre(last !== undefined && !last.admitted);
      assert.equal(window.admit(last.subject, last.at + last.resetMs).admitted, true);
    }),
    { seed: SEED, numRuns: 300 },
  );
});

Deno.test("one subject's requests change nothing for another", () => {
  fc.assert(
    fc.property(limits, schedule, (limit, arrivals) => {
      const together = run(limit, arrivals).filter(({ subject }) => subject === "a");
      const alone = run(limit, arrivals.filter(({ subject }) => subject === "a"));
      assert.deepEqual(together, alone);
    }),
    { seed: SEED, numRuns: 300 },
  );
});

Deno.test("thousands of subjects that come and go are each limited by the definition", () => {
  const burst = fc.record({
    subjects: fc.nat({ max: 6_000 }),
    requests: fc.integer({ min: 1, max: 4_000 }),
    gap: fc.constantFrom(0, 0.5, 7, 40),
    lull: fc.constantFrom(0, 1_000, WINDOW - 1, WINDOW, 3 * WINDOW),
    step: fc.integer({ min: 1, max: 7_919 }),
  });
  fc.assert(
    fc.property(fc.array(burst, { minLength: 2, maxLength: 6 }), (bursts) => {
      const window = memoryWindow(2);
      const admitted = new Map<string, number[]>();
      let at = 0;
      for (const { subjects, requests, gap, lull, step } of bursts) {
        for (let n = 0; n < requests; n += 1) {
          const subject = `subject ${(n * step) % (subjects + 1)}`;
          const counted = (admitted.get(subject) ?? []).filter((time) => time > at - WINDOW);
          const answer = window.admit(subject, at);
          if (answer.admitted) counted.push(at);
          admitted.set(subject, counted);
          assert.deepEqual(
            [answer.remaining, answer.resetMs],
            [2 - counted.length, counted[0]! + WINDOW - at],
            `${subject} at ${at}`,
          );
          at += gap;
        }
        at += lull;
      }
      const live = [...admitted.values()].filter((times) => times.some((time) => time > at - WINDOW)).length;
      window.forget(at);
      assert.equal(window.subjects, live);
    }),
    { seed: SEED, numRuns: 60 },
  );
});

// ---- shared by processes ----------------------------------------------------------------------------------

const SECOND = 1_000;

/** Gaps that show a bucket that is off by one. */
const sharedGap = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(0, 0, 0, 1, SECOND - 1, SECOND, WINDOW - 1, WINDOW, WINDOW + 1) },
  { weight: 2, arbitrary: fc.nat({ max: 3 * SECOND }) },
  { weight: 1, arbitrary: fc.constantFrom(WINDOW - SECOND, WINDOW + SECOND - 1, WINDOW / 2, 10 * WINDOW) },
);

const sharedSchedule = fc.array(
  fc.record({ side: fc.nat({ max: 2 }), subject: fc.constantFrom("a", "a", "b"), gap: sharedGap }),
  { maxLength: 60 },
);

Deno.test("processes with a shared store together admit at most the limit in any 60 s, and refuse at most a second early", () =>
  withStore(async (open) => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(1, 2, 3, 5), sharedSchedule, async (limit, steps) => {
        run += 1;
        const clock = manualClock();
        const options = { open, clock, layer: String(run) };
        const sides = [0, 1, 2].map(() => sharedLimit(limit, options));
        const asked: (Arrival & { readonly admitted: boolean })[] = [];
        for (const { side, subject, gap } of steps) {
          clock.advance(gap);
          const at = clock.monotonic();
          const { admitted, counted } = await sides[side]!.admit(subject);
          assert.equal(counted, true);
          asked.push({ subject, at, admitted });
        }
        for (const side of sides) await side.close();
        for (const { subject, at, admitted } of asked) {
          const before = asked.filter((other) => other.subject === subject && other.at <= at);
          if (admitted) {
            const inside = before.filter((other) => other.admitted && other.at > at - WINDOW);
            assert.ok(inside.length <= limit, `${inside.length} until ${at}, at most ${limit}`);
          } else {
            const near = before.filter((other) => other.at > at - WINDOW - SECOND);
            assert.ok(near.length > limit, `refused at ${at} after ${near.length}`);
          }
        }
      }),
      { seed: SEED, numRuns: 40 },
    );
  }));

// ---- addresses --------------------------------------------------------------------------------------------

/** Eight groups, many of them zero. */
const groups = fc.array(fc.oneof(fc.constant(0), fc.nat({ max: 0xffff })), { minLength: 8, maxLength: 8 });

interface Spelling {
  readonly padded: boolean;
  readonly upper: boolean;
  readonly dotted: boolean;
  /** The places at which a run of zeros is left out, if one starts there. */
  readonly elideFrom: number;
}

const spelling: fc.Arbitrary<Spelling> = fc.record({
  padded: fc.boolean(),
  upper: fc.boolean(),
  dotted: fc.boolean(),
  elideFrom: fc.nat({ max: 8 }),
});

function spell(groups: readonly number[], { padded, upper, dotted, elideFrom }: Spelling): string {
  const words = groups.map((group) => group.toString(16).padStart(padded ? 4 : 1, "0"));
  const [high, low] = groups.slice(6) as [number, number];
  const tail = dotted ? [[high >> 8, high & 255, low >> 8, low & 255].join(".")] : words.slice(6);
  const all = [...words.slice(0, 6), ...tail];
  let end = elideFrom;
  while (end < 6 && groups[end] === 0) end += 1;
  const text = end > elideFrom
    ? `${all.slice(0, elideFrom).join(":")}::${all.slice(end).join(":")}`
    : all.join(":");
  return upper ? text.toUpperCase() : text;
}

Deno.test("an IPv6 address is counted by its first four groups, however it is spelt", () => {
  fc.assert(
    fc.property(groups, spelling, (numbers, how) => {
      const subject = `${numbers.slice(0, 4).map((group) => group.toString(16)).join(":")}::/64`;
      assert.equal(limitSubject(spell(numbers, how)), subject);
    }),
    { seed: SEED, numRuns: 1_000 },
  );
});

Deno.test("whatever a client writes into X-Forwarded-For, its real address is the one that is counted", () => {
  const trusted = parseNetworks(["10.0.0.0/8"]);
  const hop = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.constantFrom("10.1.1.1", "unknown", ""));
  const proxies = fc.array(fc.constantFrom("10.0.0.1", "10.2.2.2", "::ffff:10.3.3.3"), { maxLength: 3 });
  fc.assert(
    fc.property(fc.array(hop, { maxLength: 5 }), proxies, (written, appended) => {
      const forwardedFor = [...written, "198.51.100.1", ...appended].join(", ");
      assert.equal(clientAddress("10.0.0.9", { forwardedFor, trusted }), "198.51.100.1");
      assert.equal(clientAddress("198.51.100.1", { forwardedFor, trusted }), "198.51.100.1");
    }),
    { seed: SEED, numRuns: 500 },
  );
});
