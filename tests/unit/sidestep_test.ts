/** Kept checkpoints cannot be sidestepped: the rows of tests/sidestep_rows.ts. */
import assert from "node:assert/strict";
import { SIDESTEP_ROWS } from "../sidestep_rows.ts";
import { assertReport, overallVerdict, verify } from "../verification.ts";

for (const { name, text, options, reports, overall } of SIDESTEP_ROWS) {
  Deno.test(name, () => {
    const actual = verify(text, options);
    assert.equal(actual.length, reports.length);
    for (const [index, report] of actual.entries()) assertReport(report, reports[index]!);
    assert.deepEqual(overallVerdict(actual), overall);
  });
}
