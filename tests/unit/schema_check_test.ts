/**
 * A database's schema is compared with the one that the migrations make. Missing, changed and foreign objects
 * are named.
 */
import assert from "node:assert/strict";
import { MIGRATIONS, SCHEMA_SHA256 } from "../../migrations/mod.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import type { Database } from "../../src/store/database.ts";
import { SchemaRefused } from "../../src/store/migrate.ts";
import { expectedSchema, requireNone, schemaText, schemaTrouble } from "../../src/store/schema_check.ts";
import { select } from "../altering.ts";
import { IS_SERVER, openTestDatabase } from "../database.ts";
import { bringToSchema } from "../schema.ts";

const EXPECTED = await expectedSchema(MIGRATIONS);

Deno.test("the kept digest is that of the schema that the migrations make", () => {
  const digest = nodeCrypto.sha256(new TextEncoder().encode(schemaText(EXPECTED)));
  assert.equal(SCHEMA_SHA256, digest.toHex());
});

const OBJECTS =
  "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'";

type Row = { readonly type: string; readonly name: string; readonly sql: string };

async function objectsOf(database: Database): Promise<readonly Row[]> {
  return (await select(database, `${OBJECTS} ORDER BY rowid`)) as readonly Row[];
}

async function execute(database: Database, ...texts: readonly string[]): Promise<void> {
  await database.batch(texts.map((sql) => ({ sql, parameters: [] })));
}

function schemaTest(name: string, test: (database: Database) => Promise<void>): void {
  Deno.test(name, async () => {
    const database = await openTestDatabase(":memory:");
    await bringToSchema(database, 0);
    try {
      await test(database);
    } finally {
      await database.close();
    }
  });
}

/** Drops an object with its dependents, runs `look`, and makes all of it again. */
async function without<Seen>(
  database: Database,
  { type, name }: Row,
  look: () => Promise<Seen>,
): Promise<Seen> {
  const before = await objectsOf(database);
  await execute(database, `DROP ${type} ${name}`);
  const seen = await look();
  const left = new Set((await objectsOf(database)).map((row) => row.name));
  await execute(database, ...before.filter((row) => !left.has(row.name)).map((row) => row.sql));
  return seen;
}

const trouble = (database: Database) => schemaTrouble(database, EXPECTED);

schemaTest("each missing table, index and trigger is named", async (database) => {
  const objects = await objectsOf(database);
  assert.ok(objects.filter(({ type }) => type === "table").length > 30);
  for (const object of objects) {
    if (object.name === "write_session") continue;
    const found = (await without(database, object, () => trouble(database)))!;
    assert.match(found.what, new RegExp(`the ${object.type} ${object.name} is missing`));
    assert.equal(found.mend, "put the database, or a backup of it, back");
  }
  assert.equal(await trouble(database), null);
});

schemaTest("a definition without a rule, or with another value, is named", async (database) => {
  const changes = [
    ["table", "tombstone", /CHECK \(reason IN \('erased', 'pruned'\)\)/, ""],
    ["table", "alert", /NOT NULL/, ""],
    ["table", "decision", /seal BLOB CHECK \(length\(seal\) = 16\)/, "seal BLOB CHECK (length(seal) = 8)"],
    ["table", "usage_hour", /WITHOUT ROWID, STRICT/, "STRICT"],
    ["table", "organization", /DEFAULT '\[\]'/, "DEFAULT '[ ]'"],
    ["index", "operator_last", /operator_id/, "n"],
    ["index", "webhook_delivery_due", /'queued'/, "'dead'"],
    ["trigger", "audit_entry_moves_head", /seq \+ 1/i, "seq + 2"],
    ["trigger", "audit_entry_continues", /NOT EXISTS/, "EXISTS"],
  ] as const;
  for (const [type, name, from, to] of changes) {
    const sql = (await objectsOf(database)).find((row) => row.type === type && row.name === name)!.sql;
    assert.match(sql, from, name);
    const found = await without(database, { type, name, sql }, async () => {
      await execute(database, sql.replace(from, to));
      const seen = await trouble(database);
      await execute(database, `DROP ${type} ${name}`);
      return seen;
    });
    assert.match(found!.what, new RegExp(`the ${type} ${name} was changed`));
  }
  assert.equal(await trouble(database), null);
});

schemaTest(
  "foreign triggers, views and unique indexes are refused, and the advice says how to drop them",
  async (database) => {
    const strange = [
      [
        "CREATE TRIGGER helper AFTER INSERT ON interaction BEGIN UPDATE operator SET jis = 99; END",
        "the trigger helper on interaction is not this program's",
        "DROP TRIGGER helper",
      ],
      [
        "CREATE TRIGGER quiet AFTER INSERT ON alert BEGIN DELETE FROM alert; END",
        "the trigger quiet on alert is not this program's",
        "DROP TRIGGER quiet",
      ],
      [
        "CREATE VIEW scores AS SELECT * FROM interaction",
        "the view scores is not this program's",
        "DROP VIEW scores",
      ],
      [
        `CREATE UNIQUE INDEX "one
more" ON alert (severity)`,
        'the index "one\\nmore" on alert is not this program\'s',
        'DROP INDEX "one\\nmore"',
      ],
    ] as const;
    for (const [sql, what, drop] of strange) {
      await execute(database, sql);
      const found = (await trouble(database))!;
      assert.equal(found.what, `the database's schema was altered (${what})`);
      assert.equal(
        found.mend,
        `put the database, or a backup of it, back, or remove what is not this program's (${drop})`,
      );
      assert.throws(() => requireNone(found), SchemaRefused);
      await execute(database, drop.replace("\\n", "\n"));
    }
    assert.equal(await trouble(database), null);
  },
);

schemaTest(
  "foreign tables and indexes, statistics, and other spaces and quotes are accepted",
  async (database) => {
    await execute(
      database,
      "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)",
      "CREATE UNIQUE INDEX _litestream_unique ON _litestream_seq (seq)",
      "CREATE INDEX interaction_by_session ON interaction (session_id)",
      // A server gathers no statistics.
      ...(IS_SERVER ? [] : ["ANALYZE"]),
      "DROP INDEX webhook_organization",
      `create  index "webhook_organization" -- for lists
      ON [webhook] (\`org_id\`)`,
    );
    assert.equal(await trouble(database), null);
  },
);

schemaTest("a quoted text is not mistaken for a name, nor a name for NULL", async (database) => {
  const sql = (await objectsOf(database)).find(({ name }) => name === "webhook_delivery_lease")!.sql;
  assert.match(sql, /lease IS NOT NULL/);
  for (const other of ['lease IS NOT "NULL"', "'lease' IS NOT NULL", "lease IS NOT 'NULL'"]) {
    await execute(database, "DROP INDEX webhook_delivery_lease");
    // SQLite itself refuses some of them.
    const isMade = await execute(database, sql.replace("lease IS NOT NULL", other)).then(
      () => true,
      () => false,
    );
    const { what } = (await trouble(database))!;
    assert.match(what, /the index webhook_delivery_lease (was changed|is missing)/);
    if (isMade) await execute(database, "DROP INDEX webhook_delivery_lease");
    await execute(database, sql);
  }
});
