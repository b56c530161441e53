/**
 * The published figures as simulated operators: they decide at the study's rates, and the scores keep the
 * study's order.
 */
import assert from "node:assert/strict";
import { DEFAULT_MODEL_DOCUMENT as model } from "../../src/scoring/model.ts";
import { drawInteraction } from "../../src/simulation/archetypes.ts";
import { environmentOf, memberOf, published, PUBLISHED_STUDIES } from "../../src/simulation/published.ts";
import { seeded } from "../../src/simulation/random.ts";
import { shareOf } from "../../src/simulation/statistics.ts";

const CASES = 8_000;

for (const study of PUBLISHED_STUDIES) {
  for (const group of study.groups) {
    Deno.test(`${study.name}: ${group.name} follow advice at the published rates`, () => {
      const random = seeded(`${study.name}/${group.name}`);
      // If all outcomes are known, a label and a decision show whether the advice was right.
      const environment = { ...environmentOf(study), labelledShare: 1 };
      const operator = memberOf(group);
      const cases = Array.from({ length: CASES }, (_, index) => {
        const { decision, modification_extent, outcome_correct, scenario_type } = drawInteraction(
          operator,
          index,
          environment,
          random,
        );
        assert.equal(scenario_type, "standard");
        const accepted = decision === "accepted";
        assert.ok(accepted || decision !== "modified" || modification_extent >= 0.25);
        return { accepted, adviceRight: accepted === outcome_correct };
      });
      const [right, wrong] = [true, false].map((is) => cases.filter(({ adviceRight }) => adviceRight === is));
      const isNear = (actual: number, expected: number, of: number) => {
        const error = Math.sqrt(expected * (1 - expected) / of);
        assert.ok(Math.abs(actual - expected) < 4 * error, `${actual}, expected ${expected}`);
      };
      isNear(wrong!.length / CASES, study.wrongShare, CASES);
      isNear(shareOf(right!, ({ accepted }) => accepted), group.goesAlong.whenRight, right!.length);
      isNear(shareOf(wrong!, ({ accepted }) => accepted), group.goesAlong.whenWrong, wrong!.length);
    });
  }

  Deno.test(`${study.name}: its order names its groups, and puts the group that discriminates better first`, () => {
    const gain = new Map(study.groups.map(({ name, goesAlong: { whenRight, whenWrong } }) => {
      assert.ok([whenRight, whenWrong].every((rate) => rate > 0 && rate < 1));
      return [name, whenRight - whenWrong];
    }));
    assert.equal(gain.size, study.groups.length);
    for (const [better, worse] of study.order) assert.ok(gain.get(better)! > gain.get(worse)!);
  });
}

Deno.test("the figures of the studies are the printed ones", () => {
  const rates = PUBLISHED_STUDIES.map(({ name, wrongShare, groups }) => [
    name,
    wrongShare.toFixed(3),
    ...groups.map(({ goesAlong: { whenRight, whenWrong } }) =>
      `${whenRight.toFixed(3)} ${whenWrong.toFixed(3)}`
    ),
  ]);
  assert.deepEqual(rates, [
    ["Dratsch 2023", "0.300", "0.797 0.802", "0.813 0.752", "0.823 0.545"],
    // (8 false positives × share + 4 false negatives × share) / 12, by hand.
    ["Bernstein 2023", "0.133", "0.900 0.683", "0.900 0.626", "0.900 0.606"],
  ]);
});

Deno.test("scores keep the order of the studies, on other seeds", () => {
  for (const seed of [11, 12]) {
    const figures = published({ model, seed, operators: 60 });
    for (const { name } of PUBLISHED_STUDIES) {
      const [inOrder] = figures.filter(({ measure, of, after }) =>
        measure.endsWith("in the study's order") && of === name && after === 200
      );
      assert.deepEqual([inOrder!.value, inOrder!.target], [1, { least: 1 }]);
    }
    const above = figures.filter(({ measure, after }) => measure.endsWith("AUC") && after === 200);
    assert.equal(above.length, PUBLISHED_STUDIES.flatMap(({ order }) => order).length);
    assert.ok(above.every(({ value }) => value > 0.5));
  }
});

Deno.test("if the rate for right advice is assumed, another rate gives the same order", () => {
  const assuming = PUBLISHED_STUDIES.filter(({ assumesWhenRight }) => assumesWhenRight);
  assert.ok(assuming.length > 0);
  for (const whenRight of [0.8, 1]) {
    const others = assuming.map((study) => ({
      ...study,
      groups: study.groups.map((group) => ({ ...group, goesAlong: { ...group.goesAlong, whenRight } })),
    }));
    const inOrder = published({ model, seed: 11, operators: 100 }, others).filter(({ measure, after }) =>
      measure.endsWith("in the study's order") && after === 200
    );
    assert.deepEqual(inOrder.map(({ value }) => value), assuming.map(() => 1), `${whenRight}`);
  }
});

Deno.test("groups that decide alike are not told apart, and an order that differs from the scores is reported", () => {
  const [study] = PUBLISHED_STUDIES;
  const [one] = study!.groups;
  const alike = {
    ...study!,
    groups: [one!, { ...one!, name: "other" }],
    order: [["other", one!.name]] as const,
  };
  const reversed = {
    ...study!,
    order: study!.order.map(([better, worse]) => [worse, better] as const),
  };
  const figures = (given: typeof study) => published({ model, seed: 11, operators: 60 }, [given!]);
  for (const { value } of figures(alike).filter(({ measure }) => measure.endsWith("AUC"))) {
    assert.ok(Math.abs(value - 0.5) < 0.15, `${value}`);
  }
  const inOrder = figures(reversed).filter(({ measure }) => measure.endsWith("in the study's order"));
  assert.deepEqual(inOrder.map(({ value }) => value), [0, 0]);
});
