/** The golden vectors and the formulas in Python, which were written from docs/verify/formulas.md alone: equal to the last digit. */
import assert from "node:assert/strict";
import type { Golden } from "../golden.ts";
import { pythonIsMissing } from "../independent_verifier.ts";

const ROOT = `${import.meta.dirname}/../..`;

for (
  const [version, document] of [
    ["jis-1.1.0", "docs/understand/models/jis-1.1.0.json"],
    ["jis-2.0.0", "src/scoring/jis-2.0.0.json"],
  ] as const
) {
  Deno.test({
    name:
      `Python computes every golden score, label and decision of ${version} alike [needs python3 with cryptography]`,
    ignore: pythonIsMissing(),
    async fn() {
      const vectors = `tests/vectors/scoring/${version}.json`;
      const { code, stdout, stderr } = await new Deno.Command("python3", {
        args: ["tests/interop/golden.py", vectors, document],
        cwd: ROOT,
      }).output();
      const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
      const golden: Golden = JSON.parse(await Deno.readTextFile(`${ROOT}/${vectors}`));
      const outputs = golden.histories.flatMap(({ events, decisions }) => [
        ...events.filter(({ after }) => after !== undefined),
        ...decisions,
      ]);
      assert.deepEqual([code, said], [0, `compared: ${outputs.length}\n`]);
    },
  });
}
