/** Bundles larger than the memory of their verification: the short form of `task soak bundle`. */
import assert from "node:assert/strict";
import { hex } from "../../src/evidence/crypto.ts";
import { SubjectStates, VALUE_BYTES } from "../../src/evidence/subject_states.ts";
import { seeded } from "../../src/simulation/random.ts";
import { verifyBigBundle } from "../soak/bundle.ts";

Deno.test("a bundle of 50,000 entries with all of its 10,000 operators erased verifies with a heap of 96 MiB", async () => {
  const { code, output } = await verifyBigBundle({
    entries: 50_000,
    operators: 10_000,
    erased: true,
    replay: true,
  });
  assert.match(output, /^INTACT, UNANCHORED\n/);
  assert.match(output, /\n {2}entries +50000; /);
  assert.equal(code, 0);
});

Deno.test("a bundle of 50,000 entries verifies with a heap of 96 MiB, every score, commit and label computed anew", async () => {
  const { code, output } = await verifyBigBundle({
    entries: 50_000,
    operators: 1_000,
    erased: false,
    replay: true,
  });
  assert.match(output, /^INTACT, UNANCHORED\n/);
  assert.match(output, /\n {2}replayed +49999 /);
  assert.equal(code, 0);
});

Deno.test("the verifier keeps less than 100 bytes for each operator, however many there are", () => {
  const random = seeded("operators");
  const states = new SubjectStates();
  const value = new Uint8Array(VALUE_BYTES);
  const subject = new Uint8Array(16);
  let worst = 0;
  for (let operators = 1; operators <= 500_000; operators += 1) {
    for (let at = 0; at < subject.length; at += 1) subject[at] = Math.floor(random.uniform(0, 256));
    states.set(hex(subject), 1, value);
    // With fewer operators the initial capacity of each shard is larger than its content.
    if (operators >= 10_000) worst = Math.max(worst, states.bytes / operators);
  }
  assert.equal(states.size, 500_000);
  assert.ok(worst > VALUE_BYTES && worst < 100, `${worst} bytes for each operator`);
});
