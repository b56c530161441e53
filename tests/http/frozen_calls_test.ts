/**
 * Calls that are frozen during an incident. Reports and Article 14 count each of them also if the clock went
 * back, an operator was erased or the chain was pruned, and verification finds alterations of their rows.
 */
import assert from "node:assert/strict";
import { acknowledgeRestore } from "../../src/operations/restoring/restores.ts";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import { verifyChain } from "../../src/operations/verification/verification.ts";
import { copyDatabase } from "../database.ts";
import { rowsOf } from "../earlier_schema.ts";
import {
  EPOCH,
  type Harness,
  openHarness,
  scoreRequest,
  withAlterations,
  withHarness,
  writingAfterReads,
} from "../harness.ts";
import { resealed } from "../resealed.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FREEZE = "/v1/score?mode_override=incident_frozen";

async function freeze({ send }: Harness, key: string, session: string, operator = "anna") {
  const answer = await send(FREEZE, {
    key,
    body: scoreRequest({ session_id: session, operator_id: operator }),
  });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

/**
 * The number of incident freezes that a report states for a period between two instants in epoch
 * milliseconds.
 */
async function freezesBetween({ send }: Harness, key: string, start: number, end: number): Promise<number> {
  const period = new URLSearchParams({
    period_start: new Date(start).toISOString(),
    period_end: new Date(end).toISOString(),
  });
  const answer = await send(`/v1/compliance/report?${period}`, { key });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.report.population.incident_freezes;
}

async function findingsOf({ dependencies, clock }: Harness, family = "org/acme") {
  const { findings } = await verifyChain(dependencies, {
    family,
    from: 0,
    sinceSize: null,
    now: clock.now(),
  });
  // Pruning has a finding of its own.
  return findings.filter(({ code }) => code !== "PRUNED_PREFIX").map(({ code, detail }) => [code, detail]);
}

async function alter({ database }: Harness, ...statements: readonly string[]): Promise<void> {
  await database.batch(statements.map((sql) => ({ sql, parameters: [] })));
}

const linksOf = ({ database }: Harness) =>
  rowsOf(
    database,
    `SELECT session_id, operator_id, n, t0 - ${EPOCH} AS t0, t1 - ${EPOCH} AS t1 FROM skipped_interaction
      ORDER BY position`,
  );

Deno.test(
  "a frozen call counts at the latest instant of the calls up to it, so that a clock that goes back moves none",
  withHarness(async (harness) => {
    const { clock } = harness;
    const key = await harness.organization("acme");
    await freeze(harness, key, "first");
    clock.advance(2 * HOUR);
    await freeze(harness, key, "second");
    clock.advance(-HOUR);
    await freeze(harness, key, "third");
    await freeze(harness, key, "of-another", "bela");
    clock.advance(5 * HOUR);
    await freeze(harness, key, "fourth");
    const freezes = (start: number, end: number) =>
      freezesBetween(harness, key, EPOCH + start * HOUR, EPOCH + end * HOUR);
    assert.equal(await freezes(-1, 10), 5);
    assert.equal(await freezes(-1, 1), 1);
    // The second and the third call of anna, and the one of bela.
    assert.deepEqual([await freezes(1, 2), await freezes(2, 3)], [1, 2]);
    assert.deepEqual([await freezes(3, 10), await freezes(7, 10)], [1, 0]);
    assert.deepEqual((await linksOf(harness)).map(({ n, t1 }) => [n, Number(t1) / HOUR]), [
      [1, 0],
      [2, 2],
      [3, 2],
      [1, 1],
      [4, 6],
    ]);
  }),
);

Deno.test(
  "frozen calls sent at once with scores and batches of the same operator are each counted once",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const sessions = Array.from({ length: 12 }, (_, index) => `frozen-${index}`);
    const batch = (name: string) =>
      harness.send("/v1/score/batch", {
        key,
        body: {
          operator_id: "anna",
          domain: "general",
          interactions: [1, 2].map((index) => ({
            session_id: `${name}-${index}`,
            time_to_decision_ms: 5000,
            decision: "accepted",
          })),
        },
      });
    const answers = await Promise.all([
      // Each session is sent twice: the second call is a repetition.
      ...[...sessions, ...sessions].map((session) => freeze(harness, key, session)),
      ...["one", "two"].map(batch),
      harness.send("/v1/score", { key, body: scoreRequest({ session_id: "scored", operator_id: "anna" }) }),
    ]);
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    const links = await linksOf(harness);
    assert.deepEqual(links.map(({ n }) => n), sessions.map((_, index) => index + 1));
    assert.equal(await freezesBetween(harness, key, EPOCH - DAY, EPOCH + DAY), 12);
    assert.equal((await harness.send("/v1/compliance/article14", { key })).status, 200);
    assert.deepEqual(await findingsOf(harness), []);
  }),
);

Deno.test(
  "an erasure removes an operator's frozen calls from every count, and the next call under that name is its first",
  withHarness(async (harness) => {
    const { clock, database } = harness;
    const key = await harness.organization("acme");
    for (const session of ["a-1", "a-2"]) await freeze(harness, key, session);
    await freeze(harness, key, "b-1", "bela");
    clock.advance(HOUR);
    assert.equal((await harness.send("/v1/operator/anna", { key, method: "DELETE" })).status, 200);
    const freezes = () => freezesBetween(harness, key, EPOCH - DAY, EPOCH + DAY);
    assert.equal(await freezes(), 1);
    assert.deepEqual(
      await rowsOf(database, "SELECT operator_id, n FROM frozen_operator"),
      [{ operator_id: "bela", n: 1 }],
    );
    await freeze(harness, key, "a-3");
    assert.equal(await freezes(), 2);
    assert.deepEqual((await linksOf(harness)).map(({ session_id, n, t0 }) => [session_id, n, t0]), [
      ["b-1", 1, 0],
      ["a-3", 1, HOUR],
    ]);
    assert.equal((await harness.send("/v1/organization/dashboard", { key })).status, 200);
    assert.deepEqual(await findingsOf(harness), []);
  }),
);

Deno.test(
  "after pruning removed frozen calls the kept ones are counted, and the next one continues their count",
  withHarness(async (harness) => {
    const { clock, database } = harness;
    const key = await harness.organization("acme");
    for (const session of ["old-1", "old-2"]) await freeze(harness, key, session);
    await freeze(harness, key, "old-b", "bela");
    clock.advance(5 * DAY);
    await freeze(harness, key, "kept");
    clock.advance(28 * DAY);
    await pruneChains(harness.dependencies, clock.now());
    assert.deepEqual((await linksOf(harness)).map(({ session_id, n }) => [session_id, n]), [["kept", 3]]);
    const freezes = () => freezesBetween(harness, key, EPOCH + 4 * DAY, EPOCH + 40 * DAY);
    assert.equal(await freezes(), 1);
    for (const [session, operator] of [["next", "anna"], ["next-b", "bela"]] as const) {
      await freeze(harness, key, session, operator);
    }
    assert.equal(await freezes(), 3);
    const article14 = await harness.send("/v1/compliance/article14", { key });
    assert.equal(article14.status, 200, article14.text);
    assert.deepEqual(
      await rowsOf(database, "SELECT operator_id, n FROM frozen_operator ORDER BY operator_id"),
      [{ operator_id: "anna", n: 4 }, { operator_id: "bela", n: 2 }],
    );
    assert.deepEqual(await findingsOf(harness), []);
  }, { evidenceRetentionDays: 30 }),
);

Deno.test("an acknowledgement counts frozen calls anew from the chain, also after pruning", async () => {
  const harness = await openHarness({ evidenceRetentionDays: 30 });
  const { clock, database, dependencies } = harness;
  const key = await harness.organization("acme");
  for (const operator of ["anna", "bela"]) await freeze(harness, key, `old-${operator}`, operator);
  clock.advance(5 * DAY);
  for (const session of ["one", "two", "three"]) await freeze(harness, key, session);
  clock.advance(28 * DAY);
  await pruneChains(dependencies, clock.now());
  const freezes = () => freezesBetween(harness, key, EPOCH + 4 * DAY, EPOCH + 40 * DAY);
  assert.equal(await freezes(), 3);
  await alter(
    harness,
    "UPDATE frozen_operator SET n = 1, t1 = t1 + 86400000000 WHERE operator_id = 'anna'",
    "UPDATE skipped_interaction SET n = 1, t1 = t1 - 86400000000, t0 = 5, previous = NULL",
    "INSERT INTO frozen_operator SELECT org_id, 'nobody', position, n, t0, t1, seal FROM frozen_operator LIMIT 1",
  );
  await acknowledgeRestore(dependencies, { reason: "the file was altered", now: clock.now() });
  assert.equal(await freezes(), 3);
  assert.deepEqual(
    await rowsOf(database, "SELECT operator_id, n FROM frozen_operator"),
    [{ operator_id: "anna", n: 3 }],
    "bela has no record left, and nobody never existed",
  );
  for (const operator of ["anna", "bela"]) await freeze(harness, key, `next-${operator}`, operator);
  assert.equal(await freezes(), 5);
  assert.deepEqual(await findingsOf(harness), []);
  await harness.close();
});

Deno.test("after a restore the frozen calls in the backup are counted, and the next one continues their count", async () => {
  const directory = await Deno.makeTempDir();
  const [path, lockPath] = [`${directory}/jiss.db`, `${directory}/lock.db`];
  const start = (run: number) => openHarness({ path, lockPath, run });
  const first = await start(0);
  const key = await first.organization("acme");
  for (const session of ["one", "two"]) await freeze(first, key, session);
  await first.close();
  await copyDatabase(path, `${directory}/backup`);
  const second = await start(1);
  await freeze(second, key, "lost");
  await second.close();
  await copyDatabase(`${directory}/backup`, path);
  const harness = await start(2);
  await acknowledgeRestore(harness.dependencies, { reason: "the disk failed", now: harness.clock.now() });
  await freeze(harness, key, "next");
  assert.equal(await freezesBetween(harness, key, EPOCH - DAY, EPOCH + DAY), 3);
  assert.deepEqual((await linksOf(harness)).map(({ session_id, n }) => [session_id, n]), [
    ["one", 1],
    ["two", 2],
    ["next", 3],
  ]);
  assert.deepEqual(await findingsOf(harness), []);
  await harness.close();
  await Deno.remove(directory, { recursive: true });
});

for (
  const [what, statement, detail] of [
    [
      "a frozen call in the middle of a period that was deleted",
      "DELETE FROM skipped_interaction WHERE session_id = 's-2'",
      /a row of skipped_interaction is missing/,
    ],
    [
      "a frozen call whose count was altered",
      "UPDATE skipped_interaction SET n = 7 WHERE session_id = 's-2'",
      /a row of skipped_interaction was altered/,
    ],
    [
      "a frozen call that was moved to another time",
      "UPDATE skipped_interaction SET t1 = t1 + 1 WHERE session_id = 's-2'",
      /a row of skipped_interaction was altered/,
    ],
    [
      "a frozen call that names another before it",
      "UPDATE skipped_interaction SET previous = NULL WHERE session_id = 's-2'",
      /a row of skipped_interaction was altered/,
    ],
    [
      "an altered count of an operator's frozen calls",
      "UPDATE frozen_operator SET n = n - 1",
      /a row of frozen_operator was altered/,
    ],
    [
      "a missing row of an operator with frozen calls",
      "DELETE FROM frozen_operator",
      /a row of operator or frozen_operator or .* is missing/,
    ],
  ] as const
) {
  Deno.test(
    `verification finds ${what}, and reports nothing else`,
    withAlterations(async (harness) => {
      const key = await harness.organization("acme");
      for (const session of ["s-0", "s-1", "s-2", "s-3", "s-4"]) {
        await freeze(harness, key, session);
        harness.clock.advance(HOUR);
      }
      const freezes = () => freezesBetween(harness, key, EPOCH - DAY, EPOCH + DAY);
      assert.equal(await freezes(), 5);
      assert.deepEqual(await findingsOf(harness), []);
      await alter(harness, statement);
      const findings = await findingsOf(harness);
      assert.deepEqual(new Set(findings.map(([code]) => code)), new Set(["ROW_ALTERED"]));
      assert.match(String(findings[0]![1]), detail);
      if (statement.includes("frozen_operator")) return;
      // A row between the first and the last of a period affects no count.
      assert.equal(findings.length, 1);
      assert.equal(await freezes(), 5);
    }),
  );
}

for (
  const [what, ...statements] of [
    [
      "a frozen call whose count does not follow the one before it",
      "UPDATE skipped_interaction SET n = 7, seal = NULL WHERE session_id = 's-1'",
    ],
    [
      "a frozen call that names another before it",
      "UPDATE skipped_interaction SET previous = previous - 1, seal = NULL WHERE session_id = 's-2'",
    ],
    [
      "an operator's row that differs from the last frozen call",
      "UPDATE frozen_operator SET n = 2, seal = NULL",
    ],
    ["frozen calls of an operator without a row", "DELETE FROM frozen_operator"],
  ] as const
) {
  Deno.test(
    `verification compares frozen calls with the chain even if their seals are valid: ${what}`,
    withAlterations(async (harness) => {
      const key = await harness.organization("acme");
      for (const session of ["s-0", "s-1", "s-2"]) await freeze(harness, key, session);
      await alter(harness, ...statements);
      await resealed(harness.dependencies);
      const codes = (await findingsOf(harness)).map(([code]) => code);
      assert.deepEqual(new Set(codes), new Set(["ROW_ALTERED"]));
    }),
  );
}

Deno.test("verification finds nothing wrong with calls that are frozen or erased while it reads", async () => {
  let reads = 0;
  let meanwhile: { readonly at: number; readonly work: () => Promise<unknown> } | null = null;
  const harness = await openHarness({
    wrap: (database) =>
      writingAfterReads(database, async () => {
        reads += 1;
        if (reads !== meanwhile?.at) return;
        const { work } = meanwhile;
        meanwhile = null;
        await work();
      }),
  });
  const key = await harness.organization("acme");
  const erase = (operator: string) => harness.send(`/v1/operator/${operator}`, { key, method: "DELETE" });
  // Each of these changes is made after each of the last reads, which read the rows.
  for (let back = 1; back <= 7; back += 1) {
    for (
      const [index, work] of [
        () => freeze(harness, key, `new-${back}`),
        () => erase("anna"),
        () => erase("bela").then(() => freeze(harness, key, `again-${back}`, "bela")),
      ].entries()
    ) {
      for (const operator of ["anna", "bela"]) {
        for (const time of [1, 2]) {
          await freeze(harness, key, `${operator}-${back}-${index}-${time}`, operator);
        }
      }
      reads = 0;
      assert.deepEqual(await findingsOf(harness), []);
      meanwhile = { at: reads - back, work };
      reads = 0;
      assert.deepEqual(await findingsOf(harness), [], `${index}, ${back} reads before the end`);
      assert.equal(meanwhile, null, "the change was made meanwhile");
    }
  }
  await harness.close();
});
