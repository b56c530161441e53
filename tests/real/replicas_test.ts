/**
 * Several hosts of one deployment over one real libSQL server: no fork, no gap, no score lost or doubled.
 * Source: contract, section 6; specification, Idempotency; evidence design, section 5.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { signerFromPem } from "../../src/evidence/node_crypto.ts";
import { openLibsql } from "../../src/store/libsql.ts";
import { rowsOf } from "../earlier_schema.ts";
import { scoreRequest } from "../harness.ts";
import { type Fate, type LossyProxy, openLossyProxy } from "../lossy_proxy.ts";
import { verifyDatabase } from "../oracle.ts";
import {
  type Answer,
  createOrganization,
  type RunningService,
  runProgram,
  startService,
  until,
} from "../program.ts";
import { certificate, openReceiver } from "../receiver.ts";
import { type Host, type SharedDeployment, sharedDeployment } from "../replicas.ts";
import { HAS_SQLD, silence, startSqld } from "../sqld.ts";
import { pastOf } from "../delivering.ts";

const serve = ({ env }: Host, more: Readonly<Record<string, string>> = {}) =>
  startService(["serve"], { env: { ...env, ...more } });

function replicasTest(
  name: string,
  count: number,
  test: (deployment: SharedDeployment) => Promise<void>,
): void {
  Deno.test({
    name: `${name} [needs sqld]`,
    ignore: !HAS_SQLD,
    async fn() {
      const deployment = await sharedDeployment(count);
      try {
        await test(deployment);
      } finally {
        await deployment.remove();
      }
    },
  });
}

/** Verifies every chain; @returns how often each session was scored. */
async function verifiedScores({ sqld, signingKey }: SharedDeployment): Promise<ReadonlyMap<string, number>> {
  const database = openLibsql({
    url: sqld.url,
    authToken: null,
    fetch,
    newId: () => randomUUID(),
    time: { monotonic: () => performance.now(), wait: () => Promise.resolve() },
    strengthen: null,
    onTrouble() {},
  });
  await verifyDatabase(database, { publicKey: signerFromPem(signingKey).publicKey });
  const rows = await rowsOf(
    database,
    `SELECT data ->> 'session_id' AS session, count(*) AS n FROM audit_part p JOIN audit_entry e USING (chain, seq)
      WHERE p.name = 'input' AND e.event_type = 'SCORE_COMPUTED' GROUP BY e.chain, session`,
  );
  await database.close();
  return new Map(rows.map(({ session, n }) => [String(session), Number(n)]));
}

const SCORES = 600;
const ORGANIZATIONS = 5;
const SENDERS = 32;
const PATIENCE_MS = 120_000;
const REPLICATION_MS = 1_000;
const SILENCE_MS = 25_000;

Deno.test({
  name:
    "600 scores at once from two replicas, one killed, the primary killed before and after a write: each acknowledged one is there once [needs sqld]",
  ignore: !HAS_SQLD,
  async fn() {
    const fates: Fate[] = [];
    const proxies: LossyProxy[] = [];
    const deployment = await sharedDeployment(2, {
      url(sqld, host) {
        if (host !== 0) return sqld.url;
        const proxy = openLossyProxy({
          to: sqld.url,
          fate: (_, body) => body.includes("SCORE_COMPUTED") ? fates.shift() ?? "passed" : "passed",
          async beforeLoss() {
            await sqld.stop();
            await sqld.start();
          },
        });
        proxies.push(proxy);
        return proxy.url;
      },
    });
    const [one, other] = [await serve(deployment.hosts[0]!), await serve(deployment.hosts[1]!)];
    const keys: string[] = [];
    for (let index = 0; index < ORGANIZATIONS; index += 1) {
      keys.push(await createOrganization(one, deployment.hosts[0]!.env, `org-${index}`));
    }
    const steps = [
      { at: SCORES / 3, run: () => fates.push("never") },
      { at: SCORES / 2, run: () => other.kill("SIGKILL") },
      { at: SCORES * 2 / 3, run: () => fates.push("lost") },
    ];
    const isKilled = () => steps.length < 2;
    const statuses = new Set<number>();
    const answers = new Map<number, Answer>();
    let next = 0;
    const request = (index: number) => ({
      key: keys[index % ORGANIZATIONS]!,
      body: scoreRequest({ session_id: `s-${index}`, operator_id: `operator-${index % 40}` }),
    });
    const sender = async () => {
      for (let index = next++; index < SCORES; index = next++) {
        if (answers.size >= (steps[0]?.at ?? Infinity)) steps.shift()!.run();
        const until = performance.now() + PATIENCE_MS;
        for (let attempt = 0;; attempt += 1) {
          const service = isKilled() || (index + attempt) % 2 === 0 ? one : other;
          const answer = await service.send("/v1/score", request(index)).catch((error) => {
            // A broken connection to the killed process has acknowledged nothing.
            if (service === other && isKilled()) return null;
            throw error;
          });
          if (answer !== null) statuses.add(answer.status);
          if (answer?.status === 200) {
            answers.set(index, answer);
            break;
          }
          if (answer !== null) assert.match(answer.headers.get("Retry-After") ?? "none", /^\d+$/);
          assert.ok(performance.now() < until, `session ${index} was not accepted: ${answer?.status}`);
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, sender));
    assert.deepEqual([...statuses].filter((status) => status !== 200 && status !== 503), []);
    const { never, lost } = proxies[0]!.counts;
    assert.deepEqual({ never, lost }, { never: 1, lost: 1 });

    const scored = await verifiedScores(deployment);
    assert.equal(answers.size, SCORES);
    assert.equal(scored.size, SCORES);
    assert.deepEqual([...scored].filter(([, count]) => count !== 1), []);
    for (let index = 0; index < SCORES; index += 29) {
      const again = await one.send("/v1/score", request(index));
      assert.equal(again.headers.get("Idempotency-Replayed"), "true");
      assert.deepEqual(again.body, answers.get(index)!.body);
    }
    assert.equal(await one.stop(), 0);
    await proxies[0]!.close();
    await deployment.remove();
  },
});

replicasTest(
  "replicas that start at once on an empty server agree on one schema and one installation",
  3,
  async (deployment) => {
    const services = await Promise.all(deployment.hosts.map((host) => serve(host)));
    const key = await createOrganization(services[0]!, deployment.hosts[0]!.env);
    const answers = await Promise.all(
      services.map((service, index) =>
        service.send("/v1/score", { key, body: scoreRequest({ session_id: `s-${index}` }) })
      ),
    );
    assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200]);
    for (const service of services) assert.equal(await service.stop(), 0);
    assert.equal((await verifiedScores(deployment)).size, 3);
  },
);

replicasTest(
  "while the server is silent, all waiting requests are refused together, later ones sooner, and nothing acknowledged is lost",
  1,
  async (deployment) => {
    const [host] = deployment.hosts as [Host];
    const service = await serve(host);
    const key = await createOrganization(service, host.env);
    const acknowledged = new Set<string>();
    /** How often each sender was refused. */
    const refusals = Array.from({ length: 400 }, () => 0);
    let isOver = false;
    let next = 0;
    const sender = async (index: number) => {
      while (!isOver) {
        const session = `s-${next++}`;
        const { status, headers } = await service.send("/v1/score", {
          key,
          body: scoreRequest({ session_id: session }),
        });
        if (status === 200) acknowledged.add(session);
        else {
          assert.equal(status, 503);
          assert.equal(headers.get("Retry-After"), "1");
          refusals[index]! += 1;
        }
      }
    };
    const senders = Promise.all(refusals.map((_, index) => sender(index)));
    await until(() => acknowledged.size > 100);
    await silence(deployment.sqld.pid);
    const isRefused = () => refusals.every((count) => count > 0);
    for (const end = performance.now() + SILENCE_MS; !isRefused() && performance.now() < end;) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    // A request may take 8 s, and the check of the batch in doubt 5 s more. Refusing in groups, one after
    // another, would take longer.
    assert.ok(isRefused(), "nobody waits until the silence ends");
    Deno.kill(deployment.sqld.pid, "SIGCONT");
    const before = acknowledged.size;
    await until(() => acknowledged.size > before);
    isOver = true;
    await senders;
    assert.equal(await service.stop(), 0);
    const scored = await verifiedScores(deployment);
    assert.deepEqual([...acknowledged].filter((session) => scored.get(session) !== 1), []);
  },
);

replicasTest(
  "a key that is rotated, suspended or revoked at one replica fails at every other as soon as the call is answered",
  2,
  async (deployment) => {
    const [host] = deployment.hosts;
    const services = await Promise.all(
      deployment.hosts.map((each) => serve(each, { JISS_ADMIN_DASHBOARD: "on" })),
    );
    const [one, other] = services as [RunningService, RunningService];
    const { env } = host!;
    const status = async (service: RunningService, key: string) =>
      (await service.send("/v1/organization/dashboard", { key })).status;
    let key = await createOrganization(one, env);
    for (let round = 0; round < 6; round += 1) {
      const [here, there] = round % 2 === 0 ? [one, other] : [other, one];
      assert.deepEqual([await status(here, key), await status(there, key)], [200, 200]);
      const { body } = await here.send("/v1/admin/key/rotate", {
        key,
        headers: { "Idempotency-Key": `rotate-${round}` },
        body: {},
      });
      const [before, after] = [await status(there, key), await status(there, body.new_api_key)];
      assert.deepEqual([before, after], [401, 200], JSON.stringify(body));
      key = body.new_api_key;
    }
    const master = (service: RunningService, scope: string, path: string) =>
      service.send(path, {
        key: env[`MASTER_ADMIN_KEY_${scope}`]!,
        headers: { "Idempotency-Key": path },
        body: { confirm_org_id: "acme", idempotency_key: path },
      });
    const suspended = await master(one, "ORG_SUSPEND", "/v1/admin/org/acme/suspend");
    assert.equal(suspended.status, 200, JSON.stringify(suspended.body));
    assert.equal(await status(other, key), 401);
    const back = await master(other, "ORG_REACTIVATE", "/v1/admin/org/acme/reactivate");
    assert.equal(back.status, 200, JSON.stringify(back.body));
    assert.equal(await status(one, key), 200);
    const revoked = await master(other, "ORG_FORCE_REVOKE", "/v1/admin/org/acme/force-revoke");
    assert.equal(revoked.status, 200, JSON.stringify(revoked.body));
    assert.equal(await status(one, key), 401);
    for (const service of services) assert.equal(await service.stop(), 0);
  },
);

replicasTest(
  "an Idempotency-Key and a session_id that are sent to two replicas at once run once",
  2,
  async (deployment) => {
    const services = await Promise.all(deployment.hosts.map((host) => serve(host)));
    const { env } = deployment.hosts[0]!;
    for (let round = 0; round < 8; round += 1) {
      const created = await Promise.all(
        services.map((service) => createOrganization(service, env, `org-${round}`)),
      );
      const keys = created.filter((key) => key !== undefined);
      assert.equal(keys.length, 1, "a key is shown once");
      const scores = await Promise.all(
        services.map((service) => service.send("/v1/score", { key: keys[0]!, body: scoreRequest() })),
      );
      assert.deepEqual(scores.map(({ status }) => status), [200, 200]);
      assert.deepEqual(scores[0]!.body, scores[1]!.body);
      const replayed = scores.filter(({ headers }) => headers.get("Idempotency-Replayed") === "true");
      assert.equal(replayed.length, 1);
    }
    for (const service of services) assert.equal(await service.stop(), 0);
    await verifiedScores(deployment);
  },
);

replicasTest(
  "each delivery of a webhook is made by one replica, even if the one that had claimed it is killed",
  2,
  async (deployment) => {
    const receiver = await openReceiver();
    const authority = `${deployment.hosts[0]!.directory}/authority.pem`;
    await Deno.writeTextFile(authority, (await certificate()).authority);
    const more = { JISS_WEBHOOK_ALLOW: "127.0.0.0/8,::1/128", JISS_EXTRA_CA_FILE: authority };
    const [one, other] = await Promise.all(deployment.hosts.map((host) => serve(host, more)));
    const key = await createOrganization(one!, deployment.hosts[0]!.env);
    assert.equal((await one!.send("/v1/score/batch", { key, body: pastOf("operator-1") })).status, 200);
    const registered = await one!.send("/v1/admin/webhook/register", {
      key,
      body: { url: `${receiver.url}/hook`, secret: "a-secret-of-the-receiver" },
    });
    assert.equal(registered.status, 201, JSON.stringify(registered.body));
    const count = 40;
    await Promise.all(
      Array.from({ length: count }, (_, index) =>
        [one!, other!][index % 2]!.send("/v1/score", {
          key,
          body: scoreRequest({ session_id: `w-${index}` }),
        })),
    );
    const sessions = () =>
      receiver.arrivals.flatMap(({ text }) => {
        const { session_id: session } = JSON.parse(text);
        return session === undefined ? [] : [String(session)];
      });
    await until(() => new Set(sessions()).size >= count);
    assert.equal(sessions().length, count, "each once");
    one!.kill("SIGKILL");
    await one!.status;
    await other!.send("/v1/score", { key, body: scoreRequest({ session_id: "w-last" }) });
    await until(() => sessions().includes("w-last"));
    assert.equal(await other!.stop(), 0);
    await receiver.close();
  },
);

replicasTest(
  "after a rotation at one host another host signs once it has the key files, and refuses with 503 before",
  2,
  async (deployment) => {
    const [first, second] = deployment.hosts as [Host, Host];
    const [one, other] = [await serve(first), await serve(second)];
    const key = await createOrganization(one, first.env);
    const score = async (service: RunningService, session: string) =>
      (await service.send("/v1/score", { key, body: scoreRequest({ session_id: session }) })).status;
    assert.deepEqual([await score(one, "a"), await score(other, "b")], [200, 200]);
    const rotated = await runProgram(["rotate-signing-key"], { env: first.env });
    assert.equal(rotated.code, 0, rotated.stderr);
    assert.equal(await score(one, "c"), 200);
    assert.equal(
      await score(other, "d"),
      503,
      "this host does not have the key under which the chain continues",
    );
    for (const name of ["signing-key.pem", "signing-key-previous.pem"]) {
      await Deno.copyFile(`${first.directory}/${name}`, `${second.directory}/${name}`);
    }
    assert.equal(await score(other, "d"), 200);
    assert.equal(await score(one, "e"), 200);
    for (const service of [one, other]) assert.equal(await service.stop(), 0);
  },
);

replicasTest(
  "an export from a read replica of the server equals the primary's, and verifies",
  1,
  async (deployment) => {
    const [host] = deployment.hosts as [Host];
    const service = await serve(host);
    const key = await createOrganization(service, host.env);
    for (const session of ["a", "b", "c"]) {
      await service.send("/v1/score", { key, body: scoreRequest({ session_id: session }) });
    }
    const replica = await startSqld({
      directory: `${host.directory}/replica`,
      primary: deployment.sqld.grpcUrl,
    });
    const jwks = `${host.directory}/jwks.json`;
    await Deno.writeTextFile(jwks, JSON.stringify((await service.send("/.well-known/jwks.json")).body));
    // The replica lags for a moment.
    await new Promise((resolve) => setTimeout(resolve, REPLICATION_MS));
    const bundles: string[] = [];
    for (const url of [deployment.sqld.url, replica.url]) {
      const file = `${host.directory}/bundle-${bundles.length}`;
      const exported = await runProgram(["export", "--org", "acme", "-o", file], {
        env: { ...host.env, JISS_DATABASE_URL: url },
      });
      assert.equal(exported.code, 0, exported.stderr);
      const verified = await runProgram(["verify", file, "--key", jwks]);
      assert.equal(verified.code, 0, verified.stdout + verified.stderr);
      // The first line has the time of the export, and the last one the digest of the lines.
      bundles.push((await Deno.readTextFile(file)).trimEnd().split("\n").slice(1, -1).join("\n"));
    }
    assert.ok(bundles[0]!.length > 10_000 && bundles[1] === bundles[0]);
    const refused = await runProgram(["serve"], { env: { ...host.env, JISS_DATABASE_URL: replica.url } });
    assert.equal(refused.code, 78);
    assert.match(refused.stderr, /read replica/);
    await replica.stop();
    assert.equal(await service.stop(), 0);
  },
);

Deno.test({
  name:
    "over a connection that loses every fourth write's answer, each score is recorded once and acknowledged [needs sqld]",
  ignore: !HAS_SQLD,
  async fn() {
    let proxy: ReturnType<typeof openLossyProxy> | undefined;
    const deployment = await sharedDeployment(1, {
      url(sqld) {
        proxy = openLossyProxy({
          to: sqld.url,
          fate: (write) =>
            write > 10 && write % 4 === 0 ? (["lost", "late", "never"] as const)[write % 3]! : "passed",
        });
        return proxy.url;
      },
    });
    const service = await serve(deployment.hosts[0]!);
    const key = await createOrganization(service, deployment.hosts[0]!.env);
    for (let index = 0; index < 60; index += 1) {
      const { status, body } = await service.send("/v1/score", {
        key,
        body: scoreRequest({ session_id: `s-${index}` }),
      });
      assert.equal(status, 200, JSON.stringify(body));
    }
    assert.equal(await service.stop(), 0);
    await proxy!.settled();
    const scored = await verifiedScores(deployment);
    assert.deepEqual([scored.size, Math.max(...scored.values())], [60, 1]);
    assert.ok(proxy!.counts.lost + proxy!.counts.late + proxy!.counts.never > 10);
    await proxy!.close();
    await deployment.remove();
  },
});
