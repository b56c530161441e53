/** The OpenAPI 3.1 document, made from the catalogue: the published schemas are the ones that validate. */
import * as z from "zod";
import {
  createDocument,
  createSchema,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import { ACCESS, type Access, ROLES } from "../domain/access.ts";
import { ERROR_MEANINGS } from "../domain/error_meanings.ts";
import { ERROR_STATUSES, type ErrorCode } from "../domain/errors.ts";
import { IDEMPOTENCY_KEY_MAX_LENGTH } from "../domain/limits.ts";
import { envelopeFields } from "../domain/score.ts";
import { API_VERSION } from "../domain/service.ts";
import { MASTER_SCOPES, masterSecretNames } from "../keys/master_keys.ts";
import type { Route, RouteExample } from "./exchange.ts";
import { withFormat } from "./openapi_formats.ts";
import { deliveryCallbacks, webhookComponents, webhooksOf } from "./openapi_webhooks.ts";
import { methodsOf, ROUTE_GROUPS } from "./routes.ts";

const errorSchema = z.object({
  error: z.object({
    code: z.enum(Object.keys(ERROR_STATUSES) as [ErrorCode, ...ErrorCode[]]),
    message: z.string().meta({ description: "Says what is wrong and what to change." }),
    ...envelopeFields,
    details: z.union([
      z.array(z.object({ path: z.string(), message: z.string() })),
      z.object({
        reason: z.enum(["erased", "pruned"]),
        entry: z.object({ seq: z.int(), entry_hash: z.string() }).nullable(),
      }),
    ]).optional().meta({
      description:
        "For invalid input: the wrong fields, at most 100. For 410: the reason why the data is gone, and the entry that records it.",
    }),
  }),
}).meta({ id: "Error" });

/** Every code that an operation can answer with. */
export function errorCodesOf(route: Route): readonly ErrorCode[] {
  const codes: ErrorCode[] = [...route.errors];
  if (route.auth.kind !== "none") codes.push("UNAUTHORIZED", "SERVICE_UNAVAILABLE");
  if (route.auth.kind === "key") codes.push("FORBIDDEN");
  if (route.honoursIdempotencyKey) codes.push("IDEMPOTENCY_KEY_REUSED");
  if (route.layer1) codes.push("RATE_LIMITED", "SERVICE_UNAVAILABLE", "INTERNAL_ERROR");
  if (route.body !== null) {
    codes.push("INVALID_JSON", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE");
  }
  if (route.body !== null || route.parameters !== null || route.pathParameters !== null) {
    codes.push("VALIDATION_FAILED");
  }
  return [...new Set(codes)];
}

/** The statuses of an operation's errors in ascending order, each with its error codes. */
function errorsOf(route: Route): readonly (readonly [status: number, codes: readonly ErrorCode[]])[] {
  const pairs = errorCodesOf(route).map((
    code,
  ): readonly [number, ErrorCode] => [ERROR_STATUSES[code][0], code]);
  if (route.idempotent || route.honoursIdempotencyKey) pairs.push([400, "VALIDATION_FAILED"]);
  const statuses = [...new Set(pairs.map(([status]) => status))].sort((a, b) => a - b);
  return statuses.map((status) => [
    status,
    pairs.filter(([candidate]) => candidate === status).map(([, code]) => code),
  ]);
}

/** Matches a stand-in for a value that only a running service can give, such as the id of a webhook. */
export const STAND_IN = /-of-the-example$|OFTHEEXAMPLE|^[0f]{64}$/;

/** Adds the examples' values of a parameter, each under its example's summary. Numbers in a URL are text. */
function withExamples(
  schema: z.ZodType,
  valueIn: (example: RouteExample) => string | undefined,
  { examples }: Route,
): z.ZodType {
  const { type } = createSchema(schema, { io: "input", openapiVersion: "3.1.0" }).schema as { type?: string };
  const values = examples.flatMap((example) => {
    const value = valueIn(example);
    if (value === undefined || STAND_IN.test(value)) return [];
    return [[example.summary, { value: type === "integer" ? Number(value) : value }] as const];
  });
  return values.length === 0 ? schema : schema.meta({ param: { examples: Object.fromEntries(values) } });
}

const ANY_NAME_OF_CALL = z.string().min(1).max(IDEMPOTENCY_KEY_MAX_LENGTH);
const describedCall = (id: string) => ({
  description:
    "Identifies the call. If the call is repeated within 30 days, it gets the stored answer and is not done again.",
  param: { id },
});
const NAME_OF_CALL = ANY_NAME_OF_CALL.meta(describedCall("IdempotencyKey"));
const NAME_OF_CALL_IF_ANY = ANY_NAME_OF_CALL.optional().meta(describedCall("IdempotencyKeyIfAny"));

function parametersOf(route: Route) {
  const shape = route.parameters?.shape ?? {};
  const query = Object.entries(shape).map(([name, schema]) => [
    name,
    withExamples(schema as z.ZodType, (example) => example.query?.[name], route),
  ]);
  const headers = Object.entries(route.parameterHeaders ?? {}).map(([name, header]) => [
    header,
    (shape[name] as z.ZodType).meta({
      description: `Used if the query does not contain \`${name}\`.`,
    }),
  ]);
  const path = Object.entries(route.pathParameters?.shape ?? {}).map(([name, schema]) => [
    name,
    withExamples(schema as z.ZodType, (example) => example.path?.[name], route),
  ]);
  return {
    query: z.object(Object.fromEntries(query)),
    header: z.object({
      ...Object.fromEntries(headers),
      ...(route.idempotent ? { "Idempotency-Key": NAME_OF_CALL } : {}),
      ...(route.honoursIdempotencyKey ? { "Idempotency-Key": NAME_OF_CALL_IF_ANY } : {}),
    }),
    ...(path.length === 0 ? {} : { path: z.object(Object.fromEntries(path)) }),
  };
}

function examplesOf(route: Route) {
  const rows = route.examples.filter((example) => example.body !== undefined);
  return Object.fromEntries(rows.map(({ summary, body }) => [summary, { summary, value: body }]));
}

/** Says which keys and roles an operation takes. */
function takenIn(access: Access): string {
  const { scope, roles }: { readonly scope: string | null; readonly roles: readonly string[] } =
    ACCESS[access];
  const others = [
    ...(scope === null ? [] : [`scope \`${scope}\``]),
    ...(roles.length === 0 ? [] : [roles.length === ROLES.length ? "any role" : `roles ${roles.join(", ")}`]),
  ];
  return `Takes the own key${others.map((other) => `; ${other}`).join("")}.`;
}

/** Each master key is for one operation only, so each is a separate security scheme. */
function securityOf({ auth }: Route): readonly Record<string, string[]>[] {
  switch (auth.kind) {
    case "none":
      return [];
    case "master":
      return [{ [`masterKey_${auth.scope}`]: [] }];
    case "user":
      return [{ session: [] }];
    case "key": {
      const { roles }: { readonly roles: readonly string[] } = ACCESS[auth.access];
      return [{ organizationKey: [] }, ...(roles.length === 0 ? [] : [{ session: [] }])];
    }
  }
}

function securitySchemes() {
  const scheme = (description: string) =>
    ({ type: "apiKey", in: "header", name: "X-API-Key", description }) as const;
  const masters = MASTER_SCOPES.map((scope) => {
    const [secret] = masterSecretNames(scope);
    return [
      `masterKey_${scope}`,
      scheme(`The master secret \`${secret}\`, which is valid for one operation only.`),
    ] as const;
  });
  return {
    organizationKey: scheme("An organization's live key, its own or a named one."),
    session: {
      type: "apiKey",
      in: "cookie",
      name: "jiss_session",
      description:
        "The cookie of a user's session; where browsers come over TLS its name is `__Host-jiss_session`. It works on the pages of this service alone.",
    } as const,
    ...Object.fromEntries(masters),
  };
}

const json = (schema: z.ZodType) => ({ "application/json": { schema } });

/** A header of answers, which the document describes once. */
function answerHeader<Schema extends z.ZodType>(name: string, schema: Schema, description: string) {
  return { [name]: schema.meta({ header: { id: name, description } }) };
}

const digits = z.string().regex(/^[0-9]+$/);

const RETRY_AFTER = answerHeader(
  "Retry-After",
  z.string().regex(/^[1-9][0-9]*$/),
  "Seconds to wait before the next try; a whole number, at least 1.",
);
const RATE_LIMIT = {
  ...answerHeader(
    "X-RateLimit-Limit",
    digits,
    "Maximum number of requests with this key in any 60 seconds.",
  ),
  ...answerHeader("X-RateLimit-Remaining", digits, "Number of requests left in the present window."),
  ...answerHeader("X-RateLimit-Reset", digits, "Whole seconds until another request is allowed, at least 1."),
};
const REPLAYED = answerHeader(
  "Idempotency-Replayed",
  z.literal("true").optional(),
  "Present if the answer is a stored one.",
);

/** The answer of a negotiated route to a client that prefers a page. */
const PAGE = { "text/html; charset=utf-8": { schema: z.string() } };

/** By their ids. The document has each once, and operations refer to it: written out they would be a third of it. */
const ERROR_RESPONSES = new Map<string, ZodOpenApiResponseObject>();

function errorResponse(
  status: number,
  codes: readonly ErrorCode[],
  { negotiated = false }: Pick<Route, "negotiated"> = {},
): ZodOpenApiResponseObject {
  const id = [status, ...codes, ...(negotiated ? ["or_page"] : [])].join("_");
  const known = ERROR_RESPONSES.get(id);
  if (known !== undefined) return known;
  const description = codes.map((code) => `\`${code}\`: ${ERROR_MEANINGS[code].meaning}`).join(" ");
  const retries = status === 429 || status === 503;
  const content = { ...json(errorSchema), ...(negotiated ? PAGE : {}) };
  const response = { id, description, content, ...(retries ? { headers: z.object(RETRY_AFTER) } : {}) };
  ERROR_RESPONSES.set(id, response);
  return response;
}

/** Headers that a successful answer may carry. */
function headersOf({ auth, method }: Route) {
  const headers = { ...(auth.kind === "key" ? RATE_LIMIT : {}), ...(method === "POST" ? REPLAYED : {}) };
  return Object.keys(headers).length === 0 ? {} : { headers: z.object(headers) };
}

function contentOf({ method, success }: Route) {
  if (method === "HEAD") return {};
  const documents = (success.otherTypes ?? []).map((type) => [type, { schema: z.string() }]);
  if (success.onlyOtherTypes) return { content: Object.fromEntries(documents) };
  const schema = success.schema ?? z.record(z.string(), z.unknown());
  return { content: { ...json(schema), ...Object.fromEntries(documents) } };
}

function operationOf(route: Route, tag: string): ZodOpenApiOperationObject {
  const { success } = route;
  const errors = Object.fromEntries(
    errorsOf(route).map(([status, codes]) => [`${status}`, errorResponse(status, codes, route)]),
  );
  return {
    operationId: route.operationId,
    tags: [tag],
    summary: route.summary,
    description: route.auth.kind === "key"
      ? `${route.description} ${takenIn(route.auth.access)}`
      : route.description,
    requestParams: parametersOf(route),
    security: [...securityOf(route)],
    ...(route.body === null ? {} : {
      requestBody: {
        required: route.body.optional !== true,
        content: { "application/json": { schema: route.body.schema, examples: examplesOf(route) } },
      },
    }),
    responses: {
      [`${success.status}`]: {
        description: success.description,
        ...headersOf(route),
        ...contentOf(route),
      },
      ...errors,
    },
    ...(route.operationId === "postWebhook" ? { callbacks: deliveryCallbacks() } : {}),
  };
}

const PREFLIGHTS = {
  name: "Preflights",
  description:
    "The requests that a browser sends by itself before a call from another origin. No key is needed, and whatever the path names, the answer is the same. One is granted if an active organization registered the origin. Wildcards are not supported.",
};

/** Parts of every preflight. The document has each once. */
const PREFLIGHT_HEADERS = {
  Origin: z.string().meta({ param: { id: "Origin" } }),
  "Access-Control-Request-Method": z.string().meta({ param: { id: "RequestMethod" } }),
};
const PREFLIGHT_GRANTED: ZodOpenApiResponseObject = {
  id: "204_Preflight",
  description: "Granted.",
  headers: z.object({ "Access-Control-Allow-Origin": z.string() }),
};

/** Schemas of what preflights' paths name; the document has each name once. */
const PREFLIGHT_NAMES: Record<string, z.ZodType> = {};

function preflightPath(names: readonly string[]): Record<string, z.ZodType> {
  return Object.fromEntries(names.map((name) => {
    PREFLIGHT_NAMES[name] ??= z.string().meta({ param: { id: `any_${name}` } });
    return [name, PREFLIGHT_NAMES[name]];
  }));
}

/** The request of a browser before a cross-origin call; it needs no key and is the same on every path. */
function preflightOf(path: string, methods: readonly string[]): ZodOpenApiOperationObject {
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const names = path.split("/").filter((part) => part !== "").map((part) => part.replace(/\W/g, "_"));
  return {
    operationId: ["preflight", ...names].join("_"),
    tags: [PREFLIGHTS.name],
    summary: `Preflight of ${methods.join(", ")}`,
    description: "The origin decides.",
    security: [],
    requestParams: {
      header: z.object(PREFLIGHT_HEADERS),
      ...(parameters.length === 0 ? {} : { path: z.object(preflightPath(parameters)) }),
    },
    responses: {
      "204": PREFLIGHT_GRANTED,
      "403": errorResponse(403, ["ORIGIN_NOT_ALLOWED"]),
      "405": errorResponse(405, ["METHOD_NOT_ALLOWED"]),
      "429": errorResponse(429, ["RATE_LIMITED"]),
    },
  };
}

/** The document for a service at `baseUrl`. */
export function openApiDocument(baseUrl: string): Record<string, unknown> {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const { name, routes } of ROUTE_GROUPS) {
    for (const route of routes) {
      paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route, name) };
    }
  }
  for (const path of Object.keys(paths)) {
    paths[path] = { ...paths[path], options: preflightOf(path, methodsOf(path)) };
  }
  const document = createDocument({
    openapi: "3.1.0",
    info: {
      title: "JISS: Judgment Independence Scoring Service",
      version: API_VERSION,
      description:
        "Scores each human-AI interaction by how independently the reviewer judged, and records signed, chained evidence. Each JSON body contains `request_id` and `timestamp`; errors contain them inside `error`. A request that is not valid HTTP (for example with a bad request line, or with headers over the server's limit) is refused before it reaches the service, and gets an answer without these fields.",
      contact: { name: "The administrator of this installation", url: `${baseUrl}/docs` },
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: baseUrl }],
    tags: [...ROUTE_GROUPS.map(({ name, description }) => ({ name, description })), PREFLIGHTS],
    paths: paths as ZodOpenApiPathsObject,
    webhooks: webhooksOf(),
    components: {
      schemas: webhookComponents(),
      securitySchemes: securitySchemes(),
    },
  }, { override: withFormat });
  giveParametersTheirSchemas(document as unknown as GeneratedDocument);
  return document as unknown as Record<string, unknown>;
}

interface GeneratedDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, GeneratedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Record<string, unknown>>> };
}

interface GeneratedParameter {
  readonly description?: string;
  readonly examples?: unknown;
  schema?: Record<string, unknown> & { readonly $ref?: string };
}

interface GeneratedOperation {
  readonly parameters?: readonly GeneratedParameter[];
}

/**
 * Puts a component's schema into each parameter that refers to it: next to the reference, the generator leaves what it
 * read of the parameter alone (zod-openapi 5). What a parameter says of itself its schema does not say again.
 */
function giveParametersTheirSchemas({ paths, components }: GeneratedDocument): void {
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
    for (const parameter of operation.parameters ?? []) {
      const { $ref, param: _read, ...own } = parameter.schema ?? {};
      const schema: Record<string, unknown> = $ref === undefined
        ? own
        : { ...components.schemas[$ref.split("/").at(-1)!], ...own };
      if (schema.description === parameter.description) delete schema.description;
      if (parameter.examples !== undefined) delete schema.examples;
      if (parameter.schema !== undefined) parameter.schema = schema;
    }
  }
}
