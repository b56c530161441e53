/** The golden vectors and the formulas in Python, which were written from docs/verify/formulas.md alone: equal to the last digit. */
import assert from "node:assert/strict";
import { DEFAULT_MODEL_DOCUMENT } from "../../src/scoring/model.ts";
import { pythonIsMissing } from "../independent_verifier.ts";
import { GOLDEN } from "../model_checks.ts";

const ROOT = `${import.meta.dirname}/../..`;

Deno.test({
  name: "Python computes every golden score, label and decision alike [needs python3 with cryptography]",
  ignore: pythonIsMissing(),
  async fn() {
    const { version } = DEFAULT_MODEL_DOCUMENT;
    const { code, stdout, stderr } = await new Deno.Command("python3", {
      args: [
        "tests/interop/golden.py",
        `tests/vectors/scoring/${version}.json`,
        `src/scoring/${version}.json`,
      ],
      cwd: ROOT,
    }).output();
    const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    const outputs = GOLDEN.histories.flatMap(({ events, decisions }) => [
      ...events.filter(({ after }) => after !== undefined),
      ...decisions,
    ]);
    assert.deepEqual([code, said], [0, `compared: ${outputs.length}\n`]);
  },
});
