/**
 * Every row of the catalogue has examples that succeed, refuses a bad key and bad input, and is in the
 * OpenAPI document.
 */
import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/2020";
import { ACCESS } from "../src/domain/access.ts";
import { openApiDocument, STAND_IN } from "../src/http/openapi.ts";
import type { Route } from "../src/http/exchange.ts";
import { ROUTES } from "../src/http/routes.ts";
import {
  type Ask,
  cookieIn,
  credentialsFor,
  filledBody,
  fillExamples,
  fillUsers,
  pathOf,
  targetOf,
  type UseLink,
} from "./examples.ts";
import {
  type Harness,
  MASTER_KEYS,
  MASTER_SECRETS,
  openHarness,
  OWN_ORIGIN,
  type RequestOptions,
} from "./harness.ts";
import { alertOfUsageSoFar } from "./alerting.ts";
import { addPasskeyTo, PASSKEY_ORIGIN, registrationRequest, signInRequest } from "./passkeying.ts";
import { SoftwareAuthenticator } from "./software_authenticator.ts";

// deno-lint-ignore no-explicit-any -- the document is walked by its names
const document = openApiDocument("http://jiss.test") as any;

const ajv = new Ajv2020({
  strict: false,
  formats: { "date-time": true, date: true, uuid: true, double: true, int32: true, int64: true },
});
ajv.addSchema(document, "openapi");

/** Why a value does not fit a response's schema in the document; null if it fits. */
function misfits(route: Route, status: number, value: unknown): unknown {
  const path = route.path.replaceAll("~", "~0").replaceAll("/", "~1");
  const method = route.method.toLowerCase();
  const { $ref } = document.paths[route.path][method].responses[status];
  const place = $ref ?? `#/paths/${path}/${method}/responses/${status}`;
  const validate = ajv.compile({ $ref: `openapi${place}/content/application~1json/schema` });
  return validate(value) ? null : validate.errors;
}

const USAGE_KEY = MASTER_KEYS.ORG_USAGE_READ;

interface World {
  readonly harness: Harness;
  /** The headers of the key or session that the route requires. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Names in the catalogue's examples that only the service can give. */
  readonly names: Readonly<Record<string, string>>;
  /** A request in place of the example, which only an authenticator can make. */
  readonly request?: RequestOptions;
}

/** A service with everything that the examples name, and a record of every kind for one operator. */
async function openWorld(
  { auth, operationId, path }: Pick<Route, "auth"> & Partial<Pick<Route, "operationId" | "path">>,
): Promise<World> {
  const isAboutPasskeys = path?.includes("passkey") ?? false;
  const harness = await openHarness({
    ...(isAboutPasskeys ? { baseUrl: PASSKEY_ORIGIN } : {}),
    masterSecrets: MASTER_SECRETS,
    adminDashboard: true,
    webhookAllow: ["127.0.0.0/8"],
    webhookBackoffMs: [0, 0],
  });
  const organizationKey = await harness.organization("caller");
  const ask: Ask = async (path, body) => {
    const answer = await harness.send(path, {
      key: organizationKey,
      ...(body === undefined ? {} : { body }),
    });
    assert.ok(answer.status === 200 || answer.status === 201, answer.text);
    return answer.body;
  };
  const names = await fillExamples(ask, () => harness.deliver());
  const users = isAboutUsers(auth, path)
    ? await fillUsers(ask, useLinkOn(harness))
    : { names: {}, cookie: "" };
  const alertNames: Readonly<Record<string, string>> = operationId === "postOwnAcknowledgement"
    ? { "01ALERTOFTHEEXAMPLE0000000": await alertOfUsageSoFar(harness, "caller") }
    : {};
  if (operationId === "postAcknowledgement") await harness.alert("caller", "alert-of-the-example");
  if (operationId === "postReactivation") {
    const { status } = await harness.master("ORG_SUSPEND", "/v1/admin/org/caller/suspend", {
      body: { confirm_org_id: "caller", idempotency_key: "suspended" },
      idempotencyKey: "suspended",
    });
    assert.equal(status, 200);
  }
  const origin = isAboutPasskeys ? PASSKEY_ORIGIN : OWN_ORIGIN;
  const made = isAboutPasskeys
    ? await makePasskey(harness, { Cookie: users.cookie, Origin: origin }, operationId!)
    : null;
  return {
    harness,
    credentials: credentialsFor({ auth }, {
      organizationKey,
      cookie: users.cookie,
      origin,
      masterKeyOf: (scope) => MASTER_KEYS[scope],
    }),
    names: { ...names, ...users.names, ...made?.names, ...alertNames },
    ...(made?.request === undefined ? {} : { request: made.request }),
  };
}

/** Adds a passkey to the user, and makes the request of a route that only an authenticator can make. */
async function makePasskey(
  harness: Harness,
  headers: Readonly<Record<string, string>>,
  operationId: string,
): Promise<
  { readonly names: Readonly<Record<string, string>>; readonly request: RequestOptions | undefined }
> {
  const authenticator = new SoftwareAuthenticator(PASSKEY_ORIGIN);
  const id = await addPasskeyTo(harness, authenticator, headers);
  const request = operationId === "postPasskeySignIn"
    ? await signInRequest(harness, authenticator)
    : operationId === "postPasskey"
    ? await registrationRequest(harness, authenticator, headers)
    : undefined;
  return { names: { PASSKEYOFTHEEXAMPLE00000: id }, request };
}

function isAboutUsers(auth: Route["auth"], path = ""): boolean {
  return auth.kind === "user" || /^\/v1\/(?:users|sign-in)/.test(path);
}

function useLinkOn({ send }: Harness): UseLink {
  return async (body) => {
    const answer = await send("/v1/sign-in/link/use", { body });
    assert.equal(answer.status, 200, answer.text);
    return { cookie: cookieIn(answer.headers), sessionId: answer.body.session.session_id };
  };
}

/** Tables of organizations' data. */
const ORGANIZATION_TABLES = [
  "organization",
  "subject",
  "operator",
  "interaction",
  "skipped_interaction",
  "frozen_operator",
  "probe_programme",
  "probe",
  "probe_draw",
  "decision",
  "score_batch",
  "score_commit",
  "outcome_label",
  "compliance_report",
  "tombstone",
] as const;

function organizationHeads({ heads }: Record<string, unknown>): readonly string[] {
  return (heads as readonly string[]).filter((head) => JSON.parse(head).chain !== "sys");
}

/** Bad requests of a route: the path after the base, and the expected status. */
/** Parameters that take any text but an empty one. */
const FREE_TEXTS = ["team"];

function badRequests(route: Route) {
  const example = route.examples[0]!;
  const path = pathOf(route, example.path ?? {});
  const bodies: readonly (readonly [unknown, number])[] = route.body === null ? [] : [
    ["{", 400],
    [route.body.optional ? [] : {}, 422],
    [`"${"x".repeat(route.body.limitBytes)}"`, 413],
  ];
  const names = Object.keys(route.pathParameters?.shape ?? {});
  const parameters = Object.keys(route.parameters?.shape ?? {});
  const query = (name: string, value: string) =>
    new URLSearchParams({ ...example.query, [name]: value }).toString();
  return [
    ...bodies.map(([body, status]) => ({ path, body, status })),
    ...names.map((name) => ({
      path: pathOf(route, { ...example.path, [name]: "no id!" }),
      body: example.body,
      status: name === "alert_id" && route.auth.kind === "master" ? 400 : 422,
    })),
    ...parameters.flatMap((name) =>
      (FREE_TEXTS.includes(name) ? [""] : ["", "¤"]).map((value) => ({
        path: `${path}?${query(name, value)}`,
        body: example.body,
        status: 422,
      }))
    ),
  ];
}

async function refusesKeys({ harness }: World, route: Route): Promise<void> {
  const path = pathOf(route, route.examples[0]!.path ?? {});
  const otherKind = route.auth.kind === "key" ? USAGE_KEY : await harness.organization("other");
  for (const key of ["nobody's key", otherKind, undefined]) {
    const before = await harness.rowCounts();
    const answer = await harness.send(path, {
      method: route.method,
      ...(key === undefined ? {} : { key }),
      ...(route.body === null ? {} : { body: route.examples[0]!.body ?? {} }),
    });
    assert.equal(answer.status, 401);
    assert.equal(misfits(route, 401, answer.body), null);
    // An entry about a master key may have been added to the system chain, and nothing else.
    const after = await harness.rowCounts();
    for (const table of ORGANIZATION_TABLES) assert.equal(after[table], before[table], table);
    assert.deepEqual(organizationHeads(after), organizationHeads(before));
  }
}

async function refusesInput({ harness, credentials }: World, route: Route): Promise<void> {
  const headers = { ...credentials, ...(route.idempotent ? { "Idempotency-Key": "bad" } : {}) };
  const before = await harness.rowCounts();
  for (const { path, body, status } of badRequests(route)) {
    const answer = await harness.send(path, {
      method: route.method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    assert.equal(answer.status, status, `${path}: ${answer.text.slice(0, 300)}`);
    assert.equal(misfits(route, status, answer.body), null);
  }
  assert.deepEqual(await harness.rowCounts(), before);
}

async function answersExamples({ harness, credentials, names, request }: World, route: Route): Promise<void> {
  assert.ok(route.examples.length > 0);
  for (const [index, example] of route.examples.entries()) {
    const { summary } = example;
    const body = filledBody(example, names);
    const answer = await harness.send(targetOf(route, example, names), {
      method: route.method,
      headers: {
        ...credentials,
        ...(route.idempotent
          ? { "Idempotency-Key": String(body?.idempotency_key ?? `example-${index}`) }
          : {}),
      },
      ...(body === undefined ? {} : { body }),
      ...request,
    });
    assert.equal(answer.status, route.success.status, `${summary}: ${answer.text}`);
    const type = answer.headers.get("Content-Type")!;
    if (route.method === "HEAD") assert.equal(answer.text, "");
    else if (type !== "application/json") assert.ok(route.success.otherTypes?.includes(type), type);
    else assert.equal(misfits(route, answer.status, answer.body), null, summary);
  }
}

for (const route of ROUTES) {
  // One world for the three: refused requests write nothing, and so affect nothing after them.
  Deno.test(`${route.method} ${route.path} is as the OpenAPI document says`, async (test) => {
    const world = await openWorld(route);
    if (route.auth.kind !== "none") {
      await test.step(
        "a bad key, another kind of key and no key are 401",
        () => refusesKeys(world, route),
      );
    }
    if (badRequests(route).length > 0) {
      await test.step("bad input is refused, and writes nothing", () => refusesInput(world, route));
    }
    await test.step("each example of the catalogue is answered", () => answersExamples(world, route));
    await world.harness.close();
  });
}

Deno.test("erased records are 410 on every route that asks for them by id, as the OpenAPI document says", async () => {
  const { harness, credentials: headers } = await openWorld({ auth: { kind: "key", access: "read" } });
  const erased = await harness.send("/v1/operator/reviewer-ada", { method: "DELETE", headers });
  assert.equal(erased.status, 200, erased.text);
  const interaction = { time_to_decision_ms: 1, decision: "accepted" };
  const named = { session_id: "case-2026-000123", decision_id: "decision-2026-000301" };
  const operator = { operator_id: "reviewer-18", domain: "financial" };
  const bodies: Readonly<Record<string, unknown>> = {
    postScore: { ...named, ...operator, interaction },
    postBatch: { ...operator, interactions: [{ ...named, ...interaction }] },
    postCommit: {},
    postDecision: { ...named, ...operator, ...interaction },
    getReplay: undefined,
  };
  for (const [operationId, body] of Object.entries(bodies)) {
    const route = ROUTES.find((candidate) => candidate.operationId === operationId)!;
    const path = pathOf(route, { session_id: named.session_id, id: named.decision_id });
    const answer = await harness.send(path, { headers, ...(body === undefined ? {} : { body }) });
    assert.deepEqual([operationId, answer.status], [operationId, 410], answer.text);
    assert.equal(misfits(route, 410, answer.body), null, operationId);
  }
  await harness.close();
});

Deno.test("the document names only the content types of bodies that are not JSON", () => {
  const types = ROUTES.map((route) => {
    const { responses } = document.paths[route.path][route.method.toLowerCase()];
    return [route.operationId, Object.keys(responses[route.success.status].content ?? {})] as const;
  });
  assert.deepEqual(Object.fromEntries(types.filter(([, names]) => names.join() !== "application/json")), {
    headHealth: [],
    getSparkline: ["application/json", "image/svg+xml"],
    getSubjectAccess: ["application/json", "text/html; charset=utf-8"],
    getOwnCopy: ["application/json", "text/html; charset=utf-8"],
    getReport: ["application/json", "text/html; charset=utf-8"],
    getStoredReport: ["application/json", "text/html; charset=utf-8"],
    getAssessment: ["application/json", "text/html; charset=utf-8"],
    getChainExport: ["application/x-ndjson"],
    getAuditLogExport: ["application/x-ndjson"],
  });
});

Deno.test("the document is OpenAPI 3.1 of the interface's version and holds exactly the catalogue", () => {
  assert.equal(document.openapi, "3.1.0");
  assert.equal(document.info.version, "1.11.0");
  const operations = Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
  );
  const catalogue = ROUTES.map(({ method, path }) => `${method} ${path}`);
  const preflights = new Set(ROUTES.map(({ path }) => `OPTIONS ${path}`));
  assert.deepEqual(operations.sort(), [...catalogue, ...preflights].sort());
});

Deno.test("every route that a file of src/http/routes/ describes is in the catalogue, once", async () => {
  const folder = `${import.meta.dirname}/../src/http/routes`;
  const described: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    const text = await Deno.readTextFile(`${folder}/${name}`);
    described.push(...[...text.matchAll(/^ {2}operationId: "(\w+)",$/gm)].map(([, id]) => id!));
  }
  assert.deepEqual(described.sort(), ROUTES.map(({ operationId }) => operationId).sort());
});

// deno-lint-ignore no-explicit-any -- as they stand in the document
const OPERATIONS: readonly any[] = Object.values<any>(document.paths).flatMap((path) => Object.values(path));

Deno.test("every operation has a tag that the document describes, and every tag an operation", () => {
  const described = document.tags.map(({ name }: { name: string }) => name);
  assert.deepEqual([...new Set(OPERATIONS.flatMap(({ tags }) => tags))].sort(), [...described].sort());
  for (const { tags, operationId } of OPERATIONS) assert.equal(tags.length, 1, operationId);
});

/** An answer of an operation; those that several operations have stand among the components. */
// deno-lint-ignore no-explicit-any -- as it stands in the document
function responseOf(responses: any, status: number | string): any {
  const { $ref, ...own } = responses[status];
  return $ref === undefined ? own : document.components.responses[$ref.split("/").at(-1)];
}

Deno.test("every response has a description, an error with each code that it may carry", () => {
  for (const { operationId, responses } of OPERATIONS) {
    for (const status of Object.keys(responses)) {
      const { description } = responseOf(responses, status);
      assert.match(
        description ?? "",
        Number(status) < 400 ? /\w/ : /^`\w+`: [A-Z]/,
        `${operationId} ${status}`,
      );
    }
  }
  const { responses } = document.paths["/v1/admin/org/{org_id}/force-rotate"].post;
  assert.match(responseOf(responses, 422).description, /`IDEMPOTENCY_KEY_REUSED`: .*`VALIDATION_FAILED`: /);
  assert.match(responseOf(responses, 501).description, /^`NOT_IMPLEMENTED`: /);
});

Deno.test("the document has the catalogue's examples, of parameters too, and each fits its schema", () => {
  for (const route of ROUTES) {
    const operation = document.paths[route.path][route.method.toLowerCase()];
    for (const { summary, path = {}, query = {}, body } of route.examples) {
      const given = Object.entries({ ...path, ...query }).map(([name, value]) => {
        // deno-lint-ignore no-explicit-any -- as it stands in the document
        const { examples, schema } = operation.parameters.find((candidate: any) => candidate.name === name);
        if (STAND_IN.test(value)) {
          assert.equal(examples?.[summary], undefined);
          return name;
        }
        assert.equal(String(examples[summary].value), value);
        assert.ok(ajv.validate(schema, examples[summary].value), `${route.operationId} ${name}`);
        return name;
      });
      assert.equal(given.length, Object.keys(path).length + Object.keys(query).length);
      if (body === undefined) continue;
      const { schema, examples } = operation.requestBody.content["application/json"];
      assert.deepEqual(examples[summary].value, body);
      const pointer = schema.$ref?.replace("#", "openapi#");
      if (pointer !== undefined) assert.ok(ajv.validate(pointer, body), route.operationId);
    }
  }
});

Deno.test("an operation with a master key requires its own scope", () => {
  for (const route of ROUTES) {
    const { security } = document.paths[route.path][route.method.toLowerCase()];
    const { auth } = route;
    const isForPeople = auth.kind === "key" && ACCESS[auth.access].roles.length > 0;
    const expected = {
      none: [],
      key: [{ organizationKey: [] }, ...(isForPeople ? [{ session: [] }] : [])],
      user: [{ session: [] }],
    };
    assert.deepEqual(
      security,
      auth.kind === "master" ? [{ [`masterKey_${auth.scope}`]: [] }] : expected[auth.kind],
    );
  }
});

Deno.test("the document has every status in the specification's tables for each operation", () => {
  const statuses = (path: string, method: string) =>
    Object.keys(document.paths[path][method].responses).map(Number);
  assert.deepEqual(statuses("/v1/score", "post").sort(), [
    200,
    400,
    401,
    403,
    409,
    410,
    413,
    415,
    422,
    429,
    500,
    503,
  ]);
  assert.deepEqual(statuses("/v1/operator/{operator_id}", "delete").sort(), [
    200,
    401,
    403,
    404,
    422,
    429,
    500,
    503,
  ]);
  assert.deepEqual(statuses("/v1/admin/org/create", "post").sort(), [
    201,
    400,
    401,
    409,
    413,
    415,
    422,
    429,
    500,
    503,
  ]);
  assert.deepEqual(statuses("/v1", "get").sort(), [200, 429, 500, 503]);
  assert.deepEqual(statuses("/v1/score", "options").sort(), [204, 403, 405, 429]);
});

// deno-lint-ignore no-explicit-any -- as it stands in the document
type Parameter = any;

Deno.test("the parameters of POST /v1/score are in the document as query and as header, with their values", () => {
  const parameters = document.paths["/v1/score"].post.parameters.map((parameter: Parameter) => {
    const { $ref } = parameter;
    const { in: place, name, schema, required } = $ref === undefined
      ? parameter
      : document.components.parameters[$ref.split("/").at(-1)!];
    return [place, name, schema.enum, schema.default, required ?? false];
  });
  const modes = [["full", "lite"], "full", false];
  const tiers = [["tier_1", "tier_2", "tier_3"], "tier_1", false];
  const overrides = [["normal", "incident_frozen"], "normal", false];
  assert.deepEqual(parameters, [
    ["query", "mode", ...modes],
    ["query", "role_tier", ...tiers],
    ["query", "mode_override", ...overrides],
    ["header", "X-Service-Mode", ...modes],
    ["header", "X-Service-Role-Tier", ...tiers],
    ["header", "X-Service-Mode-Override", ...overrides],
    ["header", "Idempotency-Key", undefined, undefined, false],
  ]);
});

/** The schema behind a reference. */
// deno-lint-ignore no-explicit-any
function resolved(schema: any): any {
  return schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split("/").at(-1)];
}

Deno.test("the wire names of the score response are those of the specification", () => {
  const score = document.components.schemas.ScoreResponse.properties;
  const fieldsOf = (name: string) => Object.keys(resolved(score[name]).properties);
  const specified = [
    "jis",
    "displayed_jis",
    "band",
    "dimensions",
    "decay_projection",
    "compliance",
    "maintenance_recommendation",
    "mode",
    "provisional",
    "committed",
    "dimensions_computed",
    "session_id",
    "request_id",
    "timestamp",
  ];
  const decided = [
    ...["operator_id", "role_tier", "mode_override", "uncertainty", "prior_dimensions", "model", "evidence"],
  ];
  assert.deepEqual(Object.keys(score).sort(), [...specified, ...decided].sort());
  assert.deepEqual(fieldsOf("dimensions"), [
    "deferral_resistance",
    "error_detection",
    "independent_performance",
    "deliberation_depth",
    "post_error_recalibration",
    "domain_confidence",
    "decision_autonomy",
  ]);
  assert.deepEqual(fieldsOf("decay_projection"), [
    "current_jis",
    "current_trend",
    "domain",
    "decay_rate",
    "decay_acceleration",
    "floor",
    "recovery_rate",
    "days_to_non_compliance",
    "projections",
  ]);
  assert.deepEqual(fieldsOf("compliance"), [
    "band",
    "status",
    "jis",
    "article14_met",
    "action_required",
    "thresholds",
    // Decision: beside the specified fields, and only with a model of the formulas `jis-3`.
    "verdict",
  ]);
  assert.ok(!resolved(score.compliance).required.includes("verdict"));
  const maintenance = resolved(score.maintenance_recommendation).properties;
  assert.deepEqual(Object.keys(maintenance), ["urgency", "trigger_intervention", "recommendation"]);
  assert.deepEqual(Object.keys(maintenance.recommendation.properties), [
    "intervention_type",
    "intervention_frequency",
    "recommend_withhold",
    "reasons",
    "next_assessment",
  ]);
  assert.deepEqual(Object.keys(resolved(score.evidence).properties), [
    "v",
    "covers",
    "sha256",
    "salt",
    "entry",
    "entry_hash",
    "proof",
  ]);
});

Deno.test("the wire names of the requests are those of the specification", () => {
  const { ScoreRequest, FlatScoreRequest } = document.components.schemas;
  assert.deepEqual(Object.keys(ScoreRequest.properties), [
    "session_id",
    "operator_id",
    "domain",
    "interaction",
  ]);
  const interaction = [
    "ai_recommendation_presented",
    "time_to_decision_ms",
    "decision",
    "modification_extent",
    "ai_available",
    "scenario_type",
    "outcome_correct",
    // Not in the specification, and optional.
    "ai_correct",
    "hover_events",
    "scroll_depth",
    "alternative_views_checked",
    // Not in the specification, and optional.
    "probe_ticket",
  ];
  assert.deepEqual(Object.keys(resolved(ScoreRequest.properties.interaction).properties), interaction);
  assert.deepEqual(
    Object.keys(FlatScoreRequest.properties).sort(),
    [...interaction, "session_id", "operator_id", "domain"].sort(),
  );
  const create = document.paths["/v1/admin/org/create"].post.requestBody.content["application/json"].schema;
  assert.deepEqual(Object.keys(resolved(create).properties), [
    "org_id",
    "name",
    "domain",
    "tier",
    "allowed_origins",
  ]);
  assert.deepEqual(resolved(create).required, ["org_id", "name", "domain", "tier", "allowed_origins"]);
});

/** A parameter that stands in an operation, or the component that it refers to. */
function parameterOf(parameter: Parameter): Parameter {
  return parameter.$ref === undefined ? parameter : document.components.parameters[
    parameter.$ref.split("/").at(-1)!
  ];
}

Deno.test("every operation of a path has the parameters that the path names", () => {
  for (
    const [path, methods] of Object.entries<Record<string, { parameters?: Parameter[] }>>(document.paths)
  ) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    for (const { parameters = [] } of Object.values(methods)) {
      const inPath = parameters.map(parameterOf).filter((parameter) => parameter.in === "path");
      assert.deepEqual(inPath.map(({ name }) => name), named, path);
    }
  }
});

Deno.test("the document allows no value of a parameter or a member that is always refused", () => {
  const takes = (path: string, method: string, name: string, value: unknown) => {
    const parameters: Parameter[] = document.paths[path][method].parameters;
    return ajv.validate(parameters.find((parameter) => parameter.name === name)!.schema, value);
  };
  assert.deepEqual([500, 501, 0].map((limit) => takes("/v1/admin/audit-log", "get", "limit", limit)), [
    true,
    false,
    false,
  ]);
  for (const path of ["/v1/audit/chain/verify", "/v1/admin/audit/verify-chain"]) {
    assert.deepEqual(["1", "0"].map((size) => takes(path, "get", "since_size", size)), [true, false]);
    assert.ok(takes(path, "get", "from", "0"));
  }
  const decision = "openapi#/paths/~1v1~1decision~1score/post/requestBody/content/application~1json/schema";
  const flat = { operator_id: "x", domain: "general", time_to_decision_ms: 1, decision: "accepted" };
  const validate = ajv.compile({ $ref: decision });
  assert.deepEqual([validate(flat), validate({ ...flat, interaction: {} })], [true, false]);
});

Deno.test("a failure that may be a page, and an OPTIONS that is no preflight, are in the document", () => {
  const { responses } = document.paths["/assessments/{sessionId}"].get;
  assert.deepEqual(Object.keys(responseOf(responses, 404).content), [
    "application/json",
    "text/html; charset=utf-8",
  ]);
  for (const { options } of Object.values<{ options: { responses: object } }>(document.paths)) {
    assert.ok("405" in options.responses);
  }
});
