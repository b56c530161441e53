/** The known cases and their weight, joined in one sentence. */
import assert from "node:assert/strict";
import { knownCasesInWords } from "../../src/pages/known_cases_words.ts";
import type { Estimates } from "../../src/scoring/estimates.ts";

const rate = (cases: number) => ({ mean: 0.4, low: 0.2, high: 0.6, cases });

function said(weight: number, counts: readonly [wrong: number, right: number] | null): string {
  const estimates = counts && {
    departs_when_wrong: rate(counts[0]),
    departs_when_right: rate(counts[1]),
  } as Estimates;
  return knownCasesInWords({ uncertainty: { effective_n: weight }, estimates });
}

Deno.test("the counts of known cases and their weight stand in one sentence that joins them", () => {
  assert.equal(
    said(48.2, [17, 42]),
    "In all live work 17 known cases of wrong advice and 42 of right advice count as 48.2 today: older ones count less.",
  );
  assert.equal(
    said(0.9, [1, 0]),
    "In all live work 1 known case of wrong advice and 0 of right advice count as 0.9 today: older ones count less.",
  );
});

Deno.test("cases that have not faded count in full, and no known case has no weight", () => {
  assert.equal(
    said(5, [2, 3]),
    "In all live work 2 known cases of wrong advice and 3 of right advice count in full.",
  );
  assert.equal(said(0, [0, 0]), "In all live work no case is known yet.");
});

Deno.test("a model that counts no cases has their weight alone", () => {
  assert.equal(said(34.5, null), "All known cases together count as 34.5 today: older ones count less.");
  assert.equal(said(0, null), "No case is known yet.");
});
