/** Inserts of single rows joined to inserts of many. */
import assert from "node:assert/strict";
import type { Statement } from "../../src/store/database.ts";
import { openEmbedded } from "../../src/store/embedded.ts";
import { joinInserts } from "../../src/store/join_inserts.ts";
import { rowsOf } from "../earlier_schema.ts";

const insert = (id: number, name = "x"): Statement => ({
  sql:
    `insert into "t" ("id", "name") values (?, ?) on conflict ("id") do update set "name" = "name" || excluded."name"`,
  parameters: [id, name],
});
const other = (id: number): Statement => ({ sql: `insert into "u" ("id") values (?)`, parameters: [id] });
const range = (count: number) => Array.from({ length: count }, (_, index) => index);

Deno.test("consecutive inserts are joined in their order, in numbers of rows that are powers of two", () => {
  for (const count of [1, 2, 3, 7, 64, 100, 129, 300]) {
    const joined = joinInserts(range(count).map((id) => insert(id)));
    const rows = joined.map(({ parameters }) => parameters.length / 2);
    assert.equal(rows.reduce((sum, each) => sum + each, 0), count);
    assert.ok(rows.every((each) => each <= 64 && Number.isInteger(Math.log2(each))), String(rows));
    assert.deepEqual(joined.flatMap(({ parameters }) => parameters), range(count).flatMap((id) => [id, "x"]));
  }
});

Deno.test("an insert between others keeps its place, and one with mustChange is not joined", () => {
  const guarded = { ...other(5), mustChange: 1 };
  const statements = [insert(1), other(2), other(3), insert(4), guarded, guarded];
  const result = joinInserts(statements).map(({ sql, parameters, mustChange }) => [
    sql.slice(0, 15),
    parameters.filter((value) => typeof value === "number"),
    mustChange,
  ]);
  assert.deepEqual(result, [
    [`insert into "t"`, [1], undefined],
    [`insert into "u"`, [2, 3], undefined],
    [`insert into "t"`, [4], undefined],
    [`insert into "u"`, [5], 1],
    [`insert into "u"`, [5], 1],
  ]);
});

Deno.test("other statements, and inserts with parameters besides one row's values, are left as they are", () => {
  const statements: Statement[] = [
    {
      sql: `insert into "t" ("id") values (?) on conflict ("id") do update set "name" = ?`,
      parameters: [1, "a"],
    },
    { sql: `insert into "t" ("id") values (?), (?)`, parameters: [1, 2] },
    { sql: `insert into "t" ("id", "name") values (?, max(?, 'a'))`, parameters: [1, "b"] },
    { sql: `delete from "t" where "id" = ?`, parameters: [1] },
  ].flatMap((statement) => [statement, statement]);
  assert.deepEqual(joinInserts(statements), statements);
});

Deno.test("triggers and conflicts handle joined rows like single ones, one after another", async () => {
  const written = [];
  for (const form of [joinInserts, (statements: readonly Statement[]) => statements]) {
    const database = openEmbedded({ path: ":memory:", onFatal: assert.ifError });
    await database.batch([
      { sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)", parameters: [] },
      { sql: "CREATE TABLE log (line TEXT)", parameters: [] },
      {
        sql: `CREATE TRIGGER told AFTER INSERT ON t BEGIN
          INSERT INTO log VALUES (NEW.id || ' after ' || (SELECT count(*) FROM t)); END`,
        parameters: [],
      },
    ]);
    await database.batch(form([3, 1, 2, 1, 3, 3].map((id, index) => insert(id, String(index)))));
    written.push([await rowsOf(database, "SELECT * FROM t"), await rowsOf(database, "SELECT * FROM log")]);
    await database.close();
  }
  assert.deepEqual(written[0], written[1]);
  assert.equal(written[0]![1]!.length, 3);
});
