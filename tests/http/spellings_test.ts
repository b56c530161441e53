/**
 * Other spellings of a decision or a domain: they are accepted in every request, and answered and recorded in
 * the service's own spelling.
 */
import assert from "node:assert/strict";
import { type Decision, DECISIONS, type Domain, DOMAINS } from "../../src/domain/enums.ts";
import { scoreInputSchema } from "../../src/evidence/record.ts";
import { type Harness, organizationRequest, scoreRequest, withHarness } from "../harness.ts";
import { storedText } from "../scenario.ts";

const DECISION_PAIRS: readonly (readonly [theirs: string, ours: Decision])[] = [
  ["accept", "accepted"],
  ["modify", "modified"],
  ["reject", "rejected"],
  ["override", "overridden"],
  ["defer", "deferred"],
  ["escalate", "escalated"],
];
const THEIR_DOMAIN = "government";
const OUR_DOMAIN: Domain = "public_sector";

/** Each request that holds an interaction, under a name that is used once. */
const WAYS: readonly {
  readonly name: string;
  readonly path: string;
  bodyOf(id: string, decision: string, domain: string): Record<string, unknown>;
}[] = [
  {
    name: "a score",
    path: "/v1/score",
    bodyOf: (session_id, decision, domain) => scoreRequest({ session_id, domain }, { decision }),
  },
  {
    name: "a flat score",
    path: "/v1/score",
    bodyOf: (session_id, decision, domain) => ({
      session_id,
      operator_id: "ada",
      domain,
      time_to_decision_ms: 5000,
      decision,
    }),
  },
  {
    name: "a flat item of a batch",
    path: "/v1/score/batch",
    bodyOf: (session_id, decision, domain) => ({
      operator_id: "ada",
      domain,
      interactions: [{ session_id, time_to_decision_ms: 5000, decision }],
    }),
  },
  {
    name: "a nested item of a batch",
    path: "/v1/score/batch",
    bodyOf: (session_id, decision, domain) => ({
      operator_id: "ada",
      domain,
      interactions: [{ session_id, interaction: { time_to_decision_ms: 5000, decision } }],
    }),
  },
  {
    name: "a decision",
    path: "/v1/decision/score",
    bodyOf: (decision_id, decision, domain) => ({
      decision_id,
      operator_id: "ada",
      domain,
      time_to_decision_ms: 5000,
      decision,
    }),
  },
];

/** The recorded parts of a session or decision. */
async function recordedOf({ database }: Harness, id: string): Promise<Record<string, unknown>> {
  const rows = await database.read<{ data: string }>({
    sql: "SELECT data FROM audit_part WHERE name = 'input' AND data LIKE ?",
    parameters: [`%"${id}"%`],
    query: {} as never,
    queryId: {} as never,
  });
  assert.equal(rows.length, 1, id);
  return JSON.parse(rows[0]!.data);
}

for (const { name, path, bodyOf } of WAYS) {
  Deno.test(
    `${name} accepts every other spelling, records ours, and is the same request in either`,
    withHarness(async (harness) => {
      const key = await harness.organization("acme");
      for (const [index, [theirs, ours]] of DECISION_PAIRS.entries()) {
        const id = `case-${index}`;
        const first = await harness.send(path, { key, body: bodyOf(id, theirs, THEIR_DOMAIN) });
        assert.equal(first.status, 200, first.text);
        const recorded = await recordedOf(harness, id);
        assert.equal((recorded.interaction as Record<string, unknown>).decision, ours);
        assert.equal(recorded.domain, OUR_DOMAIN);
        const again = await harness.send(path, { key, body: bodyOf(id, ours, OUR_DOMAIN) });
        assert.deepEqual([again.status, again.headers.get("Idempotency-Replayed")], [200, "true"]);
        assert.deepEqual(again.body, first.body);
        const other = DECISIONS.find((decision) => decision !== ours)!;
        assert.equal(
          (await harness.send(path, { key, body: bodyOf(id, other, OUR_DOMAIN) })).status,
          409,
          "another decision is another request",
        );
        assert.doesNotMatch(first.text, /"government"|"(?:accept|modify|reject|override|defer|escalate)"/);
      }
      const { body } = await harness.send("/v1/organization/decisions?limit=200", { key });
      const listed = body.decisions.map((row: Record<string, unknown>) => [row.decision, row.domain]);
      assert.deepEqual(listed.reverse(), DECISION_PAIRS.map(([, ours]) => [ours, OUR_DOMAIN]));
      assert.doesNotMatch(await storedText(harness), /government/);
    }),
  );
}

Deno.test(
  "the domain government becomes public_sector in the organization's answers and evidence",
  withHarness(async (harness) => {
    const body = organizationRequest({ domain: THEIR_DOMAIN });
    const created = await harness.master("ORG_CREATE", "/v1/admin/org/create", {
      body,
      idempotencyKey: "one",
    });
    assert.equal(created.status, 201, created.text);
    const { body: dashboard } = await harness.send("/v1/organization/dashboard", {
      key: created.body.api_key,
    });
    assert.equal(dashboard.domain, OUR_DOMAIN);
    // The same call in the service's own spelling is a repetition.
    const again = await harness.master("ORG_CREATE", "/v1/admin/org/create", {
      body: { ...body, domain: OUR_DOMAIN },
      idempotencyKey: "one",
    });
    assert.deepEqual([again.status, again.headers.get("Idempotency-Replayed")], [201, "true"]);
    assert.doesNotMatch(await storedText(harness), /government/);
  }),
);

Deno.test(
  "a run of the public demo accepts every other spelling, and shows ours",
  withHarness(async (harness) => {
    const records = (words: readonly string[]) =>
      words.map((decision) => ({ time_to_decision_ms: 5000, decision }));
    const sent = await harness.send("/assessments", {
      body: { sessionId: "visit", records: records(DECISION_PAIRS.map(([theirs]) => theirs)) },
    });
    assert.equal(sent.status, 200, sent.text);
    const shown = await harness.send("/assessments/visit");
    assert.deepEqual(
      shown.body.records.map(({ decision }: Record<string, string>) => decision),
      DECISION_PAIRS.map(([, ours]) => ours),
    );
    const again = await harness.send("/assessments", {
      body: { sessionId: "visit", records: records(DECISION_PAIRS.map(([, ours]) => ours)) },
    });
    assert.equal(again.headers.get("Idempotency-Replayed"), "true");
  }),
);

Deno.test(
  "evidence has only our spelling: a recorded input with another one is not valid",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await harness.send("/v1/score", { key, body: scoreRequest({}, { decision: "accept" }) });
    const recorded = await recordedOf(harness, "session-1");
    const { decision, ...interaction } = recorded.interaction as Record<string, unknown>;
    assert.equal(decision, "accepted");
    assert.equal(scoreInputSchema.safeParse(recorded).success, true);
    const altered = { ...recorded, interaction: { ...interaction, decision: "accept" } };
    assert.equal(scoreInputSchema.safeParse(altered).success, false);
    assert.equal(scoreInputSchema.safeParse({ ...recorded, domain: THEIR_DOMAIN }).success, false);
  }),
);

Deno.test(
  "a word that is no spelling is 422, however similar, and the message lists the accepted ones",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    for (
      const decision of ["Accept", "ACCEPTED", " accept", "accepts", "overruled", "toString", "__proto__"]
    ) {
      const { status, body } = await send("/v1/score", { key, body: scoreRequest({}, { decision }) });
      assert.deepEqual([status, body.error.code], [422, "VALIDATION_FAILED"], decision);
      assert.match(body.error.details[0].message, /"overridden".*"override"/);
    }
    for (const domain of ["Government", "governments", "public-sector", "hasOwnProperty"]) {
      const { status, body } = await send("/v1/score", { key, body: scoreRequest({ domain }) });
      assert.deepEqual([status, body.error.code], [422, "VALIDATION_FAILED"], domain);
      assert.match(body.error.details[0].message, /"public_sector".*"government"/);
    }
  }),
);

Deno.test(
  "the API's document shows the spellings in requests, and only ours in answers",
  withHarness(async ({ send }) => {
    const { body } = await send("/openapi.json");
    const { schemas } = body.components;
    // deno-lint-ignore no-explicit-any -- as it stands in the document
    const wordsOf = (schema: any) =>
      schema.$ref === undefined ? schema.enum : schemas[schema.$ref.split("/").at(-1)].enum;
    const { ScoreRequest, FlatScoreRequest, OrganizationRequest, DecisionResponse, ListedDecision } = schemas;
    const theirs = DECISION_PAIRS.map(([word]) => word);
    assert.deepEqual(wordsOf(FlatScoreRequest.properties.decision), [...DECISIONS, ...theirs]);
    assert.deepEqual(wordsOf(ScoreRequest.properties.domain), [...DOMAINS, THEIR_DOMAIN]);
    assert.deepEqual(wordsOf(OrganizationRequest.properties.domain), [...DOMAINS, THEIR_DOMAIN]);
    assert.deepEqual(wordsOf(DecisionResponse.properties.domain), DOMAINS);
    assert.deepEqual(wordsOf(ListedDecision.properties.decision), DECISIONS);
    assert.deepEqual(wordsOf(ListedDecision.properties.domain), DOMAINS);
    assert.deepEqual(schemas.Decisions.properties.decisions.items, {
      $ref: "#/components/schemas/ListedDecision",
    });
    assert.deepEqual(schemas.Assessment.properties.records.items, {
      $ref: "#/components/schemas/RecordedInteraction",
    });
    assert.deepEqual(wordsOf(schemas.RecordedInteraction.properties.decision), DECISIONS);
  }),
);
