/**
 * Cases: a request to one operation of the document, as data that fast-check draws and shrinks. Half of them
 * are tidy, that is valid throughout; the others may be odd anywhere. `$name` stands for a value that only
 * the running service can give, and `$fresh` for one that nobody has used yet.
 */
import { CASE_SET_EXAMPLE } from "../../src/exercises/example.ts";
import fc from "fast-check";
import type { ApiDocument, Operation, Parameter, Schema } from "./api_document.ts";
import { ODD_DATES, ODD_TEXTS, ODD_TOKENS, valuesOf } from "./json_values.ts";

export interface Case {
  /** The operation's id. */
  readonly id: string;
  /** Whether it is valid by everything that the document says. */
  readonly isTidy: boolean;
  readonly method: string;
  readonly path: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly key: "right" | "wrong" | "missing" | "of another kind";
  /** Sent as JSON; undefined: no body. */
  readonly body: unknown;
  readonly damages: readonly Damage[];
  /** Whether the very same request is sent once more. */
  readonly again: boolean;
  /** Replaces the operation's path. */
  readonly elsewhere?: string;
}

/** Damage to a body. `at` chooses the place among any number. */
export type Damage =
  | { readonly kind: "remove" | "cut" | "flip" | "double" | "bom"; readonly at: number }
  | { readonly kind: "replace" | "repeat" | "wrap"; readonly at: number; readonly token: string };

/** Values that only the service, or the fuzzer's own records there, can give. */
const REFERENCES: Readonly<Record<string, readonly string[]>> = {
  session_id: ["$session"],
  operator_id: ["$operator"],
  org_id: ["$org"],
  report_id: ["$report"],
  delivery_id: ["$delivery"],
  alert_id: ["$alert"],
  sessionId: ["$assessment"],
  seq: ["0", "1", "2"],
  probe_id: ["$probe"],
  run_id: ["$run"],
  case_id: ["$case"],
  token: ["$token"],
  sha256: ["$set"],
  key_id: ["$key"],
  user_id: ["$user"],
};

/** An id of the form of an alert's: a lane's organizations have none, because an alert needs days of use. */
const NO_ALERT = "01ALERTOFTHEEXAMPLE0000000";

/**
 * `id` is of a record in one place and of a webhook in another; an operator with many cases is not erased.
 */
function referencesOf({ path, method }: Operation, name: string): readonly string[] {
  if (name === "alert_id" && path.startsWith("/v1/organization/")) return [NO_ALERT];
  if (name === "operator_id" && method !== "DELETE") return ["$operator", "$mature"];
  if (name === "token" && path.startsWith("/me/")) return ["$page"];
  if (name === "user_id" && path.endsWith("/{session_id}")) return ["$signed-in"];
  if (name === "session_id" && path.startsWith("/v1/users/")) return ["$own-session"];
  if (name === "session_id" && path.startsWith("/v1/me/")) return ["$own-session"];
  if (name !== "id") return REFERENCES[name] ?? [];
  return path.includes("/webhook/") ? ["$webhook"] : ["$session", "$decision"];
}

const RECEIVERS = ["$receiver", "$receiver", "https://10.0.0.1/", "http://127.0.0.1/", "https://[::1]:9/x"];

/** Members of request bodies that the schema alone would not make valid. */
const MEMBERS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  session_id: fc.constant("$fresh"),
  decision_id: fc.constant("$fresh"),
  probe_id: fc.constant("$fresh"),
  // Only a draw gives one.
  probe_ticket: fc.constant(undefined),
  sessionId: fc.constant("$fresh"),
  operator_id: fc.constantFrom("$operator", "$mature", "$fresh"),
  org_id: fc.constant("$fresh"),
  // A schema cannot say which value contradicts the decision and its outcome.
  ai_correct: fc.constant(null),
  name: fc.stringMatching(/^[A-Za-zÀ-ž][A-Za-z0-9À-ž ]{0,80}$/),
  allowed_origins: fc.constantFrom("", "https://a.example", "https://a.example:8443, http://b.example"),
  confirm_org_id: fc.constant("$org"),
  idempotency_key: fc.constant("$idempotency"),
  // A pattern cannot say that it needs a letter or a digit.
  reason: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9 ]{0,80}$/),
  event_type: fc.stringMatching(/^REVIEW_[A-Z0-9_]{1,40}$/),
  payload: fc.dictionary(fc.string({ maxLength: 9 }), fc.oneof(fc.nat(), fc.boolean(), fc.string()), {
    maxKeys: 4,
    noNullPrototype: true,
  }),
  url: fc.constant("$receiver"),
  secret: fc.stringMatching(/^[a-z0-9]{16,64}$/),
  events: fc.constantFrom(["drs.escalation"], ["drs.must_review", "drs.escalation"], ["case.opened"]),
};

/** Members that are sometimes left to the schema. */
const ODD_MEMBERS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  ...MEMBERS,
  session_id: fc.oneof(fc.constantFrom("$fresh", "$session"), fc.stringMatching(/^[A-Za-z0-9_-]{1,256}$/)),
  url: fc.constantFrom(...RECEIVERS),
  payload: fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue(), {
    maxKeys: 4,
    noNullPrototype: true,
  }),
};

/** What the fuzzer's users have for a password. */
const PASSWORD = "a password of the fuzzer";

/** By operation: exercises need an operator with enough cases, and a probe its truth. */
const OWN_MEMBERS: Readonly<Record<string, Readonly<Record<string, fc.Arbitrary<unknown>>>>> = {
  postMaintenance: { operator_id: fc.constant("$mature") },
  postProbe: { ai_correct: fc.boolean() },
  postProbeBatch: { ai_correct: fc.boolean() },
  postExercise: {
    operator_id: fc.constantFrom("$operator", "$mature"),
    exercise_id: fc.constantFrom("ex_error_detection_1", "ex_domain_confidence_3"),
    case_set: fc.constantFrom(null, "general"),
    domain: fc.constant("general"),
  },
  // An organization may not have any number of them.
  postCaseSet: {
    name: fc.constantFrom("one", "two"),
    title: fc.constantFrom("One", "Two"),
    domain: fc.constant("general"),
    cases: fc.constant(CASE_SET_EXAMPLE.cases),
  },
  postExerciseDecision: {
    number: fc.constant(1),
    choice: fc.constantFrom(0, 1),
    first_choice: fc.constant(null),
    advised: fc.constant(true),
  },
  postContest: { record_id: fc.constant(null), statement: fc.stringMatching(/^[A-Za-z][A-Za-z ]{0,200}$/) },
  postCase: { operator_id: fc.constant("$without-case") },
  // Whose exercise it is no schema says, nor who may be given a case: a note is always taken.
  postCaseEvent: {
    step: fc.constant("note"),
    note: fc.constant("A note of the fuzzer."),
    owner: fc.constant(null),
    run_id: fc.constant(undefined),
    seen: fc.constant(null),
  },
  postUnmask: { reviewer: fc.constantFrom("$operator", "$mature") },
  postTeams: { assignments: fc.constant([{ operator_id: "$operator", team: "North" }]) },
  postKey: { expires_at: fc.constantFrom(null, "2099-12-31") },
  postUser: { email: fc.constant("$address") },
  putUser: { disabled: fc.boolean() },
  postSignIn: { email: fc.constant("$email"), password: fc.constant("$password") },
  postLink: { token: fc.constant("$link") },
  postLinkPasskeyOptions: { token: fc.constant("$link") },
  // Only an authenticator makes a passkey.
  postLinkUse: {
    token: fc.constant("$link"),
    password: fc.constant(PASSWORD),
    passkey: fc.constant(undefined),
  },
  postPassword: { current_password: fc.constant("$password"), new_password: fc.constant(PASSWORD) },
  // The highest share is not below the rate; of both the lane sets one that fits before.
  putProbePolicy: { rate: fc.constantFrom(0, 0.01, 0.02), highest_share: fc.constantFrom(0.02, 0.05, 0.1) },
};

/** By operation: members that the schema does not require, but what the fuzzer has there does. */
const NEEDED: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  // There are many organizations with users.
  postSignIn: { organization: "$main" },
  postLinkUse: { password: PASSWORD },
  // Other steps may do without one.
  postCaseEvent: { note: "A note of the fuzzer." },
};

const DATES = ["2025-01-01", "2026-01-01", "2026-06-30T12:00:00Z", "2026-10-01T00:00:00+02:00"];
const LATER_DATES = ["2027-01-01", "2028-02-29", "2030-12-31T23:59:59.999Z"];

function dayAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, "YYYY-MM-DD".length);
}

/** Parameters that are instants; the second of two is the later. */
function datesOf({ name }: Parameter): fc.Arbitrary<string> | null {
  if (/^(?:period_start|since)$/.test(name)) return fc.constantFrom(...DATES);
  if (/^(?:period_end|until)$/.test(name)) return fc.constantFrom(...LATER_DATES);
  // Days of weeks: one answer has half a year, up to today.
  if (name === "from") return fc.constantFrom(dayAgo(60), dayAgo(30));
  if (name === "to") return fc.constantFrom(dayAgo(29), dayAgo(0));
  return null;
}

function fitting(operation: Operation, parameter: Parameter, document: ApiDocument): fc.Arbitrary<string> {
  const references = referencesOf(operation, parameter.name);
  if (parameter.in === "path" && references.length > 0) return fc.constantFrom(...references);
  if (parameter.name === "operator_id") return fc.constantFrom("$operator", "$mature");
  if (parameter.name === "Idempotency-Key") return fc.constant("$idempotency");
  if (parameter.name === "Origin") return fc.constant("https://a.example");
  if (parameter.name === "link") return fc.constantFrom("1", "2,1", "1,2,3");
  if (parameter.name === "Access-Control-Request-Method") return fc.constantFrom("GET", "POST", "DELETE");
  return datesOf(parameter) ??
    valuesOf(parameter.schema, { resolve: (schema) => document.resolve(schema) }).map(String);
}

/** Names that every object inherits: as ids they must find nothing. */
const oddText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ODD_TEXTS) },
  { weight: 1, arbitrary: fc.constantFrom(...ODD_DATES) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
);

function oddly(operation: Operation, parameter: Parameter, document: ApiDocument): fc.Arbitrary<string> {
  if (parameter.name === "cursor") return fc.oneof(fc.constant("$cursor"), oddText);
  const odd = datesOf(parameter) === null ? oddText : fc.constantFrom(...ODD_DATES);
  return fc.oneof(
    { weight: 5, arbitrary: fitting(operation, parameter, document) },
    {
      weight: 2,
      arbitrary: valuesOf(parameter.schema, { resolve: (schema) => document.resolve(schema) }).map(String),
    },
    { weight: 2, arbitrary: odd },
  );
}

type Valuing = typeof fitting;

function pathsOf(operation: Operation, document: ApiDocument, valuing: Valuing) {
  const parameters = operation.parameters.filter((parameter) => parameter.in === "path");
  return fc.record(
    Object.fromEntries(parameters.map((one) => [one.name, valuing(operation, one, document)])),
    { noNullPrototype: true },
  );
}

type Query = readonly (readonly [string, string])[];

/**
 * A value that must be as the service, or the size of a chain, just said cannot be valid by the document
 * alone.
 */
const SAID_BEFORE: ReadonlySet<string> = new Set(["cursor", "from", "since_size"]);
/** Parameters that are given together or not at all. */
const TOGETHER: readonly string[] = ["period_start", "period_end"];

function queriesOf(operation: Operation, document: ApiDocument, valuing: Valuing): fc.Arbitrary<Query> {
  const parameters = operation.parameters.filter((parameter) =>
    parameter.in === "query" && (valuing === oddly || !SAID_BEFORE.has(parameter.name))
  );
  const pairs = parameters.map((one) => {
    const given = valuing(operation, one, document).map((value) => [[one.name, value]] as const);
    if (one.required) return given;
    return fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: given });
  });
  const queries = fc.tuple(...pairs).map((all) => all.flat() as Query);
  return valuing === oddly ? queries : queries.map(withoutHalves);
}

/** Leaves out a parameter whose other half is not given. */
function withoutHalves(query: Query): Query {
  const isWhole = TOGETHER.every((name) => query.some(([given]) => given === name));
  return isWhole ? query : query.filter(([name]) => !TOGETHER.includes(name));
}

function oddQueriesOf(operation: Operation, document: ApiDocument): fc.Arbitrary<Query> {
  const known = queriesOf(operation, document, oddly);
  const more = fc.array(fc.tuple(oddText, oddText), { maxLength: 2 });
  return fc.oneof(
    { weight: 6, arbitrary: known },
    { weight: 1, arbitrary: fc.tuple(known, more).map(([one, two]) => [...one, ...two]) },
    { weight: 1, arbitrary: known.map((pairs) => [...pairs, ...pairs]) },
  );
}

const ACCEPTS = ["application/json", "text/html", "*/*", "text/html,application/xhtml+xml,*/*;q=0.8"];
const TYPES = [
  "application/json; charset=utf-8",
  "application/problem+json",
  "APPLICATION/JSON",
  "text/plain",
  "multipart/form-data; boundary=x",
  "application/x-www-form-urlencoded",
  "x/y",
  "",
  ";",
];

const oddHeader = oddText.map(asHeader);

type Headers = Readonly<Record<string, string>>;

function headersOf(operation: Operation, document: ApiDocument, valuing: Valuing): fc.Arbitrary<Headers> {
  const parameters = operation.parameters.filter((parameter) => parameter.in === "header");
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  const known = fc.record(
    Object.fromEntries(parameters.map((one) => [one.name, valuing(operation, one, document).map(asHeader)])),
    { requiredKeys: required, noNullPrototype: true },
  ) as fc.Arbitrary<Headers>;
  const accept = operation.method === "GET"
    ? fc.record({ Accept: fc.constantFrom(...ACCEPTS) }, { requiredKeys: [], noNullPrototype: true })
    : fc.constant({});
  return fc.tuple(known, accept).map(([one, two]) => ({ ...one, ...two }));
}

function oddHeadersOf(operation: Operation, document: ApiDocument): fc.Arbitrary<Headers> {
  const known = headersOf(operation, document, oddly);
  const less = fc.tuple(known, fc.nat()).map(([headers, at]) => without(headers, at));
  const more = fc.record({
    "Content-Type": fc.constantFrom(...TYPES),
    Origin: fc.oneof(fc.constantFrom("https://a.example", "null", "https://elsewhere.example"), oddHeader),
    "X-Forwarded-For": oddHeader,
    "Accept-Encoding": fc.constantFrom("gzip", "br;q=1.0, *;q=0", "x"),
    Range: fc.constantFrom("bytes=0-1", "bytes=9-1"),
    "If-None-Match": fc.constant("*"),
    "X-HTTP-Method-Override": fc.constant("DELETE"),
    "X-Service-Mode": oddHeader,
  }, { requiredKeys: [], noNullPrototype: true });
  return fc.oneof(
    { weight: 6, arbitrary: known },
    { weight: 1, arbitrary: less },
    { weight: 1, arbitrary: fc.tuple(known, more).map(([one, two]) => ({ ...one, ...two })) },
  );
}

/** Headers hold bytes, except those that end them. */
function asHeader(text: string): string {
  return text.replaceAll(/[^\x21-\x7e\xa1-\xff]/g, "").slice(0, 300);
}

function without(headers: Headers, at: number): Headers {
  const names = Object.keys(headers);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== names[at % names.length]));
}

const damage: fc.Arbitrary<Damage> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom("replace" as const, "repeat" as const, "wrap" as const),
      at: fc.nat({ max: 1000 }),
      token: fc.oneof(
        fc.constantFrom(...ODD_TOKENS),
        fc.constantFrom(...ODD_TEXTS, ...ODD_DATES).map((text) => JSON.stringify(text)),
        fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value)),
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("remove" as const), at: fc.nat({ max: 1000 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("cut" as const, "flip" as const, "double" as const, "bom" as const),
      at: fc.nat({ max: 1000 }),
    }),
  },
);

function bodiesOf(
  { body, id }: Operation,
  document: ApiDocument,
  members: Readonly<Record<string, fc.Arbitrary<unknown>>>,
): fc.Arbitrary<unknown> {
  if (body === null) return fc.constant(undefined);
  const own = "operator_id" in members ? OWN_MEMBERS[id] ?? {} : {};
  const given = valuesOf(body.schema, {
    resolve: (schema: Schema) => document.resolve(schema),
    members: { ...members, ...own },
  });
  return body.required ? given : fc.oneof(given, fc.constant(undefined));
}

/**
 * Operations that succeed with a passkey alone, which an authenticator makes: their bodies are never valid here. The tests
 * of passkeys use one.
 */
export const OF_AUTHENTICATORS: ReadonlySet<string> = new Set([
  "postPasskey",
  "postPasskeySignIn",
  "deletePasskey",
]);

/** Operations that succeed only about something that a lane's organizations do not have. */
export const OF_OLD_ORGANIZATIONS: ReadonlySet<string> = new Set(["postOwnAcknowledgement"]);

function tidyCasesOf(operation: Operation, document: ApiDocument): fc.Arbitrary<Case> {
  return fc.record({
    id: fc.constant(operation.id),
    isTidy: fc.constant(!OF_AUTHENTICATORS.has(operation.id) && !OF_OLD_ORGANIZATIONS.has(operation.id)),
    method: fc.constant(operation.method),
    path: pathsOf(operation, document, fitting),
    query: queriesOf(operation, document, fitting),
    headers: headersOf(operation, document, fitting),
    key: fc.constant("right" as const),
    body: bodiesOf(operation, document, MEMBERS).map((body) =>
      Object.hasOwn(NEEDED, operation.id) ? { ...body as object, ...NEEDED[operation.id] } : body
    ),
    damages: fc.constant([]),
    again: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, {
      weight: 1,
      arbitrary: fc.constant(true),
    }),
  }, { noNullPrototype: true });
}

const mostly = <Value>(usual: Value, ...others: readonly Value[]) =>
  fc.oneof({ weight: 24, arbitrary: fc.constant(usual) }, {
    weight: 1,
    arbitrary: fc.constantFrom(...others),
  });

function oddCasesOf(operation: Operation, document: ApiDocument): fc.Arbitrary<Case> {
  const { method, body } = operation;
  return fc.record({
    id: fc.constant(operation.id),
    isTidy: fc.constant(false),
    method: mostly(method, "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "x"),
    path: pathsOf(operation, document, oddly),
    query: oddQueriesOf(operation, document),
    headers: oddHeadersOf(operation, document),
    key: mostly<Case["key"]>("right", "wrong", "missing", "of another kind"),
    body: fc.oneof(
      { weight: 3, arbitrary: bodiesOf(operation, document, ODD_MEMBERS) },
      { weight: 1, arbitrary: bodiesOf(operation, document, {}) },
      { weight: body === null ? 0 : 1, arbitrary: fc.jsonValue() },
    ),
    damages: body === null
      ? fc.constant([])
      : fc.oneof(fc.constant([]), fc.array(damage, { minLength: 1, maxLength: 2 })),
    again: fc.constant(false),
  }, { noNullPrototype: true });
}

/** Pages for people, and paths that do not exist or are written otherwise. */
const ELSEWHERE = [
  "/console",
  "/console/",
  "/console/operators/x",
  "/docs",
  "/docs/",
  "/docs/errors",
  "/docs/verify-offline",
  "/docs/evidence-format",
  "/docs/formulas",
  "/demo",
  "/collector.js",
  "/favicon.ico",
  "/V1",
  "/v1/",
  "//v1",
  "/v1//score",
  "/v1/score/",
  "/v1/score/%00/commit",
  "/v1/operator/%2e%2e/profile",
  "/v1/operator/%ff/profile",
  "/v1/operator/a%2Fb/profile",
  "/v1/operator//profile",
  "/v1;x=1",
  "/%ff",
  "/%",
  "/.git/config",
  "/metrics",
  "/healthz",
];

function elsewhereCases(known: Operation): fc.Arbitrary<Case> {
  return fc.record({
    id: fc.constant(known.id),
    isTidy: fc.constant(false),
    method: mostly("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"),
    path: fc.constant({}),
    query: fc.oneof(fc.constant([]), fc.array(fc.tuple(oddText, oddText), { maxLength: 2 })),
    headers: fc.record({ Accept: fc.constantFrom(...ACCEPTS) }, { requiredKeys: [], noNullPrototype: true }),
    key: fc.constant("right" as const),
    body: fc.constant(undefined),
    damages: fc.constant([]),
    again: fc.constant(false),
    elsewhere: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...ELSEWHERE) },
      { weight: 1, arbitrary: oddText.map((text) => `/${encodeURIComponent(text.toWellFormed())}`) },
    ),
  }, { noNullPrototype: true });
}

/** Relative to a preflight, which is the same on every path. */
const ROUTE_WEIGHT = 20;
/** After each of them, or for it, somebody's password is hashed, which takes longer than twenty other calls. */
const HASHED: ReadonlySet<string> = new Set([
  "postSignIn",
  "postLinkUse",
  "postPassword",
  "postSignOut",
  "deleteSession",
  "deleteSessions",
]);
const HASHED_ODD_WEIGHT = 5;
const ELSEWHERE_WEIGHT = 40;

/** Cases of every operation of a document, and of unknown paths. */
export function casesOf(document: ApiDocument): fc.Arbitrary<Case> {
  const known = document.operations.find(({ key, method }) => key === "none" && method === "GET")!;
  return fc.oneof(
    ...document.operations.flatMap((operation) => {
      const weight = operation.method === "OPTIONS" ? 1 : ROUTE_WEIGHT;
      return [
        { weight, arbitrary: tidyCasesOf(operation, document) },
        {
          weight: HASHED.has(operation.id) ? HASHED_ODD_WEIGHT : weight,
          arbitrary: oddCasesOf(operation, document),
        },
      ];
    }),
    { weight: ELSEWHERE_WEIGHT, arbitrary: elsewhereCases(known) },
  );
}

/** The bytes of a body, after what was done to it. */
export function bytesOf(value: unknown, damages: readonly Damage[]): Uint8Array {
  const marked = damages.reduce<string>(damagedText, JSON.stringify(value) ?? "");
  return damages.reduce<Uint8Array>(damagedBytes, new TextEncoder().encode(marked));
}

/** The start and end of the values in a JSON text, as far as they are found without a parser. */
function placesIn(text: string): readonly { readonly start: number; readonly end: number }[] {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"(?!\s*:)|-?\d[\d.eE+-]*|true|false|null|\{\}|\[\]/g)]
    .map((match) => ({ start: match.index, end: match.index + match[0].length }));
}

function damagedText(text: string, damage: Damage): string {
  const places = placesIn(text);
  const place = places[damage.at % Math.max(1, places.length)];
  if (place === undefined) return text;
  const { start, end } = place;
  const before = text.slice(0, start);
  const after = text.slice(end);
  switch (damage.kind) {
    case "replace":
      return `${before}${damage.token}${after}`;
    case "wrap":
      return `${before}[${text.slice(start, end)},${damage.token}]${after}`;
    case "repeat":
      return repeated(text, { start, token: damage.token });
    case "remove":
      return `${before.replace(/(?:,?"(?:[^"\\]|\\.)*":|,)$/, "")}${after}`.replaceAll(/([{[]),/g, "$1");
    default:
      return text;
  }
}

/** Gives a member twice, the second time with another value. */
function repeated(
  text: string,
  { start, token }: { readonly start: number; readonly token: string },
): string {
  const name = /"(?:[^"\\]|\\.)*":$/.exec(text.slice(0, start))?.[0];
  return name === undefined ? text : `${text.slice(0, start)}${token},${name}${text.slice(start)}`;
}

function damagedBytes(bytes: Uint8Array, { kind, at }: Damage): Uint8Array {
  if (bytes.length === 0) return bytes;
  switch (kind) {
    case "cut":
      return bytes.subarray(0, at % bytes.length);
    case "flip":
      return bytes.map((byte, index) => index === at % bytes.length ? byte ^ (1 + at % 255) : byte);
    case "double":
      return new Uint8Array([...bytes, ...bytes]);
    case "bom":
      return new Uint8Array([0xef, 0xbb, 0xbf, ...bytes]);
    default:
      return bytes;
  }
}
