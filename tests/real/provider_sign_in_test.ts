/**
 * The whole program with a real OpenID provider: people sign in, get the role of the map, are signed out by either side, and
 * go on while the provider is down.
 */
import assert from "node:assert/strict";
import { CLIENT } from "../openid.ts";
import { Browser, providerIsMissing } from "./openid_provider.ts";
import { eventually } from "../webhook_program.ts";
import { OFFICER, type Scene, TYPED, withScene } from "./provider_scene.ts";

const NEEDS = "[needs Node and oidc-provider]";
function sceneTest(
  name: string,
  run: (scene: Scene) => Promise<void>,
  person?: Record<string, unknown>,
): void {
  Deno.test({ name: `${name} ${NEEDS}`, ignore: providerIsMissing(), fn: () => withScene(run, { person }) });
}

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

sceneTest(
  "a person signs in with the role of the map, is the same user the next time, and the chain says so",
  async ({ service, key, signIn, me, restart }) => {
    const browser = new Browser();
    await signIn(browser);
    const first: Json = (await me(browser)).body;
    assert.deepEqual([first.user.role, first.user.email, first.user.name, first.user.has_password], [
      "officer",
      "ada@acme.example",
      "Ada Ruiz",
      false,
    ]);
    assert.equal(first.session.method, "oidc");
    await restart({ ...OFFICER, groups: ["jiss-admins"] });
    const again = new Browser();
    await signIn(again);
    const second: Json = (await me(again)).body;
    assert.deepEqual([second.user.user_id, second.user.role], [first.user.user_id, "admin"]);
    const log: Json = (await service.send("/v1/admin/audit-log?limit=100", { key })).body;
    const events = log.events.map(({ event_type, actor }: Json) => [event_type, actor]).toReversed();
    assert.deepEqual(events.filter(([type]: Json) => /^USER/.test(type)), [
      ["USER_PROVIDED", "system"],
      ["USER_SIGNED_IN", "user"],
      ["USER_CHANGED", "system"],
      ["USER_SIGNED_IN", "user"],
    ]);
  },
);

sceneTest(
  "an invited user whose address the provider has verified is that user, not a second one",
  async ({ service, key, signIn, me }) => {
    const invited: Json = (await service.send("/v1/users", {
      key,
      method: "POST",
      body: { email: "ada@acme.example", name: "Ada as invited", role: "viewer" },
    })).body;
    const browser = new Browser();
    await signIn(browser);
    const { user }: Json = (await me(browser)).body;
    assert.deepEqual([user.user_id, user.name, user.role], [invited.user_id, "Ada as invited", "officer"]);
  },
);

sceneTest(
  "an address that nobody verified binds to no invited user",
  async ({ service, key, signIn, me }) => {
    const invited: Json = (await service.send("/v1/users", {
      key,
      method: "POST",
      body: { email: "ada@acme.example", name: "Ada as invited", role: "admin" },
    })).body;
    const browser = new Browser();
    await signIn(browser);
    const { user }: Json = (await me(browser)).body;
    assert.notEqual(user.user_id, invited.user_id);
    assert.deepEqual([user.email, user.role], [null, "officer"]);
  },
  { ...OFFICER, email_verified: false },
);

sceneTest(
  "a person whom no rule matches does not get in, and a disabled user neither",
  async ({ service, key, signIn, me, restart }) => {
    const browser = new Browser();
    await assert.rejects(signIn(browser), /gives you a role here/);
    assert.equal((await me(browser)).status, 401);
    await restart(OFFICER);
    const known = new Browser();
    await signIn(known);
    const { user }: Json = (await me(known)).body;
    await restart({ ...OFFICER, groups: ["others"] });
    await assert.rejects(signIn(new Browser()), /gives you a role here/);
    const refused = await eventually(
      async () =>
        (await service.send("/v1/admin/audit-log?event_type=AUTH_FAIL_SIGN_IN", { key })).body as Json,
      ({ events }) => events.length > 0,
    );
    assert.equal(refused.events[0].detail.user_id, user.user_id, "the organization sees who was refused");
    await restart(OFFICER);
    await service.send(`/v1/users/${user.user_id}`, {
      key,
      method: "PUT",
      body: { name: "N", role: "admin", disabled: true },
    });
    assert.equal((await me(known)).status, 401);
    await assert.rejects(signIn(new Browser()), /may not sign in/);
  },
  { name: "Nobody", groups: ["others"] },
);

sceneTest(
  "while the provider is down, who is signed in stays so, the API answers, and the message is clear",
  async ({ service, key, provider, signIn, me, restart }) => {
    const browser = new Browser();
    await signIn(browser);
    await provider.stop();
    assert.equal((await me(browser)).status, 200);
    assert.equal((await service.send("/v1/organization/dashboard", { key })).status, 200);
    const page = await fetch(`${service.url}/sign-in/oidc/callback?code=x&state=y`, { redirect: "manual" });
    assert.equal(page.status, 403);
    await page.body?.cancel();
    const begun = await fetch(`${service.url}/sign-in/oidc`, {
      redirect: "manual",
      headers: { Accept: "text/html" },
    });
    const text = await begun.text();
    // The metadata are remembered for a while: the browser is sent there and finds nothing, or is told so here.
    assert.ok(begun.status === 303 || (begun.status === 503 && /cannot be reached/.test(text)), text);
    await restart();
    await signIn(new Browser());
  },
);

sceneTest(
  "a callback is refused without its cookie, with another one, twice, and with a return address of others",
  async ({ service, signIn }) => {
    const base = service.url;
    const browser = new Browser();
    await signIn(browser);
    const begin = async () => {
      const answer = await fetch(`${base}/sign-in/oidc`, { redirect: "manual" });
      await answer.body?.cancel();
      return {
        cookie: answer.headers.getSetCookie()[0]!.split(";")[0]!,
        attributes: answer.headers.getSetCookie()[0]!,
        state: new URL(answer.headers.get("Location")!).searchParams.get("state")!,
      };
    };
    const mine = await begin();
    const other = await begin();
    assert.match(mine.attributes, /; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
    const back = async (query: string, cookie?: string) => {
      const answer = await fetch(`${base}/sign-in/oidc/callback?${query}`, {
        redirect: "manual",
        headers: cookie === undefined ? {} : { Cookie: cookie },
      });
      return {
        status: answer.status,
        text: await answer.text(),
        cookies: answer.headers.getSetCookie(),
        location: answer.headers.get("Location"),
      };
    };
    const rows: readonly (readonly [string, string, string | undefined])[] = [
      ["no cookie", `code=x&state=${mine.state}`, undefined],
      ["the cookie of another sign-in", `code=x&state=${mine.state}`, other.cookie],
      ["a tampered cookie", `code=x&state=${mine.state}`, `${mine.cookie.slice(0, -2)}xx`],
      ["an invented code", `code=x&state=${mine.state}`, mine.cookie],
      ["a return address", `code=x&state=${other.state}&return_to=https://evil.example`, other.cookie],
      ["a session in place of the state", `code=x&state=${mine.state}`, browser.cookie],
    ];
    for (const [name, query, cookie] of rows) {
      const answer = await back(query, cookie);
      assert.equal(answer.status, 403, `${name}: ${answer.text}`);
      assert.equal(answer.location, null, name);
      assert.ok(answer.cookies.every((set) => !/session=[^;]/.test(set)), name);
    }
  },
);

sceneTest(
  "signing out names the provider's page, and a logout there ends the session here",
  async ({ service, signIn, me }) => {
    const browser = new Browser();
    await signIn(browser);
    const signedOut = await fetch(`${service.url}/v1/sign-out`, {
      method: "POST",
      headers: { Cookie: browser.cookie, Origin: service.url },
    });
    const { provider_logout_url: url }: Json = await signedOut.json();
    assert.equal(new URL(url).searchParams.get("client_id"), CLIENT);
    assert.equal((await me(browser)).status, 401);
    await signIn(browser);
    const other = new Browser();
    await signIn(other);
    assert.equal((await me(browser)).status, 200);
    await browser.visit(url, `${service.url}/console`, TYPED);
    // The provider calls the service beside its answer to the browser.
    for (let wait = 0; wait < 100 && (await me(browser)).status === 200; wait += 1) {
      await new Promise((resume) => setTimeout(resume, 50));
    }
    assert.equal((await me(browser)).status, 401);
    assert.equal((await me(other)).status, 200, "another session of the person goes on");
    const forged = await fetch(`${service.url}/sign-in/oidc/back-channel-logout`, {
      method: "POST",
      body: new URLSearchParams({ logout_token: "eyJhbGciOiJub25lIn0.e30." }),
    });
    assert.equal(forged.status, 403);
    await forged.body?.cancel();
  },
);
