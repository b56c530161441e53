/**
 * Files that are made to exhaust who verifies them: twice as much of the same costs about twice the time, and about the
 * same memory, whatever it is that there is more of.
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

/** Of the smaller file. */
const BYTES = 1_500_000;
/** Things of a shape by which its size is estimated. */
const PROBED = 20;

/** By how much twice as much may cost more; a scan of everything for each thing takes four times the time. */
const TIME_FACTOR = 3;
const MEMORY_FACTOR = 1.3;
/** Below this much time, in hundredths of a second, chance decides. */
const LEAST_TICKS = 30;
const TRIES = 3;
/** Beyond what the program takes anyway: some 110 MiB. */
const MOST_MIB = 320;

/** Kept checkpoints of a chain that the bundles are held against, and as many of another deployment. */
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

const ofNothing = costOfNothing();

/** Of the program's start. */
async function costOfNothing(): Promise<number> {
  let ticks = 0;
  await withDirectory(async (directory) => {
    ({ ticks } = await costOf(SHAPES.headers, { count: 1, directory }));
  });
  return ticks;
}

/** Holds what a shape costs against what twice as much of it costs. */
async function requireLinear(
  shape: Shape,
  { directory, args }: { readonly directory: string; readonly args: readonly string[] },
): Promise<void> {
  const probe = await writeHostile(`${directory}/probe.ndjson`, shape, PROBED);
  const count = Math.max(2, Math.round((BYTES * PROBED) / probe));
  const start = await ofNothing;
  const tries: string[] = [];
  // Whoever else uses the machine makes one try dear, and not all of them.
  while (tries.length < TRIES) {
    const once = await costOf(shape, { count, directory, args });
    const twice = await costOf(shape, { count: 2 * count, directory, args });
    assert.equal(twice.code, once.code, "the verdict does not depend on how much there is of it");
    const [ticks, more] = [once.ticks - start, twice.ticks - start];
    const isLinear = more <= TIME_FACTOR * Math.max(ticks, LEAST_TICKS);
    if (isLinear && twice.mib <= MEMORY_FACTOR * once.mib && twice.mib < MOST_MIB) return;
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

/** Texts of so many bytes that are no answer of the service, but millions of values. */
const ANSWERS: Readonly<Record<string, (bytes: number) => string>> = {
  "nothing but lists": (bytes) => `{"a":[${"[],".repeat(bytes / 3)}[]]}`,
  "a batch of numbers": (bytes) =>
    `{"evidence":{"v":"jis.evidence-batch/1","checkpoint":"","items":[${"1,".repeat(bytes / 2)}1]}}`,
  "depth alone": (bytes) => `{"evidence":${"[".repeat(bytes / 2)}${"]".repeat(bytes / 2)}}`,
  "a page of openings": (bytes) => `<html>${'<script id="signed-report"'.repeat(bytes / 26)}`,
};

for (const [name, make] of Object.entries(ANSWERS)) {
  Deno.test(`a saved answer of ${name} is refused without the memory of what it holds`, () =>
    withDirectory(async (directory) => {
      const file = `${directory}/answer.json`;
      await Deno.writeTextFile(file, make(8_000_000));
      const { code, stdout, stderr, mib } = await verifyingCost([file, "--key", HOSTILE_KEY]);
      assert.deepEqual([code, stderr], [2, ""]);
      assert.match(stdout, /^NOT VERIFIABLE\n/);
      assert.ok(mib < MOST_MIB, `${mib} MiB`);
    }));
}
