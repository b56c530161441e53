/**
 * The simulation: seeded draws that follow their distributions, and a demo history with scores that fit its
 * cast.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type Interaction,
  recordedInteractionSchema,
  sessionIdSchema,
} from "../../src/domain/interaction.ts";
import { contradictionOf } from "../../src/domain/truth.ts";
import { DEFAULT_MODEL_DOCUMENT as model, modelSchema } from "../../src/scoring/model.ts";
import { Posterior } from "../../src/scoring/discrimination.ts";
import { score } from "../../src/scoring/score.ts";
import { type OperatorState } from "../../src/scoring/state.ts";
import { DAY_MS } from "../../src/domain/time.ts";
import {
  type ArchetypeName,
  ARCHETYPES,
  DEFAULT_ENVIRONMENT,
  drawCase,
  drawInteraction,
  drawOperator,
  type Environment,
  type Operator,
} from "../../src/simulation/archetypes.ts";
import { isMorning } from "../../src/simulation/clock.ts";
import { DEMO_REVIEWERS, demoHistory } from "../../src/simulation/demo.ts";
import {
  CORRELATION,
  drawFieldReviewer,
  FIELD_NAMES,
  FIELD_STUDIES,
  fieldEnvironment,
  fittedTo,
  logitNormal,
  momentsOf,
} from "../../src/simulation/field.ts";
import { type Random, seeded } from "../../src/simulation/random.ts";
import { correlation, mean, shareOf } from "../../src/simulation/statistics.ts";
import { drawFollower, environmentOf, STRATEGY_NAMES } from "../../src/simulation/strategies.ts";
import { JIS_2_0_0 } from "../models.ts";

/** Wednesday, 2026-07-15T11:30:00Z. */
const endsAt = 1_784_115_000_000;
const period = { endsAt, days: 90 };
const history = demoHistory({ seed: 1, ...period });

function meanOf(draw: (random: Random) => number): number {
  const random = seeded("means");
  let sum = 0;
  for (let i = 0; i < 20_000; i++) sum += draw(random);
  return sum / 20_000;
}

function isNear(actual: number, expected: number, tolerance: number): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not within ${tolerance} of ${expected}`);
}

Deno.test("a seed always gives the same sequence, another seed another", () => {
  const first = (seed: number | string) => Array.from({ length: 4 }, seeded(seed).uniform.bind(null, 0, 1));
  assert.deepEqual(first(7), first(7));
  assert.deepEqual(first(7), first("7"));
  assert.notDeepEqual(first(7), first(8));
});

Deno.test("draws follow their distributions", () => {
  isNear(meanOf((random) => random.uniform(2, 4)), 3, 0.02);
  isNear(meanOf((random) => random.normal(5, 2)), 5, 0.05);
  isNear(meanOf((random) => (random.normal(5, 2) - 5) ** 2), 4, 0.15);
  isNear(meanOf((random) => Math.log(random.lognormal(3_000, 0.5))), Math.log(3_000), 0.02);
  isNear(meanOf((random) => random.beta(5, 2)), 5 / 7, 0.01);
  isNear(meanOf((random) => random.beta(1, 8)), 1 / 9, 0.01);
  isNear(meanOf((random) => random.poisson(1.4)), 1.4, 0.05);
  isNear(meanOf((random) => random.poisson(0)), 0, 0);
  isNear(meanOf((random) => Number(random.bernoulli(0.15))), 0.15, 0.01);
  isNear(meanOf((random) => random.pick([0, 1, 5])), 2, 0.05);
  isNear(meanOf((random) => random.pick([0, 1, 5], [0.5, 0.5, 0])), 0.5, 0.02);
});

for (const archetype of Object.keys(ARCHETYPES) as ArchetypeName[]) {
  Deno.test(`every interaction of ${archetype} is valid with its defaults explicit`, () => {
    const random = seeded(archetype);
    const operator = drawOperator(archetype, random);
    for (let index = 0; index < 300; index++) {
      const interaction = drawInteraction(operator, index, DEFAULT_ENVIRONMENT, random);
      assert.deepEqual(recordedInteractionSchema.parse(interaction), interaction);
    }
  });
}

Deno.test("the environment's shares are those of the cases", () => {
  const random = seeded("shares");
  const operator = drawOperator("always_reject", random);
  const cases = Array.from(
    { length: 20_000 },
    (_, index) => drawInteraction(operator, index, DEFAULT_ENVIRONMENT, random),
  );
  const share = (holds: (item: (typeof cases)[number]) => boolean) => cases.filter(holds).length / 20_000;
  isNear(share((item) => item.scenario_type === "error_injected"), 0.05, 0.006);
  isNear(share((item) => item.scenario_type === "ai_withheld"), 0.05, 0.006);
  isNear(share((item) => item.outcome_correct !== null), 0.7, 0.015);
  // Always rejecting is right exactly if the AI is wrong: 0.9 standard cases × 0.7 labelled × 0.15.
  isNear(share((item) => item.scenario_type === "standard" && item.outcome_correct === true), 0.0945, 0.01);
  assert.ok(
    cases.every((item) => item.scenario_type !== "error_injected" || item.outcome_correct !== false),
    "rejecting an injected error is never labelled wrong",
  );
});

// ---- the field ----------------------------------------------------------------------------------------------

const logit = (rate: number) => Math.log(rate / (1 - rate));

for (const name of FIELD_NAMES) {
  Deno.test(`the reviewers of ${name} have the study's rates, spread and share of wrong advice`, () => {
    const { departsWhenWrong, departsWhenRight, spread, wrongShare } = FIELD_STUDIES[name];
    const random = seeded(name);
    const people = Array.from({ length: 4_000 }, () => drawFieldReviewer(name, random));
    const h = people.map(({ goesAlong }) => 1 - goesAlong!.whenWrong);
    const f = people.map(({ goesAlong }) => 1 - goesAlong!.whenRight);
    isNear(mean(h), departsWhenWrong, 0.01);
    isNear(Math.sqrt(mean(h.map((rate) => (rate - mean(h)) ** 2))), spread, 0.01);
    isNear(mean(f), departsWhenRight, 0.01);
    isNear(correlation(h.map(logit), f.map(logit)), CORRELATION, 0.02);
    const environment = { ...fieldEnvironment(name), labelledShare: 1 };
    const [operator] = people;
    const cases = casesOf(operator!, environment, random).filter(({ scenario_type }) =>
      scenario_type === "standard"
    );
    const wrong = cases.filter((one) => !isAdviceRight(one));
    isNear(wrong.length / cases.length, wrongShare, 0.03);
    isNear(shareOf(wrong, ({ decision }) => decision !== "accepted"), h[0]!, 0.06);
    assert.ok(cases.every(({ decision }) => ["accepted", "rejected", "overridden"].includes(decision)));
  });
}

for (const name of FIELD_NAMES) {
  Deno.test(`a model fitted to ${name} is valid, and expects the study's rates of a newcomer`, () => {
    const fitted = fittedTo(JIS_2_0_0, name);
    assert.deepEqual(modelSchema.parse(fitted), fitted);
    const { departsWhenWrong, departsWhenRight, spread } = FIELD_STUDIES[name];
    const prior = new Posterior(fitted, { hit: 0, miss: 0, correctAcceptance: 0, falseAlarm: 0 });
    isNear(prior.mean((h) => h), departsWhenWrong, 0.01);
    isNear(prior.mean((_, f) => f), departsWhenRight, 0.01);
    isNear(Math.sqrt(prior.mean((h) => (h - departsWhenWrong) ** 2)), spread, 0.01);
  });
}

Deno.test("a logit is found from the mean and the spread of its rate", () => {
  fc.assert(fc.property(fc.double({ min: 0.05, max: 0.95, noNaN: true }), (rate) => {
    const spread = 0.4 * Math.min(rate, 1 - rate);
    const found = momentsOf(logitNormal(rate, spread));
    isNear(found.mean, rate, 1e-6);
    isNear(found.sd, spread, 1e-6);
  }));
});

// ---- strategies ---------------------------------------------------------------------------------------------

const COUNT = 6_000;

function casesOf(operator: Operator, environment: Environment, random: Random): readonly Interaction[] {
  return Array.from({ length: COUNT }, (_, index) => drawInteraction(operator, index, environment, random));
}

/** If the outcome is known and there are two answers, a decision and its label say whether the advice was right. */
function isAdviceRight({ decision, outcome_correct }: Interaction): boolean {
  return (decision === "accepted") === outcome_correct;
}

for (const name of STRATEGY_NAMES) {
  Deno.test(`every interaction of ${name} is valid, contradicts nothing, and has a domain of its environment`, () => {
    const random = seeded(name);
    const operator = drawFollower(name, random);
    const environment = environmentOf(name);
    for (let index = 0; index < 300; index += 1) {
      const { interaction, domain } = drawCase(operator, index, environment, random);
      assert.deepEqual(recordedInteractionSchema.parse(interaction), interaction);
      assert.equal(contradictionOf(interaction), null);
      assert.ok((environment.domains ?? [environment.domain]).includes(domain));
    }
  });
}

Deno.test("a strategy judges the cases that it picks out, and waves the others through", () => {
  const picked = {
    tests_only: ({ scenario_type }: Interaction) => scenario_type === "calibration",
    probes_only: ({ scenario_type }: Interaction) => scenario_type === "error_injected",
    high_stakes_blind: ({ scenario_type }: Interaction) =>
      scenario_type !== "high_stakes" && scenario_type !== "critical",
    one_domain: (_: Interaction, domain: string) => domain === "financial",
    probes_in_one_domain: ({ scenario_type }: Interaction, domain: string) =>
      scenario_type === "error_injected" || domain !== "financial",
    mornings_only: (_: Interaction, __: string, index: number) => isMorning(index),
  } as const;
  for (const [name, isPicked] of Object.entries(picked)) {
    const strategy = name as keyof typeof picked;
    const random = seeded(name);
    const operator = drawFollower(strategy, random);
    const environment = { ...environmentOf(strategy), labelledShare: 1, withheldShare: 0 };
    const hits = { picked: [] as boolean[], others: [] as boolean[] };
    for (let index = 0; index < COUNT; index += 1) {
      const { interaction, domain } = drawCase(operator, index, environment, random);
      const departs = interaction.decision !== "accepted";
      if (departs !== interaction.outcome_correct) continue;
      hits[isPicked(interaction, domain, index) ? "picked" : "others"].push(departs);
    }
    assert.ok(hits.picked.length > 100 && hits.others.length > 100, name);
    assert.ok(shareOf(hits.picked, Boolean) > 0.7, `${name}: ${shareOf(hits.picked, Boolean)}`);
    assert.ok(shareOf(hits.others, Boolean) < 0.1, `${name}: ${shareOf(hits.others, Boolean)}`);
  }
});

Deno.test("announced tests come as often as the environment says, half wrong, and their truth is always known", () => {
  const random = seeded("announced");
  const environment = { ...environmentOf("tests_only"), labelledShare: 0 };
  const cases = casesOf(drawFollower("tests_only", random), environment, random);
  const tests = cases.filter(({ scenario_type }) => scenario_type === "calibration");
  isNear(tests.length / COUNT, 0.1, 0.015);
  assert.ok(tests.every(({ outcome_correct }) => outcome_correct !== null));
  isNear(shareOf(tests, isAdviceRight), 0.5, 0.07);
});

Deno.test("who follows a second AI is right as often as it is, whether the first is right or wrong", () => {
  const random = seeded("second");
  const environment = { ...DEFAULT_ENVIRONMENT, labelledShare: 1, injectedShare: 0, withheldShare: 0 };
  const cases = casesOf(drawFollower("second_ai", random), environment, random);
  for (const isRight of [true, false]) {
    const such = cases.filter((one) => isAdviceRight(one) === isRight);
    isNear(shareOf(such, ({ outcome_correct }) => outcome_correct === true), 0.9, 0.04);
  }
});

Deno.test("colluding labels call every decision right, but for injected errors", () => {
  const random = seeded("collusion");
  const cases = casesOf(drawFollower("colluding_labels", random), environmentOf("colluding_labels"), random);
  const [injected, others] = [true, false].map((is) =>
    cases.filter((one) => (one.scenario_type === "error_injected") === is && one.outcome_correct !== null)
  );
  assert.ok(others!.length > 3_000 && others!.every(({ outcome_correct }) => outcome_correct));
  assert.ok(shareOf(injected!, ({ outcome_correct }) => outcome_correct === false) > 0.8);
});

Deno.test("a page that measures zeros gives the history of a page that measures nothing, with zeros for null", () => {
  const operator = drawOperator("independent", seeded("zeros"));
  const history = (telemetry: Operator["telemetry"]) =>
    casesOf({ ...operator, telemetry }, DEFAULT_ENVIRONMENT, seeded("zeros/history"));
  const zeros = { hover_events: 0, scroll_depth: 0, alternative_views_checked: 0 };
  assert.deepEqual(history("zeros"), history("unmeasured").map((one) => ({ ...one, ...zeros })));
  assert.ok(history("unmeasured").every(({ scroll_depth }) => scroll_depth === null));
});

Deno.test("with more than two answers wrong advice is left for another wrong answer as often as is said", () => {
  for (const [name, share] of [["many_answers_told", 0.28], ["more_answers_told", 0.47]] as const) {
    const random = seeded(name);
    const environment = { ...environmentOf(name), labelledShare: 1 };
    const cases = casesOf(drawFollower(name, random), environment, random).filter(({ scenario_type }) =>
      scenario_type === "standard"
    );
    assert.ok(cases.every(({ ai_correct }) => typeof ai_correct === "boolean"));
    const answered = ["rejected", "overridden", "modified"];
    const left = cases.filter(({ ai_correct, decision, modification_extent }) =>
      ai_correct === false && answered.includes(decision) &&
      (decision !== "modified" || modification_extent >= 0.25)
    );
    isNear(shareOf(left, ({ outcome_correct }) => outcome_correct === false), share, 0.06);
  }
  const random = seeded("untold");
  const untold = casesOf(drawFollower("many_answers", random), environmentOf("many_answers"), random);
  assert.ok(untold.every((one) => !("ai_correct" in one)));
});

Deno.test("who rewords blindly changes nothing that matters: the outcome is as right as the advice", () => {
  const random = seeded("rewords");
  const environment = { ...environmentOf("blind_modifier_told"), labelledShare: 1, withheldShare: 0 };
  const cases = casesOf(drawFollower("blind_modifier_told", random), environment, random);
  const reworded = cases.filter(({ decision }) => decision === "modified");
  isNear(reworded.length / cases.length, 0.5, 0.05);
  assert.ok(reworded.every(({ modification_extent }) => modification_extent >= 0.25));
  assert.ok(shareOf(reworded, ({ outcome_correct, ai_correct }) => outcome_correct === ai_correct) > 0.9);
});

Deno.test("luck turns outcomes as often as is said, but none of an injected error", () => {
  const operator: Operator = { ...drawFollower("second_ai", seeded("luck")), secondAi: 1 };
  const environment = { ...environmentOf("outcome_luck"), labelledShare: 1, withheldShare: 0 };
  const cases = casesOf(operator, environment, seeded("luck/history"));
  const wrong = (is: (one: Interaction) => boolean) =>
    shareOf(cases.filter(is), ({ outcome_correct }) => outcome_correct === false);
  isNear(wrong(({ scenario_type }) => scenario_type === "standard"), 0.2, 0.02);
  assert.equal(wrong(({ scenario_type }) => scenario_type === "error_injected"), 0);
});

Deno.test("half of the cases are decided in the morning", () => {
  assert.equal(shareOf(Array.from({ length: 80 }, (_, index) => index), isMorning), 0.5);
});

// ---- the demo -----------------------------------------------------------------------------------------------

Deno.test("the same seed gives the same demo history, another seed another", () => {
  assert.deepEqual(demoHistory({ seed: 1, ...period }), history);
  assert.notDeepEqual(demoHistory({ seed: 2, ...period }), history);
});

Deno.test("the demo history is in order, before its end, on weekdays in working hours", () => {
  assert.ok(history.length >= 1_200 && history.length <= 1_600, `${history.length} interactions`);
  let last = endsAt - 90 * DAY_MS;
  for (const { at } of history) {
    assert.ok(Number.isInteger(at) && at >= last && at < endsAt, `${at} after ${last}`);
    last = at;
    const instant = new Date(at);
    assert.ok(instant.getUTCDay() >= 1 && instant.getUTCDay() <= 5, instant.toISOString());
    assert.ok(instant.getUTCHours() >= 8 && instant.getUTCHours() < 17, instant.toISOString());
  }
});

Deno.test("the demo history keeps its bounds whenever it ends and however short it is", () => {
  for (let hours = 0; hours < 24 * 7; hours += 5) {
    for (const days of [1, 10, 90]) {
      const end = endsAt + hours * 3_600_000 + 1;
      const times = demoHistory({ seed: hours, endsAt: end, days }).map((event) => event.at);
      assert.ok(times.every((at) => at >= end - days * DAY_MS && at < end));
      if (days === 90) assert.ok(times.length >= 1_200 && times.length <= 1_600, `${times.length}`);
    }
  }
});

Deno.test("every demo event is valid as it is and names a session of its own", () => {
  for (const { sessionId, interaction } of history) {
    assert.deepEqual(recordedInteractionSchema.parse(interaction), interaction);
    sessionIdSchema.parse(sessionId);
  }
  assert.equal(new Set(history.map((event) => event.sessionId)).size, history.length);
});

Deno.test("no demo case ends before the same reviewer's next one could begin", () => {
  const last = new Map<string, number>();
  for (const { at, operatorId, interaction } of history) {
    assert.ok(at - interaction.time_to_decision_ms > (last.get(operatorId) ?? 0));
    last.set(operatorId, at);
  }
});

Deno.test("the demo has a newcomer, somebody absent, several domains and grave cases", () => {
  const of = (operatorId: string) => history.filter((event) => event.operatorId === operatorId);
  assert.ok(of("reviewer-lena").length > 0 && of("reviewer-lena").length < 50);
  assert.ok(of("reviewer-kofi").every((event) => event.at < endsAt - 40 * DAY_MS));
  assert.ok(of("reviewer-kofi").length >= 50);
  assert.equal(new Set(history.map((event) => event.operatorId)).size, DEMO_REVIEWERS.length);
  assert.equal(new Set(history.map((event) => event.domain)).size, 4);
  const ofScenario = (name: string) => history.filter((event) => event.interaction.scenario_type === name);
  for (const name of ["high_stakes", "critical", "error_injected", "ai_withheld"]) {
    assert.ok(ofScenario(name).length >= 10, name);
  }
  assert.ok(of("reviewer-dana").every((event) => event.interaction.scroll_depth === null));
});

function finalScores(seed: number): Map<string, number> {
  const states = new Map<string, OperatorState>();
  for (const { at: now, operatorId, domain, interaction } of demoHistory({ seed, ...period })) {
    const event = { interaction, domain, now };
    const scored = score(model, states.get(operatorId) ?? null, event, {
      mode: "full",
      modeOverride: "normal",
    });
    states.set(operatorId, scored.state);
  }
  return new Map([...states].map(([operatorId, state]) => [operatorId, state.jis!]));
}

Deno.test("at the end the independent reviewers of the demo score above its rubber-stampers", () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const scores = finalScores(seed);
    const ofArchetypes = (...names: ArchetypeName[]) =>
      DEMO_REVIEWERS
        .filter((reviewer) => names.includes(reviewer.archetype))
        .map((reviewer) => scores.get(reviewer.operatorId)!);
    const lowest = Math.min(...ofArchetypes("independent"));
    const highest = Math.max(...ofArchetypes("rubber_stamper", "slow_rubber"));
    assert.ok(lowest > highest, `seed ${seed}: ${lowest} is not above ${highest}`);
  }
});
