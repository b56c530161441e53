/** The map from claims to organization and role, with claims as Entra ID, Okta and Keycloak write them. */
import assert from "node:assert/strict";
import {
  claimAt,
  claimsMapSchema,
  type Grant,
  grantOf,
  leftOutClaims,
} from "../../src/identity/claims_map.ts";

type Claims = Readonly<Record<string, unknown>>;

/** An ID token of Entra ID, v2.0: groups are object ids, app roles are their values. */
const ENTRA = {
  iss: "https://login.microsoftonline.com/833ced3d-cb2e-41de-92f1-29e2af035ddc/v2.0",
  aud: "e18c04b1-4868-4b93-93d1-8d71f17ab99b",
  sub: "3OBtLXUC2ZrN_ADLNjW9X4o0lcd61py7lgHw3Skh77s",
  oid: "cb7eda1b-d09a-40ae-b8bb-37836ebc6abd",
  tid: "833ced3d-cb2e-41de-92f1-29e2af035ddc",
  preferred_username: "ada@acme.example",
  groups: ["0760b6cf-170e-4a14-91b3-4b78e0739963", "3b2b0c93-acd8-4208-8eba-7a48db1cd4c0"],
  roles: ["Jiss.Auditor"],
};
/** The same with more than 200 groups. */
const ENTRA_OVERAGE = {
  sub: ENTRA.sub,
  _claim_names: { groups: "src1" },
  _claim_sources: { src1: { endpoint: "https://graph.microsoft.com/v1.0/users/cb7eda1b/getMemberObjects" } },
};
/** An ID token of Okta, with a groups claim by a filter. */
const OKTA = {
  iss: "https://acme.okta.com",
  sub: "00uixa271s6x7qt8I0h7",
  idp: "00oixa26ycdNcX0VT0h7",
  amr: ["mfa", "pwd"],
  groups: ["Everyone", "jiss-officers"],
};
/** An ID token of Keycloak, with the mappers of roles and groups switched on for it. */
const KEYCLOAK = {
  iss: "https://sso.acme.example/realms/acme",
  azp: "jiss",
  sid: "0b0c6f5e",
  email_verified: true,
  groups: ["/jiss/officers", "/staff"],
  realm_access: { roles: ["default-roles-acme", "jiss-admin"] },
  resource_access: { jiss: { roles: ["viewer"] }, "desk.acme.example": { roles: ["lead"] } },
};

function grant(claims: Claims, when: unknown): Grant | null {
  return grantOf(claimsMapSchema.parse({ rules: [{ when, organization: "acme", role: "officer" }] }), claims);
}

Deno.test("a rule matches claims as Entra ID, Okta and Keycloak write them", () => {
  const cases: readonly (readonly [claims: Claims, when: unknown, matches: boolean])[] = [
    [ENTRA, { groups: "3b2b0c93-acd8-4208-8eba-7a48db1cd4c0" }, true],
    [ENTRA, { groups: "00000000-acd8-4208-8eba-7a48db1cd4c0" }, false],
    [ENTRA, { roles: "Jiss.Auditor", tid: "833ced3d-cb2e-41de-92f1-29e2af035ddc" }, true],
    [ENTRA, { roles: "Jiss.Auditor", tid: "another" }, false],
    [ENTRA, { roles: "jiss.auditor" }, false],
    [ENTRA, { roles: ["Jiss.Admin", "Jiss.Auditor"] }, true],
    [ENTRA_OVERAGE, { groups: "3b2b0c93-acd8-4208-8eba-7a48db1cd4c0" }, false],
    [OKTA, { groups: "jiss-officers" }, true],
    [OKTA, { groups: "jiss" }, false],
    [OKTA, { groups: ["Everyone"], amr: "mfa" }, true],
    [KEYCLOAK, { groups: "/jiss/officers" }, true],
    [KEYCLOAK, { groups: "jiss/officers" }, false],
    [KEYCLOAK, { "realm_access.roles": "jiss-admin" }, true],
    [KEYCLOAK, { "/realm_access/roles": "jiss-admin" }, true],
    [KEYCLOAK, { "resource_access.jiss.roles": "viewer" }, true],
    [KEYCLOAK, { "resource_access.jiss.roles": "jiss-admin" }, false],
    [KEYCLOAK, { "resource_access.desk.acme.example.roles": "lead" }, false],
    [KEYCLOAK, { "/resource_access/desk.acme.example/roles": "lead" }, true],
    [KEYCLOAK, { email_verified: true }, true],
    [KEYCLOAK, { email_verified: "true" }, false],
    [KEYCLOAK, { realm_access: "jiss-admin" }, false],
  ];
  for (const [claims, when, matches] of cases) {
    const expected = matches ? { organization: "acme", role: "officer" } : null;
    assert.deepEqual(grant(claims, when), expected, JSON.stringify(when));
  }
});

Deno.test("a name with dots or slashes is the claim of that name, if there is one", () => {
  const claims = {
    "https://acme.example/groups": ["a"],
    "x.y": "flat",
    x: { y: "nested", "p/q~r": "odd", "~1": "tilde", "/": "slash" },
    "/x": "slash",
  };
  assert.ok(grant(claims, { "https://acme.example/groups": "a" }));
  assert.ok(grant(claims, { "x.y": "flat" }));
  assert.equal(grant(claims, { "x.y": "nested" }), null);
  assert.ok(grant(claims, { "/x/y": "nested" }));
  assert.ok(grant(claims, { "/x/p~1q~0r": "odd" }));
  assert.ok(grant(claims, { "/x/~01": "tilde" }));
  assert.ok(grant(claims, { "/x/~1": "slash" }));
  assert.ok(grant(claims, { "/x": "slash" }));
});

Deno.test("nothing but a claim of the token matches", () => {
  const claims = { text: "abc", list: ["a"], nothing: null, number: 7, deep: { list: [["a"]] } };
  for (
    const when of [
      { length: "3" },
      { "text.length": "3" },
      { "list.length": "1" },
      { constructor: "x" },
      { "constructor.name": "Object" },
      { toString: "x" },
      { "list.constructor.name": "Array" },
      { number: "7" },
      { nothing: "null" },
      { missing: "undefined" },
      { deep: "[object Object]" },
      { "deep.list": "a" },
      { text: "a" },
      { text: ["a", "b", "c"] },
    ]
  ) assert.equal(grant(claims, when), null, JSON.stringify(when));
});

Deno.test("what every object has is no claim", () => {
  const claims = { deep: {} };
  for (
    const claim of ["toString", "constructor", "__proto__", "deep.toString", "/deep/__proto__", "deep.x.y"]
  ) {
    assert.equal(claimAt(claims, claim), undefined, claim);
  }
});

Deno.test("the first rule that matches wins; whoever matches none gets the default, which is nothing", () => {
  const rules = [
    { when: { groups: "a", role: "chief" }, organization: "acme", role: "admin" },
    { when: { groups: "a" }, organization: "acme", role: "viewer" },
    { when: { groups: "b" }, organization: "other", role: "auditor" },
  ];
  const map = claimsMapSchema.parse({ rules });
  assert.deepEqual(grantOf(map, { groups: ["b", "a"], role: "chief" }), {
    organization: "acme",
    role: "admin",
  });
  assert.deepEqual(grantOf(map, { groups: ["b", "a"] }), { organization: "acme", role: "viewer" });
  assert.deepEqual(grantOf(map, { groups: "b" }), { organization: "other", role: "auditor" });
  assert.equal(grantOf(map, { groups: [] }), null);
  assert.equal(grantOf(map, {}), null);
  assert.equal(grantOf(claimsMapSchema.parse({ rules, default: null }), {}), null);
  const open = claimsMapSchema.parse({ rules, default: { organization: "acme", role: "viewer" } });
  assert.deepEqual(grantOf(open, {}), { organization: "acme", role: "viewer" });
  assert.equal(grantOf(claimsMapSchema.parse({ rules: [] }), ENTRA), null);
});

Deno.test("claims that the provider left out are told", () => {
  assert.deepEqual(leftOutClaims(ENTRA_OVERAGE), ["groups"]);
  for (const claims of [ENTRA, OKTA, { _claim_names: "x" }, { _claim_names: null }, {}]) {
    assert.deepEqual(leftOutClaims(claims), []);
  }
});

const GRANT = { organization: "acme", role: "viewer" };
const rule = (when: unknown) => ({ rules: [{ when, ...GRANT }] });

Deno.test("a map that says something other than it seems to is refused, with the place", () => {
  const cases: readonly (readonly [document: unknown, place: string, message: RegExp])[] = [
    [rule({}), "rules.0.when", /must have a condition/],
    [rule([]), "rules.0.when", /condition/],
    [rule(null), "rules.0.when", /expected record/],
    [rule("groups"), "rules.0.when", /expected record/],
    [rule({ groups: [] }), "rules.0.when.groups", /./],
    [rule({ groups: "" }), "rules.0.when.groups", /Too small/],
    [rule({ groups: 7 }), "rules.0.when.groups", /a text, true, false, or a list/],
    [rule({ groups: null }), "rules.0.when.groups", /a text, true, false, or a list/],
    [rule({ groups: [true] }), "rules.0.when.groups", /./],
    [rule({ "a..b": "x" }), "rules.0.when.a..b", /empty name/],
    [rule({ "": "x" }), "rules.0.when.", /1 to 512 characters/],
    [rule({ "/": "x" }), "rules.0.when./", /empty name/],
    [rule({ "/a~b": "x" }), "rules.0.when./a~b", /no JSON pointer/],
    [rule({ " groups": "x" }), "rules.0.when. groups", /space/],
    [
      JSON.parse('{"rules":[{"when":{"groups":"x","__proto__":"y"},"organization":"acme","role":"viewer"}]}'),
      "rules.0.when.__proto__",
      /no name of a claim/,
    ],
    [
      rule(Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`c${n}`, "x"]))),
      "rules.0.when",
      /at most 16/,
    ],
    [{ rules: [{ when: { a: "x" }, organization: "acme" }] }, "rules.0.role", /./],
    [{ rules: [{ when: { a: "x" }, organization: "acme", role: "owner" }] }, "rules.0.role", /viewer/],
    [
      { rules: [{ when: { a: "x" }, organization: "a b", role: "viewer" }] },
      "rules.0.organization",
      /letters/,
    ],
    [{ rules: [{ when: { a: "x" }, unless: { b: "y" }, ...GRANT }] }, "rules.0", /unless/],
    [{ rules: [], defaults: null }, "", /defaults/],
    [{ rules: [], default: { role: "viewer" } }, "default.organization", /./],
    [{}, "rules", /./],
    [null, "", /./],
  ];
  for (const [document, place, message] of cases) {
    const { success, error } = claimsMapSchema.safeParse(document);
    assert.ok(!success, JSON.stringify(document));
    const [issue] = error.issues;
    assert.equal(issue!.path.join("."), place, JSON.stringify(document));
    assert.match(issue!.message, message);
  }
});

Deno.test("a rule that can never match is refused, as its author meant something else", () => {
  const both = (...conditions: readonly unknown[]) =>
    claimsMapSchema.safeParse({ rules: conditions.map((when) => ({ when, ...GRANT })) });
  const refused: readonly (readonly unknown[])[] = [
    [{ g: "a" }, { g: "a" }],
    [{ g: "a" }, { g: ["a"] }],
    [{ g: "a" }, { g: "a", h: "b" }],
    [{ g: ["a", "b"] }, { g: "b" }],
    [{ g: ["a", "b"] }, { h: "c" }, { g: ["b", "a"], x: true }],
  ];
  for (const conditions of refused) {
    const { success, error } = both(...conditions);
    assert.ok(!success, JSON.stringify(conditions));
    assert.match(error.issues[0]!.message, /^can never match: rule 1 /);
    assert.deepEqual(error.issues[0]!.path, ["rules", conditions.length - 1]);
  }
  const accepted: readonly (readonly unknown[])[] = [
    [{ g: "a" }, { g: "b" }],
    [{ g: "a" }, { g: ["a", "b"] }],
    [{ g: "a", h: "b" }, { g: "a" }],
    [{ g: true }, { g: "true" }],
  ];
  for (const conditions of accepted) assert.ok(both(...conditions).success, JSON.stringify(conditions));
});
