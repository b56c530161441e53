/**
 * No false alarm in the independent verifier either: it finds the files that honest deployments export
 * intact.
 *
 * A history that fails names its seed: the same seed makes the same files.
 */
import assert from "node:assert/strict";
import { codesOf, filesOf, Seen } from "../clean_bundles.ts";
import { askIndependently, type IndependentAnswer, pythonIsMissing } from "../independent_verifier.ts";
import type { ExportedFile } from "../random_worlds.ts";

const BUNDLES = 100;

Deno.test({
  name:
    "a hundred bundles that an honest deployment exports raise no alarm in the independent verifier [needs python3 with cryptography]",
  ignore: pythonIsMissing(),
  async fn() {
    const files = await chosenFiles();
    const answers = await askIndependently(files.map(({ text, key, known, expected, replay }) => ({
      files: [text],
      keys: [key],
      checkpoints: known.map(({ note }) => note),
      entries: expected,
      replay,
    })));
    for (const [index, file] of files.entries()) assertNoAlarm(answers[index]!, file);
  },
});

/** This many bundles, and as many more as it takes to hold every kind of line. */
async function chosenFiles(): Promise<readonly ExportedFile[]> {
  const seen = new Seen();
  const files: ExportedFile[] = [];
  for await (const file of filesOf("clean 2")) {
    if (seen.bundles >= BUNDLES && !seen.isNews(file)) continue;
    files.push(file);
    seen.take(file);
    if (seen.bundles >= BUNDLES && seen.isComplete) break;
  }
  return files;
}

function assertNoAlarm({ exit_code, bundles }: IndependentAnswer, file: ExportedFile): void {
  assert.deepEqual(
    bundles.map(({ origin, verdict, withheld, findings }, index) => ({
      ...{ origin, verdict, withheld },
      reported: codesOf(findings, file.bundles[index]!),
    })),
    file.bundles.map(({ origin, verdict, withheld, reported }) => ({ origin, verdict, withheld, reported })),
    file.name,
  );
  assert.equal(exit_code, Math.max(...file.bundles.map(({ exit }) => exit)), file.name);
}
