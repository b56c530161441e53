/** The verdicts of simulated reviewers at other costs, and beside simple measures at equal error. */
import assert from "node:assert/strict";
import { BASELINE_NAMES } from "../../src/simulation/baselines.ts";
import { atOtherCosts, COSTS, withCosts } from "../../src/simulation/costs.ts";
import { atEqualError } from "../../src/simulation/equal_error.ts";
import { runHistory } from "../../src/simulation/histories.ts";
import { BAD, drawFrom, environmentOf } from "../../src/simulation/populations.ts";
import { seeded } from "../../src/simulation/random.ts";
import type { Measured } from "../../src/simulation/samples.ts";
import { verdicts } from "../../src/simulation/verdicts.ts";
import { JIS_2_0_0 as model } from "../models.ts";

const run = { model, seed: 5, operators: 40 };

const valuesOf = (figures: readonly Measured[]) =>
  new Map(figures.map(({ measure, of, after, value }) => [`${measure}/${of}/${after}`, value]));

Deno.test("the model's own costs give the verdicts that the engine gave", () => {
  const [again, given] = [valuesOf(atOtherCosts(run)), valuesOf(verdicts(run))];
  for (const group of ["independent", "spectrum"]) {
    for (const status of ["certainly compliant", "undetermined", "certainly at risk"]) {
      const figure = again.get(`the model's costs: ${status}/${group}/200`);
      assert.ok(figure !== undefined);
      assert.equal(figure, given.get(`${status}/${group}/200`));
    }
  }
});

Deno.test("a dearer review certifies fewer people and finds more at risk, and so does a dearer false alarm", () => {
  const figures = valuesOf(atOtherCosts(run));
  for (const group of ["independent", "spectrum", "those who do not judge"]) {
    for (
      const rising of [
        ["half the review cost", "the model's costs", "one and a half times the review cost"],
        ["half the false alarm cost", "the model's costs", "twice the false alarm cost"],
      ]
    ) {
      const shares = (status: string) =>
        rising.map((costs) => figures.get(`${costs}: ${status}/${group}/200`)!);
      const [compliant, atRisk] = [shares("certainly compliant"), shares("certainly at risk")];
      assert.deepEqual(compliant, compliant.toSorted((one, other) => other - one), group);
      assert.deepEqual(atRisk, atRisk.toSorted((one, other) => one - other), group);
    }
  }
  assert.ok(
    figures.get("half the review cost: certainly compliant/independent/200")! >
      figures.get("one and a half times the review cost: certainly compliant/independent/200")!,
  );
});

Deno.test("a state does not depend on the costs, so that it can be read again at others", () => {
  const stateWith = (costs: (typeof COSTS)[number]) => {
    const options = {
      model: withCosts(model, costs)!,
      environment: environmentOf("spectrum"),
      random: seeded("cases"),
      lengths: [60],
    };
    return runHistory(drawFrom("spectrum", seeded("operator")), options)[0]!.state;
  };
  for (const costs of COSTS) assert.deepEqual(stateWith(costs), stateWith("the model's costs"), costs);
});

Deno.test("costs at which no review could be worth anything are left out", () => {
  const section = model.discrimination!;
  const dear = { ...model, discrimination: { ...section, review_cost: 0.9 * section.error_rate.least } };
  assert.equal(withCosts(dear, "one and a half times the review cost"), null);
  assert.ok(withCosts(dear, "half the review cost") !== null);
});

Deno.test("at equal error no rule of the two rates alone finds more than the best test of them", () => {
  const figures = valuesOf(atEqualError({ ...run, operators: 200 }));
  for (const kind of BAD) {
    const at = (name: string) => figures.get(`at risk at equal error, ${name}/${kind}/50`)!;
    for (const name of ["d′", "J", "two shrunken rates"]) {
      // Chance in a sample of 200, and in the cut, lets a rule look a little better than it is.
      assert.ok(at(name) <= at("any test of the two rates") + 0.1, `${name}, ${kind}: ${at(name)}`);
    }
    for (const name of ["JIS", ...BASELINE_NAMES]) assert.ok(at(name) >= 0 && at(name) <= 1, name);
  }
  const found = (name: string, kind: string) => figures.get(`at risk at equal error, ${name}/${kind}/50`);
  assert.equal(found("JIS", "always_reject"), 1);
  assert.equal(found("1 − acceptance rate", "always_reject"), 0);
  const enough = figures.get("enough wrong advice is known for a verdict/token_departer/50")!;
  assert.ok(enough > 0.8 && enough < 0.95, String(enough));
});
