/**
 * A candidate model in shadow, in the whole program: its report, that it changes no score, and how it is
 * taken into use.
 */
import assert from "node:assert/strict";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { scoreRequest } from "../harness.ts";
import { JIS_1_0_0 } from "../models.ts";
import {
  createOrganization,
  freshDeployment,
  type RunningService,
  runProgram,
  startService,
} from "../program.ts";

const REPORT = "/v1/organization/shadow";

const CASES: readonly Record<string, unknown>[] = [
  {},
  { decision: "rejected", outcome_correct: false },
  { decision: "modified", modification_extent: 0.4, scenario_type: "high_stakes", outcome_correct: null },
  { decision: "accepted", scenario_type: "error_injected", outcome_correct: null, time_to_decision_ms: 1500 },
  { decision: "accepted", outcome_correct: null, hover_events: 0 },
];

// deno-lint-ignore no-explicit-any -- the document is changed by its names
async function writeModel(path: string, change: (document: any) => void): Promise<void> {
  const document = structuredClone(JIS_1_0_0);
  change(document);
  await Deno.writeTextFile(path, JSON.stringify(document));
}

async function post(service: RunningService, key: string, body: unknown, path = "/v1/score") {
  const answer = await service.send(path, { key, body });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

/**
 * Sends two operators' cases one by one, a late label, a batch and a frozen call; returns the answered
 * scores.
 */
async function work(service: RunningService, key: string) {
  const answers = [];
  for (const operator_id of ["reviewer-1", "reviewer-2"]) {
    for (const [index, fields] of CASES.entries()) {
      const session_id = `${operator_id}-${index}`;
      answers.push(await post(service, key, scoreRequest({ session_id, operator_id }, fields)));
    }
  }
  await post(service, key, { outcome_correct: false }, "/v1/score/reviewer-1-2/commit");
  const interactions = CASES.map((fields, index) => ({
    session_id: `batch-${index}`,
    ...scoreRequest({}, fields).interaction,
  }));
  await post(service, key, { operator_id: "reviewer-1", domain: "general", interactions }, "/v1/score/batch");
  const frozen = scoreRequest({ session_id: "frozen", operator_id: "reviewer-2" });
  await post(service, key, frozen, "/v1/score?mode_override=incident_frozen");
  for (const operator_id of ["reviewer-1", "reviewer-2"]) {
    answers.push(await post(service, key, scoreRequest({ session_id: `${operator_id}-last`, operator_id })));
  }
  return answers;
}

const WORKED = 3 * CASES.length + 2;

/** The judgment in an answer: everything except ids, times, model and evidence. */
function judged(body: Record<string, unknown>) {
  const { request_id: _id, timestamp: _at, model: _model, evidence: _evidence, ...rest } = body;
  return canonicalJson(rest).replace(/"next_assessment":"[^"]+"/, "");
}

/** The report, after `count` interactions were compared or failed. */
async function reported(service: RunningService, key: string, count: number) {
  for (;;) {
    const { status, body } = await service.send(REPORT, { key });
    assert.equal(status, 200);
    const { compared, failed } = body.shadow.interactions;
    if (compared + failed === count) return body.shadow;
    await new Promise((next) => setTimeout(next, 5));
  }
}

Deno.test("the candidate's figures are those of a service that uses it, and the scores are those of one without a candidate", async () => {
  const candidate = await Deno.makeTempFile({ suffix: ".json" });
  await writeModel(candidate, (document) => {
    document.version = "candidate-1";
    for (const bucket of ["H", "C", "P"]) document.buckets[bucket].prior_mean = 0.75;
    document.dimensions.error_detection.weight = 0.3;
    document.dimensions.deliberation_depth.weight = 0.05;
    document.scenario_weights.high_stakes = 1.2;
    document.bands.proficient = 71;
  });
  const run = async (env: Readonly<Record<string, string>>) => {
    const deployment = await freshDeployment();
    const service = await startService(["serve"], { env: { ...deployment.env, ...env } });
    const key = await createOrganization(service, deployment.env);
    return { deployment, service, key, answers: await work(service, key) };
  };
  const plain = await run({});
  const using = await run({ JISS_SCORING_MODEL_FILE: candidate });
  const shadowed = await run({
    JISS_SCORING_SHADOW_MODEL_FILE: candidate,
    JISS_METRICS_ADDR: "127.0.0.1:0",
  });
  assert.deepEqual(shadowed.answers.map(judged), plain.answers.map(judged));
  assert.notDeepEqual(using.answers.map(judged), plain.answers.map(judged));

  const { service, key } = shadowed;
  const shadow = await reported(service, key, WORKED);
  assert.deepEqual(shadow.candidate, using.answers[0]!.model);
  assert.deepEqual(shadow.model, plain.answers[0]!.model);
  assert.deepEqual(shadow.interactions, { compared: WORKED, failed: 0, missed: 0, restarts: 0 });
  const rows = Object.fromEntries(
    shadow.most_different.map((row: { operator_id: string }) => [row.operator_id, row]),
  );
  for (const [index, operator] of ["reviewer-1", "reviewer-2"].entries()) {
    const last = (answers: typeof plain.answers) => {
      const { jis, band, compliance } = answers.at(index - 2)!;
      return { jis, band, compliance_status: compliance.status };
    };
    assert.deepEqual([rows[operator].model, rows[operator].candidate], [
      last(plain.answers),
      last(using.answers),
    ]);
    assert.notEqual(rows[operator].difference, 0);
  }

  const metricsUrl = service.log().find(({ msg }) => msg === "listening")!.metrics_url;
  const metrics = await (await fetch(`${metricsUrl}/metrics`)).text();
  for (
    const line of [
      'jiss_shadow_info{candidate="candidate-1"} 1',
      `jiss_shadow_jis_difference_count ${WORKED}`,
      "jiss_shadow_failures_total 0",
      "jiss_shadow_missed_total 0",
      "jiss_shadow_restarts_total 0",
      "jiss_shadow_operators 2",
      "jiss_shadow_waiting 0",
    ]
  ) assert.ok(metrics.includes(`\n${line}\n`), `${line} in ${metrics}`);
  assert.match(metrics, /\njiss_shadow_changed_total\{what="band",direction="higher"\} [1-9]/);
  assert.ok(!metrics.includes("reviewer"));

  assert.equal((await service.send("/v1/operator/reviewer-1", { method: "DELETE", key })).status, 200);
  const after = await reported(service, key, CASES.length + 1);
  assert.deepEqual(after.most_different.map((row: { operator_id: string }) => row.operator_id), [
    "reviewer-2",
  ]);

  for (const { deployment, service } of [plain, using, shadowed]) {
    assert.equal(await service.stop(), 0);
    await deployment.remove();
  }
  await Deno.remove(candidate);
});

Deno.test("a candidate that cannot score is refused, so is the model in use as a candidate, and after a change old scores replay with their own model", async () => {
  const deployment = await freshDeployment();
  const [failing, good] = [`${deployment.directory}/failing.json`, `${deployment.directory}/good.json`];
  await writeModel(failing, (document) => {
    document.version = "failing-1";
    document.domains.general.decay_rate = 1e308;
  });
  await writeModel(good, (document) => {
    document.version = "good-1";
    for (const bucket of ["H", "C", "P"]) document.buckets[bucket].prior_mean = 0.75;
  });
  const serve = (env: Readonly<Record<string, string>>) =>
    startService(["serve"], { env: { ...deployment.env, ...env } });

  const unfit = await runProgram(["serve"], {
    env: { ...deployment.env, JISS_SCORING_SHADOW_MODEL_FILE: failing },
  });
  assert.equal(unfit.code, 78);
  assert.match(unfit.stderr, /JISS_SCORING_SHADOW_MODEL_FILE.*domains\.general\.decay_rate/);

  const before = await serve({});
  const key = await createOrganization(before, deployment.env);
  const answers = await work(before, key);
  assert.equal(await before.stop(), 0);

  const both = { JISS_SCORING_MODEL_FILE: good, JISS_SCORING_SHADOW_MODEL_FILE: good };
  const refused = await runProgram(["serve"], { env: { ...deployment.env, ...both } });
  assert.deepEqual([
    refused.code,
    /JISS_SCORING_SHADOW_MODEL_FILE names the model that is in use/.test(refused.stderr),
  ], [
    78,
    true,
  ]);

  const changed = await serve({ JISS_SCORING_MODEL_FILE: good });
  assert.equal((await changed.send(REPORT, { key })).body.shadow, null);
  const next = await post(changed, key, scoreRequest({ session_id: "new", operator_id: "reviewer-1" }));
  assert.equal(next.model.version, "good-1");
  for (const [id, { model, jis }] of [["reviewer-1-last", answers.at(-2)!], ["new", next]] as const) {
    const { body } = await changed.send(`/v1/decision/replay/${id}`, { key });
    assert.deepEqual([body.match, body.model, body.replayed.jis], [true, model, jis], id);
  }
  assert.equal(await changed.stop(), 0);
  await deployment.remove();
});
