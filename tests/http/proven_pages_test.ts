/**
 * Lists, the audit log and a person's copy are made of entries that are verified at that moment. If somebody
 * with the database's file and no key alters it, the result is refused or marked as altered, never shown as
 * recorded.
 */
import assert from "node:assert/strict";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { hex } from "../../src/evidence/crypto.ts";
import { entryHash, partCommitment, type PartName } from "../../src/evidence/hashes.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { AuditLines } from "../../src/operations/chains/audit_lines.ts";
import { alertsQuery } from "../../src/store/alerts.ts";
import { alter, select } from "../altering.ts";
import { type Answer, type Harness, openHarness, scoreRequest } from "../harness.ts";

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

const DECISIONS = "/v1/organization/decisions";
const REPORTS = "/v1/compliance/reports";
const LOG = "/v1/admin/audit-log";
const COPY = "/v1/operator/anna/export";
/**
 * Conditions of the rows that a test alters and puts back, by table. Rows outside them that are written
 * meanwhile stay.
 */
type Rows = Readonly<Record<string, string>>;

const EVIDENCE: Rows = {
  ...Object.fromEntries(
    ["audit_chain", "audit_entry", "audit_part", "audit_node", "audit_checkpoint"].map((table) =>
      [table, "chain = 'org/acme'"] as const
    ),
  ),
  compliance_report: "org_id = 'acme'",
  subject: "org_id = 'acme'",
};
/** Entries of the audit log from before any alteration. */
const OLD_EVENTS: Rows = {
  audit_entry: "chain = 'org/acme/admin' AND seq < 4",
  audit_part: "chain = 'org/acme/admin' AND seq < 4",
};

/** Alters rows, runs `look`, and puts those rows back. */
async function whileRowsAltered(
  { database }: Harness,
  { rows, changes }: { readonly rows: Rows; readonly changes: readonly string[] },
  look: () => Promise<void>,
): Promise<void> {
  const restored: string[] = ["PRAGMA defer_foreign_keys = ON"];
  const kept: string[] = [];
  for (const [table, condition] of Object.entries(rows)) {
    const own = await select(database, `SELECT name FROM pragma_table_xinfo('${table}') WHERE hidden = 0`);
    const columns = own.map(({ name }) => name).join(", ");
    kept.push(`CREATE TABLE kept_${table} AS SELECT ${columns} FROM ${table} WHERE ${condition}`);
    restored.push(
      `DELETE FROM ${table} WHERE ${condition}`,
      `INSERT INTO ${table} (${columns}) SELECT * FROM kept_${table}`,
      `DROP TABLE kept_${table}`,
    );
  }
  await alter(database, ...kept);
  await alter(database, "PRAGMA defer_foreign_keys = ON", ...changes);
  try {
    await look();
  } finally {
    await alter(database, ...restored);
  }
}

interface Site {
  readonly harness: Harness;
  readonly key: string;
  ask(path: string): Promise<Answer>;
}

/** Two people with scores, a late label, a decision and a frozen call; and two reports. */
async function openSite(): Promise<Site> {
  const harness = await openHarness({ raisesTampering: true });
  const key = await harness.organization("acme");
  await harness.organization("other");
  const post = async (path: string, body: unknown) => {
    const { status, text } = await harness.send(path, { key, body });
    assert.equal(status, 200, text);
    harness.clock.advance(60_000);
  };
  for (const operator of ["anna", "bela"]) {
    for (const [name, fields] of [["1", {}], ["2", {}], ["late", { outcome_correct: null }]] as const) {
      const ids = { session_id: `${operator}-${name}`, operator_id: operator };
      await post("/v1/score", scoreRequest(ids, fields));
    }
    const frozen = scoreRequest({ session_id: `${operator}-frozen`, operator_id: operator });
    await post("/v1/score?mode_override=incident_frozen", frozen);
    await post(`/v1/score/${operator}-late/commit`, { outcome_correct: true });
    await post("/v1/decision/score", {
      decision_id: `${operator}-decision`,
      operator_id: operator,
      domain: "general",
      time_to_decision_ms: 1400,
      decision: "accepted",
    });
  }
  const ask = (path: string) => harness.send(path, { key });
  for (const start of ["2026-11-01", "2026-11-02"]) {
    const { status, text } = await ask(`/v1/compliance/report?period_start=${start}&period_end=2026-12-01`);
    assert.equal(status, 200, text);
    harness.clock.advance(60_000);
  }
  return { harness, key, ask };
}

function assertAltered({ status, body, text }: Answer, what: string): void {
  assert.deepEqual(
    [status, body?.error?.code],
    [503, "SERVICE_UNAVAILABLE"],
    `${what}: ${text.slice(0, 300)}`,
  );
  assert.match(body.error.message, /^The database was altered: /, what);
}

/** Asserts that the process knows an alert about a family of chains and that it is stored; then clears it. */
async function assertAlert({ dependencies, database }: Harness, family: string, what: string): Promise<void> {
  const tampered = dependencies.tampered!;
  await tampered.inTurn(() => Promise.resolve());
  assert.ok(tampered.families.includes(family), what);
  const alerts = await database.read(alertsQuery({ all: true }));
  assert.ok(alerts.some(({ org_id, severity }) => org_id === "acme" && severity === "HIGH"), what);
  tampered.clear(family);
}

/** The seq of the entry of a score or decision. */
async function seqOf({ database }: Harness, id: string): Promise<number> {
  const [row] = await select(
    database,
    `SELECT position FROM interaction WHERE session_id = '${id}'
      UNION ALL SELECT position FROM decision WHERE decision_id = '${id}'`,
  );
  return Number(row!.position);
}

/** Statements that rewrite a part, its entry's commitment to it and the entry's hash, and leave the tree. */
async function rewritten(
  { database }: Harness,
  { chain, seq, part, change }: {
    readonly chain: string;
    readonly seq: number;
    readonly part: PartName;
    change(data: Json): void;
  },
): Promise<readonly string[]> {
  const [row] = await select(
    database,
    `SELECT e.body, p.salt, p.data FROM audit_entry AS e JOIN audit_part AS p ON p.chain = e.chain AND p.seq = e.seq
      WHERE e.chain = '${chain}' AND e.seq = ${seq} AND p.name = '${part}'`,
  );
  const data = JSON.parse(String(row!.data));
  change(data);
  const text = canonicalJson(data);
  const entry = JSON.parse(String(row!.body));
  const salt = new Uint8Array(row!.salt as Uint8Array);
  entry.commit[part] = hex(partCommitment(nodeCrypto, { name: part, salt, text }));
  const body = canonicalJson(entry);
  const quoted = (written: string) => `'${written.replaceAll("'", "''")}'`;
  return [
    `UPDATE audit_part SET data = ${
      quoted(text)
    } WHERE chain = '${chain}' AND seq = ${seq} AND name = '${part}'`,
    `UPDATE audit_entry SET body = ${quoted(body)}, entry_hash = x'${hex(entryHash(nodeCrypto, body))}'
      WHERE chain = '${chain}' AND seq = ${seq}`,
  ];
}

/**
 * Asserts for each change that the paths are refused with an alert, and answered as before once it is undone.
 */
async function refuses(
  { harness, ask }: Site,
  { paths, family, rows = EVIDENCE, changes }: {
    readonly paths: readonly string[];
    readonly family: string;
    readonly rows?: Rows;
    readonly changes: readonly (string | readonly string[])[];
  },
): Promise<void> {
  const contentOf = ({ status, body, text }: Answer) => {
    assert.equal(status, 200, text);
    return body?.decisions ?? body?.reports ?? body?.events ?? text;
  };
  for (const change of changes) {
    const statements = typeof change === "string" ? [change] : change;
    for (const path of paths) {
      const before = contentOf(await ask(path));
      await whileRowsAltered(harness, { rows, changes: statements }, async () => {
        assertAltered(await ask(path), `${path} after ${statements}`);
      });
      await assertAlert(harness, family, `${path} after ${statements}`);
      if (!path.startsWith(LOG)) assert.deepEqual(contentOf(await ask(path)), before);
    }
  }
}

const of = (chain: string, rest: string) => `chain = '${chain}' AND ${rest}`;

// ---- lists ------------------------------------------------------------------------------------------------

Deno.test("a list of altered scores or decisions is refused", async () => {
  const site = await openSite();
  const seq = await seqOf(site.harness, "anna-1");
  const own = of("org/acme", `seq = ${seq}`);
  const forged = (part: PartName, change: (data: Json) => void) =>
    rewritten(site.harness, { chain: "org/acme", seq, part, change });
  await refuses(site, {
    paths: [DECISIONS, `${DECISIONS}?operator_id=anna&limit=200`],
    family: "org/acme",
    changes: [
      `UPDATE audit_part SET data = json_set(data, '$.jis', 97.77) WHERE ${own} AND name = 'result'`,
      `UPDATE audit_part SET data = json_set(data, '$.operator_id', 'bela') WHERE ${own} AND name = 'result'`,
      `UPDATE audit_part SET data = json_set(data, '$.domain', 'legal') WHERE ${own} AND name = 'input'`,
      `UPDATE audit_part SET data = 'no json' WHERE ${own}`,
      `UPDATE audit_part SET data = NULL, salt = NULL WHERE ${own}`,
      `UPDATE audit_part SET data = NULL, salt = NULL WHERE ${own} AND name = 'input'`,
      `DELETE FROM audit_part WHERE ${own}`,
      `UPDATE audit_entry SET body = json_set(body, '$.timestamp', '2020-01-01T00:00:00.000Z') WHERE ${own}`,
      `UPDATE audit_entry SET body = json_set(body, '$.prefix', 'another!') WHERE ${own}`,
      await forged("result", (data) => data.jis = 99.99),
      await forged("input", (data) => data.interaction.decision = "rejected"),
      // The entry of another event, relabelled in its column.
      `UPDATE audit_entry SET event_type = 'SCORE_COMPUTED' WHERE event_type = 'SCORE_SKIPPED'`,
      `UPDATE audit_entry SET event_type = 'DRS_COMPUTED' WHERE event_type = 'OUTCOME_LABELLED'`,
      `UPDATE audit_node SET hash = zeroblob(32) WHERE ${of("org/acme", "idx >= 0")}`,
      `DELETE FROM audit_checkpoint WHERE chain = 'org/acme'`,
      `UPDATE audit_checkpoint SET note = 'x' || note WHERE chain = 'org/acme'`,
    ],
  });
  const decided = of("org/acme", `seq = ${await seqOf(site.harness, "anna-decision")}`);
  await refuses(site, {
    paths: [`${DECISIONS}?kind=score`],
    family: "org/acme",
    changes: [`UPDATE audit_entry SET event_type = 'SCORE_COMPUTED' WHERE ${decided}`],
  });
  // The entry of another operator is moved to this one.
  await refuses(site, {
    paths: [`${DECISIONS}?operator_id=anna`],
    family: "org/acme",
    changes: [
      `UPDATE subject SET pseudonym = (SELECT max(pseudonym) FROM subject WHERE operator_id = 'bela')
        WHERE operator_id = 'anna'`,
      `UPDATE audit_entry SET body = json_set(body, '$.subject',
          (SELECT pseudonym FROM subject WHERE operator_id = 'anna'))
        WHERE seq = ${await seqOf(site.harness, "bela-1")} AND chain = 'org/acme'`,
    ],
  });
  await site.harness.close();
});

Deno.test("a list of altered reports is refused", async () => {
  const site = await openSite();
  const [row] = await select(
    site.harness.database,
    "SELECT position FROM compliance_report ORDER BY position LIMIT 1",
  );
  const seq = Number(row!.position);
  const exchange = (column: string) =>
    `UPDATE compliance_report SET ${column} = (SELECT o.${column} FROM compliance_report AS o
      WHERE o.report_id != compliance_report.report_id)`;
  await refuses(site, {
    paths: [REPORTS, `${REPORTS}?limit=200`],
    family: "org/acme",
    changes: [
      "UPDATE compliance_report SET report = json_set(report, '$.overall_status', 'met')",
      "UPDATE compliance_report SET report = json_set(report, '$.period.start', '2020-01-01T00:00:00.000Z')",
      exchange("position"),
      "UPDATE compliance_report SET position = 1",
      "UPDATE compliance_report SET position = position + 1000",
      "UPDATE compliance_report SET position = -1",
      `UPDATE compliance_report SET report_id = 'x' || substr(report_id, 2)`,
      `UPDATE audit_part SET data = 'no json' WHERE ${of("org/acme", `seq = ${seq}`)}`,
      `UPDATE audit_part SET data = NULL, salt = NULL WHERE ${of("org/acme", `seq = ${seq}`)}`,
      `UPDATE audit_entry SET body = json_set(body, '$.timestamp', '2020-01-01T00:00:00.000Z')
        WHERE ${of("org/acme", `seq = ${seq}`)}`,
      `DELETE FROM audit_entry WHERE ${of("org/acme", `seq = ${seq}`)}`,
      await rewritten(site.harness, {
        chain: "org/acme",
        seq,
        part: "detail",
        change: (data) => data.report_id = "01FORGED00000000000000000",
      }),
    ],
  });
  await site.harness.close();
});

// ---- the audit log ----------------------------------------------------------------------------------------

Deno.test("the audit log and its export are refused if their entries were altered", async () => {
  const site = await openSite();
  const { harness, ask } = site;
  for (let index = 0; index < 3; index += 1) await ask(LOG);
  harness.clock.advance(60_000);
  const chain = "org/acme/admin";
  const forged = await rewritten(harness, {
    chain,
    seq: 2,
    part: "detail",
    change: (data) => data.limit = 5,
  });
  await refuses(site, {
    paths: [LOG, `${LOG}/export`],
    family: chain,
    rows: OLD_EVENTS,
    changes: [
      `UPDATE audit_entry SET body = replace(body, '"actor":"self_serve"', '"actor":"system"')
        WHERE ${of(chain, "seq = 2")}`,
      `UPDATE audit_part SET data = json_set(data, '$.forged', 'yes') WHERE ${of(chain, "seq = 2")}`,
      `UPDATE audit_part SET data = 'no json' WHERE ${of(chain, "seq = 2")}`,
      `UPDATE audit_part SET data = NULL, salt = NULL WHERE ${of(chain, "seq = 2")}`,
      `DELETE FROM audit_part WHERE ${of(chain, "seq = 2")}`,
      `DELETE FROM audit_entry WHERE ${of(chain, "seq = 2")}`,
      forged,
    ],
  });
  await refuses(site, {
    paths: [`${LOG}?event_type=ORG_CREATED`, `${LOG}/export?event_type=ORG_CREATED`],
    family: chain,
    rows: OLD_EVENTS,
    changes: [`UPDATE audit_entry SET event_type = 'ORG_CREATED' WHERE ${of(chain, "seq = 2")}`],
  });
  // The column of an instant, by which a page is found.
  await refuses(site, {
    paths: [`${LOG}?until=2026-11-20`, `${LOG}/export?until=2026-11-20`],
    family: chain,
    rows: OLD_EVENTS,
    changes: [`UPDATE audit_entry SET ts = '2026-11-19T00:00:00.000Z'
        WHERE ${of(chain, "seq < 4")}`],
  });
  await harness.close();
});

Deno.test("a long export that reaches an altered entry breaks off there, with an alert", async () => {
  const site = await openSite();
  const { harness, ask } = site;
  for (let index = 0; index < 250; index += 1) await ask(`${LOG}?limit=1`);
  harness.clock.advance(60_000);
  const chain = "org/acme/admin";
  const whole = await ask(`${LOG}/export`);
  assert.equal(whole.status, 200);
  await whileRowsAltered(harness, {
    rows: OLD_EVENTS,
    changes: [`UPDATE audit_part SET data = json_set(data, '$.forged', 'yes') WHERE ${of(chain, "seq = 1")}`],
  }, async () => {
    await assert.rejects(() => ask(`${LOG}/export`), /was altered/);
  });
  await assertAlert(harness, chain, "an export");
  await harness.close();
});

Deno.test("the service's log does not show an altered audit event, and reports that there is one", async () => {
  const { harness, ask } = await openSite();
  const logged: (readonly [string, unknown])[] = [];
  const write = (level: string) => (_: string, fields?: Json) => {
    logged.push([level, `${fields.chain} ${fields.seq} ${fields.event ?? ""}`]);
  };
  const lines = new AuditLines({ info: write("info"), warn: write("warn"), error: write("error") });
  await lines.skipExisting(harness.database);
  const [{ size }] = await select(
    harness.database,
    "SELECT size FROM audit_chain WHERE chain = 'org/acme/admin'",
  ) as [{ size: number }];
  for (let index = 0; index < 3; index += 1) await ask(LOG);
  const forged = await rewritten(harness, {
    chain: "org/acme/admin",
    seq: size + 1,
    part: "detail",
    change: (data) => data.limit = 5,
  });
  const rows = {
    audit_entry: of("org/acme/admin", `seq = ${size + 1}`),
    audit_part: of("org/acme/admin", `seq = ${size + 1}`),
  };
  await whileRowsAltered(harness, { rows, changes: forged }, async () => {
    await lines.logOthers(harness.dependencies, harness.clock.now());
  });
  assert.deepEqual(logged.splice(0), [
    ["info", `org/acme/admin ${size} AUDIT_LOG_READ`],
    ["error", `org/acme/admin ${size + 1} `],
    ["info", `org/acme/admin ${size + 2} AUDIT_LOG_READ`],
  ]);
  await assertAlert(harness, "org/acme/admin", "a line of the log");
  await lines.logOthers(harness.dependencies, harness.clock.now());
  assert.deepEqual(logged.filter(([, line]) => !String(line).includes("ALERT_RAISED")), []);
  await harness.close();
});

// ---- subject access ---------------------------------------------------------------------------------------

/** Rows of the organization from which a copy is made. */
const ROWS: Rows = {
  ...EVIDENCE,
  ...Object.fromEntries(
    ["interaction", "skipped_interaction", "decision", "operator", "score_commit", "outcome_label", "webhook"]
      .map((
        table,
      ) => [table, "org_id = 'acme'"]),
  ),
};

Deno.test("a person's copy marks each altered record, raises the alert, and shows the other records", async () => {
  const { harness, ask } = await openSite();
  const one = of("org/acme", `seq = ${await seqOf(harness, "anna-1")}`);
  const forged = await rewritten(harness, {
    chain: "org/acme",
    seq: await seqOf(harness, "anna-1"),
    part: "result",
    change: (data) => data.jis = 99.99,
  });
  const before = (await ask(COPY)).body;
  const nameOf = ({ event_type, input, result }: Json) => {
    const { session_id, decision_id } = { ...input, ...result };
    return `${event_type} ${session_id ?? decision_id}`;
  };
  const evidence: readonly string[] = before.records.filter(({ chain }: Json) => chain === "org/acme").map(
    nameOf,
  );
  assert.equal(evidence.length, 7);
  const cases: readonly (readonly [change: string | readonly string[], altered: readonly string[]])[] = [
    [
      "UPDATE interaction SET jis = 95, d1 = 95, low = 90, high = 99 WHERE session_id = 'anna-1'",
      ["SCORE_COMPUTED anna-1"],
    ],
    ["UPDATE interaction SET request_id = 'another' WHERE session_id = 'anna-1'", ["SCORE_COMPUTED anna-1"]],
    ["UPDATE skipped_interaction SET at = 1 WHERE session_id = 'anna-frozen'", ["SCORE_SKIPPED anna-frozen"]],
    ["DELETE FROM skipped_interaction WHERE session_id = 'anna-frozen'", ["SCORE_SKIPPED anna-frozen"]],
    ["UPDATE decision SET position = position + 1 WHERE decision_id = 'anna-decision'", [
      "DRS_COMPUTED anna-decision",
    ]],
    ["DELETE FROM decision WHERE decision_id = 'anna-decision'", ["DRS_COMPUTED anna-decision"]],
    ["UPDATE score_commit SET position = position + 1 WHERE session_id = 'anna-late'", [
      "SCORE_COMMITTED anna-late",
    ]],
    [forged, ["SCORE_COMPUTED anna-1"]],
    [`UPDATE audit_part SET data = 'no json' WHERE ${one}`, ["SCORE_COMPUTED undefined"]],
    ["UPDATE audit_node SET hash = zeroblob(32) WHERE chain = 'org/acme'", evidence],
    ["DELETE FROM audit_checkpoint WHERE chain = 'org/acme'", evidence],
    // The copy does not show the altered columns.
    [`UPDATE audit_entry SET event_type = 'DRS_COMPUTED', ts = '2020-01-01T00:00:00.000Z' WHERE ${one}`, []],
  ];
  for (const [change, altered] of cases) {
    const changes = typeof change === "string" ? [change] : change;
    await whileRowsAltered(harness, { rows: ROWS, changes }, async () => {
      const { status, body, text } = await ask(COPY);
      assert.equal(status, 200, text);
      const marked = body.records.filter((record: Json) => record.altered);
      assert.deepEqual(marked.map(nameOf), altered, `${change}`);
      for (const record of marked) {
        const { explanation, session_id, decision_id, request_id, full_mode } = record;
        assert.deepEqual([explanation, session_id, decision_id, request_id, full_mode], [
          null,
          null,
          null,
          null,
          null,
        ]);
      }
      const jis = before.jis_history.map((point: Json) => point.jis);
      for (const point of body.jis_history) assert.ok(jis.includes(point.jis), `${change}`);
      const page = await ask(`${COPY}?format=html`);
      assert.equal(page.text.match(/<strong>Altered\.<\/strong>/g)?.length ?? 0, altered.length, `${change}`);
    });
    if (altered.length > 0) await assertAlert(harness, "org/acme", `${change}`);
  }
  const after = (await ask(COPY)).body;
  assert.deepEqual(after.records.slice(0, 7), before.records.slice(0, 7));
  assert.deepEqual(after.jis_history, before.jis_history);
  await harness.close();
});

Deno.test("a copy is refused if the operator's row, its pseudonym or the webhooks were altered", async () => {
  const site = await openSite();
  const { harness, key, ask } = site;
  for (const name of ["one", "two"]) {
    const body = { url: `https://review.acme.example/${name}`, secret: "a-secret-of-the-receiver" };
    assert.equal((await harness.send("/v1/admin/webhook/register", { key, body })).status, 201);
  }
  assert.deepEqual((await ask(COPY)).body.notice.recipients.list, ["review.acme.example"]);
  for (
    const change of [
      "UPDATE webhook SET url = 'https://nobody.example/'",
      "DELETE FROM webhook WHERE url LIKE '%two'",
      "UPDATE subject SET pseudonym = (SELECT max(pseudonym) FROM subject WHERE operator_id = 'bela') WHERE operator_id = 'anna'",
      "UPDATE operator SET state = json_set(state, '$.n', 99) WHERE operator_id = 'anna'",
      "DELETE FROM operator WHERE operator_id = 'anna'",
    ]
  ) {
    await whileRowsAltered(harness, { rows: ROWS, changes: [change] }, async () => {
      assertAltered(await ask(COPY), change);
    });
  }
  assert.equal((await ask(COPY)).status, 200);
  await harness.close();
});

Deno.test("a bundle without personal parts has none, whatever event type the columns state", async () => {
  const { harness, ask } = await openSite();
  const path = "/v1/audit/chain/export?parts=structural";
  const partsOf = ({ status, text }: Answer) => {
    assert.equal(status, 200, text);
    return text.split("\n").slice(0, -1).map((line) => JSON.parse(line))
      .filter(({ kind }: Json) => kind === "jis.part/1")
      .map(({ seq, name, withheld }: Json) => `${seq} ${name} ${withheld ? "withheld" : "given"}`);
  };
  const before = partsOf(await ask(path));
  assert.ok(before.includes("0 detail given") && before.includes("1 input withheld"));
  const changes = ["UPDATE audit_entry SET event_type = 'CHAIN_GENESIS' WHERE chain = 'org/acme'"];
  await whileRowsAltered(harness, { rows: EVIDENCE, changes }, async () => {
    assert.deepEqual(partsOf(await ask(path)), before);
  });
  await harness.close();
});
