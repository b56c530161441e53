/** The OpenAPI 3.1 document, made from the catalogue: the same schemas that validate are the ones published. */
import * as z from "zod";
import {
  createDocument,
  createSchema,
  type ZodOpenApiComponentsObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from "zod-openapi";
import { ERROR_MEANINGS } from "../domain/error_meanings.ts";
import { ERROR_STATUSES, type ErrorCode } from "../domain/errors.ts";
import { IDEMPOTENCY_KEY_MAX_LENGTH } from "../domain/limits.ts";
import { envelopeFields } from "../domain/score.ts";
import { API_VERSION } from "../domain/service.ts";
import type { WebhookEvent } from "../domain/enums.ts";
import { PING, webhookBodySchemas } from "../domain/webhook.ts";
import { evidenceSchema } from "../evidence/envelope.ts";
import type { Route, RouteExample } from "./exchange.ts";
import { methodsOf, ROUTE_GROUPS, ROUTES } from "./routes.ts";

const errorSchema = z.object({
  error: z.object({
    code: z.enum(Object.keys(ERROR_STATUSES) as [ErrorCode, ...ErrorCode[]]),
    message: z.string().meta({ description: "What to change." }),
    ...envelopeFields,
    details: z.union([
      z.array(z.object({ path: z.string(), message: z.string() })),
      z.object({
        reason: z.enum(["erased", "pruned"]),
        entry: z.object({ seq: z.int(), entry_hash: z.string() }).nullable(),
      }),
    ]).optional().meta({
      description: "Each field that is wrong; of what is gone why, and the entry that tells of it.",
    }),
  }),
}).meta({ id: "Error" });

/** Every code that an operation can answer with. */
export function errorCodesOf(route: Route): readonly ErrorCode[] {
  const codes: ErrorCode[] = [...route.errors];
  if (route.auth.kind !== "none") codes.push("UNAUTHORIZED", "SERVICE_UNAVAILABLE");
  if (route.layer1) codes.push("RATE_LIMITED", "SERVICE_UNAVAILABLE", "INTERNAL_ERROR");
  if (route.body !== null) {
    codes.push("INVALID_JSON", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE");
  }
  if (route.body !== null || route.parameters !== null || route.pathParameters !== null) {
    codes.push("VALIDATION_FAILED");
  }
  return [...new Set(codes)];
}

/** The statuses of an operation's errors, in their order, each with the codes that it comes with. */
function errorsOf(route: Route): readonly (readonly [status: number, codes: readonly ErrorCode[]])[] {
  const pairs = errorCodesOf(route).map((
    code,
  ): readonly [number, ErrorCode] => [ERROR_STATUSES[code][0], code]);
  if (route.idempotent) pairs.push([400, "VALIDATION_FAILED"]);
  const statuses = [...new Set(pairs.map(([status]) => status))].sort((a, b) => a - b);
  return statuses.map((status) => [
    status,
    pairs.filter(([candidate]) => candidate === status).map(([, code]) => code),
  ]);
}

/** In an example, what only a running service can give: the id of a webhook, say. */
export const STAND_IN = /-of-the-example$/;

/** The values that examples give to parameters, each under its example's summary; a URL has numbers as text. */
function withExamples<Schema extends z.ZodType>(
  schema: Schema,
  valueIn: (example: RouteExample) => string | undefined,
  { examples }: Route,
): Schema {
  const { type } = createSchema(schema, { io: "input", openapiVersion: "3.1.0" }).schema as { type?: string };
  const values = examples.flatMap((example) => {
    const value = valueIn(example);
    if (value === undefined || STAND_IN.test(value)) return [];
    return [[example.summary, { value: type === "integer" ? Number(value) : value }] as const];
  });
  return values.length === 0 ? schema : schema.meta({ param: { examples: Object.fromEntries(values) } });
}

function parametersOf(route: Route) {
  const shape = route.parameters?.schema.shape ?? {};
  const query = Object.entries(shape).map(([name, schema]) => [
    name,
    withExamples(schema as z.ZodType, (example) => example.query?.[name], route),
  ]);
  const headers = (route.parameters?.sources ?? []).flatMap(({ name, header }) =>
    header === undefined ? [] : [[
      header,
      (shape[name] as z.ZodType).meta({
        description: `Read where the query has no \`${name}\`; the query wins.`,
      }),
    ]]
  );
  const idempotency = z.string().min(1).max(IDEMPOTENCY_KEY_MAX_LENGTH).meta({
    description: "Names the call: repeated within 30 days, it is answered without being done again.",
  });
  const path = Object.entries(route.pathParameters?.shape ?? {}).map(([name, schema]) => [
    name,
    withExamples(schema as z.ZodType, (example) => example.path?.[name], route),
  ]);
  return {
    query: z.object(Object.fromEntries(query)),
    header: z.object({
      ...Object.fromEntries(headers),
      ...(route.idempotent ? { "Idempotency-Key": idempotency } : {}),
    }),
    ...(path.length === 0 ? {} : { path: z.object(Object.fromEntries(path)) }),
  };
}

function examplesOf(route: Route) {
  const rows = route.examples.filter((example) => example.body !== undefined);
  return Object.fromEntries(rows.map(({ summary, body }) => [summary, { summary, value: body }]));
}

/** A master key opens one operation, whose scope stands where OpenAPI 3.1 has the names of roles. */
function securityOf({ auth }: Route): readonly Record<string, string[]>[] {
  if (auth.kind === "none") return [];
  return [auth.kind === "key" ? { organizationKey: [] } : { masterKey: [auth.scope] }];
}

const json = (schema: z.ZodType) => ({ "application/json": { schema } });

const RETRY_AFTER = z.object({
  "Retry-After": z.string().meta({ description: "Whole seconds, at least 1." }),
});

/** What a negotiated route answers with to whoever prefers a page. */
const PAGE = { "text/html; charset=utf-8": { schema: z.string() } };

function errorResponse(
  status: number,
  codes: readonly ErrorCode[],
  { negotiated = false }: Pick<Route, "negotiated"> = {},
) {
  const description = codes.map((code) => `\`${code}\`: ${ERROR_MEANINGS[code].meaning}`).join(" ");
  const retries = status === 429 || status === 503;
  const content = { ...json(errorSchema), ...(negotiated ? PAGE : {}) };
  return { description, content, ...(retries ? { headers: RETRY_AFTER } : {}) };
}

const text = (description: string) => z.string().meta({ description });

/** Headers that a successful answer may carry. */
function headersOf({ auth, method }: Route) {
  const rate = auth.kind !== "key" ? {} : {
    "X-RateLimit-Limit": text("Requests of this key in any 60 seconds."),
    "X-RateLimit-Remaining": text("Requests left in the present window."),
    "X-RateLimit-Reset": text("Whole seconds until one is free again, at least 1."),
  };
  const replayed = method !== "POST" ? {} : {
    "Idempotency-Replayed": text("`true` where a stored answer is given again.").optional(),
  };
  const headers = { ...rate, ...replayed };
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
    description: route.description,
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
  };
}

const PREFLIGHTS = {
  name: "Preflights",
  description: "What a browser asks by itself before it calls from another origin. No key.",
};

/** What a browser asks before a cross-origin call; it needs no key and is the same on every path. */
function preflightOf(path: string, methods: readonly string[]): ZodOpenApiOperationObject {
  const names = path.split("/").filter((part) => part !== "").map((part) => part.replace(/\W/g, "_"));
  const parameters = ROUTES.find((route) => route.path === path)?.pathParameters ?? undefined;
  return {
    operationId: ["preflight", ...names].join("_"),
    tags: [PREFLIGHTS.name],
    summary: `Preflight of ${methods.join(", ")}`,
    description: "Granted when an active organization registered the origin; wildcards are never honoured.",
    security: [],
    requestParams: {
      header: z.object({ Origin: z.string(), "Access-Control-Request-Method": z.string() }),
      ...(parameters === undefined ? {} : { path: parameters }),
    },
    responses: {
      "204": {
        description: "Granted.",
        headers: z.object({ "Access-Control-Allow-Origin": z.string() }),
      },
      "403": errorResponse(403, ["ORIGIN_NOT_ALLOWED"]),
      "405": errorResponse(405, ["METHOD_NOT_ALLOWED"]),
      "429": errorResponse(429, ["RATE_LIMITED"]),
    },
  };
}

/** What is sent to registered destinations, and when. */
const WEBHOOKS: Readonly<Record<WebhookEvent | typeof PING, string>> = {
  "score.committed": "A score is final: at once where it is not provisional, else at its commit.",
  "drs.must_review": "A decision's final route is must_review.",
  "drs.escalation": "A decision's final route is escalation.",
  [PING]: "A test was asked for.",
};

const DELIVERY_HEADERS = z.object({
  "X-SERVICE-Signature": text(
    "`sha256=` and the hex HMAC-SHA256 of timestamp, `.` and body, keyed with the signing secret.",
  ),
  "X-SERVICE-Timestamp": text("Unix seconds of this attempt; refuse more than 300 either way."),
  "X-SERVICE-Idempotency-Key": text("The delivery's id, the same at each attempt."),
  "webhook-id": text("The delivery's id, as Standard Webhooks has it."),
  "webhook-timestamp": text("Unix seconds of this attempt."),
  "webhook-signature": text("`v1,` and the base64 HMAC-SHA256 of id, `.`, timestamp, `.` and body."),
});

const WEBHOOK_BODIES = webhookBodySchemas(evidenceSchema);

function componentOf(event: keyof typeof WEBHOOKS): string {
  return WEBHOOK_BODIES[event].meta()!.id!;
}

/** The bodies are what the service says, like a response, though the document has them where requests stand. */
function webhookComponents(): ZodOpenApiComponentsObject["schemas"] {
  return Object.fromEntries((Object.keys(WEBHOOKS) as (keyof typeof WEBHOOKS)[]).map((event) => {
    const id = componentOf(event);
    const { components } = createSchema(WEBHOOK_BODIES[event], { io: "output", openapiVersion: "3.1.0" });
    return [id, components[id]!];
  }));
}

function webhooksOf(): Record<string, { post: ZodOpenApiOperationObject }> {
  return Object.fromEntries((Object.keys(WEBHOOKS) as (keyof typeof WEBHOOKS)[]).map((event) => [event, {
    post: {
      operationId: `webhook_${event.replace(/\W/g, "_")}`,
      summary: event,
      description: `${WEBHOOKS[event]} Sent at least once.`,
      security: [],
      requestParams: { header: DELIVERY_HEADERS },
      requestBody: {
        required: true,
        content: { "application/json": { schema: { $ref: `#/components/schemas/${componentOf(event)}` } } },
      },
      responses: {
        "2XX": { description: "Taken, or already processed." },
        "410": { description: "The destination is gone: it is disabled." },
        default: { description: "Not taken: it is tried again, three times in all." },
      },
    },
  }]));
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
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "JISS: Judgment Independence Scoring Service",
      version: API_VERSION,
      description:
        "Measures, for each human-AI interaction, whether the reviewer judges independently or rubber-stamps, and leaves signed, chained evidence. Every JSON body carries `request_id` and `timestamp`; errors carry them inside `error`. A request that is not valid HTTP (a bad request line, headers over the server's limit) is refused before the service sees it, without this envelope.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: baseUrl }],
    tags: [...ROUTE_GROUPS.map(({ name, description }) => ({ name, description })), PREFLIGHTS],
    paths: paths as ZodOpenApiPathsObject,
    webhooks: webhooksOf(),
    components: {
      schemas: webhookComponents(),
      securitySchemes: {
        organizationKey: {
          type: "apiKey",
          in: "header",
          name: "X-API-Key",
          description: "An organization's live key.",
        },
        masterKey: {
          type: "apiKey",
          in: "header",
          name: "X-API-Key",
          description: "The operation's own master secret, of the scope that it names.",
        },
      },
    },
  }) as unknown as Record<string, unknown>;
}
