/**
 * Hostile destinations at delivery: the real program refuses rows of the database that it would not register,
 * as after a change of the policy, and asks the kernel for no connection. Source: contract, sections 1
 * (`JISS_WEBHOOK_ALLOW`) and 8.14; issue: "Safe targets".
 */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import {
  type HostileTarget,
  MISUSED_AND_HOSTILE,
  misusedTargets,
  NEVER,
  NO_TARGET,
  NOT_PUBLIC,
  ownListenerTargets,
} from "../hostile_targets.ts";
import {
  changeRows,
  createOrganization,
  freshDeployment,
  type RunningService,
  startService,
} from "../program.ts";
import { resealedIn } from "../resealed.ts";
import { startTraced, straceIsMissing } from "../traced.ts";

/**
 * It is allowed, and nobody listens there: the attempt to connect to it shows that the trace sees
 * connections.
 */
const CONTROL = "127.0.0.77";
const ROWS_EACH = 10;

/** These resolve from the machine's own hosts file, without the network. */
const LOCAL_NAMES: readonly HostileTarget[] = [
  ["https://localhost/", "loopback by name"],
  ["https://LOCALHOST:8443/", "loopback by name in capitals"],
  ["https://%6cocalhost/", "loopback by name, percent-encoded"],
  ["https://ｌｏｃａｌｈｏｓｔ/", "loopback by name in full-width letters"],
];

interface Destination {
  readonly key: string;
  readonly id: string;
  readonly url: string;
  readonly reason: string;
}

interface Tested {
  readonly delivered: boolean;
  readonly response_status: number | null;
  readonly error: string | null;
}

async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as { port: number };
    server.close(() => resolve(port));
  });
  return await promise;
}

/** A row holds only URLs that parse. */
function readable(targets: readonly HostileTarget[]): readonly HostileTarget[] {
  return targets.filter(([url]) => URL.canParse(url));
}

/** Registers a harmless URL for each target, then writes the target in its place. */
async function planted(
  env: Readonly<Record<string, string>>,
  targets: readonly HostileTarget[],
): Promise<readonly Destination[]> {
  const service = await startService(["serve"], { env: { ...env, JISS_WEBHOOK_ALLOW: `${CONTROL}/32` } });
  const destinations: Destination[] = [];
  let key = "";
  for (const [index, [url, reason]] of targets.entries()) {
    if (index % ROWS_EACH === 0) key = await createOrganization(service, env, `org-${index}`);
    const { status, body } = await service.send("/v1/admin/webhook/register", {
      key,
      body: { url: `https://${CONTROL}/`, secret: "a-secret-of-the-receiver" },
    });
    assert.equal(status, 201, JSON.stringify(body));
    destinations.push({ key, id: body.id, url, reason });
  }
  assert.equal(await service.stop(), 0);
  await changeRows(
    env.JISS_DATA_DIR!,
    ...destinations.map(({ id, url }) => ({
      sql: "UPDATE webhook SET url = ? WHERE webhook_id = ?",
      parameters: [url, id],
      mustChange: 1,
    })),
  );
  await resealedIn(env);
  return destinations;
}

async function tested(service: RunningService, { key, id }: Destination): Promise<Tested> {
  const { status, body } = await service.send(`/v1/admin/webhook/${id}/test`, { key, method: "POST" });
  assert.equal(status, 200, JSON.stringify(body));
  const { delivered, response_status, error } = body;
  return { delivered, response_status, error };
}

const REFUSED: Tested = { delivered: false, response_status: null, error: "refused_target" };

/** The address as strace writes it. */
function addressOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname} ${port}`;
}

/**
 * Delivers to every target and to an allowed one: only the allowed one is connected to, all others are
 * refused.
 */
async function assertNoConnection(
  targets: readonly HostileTarget[],
  { allow, port, least }: { readonly allow: string; readonly port: number; readonly least: number },
): Promise<void> {
  assert.ok(targets.length >= least, `${targets.length}`);
  const deployment = await freshDeployment();
  try {
    const closed = await freePort();
    const control: HostileTarget = [`https://${CONTROL}:${closed}/`, "allowed"];
    const env = { ...deployment.env, JISS_HOST: "127.0.0.1" };
    const destinations = await planted(env, [control, ...targets]);
    const trace = `${deployment.directory}/trace`;
    const traced = await startTraced(trace, { ...env, JISS_PORT: `${port}`, JISS_WEBHOOK_ALLOW: allow });
    const { service } = traced;
    try {
      const [first, ...hostile] = destinations;
      assert.equal((await tested(service, first!)).error, "connection_failed", "the control");
      for (const destination of hostile) {
        const of = `${JSON.stringify(destination.url)}: ${destination.reason}`;
        assert.deepEqual(await tested(service, destination), REFUSED, of);
      }
    } finally {
      assert.equal(await service.stop(), 0);
    }
    const database = deployment.env.JISS_DATABASE_URL;
    const own = database === undefined ? [] : [addressOf(database)];
    assert.deepEqual(await traced.destinations(), [...own, `${CONTROL} ${closed}`].sort());
  } finally {
    await deployment.remove();
  }
}

Deno.test({
  name:
    "a delivery to any hostile URL ends as a refused target, and the program connects to none of them [needs strace]",
  ignore: straceIsMissing(),
  async fn() {
    const port = await freePort();
    const targets = readable([
      ...[...NEVER, ...NOT_PUBLIC, ...misusedTargets(CONTROL), ...MISUSED_AND_HOSTILE, ...NO_TARGET],
      ...[...LOCAL_NAMES, ...ownListenerTargets(port)],
    ]);
    await assertNoConnection(targets, { allow: `${CONTROL}/32`, port, least: 150 });
  },
});

Deno.test({
  name:
    "with every network allowed, targets that no setting opens still end as refused, without a connection [needs strace]",
  ignore: straceIsMissing(),
  async fn() {
    const port = await freePort();
    const targets = readable([
      ...[
        ...NEVER,
        ...misusedTargets(CONTROL),
        ...MISUSED_AND_HOSTILE,
        ...NO_TARGET,
        ...ownListenerTargets(port),
      ],
    ]);
    await assertNoConnection(targets, { allow: "0.0.0.0/0,::/0", port, least: 150 });
  },
});
