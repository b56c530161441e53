/** `jiss evaluate`: a table of decisions, without a service, a database or an environment. */
import assert from "node:assert/strict";
import { runProgram } from "../program.ts";

const NEXT_MODEL = `${import.meta.dirname}/../../src/scoring/jis-2.0.0.json`;
const OLDER_MODEL = `${import.meta.dirname}/../../docs/understand/models/jis-1.1.0.json`;
const HEADER = "operator_id,decision,outcome_correct,ai_correct,fold,note";

/** A careful and a careless reviewer: wrong advice first and in every other row, the last rows held back. */
function table(): string {
  const rows = [HEADER];
  for (let index = 0; index < 120; index += 1) {
    const isWrong = index % 2 === 0;
    const fold = index < 100 ? "" : "test";
    rows.push(`careful,${isWrong ? "rejected" : "accepted"},true,${!isWrong},${fold},"a, b"`);
    rows.push(`careless,accept,${!isWrong},,${fold},`);
  }
  return `${rows.join("\r\n")}\r\n`;
}

async function withTable(text: string | Uint8Array<ArrayBuffer>, test: (path: string) => Promise<void>) {
  const path = await Deno.makeTempFile({ suffix: ".csv" });
  try {
    await Deno.writeFile(path, typeof text === "string" ? new TextEncoder().encode(text) : text);
    await test(path);
  } finally {
    await Deno.remove(path);
  }
}

Deno.test("evaluate scores each reviewer of a table and foretells the rows held back", () =>
  withTable(table(), async (path) => {
    const { code, stdout, stderr } = await runProgram(["evaluate", path, "--model", NEXT_MODEL, "--json"]);
    assert.deepEqual([code, stderr], [0, ""]);
    const report = JSON.parse(stdout);
    assert.deepEqual([report.model.version, report.ignored_columns], ["jis-2.0.0", ["note"]]);
    assert.deepEqual(report.decisions, { fit: 200, test: 40 });
    const [careful, careless] = report.operators;
    assert.deepEqual(
      [careful, careless].map(({ operator_id, status, n }) => [operator_id, status, n]),
      [["careful", "compliant", 100], ["careless", "non_compliant", 100]],
    );
    assert.ok(careful.low <= careful.jis && careful.jis <= careful.high);
    for (const [operator, least, most] of [[careful, 0.9, 1], [careless, 0, 0.1]]) {
      const { mean, low, high } = operator.predicted.departs_when_wrong;
      assert.ok(least <= mean && mean <= most && low < mean && mean < high, JSON.stringify(operator));
    }
    assert.ok(careless.predicted.follows_when_right.mean > 0.9);
    for (const losses of Object.values<Record<string, number>>(report.log_loss)) {
      assert.equal(losses.decisions, 20);
      assert.ok(losses.model! < 0.1 && losses.own_rate! < 0.1, JSON.stringify(losses));
    }
    assert.ok(report.log_loss.departs_when_wrong.everybody > 0.6);
    for (const kind of ["departs_when_wrong", "follows_when_right"]) {
      const { next_counts, long_run_rates } = report.coverage[kind];
      assert.deepEqual([next_counts.people, next_counts.came], [2, 1]);
      assert.ok(next_counts.foretold >= 0.9 && next_counts.foretold <= 1);
      assert.deepEqual(long_run_rates, { people: 0, came: null });
    }
  }));

Deno.test("evaluate prints a table for people, and has no estimates of rates with older formulas", () =>
  withTable(table(), async (path) => {
    const [next, older] = await Promise.all([
      runProgram(["evaluate", path, "--model", NEXT_MODEL]),
      runProgram(["evaluate", path, "--model", OLDER_MODEL, "--json"]),
    ]);
    assert.match(next!.stdout, /^model +jis-2\.0\.0, SHA-256 [0-9a-f]{64}$/m);
    assert.match(next!.stdout, /^columns not read +note$/m);
    assert.match(next!.stdout, /^careful +\d+.* compliant /m);
    assert.match(next!.stdout, /^departs if wrong +20( +\d\.\d{4}){4}$/m);
    assert.match(
      next!.stdout,
      /^COVERAGE OF 90 % INTERVALS .*\n(departs if wrong|follows if right) +2 +\d+ % +100 % +0/m,
    );
    const { operators, log_loss, coverage } = JSON.parse(older!.stdout);
    assert.deepEqual(coverage, { departs_when_wrong: null, follows_when_right: null });
    assert.deepEqual([operators[0].predicted, log_loss.departs_when_wrong.model], [null, null]);
  }));

Deno.test("evaluate writes its report as a page that needs nothing else, and never over a file", () =>
  withTable(table().replaceAll("careless,", "less,"), async (path) => {
    const page = `${path}.html`;
    const arguments_ = ["evaluate", path, "--model", NEXT_MODEL, "--html", page];
    const { code, stderr } = await runProgram(arguments_);
    assert.deepEqual([code, stderr], [0, ""]);
    const text = await Deno.readTextFile(page);
    assert.match(text, /^<!DOCTYPE html>/);
    assert.doesNotMatch(text, /<script|(?:src|href)="(?!data:)|url\(/);
    for (const id of ["calibration-departs_when_wrong", "calibration-follows_when_right", "forest"]) {
      assert.match(text, new RegExp(`<figure id="${id}">`));
    }
    assert.match(text, /<h3>Coverage of the 90 % intervals<\/h3>/);
    assert.match(text, /<th scope="row">careful<\/th>.*<td>Compliant<\/td>/);
    assert.match(text, /<th scope="row">less<\/th>.*<td>Not compliant<\/td>/);
    const again = await runProgram(arguments_);
    assert.deepEqual([again.code, again.stdout], [1, ""]);
    assert.match(again.stderr, /already exists and was not changed/);
    assert.equal(await Deno.readTextFile(page), text);
    await Deno.remove(page);
  }));

Deno.test("evaluate refuses a file that is no table of decisions, and names the line and the column", async () => {
  const refusals: readonly (readonly [string | Uint8Array<ArrayBuffer>, RegExp])[] = [
    ["", /it is empty/],
    ["operator_id,decision\n", /it has no decision: there is no row below its first line/],
    ["operator_id,decision", /it has no decision/],
    [
      "operator_id;decision\na;accepted\n",
      /no column operator_id, decision: columns are separated by commas/,
    ],
    ["operator_id\tdecision\na\taccepted\n", /no column operator_id, decision$/m],
    ["decision\naccepted\n", /its first line has no column operator_id/],
    ["operator_id,decision,decision\na,accepted,accepted\n", /has the column decision twice/],
    ["operator_id,decision\na,accepted\nb,yes\n", /line 3: decision: /],
    [
      "operator_id,decision,outcome_correct\na,accepted,perhaps\n",
      /line 2: outcome_correct: must be true, false/,
    ],
    ["operator_id,decision,scroll_depth\na,accepted,0x1\n", /line 2: scroll_depth: /],
    ["operator_id,decision,outcome_correct,ai_correct\na,accepted,1,0\n", /line 2: ai_correct: must equal/],
    ["operator_id,decision\na,accepted,more\n", /Invalid Record Length/],
    ["operator_id,decision\na b,accepted\n", /line 2: operator_id: /],
    [
      new Uint8Array([...new TextEncoder().encode("operator_id,decision\na,"), 0xff, 0x0a]),
      /it is not UTF-8 text/,
    ],
  ];
  for (const [text, message] of refusals) {
    await withTable(text, async (path) => {
      const { code, stdout, stderr } = await runProgram(["evaluate", path]);
      assert.deepEqual([code, stdout], [2, ""], stderr);
      assert.match(stderr, message);
    });
  }
  const missing = await runProgram(["evaluate", "/nonexistent/table.csv"]);
  assert.deepEqual([missing.code, missing.stdout], [2, ""]);
  assert.match(missing.stderr, /cannot be read: there is no such file/);
});
