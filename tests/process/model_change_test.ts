/**
 * A running installation takes jis-2.0.0 into use in place of the model before: old scores replay as they were, the
 * change is an entry of the system chain, each operator begins anew with the next score or label, and the replay says
 * why the number jumped.
 */
import assert from "node:assert/strict";
import { scoreRequest } from "../harness.ts";
import { pythonIsMissing } from "../independent_verifier.ts";
import { createOrganization, freshDeployment, runProgram, startService } from "../program.ts";

const ROOT = `${import.meta.dirname}/../..`;
const BEFORE = 30;
/** Cases without a truth, which are labelled after the move: the first ones before any new score. */
const UNKNOWN = 20;
const EARLY = 12;

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
    await service.send("/v1/score", {
      key,
      body: { ...bodyOf(0), operator_id: "other", session_id: "other-0" },
    });
    for (let index = 0; index < BEFORE; index += 1) {
      scores.push((await service.send("/v1/score", { key, body: bodyOf(index) })).body);
    }
    const unknownOf = (index: number) => ({
      ...scoreRequest(),
      session_id: `unknown-${index}`,
      interaction: {
        ...scoreRequest().interaction,
        decision: "accepted",
        outcome_correct: null,
      },
    });
    for (let index = 0; index < UNKNOWN; index += 1) {
      scores.push((await service.send("/v1/score", { key, body: unknownOf(index) })).body);
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
    const labelled = async (index: number) => {
      const answer = await service.send(`/v1/score/unknown-${index}/commit`, {
        key,
        body: { outcome_correct: index % 2 === 1 },
      });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      const { profile } = (await service.send(`/v1/operator/${operator}/profile`, { key })).body;
      return [profile.scored_by, profile.verdict.wrong_cases, profile.verdict.right_cases];
    };
    for (let index = 0; index < EARLY; index += 1) {
      const known = [Math.floor(index / 2) + 1, Math.ceil(index / 2)];
      assert.deepEqual(await labelled(index), ["jis-2.0.0", ...known], `label ${index}`);
    }
    const { status, body: first } = await service.send("/v1/score", { key, body: bodyOf(BEFORE) });
    assert.equal(status, 200, JSON.stringify(first));
    assert.equal(first.model.version, "jis-2.0.0");
    const { wrong_cases, right_cases } = first.compliance.verdict;
    assert.deepEqual([wrong_cases, right_cases], [EARLY / 2 + 1, EARLY / 2], "the labels and the new case");
    assert.equal(first.decay_projection.current_trend, 0, "a score of other formulas makes no trend");
    assert.equal(first.displayed_jis, Math.floor(first.jis + 0.5), "the displayed score begins anew, too");

    for (let index = EARLY; index < UNKNOWN; index += 1) {
      const known = [Math.floor(index / 2) + 2, Math.ceil(index / 2)];
      assert.deepEqual(await labelled(index), ["jis-2.0.0", ...known], `label ${index}`);
    }
    // Nobody labelled this operator before the first new score.
    const other = (index: number) => ({
      ...bodyOf(index),
      operator_id: "other",
      session_id: `other-${index}`,
    });
    assert.equal((await service.send("/v1/score", { key, body: other(1) })).status, 200);

    const names = [
      `case-${BEFORE - 1}`,
      "unknown-0",
      "unknown-1",
      `unknown-${EARLY}`,
      `case-${BEFORE}`,
      "other-0",
      "other-1",
    ];
    const replays = (await Promise.all(
      names.map((name) => service.send(`/v1/decision/replay/${name}`, { key })),
    )).map(({ body }) => body);
    assert.deepEqual(replays.map(({ match }) => match), names.map(() => true));
    assert.deepEqual(replays.map(({ model }) => model.version), [
      "jis-1.1.0",
      "jis-1.1.0",
      "jis-1.1.0",
      "jis-1.1.0",
      "jis-2.0.0",
      "jis-1.1.0",
      "jis-2.0.0",
    ]);
    const rulesOf = ({ explanation }: { explanation: readonly { dimension: string; rules: string[] }[] }) =>
      explanation.find(({ dimension }) => dimension === "error_detection")!.rules;
    const [, began, next, later, scored, , otherFirst] = replays;
    const change = "The model changed from jis-1.1.0 to jis-2.0.0 before this";
    const anew = "cases that are known count from here on, and the score begins anew.";
    assert.equal(rulesOf(began.label)[0], `${change} label: ${anew}`);
    assert.ok(rulesOf(began.label).some((text) => text.includes("wrong advice, by 1 known case:")));
    assert.equal(rulesOf(otherFirst)[0], `${change} score: ${anew}`);
    for (const rules of [rulesOf(next.label), rulesOf(later.label), rulesOf(scored)]) {
      assert.ok(!rules.some((text) => text.includes("The model changed")), rules.join(" "));
    }
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
    // A label commits its score, too. The fiftieth score of the operator was final when it was made.
    const entries = { scores: BEFORE + UNKNOWN + 3, labels: UNKNOWN, commits: UNKNOWN - 1 };
    const replayed = entries.scores + entries.labels + entries.commits;
    assert.deepEqual([report.findings, report.replayed], [[], replayed]);
    const { code, stdout, stderr } = await new Deno.Command("python3", {
      args: ["tests/interop/replay.py", bundle],
      cwd: ROOT,
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
    await remove();
  },
});
