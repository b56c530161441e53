/**
 * A small OpenID provider of the tests, which can be made to answer wrongly in any way; and a client of it. The provider
 * is a function from request to response, so that it needs no socket, and has a clock that a test sets.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, createPrivateKey, sign as signBytes } from "node:crypto";
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose";
import { createOidc, type KeptSecrets, type Oidc, type SignedIn } from "../src/identity/oidc.ts";
import { OidcRefused } from "../src/identity/refusal.ts";
import type { OidcSettings } from "../src/identity/settings.ts";

export const ISSUER = "https://idp.example/realm";
export const CLIENT = "jiss";
export const SECRET = "a-client-secret-of-the-tests";
const CALLBACK = "https://jiss.example/v1/person/callback";

export type Json = Record<string, unknown>;
export type Answer = (request: Request) => Response | Promise<Response>;

/** A key pair of the provider. */
export interface ProviderKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** One RSA key for all of its algorithms: making one takes a while. */
let rsa: Promise<JWK> | null = null;

export async function newKey(kid: string, alg = "ES256"): Promise<ProviderKey> {
  const make = async (name: string) =>
    await exportJWK((await generateKeyPair(name, { extractable: true })).privateKey);
  const isRsa = /^[RP]S/.test(alg);
  if (isRsa) rsa ??= make("RS256");
  const jwk = isRsa ? await rsa! : await make(alg);
  const { d: _d, p: _p, q: _q, dp: _dp, dq: _dq, qi: _qi, ...open } = jwk;
  const privateKey = await importJWK(jwk, alg, { extractable: true }) as CryptoKey;
  return { kid, alg, privateKey, publicJwk: { ...open, kid, alg, use: "sig" } };
}

const FIRST_KEY = await newKey("first");

/** Signs claims with one of the provider's keys. */
export function sign(
  claims: Json,
  { kid, alg, privateKey }: ProviderKey,
  header: Json = {},
): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
}

export const base64url = (value: Json) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token by ES256 with any header, which the library would refuse to make. */
export async function signAnyway(claims: Json, { privateKey }: ProviderKey, header: Json): Promise<string> {
  const key = createPrivateKey({ key: await exportJWK(privateKey) as Json, format: "jwk" });
  const text = `${base64url(header)}.${base64url(claims)}`;
  const signature = signBytes("sha256", new TextEncoder().encode(text), { key, dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}

/** What the provider remembers of a code. */
interface Issued {
  readonly nonce: string;
  readonly challenge: string;
  readonly redirectUri: string;
}

export class TestProvider {
  readonly issuer: string;
  key = FIRST_KEY;
  /** Keys that are published. */
  published: JWK[] = [FIRST_KEY.publicJwk];
  /** Epoch milliseconds. */
  now = Date.UTC(2026, 10, 27);
  /** Claims about the person, in the ID token. */
  person: Json = { sub: "person-1", email: "ada@acme.example", email_verified: true, name: "Ada" };
  userInfo: Json | null = null;
  /** Makes the ID token of the usual claims. */
  idToken: (usual: Json, provider: TestProvider) => Promise<string> = (usual) => sign(usual, this.key);
  /** Members of the metadata that differ; undefined removes one. */
  metadata: Json = {};
  /** Parameters of the callback that differ. */
  callback: Json = {};
  /** Answers in place of the usual ones, by the last part of the path. */
  readonly answers = new Map<string, Answer>();
  /** The last part of the path of each request so far. */
  readonly asked: string[] = [];
  /** Bodies and headers of the token requests so far. */
  readonly tokenRequests: { readonly body: URLSearchParams; readonly headers: Headers }[] = [];
  readonly #codes = new Map<string, Issued>();
  #used = 0;

  constructor(issuer = ISSUER) {
    this.issuer = issuer;
  }

  /** Epoch seconds. */
  get seconds(): number {
    return Math.floor(this.now / 1000);
  }

  description(): Json {
    const { issuer } = this;
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      userinfo_endpoint: this.userInfo === null ? undefined : `${issuer}/userinfo`,
      end_session_endpoint: `${issuer}/logout`,
      response_types_supported: ["code"],
      id_token_signing_alg_values_supported: undefined,
      token_endpoint_auth_methods_supported: ["client_secret_post", "client_secret_basic"],
      ...this.metadata,
    };
  }

  /** Answers a request, as a server would. */
  async handle(request: Request): Promise<Response> {
    const part = new URL(request.url).pathname.split("/").at(-1)!;
    this.asked.push(part);
    const other = this.answers.get(part);
    if (other !== undefined) return await other(request);
    switch (part) {
      case "openid-configuration":
        return Response.json(this.description());
      case "keys":
        return Response.json({ keys: this.published });
      case "token":
        return await this.#token(request);
      case "userinfo":
        assert.match(request.headers.get("authorization")!, /^Bearer access-/);
        return Response.json(this.userInfo);
    }
    return new Response(null, { status: 404 });
  }

  /** What the browser does: from the address that a sign-in begins with to that of the callback. */
  authorize(address: string): string {
    const { searchParams: query } = new URL(address);
    assert.equal(query.get("response_type"), "code");
    assert.equal(query.get("client_id"), CLIENT);
    assert.equal(query.get("code_challenge_method"), "S256");
    this.#used += 1;
    const code = `code-${this.#used}-of-the-tests`;
    const redirectUri = query.get("redirect_uri")!;
    this.#codes.set(code, {
      nonce: query.get("nonce")!,
      challenge: query.get("code_challenge")!,
      redirectUri,
    });
    const callback = new URL(redirectUri);
    const parameters = { code, state: query.get("state"), ...this.callback };
    for (const [name, value] of Object.entries(parameters)) {
      for (const one of [value].flat()) {
        if (one !== undefined) callback.searchParams.append(name, String(one));
      }
    }
    return callback.href;
  }

  async #token(request: Request): Promise<Response> {
    const body = new URLSearchParams(await request.text());
    this.tokenRequests.push({ body, headers: request.headers });
    const code = body.get("code") ?? "";
    const issued = this.#codes.get(code);
    this.#codes.delete(code);
    const verifier = createHash("sha256").update(body.get("code_verifier") ?? "").digest("base64url");
    if (
      issued === undefined || issued.challenge !== verifier || issued.redirectUri !== body.get("redirect_uri")
    ) {
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    }
    const usual = {
      iss: this.issuer,
      aud: CLIENT,
      iat: this.seconds,
      exp: this.seconds + 300,
      nonce: issued.nonce,
      ...this.person,
    };
    return Response.json({
      access_token: `access-${code}`,
      token_type: "Bearer",
      expires_in: 300,
      id_token: await this.idToken(usual, this),
    });
  }

  /** A logout token with claims that differ; undefined removes one. */
  logoutToken(claims: Json = {}, header: Json = { typ: "logout+jwt" }): Promise<string> {
    return sign(
      {
        iss: this.issuer,
        aud: CLIENT,
        iat: this.seconds,
        exp: this.seconds + 120,
        jti: "logout-1",
        sub: "person-1",
        sid: "session-1",
        events: { "http://schemas.openid.net/event/backchannel-logout": {} },
        ...claims,
      },
      this.key,
      header,
    );
  }

  /** The client of this provider, without a socket. */
  client(settings: Partial<OidcSettings> = {}): Oidc {
    return createOidc(settingsOf(this.issuer, settings), {
      fetch: (url, init) => this.handle(new Request(url, init)),
      now: () => this.now,
      random: (length) => crypto.getRandomValues(new Uint8Array(length)),
    });
  }
}

export function settingsOf(issuer: string, settings: Partial<OidcSettings> = {}): OidcSettings {
  return {
    issuer,
    clientId: CLIENT,
    clientSecret: SECRET,
    secretMethod: null,
    redirectUri: CALLBACK,
    scopes: ["openid", "profile", "email"],
    postLogoutRedirectUri: "https://jiss.example/",
    userInfo: true,
    timeoutMs: 5_000,
    ...settings,
  };
}

/** A whole sign-in. `alter` changes what comes back. */
export async function signIn(
  provider: TestProvider,
  { client = provider.client(), alter = (back) => back }: {
    readonly client?: Oidc;
    readonly alter?: (back: { readonly callback: string; readonly kept: KeptSecrets }) => {
      readonly callback: string;
      readonly kept: KeptSecrets;
    };
  } = {},
): Promise<SignedIn> {
  const { url, kept } = await client.begin();
  const back = alter({ callback: provider.authorize(url), kept });
  return await client.finish(back.callback, back.kept);
}

/** The reason of a refusal, and its message, which must hold nothing secret. */
export async function refusal(
  work: Promise<unknown>,
  secrets: readonly string[] = [],
): Promise<readonly [reason: string, message: string]> {
  const error = await work.then(() => null, (thrown: unknown) => thrown);
  assert.ok(error instanceof OidcRefused, `not refused: ${error}`);
  assert.match(error.message, /^[A-Z].*\.$/);
  assert.equal(error.cause, undefined);
  const shown = `${error.message} ${JSON.stringify(error)} ${Deno.inspect(error)}`;
  for (const secret of [SECRET, "access-code", "-of-the-tests", ...secrets]) {
    assert.ok(!shown.includes(secret), shown);
  }
  assert.doesNotMatch(shown, /eyJ/, "the beginning of each token");
  return [error.reason, error.message];
}
