/**
 * The memory that a body is counted for is no less than what V8 uses for it: measured for the shapes that
 * need most.
 */
import assert from "node:assert/strict";

interface Measured {
  readonly shape: string;
  readonly taken: number;
  readonly cost: number;
}

async function measured(bytes: number): Promise<readonly Measured[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--quiet",
      // A large new space, so that live objects are not copied again and again, which would take most of the
      // time.
      "--v8-flags=--expose-gc,--min-semi-space-size=128,--max-semi-space-size=128",
      `${import.meta.dirname}/../json_memory.ts`,
      String(bytes),
    ],
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

/** Other allocations in the process meanwhile. */
const NOISE_BYTES = 300_000;

for (const megabytes of [1, 5]) {
  Deno.test(`a body of ${megabytes} MB is counted for at least what its parsed value takes, whatever its shape`, async () => {
    const all = await measured(megabytes * 1_048_576);
    for (const { shape, taken, cost } of all) {
      assert.ok(taken <= cost + NOISE_BYTES, `${shape}: ${taken} bytes are taken, ${cost} counted`);
    }
    // Otherwise this would also pass with a probe that measures nothing.
    const worst = all.find(({ shape }) => shape === "arrays of one object")!;
    assert.ok(worst.taken > 15 * megabytes * 1_048_576, `${worst.taken}`);
    const strings = all.find(({ shape }) => shape === "one long string")!;
    assert.ok(strings.cost < 1.1 * megabytes * 1_048_576, `${strings.cost}`);
  });
}
