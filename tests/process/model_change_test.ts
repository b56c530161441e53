/**
 * A running installation takes jis-2.0.0 into use in place of the model before: old scores replay as they were, the
 * change is an entry of the system chain, each operator begins anew, and the replay says why the number jumped.
 */
import assert from "node:assert/strict";
import { scoreRequest } from "../harness.ts";
import { pythonIsMissing } from "../independent_verifier.ts";
import { createOrganization, freshDeployment, runProgram, startService } from "../program.ts";

const ROOT = `${import.meta.dirname}/../..`;
const BEFORE = 30;

Deno.test({
  name:
    "a move from jis-1.1.0 to jis-2.0.0 keeps every old score, begins each operator anew, and says so [needs python3 with cryptography]",
  ignore: pythonIsMissing(),
  async fn() {
    const { env, directory, remove } = await freshDeployment();
    const old = { ...env, JISS_SCORING_MODEL_FILE: `${ROOT}/docs/understand/models/jis-1.1.0.json` };
    const operator = scoreRequest().operator_id;
    const bodyOf = (index: number) => ({
      ...scoreRequest(),
      session_id: `case-${index}`,
      interaction: {
        ...scoreRequest().interaction,
        decision: index % 3 === 0 ? "overridden" : "accepted",
        modification_extent: 0,
        outcome_correct: true,
      },
    });

    let service = await startService(["serve"], { env: old });
    const key = await createOrganization(service, old);
    const scores = [];
    for (let index = 0; index < BEFORE; index += 1) {
      scores.push((await service.send("/v1/score", { key, body: bodyOf(index) })).body);
    }
    const last = scores.at(-1)!;
    assert.equal(last.model.version, "jis-1.1.0");
    assert.equal(last.compliance.verdict, undefined);
    assert.equal(await service.stop(), 0);

    service = await startService(["serve"], { env });
    const profile = await service.send(`/v1/operator/${operator}/profile?include=projection`, { key });
    assert.equal(profile.body.profile.jis, last.jis, "the number stays until the next score");
    assert.equal(profile.body.profile.scored_by, "jis-1.1.0");
    assert.deepEqual(
      [
        profile.body.compliance.status,
        profile.body.compliance.article14_met,
        profile.body.compliance.action_required,
      ],
      ["undetermined", false, true],
    );
    const { status, body: first } = await service.send("/v1/score", { key, body: bodyOf(BEFORE) });
    assert.equal(status, 200, JSON.stringify(first));
    assert.equal(first.model.version, "jis-2.0.0");
    assert.equal(first.compliance.verdict.doubt, "too_few_wrong_cases");
    assert.equal(first.decay_projection.current_trend, 0, "a score of other formulas makes no trend");
    assert.equal(first.displayed_jis, Math.floor(first.jis + 0.5), "the displayed score begins anew, too");

    const replays = await Promise.all(
      [BEFORE - 1, BEFORE].map((index) => service.send(`/v1/decision/replay/case-${index}`, { key })),
    );
    assert.deepEqual(replays.map(({ body }) => body.match), [true, true]);
    assert.deepEqual(replays.map(({ body }) => body.model.version), ["jis-1.1.0", "jis-2.0.0"]);
    const detection = replays[1]!.body.explanation.find((row: { dimension: string }) =>
      row.dimension === "error_detection"
    );
    assert.match(
      detection.rules[0],
      /^The model changed from jis-1\.1\.0 to jis-2\.0\.0 before this score: .* begins anew\.$/,
    );
    assert.equal(await service.stop(), 0);

    const [bundle, system] = [`${directory}/bundle.ndjson`, `${directory}/system.ndjson`];
    const exports = await Promise.all([
      runProgram(["export", "--org", "acme", "--output", bundle], { env }),
      runProgram(["export", "--chain", "system", "--output", system], { env }),
    ]);
    assert.deepEqual(exports.map(({ code, stderr }) => [code, stderr]), [[0, ""], [0, ""]]);
    const changes = (await Deno.readTextFile(system)).split("\n").filter((line) =>
      line.includes("MODEL_CHANGED")
    );
    assert.equal(changes.length, 1);
    const verified = await runProgram(["verify", bundle, "--json"], { env: {} });
    const { bundles: [report] } = JSON.parse(verified.stdout);
    assert.deepEqual([report.findings, report.replayed], [[], BEFORE + 1]);
    const { code, stdout, stderr } = await new Deno.Command("python3", {
      args: ["tests/interop/replay.py", bundle],
      cwd: ROOT,
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
    await remove();
  },
});
