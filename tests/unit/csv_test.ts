/** The console's CSV files: RFC 4180, unrounded, and nothing that a spreadsheet runs. */
import assert from "node:assert/strict";
import { csvName, csvOf } from "../../src/web/console/csv.ts";

type Row = Readonly<Record<string, string | number | boolean | null | undefined>>;

const one = (value: Row[string]) => csvOf<Row>({ a: (row) => row.a }, [{ a: value }]).split("\r\n")[1];

Deno.test("a file has a mark of its encoding, a line of names, and a line for each row, each with its end", () => {
  const rows: Row[] = [{ id: "r-1", jis: 72.34567, met: true }, { id: "é", jis: null, met: undefined }];
  assert.equal(
    csvOf({ id: (row: Row) => row.id, jis: (row: Row) => row.jis, met: (row: Row) => row.met }, rows),
    "\uFEFFid,jis,met\r\nr-1,72.34567,true\r\né,,\r\n",
  );
  assert.equal(csvOf({ id: (row: Row) => row.id }, []), "\uFEFFid\r\n");
});

Deno.test("commas, quotes and ends of lines are quoted", () => {
  assert.equal(one("a,b"), '"a,b"');
  assert.equal(one('say "no"'), '"say ""no"""');
  assert.equal(csvOf<Row>({ a: (row) => row.a }, [{ a: "x\ny" }]), '\uFEFFa\r\n"x\ny"\r\n');
  assert.equal(one("a:b 'c'"), "a:b 'c'");
  // A spreadsheet of some languages would part the cell, and run its second half.
  assert.equal(one("a;=1+1"), '"a;=1+1"');
});

Deno.test("a text that a spreadsheet would run begins with an apostrophe, and a plain number does not", () => {
  for (const text of ["=1+1", "+1-1", "-a", "@SUM(A1)", "=", "-", "--1", "+1 2", "-1e", "=1"]) {
    assert.equal(one(text), `'${text}`, text);
  }
  assert.equal(one("\t=1"), "'\t=1");
  assert.equal(csvOf<Row>({ a: (row) => row.a }, [{ a: "\r=1" }]), `\uFEFFa\r\n"'\r=1"\r\n`);
  assert.equal(one('=HYPERLINK("https://x","y")'), `"'=HYPERLINK(""https://x"",""y"")"`);
  for (const text of ["-1", "+1.5", "-0.25", "1", "a=1", "a-1", " =1", ""]) assert.equal(one(text), text);
  for (const number of [-1, -0.5, 1e-7, 1e21, 0]) assert.equal(one(number), String(number));
  assert.equal(one(-1e-7), "-1e-7", "a number of the API");
});

Deno.test("the name of a file says the table and the instant in UTC, and fits every system", () => {
  const now = new Date("2026-11-27T23:59:58.123+02:00");
  assert.equal(csvName("Operators", now), "operators-2026-11-27T21-59-58Z.csv");
  assert.equal(
    csvName("Latest decisions of A/B: c", now),
    "latest-decisions-of-a-b-c-2026-11-27T21-59-58Z.csv",
  );
});
