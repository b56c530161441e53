/**
 * Every secret is rotated while requests run, over real processes. No valid secret is refused, and no old one
 * is accepted. (The signing key: rotate_test.ts.)
 * Source: contract, section 1; docs/operate/keys-and-secrets.md.
 */
import assert from "node:assert/strict";
import { deriveSecretsKey } from "../../src/keys/secrets.ts";
import { formatSigningSecret, unwrapSigningSecret } from "../../src/keys/webhook_secret.ts";
import { MASTER_SCOPES, type MasterScope } from "../../src/keys/master_keys.ts";
import { scoreRequest } from "../harness.ts";
import {
  createOrganization,
  freshDeployment,
  rowsIn,
  type RunningService,
  runProgram,
  startService,
  until,
} from "../program.ts";

type Environment = Readonly<Record<string, string>>;

function withEnvironment(test: (env: Environment) => Promise<void>): () => Promise<void> {
  return async () => {
    const { env, remove } = await freshDeployment();
    await test(env);
    await remove();
  };
}

async function serving<Result>(
  env: Environment,
  work: (service: RunningService) => Promise<Result>,
): Promise<Result> {
  const service = await startService(["serve"], { env });
  try {
    return await work(service);
  } finally {
    assert.equal(await service.stop(), 0);
  }
}

/** The doctor's findings, by check. */
async function examined(env: Environment) {
  const { stdout, stderr } = await runProgram(["doctor", "--json"], { env });
  assert.equal(stderr, "");
  const { checks } = JSON.parse(stdout);
  // deno-lint-ignore no-explicit-any -- findings are whatever the program said
  return Object.fromEntries(checks.map((row: any) => [row.check, row]));
}

let sessions = 0;

const freshScore = () => scoreRequest({ session_id: `s-${sessions += 1}` });

async function statusOf(service: RunningService, key: string): Promise<number> {
  return (await service.send("/v1/score", { key, body: freshScore() })).status;
}

const statusesOf = (service: RunningService, keys: readonly string[]) =>
  Promise.all(keys.map((key) => statusOf(service, key)));

// ---- the pepper -------------------------------------------------------------------------------------------

const NEXT_PEPPER = "the-pepper-that-comes-next-0123456789-01";

/** A client that sends requests without a pause, and counts the statuses of the answers. */
function restless(key: string, serviceNow: () => RunningService) {
  const statuses = new Map<number, number>();
  let connectionErrors = 0;
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      try {
        const status = await statusOf(serviceNow(), key);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      } catch {
        connectionErrors += 1;
        await new Promise((next) => setTimeout(next, 5));
      }
    }
  })();
  return {
    statuses,
    connectionErrors: () => connectionErrors,
    async stop() {
      stopped = true;
      await running;
    },
  };
}

Deno.test(
  "while the pepper is rotated under load no valid key is refused; each used key is moved, and an unused one is refused without the old pepper, as the doctor said",
  withEnvironment(async (env) => {
    let service = await startService(["serve"], { env });
    const keys: string[] = [];
    for (const name of ["one", "two", "three", "unused"]) {
      keys.push(await createOrganization(service, env, name));
    }
    const used = keys.slice(0, 3);
    const clients = used.map((key) => restless(key, () => service));
    const everybodyHasScored = (times: number) =>
      clients.every(({ statuses }) => (statuses.get(200) ?? 0) >= times);
    await until(() => everybodyHasScored(5));

    const rotating = { ...env, JISS_KEY_PEPPER: NEXT_PEPPER, JISS_KEY_PEPPER_PREVIOUS: env.JISS_KEY_PEPPER! };
    assert.equal(await service.stop(), 0);
    service = await startService(["serve"], { env: rotating });
    const counts = clients.map(({ statuses }) => statuses.get(200)!);
    await until(() => clients.every(({ statuses }, index) => statuses.get(200)! >= counts[index]! + 5));
    for (const client of clients) await client.stop();
    for (const { statuses } of clients) {
      // 503 is the answer of a service that is being stopped. The client sends again.
      assert.deepEqual([...statuses.keys()].filter((status) => status !== 503), [200]);
    }
    assert.ok(clients.some(({ connectionErrors }) => connectionErrors() > 0), "the clients saw the restart");
    assert.equal(await service.stop(), 0);

    const half = await examined(rotating);
    assert.deepEqual(
      [half.previous_pepper.state, half.previous_pepper.organizations],
      ["note", ["unused"]],
    );
    assert.equal(half.installation_key.state, "ok");
    const alone = { ...env, JISS_KEY_PEPPER: NEXT_PEPPER };
    const foretold = await examined(alone);
    assert.deepEqual([foretold.lost_pepper.state, foretold.lost_pepper.organizations], ["wrong", ["unused"]]);
    await serving(alone, async (last) => {
      assert.deepEqual(await statusesOf(last, keys), [200, 200, 200, 401]);
    });

    // With both peppers the unused key works again. After this use no key is left under the old pepper.
    await serving(rotating, async (back) => {
      assert.deepEqual(await statusesOf(back, keys), [200, 200, 200, 200]);
    });
    assert.equal((await examined(rotating)).previous_pepper.state, "ok");
    await serving(alone, async (last) => {
      assert.deepEqual(await statusesOf(last, keys), [200, 200, 200, 200]);
    });
  }),
);

Deno.test(
  "while the pepper of two processes on one database is rotated one after the other, no valid key is refused",
  withEnvironment(async (env) => {
    const old = env.JISS_KEY_PEPPER!;
    const services = [await startService(["serve"], { env }), await startService(["serve"], { env })];
    const keys = [await createOrganization(services[0]!, env, "one")];
    const bothServe = async () => {
      // Each key is sent to both processes twice: the one must know what the other has stored anew.
      for (const service of [...services, ...services]) {
        assert.deepEqual(new Set(await statusesOf(service, keys)), new Set([200]));
      }
    };
    const both = { ...env, JISS_KEY_PEPPER_PREVIOUS: NEXT_PEPPER };
    const swapped = { ...env, JISS_KEY_PEPPER: NEXT_PEPPER, JISS_KEY_PEPPER_PREVIOUS: old };
    const alone = { ...env, JISS_KEY_PEPPER: NEXT_PEPPER };
    for (const step of [both, swapped, alone]) {
      for (const index of [0, 1]) {
        assert.equal(await services[index]!.stop(), 0);
        services[index] = await startService(["serve"], { env: step });
        keys.push(await createOrganization(services[index]!, env, `org-${keys.length}`));
        await bothServe();
      }
      await bothServe();
      if (step === swapped) assert.equal((await examined(alone)).lost_pepper.state, "ok");
    }
    for (const service of services) assert.equal(await service.stop(), 0);
  }),
);

/** The signing secret of a webhook, computed from the database and the environment alone. */
async function signingSecretIn(env: Environment, webhookId: string): Promise<string> {
  const [webhook] = await rowsIn<{ wrapped_secret: Uint8Array }>(
    env.JISS_DATA_DIR!,
    "SELECT wrapped_secret FROM webhook WHERE webhook_id = ?",
    webhookId,
  );
  const keys = [deriveSecretsKey(env.JISS_SECRETS_KEY ?? env.JISS_KEY_PEPPER!)];
  return formatSigningSecret(unwrapSigningSecret(webhook!.wrapped_secret, { keys, webhookId })!.plain);
}

// ---- the secrets key --------------------------------------------------------------------------------------

Deno.test(
  "each step of the secrets key's rotation wraps the installation key anew, and a repeated call from before gets its first answer",
  withEnvironment(async (env) => {
    const [own, next] = ["secrets-key-the-first-0123456789-0123", "secrets-key-the-second-0123456789-012"];
    const { key, first, webhook } = await serving(env, async (service) => {
      const key = await createOrganization(service, env);
      const { body } = await service.send("/v1/score", {
        key,
        body: scoreRequest({ session_id: "repeated" }),
      });
      const webhook = await service.send("/v1/admin/webhook/register", {
        key,
        body: { url: "https://198.41.0.4/jiss", secret: "a-secret-of-the-receiver" },
      });
      assert.equal(webhook.status, 201, JSON.stringify(webhook.body));
      return { key, first: body, webhook: webhook.body };
    });
    const steps: readonly Environment[] = [
      { ...env, JISS_SECRETS_KEY: own },
      { ...env, JISS_SECRETS_KEY: next, JISS_KEY_PEPPER_PREVIOUS: own },
      { ...env, JISS_KEY_PEPPER_PREVIOUS: next },
      // A secrets key that is derived from the pepper changes with it.
      { ...env, JISS_KEY_PEPPER: NEXT_PEPPER, JISS_KEY_PEPPER_PREVIOUS: env.JISS_KEY_PEPPER! },
    ];
    for (const step of steps) {
      const before = await examined(step);
      assert.deepEqual([before.installation_key.state, before.webhook_secrets.state], ["note", "note"]);
      await serving(step, async (service) => {
        const { status, body } = await service.send("/v1/score", {
          key,
          body: scoreRequest({ session_id: "repeated" }),
        });
        assert.deepEqual([status, body], [200, first], "the digest of the request is the same");
      });
      const { JISS_KEY_PEPPER_PREVIOUS: _, ...without } = step;
      const after = await examined(without);
      assert.deepEqual([after.installation_key.state, after.webhook_secrets.state], ["ok", "ok"]);
      assert.equal(
        await signingSecretIn(without, webhook.id),
        webhook.signing_secret,
        "wrapped anew, and the same secret",
      );
    }
    const before = await runProgram(["serve"], { env: { ...env, JISS_PORT: "0" } });
    assert.equal(before.code, 78, "the old secret opens nothing any more");
  }),
);

// ---- master secrets ---------------------------------------------------------------------------------------

/** A call of each scope that changes nothing, because the organization or alert does not exist. */
function harmlessCall(service: RunningService, scope: MasterScope, key: string) {
  const confirmed = { confirm_org_id: "nobody", idempotency_key: "1" };
  const calls: Readonly<Record<MasterScope, readonly [path: string, body: unknown]>> = {
    ORG_CREATE: ["/v1/admin/org/create", {}],
    BILLING_SUSPEND: ["/v1/admin/billing/org/nobody/suspend", {}],
    BILLING_ROTATE: ["/v1/admin/billing/org/nobody/rotate", {}],
    ORG_USAGE_READ: ["/v1/admin/org/nobody/usage", undefined],
    ORG_SUSPEND: ["/v1/admin/org/nobody/suspend", confirmed],
    ORG_REACTIVATE: ["/v1/admin/org/nobody/reactivate", confirmed],
    ORG_FORCE_ROTATE: ["/v1/admin/org/nobody/force-rotate", confirmed],
    ORG_FORCE_REVOKE: ["/v1/admin/org/nobody/force-revoke", confirmed],
    ALERT_ACK: ["/v1/admin/alerts/nobody/ack", { idempotency_key: "1" }],
  };
  const [path, body] = calls[scope];
  return service.send(path, {
    key,
    headers: { "Idempotency-Key": "1" },
    ...(body === undefined ? {} : { body }),
  });
}

Deno.test(
  "each master secret is rotated alone: the previous one is accepted beside the new one for its own scope, and refused once it is unset",
  withEnvironment(async (plain) => {
    const env: Environment = { ...plain, JISS_ADMIN_DASHBOARD: "on" };
    const nameOf = (scope: MasterScope) => `MASTER_ADMIN_KEY_${scope}`;
    const next = (scope: MasterScope) => `the-next-secret-of-${scope}-0123456789-012`;
    const rotating: Record<string, string> = { ...env };
    for (const scope of MASTER_SCOPES) {
      rotating[nameOf(scope)] = next(scope);
      rotating[`${nameOf(scope)}_PREVIOUS`] = env[nameOf(scope)]!;
    }
    const expected = (scope: MasterScope) => scope === "ORG_CREATE" ? 422 : 404;
    const answers = (service: RunningService, secretOf: (scope: MasterScope) => string) =>
      Promise.all(
        MASTER_SCOPES.map(async (scope) => (await harmlessCall(service, scope, secretOf(scope))).status),
      );
    const old = (scope: MasterScope) => env[nameOf(scope)]!;
    const others = (scope: MasterScope) =>
      old(MASTER_SCOPES[(MASTER_SCOPES.indexOf(scope) + 1) % MASTER_SCOPES.length]!);
    const served = MASTER_SCOPES.map(expected);
    const refused = MASTER_SCOPES.map(() => 401);
    await serving(env, async (service) => {
      assert.deepEqual(await answers(service, old), served);
      assert.deepEqual(await answers(service, next), refused);
    });
    await serving(rotating, async (service) => {
      assert.deepEqual(await answers(service, old), served);
      assert.deepEqual(await answers(service, next), served);
      assert.deepEqual(await answers(service, others), refused);
    });
    const finding = (await examined(rotating)).master_secrets;
    assert.deepEqual([finding.state, finding.what.endsWith(MASTER_SCOPES.join(", "))], ["note", true]);
    const done = Object.fromEntries(Object.entries(rotating).filter(([name]) => !name.endsWith("_PREVIOUS")));
    await serving(done, async (service) => {
      assert.deepEqual(await answers(service, old), refused);
      assert.deepEqual(await answers(service, next), served);
    });
  }),
);

// ---- an organization's key --------------------------------------------------------------------------------

const CONNECTIONS = 8;
const ROTATIONS = 10;

/** One call of a client: its key, when it was sent and answered, and the status. */
interface Sent {
  readonly key: string;
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly status: number;
}

/** When the rotation that ended a key was sent, and when it was answered. */
interface End {
  readonly askedAt: number;
  readonly answeredAt: number;
}

/** Rotates the key repeatedly while clients score with the present key and the one before it. */
async function rotatedUnderLoad(services: readonly RunningService[], first: string) {
  const sent: Sent[] = [];
  const ends = new Map<string, End>();
  let [key, before] = [first, first];
  let stopped = false;
  const clients = Array.from({ length: CONNECTIONS }, async (_, index) => {
    for (let turn = index; !stopped; turn += 1) {
      const used = turn % 3 === 0 ? before : key;
      const sentAt = performance.now();
      const status = await statusOf(services[turn % services.length]!, used);
      sent.push({ key: used, sentAt, answeredAt: performance.now(), status });
    }
  });
  const more = async (calls: number) => {
    const target = sent.length + calls;
    await until(() => sent.length >= target);
  };
  for (let rotation = 0; rotation < ROTATIONS; rotation += 1) {
    await more(2 * CONNECTIONS);
    const askedAt = performance.now();
    const { status, body } = await services[rotation % services.length]!.send("/v1/admin/key/rotate", {
      method: "POST",
      key,
    });
    assert.equal(status, 200, JSON.stringify(body));
    const ended = key;
    const answeredAt = performance.now();
    ends.set(ended, { askedAt, answeredAt });
    [before, key] = [ended, body.new_api_key];
    // On a busy machine no client may have used the old key before the next rotation.
    await until(() => sent.some((call) => call.key === ended && call.sentAt > answeredAt));
  }
  await more(3 * CONNECTIONS);
  stopped = true;
  await Promise.all(clients);
  return { sent, ends };
}

for (const processes of [1, 2]) {
  Deno.test(
    `after the answer to a rotation the old key never works and the new one always does, under load on ${processes} ${
      processes === 1 ? "process" : "processes"
    }`,
    withEnvironment(async (env) => {
      const services: RunningService[] = [];
      for (let index = 0; index < processes; index += 1) {
        services.push(await startService(["serve"], { env }));
      }
      const { sent, ends } = await rotatedUnderLoad(services, await createOrganization(services[0]!, env));
      const NEVER: End = { askedAt: Infinity, answeredAt: Infinity };
      const endOf = (key: string) => ends.get(key) ?? NEVER;
      const statusesOf = (calls: readonly Sent[]) => [...new Set(calls.map(({ status }) => status))].sort();
      const inTime = sent.filter(({ key, answeredAt }) => answeredAt < endOf(key).askedAt);
      const late = sent.filter(({ key, sentAt }) => sentAt > endOf(key).answeredAt);
      assert.deepEqual(statusesOf(inTime), [200], "keys before the end was requested");
      assert.deepEqual(statusesOf(late), [401], "keys that had ended");
      // Calls in between were handled either before the end or after it.
      const meanwhile = sent.filter((call) => !inTime.includes(call) && !late.includes(call));
      assert.deepEqual(statusesOf(meanwhile).filter((status) => status !== 200 && status !== 401), []);
      for (const end of ends.keys()) {
        assert.ok(late.some(({ key }) => key === end), "each old key was tried after its end");
      }
      for (const service of services) assert.equal(await service.stop(), 0);
    }),
  );
}
