/** The posterior, the anchors and the verdict of the formulas `jis-3`. */
import assert from "node:assert/strict";
import { recordedInteractionSchema } from "../../src/domain/interaction.ts";
import { DAY_MS } from "../../src/domain/time.ts";
import { Posterior } from "../../src/scoring/discrimination.ts";
import {
  fadedTo,
  NO_PART,
  NO_PARTS,
  type Part,
  type PartsOfWork,
  sumOf,
  withDecision,
} from "../../src/scoring/known_cases.ts";
import type { ModelDocument } from "../../src/scoring/model.ts";
import { score } from "../../src/scoring/score.ts";
import type { OperatorState } from "../../src/scoring/state.ts";
import { errorRate, pointsOf } from "../../src/scoring/points.ts";
import { judge, type Verdict } from "../../src/scoring/verdict.ts";
import { JIS_2_0_0 as model } from "../models.ts";

const BEGIN = Date.UTC(2027, 0, 4);

/** The model with numbers of the posterior replaced: figures that were worked out do not follow the built-in ones. */
function modelWith(section: Partial<NonNullable<ModelDocument["discrimination"]>>): ModelDocument {
  return { ...model, discrimination: { ...model.discrimination!, ...section } };
}

/** A part with as many known cases as given, in as many decisions. */
function part(hits: number, misses: number, accepted = 0, falseAlarms = 0): Part {
  const [wrong, right] = [hits + misses, accepted + falseAlarms];
  return [hits, misses, accepted, falseAlarms, wrong, right, wrong + right, 0];
}

/** The same, if so many of the hits are modifications of which nobody said that they mended wrong advice. */
const unclear = (of: Part, hits: number): Part => of.with(7, hits) as Part;

function verdictOn(parts: Partial<PartsOfWork>): Verdict {
  return judge(model, { ...NO_PARTS, ...parts }, "full").verdict;
}

const brief = (
  { status, part: of, doubt, wrong_cases_needed: needed }: Verdict,
) => [status, of, doubt, needed];

Deno.test("without known cases the posterior is the prior, and its probabilities add up to 1", () => {
  const prior = new Posterior(model, { hit: 0, miss: 0, correctAcceptance: 0, falseAlarm: 0 });
  for (const probabilities of [prior.ofWrongAdvice(), prior.ofRightAdvice()]) {
    const sum = probabilities.reduce((total, probability) => total + probability, 0);
    assert.ok(Math.abs(sum - 1) < 1e-12);
  }
  assert.ok(Math.abs(prior.total - 1) < 1e-12);
  assert.ok(prior.mean((h) => h) > prior.mean((_, f) => f), "people tell right from wrong rather than not");
});

Deno.test("with many cases the posterior is at the rates of the cases", () => {
  const posterior = new Posterior(model, { hit: 700, miss: 300, correctAcceptance: 900, falseAlarm: 100 });
  assert.ok(Math.abs(posterior.mean((h) => h) - 0.7) < 0.02);
  assert.ok(Math.abs(posterior.mean((_, f) => f) - 0.1) < 0.02);
});

Deno.test("a hit raises the estimate for wrong advice, and a false alarm that for right advice", () => {
  const of = (cases: Partial<ConstructorParameters<typeof Posterior>[1]>) =>
    new Posterior(model, { hit: 3, miss: 3, correctAcceptance: 10, falseAlarm: 3, ...cases });
  assert.ok(of({ hit: 4 }).mean((h) => h) > of({}).mean((h) => h));
  assert.ok(of({ miss: 4 }).mean((h) => h) < of({}).mean((h) => h));
  assert.ok(of({ falseAlarm: 4 }).mean((_, f) => f) > of({}).mean((_, f) => f));
});

Deno.test("the anchors: 0 for always wrong, 40 for a coin, 60 where the review pays, 100 for perfect", () => {
  for (const falseAlarmCost of [0.75, 1, 1.25]) {
    const points = pointsOf(modelWith({ review_cost: 0.07 }), { falseAlarmCost, errorRate: 0.2 });
    assert.equal(points(0, 1), 0);
    assert.equal(points(0.3 * falseAlarmCost, 0.3), 40);
    assert.equal(points(0.07 / 0.2, 0), 60);
    assert.equal(points(1, 0), 100);
  }
});

Deno.test("the error rate is that of the operator's natural cases, pulled to the prior and kept in its bounds", () => {
  const of = modelWith({ error_rate: { prior: 0.15, weight: 20, least: 0.15, most: 0.5, step: 0.01 } });
  assert.equal(errorRate(of, NO_PART), 0.15);
  // (0.15·20 + 40)/(20 + 80)
  assert.equal(errorRate(of, part(20, 20, 30, 10)), 0.43);
  assert.equal(errorRate(of, part(0, 0, 500)), 0.15);
  assert.equal(errorRate(of, part(500, 0, 5)), 0.5);
  assert.equal(errorRate(of, part(500, 0, 4)), 0.15);
});

Deno.test("without five known cases of wrong advice there is no verdict, however many acceptances were right", () => {
  assert.deepEqual(brief(verdictOn({})), ["undetermined", "all", "too_few_wrong_cases", 5]);
  assert.deepEqual(brief(verdictOn({ n: part(0, 0, 300) })), [
    "undetermined",
    "all",
    "too_few_wrong_cases",
    5,
  ]);
  assert.deepEqual(brief(verdictOn({ n: part(4, 0, 300) })), [
    "undetermined",
    "all",
    "too_few_wrong_cases",
    1,
  ]);
  assert.deepEqual(brief(verdictOn({ n: part(0, 4, 300) })), [
    "undetermined",
    "all",
    "too_few_wrong_cases",
    1,
  ]);
});

Deno.test("who turns everything down is not compliant while only the AI's errors become known", () => {
  const rejects = verdictOn({ n: part(20, 0), p: part(10, 0) });
  assert.deepEqual(brief(rejects), ["undetermined", "all", "too_few_right_cases", null]);
  assert.deepEqual([rejects.right_cases, rejects.right_cases_needed], [0, 5]);
  const nearly = verdictOn({ n: part(40, 0, 4, 0) });
  assert.deepEqual([nearly.doubt, nearly.right_cases_needed], ["too_few_right_cases", 1]);
  assert.deepEqual(brief(verdictOn({ n: part(40, 0, 5, 0) })), ["compliant", "all", null, null]);
});

Deno.test("a part in which nothing is known of right advice is not measured, but who is certainly below stays so", () => {
  const n = part(40, 0, 200, 0);
  const { right_cases_needed, ...verdict } = verdictOn({ n, s: part(12, 0, 3, 0) });
  assert.deepEqual(brief(verdict as Verdict), ["undetermined", "high_stakes", "part_not_measured", null]);
  assert.equal(right_cases_needed, 2);
  assert.deepEqual(brief(verdictOn({ n, s: part(0, 12) })), ["non_compliant", "high_stakes", null, null]);
  assert.deepEqual(brief(verdictOn({ n: part(0, 40) })), ["non_compliant", "all", null, null]);
});

Deno.test("what would settle a verdict is advice of the kind whose rate is less certain", () => {
  const needed = (of: Part) => {
    const { doubt, wrong_cases_needed: wrong, right_cases_needed: right } = verdictOn({ n: of });
    return [doubt, wrong === null, right === null];
  };
  assert.deepEqual(needed(part(5, 4, 120, 3)), ["interval_spans_minimum", false, true]);
  assert.deepEqual(needed(part(20, 2, 4, 4)), ["interval_spans_minimum", true, false]);
});

Deno.test("what faded is not counted among the cases of which more are needed", () => {
  const fresh = part(40, 4, 150, 0);
  const old = fresh.map((value, index) => index < 4 ? value / 16 : value) as Part;
  const { doubt, wrong_cases_needed } = verdictOn({ n: old });
  assert.equal(doubt, "interval_spans_minimum");
  assert.ok(wrong_cases_needed !== null && wrong_cases_needed < 44, `${wrong_cases_needed}`);
});

Deno.test("who turns down right advice too is not compliant, even if every error were found", () => {
  assert.deepEqual(brief(verdictOn({ n: part(0, 0, 2, 60) })), ["non_compliant", "all", null, null]);
});

Deno.test("who finds the errors is compliant, and who lets them pass is not", () => {
  assert.deepEqual(brief(verdictOn({ n: part(28, 2, 100, 3) })), ["compliant", "all", null, null]);
  assert.deepEqual(brief(verdictOn({ n: part(2, 28, 100, 3) })), ["non_compliant", "all", null, null]);
  const [status, , doubt, needed] = brief(verdictOn({ n: part(5, 4, 30, 2) }));
  assert.deepEqual([status, doubt], ["undetermined", "interval_spans_minimum"]);
  assert.ok(needed === null || Number(needed) > 0);
});

Deno.test("errors that were planted show who misses them, and alone they certify nobody", () => {
  assert.deepEqual(
    brief(verdictOn({ n: part(0, 0, 100, 3), p: part(30, 1) })),
    ["undetermined", "all", "too_few_natural_wrong_cases", 5],
  );
  assert.deepEqual(brief(verdictOn({ n: part(0, 0, 100, 3), p: part(1, 30) })).slice(0, 2), [
    "non_compliant",
    "all",
  ]);
});

Deno.test("who finds planted errors alone is not certified, and not condemned by the natural ones alone", () => {
  const verdict = verdictOn({ n: part(1, 19, 100, 3), p: part(60, 0) });
  assert.deepEqual(brief(verdict).slice(0, 3), ["undetermined", "natural", "natural_cases_below_minimum"]);
});

Deno.test("announced tests change nothing", () => {
  const live = { n: part(2, 28, 100, 3) };
  assert.deepEqual(verdictOn({ ...live, a: part(200, 0, 200, 0) }), verdictOn(live));
});

Deno.test("good work at low stakes does not buy blind work at high stakes", () => {
  const good = { n: part(60, 2, 200, 3) };
  assert.equal(verdictOn(good).status, "compliant");
  assert.deepEqual(
    brief(verdictOn({ ...good, s: part(0, 12, 30, 0) })),
    ["non_compliant", "high_stakes", null, null],
  );
  assert.deepEqual(brief(verdictOn({ ...good, s: part(10, 0, 30, 0) })), ["compliant", "all", null, null]);
});

Deno.test("a part that is decided often needs known cases of its own; one that is decided seldom does not", () => {
  const good = { n: part(60, 2, 200, 3) };
  const decided = (count: number): Part => [0, 0, 0, 0, 0, 0, count, 0];
  assert.deepEqual(
    brief(verdictOn({ ...good, s: decided(40) })),
    ["undetermined", "high_stakes", "part_not_measured", 5],
  );
  assert.equal(verdictOn({ ...good, s: decided(19) }).status, "compliant");
  const domains = (count: number) => ({ legal: good.n, education: decided(count) });
  assert.equal(verdictOn({ ...good, d: domains(49) }).status, "compliant");
  assert.equal(verdictOn({ ...good, d: domains(50) }).part, "education");
});

Deno.test("a part is judged as it would be alone: its interval decides, at its own rate of wrong advice", () => {
  const low = { n: part(43, 3, 180, 0) };
  assert.equal(verdictOn(low).status, "compliant");
  assert.deepEqual(
    brief(verdictOn({ n: part(46, 6, 200, 0), s: part(3, 3, 20, 0) })).slice(0, 3),
    ["undetermined", "high_stakes", "interval_spans_minimum"],
  );
  // Much wrong advice at low stakes makes reviews pay sooner there, and not at high stakes.
  const grave = part(4, 14, 80, 0);
  assert.equal(verdictOn({ n: grave, s: grave }).status, "non_compliant");
  assert.deepEqual(
    brief(verdictOn({ n: part(154, 14, 130, 0), s: grave })),
    ["non_compliant", "high_stakes", null, null],
  );
});

Deno.test("planted errors say nothing of how often the AI is wrong", () => {
  const n = part(10, 6, 60, 2);
  const rateWith = (p: Part) => judge(model, { ...NO_PARTS, n, p }, "full").errorRate;
  assert.deepEqual([errorRate(model, n), rateWith(NO_PART), rateWith(part(20, 20))], [0.2, 0.2, 0.2]);
});

Deno.test("who recognizes the planted errors of a domain and misses its natural ones is not certified", () => {
  const general = part(40, 0, 150, 0);
  const of = (natural: Part, planted: Part) =>
    verdictOn({
      n: sumOf([natural, general]),
      p: planted,
      d: { legal: natural, general },
      q: { legal: planted },
    });
  assert.deepEqual(
    brief(of(part(0, 12, 80, 0), part(40, 0))),
    ["undetermined", "legal", "natural_cases_below_minimum", null],
  );
  assert.deepEqual(
    brief(of(part(0, 2, 80, 0), part(40, 0))),
    ["undetermined", "legal", "too_few_natural_wrong_cases", 3],
  );
  assert.equal(of(part(9, 1, 80, 0), part(40, 0)).status, "compliant");
  assert.deepEqual(brief(of(part(0, 12, 80, 0), part(2, 38))).slice(0, 2), ["non_compliant", "legal"]);
});

Deno.test("modifications count as errors found only as far as other errors found bear them out", () => {
  const good = part(40, 4, 160, 4);
  assert.equal(verdictOn({ n: good }).status, "compliant");
  assert.equal(verdictOn({ n: unclear(good, 20) }).status, "compliant", "half of them");
  const rewords = judge(model, { ...NO_PARTS, n: unclear(good, 40) }, "full");
  const clear = judge(model, { ...NO_PARTS, n: good }, "full");
  assert.deepEqual(brief(rewords.verdict), ["undetermined", "all", "modifications_unclear", null]);
  assert.deepEqual([rewords.high, rewords.dimensions], [clear.high, clear.dimensions]);
  assert.ok(rewords.low < clear.low - 20, "the interval holds both readings");
  assert.equal(verdictOn({ n: unclear(part(4, 40, 160, 4), 4) }).status, "non_compliant");
});

Deno.test("modifications in a part of the work must be borne out there", () => {
  const good = part(40, 0, 150, 0);
  assert.deepEqual(
    brief(verdictOn({ n: good, s: unclear(part(20, 2, 80, 0), 20) })),
    ["undetermined", "high_stakes", "modifications_unclear", null],
  );
  // Planted errors that were found bear out the whole, and not the natural cases.
  assert.deepEqual(
    brief(verdictOn({ n: unclear(part(40, 4, 160, 4), 40), p: part(40, 0) })),
    ["undetermined", "natural", "modifications_unclear", null],
  );
});

Deno.test("many small domains are judged together, so that they do not hide in the rest", () => {
  const small = ["financial", "insurance", "healthcare", "legal", "employment", "education"] as const;
  const blind = part(0, 4, 12, 0);
  const d = {
    general: part(60, 0, 200, 0),
    ...Object.fromEntries(small.map((name) => [name, blind])),
  };
  const verdict = verdictOn({ n: part(60, 24, 272, 0), d });
  assert.deepEqual(brief(verdict), ["non_compliant", "other_domains", null, null]);
  assert.deepEqual([verdict.wrong_cases, verdict.right_cases], [24, 72]);
  const alone = verdictOn({ n: part(60, 4, 212, 0), d: { general: part(60, 0, 200, 0), legal: blind } });
  assert.equal(alone.status, "compliant", "one small domain says too little");
});

Deno.test("good work in a part that was left stays good, and bad work there fades to no objection at last", () => {
  const [good, bad] = [part(60, 0, 200, 0), part(1, 11, 30, 0)];
  const n = sumOf([good, good]);
  const after = (days: number, legal: Part, isGrave = false) =>
    brief(verdictOn({
      n,
      t: 1_000 + days,
      ...(isGrave
        ? { s: legal, u: { high_stakes: 1_000 } }
        : { d: { general: good, legal }, u: { general: 1_000 + days, legal: 1_000 } }),
    }));
  for (const isGrave of [false, true]) {
    const name = isGrave ? "high_stakes" : "legal";
    for (const days of [0, 200, 2_000]) assert.equal(after(days, good, isGrave)[0], "compliant", `${days}`);
    assert.deepEqual(after(0, bad, isGrave).slice(0, 2), ["non_compliant", name]);
    assert.deepEqual(after(300, bad, isGrave).slice(0, 2), ["undetermined", name]);
  }
  assert.notEqual(after(440, bad)[0], "compliant");
  assert.equal(after(445, bad)[0], "compliant", "less than two and a half of the twelve cases are left");
  const often = bad.with(6, 50) as Part;
  assert.deepEqual(after(2_000, often).slice(0, 3), ["undetermined", "legal", "part_not_measured"]);
});

Deno.test("an unlabelled case in a part that was left ends nothing: what is known there has faded", () => {
  const [good, old] = [part(60, 0, 200, 0), part(8, 0, 30, 0)];
  const at = (legal: number) =>
    verdictOn({
      n: sumOf([good, old]),
      t: 1_300,
      d: { general: good, legal: old },
      u: { general: 1_300, legal },
    });
  assert.equal(at(1_000).status, "compliant");
  const again = withDecision(model, {
    ...NO_PARTS,
    n: sumOf([good, old]),
    t: 1_300,
    d: { general: good, legal: old },
    u: { general: 1_300, legal: 1_000 },
  }, {
    domain: "legal",
    scenario_type: "standard",
    isProbe: false,
    isNew: true,
    evidence: null,
    isUnclear: false,
  });
  assert.equal(again.u.legal, 1_300);
  assert.deepEqual(brief(judge(model, again, "full").verdict).slice(0, 3), [
    "undetermined",
    "legal",
    "interval_spans_minimum",
  ]);
});

Deno.test("small domains are read together as of today, so that no case in one of them ends an objection", () => {
  const [good, large] = [part(4, 0, 20, 0), part(75, 0, 225, 0)];
  const bad = part(0, 2, 10, 0);
  const parts: PartsOfWork = {
    ...NO_PARTS,
    n: sumOf([bad, good, good, large]),
    d: { general: bad, healthcare: good, legal: good, insurance: large },
    t: 1_100,
    u: { general: 1_000, healthcare: 1_000, legal: 1_000, insurance: 1_100 },
  };
  const before = judge(model, parts, "full").verdict;
  assert.deepEqual(brief(before).slice(0, 3), ["undetermined", "other_domains", "interval_spans_minimum"]);
  const decided = { scenario_type: "standard", isProbe: false, isNew: true, isUnclear: false } as const;
  const accepted = withDecision(model, parts, { ...decided, domain: "general", evidence: null });
  assert.deepEqual(judge(model, accepted, "full").verdict, before);
  const evidence = { hit: 0, miss: 1, correctAcceptance: 0, falseAlarm: 0 };
  const missed = withDecision(model, parts, { ...decided, domain: "general", evidence });
  assert.equal(judge(model, missed, "full").verdict.part, "other_domains");
});

Deno.test("errors in many domains add up, whether each domain has four of them or six", () => {
  const good = part(75, 0, 225, 0);
  const of = (count: number, bad: Part) => {
    const names = ["general", "financial", "healthcare", "legal", "employment", "education"].slice(0, count);
    const d = Object.fromEntries(names.map((name) => [name, bad]));
    return brief(verdictOn({ n: sumOf([good, ...names.map(() => bad)]), d: { ...d, insurance: good } }))
      .slice(0, 2);
  };
  for (const bad of [part(0, 4, 6, 0), part(0, 6, 6, 0), part(0, 8, 5, 0)]) {
    assert.deepEqual(of(6, bad), ["non_compliant", "other_domains"]);
  }
  assert.deepEqual(of(1, part(0, 6, 6, 0)), ["undetermined", "general"]);
});

Deno.test("decisions in small domains count for the last half-life", () => {
  const good = part(60, 0, 200, 0);
  const decided: Part = [0, 0, 0, 0, 0, 0, 30, 0];
  const at = (t: number) =>
    verdictOn({
      n: good,
      t,
      d: { general: good, legal: decided, education: decided },
      u: { general: t, legal: 1_000, education: 1_000 },
    });
  assert.deepEqual(brief(at(1_195)).slice(0, 3), ["undetermined", "other_domains", "part_not_measured"]);
  assert.equal(at(1_196).status, "compliant");
});

Deno.test("a single error of high stakes that passed is forgotten after a half-life", () => {
  const at = (days: number, grave: Part) =>
    verdictOn({ n: part(60, 0, 200, 0), s: grave, t: 1_000 + days, u: { high_stakes: 1_000 } }).status;
  assert.deepEqual([at(0, part(0, 1)), at(194, part(0, 1))], ["undetermined", "undetermined"]);
  assert.equal(at(196, part(0, 1)), "compliant");
  const few = [at(0, part(2, 2)), at(0, part(1, 2)), at(200, part(1, 2))];
  assert.deepEqual(few, ["compliant", "undetermined", "compliant"]);
});

Deno.test("a part in which right advice is turned down is certainly below without any wrong advice", () => {
  const good = part(100, 0, 300, 0);
  const alone = verdictOn({ n: part(0, 0, 0, 19) });
  assert.equal(alone.status, "non_compliant");
  for (const turned of [part(0, 0, 0, 19), part(0, 0, 0, 30), part(4, 0, 0, 38)]) {
    const n = sumOf([good, turned]);
    assert.deepEqual(brief(verdictOn({ n, s: turned })).slice(0, 2), ["non_compliant", "high_stakes"]);
    const d = { general: good, legal: turned };
    assert.deepEqual(brief(verdictOn({ n, d })).slice(0, 2), ["non_compliant", "legal"]);
  }
});

Deno.test("hits that nothing bears out do not lower the bar either", () => {
  // A fifth of the errors is found, and four in ten of the other cases are reworded unread.
  const natural: Part = [6 + 71, 15, 100, 6, 92, 106, 198, 71];
  const reworded = judge(model, { ...NO_PARTS, n: natural }, "full");
  assert.equal(reworded.errorRate, 0.46);
  assert.deepEqual(brief(reworded.verdict), ["undetermined", "all", "modifications_unclear", null]);
});

Deno.test("as long as nothing shows how often the AI is wrong, the interval holds the score at any rate", () => {
  const people = { p: part(5, 15) };
  const { high, verdict } = judge(model, { ...NO_PARTS, ...people }, "full");
  assert.equal(verdict.status, "undetermined");
  const known = judge(model, { ...NO_PARTS, ...people, n: part(0, 0, 100, 2) }, "full");
  assert.ok(known.high < high && known.verdict.status === "non_compliant");
  assert.equal(verdictOn({ p: part(0, 20) }).status, "non_compliant", "a review that never pays");
});

Deno.test("five known cases of which more than half has faded are not five", () => {
  const of = (weights: readonly [number, number, number, number]): Part => [...weights, 5, 60, 65, 0];
  assert.deepEqual(brief(verdictOn({ n: of([2.5, 0, 60, 0]) })).slice(2), ["interval_spans_minimum", 15]);
  assert.deepEqual(brief(verdictOn({ n: of([2.49, 0, 60, 0]) })).slice(2), ["too_few_wrong_cases", 1]);
  const right = verdictOn({ n: [40, 0, 2.4, 0, 40, 5, 45, 0] });
  assert.deepEqual([right.doubt, right.right_cases_needed, right.right_cases], ["too_few_right_cases", 1, 5]);
});

Deno.test("known cases fade with time alike for and against the operator, and as much in one gap as in many", () => {
  const start: PartsOfWork = { ...NO_PARTS, n: part(20, 8, 60, 4), t: 0 };
  const once = fadedTo(model, start, 200 * DAY_MS);
  const often = Array.from({ length: 40 }, (_, index) => (index + 1) * 5 * DAY_MS)
    .reduce<PartsOfWork>((of, now) => fadedTo(model, of, now), start);
  for (const [index, weight] of once.n.slice(0, 4).entries()) {
    assert.ok(Math.abs(weight - often.n[index]!) < 1e-7, `${index}`);
    assert.ok(Math.abs(weight / start.n[index]! - 0.5 ** (200 / 195)) < 1e-9);
  }
  assert.deepEqual(once.n.slice(4), start.n.slice(4));
  assert.deepEqual(fadedTo(model, once, 0), once, "a clock that goes back makes nothing younger");
});

for (const everyDays of [2, 7, 30]) {
  Deno.test(`an expert who decides every ${everyDays} days is never certainly below, but sooner undetermined`, () => {
    let state: OperatorState | null = null;
    const statuses = Array.from({ length: 400 }, (_, index) => {
      const isWrong = index % 5 === 0;
      // 17 of 20 errors are found, and one right recommendation in 20 is left.
      const departs = isWrong ? index % 100 < 85 : index % 20 === 1;
      const interaction = recordedInteractionSchema.parse({
        decision: departs ? "overridden" : "accepted",
        time_to_decision_ms: 20_000,
        ...(index % 10 < 7 ? { outcome_correct: departs === isWrong } : {}),
      });
      const scored = score(model, state, {
        interaction,
        domain: "general",
        now: BEGIN + index * everyDays * DAY_MS,
      }, { mode: "full", modeOverride: "normal" });
      state = scored.state;
      return scored.result.compliance.status;
    });
    assert.ok(!statuses.includes("non_compliant"));
    if (everyDays === 2) assert.equal(statuses.at(-1), "compliant");
    if (everyDays === 30) assert.ok(!statuses.includes("compliant"));
  });
}

Deno.test("an interval that ends exactly at the minimum: the low end meets it, the high end is not below it", () => {
  const [low, high] = [part(9, 4, 20, 3), part(2, 18, 20, 3)];
  for (const name of ["all", "high_stakes"] as const) {
    const verdict = (of: Part) =>
      judge(model, { ...NO_PARTS, n: of, ...(name === "high_stakes" ? { s: of } : {}) }, "full");
    assert.deepEqual([verdict(low).low, verdict(low).verdict.status], [60, "compliant"]);
    assert.deepEqual([verdict(high).high, verdict(high).verdict.status], [60, "undetermined"]);
  }
});

Deno.test("false alarms alone condemn from where finding every error would not make up for them", () => {
  assert.equal(verdictOn({ n: part(0, 0, 2, 11) }).status, "undetermined");
  assert.equal(verdictOn({ n: part(0, 0, 2, 12) }).status, "non_compliant");
  assert.equal(verdictOn({ n: part(0, 0, 9, 22) }).status, "undetermined");
  assert.equal(verdictOn({ n: part(0, 0, 9, 23) }).status, "non_compliant");
});

Deno.test("a few grave cases keep the verdict open only if more errors passed than were found", () => {
  const good = { n: part(60, 2, 200, 3) };
  assert.equal(verdictOn({ ...good, s: part(1, 1, 2, 0) }).status, "compliant");
  assert.deepEqual(brief(verdictOn({ ...good, s: part(1, 2, 2, 0) })), [
    "undetermined",
    "high_stakes",
    "part_not_measured",
    2,
  ]);
});

Deno.test("a domain's decisions count with those on planted errors, and other work does not dilute them", () => {
  const decided = (count: number): Part => [0, 0, 0, 0, 0, 0, count, 0];
  const n = part(600, 20, 2_000, 30);
  const of = (natural: number, planted: number) =>
    verdictOn({ n, d: { legal: n, education: decided(natural) }, q: { education: decided(planted) } });
  assert.equal(of(49, 0).status, "compliant");
  assert.equal(of(50, 0).part, "education");
  assert.equal(of(30, 20).part, "education");
});

Deno.test("critical cases are judged apart from those of high stakes", () => {
  const good = { n: part(60, 2, 200, 3), s: part(30, 6, 60, 1) };
  assert.equal(verdictOn(good).status, "compliant");
  assert.deepEqual(
    brief(verdictOn({ ...good, c: part(0, 6, 20, 0) })),
    ["non_compliant", "critical", null, null],
  );
  assert.deepEqual(
    brief(verdictOn({ ...good, c: part(0, 4, 0, 0) })),
    ["undetermined", "critical", "part_not_measured", 1],
  );
  assert.deepEqual(
    brief(verdictOn({ ...good, c: [0, 0, 0, 0, 0, 0, 20, 0] })),
    ["undetermined", "critical", "part_not_measured", 5],
  );
});

Deno.test("each of several domains is judged; one alone is the whole", () => {
  const good = { n: part(60, 14, 200, 3) };
  const two = { ...good, d: { legal: part(60, 2, 150, 3), education: part(0, 12, 50, 0) } };
  assert.deepEqual(brief(verdictOn(two)), ["non_compliant", "education", null, null]);
  const one = { ...good, d: { education: part(0, 12, 50, 0) } };
  assert.equal(verdictOn(one).part, "all");
});
