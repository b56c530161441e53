/** Sign-in and logout at a real OpenID provider, npm's `oidc-provider`, which Node runs. */
import assert from "node:assert/strict";
import { exportJWK } from "jose";
import { claimsMapSchema, grantOf } from "../../src/identity/claims_map.ts";
import { createOidc, type Oidc, type SignedIn } from "../../src/identity/oidc.ts";
import type { OidcSettings } from "../../src/identity/settings.ts";
import { openConnection } from "../../src/identity/wire.ts";
import { CLIENT, newKey, type ProviderKey, refusal, SECRET, settingsOf } from "../openid.ts";
import {
  Browser,
  type Options,
  providerIsMissing,
  type RunningProvider,
  startProvider,
} from "./openid_provider.ts";

const NEEDS = "[needs Node and oidc-provider]";
const IS_MISSING = providerIsMissing();
/** What a person types into the provider's form. It takes any name and password. */
const TYPED = { login: "ada", password: "x", logout: "yes" };
const SCOPES = ["openid", "profile", "email", "groups"];

interface Scene {
  readonly provider: RunningProvider;
  /** Ends the provider and starts another at the same address. */
  restart(keys: readonly ProviderKey[]): Promise<void>;
  client(settings?: Partial<OidcSettings>): Oidc;
  /** Milliseconds by which the client's clock is ahead. */
  advance(milliseconds: number): void;
  readonly redirectUri: string;
  readonly farewell: string;
  /** Logout tokens that the provider sent so far. */
  readonly logoutTokens: string[];
}

interface SceneOptions {
  readonly keys?: readonly ProviderKey[];
  readonly client?: Readonly<Record<string, unknown>>;
  readonly claimsInUserInfo?: boolean;
}

/** A provider, and a receiver of its logout tokens. */
async function withScene(
  { keys, client = {}, claimsInUserInfo = true }: SceneOptions,
  test: (scene: Scene) => Promise<void>,
): Promise<void> {
  const logoutTokens: string[] = [];
  const receiver = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    logoutTokens.push((await request.formData()).get("logout_token") as string);
    return new Response();
  });
  const own = `http://127.0.0.1:${receiver.addr.port}`;
  const redirectUri = `${own}/callback`;
  const farewell = `${own}/farewell`;
  const optionsOf = async (present: readonly ProviderKey[]): Promise<Options> => ({
    client: {
      client_id: CLIENT,
      client_secret: SECRET,
      token_endpoint_auth_method: "client_secret_post",
      redirect_uris: [redirectUri],
      post_logout_redirect_uris: [farewell],
      backchannel_logout_uri: `${own}/logout`,
      backchannel_logout_session_required: true,
      response_types: ["code"],
      grant_types: ["authorization_code"],
      scope: SCOPES.join(" "),
      id_token_signed_response_alg: present[0]!.alg,
      ...client,
    },
    keys: await Promise.all(present.map(async ({ privateKey, kid, alg }) => ({
      ...await exportJWK(privateKey),
      kid,
      alg,
      use: "sig",
    }))),
    person: { name: "Ada", email: "ada@acme.example", email_verified: true, groups: ["jiss-officers"] },
    claimsInUserInfo,
  });
  let provider = await startProvider(await optionsOf(keys ?? [await newKey("first", "RS256")]));
  const connection = openConnection([]);
  let ahead = 0;
  try {
    await test({
      get provider() {
        return provider;
      },
      async restart(next) {
        await provider.stop();
        provider = await startProvider({ ...await optionsOf(next), port: provider.port });
      },
      client: (settings = {}) =>
        createOidc(
          settingsOf(provider.issuer, {
            redirectUri,
            scopes: SCOPES,
            postLogoutRedirectUri: farewell,
            ...settings,
          }),
          {
            fetch: connection.fetch,
            now: () => Date.now() + ahead,
            random: (length) => crypto.getRandomValues(new Uint8Array(length)),
          },
        ),
      advance: (milliseconds) => ahead += milliseconds,
      redirectUri,
      farewell,
      logoutTokens,
    });
  } finally {
    connection.close();
    await provider.stop();
    await receiver.shutdown();
  }
}

async function signInWith(client: Oidc, { redirectUri }: Scene, browser = new Browser()): Promise<SignedIn> {
  const { url, kept } = await client.begin();
  return await client.finish(await browser.visit(url, redirectUri, TYPED), kept);
}

for (const alg of ["RS256", "PS256", "ES256", "EdDSA"]) {
  for (const claimsInUserInfo of [true, false]) {
    const place = claimsInUserInfo ? "at UserInfo" : "in the ID token";
    Deno.test({
      name: `a person signs in by ${alg}, with claims ${place}, and gets a role by the map ${NEEDS}`,
      ignore: IS_MISSING,
      fn: async () =>
        await withScene({ keys: [await newKey("first", alg)], claimsInUserInfo }, async (scene) => {
          const person = await signInWith(scene.client({ userInfo: claimsInUserInfo }), scene);
          const { sub, email, emailVerified, name, sid, claims } = person;
          assert.deepEqual([sub, email, emailVerified, name], ["ada", "ada@acme.example", true, "Ada"]);
          assert.ok(sid !== null && sid.length > 10);
          const map = claimsMapSchema.parse({
            rules: [{ when: { groups: "jiss-officers" }, organization: "acme", role: "officer" }],
          });
          assert.deepEqual(grantOf(map, claims), { organization: "acme", role: "officer" });
        }),
    });
  }
}

Deno.test({
  name: `the client proves itself by its secret in the body or in the header, or by PKCE alone ${NEEDS}`,
  ignore: IS_MISSING,
  async fn() {
    const odd = "p: %+&'()*!~=_-/";
    for (
      const [method, clientSecret] of [
        ["client_secret_post", odd],
        ["client_secret_basic", odd],
        ["none", null],
      ] as const
    ) {
      const client = { token_endpoint_auth_method: method, client_secret: clientSecret ?? undefined };
      const secretMethod = method === "none" ? null : method;
      await withScene({ client }, async (scene) => {
        const right = scene.client({ clientSecret, secretMethod });
        assert.equal((await signInWith(right, scene)).sub, "ada");
        if (clientSecret === null) return;
        // This provider takes either way, whichever is registered for the client.
        assert.equal((await signInWith(scene.client({ clientSecret }), scene)).sub, "ada");
        const wrong = scene.client({ clientSecret: "another-secret", secretMethod });
        const [reason, message] = await refusal(signInWith(wrong, scene), ["another-secret", odd]);
        assert.equal(reason, "misconfigured");
        assert.match(message, /does not accept this client, its secret, or the way in which it is sent/);
      });
    }
  },
});

Deno.test({
  name:
    `a code serves once, for its own browser alone, and a sign-in that the person stops gets nobody in ${NEEDS}`,
  ignore: IS_MISSING,
  fn: () =>
    withScene({}, async (scene) => {
      const client = scene.client();
      const { url, kept } = await client.begin();
      const callback = await new Browser().visit(url, scene.redirectUri, TYPED);
      assert.equal(new URL(callback).searchParams.get("iss"), scene.provider.issuer);
      await client.finish(callback, kept);
      assert.equal((await refusal(client.finish(callback, kept)))[0], "replayed_or_bad_code");

      const [attacker, victim] = [await client.begin(), await client.begin()];
      const stolen = new URL(await new Browser().visit(attacker.url, scene.redirectUri, TYPED));
      assert.equal((await refusal(client.finish(stolen, victim.kept)))[0], "wrong_state");
      stolen.searchParams.set("state", victim.kept.state);
      assert.equal((await refusal(client.finish(stolen, victim.kept)))[0], "replayed_or_bad_code");

      const from = new URL(await new Browser().visit((await client.begin()).url, scene.redirectUri, TYPED));
      from.searchParams.set("iss", "https://evil.example");
      from.searchParams.set("state", kept.state);
      assert.equal((await refusal(client.finish(from, kept)))[0], "wrong_issuer");
      from.searchParams.delete("iss");
      assert.equal(
        (await refusal(client.finish(from, kept)))[0],
        "wrong_issuer",
        "the provider announces it",
      );

      const stopped = await client.begin();
      const browser = new Browser();
      const page = await browser.open(stopped.url, scene.redirectUri);
      assert.ok(typeof page !== "string");
      const [, abort] = /href="([^"]*\/abort)"/.exec(page.html)!;
      const back = await browser.visit(new URL(abort!, page.url).href, scene.redirectUri, TYPED);
      assert.deepEqual(await refusal(client.finish(back, stopped.kept)), [
        "provider_error",
        "The identity provider refused the sign-in: access_denied.",
      ]);
    }),
});

Deno.test({
  name: `a logout at the provider sends the person back, and a logout token that ends the session ${NEEDS}`,
  ignore: IS_MISSING,
  fn: () =>
    withScene({}, async (scene) => {
      const client = scene.client();
      const browser = new Browser();
      const person = await signInWith(client, scene, browser);
      const leave = await client.endSessionUrl(person.idToken);
      assert.equal(await browser.visit(leave!, scene.farewell, TYPED), scene.farewell);
      const [token, ...more] = scene.logoutTokens;
      assert.equal(more.length, 0);
      const { sub, sid, iat, jti } = await client.readLogoutToken(token!);
      assert.deepEqual([sub, sid], [person.sub, person.sid]);
      assert.ok(Math.abs(iat - Date.now() / 1000) < 60 && jti.length > 10);

      assert.equal((await refusal(client.readLogoutToken(person.idToken)))[0], "wrong_token");
      const other = scene.client({ clientId: "another" });
      assert.equal((await refusal(other.readLogoutToken(token!)))[0], "wrong_audience");
      scene.advance(400_000);
      assert.equal((await refusal(client.readLogoutToken(token!)))[0], "expired");
    }),
});

Deno.test({
  name: `the client follows new keys of the provider, and comes back after the provider was down ${NEEDS}`,
  ignore: IS_MISSING,
  fn: async () => {
    const [first, second] = [await newKey("first", "RS256"), await newKey("second", "RS256")];
    await withScene({ keys: [first] }, async (scene) => {
      const client = scene.client();
      const { idToken } = await signInWith(client, scene);
      await scene.restart([second, first]);
      scene.advance(11_000);
      const header = (token: string) => JSON.parse(atob(token.split(".")[0]!.replaceAll("-", "+")));
      const renewed = await signInWith(client, scene);
      assert.deepEqual([header(idToken).kid, header(renewed.idToken).kid], ["first", "second"]);

      const { url, kept } = await client.begin();
      const callback = await new Browser().visit(url, scene.redirectUri, TYPED);
      await scene.provider.stop();
      const [reason, message] = await refusal(client.finish(callback, kept));
      assert.equal(reason, "provider_unavailable");
      assert.match(message, /^The identity provider at 127\.0\.0\.1:\d+ cannot be reached: .*refused/);
    });
  },
});
