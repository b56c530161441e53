import assert from "node:assert/strict";
import { sql } from "kysely";
import { compileOnce } from "../../src/store/compile_once.ts";
import { query } from "../../src/store/database.ts";

interface Subject {
  readonly org_id: string;
  readonly operator_id: string;
  readonly pseudonym: string;
}

const upsert = (row: Subject) =>
  query.insertInto("subject").values(row).onConflict((conflict) =>
    conflict.columns(["org_id", "operator_id"]).doUpdateSet({ pseudonym: row.pseudonym })
  ).compile();

Deno.test("a query that is compiled once binds each input's values, like one compiled anew", () => {
  const upsertOnce = compileOnce(upsert);
  for (const name of ["ada", "grace"]) {
    const row = { org_id: "acme", operator_id: name, pseudonym: `of ${name}` };
    const { sql, parameters } = upsertOnce(row);
    assert.deepEqual({ sql, parameters }, {
      sql:
        'insert into "subject" ("org_id", "operator_id", "pseudonym") values (?, ?, ?) on conflict ("org_id", "operator_id") do update set "pseudonym" = ?',
      parameters: ["acme", name, `of ${name}`, `of ${name}`],
    });
    assert.deepEqual(parameters, upsert(row).parameters);
  }
});

Deno.test("inputs with the same members share one compiled query, others do not", () => {
  let compiled = 0;
  const insert = compileOnce((row: Partial<Subject> & { readonly org_id: string }) => {
    compiled += 1;
    return query.insertInto("subject").values(row as Subject).compile();
  });
  const columnsOf = ({ sql }: { readonly sql: string }) => /\((.*)\) values/.exec(sql)?.[1];
  for (let round = 0; round < 3; round += 1) {
    assert.equal(columnsOf(insert({ org_id: "a", operator_id: "b" })), '"org_id", "operator_id"');
    assert.equal(columnsOf(insert({ operator_id: "b", org_id: "a" })), '"operator_id", "org_id"');
    assert.equal(columnsOf(insert({ org_id: "a" })), '"org_id"');
  }
  assert.equal(compiled, 3);
});

Deno.test("a query that is compiled once keeps its builder's own values, and null for null", () => {
  const update = compileOnce(({ id, until }: { readonly id: string; readonly until: number | null }) =>
    query.updateTable("signing_key").set({ until_size: until, certificate: "fixed" })
      .where(sql<boolean>`public_key = ${id}`).compile()
  );
  assert.deepEqual(update({ id: "k", until: null }).parameters, [null, "fixed", "k"]);
  assert.deepEqual(update({ id: "l", until: 7 }).parameters, [7, "fixed", "l"]);
});
