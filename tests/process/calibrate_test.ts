/** `jiss calibrate`: from a labelled history over HTTP to the scores of a service with the fitted model. */
import assert from "node:assert/strict";
import { sql } from "kysely";
import type { Interaction } from "../../src/domain/interaction.ts";
import { calibrate as fit } from "../../src/scoring/calibration/calibrate.ts";
import { LabelledCases } from "../../src/scoring/calibration/labelled_cases.ts";
import { DEFAULT_MODEL_DOCUMENT as builtIn } from "../../src/scoring/model.ts";
import { DEFAULT_ENVIRONMENT, drawInteraction, drawOperator } from "../../src/simulation/archetypes.ts";
import { seeded } from "../../src/simulation/random.ts";
import { query } from "../../src/store/database.ts";
import { quantile } from "../../src/simulation/statistics.ts";
import { save, verifyProgram } from "../auditing.ts";
import { scoreRequest } from "../harness.ts";
import {
  changeRows,
  createOrganization,
  freshDeployment,
  NO_DATABASE,
  rowsIn,
  type RunningService,
  runProgram,
  startService,
} from "../program.ts";

const HISTORY = 200;
const BATCH = 100;
const MINUTES_3 = 180_000;
/** A case that teaches no fit anything. */
const UNLABELLED = { outcome_correct: null };

/** Reviewers who take about three minutes for a case, and two who approve in a second. */
const REVIEWERS = [
  ...Array.from(
    { length: 8 },
    (_, index) => ({ name: `reviewer-${index}`, archetype: "independent" as const }),
  ),
  ...Array.from(
    { length: 2 },
    (_, index) => ({ name: `stamper-${index}`, archetype: "rubber_stamper" as const }),
  ),
];

interface History {
  readonly name: string;
  readonly medianMs: number;
  readonly interactions: readonly Interaction[];
}

function histories(): readonly History[] {
  return REVIEWERS.map(({ name, archetype }) => {
    const random = seeded(`calibrate/${name}`);
    const drawn = drawOperator(archetype, random);
    const medianMs = archetype === "independent" ? random.lognormal(MINUTES_3, 0.2) : drawn.medianMs;
    const operator = { ...drawn, medianMs };
    return {
      name,
      medianMs,
      interactions: Array.from(
        { length: HISTORY },
        (_, index) => drawInteraction(operator, index, DEFAULT_ENVIRONMENT, random),
      ),
    };
  });
}

/** Sends the histories; one outcome in ten comes later than its score. Returns each operator's JIS after all of them. */
async function score(service: RunningService, key: string): Promise<ReadonlyMap<string, number>> {
  const last = new Map<string, number>();
  for (const { name, interactions } of histories()) {
    const late = (index: number) =>
      index % 10 === 0 && interactions[index]!.scenario_type !== "error_injected";
    const rows = interactions.map((row, index) => ({
      session_id: `${name}-${index}`,
      ...row,
      outcome_correct: late(index) ? null : row.outcome_correct,
    }));
    for (let from = 0; from < HISTORY; from += BATCH) {
      const body = { operator_id: name, domain: "financial", interactions: rows.slice(from, from + BATCH) };
      const { status } = await service.send("/v1/score/batch", { key, body });
      assert.equal(status, 200);
      for (let index = from; index < from + BATCH; index += 1) {
        const { outcome_correct } = interactions[index]!;
        if (!late(index) || outcome_correct === null) continue;
        const commit = `/v1/score/${name}-${index}/commit`;
        assert.equal((await service.send(commit, { key, body: { outcome_correct } })).status, 200);
      }
    }
    last.set(name, (await service.send(`/v1/operator/${name}/profile`, { key })).body.profile.jis);
  }
  return last;
}

Deno.test("calibrate fits a model to a labelled history, and a service started with it scores by it and records the change", async () => {
  const deployment = await freshDeployment();
  const { directory, env } = deployment;
  const bare = { JISS_DATA_DIR: env.JISS_DATA_DIR! };
  const path = `${directory}/model.json`;
  const calibrate = (...args: readonly string[]) =>
    runProgram(["calibrate", "--org", "acme", ...args], { env: bare });
  const service = await startService(["serve"], deployment);
  const key = await createOrganization(service, env);
  const last = await score(service, key);

  // Beside the running service, without a secret.
  const shown = await calibrate();
  assert.deepEqual([shown.code, shown.stderr], [0, ""]);
  assert.match(shown.stdout, /\nNothing was written: to write the document, use -o FILE\.\n$/);
  const json = await calibrate("--json");
  assert.deepEqual([json.code, json.stderr], [0, ""]);
  const report = JSON.parse(json.stdout);
  const written = await calibrate("-o", path);
  assert.deepEqual([written.code, written.stderr], [0, ""]);
  assert.ok(written.stdout.includes(`JISS_SCORING_MODEL_FILE=${path}`));
  assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
  for (const { stdout } of [shown, written]) {
    assert.ok(stdout.includes(`${report.to.version}, SHA-256 ${report.to.sha256}`));
  }

  // Only the time of the reviewers who judge was fitted.
  const cases = new LabelledCases(builtIn);
  for (const { name, interactions } of histories()) {
    for (const row of interactions) cases.add(name, "financial", row);
  }
  const { times: expectedTimes, priors, discrimination } = fit(builtIn, cases);
  assert.deepEqual(
    [report.times, report.priors, report.discrimination],
    [expectedTimes, priors, discrimination],
    "late labels count like others",
  );
  const [times] = report.times;
  assert.deepEqual([times.domain, times.operators, times.result], ["financial", 10, "fitted"]);
  assert.ok(times.counted >= 5 && times.counted <= 8, "some of the eight who judge, and nobody else");
  const known = histories().filter(({ name }) => name.startsWith("reviewer")).map(({ medianMs }) => medianMs);
  assert.ok(Math.abs(times.after.reference_ms / quantile(known, 0.5) - 1) < 0.1, JSON.stringify(times));
  const bucketOf = ({ bucket, result }: { bucket: string; result: string }) => [bucket, result];
  assert.deepEqual(report.priors.map(bucketOf), [["U", "kept"]]);
  const { prior, error_rate } = report.discrimination;
  assert.deepEqual([prior.people, prior.enough_cases], [10, 10]);
  assert.match(shown.stdout, /^departs if wrong +\d+ % \(.*\) +\d+ % \(.*\) +(fitted|bounded)$/m);
  const document = JSON.parse(await Deno.readTextFile(path));
  const expected = structuredClone(builtIn);
  Object.assign(expected.domains.financial, times.after);
  const { leaning, sensitivity } = prior.after;
  Object.assign(expected.discrimination!, { leaning, sensitivity });
  expected.discrimination!.error_rate.prior = error_rate.after;
  assert.deepEqual(document, { ...expected, version: report.to.version });
  assert.match(report.to.version, /^jis-2\.0\.0\+cal\.[0-9a-f]{12}$/);
  assert.notEqual(report.to.version, builtIn.version);

  // The earlier scores are those that the service answered.
  assert.equal(report.scores.operators, 10);
  assert.deepEqual(
    new Map(report.scores.largest.map((row: Record<string, unknown>) => [row.operator_id, row.before])),
    last,
  );
  for (const row of report.scores.largest) {
    if (row.operator_id.startsWith("stamper")) {
      assert.deepEqual([row.band_before, row.band_after], ["at_risk", "at_risk"], "no bar was lowered");
    }
    assert.ok(written.stdout.includes(row.operator_id));
  }

  // No file is replaced, and the same history gives the same document.
  const again = await calibrate("-o", path);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /already exists and was not changed/);
  await Deno.remove(path);
  assert.equal((await calibrate("-o", path)).stdout, written.stdout);

  const old = await service.send("/v1/score", { key, body: scoreRequest({ session_id: "old" }, UNLABELLED) });
  await service.stop();
  const calibrated = await startService(["serve"], { env: { ...env, JISS_SCORING_MODEL_FILE: path } });
  const changes = await rowsIn<{ data: string }>(
    env.JISS_DATA_DIR!,
    `SELECT p.data FROM audit_entry e JOIN audit_part p USING (chain, seq)
     WHERE e.chain = 'sys' AND e.event_type = 'MODEL_CHANGED'`,
  );
  assert.deepEqual(changes.map(({ data }) => JSON.parse(data)), [{
    from_sha256: report.from.sha256,
    to_sha256: report.to.sha256,
    to_version: report.to.version,
  }]);
  const current = await calibrated.send("/v1/score", {
    key,
    body: scoreRequest({ session_id: "new" }, UNLABELLED),
  });
  assert.deepEqual([old.body.model, current.body.model], [report.from, report.to]);
  for (const [id, { body }] of [["old", old], ["new", current]] as const) {
    const replay = await calibrated.send(`/v1/decision/replay/${id}`, { key });
    assert.deepEqual([replay.status, replay.body.match, replay.body.model], [200, true, body.model]);
  }

  // Calibrated again from the document in use, the values are the same.
  const later = await calibrate("-o", `${directory}/later.json`);
  assert.equal(later.code, 0, later.stderr);
  assert.match(later.stdout, new RegExp(`model in use +${report.to.version.replaceAll(/[.+]/g, "\\$&")}`));
  assert.match(later.stdout, /\nThe model in use already has these values: there is nothing to write\.\n$/);
  await assert.rejects(Deno.stat(`${directory}/later.json`), Deno.errors.NotFound);

  // An erased operator is in no further report.
  const erased = await calibrated.send("/v1/operator/stamper-0", { key, method: "DELETE" });
  assert.equal(erased.status, 200, JSON.stringify(erased.body));
  const { times: left } = JSON.parse((await calibrate("--json")).stdout);
  const operatorsIn = Object.fromEntries(
    left.map((row: { domain: string; operators: number }) => [row.domain, row.operators]),
  );
  assert.deepEqual(operatorsIn, { financial: 9 });

  const { body: jwks } = await calibrated.send("/.well-known/jwks.json");
  await calibrated.stop();
  const bundle = `${directory}/acme.ndjson`;
  assert.equal((await runProgram(["export", "--org", "acme", "-o", bundle], { env: bare })).code, 0);
  const { code } = await verifyProgram([bundle, "--key", await save(directory, "jwks.json", jwks)]);
  assert.equal(code, 0, "scores of both models replay");

  // An altered record ends the calibration.
  await changeRows(
    env.JISS_DATA_DIR!,
    sql`UPDATE audit_part SET data = replace(data, '"time_to_decision_ms":', '"time_to_decision_ms":1')
      WHERE chain = 'org/acme' AND name = 'input' AND seq = 5`.compile(query),
  );
  const altered = await calibrate("-o", `${directory}/altered.json`);
  assert.deepEqual([altered.code, altered.stdout], [1, ""]);
  assert.match(altered.stderr, /entry 5 of org\/acme is not what was recorded/);
  await assert.rejects(Deno.stat(`${directory}/altered.json`), Deno.errors.NotFound);
  await deployment.remove();
});

Deno.test("calibrate names what is missing, and writes nothing", async () => {
  const deployment = await freshDeployment();
  const { directory, env } = deployment;
  const bare = { JISS_DATA_DIR: env.JISS_DATA_DIR! };
  const path = `${directory}/model.json`;
  const run = (...args: readonly string[]) => runProgram(["calibrate", ...args], { env: bare });
  const before = await run("--org", "acme");
  assert.equal(before.code, 78);
  assert.match(before.stderr, NO_DATABASE);

  const service = await startService(["serve"], deployment);
  const key = await createOrganization(service, env);
  const none = await run("--org", "acme", "-o", path);
  assert.equal(none.code, 1);
  assert.match(none.stdout, /No case whose truth is known\./);
  assert.match(none.stderr, /^jiss: there is too little labelled history to fit anything: /);
  assert.equal((await service.send("/v1/score", { key, body: scoreRequest() })).status, 200);
  const few = await run("--org", "acme", "--json", "-o", path);
  assert.equal(few.code, 1);
  const { to, scores, times } = JSON.parse(few.stdout);
  assert.deepEqual([to, scores], [null, null]);
  assert.deepEqual([times[0].domain, times[0].operators, times[0].result], ["general", 1, "kept"]);
  // A late label that says whether the AI was right makes this departure one from wrong advice.
  const between = { decision: "overridden", ...UNLABELLED };
  const late = scoreRequest({ session_id: "late" }, between);
  assert.equal((await service.send("/v1/score", { key, body: late })).status, 200);
  const truth = { outcome_correct: false, ai_correct: false };
  assert.equal((await service.send("/v1/score/late/commit", { key, body: truth })).status, 200);
  const { prior } = JSON.parse((await run("--org", "acme", "--json")).stdout).discrimination;
  assert.deepEqual([prior.people, prior.wrong_cases, prior.right_cases, prior.result], [1, 1, 1, "kept"]);
  await service.stop();

  for (const org of ["nobody", "acme/admin", ""]) {
    const unknown = await run("--org", org);
    assert.deepEqual([unknown.code, /there is no organization /.test(unknown.stderr)], [1, true], org);
  }
  assert.equal((await run()).code, 2);
  assert.equal((await run("--org", "acme", "-o", "-")).code, 2);
  await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
  await Deno.writeTextFile(path, "");
  const taken = await run("--org", "acme", "-o", path);
  assert.deepEqual([taken.code, taken.stdout, /already exists/.test(taken.stderr)], [1, "", true]);
  await deployment.remove();
});

// ---- from a file ------------------------------------------------------------------------------------------

const OLDER_MODEL = `${import.meta.dirname}/../../docs/understand/models/jis-1.1.0.json`;

/** Reviewers with 20 cases of wrong and 40 of right advice; each next one departs once more when the AI is wrong. */
function table(reviewers: number, { fold = "" }: { readonly fold?: string } = {}): string {
  const rows = ["operator_id,decision,outcome_correct,ai_correct,fold,note"];
  for (let reviewer = 0; reviewer < reviewers; reviewer += 1) {
    for (let index = 0; index < 60; index += 1) {
      const isWrong = index < 20;
      const departs = isWrong ? index < 4 + reviewer : index < 23;
      const decision = departs ? "overridden" : "accepted";
      rows.push(`reviewer-${reviewer},${decision},${departs === isWrong},${!isWrong},${fold},text`);
    }
  }
  return `${rows.join("\n")}\n`;
}

async function withFolder(test: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-calibrate-" });
  try {
    await test(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("calibrate fits a model to a table of decisions, and evaluate takes the document", () =>
  withFolder(async (directory) => {
    const [history, path] = [`${directory}/history.csv`, `${directory}/model.json`];
    await Deno.writeTextFile(history, table(8));
    const run = (...args: readonly string[]) => runProgram(["calibrate", "--history", history, ...args]);
    const shown = await run();
    assert.deepEqual([shown.code, shown.stderr], [0, ""]);
    assert.match(shown.stdout, /^decisions +480 used, 0 held back$/m);
    assert.match(shown.stdout, /^columns not read +note$/m);
    assert.match(shown.stdout, /\nNothing was written: to write the document, use -o FILE\.\n$/);
    const json = await run("--json", "-o", path);
    assert.deepEqual([json.code, json.stderr], [0, ""]);
    const report = JSON.parse(json.stdout);
    assert.ok(shown.stdout.includes(`${report.to.version}, SHA-256 ${report.to.sha256}`));
    const { prior, error_rate } = report.discrimination;
    assert.deepEqual([prior.people, prior.enough_cases, prior.wrong_cases, prior.right_cases], [
      8,
      8,
      160,
      320,
    ]);
    assert.deepEqual([error_rate.rate, error_rate.after, error_rate.result], [0.333, 0.3, "bounded"]);
    // Only these numbers of the document changed: neither a cost nor a threshold.
    const document = JSON.parse(await Deno.readTextFile(path));
    const expected = structuredClone(builtIn);
    const { leaning, sensitivity } = prior.after;
    Object.assign(expected.discrimination!, { leaning, sensitivity });
    expected.discrimination!.error_rate.prior = error_rate.after;
    assert.deepEqual(document, { ...expected, version: report.to.version });
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);

    const evaluated = await runProgram(["evaluate", history, "--model", path, "--json"]);
    assert.deepEqual(JSON.parse(evaluated.stdout).model, report.to);
    // The same file gives the same document, and from the fitted model nothing changes any more.
    const again = `${directory}/again.json`;
    assert.match((await run("-o", again)).stdout, new RegExp(`JISS_SCORING_MODEL_FILE=${again}\n$`));
    assert.equal(await Deno.readTextFile(again), await Deno.readTextFile(path));
    const later = await run("--model", path, "-o", `${directory}/later.json`);
    assert.equal(later.code, 0);
    assert.match(later.stdout, /already has these values: there is nothing to write\.\n$/);
    await assert.rejects(Deno.stat(`${directory}/later.json`), Deno.errors.NotFound);
  }));

Deno.test("calibrate leaves the rows of the fold test out", () =>
  withFolder(async (directory) => {
    const [both, fit] = [`${directory}/both.csv`, `${directory}/fit.csv`];
    const held = table(12, { fold: "test" }).split("\n").slice(1).join("\n");
    await Deno.writeTextFile(fit, table(8, { fold: "fit" }));
    await Deno.writeTextFile(both, `${table(8, { fold: "fit" })}${held}`);
    const [ofBoth, ofFit] = await Promise.all(
      [both, fit].map(async (path) =>
        JSON.parse((await runProgram(["calibrate", "--history", path, "--json"])).stdout)
      ),
    );
    assert.deepEqual(ofBoth.decisions, { fit: 480, test: 720 });
    assert.deepEqual([ofBoth.to, ofBoth.discrimination], [ofFit.to, ofFit.discrimination]);
  }));

Deno.test("calibrate says how much history is missing, and writes nothing", () =>
  withFolder(async (directory) => {
    const [history, path] = [`${directory}/history.csv`, `${directory}/model.json`];
    for (const text of [table(4), table(8, { fold: "test" }), "operator_id,decision\nada,accepted\n"]) {
      await Deno.writeTextFile(history, text);
      const { code, stdout, stderr } = await runProgram(["calibrate", "--history", history, "-o", path]);
      assert.equal(code, 1);
      assert.match(stdout, /^how often the AI is wrong +0\.15 +0\.15 +kept$/m);
      assert.match(
        stderr,
        /^jiss: there is too little labelled history to fit anything: the prior over people needs 5/,
      );
      await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
    }
  }));

Deno.test("calibrate refuses a bad table, a taken file, an older model and two histories at once", () =>
  withFolder(async (directory) => {
    const [history, path] = [`${directory}/history.csv`, `${directory}/model.json`];
    await Deno.writeTextFile(history, table(8).replace("reviewer-1,overridden", "reviewer-1,perhaps"));
    const refusals: readonly (readonly [args: readonly string[], code: number, message: RegExp])[] = [
      [["--history", history], 2, /history\.csv, line 62: decision: /],
      [["--history", `${directory}/none.csv`], 2, /cannot be read: there is no such file/],
      [["--history", history, "--org", "acme"], 2, /needs either --org ORG or --history FILE/],
      [["--org", "acme", "--model", OLDER_MODEL], 2, /--model is for --history/],
      [
        ["--history", history, "--model", OLDER_MODEL],
        2,
        /jis-1\.1\.0 has the formulas jis-2, .* with --model/,
      ],
      [["--history", history, "--model", history], 78, /JISS_SCORING_MODEL_FILE/],
      [["--history", history, "-o", "-"], 2, /-o needs the name of a file/],
    ];
    for (const [args, expected, message] of refusals) {
      const { code, stdout, stderr } = await runProgram(["calibrate", ...args]);
      assert.deepEqual([code, stdout], [expected, ""], stderr);
      assert.match(stderr, message);
    }
    await Deno.writeTextFile(path, "mine");
    const taken = await runProgram(["calibrate", "--history", history, "-o", path]);
    assert.deepEqual([taken.code, taken.stdout], [1, ""]);
    assert.match(taken.stderr, /already exists/);
    assert.equal(await Deno.readTextFile(path), "mine");
  }));
