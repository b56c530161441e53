/**
 * Every bad input of the specification's status tables, on the routes that exist: it is refused, the field is
 * named, and nothing is written.
 */
import assert from "node:assert/strict";
import * as z from "zod";
import type { ServiceError } from "../../src/domain/errors.ts";
import { parseWith } from "../../src/http/parse.ts";
import { MASTER_KEY, openHarness, organizationRequest, scoreRequest, withHarness } from "../harness.ts";
import { refuses, type Scenario } from "../scenario.ts";

const MEGABYTE = 1_048_576;
const invalid = { status: 422, code: "VALIDATION_FAILED" } as const;

/** Invalid interactions, each with the field that the answer must name. */
const BAD_INTERACTIONS:
  readonly (readonly [name: string, interaction: Record<string, unknown>, field: string])[] = [
    ["modification_extent above 1", { modification_extent: 1.01 }, "interaction.modification_extent"],
    ["modification_extent below 0", { modification_extent: -0.01 }, "interaction.modification_extent"],
    ["a number as text", { time_to_decision_ms: "8500" }, "interaction.time_to_decision_ms"],
    ["negative time", { time_to_decision_ms: -1 }, "interaction.time_to_decision_ms"],
    ["time above a day", { time_to_decision_ms: 86_400_001 }, "interaction.time_to_decision_ms"],
    ["no time", { time_to_decision_ms: undefined }, "interaction.time_to_decision_ms"],
    ["null time", { time_to_decision_ms: null }, "interaction.time_to_decision_ms"],
    ["no decision", { decision: undefined }, "interaction.decision"],
    ["unknown decision", { decision: "approved" }, "interaction.decision"],
    ["decision in capitals", { decision: "Accepted" }, "interaction.decision"],
    ["unknown scenario", { scenario_type: "urgent" }, "interaction.scenario_type"],
    ["a truth value as text", { ai_available: "true" }, "interaction.ai_available"],
    [
      "a truth value as number",
      { ai_recommendation_presented: 1 },
      "interaction.ai_recommendation_presented",
    ],
    ["an outcome as text", { outcome_correct: "yes" }, "interaction.outcome_correct"],
    ["a fraction of a hover", { hover_events: 1.5 }, "interaction.hover_events"],
    ["negative hovers", { hover_events: -1 }, "interaction.hover_events"],
    ["too many hovers", { hover_events: 100_001 }, "interaction.hover_events"],
    ["scroll above 1", { scroll_depth: 1.1 }, "interaction.scroll_depth"],
    ["negative views", { alternative_views_checked: -1 }, "interaction.alternative_views_checked"],
    ["a list as extent", { modification_extent: [] }, "interaction.modification_extent"],
  ];

const BAD_FIELDS: readonly (readonly [name: string, fields: Record<string, unknown>, field: string])[] = [
  ["no session_id", { session_id: undefined }, "session_id"],
  ["empty session_id", { session_id: "" }, "session_id"],
  ["session_id with a space", { session_id: "a b" }, "session_id"],
  ["session_id too long", { session_id: "x".repeat(257) }, "session_id"],
  ["session_id as number", { session_id: 7 }, "session_id"],
  ["no operator_id", { operator_id: undefined }, "operator_id"],
  ["operator_id with a dot", { operator_id: "a.b" }, "operator_id"],
  ["operator_id with a lone surrogate", { operator_id: "\ud800" }, "operator_id"],
  ["operator_id too long", { operator_id: "x".repeat(257) }, "operator_id"],
  ["no domain", { domain: undefined }, "domain"],
  ["unknown domain", { domain: "space" }, "domain"],
  ["interaction null", { interaction: null }, "interaction"],
  ["interaction a list", { interaction: [] }, "interaction"],
];

const BAD_PARAMETERS: readonly (readonly [query: string, headers: Record<string, string>, name: string])[] = [
  ["?mode=quick", {}, "mode"],
  ["?mode=", {}, "mode"],
  ["?mode=full&mode=full", {}, "mode"],
  ["?role_tier=tier_4", {}, "role_tier"],
  ["?mode_override=frozen", {}, "mode_override"],
  ["", { "X-Service-Mode": "quick" }, "mode"],
  ["", { "X-Service-Role-Tier": "4" }, "role_tier"],
  ["", { "X-Service-Mode-Override": "yes" }, "mode_override"],
];

const depth = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

/** Bodies that every route refuses: status, code, and the word that the answer must name. */
const BAD_BODIES: readonly Omit<Scenario, "path">[] = [
  ["an empty body", "", 400, "INVALID_JSON", "empty"],
  ["text that is not JSON", "{", 400, "INVALID_JSON", "JSON"],
  ["a trailing comma", '{"a":1,}', 400, "INVALID_JSON", "JSON"],
  ["bytes that are not UTF-8", new Uint8Array([0x22, 0xff, 0x22]), 400, "INVALID_JSON", "UTF-8"],
  ["nesting of 17", `{"x":${depth(16)}}`, 400, "INVALID_JSON", "16"],
  ["nesting of 100,000", depth(100_000), 400, "INVALID_JSON", "16"],
  ["a list", "[]", 422, "VALIDATION_FAILED", "object"],
  ["null", "null", 422, "VALIDATION_FAILED", "object"],
  ["text", '"text"', 422, "VALIDATION_FAILED", "object"],
  ["a body over 1 MB", `"${"x".repeat(MEGABYTE)}"`, 413, "PAYLOAD_TOO_LARGE", "1048576"],
].map(([name, body, status, code, names]) => ({
  name: name as string,
  request: { body },
  status: status as number,
  code: code as string,
  names: names as string,
}));

function scoreScenarios(key: string): readonly Scenario[] {
  const path = "/v1/score";
  return [
    ...BAD_INTERACTIONS.map(([name, interaction, names]) => ({
      name,
      path,
      request: { key, body: scoreRequest({}, interaction) },
      ...invalid,
      names,
    })),
    ...BAD_FIELDS.map(([name, fields, names]) => ({
      name,
      path,
      request: { key, body: scoreRequest(fields) },
      ...invalid,
      names,
    })),
    ...BAD_PARAMETERS.map(([search, headers, names]) => ({
      name: `${search} ${JSON.stringify(headers)}`,
      path: path + search,
      request: { key, headers, body: scoreRequest() },
      ...invalid,
      names,
    })),
    {
      name: "a number beyond what JSON numbers hold",
      path,
      request: { key, body: JSON.stringify(scoreRequest()).replace("14200", "1e999") },
      ...invalid,
      names: "time_to_decision_ms",
    },
    {
      name: "an integer beyond 2^53",
      path,
      request: {
        key,
        body: JSON.stringify(scoreRequest({}, { hover_events: 77 })).replace("77", "9007199254740993"),
      },
      ...invalid,
      names: "hover_events",
    },
    {
      name: "the flat variant without decision",
      path,
      request: { key, body: { operator_id: "o", domain: "general", time_to_decision_ms: 1 } },
      ...invalid,
      names: "decision",
    },
    ...BAD_BODIES.map((scenario) => ({ ...scenario, path, request: { ...scenario.request, key } })),
    {
      name: "another content type",
      path,
      request: { key, body: JSON.stringify(scoreRequest()), headers: { "Content-Type": "text/plain" } },
      status: 415,
      code: "UNSUPPORTED_MEDIA_TYPE",
      names: "application/json",
    },
    ...["gzip", "GZIP", "br", "deflate", "identity, gzip", "x", "*"].map((encoding) => ({
      name: `Content-Encoding ${encoding}`,
      path,
      request: { key, body: scoreRequest(), headers: { "Content-Encoding": encoding } },
      status: 415,
      code: "UNSUPPORTED_MEDIA_TYPE",
      names: "Content-Encoding",
    })),
  ];
}

const MASTER = { "X-API-Key": MASTER_KEY, "Idempotency-Key": "bad-input" };

const BAD_ORGANIZATIONS:
  readonly (readonly [name: string, fields: Record<string, unknown>, field: string])[] = [
    ["no org_id", { org_id: undefined }, "org_id"],
    ["org_id with a slash", { org_id: "a/b" }, "org_id"],
    ["empty org_id", { org_id: "" }, "org_id"],
    ["org_id too long", { org_id: "x".repeat(129) }, "org_id"],
    ["no name", { name: undefined }, "name"],
    ["blank name", { name: "   " }, "name"],
    ["name too long", { name: "x".repeat(201) }, "name"],
    ["name with a lone surrogate", { name: "a\ud800" }, "name"],
    ["name as number", { name: 5 }, "name"],
    ["unknown domain", { domain: "banking" }, "domain"],
    ["unknown tier", { tier: "gold" }, "tier"],
    ["no tier", { tier: undefined }, "tier"],
    ["no allowed_origins", { allowed_origins: undefined }, "allowed_origins"],
    ["allowed_origins as list", { allowed_origins: ["https://a.example"] }, "allowed_origins"],
    ["a wildcard origin", { allowed_origins: "*" }, "allowed_origins"],
    ["a wildcard host", { allowed_origins: "https://*.a.example" }, "allowed_origins"],
    ["an origin with a path", { allowed_origins: "https://a.example/x" }, "allowed_origins"],
    ["an origin without scheme", { allowed_origins: "a.example" }, "allowed_origins"],
    [
      "51 origins",
      { allowed_origins: Array.from({ length: 51 }, (_, i) => `https://a${i}.example`).join(",") },
      "allowed_origins",
    ],
  ];

function organizationScenarios(): readonly Scenario[] {
  const path = "/v1/admin/org/create";
  return [
    ...BAD_ORGANIZATIONS.map(([name, fields, names]) => ({
      name,
      path,
      request: { headers: MASTER, body: organizationRequest(fields) },
      ...invalid,
      names,
    })),
    ...BAD_BODIES.map((scenario) => ({
      ...scenario,
      path,
      request: { ...scenario.request, headers: MASTER },
    })),
    ...[undefined, "", "x".repeat(257)].map((key) => ({
      name: `Idempotency-Key of ${key?.length ?? "no"} characters`,
      path,
      request: {
        headers: { "X-API-Key": MASTER_KEY, ...(key === undefined ? {} : { "Idempotency-Key": key }) },
        body: organizationRequest(),
      },
      status: 400,
      code: "VALIDATION_FAILED",
      names: "Idempotency-Key",
    })),
    {
      name: "an org_id that exists",
      path,
      request: { headers: MASTER, body: organizationRequest({ org_id: "there" }) },
      status: 409,
      code: "CONFLICT",
      names: "there",
    },
  ];
}

Deno.test("every bad input of POST /v1/score gets its status and code, names the field and writes nothing", async (t) => {
  const harness = await openHarness();
  const key = await harness.organization("acme");
  // One good score first, so that there are rows that must stay as they are.
  await harness.send("/v1/score", { key, body: scoreRequest({ session_id: "good" }) });
  for (const scenario of scoreScenarios(key)) await t.step(scenario.name, () => refuses(harness, scenario));
  await harness.close();
});

Deno.test("every bad input of POST /v1/admin/org/create gets its status and code and writes nothing", async (t) => {
  const harness = await openHarness();
  await harness.organization("there");
  for (const scenario of organizationScenarios()) {
    await t.step(scenario.name, () => refuses(harness, scenario));
  }
  await harness.close();
});

Deno.test(
  "one answer lists all problems of a request",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    const { body } = await send("/v1/score", {
      key,
      body: scoreRequest({ operator_id: "", domain: "x" }, { decision: "x", scroll_depth: 2 }),
    });
    assert.deepEqual(body.error.details.map(({ path }: { path: string }) => path), [
      "operator_id",
      "domain",
      "interaction.decision",
      "interaction.scroll_depth",
    ]);
  }),
);

Deno.test(
  "exactly 1 MB is accepted, by declared and by received bytes, and one byte more is not",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    const text = JSON.stringify(scoreRequest());
    const padded = (length: number) => text + " ".repeat(length - text.length);
    assert.equal((await send("/v1/score", { key, body: padded(MEGABYTE) })).status, 200);
    assert.equal((await send("/v1/score", { key, body: padded(MEGABYTE + 1) })).status, 413);
    const declared = await send("/v1/score", {
      key,
      body: text,
      headers: { "Content-Length": String(MEGABYTE + 1) },
    });
    assert.equal(declared.status, 413);
    const wrongKey = await send("/v1/score", {
      key: "wrong",
      body: text,
      headers: { "Content-Length": String(MEGABYTE + 1) },
    });
    assert.equal(wrongKey.status, 413, "the declared size is checked before the key");
  }),
);

Deno.test(
  "unknown fields are ignored, duplicate keys and __proto__ do no harm, and 16 levels of nesting are accepted",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    const text = JSON.stringify(scoreRequest());
    const variants = [
      text.replace("{", '{"huge":1e999,"surrogate":"\\ud800",'),
      text.replace("{", '{"__proto__":{"operator_id":"other"},'),
      text.replace("{", '{"operator_id":"earlier",'),
      text.replace("{", `{"deep":${depth(15)},`),
      text.replace("{", '{"brackets in text":"[[[[[[[[[[[[[[[[[[[[[[\\"[[",'),
    ];
    for (const [index, variant] of variants.entries()) {
      const { status, body } = await send("/v1/score", {
        key,
        body: variant.replace("session-1", `session-${index}`),
      });
      assert.equal(status, 200, variant);
      assert.equal(body.operator_id, "operator-1");
    }
    assert.equal(({} as Record<string, unknown>).operator_id, undefined);
  }),
);

Deno.test(
  "the message for a refused value says what it must be, and names null if that is allowed",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    const problemsOf = async (path: string, options: { readonly body?: unknown }) => {
      const { status, body } = await send(path, { key, ...options });
      assert.equal(status, 422);
      return body.error.details.map(({ path, message }: { path: string; message: string }) =>
        `${path} ${message}`
      );
    };
    const interaction = {
      time_to_decision_ms: "slow",
      outcome_correct: "x",
      hover_events: 1.5,
      scroll_depth: [],
      ai_available: null,
    };
    const body = { operator_id: 7, domain: "general", interaction };
    assert.deepEqual(await problemsOf("/v1/score", { body }), [
      "session_id is missing: it must be a string",
      "operator_id must be a string, not a number",
      "interaction.time_to_decision_ms must be a number, not a string",
      'interaction.decision is missing: it must be one of "accepted"|"modified"|"rejected"|"overridden"|"deferred"|"escalated"|"accept"|"modify"|"reject"|"override"|"defer"|"escalate"',
      "interaction.ai_available must be a boolean, not null",
      "interaction.outcome_correct must be true, false or null",
      "interaction.hover_events must be an integer or null",
      "interaction.scroll_depth must be a number or null",
    ]);
    assert.deepEqual(await problemsOf("/v1/score/s/commit", { body: { outcome_correct: "x" } }), [
      "outcome_correct must be true, false or null",
    ]);
    assert.deepEqual(await problemsOf("/v1/operator/o/profile?include=history", {}), [
      'include must be "projection"',
    ]);
  }),
);

Deno.test(
  "the message for a number out of range, or a text or list of a wrong length, states the limit",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    const problemsOf = async (path: string, options: { readonly body?: unknown }) => {
      const { status, body } = await send(path, { key, ...options });
      assert.equal(status, 422);
      return body.error.details.map(({ path, message }: { path: string; message: string }) =>
        `${path} ${message}`
      );
    };
    const interaction = {
      time_to_decision_ms: -1,
      modification_extent: 1.01,
      hover_events: 100_001,
      scroll_depth: -0.5,
    };
    assert.deepEqual(await problemsOf("/v1/score", { body: scoreRequest({}, interaction) }), [
      "interaction.time_to_decision_ms must be at least 0",
      "interaction.modification_extent must be at most 1",
      "interaction.hover_events must be at most 100000",
      "interaction.scroll_depth must be at least 0",
    ]);
    const batch = (count: number) => ({
      body: { operator_id: "o", domain: "general", interactions: Array(count).fill({}) },
    });
    assert.deepEqual(await problemsOf("/v1/score/batch", batch(0)), [
      "interactions must have at least 1 item",
    ]);
    assert.deepEqual(await problemsOf("/v1/score/batch", batch(101)), [
      "interactions must have at most 100 items",
    ]);
    const cursor = "x".repeat(1_025);
    assert.deepEqual(await problemsOf(`/v1/organization/operators?cursor=${cursor}`, {}), [
      "cursor must have at most 1024 characters",
    ]);
    const open = z.object({ n: z.number().gt(0).lt(5) });
    const exact = z.object({ t: z.string().length(3), l: z.array(z.unknown()).length(1) });
    const words = (schema: z.ZodType, value: unknown) => {
      try {
        parseWith(schema, value);
        return [];
      } catch (error) {
        return (error as ServiceError).details;
      }
    };
    assert.deepEqual(words(open, { n: 0 }), [{ path: "n", message: "must be more than 0" }]);
    assert.deepEqual(words(open, { n: 5 }), [{ path: "n", message: "must be less than 5" }]);
    assert.deepEqual(words(exact, { t: "", l: [] }), [
      { path: "t", message: "must have exactly 3 characters" },
      { path: "l", message: "must have exactly 1 item" },
    ]);
  }),
);

Deno.test(
  "a missing Content-Type is read as JSON, and any JSON type is accepted",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    for (
      const type of ["", "application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.acme+json"]
    ) {
      const body = JSON.stringify(scoreRequest({ session_id: `t${type.length}` }));
      const { status } = await send("/v1/score", { key, body, headers: { "Content-Type": type } });
      assert.equal(status, 200, type);
    }
  }),
);

// ---- simultaneous bodies ----------------------------------------------------------------------------------

Deno.test(
  "bodies beyond the memory for bodies are 503 and write nothing; each is accepted once the others are answered",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const large = (session: string) => ({
      key,
      body: scoreRequest({ session_id: session, note: "x".repeat(MEGABYTE / 2) }),
      headers: { "Content-Length": String(MEGABYTE / 2 + 1_000) },
    });
    const sessions = ["a", "b", "c", "d", "e"];
    const answers = await Promise.all(sessions.map((session) => harness.send("/v1/score", large(session))));
    const refused = answers.filter(({ status }) => status === 503);
    // Half of the memory: each body counts with its bytes, and with as many again once it is parsed.
    assert.equal(answers.filter(({ status }) => status === 200).length, 2);
    assert.equal(refused.length, 3);
    for (const { headers, body } of refused) {
      assert.equal(body.error.code, "SERVICE_UNAVAILABLE");
      assert.equal(headers.get("Retry-After"), "1");
    }
    for (const session of sessions) {
      assert.equal((await harness.send("/v1/score", large(session))).status, 200);
    }
    const alone = await harness.send("/v1/score", { key, body: scoreRequest({ session_id: "small" }) });
    assert.equal(alone.status, 200);
  }, { bodyMemoryBytes: 4.5 * MEGABYTE }),
);

Deno.test(
  "Content-Encoding identity is accepted; any other is 415 and the answer names identity, on every route with a body",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    for (const [index, encoding] of ["identity", "Identity", " identity ", "", "identity,"].entries()) {
      const body = scoreRequest({ session_id: `encoded-${index}` });
      const { status, text } = await send("/v1/score", {
        key,
        body,
        headers: { "Content-Encoding": encoding },
      });
      assert.equal(status, 200, `${encoding}: ${text}`);
    }
    const headers = { "Content-Encoding": "gzip" };
    const master = { "X-API-Key": MASTER_KEY, "Idempotency-Key": "encoded" };
    const posts: readonly (readonly [string, Record<string, string>])[] = [
      ["/v1/score/batch", { "X-API-Key": key }],
      ["/v1/score/encoded-0/commit", { "X-API-Key": key }],
      ["/v1/decision/score", { "X-API-Key": key }],
      ["/v1/audit/append", { "X-API-Key": key }],
      ["/v1/admin/webhook/register", { "X-API-Key": key }],
      ["/v1/maintenance/recommend", { "X-API-Key": key }],
      ["/v1/admin/org/create", master],
      ["/assessments", {}],
    ];
    for (const [path, own] of posts) {
      const answer = await send(path, { body: {}, headers: { ...own, ...headers } });
      assert.deepEqual([answer.status, answer.body.error.code], [415, "UNSUPPORTED_MEDIA_TYPE"], path);
      assert.equal(answer.headers.get("Accept-Encoding"), "identity");
    }
  }),
);
