/**
 * The schema step from 1 to 2, over a history that the service itself wrote: what the step makes of it is
 * what the service writes today.
 */
import assert from "node:assert/strict";
import { MIGRATIONS } from "../../migrations/mod.ts";
import { type Database, type Statement } from "../../src/store/database.ts";
import { openEmbedded } from "../../src/store/embedded.ts";
import { migrate } from "../../src/store/migrate.ts";
import { addUsage, countUsage } from "../../src/store/usage.ts";
import { EPOCH, type Harness, openHarness, scoreRequest } from "../harness.ts";
import { verifyDatabase } from "../oracle.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WINDOW = 30 * DAY;

// ---- a history of step 1 ----------------------------------------------------------------------------------

type Row = Readonly<Record<string, unknown>>;

function select(database: Database, sql: string): Promise<readonly Row[]> {
  return database.read<Row>({ sql, parameters: [], query: {} as never, queryId: {} as never });
}

/** As the database has them; a row of node:sqlite has no prototype. */
const rowsOf = async (database: Database, sql: string) =>
  (await select(database, sql)).map((row) => ({ ...row }));

/** What a lite call reported, by organization and session. */
type LiteIntervals = ReadonlyMap<string, { readonly low: number; readonly high: number }>;

/**
 * Two organizations with operators and sessions of the same names, every decision and scenario, full, lite
 * and frozen calls, several domains, a clock that goes back once, and gaps; nothing that step 1 did not know.
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

/** The tables of step 1, each after those that it refers to. */
const TABLES = [
  "model_document",
  "installation",
  "organization",
  "organization_origin",
  "subject",
  "operator",
  "interaction",
  "skipped_interaction",
  "idempotency",
  "audit_chain",
  "audit_entry",
  "audit_part",
  "audit_node",
  "audit_checkpoint",
] as const;

/** The columns that are written, not generated. */
async function columnsOf(database: Database, table: string): Promise<readonly string[]> {
  const rows = await select(database, `SELECT name FROM pragma_table_xinfo('${table}') WHERE hidden = 0`);
  return rows.map(({ name }) => String(name));
}

async function insertsOf(source: Database, target: Database, table: string): Promise<readonly Statement[]> {
  const columns = (await columnsOf(target, table)).join(", ");
  const order = table === "audit_entry" ? "ORDER BY chain, seq" : "";
  const rows = await select(source, `SELECT ${columns} FROM ${table} ${order}`);
  return rows.map((row) => {
    const values = Object.values(row);
    return {
      sql: `INSERT INTO ${table} (${columns}) VALUES (${values.map(() => "?").join(", ")})`,
      parameters: values,
    };
  });
}

/** A database as the program of step 1 would have left it: the same rows, with the columns of that step. */
async function downgrade(source: Database): Promise<Database> {
  const target = openEmbedded({ path: ":memory:", onFatal: () => {} });
  await migrate(target, { migrations: MIGRATIONS.slice(0, 1), now: EPOCH });
  const known = await select(
    target,
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'schema_migration' ORDER BY name",
  );
  assert.deepEqual(known.map(({ name }) => name), TABLES.toSorted());
  for (const table of TABLES) {
    await target.batch(await insertsOf(source, target, table));
    // Entries must continue their chain's head, which they then move to where it stands.
    if (table === "audit_chain") {
      await target.batch([{
        sql: `UPDATE audit_chain SET size = 0, last_ts = '', head = ?`,
        parameters: [new Uint8Array(32)],
      }]);
      for (const { chain, prev_hash } of await select(source, "SELECT * FROM audit_entry WHERE seq = 0")) {
        await target.batch([
          { sql: "UPDATE audit_chain SET head = ? WHERE chain = ?", parameters: [prev_hash, chain] },
        ]);
      }
    }
  }
  for (const table of ["audit_chain", "audit_entry", "operator", "organization"]) {
    assert.deepEqual(
      await rowsOf(target, `SELECT * FROM ${table}`),
      await rowsOf(source, `SELECT * FROM ${table}`),
      `${table} is copied whole`,
    );
  }
  return target;
}

interface Upgraded {
  /** Written by today's service. */
  readonly harness: Harness;
  /** The same history, written at step 1 and brought to the present step. */
  readonly database: Database;
  readonly lite: LiteIntervals;
}

/** Writes a history, takes a copy back to step 1, migrates it, runs the test, and verifies both. */
function withUpgraded(
  test: (upgraded: Upgraded) => Promise<void>,
  { gap }: { readonly gap: number } = { gap: 5 * HOUR + 17 },
): () => Promise<void> {
  return async () => {
    const harness = await openHarness();
    const lite = await writeHistory(harness, { gap });
    const database = await downgrade(harness.database);
    const steps = await migrate(database, { migrations: MIGRATIONS, now: harness.clock.now() });
    assert.deepEqual(steps, MIGRATIONS.slice(1).map(({ name }) => name));
    try {
      await test({ harness, database, lite });
      await verifyDatabase(database, { publicKey: harness.verifierKey("any").publicKey });
    } finally {
      await database.close();
      await harness.close();
    }
  };
}

// ---- the step ---------------------------------------------------------------------------------------------

Deno.test(
  "after the step an interaction has the row that today's service writes, but for the interval of lite ones",
  withUpgraded(async ({ harness, database, lite }) => {
    const text = "SELECT * FROM interaction ORDER BY org_id, session_id";
    const [written, migrated] = [await rowsOf(harness.database, text), await rowsOf(database, text)];
    assert.equal(migrated.length, written.length);
    assert.ok(written.length > 70 && lite.size > 15);
    // The recorded interval of a lite call is the lite one: step 1 kept no other, so it stands in.
    const expected = written.map((row) => {
      const interval = lite.get(`${row.org_id}/${row.session_id}`);
      return interval === undefined ? row : { ...row, low: interval.low, high: interval.high };
    });
    for (const [index, row] of expected.entries()) assert.deepEqual(migrated[index], row);
    const differing = written.filter((row, index) =>
      row.low !== migrated[index]!.low || row.high !== migrated[index]!.high
    );
    assert.ok(differing.length > 0, "so that the exception is seen to be one");
    assert.ok(differing.every(({ mode }) => mode === "lite"));
  }),
);

Deno.test(
  "after the step the history has departures, ground truth and critical cases, as it was meant to",
  withUpgraded(async ({ database }) => {
    const [row] = await select(
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
  "after the step usage counters are those that today's service keeps",
  withUpgraded(async ({ harness, database }) => {
    for (const text of ["SELECT * FROM usage_hour", "SELECT * FROM usage_instant"]) {
      const [written, migrated] = [await rowsOf(harness.database, text), await rowsOf(database, text)];
      assert.ok(written.length > 30);
      assert.deepEqual(migrated, written);
    }
    const now = harness.clock.now();
    for (const orgId of ["acme", "other", "empty"]) {
      for (const to of [now, now - DAY, now - 1]) {
        const window = { from: to - WINDOW, to };
        assert.equal(
          await countUsage(database, orgId, window),
          await countUsage(harness.database, orgId, window),
        );
      }
    }
  }),
);

Deno.test(
  "after the step the schema is that of a new database, no key dangles, and the file is sound",
  withUpgraded(async ({ harness, database }) => {
    const text = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";
    assert.deepEqual(await rowsOf(database, text), await rowsOf(harness.database, text));
    assert.deepEqual(await rowsOf(database, "PRAGMA foreign_key_check"), []);
    assert.deepEqual(await rowsOf(database, "PRAGMA integrity_check"), [{ integrity_check: "ok" }]);
    assert.deepEqual(
      await rowsOf(database, "SELECT version, name FROM schema_migration ORDER BY version"),
      MIGRATIONS.map(({ version, name }) => ({ version, name })),
    );
    assert.deepEqual(await rowsOf(database, "SELECT audit_retention_days FROM installation"), [
      { audit_retention_days: null },
    ]);
    assert.deepEqual(await migrate(database, { migrations: MIGRATIONS, now: EPOCH }), []);
  }),
);

Deno.test(
  "the step leaves every other row as it is: chains, operators, organizations, frozen calls",
  withUpgraded(async ({ harness, database }) => {
    for (const table of TABLES.filter((name) => name !== "interaction" && name !== "installation")) {
      const text = `SELECT * FROM ${table}`;
      assert.deepEqual(await rowsOf(database, text), await rowsOf(harness.database, text), table);
    }
  }),
);

Deno.test("the step applies to a database without a single score", async () => {
  const harness = await openHarness();
  await harness.organization("acme");
  const database = await downgrade(harness.database);
  await migrate(database, { migrations: MIGRATIONS, now: EPOCH });
  assert.deepEqual(await rowsOf(database, "SELECT * FROM interaction"), []);
  assert.equal(await countUsage(database, "acme", { from: EPOCH - WINDOW, to: EPOCH }), 0);
  assert.deepEqual(await rowsOf(database, "PRAGMA foreign_key_check"), []);
  await database.close();
  await harness.close();
});

Deno.test("a step that fails leaves the database at the step before it, with every row", async () => {
  const harness = await openHarness();
  await writeHistory(harness, { gap: HOUR });
  const database = await downgrade(harness.database);
  const text = "SELECT * FROM interaction ORDER BY org_id, session_id";
  const before = await rowsOf(database, text);
  const [initial, surface] = MIGRATIONS;
  const broken = { ...surface!, statements: [...surface!.statements, "INSERT INTO nowhere VALUES (1)"] };
  await assert.rejects(() => migrate(database, { migrations: [initial!, broken], now: EPOCH }));
  assert.deepEqual(await rowsOf(database, text), before);
  assert.deepEqual(await rowsOf(database, "SELECT max(version) AS version FROM schema_migration"), [
    { version: 1 },
  ]);
  assert.deepEqual(await migrate(database, { migrations: MIGRATIONS, now: EPOCH }), [
    ...MIGRATIONS.slice(1).map(({ name }) => name),
  ]);
  await database.close();
  await harness.close();
});

// ---- old instants -----------------------------------------------------------------------------------------

Deno.test(
  "instants over 31 days old are given up when a new hour begins, by organization, and counts stay exact",
  withUpgraded(async ({ harness, database }) => {
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
    const now = harness.clock.now();
    assert.ok(scored.some(({ at }) => at < now - 35 * DAY), "the history is long enough");
    await agrees(now);
    const before = await instants();
    const hours = await rowsOf(database, hoursText);

    // The same hour again begins nothing; the next one does, for the organization that scores in it.
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
  }, { gap: 21 * HOUR + 41 * 60_000 }),
);
