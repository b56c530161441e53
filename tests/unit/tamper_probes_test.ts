/** Tampering with probes: the rows of tests/probe_rows.ts. */
import assert from "node:assert/strict";
import { PROBE_DETAILS } from "../../src/evidence/probes.ts";
import { FINDINGS } from "../../src/evidence/findings.ts";
import * as fc from "fast-check";
import { takeApart } from "../bundle_tampering.ts";
import { cut, PROBE_ROWS, TWO_DAYS, withheld } from "../probe_rows.ts";
import { run, verify } from "../verification.ts";

run(PROBE_ROWS);

Deno.test("the rows have every event about probes, and every finding", () => {
  const texts = PROBE_ROWS.map(({ text }) => text).join("");
  for (const event of Object.keys(PROBE_DETAILS)) assert.ok(texts.includes(`"event_type":"${event}"`), event);
  const found = PROBE_ROWS.flatMap(({ findings }) => findings.map((finding) => finding.split("@")[0]!));
  for (const code of Object.keys(FINDINGS).filter((code) => code.startsWith("PROBE_"))) {
    assert.ok(found.includes(code), code);
  }
});

/** The findings about probes for which somebody could be accused. */
function accusations(text: string): string[] {
  return verify(text).flatMap(({ findings }) => findings).map(({ code }) => code)
    .filter((code) => code === "PROBE_MISMATCH" || code === "PROBE_LEFT_OUT");
}

Deno.test("whatever is withheld of an honest programme, nobody is accused of anything", () => {
  const entries = takeApart(TWO_DAYS).groups.length;
  const seq = fc.nat({ max: entries - 1 });
  fc.assert(fc.property(fc.uniqueArray(seq, { minLength: 1 }), (seqs) => {
    assert.deepEqual(accusations(withheld(TWO_DAYS, (at) => seqs.includes(at))), []);
  }));
});

Deno.test("wherever an honest programme is cut, nobody is accused of anything", () => {
  for (let size = 1; size < takeApart(TWO_DAYS).groups.length; size += 1) {
    assert.deepEqual(accusations(cut(TWO_DAYS, size)), [], `cut at ${size}`);
  }
});
