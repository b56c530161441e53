/** The sentences of a verdict: every status, every part of the work, every doubt. */
import assert from "node:assert/strict";
import { DOMAINS, type Doubt, DOUBTS, VERDICT_STATUSES, WORK_PARTS } from "../../src/domain/enums.ts";
import type { Verdict } from "../../src/scoring/verdict.ts";
import {
  partInWords,
  VERDICT_WORDS,
  verdictInWords,
  verdictReason,
  verdictWait,
} from "../../src/scoring/verdict_words.ts";

const PARTS = [...WORK_PARTS, ...DOMAINS];

/** Doubts of which nobody can say how many cases would settle them. */
const UNCOUNTED: readonly Doubt[] = ["natural_cases_below_minimum", "modifications_unclear"];

const SETTLED: Verdict = {
  status: "compliant",
  part: "all",
  low: 66.1,
  high: 81.94,
  wrong_cases: 14,
  right_cases: 80,
  doubt: null,
  wrong_cases_needed: null,
  right_cases_needed: null,
};

const doubted = (change: Partial<Verdict>): Verdict => ({
  ...SETTLED,
  status: "undetermined",
  low: 48,
  doubt: "interval_spans_minimum",
  wrong_cases_needed: 12,
  ...change,
});

Deno.test("a settled verdict names its part, its interval and its cases", () => {
  assert.equal(
    verdictInWords(SETTLED),
    "Meets the threshold: the score on all cases lies between 66.1 and 81.9. It rests on 14 known cases of wrong advice and 80 of right advice.",
  );
  assert.equal(
    verdictInWords({
      ...SETTLED,
      status: "non_compliant",
      part: "high_stakes",
      low: 8,
      high: 51.3,
      wrong_cases: 1,
    }),
    "Below the threshold: the score on the cases with high stakes lies between 8.0 and 51.3. It rests on 1 known case of wrong advice and 80 of right advice.",
  );
});

Deno.test("an undetermined verdict says what would settle it", () => {
  const said = (change: Partial<Verdict>) => verdictInWords(doubted(change));
  assert.equal(
    said({}),
    "Undetermined: about 12 more known cases of wrong advice could settle it. On all cases the score lies between 48.0 and 81.9, with 14 known cases of wrong advice and 80 of right advice.",
  );
  assert.match(
    said({ wrong_cases_needed: 1 }),
    /: about 1 more known case of wrong advice could settle it\./,
  );
  assert.match(
    said({ wrong_cases_needed: null, right_cases_needed: 30 }),
    /: about 30 more known cases of right advice could settle it\./,
  );
  assert.match(
    said({
      doubt: "too_few_right_cases",
      wrong_cases_needed: null,
      right_cases_needed: 4,
      right_cases: 1,
    }),
    /^Undetermined: 4 more known cases of right advice are needed before there can be a verdict\. .* and 1 of right advice\.$/,
  );
  assert.match(
    said({ wrong_cases_needed: null }),
    /^Undetermined: the score is so near the threshold that nobody can say how many more known cases/,
  );
  assert.match(
    said({ doubt: "too_few_wrong_cases", wrong_cases_needed: 5, wrong_cases: 0 }),
    /^Undetermined: 5 more known cases of wrong advice are needed before there can be a verdict\. .* with 0 known cases/,
  );
  assert.match(
    said({ doubt: "too_few_natural_wrong_cases", wrong_cases_needed: 1 }),
    /^Undetermined: 1 more known case of wrong advice that nobody planted is needed before there can be a verdict\./,
  );
  assert.match(
    said({ doubt: "natural_cases_below_minimum", part: "natural", wrong_cases_needed: null }),
    /^Undetermined: the score on the cases that nobody planted is below the threshold, and that on all together is not; more known cases of both kinds would settle it\. /,
  );
  assert.match(
    said({ doubt: "natural_cases_below_minimum", part: "legal", wrong_cases_needed: null }),
    /^Undetermined: the score on the cases in legal that nobody planted is below the threshold, .* On the cases in legal the score/,
  );
  assert.match(
    said({ doubt: "too_few_natural_wrong_cases", part: "legal", wrong_cases_needed: 2 }),
    /^Undetermined: 2 more known cases of wrong advice among the cases in legal that nobody planted are needed/,
  );
  assert.match(
    said({ doubt: "modifications_unclear", wrong_cases_needed: null }),
    /^Undetermined: most of the errors found among all cases are modifications or referrals of which nobody has said whether the AI was wrong, and of a modification whether its outcome is right; saying it of new cases would settle it\. /,
  );
  assert.match(
    said({ doubt: "part_not_measured", part: "public_sector", wrong_cases_needed: 2 }),
    /^Undetermined: 2 more known cases of wrong advice among the cases in public sector are needed/,
  );
});

Deno.test("each status, part and doubt has sentences of its own, in words and not in wire names", () => {
  assert.deepEqual(Object.keys(VERDICT_WORDS).toSorted(), [...VERDICT_STATUSES].toSorted());
  assert.equal(new Set(PARTS.map(partInWords)).size, PARTS.length);
  const said: string[] = [];
  for (const part of PARTS) {
    for (const status of VERDICT_STATUSES) {
      for (const doubt of status === "undetermined" ? DOUBTS : [null]) {
        // Natural cases that are judged are enough.
        if (part === "natural" && doubt === "too_few_natural_wrong_cases") continue;
        for (const needed of doubt === null ? [null] : [null, 1, 7]) {
          const name = doubt === "too_few_right_cases" ? "right_cases_needed" : "wrong_cases_needed";
          const verdict = { ...SETTLED, status, part, doubt, [name]: needed };
          const text = verdictInWords(verdict);
          said.push(text);
          assert.ok(text.startsWith(`${VERDICT_WORDS[status]}: ${verdictReason(verdict)}. `), text);
          assert.match(text, /\.$/);
          assert.doesNotMatch(text, /undefined|null|NaN|_|\.\.| {2}/);
          assert.ok(text.includes(partInWords(part)), text);
          if (needed !== null && doubt !== null && !UNCOUNTED.includes(doubt)) {
            assert.ok(text.includes(`${needed} more known case`), text);
          }
        }
      }
    }
  }
  const counted = DOUBTS.length - UNCOUNTED.length;
  assert.equal(new Set(said).size, PARTS.length * (2 + counted * 3 + UNCOUNTED.length) - 3);
});

Deno.test("a row of a list says in a few words what an undetermined verdict waits for, with the numbers of the whole reason", () => {
  assert.equal(verdictWait(SETTLED), null);
  const said = (change: Partial<Verdict>) => verdictWait(doubted(change));
  assert.equal(said({}), "needs about 12 more known cases of wrong advice");
  assert.equal(said({ wrong_cases_needed: null }), "very near the threshold");
  assert.equal(
    said({ doubt: "too_few_natural_wrong_cases", wrong_cases_needed: 1 }),
    "needs 1 more unplanted case of wrong advice",
  );
  assert.equal(
    said({ doubt: "too_few_right_cases", wrong_cases_needed: null, right_cases_needed: 4 }),
    "needs 4 more known cases of right advice",
  );
  assert.equal(
    said({ doubt: "part_not_measured", part: "public_sector", wrong_cases_needed: 2 }),
    "needs 2 more known cases in public sector",
  );
  assert.equal(
    said({ doubt: "part_not_measured", part: "critical", wrong_cases_needed: 1 }),
    "needs 1 more known case among the critical cases",
  );
  for (const doubt of DOUBTS) {
    for (const part of PARTS) {
      for (const wrong_cases_needed of UNCOUNTED.includes(doubt) ? [null] : [1, 30, null]) {
        const verdict = doubted({ doubt, part, wrong_cases_needed });
        const [few, whole] = [verdictWait(verdict)!, verdictReason(verdict)];
        assert.deepEqual(few.match(/\d+/g), whole.match(/\d+/g), `${few}: ${whole}`);
        assert.ok(few.length <= 56, few);
        assert.doesNotMatch(few, /undefined|null|_| {2}/);
      }
    }
  }
});
