/**
 * The law of usage: the count over a window equals that of the instants in it, one by one, whatever hours
 * they fall in, however many share an instant, and whatever old instants were already deleted.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { MIGRATIONS } from "../../migrations/mod.ts";
import { type Database, query } from "../../src/store/database.ts";
import { openEmbedded } from "../../src/store/embedded.ts";
import { migrate } from "../../src/store/migrate.ts";
import { addUsage, countUsage, dailyUsage } from "../../src/store/usage.ts";
import { EPOCH, type Harness, openHarness } from "../harness.ts";

const SEED = 20_261_121;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WINDOW = 30 * DAY;
const USAGE_KEY = "master-key-of-the-tests-ORG_USAGE_READ-0001";

/** `count` scores at one instant, epoch milliseconds. */
interface Scored {
  readonly at: number;
  readonly count: number;
}

/** After `now` − 30 days, and not after `now`. */
function countOneByOne(scored: readonly Scored[], now: number): number {
  let sum = 0;
  for (const { at, count } of scored) if (at > now - WINDOW && at <= now) sum += count;
  return sum;
}

/**
 * Instants that show a count that is off by one: at an edge of an hour or the window, and a millisecond
 * beside it.
 */
const offset = fc.oneof(
  { weight: 4, arbitrary: fc.nat({ max: 40 * 24 }).map((hour) => hour * HOUR) },
  { weight: 2, arbitrary: fc.nat({ max: 40 * 24 }).map((hour) => hour * HOUR + 1) },
  { weight: 2, arbitrary: fc.nat({ max: 40 * 24 }).map((hour) => hour * HOUR + HOUR - 1) },
  { weight: 3, arbitrary: fc.nat({ max: 40 * DAY }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(0, 1, 10 * DAY - 1, 10 * DAY, 10 * DAY + 1, 40 * DAY - 1, 40 * DAY),
  },
);

const scores = fc.array(
  fc.record({ at: offset.map((past) => EPOCH + past), count: fc.constantFrom(1, 1, 1, 2, 100) }),
  { maxLength: 60, size: "max" },
);

/** A database with one organization for each run, so that no run sees another's counters. */
async function openCounters() {
  const database = openEmbedded({ path: ":memory:", onFatal: () => {} });
  await migrate(database, { migrations: MIGRATIONS, now: EPOCH });
  let runs = 0;
  return {
    database,
    async organization(): Promise<string> {
      const orgId = `org-${runs += 1}`;
      await database.batch([
        query.insertInto("organization").values({
          org_id: orgId,
          name: orgId,
          domain: "general",
          tier: "starter",
          allowed_origins: "",
          inactive_reasons: "[]",
          prefix: null,
          key_hash: null,
          api_key_version: 1,
          api_key_rotated_at: null,
          created_at: EPOCH,
        }).compile(),
      ]);
      return orgId;
    },
  };
}

/** Counts as the service does: the 30 days before `now`. */
function countAt(database: Database, orgId: string, now: number): Promise<number> {
  return countUsage(database, orgId, { from: now - WINDOW, to: now });
}

Deno.test("asked after each score, usage equals the count of the window's instants, one by one", async () => {
  const { database, organization } = await openCounters();
  await fc.assert(
    fc.asyncProperty(scores, fc.array(offset, { maxLength: 5 }), async (unordered, later) => {
      const orgId = await organization();
      const scored = unordered.toSorted((a, b) => a.at - b.at);
      for (const [index, { at, count }] of scored.entries()) {
        // The count of the window just before the instant and at it.
        const before = scored.slice(0, index);
        assert.equal(await countAt(database, orgId, at), countOneByOne(before, at));
        await database.batch(addUsage(orgId, { at, count }));
        assert.equal(await countAt(database, orgId, at), countOneByOne(scored.slice(0, index + 1), at));
      }
      const last = scored.at(-1)?.at ?? EPOCH;
      for (
        const now of [
          last + 1,
          ...scored.map(({ at }) => at + WINDOW),
          ...later.map((past) => last + past),
        ]
      ) {
        if (now < last) continue;
        assert.equal(await countAt(database, orgId, now), countOneByOne(scored, now), `at ${now}`);
      }
    }),
    { seed: SEED, numRuns: 150 },
  );
  await database.close();
});

Deno.test("the order in which a day's scores arrive changes no count", async () => {
  const { database, organization } = await openCounters();
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          at: offset.map((past) => EPOCH + past),
          count: fc.constantFrom(1, 2),
          // How far the clock had gone back when the score was written.
          late: fc.nat({ max: DAY - HOUR }),
        }),
        { maxLength: 40, size: "max" },
      ),
      fc.array(offset, { minLength: 1, maxLength: 5 }),
      async (unordered, later) => {
        const orgId = await organization();
        const scored = unordered.toSorted((a, b) => (a.at + a.late) - (b.at + b.late));
        for (const { at, count } of scored) await database.batch(addUsage(orgId, { at, count }));
        const last = Math.max(EPOCH, ...scored.map(({ at }) => at));
        for (const past of [0, ...later]) {
          const now = last + past;
          assert.equal(await countAt(database, orgId, now), countOneByOne(scored, now), `at ${now}`);
        }
      },
    ),
    { seed: SEED, numRuns: 200 },
  );
  await database.close();
});

Deno.test("a window of up to 31 days counts the instants after its start up to its end", async () => {
  const { database, organization } = await openCounters();
  await fc.assert(
    fc.asyncProperty(
      scores,
      fc.array(fc.tuple(offset, offset), { maxLength: 20, size: "max" }),
      async (scored, windows) => {
        const orgId = await organization();
        const ordered = scored.toSorted((a, b) => a.at - b.at);
        for (const { at, count } of ordered) await database.batch(addUsage(orgId, { at, count }));
        const lastHour = Math.floor((ordered.at(-1)?.at ?? EPOCH) / HOUR) * HOUR;
        for (const [start, length] of windows) {
          const from = Math.max(EPOCH + start, lastHour - 31 * DAY);
          const to = from + length % (31 * DAY);
          const expected = scored.filter(({ at }) => at > from && at <= to)
            .reduce((sum, { count }) => sum + count, 0);
          assert.equal(await countUsage(database, orgId, { from, to }), expected, `${from} to ${to}`);
        }
      },
    ),
    { seed: SEED, numRuns: 200 },
  );
  await database.close();
});

/** One step of a history over HTTP: time passes, then one call submits `scores` scores. */
const step = fc.record({
  gap: fc.oneof(
    fc.constantFrom(0, 1, HOUR - 1, HOUR, HOUR + 1, DAY, WINDOW - 1, WINDOW, WINDOW + 1),
    fc.nat({ max: 4 * DAY }),
  ),
  batch: fc.constantFrom(0, 1, 1, 1, 2, 7),
});

async function scoreSome({ send }: Harness, key: string, count: number, name: string): Promise<void> {
  if (count === 0) return;
  const interactions = Array.from({ length: count }, (_, index) => ({
    session_id: `${name}-${index}`,
    time_to_decision_ms: 9000,
    decision: "accepted",
  }));
  const common = { operator_id: "operator-1", domain: "general" };
  const answer = count === 1
    ? await send("/v1/score", { key, body: { ...common, ...interactions[0] } })
    : await send("/v1/score/batch", { key, body: { ...common, interactions } });
  assert.equal(answer.status, 200, answer.text);
}

Deno.test("over HTTP the usage record is the count of what was scored in its own period", async () => {
  const harness = await openHarness({ masterSecrets: { ORG_USAGE_READ: [USAGE_KEY] } });
  let runs = 0;
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: HOUR }),
        fc.array(step, { maxLength: 25, size: "max" }),
        async (begin, steps) => {
          const orgId = `org-${runs += 1}`;
          const key = await harness.organization(orgId);
          const scored: Scored[] = [];
          const agrees = async () => {
            const { body } = await harness.send(`/v1/admin/org/${orgId}/usage`, { key: USAGE_KEY });
            const now = harness.clock.now();
            assert.equal(body.interaction_count_current_period, countOneByOne(scored, now), body.period_end);
            assert.equal(Date.parse(body.period_end), now);
            assert.equal(Date.parse(body.period_start), now - WINDOW);
          };
          harness.clock.advance(begin);
          for (const [index, { gap, batch }] of steps.entries()) {
            harness.clock.advance(gap);
            await agrees();
            await scoreSome(harness, key, batch, `s-${index}`);
            scored.push({ at: harness.clock.now(), count: batch });
            await agrees();
          }
          for (const { at } of scored) {
            if (at + WINDOW <= harness.clock.now()) continue;
            harness.clock.advance(at + WINDOW - harness.clock.now());
            await agrees();
          }
        },
      ),
      { seed: SEED, numRuns: 15 },
    );
  } finally {
    await harness.close();
  }
});

Deno.test("the counts of the 31 days before an instant equal those of their instants, and each equals a count over it", async () => {
  const { database, organization } = await openCounters();
  await fc.assert(
    fc.asyncProperty(scores, fc.array(offset, { maxLength: 3 }), async (unordered, later) => {
      const orgId = await organization();
      const scored = unordered.toSorted((a, b) => a.at - b.at);
      for (const { at, count } of scored) await database.batch(addUsage(orgId, { at, count }));
      const last = scored.at(-1)?.at ?? EPOCH;
      // Nine whole days after each score: its count moves from one day to the one before.
      const instants = [last, ...later.map((past) => last + past), ...scored.map(({ at }) => at + 9 * DAY)];
      for (const now of instants.filter((instant) => instant >= last)) {
        const counts = await dailyUsage(database, orgId, { to: now, days: 31 });
        for (const [index, count] of counts.entries()) {
          const [from, to] = [now - (index + 1) * DAY, now - index * DAY];
          const inside = scored.filter(({ at }) => at > from && at <= to);
          assert.equal(count, inside.reduce((sum, row) => sum + row.count, 0), `day ${index} before ${now}`);
        }
        assert.equal(counts.length, 31);
        assert.equal(
          counts[3],
          await countUsage(database, orgId, { from: now - 4 * DAY, to: now - 3 * DAY }),
        );
      }
    }),
    { seed: SEED, numRuns: 150 },
  );
  await database.close();
});
