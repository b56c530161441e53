/**
 * The schema steps, over histories that the service wrote and that are taken back to the step before. Step 2
 * computes the rows that the service writes; steps 3, 4, 9 and 10 leave every row and every answer as it was;
 * a start then seals rows as the service seals them.
 */
import assert from "node:assert/strict";
import { MIGRATIONS } from "../../migrations/mod.ts";
import { DECISIONS } from "../../src/domain/enums.ts";
import { sealUnsealed } from "../../src/operations/restoring/resealing.ts";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import type { Database } from "../../src/store/database.ts";
import { openEmbedded } from "../../src/store/embedded.ts";
import { migrate } from "../../src/store/migrate.ts";
import { insertFirstKey } from "../../src/store/signing_keys.ts";
import { addUsage, countUsage } from "../../src/store/usage.ts";
import { makeQuickDir } from "../database.ts";
import { earlierDatabase, earlierRowsQuery, type Row, rowsOf, tablesOf } from "../earlier_schema.ts";
import {
  type Answer,
  EPOCH,
  type Harness,
  MASTER_KEY,
  openHarness,
  organizationRequest,
  type RequestOptions,
  scoreRequest,
} from "../harness.ts";
import { verifyDatabase } from "../oracle.ts";
import { contentOf, statusWith, storedOrganization } from "../scenario.ts";
import { bringToSchema } from "../schema.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WINDOW = 30 * DAY;

// ---- a history of step 1 ----------------------------------------------------------------------------------

/** The answered intervals of lite calls, by organization and session. */
type LiteIntervals = ReadonlyMap<string, { readonly low: number; readonly high: number }>;

/**
 * Two organizations with operators and sessions of the same names, every decision and scenario, full, lite
 * and frozen calls, several domains, a clock that goes back once, and gaps; nothing that is newer than step
 * 1.
 */
async function writeHistory({ send, organization, clock }: Harness, { gap }: { readonly gap: number }) {
  const lite = new Map<string, { readonly low: number; readonly high: number }>();
  const keys = new Map([["acme", await organization("acme")], ["other", await organization("other")]]);
  await organization("empty");
  const decisions = ["accepted", "modified", "rejected", "overridden", "deferred", "escalated"];
  const scenarios = [
    "standard",
    "high_stakes",
    "critical",
    "error_injected",
    "calibration",
    "ai_withheld",
    "standard",
  ];
  const domains = ["financial", "general", "healthcare"];
  for (let index = 0; index < 70; index += 1) {
    clock.advance(index === 35 ? -10 * gap : index % 4 === 0 ? 0 : gap);
    for (const [orgId, key] of keys) {
      if (orgId === "other" && index % 3 !== 0) continue;
      const mode = index % 5 === 2 ? "lite" : "full";
      const override = index % 11 === 7 ? "incident_frozen" : "normal";
      const answer = await send(`/v1/score?mode=${mode}&mode_override=${override}`, {
        key,
        body: scoreRequest({
          session_id: `session-${index}`,
          operator_id: `operator-${index % 4}`,
          domain: domains[Math.floor(index / 4) % 3],
        }, {
          decision: decisions[index % 6],
          modification_extent: [0, 0.05, 0.1, 0.2, 0.3, 1][Math.floor(index / 6) % 6],
          scenario_type: scenarios[index % 7],
          outcome_correct: [true, false, null][Math.floor(index / 7) % 3],
          time_to_decision_ms: 700 + 977 * (index % 13),
          hover_events: index % 2 === 0 ? null : index % 8,
        }),
      });
      assert.equal(answer.status, 200, answer.text);
      if (mode === "lite" && override === "normal") {
        lite.set(`${orgId}/session-${index}`, answer.body.uncertainty);
      }
    }
  }
  return lite;
}

/** Runs with a directory that is removed afterwards. */
async function withDirectory<Result>(run: (directory: string) => Promise<Result>): Promise<Result> {
  const directory = await makeQuickDir("jiss-step-");
  try {
    return await run(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/**
 * Makes a value for the first test that asks for it, and keeps it for the others: histories take most of the
 * time.
 */
function once<Key, Made>(make: (key: Key) => Promise<Made>): (key: Key) => Promise<Made> {
  const made = new Map<Key, Promise<Made>>();
  return (key) => {
    const known = made.get(key) ?? make(key);
    made.set(key, known);
    return known;
  };
}

async function openFile(path: string, content: Uint8Array): Promise<Database> {
  await Deno.writeFile(path, content);
  return openEmbedded({ path, onFatal: () => {} });
}

/**
 * A history with `gap` milliseconds between its calls: the verified file of today's service, and that of step
 * 1.
 */
const historyOf = once((gap: number) =>
  withDirectory(async (directory) => {
    const [today, step1] = [`${directory}/today.db`, `${directory}/step-1.db`];
    const harness = await openHarness({ path: today });
    const lite = await writeHistory(harness, { gap });
    await (await earlierDatabase(harness.database, { version: 1, path: step1 })).close();
    const now = harness.clock.now();
    await harness.close();
    return { lite, now, today: await Deno.readFile(today), step1: await Deno.readFile(step1) };
  })
);

interface Upgraded {
  /** The database that today's service wrote. */
  readonly written: Database;
  /** The same history, written at step 1 and migrated to step 2. */
  readonly database: Database;
  readonly lite: LiteIntervals;
  /** The end of the history. */
  readonly now: number;
}

const STEPS = MIGRATIONS.slice(0, 2);
const GAP = 5 * HOUR + 17;
const LONG_GAP = 21 * HOUR + 41 * 60_000;

/** Migrates a copy of a history of step 1 to step 2, and runs the test. */
function withUpgraded(test: (upgraded: Upgraded) => Promise<void>, gap = GAP): () => Promise<void> {
  return () =>
    withDirectory(async (directory) => {
      const { lite, now, today, step1 } = await historyOf(gap);
      const written = await openFile(`${directory}/today.db`, today);
      const database = await openFile(`${directory}/jiss.db`, step1);
      try {
        assert.deepEqual(await migrate(database, { migrations: STEPS, now }), ["surface"]);
        await test({ written, database, lite, now });
      } finally {
        await database.close();
        await written.close();
      }
    });
}

for (const gap of [GAP, LONG_GAP]) {
  Deno.test(
    `a history of step 1 with ${gap} ms between its calls verifies after all steps and a start, sealed as the service seals`,
    withUpgraded(async ({ written, database, now }) => {
      await migrate(database, { migrations: MIGRATIONS, now });
      const harness = await openHarness();
      // A start does the same.
      const { publicKey } = harness.verifierKey("any");
      await database.batch([insertFirstKey(publicKey)]);
      await sealUnsealed({ ...harness.dependencies, database });
      await verifyDatabase(database, { publicKey });
      await isSealedAlike(database, written);
      await harness.close();
    }, gap),
  );
}

/** Rows that follow from the records of a chain, and the heads with their digests, by table. */
const RECORDED: Readonly<Record<string, string>> = {
  subject: "SELECT * FROM subject ORDER BY org_id, operator_id",
  operator: "SELECT * FROM operator ORDER BY org_id, operator_id",
  interaction: "SELECT * FROM interaction ORDER BY org_id, session_id",
  skipped_interaction: "SELECT * FROM skipped_interaction ORDER BY org_id, session_id",
  frozen_operator: "SELECT * FROM frozen_operator ORDER BY org_id, operator_id",
  decision: "SELECT * FROM decision ORDER BY org_id, decision_id",
  score_commit: "SELECT * FROM score_commit ORDER BY org_id, session_id",
  outcome_label: "SELECT * FROM outcome_label ORDER BY org_id, session_id",
  score_batch: "SELECT * FROM score_batch ORDER BY org_id, request_digest",
  audit_chain:
    "SELECT chain, size, held FROM audit_chain WHERE chain GLOB 'org/*' AND chain NOT GLOB '*/admin' ORDER BY chain",
};

/** Asserts that every column of every sealed row, and its seal, equals the one that the service wrote. */
async function isSealedAlike(database: Database, written: Database): Promise<void> {
  for (const [table, text] of Object.entries(RECORDED)) {
    // The comment makes another text: the connection has prepared this one before the step.
    const [upgraded, own] = [await rowsOf(database, `${text} -- sealed`), await rowsOf(written, text)];
    assert.deepEqual(upgraded, own, table);
  }
}

// ---- step 2 -----------------------------------------------------------------------------------------------

Deno.test(
  "after step 2 an interaction's row is the one that today's service writes, except for the interval of lite ones",
  withUpgraded(async ({ written: source, database, lite }) => {
    const query = await earlierRowsQuery("interaction", { earlier: database, today: source });
    const written = await rowsOf(source, `${query} ORDER BY org_id, session_id`);
    const migrated = await rowsOf(database, "SELECT * FROM interaction ORDER BY org_id, session_id");
    assert.equal(migrated.length, written.length);
    assert.ok(written.length > 70 && lite.size > 15);
    // Step 1 kept only the lite interval of a lite call, so the row has that one.
    const expected = written.map((row) => {
      const interval = lite.get(`${row.org_id}/${row.session_id}`);
      return interval === undefined ? row : { ...row, low: interval.low, high: interval.high };
    });
    for (const [index, row] of expected.entries()) assert.deepEqual(migrated[index], row);
    const differing = written.filter((row, index) =>
      row.low !== migrated[index]!.low || row.high !== migrated[index]!.high
    );
    assert.ok(differing.length > 0, "the exception occurs");
    assert.ok(differing.every(({ mode }) => mode === "lite"));
  }),
);

Deno.test(
  "after step 2 the history has departures, ground truth and critical cases, as intended",
  withUpgraded(async ({ database }) => {
    const [row] = await rowsOf(
      database,
      `SELECT count(DISTINCT departure) AS departures, max(ground_truth) AS truth,
        max(crit_count) AS critical, sum(tcrit IS NULL) AS before_critical, max(n) AS n,
        count(DISTINCT t0) AS first, max(share_hs) AS share,
        (SELECT count(*) FROM skipped_interaction) AS skipped FROM interaction`,
    );
    for (const [name, value] of Object.entries(row!)) assert.ok(Number(value) > 0, `${name}: ${value}`);
    assert.ok(Number(row!.departures) >= 4);
  }),
);

Deno.test(
  "after step 2 usage counters are those that today's service keeps",
  withUpgraded(async ({ written: source, database, now }) => {
    for (const text of ["SELECT * FROM usage_hour", "SELECT * FROM usage_instant"]) {
      const [written, migrated] = [await rowsOf(source, text), await rowsOf(database, text)];
      assert.ok(written.length > 30);
      assert.deepEqual(migrated, written);
    }
    for (const orgId of ["acme", "other", "empty"]) {
      for (const to of [now, now - DAY, now - 1]) {
        const window = { from: to - WINDOW, to };
        assert.equal(
          await countUsage(database, orgId, window),
          await countUsage(source, orgId, window),
        );
      }
    }
  }),
);

Deno.test(
  "after step 2 the schema is that of a new database, every reference is valid, and the file is sound",
  withUpgraded(async ({ database }) => {
    const fresh = openEmbedded({ path: ":memory:", onFatal: () => {} });
    await migrate(fresh, { migrations: STEPS, now: EPOCH });
    await isAsNew(database, fresh);
    assert.deepEqual(await rowsOf(database, "SELECT audit_retention_days FROM installation"), [
      { audit_retention_days: null },
    ]);
    assert.deepEqual(await migrate(database, { migrations: STEPS, now: EPOCH }), []);
    await fresh.close();
  }),
);

Deno.test("the schema that a test's database gets at once is the one that the migrations make, row by row", async () => {
  const [migrated, atOnce] = [0, 1].map(() => openEmbedded({ path: ":memory:", onFatal: () => {} }));
  await migrate(migrated!, { migrations: MIGRATIONS, now: EPOCH });
  await bringToSchema(atOnce!, EPOCH);
  await isAsNew(atOnce!, migrated!);
  const tables = await rowsOf(
    migrated!,
    "SELECT name FROM sqlite_schema WHERE type = 'table'",
  );
  for (const { name } of tables) {
    const rows = `SELECT * FROM "${name}"`;
    assert.deepEqual(await rowsOf(atOnce!, rows), await rowsOf(migrated!, rows), String(name));
  }
  await Promise.all([migrated!.close(), atOnce!.close()]);
});

/** Asserts the same tables, indexes, triggers and steps, valid references and a sound file. */
async function isAsNew(database: Database, fresh: Database): Promise<void> {
  for (
    const text of [
      "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name",
      "SELECT version, name FROM schema_migration ORDER BY version",
    ]
  ) {
    assert.deepEqual(await rowsOf(database, text), await rowsOf(fresh, text));
  }
  assert.deepEqual(await rowsOf(database, "PRAGMA foreign_key_check"), []);
  assert.deepEqual(await rowsOf(database, "PRAGMA integrity_check"), [{ integrity_check: "ok" }]);
}

Deno.test(
  "step 2 leaves every other row as it is: chains, operators, organizations, frozen calls",
  withUpgraded(async ({ written, database }) => {
    const unchanged = (await tablesOf(database)).filter((name) =>
      !["interaction", "installation"].includes(name) && !COMPUTED.includes(name)
    );
    assert.equal(unchanged.length, 12);
    for (const table of unchanged) {
      const text = await earlierRowsQuery(table, { earlier: database, today: written });
      assert.deepEqual(
        await rowsOf(database, await earlierRowsQuery(table, { earlier: database, today: database })),
        await rowsOf(written, text),
        table,
      );
    }
  }),
);

/** Tables that step 2 adds; it fills the usage counters from the existing scores. */
const COMPUTED = [
  "score_commit",
  "outcome_label",
  "score_batch",
  "decision",
  "compliance_report",
  "usage_hour",
  "usage_instant",
];

Deno.test("step 2 migrates a database without a single score", async () => {
  const harness = await openHarness();
  await harness.organization("acme");
  const database = await earlierDatabase(harness.database, { version: 1 });
  await migrate(database, { migrations: STEPS, now: EPOCH });
  assert.deepEqual(await rowsOf(database, "SELECT * FROM interaction"), []);
  assert.equal(await countUsage(database, "acme", { from: EPOCH - WINDOW, to: EPOCH }), 0);
  assert.deepEqual(await rowsOf(database, "PRAGMA foreign_key_check"), []);
  await database.close();
  await harness.close();
});

Deno.test("a step that fails leaves the database at the step before it, with every row", () =>
  withDirectory(async (directory) => {
    const database = await openFile(`${directory}/jiss.db`, (await historyOf(GAP)).step1);
    const text = "SELECT * FROM interaction ORDER BY org_id, session_id";
    const before = await rowsOf(database, text);
    const [initial, surface] = MIGRATIONS;
    const broken = { ...surface!, statements: [...surface!.statements, "INSERT INTO nowhere VALUES (1)"] };
    await assert.rejects(() => migrate(database, { migrations: [initial!, broken], now: EPOCH }));
    assert.deepEqual(await rowsOf(database, text), before);
    assert.deepEqual(await rowsOf(database, "SELECT max(version) AS version FROM schema_migration"), [
      { version: 1 },
    ]);
    assert.deepEqual(await migrate(database, { migrations: STEPS, now: EPOCH }), ["surface"]);
    await database.close();
  }));

// ---- old instants -----------------------------------------------------------------------------------------

Deno.test(
  "instants over 31 days old are deleted when a new hour begins, by organization, and counts stay exact",
  withUpgraded(async ({ database, now }) => {
    const instants = () => rowsOf(database, "SELECT * FROM usage_instant ORDER BY org_id, at");
    const hoursText = "SELECT * FROM usage_hour ORDER BY org_id, hour";
    const scored = (await rowsOf(database, "SELECT org_id, at FROM interaction")).map(({ org_id, at }) => ({
      orgId: String(org_id),
      at: Number(at),
    }));
    const expected = (orgId: string, to: number) =>
      scored.filter((row) => row.orgId === orgId && row.at > to - WINDOW && row.at <= to).length;
    const agrees = async (to: number) => {
      for (const orgId of ["acme", "other"]) {
        assert.equal(
          await countUsage(database, orgId, { from: to - WINDOW, to }),
          expected(orgId, to),
          orgId,
        );
      }
    };
    assert.ok(scored.some(({ at }) => at < now - 35 * DAY), "the history is long enough");
    await agrees(now);
    const before = await instants();
    const hours = await rowsOf(database, hoursText);

    // A score in the same hour deletes nothing. One in the next hour does, for its organization.
    const lastHour = Math.floor(Math.max(...scored.map(({ at }) => at)) / HOUR);
    const add = async (at: number) => {
      await database.batch(addUsage("acme", { at, count: 1 }));
      scored.push({ orgId: "acme", at });
    };
    await add(lastHour * HOUR + HOUR - 1);
    assert.equal((await instants()).length, before.length + 1);
    const next = (lastHour + 1) * HOUR;
    await add(next);
    const after = await instants();
    const ofOther = ({ org_id }: Row) => org_id === "other";
    assert.deepEqual(after.filter(ofOther), before.filter(ofOther));
    const kept = after.filter((row) => !ofOther(row)).map(({ at }) => Number(at));
    assert.ok(kept.every((at) => at >= next - 31 * DAY));
    assert.equal(
      kept.length,
      new Set(scored.filter(({ orgId, at }) => orgId === "acme" && at >= next - 31 * DAY).map(({ at }) => at))
        .size,
    );
    assert.ok(after.length < before.length);
    assert.equal((await rowsOf(database, hoursText)).length, hours.length + 1, "whole hours are kept");
    for (const to of [next, next + 1, next + HOUR, ...scored.map(({ at }) => at + WINDOW)]) {
      if (to >= next) await agrees(to);
    }
  }, LONG_GAP),
);

// ---- step 3 -----------------------------------------------------------------------------------------------

interface Asked {
  readonly path: string;
  readonly request: RequestOptions;
  readonly answer: Answer;
}

interface Step2History {
  /** Requests that are safe to repeat, with their answers. */
  readonly writes: readonly Asked[];
  /** Reads, with their answers at the end. */
  readonly reads: readonly Asked[];
}

/** Two organizations with everything for which step 2 has a table, over several days. */
async function writeStep2History(harness: Harness): Promise<Step2History> {
  const writes: Asked[] = [];
  const ask = async (path: string, request: RequestOptions): Promise<Asked> => {
    const answer = await harness.send(path, request);
    assert.ok(answer.status === 200 || answer.status === 201, `${path}: ${answer.text}`);
    return { path, request, answer };
  };
  const write = async (path: string, request: RequestOptions) => {
    const asked = await ask(path, request);
    writes.push(asked);
    return asked.answer.body;
  };
  const reads: Asked[] = [];
  const keys: string[] = [];
  for (const orgId of ["acme", "other"]) {
    const created = await write("/v1/admin/org/create", {
      key: MASTER_KEY,
      headers: { "Idempotency-Key": `create-${orgId}` },
      body: organizationRequest({ org_id: orgId }),
    });
    keys.push(created.api_key);
  }
  for (let day = 0; day < 3; day += 1) {
    for (const key of keys) {
      const session = (name: string) => `day-${day}-${name}`;
      const unlabelled = scoreRequest({ session_id: session("late") }, { outcome_correct: null });
      await write("/v1/score", { key, body: unlabelled });
      await write("/v1/score?mode=lite", { key, body: scoreRequest({ session_id: session("lite") }) });
      await write("/v1/score?mode_override=incident_frozen", {
        key,
        body: scoreRequest({ session_id: session("frozen"), operator_id: "operator-2" }),
      });
      await write(`/v1/score/${session("lite")}/commit`, { key, body: {} });
      await write(`/v1/score/${session("late")}/commit`, { key, body: { outcome_correct: day !== 1 } });
      await write("/v1/score/batch", {
        key,
        body: {
          operator_id: `operator-${day}`,
          domain: "general",
          interactions: ["b1", "b2", "b3"].map((name, index) => ({
            session_id: session(name),
            time_to_decision_ms: 4000 + 500 * index,
            decision: "accepted",
          })),
        },
      });
      await write("/v1/decision/score", {
        key,
        body: {
          decision_id: session("decision"),
          operator_id: "operator-1",
          domain: "legal",
          time_to_decision_ms: 900,
          decision: "accepted",
        },
      });
      const { report } = (await ask(reportOf(day), { key })).answer.body;
      for (
        const path of [
          reportOf(day),
          `/v1/compliance/report/${report.report_id}`,
          ...["late", "lite", "b2", "decision"].map((name) => `/v1/decision/replay/${session(name)}`),
        ]
      ) {
        reads.push({ path, request: { key }, answer: await harness.send(path, { key }) });
      }
    }
    harness.clock.advance(DAY + HOUR);
  }
  for (const key of keys) {
    for (
      const path of [
        "/v1/operator/operator-1/profile",
        "/v1/organization/operators?include=sparkline",
        "/v1/organization/dashboard",
        "/v1/compliance/article14",
      ]
    ) reads.push({ path, request: { key }, answer: await harness.send(path, { key }) });
  }
  // Proofs are for the newest checkpoint, which has changed since. These are the answers at the end.
  const last: Asked[] = [];
  for (const { path, request } of reads) last.push(await ask(path, request));
  return { writes, reads: last };
}

/** The report of one day, so that later records do not change it. */
const reportOf = (day: number) =>
  `/v1/compliance/report?period_start=2026-11-2${day}&period_end=2026-11-2${day + 1}`;

interface Earlier {
  /** The database that today's service wrote. */
  readonly source: Database;
  readonly earlier: Database;
  readonly history: Step2History;
  /** Opens today's service over the file. */
  open(): Promise<Harness>;
}

type Also = (harness: Harness) => Promise<void>;

const nothing: Also = () => Promise.resolve();

/** A history of step 2 and the additional records: the verified file of today's service. */
const step2HistoryOf = once((also: Also) =>
  withDirectory(async (directory) => {
    const path = `${directory}/today.db`;
    const harness = await openHarness({ adminDashboard: true, path });
    const history = await writeStep2History(harness);
    await also(harness);
    const now = harness.clock.now();
    await harness.close();
    return { history, now, today: await Deno.readFile(path) };
  })
);

/** The same history, taken back to each step. */
const earlierOf = once((also: Also) =>
  Promise.resolve(once((version: number) =>
    withDirectory(async (directory) => {
      const today = await openFile(`${directory}/today.db`, (await step2HistoryOf(also)).today);
      const path = `${directory}/jiss.db`;
      await (await earlierDatabase(today, { version, path })).close();
      await today.close();
      return await Deno.readFile(path);
    })
  ))
);

/** A history that was taken back to a step, in a file for the next program. */
function withStep(
  { version, also = nothing }: {
    readonly version: number;
    /** Writes additional records. */
    readonly also?: Also;
  },
  test: (earlier: Earlier) => Promise<void>,
): () => Promise<void> {
  return () =>
    withDirectory(async (directory) => {
      const { history, now, today } = await step2HistoryOf(also);
      const path = `${directory}/jiss.db`;
      const source = await openFile(`${directory}/today.db`, today);
      const earlier = await openFile(path, await (await earlierOf(also))(version));
      try {
        await test({
          source,
          earlier,
          history,
          async open() {
            await earlier.close();
            return await openHarness({ path, run: 1, startsAt: now, adminDashboard: true });
          },
        });
      } finally {
        await source.close();
      }
    });
}

function stepsAfter(version: number): readonly string[] {
  return MIGRATIONS.slice(version).map(({ name }) => name);
}

const withStep2 = (test: (earlier: Earlier) => Promise<void>) => withStep({ version: 2 }, test);

Deno.test(
  "step 3 leaves every row as it is, except for renamed columns, and begins with one epoch of each chain",
  withStep2(async ({ earlier: database }) => {
    const tables = await tablesOf(database);
    assert.equal(tables.length, 21);
    const before = new Map<string, readonly Row[]>();
    for (const table of tables) {
      const rows = await rowsOf(
        database,
        await earlierRowsQuery(table, { earlier: database, today: database }),
      );
      assert.ok(rows.length > 0, `${table} has rows to lose`);
      before.set(table, rows);
    }
    const queries = new Map<string, string>();
    const fresh = openEmbedded({ path: ":memory:", onFatal: () => {} });
    await migrate(fresh, { migrations: MIGRATIONS, now: EPOCH });
    for (const table of tables) {
      queries.set(table, await earlierRowsQuery(table, { earlier: database, today: fresh }));
    }
    assert.deepEqual(await migrate(database, { migrations: MIGRATIONS, now: EPOCH }), stepsAfter(2));
    for (const table of tables) {
      assert.deepEqual(await rowsOf(database, queries.get(table)!), before.get(table), table);
    }
    assert.deepEqual(
      await rowsOf(
        database,
        "SELECT DISTINCT family = chain AS same, first_position, key_ordinal, anchored_size FROM audit_chain",
      ),
      [{ same: 1, first_position: 0, key_ordinal: 1, anchored_size: 0 }],
    );
    for (const table of ["audit_ladder", "signing_key", "tombstone"]) {
      assert.deepEqual(await rowsOf(database, `SELECT * FROM ${table}`), [], table);
    }
    assert.deepEqual(await rowsOf(database, "SELECT evidence_retention_days FROM installation"), [
      { evidence_retention_days: null },
    ]);
    const subjects = await rowsOf(
      database,
      "SELECT count(*) AS all_of_them, sum(subject IS body ->> '$.subject') AS same FROM audit_entry",
    );
    assert.equal(subjects[0]!.same, subjects[0]!.all_of_them);
    await isAsNew(database, fresh);
    await fresh.close();
    await database.close();
  }),
);

Deno.test(
  "after step 3 repeated requests, replays, reports and reads are answered as before, and nothing is written",
  withStep2(async ({ history: { writes, reads }, open }) => {
    const harness = await open();
    await answersAsBefore(harness, { writes, reads });
    await harness.close();
  }),
);

/** Asserts that all requests, repeated, get their answers and write nothing. */
async function answersAsBefore(harness: Harness, { writes, reads }: Step2History): Promise<void> {
  const before = await harness.rowCounts();
  assert.equal(writes.length, 2 + 3 * 2 * 7);
  for (const { path, request, answer } of writes) {
    const again = await harness.send(path, request);
    if (path === "/v1/admin/org/create") {
      assert.deepEqual([again.status, again.body.already_provisioned], [201, true]);
      continue;
    }
    assert.deepEqual(again.body, answer.body, path);
    assert.equal(again.headers.get("Idempotency-Replayed"), "true", path);
  }
  assert.equal(reads.length, 2 * (3 * 6 + 4));
  for (const { path, request, answer } of reads) {
    assert.deepEqual(contentOf(await harness.send(path, request)), contentOf(answer), path);
  }
  assert.deepEqual(await harness.rowCounts(), before);
}

Deno.test(
  "after step 3 the first key is recorded, the lock follows, and chains continue with a ladder",
  withStep2(async ({ history: { writes }, open }) => {
    const harness = await open();
    assert.deepEqual(await rowsOf(harness.database, "SELECT * FROM signing_key"), [{
      ordinal: 1,
      public_key: harness.verifierKey("any").publicKey,
      certificate: null,
      from_size: 0,
      until_size: null,
    }]);
    const heads = await rowsOf(harness.database, "SELECT family, size FROM audit_chain ORDER BY family");
    const { lock } = harness.dependencies;
    assert.deepEqual(lock.issued().map(({ family, size }) => ({ family, size })), heads);
    const { key } = writes.at(-1)!.request;
    const { size } = heads.find(({ family }) => family === "org/other")!;
    const { body } = await harness.send("/v1/score", {
      key: key!,
      body: scoreRequest({ session_id: "after" }),
    });
    assert.equal(body.evidence.entry.seq, size);
    assert.deepEqual(await rowsOf(harness.database, "SELECT chain, size FROM audit_ladder"), [
      { chain: "org/other", size },
    ]);
    await harness.close();
  }),
);

Deno.test(
  "step 3, cut short, leaves the database at step 2 with every row",
  withStep2(async ({ earlier: database }) => {
    const text = "SELECT * FROM interaction ORDER BY org_id, session_id";
    const before = await rowsOf(database, text);
    const [initial, surface, evidence] = MIGRATIONS;
    const broken = { ...evidence!, statements: [...evidence!.statements, "INSERT INTO nowhere VALUES (1)"] };
    await assert.rejects(() => migrate(database, { migrations: [initial!, surface!, broken], now: EPOCH }));
    assert.deepEqual(await rowsOf(database, text), before);
    assert.deepEqual(await rowsOf(database, "SELECT max(version) AS version FROM schema_migration"), [
      { version: 2 },
    ]);
    assert.deepEqual(await migrate(database, { migrations: MIGRATIONS, now: EPOCH }), stepsAfter(2));
    await database.close();
  }),
);

// ---- step 4 -----------------------------------------------------------------------------------------------

/** An organization with an erased operator, so that a tombstone has the name, which is then suspended. */
async function eraseAndSuspend({ send, master, organization }: Harness) {
  const key = await organization("stopped");
  const body = scoreRequest({ session_id: "gone", operator_id: "operator-gone" });
  assert.equal((await send("/v1/score", { key, body })).status, 200);
  assert.equal((await send("/v1/operator/operator-gone", { key, method: "DELETE" })).status, 200);
  const suspended = await master("ORG_SUSPEND", "/v1/admin/org/stopped/suspend", SUSPENSION);
  assert.equal(suspended.status, 200, suspended.text);
}

const SUSPENSION = {
  idempotencyKey: "stop",
  body: { confirm_org_id: "stopped", idempotency_key: "stop" },
};

const withStep3 = (test: (earlier: Earlier) => Promise<void>) =>
  withStep({ version: 3, also: eraseAndSuspend }, test);

Deno.test(
  "step 4 leaves every row as it is: no reason has an instant, no key a known pepper, and there is no alert and no demo run",
  withStep3(async ({ earlier: database }) => {
    const tables = await tablesOf(database);
    assert.equal(tables.length, 24);
    const queries = new Map<string, string>();
    const before = new Map<string, readonly Row[]>();
    for (const table of tables) {
      const text = await earlierRowsQuery(table, { earlier: database, today: database });
      const rows = await rowsOf(database, text);
      assert.ok(rows.length > 0, `${table} has rows to lose`);
      queries.set(table, text);
      before.set(table, rows);
    }
    assert.deepEqual(await migrate(database, { migrations: MIGRATIONS, now: EPOCH }), stepsAfter(3));
    for (const table of tables) {
      assert.deepEqual(await rowsOf(database, queries.get(table)!), before.get(table), table);
    }
    assert.deepEqual(
      await rowsOf(
        database,
        "SELECT org_id, active, inactive_reasons, inactive_since, pepper_id FROM organization ORDER BY org_id",
      ),
      [["acme", 1, "[]"], ["other", 1, "[]"], ["stopped", 0, '["manual"]']].map(
        ([org_id, active, inactive_reasons]) => ({
          org_id,
          active,
          inactive_reasons,
          inactive_since: "{}",
          pepper_id: null,
        }),
      ),
    );
    for (const table of ["alert", "assessment"]) {
      assert.deepEqual(await rowsOf(database, `SELECT * FROM ${table}`), [], table);
    }
    const fresh = openEmbedded({ path: ":memory:", onFatal: () => {} });
    await migrate(fresh, { migrations: MIGRATIONS, now: EPOCH });
    await isAsNew(database, fresh);
    assert.deepEqual(await migrate(database, { migrations: MIGRATIONS, now: EPOCH }), []);
    await fresh.close();
    await database.close();
  }),
);

Deno.test(
  "after step 4 repeated requests, replays, reports and reads are answered as before, and nothing is written",
  withStep3(async ({ history, open }) => {
    const harness = await open();
    await answersAsBefore(harness, history);
    await harness.close();
  }),
);

Deno.test(
  "after step 4 keys work as before, and a new one has a known pepper",
  withStep3(async ({ history: { writes }, open }) => {
    const harness = await open();
    const { send } = harness;
    const key = writes.at(-1)!.request.key!;
    assert.equal((await storedOrganization(harness, "other")).pepper_id, null);
    assert.equal(await statusWith(harness, key), 200);
    const rotated = await send("/v1/admin/key/rotate", { method: "POST", key });
    assert.equal(rotated.status, 200, rotated.text);
    const { pepper_id, api_key_version } = await storedOrganization(harness, "other");
    assert.match(pepper_id!, /^[0-9a-f]{16}$/);
    assert.equal(api_key_version, 2);
    assert.equal(await statusWith(harness, key), 401);
    assert.equal(await statusWith(harness, rotated.body.new_api_key), 200);
    const demo = await send("/assessments", {
      body: { sessionId: "demo-1", records: [{ time_to_decision_ms: 7000, decision: "accepted" }] },
    });
    assert.equal(demo.status, 200, demo.text);
    await harness.alert("other", "alert-1");
    const acknowledged = await harness.master("ALERT_ACK", "/v1/admin/alerts/alert-1/ack", {
      idempotencyKey: "ack",
      body: { idempotency_key: "ack" },
    });
    assert.equal(acknowledged.status, 200, acknowledged.text);
    await harness.close();
  }),
);

Deno.test(
  "after step 4 an earlier reason is kept with an unknown instant, and is lifted like any other",
  withStep3(async ({ open }) => {
    const harness = await open();
    const call = (operation: string, idempotencyKey: string) => ({
      path: `/v1/admin/org/stopped/${operation}`,
      options: { idempotencyKey, body: { confirm_org_id: "stopped", idempotency_key: idempotencyKey } },
    });
    const again = call("suspend", "again");
    const suspended = await harness.master("ORG_SUSPEND", again.path, again.options);
    assert.deepEqual([suspended.status, suspended.body.suspended_at], [200, "1970-01-01T00:00:00.000Z"]);
    const lift = call("reactivate", "lift");
    const { status, body } = await harness.master("ORG_REACTIVATE", lift.path, lift.options);
    assert.deepEqual([status, body.remaining], [200, undefined]);
    const { active, reasons, since } = await storedOrganization(harness, "stopped");
    assert.deepEqual([active, reasons, since], [1, [], {}]);
    await harness.close();
  }),
);

Deno.test(
  "step 4, cut short, leaves the database at step 3 with every row",
  withStep3(async ({ earlier: database }) => {
    const text = "SELECT * FROM organization ORDER BY org_id";
    const before = await rowsOf(database, text);
    const [initial, surface, evidence, administration] = MIGRATIONS;
    const broken = {
      ...administration!,
      statements: [...administration!.statements, "INSERT INTO nowhere VALUES (1)"],
    };
    await assert.rejects(() =>
      migrate(database, { migrations: [initial!, surface!, evidence!, broken], now: EPOCH })
    );
    assert.deepEqual(await rowsOf(database, text), before);
    assert.deepEqual(await rowsOf(database, "SELECT max(version) AS version FROM schema_migration"), [
      { version: 3 },
    ]);
    assert.deepEqual(await migrate(database, { migrations: MIGRATIONS, now: EPOCH }), stepsAfter(3));
    await database.close();
  }),
);

// ---- step 9 -----------------------------------------------------------------------------------------------

/** An organization with every decision on two days, by operators of whom one is then erased. */
async function decideAndErase({ send, organization, clock }: Harness) {
  const key = await organization("deciding");
  for (let day = 0; day < 2; day += 1) {
    for (const [index, decision] of DECISIONS.entries()) {
      for (const operator of ["stays", "goes"]) {
        const session = { session_id: `${operator}-${day}-${index}`, operator_id: operator };
        const body = scoreRequest(session, { decision, modification_extent: 0.1 });
        assert.equal((await send("/v1/score", { key, body })).status, 200);
      }
    }
    clock.advance(DAY);
  }
  assert.equal((await send("/v1/operator/goes", { key, method: "DELETE" })).status, 200);
}

Deno.test(
  "step 9 leaves every row as it is, and counts the existing rows for each operator and day",
  withStep({ version: 8, also: decideAndErase }, async ({ earlier: database }) => {
    const tables = await tablesOf(database);
    assert.ok(!tables.includes("operator_day"));
    const before = new Map<string, readonly Row[]>();
    for (const table of tables) before.set(table, await rowsOf(database, `SELECT * FROM ${table}`));
    const steps = MIGRATIONS.slice(0, 9);
    assert.deepEqual(await migrate(database, { migrations: steps, now: EPOCH }), ["days"]);
    for (const table of tables) {
      assert.deepEqual(await rowsOf(database, `SELECT * FROM ${table}`), before.get(table), table);
    }
    assert.deepEqual(
      await rowsOf(
        database,
        `SELECT operator_id, day, interactions, departures, referrals FROM operator_day
          WHERE org_id = 'deciding' ORDER BY operator_id, day`,
      ),
      [0, 1].map((day) => ({
        operator_id: "stays",
        day: Math.floor(EPOCH / DAY) + 3 + day,
        interactions: 6,
        departures: 3,
        referrals: 2,
      })),
    );
    const fresh = openEmbedded({ path: ":memory:", onFatal: () => {} });
    await migrate(fresh, { migrations: steps, now: EPOCH });
    await isAsNew(database, fresh);
    await fresh.close();
    await database.close();
  }),
);

Deno.test(
  "after step 9 repeated requests, replays, reports and reads are answered as before, and nothing is written",
  withStep({ version: 8, also: decideAndErase }, async ({ history, open }) => {
    const harness = await open();
    await answersAsBefore(harness, history);
    await harness.close();
  }),
);

// ---- step 10 ----------------------------------------------------------------------------------------------

/** Adds a webhook, so that there is a row of each sealed kind. */
async function decideEraseAndRegister(harness: Harness) {
  await decideAndErase(harness);
  const key = await harness.organization("listening");
  const { status, text } = await harness.send("/v1/admin/webhook/register", {
    key,
    body: { url: "https://review.acme.example/hook", events: ["score.committed"], secret: "x".repeat(32) },
  });
  assert.equal(status, 201, text);
}

const withStep9 = (test: (earlier: Earlier) => Promise<void>) =>
  withStep({ version: 9, also: decideEraseAndRegister }, test);

const UP_TO_SEALS = MIGRATIONS.slice(0, 10);

const FIGURES = "jis, n, t0, t1, tcrit, crit_count, share_hs, share_crit";

Deno.test(
  "step 10 leaves every row as it is, figures of operators too, and seals none; counts of days are removed",
  withStep9(async ({ earlier: database }) => {
    const tables = (await tablesOf(database)).filter((name) => name !== "operator_day");
    const queries = new Map<string, string>();
    const before = new Map<string, readonly Row[]>();
    for (const table of tables) {
      const text = await earlierRowsQuery(table, { earlier: database, today: database });
      queries.set(table, text);
      before.set(table, await rowsOf(database, text));
    }
    for (const table of ["operator", "interaction", "subject", "webhook"]) {
      assert.ok(before.get(table)!.length > 0, `${table} has rows to lose`);
    }
    const figures = `SELECT operator_id, ${FIGURES} FROM operator ORDER BY org_id, operator_id`;
    const shown = await rowsOf(database, figures);
    assert.deepEqual(await migrate(database, { migrations: UP_TO_SEALS, now: EPOCH }), ["seals"]);
    for (const table of tables) {
      assert.deepEqual(await rowsOf(database, queries.get(table)!), before.get(table), table);
    }
    assert.deepEqual(await rowsOf(database, figures), shown);
    assert.ok(!(await tablesOf(database)).includes("operator_day"));
    for (const table of SEALED) {
      assert.deepEqual(await rowsOf(database, `SELECT seal FROM ${table} WHERE seal IS NOT NULL`), [], table);
    }
    assert.deepEqual(await rowsOf(database, "SELECT held FROM audit_chain WHERE held IS NOT NULL"), []);
    const fresh = openEmbedded({ path: ":memory:", onFatal: () => {} });
    await migrate(fresh, { migrations: UP_TO_SEALS, now: EPOCH });
    await isAsNew(database, fresh);
    await fresh.close();
    await database.close();
  }),
);

const SEALED = [
  "organization",
  "webhook",
  "subject",
  "operator",
  "interaction",
  "skipped_interaction",
  "frozen_operator",
  "decision",
  "score_commit",
  "outcome_label",
  "score_batch",
];

Deno.test(
  "step 10, cut short, leaves the database at step 9 with every row",
  withStep9(async ({ earlier: database }) => {
    const text = "SELECT * FROM operator ORDER BY org_id, operator_id";
    const before = await rowsOf(database, text);
    const seals = UP_TO_SEALS.at(-1)!;
    const broken = { ...seals, statements: [...seals.statements, "INSERT INTO nowhere VALUES (1)"] };
    const steps = [...UP_TO_SEALS.slice(0, -1), broken];
    await assert.rejects(() => migrate(database, { migrations: steps, now: EPOCH }));
    assert.deepEqual(await rowsOf(database, text), before);
    assert.deepEqual(await migrate(database, { migrations: UP_TO_SEALS, now: EPOCH }), ["seals"]);
    await database.close();
  }),
);

for (const version of [2, 3, 4, 5, 6, 7, 8, 9]) {
  // The history has nothing for which the earlier step has no table.
  const also = version < 3 ? undefined : decideAndErase;
  Deno.test(
    `the first start over step ${version} makes each row as the service writes it, with its seal, and repeats every answer`,
    withStep({ version, ...(also === undefined ? {} : { also }) }, async ({ history, open, source }) => {
      const harness = await open();
      await isSealedAlike(harness.database, source);
      for (const table of SEALED) {
        const unsealed = await rowsOf(harness.database, `SELECT * FROM ${table} WHERE seal IS NULL`);
        assert.deepEqual(unsealed, [], table);
      }
      await answersAsBefore(harness, history);
      const sealed = await rowsOf(harness.database, RECORDED.operator!);
      await sealUnsealed(harness.dependencies);
      assert.deepEqual(
        await rowsOf(harness.database, RECORDED.operator!),
        sealed,
        "a second time changes nothing",
      );
      await harness.close();
    }),
  );
}

Deno.test(
  "over step 9 a webhook and an organization, which have no entry, are sealed as they are",
  withStep9(async ({ open, source }) => {
    const harness = await open();
    for (
      const text of [
        "SELECT * FROM organization ORDER BY org_id",
        "SELECT * FROM webhook ORDER BY webhook_id",
        "SELECT chain, held FROM audit_chain WHERE chain GLOB '*/admin' ORDER BY chain",
      ]
    ) {
      const rows = await rowsOf(source, text);
      assert.ok(rows.length > 0, text);
      assert.deepEqual(await rowsOf(harness.database, text), rows, text);
    }
    await harness.close();
  }),
);

for (
  const [what, sql] of [
    [
      "scores of a report",
      "UPDATE interaction SET jis = 95, d1 = 95, low = 90, high = 99, departure = 1 - departure",
    ],
    ["states", "UPDATE operator SET state = json_set(state, '$.jis', 95), domain = 'legal'"],
    ["last entries of operators", "UPDATE operator SET prior_seq = prior_seq + 1, prior_hash = zeroblob(32)"],
    [
      "pseudonyms",
      "UPDATE subject SET pseudonym = (SELECT pseudonym FROM subject AS o WHERE o.org_id = 'other' LIMIT 1) " +
      "WHERE org_id = 'acme'",
    ],
    ["operators of frozen calls", "UPDATE skipped_interaction SET operator_id = 'operator-1'"],
    ["positions of frozen calls", "UPDATE skipped_interaction SET position = position + 1"],
    ["positions of decisions", "UPDATE decision SET position = position + 1"],
    ["labels", "UPDATE outcome_label SET outcome_correct = 1 - outcome_correct, position = 0, at = 0"],
    ["positions of commits", "UPDATE score_commit SET position = position + 1, at = at + 1"],
    [
      "invented labels",
      `INSERT INTO outcome_label (org_id, session_id, outcome_correct, request_id, at, position)
        SELECT org_id, session_id, 1, 'x', 1, 1 FROM interaction
        WHERE (org_id, session_id) NOT IN (SELECT org_id, session_id FROM outcome_label)`,
    ],
  ] as const
) {
  Deno.test(
    `altered ${what} over step 9 are made anew from the chain by the first start, and every answer is as it was`,
    withStep({ version: 9, also: decideAndErase }, async ({ earlier, history, open, source }) => {
      await earlier.batch([
        { sql: "DROP TRIGGER interaction_stays", parameters: [] },
        { sql, parameters: [] },
        // The step that made this trigger makes it again.
        {
          sql: (MIGRATIONS[8]!.statements.find((text) => text.includes("interaction_stays")))!,
          parameters: [],
        },
      ]);
      const harness = await open();
      await isSealedAlike(harness.database, source);
      await answersAsBefore(harness, history);
      await harness.close();
    }),
  );
}

Deno.test(
  "over a chain that was damaged before step 10 nothing is answered or recorded, and a start says so; other chains work",
  withStep({ version: 9, also: decideAndErase }, async ({ earlier, history, open }) => {
    await earlier.batch([{
      sql:
        "UPDATE audit_part SET data = json_set(data, '$.jis', 95) WHERE chain = 'org/acme' AND seq = 2 AND name = 'result'",
      parameters: [],
      mustChange: 1,
    }]);
    const harness = await open();
    assert.deepEqual(
      harness.log.filter(({ level }) => level === "error").map((
        { chain, code, audit },
      ) => [chain, code, audit]),
      [["org/acme", "COMMITMENT_MISMATCH", true]],
    );
    const [acme, other] = history.writes.filter(({ path }) => path === "/v1/admin/org/create")
      .map(({ answer }) => answer.body.api_key as string);
    for (const path of ["/v1/organization/dashboard", "/v1/operator/operator-1/profile", reportOf(0)]) {
      assert.equal((await harness.send(path, { key: acme! })).status, 503, path);
      assert.equal((await harness.send(path, { key: other! })).status, 200, path);
    }
    const body = scoreRequest({ session_id: "next" });
    assert.equal((await harness.send("/v1/score", { key: acme!, body })).status, 503);
    assert.equal((await harness.send("/v1/score", { key: other!, body })).status, 200);
    await harness.abandon();
  }),
);

Deno.test("for operators whose records were pruned before step 10 every answer is as it was, and their counts continue", async () => {
  const directory = await makeQuickDir("jiss-step-");
  const path = `${directory}/jiss.db`;
  const options = { evidenceRetentionDays: 3 };
  const source = await openHarness(options);
  const key = await source.organization("acme");
  const scored = async (harness: Harness, session: string, operator: string) => {
    const body = scoreRequest({ session_id: session, operator_id: operator }, { decision: "escalated" });
    assert.equal((await harness.send("/v1/score", { key, body })).status, 200);
  };
  // One operator without any record left, one with the last record, and one who began after the cut.
  for (const operator of ["gone", "stays"]) await scored(source, `first-${operator}`, operator);
  source.clock.advance(10 * DAY);
  await scored(source, "second-stays", "stays");
  await scored(source, "first-late", "late");
  await pruneChains(source.dependencies, source.clock.now());
  assert.equal((await rowsOf(source.database, "SELECT * FROM interaction")).length, 2);
  const reads = [
    "/v1/organization/dashboard",
    "/v1/compliance/article14",
    "/v1/organization/operators?include=sparkline",
    ...["gone", "stays", "late"].map((operator) => `/v1/operator/${operator}/profile`),
  ];
  const answers = async (harness: Harness) => {
    const contents = [];
    for (const read of reads) contents.push(contentOf(await harness.send(read, { key })));
    return contents;
  };
  const before = await answers(source);
  await (await earlierDatabase(source.database, { version: 9, path })).close();

  const harness = await openHarness({ ...options, path, run: 1, startsAt: source.clock.now() });
  assert.deepEqual(await answers(harness), before);
  const columns = "operator_id, departed, referred, n, t0, t1";
  const counts = `SELECT ${columns} FROM interaction ORDER BY position`;
  assert.deepEqual(await rowsOf(harness.database, counts), await rowsOf(source.database, counts));
  for (const operator of ["gone", "stays", "late"]) {
    for (const each of [source, harness]) await scored(each, `after-${operator}`, operator);
  }
  assert.deepEqual(await rowsOf(harness.database, counts), await rowsOf(source.database, counts));
  assert.deepEqual(await answers(harness), await answers(source));
  await harness.close();
  await source.close();
  await Deno.remove(directory, { recursive: true });
});

// ---- step 13 ----------------------------------------------------------------------------------------------

const withStep12 = (test: (earlier: Earlier) => Promise<void>) =>
  withStep({ version: 12, also: decideEraseAndRegister }, test);

const HELD = "SELECT chain, held FROM audit_chain ORDER BY chain";

Deno.test(
  "step 13 leaves every row and every seal as it is, and no row has a verdict",
  withStep12(async ({ earlier: database }) => {
    const before = new Map<string, readonly Row[]>();
    const queries = new Map<string, string>();
    for (const table of await tablesOf(database)) {
      queries.set(table, await earlierRowsQuery(table, { earlier: database, today: database }));
      before.set(table, await rowsOf(database, queries.get(table)!));
    }
    for (const table of ["operator", "interaction"]) {
      assert.ok(before.get(table)!.length > 0, `${table} has rows to lose`);
    }
    assert.deepEqual(await migrate(database, { migrations: MIGRATIONS, now: EPOCH }), stepsAfter(12));
    for (const [table, text] of queries) {
      assert.deepEqual(await rowsOf(database, text), before.get(table), table);
    }
    for (const table of ["operator", "interaction"]) {
      assert.deepEqual(await rowsOf(database, `SELECT * FROM ${table} WHERE verdict IS NOT NULL`), [], table);
    }
    const fresh = openEmbedded({ path: ":memory:", onFatal: () => {} });
    await migrate(fresh, { migrations: MIGRATIONS, now: EPOCH });
    await isAsNew(database, fresh);
    await fresh.close();
    await database.close();
  }),
);

Deno.test(
  "step 13, cut short, leaves the database at step 12 with every row",
  withStep12(async ({ earlier: database }) => {
    const text = "SELECT * FROM operator ORDER BY org_id, operator_id";
    const before = await rowsOf(database, text);
    const step = MIGRATIONS[12]!;
    for (let count = 0; count <= step.statements.length; count += 1) {
      const broken = {
        ...step,
        statements: [...step.statements.slice(0, count), "INSERT INTO nowhere VALUES (1)"],
      };
      const steps = [...MIGRATIONS.slice(0, 12), broken];
      await assert.rejects(() => migrate(database, { migrations: steps, now: EPOCH }));
      assert.deepEqual(await rowsOf(database, text), before, `after ${count} statements`);
    }
    assert.deepEqual(await migrate(database, { migrations: MIGRATIONS, now: EPOCH }), stepsAfter(12));
    await database.close();
  }),
);

Deno.test(
  "the first start over step 12 takes the seals as they are and repeats every answer",
  withStep12(async ({ history, open, source }) => {
    const harness = await open();
    await isSealedAlike(harness.database, source);
    assert.deepEqual(await rowsOf(harness.database, HELD), await rowsOf(source, HELD));
    await answersAsBefore(harness, history);
    await harness.close();
  }),
);
