/**
 * Retention over altered rows. Nothing is removed without an entry of a cut, and no row of a later record is
 * removed. The chain stays as it is, with an alert, until the rows are restored.
 */
import assert from "node:assert/strict";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import { alertsQuery } from "../../src/store/alerts.ts";
import { alter, select } from "../altering.ts";
import { type Harness, openHarness, scoreRequest } from "../harness.ts";

const DAY = 86_400_000;

/** Tables whose rows are counted: every table from which a cut removes rows. */
const TABLES = [
  "audit_entry",
  "audit_part",
  "interaction",
  "decision",
  "skipped_interaction",
  "score_batch",
  "score_commit",
  "outcome_label",
  "compliance_report",
  "tombstone",
] as const;

/** Columns of a table that can be written. */
async function columnsOf({ database }: Harness, table: string): Promise<string> {
  const rows = await select(database, `SELECT name FROM pragma_table_xinfo('${table}') WHERE hidden = 0`);
  return rows.map(({ name }) => name).join(", ");
}

interface Site {
  readonly harness: Harness;
  readonly key: string;
}

/**
 * Records of every kind on one day, and again nine days later, a day before the first ones are past their
 * retention.
 */
async function openSite(): Promise<Site> {
  const harness = await openHarness({ evidenceRetentionDays: 10, raisesTampering: true });
  const key = await harness.organization("acme");
  await record({ harness, key }, "old");
  harness.clock.advance(9 * DAY);
  await record({ harness, key }, "new");
  return { harness, key };
}

async function record({ harness, key }: Site, name: string): Promise<void> {
  const post = async (path: string, body: unknown) => {
    const { status, text } = await harness.send(path, { key, body });
    assert.equal(status, 200, text);
  };
  const ids = (suffix: string) => ({ session_id: `${name}-${suffix}`, operator_id: "anna" });
  await post("/v1/score", scoreRequest(ids("score"), { outcome_correct: null }));
  await post(`/v1/score/${name}-score/commit`, { outcome_correct: true });
  await post("/v1/score?mode_override=incident_frozen", scoreRequest(ids("frozen")));
  await post("/v1/score/batch", {
    operator_id: "anna",
    domain: "general",
    interactions: ["a", "b"].map((suffix) => ({
      session_id: `${name}-${suffix}`,
      time_to_decision_ms: 5000,
      decision: "accepted",
    })),
  });
  await post("/v1/decision/score", {
    decision_id: `${name}-decision`,
    operator_id: "anna",
    domain: "general",
    time_to_decision_ms: 1400,
    decision: "accepted",
  });
  const [start, end] = [harness.clock.now(), harness.clock.now() + DAY]
    .map((at) => new Date(at).toISOString().slice(0, 10));
  const { status, text } = await harness.send(
    `/v1/compliance/report?period_start=${start}&period_end=${end}`,
    { key },
  );
  assert.equal(status, 200, text);
}

const prune = ({ dependencies, clock }: Harness) => pruneChains(dependencies, clock.now());

async function countsOf({ database }: Harness): Promise<Record<string, unknown>> {
  const counts: Record<string, unknown> = {};
  for (const table of TABLES) {
    const condition = table.startsWith("audit_")
      ? "WHERE chain LIKE 'org/acme%' AND chain NOT LIKE '%admin%'"
      : "";
    const [row] = await select(database, `SELECT count(*) AS count FROM ${table} ${condition}`);
    counts[table] = row!.count;
  }
  return counts;
}

/** Asserts that after the changes pruning removes nothing and raises an alert; then restores the rows. */
async function removesNothing(
  { harness, name, tables, changes }: {
    readonly harness: Harness;
    readonly name: string;
    readonly tables: readonly string[];
    readonly changes: readonly string[];
  },
): Promise<void> {
  const { database, dependencies } = harness;
  const kept: string[] = [];
  const restored: string[] = ["PRAGMA defer_foreign_keys = ON"];
  for (const table of tables) {
    const condition = table.startsWith("audit_") ? "chain = 'org/acme'" : "org_id = 'acme'";
    const columns = await columnsOf(harness, table);
    kept.push(`CREATE TABLE kept_${table} AS SELECT ${columns} FROM ${table} WHERE ${condition}`);
    restored.push(
      `DELETE FROM ${table} WHERE ${condition}`,
      `INSERT INTO ${table} (${columns}) SELECT * FROM kept_${table}`,
      `DROP TABLE kept_${table}`,
    );
  }
  await alter(database, ...kept);
  await alter(database, "PRAGMA defer_foreign_keys = ON", ...changes);
  const counts = await countsOf(harness);
  await prune(harness);
  const after = await countsOf(harness);
  await alter(database, ...restored);
  assert.deepEqual(after, counts, name);
  await dependencies.tampered!.inTurn(() => Promise.resolve());
  assert.ok(dependencies.tampered!.families.some((family) => family.startsWith("org/acme")), name);
  const alerts = await database.read(alertsQuery({ all: true }));
  assert.ok(alerts.some(({ severity }) => severity === "HIGH"), name);
}

/** Asserts that pruning restored rows removes the old records and keeps the new ones. */
async function removesOldRecords({ harness, key }: Site, name: string): Promise<void> {
  const { database } = harness;
  await prune(harness);
  const [row] = await select(database, "SELECT min_index FROM audit_chain WHERE chain = 'org/acme'");
  assert.ok(Number(row!.min_index) > 1, name);
  const rows = await select(database, "SELECT session_id FROM interaction ORDER BY session_id");
  assert.deepEqual(rows.map(({ session_id }) => session_id), ["new-a", "new-b", "new-score"], name);
  for (
    const [id, status] of [["old-score", 410], ["old-a", 410], ["new-score", 200], ["new-a", 200]] as const
  ) {
    assert.equal((await harness.send(`/v1/decision/replay/${id}`, { key })).status, status, `${name}: ${id}`);
  }
}

/** The first score. */
const OLD = "chain = 'org/acme' AND seq = 1";
const PRUNED_BY_NOBODY:
  readonly (readonly [name: string, tables: readonly string[], changes: readonly string[]])[] = [
    ["min_index alone", ["audit_chain"], ["UPDATE audit_chain SET min_index = 5 WHERE chain = 'org/acme'"]],
    ["an entry that is relabelled as a cut", ["audit_chain", "audit_entry", "audit_part"], [
      "UPDATE audit_entry SET event_type = 'RETENTION_PRUNED' WHERE chain = 'org/acme' AND seq = 0",
      `UPDATE audit_part SET data = json_set(data, '$.to', 5, '$.from', 0, '$.root', '${
        "0".repeat(64)
      }', '$.last_ts',
        '2026-11-20T09:00:00.000Z', '$.cutoff', '2026-11-20T09:00:00.000Z', '$.policy_days', 10)
      WHERE chain = 'org/acme' AND seq = 0`,
      "UPDATE audit_chain SET min_index = 5 WHERE chain = 'org/acme'",
    ]],
    ["an event that is not JSON", ["audit_chain", "audit_entry", "audit_part"], [
      "UPDATE audit_entry SET event_type = 'RETENTION_PRUNED' WHERE chain = 'org/acme' AND seq = 0",
      "UPDATE audit_part SET data = 'no json' WHERE chain = 'org/acme' AND seq = 0",
      "UPDATE audit_chain SET min_index = 5 WHERE chain = 'org/acme'",
    ]],
  ];

Deno.test("records without an entry of their cut are not removed, whatever the chain's row says", async () => {
  const site = await openSite();
  for (const [name, tables, changes] of PRUNED_BY_NOBODY) {
    await removesNothing({ harness: site.harness, name, tables, changes });
  }
  site.harness.clock.advance(3 * DAY);
  await removesOldRecords(site, "afterwards");
  // The same after an honest cut, which the row then extends.
  await removesNothing({
    harness: site.harness,
    name: "a cut that goes too far",
    tables: ["audit_chain"],
    changes: ["UPDATE audit_chain SET min_index = min_index + 4 WHERE chain = 'org/acme'"],
  });
  await removesOldRecords(site, "after the second");
  await site.harness.close();
});

const FORGED: readonly (readonly [name: string, tables: readonly string[], changes: readonly string[]])[] = [
  ["a part that names a live session", ["audit_part"], [
    `UPDATE audit_part SET data = json_set(data, '$.session_id', 'new-score') WHERE ${OLD}`,
  ]],
  ["a part that is not JSON", ["audit_part"], [`UPDATE audit_part SET data = 'no json' WHERE ${OLD}`]],
  ["an entry whose body is relabelled", ["audit_entry"], [
    `UPDATE audit_entry SET body = json_set(body, '$.event_type', 'DRS_COMPUTED') WHERE ${OLD}`,
  ]],
  ["rows of two sessions that exchanged their positions", ["interaction"], [
    `UPDATE interaction SET position = CASE session_id WHEN 'old-score' THEN 1000 ELSE 1 END
      WHERE session_id IN ('old-score', 'new-score')`,
  ]],
  ["a frozen call at another position", ["skipped_interaction"], [
    `UPDATE skipped_interaction SET position = 1 - position WHERE session_id = 'old-frozen'`,
  ]],
  ["a live batch at an old position", ["score_batch"], [
    `UPDATE score_batch SET first_position = 2 WHERE first_position = (SELECT max(first_position) FROM score_batch)`,
  ]],
  ["an old decision at another position", ["decision"], [
    "UPDATE decision SET position = position + 1 WHERE decision_id = 'old-decision'",
  ]],
  ["a report at another position", ["compliance_report"], [
    "UPDATE compliance_report SET position = position + 1",
  ]],
  ["another position of the chain", ["audit_chain"], [
    "UPDATE audit_chain SET first_position = 100 WHERE chain = 'org/acme'",
  ]],
  ["hashes of the tree", ["audit_node"], [
    "UPDATE audit_node SET hash = zeroblob(32) WHERE chain = 'org/acme'",
  ]],
];

Deno.test("pruning that meets an altered record removes no other row, and leaves the chain as it is", async () => {
  for (const [name, tables, changes] of FORGED) {
    const site = await openSite();
    const { harness } = site;
    // The cut is recorded, but its removal was interrupted.
    harness.clock.advance(3 * DAY);
    const { database } = harness;
    const stopped = { ...database, batch: () => Promise.reject(new Error("stopped")) };
    await assert.rejects(
      () => pruneChains({ ...harness.dependencies, database: stopped }, harness.clock.now()),
      /stopped/,
    );
    await removesNothing({ harness, name, tables, changes });
    await removesOldRecords(site, name);
    await harness.close();
  }
});

Deno.test("a chain whose row has another origin, epoch or family is not pruned", async () => {
  const site = await openSite();
  const { harness } = site;
  harness.clock.advance(3 * DAY);
  for (
    const change of [
      "UPDATE audit_chain SET origin = origin || 'x' WHERE chain = 'org/acme'",
      "UPDATE audit_chain SET epoch = 3 WHERE chain = 'org/acme'",
      "UPDATE audit_chain SET family = 'org/nobody' WHERE chain = 'org/acme'",
    ]
  ) await removesNothing({ harness, name: change, tables: ["audit_chain"], changes: [change] });
  const [row] = await select(
    harness.database,
    "SELECT count(*) AS cuts FROM audit_entry WHERE event_type = 'RETENTION_PRUNED'",
  );
  assert.equal(row!.cuts, 0);
  await removesOldRecords(site, "afterwards");
  await harness.close();
});

Deno.test("a cut begins where the last one ended, whatever the chain's row says", async () => {
  const site = await openSite();
  const { harness } = site;
  harness.clock.advance(3 * DAY);
  await prune(harness);
  harness.clock.advance(8 * DAY);
  for (const change of ["min_index - 1", "min_index + 1", "0"]) {
    await removesNothing({
      harness,
      name: change,
      tables: ["audit_chain"],
      changes: [`UPDATE audit_chain SET min_index = ${change} WHERE chain = 'org/acme'`],
    });
  }
  await prune(harness);
  const cuts = await select(
    harness.database,
    `SELECT data FROM audit_entry JOIN audit_part USING (chain, seq)
      WHERE chain = 'org/acme' AND event_type = 'RETENTION_PRUNED' ORDER BY seq`,
  );
  const details = cuts.map(({ data }) => JSON.parse(String(data)));
  assert.equal(details.length, 2);
  assert.equal(details[1].from, details[0].to);
  await harness.close();
});

Deno.test("a live row that was moved to an old entry's position is kept", async () => {
  const { harness } = await openSite();
  harness.clock.advance(3 * DAY);
  await alter(
    harness.database,
    `UPDATE skipped_interaction SET position = 1 WHERE session_id = 'new-frozen'`,
    `UPDATE decision SET position = 1 WHERE decision_id = 'new-decision'`,
    `UPDATE interaction SET position = 1 WHERE session_id = 'new-score'`,
  );
  await prune(harness);
  const rows = await select(
    harness.database,
    `SELECT session_id AS id FROM skipped_interaction UNION ALL SELECT decision_id FROM decision
      UNION ALL SELECT session_id FROM interaction UNION ALL SELECT session_id || ' label' FROM outcome_label ORDER BY 1`,
  );
  assert.deepEqual(rows.map(({ id }) => id), [
    "new-a",
    "new-b",
    "new-decision",
    "new-frozen",
    "new-score",
    "new-score label",
  ]);
  await harness.abandon();
});
