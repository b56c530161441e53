/**
 * Sign-in by OpenID Connect, with a provider that answers rightly and in every wrong way that is known. What needs a
 * socket is in tests/real/oidc_wire_test.ts.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, createHmac, createPublicKey } from "node:crypto";
import { UnsecuredJWT } from "jose";
import { createOidc, type KeptSecrets } from "../../src/identity/oidc.ts";
import { OidcRefused } from "../../src/identity/refusal.ts";
import type { OidcSettings, SecretMethod } from "../../src/identity/settings.ts";
import { ALGORITHMS } from "../../src/identity/tokens.ts";
import {
  base64url,
  CLIENT,
  ISSUER,
  type Json,
  newKey,
  refusal,
  SECRET,
  settingsOf,
  sign,
  signAnyway,
  signIn,
  TestProvider,
} from "../openid.ts";

const OTHER = await newKey("other");
const FIRST_AGAIN = await newKey("first");

async function reasonOf(work: Promise<unknown>): Promise<string> {
  return (await refusal(work))[0];
}

Deno.test("a sign-in gives the claims of the ID token", async () => {
  const provider = new TestProvider();
  provider.person = { ...provider.person, sid: "session-1", groups: ["jiss-officers"] };
  const person = await signIn(provider);
  assert.deepEqual({ ...person, claims: undefined, idToken: undefined }, {
    sub: "person-1",
    email: "ada@acme.example",
    emailVerified: true,
    name: "Ada",
    sid: "session-1",
    claims: undefined,
    idToken: undefined,
  });
  assert.deepEqual(person.claims.groups, ["jiss-officers"]);
  assert.equal(person.claims.iss, ISSUER);
  assert.equal(person.idToken.split(".").length, 3);
});

Deno.test("the address of a sign-in asks for a code, with PKCE and secrets that are new each time", async () => {
  const provider = new TestProvider();
  provider.metadata = { authorization_endpoint: `${ISSUER}/authorize?tenant=acme` };
  const client = provider.client();
  const [first, second] = [await client.begin(), await client.begin()];
  const { origin, pathname, searchParams } = new URL(first.url);
  assert.equal(`${origin}${pathname}`, `${ISSUER}/authorize`);
  assert.deepEqual(Object.fromEntries(searchParams), {
    tenant: "acme",
    response_type: "code",
    client_id: CLIENT,
    redirect_uri: settingsOf(ISSUER).redirectUri,
    scope: "openid profile email",
    state: first.kept.state,
    nonce: first.kept.nonce,
    code_challenge: createHash("sha256").update(first.kept.verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const secrets = [first, second].flatMap(({ kept }) => Object.values(kept));
  assert.equal(new Set(secrets).size, 6);
  for (const secret of secrets) assert.match(secret, /^[\w-]{43}$/);
  assert.ok(!first.url.includes(first.kept.verifier) && !first.url.includes(SECRET));
});

/** Claims that make an ID token bad, or not, and why. Times are seconds from now. */
const TOKENS: readonly (readonly [name: string, claims: (now: number) => Json, outcome: string])[] = [
  ["as it should be", () => ({}), "ok"],
  ["of another sign-in", () => ({ nonce: "another" }), "wrong_nonce"],
  ["without a nonce", () => ({ nonce: undefined }), "wrong_nonce"],
  ["of another issuer", () => ({ iss: "https://evil.example" }), "wrong_issuer"],
  ["of an issuer with a slash more", () => ({ iss: `${ISSUER}/` }), "wrong_issuer"],
  ["without an issuer", () => ({ iss: undefined }), "wrong_issuer"],
  ["for another client", () => ({ aud: "another" }), "wrong_audience"],
  ["for others only", () => ({ aud: ["another", "third"] }), "wrong_audience"],
  ["for nobody", () => ({ aud: undefined }), "wrong_audience"],
  ["for us in a list", () => ({ aud: [CLIENT] }), "ok"],
  ["for us and others, asked for by us", () => ({ aud: [CLIENT, "another"], azp: CLIENT }), "ok"],
  [
    "for us and others, asked for by another",
    () => ({ aud: [CLIENT, "another"], azp: "another" }),
    "wrong_audience",
  ],
  ["for us, asked for by another", () => ({ azp: "another" }), "wrong_audience"],
  ["for us and others, asked for by nobody", () => ({ aud: [CLIENT, "another"] }), "wrong_audience"],
  ["expired within the tolerance", (now) => ({ exp: now - 59 }), "ok"],
  ["expired beyond the tolerance", (now) => ({ exp: now - 60 }), "expired"],
  ["that never expires", () => ({ exp: undefined }), "wrong_token"],
  ["that expires at a text", (now) => ({ exp: `${now + 300}` }), "wrong_token"],
  ["valid within the tolerance", (now) => ({ nbf: now + 60 }), "ok"],
  ["not valid yet", (now) => ({ nbf: now + 61 }), "not_yet_valid"],
  ["issued within the tolerance ahead", (now) => ({ iat: now + 60 }), "ok"],
  ["issued in the future", (now) => ({ iat: now + 61 }), "not_yet_valid"],
  ["issued a day ago", (now) => ({ iat: now - 86_461 }), "expired"],
  ["that was never issued", () => ({ iat: undefined }), "wrong_token"],
  ["about nobody", () => ({ sub: undefined }), "wrong_token"],
  ["about an empty name", () => ({ sub: "" }), "wrong_token"],
  ["about a number", () => ({ sub: 7 }), "wrong_token"],
  ["about a name with a NUL", () => ({ sub: "person\0" }), "wrong_token"],
  ["about the longest name", () => ({ sub: "x".repeat(255) }), "ok"],
  ["about a longer name", () => ({ sub: "x".repeat(256) }), "wrong_token"],
];

Deno.test("an ID token is accepted only if issuer, audience, nonce, subject and times are right", async () => {
  for (const [name, claims, outcome] of TOKENS) {
    const provider = new TestProvider();
    provider.idToken = (usual) => sign({ ...usual, ...claims(provider.seconds) }, provider.key);
    const work = signIn(provider);
    assert.equal(outcome === "ok" ? await work.then(() => "ok") : await reasonOf(work), outcome, name);
  }
});

/** An ID token signed by HMAC with what everybody knows: the public key in one of its forms. */
function confused(usual: Json, provider: TestProvider, form: "pem" | "der" | "jwk"): string {
  const key = createPublicKey({ key: provider.key.publicJwk as Json, format: "jwk" });
  const secret = form === "pem"
    ? key.export({ format: "pem", type: "spki" })
    : form === "der"
    ? key.export({ format: "der", type: "spki" })
    : JSON.stringify(provider.key.publicJwk);
  const text = `${base64url({ alg: "HS256", kid: "first" })}.${base64url(usual)}`;
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

const FORGED: Readonly<Record<string, TestProvider["idToken"]>> = {
  "no signature": (usual) => Promise.resolve(new UnsecuredJWT(usual).encode()),
  "no signature, and a key's name": (usual) =>
    Promise.resolve(`${base64url({ alg: "none", kid: "first" })}.${base64url(usual)}.`),
  "no signature, by another spelling": (usual) =>
    Promise.resolve(`${base64url({ alg: "nOnE" })}.${base64url(usual)}.`),
  "no algorithm": (usual) => Promise.resolve(`${base64url({ kid: "first" })}.${base64url(usual)}.AAAA`),
  "the public key as a secret, PEM": (usual, provider) => Promise.resolve(confused(usual, provider, "pem")),
  "the public key as a secret, DER": (usual, provider) => Promise.resolve(confused(usual, provider, "der")),
  "the public key as a secret, JWK": (usual, provider) => Promise.resolve(confused(usual, provider, "jwk")),
  "the client's secret": (usual) => {
    const text = `${base64url({ alg: "HS256" })}.${base64url(usual)}`;
    return Promise.resolve(`${text}.${createHmac("sha256", SECRET).update(text).digest("base64url")}`);
  },
  "another key of the same name": (usual) => sign(usual, FIRST_AGAIN),
  "a key that is not published": (usual) => sign(usual, OTHER),
  "a key that the token brings": (usual) => sign(usual, OTHER, { jwk: OTHER.publicJwk }),
  "a key that the token leads to": (usual) => sign(usual, OTHER, { jku: "https://evil.example/stolen" }),
  "a signature of another token": async (usual, provider) => {
    const [header, , signature] = (await sign({ ...usual, sub: "other" }, provider.key)).split(".");
    return `${header}.${base64url(usual)}.${signature}`;
  },
  "a signature that is cut": async (usual, provider) => (await sign(usual, provider.key)).slice(0, -4),
  "no third part": async (usual, provider) =>
    (await sign(usual, provider.key)).split(".").slice(0, 2).join("."),
  "an extension that must be understood": (usual, { key }) =>
    signAnyway(usual, key, { alg: "ES256", kid: "first", crit: ["x"], x: 1 }),
  "an extension that is not there": (usual, { key }) =>
    signAnyway(usual, key, { alg: "ES256", kid: "first", crit: ["x"] }),
  "a body that is not encoded": (usual, { key }) =>
    signAnyway(usual, key, { alg: "ES256", kid: "first", crit: ["b64"], b64: false }),
  "another algorithm than its key's": (usual, { key }) =>
    signAnyway(usual, key, { alg: "ES384", kid: "first" }),
  "the form of an encrypted token": (usual) =>
    Promise.resolve(`${base64url({ alg: "dir" })}..${base64url(usual)}.A.A`),
  "no form": () => Promise.resolve("no token at all"),
};

Deno.test("an ID token is accepted only with a signature by a published key", async () => {
  const honest = new TestProvider();
  honest.idToken = (usual, { key }) => signAnyway(usual, key, { alg: "ES256", kid: "first" });
  assert.equal((await signIn(honest)).sub, "person-1", "the forger can sign");
  for (const [name, forge] of Object.entries(FORGED)) {
    for (const algorithms of [undefined, ["ES256"], ["ES256", "none", "HS256"]]) {
      const provider = new TestProvider();
      provider.metadata = { id_token_signing_alg_values_supported: algorithms };
      provider.idToken = forge;
      assert.equal(await reasonOf(signIn(provider)), "bad_signature", name);
      const others = provider.asked.filter((part) =>
        !["openid-configuration", "token", "keys"].includes(part)
      );
      assert.deepEqual(others, [], name);
    }
  }
});

Deno.test("a secret key among the published keys verifies nothing", async () => {
  const provider = new TestProvider();
  const secret = Buffer.from("a secret key of thirty-two bytes").toString("base64url");
  provider.published = [{ kty: "oct", k: secret, kid: "first", alg: "HS256" }];
  provider.idToken = (usual) => {
    const text = `${base64url({ alg: "HS256", kid: "first" })}.${base64url(usual)}`;
    const bytes = Buffer.from(secret, "base64url");
    return Promise.resolve(`${text}.${createHmac("sha256", bytes).update(text).digest("base64url")}`);
  };
  assert.equal(await reasonOf(signIn(provider)), "bad_signature");
});

Deno.test("each allowed algorithm works; a provider that has none of them is misconfigured", async () => {
  for (const alg of ALGORITHMS) {
    const provider = new TestProvider();
    provider.key = await newKey("k", alg);
    provider.published = [provider.key.publicJwk];
    provider.metadata = { id_token_signing_alg_values_supported: ["HS256", alg] };
    assert.equal((await signIn(provider)).sub, "person-1", alg);
  }
  const provider = new TestProvider();
  provider.metadata = { id_token_signing_alg_values_supported: ["HS256", "none"] };
  assert.equal(await reasonOf(provider.client().begin()), "misconfigured");
});

Deno.test("a token by an algorithm that the provider does not announce is refused", async () => {
  const provider = new TestProvider();
  provider.metadata = { id_token_signing_alg_values_supported: ["RS256"] };
  assert.equal(await reasonOf(signIn(provider)), "bad_signature");
});

Deno.test("a key without a name serves if it is the only one", async () => {
  const unnamed = (key: typeof OTHER) => ({ ...key.publicJwk, kid: undefined }) as typeof key.publicJwk;
  const provider = new TestProvider();
  provider.idToken = (usual) => sign(usual, provider.key, { kid: undefined });
  provider.published = [unnamed(provider.key)];
  assert.equal((await signIn(provider)).sub, "person-1");
  provider.published = [unnamed(provider.key), unnamed(OTHER)];
  assert.equal(await reasonOf(signIn(provider)), "bad_signature");
});

Deno.test("keys of other kinds and broken ones beside the right one do no harm; what is no key set is an error", async () => {
  const provider = new TestProvider();
  provider.published = [
    { ...(await newKey("enc", "RS256")).publicJwk, alg: "RSA-OAEP", use: "enc" },
    { kty: "EC", crv: "P-256", kid: "broken", x: "AA", y: "AA" },
    { kty: "future" },
    provider.key.publicJwk,
  ];
  assert.equal((await signIn(provider)).sub, "person-1");
  for (const keys of [{}, { keys: "none" }, { keys: [1] }, []]) {
    provider.answers.set("keys", () => Response.json(keys));
    assert.equal(await reasonOf(signIn(provider)), "provider_error");
  }
});

/** Parameters of a callback that differ from the usual ones, and the reason for the refusal. */
const CALLBACKS: readonly (readonly [name: string, parameters: Json, reason: string])[] = [
  ["another state", { state: "another" }, "wrong_state"],
  ["no state", { state: undefined }, "wrong_state"],
  ["an empty state", { state: "" }, "wrong_state"],
  ["another issuer", { iss: "https://evil.example" }, "wrong_issuer"],
  ["two issuers", { iss: [ISSUER, "https://evil.example"] }, "wrong_issuer"],
  ["the issuer twice", { iss: [ISSUER, ISSUER] }, "provider_error"],
  ["no code", { code: undefined }, "replayed_or_bad_code"],
  ["an empty code", { code: "" }, "replayed_or_bad_code"],
  ["two codes", { code: ["code-1", "code-2"] }, "provider_error"],
  ["a code of nobody", { code: "code-of-nobody" }, "replayed_or_bad_code"],
  ["an error", { error: "access_denied", code: undefined }, "provider_error"],
  ["an error and a code", { error: "access_denied" }, "provider_error"],
  ["an error of another sign-in", { error: "access_denied", state: "another" }, "wrong_state"],
  ["a signed answer, which was not asked for", { response: "eyJhbGciOiJub25lIn0.e30." }, "provider_error"],
  ["an ID token, which was not asked for", { id_token: "eyJhbGciOiJub25lIn0.e30." }, "provider_error"],
];

Deno.test("a callback of another sign-in, of another provider, or of another form gets nobody in", async () => {
  for (const [name, parameters, reason] of CALLBACKS) {
    const provider = new TestProvider();
    provider.callback = parameters;
    assert.equal(await reasonOf(signIn(provider)), reason, name);
    assert.equal(provider.asked.includes("token"), name === "a code of nobody", name);
  }
});

Deno.test("a state that comes twice is refused, though one of them is right", async () => {
  for (const more of ["&state=another", (state: string) => `&state=${state}`]) {
    const alter = ({ callback, kept }: { readonly callback: string; readonly kept: KeptSecrets }) => ({
      callback: `${callback}${typeof more === "string" ? more : more(kept.state)}`,
      kept,
    });
    assert.equal(await reasonOf(signIn(new TestProvider(), { alter })), "wrong_state");
  }
});

Deno.test("the issuer of a callback must be there if the provider announces it, and may be there if not", async () => {
  for (const announced of [undefined, false, true]) {
    const provider = new TestProvider();
    provider.metadata = { authorization_response_iss_parameter_supported: announced };
    if (announced === true) assert.equal(await reasonOf(signIn(provider)), "wrong_issuer");
    else assert.equal((await signIn(provider)).sub, "person-1");
    provider.callback = { iss: ISSUER };
    assert.equal((await signIn(provider)).sub, "person-1");
  }
});

Deno.test("of a callback's address only the query counts, and nothing of it is an address to go to", async () => {
  const { redirectUri } = settingsOf(ISSUER);
  for (
    const place of [
      "https://evil.example/callback",
      "http://10.0.0.7:8080/v1/person/callback",
      "//evil.example/callback",
      "/v1/person/callback",
      "",
      "https://jiss.example/v1/person/callback/../../evil",
    ]
  ) {
    const provider = new TestProvider();
    const person = await signIn(provider, {
      alter: ({ callback, kept }) => ({
        callback: `${place}${
          new URL(callback).search
        }&redirect_uri=https://evil.example&return_to=//evil.example#x`,
        kept,
      }),
    });
    assert.equal(person.sub, "person-1");
    assert.equal(provider.tokenRequests[0]!.body.get("redirect_uri"), redirectUri);
  }
  const client = new TestProvider().client();
  const { kept } = await client.begin();
  for (const callback of ["https://", "http://[", "javascript:alert(1)", "data:,x", "\0"]) {
    assert.equal(await reasonOf(client.finish(callback, kept)), "wrong_state", callback);
  }
});

Deno.test("an error in a callback is told by its code alone, as anybody can write the rest", async () => {
  const provider = new TestProvider();
  provider.callback = { code: undefined, error: "access_denied", error_description: "<b>call 555-0100</b>" };
  assert.deepEqual(await refusal(signIn(provider)), [
    "provider_error",
    "The identity provider refused the sign-in: access_denied.",
  ]);
  provider.callback = { code: undefined, error: "<script>alert(1)</script>" };
  assert.deepEqual(await refusal(signIn(provider)), [
    "provider_error",
    "The identity provider refused the sign-in.",
  ]);
});

Deno.test("a code serves once, and only with the verifier of the browser that began", async () => {
  const provider = new TestProvider();
  const client = provider.client();
  const { url, kept } = await client.begin();
  const callback = provider.authorize(url);
  assert.equal((await client.finish(callback, kept)).sub, "person-1");
  assert.equal(await reasonOf(client.finish(callback, kept)), "replayed_or_bad_code");

  // Somebody else's code in the victim's browser, though with the state that this browser expects.
  const [attacker, victim] = [await client.begin(), await client.begin()];
  const stolen = new URL(provider.authorize(attacker.url));
  stolen.searchParams.set("state", victim.kept.state);
  assert.equal(await reasonOf(client.finish(stolen, victim.kept)), "replayed_or_bad_code");
  // With the verifier known, the nonce still is another.
  const again = new URL(provider.authorize(attacker.url));
  again.searchParams.set("state", victim.kept.state);
  const mixed = { ...victim.kept, verifier: attacker.kept.verifier };
  assert.equal(await reasonOf(client.finish(again, mixed)), "wrong_nonce");
});

Deno.test("the client proves itself in the way that the provider takes", async () => {
  const ways = async (
    supported: readonly string[] | undefined,
    clientSecret: string | null,
    secretMethod: SecretMethod | null = null,
  ) => {
    const provider = new TestProvider();
    provider.metadata = { token_endpoint_auth_methods_supported: supported };
    await signIn(provider, { client: provider.client({ clientSecret, secretMethod }) });
    const { body, headers } = provider.tokenRequests[0]!;
    return [body.get("client_id"), body.get("client_secret"), headers.get("authorization")];
  };
  const odd = "p:ä %+&";
  const basic = (secret: string) => `Basic ${btoa(`${CLIENT}:${secret}`)}`;
  assert.deepEqual(await ways(["client_secret_basic", "client_secret_post"], odd), [CLIENT, odd, null]);
  assert.deepEqual(await ways(undefined, odd), [null, null, basic("p%3A%C3%A4+%25%2B%26")]);
  assert.deepEqual(await ways(["client_secret_basic"], "plain"), [null, null, basic("plain")]);
  assert.deepEqual(await ways(["none", "private_key_jwt"], null), [CLIENT, null, null]);
  const both = ["client_secret_basic", "client_secret_post"];
  assert.deepEqual(await ways(both, "plain", "client_secret_basic"), [null, null, basic("plain")]);
  assert.deepEqual(await ways([], "plain", "client_secret_post"), [CLIENT, "plain", null]);
  const provider = new TestProvider();
  provider.metadata = { token_endpoint_auth_methods_supported: ["private_key_jwt"] };
  assert.equal(await reasonOf(signIn(provider)), "misconfigured");
});

const json = (status: number, body: unknown, headers: Record<string, string> = {}) => () =>
  Response.json(body, { status, headers });
const text = (status: number, body = "", headers: Record<string, string> = {}) => () =>
  new Response(body, { status, headers });

Deno.test("what the token endpoint answers otherwise is told apart", async () => {
  const cases: readonly (readonly [answer: () => Response, reason: string, message: RegExp])[] = [
    [json(400, { error: "invalid_grant" }), "replayed_or_bad_code", /: invalid_grant\.$/],
    [
      json(401, { error: "invalid_client", error_description: "AADSTS7000222: the keys are expired" }),
      "misconfigured",
      /: invalid_client, “AADSTS7000222: the keys are expired”\.$/,
    ],
    [json(401, { error: "invalid_client" }, { "WWW-Authenticate": "Basic" }), "misconfigured", /401/],
    [
      json(400, { error: "invalid_client", error_description: `no such secret: ${SECRET}` }),
      "misconfigured",
      /: invalid_client\.$/,
    ],
    [json(400, { error: "unauthorized_client" }), "misconfigured", /unauthorized_client/],
    [json(400, { error: "temporarily_strange" }), "provider_error", /: temporarily_strange\.$/],
    [
      json(400, { error: "x", error_description: `line 1\r\nline 2 \u001b[2J${"x".repeat(400)}` }),
      "provider_error",
      /^[\x20-\x7e“”]*line 1 line 2 \[2Jx{200,300}”\.$/,
    ],
    [text(400, "<html>"), "misconfigured", /400/],
    [text(404), "misconfigured", /404/],
    [text(429), "provider_unavailable", /429/],
    [text(500), "provider_unavailable", /500/],
    [text(503, "{}"), "provider_unavailable", /503/],
    [text(302, "", { Location: "https://evil.example/" }), "misconfigured", /302/],
    [text(200, "no JSON"), "provider_error", /no valid tokens/],
    [json(200, []), "provider_error", /no valid tokens/],
    [json(200, null), "provider_error", /no valid tokens/],
    [json(200, { access_token: "access-code", token_type: "Bearer" }), "provider_error", /no valid tokens/],
    [json(200, { id_token: 7 }), "provider_error", /no valid tokens/],
  ];
  for (const [answer, reason, message] of cases) {
    const provider = new TestProvider();
    provider.answers.set("token", answer);
    const [found, told] = await refusal(signIn(provider));
    assert.equal(found, reason, told);
    assert.match(told, message);
  }
});

Deno.test("an answer with a good ID token but without an access token, or of another type, is refused", async () => {
  for (const change of [{ access_token: undefined }, { token_type: "mac" }, { expires_in: "never" }]) {
    const provider = new TestProvider();
    const inner = new TestProvider();
    inner.idToken = provider.idToken;
    provider.answers.set("token", async (request) => {
      const whole = await inner.handle(request);
      return Response.json({ ...await whole.json(), ...change });
    });
    const client = provider.client();
    const { url, kept } = await client.begin();
    assert.equal(await reasonOf(client.finish(inner.authorize(url), kept)), "provider_error");
  }
});

Deno.test("UserInfo adds the claims that the ID token lacks, about the same person", async () => {
  const provider = new TestProvider();
  provider.person = { sub: "person-1", name: "Ada" };
  provider.userInfo = {
    sub: "person-1",
    name: "Another",
    email: "ada@acme.example",
    email_verified: true,
    groups: ["a"],
    iss: "x",
  };
  const { email, emailVerified, name, claims } = await signIn(provider);
  assert.deepEqual([email, emailVerified, name, claims.groups, claims.iss], [
    "ada@acme.example",
    true,
    "Ada",
    ["a"],
    ISSUER,
  ]);
  assert.deepEqual(provider.asked, ["openid-configuration", "token", "keys", "userinfo"]);

  const quiet = provider.client({ userInfo: false });
  assert.equal((await signIn(provider, { client: quiet })).email, null);
  assert.equal(provider.asked.filter((part) => part === "userinfo").length, 1);
});

Deno.test("an address is verified only by the source that names it", async () => {
  const provider = new TestProvider();
  provider.person = { sub: "person-1", email: "boss@acme.example" };
  provider.userInfo = { sub: "person-1", email: "mine@evil.example", email_verified: true };
  const { email, emailVerified, claims } = await signIn(provider);
  assert.deepEqual([email, emailVerified, claims.email_verified], ["boss@acme.example", false, undefined]);
  provider.person = { sub: "person-1", email_verified: true };
  provider.userInfo = { sub: "person-1", email: "boss@acme.example" };
  const other = await signIn(provider);
  assert.deepEqual([other.email, other.emailVerified], ["boss@acme.example", false]);
  for (const [verified, expected] of [["true", true], ["false", false], [1, false], [null, false]] as const) {
    provider.person = { sub: "person-1", email: "ada@acme.example", email_verified: verified };
    assert.equal((await signIn(provider)).emailVerified, expected, String(verified));
  }
  provider.person = { sub: "person-1", email_verified: true, name: 7, sid: ["x"] };
  provider.userInfo = { sub: "person-1" };
  const bare = await signIn(provider);
  assert.deepEqual([bare.email, bare.emailVerified, bare.name, bare.sid], [null, false, null, null]);
});

Deno.test("UserInfo about another person, or in another form, gets nobody in", async () => {
  const cases: readonly (readonly [answer: () => Response, reason: string])[] = [
    [json(200, { sub: "person-2" }), "provider_error"],
    [json(200, {}), "provider_error"],
    [json(200, []), "provider_error"],
    [text(200, "x"), "provider_error"],
    [text(500), "provider_unavailable"],
    [text(401, "", { "WWW-Authenticate": 'Bearer error="invalid_token"' }), "misconfigured"],
    [text(403), "misconfigured"],
    [text(302, "", { Location: "https://evil.example/" }), "provider_error"],
  ];
  for (const [answer, reason] of cases) {
    const provider = new TestProvider();
    provider.userInfo = {};
    provider.answers.set("userinfo", answer);
    assert.equal(await reasonOf(signIn(provider)), reason);
  }
});

Deno.test("a provider that describes itself wrongly is told apart", async () => {
  const cases: readonly (readonly [change: Json | (() => Response), reason: string, message: RegExp])[] = [
    [
      { issuer: "https://evil.example" },
      "misconfigured",
      /another issuer than https:\/\/idp\.example\/realm/,
    ],
    [{ issuer: undefined }, "provider_error", /description/],
    [{ issuer: "no address" }, "provider_error", /description/],
    [{ authorization_endpoint: undefined }, "provider_error", /authorization_endpoint/],
    [{ token_endpoint: undefined }, "provider_error", /token_endpoint/],
    [{ jwks_uri: undefined }, "provider_error", /jwks_uri/],
    [{ authorization_endpoint: "javascript:alert(1)" }, "provider_error", /authorization_endpoint/],
    [{ token_endpoint: "http://idp.example/token" }, "provider_error", /token_endpoint/],
    [{ token_endpoint: "http://127.0.0.1/token" }, "provider_error", /token_endpoint/],
    [{ jwks_uri: "file:///etc/passwd" }, "provider_error", /jwks_uri/],
    [{ userinfo_endpoint: "http://idp.example/u" }, "provider_error", /userinfo_endpoint/],
    [{ end_session_endpoint: "javascript:alert(1)" }, "provider_error", /end_session_endpoint/],
    [{ end_session_endpoint: 7 }, "provider_error", /end_session_endpoint/],
    [text(404), "misconfigured", /404 .* The setting of the issuer may be wrong/],
    [text(301, "", { Location: "https://evil.example/" }), "misconfigured", /301/],
    [text(500), "provider_unavailable", /500/],
    [text(200, "<html>"), "provider_error", /description/],
    [json(200, []), "provider_error", /description/],
  ];
  for (const [change, reason, message] of cases) {
    const provider = new TestProvider();
    if (typeof change === "function") provider.answers.set("openid-configuration", change);
    else provider.metadata = change;
    const [found, told] = await refusal(provider.client().begin());
    assert.equal(found, reason, told);
    assert.match(told, message);
    assert.deepEqual(provider.asked, ["openid-configuration"]);
  }
});

Deno.test("a provider on this machine may use http here, and nowhere else", async () => {
  const issuer = "http://127.0.0.1:9080/realm";
  for (
    const [address, isRight] of [
      ["http://localhost:9081/token", true],
      ["https://idp.example/token", true],
      ["http://idp.example/token", false],
      ["http://127.0.0.1.evil.example/token", false],
      ["javascript:alert(1)", false],
    ] as const
  ) {
    const provider = new TestProvider(issuer);
    provider.metadata = { token_endpoint: address };
    const client = provider.client();
    if (isRight) await client.begin();
    else assert.equal(await reasonOf(client.begin()), "provider_error", address);
  }
});

Deno.test("an issuer may end in a slash, and may have no path", async () => {
  for (const issuer of ["https://idp.example", "https://idp.example/", "https://idp.example/realm/"]) {
    const provider = new TestProvider(issuer);
    const { origin } = new URL(issuer);
    provider.metadata = {
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      jwks_uri: `${origin}/keys`,
    };
    assert.equal((await signIn(provider)).claims.iss, issuer);
  }
});

Deno.test("the provider's description is fetched when it is needed, kept for an hour, and shared by calls at once", async () => {
  const provider = new TestProvider();
  const client = provider.client();
  assert.deepEqual(provider.asked, []);
  await Promise.all([client.begin(), client.begin(), client.endSessionUrl(null)]);
  await client.begin();
  assert.deepEqual(provider.asked, ["openid-configuration"]);
  provider.now += 3_599_999;
  await client.begin();
  assert.equal(provider.asked.length, 1);
  provider.now += 1;
  provider.metadata = { authorization_endpoint: `${ISSUER}/new` };
  assert.ok((await client.begin()).url.startsWith(`${ISSUER}/new?`));
  assert.equal(provider.asked.length, 2);
});

Deno.test("after a failure the provider is asked again two seconds later, and a clock that goes back asks at once", async () => {
  const provider = new TestProvider();
  const client = provider.client();
  provider.answers.set("openid-configuration", text(500));
  for (let n = 0; n < 3; n += 1) assert.equal(await reasonOf(client.begin()), "provider_unavailable");
  assert.equal(provider.asked.length, 1);
  provider.answers.clear();
  provider.now += 1_999;
  assert.equal(await reasonOf(client.begin()), "provider_unavailable");
  provider.now += 1;
  await client.begin();
  assert.equal(provider.asked.length, 2);
  provider.now -= 1_000;
  await client.begin();
  assert.equal(provider.asked.length, 3);
});

Deno.test("a new key of the provider is fetched when a token names it; unknown names cost one request in ten seconds", async () => {
  const provider = new TestProvider();
  const client = provider.client();
  const keyRequests = () => provider.asked.filter((part) => part === "keys").length;
  await signIn(provider, { client });
  await signIn(provider, { client });
  assert.equal(keyRequests(), 1);

  provider.now += 60_000;
  provider.key = OTHER;
  provider.published = [...provider.published, OTHER.publicJwk];
  await signIn(provider, { client });
  assert.equal(keyRequests(), 2);

  provider.now += 60_000;
  const stranger = await newKey("stranger");
  let unknown = 0;
  const sendUnknown = async () => {
    unknown += 1;
    const token = await sign({ sub: "x" }, stranger, { kid: `unknown-${unknown}` });
    assert.equal(await reasonOf(client.readLogoutToken(token)), "bad_signature");
  };
  for (let n = 0; n < 10; n += 1) await sendUnknown();
  assert.equal(keyRequests(), 3);
  provider.now += 9_999;
  await sendUnknown();
  assert.equal(keyRequests(), 3);
  provider.now += 1;
  await sendUnknown();
  assert.equal(keyRequests(), 4);
  await signIn(provider, { client });
  assert.equal(keyRequests(), 4);
});

Deno.test("another key under the same name is fetched, too, and a withdrawn key counts for ten minutes at most", async () => {
  const provider = new TestProvider();
  const client = provider.client();
  await signIn(provider, { client });
  const withdrawn = provider.key;
  provider.now += 30_000;
  provider.key = FIRST_AGAIN;
  provider.published = [FIRST_AGAIN.publicJwk];
  await signIn(provider, { client });

  provider.key = OTHER;
  provider.published = [OTHER.publicJwk];
  provider.idToken = (usual) => sign(usual, FIRST_AGAIN);
  provider.now += 599_999;
  await signIn(provider, { client });
  provider.now += 1;
  assert.equal(await reasonOf(signIn(provider, { client })), "bad_signature");
  provider.idToken = (usual) => sign(usual, withdrawn);
  assert.equal(await reasonOf(signIn(provider, { client })), "bad_signature");
});

Deno.test("while new keys cannot be had, the known ones still serve", async () => {
  const provider = new TestProvider();
  const client = provider.client();
  await signIn(provider, { client });
  provider.now += 60_000;
  provider.answers.set("keys", text(503));
  assert.equal(await reasonOf(client.readLogoutToken(await sign({}, OTHER))), "provider_unavailable");
  assert.equal((await signIn(provider, { client })).sub, "person-1");
  assert.equal((await client.readLogoutToken(await provider.logoutToken())).sub, "person-1");
});

Deno.test("the address for a logout at the provider names the client, the session and the way back", async () => {
  const provider = new TestProvider();
  const { idToken } = await signIn(provider);
  provider.metadata = { end_session_endpoint: `${ISSUER}/logout?tenant=acme` };
  const parametersOf = async (client = provider.client(), hint: string | null = idToken) =>
    Object.fromEntries(new URL((await client.endSessionUrl(hint))!).searchParams);
  assert.deepEqual(await parametersOf(), {
    tenant: "acme",
    client_id: CLIENT,
    id_token_hint: idToken,
    post_logout_redirect_uri: "https://jiss.example/",
  });
  const bare = provider.client({ postLogoutRedirectUri: null });
  assert.deepEqual(await parametersOf(bare, null), { tenant: "acme", client_id: CLIENT });
  provider.metadata = { end_session_endpoint: undefined };
  assert.equal(await provider.client().endSessionUrl(idToken), null);
});

const EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** Claims that make a logout token bad, or not, and why. */
const LOGOUTS: readonly (readonly [name: string, claims: (now: number) => Json, outcome: string])[] = [
  ["as it should be", () => ({}), "ok"],
  ["of a session alone", () => ({ sub: undefined }), "ok"],
  ["of a person alone", () => ({ sid: undefined }), "ok"],
  ["of neither", () => ({ sub: undefined, sid: undefined }), "wrong_token"],
  ["of a number", () => ({ sub: 7 }), "wrong_token"],
  ["of an empty session", () => ({ sid: "" }), "wrong_token"],
  ["of a session that is a list", () => ({ sid: ["a"] }), "wrong_token"],
  ["of another issuer", () => ({ iss: "https://evil.example" }), "wrong_issuer"],
  ["for another client", () => ({ aud: "another" }), "wrong_audience"],
  ["for us among others", () => ({ aud: ["another", CLIENT] }), "ok"],
  ["for nobody", () => ({ aud: undefined }), "wrong_audience"],
  ["with a nonce", () => ({ nonce: "x" }), "wrong_token"],
  ["with an empty nonce", () => ({ nonce: null }), "wrong_token"],
  ["without events", () => ({ events: undefined }), "wrong_token"],
  ["with another event", () => ({ events: { "https://evil.example/event": {} } }), "wrong_token"],
  ["with events as a list", () => ({ events: [EVENT] }), "wrong_token"],
  ["with the event as a text", () => ({ events: { [EVENT]: "x" } }), "wrong_token"],
  ["with more events", () => ({ events: { [EVENT]: {}, other: {} } }), "ok"],
  ["without an id", () => ({ jti: undefined }), "wrong_token"],
  ["with a number as its id", () => ({ jti: 7 }), "wrong_token"],
  ["without a time", () => ({ iat: undefined }), "wrong_token"],
  ["without an expiry", () => ({ exp: undefined }), "ok"],
  ["expired within the tolerance", (now) => ({ exp: now - 59 }), "ok"],
  ["expired", (now) => ({ exp: now - 60 }), "expired"],
  ["issued as long ago as allowed", (now) => ({ iat: now - 360, exp: now + 9 }), "ok"],
  ["issued too long ago, whenever it expires", (now) => ({ iat: now - 361, exp: now + 9 }), "expired"],
  ["issued in the future, within the tolerance", (now) => ({ iat: now + 60 }), "ok"],
  ["issued in the future", (now) => ({ iat: now + 61 }), "not_yet_valid"],
];

Deno.test("a logout token is accepted only in the form of the specification", async () => {
  const provider = new TestProvider();
  const client = provider.client();
  for (const [name, claims, outcome] of LOGOUTS) {
    const work = client.readLogoutToken(await provider.logoutToken(claims(provider.seconds)));
    assert.equal(outcome === "ok" ? await work.then(() => "ok") : await reasonOf(work), outcome, name);
  }
  assert.deepEqual(await client.readLogoutToken(await provider.logoutToken({ sid: undefined })), {
    sub: "person-1",
    sid: null,
    iat: provider.seconds,
    jti: "logout-1",
  });
});

Deno.test("a logout token may name its type, and no other", async () => {
  const provider = new TestProvider();
  const client = provider.client();
  for (const typ of ["logout+jwt", "application/logout+jwt", "JWT", undefined]) {
    assert.equal((await client.readLogoutToken(await provider.logoutToken({}, { typ }))).sid, "session-1");
  }
  for (const typ of ["at+jwt", "secevent+jwt", ""]) {
    const token = await provider.logoutToken({}, { typ });
    assert.equal(await reasonOf(client.readLogoutToken(token)), "wrong_token", typ);
  }
});

Deno.test("a forged logout token is refused, and so is an ID token in its place, and the other way round", async () => {
  const provider = new TestProvider();
  const client = provider.client();
  const claims = JSON.parse(
    Buffer.from((await provider.logoutToken()).split(".")[1]!, "base64url").toString(),
  );
  for (const [name, forge] of Object.entries(FORGED)) {
    const token = await forge(claims, provider);
    assert.equal(await reasonOf(client.readLogoutToken(token)), "bad_signature", name);
  }
  const { idToken } = await signIn(provider, { client });
  assert.equal(await reasonOf(client.readLogoutToken(idToken)), "wrong_token");
  provider.idToken = () => provider.logoutToken();
  assert.equal(await reasonOf(signIn(provider, { client })), "wrong_nonce");
});

Deno.test("settings that cannot work are refused at once", () => {
  const cases: readonly (readonly [settings: Partial<OidcSettings>, message: RegExp])[] = [
    [{ issuer: "http://idp.example" }, /issuer must be an address with https/],
    [{ issuer: "http://127.0.0.1.evil.example" }, /issuer/],
    [{ issuer: "http://localhost.evil.example" }, /issuer/],
    [{ issuer: "http://127.0.0.1@evil.example/" }, /issuer/],
    [{ issuer: "ftp://idp.example" }, /issuer/],
    [{ issuer: "idp.example" }, /issuer/],
    [{ issuer: "" }, /issuer/],
    [{ issuer: "https://idp.example?x" }, /no query/],
    [{ issuer: "https://user:secret-of-the-tests@idp.example" }, /no user/],
    [{ redirectUri: "http://jiss.example/callback" }, /redirect URI/],
    [{ redirectUri: "https://jiss.example/callback#x" }, /no fragment/],
    [{ postLogoutRedirectUri: "javascript:alert(1)" }, /after a logout/],
    [{ clientId: "" }, /client id/],
    [{ clientSecret: "" }, /client secret/],
    [{ scopes: ["profile"] }, /openid/],
    [{ scopes: ["openid", "a b"] }, /scope/],
  ];
  for (const [settings, message] of cases) {
    assert.throws(
      () => new TestProvider().client(settings),
      (error) => {
        assert.ok(error instanceof OidcRefused && error.reason === "misconfigured");
        assert.match(error.message, message);
        return !error.message.includes("secret-of-the-tests");
      },
    );
  }
  for (const issuer of ["http://localhost:8080/x", "http://127.0.0.1:9", "http://127.1/", "http://[::1]:1"]) {
    new TestProvider().client({ issuer, redirectUri: "http://127.0.0.1:8080/callback" });
  }
});

Deno.test("a failure of the connection is told without the address's secrets, and is tried again", async () => {
  let attempts = 0;
  const provider = new TestProvider();
  const client = createOidc(settingsOf(ISSUER), {
    fetch: (url, init) => {
      attempts += 1;
      const request = new Request(url, init);
      if (attempts > 2) return provider.handle(request);
      const cause = new Error(`error sending request for url (${url}): client error (Connect): no route`);
      return Promise.reject(new TypeError("fetch failed", { cause }));
    },
    now: () => provider.now,
    random: (length) => crypto.getRandomValues(new Uint8Array(length)),
  });
  const expected = "The identity provider at idp.example cannot be reached: no route.";
  assert.deepEqual(await refusal(client.begin()), ["provider_unavailable", expected]);
  provider.now += 2_000;
  assert.deepEqual(await refusal(client.begin()), ["provider_unavailable", expected]);
  provider.now += 2_000;
  assert.equal((await signIn(provider, { client })).sub, "person-1");
});
