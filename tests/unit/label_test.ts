/** Late labels, with every bucket computed by hand. */
import assert from "node:assert/strict";
import { recordedInteractionSchema } from "../../src/domain/interaction.ts";
import { NO_PART, NO_PARTS, type PartsOfWork } from "../../src/scoring/known_cases.ts";
import { applyLabel, type LateLabel } from "../../src/scoring/label.ts";
import type { EventWeights } from "../../src/scoring/reducer.ts";
import { readState } from "../../src/scoring/reading.ts";
import { score } from "../../src/scoring/score.ts";
import { initialState, type OperatorState } from "../../src/scoring/state.ts";
import { JIS_1_0_0 as model, JIS_1_1_0, JIS_2_0_0 } from "../models.ts";

const NOW = 1_780_304_400_000;
const FULL = { mode: "full", modeOverride: "normal" } as const;

/** The weights of an ordinary acceptance, half scrutinised, with all telemetry. */
const WEIGHTS: EventWeights = {
  omega: 1,
  s: 0,
  r: 0.5,
  kappa: 0.5,
  wP: 1,
  inert: false,
  domain: "general",
  presented: true,
};

const BLANK = initialState(model);

function labelOf(
  decision: LateLabel["decision"],
  outcome: boolean,
  weights: Partial<EventWeights> = {},
): LateLabel {
  return {
    weights: { ...WEIGHTS, ...weights },
    decision,
    scenario_type: "standard",
    outcome_correct: outcome,
  };
}

/** The blank state with these buckets, `K` of the general domain, and one more case of known truth. */
function expected(buckets: Partial<OperatorState["b"]>, K: [number, number], lab = 1): OperatorState {
  return {
    ...BLANK,
    b: { ...BLANK.b, ...buckets },
    K: { ...BLANK.K, general: K },
    cnt: { ...BLANK.cnt, truth: 1, lab },
  };
}

Deno.test("an unlabelled acceptance that is labelled wrong later adds one miss to H", () => {
  assert.deepEqual(
    applyLabel(model, BLANK, labelOf("accepted", false)),
    expected({ H: [0, 1], A: [0, 1.5], U: [0, 0.35] }, [0, 1]),
  );
});

Deno.test("an unlabelled acceptance that is labelled right later adds one correct acceptance to C", () => {
  assert.deepEqual(
    applyLabel(model, BLANK, labelOf("accepted", true)),
    expected({ C: [1, 0], A: [0.2125, 0.2875] }, [0.075, 0]),
  );
});

Deno.test("a rejection or override that is labelled right later adds one hit to H", () => {
  for (const decision of ["rejected", "overridden"] as const) {
    assert.deepEqual(
      applyLabel(model, BLANK, labelOf(decision, true, { s: 1 })),
      expected({ H: [1, 0], A: [1.25, 0], U: [0.35, 0] }, [1, 0]),
    );
  }
});

Deno.test("a rejection that is labelled wrong later adds one false alarm to C", () => {
  assert.deepEqual(
    applyLabel(model, BLANK, labelOf("rejected", false, { s: 1 })),
    expected({ C: [0, 1], A: [0, 1.25], U: [0, 0.35] }, [0, 1]),
  );
});

Deno.test("a modification is split by its recorded departure share", () => {
  assert.deepEqual(
    applyLabel(model, BLANK, labelOf("modified", true, { s: 0.4 })),
    expected({ H: [0.4, 0], C: [0.6, 0], A: [0.625, 0.1725], U: [0.14, 0] }, [0.444742857, 0]),
  );
  assert.deepEqual(
    applyLabel(model, BLANK, labelOf("modified", false, { s: 0.4 })),
    expected({ H: [0, 0.6], C: [0, 0.2], A: [0, 1.14625], U: [0, 0.279706] }, [0, 0.798285714]),
  );
});

Deno.test("a warranted referral is three quarters of a hit, an unneeded one half a false alarm", () => {
  assert.deepEqual(
    applyLabel(model, BLANK, labelOf("escalated", true)),
    expected({ H: [0.75, 0], A: [0.9375, 0], U: [0.2625, 0] }, [0.75, 0]),
  );
  assert.deepEqual(
    applyLabel(model, BLANK, labelOf("deferred", false)),
    expected({ C: [0, 0.5], A: [0, 0.625], U: [0, 0.175] }, [0, 0.5]),
  );
});

Deno.test("an unaided decision that is labelled later changes U and K alone, and counts as truth without a labelled recommendation", () => {
  assert.deepEqual(
    applyLabel(model, BLANK, labelOf("accepted", true, { presented: false })),
    expected({ U: [1, 0] }, [1, 0], 0),
  );
  assert.deepEqual(
    applyLabel(model, BLANK, labelOf("rejected", false, { presented: false, s: 1 })),
    expected({ U: [0, 1] }, [0, 1], 0),
  );
});

Deno.test("a label has the weight that its scenario had when it was scored", () => {
  assert.deepEqual(
    applyLabel(model, BLANK, { ...labelOf("accepted", false, { omega: 1.5 }), scenario_type: "critical" }),
    expected({ H: [0, 1.5], A: [0, 2.25], U: [0, 0.525] }, [0, 1.5]),
  );
});

Deno.test("an acceptance that was inert gets its discrimination, but neither ownership nor domain credit", () => {
  assert.deepEqual(
    applyLabel(model, BLANK, labelOf("accepted", true, { r: 1, inert: true })),
    expected({ C: [1, 0], A: [0.325, 0.175] }, [0, 0]),
  );
});

Deno.test("an acceptance without telemetry counts half for ownership", () => {
  assert.deepEqual(
    applyLabel(model, BLANK, labelOf("accepted", true, { wP: 0.5 })),
    expected({ C: [1, 0], A: [0.10625, 0.14375] }, [0.075, 0]),
  );
});

Deno.test("a label makes a bucket forget by its own weight only", () => {
  const before: OperatorState = { ...BLANK, b: { ...BLANK.b, H: [3, 1], C: [20, 2] } };
  const { b } = applyLabel(model, before, labelOf("accepted", false));
  assert.deepEqual(b.H, [2.9, 1.966666667]);
  assert.deepEqual(b.C, [20, 2]);
});

Deno.test("a label changes K of the case's domain, not of the operator's last one", () => {
  const { K } = applyLabel(model, BLANK, labelOf("rejected", true, { s: 1, domain: "legal" }));
  assert.deepEqual(K, { ...BLANK.K, legal: [1, 0] });
});

Deno.test("before jis-3 a label counts from the next score on: score, average, baseline, gap and error window stay", () => {
  const interaction = recordedInteractionSchema.parse({ decision: "accepted", time_to_decision_ms: 9_000 });
  const event = { interaction, domain: "general" as const, now: NOW };
  const { state, weights } = score(model, null, event, FULL);
  const labelled = applyLabel(model, state, {
    weights,
    decision: "accepted",
    scenario_type: "standard",
    outcome_correct: false,
  });
  assert.deepEqual({ ...labelled, b: state.b, K: state.K, cnt: state.cnt }, state);
  assert.equal(labelled.err, null);
  assert.deepEqual(labelled.cnt, { ...state.cnt, truth: 1, lab: 1 });
  const next = { ...event, now: NOW + 60_000 };
  const { error_detection, independent_performance, domain_confidence } =
    score(model, labelled, next, FULL).result.dimensions;
  // H = 2.6/5 and C = 0.65, U = 3.25/5.35, K = 3.25/6; without the label each is 65.
  assert.deepEqual([error_detection, independent_performance, domain_confidence], [56, 61, 54]);
  const unlabelled = score(model, state, next, FULL).result.dimensions;
  assert.deepEqual(
    [unlabelled.error_detection, unlabelled.independent_performance, unlabelled.domain_confidence],
    [65, 65, 65],
  );
});

Deno.test("a label does not change what its unlabelled case added to A and Q", () => {
  const before: OperatorState = { ...BLANK, b: { ...BLANK.b, A: [0.375, 0.375], Q: [0, 1] } };
  const { b } = applyLabel(model, before, labelOf("rejected", true, { s: 1 }));
  assert.deepEqual(b.Q, [0, 1]);
  assert.deepEqual(b.A, [1.6171875, 0.3671875]);
});

Deno.test("the given state is not changed", () => {
  const before = structuredClone(BLANK);
  applyLabel(model, before, labelOf("accepted", false));
  assert.deepEqual(before, BLANK);
});

Deno.test("an injected error takes no late label, because its truth is in the state already", () => {
  assert.throws(
    () => applyLabel(model, BLANK, { ...labelOf("accepted", false), scenario_type: "error_injected" }),
    RangeError,
  );
});

// ---- the formulas jis-3 -----------------------------------------------------------------------------------

/** A state that `jis-3` has scored: one unlabelled case of high stakes in the legal domain. */
const SCORED_BY_JIS_3 = score(JIS_2_0_0, null, {
  interaction: recordedInteractionSchema.parse({
    decision: "accepted",
    scenario_type: "high_stakes",
    time_to_decision_ms: 9_000,
  }),
  domain: "legal",
  now: NOW,
}, FULL).state;

/** The known cases after a label of that case, or of another one. */
function knownAfter(label: Partial<LateLabel>, weights: Partial<EventWeights> = {}): PartsOfWork {
  return applyLabel(JIS_2_0_0, SCORED_BY_JIS_3, {
    ...labelOf("accepted", false, { domain: "legal", ...weights }),
    scenario_type: "high_stakes",
    ...label,
  }).ev!;
}

Deno.test("a label of jis-3 counts in each part of the work to which its case belongs, as no new decision", () => {
  const missed = [0, 1, 0, 0, 1, 0, 1, 0] as const;
  assert.deepEqual(knownAfter({}), {
    ...NO_PARTS,
    t: SCORED_BY_JIS_3.ev!.t,
    u: SCORED_BY_JIS_3.ev!.u,
    n: missed,
    s: missed,
    d: { legal: missed },
    q: { legal: NO_PART },
  });
  const accepted = [0, 0, 1, 0, 0, 1, 1, 0] as const;
  assert.deepEqual(knownAfter({ outcome_correct: true }), {
    ...NO_PARTS,
    t: SCORED_BY_JIS_3.ev!.t,
    u: SCORED_BY_JIS_3.ev!.u,
    n: accepted,
    s: accepted,
    d: { legal: accepted },
    q: { legal: NO_PART },
  });
  // A standard case of another domain: the decision of high stakes stays without truth.
  const [undecided, hit] = [[0, 0, 0, 0, 0, 0, 1, 0], [1, 0, 0, 0, 1, 0, 0, 0]] as const;
  assert.deepEqual(
    knownAfter({ decision: "rejected", outcome_correct: true, scenario_type: "standard" }, {
      domain: "general",
    }),
    {
      ...NO_PARTS,
      t: SCORED_BY_JIS_3.ev!.t,
      u: { ...SCORED_BY_JIS_3.ev!.u, general: SCORED_BY_JIS_3.ev!.t! },
      n: [1, 0, 0, 0, 1, 0, 1, 0],
      s: undecided,
      d: { legal: undecided, general: hit },
      q: { legal: NO_PART, general: NO_PART },
    },
  );
});

Deno.test("a label of an announced test counts apart, and one of an unaided case not at all", () => {
  const { ev, jis } = SCORED_BY_JIS_3;
  const announced = applyLabel(JIS_2_0_0, SCORED_BY_JIS_3, {
    ...labelOf("accepted", false, { domain: "legal" }),
    scenario_type: "calibration",
  });
  assert.deepEqual([announced.ev, announced.jis], [{ ...ev, a: [0, 1, 0, 0, 1, 0, 0, 0] }, jis]);
  const unaided = applyLabel(JIS_2_0_0, SCORED_BY_JIS_3, labelOf("accepted", false, { presented: false }));
  assert.deepEqual([unaided.ev, unaided.jis, unaided.b.U], [ev, jis, [0, 1]]);
});

Deno.test("a label that says whether the advice was right counts by that, not by the outcome", () => {
  // Departed from wrong advice to another wrong decision: no false alarm.
  const departed = { decision: "rejected", outcome_correct: false } as const;
  assert.deepEqual(knownAfter({ ...departed, ai_correct: false }).n, [1, 0, 0, 0, 1, 0, 1, 0]);
  assert.deepEqual(knownAfter({ ...departed, ai_correct: true }).n, [0, 0, 0, 1, 0, 1, 1, 0]);
  assert.deepEqual(knownAfter(departed).n, [0, 0, 0, 1, 0, 1, 1, 0]);
  // The formulas before read the outcome alone.
  const earlier = applyLabel(model, BLANK, { ...labelOf("rejected", false, { s: 1 }), ai_correct: false });
  assert.deepEqual([earlier.b.H, earlier.b.C], [[0, 0], [0, 1]]);
});

Deno.test("a label of jis-3 moves the score at once, but neither its averages nor the score shown", () => {
  const before = SCORED_BY_JIS_3;
  const [missed, hit] = [
    labelOf("accepted", false, { domain: "legal" }),
    labelOf("rejected", true, { domain: "legal", s: 1 }),
  ].map((label) => applyLabel(JIS_2_0_0, before, label));
  for (const after of [missed!, hit!]) {
    assert.notEqual(after.jis, before.jis);
    assert.deepEqual([after.ef, after.es, after.disp, after.n], [
      before.ef,
      before.es,
      before.disp,
      before.n,
    ]);
  }
  assert.ok(hit!.jis! > missed!.jis!);
});

/** What the formulas before leave of two scores. */
const LEFT_BY_JIS_2 = [0, 1].reduce<OperatorState | null>((state, index) =>
  score(JIS_1_1_0, state, {
    interaction: recordedInteractionSchema.parse({ decision: "accepted", time_to_decision_ms: 9_000 }),
    domain: "general",
    now: NOW + index,
  }, FULL).state, null)!;

Deno.test("a label of a modification says whether it mended wrong advice", () => {
  const unclearAfter = (of: Partial<LateLabel>) =>
    knownAfter({ decision: "modified", outcome_correct: true, scenario_type: "standard", ...of }, { s: 1 }).n;
  assert.deepEqual(unclearAfter({}), [1, 0, 0, 0, 1, 0, 1, 1]);
  assert.deepEqual(unclearAfter({ ai_correct: false }), [1, 0, 0, 0, 1, 0, 1, 0]);
  assert.deepEqual(unclearAfter({ ai_correct: true }), [0, 0, 1, 0, 0, 1, 1, 0]);
});

Deno.test("a label that comes before the first score by jis-3 begins the operator anew, as that score would", () => {
  const left = LEFT_BY_JIS_2;
  const after = applyLabel(JIS_2_0_0, left, labelOf("accepted", false));
  const missed = [0, 1, 0, 0, 1, 0, 0, 0] as const;
  assert.deepEqual(after.ev, { ...NO_PARTS, n: missed, d: { general: missed }, q: { general: NO_PART } });
  assert.deepEqual([after.v, after.ef, after.es, after.disp], ["jis-2.0.0", null, null, null]);
  assert.equal(after.jis, readState(JIS_2_0_0, after, { domain: "general", mode: "full" }).jis);
  assert.deepEqual([after.n, after.t0, after.t1], [left.n, left.t0, left.t1], "a label is no interaction");
  assert.deepEqual(after.b.H, [0, 1]);
});

Deno.test("labels before and after the first score by jis-3 leave the same known cases, score and averages", () => {
  const event = {
    interaction: recordedInteractionSchema.parse({ decision: "rejected", time_to_decision_ms: 9_000 }),
    domain: "general",
    now: NOW + 2,
  } as const;
  const labels = [
    ...Array.from({ length: 6 }, () => labelOf("accepted", false)),
    ...Array.from({ length: 9 }, () => labelOf("accepted", true)),
    { ...labelOf("accepted", false), scenario_type: "critical" },
    { ...labelOf("accepted", false), scenario_type: "calibration" },
    labelOf("accepted", true, { presented: false }),
  ] as const satisfies readonly LateLabel[];
  const labelled = (state: OperatorState) =>
    labels.reduce((before, label) => applyLabel(JIS_2_0_0, before, label), state);
  const scored = (state: OperatorState) => score(JIS_2_0_0, state, event, FULL).state;
  const [before, after] = [scored(labelled(LEFT_BY_JIS_2)), labelled(scored(LEFT_BY_JIS_2))];
  assert.deepEqual([before.ev, before.jis, before.cnt], [after.ev, after.jis, after.cnt]);
  assert.equal(before.ev!.n[4], 7);
  assert.deepEqual([before.ef, before.es, before.disp], [before.jis, before.jis, before.jis]);
});

Deno.test("a label of an unaided case begins the operator anew, too; one of a case that was counted does not", () => {
  const unaided = applyLabel(JIS_2_0_0, LEFT_BY_JIS_2, labelOf("accepted", false, { presented: false }));
  assert.deepEqual([unaided.ev, unaided.v, unaided.ef], [NO_PARTS, "jis-2.0.0", null]);
  assert.equal(unaided.jis, readState(JIS_2_0_0, unaided, { domain: "general", mode: "full" }).jis);
  const counted = { ...labelOf("accepted", false), isAdviceCounted: true };
  assert.deepEqual(applyLabel(JIS_2_0_0, LEFT_BY_JIS_2, counted), LEFT_BY_JIS_2);
});

Deno.test("a label by formulas before jis-3 begins nothing anew", () => {
  const after = applyLabel(JIS_1_1_0, LEFT_BY_JIS_2, labelOf("accepted", false));
  assert.ok(!("ev" in after));
  assert.deepEqual([after.v, after.jis, after.ef], [LEFT_BY_JIS_2.v, LEFT_BY_JIS_2.jis, LEFT_BY_JIS_2.ef]);
});
