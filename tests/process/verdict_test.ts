/**
 * Verdicts of three kinds by the real program: scores, labels and decisions are recorded, exported, verified by the
 * program, and computed again in Python.
 */
import assert from "node:assert/strict";
import { scoreRequest } from "../harness.ts";
import { pythonIsMissing } from "../independent_verifier.ts";
import { createOrganization, freshDeployment, runProgram, startService } from "../program.ts";

const ROOT = `${import.meta.dirname}/../..`;

Deno.test({
  name:
    "a score has a verdict of three kinds, replays, and verifies offline here and in Python [needs python3 with cryptography]",
  ignore: pythonIsMissing(),
  async fn() {
    const { env, directory, remove } = await freshDeployment();
    const service = await startService(["serve"], { env });
    const key = await createOrganization(service, env);
    const statuses = new Set<string>();
    for (let index = 0; index < 40; index += 1) {
      const isWrong = index % 2 === 0;
      const interaction = {
        ...scoreRequest().interaction,
        decision: index < 20 && isWrong ? "overridden" : "accepted",
        modification_extent: 0,
        outcome_correct: index >= 38 ? null : index < 20 || !isWrong,
        ai_correct: index % 5 === 0 ? !isWrong : index === 38 ? false : null,
      };
      const body = { ...scoreRequest(), session_id: `case-${index}`, interaction };
      const scored = await service.send("/v1/score", { key, body });
      assert.equal(scored.status, 200, JSON.stringify(scored.body));
      const { compliance } = scored.body;
      statuses.add(compliance.status);
      assert.equal(compliance.verdict.status, compliance.status);
      assert.equal(compliance.article14_met, compliance.status === "compliant");
    }
    const decided = await service.send("/v1/decision/score", {
      key,
      body: {
        decision_id: "decision-1",
        operator_id: scoreRequest().operator_id,
        domain: "aviation",
        time_to_decision_ms: 900,
        decision: "accepted",
        stakes: "critical",
      },
    });
    assert.equal(decided.status, 200, JSON.stringify(decided.body));
    assert.equal(typeof decided.body.operator_verdict.status, "string");
    assert.ok(statuses.has("undetermined") && statuses.size > 1, [...statuses].join());
    for (
      const [session, body] of [["case-39", { outcome_correct: true, ai_correct: true }], ["case-38", {
        outcome_correct: false,
      }]] as const
    ) {
      const commit = await service.send(`/v1/score/${session}/commit`, { key, body });
      assert.equal(commit.status, 200, JSON.stringify(commit.body));
    }
    const replayed = await service.send("/v1/decision/replay/case-30", { key });
    assert.deepEqual([replayed.status, replayed.body.match], [200, true]);
    assert.equal(await service.stop(), 0);

    const bundle = `${directory}/bundle.ndjson`;
    const exported = await runProgram(["export", "--org", "acme", "--output", bundle], { env });
    assert.equal(exported.code, 0, exported.stderr);
    const verified = await runProgram(["verify", bundle, "--json"], { env: {} });
    // No key is passed: the file is held against the one that it carries.
    const { bundles: [report] } = JSON.parse(verified.stdout);
    assert.deepEqual([report.self_trusted, report.findings, report.replayed], [true, [], 45]);
    const { code, stdout, stderr } = await new Deno.Command("python3", {
      args: ["tests/interop/replay.py", bundle],
      cwd: ROOT,
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
    await remove();
  },
});
