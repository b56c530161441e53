/** The short forms of the long checks; the long forms are `task soak`. */
import assert from "node:assert/strict";
import { fuzz } from "../soak/fuzz.ts";
import { signInTiming } from "../soak/sign_in_timing.ts";
import { refusalTiming } from "../soak/timing.ts";
import { crashCycles } from "../soak/crashes.ts";
import { webhookFlood } from "../soak/webhooks.ts";

Deno.test("20 kill -9 under load, at a start, beside a rotation and a backup: no acknowledged score, batch, label, decision, key or erasure is lost or doubled, and every chain verifies", async () => {
  const figures = await crashCycles({ cycles: 20 });
  assert.ok(figures.acknowledged > 500, `only ${figures.acknowledged} were acknowledged before the kills`);
  assert.ok(figures.killed.starts >= 5 && figures.killed.commands >= 5, JSON.stringify(figures.killed));
  const { lost, doubled, usage_off_by, unerased, lock_leads } = figures;
  assert.deepEqual(
    { lost, doubled, usage_off_by, unerased, lock_leads },
    { lost: 0, doubled: 0, usage_off_by: 0, unerased: 0, lock_leads: 0 },
  );
});

Deno.test("over 40 refusals for each reason are all equal to the byte, none comes before the floor, and latencies do not tell two reasons apart", async () => {
  const { reasons, pairs, ...figures } = await refusalTiming({ refusals: 40, seed: "test" });
  assert.deepEqual([Object.keys(reasons).length, pairs], [13, 78]);
  const { below_floor, different_answers, told_apart } = figures;
  assert.deepEqual([below_floor, different_answers, told_apart], [0, 1, []], JSON.stringify(reasons));
});

Deno.test("refused attempts to sign in are all equal, none comes before the floor, and latencies do not tell who exists", async () => {
  const { reasons, ...figures } = await signInTiming({ attempts: 16, seed: "test" });
  assert.equal(Object.keys(reasons).length, 4);
  assert.deepEqual(
    figures,
    { below_floor: 0, different_answers: 1, told_apart: [] },
    JSON.stringify(reasons),
  );
});

Deno.test("3,000 damaged requests get an answer in the envelope and never a 5xx, nothing on a socket harms other clients, and no altered file is accepted", async () => {
  const figures = await fuzz({ requests: 3_000, seed: "test" });
  assert.deepEqual(
    [figures.server_errors, figures.without_envelope, figures.hung],
    [[], 0, 0],
    JSON.stringify(figures),
  );
  assert.ok(figures.chains_verified);
  assert.deepEqual([figures.raw.findings, figures.files.findings], [[], []]);
  assert.ok(figures.raw.answered > figures.raw.sent / 2, JSON.stringify(figures.raw));
  assert.ok(
    figures.files.verdicts[1]! > 50 && figures.files.verdicts[2]! > 50,
    JSON.stringify(figures.files),
  );
  for (const status of ["200", "400", "401", "404", "405", "415", "422"]) {
    assert.ok((figures.statuses[status] ?? 0) > 0, `no ${status}: ${JSON.stringify(figures.statuses)}`);
  }
});

Deno.test("beside a receiver that never answers and one that answers 500, a third gets 1,000 events as fast as if it were alone", async () => {
  const figures = await webhookFlood({ events: 1_000, timeoutMs: 1_000, untilPaused: false });
  const { missing, doubled, ratio, memory_ratio, silent } = figures;
  assert.deepEqual([missing, doubled], [0, 0]);
  // `task soak webhooks` requires at most 1.5 on a machine of its own. Waiting for the dead receiver would
  // take ten times as long.
  assert.ok(ratio <= 4, JSON.stringify(figures));
  // The program's memory at rest is small beside that for a thousand events. The long form requires at most
  // 1.3.
  assert.ok(memory_ratio <= 1.5, JSON.stringify(figures));
  assert.ok(silent.attempts < 100, "the dead receiver is not waited for again and again");
});
