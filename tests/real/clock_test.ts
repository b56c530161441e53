/** The whole program on a machine whose clock jumps. Source: evidence design, section 4, clock. */
import assert from "node:assert/strict";
import { signerFromPem } from "../../src/evidence/node_crypto.ts";
import { clockLibrary } from "../clock_library.ts";
import { scoreRequest } from "../harness.ts";
import { verifyDatabase } from "../oracle.ts";
import {
  createOrganization,
  type Deployment,
  freshDeployment,
  rowsIn,
  type RunningService,
  runProgram,
  startService,
  until,
  withDatabaseOf,
} from "../program.ts";
import { eventually } from "../webhook_program.ts";

const DAY_MS = 86_400_000;
const LIBRARY = clockLibrary();
const METRICS = { JISS_METRICS_ADDR: "127.0.0.1:0" };

interface Site extends Deployment {
  readonly data: string;
  /** Sets the clock this many milliseconds off. */
  setClock(offset: number): Promise<void>;
}

async function freshSite(): Promise<Site> {
  const deployment = await freshDeployment();
  const file = `${deployment.directory}/clock`;
  const setClock = async (offset: number) => {
    await Deno.writeTextFile(`${file}.next`, `${offset < 0 ? "" : "+"}${offset / 1000}`);
    await Deno.rename(`${file}.next`, file);
  };
  await setClock(0);
  return {
    ...deployment,
    env: {
      ...deployment.env,
      LD_PRELOAD: LIBRARY!,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      DONT_FAKE_MONOTONIC: "1",
    },
    data: deployment.env.JISS_DATA_DIR!,
    setClock,
  };
}

interface Anomaly {
  readonly ts: string;
  readonly expected_at: string;
  readonly clock_at: string;
  readonly noticed: string;
}

function anomaliesIn(data: string): Promise<readonly Anomaly[]> {
  return rowsIn<Anomaly>(
    data,
    `SELECT entry.ts, part.data ->> 'expected_at' AS expected_at, part.data ->> 'clock_at' AS clock_at,
        part.data ->> 'noticed' AS noticed
      FROM audit_entry AS entry JOIN audit_part AS part USING (chain, seq)
      WHERE entry.event_type = 'CLOCK_ANOMALY' AND entry.chain = 'sys' ORDER BY seq`,
  );
}

/** How far the clock was off, rounded to a minute: a test takes seconds. */
function jumpOf({ expected_at, clock_at }: Anomaly): number {
  return Math.round((Date.parse(clock_at) - Date.parse(expected_at)) / 60_000);
}

async function verifyChains(data: string): Promise<void> {
  const { publicKey } = signerFromPem(await Deno.readTextFile(`${data}/signing-key.pem`));
  await withDatabaseOf(data, (database) => verifyDatabase(database, { publicKey }));
}

function scoring(service: RunningService, key: string) {
  return (session: string) => service.send("/v1/score", { key, body: scoreRequest({ session_id: session }) });
}

function onAMadClock(name: string, run: (site: Site) => Promise<void>): void {
  Deno.test({
    name: `${name} [needs libfaketime]`,
    ignore: LIBRARY === null,
    async fn() {
      const site = await freshSite();
      await run(site);
      await site.remove();
    },
  });
}

onAMadClock(
  "a jump of ten minutes either way is served and recorded, and no entry goes back in time",
  async (site) => {
    const service = await startService(["serve"], site);
    const key = await createOrganization(service, site.env);
    const score = scoring(service, key);
    assert.equal((await score("before")).status, 200);
    for (const [count, minutes] of [[1, 10], [2, 0]] as const) {
      await site.setClock(minutes * 60_000);
      assert.equal((await score(`at-${minutes}`)).status, 200);
      await eventually(() => anomaliesIn(site.data), (found) => found.length === count);
    }
    const anomalies = await anomaliesIn(site.data);
    assert.deepEqual(anomalies.map((anomaly) => [jumpOf(anomaly), anomaly.noticed]), [
      [10, "while_running"],
      [-10, "while_running"],
    ]);
    // Log lines are written in the background, and may come after the entries.
    const lines = await eventually(
      () => Promise.resolve(service.log().filter(({ event }) => event === "CLOCK_ANOMALY")),
      (found) => found.length === 2,
    );
    assert.deepEqual(lines.map(({ audit, chain }) => [audit, chain]), [[true, "sys"], [true, "sys"]]);
    assert.equal(await service.stop(), 0);
    await verifyChains(site.data);
  },
);

onAMadClock(
  "with the clock two days ahead nothing is recorded and everything can be read, even after a restart, until the clock is right again",
  async (site) => {
    let service = await startService(["serve"], { env: { ...site.env, ...METRICS } });
    const key = await createOrganization(service, site.env);
    assert.equal((await scoring(service, key)("before")).status, 200);
    const heads = () => rowsIn(site.data, "SELECT chain, size, last_ts FROM audit_chain ORDER BY chain");
    const ready = async () => {
      const url = String(service.log().find(({ msg }) => msg === "listening")!.metrics_url);
      const answer = await fetch(`${url}/readyz`);
      const { status: said } = await answer.json();
      const metrics = await (await fetch(`${url}/metrics`)).text();
      return [answer.status, said, /^jiss_clock_refused (\d)$/m.exec(metrics)?.[1]];
    };
    assert.deepEqual(await ready(), [200, "ready", "0"]);

    await site.setClock(2 * DAY_MS);
    const before = await heads();
    const requireRefused = async () => {
      const refused = await scoring(service, key)("refused");
      assert.deepEqual([refused.status, refused.headers.get("Retry-After")], [503, "60"]);
      assert.match(refused.body.error.message, /`jiss doctor --accept-clock`/);
      const read = await service.send("/v1/organization/dashboard", { key });
      assert.equal(read.status, 200);
      assert.deepEqual(await ready(), [503, "clock refused", "1"]);
    };
    await requireRefused();
    const lines = () =>
      service.log().filter(({ msg }) => String(msg).includes("clock has jumped too far ahead"));
    await until(() => lines().length > 0);
    assert.deepEqual(
      lines().map(({ level, mend }) => [level, String(mend).includes("jiss doctor --accept-clock")]),
      [
        ["error", true],
      ],
    );
    const command = await runProgram(["org", "suspend", "acme"], { env: site.env });
    assert.deepEqual([command.code, command.stdout], [1, ""]);
    assert.match(command.stderr, /clock has jumped too far ahead/);
    const keyFiles = () =>
      [...Deno.readDirSync(site.data)].map(({ name }) => name).filter((name) => name.endsWith(".pem"));
    const present = await Deno.readTextFile(`${site.data}/signing-key.pem`);
    const rotation = await runProgram(["rotate-signing-key"], { env: site.env });
    assert.deepEqual([rotation.code, rotation.stdout], [1, ""]);
    assert.match(rotation.stderr, /clock has jumped too far ahead/);
    assert.deepEqual(keyFiles(), ["signing-key.pem"], "no file was changed");
    assert.equal(await Deno.readTextFile(`${site.data}/signing-key.pem`), present);
    const doctor = await runProgram(["doctor"], { env: site.env });
    assert.equal(doctor.code, 1);
    assert.match(doctor.stdout, /^wrong +clock +.*: nothing is recorded.* --accept-clock$/m);

    // A restart does not help.
    assert.equal(await service.stop(), 0);
    service = await startService(["serve"], { env: { ...site.env, ...METRICS } });
    await requireRefused();
    assert.deepEqual(await heads(), before);

    await site.setClock(0);
    await eventually(() => scoring(service, key)("after"), ({ status }) => status === 200);
    assert.deepEqual(await ready(), [200, "ready", "0"]);
    assert.deepEqual(await anomaliesIn(site.data), []);
    assert.equal(await service.stop(), 0);
    await verifyChains(site.data);
  },
);

onAMadClock(
  "a clock that an administrator accepts is recorded, and the running service continues with it",
  async (site) => {
    const accept = () => runProgram(["doctor", "--accept-clock"], { env: site.env });
    const service = await startService(["serve"], site);
    const key = await createOrganization(service, site.env);
    const nothing = await accept();
    assert.deepEqual([nothing.code, nothing.stderr], [0, ""]);
    assert.match(nothing.stdout, /is not refused, so nothing was recorded/);
    assert.deepEqual(await anomaliesIn(site.data), []);

    await site.setClock(2 * DAY_MS);
    assert.equal((await scoring(service, key)("refused")).status, 503);
    const accepted = await accept();
    assert.deepEqual([accepted.code, accepted.stderr], [0, ""]);
    await eventually(() => scoring(service, key)("accepted"), ({ status }) => status === 200);
    const [anomaly, ...others] = await anomaliesIn(site.data);
    assert.deepEqual([jumpOf(anomaly!), anomaly!.noticed, others], [2 * 24 * 60, "accepted", []]);
    const again = await runProgram(["doctor", "--accept-clock", "--json"], { env: site.env });
    assert.deepEqual(JSON.parse(again.stdout), { accepted: null });
    const { stdout } = await runProgram(["doctor", "--json"], { env: site.env });
    const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string }[] };
    assert.equal(checks.find(({ check }) => check === "clock")!.state, "ok");
    assert.equal(await service.stop(), 0);
    await verifyChains(site.data);
  },
);

onAMadClock(
  "a start 30 days later is served and recorded; a start 500 days later waits for acceptance and then completes",
  async (site) => {
    let service = await startService(["serve"], site);
    const key = await createOrganization(service, site.env);
    assert.equal(await service.stop(), 0);

    await site.setClock(30 * DAY_MS);
    service = await startService(["serve"], site);
    assert.equal((await scoring(service, key)("later")).status, 200);
    const [anomaly, ...others] = await anomaliesIn(site.data);
    assert.deepEqual([jumpOf(anomaly!), anomaly!.noticed, others], [30 * 24 * 60, "at_start", []]);
    assert.equal(await service.stop(), 0);

    await site.setClock(530 * DAY_MS);
    const bootstrap = `${site.directory}/first.json`;
    const keyFile = `${site.directory}/first.key`;
    await Deno.writeTextFile(
      bootstrap,
      JSON.stringify({
        org_id: "first",
        name: "First",
        domain: "legal",
        tier: "starter",
        allowed_origins: "",
        api_key_file: keyFile,
      }),
    );
    const changed = { JISS_AUDIT_RETENTION_DAYS: "120", JISS_BOOTSTRAP_ORG_FILE: bootstrap };
    service = await startService(["serve"], { env: { ...site.env, ...changed } });
    assert.equal((await scoring(service, key)("refused")).status, 503);
    const policies = () =>
      rowsIn(site.data, "SELECT 1 FROM audit_entry WHERE event_type = 'RETENTION_POLICY'");
    assert.deepEqual(await policies(), []);
    assert.equal((await runProgram(["doctor", "--accept-clock"], { env: site.env })).code, 0);
    await eventually(() => scoring(service, key)("accepted"), ({ status }) => status === 200);
    assert.equal((await policies()).length > 0, true);
    const first = (await Deno.readTextFile(keyFile)).trim();
    assert.equal((await service.send("/v1/organization/dashboard", { key: first })).status, 200);
    assert.equal(await service.stop(), 0);
    await verifyChains(site.data);
  },
);

onAMadClock("`jiss dev` never refuses", async (site) => {
  const { JISS_DATABASE_URL: _url, JISS_DATABASE_ADMIN_URL: _admin, ...env } = site.env;
  const data = `${site.directory}/dev`;
  const dev = { env: { ...env, JISS_DATA_DIR: data } };
  await (await startService(["dev"], dev)).stop();
  await site.setClock(500 * DAY_MS);
  const service = await startService(["dev"], dev);
  const keyLine = /only copy\): +(\S+)/;
  await until(() => keyLine.test(service.output()));
  const key = keyLine.exec(service.output())![1]!;
  assert.equal((await scoring(service, key)("later")).status, 200);
  await site.setClock(550 * DAY_MS);
  assert.equal((await scoring(service, key)("later_still")).status, 200);
  assert.equal(await service.stop(), 0);
  await verifyChains(data);
});
