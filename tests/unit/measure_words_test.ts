/** The measures of Article 14 and the findings of a report in words for people. */
import assert from "node:assert/strict";
import { metricInWords, passingInWords } from "../../src/pages/metric_words.ts";

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

Deno.test("a finding's metric is a clause without a name of the model", () => {
  for (
    const [metric, words] of [
      [
        "share of operators with the verdict compliant and error_detection at least 60",
        "the share of the operators who meet the threshold, and have error detection of at least 60",
      ],
      [
        "share of operators with deferral_resistance at least 60 and deliberation_depth at least 50",
        "the share of the operators who have deferral resistance of at least 60 and deliberation depth of at least 50",
      ],
      [
        "share of operators with the verdict compliant and jis at least 60 and mean_correct_acceptance at least 0.5",
        "the share of the operators who meet the threshold, and have JIS of at least 60 and mean acceptance of right advice of at least 0.5",
      ],
      ["share of operators with the verdict compliant", "the share of the operators who meet the threshold"],
      ["JIS of at least 60", "JIS of at least 60"],
    ] as const
  ) assert.equal(metricInWords(metric), words);
});
