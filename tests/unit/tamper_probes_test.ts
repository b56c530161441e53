/** Tampering with probes: the rows of tests/probe_rows.ts. */
import assert from "node:assert/strict";
import { PROBE_DETAILS } from "../../src/evidence/probes.ts";
import { FINDINGS } from "../../src/evidence/findings.ts";
import { PROBE_ROWS } from "../probe_rows.ts";
import { run } from "../verification.ts";

run(PROBE_ROWS);

Deno.test("the rows have every event about probes, and every finding", () => {
  const texts = PROBE_ROWS.map(({ text }) => text).join("");
  for (const event of Object.keys(PROBE_DETAILS)) assert.ok(texts.includes(`"event_type":"${event}"`), event);
  const found = PROBE_ROWS.flatMap(({ findings }) => findings.map((finding) => finding.split("@")[0]!));
  for (const code of Object.keys(FINDINGS).filter((code) => code.startsWith("PROBE_"))) {
    assert.ok(found.includes(code), code);
  }
});
