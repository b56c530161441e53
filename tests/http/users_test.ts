/**
 * Users: invited, changed, disabled and erased; signing in with a password and with one-time links; sessions and their
 * cookies; who may make which call; and what a page of another origin, an altered row and a put-back one meet.
 */
import assert from "node:assert/strict";
import { isGranted, type Role, ROLES } from "../../src/domain/access.ts";
import { USER_RECORD_EVENTS } from "../../src/domain/audit_events.ts";
import type { Route } from "../../src/http/exchange.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { Upkeep } from "../../src/operations/installation/upkeep.ts";
import { rowsOf } from "../earlier_schema.ts";
import { cookieIn, filledBody, fillExamples, pathOf, targetOf } from "../examples.ts";
import {
  type Answer,
  type Harness,
  MASTER_SECRETS,
  openHarness,
  OWN_ORIGIN,
  type RequestOptions,
  scoreRequest,
  withHarness,
} from "../harness.ts";
import { refuses, storedEvents, storedText } from "../scenario.ts";
import { provided, signedInUser, type TestUser } from "../signing_in.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const PASSWORD = "correct horse battery";

function userTest(
  name: string,
  test: (harness: Harness, key: string) => Promise<void>,
  options: Parameters<typeof withHarness>[1] = {},
): void {
  Deno.test(
    name,
    withHarness(async (harness) => await test(harness, await harness.organization("acme")), options),
  );
}

/** A request as a page of the service makes it with a session. */
function as({ cookie }: Pick<TestUser, "cookie">, options: RequestOptions = {}): RequestOptions {
  return {
    ...options,
    headers: { Cookie: cookie, Origin: OWN_ORIGIN, "Sec-Fetch-Site": "same-origin", ...options.headers },
  };
}

interface Invited {
  readonly userId: string;
  readonly token: string;
}

async function invite(
  { send }: Harness,
  key: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Invited> {
  const body = { email: "ada@acme.example", name: "Ada Ruiz", role: "officer", ...fields };
  const answer = await send("/v1/users", { key, body });
  assert.equal(answer.status, 201, answer.text);
  assert.match(answer.body.link, /^http:\/\/jiss\.test\/console\/link#usr_/);
  return { userId: answer.body.user_id, token: answer.body.link.split("#")[1] };
}

function useLink({ send }: Harness, token: string, password = PASSWORD): Promise<Answer> {
  return send("/v1/sign-in/link/use", { body: { token, password } });
}

function signIn({ send }: Harness, fields: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
  const body = { email: "ada@acme.example", password: PASSWORD, ...fields };
  return send("/v1/sign-in", { body, headers: { "User-Agent": "Testbrowser/1" } });
}

async function statusOfMe({ send }: Harness, cookie: string): Promise<number> {
  return (await send("/v1/me", as({ cookie }))).status;
}

// ---- the way in -------------------------------------------------------------------------------------------

userTest(
  "an invited user sets a password with the link, once, and signs in with it",
  async (harness, key) => {
    const { userId, token } = await invite(harness, key, { email: " Ada@ACME.example " });
    const opened = await harness.send("/v1/sign-in/link", { body: { token } });
    assert.equal(opened.status, 200, opened.text);
    const { purpose, organization, email, name } = opened.body;
    assert.deepEqual([purpose, organization, email, name], [
      "set_password",
      { id: "acme", name: "Organization acme" },
      "ada@acme.example",
      "Ada Ruiz",
    ]);
    assert.equal((await signIn(harness)).status, 401, "there is no password yet");
    const used = await useLink(harness, token);
    assert.equal(used.status, 200, used.text);
    assert.equal(used.body.user.state, "active");
    assert.equal(await statusOfMe(harness, cookieIn(used.headers)), 200);
    for (const path of ["/v1/sign-in/link", "/v1/sign-in/link/use"]) {
      const again = await harness.send(path, { body: { token, password: "another password" } });
      assert.deepEqual([again.status, again.body.error.code], [404, "NOT_FOUND"], path);
    }
    const signedIn = await signIn(harness);
    assert.equal(signedIn.status, 200, signedIn.text);
    const cookie = cookieIn(signedIn.headers);
    const { body } = await harness.send("/v1/me", as({ cookie }));
    assert.deepEqual([body.user.user_id, body.user.role, body.organization.id], [userId, "officer", "acme"]);
    assert.deepEqual([body.session.method, body.session.agent], ["password", "Testbrowser/1"]);
    assert.equal(body.minimum_jis, 60);
    const types = (await storedEvents(harness, "org/acme/admin")).map(({ type, actor }) => [type, actor]);
    assert.deepEqual(types.filter(([type]) => /^USER/.test(type!)), [
      ["USER_INVITED", "self_serve"],
      ["USER_PASSWORD_SET", "user"],
      ["USER_SIGNED_IN", "user"],
      ["USER_SIGNED_IN", "user"],
    ]);
    const stored = await storedText(harness);
    for (const secret of [PASSWORD, token.split(".")[1]!, cookie.split("=")[1]!]) {
      assert.ok(!stored.includes(secret));
    }
  },
);

userTest(
  "the cookie is for this host, scripts and other sites do not get it, and it ends with the session",
  async (harness, key) => {
    const { token } = await invite(harness, key);
    const { headers } = await useLink(harness, token);
    const [cookie] = headers.getSetCookie();
    assert.match(
      cookie!,
      /^jiss_session=[A-Za-z0-9_-]{64}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    assert.equal(headers.get("Cache-Control"), "no-store");
  },
);

userTest(
  "over TLS the cookie is Secure and has the prefix of its host; one without it opens nothing",
  async (harness, key) => {
    const { token } = await invite(harness, key);
    const { headers } = await useLink(harness, token);
    const [cookie] = headers.getSetCookie();
    assert.match(cookie!, /^__Host-jiss_session=[A-Za-z0-9_-]{64}; .*; Secure; SameSite=Strict$/);
    assert.equal(await statusOfMe(harness, cookieIn(headers)), 200);
    assert.equal(await statusOfMe(harness, cookieIn(headers).replace("__Host-", "")), 401);
  },
  { servesTls: true },
);

userTest(
  "a wrong password, an unknown address, another organization and a disabled user get the same refusal",
  async (harness, key) => {
    await harness.organization("other");
    const { userId, token } = await invite(harness, key);
    await useLink(harness, token);
    const refusal = (
      { status, headers, body: { error: { request_id: _id, timestamp: _at, ...error } } }: Answer,
    ) => ({
      status,
      cookies: headers.getSetCookie(),
      error,
    });
    const first = refusal(await signIn(harness, { password: "a wrong password" }));
    assert.equal(first.status, 401);
    assert.deepEqual(first.cookies, []);
    const rows = [
      { email: "nobody@acme.example" },
      { organization: "other" },
      { organization: "no-such-organization" },
      { email: "", password: "x" },
    ];
    for (const row of rows) assert.deepEqual(refusal(await signIn(harness, row)), first, JSON.stringify(row));
    assert.equal((await signIn(harness, { organization: "acme" })).status, 200);
    await harness.send(`/v1/users/${userId}`, {
      method: "PUT",
      key,
      body: { name: "N", role: "admin", disabled: true },
    });
    assert.deepEqual(refusal(await signIn(harness)), first);
    harness.flushBreaches(harness.clock.now(), { isLast: true });
    await harness.rowCounts();
    const failures = (await storedEvents(harness, "org/acme/admin")).filter(({ type }) =>
      type === "AUTH_FAIL_SIGN_IN"
    );
    assert.deepEqual(new Set(failures.map(({ detail }) => detail.user_id)), new Set([userId, null]));
    const unknown = (await storedEvents(harness, "sys")).filter(({ type }) => type === "AUTH_FAIL_SIGN_IN");
    assert.deepEqual(unknown.map(({ detail }) => detail.address), ["203.0.113.7"]);
  },
);

userTest(
  "attempts are limited for each user and address, whether or not the user exists, and later ones are admitted",
  async (harness, key) => {
    const { token } = await invite(harness, key);
    await useLink(harness, token);
    for (const email of ["ada@acme.example", "nobody@acme.example"]) {
      for (let attempt = 1; attempt <= 10; attempt += 1) {
        assert.equal(
          (await signIn(harness, { email, password: "wrong" })).status,
          401,
          `${email} ${attempt}`,
        );
      }
      const refused = await signIn(harness, { email });
      assert.deepEqual([refused.status, refused.body.error.code], [429, "RATE_LIMITED"], email);
      assert.ok(Number(refused.headers.get("Retry-After")) > 1);
    }
    harness.clock.advance(15 * MINUTE);
    assert.equal((await signIn(harness)).status, 200);
  },
);

userTest("a link ends after 72 hours, with the next one, and with its user", async (harness, key) => {
  const { userId, token } = await invite(harness, key);
  const next = async () => {
    const { body, text } = await harness.send(`/v1/users/${userId}/link`, { method: "POST", key });
    assert.ok(body.link, text);
    return body.link.split("#")[1] as string;
  };
  const second = await next();
  assert.equal((await useLink(harness, token)).status, 404);
  harness.clock.advance(72 * HOUR);
  assert.equal((await useLink(harness, second)).status, 404);
  const third = await next();
  harness.clock.advance(72 * HOUR - 1);
  assert.equal((await harness.send("/v1/sign-in/link", { body: { token: third } })).status, 200);
  await harness.send(`/v1/users/${userId}`, {
    method: "PUT",
    key,
    body: { name: "N", role: "admin", disabled: true },
  });
  assert.equal((await useLink(harness, third)).status, 404);
  const refused = await harness.send(`/v1/users/${userId}/link`, { method: "POST", key });
  assert.equal(refused.status, 409);
  for (const bad of ["", "usr_x", `${token}x`, token.replace(/.$/, (last) => last === "A" ? "B" : "A")]) {
    assert.equal((await useLink(harness, bad)).status, 404, bad);
  }
});

userTest("two uses of a link at once: one signs in", async (harness, key) => {
  const { token } = await invite(harness, key);
  const answers = await Promise.all([useLink(harness, token), useLink(harness, token, "another password")]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404]);
});

// ---- sessions ---------------------------------------------------------------------------------------------

userTest(
  "a session ends after 30 minutes without a request, and after 12 hours in any case",
  async (harness, _key) => {
    const idle = await signedInUser(harness, { orgId: "acme", role: "viewer" });
    const busy = await signedInUser(harness, { orgId: "acme", role: "viewer" });
    harness.clock.advance(30 * MINUTE - 1);
    assert.equal(await statusOfMe(harness, busy.cookie), 200);
    await harness.rowCounts();
    harness.clock.advance(1);
    assert.deepEqual([await statusOfMe(harness, idle.cookie), await statusOfMe(harness, busy.cookie)], [
      401,
      200,
    ]);
    // Until one millisecond before the end.
    for (let passed = 30; passed < 12 * 60 - 20; passed += 20) {
      harness.clock.advance(20 * MINUTE);
      await harness.rowCounts();
      assert.equal(await statusOfMe(harness, busy.cookie), 200, `${passed} minutes`);
    }
    harness.clock.advance(20 * MINUTE);
    assert.equal(await statusOfMe(harness, busy.cookie), 401);
    await new Upkeep(harness.dependencies).run(harness.clock.now());
    assert.deepEqual(await rowsOf(harness.database, "SELECT * FROM user_session"), []);
  },
);

userTest("signing out ends the session, and takes the cookie back", async (harness, _key) => {
  const user = await signedInUser(harness, { orgId: "acme", role: "viewer" });
  const answer = await harness.send("/v1/sign-out", as(user, { method: "POST" }));
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.headers.getSetCookie()[0]!, /^jiss_session=; Max-Age=0; Path=\//);
  const ended = await harness.send("/v1/me", as(user));
  assert.deepEqual([ended.status, /sign in again/.test(ended.body.error.message)], [401, true]);
});

userTest(
  "one's sessions are listed and ended one by one or all; those of others are not found",
  async (harness, key) => {
    const { userId, token } = await invite(harness, key);
    const first = cookieIn((await useLink(harness, token)).headers);
    harness.clock.advance(MINUTE);
    const second = cookieIn((await signIn(harness)).headers);
    const other = await signedInUser(harness, { orgId: "acme", role: "admin" });
    const { body } = await harness.send("/v1/me/sessions", as({ cookie: second }));
    assert.deepEqual(
      body.sessions.map((one: { method: string; is_current: boolean }) => [one.method, one.is_current]),
      [
        ["link", false],
        ["password", true],
      ],
    );
    const end = (id: string) =>
      harness.send(`/v1/me/sessions/${id}`, as({ cookie: second }, { method: "DELETE" }));
    assert.equal((await end(other.sessionId)).status, 404);
    assert.equal((await end(body.sessions[0].session_id)).status, 200);
    assert.deepEqual([await statusOfMe(harness, first), await statusOfMe(harness, second)], [401, 200]);
    const third = cookieIn((await signIn(harness)).headers);
    const all = await harness.send("/v1/me/sessions", as({ cookie: third }, { method: "DELETE" }));
    assert.deepEqual([all.status, all.body.ended], [200, 2]);
    assert.deepEqual([await statusOfMe(harness, second), await statusOfMe(harness, third)], [401, 401]);
    const fourth = cookieIn((await signIn(harness)).headers);
    const byAdmin = await harness.send(`/v1/users/${userId}/sessions`, as(other, { method: "DELETE" }));
    assert.deepEqual([byAdmin.status, byAdmin.body.ended], [200, 1]);
    assert.deepEqual([await statusOfMe(harness, fourth), await statusOfMe(harness, other.cookie)], [
      401,
      200,
    ]);
  },
);

userTest(
  "a new password ends all other sessions; a wrong present one changes nothing",
  async (harness, key) => {
    const { token } = await invite(harness, key);
    const first = cookieIn((await useLink(harness, token)).headers);
    const second = cookieIn((await signIn(harness)).headers);
    const change = (current_password: string, new_password: string) =>
      harness.send("/v1/me/password", as({ cookie: second }, { body: { current_password, new_password } }));
    const wrong = await change("a wrong password", "a new password of ada");
    assert.deepEqual([wrong.status, wrong.body.error.details[0].path], [422, "current_password"]);
    assert.equal((await change(PASSWORD, "short")).status, 422);
    const changed = await change(PASSWORD, "a new password of ada");
    assert.equal(changed.status, 200, changed.text);
    const third = cookieIn(changed.headers);
    const statuses = await Promise.all([first, second, third].map((cookie) => statusOfMe(harness, cookie)));
    assert.deepEqual(statuses, [401, 401, 200]);
    assert.equal((await signIn(harness)).status, 401);
    assert.equal((await signIn(harness, { password: "a new password of ada" })).status, 200);
  },
);

userTest("the twenty-first session of a user ends the oldest", async (harness, key) => {
  const { token } = await invite(harness, key);
  const first = cookieIn((await useLink(harness, token)).headers);
  for (let count = 0; count < 20; count += 1) {
    harness.clock.advance(2 * MINUTE);
    const { status, text } = await signIn(harness);
    assert.equal(status, 200, text);
  }
  const open = await rowsOf(harness.database, "SELECT * FROM user_session");
  assert.equal(open.length, 20);
  assert.equal(await statusOfMe(harness, first), 401);
});

userTest(
  "a session that was ended is refused, also if its row is put back with its seal",
  async (harness, _key) => {
    const user = await signedInUser(harness, { orgId: "acme", role: "admin" });
    const [row] = await rowsOf(harness.database, "SELECT * FROM user_session");
    await harness.send("/v1/sign-out", as(user, { method: "POST" }));
    const columns = Object.keys(row!);
    const sql = `INSERT INTO user_session (${columns.join(", ")}) VALUES (${
      columns.map(() => "?").join(", ")
    })`;
    await harness.database.batch([{ sql, parameters: Object.values(row!) }]);
    assert.equal(await statusOfMe(harness, user.cookie), 503);
    await harness.database.batch([{ sql: "DELETE FROM user_session", parameters: [] }]);
    assert.equal(await statusOfMe(harness, user.cookie), 401);
  },
);

/** What ends access, and the table of the row that gave it. */
const ENDINGS: readonly {
  readonly name: string;
  readonly table: string;
  /** Ends the access of a user with a session, or of a named key. */
  readonly end: (scene: { harness: Harness; key: string; user: TestUser; keyId: string }) => Promise<Answer>;
  readonly with: "session" | "named key";
}[] = [
  {
    name: "a session that was ended",
    table: "user_session",
    with: "session",
    end: ({ harness, user }) => harness.send("/v1/sign-out", as(user, { method: "POST" })),
  },
  {
    name: "a user who was disabled",
    table: "user_account",
    with: "session",
    end: ({ harness, key, user }) =>
      harness.send(`/v1/users/${user.userId}`, {
        key,
        method: "PUT",
        body: { name: "N", role: "officer", disabled: true },
      }),
  },
  {
    name: "a named key that was removed",
    table: "named_key",
    with: "named key",
    end: ({ harness, key, keyId }) => harness.send(`/v1/keys/${keyId}`, { key, method: "DELETE" }),
  },
];

for (const { name, table, end, with: means } of ENDINGS) {
  Deno.test(`${name} is refused, also if its row is put back with the head of the audit log, and nothing is written`, async () => {
    const harness = await openHarness();
    const key = await harness.organization("acme");
    const user = await signedInUser(harness, { orgId: "acme", role: "officer" });
    const made = await harness.send("/v1/keys", { key, body: { name: "N", scopes: ["read", "score"] } });
    const ask = (path: string, options: RequestOptions = {}) =>
      means === "session"
        ? harness.send(path, as(user, options))
        : harness.send(path, { ...options, key: made.body.api_key });
    assert.equal((await ask("/v1/organization/operators")).status, 200);
    const keep = (from: string) =>
      harness.database.batch([{ sql: `CREATE TABLE kept_${from} AS SELECT * FROM ${from}`, parameters: [] }]);
    await keep(table);
    await keep("audit_chain");
    const ended = await end({ harness, key, user, keyId: made.body.key_id });
    assert.equal(ended.status, 200, ended.text);
    for (const back of [table, "audit_chain"]) {
      await harness.database.batch([
        { sql: `INSERT OR REPLACE INTO ${back} SELECT * FROM kept_${back}`, parameters: [] },
      ]);
    }
    // More than once: what the first request finds must not open the way to the second.
    for (let time = 0; time < 3; time += 1) {
      const { status, text } = await ask("/v1/organization/operators");
      assert.equal(status, 503, text);
    }
    const scored = await ask("/v1/score", { body: scoreRequest() });
    assert.ok(scored.status === 503 || scored.status === 403, scored.text);
    await harness.abandon();
  });
}

Deno.test("an own key that was rotated writes nothing, also if its row is put back with the head of the audit log", async () => {
  const harness = await openHarness();
  const key = await harness.organization("acme");
  assert.equal((await harness.send("/v1/score", { key, body: scoreRequest() })).status, 200);
  for (const table of ["organization", "audit_chain"]) {
    await harness.database.batch([{
      sql: `CREATE TABLE kept_${table} AS SELECT * FROM ${table} ${
        table === "audit_chain" ? "WHERE family = 'org/acme/admin'" : ""
      }`,
      parameters: [],
    }]);
  }
  assert.equal((await harness.send("/v1/admin/key/rotate", { key, method: "POST" })).status, 200);
  for (const table of ["organization", "audit_chain"]) {
    const columns = (await rowsOf(
      harness.database,
      `SELECT name FROM pragma_table_info('${table}') WHERE name <> 'active'`,
    ))
      .map(({ name }) => name).join(", ");
    await harness.database.batch([
      {
        sql: `INSERT OR REPLACE INTO ${table} (${columns}) SELECT ${columns} FROM kept_${table}`,
        parameters: [],
      },
    ]);
  }
  const operators = () => harness.send("/v1/organization/operators", { key });
  assert.equal((await operators()).status, 503);
  for (let time = 0; time < 3; time += 1) {
    const { status, text } = await harness.send("/v1/score", {
      key,
      body: scoreRequest({ session_id: `s-${time}` }),
    });
    assert.equal(status, 503, text);
  }
  // The database was found to be put back: it is read as it is, and nothing is written.
  assert.equal((await operators()).status, 200);
  await harness.abandon();
});

userTest(
  "users come in pages, each on exactly one, and few of them without a parameter",
  async (harness, key) => {
    const ids: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      ids.push((await invite(harness, key, { email: `user-${index}@acme.example` })).userId);
      harness.clock.advance(1_000);
    }
    const list = async (query: string) => (await harness.send(`/v1/users${query}`, { key })).body;
    const idsOf = ({ users }: { users: readonly { user_id: string }[] }) =>
      users.map(({ user_id }) => user_id);
    const whole = await list("");
    assert.deepEqual([idsOf(whole), whole.count, whole.next_cursor], [ids, 7, null]);
    for (const limit of [1, 3, 6, 7, 200]) {
      const seen: string[] = [];
      let pages = 0;
      for (let cursor: string | null = ""; cursor !== null; pages += 1) {
        const page = await list(`?limit=${limit}${cursor === "" ? "" : `&cursor=${cursor}`}`);
        assert.ok(page.count === page.users.length && page.count <= limit);
        seen.push(...idsOf(page));
        // An erasure between two pages loses nobody.
        if (pages === 0 && limit === 3) {
          assert.equal((await harness.send(`/v1/users/${ids[2]}`, { method: "DELETE", key })).status, 200);
        }
        cursor = page.next_cursor;
      }
      assert.deepEqual([seen, pages], [ids, Math.ceil(7 / limit)], `limit ${limit}`);
    }
    for (
      const [query, path] of [
        ["limit=0", "limit"],
        ["limit=201", "limit"],
        ["cursor=1", "cursor"],
        [`cursor=usr_${"0".repeat(26)}`, "cursor"],
      ] as const
    ) {
      const { status, body } = await harness.send(`/v1/users?${query}`, { key });
      assert.deepEqual([status, body.error.code, body.error.details[0].path], [
        422,
        "VALIDATION_FAILED",
        path,
      ]);
    }
  },
);

userTest("a role that was altered in the file gives nobody more", async (harness, _key) => {
  const user = await signedInUser(harness, { orgId: "acme", role: "viewer" });
  const set = (role: string) =>
    harness.database.batch([{ sql: "UPDATE user_account SET role = ?", parameters: [role] }]);
  await set("admin");
  const answer = await harness.send("/v1/users", as(user));
  assert.equal(answer.status, 503, answer.text);
  await set("viewer");
  assert.equal((await harness.send("/v1/users", as(user))).status, 403);
});

userTest(
  "a tampered or invented cookie is refused as an unknown key is, and counts for the address",
  async (harness, _key) => {
    const user = await signedInUser(harness, { orgId: "acme", role: "admin" });
    const [name, value] = user.cookie.split("=") as [string, string];
    const tampered = [value.replace(/^./, (c) => c === "A" ? "B" : "A"), value.slice(0, -1), "", `${value}=`];
    for (const bad of tampered) {
      const { status, body } = await harness.send("/v1/me", as({ cookie: `${name}=${bad}` }));
      assert.deepEqual([status, body.error.code], [401, "UNAUTHORIZED"], bad);
    }
    const limited = await harness.send("/v1/me", as({ cookie: `${name}=${tampered[0]}` }));
    assert.equal(limited.status, 429, "four from this address were counted");
    assert.equal(await statusOfMe(harness, user.cookie), 200, "a session has a budget of its own");
  },
  { rateLimitIp: 4 },
);

userTest(
  "a session's requests count for it alone, and not for the address or a key",
  async (harness, key) => {
    const [one, other] = [
      await signedInUser(harness, { orgId: "acme", role: "viewer" }),
      await signedInUser(harness, { orgId: "acme", role: "viewer" }),
    ];
    const get = (user: TestUser) => harness.send("/v1/organization/dashboard", as(user));
    for (let left = 4; left >= 0; left -= 1) {
      const { status, headers } = await get(one);
      assert.deepEqual([status, headers.get("X-RateLimit-Remaining")], [200, String(left)]);
    }
    assert.deepEqual([(await get(one)).status, (await get(other)).status], [429, 200]);
    assert.equal((await harness.send("/v1/organization/dashboard", { key })).status, 200);
  },
  { rateLimitSession: 5, rateLimitIp: 2, rateLimitKey: 1 },
);

// ---- pages of others --------------------------------------------------------------------------------------

userTest(
  "a request with a cookie from another origin, or from none, changes and reads nothing",
  async (harness, _key) => {
    const { cookie } = await signedInUser(harness, { orgId: "acme", role: "admin" });
    const post = (headers: Readonly<Record<string, string>>) => ({
      method: "POST",
      headers: { Cookie: cookie, ...headers },
      body: { name: "stolen", scopes: ["read"] },
    });
    const foreign: readonly (readonly [string, RequestOptions])[] = [
      ["another origin", post({ Origin: "https://evil.example" })],
      ["another port", post({ Origin: "http://jiss.test:81" })],
      ["a file", post({ Origin: "null" })],
      ["no origin", post({})],
      [
        "another site's form, with a forged origin of no page",
        post({ Origin: OWN_ORIGIN, "Sec-Fetch-Site": "cross-site" }),
      ],
      ["another host of the domain", post({ Origin: OWN_ORIGIN, "Sec-Fetch-Site": "same-site" })],
      ["a typed address that posts", post({ Origin: OWN_ORIGIN, "Sec-Fetch-Site": "none" })],
    ];
    for (const [name, request] of foreign) {
      await refuses(harness, {
        name,
        path: "/v1/keys",
        request,
        status: 403,
        code: "FORBIDDEN",
        names: "pages of this service",
      });
    }
    const host = { Host: "jiss.inside.example" };
    for (
      const origin of [
        "ftp://jiss.inside.example",
        "http://ada@jiss.inside.example",
        "http://jiss.inside.example/x",
      ]
    ) {
      const { status } = await harness.send("/v1/keys", post({ Origin: origin, ...host }));
      assert.equal(status, 403, origin);
    }
    for (const site of ["cross-site", "same-site"]) {
      const { status } = await harness.send("/v1/users", {
        headers: { Cookie: cookie, "Sec-Fetch-Site": site },
      });
      assert.equal(status, 403, site);
    }
    const own = await harness.send("/v1/keys", post({ Origin: OWN_ORIGIN, "Sec-Fetch-Site": "same-origin" }));
    assert.equal(own.status, 201, own.text);
    const byHost = await harness.send("/v1/keys", {
      ...post({ Origin: "https://jiss.inside.example", Host: "jiss.inside.example" }),
      body: { name: "behind a proxy that ends TLS", scopes: ["read"] },
    });
    assert.equal(byHost.status, 201, byHost.text);
  },
);

userTest("another site cannot sign a browser in, and a program can", async (harness, key) => {
  const { token } = await invite(harness, key);
  const body = { token, password: PASSWORD };
  const foreign = await harness.send("/v1/sign-in/link/use", {
    body,
    headers: { Origin: "https://evil.example" },
  });
  assert.equal(foreign.status, 403);
  assert.equal((await harness.send("/v1/sign-in/link/use", { body })).status, 200);
});

userTest(
  "a key wins over a cookie, and a cookie never opens a call with a master key",
  async (harness, key) => {
    const user = await signedInUser(harness, { orgId: "acme", role: "viewer" });
    const both = await harness.send("/v1/keys", { ...as(user), key });
    assert.equal(both.status, 200, both.text);
    const bad = await harness.send("/v1/organization/dashboard", { ...as(user), key: "jis_WRONG" });
    assert.equal(bad.status, 401);
    const master = await harness.send("/v1/admin/org/acme/usage", as(user));
    assert.equal(master.status, 401);
  },
);

// ---- roles ------------------------------------------------------------------------------------------------

const OF_ORGANIZATION = ROUTES.filter(({ auth }) => auth.kind === "key");

/** Calls a route as its first example does, with names that nothing has. */
function callRoute({ send }: Harness, route: Route, options: RequestOptions): Promise<Answer> {
  const [example] = route.examples;
  return send(pathOf(route, example!.path ?? {}), {
    ...options,
    method: route.method,
    ...(route.body === null ? {} : { body: example!.body ?? {} }),
  });
}

function accessOf({ auth }: Route) {
  assert.ok(auth.kind === "key");
  return auth.access;
}

for (const role of ROLES) {
  userTest(
    `a ${role} makes the calls of the role, and is refused each other one, with nothing written`,
    async (harness, _key) => {
      const user = await signedInUser(harness, { orgId: "acme", role });
      // The first refusal is an event, and the others of its minute are counted with it.
      assert.equal((await harness.send("/v1/audit/append", as(user, { body: {} }))).status, 403);
      for (const route of OF_ORGANIZATION) {
        // The key's end is the organization's, so the calls after it would be refused for another reason.
        if (route.operationId === "postKeyRevocation" && role === "admin") continue;
        const before = await harness.rowCounts();
        const answer = await callRoute(harness, route, as(user));
        const name = `${route.operationId}: ${answer.text.slice(0, 200)}`;
        if (isGranted({ kind: "role", role }, accessOf(route))) {
          assert.ok(![401, 403].includes(answer.status), name);
          continue;
        }
        assert.deepEqual([answer.status, answer.body.error.code], [403, "FORBIDDEN"], name);
        assert.match(answer.body.error.message, new RegExp(`; your role is ${role}\\.$`), name);
        assert.deepEqual(await harness.rowCounts(), before, name);
      }
    },
  );
}

userTest(
  "what users did with records is in the audit log, beside what was done to the organization",
  async (harness, key) => {
    const { send, clock } = harness;
    for (const session of ["s-1", "s-2", "s-3"]) {
      const answer = await send("/v1/score", {
        key,
        body: scoreRequest({ session_id: session }, { outcome_correct: null }),
      });
      assert.equal(answer.status, 200, answer.text);
    }
    const [officer, admin] = [
      await signedInUser(harness, { orgId: "acme", role: "officer" }),
      await signedInUser(harness, { orgId: "acme", role: "admin" }),
    ];
    const done = async (user: TestUser, path: string, options: RequestOptions = {}) => {
      clock.advance(1_000);
      const answer = await send(path, as(user, options));
      assert.ok(answer.status < 300, answer.text);
      return answer;
    };
    await done(officer, "/v1/score/s-1/commit", { body: { outcome_correct: true } });
    await done(admin, "/v1/keys", { body: { name: "N", scopes: ["read"] } });
    const body = { probe_id: "p-1", domain: "general", stakes: "standard", ai_correct: false };
    await done(officer, "/v1/probes", { body });
    await done(officer, "/v1/probes/p-1/recall", { method: "POST" });
    await done(officer, "/v1/exercises", {
      body: { operator_id: "operator-1", exercise_id: "ex_deferral_resistance_1", domain: "financial" },
    });
    await done(officer, "/v1/compliance/report?period_start=2020-01-01&period_end=2099-01-01");
    // Not a user's: it is in the evidence alone.
    await send("/v1/score/s-2/commit", { key, body: { outcome_correct: true } });
    clock.advance(1_000);
    const ask = async (query: string) => {
      const answer = await send(`/v1/admin/audit-log?limit=500${query}`, { key });
      assert.equal(answer.status, 200, answer.text);
      return answer.body.events;
    };
    const types = (events: readonly { event_type: string }[]) => events.map(({ event_type }) => event_type);
    const by = await ask(`&user_id=${officer.userId}`);
    assert.deepEqual(types(by).filter((type) => !type.startsWith("USER_")), [
      "REPORT_ISSUED",
      "EXERCISE_SET",
      "PROBE_RECALLED",
      "PROBE_SEALED",
      "SCORE_COMMITTED",
      "OUTCOME_LABELLED",
    ]);
    const labelled = by.find(({ event_type }: { event_type: string }) => event_type === "OUTCOME_LABELLED");
    assert.deepEqual([labelled.detail, labelled.operator_id, labelled.actor], [
      { session_id: "s-1", label: true },
      "operator-1",
      "user",
    ]);
    const all = await ask("");
    assert.ok(types(all).includes("NAMED_KEY_CREATED"));
    const at = all.map(({ timestamp }: { timestamp: string }) => timestamp);
    assert.deepEqual(at, at.toSorted().toReversed());
    assert.deepEqual(types(await ask("&event_type=OUTCOME_LABELLED")), ["OUTCOME_LABELLED"]);
    const exported = await send(`/v1/admin/audit-log/export?user_id=${officer.userId}`, { key });
    const lines = exported.text.trim().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(types(lines), types(by));

    // The content of what the officer did is erased with the reviewer; that it was done is not.
    assert.equal((await send("/v1/operator/operator-1", { key, method: "DELETE" })).status, 200);
    clock.advance(1_000);
    const [gone] = await ask("&event_type=OUTCOME_LABELLED");
    assert.deepEqual([gone.detail, gone.operator_id], [null, null]);
  },
);

userTest(
  "every entry that a user makes on the evidence chain is one that the audit log shows",
  async (harness, key) => {
    const names = await fillExamples(async (path, body) => {
      const answer = await harness.send(path, { key, ...(body === undefined ? {} : { body }) });
      assert.ok(answer.status < 300, answer.text);
      return answer.body;
    }, () => harness.deliver());
    const user = await signedInUser(harness, { orgId: "acme", role: "admin" });
    for (
      const route of OF_ORGANIZATION.filter(({ auth }) =>
        isGranted({ kind: "role", role: "admin" }, accessOf({ auth } as Route))
      )
    ) {
      if (/KeyRevocation|KeyRotation|^deleteOperator/.test(route.operationId)) continue;
      for (const example of route.examples) {
        const body = filledBody(example, names);
        await harness.send(targetOf(route, example, names), {
          ...as(user, body === undefined ? {} : { body }),
          method: route.method,
        });
      }
    }
    const made = await rowsOf(
      harness.database,
      `select distinct event_type from audit_entry where chain = 'org/acme' and body ->> '$.user_id' is not null`,
    );
    const shown: readonly string[] = USER_RECORD_EVENTS;
    // The policy is on both chains, and the log has it from its own.
    const missing = made.map(({ event_type }) => String(event_type)).filter((type) => !shown.includes(type));
    assert.deepEqual(missing.filter((type) => type !== "PROBE_POLICY_CHANGED"), []);
    assert.ok(made.length >= 5, JSON.stringify(made));
  },
  { masterSecrets: MASTER_SECRETS, webhookAllow: ["127.0.0.0/8"], webhookBackoffMs: [0, 0] },
);

userTest("who was refused is in the audit log, once a minute, with how often", async (harness, key) => {
  const viewer = await signedInUser(harness, { orgId: "acme", role: "viewer" });
  const made = await harness.send("/v1/keys", { key, body: { name: "N", scopes: ["score"] } });
  for (let time = 0; time < 3; time += 1) {
    assert.equal((await harness.send("/v1/users", as(viewer))).status, 403);
    assert.equal((await harness.send("/v1/users", { key: made.body.api_key })).status, 403);
  }
  assert.equal((await harness.send("/v1/keys", as(viewer))).status, 403);
  await harness.rowCounts();
  harness.clock.advance(MINUTE);
  harness.flushBreaches(harness.clock.now());
  await harness.rowCounts();
  harness.clock.advance(1);
  const { body } = await harness.send("/v1/admin/audit-log?event_type=ACCESS_DENIED", { key });
  const told = body.events.map(({ prefix, detail, about_user_name }: Answer["body"]) => [
    prefix,
    detail,
    about_user_name,
  ]);
  const of = (name: string | null) =>
    told.filter(([prefix]: [string | null]) => (prefix === null) === (name === null));
  const { userId: user_id } = viewer;
  const shownName = of(null)[0][2];
  const [calls, more] = [["GET /v1/users"], ["GET /v1/users", "GET /v1/keys"]];
  assert.deepEqual(of(null), [
    [null, { user_id, calls: more, count: 3 }, shownName],
    [null, { user_id, calls, count: 1 }, shownName],
  ]);
  assert.match(shownName, /^viewer/);
  const { prefix } = made.body;
  assert.deepEqual(of(prefix), [[prefix, { calls, count: 2 }, undefined], [
    prefix,
    { calls, count: 1 },
    undefined,
  ]]);
  const ofUser = await harness.send(
    `/v1/admin/audit-log?event_type=ACCESS_DENIED&user_id=${user_id}`,
    { key },
  );
  assert.deepEqual(ofUser.body.events.map(({ actor }: Answer["body"]) => actor), ["user", "user"]);
});

userTest(
  "attempts to sign in take nothing from an integration behind the same address",
  async (harness, key) => {
    for (let time = 0; time < 3; time += 1) {
      await harness.send("/v1/sign-in/link", { body: { token: `usr_${"0".repeat(26)}.${"A".repeat(43)}` } });
    }
    const refused = await harness.send("/v1/sign-in/link", {
      body: { token: `usr_${"0".repeat(26)}.${"A".repeat(43)}` },
    });
    assert.equal(refused.status, 429, refused.text);
    for (let time = 0; time < 3; time += 1) {
      assert.equal((await harness.send("/v1/organization/dashboard", { key })).status, 200);
    }
  },
  { rateLimitIp: 3 },
);

userTest(
  "no call is answered to a disabled user, an ended session, a tampered cookie, another origin or an expired key, with nothing written",
  async (harness, key) => {
    const user = (role: Role) => signedInUser(harness, { orgId: "acme", role });
    const [disabled, ended, tampered, foreign] = [
      await user("admin"),
      await user("admin"),
      await user("admin"),
      await user("admin"),
    ];
    await harness.send(`/v1/users/${disabled.userId}`, {
      method: "PUT",
      key,
      body: { name: "N", role: "admin", disabled: true },
    });
    await harness.send("/v1/sign-out", as(ended, { method: "POST" }));
    const expired = (await harness.send("/v1/keys", {
      key,
      body: {
        name: "short",
        scopes: ["score", "read", "export", "probe"],
        expires_at: "2026-11-20T09:00:30Z",
      },
    })).body.api_key;
    harness.clock.advance(MINUTE);
    const callers: readonly (readonly [string, RequestOptions, number])[] = [
      ["disabled", as(disabled), 401],
      ["ended", as(ended), 401],
      ["tampered", as({ cookie: tampered.cookie.replace(/.$/, (last) => last === "A" ? "B" : "A") }), 401],
      ["another origin", as(foreign, { headers: { Origin: "https://evil.example" } }), 403],
      ["an expired key", { key: expired }, 401],
      ["nobody", {}, 401],
    ];
    const routes = ROUTES.filter(({ auth }) => auth.kind === "key" || auth.kind === "user");
    for (const route of routes) {
      for (const [name, options, status] of callers) {
        const before = await harness.rowCounts();
        const answer = await callRoute(harness, route, options);
        assert.equal(answer.status, status, `${name} ${route.operationId}: ${answer.text.slice(0, 200)}`);
        assert.deepEqual(await harness.rowCounts(), before, `${name} ${route.operationId}`);
      }
    }
  },
);

Deno.test(
  "an admin of another organization finds nobody and changes nobody",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await harness.organization("other");
    const { userId } = await invite(harness, key);
    const stranger = await signedInUser(harness, { orgId: "other", role: "admin" });
    const listed = await harness.send("/v1/users", as(stranger));
    assert.equal(listed.body.count, 1);
    const calls: readonly (readonly [string, RequestOptions])[] = [
      [`/v1/users/${userId}`, { method: "PUT", body: { name: "N", role: "admin", disabled: false } }],
      [`/v1/users/${userId}/link`, { method: "POST" }],
      [`/v1/users/${userId}/sessions`, { method: "DELETE" }],
      [`/v1/users/${userId}`, { method: "DELETE" }],
    ];
    for (const [path, options] of calls) {
      await refuses(harness, {
        name: `${options.method} ${path}`,
        path,
        request: as(stranger, options),
        status: 404,
        code: "NOT_FOUND",
        names: "GET /v1/users",
      });
    }
  }),
);

userTest(
  "a change of role counts from the next request on; the audit log says who made it",
  async (harness, _key) => {
    const admin = await signedInUser(harness, { orgId: "acme", role: "admin" });
    const user = await signedInUser(harness, { orgId: "acme", role: "viewer" });
    assert.equal((await harness.send("/v1/admin/audit-log", as(user))).status, 403);
    const change = (body: unknown) =>
      harness.send(`/v1/users/${user.userId}`, as(admin, { method: "PUT", body }));
    const changed = await change({ role: "auditor", name: "Uma", disabled: false });
    assert.deepEqual([changed.status, changed.body.role, changed.body.name], [200, "auditor", "Uma"]);
    const before = await harness.rowCounts();
    assert.equal((await change({ role: "auditor", name: "Uma", disabled: false })).status, 200);
    assert.deepEqual(await harness.rowCounts(), before, "no change, no entry");
    harness.clock.advance(1);
    const log = await harness.send("/v1/admin/audit-log?event_type=USER_CHANGED", as(user));
    const [event] = log.body.events;
    assert.deepEqual([event.actor, event.user_id, event.prefix], ["user", admin.userId, null]);
    assert.match(event.user_name, /^admin/);
    assert.deepEqual(event.detail, { user_id: user.userId, role: "auditor", state: "active" });
  },
);

userTest(
  "the audit log is filtered by user, and names users by their present names, erased ones not",
  async (harness, key) => {
    const admin = await signedInUser(harness, { orgId: "acme", role: "admin" });
    const auditor = await signedInUser(harness, { orgId: "acme", role: "auditor" });
    await harness.send("/v1/keys", as(admin, { body: { name: "k", scopes: ["read"] } }));
    await harness.send("/v1/admin/audit-log", as(auditor));
    harness.clock.advance(1);
    const path = `/v1/admin/audit-log?user_id=${admin.userId}`;
    const { body } = await harness.send(path, as(auditor));
    assert.deepEqual(body.events.map(({ event_type }: { event_type: string }) => event_type), [
      "NAMED_KEY_CREATED",
      "USER_SIGNED_IN",
    ]);
    assert.equal(body.filters.user_id, admin.userId);
    const lines = async () =>
      (await harness.send(`/v1/admin/audit-log/export?user_id=${admin.userId}`, { key })).text.trim().split(
        "\n",
      )
        .map((line) => JSON.parse(line).user_name);
    assert.match((await lines())[0], /^admin/);
    await harness.send(`/v1/users/${admin.userId}`, { method: "DELETE", key });
    assert.deepEqual(await lines(), [null, null]);
  },
);

userTest("what a user does to the evidence carries the user's id", async (harness, key) => {
  const officer = await signedInUser(harness, { orgId: "acme", role: "officer" });
  await harness.send("/v1/score", {
    key,
    body: scoreRequest({ session_id: "s-1" }, { outcome_correct: null }),
  });
  const labelled = await harness.send(
    "/v1/score/s-1/commit",
    as(officer, { body: { outcome_correct: true } }),
  );
  assert.equal(labelled.status, 200, labelled.text);
  const rows = await rowsOf(
    harness.database,
    "SELECT body FROM audit_entry WHERE chain = 'org/acme' AND event_type = 'OUTCOME_LABELLED'",
  );
  const { actor, user_id, prefix, v, event_type } = JSON.parse(String(rows[0]!.body));
  assert.deepEqual([event_type, actor, user_id, prefix, v], [
    "OUTCOME_LABELLED",
    "user",
    officer.userId,
    null,
    "jis.audit/2",
  ]);
});

userTest("an admin rotates the organization's key, and stays signed in", async (harness, key) => {
  const admin = await signedInUser(harness, { orgId: "acme", role: "admin" });
  const rotated = await harness.send("/v1/admin/key/rotate", as(admin, { method: "POST" }));
  assert.equal(rotated.status, 200, rotated.text);
  assert.equal((await harness.send("/v1/keys", { key })).status, 401);
  assert.equal((await harness.send("/v1/keys", { key: rotated.body.new_api_key })).status, 200);
  assert.equal(await statusOfMe(harness, admin.cookie), 200);
  const event = (await storedEvents(harness, "org/acme/admin")).at(-1)!;
  assert.deepEqual([event.type, event.actor], ["KEY_ROTATED", "user"]);
});

userTest(
  "sessions end if the organization's key is destroyed, and rest while it is suspended",
  async (harness, key) => {
    const user = await signedInUser(harness, { orgId: "acme", role: "viewer" });
    const change = (scope: "ORG_SUSPEND" | "ORG_REACTIVATE", path: string) =>
      harness.master(scope, `/v1/admin/org/acme/${path}`, {
        idempotencyKey: path,
        body: { confirm_org_id: "acme", idempotency_key: path },
      });
    await change("ORG_SUSPEND", "suspend");
    assert.equal(await statusOfMe(harness, user.cookie), 401);
    await change("ORG_REACTIVATE", "reactivate");
    assert.equal(await statusOfMe(harness, user.cookie), 200);
    harness.clock.advance(1);
    await harness.send("/v1/admin/key/revoke", { method: "POST", key });
    await harness.master("BILLING_ROTATE", "/v1/admin/billing/org/acme/rotate", {
      idempotencyKey: "paid",
      body: { confirm_org_id: "acme", idempotency_key: "paid" },
    });
    assert.equal(await statusOfMe(harness, user.cookie), 401);
  },
  { adminDashboard: true },
);

// ---- erasure ----------------------------------------------------------------------------------------------

userTest(
  "an erased user has no name, no address, no password and no session; the id stays, and the address is free",
  async (harness, key) => {
    const { userId, token } = await invite(harness, key, { name: "Ada Unforgettable" });
    const cookie = cookieIn((await useLink(harness, token)).headers);
    const erased = await harness.send(`/v1/users/${userId}`, { method: "DELETE", key });
    assert.deepEqual([erased.status, erased.body.erased], [200, true]);
    assert.equal(await statusOfMe(harness, cookie), 401);
    const [user] = (await harness.send("/v1/users", { key })).body.users;
    assert.deepEqual([user.user_id, user.email, user.name, user.state], [userId, null, null, "erased"]);
    assert.doesNotMatch(await storedText(harness), /Unforgettable|ada@acme/);
    assert.equal((await harness.send(`/v1/users/${userId}`, { method: "DELETE", key })).status, 404);
    await invite(harness, key);
  },
);

userTest("no user takes the own role or access away, so that an admin is left", async (harness, key) => {
  const admin = await signedInUser(harness, { orgId: "acme", role: "admin" });
  const path = `/v1/users/${admin.userId}`;
  const same = { name: "Ada Ruiz", role: "admin", disabled: false };
  const rows = [
    ["another role", { method: "PUT", body: { ...same, role: "viewer" } }],
    ["disabled", { method: "PUT", body: { ...same, disabled: true } }],
    ["erased", { method: "DELETE" }],
  ] as const;
  for (const [name, request] of rows) {
    const refused = { status: 409, code: "CONFLICT", names: "This user is you" } as const;
    await refuses(harness, { name, path, request: as(admin, request), ...refused });
  }
  const renamed = await harness.send(path, as(admin, { method: "PUT", body: same }));
  assert.deepEqual([renamed.status, renamed.body.name], [200, "Ada Ruiz"]);
  const byKey = await harness.send(path, { method: "PUT", key, body: { ...same, disabled: true } });
  assert.equal(byKey.body.state, "disabled", byKey.text);
});

userTest("bad requests about users change nothing", async (harness, key) => {
  await invite(harness, key);
  const good = { email: "ben@acme.example", name: "Ben", role: "viewer" };
  const rows = [
    ["a taken address", { ...good, email: "ADA@acme.example" }, 409, "CONFLICT", "ada@acme.example"],
    ["no address", { ...good, email: "ben" }, 422, "VALIDATION_FAILED", "email"],
    [
      "a header in the address",
      { ...good, email: "ben@acme.example\r\nBcc: x@y.z" },
      422,
      "VALIDATION_FAILED",
      "email",
    ],
    ["no role", { ...good, role: "owner" }, 422, "VALIDATION_FAILED", "role"],
    ["no name", { ...good, name: "" }, 422, "VALIDATION_FAILED", "name"],
  ] as const;
  for (const [name, body, status, code, names] of rows) {
    await refuses(harness, { name, path: "/v1/users", request: { key, body }, status, code, names });
  }
});

userTest("an address that a provider has not verified takes nobody's place", async (harness, key) => {
  const squatter = await provided(harness, { email: "ceo@acme.example" });
  assert.ok("token" in squatter);
  assert.equal(squatter.user.email, null);
  await invite(harness, key, { email: "ceo@acme.example" });
});

userTest(
  "of several subjects with one verified address, one becomes the invited user",
  async (harness, key) => {
    const { userId } = await invite(harness, key);
    const claims = { email: "ada@acme.example", emailVerified: true };
    const outcomes = await Promise.allSettled(
      Array.from({ length: 6 }, (_, index) => provided(harness, { ...claims, subject: `subject-${index}` })),
    );
    const bound = outcomes.flatMap((one) =>
      one.status === "fulfilled" && "token" in one.value && one.value.user.user_id === userId
        ? [one.value]
        : []
    );
    assert.equal(bound.length, 1);
    const { body: { users } } = await harness.send("/v1/users", { key });
    assert.equal(users.filter(({ email }: { email: string | null }) => email === claims.email).length, 1);
  },
);

userTest("an invitation is over once the provider has signed its user in", async (harness, key) => {
  const { token } = await invite(harness, key);
  await provided(harness, { email: "ada@acme.example", emailVerified: true });
  assert.equal((await useLink(harness, token)).status, 404);
});

userTest("a reset link is over once its user has changed the password", async (harness, key) => {
  const { userId, token } = await invite(harness, key);
  const cookie = cookieIn((await useLink(harness, token)).headers);
  const reset = await harness.send(`/v1/users/${userId}/link`, { method: "POST", key });
  const body = { current_password: PASSWORD, new_password: "another good password" };
  assert.equal((await harness.send("/v1/me/password", as({ cookie }, { body }))).status, 200);
  assert.equal((await useLink(harness, reset.body.link.split("#")[1])).status, 404);
});

userTest("a text with a NUL is refused, and takes nobody's service down", async (harness, key) => {
  const officer = await signedInUser(harness, { orgId: "acme", role: "officer" });
  const probe = { domain: "general", stakes: "high", ai_correct: false, reference: "a\u0000b" };
  const refused = await harness.send("/v1/probes", as(officer, { body: { probes: [probe] } }));
  assert.equal(refused.status, 422, refused.text);
  // No rule of a route stands before the store here.
  await assert.rejects(provided(harness, { session: "a\u0000b" }), /U\+0000/);
  for (const path of ["/v1/probes", "/v1/organization/dashboard", "/v1/users"]) {
    assert.equal((await harness.send(path, { key })).status, 200, path);
  }
});

userTest("a new password has characters, and not one alone", async (harness, key) => {
  const { token } = await invite(harness, key);
  const refused = await useLink(harness, token, " ".repeat(12));
  assert.deepEqual([refused.status, refused.body.error.details[0].path], [422, "password"], refused.text);
  assert.equal((await useLink(harness, token)).status, 200);
});

userTest("a name turns no text around it", async (harness, key) => {
  const body = { email: "eve@acme.example", name: "Eve\u202e", role: "viewer" };
  assert.equal((await harness.send("/v1/users", { key, body })).status, 422);
});

userTest(
  "a flood of sign-ins from one address is refused at once, and a link still sets its password",
  async (harness, key) => {
    const { token } = await invite(harness, key);
    const flood = Array.from(
      { length: 12 },
      (_, index) => signIn(harness, { email: `nobody-${index}@acme.example` }),
    );
    const used = await useLink(harness, token);
    assert.equal(used.status, 200, used.text);
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 503).length, 8, String(statuses));
    assert.equal((await signIn(harness)).status, 200, "nobody waits any more");
  },
);
