/**
 * POST /v1/maintenance/recommend: who is eligible, and the recommendations.
 * Source: specification, Maintenance recommendation; contract, section 4; scoring model, section 8.
 */
import assert from "node:assert/strict";
import { type Harness, openHarness, scoreRequest, withHarness } from "../harness.ts";
import { resealed } from "../resealed.ts";
import { refuses } from "../scenario.ts";
import examples from "../vectors/scoring/examples.json" with { type: "json" };

const DAY = 86_400_000;
const PATH = "/v1/maintenance/recommend";

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

// ---- fixtures ---------------------------------------------------------------------------------------------

let sessions = 0;

async function score(
  { send }: Harness,
  key: string,
  { operator = "operator-1", domain = "general", ...interaction }: Record<string, unknown> = {},
): Promise<Json> {
  sessions += 1;
  const answer = await send("/v1/score", {
    key,
    body: scoreRequest({ session_id: `s-${sessions}`, operator_id: operator, domain }, interaction),
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

async function scoreMany(
  { send }: Harness,
  key: string,
  { count, ...interaction }: Record<string, unknown> & { readonly count: number },
): Promise<void> {
  const interactions = Array.from({ length: count }, () => ({
    session_id: `s-${sessions += 1}`,
    time_to_decision_ms: 14200,
    decision: "accepted",
    ...interaction,
  }));
  const body = { operator_id: "operator-1", domain: "general", interactions };
  const answer = await send("/v1/score/batch", { key, body });
  assert.equal(answer.status, 200, answer.text);
}

const recommend = ({ send }: Harness, key: string, operator = "operator-1") =>
  send(PATH, { key, body: { operator_id: operator } });

/** The answer without the members that differ in each call. */
async function recommended(harness: Harness, key: string): Promise<Json> {
  const { status, body, text } = await recommend(harness, key);
  assert.equal(status, 200, text);
  const { request_id: _id, timestamp: _at, ...rest } = body;
  return rest;
}

// ---- 200 --------------------------------------------------------------------------------------------------

Deno.test(
  "a recommendation has the specification's fields, and three exercises of its target dimension",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreMany(harness, key, { count: 50, outcome_correct: true });
    const { status, body } = await recommend(harness, key);
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), ["exercises", "recommendation", "request_id", "timestamp"]);
    assert.deepEqual(Object.keys(body.recommendation), [
      "intervention_type",
      "target_dimension",
      "difficulty",
      "frequency_ratio",
    ]);
    const target = body.recommendation.target_dimension;
    assert.deepEqual(body.exercises.map(({ id }: Json) => id), [
      `ex_${target}_1`,
      `ex_${target}_2`,
      `ex_${target}_3`,
    ]);
    for (const exercise of body.exercises) {
      assert.deepEqual(Object.keys(exercise), ["id", "title", "payload"]);
      assert.ok(exercise.title.length > 0);
      assert.equal(exercise.payload.dimension, target);
      assert.equal(exercise.payload.difficulty, body.recommendation.difficulty);
      for (const name of ["items", "estimated_minutes", "ai_error_share"]) {
        assert.equal(typeof exercise.payload[name], "number", name);
      }
      assert.deepEqual(Object.keys(exercise.payload.success), ["metric", "threshold"]);
    }
  }),
);

Deno.test(
  "50 interactions make an operator eligible on the first day",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreMany(harness, key, { count: 49 });
    assert.equal((await recommend(harness, key)).status, 422);
    await scoreMany(harness, key, { count: 1 });
    assert.equal((await recommend(harness, key)).status, 200);
  }),
);

Deno.test(
  "10 days of monitoring make an operator with one interaction eligible, to the millisecond, without a write",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    const before = await harness.rowCounts();
    harness.clock.advance(10 * DAY - 1);
    assert.equal((await recommend(harness, key)).status, 422);
    harness.clock.advance(1);
    // After one careful acceptance error detection is 67, and the truth of only one case is known.
    assert.deepEqual((await recommended(harness, key)).recommendation, {
      intervention_type: "error_injection",
      target_dimension: "error_detection",
      difficulty: "moderate",
      frequency_ratio: 0.05,
    });
    assert.deepEqual(await harness.rowCounts(), before);
  }),
);

Deno.test(
  "a state has one recommendation: repeated, also half a year later, it is the same to the byte",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreMany(harness, key, { count: 60, outcome_correct: true });
    const first = await recommended(harness, key);
    assert.equal(JSON.stringify(await recommended(harness, key)), JSON.stringify(first));
    harness.clock.advance(180 * DAY);
    assert.equal(JSON.stringify(await recommended(harness, key)), JSON.stringify(first));
  }),
);

Deno.test(
  "the endpoint gives the recommendation and frequency of the operator's last full score, with its trend",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const agrees = async (way: Readonly<Record<string, unknown>>) => {
      const { maintenance_recommendation: scored } = await score(harness, key, way);
      const { recommendation } = await recommended(harness, key);
      assert.deepEqual(
        [recommendation.intervention_type, recommendation.frequency_ratio],
        [scored.recommendation.intervention_type, scored.recommendation.intervention_frequency],
      );
      return scored;
    };
    const looked = { hover_events: 5, scroll_depth: 0.8, alternative_views_checked: 1 };
    const injected = { scenario_type: "error_injected", decision: "rejected", ...looked };
    await scoreMany(harness, key, { count: 30, outcome_correct: true, ...looked });
    await scoreMany(harness, key, {
      count: 20,
      scenario_type: "ai_withheld",
      outcome_correct: true,
      ...looked,
    });
    await scoreMany(harness, key, { count: 60, ...injected });
    await agrees(injected);
    // A good operator who gets worse: for a while only the trend gives a reason.
    const reasons = new Set<string>();
    for (let index = 0; index < 20; index += 1) {
      const scored = await agrees({ decision: "rejected", outcome_correct: false });
      const [only, ...more] = scored.recommendation.reasons;
      if (scored.urgency !== "none" && more.every((reason: string) => reason.startsWith("weakest"))) {
        reasons.add(only);
      }
    }
    assert.ok(reasons.has("declining_trend"), [...reasons].join());
    for (
      const way of [
        { outcome_correct: true },
        { outcome_correct: false, time_to_decision_ms: 900 },
        { decision: "rejected", outcome_correct: false },
      ]
    ) {
      await scoreMany(harness, key, { count: 50, ...way });
      await agrees(way);
    }
  }),
);

Deno.test(
  "an operator without any case of known truth gets injected errors",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreMany(harness, key, { count: 50, outcome_correct: null, time_to_decision_ms: 1000 });
    const { recommendation, exercises } = await recommended(harness, key);
    assert.deepEqual(
      [recommendation.intervention_type, recommendation.target_dimension],
      ["error_injection", "error_detection"],
    );
    assert.equal(exercises[0].title, "Find the Planted Error");
  }),
);

/** Runs a worked example of the model, whose state is written into the operator's row. */
async function withExample(name: string, test: (answer: Json, expected: Json) => void): Promise<void> {
  const example: Json = examples.examples.find((row) => row.name === name);
  const harness = await openHarness();
  try {
    const key = await harness.organization("acme");
    await score(harness, key, { domain: "financial" });
    await harness.database.batch([
      { sql: `UPDATE operator SET state = ?`, parameters: [JSON.stringify(example.state_before)] },
    ]);
    await resealed(harness.dependencies);
    const { profile } = (await harness.send("/v1/operator/operator-1/profile", { key })).body;
    assert.equal(profile.jis, example.result.jis);
    assert.deepEqual(Object.values(profile.dimensions), Object.values(example.result.dims));
    test(await recommended(harness, key), example.result);
  } finally {
    await harness.abandon();
  }
}

Deno.test("worked example 19: a rubber-stamper gets easy cognitive forcing, 30 percent", async () => {
  await withExample("maintenance_rubber_stamper", ({ recommendation, exercises }, expected) => {
    const { urgency: _u, dims: _d, jis: _j, ...rest } = expected;
    assert.deepEqual(recommendation, rest);
    assert.deepEqual(recommendation, {
      intervention_type: "cognitive_forcing",
      target_dimension: "deferral_resistance",
      difficulty: "easy",
      frequency_ratio: 0.3,
    });
    assert.deepEqual(exercises.map(({ title }: Json) => title), [
      "Decide First, Then Reveal",
      "Slow Reveal",
      "Advice on Request",
    ]);
    const [{ payload }] = exercises;
    assert.deepEqual(
      [payload.items, payload.ai_error_share, payload.estimated_minutes, payload.feedback],
      [6, 0.4, 8, "immediate"],
    );
    assert.deepEqual(payload.success, { metric: "over_reliance_avoided", threshold: 0.7 });
    assert.deepEqual(payload.params, { commit_before_reveal: true });
    assert.deepEqual(exercises[1].payload.params, { reveal_delay_ms: 5000 });
  });
});

Deno.test("worked example 20: an independent operator gets 2 percent hard unaided cases", async () => {
  await withExample("maintenance_independent", ({ recommendation, exercises }, expected) => {
    const { urgency: _u, dims: _d, jis: _j, ...rest } = expected;
    assert.deepEqual(recommendation, rest);
    assert.deepEqual(recommendation, {
      intervention_type: "none",
      target_dimension: "independent_performance",
      difficulty: "hard",
      frequency_ratio: 0.02,
    });
    assert.deepEqual(exercises.map(({ title }: Json) => title), [
      "Solo Case Set",
      "Alternating Assistance",
      "Blind Re-review of Past Cases",
    ]);
    const [{ payload }] = exercises;
    assert.deepEqual(
      [payload.items, payload.ai_error_share, payload.estimated_minutes, payload.feedback],
      [16, 0.1, 20, "delayed"],
    );
  });
});

Deno.test(
  "an exercise that needs a domain names that of the last interaction",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    // The operator was right in every other domain lately: the confidence in this one is the lowest
    // dimension.
    await scoreMany(harness, key, {
      count: 100,
      scenario_type: "error_injected",
      decision: "rejected",
      outcome_correct: null,
    });
    const last = await score(harness, key, {
      domain: "public_sector",
      scenario_type: "ai_withheld",
      outcome_correct: false,
    });
    const { recommendation, exercises } = await recommended(harness, key);
    assert.equal(recommendation.target_dimension, "domain_confidence", JSON.stringify(last.dimensions));
    assert.deepEqual(exercises[1].payload.params, { domain: "public_sector" });
  }),
);

// ---- 404 and 422 ------------------------------------------------------------------------------------------

Deno.test(
  "an unknown operator, one with frozen calls alone and another organization's are 404",
  withHarness(async (harness) => {
    const [key, other] = [await harness.organization("acme"), await harness.organization("other")];
    await score(harness, other, { operator: "theirs" });
    await harness.send("/v1/score?mode_override=incident_frozen", {
      key,
      body: scoreRequest({ operator_id: "frozen" }),
    });
    harness.clock.advance(10 * DAY);
    for (const operator of ["nobody", "frozen", "theirs"]) {
      await refuses(harness, {
        name: operator,
        path: PATH,
        request: { key, body: { operator_id: operator } },
        status: 404,
        code: "NOT_FOUND",
        names: operator,
      });
    }
    assert.equal((await recommend(harness, other, "theirs")).status, 200);
  }),
);

Deno.test(
  "49 interactions within 9.99 days are 422 INSUFFICIENT_DATA, with the counts there are and those needed",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreMany(harness, key, { count: 49 });
    harness.clock.advance(Math.round(9.99 * DAY));
    for (const names of ["50 interactions", "10 days", "49 and 9"]) {
      await refuses(harness, {
        name: names,
        path: PATH,
        request: { key, body: { operator_id: "operator-1" } },
        status: 422,
        code: "INSUFFICIENT_DATA",
        names,
      });
    }
  }),
);

Deno.test(
  "decisions, commits and labels do not make an operator eligible",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreMany(harness, key, { count: 49 });
    for (let index = 0; index < 3; index += 1) {
      await harness.send("/v1/decision/score", {
        key,
        body: {
          operator_id: "operator-1",
          domain: "general",
          time_to_decision_ms: 9000,
          decision: "accepted",
        },
      });
    }
    const committed = await harness.send(`/v1/score/s-${sessions}/commit`, {
      key,
      body: { outcome_correct: true },
    });
    assert.equal(committed.status, 200);
    assert.equal((await recommend(harness, key)).body.error.code, "INSUFFICIENT_DATA");
  }),
);

Deno.test(
  "a body without a valid operator_id is 422, one that is not JSON is 400",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const bodies: readonly (readonly [string, unknown])[] = [
      ["missing", {}],
      ["null", { operator_id: null }],
      ["a number", { operator_id: 7 }],
      ["empty", { operator_id: "" }],
      ["too long", { operator_id: "a".repeat(257) }],
      ["a space", { operator_id: "operator 1" }],
      ["a list", { operator_id: ["operator-1"] }],
    ];
    for (const [name, body] of bodies) {
      await refuses(harness, {
        name,
        path: PATH,
        request: { key, body },
        status: 422,
        code: "VALIDATION_FAILED",
        names: "operator_id",
      });
    }
    await refuses(harness, {
      name: "no JSON",
      path: PATH,
      request: { key, body: "operator-1" },
      status: 400,
      code: "INVALID_JSON",
      names: "JSON",
    });
    const { status } = await harness.send(PATH, { key, body: { operator_id: "operator-1", unknown: [1] } });
    assert.equal(status, 404, "an unknown field is ignored");
  }),
);

Deno.test(
  "a recommendation needs an organization's key",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    for (const request of [{}, { key: `${key}x` }]) {
      const { status } = await harness.send(PATH, { ...request, body: { operator_id: "operator-1" } });
      assert.equal(status, 401);
    }
  }),
);
