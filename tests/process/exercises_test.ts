/** Exercises through kill -9 and a restore, with the whole program; what an auditor finds, and where no token is. */
import assert from "node:assert/strict";
import { save, verifyProgram } from "../auditing.ts";
import { EXERCISE, MEASURED } from "../exercising.ts";
import {
  backUpDatabase,
  createOrganization,
  databaseFolder,
  freshDeployment,
  type RunningService,
  runProgram,
  startService,
} from "../program.ts";

/** Sets an exercise. @returns its id, the path of its page, and the whole answer. */
async function set(service: RunningService, key: string) {
  const { status, body } = await service.send("/v1/exercises", { key, body: EXERCISE });
  assert.equal(status, 201, JSON.stringify(body));
  return { id: body.run_id as string, path: new URL(body.link).pathname, body };
}

function decide(service: RunningService, path: string, number: number) {
  return service.send(`${path}/decisions`, { body: { number, choice: 0, advised: true, ...MEASURED } });
}

Deno.test("kill -9 loses no decision of an exercise, and a restore goes on where the backup was; both verify", async () => {
  const { directory, env, remove } = await freshDeployment();
  const data = `${directory}/data`;
  const start = () => startService(["serve"], { env });
  let service = await start();
  const key = await createOrganization(service, env);
  const jwks = await save(directory, "jwks.json", (await service.send("/.well-known/jwks.json")).body);
  const { id, path, body: given } = await set(service, key);
  assert.equal((await decide(service, path, 1)).status, 200);
  service.kill("SIGKILL");
  await service.status;

  service = await start();
  assert.equal((await service.send(`${path}/state`)).body.decided, 1);
  const inFlight = decide(service, path, 2).catch(() => null);
  service.kill("SIGKILL");
  await service.status;
  const wasAnswered = (await inFlight)?.status === 200;

  service = await start();
  const { decided } = (await service.send(`${path}/state`)).body;
  assert.ok(decided === 2 || (decided === 1 && !wasAnswered));
  if (decided === 1) assert.equal((await decide(service, path, 2)).status, 200);
  await service.stop();
  const restore = await backUpDatabase(data, `${directory}/backup`);

  service = await start();
  assert.equal((await decide(service, path, 3)).status, 200);
  await service.stop();
  await restore();
  const acknowledged = await runProgram(["restore", "--acknowledge", "a test"], { env });
  assert.equal(acknowledged.code, 0, acknowledged.stderr);

  service = await start();
  assert.equal((await service.send(`${path}/state`)).body.decided, 2);
  for (let number = 3; number <= 6; number += 1) {
    assert.equal((await decide(service, path, number)).status, 200);
  }
  const { body } = await service.send(`/v1/exercises/${id}`, { key });
  assert.deepEqual([body.state, body.decided], ["done", 6]);
  const answer = await save(directory, "answer.json", given);
  await service.stop();

  const bundle = `${directory}/acme.ndjson`;
  assert.equal((await runProgram(["export", "--org", "acme", "-o", bundle], { env })).code, 0);
  const { code, report } = await verifyProgram([bundle, answer, "--key", jwks, "--json"]);
  assert.equal(code, 0, JSON.stringify(report, null, 1));

  const token = path.split("/").at(-1)!;
  const secret = token.split(".")[1]!;
  assert.ok(!service.output().includes(secret), "no log has the token");
  for await (const { name, isFile } of Deno.readDir(databaseFolder(data))) {
    if (!isFile) continue;
    const text = new TextDecoder("latin1").decode(await Deno.readFile(`${databaseFolder(data)}/${name}`));
    assert.ok(!text.includes(secret), `${name} has the token`);
  }
  await remove();
});
