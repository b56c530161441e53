/**
 * The calls of master keys: who may make them, how each changes an organization in each of its states, and
 * that they are safe to repeat.
 * Source: specification, Organization active flag and Master-key admin; contract, sections 5, 8.9 to 8.12 and
 * 8.17.
 */
import assert from "node:assert/strict";
import { utf8 } from "../../src/evidence/crypto.ts";
import { MASTER_SCOPES, type MasterScope } from "../../src/keys/master_keys.ts";
import { withDirectory } from "../auditing.ts";
import { directCall } from "../../src/operations/organizations/organization_change.ts";
import { reactivateFully, rotateByHand } from "../../src/operations/organizations/organization_states.ts";
import {
  type Answer,
  EPOCH,
  type Harness,
  type HarnessOptions,
  MASTER_KEYS,
  openHarness,
  organizationRequest,
  type RequestOptions,
  scoreRequest,
  withHarness,
} from "../harness.ts";
import {
  contentOf,
  refusalOf,
  refuses,
  statusWith,
  storedEvents,
  storedOrganization,
  storedText,
} from "../scenario.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ON: HarnessOptions = { adminDashboard: true };
const WARNING =
  "Store this key now: it is shown only once and cannot be recovered, only replaced by rotation.";
const NOTE =
  "The organization's key is revoked for good; billing rotate mints a new one, unless an administrator stopped the organization too.";

// ---- the calls --------------------------------------------------------------------------------------------

interface Call {
  readonly method: "GET" | "POST";
  path(orgId: string): string;
  /** The body of a call under an Idempotency-Key. */
  body(orgId: string, idempotencyKey: string): Record<string, unknown> | undefined;
  readonly status: 200 | 201;
}

const confirmed = (operation: string): Call => ({
  method: "POST",
  path: (orgId) => `/v1/admin/org/${orgId}/${operation}`,
  body: (orgId, idempotencyKey) => ({ confirm_org_id: orgId, idempotency_key: idempotencyKey }),
  status: 200,
});
const billing = (operation: string): Call => ({
  method: "POST",
  path: (orgId) => `/v1/admin/billing/org/${orgId}/${operation}`,
  body: () => ({}),
  status: 200,
});

const CALLS: Readonly<Record<MasterScope, Call>> = {
  ORG_CREATE: {
    method: "POST",
    path: () => "/v1/admin/org/create",
    body: (orgId) => organizationRequest({ org_id: `${orgId}-created` }),
    status: 201,
  },
  BILLING_SUSPEND: billing("suspend"),
  BILLING_ROTATE: billing("rotate"),
  ORG_USAGE_READ: {
    method: "GET",
    path: (orgId) => `/v1/admin/org/${orgId}/usage`,
    body: () => undefined,
    status: 200,
  },
  ORG_SUSPEND: confirmed("suspend"),
  ORG_REACTIVATE: confirmed("reactivate"),
  ORG_FORCE_ROTATE: confirmed("force-rotate"),
  ORG_FORCE_REVOKE: confirmed("force-revoke"),
  ALERT_ACK: {
    method: "POST",
    path: (orgId) => `/v1/admin/alerts/alert-of-${orgId}/ack`,
    body: (_orgId, idempotencyKey) => ({ idempotency_key: idempotencyKey }),
    status: 200,
  },
};

const MUTATING = MASTER_SCOPES.filter((scope) => scope !== "ORG_USAGE_READ");
/** Scopes whose answers hold a key. */
const MINTING: readonly MasterScope[] = ["ORG_CREATE", "BILLING_ROTATE", "ORG_FORCE_ROTATE"];
const DASHBOARD = [
  "ORG_SUSPEND",
  "ORG_REACTIVATE",
  "ORG_FORCE_ROTATE",
  "ORG_FORCE_REVOKE",
  "ALERT_ACK",
] as const;
/** Scopes that change an organization's state. */
const CHANGING = [
  "BILLING_SUSPEND",
  "BILLING_ROTATE",
  "ORG_SUSPEND",
  "ORG_REACTIVATE",
  "ORG_FORCE_ROTATE",
  "ORG_FORCE_REVOKE",
] as const;
type Changing = (typeof CHANGING)[number];

let calls = 0;

function freshKey(): string {
  calls += 1;
  return `own-${calls}`;
}

/** Makes a scope's call about an organization, by default with a new Idempotency-Key. */
function make(
  harness: Harness,
  scope: MasterScope,
  { orgId, idempotencyKey = freshKey(), key = MASTER_KEYS[scope], body }: {
    readonly orgId: string;
    readonly idempotencyKey?: string;
    readonly key?: string;
    readonly body?: unknown;
  },
): Promise<Answer> {
  const call = CALLS[scope];
  return harness.master(scope, call.path(orgId), {
    method: call.method,
    idempotencyKey,
    headers: { "X-API-Key": key },
    ...(call.method === "GET" ? {} : { body: body ?? call.body(orgId, idempotencyKey) }),
  });
}

/** Makes an organization about which a scope's call succeeds; returns its key. */
async function prepare(harness: Harness, scope: MasterScope, orgId: string): Promise<string> {
  const key = await harness.organization(orgId);
  if (scope === "ORG_REACTIVATE") await make(harness, "ORG_SUSPEND", { orgId });
  if (scope === "ALERT_ACK") await harness.alert(orgId, `alert-of-${orgId}`);
  return key;
}

// ---- the state table --------------------------------------------------------------------------------------

/**
 * Result of a call in a state: "409" if it is refused, "repeat" if it is answered with the first instant and
 * changes nothing, or the reasons after it and the state of the key.
 */
type Cell = "409" | "repeat" | `${string} ${"kept" | "destroyed" | "minted" | "none"}`;

/** Reasons joined with +, in their stored order; each has a cell for every one of {@link CHANGING}. */
const STATES: Readonly<Record<string, readonly [Cell, Cell, Cell, Cell, Cell, Cell]>> = {
  "active": [
    "billing destroyed",
    "active minted",
    "manual kept",
    "409",
    "active minted",
    "force_revoked destroyed",
  ],
  "billing": [
    "repeat",
    "active minted",
    "billing+manual none",
    "409",
    "409",
    "billing+force_revoked none",
  ],
  "force_revoked": [
    "billing+force_revoked none",
    "409",
    "force_revoked+manual none",
    "409",
    "409",
    "repeat",
  ],
  "manual": [
    "billing+manual destroyed",
    "409",
    "repeat",
    "active kept",
    "409",
    "force_revoked+manual destroyed",
  ],
  "self_revoked": [
    "billing+self_revoked none",
    "active minted",
    "manual+self_revoked none",
    "409",
    "409",
    "force_revoked+self_revoked none",
  ],
  "billing+force_revoked": ["repeat", "409", "billing+force_revoked+manual none", "409", "409", "repeat"],
  "billing+manual": [
    "repeat",
    "409",
    "repeat",
    "billing none",
    "409",
    "billing+force_revoked+manual none",
  ],
  "billing+self_revoked": [
    "repeat",
    "active minted",
    "billing+manual+self_revoked none",
    "409",
    "409",
    "billing+force_revoked+self_revoked none",
  ],
  "force_revoked+manual": [
    "billing+force_revoked+manual none",
    "409",
    "repeat",
    "force_revoked none",
    "409",
    "repeat",
  ],
  "force_revoked+self_revoked": [
    "billing+force_revoked+self_revoked none",
    "409",
    "force_revoked+manual+self_revoked none",
    "409",
    "409",
    "repeat",
  ],
  "manual+self_revoked": [
    "billing+manual+self_revoked none",
    "409",
    "repeat",
    "self_revoked none",
    "409",
    "force_revoked+manual+self_revoked none",
  ],
  "billing+force_revoked+manual+self_revoked": [
    "repeat",
    "409",
    "repeat",
    "billing+force_revoked+self_revoked none",
    "409",
    "repeat",
  ],
};

/**
 * Order in which the reasons are added: an organization that is stopped cannot revoke its own key any more.
 */
const REACHED_BY: readonly (readonly [string, MasterScope | null])[] = [
  ["self_revoked", null],
  ["manual", "ORG_SUSPEND"],
  ["billing", "BILLING_SUSPEND"],
  ["force_revoked", "ORG_FORCE_REVOKE"],
];

const reasonsOf = (state: string) => (state === "active" ? [] : state.split("+"));

/** Brings a new organization to a state, an hour for each reason; returns its first key and the instants. */
async function reach(harness: Harness, orgId: string, state: string) {
  const key = await harness.organization(orgId);
  const since: Record<string, number> = {};
  for (const [reason, scope] of REACHED_BY) {
    if (!reasonsOf(state).includes(reason)) continue;
    harness.clock.advance(HOUR);
    since[reason] = harness.clock.now();
    const { status, text } = scope === null
      ? await harness.send("/v1/admin/key/revoke", { method: "POST", key })
      : await make(harness, scope, { orgId });
    assert.equal(status, 200, text);
  }
  harness.clock.advance(HOUR);
  return { key, since };
}

const EVENTS: Readonly<Record<Changing, readonly [type: string, actor: string, reason: string]>> = {
  BILLING_SUSPEND: ["ADMIN_BILLING_SUSPEND", "payment-worker", "billing"],
  BILLING_ROTATE: ["ADMIN_BILLING_ROTATE", "payment-worker", ""],
  ORG_SUSPEND: ["ADMIN_ORG_SUSPEND", "admin-worker", "manual"],
  ORG_REACTIVATE: ["ADMIN_ORG_REACTIVATE", "admin-worker", ""],
  ORG_FORCE_ROTATE: ["ADMIN_ORG_FORCE_ROTATE", "admin-worker", ""],
  ORG_FORCE_REVOKE: ["ADMIN_ORG_FORCE_REVOKE", "admin-worker", "force_revoked"],
};

/** The fields of the answer; `at` is ISO 8601. */
function expectedBody(
  scope: Changing,
  { orgId, at, newKey, remaining }: {
    readonly orgId: string;
    readonly at: string;
    readonly newKey: string;
    readonly remaining: readonly string[];
  },
): Record<string, unknown> {
  const rotated = {
    rotated: true,
    org_id: orgId,
    new_api_key: newKey,
    prefix: newKey?.slice(0, 8),
    rotated_at: at,
    warning: WARNING,
  };
  return {
    BILLING_SUSPEND: { suspended: true, org_id: orgId, suspended_at: at, note: NOTE },
    BILLING_ROTATE: rotated,
    ORG_SUSPEND: { suspended: true, org_id: orgId, suspended_at: at },
    ORG_REACTIVATE: {
      reactivated: true,
      org_id: orgId,
      reactivated_at: at,
      ...(remaining.length === 0 ? {} : { remaining }),
    },
    ORG_FORCE_ROTATE: rotated,
    ORG_FORCE_REVOKE: { revoked: true, org_id: orgId, revoked_at: at },
  }[scope];
}

/** Follows the advice in a refusal's message, and asserts that the organization is active afterwards. */
async function takeAdvice(harness: Harness, orgId: string, message: string): Promise<void> {
  const isForced = (await storedOrganization(harness, orgId)).reasons.includes("force_revoked");
  assert.equal(message.includes("only `jiss org reactivate`"), isForced, message);
  if (isForced) return;
  for (
    const [advice, scope] of [["reactivate", "ORG_REACTIVATE"], ["billing rotate", "BILLING_ROTATE"]] as const
  ) {
    if (!message.includes(advice)) continue;
    const { status, text } = await make(harness, scope, { orgId });
    assert.equal(status, 200, `${message} ${text}`);
  }
  assert.equal((await storedOrganization(harness, orgId)).active, 1, message);
}

for (const [column, scope] of CHANGING.entries()) {
  Deno.test(
    `${scope}: in every state the table's state, answer, key and audit event, and no change if it is refused`,
    withHarness(async (harness) => {
      for (const [index, [state, cells]] of Object.entries(STATES).entries()) {
        const cell = cells[column]!;
        const name = `${scope} from ${state}: ${cell}`;
        const orgId = `org-${index}`;
        const { key, since } = await reach(harness, orgId, state);
        const before = await storedOrganization(harness, orgId);
        assert.deepEqual([before.reasons, before.since], [reasonsOf(state), since], name);
        const events = (await storedEvents(harness, `org/${orgId}/admin`)).length;
        const counts = await harness.rowCounts();
        const now = harness.clock.now();
        const answer = await make(harness, scope, { orgId });

        if (cell === "409") {
          assert.deepEqual([answer.status, answer.body.error.code], [409, "CONFLICT"], name);
          assert.deepEqual(await harness.rowCounts(), counts, name);
          assert.deepEqual(await storedOrganization(harness, orgId), before, name);
          await takeAdvice(harness, orgId, answer.body.error.message);
          continue;
        }
        assert.equal(answer.status, 200, `${name}: ${answer.text}`);
        assert.equal(answer.headers.get("Idempotency-Replayed"), null, name);
        const [type, actor, reason] = EVENTS[scope];
        const isRepeat = cell === "repeat";
        const [after, fate] = isRepeat ? [state, before.prefix === null ? "none" : "kept"] : cell.split(" ");
        const { new_api_key: newKey } = answer.body;
        assert.deepEqual(
          contentOf(answer),
          expectedBody(scope, {
            orgId,
            at: new Date(isRepeat ? since[reason]! : now).toISOString(),
            newKey,
            remaining: reasonsOf(after!),
          }),
          name,
        );

        const row = await storedOrganization(harness, orgId);
        assert.deepEqual(row.reasons, reasonsOf(after!), name);
        assert.equal(row.active, after === "active" ? 1 : 0, name);
        assert.deepEqual(
          row.since,
          Object.fromEntries(reasonsOf(after!).map((each) => [each, since[each] ?? now])),
          name,
        );
        const isMinted = fate === "minted";
        assert.deepEqual(
          [row.api_key_version, row.api_key_rotated_at],
          isMinted ? [2, now] : [1, null],
          name,
        );
        const stored = fate === "kept" ? key.slice(0, 8) : isMinted ? newKey.slice(0, 8) : null;
        assert.equal(row.prefix, stored, name);
        assert.equal(row.key_hash === null, stored === null, name);
        assert.equal(row.pepper_id === null, stored === null, name);
        if (fate === "kept") assert.equal(row.key_hash, before.key_hash, name);

        const recorded = (await storedEvents(harness, `org/${orgId}/admin`)).slice(events);
        const detail = {
          scope,
          ...(isMinted ? { new_prefix: newKey.slice(0, 8) } : {}),
          ...(scope === "ORG_REACTIVATE" ? { remaining: reasonsOf(after!) } : {}),
        };
        // The prefix of the key before the call; if there was none, of the one after it.
        const prefix = before.prefix ?? stored;
        assert.deepEqual(
          recorded,
          isRepeat ? [] : [{ type, actor, prefix, at: new Date(now).toISOString(), detail }],
          name,
        );

        assert.equal(await statusWith(harness, key), fate === "kept" && row.active === 1 ? 200 : 401, name);
        if (isMinted) assert.equal(await statusWith(harness, newKey), 200, name);
      }
    }, ON),
  );
}

Deno.test(
  "a call about an unknown organization or alert is 404 and writes nothing",
  withHarness(async (harness) => {
    await harness.organization("acme");
    const before = await harness.rowCounts();
    for (const scope of [...CHANGING, "ORG_USAGE_READ", "ALERT_ACK"] as const) {
      const answer = await make(harness, scope, { orgId: "nobody" });
      assert.deepEqual([answer.status, answer.body.error.code], [404, "NOT_FOUND"], scope);
      assert.ok(answer.body.error.message.includes("nobody"), scope);
    }
    assert.deepEqual(await harness.rowCounts(), before);
  }, ON),
);

Deno.test(
  "a manual suspension and its end keep the key; a billing suspension ends it for good",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const run = async (scope: MasterScope) => {
      const { status, body, text } = await make(harness, scope, { orgId: "acme" });
      assert.equal(status, 200, text);
      return body;
    };
    await run("ORG_SUSPEND");
    assert.equal(await statusWith(harness, key), 401);
    await run("ORG_REACTIVATE");
    assert.equal(await statusWith(harness, key), 200);
    await run("BILLING_SUSPEND");
    const { new_api_key: second } = await run("BILLING_ROTATE");
    assert.deepEqual([await statusWith(harness, key), await statusWith(harness, second)], [401, 200]);
    await run("ORG_SUSPEND");
    await run("BILLING_SUSPEND");
    assert.deepEqual((await run("ORG_REACTIVATE")).remaining, ["billing"]);
    const { new_api_key: third } = await run("BILLING_ROTATE");
    assert.deepEqual(
      [await statusWith(harness, key), await statusWith(harness, second), await statusWith(harness, third)],
      [401, 401, 200],
    );
  }, ON),
);

Deno.test(
  "a key that an administrator minted by hand is destroyed by the next suspending or revoking call, whose event names its prefix",
  withHarness(async (harness) => {
    const { clock, dependencies } = harness;
    const ended = [["BILLING_SUSPEND", "suspended_at"], ["ORG_FORCE_REVOKE", "revoked_at"]] as const;
    for (const [scope, instant] of ended) {
      const orgId = `org-${scope}`;
      await harness.organization(orgId);
      const first = await make(harness, scope, { orgId });
      clock.advance(HOUR);
      const byHand = directCall(orgId, { now: clock.now(), requestId: "" });
      const { new_api_key: key } = (await rotateByHand(dependencies, { actor: "system" }, byHand)).body;
      clock.advance(HOUR);
      const again = await make(harness, scope, { orgId });
      assert.equal(again.status, 200, again.text);
      assert.equal(again.body[instant], first.body[instant], "inactive since the first call");
      const row = await storedOrganization(harness, orgId);
      assert.deepEqual([row.active, row.reasons.length, row.prefix, row.key_hash], [0, 1, null, null], scope);
      const recorded = (await storedEvents(harness, `org/${orgId}/admin`)).at(-1)!;
      assert.deepEqual(
        [recorded.type, recorded.prefix, recorded.at, recorded.detail],
        [EVENTS[scope][0], String(key).slice(0, 8), new Date(clock.now()).toISOString(), { scope }],
      );
      const before = await harness.rowCounts();
      const third = await make(harness, scope, { orgId });
      assert.equal(third.body[instant], first.body[instant]);
      assert.deepEqual((await harness.rowCounts()).heads, before.heads, "the third call is a repetition");
      await reactivateFully(dependencies, { actor: "system" }, byHand);
      assert.equal(await statusWith(harness, String(key)), 401, scope);
    }
  }, ON),
);

Deno.test(
  "no key of a master call is in the database or the log",
  withHarness(async (harness) => {
    const keys = [await harness.organization("acme")];
    for (const scope of MINTING) {
      const { body } = await make(harness, scope, { orgId: "acme" });
      keys.push(body.api_key ?? body.new_api_key);
    }
    assert.equal(new Set(keys).size, 4);
    const everything = await storedText(harness);
    for (const key of keys) {
      assert.ok(everything.includes(key.slice(0, 8)));
      assert.ok(!everything.includes(key.slice(8)));
      assert.ok(!everything.includes(new TextEncoder().encode(key).toHex()));
    }
    for (const secret of Object.values(MASTER_KEYS)) assert.ok(!everything.includes(secret));
  }, ON),
);

// ---- authorization ----------------------------------------------------------------------------------------

const PREVIOUS = Object.fromEntries(
  MASTER_SCOPES.map((scope) => [scope, `previous-key-of-the-tests-${scope}-01`]),
) as Readonly<Record<MasterScope, string>>;

Deno.test(
  "each scope's secret, the previous one too, is accepted on its own endpoint and on none of the other eight",
  withHarness(async (harness) => {
    let opened = 0;
    for (const scope of MASTER_SCOPES) {
      for (const [age, secrets] of [["active", MASTER_KEYS], ["previous", PREVIOUS]] as const) {
        for (const holder of MASTER_SCOPES) {
          const orgId = `${scope}-${age}`;
          if (holder === scope) await prepare(harness, scope, orgId);
          const answer = await make(harness, scope, { orgId, key: secrets[holder] });
          const expected = holder === scope ? CALLS[scope].status : 401;
          assert.equal(answer.status, expected, `${holder}, ${age}, at ${scope}: ${answer.text}`);
          opened += answer.status === 401 ? 0 : 1;
        }
      }
    }
    assert.equal(opened, 18);
  }, {
    ...ON,
    masterSecrets: Object.fromEntries(
      MASTER_SCOPES.map((scope) => [scope, [MASTER_KEYS[scope], PREVIOUS[scope]]]),
    ),
  }),
);

for (const adminDashboard of [true, false]) {
  Deno.test(
    `with the dashboard ${
      adminDashboard ? "on" : "off"
    } an organization's key is 401 after the floor on all nine endpoints, and is recorded on the system chain with the scope and its prefix`,
    withHarness(async (harness) => {
      const { clock, dependencies } = harness;
      const key = await harness.organization("acme");
      const refusals = [];
      for (const scope of MASTER_SCOPES) {
        const before = clock.monotonic();
        const answer = await make(harness, scope, { orgId: "acme", key });
        assert.equal(clock.monotonic() - before, 80, scope);
        refusals.push(refusalOf(answer));
      }
      const unknown = refusalOf(await harness.send("/v1/score", { body: scoreRequest() }));
      assert.equal(unknown.status, 401);
      for (const refusal of refusals) assert.deepEqual(refusal, unknown);
      await dependencies.writer.submit({ needs: [], chains: [], plan: () => () => undefined });
      const failures = (await storedEvents(harness, "sys")).filter(({ type }) =>
        type === "AUTH_FAIL_MASTER_KEY"
      );
      assert.deepEqual(
        failures.map(({ actor, prefix, detail }) => ({ actor, prefix, detail })),
        MASTER_SCOPES.map((scope) => ({
          actor: "system",
          prefix: key.slice(0, 8),
          detail: { scope, address: "203.0.113.7", count: 1 },
        })),
      );
      const own = await storedEvents(harness, "org/acme/admin");
      assert.deepEqual(own.map(({ type }) => type), ["ORG_CREATED"]);
    }, { adminDashboard }),
  );
}

Deno.test(
  "with the dashboard off its five endpoints are 501 directly after authentication, whatever else is wrong, without delay and without a write",
  withHarness(async (harness) => {
    const { clock } = harness;
    const key = await harness.organization("acme");
    await harness.alert("acme", "alert-of-acme");
    const requests: readonly (readonly [string, (scope: MasterScope) => RequestOptions])[] = [
      ["sound", (scope) => ({ headers: { "Idempotency-Key": "k" }, body: CALLS[scope].body("acme", "k") })],
      ["no Idempotency-Key", (scope) => ({ body: CALLS[scope].body("acme", "k") })],
      ["no JSON", () => ({ headers: { "Idempotency-Key": "k" }, body: "{" })],
      ["no body", () => ({ method: "POST" })],
      ["another type", () => ({ headers: { "Content-Type": "text/plain" }, body: "x" })],
    ];
    for (const scope of DASHBOARD) {
      for (const orgId of ["acme", "nobody", "no%20id"]) {
        for (const [name, request] of requests) {
          const before = clock.monotonic();
          await refuses(harness, {
            name: `${scope} ${orgId} ${name}`,
            path: CALLS[scope].path(orgId),
            request: { ...request(scope), key: MASTER_KEYS[scope] },
            status: 501,
            code: "NOT_IMPLEMENTED",
            names: "JISS_ADMIN_DASHBOARD=on",
          });
          assert.equal(clock.monotonic(), before, "no delay");
        }
      }
      const before = clock.monotonic();
      const wrong = await make(harness, scope, { orgId: "acme", key: MASTER_KEYS.ORG_CREATE });
      assert.deepEqual([wrong.status, clock.monotonic() - before], [401, 80], scope);
    }
    assert.equal(await statusWith(harness, key), 200);
    for (const scope of ["ORG_USAGE_READ", "ORG_CREATE", "BILLING_SUSPEND", "BILLING_ROTATE"] as const) {
      assert.equal((await make(harness, scope, { orgId: "acme" })).status, CALLS[scope].status, scope);
    }
  }),
);

Deno.test(
  "answers to master keys, refusals too, carry no header of the key's rate limit, and that limit does not bind them",
  withHarness(async (harness) => {
    for (const scope of MASTER_SCOPES) {
      await prepare(harness, scope, scope);
      const answers = [
        await make(harness, scope, { orgId: scope }),
        await make(harness, scope, { orgId: scope }),
        await make(harness, scope, { orgId: "nobody" }),
        await make(harness, scope, { orgId: scope, key: "wrong" }),
      ];
      for (const { headers } of answers) {
        assert.deepEqual([...headers.keys()].filter((name) => name.startsWith("x-ratelimit")), [], scope);
      }
      assert.equal(answers[0]!.status, CALLS[scope].status, scope);
    }
  }, { ...ON, rateLimitKey: 1 }),
);

// ---- repeated calls ---------------------------------------------------------------------------------------

Deno.test(
  "an Idempotency-Key of 1 to 256 characters is required: none, an empty one and one of 257 are 400 and write nothing",
  withHarness(async (harness) => {
    for (const scope of MUTATING) {
      const orgId = `org-${scope}`;
      await prepare(harness, scope, orgId);
      const path = CALLS[scope].path(orgId);
      const refused: readonly (readonly [string, Record<string, string>])[] = [
        ["missing", {}],
        ["empty", { "Idempotency-Key": "" }],
        ["blank", { "Idempotency-Key": "  " }],
        ["257", { "Idempotency-Key": "k".repeat(257) }],
      ];
      for (const [name, headers] of refused) {
        await refuses(harness, {
          name: `${scope} ${name}`,
          path,
          request: {
            key: MASTER_KEYS[scope],
            headers,
            body: CALLS[scope].body(orgId, headers["Idempotency-Key"] ?? ""),
          },
          status: 400,
          code: "VALIDATION_FAILED",
          names: "Idempotency-Key header of 1 to 256 characters",
        });
      }
      const longest = await make(harness, scope, { orgId, idempotencyKey: "k".repeat(256) });
      assert.equal(longest.status, CALLS[scope].status, `${scope}: ${longest.text}`);
      const again = await make(harness, scope, { orgId, idempotencyKey: "k".repeat(256) });
      assert.equal(again.headers.get("Idempotency-Replayed"), "true", scope);
    }
  }, ON),
);

Deno.test(
  "usage is read without an Idempotency-Key",
  withHarness(async (harness) => {
    await harness.organization("acme");
    const { status } = await harness.send("/v1/admin/org/acme/usage", { key: MASTER_KEYS.ORG_USAGE_READ });
    assert.equal(status, 200);
  }),
);

Deno.test(
  "a repeated call gets the first answer byte for byte with its own id and time; in place of a key it has prefix and already_provisioned",
  withHarness(async (harness) => {
    for (const scope of MUTATING) {
      const orgId = `org-${scope}`;
      await prepare(harness, scope, orgId);
      const first = await make(harness, scope, { orgId, idempotencyKey: "once" });
      assert.equal(first.headers.get("Idempotency-Replayed"), null);
      harness.clock.advance(HOUR);
      const before = await harness.rowCounts();
      const row = scope === "ORG_CREATE" ? null : await storedOrganization(harness, orgId);
      const again = await make(harness, scope, { orgId, idempotencyKey: "once" });
      assert.deepEqual(await harness.rowCounts(), before, scope);
      if (row !== null) assert.deepEqual(await storedOrganization(harness, orgId), row, scope);
      assert.deepEqual(
        [again.status, again.headers.get("Idempotency-Replayed")],
        [CALLS[scope].status, "true"],
        scope,
      );
      assert.equal(again.body.request_id, again.headers.get("X-Request-Id"));
      assert.notEqual(again.body.request_id, first.body.request_id);
      assert.equal(again.body.timestamp, new Date(harness.clock.now()).toISOString());
      const { request_id, timestamp } = again.body;
      const sanitized = { prefix: first.body.prefix, already_provisioned: true, request_id, timestamp };
      const expected = MINTING.includes(scope)
        ? JSON.stringify(sanitized)
        : JSON.stringify({ ...first.body, request_id, timestamp });
      assert.equal(again.text, expected, scope);
    }
  }, ON),
);

Deno.test(
  "a call is repeated whatever came between: a suspension that was lifted meanwhile is not made again",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await make(harness, "ORG_SUSPEND", { orgId: "acme", idempotencyKey: "s" });
    await make(harness, "ORG_REACTIVATE", { orgId: "acme", idempotencyKey: "r" });
    const again = await make(harness, "ORG_SUSPEND", { orgId: "acme", idempotencyKey: "s" });
    assert.deepEqual([again.status, again.body.suspended_at], [200, "2026-11-20T09:00:00.000Z"]);
    assert.equal(await statusWith(harness, key), 200);
    // The organization is active: without the repetition the answer would be 409.
    const reactivated = await make(harness, "ORG_REACTIVATE", { orgId: "acme", idempotencyKey: "r" });
    assert.deepEqual([reactivated.status, reactivated.headers.get("Idempotency-Replayed")], [200, "true"]);
  }, ON),
);

Deno.test(
  "an Idempotency-Key with another body is 422 IDEMPOTENCY_KEY_REUSED; unknown members and spaces do not make another body",
  withHarness(async (harness) => {
    await make(harness, "ORG_CREATE", { orgId: "acme", idempotencyKey: "once" });
    const own = CALLS.ORG_CREATE.body("acme", "once")!;
    const others = [
      { org_id: "another" },
      { name: "Another" },
      { domain: "general" },
      { tier: "enterprise" },
      { allowed_origins: "" },
    ];
    for (const other of others) {
      await refuses(harness, {
        name: JSON.stringify(other),
        path: "/v1/admin/org/create",
        request: {
          key: MASTER_KEYS.ORG_CREATE,
          headers: { "Idempotency-Key": "once" },
          body: { ...own, ...other },
        },
        status: 422,
        code: "IDEMPOTENCY_KEY_REUSED",
        names: "different body",
      });
    }
    for (const body of [{ ...own, beside: 1 }, { ...own, name: " Acme Bank " }]) {
      const again = await make(harness, "ORG_CREATE", { orgId: "acme", idempotencyKey: "once", body });
      assert.deepEqual([again.status, again.body.already_provisioned], [201, true]);
    }
    await harness.organization("acme");
    await make(harness, "BILLING_SUSPEND", { orgId: "acme", idempotencyKey: "once" });
    for (const body of [{}, { beside: 1 }, undefined]) {
      const again = await harness.master("BILLING_SUSPEND", "/v1/admin/billing/org/acme/suspend", {
        idempotencyKey: "once",
        ...(body === undefined ? {} : { body }),
      });
      assert.deepEqual([again.status, again.headers.get("Idempotency-Replayed")], [200, "true"]);
    }
  }, ON),
);

Deno.test(
  "if twenty calls are sent at once with one Idempotency-Key, one runs, all are answered, and one key is minted",
  withHarness(async (harness) => {
    for (const scope of MUTATING) {
      const orgId = `org-${scope}`;
      await prepare(harness, scope, orgId);
      const family = `org/${scope === "ORG_CREATE" ? `${orgId}-created` : orgId}/admin`;
      const before = (await storedEvents(harness, family)).length;
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => make(harness, scope, { orgId, idempotencyKey: "twin" })),
      );
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([CALLS[scope].status]), scope);
      const ran = answers.filter(({ headers }) => headers.get("Idempotency-Replayed") === null);
      assert.equal(ran.length, 1, scope);
      assert.equal((await storedEvents(harness, family)).length, before + 1, scope);
      if (!MINTING.includes(scope)) continue;
      const shown = answers.filter(({ body }) => (body.api_key ?? body.new_api_key) !== undefined);
      assert.deepEqual(shown, ran, scope);
      assert.deepEqual(new Set(answers.map(({ body }) => body.prefix)), new Set([ran[0]!.body.prefix]));
      assert.equal(await statusWith(harness, ran[0]!.body.api_key ?? ran[0]!.body.new_api_key), 200, scope);
    }
  }, ON),
);

Deno.test("if two services over one database get calls at once with one Idempotency-Key, one runs, and all are answered with its prefix", () =>
  withDirectory(async (directory) => {
    const files = { path: `${directory}/jiss.db`, lockPath: `${directory}/lock.db` };
    const first = await openHarness({ ...ON, ...files });
    const second = await openHarness({ ...ON, ...files, run: 1 });
    for (const scope of MUTATING) {
      const orgId = `org-${scope}`;
      await prepare(first, scope, orgId);
      const answers = await Promise.all(
        Array.from(
          { length: 6 },
          (_, index) => make(index % 2 === 0 ? first : second, scope, { orgId, idempotencyKey: "twin" }),
        ),
      );
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([CALLS[scope].status]), scope);
      const ran = answers.filter(({ headers }) => headers.get("Idempotency-Replayed") === null);
      assert.equal(ran.length, 1, scope);
      if (!MINTING.includes(scope)) continue;
      assert.deepEqual(new Set(answers.map(({ body }) => body.prefix)), new Set([ran[0]!.body.prefix]));
      const key = ran[0]!.body.api_key ?? ran[0]!.body.new_api_key;
      assert.deepEqual([await statusWith(first, key), await statusWith(second, key)], [200, 200], scope);
    }
    await second.close();
    await first.close();
  }));

Deno.test(
  "the same Idempotency-Key on another endpoint or for another organization is another call",
  withHarness(async (harness) => {
    for (const orgId of ["acme", "other"]) {
      await harness.organization(orgId);
      await harness.alert(orgId, `alert-of-${orgId}`);
    }
    const order = [
      "ORG_CREATE",
      "ORG_SUSPEND",
      "ORG_REACTIVATE",
      "ORG_FORCE_ROTATE",
      "BILLING_SUSPEND",
      "BILLING_ROTATE",
      "ORG_FORCE_REVOKE",
      "ALERT_ACK",
    ] as const;
    for (const scope of order) {
      for (const orgId of ["acme", "other"]) {
        if (scope === "ORG_CREATE" && orgId === "other") continue;
        const { status, headers, text } = await make(harness, scope, { orgId, idempotencyKey: "same" });
        assert.equal(status, CALLS[scope].status, `${scope} ${orgId}: ${text}`);
        assert.equal(headers.get("Idempotency-Replayed"), null, `${scope} ${orgId}`);
      }
    }
    assert.equal((await harness.rowCounts()).idempotency, 15);
  }, ON),
);

Deno.test(
  "a call is repeated until a millisecond before 30 days, and runs anew after 30 days",
  withHarness(async (harness) => {
    await harness.organization("acme");
    const rotate = () => make(harness, "BILLING_ROTATE", { orgId: "acme", idempotencyKey: "monthly" });
    const first = await rotate();
    harness.clock.advance(30 * DAY - 1);
    const last = await rotate();
    assert.deepEqual(contentOf(last), { prefix: first.body.prefix, already_provisioned: true });
    harness.clock.advance(1);
    const anew = await rotate();
    assert.equal(anew.headers.get("Idempotency-Replayed"), null);
    assert.notEqual(anew.body.new_api_key, first.body.new_api_key);
    assert.equal(anew.body.rotated_at, new Date(EPOCH + 30 * DAY).toISOString());
    assert.equal(await statusWith(harness, first.body.new_api_key), 401);
    harness.clock.advance(30 * DAY - 100);
    assert.deepEqual(contentOf(await rotate()), { prefix: anew.body.prefix, already_provisioned: true });
    assert.equal((await storedOrganization(harness, "acme")).api_key_version, 3);
  }),
);

Deno.test(
  "a refused call is not remembered: under the same Idempotency-Key it runs once it is possible",
  withHarness(async (harness) => {
    const retry = (scope: MasterScope, orgId = "acme") =>
      make(harness, scope, { orgId, idempotencyKey: "retry" });
    assert.equal((await retry("BILLING_SUSPEND")).status, 404);
    assert.equal((await retry("ALERT_ACK")).status, 404);
    await harness.organization("acme");
    await harness.alert("acme", "alert-of-acme");
    assert.equal((await retry("ORG_REACTIVATE")).status, 409);
    await make(harness, "ORG_SUSPEND", { orgId: "acme" });
    assert.equal((await retry("ORG_FORCE_ROTATE")).status, 409);
    assert.equal((await retry("BILLING_ROTATE")).status, 409);
    for (
      const scope of [
        "ORG_REACTIVATE",
        "ORG_FORCE_ROTATE",
        "BILLING_ROTATE",
        "BILLING_SUSPEND",
        "ALERT_ACK",
      ] as const
    ) {
      const { status, headers, text } = await retry(scope);
      assert.deepEqual(
        [status, headers.get("Idempotency-Replayed")],
        [200, null],
        `${scope}: ${text}`,
      );
    }
  }, ON),
);

// ---- checks and their order -------------------------------------------------------------------------------

Deno.test(
  "the body must repeat the organization and the Idempotency-Key, and org_id must be well formed: 422, nothing written",
  withHarness(async (harness) => {
    await prepare(harness, "ORG_REACTIVATE", "acme");
    const confirming = DASHBOARD.filter((scope) => scope !== "ALERT_ACK");
    const bodies: readonly (readonly [unknown, string])[] = [
      [{ confirm_org_id: "acme", idempotency_key: "another" }, "idempotency_key"],
      [{ confirm_org_id: "acme", idempotency_key: "" }, "idempotency_key"],
      [{ confirm_org_id: "acme", idempotency_key: 1 }, "idempotency_key"],
      [{ confirm_org_id: "acme" }, "idempotency_key"],
      [{ confirm_org_id: "other", idempotency_key: "k" }, "confirm_org_id"],
      [{ confirm_org_id: "ACME", idempotency_key: "k" }, "confirm_org_id"],
      [{ confirm_org_id: null, idempotency_key: "k" }, "confirm_org_id"],
      [{ idempotency_key: "k" }, "confirm_org_id"],
      [[], "request"],
    ];
    const refuse = (scope: MasterScope, orgId: string, [body, names]: readonly [unknown, string]) =>
      refuses(harness, {
        name: `${scope} ${orgId} ${JSON.stringify(body)}`,
        path: CALLS[scope].path(orgId),
        request: {
          method: CALLS[scope].method,
          key: MASTER_KEYS[scope],
          headers: { "Idempotency-Key": "k" },
          ...(body === undefined ? {} : { body }),
        },
        status: 422,
        code: "VALIDATION_FAILED",
        names,
      });
    for (const scope of confirming) {
      for (const body of bodies) await refuse(scope, "acme", body);
    }
    for (const scope of [...CHANGING, "ORG_USAGE_READ"] as const) {
      for (const orgId of ["no%20id", "a.b", "%00", "a".repeat(129), "caf%C3%A9"]) {
        await refuse(scope, orgId, [CALLS[scope].body(orgId, "k"), "org_id"]);
      }
    }
    for (const scope of ["BILLING_SUSPEND", "BILLING_ROTATE"] as const) {
      for (const body of [[], '"text"', "null"]) await refuse(scope, "acme", [body, "request"]);
    }
  }, ON),
);

Deno.test(
  "checks run in order: key, Idempotency-Key, alert_id, body, existence, state; the answer is that of the first that fails",
  withHarness(async (harness) => {
    const { send } = harness;
    await harness.organization("acme");
    const ask = async (
      path: string,
      { key, idempotencyKey, body }: {
        readonly key: string;
        readonly idempotencyKey?: string;
        readonly body: unknown;
      },
    ) => {
      const headers: Record<string, string> = idempotencyKey === undefined
        ? {}
        : { "Idempotency-Key": idempotencyKey };
      const { status, body: answered } = await send(path, { key, headers, body });
      return [status, answered.error?.code ?? "", answered.error?.details?.[0].path ?? ""];
    };
    const ack = MASTER_KEYS.ALERT_ACK;
    const [badAlert, noAlert] = ["/v1/admin/alerts/no%20id/ack", "/v1/admin/alerts/unknown/ack"];
    assert.deepEqual(await ask(badAlert, { key: "wrong", body: {} }), [401, "UNAUTHORIZED", ""]);
    assert.deepEqual(await ask(badAlert, { key: ack, body: {} }), [400, "VALIDATION_FAILED", ""]);
    const { body: { error } } = await send(badAlert, { key: ack, body: {} });
    assert.ok(error.message.includes("Idempotency-Key"));
    const badId = await send(badAlert, { key: ack, headers: { "Idempotency-Key": "k" }, body: {} });
    assert.deepEqual([badId.status, badId.body.error.code], [400, "VALIDATION_FAILED"]);
    assert.ok(badId.body.error.message.includes("alert_id"));
    assert.deepEqual(
      await ask(noAlert, { key: ack, idempotencyKey: "k", body: {} }),
      [422, "VALIDATION_FAILED", "idempotency_key"],
    );
    assert.deepEqual(
      await ask(noAlert, { key: ack, idempotencyKey: "k", body: { idempotency_key: "k" } }),
      [404, "NOT_FOUND", ""],
    );

    const key = MASTER_KEYS.ORG_REACTIVATE;
    const [nobody, acme] = ["/v1/admin/org/nobody/reactivate", "/v1/admin/org/acme/reactivate"];
    const other = { confirm_org_id: "other", idempotency_key: "k" };
    assert.deepEqual(await ask(nobody, { key: "wrong", body: other }), [401, "UNAUTHORIZED", ""]);
    assert.deepEqual(await ask(nobody, { key, body: other }), [400, "VALIDATION_FAILED", ""]);
    assert.deepEqual(
      await ask(nobody, { key, idempotencyKey: "k", body: other }),
      [422, "VALIDATION_FAILED", "confirm_org_id"],
    );
    assert.deepEqual(
      await ask(nobody, { key, idempotencyKey: "k", body: { ...other, confirm_org_id: "nobody" } }),
      [404, "NOT_FOUND", ""],
    );
    assert.deepEqual(
      await ask(acme, { key, idempotencyKey: "k", body: { ...other, confirm_org_id: "acme" } }),
      [409, "CONFLICT", ""],
    );
  }, ON),
);

// ---- faults -----------------------------------------------------------------------------------------------

const GOOD_KEYS = ["jis_AAAA0000000000000000000001", "jis_BBBB0000000000000000000002"] as const;

/**
 * Runs a test with a service whose new keys the test can set. Otherwise they are the first good key, then the
 * second.
 */
async function withMint(
  test: (harness: Harness, mint: { give: (() => string) | null }) => Promise<void>,
): Promise<void> {
  const mint: { give: (() => string) | null } = { give: () => GOOD_KEYS[0] };
  const harness = await openHarness({ ...ON, mintKey: () => mint.give?.() ?? GOOD_KEYS[1] });
  try {
    assert.equal(await harness.organization("acme"), GOOD_KEYS[0]);
    await test(harness, mint);
  } finally {
    await harness.close();
  }
}

Deno.test("a forced rotation that gets no new key is 502 upstream_protocol_violation, is recorded, and the old key keeps working", () =>
  withMint(async (harness, mint) => {
    mint.give = () => "";
    const before = await storedOrganization(harness, "acme");
    const counts = await harness.rowCounts();
    const failed = await make(harness, "ORG_FORCE_ROTATE", { orgId: "acme", idempotencyKey: "k" });
    assert.deepEqual([failed.status, failed.body.error.code], [502, "upstream_protocol_violation"]);
    assert.deepEqual((await storedEvents(harness, "org/acme/admin")).slice(1), [{
      type: "PROTOCOL_VIOLATION",
      actor: "admin-worker",
      prefix: "jis_AAAA",
      at: "2026-11-20T09:00:00.000Z",
      detail: { scope: "ORG_FORCE_ROTATE", reason: "protocol_violation" },
    }]);
    assert.deepEqual(await storedOrganization(harness, "acme"), before);
    assert.equal((await harness.rowCounts()).idempotency, counts.idempotency);
    assert.equal(await statusWith(harness, GOOD_KEYS[0]), 200);

    mint.give = null;
    const mended = await make(harness, "ORG_FORCE_ROTATE", { orgId: "acme", idempotencyKey: "k" });
    assert.deepEqual(
      [mended.status, mended.body.new_api_key, mended.headers.get("Idempotency-Replayed")],
      [200, GOOD_KEYS[1], null],
    );
    assert.equal(await statusWith(harness, GOOD_KEYS[0]), 401);
    mint.give = () => "";
    const again = await make(harness, "ORG_FORCE_ROTATE", { orgId: "acme", idempotencyKey: "k" });
    assert.deepEqual(
      [again.status, contentOf(again)],
      [200, { prefix: "jis_BBBB", already_provisioned: true }],
      "a repeated call mints no key",
    );
  }));

Deno.test("a forced rotation that is refused for its state is 404 or 409 and no violation, even if no key could be minted", () =>
  withMint(async (harness, mint) => {
    mint.give = () => "";
    assert.equal((await make(harness, "ORG_FORCE_ROTATE", { orgId: "nobody" })).status, 404);
    await make(harness, "ORG_SUSPEND", { orgId: "acme" });
    assert.equal((await make(harness, "ORG_FORCE_ROTATE", { orgId: "acme" })).status, 409);
    const events = await storedEvents(harness, "org/acme/admin");
    assert.deepEqual(events.map(({ type }) => type), ["ORG_CREATED", "ADMIN_ORG_SUSPEND"]);
  }));

Deno.test("every other call that gets no new key, or whose minting fails, is 500 and writes nothing, and the same Idempotency-Key then succeeds", () =>
  withMint(async (harness, mint) => {
    const broken: readonly (readonly [string, () => string, readonly MasterScope[]])[] = [
      ["nothing", () => "", ["ORG_CREATE", "BILLING_ROTATE"]],
      ["another form", () => "jis_short", ["ORG_CREATE", "BILLING_ROTATE"]],
      ["a fault", () => {
        throw new Error("the secret source is gone");
      }, MINTING],
    ];
    for (const [name, give, scopes] of broken) {
      for (const scope of scopes) {
        mint.give = give;
        const before = await harness.rowCounts();
        const failed = await make(harness, scope, { orgId: "acme", idempotencyKey: "k" });
        assert.deepEqual(
          [failed.status, failed.body.error.code],
          [500, "INTERNAL_ERROR"],
          `${scope}, ${name}`,
        );
        assert.ok(!failed.text.includes("secret source") && !failed.text.includes("mint"));
        assert.deepEqual(await harness.rowCounts(), before, `${scope}, ${name}`);
        assert.equal((await storedOrganization(harness, "acme")).api_key_version, 1);
      }
    }
    assert.equal(await statusWith(harness, GOOD_KEYS[0]), 200);
    mint.give = null;
    const mended = await make(harness, "BILLING_ROTATE", { orgId: "acme", idempotencyKey: "k" });
    assert.deepEqual([mended.status, mended.body.new_api_key], [200, GOOD_KEYS[1]]);
    mint.give = () => "jis_CCCC0000000000000000000003";
    const created = await make(harness, "ORG_CREATE", { orgId: "acme", idempotencyKey: "k" });
    assert.deepEqual([created.status, created.body.prefix], [201, "jis_CCCC"]);
  }));

Deno.test("a new key that begins like another organization's is 409, and that organization keeps its key", () =>
  withMint(async (harness, mint) => {
    mint.give = () => GOOD_KEYS[1];
    await harness.organization("other");
    mint.give = () => "jis_AAAA0000000000000000000009";
    for (const scope of MINTING) {
      const refused = await make(harness, scope, { orgId: scope === "ORG_CREATE" ? "third" : "other" });
      assert.deepEqual([refused.status, refused.body.error.code], [409, "CONFLICT"], scope);
    }
    let drawn = 0;
    // The prefix of the first candidate is used, that of the second is not.
    const free = "jis_CCCC0000000000000000000003";
    mint.give = () => (drawn++ === 0 ? "jis_AAAA0000000000000000000009" : free);
    const created = await make(harness, "ORG_CREATE", { orgId: "third" });
    assert.deepEqual([created.status, created.body.api_key], [201, free]);
    assert.equal(await statusWith(harness, GOOD_KEYS[0]), 200);
  }));

Deno.test("a call whose commit fails is 500 and writes nothing, and the same Idempotency-Key then succeeds", async () => {
  let faults = 0;
  const harness = await openHarness({
    ...ON,
    wrap: (database) => ({
      ...database,
      batch(statements) {
        if (faults === 0) return database.batch(statements);
        faults -= 1;
        return Promise.reject(new Error("no room in the test"));
      },
    }),
  });
  for (const scope of MUTATING) {
    const orgId = `org-${scope}`;
    const key = await prepare(harness, scope, orgId);
    const before = [await harness.rowCounts(), await storedOrganization(harness, orgId)];
    faults = 1;
    const failed = await make(harness, scope, { orgId, idempotencyKey: "k" });
    assert.equal(faults, 0, scope);
    assert.deepEqual([failed.status, failed.body.error.code], [500, "INTERNAL_ERROR"], scope);
    assert.ok(!failed.text.includes("no room"));
    assert.deepEqual([await harness.rowCounts(), await storedOrganization(harness, orgId)], before, scope);
    assert.equal(await statusWith(harness, key), scope === "ORG_REACTIVATE" ? 401 : 200, scope);
    const mended = await make(harness, scope, { orgId, idempotencyKey: "k" });
    assert.deepEqual(
      [mended.status, mended.headers.get("Idempotency-Replayed")],
      [CALLS[scope].status, null],
      `${scope}: ${mended.text}`,
    );
    if (MINTING.includes(scope)) {
      assert.equal(await statusWith(harness, mended.body.api_key ?? mended.body.new_api_key), 200, scope);
    }
  }
  await harness.close();
});

Deno.test(
  "an Idempotency-Key is read as UTF-8, counted in characters, and stored nowhere as it was sent",
  withHarness(async (harness) => {
    await harness.organization("acme");
    const octets = (text: string) => Array.from(utf8(text), (octet) => String.fromCharCode(octet)).join("");
    const path = "/v1/admin/org/acme/suspend";
    const secret = "é".repeat(200) + "-a secret of the caller";
    const call = () =>
      harness.master("ORG_SUSPEND", path, {
        idempotencyKey: octets(secret),
        body: { confirm_org_id: "acme", idempotency_key: secret },
      });
    assert.equal((await call()).status, 200);
    assert.equal((await call()).headers.get("Idempotency-Replayed"), "true");
    assert.ok(!(await storedText(harness)).includes("a secret of the caller"));
  }, { adminDashboard: true }),
);
