/**
 * A body that comes alone is accepted at any size and shape below the limit: no single body is too heavy for
 * the memory.
 */
import assert from "node:assert/strict";
import { BATCH_BODY_LIMIT_BYTES, BODY_MEMORY_BYTES } from "../../src/domain/limits.ts";
import { type Harness, withHarness } from "../harness.ts";
import { SHAPES } from "../heavy_bodies.ts";

const LONGEST = 5_200_000;

async function statusOf({ send }: Harness, key: string, { junk, name }: { junk: string; name: string }) {
  const batch = JSON.stringify({
    operator_id: "operator-1",
    domain: "general",
    interactions: [{ session_id: name, time_to_decision_ms: 5_000, decision: "accepted" }],
  });
  return (await send("/v1/score/batch", { key, body: `${batch.slice(0, -1)},"note":${junk}}` })).status;
}

/** The rule is one of shares: the test divides the lengths and the memory by this. */
const SHARE = 16;

/**
 * Lengths around the one from which the parsed value counts for more than half of the memory, and the
 * largest.
 */
const LENGTHS = {
  "whole numbers": [4_600_000, 4_700_000, 4_800_000, 4_900_000, 5_000_000, 5_100_000, LONGEST],
  "empty arrays": [1_900_000, 2_000_000, 2_050_000, 2_100_000, 2_150_000, 2_200_000, 2_400_000, LONGEST],
  "deep arrays": [1_800_000, 1_900_000, 1_950_000, 2_000_000, 2_050_000, 2_100_000, LONGEST],
} as const;

async function assertTaken(harness: Harness, shape: string, lengths: readonly number[]): Promise<void> {
  const key = await harness.organization("acme");
  const statuses: Record<number, number> = {};
  for (const length of lengths) {
    assert.ok(length < BATCH_BODY_LIMIT_BYTES);
    const junk = SHAPES[shape]!(length);
    statuses[length] = await statusOf(harness, key, { junk, name: `case-${length}` });
  }
  assert.deepEqual(statuses, Object.fromEntries(lengths.map((length) => [length, 200])));
}

for (const [shape, lengths] of Object.entries(LENGTHS)) {
  Deno.test(
    `a lone body of ${shape} is accepted, whatever share of the memory it needs`,
    withHarness(
      (harness) => assertTaken(harness, shape, lengths.map((length) => Math.floor(length / SHARE))),
      { bodyMemoryBytes: BODY_MEMORY_BYTES / SHARE },
    ),
  );

  Deno.test(
    `a lone body of ${shape} is accepted at the largest length`,
    withHarness((harness) => assertTaken(harness, shape, [LONGEST])),
  );
}
