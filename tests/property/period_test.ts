/**
 * The law of a period: what it says of an operator is what a count over the operator's rows says, one by one, on
 * whatever millisecond it starts and ends, in whatever order rows came, and whatever was deleted meanwhile.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { MIGRATIONS } from "../../migrations/mod.ts";
import { DECISIONS } from "../../src/domain/enums.ts";
import type { Period } from "../../src/domain/report.ts";
import { type Database, query, type Statement } from "../../src/store/database.ts";
import { periodQuery } from "../../src/store/interactions.ts";
import { migrate } from "../../src/store/migrate.ts";
import { interactions } from "../../src/store/records.ts";
import { IS_SERVER, openTestDatabase } from "../database.ts";

const SEED = 20_261_122;
const DAY = 86_400_000;
/** The start of a day. */
const START = Date.UTC(2026, 10, 18);
const DAYS = 5;
const OPERATORS = ["a", "b", "c"];

/** Where a count that is off by one shows: at the start and the middle of a day, and a millisecond beside. */
const instant = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.nat({ max: DAYS * 2 }), fc.constantFrom(-1, 0, 1)) },
  { weight: 2, arbitrary: fc.tuple(fc.constant(0), fc.nat({ max: DAYS * DAY })) },
).map(([half, past]) => START + half * DAY / 2 + past);

/** A row as far as it is counted; a share of departure beside a referral, or an acceptance, counts as it stands. */
const row = fc.record({
  operator: fc.constantFrom(...OPERATORS),
  at: instant,
  decision: fc.constantFrom(...DECISIONS),
  departure: fc.constantFrom(0, 0, 0.004, 0.37, 1),
});
type Row = typeof row extends fc.Arbitrary<infer Value> ? Value & { readonly position: number } : never;

const rows = fc.array(row, { maxLength: 60, size: "max" })
  .map((some): readonly Row[] => some.map((one, position) => ({ ...one, position })));

const periods = fc.array(fc.tuple(instant, instant), { minLength: 1, maxLength: 12, size: "max" })
  .map((all): readonly Period[] =>
    all.map(([one, other]) => ({ start: Math.min(one, other), end: Math.max(one, other) + 1 }))
  );

/** By operator, in their order. */
function countOneByOne(all: readonly Row[], { start, end }: Period) {
  return OPERATORS.flatMap((operator) => {
    const inside = all.filter((one) => one.operator === operator && one.at >= start && one.at < end)
      .toSorted((one, other) => one.at - other.at || one.position - other.position);
    const last = inside.at(-1);
    if (last === undefined) return [];
    const referred = inside.filter(({ decision }) => decision === "deferred" || decision === "escalated");
    const departed = inside.filter((one) => one.departure > 0 && !referred.includes(one));
    return [{
      operator,
      last: last.position,
      interactions: inside.length,
      departures: departed.length,
      referrals: referred.length,
    }];
  });
}

async function asked(database: Database, orgId: string, period: Period) {
  const found = await database.read(periodQuery(orgId, period));
  return found.map(({ operator_id, position, interactions, departures, referrals }) => ({
    operator: operator_id,
    last: position,
    interactions,
    departures,
    referrals,
  }));
}

/** What is kept of days, as a count over the rows would have it. */
function daysOf(all: readonly Row[]) {
  const days = [...new Set(all.map(({ at }) => Math.floor(at / DAY)))].sort((one, other) => one - other);
  return OPERATORS.flatMap((operator) =>
    days.flatMap((day) => {
      const own = all.filter((one) => one.operator === operator);
      return countOneByOne(own, { start: day * DAY, end: (day + 1) * DAY })
        .map(({ last: _, ...counts }) => ({ ...counts, day }));
    })
  );
}

async function keptDays(database: Database, orgId: string) {
  const found = await database.read(
    query.selectFrom("operator_day").selectAll().where("org_id", "=", orgId)
      .orderBy("operator_id").orderBy("day").compile(),
  );
  return found.map(({ org_id: _, operator_id, ...counts }) => ({ operator: operator_id, ...counts }));
}

const STATE = JSON.stringify({
  jis: 70,
  n: 1,
  t0: 0,
  t1: 0,
  tcrit: null,
  cnt: { crit: 0 },
  share: { hs: 0, crit: 0 },
});

/** A database with an organization for each run, so that no run sees another's rows. */
async function openRuns({ migrations } = { migrations: MIGRATIONS }) {
  const database = await openTestDatabase(":memory:");
  await migrate(database, { migrations, now: START });
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
          created_at: START,
        }).compile(),
        ...OPERATORS.flatMap((operator) => [
          query.insertInto("subject")
            .values({ org_id: orgId, operator_id: operator, pseudonym: operator.padEnd(32, "0") }).compile(),
          query.insertInto("operator").values({
            org_id: orgId,
            operator_id: operator,
            state: STATE,
            domain: "general",
            prior_seq: 0,
            prior_hash: new Uint8Array(32),
          }).compile(),
        ]),
      ]);
      return orgId;
    },
  };
}

function insertOf(orgId: string, { operator, at, decision, departure, position }: Row): Statement {
  return interactions.save!({
    org_id: orgId,
    session_id: `session-${position}`,
    operator_id: operator,
    request_digest: new Uint8Array(32),
    request_id: "request",
    at,
    domain: "general",
    decision,
    scenario_type: "standard",
    mode: "full",
    departure,
    position,
    committed: 1,
    jis: 70,
    low: 60,
    high: 80,
    ...{ d1: 70, d2: 70, d3: 70, d4: 70, d5: 70, d6: 70, d7: 70 },
    mean_c: 0.7,
    n: 1,
    t0: START,
    ground_truth: 0,
    tcrit: null,
    crit_count: 0,
    share_hs: 0,
    share_crit: 0,
  });
}

const deletion = (orgId: string) => query.deleteFrom("interaction").where("org_id", "=", orgId);

Deno.test("a period counts what its rows say one by one, after each deletion too, and nothing stays of who is gone", async () => {
  const { database, organization } = await openRuns();
  await fc.assert(
    fc.asyncProperty(rows, periods, fc.func(fc.boolean()), async (all, wanted, isDeleted) => {
      const orgId = await organization();
      const agrees = async (left: readonly Row[]) => {
        for (const period of wanted) {
          assert.deepEqual(
            await asked(database, orgId, period),
            countOneByOne(left, period),
            `${new Date(period.start).toISOString()} to ${new Date(period.end).toISOString()}`,
          );
        }
        assert.deepEqual(await keptDays(database, orgId), daysOf(left));
      };
      await agrees([]);
      await database.batch(all.map((one) => insertOf(orgId, one)));
      await agrees(all);
      const left = all.filter(({ position }) => !isDeleted(position));
      await database.batch(
        all.filter((one) => !left.includes(one)).map(({ position }) =>
          deletion(orgId).where("session_id", "=", `session-${position}`).compile()
        ),
      );
      await agrees(left);
      await database.batch([deletion(orgId).where("operator_id", "=", "a").compile()]);
      await agrees(left.filter(({ operator }) => operator !== "a"));
      await database.batch([deletion(orgId).compile()]);
      assert.deepEqual(await keptDays(database, orgId), []);
    }),
    { seed: SEED, numRuns: IS_SERVER ? 30 : 300 },
  );
  await database.close();
});

Deno.test("rows from before there were counts are counted as they stand, and those that come after them too", async () => {
  const { database, organization } = await openRuns({ migrations: MIGRATIONS.slice(0, 8) });
  const runs = await Promise.all(
    fc.sample(fc.tuple(rows, periods), { seed: SEED, numRuns: 20 }).map(async ([all, wanted]) => ({
      orgId: await organization(),
      all,
      wanted,
    })),
  );
  // Every second row of each is there before.
  const inserts = (parity: number) =>
    runs.flatMap(({ orgId, all }) =>
      all.filter(({ position }) => position % 2 === parity).map((one) => insertOf(orgId, one))
    );
  await database.batch(inserts(0));
  await migrate(database, { migrations: MIGRATIONS, now: START });
  for (const { orgId, all } of runs) {
    assert.deepEqual(
      await keptDays(database, orgId),
      daysOf(all.filter(({ position }) => position % 2 === 0)),
    );
  }
  await database.batch(inserts(1));
  for (const { orgId, all, wanted } of runs) {
    assert.deepEqual(await keptDays(database, orgId), daysOf(all));
    for (const period of wanted) {
      assert.deepEqual(await asked(database, orgId, period), countOneByOne(all, period));
    }
  }
  await database.close();
});

Deno.test("what a row is counted by never changes; what it is not counted by may", async () => {
  const { database, organization } = await openRuns();
  const orgId = await organization();
  await database.batch([
    insertOf(orgId, { operator: "a", at: START, decision: "accepted", departure: 0, position: 0 }),
  ]);
  const days = await keptDays(database, orgId);
  for (
    const changed of [
      { at: START + DAY },
      { operator_id: "b" },
      { decision: "deferred" },
      { departure: 1 },
    ]
  ) {
    await assert.rejects(
      database.batch([query.updateTable("interaction").set(changed).compile()]),
      /interaction_is_counted/,
    );
  }
  await database.batch([query.updateTable("interaction").set({ position: 7 }).compile()]);
  assert.deepEqual(await keptDays(database, orgId), days);
  await database.close();
});
