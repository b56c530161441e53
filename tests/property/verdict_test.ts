/** Laws of the formulas `jis-3`, over any known cases. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { DECISIONS, DOMAINS, SCENARIO_TYPES } from "../../src/domain/enums.ts";
import { recordedInteractionSchema } from "../../src/domain/interaction.ts";
import { Posterior } from "../../src/scoring/discrimination.ts";
import { casesOf, NO_PARTS, type Part, type PartsOfWork } from "../../src/scoring/known_cases.ts";
import { modelSchema } from "../../src/scoring/model.ts";
import { score } from "../../src/scoring/score.ts";
import type { OperatorState } from "../../src/scoring/state.ts";
import { judge } from "../../src/scoring/verdict.ts";
import document from "../../src/scoring/jis-2.0.0.json" with { type: "json" };

const model = modelSchema.parse(document);
const RANKS = ["compliant", "undetermined", "non_compliant"];

const part = fc.tuple(...[30, 30, 120, 60, 40, 100].map((max) => fc.nat({ max }))).map(
  ([hit, miss, right, alarm, more]): Part => {
    const [wrong, others] = [hit! + miss!, right! + alarm!];
    return [hit!, miss!, right!, alarm!, wrong, others, wrong + others + more!];
  },
);

const parts: fc.Arbitrary<PartsOfWork> = fc.record({
  n: part,
  p: part,
  s: part,
  a: part,
  d: fc.dictionary(fc.constantFrom(...DOMAINS), part, { maxKeys: 3 }),
  m: fc.nat({ max: 7 }),
});

const rankOf = (of: PartsOfWork) => RANKS.indexOf(judge(model, of, "full").verdict.status);

Deno.test("a score and its interval lie between 0 and 100, the low end below the high one", () => {
  fc.assert(fc.property(parts, (of) => {
    const { low, high, dimensions } = judge(model, of, "full");
    assert.ok(0 <= low && low < high && high <= 100);
    for (const points of Object.values(dimensions)) {
      assert.ok(Number.isInteger(points) && points >= 0 && points <= 100);
    }
  }));
});

Deno.test("an error found in place of one let pass raises the estimate for wrong advice", () => {
  fc.assert(fc.property(part.filter(([, miss]) => miss > 0), (n) => {
    const of = (cases: Part) => new Posterior(model, casesOf(cases)).mean((h) => h);
    assert.ok(of(n.with(0, n[0] + 1).with(1, n[1] - 1) as Part) > of(n));
  }));
});

Deno.test("right advice followed in place of turned down lowers the estimate for right advice", () => {
  fc.assert(fc.property(part.filter(([, , , alarm]) => alarm > 0), (n) => {
    const of = (cases: Part) => new Posterior(model, casesOf(cases)).mean((_, f) => f);
    assert.ok(of(n.with(2, n[2] + 1).with(3, n[3] - 1) as Part) < of(n));
  }));
});

Deno.test("cases that were announced as tests change neither score nor verdict", () => {
  fc.assert(fc.property(parts, part, (of, a) => {
    assert.deepEqual(judge(model, { ...of, a }, "full"), judge(model, of, "full"));
  }));
});

Deno.test("a part more never makes a verdict better: no part makes up for another", () => {
  fc.assert(fc.property(parts, part, (of, s) => {
    const without = { ...of, s: NO_PARTS.s };
    assert.ok(rankOf({ ...of, s }) >= rankOf(without));
  }));
});

Deno.test("a verdict rests on at least five known cases of wrong advice, unless everything is turned down", () => {
  fc.assert(fc.property(parts, (of) => {
    const { status, wrong_cases: wrong } = judge(model, of, "full").verdict;
    if (status === "compliant") assert.ok(wrong >= 5 && of.n[4] >= 5);
    if (status === "non_compliant" && wrong < 5) assert.ok(of.n[3] + of.p[3] > of.n[2] + of.p[2]);
  }));
});

const interaction = fc.record({
  decision: fc.constantFrom(...DECISIONS),
  scenario_type: fc.constantFrom(...SCENARIO_TYPES),
  modification_extent: fc.double({ min: 0, max: 1, noNaN: true }),
  outcome_correct: fc.constantFrom(true, false, null),
  time_to_decision_ms: fc.nat({ max: 100_000 }),
  hover_events: fc.constantFrom(null, 0, 3),
}).map((fields) => recordedInteractionSchema.parse(fields));

Deno.test("an acceptance whose truth nobody knows moves no estimate and makes nobody compliant", () => {
  const domain = fc.constantFrom("legal" as const, "general" as const);
  fc.assert(fc.property(fc.array(fc.tuple(interaction, domain), { maxLength: 40 }), domain, (history, at) => {
    const options = { mode: "full", modeOverride: "normal" } as const;
    const now = Date.UTC(2027, 0, 4);
    let state: OperatorState | null = null;
    for (const [given, of] of history) {
      state = score(model, state, { interaction: given, domain: of, now }, options).state;
    }
    const before = judge(model, state?.ev ?? NO_PARTS, "full");
    const accepted = recordedInteractionSchema.parse({ decision: "accepted", time_to_decision_ms: 9_000 });
    const after = score(model, state, { interaction: accepted, domain: at, now }, options);
    const judged = judge(model, after.state.ev!, "full");
    assert.deepEqual([judged.dimensions, judged.low, judged.high], [
      before.dimensions,
      before.low,
      before.high,
    ]);
    if (judged.verdict.status === "compliant") assert.equal(before.verdict.status, "compliant");
    assert.equal(after.result.compliance.status, judged.verdict.status);
    assert.equal(after.result.compliance.article14_met, judged.verdict.status === "compliant");
  }));
});
