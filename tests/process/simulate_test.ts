/** `jiss simulate`: without a service, a database or an environment. */
import assert from "node:assert/strict";
import { DEFAULT_MODEL_DOCUMENT as model } from "../../src/scoring/model.ts";
import { runProgram } from "../program.ts";

const FEW = ["--seed", "3", "--operators", "3"];

Deno.test("simulate prints a table for people or one object for programs, and judges only if it is asked to", async () => {
  const [table, json, checked] = await Promise.all([
    runProgram(["simulate", ...FEW]),
    runProgram(["simulate", ...FEW, "--json"]),
    runProgram(["simulate", ...FEW, "--check"]),
  ]);
  assert.deepEqual([table!.code, table!.stderr], [0, ""]);
  assert.match(
    table!.stdout,
    /^model jis-\S+, SHA-256 [0-9a-f]{64}; 3 simulated operators of each kind, seeds 3\n/,
  );
  assert.match(table!.stdout, /^AUC, independent above +rubber_stamper +50 +\d\.\d{4} +at least 0\.98$/m);
  const validation = JSON.parse(json!.stdout);
  assert.deepEqual([validation.model, validation.seeds, validation.operators], [model.version, [3], 3]);
  const missed = [...table!.stdout.matchAll(/^missed by /gm)];
  assert.equal(validation.missed.length, missed.length);
  assert.equal(checked!.code, missed.length > 0 ? 1 : 0);
  assert.equal(checked!.stdout, table!.stdout);
});

Deno.test("simulate uses the model in the environment, and refuses options that are not numbers", async () => {
  const directory = await Deno.makeTempDir({ prefix: "jiss-simulate-" });
  const path = `${directory}/model.json`;
  await Deno.writeTextFile(path, JSON.stringify({ ...model, version: "candidate-1" }));
  const { code, stdout } = await runProgram(["simulate", "--operators", "1", "--seed", "1"], {
    env: { JISS_SCORING_MODEL_FILE: path },
  });
  assert.equal(code, 0);
  assert.match(stdout, /^model candidate-1, /);
  for (const wrong of [["--seed", "x"], ["--operators", "0"], ["--operators", "1.5"]]) {
    const refused = await runProgram(["simulate", ...wrong]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /It must be a whole number of at least 1\./);
  }
  await Deno.remove(directory, { recursive: true });
});
