/**
 * Verifying a chain while the service runs finds alterations beside the entries: of the tree, the columns
 * that repeat an entry's members, checkpoints, the chain's own row, keys, models, reports and tombstones.
 * Each item is one alteration.
 * Source: evidence design, section 8.
 */
import assert from "node:assert/strict";
import { hex } from "../../src/evidence/crypto.ts";
import { anchorChains } from "../../src/operations/chains/anchoring.ts";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import { verifyChain } from "../../src/operations/verification/verification.ts";
import { whileAltered } from "../altering.ts";
import { buildWorld } from "../bundle_builder.ts";
import { type Harness, openHarness, scoreRequest } from "../harness.ts";

const DAY_MS = 86_400_000;
const STRANGER = hex(buildWorld({ seed: "stranger" }).signers[0]!.publicKey);
const EVIDENCE = "org/acme";
const TABLES = [
  "audit_chain",
  "audit_entry",
  "audit_node",
  "audit_checkpoint",
  "audit_ladder",
  "signing_key",
  "model_document",
  "compliance_report",
  "tombstone",
] as const;

/**
 * Every kind of chain over four days. The first day of the evidence chain is pruned, and one operator is
 * erased.
 */
async function openSite(): Promise<{ readonly harness: Harness; readonly key: string }> {
  const harness = await openHarness({ evidenceRetentionDays: 2 });
  const { clock, dependencies } = harness;
  const key = await harness.organization("acme");
  await harness.organization("other");
  for (const day of [1, 2, 3, 4]) {
    for (const index of [1, 2, 3]) {
      const fields = { session_id: `s-${day}-${index}`, operator_id: `operator-${index}` };
      const { status, text } = await harness.send("/v1/score", { key, body: scoreRequest(fields) });
      assert.equal(status, 200, text);
    }
    await harness.send("/v1/admin/audit-log", { key });
    await anchorChains(dependencies, clock.now());
    clock.advance(DAY_MS);
  }
  await pruneChains(dependencies, clock.now());
  const start = new Date(clock.now() - 2 * DAY_MS).toISOString().slice(0, 10);
  const end = new Date(clock.now() + DAY_MS).toISOString().slice(0, 10);
  const report = await harness.send(`/v1/compliance/report?period_start=${start}&period_end=${end}`, { key });
  assert.equal(report.status, 200, report.text);
  assert.equal((await harness.send("/v1/operator/operator-3", { method: "DELETE", key })).status, 200);
  // Several commits of one day: an auditor's bundle shows only the last of them.
  for (let commits = 0; commits < 3; commits += 1) {
    await anchorChains(dependencies, clock.now());
    assert.equal((await harness.send("/v1/admin/audit-log", { key })).status, 200);
  }
  await anchorChains(dependencies, clock.now());
  return { harness, key };
}

function verified({ dependencies, clock }: Harness, family: string, from = 0) {
  return verifyChain(dependencies, { family, from, sinceSize: null, now: clock.now() });
}

interface Alteration {
  /** `$own` stands for the condition that a row belongs to the chain, `$last` for its last seq. */
  readonly sql: string;
  readonly code: string;
  readonly detail: RegExp;
}

const column = (name: string) => new RegExp(`^${name.replace(".", "\\.")}$`);
const PLACE = "$own AND seq = $last";
const CHECKPOINT = "$own AND size = $last";
const NOTE_BEFORE =
  "(SELECT o.note FROM audit_checkpoint AS o WHERE o.chain = '$chain' AND o.size < $last ORDER BY o.size DESC LIMIT 1)";

/** Alterations that every chain can have. */
const EVERY_CHAIN: readonly Alteration[] = [
  {
    sql: "UPDATE audit_node SET hash = zeroblob(32) WHERE $own AND idx = 0",
    code: "NODE_MISMATCH",
    detail: /^audit_node /,
  },
  {
    sql: "UPDATE audit_node SET hash = zeroblob(32) WHERE $own AND idx = 2",
    code: "NODE_MISMATCH",
    detail: /^audit_node 2$/,
  },
  {
    sql: "DELETE FROM audit_node WHERE $own AND idx = 1",
    code: "NODE_MISMATCH",
    detail: /^audit_node 1 is missing$/,
  },
  {
    sql: "INSERT INTO audit_node (chain, idx, hash) VALUES ('$chain', 100000, zeroblob(32))",
    code: "NODE_MISMATCH",
    detail: /^audit_node holds more than the tree$/,
  },
  {
    sql: `UPDATE audit_entry SET id = 'x' || id WHERE ${PLACE}`,
    code: "COLUMN_MISMATCH",
    detail: column("audit_entry.id"),
  },
  {
    sql: `UPDATE audit_entry SET event_type = 'SUBJECT_ERASED' WHERE ${PLACE}`,
    code: "COLUMN_MISMATCH",
    detail: column("audit_entry.event_type"),
  },
  {
    sql: `UPDATE audit_entry SET ts = '2020-01-01T00:00:00.000Z' WHERE ${PLACE}`,
    code: "COLUMN_MISMATCH",
    detail: column("audit_entry.ts"),
  },
  {
    sql: `UPDATE audit_entry SET entry_hash = zeroblob(32) WHERE ${PLACE}`,
    code: "COLUMN_MISMATCH",
    detail: column("audit_entry.entry_hash"),
  },
  {
    sql: `UPDATE audit_entry SET prev_hash = zeroblob(32) WHERE ${PLACE}`,
    code: "COLUMN_MISMATCH",
    detail: column("audit_entry.prev_hash"),
  },
  {
    sql: `INSERT INTO audit_entry (chain, seq, id, entry_hash, prev_hash, event_type, ts, body)
      SELECT chain, 100000, 'x' || id, entry_hash, prev_hash, event_type, ts, body FROM audit_entry WHERE ${PLACE}`,
    code: "UNSIGNED_TAIL",
    detail: /^audit_entry$/,
  },
  {
    sql: `UPDATE audit_checkpoint SET ts = '2020-01-01T00:00:00.000Z' WHERE ${CHECKPOINT}`,
    code: "COLUMN_MISMATCH",
    detail: column("audit_checkpoint.ts"),
  },
  {
    sql: `UPDATE audit_checkpoint SET note = 'nonsense' WHERE ${CHECKPOINT}`,
    code: "WRONG_ORIGIN",
    detail: column("audit_checkpoint.note"),
  },
  {
    sql:
      `UPDATE audit_checkpoint SET note = replace(note, char(10) || '$last' || char(10), char(10) || '1' || char(10))
      WHERE ${CHECKPOINT}`,
    code: "BAD_SIGNATURE",
    detail: column("audit_checkpoint.note"),
  },
  {
    sql: `UPDATE audit_checkpoint SET note = ${NOTE_BEFORE} WHERE ${CHECKPOINT}`,
    code: "COLUMN_MISMATCH",
    detail: column("audit_checkpoint.size"),
  },
  {
    sql: "INSERT INTO audit_ladder (chain, size, ts) VALUES ('$chain', 100000, '2020-01-01T00:00:00.000Z')",
    code: "COLUMN_MISMATCH",
    detail: column("audit_ladder.size"),
  },
  {
    sql: "UPDATE audit_ladder SET ts = '2020-01-01T00:00:00.000Z' WHERE $own",
    code: "COLUMN_MISMATCH",
    detail: column("audit_ladder.ts"),
  },
  {
    sql: "UPDATE audit_chain SET epoch = 2 WHERE $own",
    code: "COLUMN_MISMATCH",
    detail: column("audit_chain.epoch"),
  },
  {
    sql: "UPDATE audit_chain SET first_position = 1 WHERE $own",
    code: "COLUMN_MISMATCH",
    detail: column("audit_chain.first_position"),
  },
  {
    sql: "UPDATE audit_chain SET key_ordinal = 2 WHERE $own",
    code: "COLUMN_MISMATCH",
    detail: column("audit_chain.key_ordinal"),
  },
];

const EVIDENCE_CHAIN: readonly Alteration[] = [
  {
    sql: "UPDATE audit_chain SET min_index = 0 WHERE $own",
    code: "TRUNCATED",
    detail: /./,
  },
  {
    sql: "UPDATE compliance_report SET report = replace(report, '\"n\"', '\"m\"') || ' '",
    code: "REPORT_MISMATCH",
    detail: /another record than its own/,
  },
  {
    sql: "UPDATE compliance_report SET report_id = 'another'",
    code: "REPORT_MISMATCH",
    detail: /another record than its own/,
  },
  {
    sql: "UPDATE compliance_report SET position = position - 1",
    code: "REPORT_MISMATCH",
    detail: /./,
  },
  {
    sql: "DELETE FROM compliance_report",
    code: "REPORT_MISMATCH",
    detail: /^a row of compliance_report is missing$/,
  },
  {
    sql: "UPDATE compliance_report SET org_id = 'other'",
    code: "REPORT_MISMATCH",
    detail: /^a row of compliance_report is missing$/,
  },
  {
    sql: "DELETE FROM tombstone",
    code: "TOMBSTONE_MISMATCH",
    detail: /^the rows of tombstone are missing$/,
  },
  {
    sql: "DELETE FROM tombstone WHERE reason = 'erased'",
    code: "TOMBSTONE_MISMATCH",
    detail: /^the rows of tombstone are missing$/,
  },
  {
    sql: "UPDATE tombstone SET entry_hash = zeroblob(32) WHERE reason = 'erased'",
    code: "TOMBSTONE_MISMATCH",
    detail: /does not stand in the tree/,
  },
  {
    sql: "UPDATE tombstone SET reason = 'erased'",
    code: "TOMBSTONE_MISMATCH",
    detail: /does not tell why/,
  },
  {
    sql: "UPDATE model_document SET document = replace(document, '40', '41')",
    code: "MODEL_MISMATCH",
    detail: /^[0-9a-f]{64}$/,
  },
];

const SYSTEM_CHAIN: readonly Alteration[] = [
  {
    sql: `UPDATE signing_key SET public_key = x'${STRANGER}'`,
    code: "KEY_UNCERTIFIED",
    detail: /^nothing certifies signing key 1$/,
  },
  {
    sql: `INSERT INTO signing_key (ordinal, public_key, certificate, from_size, until_size)
      VALUES (2, x'${STRANGER}', NULL, 0, NULL)`,
    code: "KEY_UNCERTIFIED",
    detail: /^nothing certifies signing key 2$/,
  },
  {
    sql: "UPDATE signing_key SET from_size = 3",
    code: "KEY_UNCERTIFIED",
    detail: /^the sizes that signing key 1 signs are not those of its rotations$/,
  },
  {
    sql: "UPDATE audit_chain SET anchored_size = size + 1 WHERE chain = 'org/acme'",
    code: "COLUMN_MISMATCH",
    detail: column("audit_chain.anchored_size"),
  },
  {
    sql: "UPDATE tombstone SET chain = 'org/nobody'",
    code: "TOMBSTONE_MISMATCH",
    detail: /^there is no chain org\/nobody$/,
  },
  {
    sql: "UPDATE model_document SET document = replace(document, '40', '41')",
    code: "MODEL_MISMATCH",
    detail: /^[0-9a-f]{64}$/,
  },
];

for (
  const [family, alterations] of [
    [EVIDENCE, [...EVERY_CHAIN, ...EVIDENCE_CHAIN]],
    ["org/acme/admin", EVERY_CHAIN],
    ["sys", [...EVERY_CHAIN, ...SYSTEM_CHAIN]],
  ] as const
) {
  Deno.test(`verification finds each alteration beside the entries of ${family}, and reports nothing else`, async () => {
    const { harness } = await openSite();
    const intact = await verified(harness, family);
    assert.deepEqual([intact.valid, intact.findings.filter(({ fatal }) => fatal)], [true, []]);
    const size = intact.to_seq + 1;
    // The checkpoint before the newest: the newest is read whenever something is written.
    const last = size - 2;
    for (const { sql, code, detail } of alterations) {
      const change = sql.replaceAll("$own", `chain = '${family}'`).replaceAll("$chain", family)
        .replaceAll("$last", String(last));
      const found = await whileAltered(
        harness.database,
        { tables: TABLES, changes: [change] },
        () => verified(harness, family),
      );
      const own = found.findings.filter((finding) => finding.code === code);
      assert.ok(own.length > 0, `${change}: ${JSON.stringify(found.findings)}`);
      assert.equal(found.valid, false, change);
      for (const finding of own) {
        assert.match(finding.detail ?? "", detail, change);
        assert.match(finding.sentence, /^[A-Z].*\.$/, change);
        assert.equal(finding.fatal, true);
      }
    }
    const after = await verified(harness, family);
    assert.deepEqual([after.valid, after.entries_checked], [true, intact.entries_checked]);
    await harness.close();
  });
}

Deno.test("a verification that resumes finds alterations of the tree and the columns from its start on", async () => {
  const { harness } = await openSite();
  const { to_seq } = await verified(harness, "sys");
  const seen = async (sql: string, from: number) => {
    const found = await whileAltered(
      harness.database,
      { tables: TABLES, changes: [sql] },
      () => verified(harness, "sys", from),
    );
    return found.findings.map(({ code }) => code);
  };
  const entry = (seq: number) => `UPDATE audit_entry SET id = 'x' || id WHERE chain = 'sys' AND seq = ${seq}`;
  assert.deepEqual(await seen(entry(to_seq), to_seq), ["COLUMN_MISMATCH"]);
  assert.deepEqual(await seen(entry(0), to_seq), []);
  assert.deepEqual(await seen(entry(0), 0), ["COLUMN_MISMATCH"]);
  await harness.close();
});

Deno.test("after rotations of the signing key every chain verifies, and each names its own key", async () => {
  const { harness, key } = await openSite();
  await harness.rotateSigningKey(buildWorld({ seed: "rotation" }).newSigner(1));
  for (const family of [EVIDENCE, "org/acme/admin", "sys"]) {
    assert.deepEqual([family, (await verified(harness, family)).findings.filter(({ fatal }) => fatal)], [
      family,
      [],
    ]);
  }
  assert.equal((await harness.send("/v1/score", { key, body: scoreRequest() })).status, 200);
  await anchorChains(harness.dependencies, harness.clock.now());
  for (const family of [EVIDENCE, "org/acme/admin", "sys"]) {
    assert.deepEqual([family, (await verified(harness, family)).findings.filter(({ fatal }) => fatal)], [
      family,
      [],
    ]);
  }
  const changes = ["UPDATE audit_chain SET key_ordinal = 1 WHERE chain = 'org/acme'"];
  const found = await whileAltered(
    harness.database,
    { tables: TABLES, changes },
    () => verified(harness, EVIDENCE),
  );
  assert.deepEqual(found.findings.filter(({ fatal }) => fatal).map(({ detail }) => detail), [
    "audit_chain.key_ordinal",
    "what the chain's head says of its rows was altered",
  ]);
  await harness.abandon();
});

Deno.test("tombstones of an operator who was erased several times, also with frozen calls alone, are what verification expects", async () => {
  const { harness, key } = await openSite();
  const score = (session: string, operator: string, search = "") =>
    harness.send(`/v1/score${search}`, {
      key,
      body: scoreRequest({ session_id: session, operator_id: operator }),
    });
  const erase = (operator: string) => harness.send(`/v1/operator/${operator}`, { method: "DELETE", key });
  const frozen = "?mode_override=incident_frozen";
  // The operator was erased once by `openSite`. Now once with frozen calls alone, then with a score, then
  // with frozen calls again.
  for (const [session, search] of [["again-1", frozen], ["again-2", ""], ["again-3", frozen]] as const) {
    assert.equal((await score(session, "operator-3", search)).status, 200);
    assert.equal((await erase("operator-3")).status, 200);
  }
  const { findings } = await verified(harness, EVIDENCE);
  assert.deepEqual(findings.filter(({ fatal }) => fatal), []);
  const found = await whileAltered(
    harness.database,
    { tables: TABLES, changes: ["DELETE FROM tombstone WHERE reason = 'erased'"] },
    () => verified(harness, EVIDENCE),
  );
  // The other two erasures used no name up.
  assert.equal(found.findings.filter(({ code }) => code === "TOMBSTONE_MISMATCH").length, 2);
  await harness.close();
});
