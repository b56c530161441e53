/**
 * The OpenAPI document allows exactly what the service accepts: tried with values, for bodies and for
 * parameters.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { z } from "zod";
import { instantSchema } from "../../src/domain/instant.ts";
import { CASE_SET_EXAMPLE } from "../../src/exercises/example.ts";
import { openApiDocument } from "../../src/http/openapi.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { ApiDocument, type Operation } from "../fuzzing/api_document.ts";
import { ODD_DATES, ODD_TEXTS, valuesOf } from "../fuzzing/json_values.ts";

const document = new ApiDocument(openApiDocument("http://jiss.test"));
const resolve = (schema: unknown) => document.resolve(schema);
const operationOf = (operationId: string) => document.operations.find(({ id }) => id === operationId)!;

function accepts(schema: z.ZodType, value: unknown): boolean {
  return schema.safeParse(value).success;
}

/** The part of a value that JSON can carry: an undefined member is left out. */
const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));

/** Puts `by` in the place of a member, of an item, or of the whole value. */
function replaced(value: unknown, at: number, by: unknown): unknown {
  if (typeof value !== "object" || value === null) return by;
  const names = Object.keys(value);
  if (names.length === 0) return by;
  const name = names[at % names.length]!;
  const inner = (value as Record<string, unknown>)[name];
  const deeper = typeof inner === "object" && inner !== null && at % 3 !== 0;
  const next = deeper ? replaced(inner, Math.floor(at / names.length), by) : by;
  return Array.isArray(value)
    ? value.map((item, index) => String(index) === name ? next : item)
    : { ...value, [name]: next };
}

const ODD: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...ODD_TEXTS, ...ODD_DATES),
  fc.constantFrom(0, -1, 1.5, 101, 1e9, 2 ** 53, 1e308, true, false, null),
  fc.string({ unit: "grapheme", maxLength: 300 }),
  fc.string({ unit: "binary", maxLength: 20 }),
  // Each is one character and two UTF-16 units.
  fc.constantFrom(7, 8, 15, 16, 128, 129, 256, 257, 1024).map((length) => "😀".repeat(length)),
  fc.constantFrom([], {}, [[]]),
);

/** A schema cannot recognize text that is not well-formed; no client can send it as UTF-8. */
function isWellFormed(value: unknown): boolean {
  return JSON.stringify(value)?.isWellFormed() !== false && !/\\ud[89a-f]/i.test(JSON.stringify(value) ?? "");
}

const ASSIGNMENTS = resolve(operationOf("postTeams").body!.schema).properties.assignments;

/**
 * A pattern cannot say which hosts exist, nor that the whole numbers of a payload stay within 2^53, nor which
 * `ai_correct` contradicts the decision and its outcome, nor what cannot be said beside a probe's ticket, nor that the
 * cases of a set are balanced and each of them can be decided, nor that a reason has a letter or a digit of any script, nor
 * how many different characters a new password has, nor that the assignments of teams name each operator once.
 */
const MEMBERS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  ai_correct: fc.constant(null),
  assignments: fc.uniqueArray(valuesOf(ASSIGNMENTS.items, { resolve }), {
    minLength: 1,
    selector: (assignment) => (assignment as { operator_id: string }).operator_id,
  }),
  cases: fc.constant(CASE_SET_EXAMPLE.cases),
  probe_ticket: fc.constant(undefined),
  password: fc.stringMatching(/^[ -~]{6,60}abcde1$/),
  new_password: fc.stringMatching(/^[ -~]{6,60}abcde1$/),
  reason: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9 ]{0,80}$/),
  url: fc.webUrl({ validSchemes: ["https"], withQueryParameters: true }),
  allowed_origins: fc.constantFrom("", "https://a.example", " https://a.example:8443,\thttp://b.example\n"),
  payload: fc.dictionary(
    fc.string(),
    fc.oneof(fc.integer(), fc.double({ max: 1e9, min: -1e9 }), fc.string()),
  ),
};

for (const route of ROUTES.filter(({ body }) => body !== null)) {
  const operation = operationOf(route.operationId);
  const { schema } = route.body!;
  const members = route.operationId.startsWith("postProbe")
    ? { ...MEMBERS, ai_correct: fc.boolean() }
    : MEMBERS;
  const drawn = valuesOf(operation.body!.schema, { resolve, members }).map(asJson).filter(
    isWellFormed,
  );

  Deno.test(`${route.operationId}: the service accepts every body that the document allows`, () => {
    fc.assert(fc.property(drawn, (body) => {
      assert.ok(document.takesBody(operation, body));
      const { error } = schema.safeParse(body);
      assert.equal(error, undefined);
    }));
  });

  Deno.test(`${route.operationId}: the document allows every body that the service accepts`, () => {
    fc.assert(
      fc.property(drawn, fc.nat(), ODD, (body, at, odd) => {
        const changed = replaced(body, at, odd);
        fc.pre(isWellFormed(changed));
        if (accepts(schema, changed)) {
          assert.ok(document.takesBody(operation, changed), JSON.stringify(changed));
        }
      }),
      { numRuns: 1_000 },
    );
  });
}

/** The route's own parameters with the schema that validates each; they arrive as text. */
function parametersOf({ parameters, pathParameters, operationId }: (typeof ROUTES)[number]) {
  const operation = operationOf(operationId);
  const shapes = { ...parameters?.shape, ...pathParameters?.shape };
  return Object.entries(shapes).map(([name, schema]) => ({
    name,
    schema: schema as z.ZodType,
    documented: operation.parameters.find((one) => one.name === name && one.in !== "header")!,
  }));
}

for (const route of ROUTES) {
  for (const { name, schema, documented } of parametersOf(route)) {
    const drawn = valuesOf(documented.schema, { resolve }).map(String).filter(isWellFormed);

    Deno.test(`${route.operationId}: the service accepts ${name} if and only if the document does`, () => {
      fc.assert(fc.property(drawn, (text) => {
        // By its offset, an instant of the first day can lie in the year before.
        if (schema === instantSchema) fc.pre(!/^(0000|9999)/.test(text));
        assert.ok(text === "" || accepts(schema, text), text);
      }));
      const odd = fc.oneof(
        drawn.chain((text) => fc.nat(text.length).map((at) => `${text.slice(0, at)}!${text.slice(at)}`)),
        fc.constantFrom(...ODD_TEXTS, ...ODD_DATES),
        fc.string({ maxLength: 300 }),
      ).filter(isWellFormed);
      fc.assert(fc.property(odd, (text) => {
        // An empty parameter counts as not sent, and is refused before its schema is asked.
        fc.pre(text !== "");
        if (accepts(schema, text)) assert.ok(document.takesText(documented, text), text);
      }));
    });
  }
}

const INSTANT: Operation["parameters"][number] = operationOf("getReport").parameters.find(({ name }) =>
  name === "period_start"
)!;

Deno.test("the document and the service accept the same dates and date-times with an offset as instants", () => {
  const cases = [
    ["2026-10-01", true],
    ["2024-02-29", true],
    ["2026-10-01T00:00:00Z", true],
    ["2026-10-01t00:00z", true],
    ["2026-10-01T00:00:00.1234+02:00", true],
    ["2026-02-29", false],
    ["2026-10-01T00:00:00", false],
    ["2026-10-01T24:00:00Z", false],
    ["2026-10-01 00:00:00Z", false],
    ["2026-10", false],
    ["1", false],
    ["tomorrow", false],
  ] as const;
  for (const [text, isInstant] of cases) {
    assert.deepEqual([text, accepts(instantSchema, text)], [text, isInstant]);
    assert.deepEqual([text, document.takesText(INSTANT, text)], [text, isInstant]);
  }
});
