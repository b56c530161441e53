/** `ai_correct`: whether the recommendation was right, said with a case or with its late label. */
import assert from "node:assert/strict";
import { scoreRequest, withHarness } from "../harness.ts";
import { JIS_2_0_0 } from "../models.ts";

const commitPath = (sessionId: string) => `/v1/score/${sessionId}/commit`;

Deno.test(
  "what contradicts the other fields is refused in every form, and changes nothing",
  withHarness(async ({ organization, send }) => {
    const key = await organization("acme");
    const contradictions = [
      { decision: "accepted", outcome_correct: true, ai_correct: false },
      { decision: "accept", outcome_correct: false, ai_correct: true },
      { decision: "rejected", outcome_correct: true, ai_correct: true },
      { decision: "override", outcome_correct: true, ai_correct: true },
      { decision: "rejected", outcome_correct: null, scenario_type: "error_injected", ai_correct: true },
    ];
    for (const fields of contradictions) {
      const nested = scoreRequest({ session_id: "case" }, fields);
      const { interaction, ...rest } = nested;
      const { operator_id, domain } = nested;
      const inBatch = { operator_id, domain, interactions: [{ session_id: "case", ...interaction }] };
      for (
        const [path, body, at] of [
          ["/v1/score", nested, "interaction.ai_correct"],
          ["/v1/score", { ...rest, ...interaction }, "ai_correct"],
          ["/v1/score/batch", inBatch, "interactions.0.ai_correct"],
          ["/v1/decision/score", { operator_id, domain, ...interaction }, "ai_correct"],
        ] as const
      ) {
        const answer = await send(path, { key, body });
        assert.equal(answer.status, 422, `${path} ${JSON.stringify(fields)}`);
        assert.deepEqual(answer.body.error.details.map(({ path }: { path: string }) => path), [at]);
      }
    }
    const known = await send("/v1/organization/operators", { key });
    assert.deepEqual(known.body.operators, []);
  }),
);

Deno.test(
  "null is the same as leaving it out; a value is part of the request",
  withHarness(async ({ organization, send }) => {
    const key = await organization("acme");
    const fields = { decision: "accepted", outcome_correct: null };
    const post = (more: Record<string, unknown>) =>
      send("/v1/score", { key, body: scoreRequest({ session_id: "case" }, { ...fields, ...more }) });
    const first = await post({});
    const again = await post({ ai_correct: null });
    assert.deepEqual([first.status, again.status], [200, 200]);
    assert.equal(again.headers.get("Idempotency-Replayed"), "true");
    assert.equal((await post({ ai_correct: true })).status, 409);
  }),
);

Deno.test(
  "a label says it beside the outcome, once; a contradiction gets 422, and another label 409",
  withHarness(async ({ organization, send }) => {
    const key = await organization("acme");
    const scored = (session_id: string, fields: Record<string, unknown>) =>
      send("/v1/score", { key, body: scoreRequest({ session_id }, { outcome_correct: null, ...fields }) });
    const label = async (session_id: string, body: unknown) =>
      (await send(commitPath(session_id), { key, body })).status;
    await scored("plain", { decision: "rejected" });
    assert.equal(await label("plain", { ai_correct: false }), 422);
    const contradiction = await send(commitPath("plain"), {
      key,
      body: { outcome_correct: true, ai_correct: true },
    });
    assert.equal(contradiction.status, 422);
    const message = "cannot be true if the decision is rejected and outcome_correct is true";
    assert.deepEqual(contradiction.body.error.details, [{ path: "ai_correct", message }]);
    assert.equal(await label("plain", { outcome_correct: false, ai_correct: false }), 200);
    assert.equal(await label("plain", { outcome_correct: false, ai_correct: false }), 200);
    assert.equal(await label("plain", { outcome_correct: false }), 200);
    assert.equal(await label("plain", { outcome_correct: false, ai_correct: true }), 409);
    await scored("without", { decision: "rejected" });
    assert.equal(await label("without", { outcome_correct: false }), 200);
    assert.equal(await label("without", { outcome_correct: false, ai_correct: false }), 409);
    await scored("known", { decision: "rejected", ai_correct: true });
    assert.equal(await label("known", { outcome_correct: true }), 422);
    assert.equal(await label("known", { outcome_correct: false, ai_correct: false }), 409);
    assert.equal(await label("known", { outcome_correct: false }), 200);
  }),
);

Deno.test(
  "with jis-3 a departure from wrong advice to another wrong answer is a hit, and counts once",
  withHarness(async ({ organization, send }) => {
    const key = await organization("acme");
    const score = async (session_id: string, fields: Record<string, unknown>) =>
      await send("/v1/score", {
        key,
        body: scoreRequest({ session_id }, { decision: "overridden", outcome_correct: null, ...fields }),
      });
    const wrongCases = async (session_id: string) =>
      (await score(session_id, {})).body.compliance.verdict.wrong_cases;
    await score("first", { outcome_correct: false, ai_correct: false });
    assert.equal(await wrongCases("second"), 1);
    await score("third", { ai_correct: false });
    await send(commitPath("third"), { key, body: { outcome_correct: false } });
    assert.equal(await wrongCases("fourth"), 2);
    await send(commitPath("fourth"), { key, body: { outcome_correct: false, ai_correct: false } });
    assert.equal(await wrongCases("fifth"), 3);
  }, { model: JIS_2_0_0 }),
);
