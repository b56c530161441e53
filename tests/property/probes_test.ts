/** Laws of probes: their draws, their commitments, and how they count in the parts of the work. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { DOMAINS, PROBE_STAKES, SCENARIO_TYPES } from "../../src/domain/enums.ts";
import { interactionSchema } from "../../src/domain/interaction.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { drawOf, placeIn, probeCommitment, seedCommitment, shareOf } from "../../src/evidence/probes.ts";
import { NO_PART, NO_PARTS, type Part } from "../../src/scoring/known_cases.ts";
import { advance } from "../../src/scoring/reducer.ts";
import type { OperatorState } from "../../src/scoring/state.ts";
import { JIS_2_0_0 } from "../models.ts";

const DAY_MS = 86_400_000;
const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 });
const names = fc.string({ minLength: 1, maxLength: 20 });

Deno.test("a draw follows from seed, operator and session alone, and its numbers are shares", () => {
  fc.assert(
    fc.property(
      seeds,
      names,
      names,
      fc.integer({ min: 1, max: 5_000 }),
      (seed, operatorId, sessionId, stock) => {
        const draw = drawOf(nodeCrypto, seed, { operatorId, sessionId });
        assert.deepEqual(drawOf(nodeCrypto, seed.slice(), { operatorId, sessionId }), draw);
        for (const value of [draw.chance, draw.place]) assert.ok(value >= 0 && value < 1);
        assert.ok(placeIn(stock, draw) < stock);
        const other = drawOf(nodeCrypto, seed, { operatorId: `${operatorId}.`, sessionId });
        assert.notDeepEqual(other, draw);
      },
    ),
  );
});

Deno.test("draws of 20,000 sessions are spread evenly, and their two numbers say nothing of each other", () => {
  const seed = nodeCrypto.sha256(new Uint8Array(1));
  const draws = Array.from(
    { length: 20_000 },
    (_, number) => drawOf(nodeCrypto, seed, { operatorId: "ada", sessionId: `case-${number}` }),
  );
  // A hundred cells of 200 draws: the statistic has 99 degrees of freedom, and is below 160 but for one seed in 10,000.
  const cells = new Map<number, number>();
  for (const { chance, place } of draws) {
    const cell = 10 * Math.floor(10 * chance) + Math.floor(10 * place);
    cells.set(cell, (cells.get(cell) ?? 0) + 1);
  }
  const expected = draws.length / 100;
  let statistic = 0;
  for (let cell = 0; cell < 100; cell += 1) statistic += ((cells.get(cell) ?? 0) - expected) ** 2 / expected;
  assert.ok(statistic < 160, `${statistic}`);
});

Deno.test("a commitment changes with each part of what it covers", () => {
  fc.assert(
    fc.property(seeds, names, fc.boolean(), fc.option(names), (salt, probe_id, ai_correct, reference) => {
      const truth = { probe_id, ai_correct, reference };
      const sealed = probeCommitment(nodeCrypto, salt, truth);
      const others = [
        probeCommitment(nodeCrypto, salt, { ...truth, ai_correct: !ai_correct }),
        probeCommitment(nodeCrypto, salt, { ...truth, probe_id: `${probe_id}.` }),
        probeCommitment(nodeCrypto, salt, { ...truth, reference: `${reference}.` }),
        probeCommitment(nodeCrypto, salt.map((byte) => byte ^ 1), truth),
        seedCommitment(nodeCrypto, "2026-11-26", salt),
      ];
      assert.equal(new Set([sealed, ...others]).size, others.length + 1);
    }),
  );
});

Deno.test("the highest share holds until the minimum is reached, and never lowers the rate", () => {
  const share = fc.double({ min: 0, max: 0.1, noNaN: true });
  fc.assert(fc.property(share, share, fc.nat(50), fc.nat(100), (rate, highest_share, minimum, decided) => {
    const of = shareOf({ enabled: true, rate, highest_share, minimum, ticket_minutes: 60 }, decided);
    assert.equal(of, decided < minimum ? Math.max(rate, highest_share) : rate);
  }));
});

// ---- how they count -------------------------------------------------------------------------------------------------

const event = fc.record({
  days: fc.nat(200),
  domain: fc.constantFrom(...DOMAINS.slice(0, 3)),
  scenario: fc.constantFrom(...SCENARIO_TYPES.filter((type) => type !== "ai_withheld")),
  isProbe: fc.boolean(),
  aiCorrect: fc.boolean(),
  isKnown: fc.boolean(),
  decision: fc.constantFrom("accepted", "rejected", "escalated"),
});
type Event = typeof event extends fc.Arbitrary<infer Value> ? Value : never;

function isStakes(scenario: string): boolean {
  return (PROBE_STAKES as readonly string[]).includes(scenario);
}

function stateAfter(events: readonly Event[]): OperatorState {
  let [state, now] = [null as OperatorState | null, 0];
  for (const { days, domain, scenario, isProbe, aiCorrect, isKnown, decision } of events) {
    now += days * DAY_MS;
    const isSealed = isProbe && isStakes(scenario);
    const isTold = (isKnown || isSealed) && scenario !== "error_injected";
    const { ai_correct: _, ...interaction } = interactionSchema.parse({
      time_to_decision_ms: 9_000,
      decision,
      scenario_type: scenario,
      outcome_correct: isTold ? (decision === "accepted") === aiCorrect : null,
    });
    state = advance(JIS_2_0_0, state, {
      domain,
      now,
      interaction: {
        ...interaction,
        ...(isTold ? { ai_correct: aiCorrect } : {}),
        ...(isSealed ? { sealed_probe: true as const } : {}),
      },
    }).state;
  }
  return state!;
}

/** Each part of natural cases with its part of probes. */
function pairsOf({ ev = NO_PARTS }: OperatorState): readonly (readonly [natural: Part, sealed: Part])[] {
  const { n, s, c, d, e } = ev;
  return [
    [n, e?.all ?? NO_PART],
    [s, e?.high_stakes ?? NO_PART],
    [c, e?.critical ?? NO_PART],
    ...Object.entries(d).map(([domain, part]) => [part!, e?.[domain] ?? NO_PART] as const),
  ];
}

Deno.test("the probes of a part are never more than the part, and all of it if there were no other cases", () => {
  fc.assert(fc.property(fc.array(event, { minLength: 1, maxLength: 30 }), (events) => {
    for (const [natural, sealed] of pairsOf(stateAfter(events))) {
      for (const [index, value] of sealed.entries()) assert.ok(value <= natural[index]! + 1e-6);
    }
    const alone = events.filter(({ scenario }) => isStakes(scenario) || scenario === "error_injected")
      .map((one) => ({ ...one, isProbe: true }));
    if (alone.length === 0) return;
    for (const [natural, sealed] of pairsOf(stateAfter(alone))) assert.deepEqual(sealed, natural);
  }));
});

Deno.test("a state without a probe has no member for them", () => {
  fc.assert(fc.property(fc.array(event, { minLength: 1, maxLength: 20 }), (events) => {
    const { ev } = stateAfter(events.map((one) => ({ ...one, isProbe: false })));
    assert.equal(Object.hasOwn(ev!, "e"), false);
  }));
});
