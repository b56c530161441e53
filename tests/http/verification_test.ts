/**
 * Verifying a chain while the service runs: it finds alterations of the database, with code and position; it
 * refuses positions beyond the chain; and the proofs that it answers verify.
 * Source: contract, section 4; evidence design, section 8.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { copyDatabase, embeddedTest } from "../database.ts";
import { rootsFromConsistency } from "../../src/evidence/consistency.ts";
import { parseProof } from "../../src/evidence/envelope.ts";
import { rootFromInclusion } from "../../src/evidence/merkle.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { parseCheckpoint, parseNote, verifyNote } from "../../src/evidence/note.ts";
import { anchorChains } from "../../src/operations/chains/anchoring.ts";
import { directCall } from "../../src/operations/organizations/organization_change.ts";
import { rotateByHand } from "../../src/operations/organizations/organization_states.ts";
import { acknowledgeRestore } from "../../src/operations/restoring/restores.ts";
import { verifyChain } from "../../src/operations/verification/verification.ts";
import { save, score, verifyProgram, withDirectory } from "../auditing.ts";
import { EPOCH, type Harness, openHarness, scoreRequest, withHarness } from "../harness.ts";
import { createOrganization, freshDeployment, type RunningService, startService, until } from "../program.ts";
import { refuses } from "../scenario.ts";

const VERIFY = "/v1/audit/chain/verify";
const VERIFY_ADMIN = "/v1/admin/audit/verify-chain";
const EXPORT = "/v1/audit/chain/export";
const CHECKPOINT = "/v1/audit/checkpoint";
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const FAMILIES = ["org/acme", "org/acme/admin", "sys"] as const;

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

// ---- fixtures ---------------------------------------------------------------------------------------------

interface Site {
  readonly harness: Harness;
  /** The organization's API key. */
  readonly key: string;
  /** The database's file. */
  readonly path: string;
}

/** Appends one more entry to each chain. */
async function grow({ dependencies, clock }: Harness): Promise<string> {
  const call = directCall("acme", { now: clock.now(), requestId: "" });
  const { body } = await rotateByHand(dependencies, { actor: "system" }, call);
  await anchorChains(dependencies, clock.now());
  return String(body.new_api_key);
}

/** Runs a test with three chains of four entries, each its own commit: two of one day, two of the next. */
function withSite(test: (site: Site) => Promise<void>): () => Promise<void> {
  return () =>
    withDirectory(async (directory) => {
      const path = `${directory}/jiss.db`;
      const harness = await openHarness({ path });
      let key = await harness.organization("acme");
      await score(harness, key, "s-1");
      await anchorChains(harness.dependencies, harness.clock.now());
      harness.clock.advance(DAY_MS);
      for (const session of ["s-2", "s-3"]) {
        await score(harness, key, session);
        key = await grow(harness);
      }
      const { heads } = await harness.rowCounts();
      assert.deepEqual((heads as string[]).map((head) => JSON.parse(head).size), [4, 4, 4]);
      await test({ harness, key, path });
      await harness.close();
    });
}

/** The answer of verifying a chain: over HTTP, or directly for `sys`, which no organization can ask for. */
async function verified(
  { harness, key }: Pick<Site, "harness" | "key">,
  family: string,
  query = "",
): Promise<Json> {
  const { dependencies, clock } = harness;
  if (family === "sys") {
    return await verifyChain(dependencies, { family, from: 0, sinceSize: null, now: clock.now() });
  }
  const path = family === "org/acme" ? VERIFY : VERIFY_ADMIN;
  const { status, body, text } = await harness.send(path + query, { key });
  assert.equal(status, 200, text);
  return body;
}

const TABLES = [
  "audit_chain",
  "audit_entry",
  "audit_part",
  "audit_node",
  "audit_checkpoint",
  "audit_ladder",
] as const;

function columnsOf(file: DatabaseSync, table: string): string {
  const rows = file.prepare(`SELECT name FROM pragma_table_xinfo('${table}') WHERE hidden = 0`).all();
  return rows.map(({ name }) => name).join(", ");
}

/** Changes the file without its triggers, as somebody with the file can, and restores them. */
function withoutTriggers(file: DatabaseSync, change: () => void): void {
  const triggers = file.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all();
  file.exec("BEGIN IMMEDIATE");
  for (const { name } of triggers) file.exec(`DROP TRIGGER ${name}`);
  change();
  for (const { sql } of triggers) file.exec(String(sql));
  file.exec("COMMIT");
}

/** Alters the file while the service runs, calls `look`, and puts every row of the evidence back. */
async function whileAltered<Seen>(path: string, sql: string, look: () => Promise<Seen>): Promise<Seen> {
  using file = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  const changes = () => Number(file.prepare("SELECT total_changes() AS n").get()!.n);
  for (const table of TABLES) {
    file.exec(`CREATE TEMP TABLE kept_${table} AS SELECT ${columnsOf(file, table)} FROM ${table}`);
  }
  const before = changes();
  withoutTriggers(file, () => file.exec(sql));
  assert.ok(changes() > before, `something is changed: ${sql}`);
  try {
    return await look();
  } finally {
    withoutTriggers(file, () => {
      for (const table of TABLES) {
        file.exec(`DELETE FROM ${table}`);
        file.exec(`INSERT INTO ${table} (${columnsOf(file, table)}) SELECT * FROM kept_${table}`);
      }
    });
  }
}

/** A finding as `CODE@seq`, `CODE[first,last]`, or `CODE`. */
function brief({ code, seq, range }: Json): string {
  if (range !== null) return `${code}[${range}]`;
  return seq === null ? code : `${code}@${seq}`;
}

// ---- alterations ------------------------------------------------------------------------------------------

interface Alteration {
  readonly what: string;
  /** `$own` stands for the condition that a row belongs to the chain. */
  readonly sql: string;
  readonly code: string;
  readonly first: number | null;
}

const OWN_PART = "$own AND seq = 2 AND name IN ('result', 'detail')";
const COLUMNS = "chain, seq, id, entry_hash, prev_hash, event_type, ts, body";

/** Entry 3 becomes entry 4, and a copy of 2 takes its place. */
const INSERTED = `
  UPDATE audit_entry SET seq = 4, body = replace(body, '"seq":3,', '"seq":4,') WHERE $own AND seq = 3;
  UPDATE audit_part SET seq = 4 WHERE $own AND seq = 3;
  INSERT INTO audit_entry (${COLUMNS})
    SELECT chain, 3, '01FORGED' || chain, entry_hash, prev_hash, event_type, ts,
      replace(body, '"seq":2,', '"seq":3,')
    FROM audit_entry WHERE $own AND seq = 2;
  INSERT INTO audit_part (chain, seq, name, salt, data)
    SELECT chain, 3, name, salt, data FROM audit_part WHERE $own AND seq = 2;`;

/** Entries 2 and 3 change rows. So do their parts, which belong to the seq. */
const SWAPPED = ["audit_entry", "audit_part"].map((table) => `
  UPDATE ${table} SET seq = 9 WHERE $own AND seq = 2;
  UPDATE ${table} SET seq = 2 WHERE $own AND seq = 3;
  UPDATE ${table} SET seq = 3 WHERE $own AND seq = 9;`).join("");

const NOTE_OF = (size: number) =>
  `(SELECT o.note FROM audit_checkpoint AS o WHERE o.chain = audit_checkpoint.chain AND o.size = ${size})`;

const ALTERATIONS: readonly Alteration[] = [
  {
    what: "the text of an entry",
    sql: `UPDATE audit_entry SET body = replace(body, '"id":"01', '"id":"02') WHERE $own AND seq = 2`,
    code: "LINK_BROKEN",
    first: 2,
  },
  {
    what: "the text of the newest entry, which no link covers",
    sql: `UPDATE audit_entry SET body = replace(body, '"id":"01', '"id":"02') WHERE $own AND seq = 3`,
    code: "FORK_VS_KNOWN_CHECKPOINT",
    first: 2,
  },
  {
    what: "the form of an entry's text",
    sql: "UPDATE audit_entry SET body = ' ' || body WHERE $own AND seq = 2",
    code: "NON_CANONICAL_LINE",
    first: 2,
  },
  {
    what: "the content of a part",
    sql: `UPDATE audit_part SET data = '{"forged":true}' WHERE ${OWN_PART}`,
    code: "COMMITMENT_MISMATCH",
    first: 2,
  },
  {
    what: "one byte of a part's content",
    sql: `UPDATE audit_part SET data = replace(data, '":', '" :') WHERE $own AND seq = 0`,
    code: "NON_CANONICAL_LINE",
    first: 0,
  },
  {
    what: "the content of a part, which is no JSON any more",
    sql: `UPDATE audit_part SET data = 'nonsense' WHERE ${OWN_PART}`,
    code: "MALFORMED_LINE",
    first: 2,
  },
  {
    what: "the salt of a part",
    sql: `UPDATE audit_part SET salt = zeroblob(32) WHERE ${OWN_PART}`,
    code: "COMMITMENT_MISMATCH",
    first: 2,
  },
  {
    what: "a part, which looks erased",
    sql: `UPDATE audit_part SET salt = NULL, data = NULL WHERE ${OWN_PART}`,
    code: "ERASURE_UNPROVEN",
    first: 2,
  },
  {
    what: "a part, which is deleted",
    sql: `DELETE FROM audit_part WHERE ${OWN_PART}`,
    code: "PART_MISSING",
    first: 2,
  },
  {
    what: "an entry's parts, of which there is one too many",
    sql: `INSERT INTO audit_part (chain, seq, name, salt, data)
      SELECT chain, seq, CASE name WHEN 'detail' THEN 'input' ELSE 'detail' END, salt, data
      FROM audit_part WHERE ${OWN_PART}`,
    code: "MALFORMED_LINE",
    first: 2,
  },
  {
    what: "the first entry, which is deleted",
    sql: "DELETE FROM audit_entry WHERE $own AND seq = 0",
    code: "TRUNCATED",
    first: 0,
  },
  {
    what: "an entry in the middle, which is deleted",
    sql: "DELETE FROM audit_entry WHERE $own AND seq = 2",
    code: "MISSING",
    first: 2,
  },
  {
    what: "an entry in the middle, which is deleted with its parts",
    sql: "DELETE FROM audit_entry WHERE $own AND seq = 2; DELETE FROM audit_part WHERE $own AND seq = 2",
    code: "MISSING",
    first: 2,
  },
  {
    what: "the newest entry, which is deleted",
    sql: "DELETE FROM audit_entry WHERE $own AND seq = 3",
    code: "TRUNCATED",
    first: 3,
  },
  { what: "an entry, which is put in", sql: INSERTED, code: "LINK_BROKEN", first: 2 },
  {
    what: "an entry, which is put in and counted in the head",
    sql: `${INSERTED} UPDATE audit_chain SET size = 5 WHERE $own`,
    code: "LINK_BROKEN",
    first: 2,
  },
  {
    what: "an entry, which is put in after the newest and counted in the head",
    sql: `INSERT INTO audit_entry (${COLUMNS})
      SELECT chain, 4, '01FORGED' || chain, entry_hash, entry_hash, event_type, ts,
        replace(body, '"seq":3,', '"seq":4,')
      FROM audit_entry WHERE $own AND seq = 3;
      UPDATE audit_chain SET size = 5 WHERE $own`,
    code: "ROOT_MISMATCH",
    first: 4,
  },
  { what: "two entries, which change places", sql: SWAPPED, code: "MALFORMED_LINE", first: 2 },
  {
    what: "the newest checkpoint, which names another log",
    sql: "UPDATE audit_checkpoint SET note = 'x' || note WHERE $own AND size = 4",
    code: "WRONG_ORIGIN",
    first: 3,
  },
  {
    what: "the newest checkpoint, which counts one entry more",
    sql: `UPDATE audit_checkpoint SET note = replace(note, char(10) || '4' || char(10),
      char(10) || '5' || char(10)) WHERE $own AND size = 4`,
    code: "BAD_SIGNATURE",
    first: 4,
  },
  {
    what: "the newest checkpoint, which is the one before it",
    sql: `UPDATE audit_checkpoint SET note = ${NOTE_OF(3)} WHERE $own AND size = 4`,
    code: "MALFORMED_LINE",
    first: 3,
  },
  {
    what: "a day's last checkpoint, which is the one after it",
    sql: `UPDATE audit_checkpoint SET note = ${NOTE_OF(3)} WHERE $own AND size = 2`,
    code: "REORDERED",
    first: 2,
  },
  {
    what: "a day's last checkpoint, which is none any more",
    sql: "UPDATE audit_checkpoint SET note = 'nonsense' WHERE $own AND size = 2",
    code: "MALFORMED_LINE",
    first: null,
  },
  {
    what: "the newest checkpoint, which is deleted",
    sql: "DELETE FROM audit_checkpoint WHERE $own AND size = 4",
    code: "ROLLBACK_VS_KNOWN_CHECKPOINT",
    first: 3,
  },
  {
    what: "the checkpoints, which are all deleted",
    sql: "DELETE FROM audit_checkpoint WHERE $own",
    code: "TRUNCATED",
    first: 0,
  },
  {
    what: "the chain's first index, with no record of a removal",
    sql: "UPDATE audit_chain SET min_index = 2 WHERE $own",
    code: "PRUNED_PREFIX_UNPROVEN",
    first: 0,
  },
  {
    what: "the name under which the chain is signed",
    sql: "UPDATE audit_chain SET origin = origin || 'x' WHERE $own",
    code: "WRONG_ORIGIN",
    first: 0,
  },
];

const sqlOf = (family: string, { sql }: Pick<Alteration, "sql">) =>
  sql.replaceAll("$own", `chain = '${family}'`);

for (const family of FAMILIES) {
  embeddedTest(
    `verification finds each alteration of ${family} in the database, with its code and position, and writes nothing`,
    withSite(async (site) => {
      const before = await site.harness.rowCounts();
      const intact = await verified(site, family);
      assert.deepEqual([intact.valid, intact.code, intact.first_bad, intact.findings], [
        true,
        null,
        null,
        [],
      ]);
      assert.deepEqual([intact.entries_checked, intact.from_seq, intact.to_seq], [4, 0, 3]);
      for (const alteration of ALTERATIONS) {
        const { what, code, first } = alteration;
        const body = await whileAltered(
          site.path,
          sqlOf(family, alteration),
          () => verified(site, family),
        );
        assert.deepEqual([body.valid, body.code, body.first_bad], [false, code, first], what);
        assert.equal(body.findings[0].code, code, what);
        for (const finding of body.findings) {
          assert.deepEqual([finding.chain, finding.fatal], [family, true], what);
          assert.match(finding.sentence, /^[A-Z].*\.$/, what);
        }
      }
      assert.deepEqual(await site.harness.rowCounts(), before);
      assert.equal((await verified(site, family)).valid, true, "all rows are put back");
    }),
  );
}

embeddedTest(
  "an alteration of one chain is found in no other, and the log reports it once for each verification",
  withSite(async (site) => {
    const { harness, path } = site;
    const sql = sqlOf("org/acme/admin", { sql: "UPDATE audit_part SET salt = zeroblob(32) WHERE $own" });
    const lines = () =>
      harness.log.filter(({ msg }) => msg === "a chain in the database is not what was signed");
    await whileAltered(path, sql, async () => {
      for (const family of FAMILIES) {
        assert.equal((await verified(site, family)).valid, family !== "org/acme/admin", family);
      }
    });
    assert.deepEqual(
      lines().map((
        { level, audit, chain, code, seq, findings },
      ) => [level, audit, chain, code, seq, findings]),
      [["error", true, "org/acme/admin", "COMMITMENT_MISMATCH", 0, 4]],
    );
  }),
);

// ---- the stored head --------------------------------------------------------------------------------------

const HEADS: readonly (readonly [what: string, sql: string, seq: number])[] = [
  ["the hash that the next entry names", "UPDATE audit_chain SET head = zeroblob(32) WHERE $own", 3],
  ["the tree that the next entry is added to", "UPDATE audit_chain SET peaks = zeroblob(32) WHERE $own", 3],
  [
    "the tree that the next entry is added to, which is an older one",
    `UPDATE audit_chain SET peaks = (SELECT hash FROM audit_node AS n WHERE n.chain = audit_chain.chain
      AND n.idx = 0) WHERE $own`,
    3,
  ],
  ["the size, one less", "UPDATE audit_chain SET size = 3 WHERE $own", 2],
  ["the size, one more", "UPDATE audit_chain SET size = 5 WHERE $own", 4],
  [
    "the newest entry's place in the tree",
    "UPDATE audit_node SET hash = zeroblob(32) WHERE $own AND idx = 4",
    3,
  ],
];

embeddedTest(
  "verification finds a stored head that is not what was signed, even if every entry is",
  withSite(async (site) => {
    for (const family of FAMILIES) {
      for (const [what, sql, seq] of HEADS) {
        const body = await whileAltered(site.path, sqlOf(family, { sql }), () => verified(site, family));
        assert.deepEqual(
          [body.valid, body.code, body.first_bad, body.entries_checked],
          [false, "ROOT_MISMATCH", seq, 4],
          `${family}: ${what}`,
        );
        assert.deepEqual(body.findings, [{
          chain: family,
          code: "ROOT_MISMATCH",
          fatal: true,
          seq,
          range: null,
          detail: "the stored head",
          sentence:
            "The stored end of the chain, after which the next entry is appended, is not what was signed.",
        }]);
      }
    }
  }),
);

embeddedTest(
  "a verification that resumes at the end finds a stored head that is not what was signed, too",
  withSite(async (site) => {
    const sql = sqlOf("org/acme", { sql: HEADS[0]![1] });
    const body = await whileAltered(site.path, sql, () => verified(site, "org/acme", "?from=4"));
    assert.deepEqual([body.valid, body.entries_checked, body.findings.map(brief)], [
      false,
      0,
      ["ROOT_MISMATCH@3"],
    ]);
  }),
);

// ---- deleted checkpoints ----------------------------------------------------------------------------------

/**
 * Runs a test with the program as a process of its own, with one organization; removes its directory
 * afterwards.
 */
async function withService(
  test: (running: {
    readonly service: RunningService;
    readonly env: Readonly<Record<string, string>>;
    readonly key: string;
    /** The database's file. */
    readonly path: string;
  }) => Promise<void>,
): Promise<void> {
  const { directory, env, remove } = await freshDeployment();
  try {
    const service = await startService(["serve"], { env });
    try {
      const key = await createOrganization(service, env);
      await test({ service, env, key, path: `${directory}/data/jiss.db` });
    } finally {
      assert.equal(await service.stop(), 0);
    }
  } finally {
    await remove();
  }
}

const BESIDE = { timeout: 5000, enableForeignKeyConstraints: false } as const;

embeddedTest(
  "if the checkpoints are gone a verification says so, an export is refused, and the service keeps running",
  () =>
    withService(async ({ service, env, key, path }) => {
      const other = await createOrganization(service, env, "other");
      const scored = (session: string, whose: string) =>
        service.send("/v1/score", { key: whose, body: scoreRequest({ session_id: session }) });
      assert.equal((await scored("s-1", key)).status, 200);
      {
        using file = new DatabaseSync(path, BESIDE);
        assert.equal(file.prepare("DELETE FROM audit_checkpoint WHERE chain = 'org/acme'").run().changes, 2);
      }

      const { status, body } = await service.send(VERIFY, { key });
      assert.deepEqual([status, body.valid, body.code, body.first_bad], [200, false, "TRUNCATED", 0]);
      assert.deepEqual(body.findings.map(brief), ["TRUNCATED@0", "ROOT_MISMATCH@1"]);
      assert.deepEqual([body.entries_checked, body.checkpoint], [0, null]);
      assert.equal((await service.send(VERIFY_ADMIN, { key })).body.valid, true);

      const refused = await service.send(EXPORT, { key });
      assert.deepEqual([refused.status, refused.body.error.code], [500, "INTERNAL_ERROR"]);
      const failures = () => service.log().filter(({ msg }) => msg === "request failed");
      await until(() => failures().length > 0);
      assert.deepEqual(failures().map(({ route, error }) => [route, error]), [
        [`GET ${EXPORT}`, "Error: org/acme has no checkpoint"],
      ]);

      const after = await scored("s-2", other);
      assert.deepEqual([after.status, after.body.evidence.entry.seq], [200, 1]);
      const { body: untouched } = await service.send(VERIFY, { key: other });
      assert.deepEqual([untouched.valid, untouched.entries_checked, untouched.checkpoint.size], [true, 2, 2]);
    }),
);

embeddedTest(
  "an export that reaches a missing entry breaks off without a trailer, so that it is not taken for complete",
  () =>
    withDirectory((directory) =>
      withService(async ({ service, key, path }) => {
        const interactions = Array.from({ length: 40 }, (_, index) => ({
          session_id: `s-${index}`,
          time_to_decision_ms: 5000,
          decision: "accepted",
        }));
        const batch = { operator_id: "operator-1", domain: "general", interactions };
        assert.equal((await service.send("/v1/score/batch", { key, body: batch })).status, 200);
        const jwks = await save(directory, "jwks.json", (await service.send("/.well-known/jwks.json")).body);
        {
          using file = new DatabaseSync(path, BESIDE);
          withoutTriggers(
            file,
            () => file.exec("DELETE FROM audit_entry WHERE chain = 'org/acme' AND seq >= 32"),
          );
        }
        let text = "";
        await assert.rejects(async () => {
          const response = await fetch(service.url + EXPORT, { headers: { "X-API-Key": key } });
          for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) text += piece;
        });
        assert.ok(!text.includes("jis.trailer/1"));
        const bundle = await save(directory, "acme.ndjson", text);
        const { code, report } = await verifyProgram([bundle, "--key", jwks, "--json"]);
        assert.notEqual(code, 0);
        assert.ok(!String(report.verdict).startsWith("INTACT"), report.verdict);

        const { body } = await service.send(VERIFY, { key });
        assert.deepEqual([body.valid, body.code, body.first_bad], [false, "TRUNCATED", 32]);
      })
    ),
);

// ---- after a restore --------------------------------------------------------------------------------------

/**
 * Runs a test with two epochs of each chain: two or three entries of the first, one of them lost by a
 * restore.
 */
function withRestored(test: (site: Site) => Promise<void>): () => Promise<void> {
  return () =>
    withDirectory(async (directory) => {
      const [path, lockPath] = [`${directory}/jiss.db`, `${directory}/lock.db`];
      const start = (run: number) => openHarness({ path, lockPath, run, startsAt: EPOCH + run * HOUR_MS });
      const first = await start(0);
      let key = await first.organization("acme");
      await score(first, key, "s-1");
      await score(first, key, "s-2", "operator-2");
      key = await grow(first);
      await first.close();
      await copyDatabase(path, `${directory}/backup`);
      const second = await start(1);
      await score(second, key, "lost");
      await second.close();
      await copyDatabase(`${directory}/backup`, path);
      const harness = await start(2);
      await acknowledgeRestore(harness.dependencies, { reason: "the disk failed", now: harness.clock.now() });
      await score(harness, key, "s-3");
      key = await grow(harness);
      await test({ harness, key, path });
      await harness.close();
    });
}

/** Number of entries in each epoch of a family. */
const EPOCHS = [["org/acme", 3, 2], ["org/acme/admin", 3, 2], ["sys", 2, 2]] as const;

Deno.test(
  "after an acknowledged restore a verification covers every epoch, and says how far the newest goes",
  withRestored(async (site) => {
    for (const [family, earlier, newest] of EPOCHS) {
      const body = await verified(site, family);
      assert.deepEqual(
        [body.valid, body.code, body.first_bad, body.findings],
        [true, null, null, []],
        family,
      );
      assert.equal(body.entries_checked, earlier + newest, family);
      assert.deepEqual([body.from_seq, body.to_seq, body.checkpoint.size], [0, newest - 1, newest], family);
      assert.equal(body.checkpoint.origin, `jiss.test/01TEST00000000000000000000/${family}/e2`);
    }
  }),
);

embeddedTest(
  "after an acknowledged restore alterations of the first epoch are found, and named as such",
  withRestored(async (site) => {
    const { path } = site;
    for (const [family, size] of EPOCHS) {
      for (
        const [sql, code, seq] of [
          [
            "UPDATE audit_part SET data = replace(data, '}', ',\"z\":1}') WHERE $own AND seq = 1 AND name <> 'input'",
            "COMMITMENT_MISMATCH",
            1,
          ],
          ["UPDATE audit_part SET salt = zeroblob(32) WHERE $own AND seq = 0", "COMMITMENT_MISMATCH", 0],
          [
            `UPDATE audit_entry SET body = replace(body, '"id":"01', '"id":"02') WHERE $own AND seq = 0`,
            "LINK_BROKEN",
            0,
          ],
          [
            `UPDATE audit_entry SET body = replace(body, '"id":"01', '"id":"02') WHERE $own AND seq = ${
              size - 1
            }`,
            "ROOT_MISMATCH",
            0,
          ],
          [`DELETE FROM audit_entry WHERE $own AND seq = ${size - 1}`, "TRUNCATED", size - 1],
          [`DELETE FROM audit_checkpoint WHERE $own`, "TRUNCATED", 0],
        ] as const
      ) {
        const body = await whileAltered(path, sqlOf(family, { sql }), () => verified(site, family));
        assert.deepEqual([body.valid, body.code, body.first_bad], [false, code, seq], `${family}: ${sql}`);
        assert.equal(body.findings[0].code, code, `${family}: ${sql}`);
        assert.equal(body.findings[0].chain, family, `${family}: ${sql}`);
      }
    }
  }),
);

embeddedTest(
  "after an acknowledged restore alterations of the newest epoch are found, and named as such",
  withRestored(async (site) => {
    for (const [family] of EPOCHS) {
      const chain = `${family}/e2`;
      const sql = sqlOf(chain, { sql: "UPDATE audit_part SET salt = zeroblob(32) WHERE $own AND seq = 1" });
      const body = await whileAltered(site.path, sql, () => verified(site, family));
      assert.deepEqual([body.valid, body.code, body.first_bad], [false, "COMMITMENT_MISMATCH", 1], family);
      assert.equal(body.findings[0].chain, chain);
    }
  }),
);

embeddedTest(
  "after an acknowledged restore an earlier epoch that does not end at the size on which the newest began is found",
  withRestored(async (site) => {
    // Now it looks as if the restore had lost one entry more than its record says.
    const sql = sqlOf("org/acme", { sql: "DELETE FROM audit_checkpoint WHERE $own AND size = 3" });
    const body = await whileAltered(site.path, sql, () => verified(site, "org/acme"));
    assert.deepEqual([body.valid, body.code, body.first_bad], [false, "TRUNCATED", 2]);
    assert.deepEqual(body.findings.map((finding: Json) => [finding.chain, finding.detail]), [
      ["org/acme", "the next chain says that it ended at 3"],
    ]);
  }),
);

embeddedTest(
  "after an acknowledged restore a verification that resumes covers the newest epoch alone",
  withRestored(async (site) => {
    const sql = sqlOf("org/acme", { sql: "UPDATE audit_part SET salt = zeroblob(32) WHERE $own" });
    await whileAltered(site.path, sql, async () => {
      const resumed = await verified(site, "org/acme", "?from=1");
      assert.deepEqual([resumed.valid, resumed.entries_checked, resumed.from_seq], [true, 1, 1]);
      assert.equal((await verified(site, "org/acme")).valid, false);
    });
  }),
);

// ---- resumed verification ---------------------------------------------------------------------------------

embeddedTest(
  "a verification resumes at the last checkpoint at or before the given entry",
  withSite(async (site) => {
    const resumed = async (query: string, family = "org/acme") => {
      const body = await verified(site, family, query);
      const { valid, findings, entries_checked, from_seq, to_seq, checkpoint } = body;
      assert.deepEqual([valid, findings, checkpoint.size], [true, [], 4], `${family}${query}`);
      return [entries_checked, from_seq, to_seq];
    };
    for (const family of ["org/acme", "org/acme/admin"]) {
      assert.deepEqual(await resumed("?from=0", family), [4, 0, 3]);
      // The organization was created in one commit, of two entries of its audit log.
      assert.deepEqual(await resumed("?from=1", family), family === "org/acme" ? [3, 1, 3] : [4, 0, 3]);
      assert.deepEqual(await resumed("?from=2", family), [2, 2, 3]);
      assert.deepEqual(await resumed("?from=3", family), [1, 3, 3]);
      assert.deepEqual(await resumed("?from=4", family), [0, 4, 3]);
    }
    const sql = sqlOf("org/acme", { sql: "DELETE FROM audit_checkpoint WHERE $own AND size = 3" });
    assert.deepEqual(await whileAltered(site.path, sql, () => resumed("?from=3")), [2, 2, 3]);
  }),
);

embeddedTest(
  "a verification that resumes finds alterations from its start on, and not before it",
  withSite(async (site) => {
    const altered = (seq: number) =>
      sqlOf("org/acme", { sql: `UPDATE audit_part SET salt = zeroblob(32) WHERE $own AND seq = ${seq}` });
    const seen = async (seq: number, query: string) => {
      const body = await whileAltered(site.path, altered(seq), () => verified(site, "org/acme", query));
      return [body.valid, body.code, body.first_bad];
    };
    assert.deepEqual(await seen(1, "?from=2"), [true, null, null]);
    assert.deepEqual(await seen(2, "?from=2"), [false, "COMMITMENT_MISMATCH", 2]);
    assert.deepEqual(await seen(3, "?from=2"), [false, "COMMITMENT_MISMATCH", 3]);
    // The tree from which it resumes is compared with the checkpoint there.
    const nodes = sqlOf("org/acme", {
      sql: "UPDATE audit_node SET hash = zeroblob(32) WHERE $own AND idx = 2",
    });
    const body = await whileAltered(site.path, nodes, () => verified(site, "org/acme", "?from=2"));
    assert.deepEqual([body.valid, body.code, body.first_bad], [false, "PRUNED_PREFIX_UNPROVEN", 0]);
  }),
);

// ---- bounds -----------------------------------------------------------------------------------------------

Deno.test(
  "a position beyond the chain, or one that is not a whole number, is refused and the parameter named",
  withSite(async ({ harness, key }) => {
    const whole = "must be a whole number without sign";
    for (const path of [VERIFY, VERIFY_ADMIN]) {
      for (
        const [query, names] of [
          ["from=5", "from must be at most 4, the size of the chain"],
          ["from=999999999999999", "from must be at most 4, the size of the chain"],
          ["since_size=5", "since_size must be at most 4, the size of the chain"],
          ["since_size=0", "since_size must be at least 1"],
          ["from=-1", `from ${whole}`],
          ["from=1.5", `from ${whole}`],
          ["from=01", `from ${whole}`],
          ["from=1e0", `from ${whole}`],
          ["from=", "from must not be empty"],
          ["from=9999999999999999", `from ${whole}`],
          ["since_size=-1", `since_size ${whole}`],
          ["since_size=x", `since_size ${whole}`],
          ["from=0&since_size=5", "since_size must be at most 4, the size of the chain"],
        ] as const
      ) {
        await refuses(harness, {
          name: `${path}?${query}`,
          path: `${path}?${query}`,
          request: { key },
          status: 422,
          code: "VALIDATION_FAILED",
          names,
        });
      }
    }
  }),
);

// ---- proofs -----------------------------------------------------------------------------------------------

const rootAt = (note: string) => parseCheckpoint(parseNote(note).text);

Deno.test(
  "a consistency proof leads from the checkpoint of the given size to the newest one, and from no other root",
  withHarness(async (harness) => {
    let key = await harness.organization("acme");
    const kept = new Map<string, string[]>([["evidence", []], ["admin", []]]);
    const keep = async () => {
      for (const [chain, notes] of kept) {
        const { status, body } = await harness.send(`${CHECKPOINT}?chain=${chain}`, { key });
        assert.equal(status, 200);
        const signed = rootAt(body.note);
        assert.deepEqual([body.origin, body.size, body.root], [
          signed.origin,
          signed.size,
          signed.root.toHex(),
        ]);
        assert.equal(
          verifyNote(nodeCrypto, parseNote(body.note), [harness.verifierKey(body.origin)]),
          "verified",
        );
        notes.push(body.note);
      }
    };
    await keep();
    for (let at = 1; at <= 8; at += 1) {
      await score(harness, key, `s-${at}`);
      key = await grow(harness);
      await keep();
    }
    assert.deepEqual([...kept].map(([chain, notes]) => [chain, ...notes.map((note) => rootAt(note).size)]), [
      ["evidence", 1, 2, 3, 4, 5, 6, 7, 8, 9],
      ["admin", 2, 3, 4, 5, 6, 7, 8, 9, 10],
    ]);
    for (const [chain, notes] of kept) {
      const path = chain === "evidence" ? VERIFY : VERIFY_ADMIN;
      const newest = rootAt(notes.at(-1)!);
      for (const note of notes) {
        const { size: from, root: fromRoot } = rootAt(note);
        const { status, body } = await harness.send(`${path}?since_size=${from}`, { key });
        assert.equal(status, 200);
        assert.deepEqual([body.valid, body.checkpoint.note], [true, notes.at(-1)]);
        const { consistency } = body;
        assert.deepEqual(Object.keys(consistency), ["from", "to", "proof"]);
        assert.deepEqual([consistency.from, consistency.to], [from, newest.size]);
        const to = newest.size;
        const proof = consistency.proof.map((text: string) => Uint8Array.fromHex(text));
        const reached = rootsFromConsistency(nodeCrypto, { from, to, fromRoot, path: proof });
        assert.equal(reached?.toHex(), newest.root.toHex(), `${chain} since ${from}`);
        const other = fromRoot.map((byte, at) => at === 0 ? byte ^ 1 : byte);
        const strayed = rootsFromConsistency(nodeCrypto, { from, to, fromRoot: other, path: proof });
        assert.notEqual(strayed?.toHex(), newest.root.toHex(), `${chain} since ${from}, another root`);
      }
      const { body } = await harness.send(path, { key });
      assert.ok(!("consistency" in body), "the bundle has the proof if it was asked for");
    }
  }),
);

Deno.test(
  "every entry of both chains has an inclusion proof for the newest checkpoint, and no other entry has one",
  withSite(async ({ harness, key }) => {
    for (const chain of ["evidence", "admin"]) {
      const { note, size } = (await harness.send(`${CHECKPOINT}?chain=${chain}`, { key })).body;
      for (let seq = 0; seq < size; seq += 1) {
        const { status, body } = await harness.send(`/v1/audit/chain/proof/${seq}?chain=${chain}`, { key });
        assert.equal(status, 200);
        const proof = parseProof(body.proof);
        assert.deepEqual([body.seq, proof.index, proof.note], [seq, seq, note]);
        const leafHash = Uint8Array.fromHex(body.entry_hash);
        const root = rootFromInclusion(nodeCrypto, { leaf: seq, size, leafHash, path: proof.path });
        assert.equal(root?.toHex(), rootAt(note).root.toHex(), `${chain} ${seq}`);
      }
      await refuses(harness, {
        name: `${chain}: no such entry`,
        path: `/v1/audit/chain/proof/${size}?chain=${chain}`,
        request: { key },
        status: 404,
        code: "NOT_FOUND",
        names: "There is no entry 4: the chain has entries 0 to 3.",
      });
    }
  }),
);

embeddedTest(
  "an organization verifies its own chains, whatever is altered in another's",
  withSite(async (site) => {
    const { harness, path } = site;
    const other = await harness.organization("other");
    await score(harness, other, "o-1");
    const sql = ["org/other", "org/other/admin"].map((chain) =>
      sqlOf(chain, { sql: "UPDATE audit_part SET salt = zeroblob(32) WHERE $own;" })
    ).join("");
    await whileAltered(path, sql, async () => {
      for (const family of ["org/acme", "org/acme/admin"]) {
        assert.equal((await verified(site, family)).valid, true);
        assert.equal((await verified({ harness, key: other }, family)).valid, false);
      }
    });
  }),
);
