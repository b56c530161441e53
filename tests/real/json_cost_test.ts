/** What bodies are counted for is no less than what V8 makes of them: measured, for the shapes that take most. */
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
      // What lives is not copied from one small space to another, which is most of the time otherwise.
      "--v8-flags=--expose-gc,--min-semi-space-size=128,--max-semi-space-size=128",
      `${import.meta.dirname}/../json_memory.ts`,
      String(bytes),
    ],
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

/** What else lives or dies in the process meanwhile. */
const NOISE_BYTES = 300_000;

for (const megabytes of [1, 5]) {
  Deno.test(`a body of ${megabytes} MB is counted for at least what its parsed value takes, whatever its shape`, async () => {
    const all = await measured(megabytes * 1_048_576);
    for (const { shape, taken, cost } of all) {
      assert.ok(taken <= cost + NOISE_BYTES, `${shape}: ${taken} bytes are taken, ${cost} counted`);
    }
    // Else this would hold for a probe that measures nothing.
    const worst = all.find(({ shape }) => shape === "arrays of one object")!;
    assert.ok(worst.taken > 15 * megabytes * 1_048_576, `${worst.taken}`);
    const strings = all.find(({ shape }) => shape === "one long string")!;
    assert.ok(strings.cost < 1.1 * megabytes * 1_048_576, `${strings.cost}`);
  });
}
