/** The input that creates an organization, as requests are parsed: its id, its name and its origins. */
import assert from "node:assert/strict";
import { createOrganizationSchema, normalizeOrigin } from "../../src/domain/organization.ts";

const VALID = {
  org_id: "acme",
  name: "Acme Bank",
  domain: "financial",
  tier: "standard",
  allowed_origins: "https://review.acme.example",
};

function parsed(fields: Record<string, unknown>) {
  return createOrganizationSchema.parse({ ...VALID, ...fields });
}

/** Every issue of a request that must be refused, as "path: message". */
function issuesOf(fields: Record<string, unknown>): readonly string[] {
  const result = createOrganizationSchema.safeParse({ ...VALID, ...fields });
  assert.equal(result.success, false, JSON.stringify(fields));
  return result.error!.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

Deno.test("a valid organization is parsed, and unknown fields are left out", () => {
  assert.deepEqual(parsed({ more: 1 }), {
    org_id: "acme",
    name: "Acme Bank",
    domain: "financial",
    tier: "standard",
    allowed_origins: ["https://review.acme.example"],
  });
});

Deno.test("every field is required, and no type is coerced", () => {
  for (const field of ["org_id", "name", "domain", "tier", "allowed_origins"]) {
    for (const value of [undefined, null, 7, true, ["acme"], {}]) {
      const issues = issuesOf({ [field]: value });
      assert.equal(issues.length, 1, `${field} ${value}`);
      assert.ok(issues[0]!.startsWith(`${field}: `), issues[0]!);
    }
  }
});

// ---- org_id, domain, tier ---------------------------------------------------------------------------------

Deno.test("an org_id is 1 to 128 letters, digits, hyphens or underscores", () => {
  for (const orgId of ["a", "A-b_9", "-", "0".repeat(128)]) {
    assert.equal(parsed({ org_id: orgId }).org_id, orgId);
  }
  const bad = ["", "a b", "a/b", "a.b", "a\n", " a", "é", "a+b", "a%20", "\u0000", "0".repeat(129)];
  for (const orgId of bad) {
    assert.deepEqual(issuesOf({ org_id: orgId }), [
      "org_id: must be 1 to 128 letters, digits, hyphens or underscores",
    ]);
  }
});

Deno.test("the ten domains and the three tiers are accepted, government as public_sector, and nothing else", () => {
  const domains = [
    "general",
    "financial",
    "insurance",
    "healthcare",
    "legal",
    "employment",
    "education",
    "public_sector",
    "law_enforcement",
    "critical_infrastructure",
  ];
  for (const domain of domains) assert.equal(parsed({ domain }).domain, domain);
  assert.equal(parsed({ domain: "government" }).domain, "public_sector");
  for (const tier of ["starter", "standard", "enterprise"]) assert.equal(parsed({ tier }).tier, tier);
  for (const text of ["", "Financial", "finance", "premium", "standard "]) {
    assert.equal(issuesOf({ domain: text, tier: text }).length, 2, text);
  }
});

// ---- name -------------------------------------------------------------------------------------------------

Deno.test("a name is trimmed", () => {
  assert.equal(parsed({ name: "  Acme  Bank  " }).name, "Acme  Bank");
  assert.equal(parsed({ name: "\u00a0\u2003Acme\u3000" }).name, "Acme");
});

Deno.test("a name has 1 to 200 characters after trimming, each code point counted once", () => {
  const problem = ["name: must be 1 to 200 characters after trimming"];
  assert.equal(parsed({ name: "a" }).name, "a");
  assert.equal(parsed({ name: "a".repeat(200) }).name.length, 200);
  assert.equal(parsed({ name: "😀".repeat(200) }).name.length, 400);
  assert.equal(parsed({ name: ` ${"a".repeat(200)} ` }).name.length, 200);
  for (const name of ["", " ", "\u3000", "a".repeat(201), "😀".repeat(201)]) {
    assert.deepEqual(issuesOf({ name }), problem);
  }
});

Deno.test("a name in any script is kept as it is written", () => {
  for (
    const name of ["Банк Акме", "株式会社アクメ", "بنك أكمي", "A\u030a", "Å", "<b>Acme</b>", 'O\'Neil & "Co"']
  ) {
    assert.equal(parsed({ name }).name, name);
  }
});

Deno.test("a name with a control character is refused, at its ends too", () => {
  for (const code of [0x00, 0x07, 0x09, 0x0a, 0x0d, 0x1b, 0x1f, 0x7f, 0x80, 0x85, 0x9f]) {
    const character = String.fromCharCode(code);
    for (const name of [`Ac${character}me`, `${character}Acme`, `Acme${character}`]) {
      assert.deepEqual(issuesOf({ name }), ["name: must hold no control characters"], code.toString(16));
    }
  }
});

Deno.test("a name with a lone surrogate is refused", () => {
  for (const name of ["Acme \ud800", "\udc00 Acme", "\ude00\ud83d"]) {
    assert.deepEqual(issuesOf({ name }), ["name: must be well-formed Unicode"]);
  }
});

// ---- allowed_origins --------------------------------------------------------------------------------------

function originsOf(text: string): readonly string[] {
  return parsed({ allowed_origins: text }).allowed_origins;
}

const NOT_AN_ORIGIN =
  "allowed_origins: must be origins like https://app.example.com, without path or wildcard, separated by commas or spaces";

Deno.test("an empty string allows no origin", () => {
  for (const text of ["", " ", ",", " , ,, "]) assert.deepEqual(originsOf(text), []);
});

Deno.test("origins are separated by commas, spaces or both, and come out sorted", () => {
  const expected = ["https://a.example", "https://b.example", "https://c.example"];
  const texts = [
    "https://c.example,https://a.example,https://b.example",
    "https://c.example https://b.example https://a.example",
    "  https://b.example,  https://a.example\thttps://c.example,\n",
  ];
  for (const text of texts) assert.deepEqual(originsOf(text), expected);
});

Deno.test("an origin is normalised to the form in which browsers send it", () => {
  const cases: Readonly<Record<string, string>> = {
    "https://App.Example.COM": "https://app.example.com",
    "HTTPS://app.example.com": "https://app.example.com",
    "https://app.example.com:443": "https://app.example.com",
    "http://app.example.com:80": "http://app.example.com",
    "https://app.example.com:80": "https://app.example.com:80",
    "http://app.example.com:443": "http://app.example.com:443",
    "https://app.example.com:0443": "https://app.example.com",
    "https://bücher.example": "https://xn--bcher-kva.example",
    "http://127.0.0.1:3000": "http://127.0.0.1:3000",
    "http://[::1]:3000": "http://[::1]:3000",
    "http://[0:0:0:0:0:0:0:1]": "http://[::1]",
    "http://localhost": "http://localhost",
    "chrome-extension://abcdefghijklmnopabcdefghijklmnop":
      "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
  };
  for (const [text, origin] of Object.entries(cases)) {
    assert.equal(normalizeOrigin(text), origin, text);
    assert.deepEqual(originsOf(text), [origin], text);
  }
});

Deno.test("a text that is more or less than an origin is refused: wildcard, path, user, query, fragment, no scheme", () => {
  const bad = [
    "*",
    "https://*",
    "https://*.example.com",
    "https://app.*",
    "https://app.example.com/",
    "https://app.example.com/path",
    "https://app.example.com?query",
    "https://app.example.com#fragment",
    "https://user@app.example.com",
    "https://user:password@app.example.com",
    "https://@app.example.com",
    "app.example.com",
    "//app.example.com",
    "https:app.example.com",
    "https:/app.example.com",
    "https://",
    "https://app.example.com:99999",
    "https://app.example.com:port",
    "https://exa mple.com/",
    "null",
    "localhost:3000",
    "mailto:a@b.example",
    "https://app.example.com\\path",
    "https://%2a.example.com",
    "app://\ud800",
    "app://a\u0001b",
  ];
  for (const text of bad) {
    assert.deepEqual(issuesOf({ allowed_origins: text }), [NOT_AN_ORIGIN], text);
    assert.deepEqual(issuesOf({ allowed_origins: `https://a.example ${text}` }), [NOT_AN_ORIGIN], text);
  }
});

Deno.test("equal origins are kept once, in any spelling", () => {
  assert.deepEqual(
    originsOf("https://a.example https://A.example https://a.example:443, HTTPS://a.EXAMPLE"),
    ["https://a.example"],
  );
});

Deno.test("50 origins are accepted and 51 refused, counted after equal ones were joined", () => {
  const origins = Array.from({ length: 51 }, (_, index) => `https://app-${index}.example`);
  const fifty = origins.slice(0, 50);
  assert.equal(originsOf(fifty.join(",")).length, 50);
  assert.equal(originsOf([...fifty, ...fifty, ...fifty].join(" ")).length, 50);
  assert.deepEqual(issuesOf({ allowed_origins: origins.join(",") }), [
    "allowed_origins: must be at most 50 origins, it has 51",
  ]);
});

Deno.test("normalising an origin again changes nothing", () => {
  for (
    const text of ["https://App.Example.COM:443", "https://bücher.example", "http://[0::1]:80", "app://X"]
  ) {
    const origin = normalizeOrigin(text)!;
    assert.equal(normalizeOrigin(origin), origin, text);
  }
});
