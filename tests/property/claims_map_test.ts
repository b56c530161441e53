/** Laws of the map from claims to organization and role. */
import assert from "node:assert/strict";
import { ROLES } from "../../src/domain/access.ts";
import fc from "fast-check";
import { claimAt, type ClaimsMap, claimsMapSchema, grantOf } from "../../src/identity/claims_map.ts";

const SEED = 20_261_127;
const RUNS = { seed: SEED, numRuns: 500 };

/** Few names and values, so that rules and claims often meet. */
const name = fc.constantFrom("g", "h", "g.h", "/g/h", "https://x.example/g");
const value = fc.constantFrom("a", "b", "c");
const held = fc.oneof(
  value,
  fc.boolean(),
  fc.array(value, { maxLength: 3 }),
  fc.constantFrom(null, 7, {}, ["a", 7]),
  fc.dictionary(fc.constantFrom("h", "g"), fc.oneof(value, fc.array(value)), { noNullPrototype: true }),
);
const claims = fc.dictionary(fc.constantFrom("g", "h", "g.h", "https://x.example/g"), held, {
  noNullPrototype: true,
});
const conditions = fc.dictionary(
  name,
  fc.oneof(value, fc.boolean(), fc.array(value, { minLength: 1, maxLength: 3 })),
  { minKeys: 1, maxKeys: 3, noNullPrototype: true },
);
const rule = fc.record({
  when: conditions,
  organization: fc.constantFrom("acme", "other"),
  role: fc.constantFrom(...ROLES),
});

/** The map of as many of the rules as can match. */
function mapOf(rules: readonly unknown[]): ClaimsMap {
  const kept: unknown[] = [];
  for (const one of rules) {
    if (claimsMapSchema.safeParse({ rules: [...kept, one] }).success) kept.push(one);
  }
  return claimsMapSchema.parse({ rules: kept });
}

/** Whether claims fulfil conditions, in the plainest words. */
function fulfils(when: Readonly<Record<string, unknown>>, of: Readonly<Record<string, unknown>>): boolean {
  for (const [claim, wanted] of Object.entries(when)) {
    const found = claimAt(of, claim);
    let some = false;
    for (const one of Array.isArray(wanted) ? wanted : [wanted]) {
      if (found === one || (Array.isArray(found) && found.indexOf(one) >= 0)) some = true;
    }
    if (!some) return false;
  }
  return true;
}

Deno.test("a person gets what the first rule says whose conditions are all fulfilled, else nothing", () => {
  let granted = 0;
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 6 }), claims, (rules, of) => {
      const map = mapOf(rules);
      const first = map.rules.find(({ when }) => fulfils(when, of));
      const expected = first === undefined ? null : { organization: first.organization, role: first.role };
      assert.deepEqual(grantOf(map, of), expected);
      if (expected !== null) granted += 1;
    }),
    { ...RUNS, numRuns: 2_000 },
  );
  assert.ok(granted > 100, `${granted}`);
});

Deno.test("a rule that is refused since it can never match would never have won", () => {
  let refused = 0;
  fc.assert(
    fc.property(rule, rule, fc.array(claims, { minLength: 5, maxLength: 20 }), (earlier, later, persons) => {
      if (claimsMapSchema.safeParse({ rules: [earlier, later] }).success) return;
      refused += 1;
      for (const of of persons) assert.ok(!fulfils(later.when, of) || fulfils(earlier.when, of));
    }),
    { ...RUNS, numRuns: 5_000 },
  );
  assert.ok(refused > 20, `${refused}`);
});

Deno.test("more values in a claim never take a match away", () => {
  fc.assert(
    fc.property(conditions, claims, value, (when, of, added) => {
      if (!fulfils(when, of)) return;
      const map = claimsMapSchema.parse({ rules: [{ when, organization: "acme", role: "viewer" }] });
      const more = Object.fromEntries(
        Object.entries(of).map(([claim, one]) => [
          claim,
          typeof one === "string" || typeof one === "boolean" || Array.isArray(one)
            ? [one, added].flat()
            : one,
        ]),
      );
      assert.notEqual(grantOf(map, more), null);
    }),
    RUNS,
  );
});

Deno.test("a JSON pointer finds every member at any depth, whatever its name", () => {
  const tree = fc.letrec((tie) => ({
    node: fc.oneof({ maxDepth: 4 }, fc.string(), tie("branch")),
    branch: fc.dictionary(fc.string({ minLength: 1, unit: "binary" }), tie("node"), { maxKeys: 4 }),
  })).branch as fc.Arbitrary<Record<string, unknown>>;
  fc.assert(
    fc.property(tree, (of) => {
      const walk = (value: unknown, path: readonly string[]): void => {
        if (path.length > 1) {
          const pointer = path.map((one) => `/${one.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
          assert.equal(claimAt(of, pointer), value);
        }
        if (typeof value !== "object" || value === null) return;
        for (const [key, inner] of Object.entries(value)) walk(inner, [...path, key]);
      };
      walk(of, []);
    }),
    RUNS,
  );
});

Deno.test("whatever claims a token has, the map gives a grant or nothing", () => {
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 4 }), fc.object({ key: name, maxDepth: 3 }), (rules, of) => {
      const grant = grantOf(mapOf(rules), of);
      assert.ok(grant === null || ROLES.includes(grant.role));
    }),
    RUNS,
  );
});

Deno.test("whatever the document is, it is read or refused", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.jsonValue(), fc.record({ rules: fc.jsonValue(), default: fc.jsonValue() })),
      (document) => {
        const { success, data } = claimsMapSchema.safeParse(document);
        if (success) { for (const { when } of data.rules) assert.ok(Object.keys(when).length > 0); }
      },
    ),
    RUNS,
  );
});
