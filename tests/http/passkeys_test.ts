/** Users' passkeys over HTTP: made, used to sign in, removed; replays, clones, other users, and altered rows. */
import assert from "node:assert/strict";
import { type Harness, type RequestOptions, withHarness } from "../harness.ts";
import {
  addPasskeyTo,
  linkRequest,
  PASSKEY_ORIGIN,
  registrationRequest,
  signInRequest,
} from "../passkeying.ts";
import { storedEvents } from "../scenario.ts";
import type { SignedIn } from "../../src/operations/users/sign_in.ts";
import { cookieIn } from "../examples.ts";
import { provided, signedInUser, type TestUser } from "../signing_in.ts";
import { SoftwareAuthenticator } from "../software_authenticator.ts";

const MINUTE = 60_000;

function passkeyTest(name: string, test: (harness: Harness, key: string) => Promise<void>): void {
  Deno.test(
    name,
    withHarness(async (harness) => await test(harness, await harness.organization("acme")), {
      baseUrl: PASSKEY_ORIGIN,
    }),
  );
}

function headersOf({ cookie }: TestUser): Readonly<Record<string, string>> {
  return { Cookie: cookie, Origin: PASSKEY_ORIGIN };
}

async function userWithPasskey(harness: Harness) {
  const user = await signedInUser(harness, { orgId: "acme", role: "officer" });
  const authenticator = new SoftwareAuthenticator(PASSKEY_ORIGIN);
  const id = await addPasskeyTo(harness, authenticator, headersOf(user));
  return { user, authenticator, id };
}

function signIn({ send }: Harness, request: RequestOptions) {
  return send("/v1/sign-in/passkey", request);
}

passkeyTest("a user adds a passkey, signs in with it, and removes it", async (harness) => {
  const { user, authenticator, id } = await userWithPasskey(harness);
  const signedIn = await signIn(harness, await signInRequest(harness, authenticator));
  assert.equal(signedIn.status, 200, signedIn.text);
  assert.deepEqual([signedIn.body.user.user_id, signedIn.body.session.method], [user.userId, "passkey"]);
  const list = async () => (await harness.send("/v1/me/passkeys", { headers: headersOf(user) })).body;
  const [listed] = (await list()).passkeys;
  assert.deepEqual([listed.passkey_id, listed.name], [id, "work laptop"]);
  assert.ok(listed.used_at !== null);
  const removed = await harness.send(`/v1/me/passkeys/${id}`, { method: "DELETE", headers: headersOf(user) });
  assert.equal(removed.status, 200, removed.text);
  assert.equal((await list()).count, 0);
  assert.equal((await signIn(harness, await signInRequest(harness, authenticator))).status, 401);
  const types = (await storedEvents(harness, "org/acme/admin")).map(({ type }) => type);
  assert.deepEqual(types.slice(-3), ["USER_PASSKEY_ADDED", "USER_SIGNED_IN", "USER_PASSKEY_REMOVED"]);
});

passkeyTest("an invited user takes a passkey in place of a password", async (harness, key) => {
  const body = { email: "ada@acme.example", name: "Ada", role: "viewer" };
  const { link } = (await harness.send("/v1/users", { key, body })).body;
  const token = link.split("#")[1];
  const authenticator = new SoftwareAuthenticator(PASSKEY_ORIGIN);
  const used = await harness.send("/v1/sign-in/link/use", await linkRequest(harness, authenticator, token));
  assert.equal(used.status, 200, used.text);
  assert.deepEqual([used.body.user.state, used.body.user.has_password], ["active", false]);
  assert.equal((await signIn(harness, await signInRequest(harness, authenticator))).status, 200);
  const both = await harness.send("/v1/sign-in/link/use", {
    body: { token, password: "correct horse battery" },
  });
  assert.equal(both.status, 404, "the link is used up");
});

passkeyTest("the use of a new link ends every other way in", async (harness, key) => {
  const body = { email: "ada@acme.example", name: "Ada", role: "viewer" };
  const { user_id, link } = (await harness.send("/v1/users", { key, body })).body;
  const renew = async () =>
    (await harness.send(`/v1/users/${user_id}/link`, { method: "POST", key })).body.link.split("#")[1];
  const use = async (request: RequestOptions) => {
    const used = await harness.send("/v1/sign-in/link/use", request);
    assert.equal(used.status, 200, used.text);
    return cookieIn(used.headers);
  };
  const withPassword = async (password: string) =>
    (await harness.send("/v1/sign-in", { body: { email: body.email, password } })).status;
  const isOpen = async (cookie: string) =>
    (await harness.send("/v1/me", { headers: { Cookie: cookie, Origin: PASSKEY_ORIGIN } })).status === 200;

  const thief = await use({ body: { token: link.split("#")[1], password: "the password of a thief" } });
  const [first, second] = [
    new SoftwareAuthenticator(PASSKEY_ORIGIN),
    new SoftwareAuthenticator(PASSKEY_ORIGIN),
  ];
  const own = await use(await linkRequest(harness, first, await renew()));
  assert.deepEqual([await isOpen(thief), await isOpen(own)], [false, true]);
  assert.equal(await withPassword("the password of a thief"), 401);
  await use(await linkRequest(harness, second, await renew()));
  assert.deepEqual([await isOpen(own)], [false]);
  assert.equal(
    (await signIn(harness, await signInRequest(harness, first))).status,
    401,
    "the first device was lost",
  );
  assert.equal((await signIn(harness, await signInRequest(harness, second))).status, 200);
  await use({ body: { token: await renew(), password: "a password of one's own" } });
  assert.equal((await signIn(harness, await signInRequest(harness, second))).status, 401);
  assert.equal(await withPassword("a password of one's own"), 200);
});

passkeyTest("whom an identity provider signs in can have no passkey", async (harness) => {
  const { token, user } = await provided(harness, {}) as SignedIn;
  const headers = { Cookie: `jiss_session=${token}`, Origin: PASSKEY_ORIGIN };
  const request = await registrationRequest(harness, new SoftwareAuthenticator(PASSKEY_ORIGIN), headers);
  const refused = await harness.send("/v1/me/passkeys", request);
  assert.deepEqual([refused.status, refused.body.error.code], [409, "CONFLICT"], refused.text);
  assert.equal(user.issuer, "https://idp.example");
});

passkeyTest(
  "a user with a passkey alone signs in again after being disabled and enabled",
  async (harness, key) => {
    const invitation = { email: "ada@acme.example", name: "Ada", role: "viewer" };
    const { user_id, link } = (await harness.send("/v1/users", { key, body: invitation })).body;
    const authenticator = new SoftwareAuthenticator(PASSKEY_ORIGIN);
    await harness.send("/v1/sign-in/link/use", await linkRequest(harness, authenticator, link.split("#")[1]));
    const statuses: number[] = [];
    for (const disabled of [true, false]) {
      const body = { name: "Ada", role: "viewer", disabled };
      const { status, text } = await harness.send(`/v1/users/${user_id}`, { key, method: "PUT", body });
      assert.equal(status, 200, text);
      statuses.push((await signIn(harness, await signInRequest(harness, authenticator))).status);
    }
    assert.deepEqual(statuses, [401, 200]);
  },
);

passkeyTest("an answer is taken once, in its browser, within five minutes", async (harness) => {
  const { authenticator } = await userWithPasskey(harness);
  const request = await signInRequest(harness, authenticator);
  assert.equal((await signIn(harness, request)).status, 200);
  const replayed = await signIn(harness, request);
  assert.deepEqual([replayed.status, replayed.body.error.code], [422, "VALIDATION_FAILED"]);
  const { headers: _, ...withoutCookie } = await signInRequest(harness, authenticator);
  assert.equal((await signIn(harness, withoutCookie)).status, 422);
  const late = await signInRequest(harness, authenticator);
  harness.clock.advance(5 * MINUTE);
  assert.equal((await signIn(harness, late)).status, 422);
  const [one, other] = [
    await signInRequest(harness, authenticator),
    await signInRequest(harness, authenticator),
  ];
  const crossed = await signIn(harness, { ...one, headers: other.headers! });
  assert.equal(crossed.status, 401, "the challenge of another ceremony");
});

passkeyTest(
  "a clone's counter, an unknown passkey and a disabled user get the same refusal",
  async (harness, key) => {
    const { user, authenticator } = await userWithPasskey(harness);
    assert.equal((await signIn(harness, await signInRequest(harness, authenticator))).status, 200);
    authenticator.credentials[0]!.counter = 0;
    const refusal = async (request: RequestOptions) => {
      const { status, body } = await signIn(harness, request);
      const { request_id: _id, timestamp: _at, ...error } = body.error;
      return { status, error };
    };
    const cloned = await refusal(await signInRequest(harness, authenticator));
    assert.equal(cloned.status, 401);
    const stranger = new SoftwareAuthenticator(PASSKEY_ORIGIN);
    const other = await signedInUser(harness, { orgId: "acme", role: "viewer" });
    await registrationRequest(harness, stranger, headersOf(other));
    assert.deepEqual(await refusal(await signInRequest(harness, stranger)), cloned);
    authenticator.credentials[0]!.counter = 10;
    const change = { name: "N", role: "officer", disabled: true };
    await harness.send(`/v1/users/${user.userId}`, { method: "PUT", key, body: change });
    assert.deepEqual(await refusal(await signInRequest(harness, authenticator)), cloned);
  },
);

passkeyTest("a passkey is one user's: nobody else can register, list or remove it", async (harness) => {
  const { authenticator, id } = await userWithPasskey(harness);
  const other = await signedInUser(harness, { orgId: "acme", role: "admin" });
  const request = await registrationRequest(
    harness,
    new SoftwareAuthenticator(PASSKEY_ORIGIN),
    headersOf(other),
  );
  const body = request.body as { name: string; registration: { id: string } };
  const stolen = { ...body, registration: { ...body.registration, id } };
  assert.equal((await harness.send("/v1/me/passkeys", { ...request, body: stolen })).status, 422);
  const removed = await harness.send(`/v1/me/passkeys/${id}`, {
    method: "DELETE",
    headers: headersOf(other),
  });
  assert.equal(removed.status, 404);
  assert.equal((await signIn(harness, await signInRequest(harness, authenticator))).status, 200);
});

passkeyTest("a passkey whose key was altered in the file opens nothing", async (harness) => {
  const { authenticator } = await userWithPasskey(harness);
  const request = await signInRequest(harness, authenticator);
  const [row] = await harness.database.read<{ public_key: Uint8Array }>(
    { sql: "SELECT public_key FROM passkey", parameters: [], query: {} as never, queryId: {} as never },
  );
  const set = (key: Uint8Array) =>
    harness.database.batch([{ sql: "UPDATE passkey SET public_key = ?", parameters: [key] }]);
  await set(row!.public_key.with(70, row!.public_key[70]! ^ 1));
  assert.equal((await signIn(harness, request)).status, 503);
  await set(row!.public_key);
});

Deno.test(
  "at an address without a name, or on plain HTTP, there are no passkeys, and the refusal says why",
  withHarness(async (harness) => {
    await harness.organization("acme");
    const answer = await harness.send("/v1/sign-in/passkey/options", { method: "POST" });
    assert.deepEqual([answer.status, answer.body.error.code], [501, "NOT_IMPLEMENTED"]);
    assert.match(answer.body.error.message, /JISS_BASE_URL/);
  }),
);
