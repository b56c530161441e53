/** An answer that lists the problems of a body has a bounded length, however many problems there are. */
import assert from "node:assert/strict";
import { openApiDocument } from "../../src/http/openapi.ts";
import type { MasterScope } from "../../src/keys/master_keys.ts";
import type { Route } from "../../src/http/exchange.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { credentialsFor, targetOf } from "../examples.ts";
import { type Answer, type Harness, MASTER_KEYS, OWN_ORIGIN, withHarness } from "../harness.ts";
import { SHAPES } from "../heavy_bodies.ts";
import { signedInUser } from "../signing_in.ts";

/** Largest size of an error answer in bytes: 100 details, each with a path and a message. */
const ANSWER_BYTES = 65_536;
const DETAILS = 100;

const HEAVY = ["whole numbers", "empty objects", "one object of many names", "one long string"] as const;

/** Invalid values of each shape, made once, each three times as large as an answer may be. */
const JUNK = HEAVY.map((shape) => [shape, SHAPES[shape]!(200_000)] as const);

const WITH_BODY = ROUTES.filter(({ body }) => body !== null);

type Json = Readonly<Record<string, unknown>>;

// deno-lint-ignore no-explicit-any -- the document is walked by its names
const document = openApiDocument("http://jiss.test") as any;

/** Names of the members in all forms of a schema of the document. */
// deno-lint-ignore no-explicit-any -- as above
function namesIn(schema: any): readonly string[] {
  if (schema === undefined) return [];
  if (schema.$ref !== undefined) return namesIn(document.components.schemas[schema.$ref.split("/").at(-1)]);
  const forms = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [...Object.keys(schema.properties ?? {}), ...forms.flatMap(namesIn)];
}

function membersOf({ path, method }: Route): readonly string[] {
  const { requestBody } = document.paths[path][method.toLowerCase()];
  return [...new Set(namesIn(requestBody.content["application/json"].schema))];
}

async function sent(
  harness: Harness,
  route: Route,
  { key, cookie, body }: { key: string; cookie: string; body: string },
) {
  const credentials = {
    organizationKey: key,
    cookie,
    origin: OWN_ORIGIN,
    masterKeyOf: (scope: MasterScope) => MASTER_KEYS[scope],
  };
  return await harness.send(targetOf(route, route.examples[0]!, {}), {
    method: route.method,
    body,
    headers: {
      ...credentialsFor(route, credentials),
      ...(route.idempotent ? { "Idempotency-Key": crypto.randomUUID() } : {}),
    },
  });
}

function assertBounded({ status, text, body }: Answer, what: string): void {
  assert.ok(status < 500, `${what}: ${status} ${text.slice(0, 300)}`);
  assert.ok(text.length <= ANSWER_BYTES, `${what}: ${status} with ${text.length} characters`);
  const details = body.error?.details ?? [];
  assert.ok(!Array.isArray(details) || details.length <= DETAILS, `${what}: ${details.length} details`);
}

/** JSON of the body of a route's example, with one member replaced by the given JSON. */
function bodyWith(route: Route, name: string, json: string): string {
  const rest = Object.entries(route.examples[0]!.body ?? {}).filter(([other]) => other !== name)
    .map(([other, value]) => `${JSON.stringify(other)}:${JSON.stringify(value)},`);
  return `{${rest.join("")}${JSON.stringify(name)}:${json}}`;
}

for (const route of WITH_BODY) {
  Deno.test(
    `${route.method} ${route.path}: the error answer to any value of a member is bounded`,
    withHarness(async (harness) => {
      const key = await harness.organization("caller");
      const { cookie } = await signedInUser(harness, { orgId: "caller", role: "viewer" });
      const members = membersOf(route);
      // The route's body has members or is optional. Otherwise this test would try nothing.
      assert.ok(members.length > 0 || route.body!.optional === true, route.path);
      for (const name of [...members, "interaction", "unknown"]) {
        for (const [shape, json] of JUNK) {
          const answer = await sent(harness, route, { key, cookie, body: bodyWith(route, name, json) });
          assertBounded(answer, `${route.path} ${name} ${shape}`);
        }
      }
      for (const [shape, json] of JUNK) {
        const answer = await sent(harness, route, { key, cookie, body: json });
        assertBounded(answer, `${route.path} ${shape}`);
      }
    }, { masterSecrets: undefined, adminDashboard: true, rateLimitIp: 100_000, rateLimitKey: 100_000 }),
  );
}

/** An item whose members are all wrong. */
const ALL_WRONG: Json = Object.fromEntries(
  membersOf(ROUTES.find(({ operationId }) => operationId === "postDecision")!)
    .filter((name) => name !== "interaction").map((name) => [name, ["wrong"]]),
);

Deno.test(
  "an answer with more problems than it may show shows the first 100 and says how many more there are",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    const interactions = Array.from({ length: 100 }, () => ALL_WRONG);
    const batch = await send("/v1/score/batch", {
      key,
      body: { operator_id: "operator-1", domain: "general", interactions },
    });
    assert.equal(batch.status, 422);
    const { details, message } = batch.body.error;
    assert.equal(details.length, DETAILS);
    assert.match(details[0].path, /^interactions\.0\./);
    const [, more] = /\(and (\d+) more, details shows the first 100\)/.exec(message) ?? [];
    assert.ok(Number(more) > 500, message);
    assertBounded(batch, "batch");

    const three = await send("/v1/score/batch", {
      key,
      body: { operator_id: "operator-1", domain: "general", interactions: [{}] },
    });
    assert.match(three.body.error.message, /\(and \d+ more, see details\)/);
  }),
);

Deno.test(
  "an array of events that is too long is one problem; one of allowed length has a problem for each wrong event",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    const register = (events: unknown) =>
      send("/v1/admin/webhook/register", {
        key,
        body: { url: "https://review.acme.example/jiss", secret: "a-secret-of-the-receiver", events },
      });
    const long = await register(Array(101).fill(1));
    assert.deepEqual([long.status, long.body.error.details.length], [422, 1]);
    assert.equal(long.body.error.details[0].path, "events");
    const wrong = await register(["score.committed", 1, "x"]);
    assert.deepEqual(
      wrong.body.error.details.map(({ path }: { path: string }) => path),
      ["events.1", "events.2"],
    );
    const twice = await register(Array(100).fill("drs.escalation"));
    assert.deepEqual([twice.status, twice.body.events], [201, ["drs.escalation"]]);
  }),
);

Deno.test(
  "an error shortens a long name that the caller chose",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    const name = "n".repeat(900_000);
    const answer = await send("/v1/audit/append", {
      key,
      body: `{"event_type":"REVIEW_POLICY_CHANGED","payload":{"${name}":{"inner":1e400}}}`,
    });
    assert.equal(answer.status, 422, answer.text.slice(0, 300));
    assert.match(answer.body.error.details[0].path, /^payload\.n{100,}…$/);
    assert.ok(answer.text.length < 2_000, `${answer.text.length} characters`);
  }),
);
