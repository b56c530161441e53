/**
 * Files that are made to exhaust a verifier: twice as many things of one kind cost about twice the time and
 * about the same memory.
 */
import assert from "node:assert/strict";
import {
  HOSTILE_KEY,
  keptOfShapes,
  SETTLED_SHAPES,
  type Shape,
  SHAPES,
  writeHostile,
} from "../hostile_bundles.ts";
import { type Cost, verifyingCost } from "../verifying_cost.ts";
import { withDirectory } from "../auditing.ts";

/** Size of the smaller file. */
const BYTES = 1_500_000;
/** Number of things of a shape from which its size is estimated. */
const PROBED = 20;

/**
 * Largest factor of time for twice as many things. A scan of everything for each thing would take four times
 * the time.
 */
const TIME_FACTOR = 3;
const MEMORY_FACTOR = 1.3;
/** Differences below this time, in hundredths of a second, are chance. */
const LEAST_TICKS = 30;
/** Below this memory, in MiB, growth is the room that the engine's collector happens to leave. */
const LEAST_MIB = 128;
const TRIES = 3;
/** Largest memory of the program; it takes some 110 MiB anyway. */
const MOST_MIB = 320;

/** Kept checkpoints of a chain with which the bundles are compared, and as many of another deployment. */
const KEPT = 100;

async function costOf(
  shape: Shape,
  { count, directory, args = [] }: {
    readonly count: number;
    readonly directory: string;
    readonly args?: readonly string[];
  },
): Promise<Cost> {
  const path = `${directory}/hostile.ndjson`;
  await writeHostile(path, shape, count);
  const cost = await verifyingCost([path, "--key", HOSTILE_KEY, ...args]);
  assert.equal(cost.stderr, "");
  return cost;
}

const startCost = measureStart();

/** Time of the program's start, in hundredths of a second. */
async function measureStart(): Promise<number> {
  let ticks = 0;
  await withDirectory(async (directory) => {
    ({ ticks } = await costOf(SHAPES.headers, { count: 1, directory }));
  });
  return ticks;
}

/** Asserts that twice as many things of a shape cost at most the factors above. */
async function requireLinear(
  shape: Shape,
  { directory, args }: { readonly directory: string; readonly args: readonly string[] },
): Promise<void> {
  const probe = await writeHostile(`${directory}/probe.ndjson`, shape, PROBED);
  const count = Math.max(2, Math.round((BYTES * PROBED) / probe));
  const start = await startCost;
  const tries: string[] = [];
  // Other load on the machine may slow one try, but not all of them.
  while (tries.length < TRIES) {
    const once = await costOf(shape, { count, directory, args });
    const twice = await costOf(shape, { count: 2 * count, directory, args });
    assert.equal(twice.code, once.code, "the verdict does not depend on the number of things");
    const [ticks, more] = [once.ticks - start, twice.ticks - start];
    const isLinear = more <= TIME_FACTOR * Math.max(ticks, LEAST_TICKS);
    const isBounded = twice.mib <= MEMORY_FACTOR * Math.max(once.mib, LEAST_MIB);
    if (isLinear && isBounded && twice.mib < MOST_MIB) return;
    tries.push(`${count}: ${ticks} ticks, ${once.mib} MiB; twice: ${more}, ${twice.mib}`);
  }
  assert.fail(tries.join("\n"));
}

for (const [name, shape] of Object.entries<Shape>(SHAPES)) {
  Deno.test(`${name}: twice as many take about twice the time, and no more memory`, () =>
    withDirectory((directory) => requireLinear(shape, { directory, args: [] })));
}

for (const name of SETTLED_SHAPES) {
  Deno.test(`${name}, beside many kept checkpoints: twice as many take about twice the time, and no more memory`, () =>
    withDirectory(async (directory) => {
      const kept = `${directory}/kept.txt`;
      await Deno.writeTextFile(kept, keptOfShapes(KEPT));
      await requireLinear(SHAPES[name], { directory, args: ["--checkpoint", kept] });
    }));
}

/** Texts of about `bytes` bytes with millions of values that are no answer of the service. */
const ANSWERS: Readonly<Record<string, (bytes: number) => string>> = {
  "only lists": (bytes) => `{"a":[${"[],".repeat(bytes / 3)}[]]}`,
  "a batch of numbers": (bytes) =>
    `{"evidence":{"v":"jis.evidence-batch/1","checkpoint":"","items":[${"1,".repeat(bytes / 2)}1]}}`,
  "depth alone": (bytes) => `{"evidence":${"[".repeat(bytes / 2)}${"]".repeat(bytes / 2)}}`,
  "a page of opening tags": (bytes) => `<html>${'<script id="signed-report"'.repeat(bytes / 26)}`,
};

for (const [name, make] of Object.entries(ANSWERS)) {
  Deno.test(`a saved answer of ${name} is refused without much memory`, () =>
    withDirectory(async (directory) => {
      const file = `${directory}/answer.json`;
      await Deno.writeTextFile(file, make(8_000_000));
      const { code, stdout, stderr, mib } = await verifyingCost([file, "--key", HOSTILE_KEY]);
      assert.deepEqual([code, stderr], [2, ""]);
      assert.match(stdout, /^NOT VERIFIABLE\n/);
      assert.ok(mib < MOST_MIB, `${mib} MiB`);
    }));
}
