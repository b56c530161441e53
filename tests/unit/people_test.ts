/**
 * The model in use, and models calibrated to other people, on the decisions of real people (tests/people/README.md).
 * Every figure of the section "Results on real people" is computed here, and compared with what the page says.
 */
import assert from "node:assert/strict";
import { type Domain, VERDICT_STATUSES } from "../../src/domain/enums.ts";
import type { EvaluationResult } from "../../src/scoring/evaluation/evaluation.ts";
import {
  type CalibrationBin,
  everybodysRate,
  fitBeta,
  type Foretold,
  logLoss,
  shrunkenRate,
} from "../../src/scoring/evaluation/rates.ts";
import { type OperatorRow, organizationRule, organizationVerdict } from "../../src/scoring/organization.ts";
import { initialState } from "../../src/scoring/state.ts";
import { readState } from "../../src/scoring/reading.ts";
import { COSTS, withCosts } from "../../src/simulation/costs.ts";
import { fraction, PageSection, percent, spelled } from "../model_page.ts";
import { JIS_2_0_0 } from "../models.ts";
import {
  ALL_SCORED,
  atRiskOf,
  betterOf,
  calibratedEarlyOf,
  calibratedOf,
  contradictionsOf,
  countsOf,
  earlyOf,
  evaluated,
  expectedInside,
  HALVES,
  halvesOf,
  type Kind,
  KINDS,
  longRunOf,
  persons,
  pooledCoverage,
  pooledLoss,
  wholeOf,
  withoutTruth,
} from "../people_evaluations.ts";
import { PARTS, peopleOf, STUDIES, type Study } from "../people.ts";

const NAME = { has: "HAS", dots: "dots" } as const satisfies Record<Study, string>;
const ROWS = STUDIES.flatMap((study) => KINDS.map((kind) => ({ study, kind })));
const loss = (value: number) => fraction(value, 4);
const count = (value: number) => value.toLocaleString("en-US");
/** The score of somebody of whom nothing is known. */
const PRIOR = readState(JIS_2_0_0, initialState(JIS_2_0_0), { domain: "general", mode: "full" }).jis;
const numberOfPeople = (study: Study) => persons(peopleOf(study)).length;

// What the page says. An expression that does not match fails this file.
const results = new PageSection("Results on real people");
const [given, keptBack] = results.tables(
  "decisions",
  "jis-2.0.0",
  "everybody's rate",
  "the person's own rate",
  "empirical Bayes",
);
const [calibrated] = results.tables(
  "decisions",
  "calibrated to others",
  "empirical Bayes, the same others",
  "built in",
  "everybody's rate",
  "own rate",
);
const said = {
  parts: results.figures(/The people are in (\w+) parts, each foretold from the two others/),
  target: results.figures(
    /at most the log loss of the person's own rate\. With odd decisions scored and even ones foretold it is met in all (\w+) rows of the first table\./,
  ),
  otherDirection: results.figures(
    /In the other direction it is missed in (\w+)\. With even decisions of dots scored and odd ones foretold, the built-in model has a log loss of (\S+) for "departs if AI is wrong", and the person's own rate has (\S+) \((\d+) people\)\. Both directions together it is (\S+) against (\S+)\. /,
  ),
  calibratedTarget: results.figures(
    /target for the calibrated model is met in all (\w+) rows: at most the log loss of empirical Bayes \+ (\S+)\. /,
  ),
  better: results.figures(
    /No person who beat both the AI and their own first answers is certainly at risk: (\w+) of (\d+) in HAS, (\w+) of (\d+) in dots\./,
  ),
  certain: results.figures(
    /No person's halves get verdicts that contradict each other\. In HAS (\d+) of (\d+) people have a certain verdict, in dots (\d+) of (\d+)\./,
  ),
  counts: results.figures(
    /The narrowest 90 % predictive interval holds the count of the other half for (\d+) % \(AI wrong\) and (\d+) % \(AI right\) of people in HAS\. Since counts are whole, a right interval holds (\d+) % and (\d+) % there\. In dots it holds for all (\d+) \(foretold: (\d+) %\)\./,
  ),
  longRun: results.figures(
    /The 90 % interval of the rate holds the later rate of long histories in (\d+) of (\d+) cases, (\d+) %, with the built-in model, and in (\d+) with the calibrated one \(dots; the first ([\d, or]+) decisions scored, 50 of a kind or more held back\)\. The built-in model itself foretells (\d+) %, not 90 %/,
  ),
  aim: results.figures(
    /The aim of (\d+) to (\d+) % is met in HAS for right advice, and missed for wrong advice, /,
  ),
  tenths: results.figures(
    /foretold with \.3 to \.4 and with \.4 to \.5 came in (\S+) and (\S+): .* In dots all tenths agree within (\S+)\. With even decisions scored and odd ones foretold it is (\S+) and (\S+), and within (\S+)\. /,
  ),
  best: results.figures(
    /The best of all the measures above foretells the next decision of HAS by (\S+) nats better than everybody's rate\./,
  ),
  decisions: results.figures(/an honest verdict on (\d+) decisions is mostly undetermined/),
  keptBack: results.figures(
    /The model's log loss is at most that of the person's own rate in (\w+) of (\w+) rows\. In (\w+) rows of dots \((\w+) people\) it is above it, by (\S+) and (\S+)\. /,
  ),
  keptBackVerdicts: results.figures(
    /(\d+) people in HAS and (\d+) in dots beat both the AI and their own first answers: none of them is certainly at risk\. No halves contradict each other\. In HAS (\d+) of (\d+) people have a certain verdict, in dots (\d+) of (\d+)\. The predictive interval holds (\d+) to (\d+) % of counts in HAS \(foretold: (\d+) to (\d+) %\)\./,
  ),
};

Deno.test("every figure of the section is read, so that a new one needs a test", () => {
  assert.deepEqual(results.unread(), []);
});

Deno.test("a section tells which of its figures nobody reads, and reads no sentence twice", () => {
  const page = "## One\n\n5 of\n6 people, .7\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n### Below\n\n8\n";
  const section = new PageSection("One", page);
  assert.deepEqual(section.unread(), ["5", "6", ".7", "a | b"]);
  assert.deepEqual(section.figures(/(\d) of (\d) people/), ["5", "6"]);
  assert.deepEqual(section.tables("a", "b"), [[["1", "2"]]]);
  assert.deepEqual(section.unread(), [".7"]);
  assert.throws(() => section.figures(/(\d) of (\d) people/), /0 times/);
  assert.throws(() => section.tables("a"), /no table/);
  assert.throws(() => new PageSection("Two", page), /0 sections/);
});

Deno.test("the model foretells the even decisions from the odd ones as documented, and better than a person's own rate", () => {
  const DOES = { departs_when_wrong: "departs if AI is wrong", follows_when_right: "follows if AI is right" };
  const computed = ROWS.map(({ study, kind }) => {
    const { decisions, model, everybody, own_rate, empirical_bayes } = halvesOf(study)[0]!.log_loss[kind];
    assert.ok(model! <= own_rate!, `${study} ${kind}`);
    return [
      `${NAME[study]}, ${DOES[kind]} (${count(decisions)})`,
      ...[model, everybody, own_rate, empirical_bayes].map((value) => loss(value!)),
    ];
  });
  assert.deepEqual(given, computed);
  assert.deepEqual(said.target, [spelled(computed.length)]);
});

Deno.test("in the other direction the model misses the person's own rate where documented", () => {
  const missed = ROWS.filter(({ study, kind }) => {
    const { model, own_rate } = halvesOf(study)[1]!.log_loss[kind];
    return model! > own_rate!;
  });
  assert.deepEqual(missed, [{ study: "dots", kind: "departs_when_wrong" }]);
  const { model, own_rate } = halvesOf("dots")[1]!.log_loss.departs_when_wrong;
  const together = (of: "model" | "own_rate") => loss(pooledLoss(halvesOf("dots"), "departs_when_wrong", of));
  assert.deepEqual(said.otherDirection, [
    spelled(missed.length),
    loss(model!),
    loss(own_rate!),
    count(numberOfPeople("dots")),
    together("model"),
    together("own_rate"),
  ]);
});

/** The log losses of simple measures that were fitted to other people, as the calibrated model was. */
function lossesOfOthers(study: Study, kind: Kind) {
  const empiricalBayes: Foretold[] = [];
  const everybody: Foretold[] = [];
  for (const { others, measured } of calibratedOf(study)) {
    const counts = persons(others).map((own) => countsOf(own, kind));
    const prior = fitBeta(counts)!;
    const rate = everybodysRate(counts);
    for (const own of persons(measured)) {
      for (const foldOf of HALVES) {
        const half = (fold: "fit" | "test") => countsOf(own.filter((row) => foldOf(row) === fold), kind);
        empiricalBayes.push({ rate: shrunkenRate(prior, half("fit")), came: half("test") });
        everybody.push({ rate, came: half("test") });
      }
    }
  }
  return { empiricalBayes: logLoss(empiricalBayes)!, everybody: logLoss(everybody)! };
}

const calibratedHalves = (study: Study) => calibratedOf(study).flatMap(({ halves }) => halves);

Deno.test("a model fitted to other people foretells as documented, and as well as empirical Bayes", () => {
  const [, allowed] = said.calibratedTarget;
  const computed = ROWS.map(({ study, kind }) => {
    const model = pooledLoss(calibratedHalves(study), kind, "model");
    const { empiricalBayes, everybody } = lossesOfOthers(study, kind);
    // The second baseline was fitted to the measured people themselves.
    for (const baseline of [empiricalBayes, pooledLoss(calibratedHalves(study), kind, "empirical_bayes")]) {
      assert.ok(model <= baseline + Number(allowed), `${study} ${kind}: ${model} ${baseline}`);
    }
    return [
      `${NAME[study]}, AI ${kind === "departs_when_wrong" ? "wrong" : "right"}`,
      ...[
        model,
        empiricalBayes,
        pooledLoss(halvesOf(study), kind, "model"),
        everybody,
        pooledLoss(halvesOf(study), kind, "own_rate"),
      ].map(loss),
    ];
  });
  assert.deepEqual(calibrated, computed);
  assert.deepEqual(said.calibratedTarget, [spelled(computed.length), ".005"]);
  assert.deepEqual(said.parts, [spelled(PARTS.length)]);
});

Deno.test("no measure foretells the next decision of HAS better than everybody's rate by more than documented", () => {
  const gains = KINDS.flatMap((kind) => {
    const { model, everybody, own_rate, empirical_bayes } = halvesOf("has")[0]!.log_loss[kind];
    const others = lossesOfOthers("has", kind);
    return [
      ...[model, own_rate, empirical_bayes].map((value) => everybody! - value!),
      ...[
        pooledLoss(calibratedHalves("has"), kind, "model"),
        others.empiricalBayes,
        pooledLoss(halvesOf("has"), kind, "model"),
        pooledLoss(halvesOf("has"), kind, "own_rate"),
      ].map((value) => others.everybody - value),
    ];
  });
  assert.deepEqual(said.best, [fraction(Math.max(...gains), 3)]);
});

Deno.test("as many people as documented have a certain verdict, and no two halves contradict each other", () => {
  assert.deepEqual(
    said.certain,
    STUDIES.flatMap((study) => [wholeOf(study).certain_verdicts, numberOfPeople(study)].map(String)),
  );
  assert.deepEqual(STUDIES.flatMap((study) => contradictionsOf(halvesOf(study))), []);
  const lengths = new Set(persons(peopleOf("has")).map((own) => String(own.length)));
  assert.deepEqual([...lengths], said.decisions);
  assert.ok(wholeOf("has").certain_verdicts < numberOfPeople("has") / 2, "mostly undetermined");
});

Deno.test("as many of those who beat the AI and their own first answers are certainly at risk as documented", () => {
  assert.deepEqual(
    said.better,
    STUDIES.flatMap((study) => {
      const better = betterOf(peopleOf(study));
      return [spelled(atRiskOf(wholeOf(study), better).length), String(better.length)];
    }),
  );
});

Deno.test("the predictive intervals hold as many counts as documented, and as many as they should", () => {
  const shares = (study: Study, of: "came" | "foretold") =>
    KINDS.map((kind) => pooledCoverage(halvesOf(study), kind, of));
  const [forDots, ...others] = new Set(shares("dots", "foretold").map(percent));
  assert.deepEqual(others, [], "both kinds are foretold alike");
  assert.deepEqual(shares("dots", "came"), [1, 1]);
  assert.deepEqual(said.counts, [
    ...shares("has", "came").map(percent),
    ...shares("has", "foretold").map(percent),
    String(numberOfPeople("dots")),
    forDots,
  ]);
  const [least, most] = said.aim.map(Number);
  const isMet = (share: number) => 100 * share >= least! && 100 * share <= most!;
  assert.deepEqual(shares("has", "came").map(isMet), [false, true], "of wrong advice, of right advice");
  assert.ok(!isMet(shares("has", "foretold")[0]!), "a right interval misses it, too");
});

Deno.test("the intervals of rates hold the later rates of long histories as documented", () => {
  const [inside, cases, share, calibrated, lengths, foretold] = said.longRun;
  const ends = lengths!.split(/, | or /).map(Number);
  assert.deepEqual(ends, [24, 48, 72, 96, 120, 144]);
  const early = ends.map((end) => earlyOf("dots", end));
  const total = (results: readonly EvaluationResult[]) => {
    const runs = results.map(longRunOf);
    return [
      runs.reduce((sum, run) => sum + run.inside, 0),
      runs.reduce((sum, run) => sum + run.shares, 0),
    ];
  };
  const builtIn = total(early);
  assert.deepEqual(builtIn, [inside, cases].map(Number));
  assert.deepEqual(
    total(ends.flatMap((end) => calibratedEarlyOf("dots", end))),
    [calibrated, cases].map(Number),
  );
  const all = builtIn[1]!;
  const expected = ends.reduce((sum, end, index) => sum + expectedInside("dots", end, early[index]!), 0);
  assert.deepEqual([percent(builtIn[0]! / all), percent(expected / all)], [share, foretold]);
  assert.ok(100 * expected / all < Number(said.aim[0]), "less than the aim");
});

Deno.test("the tenths of calibration are as documented, in both directions", () => {
  const tenths = (halves: EvaluationResult) => {
    const came = (from: number) =>
      halves.calibration.departs_when_wrong.find((bin) => bin.from === from)!.came;
    return [came(0.3), came(0.4)].map((share) => fraction(share, 2));
  };
  const farthest = ({ calibration }: EvaluationResult) => {
    const bins: readonly CalibrationBin[] = KINDS.flatMap((kind) => calibration[kind]);
    return Math.max(...bins.map(({ foretold, came }) => Math.abs(foretold - came)));
  };
  const within = (results: EvaluationResult) => fraction(Math.ceil(100 * farthest(results)) / 100, 2);
  const both = [0, 1].flatMap((
    index,
  ) => [...tenths(halvesOf("has")[index]!), within(halvesOf("dots")[index]!)]);
  assert.deepEqual(said.tenths, both);
});

for (const study of STUDIES) {
  Deno.test(`${study}: without truth everybody is undetermined and stays within a point of the prior`, () => {
    for (const { operator_id, jis, status } of withoutTruth(study).operators) {
      assert.equal(status, "undetermined", operator_id);
      assert.ok(Math.abs(jis - PRIOR) <= 1, `${operator_id}: ${jis}`);
    }
  });
}

Deno.test("the bands of people without a certain verdict are as documented", () => {
  const limits = new PageSection("Limits");
  const [start, ...prior] = limits.figures(
    /The bands begin at (\d+, \d+ and \d+) \(60 and 75 are the interface specification's\), and the prior's score is (\d+)\./,
  );
  const { adequate, proficient, exemplary } = JIS_2_0_0.bands;
  assert.equal(start, `${adequate}, ${proficient} and ${exemplary}`);
  assert.deepEqual(prior, [String(PRIOR)]);
  const { operators } = wholeOf("has");
  const atRisk = operators.filter(({ band }) => band === "at_risk");
  const numbers = [
    atRisk,
    operators,
    ...(["non_compliant", "undetermined"] as const).map((verdict) =>
      atRisk.filter(({ status }) => status === verdict)
    ),
  ];
  assert.deepEqual(
    limits.figures(
      /In HAS that is (\d+) of (\d+) people: (\d+) of them are certainly at risk, and the other (\d+) are undetermined\./,
    ),
    numbers.map(({ length }) => String(length)),
  );
  const dots = wholeOf("dots").operators;
  const [decisions] = new Set(persons(peopleOf("dots")).map((own) => own.length));
  assert.deepEqual(
    limits.figures(/In dots, after (\d+) decisions each, it is (\d+) of (\d+)\./),
    [decisions, dots.filter(({ band }) => band === "at_risk").length, dots.length].map(String),
  );
  const oversight = Deno.readTextFileSync(`${import.meta.dirname}/../../docs/integrate/oversight.md`);
  assert.deepEqual(
    new PageSection("Look at people", oversight).figures(
      /a new operator starts with (\d+), and the bands above `at_risk` begin at (\d+)/,
    ),
    [String(PRIOR), String(adequate)],
  );
  const open = operators.filter(({ status }) => status === "undetermined");
  assert.ok(open.filter(({ band }) => band === "at_risk").length >= 0.95 * open.length, "nearly all");
});

Deno.test("without known truth every band is `at_risk`, and one high-risk operator makes the status `non_compliant`", () => {
  const operators = STUDIES.flatMap((study) => withoutTruth(study).operators);
  assert.deepEqual([...new Set(operators.map(({ band }) => band))], ["at_risk"]);
  const day = 86_400_000;
  const rowsIn = (domain: Domain): readonly OperatorRow[] =>
    operators.map(({ jis, n }) => ({
      jis,
      n,
      t0: 0,
      t1: 30 * day,
      domain,
      tcrit: null,
      shareHs: 0,
      shareCrit: 0,
      critCount: 0,
      verdict: "undetermined",
    }));
  const statusOf = (rows: readonly OperatorRow[]) => {
    const at = { instantOf: () => 30 * day };
    return [organizationRule(JIS_2_0_0, rows, at).status, organizationVerdict(JIS_2_0_0, rows, at).status];
  };
  const [highRisk] = rowsIn("healthcare");
  assert.deepEqual(statusOf(rowsIn("general")), ["compliant", "undetermined"]);
  assert.deepEqual(statusOf([...rowsIn("general"), highRisk!]), ["non_compliant", "undetermined"]);
  assert.deepEqual(statusOf(rowsIn("healthcare")), ["non_compliant", "undetermined"]);
});

Deno.test("the sentences about the people kept back agree with their table", () => {
  const rows = keptBack!.map(([decisions, model, , own]) => {
    const [, study, people, direction] = /^(HAS|dots)(?: \((\d+) people\))?, (AI (?:wrong|right), .*)$/.exec(
      decisions!,
    )!;
    return { study, people, direction, above: Number(model) - Number(own) };
  });
  const directions = ["odd → even", "even → odd"].flatMap((way) => [`AI wrong, ${way}`, `AI right, ${way}`]);
  assert.deepEqual(
    rows.map(({ study, direction }) => [study, direction]),
    ["HAS", "dots"].flatMap((study) => directions.map((direction) => [study, direction])),
  );
  const [has, dots] = rows.flatMap(({ people }) => people === undefined ? [] : [people]);
  const missed = rows.filter(({ above }) => above > 0);
  assert.ok(missed.every(({ study }) => study === "dots"));
  assert.deepEqual(said.keptBack, [
    spelled(rows.length - missed.length),
    spelled(rows.length),
    spelled(missed.length),
    spelled(Number(dots)),
    ...missed.map(({ above }) => fraction(above, 3)),
  ]);
  const [betterHas, betterDots, certainHas, allHas, certainDots, allDots, ...shares] = said.keptBackVerdicts;
  assert.deepEqual([allHas, allDots], [has, dots]);
  for (const [some, all] of [[betterHas, has], [betterDots, dots], [certainHas, has], [certainDots, dots]]) {
    assert.ok(Number(some) <= Number(all), `${some} of ${all}`);
  }
  const [least, most, leastForetold, mostForetold] = shares.map(Number);
  assert.ok(least! <= most! && most! <= 100 && leastForetold! <= mostForetold! && mostForetold! <= 100);
});

Deno.test("the verdicts on these people move with the costs as documented", () => {
  const derivation = new PageSection("Derivation of 40, 60 and 75");
  const [rows] = derivation.tables("costs", "HAS", "dots");
  const people = derivation.figures(/Numbers of people in HAS \((\d+)\) and in dots \((\d+)\):/);
  assert.deepEqual(people, STUDIES.map((study) => String(numberOfPeople(study))));
  const counted = COSTS.map((costs) => [
    costs,
    ...STUDIES.map((study) => {
      const { operators } = costs === "the model's costs"
        ? wholeOf(study)
        : evaluated(peopleOf(study), ALL_SCORED, withCosts(JIS_2_0_0, costs)!);
      return VERDICT_STATUSES.map((status) => operators.filter((one) => one.status === status).length)
        .join(" / ");
    }),
  ]);
  assert.deepEqual(rows, counted);
});
