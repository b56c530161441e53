/** The rule of the evidence block, recomputed by another language from what the documentation says. */
import assert from "node:assert/strict";
import { scoreRequest } from "../harness.ts";
import { createOrganization, freshDeployment, startService } from "../program.ts";

const SCRIPT = `${import.meta.dirname}/../../docs/examples/check_answer.py`;

/** null where there is no Python, else what the script said of the file. */
async function check(path: string, ...flags: readonly string[]): Promise<{ code: number; text: string }> {
  const { code, stdout, stderr } = await new Deno.Command("python3", { args: [...flags, SCRIPT, path] })
    .output();
  const decoder = new TextDecoder();
  return { code, text: decoder.decode(stdout) + decoder.decode(stderr) };
}

function pythonIsMissing(): boolean {
  try {
    return !new Deno.Command("python3", { args: ["--version"], stdout: "null", stderr: "null" }).outputSync()
      .success;
  } catch {
    return true;
  }
}

Deno.test({
  name: "docs/examples/check_answer.py finds a saved response intact, and every change of it [needs python3]",
  ignore: pythonIsMissing(),
  async fn() {
    const deployment = await freshDeployment();
    const service = await startService(["serve"], deployment);
    const key = await createOrganization(service, deployment.env);
    const file = `${deployment.directory}/response.json`;
    const save = (body: unknown) => Deno.writeTextFile(file, JSON.stringify(body));
    let body;
    for (let index = 0; index < 12; index += 1) {
      const answer = await service.send("/v1/score", {
        key,
        body: scoreRequest({ session_id: `s-${index}` }, {
          time_to_decision_ms: 500 * index,
          decision: "modified",
        }),
      });
      body = answer.body;
      await save(body);
      const { code, text } = await check(file);
      assert.equal(code, 0, text);
      assert.match(
        text,
        /^intact: entry \d+ of \d+ in \S+\nThis answer says what that entry recorded, .*\.\n$/,
      );
    }
    const { evidence } = body;
    const changes = [
      [{ ...body, jis: body.jis + 0.01 }, /the answer was changed/],
      [{ ...body, band: "exemplary" }, /the answer was changed/],
      [
        { ...body, evidence: { ...evidence, entry: { ...evidence.entry, actor: "system" } } },
        /the entry was changed/,
      ],
      [
        {
          ...body,
          evidence: { ...evidence, proof: evidence.proof.replace(/\n\d+\n(?=[^\n]+\n\n)/, "\n99\n") },
        },
        /not under the signed root/,
      ],
    ] as const;
    for (const [changed, told] of changes) {
      await save(changed);
      // With -O Python leaves out what is only asserted.
      for (const flags of [[], ["-O"]]) {
        const { code, text } = await check(file, ...flags);
        assert.equal(code, 1);
        assert.match(text, told);
        assert.match(text, /^This answer proves nothing: .*\.\n$/m);
        assert.doesNotMatch(text, /Traceback/);
      }
    }
    await service.stop();
    await deployment.remove();
  },
});

Deno.test({
  name: "docs/examples/check_answer.py knows every kind of answer that carries evidence [needs python3]",
  ignore: pythonIsMissing(),
  async fn() {
    const deployment = await freshDeployment();
    const service = await startService(["serve"], deployment);
    const key = await createOrganization(service, deployment.env);
    const file = `${deployment.directory}/answer.json`;
    const fields = { operator_id: "operator-1", domain: "general", time_to_decision_ms: 4000 };
    const item = (session_id: string) => ({ session_id, time_to_decision_ms: 4000, decision: "accepted" });
    const batch = {
      operator_id: "operator-1",
      domain: "general",
      interactions: [item("a"), item("b"), item("c")],
    };
    const report = "/v1/compliance/report?period_start=2020-01-01&period_end=2099-01-01";
    const asked = [
      ["/v1/score/batch", batch, 3],
      ["/v1/score/a/commit", { outcome_correct: true }, 1],
      ["/v1/decision/score", { ...fields, decision: "rejected", decision_id: "d" }, 1],
      ["/v1/decision/replay/b", undefined, 1],
      ["/v1/decision/replay/d", undefined, 1],
      [report, undefined, 1],
    ] as const;
    for (const [path, body, entries] of asked) {
      const answer = await service.send(path, { key, ...(body === undefined ? {} : { body }) });
      await Deno.writeTextFile(file, JSON.stringify(answer.body));
      const { code, text } = await check(file);
      assert.deepEqual([code, text.match(/^intact: entry/gm)?.length], [0, entries], `${path}: ${text}`);
      const isBatch = path.endsWith("/batch");
      assert.match(
        text,
        isBatch ? /numbers beside them are not proven\. / : /\nThis answer says what that entry/,
      );
      assert.match(
        text,
        /Who signed the checkpoint was not checked: jiss verify does, with a key that you pin\.\n$/,
      );
    }
    const { body } = await service.send(report, { key });
    const changed = { ...body, report: { ...body.report, overall_status: "compliant" } };
    await Deno.writeTextFile(file, JSON.stringify(changed));
    assert.match((await check(file)).text, /the report was changed/);
    const profile = await service.send("/v1/operator/operator-1/profile", { key });
    await Deno.writeTextFile(file, JSON.stringify(profile.body));
    assert.match((await check(file)).text, /carries no evidence/);
    await service.stop();
    await deployment.remove();
  },
});
