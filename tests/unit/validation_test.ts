/**
 * The statistics of the validation against sums by hand, and that it distinguishes a good score from a bad
 * one.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { classify, departureShare, type Evidence } from "../../src/scoring/classify.ts";
import type { ModelDocument } from "../../src/scoring/model.ts";
import {
  ARCHETYPES,
  DEFAULT_ENVIRONMENT,
  drawInteraction,
  type Operator,
} from "../../src/simulation/archetypes.ts";
import { BASELINES, type Tally } from "../../src/simulation/baselines.ts";
import { certainty, CERTAINTY_GROUPS, certaintyFigure, SUPPLIES } from "../../src/simulation/certainty.ts";
import { changes } from "../../src/simulation/drift.ts";
import { discrimination, runHistory } from "../../src/simulation/histories.ts";
import { ordered } from "../../src/simulation/measures.ts";
import {
  ALL_ARCHETYPES,
  BAD,
  drawFrom,
  environmentOf,
  GAMING,
  HONEST,
  type PopulationName,
} from "../../src/simulation/populations.ts";
import { seeded } from "../../src/simulation/random.ts";
import { reliability } from "../../src/simulation/reliability.ts";
import type { Measured, Target } from "../../src/simulation/samples.ts";
import {
  auc,
  correlation,
  jackknifeError,
  mean,
  midranks,
  normalQuantile,
  quantile,
  shareOf,
  spearman,
} from "../../src/simulation/statistics.ts";
import { strategies, STRATEGY_NAMES } from "../../src/simulation/strategies.ts";
import { countedRates, departuresAt, trueScore } from "../../src/simulation/truth.ts";
import { missesOf, validate, type Validation } from "../../src/simulation/validation.ts";
import { measuredZeros, verdicts, withoutTruth } from "../../src/simulation/verdicts.ts";
import { mannWhitney } from "../mann_whitney.ts";
import { JIS_1_1_0, JIS_2_0_0 } from "../models.ts";

const model = JIS_2_0_0;

const isNear = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-12, `${actual}, expected ${expected}`);
const sample = (length = 2) =>
  fc.array(fc.integer({ min: -5, max: 5 }), { minLength: length, maxLength: 30 });

function whole(generator: Generator<number, Validation>): Validation {
  let before = 0;
  for (;;) {
    const step = generator.next();
    if (step.done) return step.value;
    assert.ok(step.value > before && step.value <= 1);
    before = step.value;
  }
}

Deno.test("means, shares and quantiles equal those of the textbook", () => {
  assert.equal(mean([1, 2, 6]), 3);
  assert.equal(shareOf([1, 2, 3, 4], (value) => value > 1), 0.75);
  assert.deepEqual([0, 0.25, 0.5, 0.9, 1].map((at) => quantile([4, 1, 3, 2], at)), [1, 1.75, 2.5, 3.7, 4]);
  assert.equal(quantile([7], 0.3), 7);
});

Deno.test("equal values share the middle of their ranks", () => {
  assert.deepEqual(midranks([10, 20, 20, 5, 20]), [2, 4, 4, 1, 4]);
  fc.assert(fc.property(sample(1), (values) => {
    isNear(mean(midranks(values)), (values.length + 1) / 2);
  }));
});

Deno.test("Spearman's correlation is Pearson's of the ranks, and stays the same under any rising change", () => {
  isNear(correlation([1, 2, 3], [2, 4, 6]), 1);
  isNear(correlation([1, 2, 3], [3, 2, 1]), -1);
  isNear(spearman([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]), 0.8207826816681233);
  assert.equal(spearman([1, 1], [1, 2]), NaN);
  fc.assert(fc.property(sample(3), (values) => {
    const other = values.map((value, index) => value * 2 + index % 3);
    const changed = values.map((value) => value ** 3 + 7);
    const [one, two] = [spearman(values, other), spearman(changed, other)];
    assert.ok(Object.is(one, two) || Math.abs(one - two) < 1e-12);
  }));
});

Deno.test("the area under the curve is the share of pairs in order, ties half; Mann and Whitney's U gives the same", () => {
  assert.equal(auc([2, 3], [1, 2]), 0.875);
  assert.equal(auc([1], [2]), 0);
  fc.assert(fc.property(sample(1), sample(1), (above, below) => {
    const pairs = above.flatMap((one) => below.map((other) => one > other ? 1 : one === other ? 0.5 : 0));
    isNear(auc(above, below), mean(pairs));
    isNear(auc(above, below), mannWhitney(above, below).u / (above.length * below.length));
  }));
});

Deno.test("a history is the same for the same seed, and has a result at each length that is asked for", () => {
  const operator = drawFrom("spectrum", seeded("one"));
  const run = (lengths: readonly number[]) =>
    runHistory(operator, { model, environment: DEFAULT_ENVIRONMENT, random: seeded("history"), lengths });
  const groups = run([3, 10]);
  assert.deepEqual(groups.map(({ after }) => after), [3, 10]);
  assert.deepEqual(run([10]), [groups[1]]);
  assert.equal(groups[1]!.state.n, 10);
});

Deno.test("an operator's discrimination follows from the hidden parameters, and the archetypes' ranges are apart", () => {
  const operator = drawFrom("independent", seeded("two"));
  isNear(discrimination(operator, 0), operator.theta.to * (1.5 * operator.skill.to - 0.5));
  assert.ok(BAD.every((name) => ARCHETYPES[name].theta[1] <= 0.12));
  assert.ok(HONEST.every((name) => ARCHETYPES[name].theta[0] >= 0.85));
  assert.deepEqual(GAMING.length, BAD.length - 1);
});

Deno.test("normal quantiles are those of the tables, rise, and mirror one another", () => {
  for (
    const [at, expected] of [[0.5, 0], [0.975, 1.959963984540054], [0.01, -2.3263478740408408]] as const
  ) {
    assert.ok(Math.abs(normalQuantile(at) - expected) < 1e-8, `${at}`);
  }
  fc.assert(fc.property(fc.double({ min: 1e-6, max: 0.999, noNaN: true }), (at) => {
    assert.ok(normalQuantile(at) < normalQuantile(at + 0.0005));
    assert.ok(Math.abs(normalQuantile(at) + normalQuantile(1 - at)) < 1e-6);
  }));
});

Deno.test("the error of a mean by leaving one out is the textbook's", () => {
  fc.assert(fc.property(sample(3), (values) => {
    const middle = mean(values);
    const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
    const textbook = Math.sqrt(squares / (values.length - 1) / values.length);
    const error = jackknifeError(values.length, (indices) => mean(indices.map((index) => values[index]!)));
    assert.ok(Math.abs(error - textbook) < 1e-12);
  }));
  assert.equal(jackknifeError(1, () => 0), NaN);
});

// ---- simple measures ----------------------------------------------------------------------------------------

Deno.test("simple measures equal those by hand, and are in the middle without any case", () => {
  const evidence: Evidence = { hit: 3, miss: 1, correctAcceptance: 8, falseAlarm: 2 };
  const tally: Tally = { presented: 20, accepted: 15, known: 14, right: 11, evidence };
  const none: Evidence = { hit: 0, miss: 0, correctAcceptance: 0, falseAlarm: 0 };
  const empty: Tally = { presented: 0, accepted: 0, known: 0, right: 0, evidence: none };
  const expected = {
    "1 − acceptance rate": [0.25, 0.5],
    "accuracy": [11 / 14, 0.5],
    // Quantiles of 3.5/5 and of 2.5/11, from a table.
    "d′": [0.5244005127 + 0.7478585948, 0],
    "J": [0.75 - 0.2, 0],
    "two shrunken rates": [Math.sqrt((3 + 2.6) / 8 * (8 + 3.9) / 16), 0.65],
  };
  for (const [name, measure] of Object.entries(BASELINES)) {
    const values = expected[name as keyof typeof expected];
    for (const [index, of] of [tally, empty].entries()) {
      assert.ok(Math.abs(measure(of) - values[index]!) < 1e-6, `${name}: ${measure(of)}`);
    }
  }
});

// ---- the true value -----------------------------------------------------------------------------------------

const TRUTH_CASES = 20_000;

for (
  const name of [...ALL_ARCHETYPES, "spectrum", "field_logic"] as const satisfies readonly PopulationName[]
) {
  Deno.test(`the rates that are said to be true are those that the engine counts of ${name}`, () => {
    const random = seeded(`truth/${name}`);
    const drifting = drawFrom(name, random);
    const now = (value: number) => ({ from: value, to: value, over: 0 });
    const operator: Operator = {
      ...drifting,
      theta: now(drifting.theta.to),
      skill: now(drifting.skill.to),
    };
    const environment = { ...environmentOf(name), labelledShare: 1, withheldShare: 0 };
    const sums = { hit: 0, miss: 0, correctAcceptance: 0, falseAlarm: 0 };
    for (let index = 0; index < TRUTH_CASES; index += 1) {
      const interaction = drawInteraction(operator, index, environment, random);
      const departure = departureShare(model, interaction);
      const evidence = classify(model, { ...interaction, departure });
      for (const cell of Object.keys(sums) as (keyof Evidence)[]) sums[cell] += evidence[cell];
    }
    const { h, f } = countedRates(model, operator, { environment, index: 0 });
    const isClose = (rate: number, part: number, rest: number) => {
      const error = Math.sqrt(rate * (1 - rate) / (part + rest));
      assert.ok(
        Math.abs(part / (part + rest) - rate) <= 4 * error + 1e-9,
        `${part / (part + rest)}, not ${rate}`,
      );
    };
    isClose(h, sums.hit, sums.miss);
    isClose(f, sums.falseAlarm, sums.correctAcceptance);
  });
}

Deno.test("the true value of a perfect reviewer is 100, and 40 of one who accepts everything", () => {
  const operator = drawFrom("independent", seeded("value"));
  const at = { environment: DEFAULT_ENVIRONMENT, index: 0 };
  const rates = (whenRight: number, whenWrong: number): Operator => ({
    ...operator,
    goesAlong: { whenRight, whenWrong },
    departures: { rejected: 1 },
  });
  isNear(trueScore(model, rates(1, 0), at), 100);
  isNear(trueScore(model, rates(1, 1), at), 40);
  isNear(trueScore(model, rates(0, 1), at), 0);
  assert.deepEqual(departuresAt(rates(0.75, 0.5), 0), { whenWrong: 0.5, whenRight: 0.25 });
  assert.throws(() => trueScore(JIS_1_1_0, operator, at), TypeError);
});

Deno.test("with much truth the score comes near the true value", () => {
  const environment = { ...DEFAULT_ENVIRONMENT, aiErrorRate: 0.3, labelledShare: 1 };
  const distances = Array.from({ length: 12 }, (_, index) => {
    const operator = drawFrom("spectrum", seeded(`near/${index}`));
    const random = seeded(`near/${index}/history`);
    const [snapshot] = runHistory(operator, { model, environment, random, lengths: [800] });
    return snapshot!.jis - trueScore(model, operator, { environment, index: 799 });
  });
  assert.ok(mean(distances.map(Math.abs)) < 5, `${distances}`);
});

// ---- the measures -------------------------------------------------------------------------------------------

const run = { model, seed: 7, operators: 6 };

function valueOf(figures: readonly Measured[], measure: string, of: string, after: number | null): number {
  const [figure, ...others] = figures.filter((one) =>
    one.measure === measure && one.of === of && one.after === after
  );
  assert.ok(figure !== undefined && others.length === 0, `${measure}, ${of}, ${after}`);
  return figure.value;
}

Deno.test("verdicts of a kind add up to all, and have the targets of those who judge and of those who do not", () => {
  const figures = verdicts(run);
  for (const name of [...ALL_ARCHETYPES, "spectrum", "field_has"]) {
    const shares = ["certainly compliant", "undetermined", "certainly at risk"].map((measure) =>
      valueOf(figures, measure, name, 200)
    );
    isNear(shares.reduce((sum, share) => sum + share, 0), 1);
  }
  const targets = figures.filter(({ target }) => target !== undefined).map(({ measure, of, after }) =>
    `${measure}/${of}/${after}`
  );
  for (const name of BAD) {
    assert.ok(
      targets.includes(`certainly at risk/${name}/50`) && targets.includes(`certainly at risk/${name}/200`),
    );
  }
  for (const name of HONEST) assert.ok(targets.includes(`certainly compliant/${name}/200`));
  assert.ok(targets.some((target) => target.startsWith("certainly at risk, true value above the minimum/")));
});

Deno.test("a model that believes everybody to judge well misses the targets of those who do not", () => {
  const believing: ModelDocument = {
    ...model,
    discrimination: {
      ...model.discrimination!,
      sensitivity: [{ weight: 1, mean: 6, sd: 0.05, correlation: 0 }],
    },
  };
  const figures = verdicts({ ...run, model: believing });
  assert.equal(valueOf(figures, "certainly at risk", "slow_rubber", 200), 0);
  const passed = strategies({ ...run, model: believing });
  assert.ok(valueOf(passed, "strategy: at risk or undetermined", "mornings_only", 200) < 0.9);
});

Deno.test("without truth nothing is said, and zeros do no harm", () => {
  for (const figures of [withoutTruth(run), measuredZeros(run)]) {
    assert.ok(figures.length > 0);
    for (const { measure, of, value, target } of figures) {
      assert.ok(target !== undefined, measure);
      const { least = -Infinity, most = Infinity } = target;
      assert.ok(value >= least && value <= most, `${measure}, ${of}: ${value}`);
    }
  }
});

Deno.test("zeros harm in a model of earlier formulas: the measure would notice", () => {
  const figures = measuredZeros({ ...run, model: JIS_1_1_0 });
  const rise = valueOf(figures, "measured zeros raise: JIS below the minimum", "independent, no truth", 200);
  assert.equal(rise, 1);
});

Deno.test("each strategy is measured, and those that must not pass have a target", () => {
  const figures = strategies(run);
  const ofStrategies = new Set(figures.map(({ of }) => of));
  assert.deepEqual([...ofStrategies].sort(), [...STRATEGY_NAMES].sort());
  const judged = new Set(figures.filter(({ target }) => target !== undefined).map(({ of }) => of));
  for (
    const name of [
      "tests_only",
      "high_stakes_blind",
      "one_domain",
      "mornings_only",
      "blind_modifier",
      "blind_escalator",
    ]
  ) {
    assert.ok(judged.has(name));
  }
  assert.ok(!judged.has("second_ai") && !judged.has("screen_reader"));
  assert.equal(valueOf(figures, "strategy: certainly compliant", "rejects_all", 200), 0);
  assert.equal(valueOf(figures, "strategy: certainly at risk", "every_third_day", 200), 0);
  // The parts of the work are judged apart, so that good work in one does not hide the other.
  for (const name of ["high_stakes_blind", "probes_in_one_domain", "blind_modifier_told"]) {
    assert.equal(valueOf(figures, "strategy: certainly compliant", name, 200), 0, name);
  }
});

Deno.test("more truth gives more certain verdicts, and none gives none", () => {
  const figures = certainty(run);
  for (const of of Object.keys(CERTAINTY_GROUPS)) {
    const at = (supply: keyof typeof SUPPLIES, value: number) => {
      const { measure, after } = certaintyFigure(supply, value);
      return valueOf(figures, measure, of, after);
    };
    assert.equal(at("planted_alone", 0), 0);
  }
  const bad = (value: number) => {
    const { measure, after } = certaintyFigure("interactions", value);
    return valueOf(figures, measure, "bad archetypes", after);
  };
  assert.ok(bad(400) > bad(25) || bad(25) === 1);
});

Deno.test("the smallest detectable change is that of the error of measurement, and more cases make it smaller", () => {
  const figures = reliability({ ...run, operators: 20 });
  const at = (measure: string, after: number) => valueOf(figures, measure, "spectrum", after);
  for (const after of [25, 50, 200]) {
    isNear(
      at("smallest detectable change, points", after),
      1.96 * Math.SQRT2 * at("standard error of measurement, points", after),
    );
  }
  assert.ok(
    at("smallest detectable change, points", 200) < at("smallest detectable change, points", 25),
  );
});

Deno.test("a change shows after it, and each sign has its delay and its false alarms", () => {
  const figures = changes({ ...run, operators: 12 });
  for (const sign of ["JIS below the minimum", "no longer certainly compliant", "certainly at risk"]) {
    const [possible, alarms] = ["a change can show", "false alarm before any change"].map((measure) =>
      valueOf(figures, measure, sign, null)
    );
    assert.ok(possible! > 0 && possible! <= 1 && alarms! >= 0 && alarms! <= 1);
    const [median, late] = ["median", "nine in ten"].map((end) =>
      valueOf(figures, `interactions until a change shows, ${end}`, sign, null)
    );
    assert.ok(0 < median! && median! <= late! && late! <= 305);
    assert.ok(valueOf(figures, "no change shows within 300", sign, null) < 0.5, sign);
  }
  // A verdict that was never given cannot be withdrawn.
  const possible = valueOf(figures, "a change can show", "no longer certainly compliant", null);
  assert.ok(possible < 1);
  assert.deepEqual(
    [...new Set(changes({ ...run, model: JIS_1_1_0 }).map(({ of }) => of))],
    ["JIS below the minimum"],
  );
});

Deno.test("the order is held against every simple measure, with the error of each difference", () => {
  const figures = ordered({ ...run, operators: 20 });
  const name = "two shrunken rates";
  const [score, simple, difference] = ["", `, ${name}`, `, JIS less ${name}`].map((end) =>
    valueOf(figures, `Spearman with J*${end}`, "spectrum", 200)
  );
  isNear(difference!, score! - simple!);
  for (const baseline of Object.keys(BASELINES)) {
    const [compared] = figures.filter(({ measure, of, after }) =>
      measure === `Spearman with J*, JIS less ${baseline}` && of === "field_dots" && after === 200
    );
    assert.ok(compared!.error! > 0);
    assert.deepEqual(compared!.target, { least: 0, errors: 2 });
  }
});

Deno.test("a validation is the same for the same seeds, has the mean over them, and lists the missed targets", () => {
  const run = () => whole(validate({ model, seeds: [3, 4], operators: 2 }));
  const validation = run();
  assert.deepEqual(run(), validation);
  const names = validation.figures.map(({ measure, of, after }) => `${measure}/${of}/${after}`);
  assert.equal(new Set(names).size, names.length);
  const sections = validation.figures.map(({ section }) => section);
  const starts = sections.filter((section, index) => section !== sections[index - 1]);
  assert.equal(new Set(starts).size, starts.length, "each section stands in one piece");
  for (const { value, by_seed } of validation.figures) {
    assert.ok(by_seed.length === 1 || by_seed.length === 2);
    assert.ok(Number.isNaN(value) || Math.abs(value - mean(by_seed)) < 1e-12);
  }
  const figure = (value: number, target: Target | null, error: number | null = null) =>
    missesOf({
      figures: [{ section: "s", measure: "m", of: "o", after: 50, value, by_seed: [value], error, target }],
    }).map(({ by }) => by);
  assert.deepEqual(figure(0.5, null), []);
  assert.deepEqual(figure(0.5, { least: 0.5, most: 0.5 }), []);
  assert.deepEqual(figure(0.25, { least: 0.5 }), [0.25]);
  assert.deepEqual(figure(0.75, { most: 0.5 }), [0.25]);
  assert.equal(figure(NaN, { least: 0.5 }).length, 1);
  assert.deepEqual(figure(-0.5, { least: 0, errors: 2 }, 0.25), []);
  assert.deepEqual(figure(-0.75, { least: 0, errors: 2 }, 0.25), [0.25]);
  assert.deepEqual(figure(-0.75, { least: 0 }, 0.25), [0.75]);
});

Deno.test("a model of earlier formulas keeps its targets, and one that uses only the time misses one of them", () => {
  const targetsOf = ({ figures }: Validation) =>
    figures.filter(({ target }) => target !== null).map(({ measure, of, after }) =>
      `${measure}/${of}/${after}`
    );
  const released = whole(validate({ model: JIS_1_1_0, seeds: [5], operators: 3 }));
  for (
    const target of [
      "AUC, independent above/hover_gamer/50",
      "at risk, wrongly/fast_expert/200",
      "at risk, rightly/retoucher/200",
      "interval covers the expected JIS/spectrum/50",
      "Spearman with J*/spectrum/200",
    ]
  ) assert.ok(targetsOf(released).includes(target), target);
  assert.ok(released.figures.every(({ section }) => section !== "Verdicts"));
  const dimensions = Object.fromEntries(
    Object.entries(JIS_1_1_0.dimensions).map((
      [name, row],
    ) => [name, { ...row, exponents: { P: 1 }, restraint: false }]),
  ) as unknown as ModelDocument["dimensions"];
  const timed = whole(validate({ model: { ...JIS_1_1_0, dimensions }, seeds: [5], operators: 3 }));
  const missed = missesOf(timed).map(({ figure: { measure, of } }) => `${measure}, ${of}`);
  assert.ok(missed.includes("AUC, independent above, hover_gamer"), missed.join("; "));
});
