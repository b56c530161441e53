/** Laws of the formulas `jis-3`: over any known cases, and over histories of interactions. */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  DECISIONS,
  DIMENSIONS,
  type Domain,
  DOMAINS,
  LATER_DOMAINS,
  SCENARIO_TYPES,
  VERDICT_STATUSES,
} from "../../src/domain/enums.ts";
import { type Interaction, recordedInteractionSchema } from "../../src/domain/interaction.ts";
import { contradictionOf } from "../../src/domain/truth.ts";
import { DAY_MS } from "../../src/domain/time.ts";
import { isPresented } from "../../src/scoring/classify.ts";
import { bandOf, jisOf } from "../../src/scoring/dimensions.ts";
import { Posterior } from "../../src/scoring/discrimination.ts";
import { scoreDecision } from "../../src/scoring/drs.ts";
import { explainScore } from "../../src/scoring/explain.ts";
import {
  allLive,
  casesOf,
  NO_PARTS,
  type Part,
  type PartsOfWork,
  sumOf,
  withDecision,
} from "../../src/scoring/known_cases.ts";
import { applyLabel } from "../../src/scoring/label.ts";
import { domainRules, type ModelDocument } from "../../src/scoring/model.ts";
import { readState } from "../../src/scoring/reading.ts";
import { asOf } from "../../src/scoring/reducer.ts";
import { score, type Scored } from "../../src/scoring/score.ts";
import { initialState, minimumDataMet, type OperatorState, stateSchema } from "../../src/scoring/state.ts";
import { judge } from "../../src/scoring/verdict.ts";
import { JIS_1_0_0, JIS_1_1_0, JIS_2_0_0 as model } from "../models.ts";

const part = fc.tuple(...[30, 30, 120, 60, 40, 30].map((max) => fc.nat({ max }))).map(
  ([hit, miss, right, alarm, more, unclear]): Part => {
    const [wrong, others] = [hit! + miss!, right! + alarm!];
    return [hit!, miss!, right!, alarm!, wrong, others, wrong + others + more!, Math.min(hit!, unclear!)];
  },
);
const planted = part.map(([hit, miss, , , wrong, , , unclear]): Part => [
  ...[hit, miss, 0, 0] as const,
  ...[wrong, 0, wrong, unclear] as const,
]);

const parts: fc.Arbitrary<PartsOfWork> = fc.record({
  n: part,
  p: planted,
  s: part,
  c: part,
  a: part,
  d: fc.dictionary(fc.constantFrom(...DOMAINS), part, { maxKeys: 3 }),
  q: fc.dictionary(fc.constantFrom(...DOMAINS), planted, { maxKeys: 3 }),
  u: fc.constant({}),
  t: fc.constant(null),
  m: fc.nat({ max: 7 }),
});

const rankOf = (of: PartsOfWork) => VERDICT_STATUSES.indexOf(judge(model, of, "full").verdict.status);

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

// The two records are of the same person: once the part is all the work, and once good work stands beside it.
Deno.test("the verdict of a part of which enough is known is never raised by other work, however good", () => {
  const plantedOrNone = fc.oneof(planted, fc.constant(NO_PARTS.p));
  const measured = fc.tuple(part, plantedOrNone).filter(([of, p]) =>
    of[4] + p[4] >= 5 || rankOf({ ...NO_PARTS, n: of, p }) === VERDICT_STATUSES.indexOf("non_compliant")
  );
  fc.assert(fc.property(measured, part, plantedOrNone, ([of, p], other, otherPlanted) => {
    const both = sumOf([of, other]);
    const whole = { ...NO_PARTS, n: both, p: sumOf([p, otherPlanted]) };
    if (of[4] >= 5 || p === NO_PARTS.p) {
      const rankAlone = rankOf({ ...NO_PARTS, n: of, s: of, d: { legal: of } });
      assert.ok(rankOf({ ...whole, s: of, d: { legal: both } }) >= rankAlone, "high stakes");
    }
    const rankAlone = rankOf({ ...NO_PARTS, n: of, p, d: { legal: of }, q: { legal: p } });
    const besides = { d: { legal: of, general: other }, q: { legal: p, general: otherPlanted } };
    assert.ok(rankOf({ ...whole, ...besides }) >= rankAlone, "a domain");
  }));
});

const DAYS = 1_000;
const days = fc.dictionary(
  fc.constantFrom(...DOMAINS, "high_stakes", "critical"),
  fc.nat({ max: DAYS }),
  { maxKeys: 4 },
);

const fewCases = fc.tuple(...[4, 3, 20, 2, 20].map((max) => fc.nat({ max }))).map(
  ([hit, miss, right, alarm, more]): Part => {
    const [wrong, others] = [hit! + miss!, right! + alarm!];
    return [hit!, miss!, right!, alarm!, wrong, others, wrong + others + more!, 0];
  },
);
/** Good work in one domain, and several small ones of which little is known. */
const smallDomains: fc.Arbitrary<PartsOfWork> = fc.array(fewCases, { minLength: 2, maxLength: 8 }).map(
  (small) => {
    const good: Part = [75, 0, 225, 0, 75, 225, 300, 0];
    return {
      ...NO_PARTS,
      n: sumOf([good, ...small]),
      d: Object.fromEntries([good, ...small].map((of, index) => [DOMAINS[index]!, of])),
    };
  },
);

Deno.test("no acceptance without truth makes a verdict better, however long ago the other cases were", () => {
  const domains = fc.constantFrom(...DOMAINS.slice(0, 9));
  const day = fc.nat({ max: DAYS });
  const everyDay = fc.array(day, { minLength: 9, maxLength: 9 }).map((of) =>
    Object.fromEntries(of.map((value, index) => [DOMAINS[index]!, value]))
  );
  fc.assert(
    fc.property(fc.oneof(parts, smallDomains), fc.oneof(days, everyDay), domains, (of, u, domain) => {
      const before = { ...of, u, t: DAYS };
      for (const scenario_type of ["standard", "critical", "error_injected"] as const) {
        const after = withDecision(model, before, {
          domain,
          scenario_type,
          isProbe: false,
          isNew: true,
          evidence: null,
          isUnclear: false,
        });
        assert.ok(rankOf(after) >= rankOf(before));
      }
    }),
    { numRuns: 300 },
  );
});

Deno.test("nobody is compliant by modifications of which nobody said whether they mended wrong advice", () => {
  const reworded = part.map((of) => of.with(7, of[0]) as Part);
  fc.assert(fc.property(reworded, reworded, (n, legal) => {
    assert.notEqual(judge(model, { ...NO_PARTS, n }, "full").verdict.status, "compliant");
    const d = { legal, general: n };
    assert.ok(
      legal[4] < 5 ||
        judge(model, { ...NO_PARTS, n: sumOf([n, legal]), d }, "full").verdict.status !== "compliant",
    );
  }));
});

Deno.test("a clear hit in place of an unclear one never makes the verdict worse", () => {
  fc.assert(fc.property(parts, (of) => {
    const clearer = (part: Part) => part.with(7, Math.max(0, part[7] - 1)) as Part;
    const mapped = (record: PartsOfWork["d"]) =>
      Object.fromEntries(Object.entries(record).map(([name, part]) => [name, clearer(part!)]));
    const cleared = {
      ...of,
      n: clearer(of.n),
      p: clearer(of.p),
      s: clearer(of.s),
      c: clearer(of.c),
      d: mapped(of.d),
      q: mapped(of.q),
    };
    assert.ok(rankOf(cleared) <= rankOf(of));
  }));
});

Deno.test("a verdict rests on five known cases of wrong advice, unless everything is turned down, and nobody is compliant without five of right advice", () => {
  fc.assert(fc.property(parts, (of) => {
    const { status, wrong_cases: wrong } = judge(model, of, "full").verdict;
    if (status === "compliant") assert.ok(wrong >= 5 && of.n[4] >= 5 && of.n[5] + of.p[5] >= 5);
    if (status === "non_compliant" && wrong < 5) {
      assert.ok([allLive(of), of.s, of.c, ...Object.values(of.d)].some((part) => part![3] > part![2]));
    }
  }));
});

// ---- any known cases with one more ---------------------------------------------------------------------------

const NOTHING = { hit: 0, miss: 0, correctAcceptance: 0, falseAlarm: 0 };

/** The known cases with one more case of the general domain. */
function withCase(
  of: PartsOfWork,
  scenario_type: "standard" | "critical" | "error_injected",
  evidence: Partial<typeof NOTHING>,
): PartsOfWork {
  const domain = Object.keys(of.d)[0] as Domain | undefined ?? "general";
  return withDecision(model, of, {
    domain,
    scenario_type,
    isProbe: false,
    isNew: true,
    evidence: { ...NOTHING, ...evidence },
    isUnclear: false,
  });
}

/** The JIS, of which the dimensions without a weight are no part. */
function points(of: PartsOfWork, by: ModelDocument = model): number {
  const { dimensions } = judge(by, of, "full");
  return DIMENSIONS.reduce((sum, name) => sum + by.dimensions[name].weight * (dimensions[name] ?? 0), 0);
}

const live = fc.constantFrom("standard" as const, "critical" as const, "error_injected" as const);

Deno.test("a hit in place of a miss never makes the verdict worse, nor the score lower by more than it is rounded", () => {
  fc.assert(fc.property(parts, live, (of, scenario) => {
    const [hit, miss] = [withCase(of, scenario, { hit: 1 }), withCase(of, scenario, { miss: 1 })];
    assert.ok(rankOf(hit) <= rankOf(miss));
    assert.ok(points(hit) >= points(miss) - 1);
  }));
});

// The search for the worst case has found +16.75 and −20.5: a hit after 281 acceptances of right advice, and a
// false alarm of somebody of whom nearly all that is known are planted errors.
Deno.test("one known case moves the score by at most 25 points", () => {
  const cell = fc.constantFrom("hit", "miss", "correctAcceptance", "falseAlarm");
  fc.assert(fc.property(parts, live, cell, (of, scenario, name) => {
    const moved = points(withCase(of, scenario, { [name]: 1 })) - points(of);
    assert.ok(Math.abs(moved) <= 25, `moved by ${moved}`);
  }));
});

// It says that the operator leans to follow the AI, and so lowers the estimate for right advice too. The search for
// the worst case has found +2: somebody who found 63 planted errors, of whom nothing is known with right advice.
Deno.test("at a fixed error rate an accepted error raises the score by three points at most", () => {
  const { discrimination } = model;
  const { prior } = discrimination!.error_rate;
  const fixed = {
    ...model,
    discrimination: {
      ...discrimination!,
      error_rate: { ...discrimination!.error_rate, least: prior, most: prior },
    },
  };
  fc.assert(fc.property(parts, live, (of, scenario) => {
    const moved = points(withCase(of, scenario, { miss: 1 }), fixed) - points(of, fixed);
    assert.ok(moved <= 3, `moved by ${moved}`);
  }));
});

// ---- histories -----------------------------------------------------------------------------------------------

const FULL = { mode: "full", modeOverride: "normal" } as const;
const BEGIN = Date.UTC(2027, 0, 4);
const MINUTE_MS = 60_000;

const interaction: fc.Arbitrary<Interaction> = fc.record({
  decision: fc.constantFrom(...DECISIONS),
  scenario_type: fc.constantFrom(...SCENARIO_TYPES),
  modification_extent: fc.double({ min: 0, max: 1, noNaN: true }),
  outcome_correct: fc.constantFrom(true, false, null),
  ai_correct: fc.constantFrom(true, false, undefined),
  time_to_decision_ms: fc.nat({ max: 100_000 }),
  hover_events: fc.constantFrom(null, 0, 3),
  scroll_depth: fc.constantFrom(null, 0, 0.5),
  alternative_views_checked: fc.constantFrom(null, 0, 2),
}).map(({ ai_correct, ...fields }) => {
  const isPossible = contradictionOf({ ...fields, ai_correct }) === null;
  return recordedInteractionSchema.parse(
    ai_correct === undefined || !isPossible ? fields : { ...fields, ai_correct },
  );
});

/** An interaction that tells nobody whether the recommendation was right. */
const unlabelled = interaction.map(({ ai_correct: _, ...fields }): Interaction => ({
  ...fields,
  outcome_correct: null,
  scenario_type: fields.scenario_type === "error_injected" ? "critical" : fields.scenario_type,
}));

interface Happened {
  readonly interaction: Interaction;
  readonly domain: Domain;
}

const happened: fc.Arbitrary<Happened> = fc.record({
  interaction,
  domain: fc.constantFrom<Domain>("general", "legal"),
});
const histories = fc.array(happened, { maxLength: 40 });

/** A case a minute; the state after the last one, null if there is none. */
function stateAfter(history: readonly Happened[], by: ModelDocument = model): OperatorState | null {
  return history.reduce<OperatorState | null>(
    (state, of, index) => score(by, state, { ...of, now: BEGIN + index * MINUTE_MS }, FULL).state,
    null,
  );
}

const endOf = (history: readonly unknown[]) => BEGIN + history.length * MINUTE_MS;

function scoreNext(history: readonly Happened[], next: Happened, gapMs = 0): Scored {
  return score(model, stateAfter(history), { ...next, now: endOf(history) + gapMs }, FULL);
}

/** The reading of a state that a gap has faded. */
function judgedAt(state: OperatorState | null, now: number) {
  return judge(model, asOf(model, state ?? initialState(model), now).ev ?? NO_PARTS, "full");
}

const gaps = fc.oneof(fc.constant(0), fc.nat({ max: 900 * DAY_MS }));

const unlabelledLive = unlabelled.filter(({ scenario_type }) => scenario_type !== "calibration");

Deno.test("a case whose truth nobody knows moves the score by nothing but the fading of a gap", () => {
  fc.assert(
    fc.property(histories, happened, unlabelledLive, gaps, (history, { domain }, interaction, gapMs) => {
      const before = judgedAt(stateAfter(history), endOf(history) + gapMs);
      const { state, result } = scoreNext(history, { interaction, domain }, gapMs);
      const after = judge(model, state.ev!, "full");
      assert.deepEqual([after.dimensions, after.low, after.high], [
        before.dimensions,
        before.low,
        before.high,
      ]);
      assert.equal(result.jis, jisOf(model, { ...result.dimensions, ...before.dimensions }, "full"));
      // It can make a part so large that it must be measured, and end the rest of one that was left.
      const [rankBefore, rankAfter] = [before, after].map(({ verdict }) =>
        VERDICT_STATUSES.indexOf(verdict.status)
      );
      assert.ok(rankAfter! >= rankBefore!, `${before.verdict.status} became ${after.verdict.status}`);
      if (after.verdict.doubt !== "part_not_measured" && gapMs === 0) {
        assert.deepEqual(after.verdict, before.verdict);
      }
      assert.deepEqual(result.compliance.verdict, after.verdict);
      assert.equal(result.compliance.status, after.verdict.status);
      assert.equal(result.compliance.article14_met, after.verdict.status === "compliant");
      assert.equal(result.band, bandOf(model, result.jis));
    }),
  );
});

Deno.test("a case that was announced as a test moves neither score nor verdict, whatever its truth", () => {
  fc.assert(fc.property(histories, happened, gaps, (history, { interaction, domain }, gapMs) => {
    const announced: Interaction = { ...interaction, scenario_type: "calibration" };
    const before = judge(model, stateAfter(history)?.ev ?? NO_PARTS, "full");
    const { state, result } = scoreNext(history, { interaction: announced, domain }, gapMs);
    assert.deepEqual(judge(model, state.ev!, "full"), before);
    assert.deepEqual(result.compliance.verdict, before.verdict);
    assert.equal(result.jis, jisOf(model, { ...result.dimensions, ...before.dimensions }, "full"));
  }));
});

Deno.test("telemetry that was zero in the whole history gives the score and the verdict of none at all", () => {
  const NONE = { hover_events: null, scroll_depth: null, alternative_views_checked: null };
  const ZEROS = { hover_events: 0, scroll_depth: 0, alternative_views_checked: 0 };
  const withTelemetry = (history: readonly Happened[], telemetry: Partial<Interaction>) =>
    history.map(({ interaction, domain }) => ({ domain, interaction: { ...interaction, ...telemetry } }));
  fc.assert(fc.property(histories.filter(({ length }) => length > 0), (history) => {
    const [zeros, none] = [ZEROS, NONE].map((telemetry) => withTelemetry(history, telemetry)) as [
      Happened[],
      Happened[],
    ];
    const [last, lastOfNone] = [zeros.pop()!, none.pop()!];
    assert.deepEqual(scoreNext(zeros, last), scoreNext(none, lastOfNone));
    const event = { ...last, now: endOf(zeros) };
    assert.deepEqual(
      explainScore(model, stateAfter(zeros), event),
      explainScore(model, stateAfter(none), { ...event, ...lastOfNone }),
    );
    const decision = { domain: last.domain, stakes: null, now: endOf(zeros) };
    assert.deepEqual(
      scoreDecision(model, stateAfter(zeros), { ...decision, interaction: last.interaction }),
      scoreDecision(model, stateAfter(none), { ...decision, interaction: lastOfNone.interaction }),
    );
  }));
});

Deno.test("a late label gives the known cases and the score of the same truth at scoring, if no case lies between", () => {
  fc.assert(
    fc.property(histories, happened, fc.boolean(), (history, { interaction: given, domain }, outcome) => {
      const { ai_correct: ai, ...fields } = given;
      fc.pre(fields.scenario_type !== "error_injected");
      fc.pre(contradictionOf({ ...fields, outcome_correct: outcome, ai_correct: ai }) === null);
      const said = ai === undefined ? {} : { ai_correct: ai };
      const atOnce = scoreNext(history, {
        domain,
        interaction: { ...fields, outcome_correct: outcome, ...said },
      });
      const { state, weights } = scoreNext(history, {
        domain,
        interaction: { ...fields, outcome_correct: null },
      });
      const { decision, scenario_type } = fields;
      const label = { weights, decision, scenario_type, outcome_correct: outcome, ...said };
      const labelled = applyLabel(model, state, label);
      assert.deepEqual(labelled.ev, atOnce.state.ev);
      assert.equal(labelled.jis, atOnce.state.jis);
      stateSchema.parse(labelled);
    }),
  );
});

Deno.test("a label of a case of which the interaction said whether the recommendation was right changes nothing", () => {
  fc.assert(fc.property(histories, unlabelled, fc.boolean(), (history, interaction, outcome) => {
    const { decision, scenario_type } = interaction;
    fc.pre(isPresented(interaction));
    const { state, weights } = scoreNext(history, {
      domain: "legal",
      interaction: { ...interaction, ai_correct: true },
    });
    const label = { weights, decision, scenario_type, outcome_correct: outcome, isAdviceCounted: true };
    assert.equal(applyLabel(model, state, label), state);
  }));
});

Deno.test("an error found in place of one let pass never makes a later verdict worse, nor the score lower", () => {
  const scenario = fc.constantFrom("standard" as const, "high_stakes" as const, "error_injected" as const);
  fc.assert(
    fc.property(histories, happened, scenario, histories, (earlier, { domain }, scenario_type, later) => {
      const after = (decision: "accepted" | "rejected") => {
        const interaction = recordedInteractionSchema.parse({
          decision,
          scenario_type,
          outcome_correct: decision === "rejected",
          time_to_decision_ms: 9_000,
        });
        const state = stateAfter([...earlier, { interaction, domain }, ...later])!;
        return { jis: state.jis!, verdict: judge(model, state.ev!, "full").verdict };
      };
      const [missed, found] = [after("accepted"), after("rejected")];
      const rank = ({ verdict }: typeof found) => VERDICT_STATUSES.indexOf(verdict.status);
      assert.ok(rank(found) <= rank(missed));
      // The JIS is made of dimensions in whole points.
      assert.ok(found.jis >= missed.jis - 1, `${missed.jis} to ${found.jis}`);
    }),
  );
});

// ---- from one model to another -------------------------------------------------------------------------------

Deno.test("the first score by jis-3 of a state of jis-1.1.0 begins anew, and says so", () => {
  fc.assert(fc.property(histories.filter(({ length }) => length > 0), happened, (history, next) => {
    const stored = stateAfter(history, JIS_1_1_0)!;
    const event = { ...next, now: endOf(history) };
    const { state, result } = score(model, stored, event, FULL);
    assert.deepEqual([state.ef, state.es, state.disp], [state.jis, state.jis, state.jis]);
    assert.equal(result.jis, state.jis);
    assert.equal(result.displayed_jis, Math.round(state.jis!));
    const alone = score(model, null, event, FULL);
    assert.deepEqual(state.ev, alone.state.ev);
    assert.equal(state.jis, alone.state.jis);
    assert.deepEqual(result.compliance.verdict, alone.result.compliance.verdict);
    assert.equal(state.n, history.length + 1);
    const remark =
      "The model changed from jis-1.1.0 to jis-2.0.0 before this score: cases that are known count from here on, and the score begins anew.";
    for (const { dimension, rules } of explainScore(model, stored, event)) {
      assert.equal(rules.includes(remark), model.dimensions[dimension].weight > 0);
    }
  }));
});

Deno.test("a return to jis-1.1.0 drops the known cases, and a second start of jis-3 begins anew again", () => {
  fc.assert(fc.property(histories.filter(({ length }) => length > 0), happened, (history, next) => {
    const event = { ...next, now: endOf(history) };
    const back = score(JIS_1_1_0, stateAfter(history)!, event, FULL);
    assert.ok(!("ev" in back.state));
    assert.equal(back.state.v, "jis-1.1.0");
    assert.equal(back.result.compliance.verdict, undefined);
    assert.equal(back.result.prior_dimensions, undefined);
    stateSchema.parse(back.state);
    const again = score(model, back.state, { ...event, now: event.now + MINUTE_MS }, FULL);
    assert.equal(again.state.es, again.state.jis);
  }));
});

Deno.test("a later domain is scored by every model, and is in a state from its first case on", () => {
  const later = fc.constantFrom(...LATER_DOMAINS);
  const models = fc.constantFrom(JIS_1_0_0, JIS_1_1_0, model);
  fc.assert(fc.property(models, histories, later, interaction, (by, history, domain, interaction) => {
    const before = stateAfter(history, by);
    assert.deepEqual(LATER_DOMAINS.filter((name) => name in (before ?? initialState(by)).K), []);
    const event = { interaction, domain, now: endOf(history) };
    const { state, result } = score(by, before, event, FULL);
    assert.ok(LATER_DOMAINS.every((name) => name === domain || !(name in state.K)));
    stateSchema.parse(state);
    assert.equal(result.decay_projection.domain, domain);
    assert.equal(result.decay_projection.floor, domainRules(by, domain).floor);
    if (by === model) return;
    // A model without numbers for the domain takes those of general.
    const inGeneral = score(by, before && { ...before, K: { ...before.K, general: [0, 0] } }, {
      ...event,
      domain: "general",
    }, FULL);
    assert.deepEqual(
      { ...result, decay_projection: { ...result.decay_projection, domain: "general" } },
      inGeneral.result,
    );
    assert.deepEqual(state.K[domain] ?? [0, 0], inGeneral.state.K.general);
  }));
});

// ---- what follows from the verdict ---------------------------------------------------------------------------

/** Cases that lead to each of the three verdicts, with fewer and with more than five known cases of wrong advice. */
const judgedHistories: fc.Arbitrary<readonly Happened[]> = fc.record({
  caught: fc.nat({ max: 30 }),
  missed: fc.nat({ max: 30 }),
  followed: fc.nat({ max: 40 }),
  rejected: fc.nat({ max: 20 }),
  scenario_type: fc.constantFrom("standard" as const, "critical" as const),
}).map(({ caught, missed, followed, rejected, scenario_type }) => {
  const cases = (count: number, decision: "accepted" | "rejected", outcome_correct: boolean) =>
    Array.from({ length: count }, (): Happened => ({
      domain: "legal",
      interaction: recordedInteractionSchema.parse({
        decision,
        scenario_type,
        outcome_correct,
        time_to_decision_ms: 20_000,
      }),
    }));
  return [
    ...cases(caught, "rejected", true),
    ...cases(missed, "accepted", false),
    ...cases(followed, "accepted", true),
    ...cases(rejected, "rejected", false),
  ];
}).filter(({ length }) => length > 0);

Deno.test("a score is provisional until there is enough data and five cases of wrong advice are known", () => {
  fc.assert(fc.property(judgedHistories, (history) => {
    const { state, result } = scoreNext(history.slice(1), history[0]!);
    const wrong = allLive(state.ev!)[4];
    assert.equal(result.provisional, !(minimumDataMet(model, state, endOf(history)) && wrong >= 5));
    assert.equal(result.committed, !result.provisional);
    assert.equal((result.prior_dimensions ?? []).length, wrong < 5 ? 3 : 0);
  }));
});

Deno.test("maintenance is of medium urgency and names the doubt while there is no verdict", () => {
  const seen = new Set<string>();
  fc.assert(fc.property(judgedHistories, (history) => {
    const { compliance, maintenance_recommendation: maintenance } =
      scoreNext(history.slice(1), history[0]!).result;
    const verdict = compliance.verdict!;
    const { reasons } = maintenance.recommendation;
    const undetermined = reasons.filter((reason) => reason.startsWith("undetermined_"));
    seen.add(verdict.status);
    if (verdict.status === "undetermined") {
      assert.deepEqual(undetermined, [`undetermined_${verdict.doubt}`]);
      assert.equal(maintenance.urgency, "medium");
      assert.ok(compliance.action_required);
    } else {
      assert.deepEqual(undetermined, []);
    }
    assert.ok(!reasons.some((reason) => reason.includes("_below_floor_")));
  }));
  assert.deepEqual([...seen].sort(), ["compliant", "non_compliant", "undetermined"]);
});

Deno.test("a decision score holds a low JIS against the operator only if the verdict is non_compliant", () => {
  const seen = new Set<string>();
  fc.assert(fc.property(judgedHistories, fc.boolean(), gaps, (history, isCritical, gapMs) => {
    const state = stateAfter(history);
    const now = endOf(history) + gapMs;
    const { policy_triggers, operator_verdict, factors } = scoreDecision(model, state, {
      interaction: recordedInteractionSchema.parse({
        decision: "accepted",
        time_to_decision_ms: 20_000,
        scenario_type: isCritical ? "critical" : "standard",
      }),
      domain: "legal",
      stakes: null,
      now,
    });
    const current = asOf(model, state!, now);
    const { judgment, jis } = readState(model, current, { domain: "legal", mode: "full" });
    assert.deepEqual(operator_verdict, judgment!.verdict);
    assert.equal(factors.find(({ name }) => name === "operator_jis")!.value, jis);
    const { status } = operator_verdict!;
    const isTriggered = (policy: string) =>
      policy_triggers.find((row) => row.policy.startsWith(policy))!.triggered;
    assert.equal(isTriggered("P2_"), status === "non_compliant" && jis < 40);
    assert.equal(isTriggered("P3_"), status === "non_compliant" && jis >= 40 && jis < 60);
    const isUnproven = status === "undetermined" || !minimumDataMet(model, current, now);
    assert.equal(isTriggered("P6_"), isCritical && isUnproven);
    for (const policy of ["P2_", "P3_", "P6_"]) if (isTriggered(policy)) seen.add(policy);
  }));
  assert.deepEqual([...seen].sort(), ["P2_", "P3_", "P6_"]);
});
