/** Records that can be made once only, and the names that the verifier keeps to find a second one. */
import assert from "node:assert/strict";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { RecordNames } from "../../src/evidence/record_names.ts";
import { REPEAT_ROWS, RESTORED_REPEAT_ROWS } from "../repeat_rows.ts";
import { assertReport, overallVerdict, run, verify } from "../verification.ts";

run(REPEAT_ROWS);

for (const { name, text, reports, overall } of RESTORED_REPEAT_ROWS) {
  Deno.test(name, () => {
    const actual = verify(text);
    assert.equal(actual.length, reports.length);
    for (const [index, report] of actual.entries()) assertReport(report, reports[index]!);
    assert.deepEqual(overallVerdict(actual), overall);
  });
}

Deno.test("without the check for repeated records none is found", () => {
  const repeated = REPEAT_ROWS.find(({ exit }) => exit === 1)!;
  assert.equal(verify(repeated.text, { repeats: false })[0]!.exitCode, 0);
});

Deno.test("any name gets each flag once, until it is forgotten", () => {
  const names = new RecordNames(nodeCrypto, [1, 2]);
  const all = ["", "a", "b", "A", " a", "é", "e\u0301", "\u{1d306}", "__proto__", "x".repeat(1_000_000)];
  for (const flag of [1, 2, 4, 8]) {
    assert.deepEqual(all.map((name) => names.add(name, flag)), all.map(() => true), `${flag}`);
    assert.deepEqual(all.map((name) => names.add(name, flag)), all.map(() => false), `${flag}`);
  }
  names.forget();
  assert.equal(names.add("a", 1), true);
  assert.throws(() => names.add("a", 16), RangeError);
  assert.throws(() => names.add("a", 0), RangeError);
});

Deno.test("each of 200,000 names is known, none is mistaken for another, and each takes less than 20 bytes", () => {
  const names = new RecordNames(nodeCrypto, [3, 4]);
  let worst = 0;
  for (let count = 1; count <= 200_000; count += 1) {
    if (!names.add(`session-${count}`, 1)) assert.fail(`session-${count} is taken for another`);
    // With fewer names the initial capacity of each shard is larger than its content.
    if (count >= 10_000 && count % 100 === 0) worst = Math.max(worst, names.bytes / count);
  }
  assert.ok(worst > 12 && worst < 20, `${worst} bytes for each name`);
  for (let count = 1; count <= 200_000; count += 7) {
    assert.equal(names.add(`session-${count}`, 1), false);
    assert.equal(names.add(`session-${count}`, 2), true);
  }
});
