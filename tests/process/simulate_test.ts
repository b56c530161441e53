/** `jiss simulate`: without a service, a database or an environment. */
import assert from "node:assert/strict";
import { JIS_1_1_0, JIS_2_0_0 } from "../models.ts";
import { runProgram } from "../program.ts";

const FEW = ["--seed", "3", "--operators", "3"];

/** Runs the command with a model of the tests' own. */
async function simulateWith(document: { readonly version: string }, options: readonly string[]) {
  const directory = await Deno.makeTempDir({ prefix: "jiss-simulate-" });
  const path = `${directory}/model.json`;
  await Deno.writeTextFile(path, JSON.stringify(document));
  try {
    return await runProgram(["simulate", ...options], { env: { JISS_SCORING_MODEL_FILE: path } });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("simulate prints a table for people or one object for programs, and judges only if it is asked to", async () => {
  const [table, json, checked] = await Promise.all([
    simulateWith(JIS_2_0_0, FEW),
    simulateWith(JIS_2_0_0, [...FEW, "--json"]),
    simulateWith(JIS_2_0_0, [...FEW, "--check"]),
  ]);
  assert.deepEqual([table!.code, table!.stderr], [0, ""]);
  assert.match(
    table!.stdout,
    /^model jis-\S+, SHA-256 [0-9a-f]{64}; 3 simulated operators of each kind, seeds 3\n/,
  );
  assert.match(table!.stdout, /^AUC, independent above +rubber_stamper +50 +\d\.\d{4} +at least 0\.98$/m);
  assert.match(table!.stdout, /^certainly at risk +slow_rubber +200 +\d\.\d{4} +at least 0\.95$/m);
  assert.match(
    table!.stdout,
    /^Spearman with J\*, JIS less accuracy +field_has +200 +-?\d\.\d{4} +at least 0, give or take 2 standard errors of /m,
  );
  assert.match(table!.stdout, /^second_ai: .* It cannot be told from a person who judges as well\.$/m);
  const validation = JSON.parse(json!.stdout);
  assert.deepEqual([validation.model, validation.seeds, validation.operators], [JIS_2_0_0.version, [3], 3]);
  const sections = [...table!.stdout.matchAll(/^== (.+)$/gm)].map(([, name]) => name);
  const figures = validation.figures as { readonly section: string }[];
  assert.deepEqual(sections, [...new Set(figures.map(({ section }) => section))]);
  assert.equal(sections.filter((name) => name!.startsWith("Probe programmes: ")).length, 6);
  const missed = [...table!.stdout.matchAll(/^missed by /gm)];
  assert.equal(validation.missed.length, missed.length);
  assert.equal(checked!.code, missed.length > 0 ? 1 : 0);
  assert.equal(checked!.stdout, table!.stdout);
});

Deno.test("simulate uses the model in the environment, and refuses options that are not numbers", async () => {
  const { code, stdout } = await simulateWith({ ...JIS_1_1_0, version: "candidate-1" }, [
    "--operators",
    "1",
    "--seed",
    "1",
  ]);
  assert.equal(code, 0);
  assert.match(stdout, /^model candidate-1, /);
  assert.match(stdout, /^interval covers the expected JIS +spectrum +50 /m);
  assert.doesNotMatch(stdout, /certainly|Probe programmes/);
  for (const wrong of [["--seed", "x"], ["--operators", "0"], ["--operators", "1.5"]]) {
    const refused = await runProgram(["simulate", ...wrong]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /It must be a whole number of at least 1\./);
  }
});
