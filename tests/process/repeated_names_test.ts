/**
 * No false alarm over repeated names: if an honest service is asked a second time, it writes no record twice,
 * and both verifiers agree.
 */
import assert from "node:assert/strict";
import { bundleOf, jwksOf, save, verifyProgram, withDirectory } from "../auditing.ts";
import { scoreRequest, withHarness } from "../harness.ts";
import { askIndependently, pythonIsMissing } from "../independent_verifier.ts";
import {
  backUpDatabase,
  createOrganization,
  freshDeployment,
  type RunningService,
  runProgram,
  startService,
} from "../program.ts";

const DECISION = { operator_id: "ada", domain: "general", time_to_decision_ms: 4000, decision: "accepted" };

const scoreOf = (session: string, operator = "ada") =>
  scoreRequest({ session_id: session, operator_id: operator }, { outcome_correct: null });

async function requireIntact(text: string, jwks: string): Promise<void> {
  await withDirectory(async (directory) => {
    const file = await save(directory, "acme.ndjson", text);
    const { code, stdout } = await verifyProgram([file, "--key", await save(directory, "jwks.json", jwks)]);
    assert.equal(code, 0, stdout);
  });
  if (pythonIsMissing()) return;
  const [answer] = await askIndependently([{ files: [text], keys: [jwks] }]);
  assert.equal(answer!.exit_code, 0, JSON.stringify(answer));
}

Deno.test(
  "calls that are repeated, erased, frozen or refused leave no record twice",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const send = async (path: string, body: unknown, method = "POST") =>
      (await harness.send(path, { key, body, method })).status;
    assert.equal(await send("/v1/score?mode_override=incident_frozen", scoreOf("frozen")), 200);
    const both = [scoreOf("frozen"), scoreOf("a"), scoreOf("b", "ben")];
    for (const body of [...both, ...both]) assert.equal(await send("/v1/score", body), 200);
    for (const label of [null, true, true, null]) {
      assert.equal(await send("/v1/score/a/commit", { outcome_correct: label }), 200);
    }
    assert.equal(await send("/v1/score/a/commit", { outcome_correct: false }), 409);
    for (let time = 0; time < 2; time += 1) {
      assert.equal(await send("/v1/decision/score", { ...DECISION, decision_id: "d" }), 200);
    }
    const statuses = await Promise.all(
      Array.from({ length: 6 }, () => send("/v1/score", scoreOf("at-once"))),
    );
    assert.deepEqual(new Set(statuses), new Set([200]));
    assert.equal((await harness.send("/v1/operator/ben", { key, method: "DELETE" })).status, 200);
    assert.equal(await send("/v1/score", scoreOf("b", "ben")), 410);
    assert.equal(await send("/v1/score", scoreOf("b", "cyd")), 410);
    assert.equal(await send("/v1/score", scoreOf("c", "ben")), 200);

    await requireIntact(await bundleOf(harness, "org/acme"), await jwksOf(harness));
    const { body } = await harness.send("/v1/audit/chain/verify", { key });
    assert.deepEqual([body.valid, body.findings], [true, []]);
  }),
);

Deno.test("records that a restore lost are recorded again in the next epoch, once, and verification has no finding", async () => {
  const deployment = await freshDeployment();
  const { directory, env } = deployment;
  const asked = (service: RunningService, key: string) => async (path: string, body: unknown) => {
    const answer = await service.send(path, { key, body });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  };
  let service = await startService(["serve"], { env });
  const key = await createOrganization(service, env);
  await asked(service, key)("/v1/score", scoreOf("kept"));
  await service.stop();
  const putBack = await backUpDatabase(`${directory}/data`, `${directory}/backup`);

  const again = async (service: RunningService) => {
    const ask = asked(service, key);
    await ask("/v1/score", scoreOf("lost"));
    await ask("/v1/score/kept/commit", { outcome_correct: true });
    await ask("/v1/decision/score", { ...DECISION, decision_id: "lost-decision" });
  };
  service = await startService(["serve"], { env });
  await again(service);
  const early = `${directory}/early.ndjson`;
  assert.equal((await runProgram(["export", "--org", "acme", "-o", early], { env })).code, 0);
  await service.stop();
  await putBack();
  const restored = await runProgram(["restore", "--acknowledge", "the disk failed"], { env });
  assert.equal(restored.code, 0, restored.stderr);
  service = await startService(["serve"], { env });
  await again(service);
  // A score that the restore kept is answered, and not made again.
  await asked(service, key)("/v1/score", scoreOf("kept"));
  const jwks = JSON.stringify((await service.send("/.well-known/jwks.json")).body);
  const late = `${directory}/late.ndjson`;
  assert.equal((await runProgram(["export", "--org", "acme", "-o", late], { env })).code, 0);
  await service.stop();

  const [before, after] = [await Deno.readTextFile(early), await Deno.readTextFile(late)];
  assert.equal(after.match(/"kind":"jis.bundle\/1"/g)?.length, 2);
  await requireIntact(after, jwks);
  await requireIntact(before + after, jwks);
  await deployment.remove();
});
