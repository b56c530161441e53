/**
 * The simulation: seeded draws that follow their distributions, and a demo history with scores that fit its
 * cast.
 */
import assert from "node:assert/strict";
import { recordedInteractionSchema, sessionIdSchema } from "../../src/domain/interaction.ts";
import { DEFAULT_MODEL_DOCUMENT as model } from "../../src/scoring/model.ts";
import { score } from "../../src/scoring/score.ts";
import { type OperatorState } from "../../src/scoring/state.ts";
import { DAY_MS } from "../../src/domain/time.ts";
import {
  type ArchetypeName,
  ARCHETYPES,
  DEFAULT_ENVIRONMENT,
  drawInteraction,
  drawOperator,
} from "../../src/simulation/archetypes.ts";
import { DEMO_REVIEWERS, demoHistory } from "../../src/simulation/demo.ts";
import { type Random, seeded } from "../../src/simulation/random.ts";

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
