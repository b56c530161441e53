/** Late labels, with every bucket computed by hand. */
import assert from "node:assert/strict";
import { recordedInteractionSchema } from "../../src/domain/interaction.ts";
import { applyLabel, type LateLabel } from "../../src/scoring/label.ts";
import type { EventWeights } from "../../src/scoring/reducer.ts";
import { score } from "../../src/scoring/score.ts";
import { initialState, type OperatorState } from "../../src/scoring/state.ts";
import { JIS_1_0_0 as model } from "../models.ts";

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

Deno.test("a label counts from the next score on: score, average, baseline, gap and error window stay", () => {
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
