/** Programmes of sealed probes in simulation: when probes come, how they count, whom they find, who defeats them. */
import assert from "node:assert/strict";
import { type Interaction, recordedInteractionSchema } from "../../src/domain/interaction.ts";
import { contradictionOf } from "../../src/domain/truth.ts";
import { NO_PARTS } from "../../src/scoring/known_cases.ts";
import { readState } from "../../src/scoring/reading.ts";
import { advance } from "../../src/scoring/reducer.ts";
import type { OperatorState } from "../../src/scoring/state.ts";
import { DAY_MS } from "../../src/domain/time.ts";
import { evasion } from "../../src/simulation/evader_measures.ts";
import { careAfter, EVADER_NAMES } from "../../src/simulation/evaders.ts";
import { fisherAbove } from "../../src/simulation/fisher.ts";
import { drawFrom, type PopulationName } from "../../src/simulation/populations.ts";
import { drawProbe, dueShare, PLAIN_POLICY, type ProbePolicy } from "../../src/simulation/probe_policy.ts";
import { minimums } from "../../src/simulation/probe_settings.ts";
import { looksAfter, reviewersOf } from "../../src/simulation/programme_samples.ts";
import {
  type CountedAs,
  liveEnvironment,
  programme,
  recorded,
  statusAt,
  steadyWork,
  type Step,
} from "../../src/simulation/programmes.ts";
import { seeded } from "../../src/simulation/random.ts";
import { shareOf } from "../../src/simulation/statistics.ts";
import { JIS_2_0_0 as model } from "../models.ts";

const GRAVE = { standard: 0.6, high_stakes: 0.3, critical: 0.1 };

function isNear(actual: number, expected: number, tolerance: number): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not within ${tolerance} of ${expected}`);
}

/** The steps of a programme up to a number of live cases. */
function stepsOf(
  cases: number,
  { policy, population = "independent", name = "steps", daysBetween }: {
    readonly policy: ProbePolicy;
    readonly population?: PopulationName;
    readonly name?: string;
    readonly daysBetween?: number;
  },
): readonly Step[] {
  const environment = liveEnvironment(0.1, { highStakesShare: 0.1, criticalShare: 0.02 });
  const work = steadyWork(drawFrom(population, seeded(name)), { environment, policy, name });
  const steps: Step[] = [];
  for (const step of programme(work, policy, { due: seeded(`${name}/due`), daysBetween })) {
    steps.push(step);
    if (!step.worked.isProbe && step.index === cases - 1) break;
  }
  return steps;
}

const probesIn = (steps: readonly Step[]) => steps.filter(({ worked }) => worked.isProbe);

Deno.test("the same seed gives the same programme, and another one another", () => {
  const policy = { ...PLAIN_POLICY, rate: 0.05 };
  assert.deepEqual(stepsOf(200, { policy }), stepsOf(200, { policy }));
  assert.notDeepEqual(stepsOf(200, { policy }), stepsOf(200, { policy, name: "other" }));
  const run = { model, seed: 3, operators: 4 };
  assert.deepEqual(minimums(run), minimums(run));
});

Deno.test("probes come before the share of cases that the policy says, and are of its kinds", () => {
  const policy = { ...PLAIN_POLICY, rate: 0.08, wrongShare: 0.3, stakes: GRAVE };
  const probes = probesIn(stepsOf(20_000, { policy }));
  isNear(probes.length / 20_000, 0.08, 0.008);
  isNear(shareOf(probes, ({ worked }) => worked.isWrong), 0.3, 0.05);
  for (const [stakes, share] of Object.entries(GRAVE)) {
    isNear(shareOf(probes, ({ worked }) => worked.interaction.scenario_type === stakes), share, 0.05);
  }
  assert.equal(probesIn(stepsOf(1_000, { policy: PLAIN_POLICY })).length, 0);
});

Deno.test("with a higher rate every probe of a lower rate comes, too", () => {
  const at = (rate: number) =>
    new Set(probesIn(stepsOf(2_000, { policy: { ...PLAIN_POLICY, rate } })).map(({ index }) => index));
  const [few, many] = [at(0.02), at(0.1)];
  assert.ok(few.size > 10 && few.isSubsetOf(many) && few.size < many.size);
});

Deno.test("while an operator had fewer probes than the minimum in 90 days, the highest share is due", () => {
  const policy = { ...PLAIN_POLICY, rate: 0.01, minimum: 12 };
  assert.deepEqual([0, 11, 12, 40].map((recent) => dueShare(policy, recent)), [0.1, 0.1, 0.01, 0.01]);
  const steps = stepsOf(20_000, { policy });
  const probes = probesIn(steps);
  const recentAt = (now: number) =>
    probes.filter((probe) => probe.now < now && probe.now > now - 90 * DAY_MS).length;
  const live = steps.filter(({ worked }) => !worked.isProbe);
  const isDue = new Set(probes.map(({ index }) => index));
  const [below, enough] = [true, false].map((isBelow) =>
    live.filter(({ now }) => (recentAt(now) < 12) === isBelow)
  );
  isNear(shareOf(below!, ({ index }) => isDue.has(index)), 0.1, 0.03);
  isNear(shareOf(enough!, ({ index }) => isDue.has(index)), 0.01, 0.003);
});

Deno.test("a policy out of its ranges is refused", () => {
  for (
    const wrong of [
      { rate: -0.01 },
      { rate: 0.06, highest: 0.05 },
      { highest: 0.11 },
      { wrongShare: 1.1 },
      { minimum: 1.5 },
      { minimum: -1 },
      { rate: NaN },
    ]
  ) assert.throws(() => dueShare({ ...PLAIN_POLICY, ...wrong }, 0), RangeError);
});

Deno.test("a probe's outcome follows from the seal and the decision, and contradicts nothing", () => {
  const policy = { ...PLAIN_POLICY, rate: 0.1, stakes: GRAVE };
  const decisions = new Set<string>();
  for (const population of ["independent", "rubber_stamper", "blind_referrer", "retoucher"] as const) {
    for (const { worked } of probesIn(stepsOf(1_500, { policy, population, name: population }))) {
      const { interaction, isWrong } = worked;
      const { decision, outcome_correct: outcome, ai_correct: isRight } = interaction;
      assert.deepEqual(recordedInteractionSchema.parse(interaction), interaction);
      assert.equal(contradictionOf(interaction), null);
      assert.equal(isRight, !isWrong);
      assert.ok(["standard", "high_stakes", "critical"].includes(interaction.scenario_type));
      if (decision === "accepted") assert.equal(outcome, isRight);
      else if (decision !== "modified") assert.equal(outcome, !isRight);
      decisions.add(`${decision}, ${outcome}`);
    }
  }
  for (const outcome of [true, false]) assert.ok(decisions.has(`modified, ${outcome}`));
});

Deno.test("a verdict is that of the engine over the same cases, with the truths that are known", () => {
  const policy = { ...PLAIN_POLICY, rate: 0.1, stakes: GRAVE };
  const statuses = new Set<string>();
  for (const population of ["independent", "rubber_stamper"] as const) {
    for (const known of [0, 0.3]) {
      for (const countedAs of ["probe", "live", "planted"] as const satisfies CountedAs[]) {
        let state: OperatorState | null = null;
        let parts = NO_PARTS;
        for (const step of stepsOf(600, { policy, population, name: population })) {
          const { worked: { interaction, domain, isProbe, isWrong, label }, index, now } = step;
          const isKnown = isProbe || label < known;
          const scenario_type = isProbe && isWrong && countedAs === "planted"
            ? "error_injected" as const
            : interaction.scenario_type;
          const { ai_correct: _, ...untold } = interaction;
          const seal = isProbe && countedAs === "probe" ? { sealed_probe: true as const } : {};
          const sent: Interaction = isKnown
            ? { ...interaction, scenario_type, ...seal }
            : { ...untold, outcome_correct: null };
          const next: OperatorState = advance(model, state, { interaction: sent, domain, now }).state;
          state = next;
          parts = recorded(model, parts, step, { known, countedAs });
          if (isProbe || index % 100 !== 99) continue;
          const { status } = readState(model, next, { domain, mode: "full" }).judgment!.verdict;
          assert.equal(statusAt(model, parts, now), status);
          statuses.add(status);
        }
      }
    }
  }
  assert.ok(statuses.has("undetermined") && statuses.has("non_compliant"));
});

Deno.test("more probes never find fewer blind reviewers beyond chance", () => {
  const environment = liveEnvironment(0.05);
  const run = { model, seed: 11, operators: 120 };
  const reviewers = reviewersOf(run, "rubber_stamper", { environment, policy: PLAIN_POLICY });
  for (const known of [0, 0.1]) {
    const found = [0, 0.01, 0.05, 0.1].map((rate) =>
      shareOf(
        reviewers,
        (one) =>
          looksAfter(model, one, { policy: { ...PLAIN_POLICY, rate }, known }, [500])[0]!.status ===
            "non_compliant",
      )
    );
    const chance = 2 * Math.sqrt(0.25 / reviewers.length);
    found.reduce((fewer, more) => {
      assert.ok(more >= fewer - chance, `${found}`);
      return more;
    });
    assert.ok(found.at(-1)! > found[0]! + chance, `${found}`);
  }
});

// ---- reviewers who defeat probes ----------------------------------------------------------------------------

const evaded = evasion({ model, seed: 5, operators: 40 });

function figure(measure: string, of: string): number {
  const [found, ...others] = evaded.filter((one) => one.measure === measure && one.of === of);
  assert.ok(found !== undefined && others.length === 0, `${measure}, ${of}`);
  return found.value;
}

const gapOf = (of: string) =>
  figure("probes 5 %: errors found in probes", of) - figure("probes 5 %: errors found in live work", of);

Deno.test("a learner's gap between probes and live work is visible, and the verdict without labels does not see it", () => {
  assert.ok(gapOf("learners") > 0.4);
  const revealed = "probes 5 %: outcomes known 50 %, probes against live cases reveals one reviewer";
  assert.ok(figure(revealed, "learners") > 0.7);
  for (const honest of ["blind", "careful"]) {
    isNear(gapOf(honest), 0, 0.1);
    assert.ok(figure(revealed, honest) < 0.3);
  }
  assert.equal(figure("probes 5 %: counted as probe, outcomes known 0 %, certainly at risk", "learners"), 0);
});

Deno.test("talkers are revealed by repeated contents, and warned reviewers by the cases after a probe", () => {
  assert.ok(gapOf("talkers") > 0.1);
  assert.equal(figure("probes 5 %: repeated contents against fresh ones reveals a team of 10", "talkers"), 1);
  isNear(gapOf("warned"), 0, 0.12);
  const after =
    "probes 2 %: outcomes known 50 %, live cases soon after a probe against later ones reveals a team of 10";
  assert.equal(figure(after, "warned"), 1);
  const care = (share: string) => figure(`probes ${share}: errors found in live work`, "warned");
  assert.ok(care("1 %") < care("2 %") && care("2 %") < care("5 %"), "more probes, more care");
  assert.deepEqual([0, 20, 30, 40, Infinity].map(careAfter), [1, 1, 0.5, 0, 0]);
});

Deno.test("verdicts of each kind of reviewer add up to all", () => {
  for (const of of EVADER_NAMES) {
    const shares = ["certainly compliant", "undetermined", "certainly at risk"].map((status) =>
      figure(`probes 2 %: counted as planted, outcomes known 10 %, ${status}`, of)
    );
    isNear(shares.reduce((sum, share) => sum + share, 0), 1, 1e-12);
  }
});

Deno.test("Fisher's exact test is that of the tea-tasting lady", () => {
  isNear(fisherAbove({ well: 3, badly: 1 }, { well: 1, badly: 3 }), 17 / 70, 1e-12);
  isNear(fisherAbove({ well: 4, badly: 0 }, { well: 0, badly: 4 }), 1 / 70, 1e-12);
  isNear(fisherAbove({ well: 0, badly: 4 }, { well: 4, badly: 0 }), 1, 1e-12);
  assert.equal(fisherAbove({ well: 0, badly: 0 }, { well: 4, badly: 1 }), 1);
});

Deno.test("a probe is drawn of the kinds that have a weight", () => {
  const random = seeded("kinds");
  const policy = { ...PLAIN_POLICY, wrongShare: 1, stakes: { standard: 0, high_stakes: 0, critical: 2 } };
  for (let count = 0; count < 20; count += 1) {
    assert.deepEqual(drawProbe(policy, random), { isWrong: true, stakes: "critical" });
  }
});
