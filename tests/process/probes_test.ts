/** Probes through kill -9 and a restore, with the whole program, and what an auditor finds afterwards. */
import assert from "node:assert/strict";
import { save, verifyProgram } from "../auditing.ts";
import {
  backUpDatabase,
  createOrganization,
  type Deployment,
  freshDeployment,
  type RunningService,
  runProgram,
  startService,
} from "../program.ts";
import { POLICY } from "../probing.ts";

interface Site extends Deployment {
  readonly data: string;
  start(): Promise<RunningService>;
}

function withSite(test: (site: Site) => Promise<void>): () => Promise<void> {
  return async () => {
    const deployment = await freshDeployment();
    const { directory, env } = deployment;
    await test({ ...deployment, data: `${directory}/data`, start: () => startService(["serve"], { env }) });
    await deployment.remove();
  };
}

/** A programme that is on, with so many sealed probes. */
async function begin(service: RunningService, key: string, { count, prefix = "probe" }: {
  readonly count: number;
  readonly prefix?: string;
}): Promise<void> {
  const policy = await service.send("/v1/probes/policy", { key, method: "PUT", body: POLICY });
  assert.equal(policy.status, 200, JSON.stringify(policy.body));
  const probes = Array.from({ length: count }, (_, index) => ({
    probe_id: `${prefix}-${index}`,
    domain: "general",
    stakes: "standard",
    ai_correct: index % 2 === 0,
  }));
  const sealed = await service.send("/v1/probes/batch", { key, body: { probes } });
  assert.equal(sealed.status, 201, JSON.stringify(sealed.body));
}

interface Shown {
  readonly case: string;
  readonly probe: { readonly probe_id: string; readonly session_id: string; readonly ticket: string };
}

async function draw(service: RunningService, key: string, session: string): Promise<Shown["probe"] | null> {
  const body = { operator_id: "ada", session_id: session, domain: "general", stakes: "standard" };
  const answer = await service.send("/v1/probes/draw", { key, body });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body.probe;
}

/** Draws until so many probes were due. */
async function drawSome(
  service: RunningService,
  key: string,
  count: number,
  prefix = "case",
): Promise<Shown[]> {
  const shown: Shown[] = [];
  for (let number = 0; shown.length < count; number += 1) {
    const session = `${prefix}-${number}`;
    const probe = await draw(service, key, session);
    if (probe !== null) shown.push({ case: session, probe });
  }
  return shown;
}

async function decide(service: RunningService, key: string, { probe }: Shown) {
  return await service.send("/v1/score", {
    key,
    body: {
      session_id: probe.session_id,
      operator_id: "ada",
      domain: "general",
      interaction: { time_to_decision_ms: 7_000, decision: "rejected", probe_ticket: probe.ticket },
    },
  });
}

async function statesOf(service: RunningService, key: string): Promise<Readonly<Record<string, number>>> {
  const { body } = await service.send("/v1/probes?limit=200", { key });
  const states = Object.groupBy(body.probes as { state: string }[], ({ state }) => state);
  return Object.fromEntries(Object.entries(states).map(([state, probes]) => [state, probes!.length]));
}

/** The findings of an auditor who verifies the export of the stopped service; none of them is fatal. */
async function audited({ directory, env, jwks }: {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly jwks: string;
}): Promise<readonly string[]> {
  const bundle = `${directory}/acme.ndjson`;
  assert.equal((await runProgram(["export", "--org", "acme", "-o", bundle], { env })).code, 0);
  const { code, report } = await verifyProgram([bundle, "--key", jwks, "--json"]);
  assert.equal(code, 0, JSON.stringify(report, null, 1));
  return report.bundles.flatMap(({ findings }: { findings: readonly { readonly code: string }[] }) =>
    findings.map(({ code }) => code)
  );
}

Deno.test(
  "kill -9 between draw, score and opening loses no probe, shows none twice, and leaves none open",
  withSite(async ({ directory, env, start }) => {
    let service = await start();
    const key = await createOrganization(service, env);
    const jwks = await save(directory, "jwks.json", (await service.send("/.well-known/jwks.json")).body);
    await begin(service, key, { count: 60 });
    const shown = await drawSome(service, key, 6);
    service.kill("SIGKILL");
    await service.status;

    service = await start();
    for (const one of shown) assert.deepEqual(await draw(service, key, one.case), one.probe);
    const inFlight = shown.map((one) => decide(service, key, one).catch(() => null));
    await inFlight[0];
    service.kill("SIGKILL");
    await service.status;
    const answered = (await Promise.all(inFlight)).filter((answer) => answer?.status === 200).length;
    assert.ok(answered >= 1);

    service = await start();
    const decided = (await statesOf(service, key)).decided ?? 0;
    assert.ok(decided >= answered, "an answered decision was lost");
    for (const one of shown) {
      assert.equal((await decide(service, key, one)).status, 200);
      assert.equal(await draw(service, key, one.case), null);
    }
    assert.deepEqual(await statesOf(service, key), { decided: 6, sealed: 54 });
    await service.stop();
    // The day is not over: its draws wait for the seed.
    assert.deepEqual(await audited({ directory, env, jwks }), ["PROBE_UNCOMPARED"]);
  }),
);

Deno.test(
  "after a restore every probe that was not opened is recalled on the chain, and the programme goes on with new ones",
  withSite(async ({ directory, data, env, start }) => {
    let service = await start();
    const key = await createOrganization(service, env);
    const jwks = await save(directory, "jwks.json", (await service.send("/.well-known/jwks.json")).body);
    await begin(service, key, { count: 30 });
    const [before] = await drawSome(service, key, 1);
    await service.stop();
    const putBack = await backUpDatabase(data, `${directory}/backup`);

    service = await start();
    assert.equal((await decide(service, key, before!)).status, 200);
    await drawSome(service, key, 2, "lost");
    await service.stop();
    await putBack();
    const { code, stderr } = await runProgram(["restore", "--acknowledge", "a disk failed"], { env });
    assert.equal(code, 0, stderr);

    service = await start();
    assert.deepEqual(await statesOf(service, key), { recalled: 30 });
    assert.equal((await decide(service, key, before!)).status, 409, "it was drawn before the restore");
    const again = await service.send("/v1/probes", {
      key,
      body: { probe_id: "probe-1", domain: "general", stakes: "standard", ai_correct: true },
    });
    assert.equal(again.status, 409, "its name is used");
    await begin(service, key, { count: 30, prefix: "new" });
    const [after] = await drawSome(service, key, 1, "after");
    assert.match(after!.probe.probe_id, /^new-/);
    assert.equal((await decide(service, key, after!)).status, 200);
    await service.stop();
    assert.deepEqual(new Set(await audited({ directory, env, jwks })), new Set(["PROBE_UNCOMPARED"]));
  }),
);

Deno.test(
  "a restore repeats the erasure of an operator whose probe was open in the backup, and recalls that probe once",
  withSite(async ({ directory, data, env, start }) => {
    let service = await start();
    const key = await createOrganization(service, env);
    const jwks = await save(directory, "jwks.json", (await service.send("/.well-known/jwks.json")).body);
    await begin(service, key, { count: 30 });
    const [open] = await drawSome(service, key, 1);
    await service.stop();
    const putBack = await backUpDatabase(data, `${directory}/backup`);

    service = await start();
    assert.equal((await service.send("/v1/operator/ada", { key, method: "DELETE" })).status, 200);
    await service.stop();
    await putBack();
    const { code, stderr } = await runProgram(["restore", "--acknowledge", "a disk failed"], { env });
    assert.equal(code, 0, stderr);

    service = await start();
    assert.deepEqual(await statesOf(service, key), { recalled: 30 });
    assert.equal((await service.send("/v1/operator/ada/export", { key })).status, 404);
    assert.notEqual((await decide(service, key, open!)).status, 200);
    await service.stop();
    await audited({ directory, env, jwks });
  }),
);
