/** The measures of Article 14 in the words of the console. */
import assert from "node:assert/strict";
import { passingInWords } from "../../src/web/console/measure_words.ts";

Deno.test("the condition of a measure has no name of the model", () => {
  for (
    const [metric, words] of [
      [
        "share of operators with the verdict compliant and error_detection at least 60",
        "Meets the threshold, error detection at least 60",
      ],
      ["share of operators with jis at least 60", "JIS at least 60"],
      [
        "share of operators with jis at least 60 and mean_correct_acceptance at least 0.5",
        "JIS at least 60, mean acceptance of right advice at least 0.5",
      ],
      ["another_measure", "Another measure"],
    ] as const
  ) assert.equal(passingInWords(metric), words);
});
