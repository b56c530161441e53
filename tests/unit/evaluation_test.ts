/** Simple estimates of rates, and the figures that tell how well they foretell. */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  calibrationOf,
  everybodysRate,
  fitBeta,
  logLoss,
  ownRate,
  shrunkenRate,
} from "../../src/scoring/evaluation/rates.ts";

const counts = fc.nat({ max: 20 }).chain((all) =>
  fc.record({ yes: fc.nat({ max: all }), all: fc.constant(all) })
);

Deno.test("a person's own rate has half a case on each side; everybody's is that of all cases", () => {
  assert.equal(ownRate({ yes: 0, all: 0 }), 0.5);
  assert.equal(ownRate({ yes: 3, all: 3 }), 3.5 / 4);
  assert.equal(everybodysRate([{ yes: 3, all: 3 }, { yes: 0, all: 1 }]), 3.5 / 5);
});

Deno.test("log loss is the mean surprise of each decision", () => {
  assert.equal(logLoss([{ rate: 0.5, came: { yes: 2, all: 7 } }]), Math.LN2);
  const loss = logLoss([{ rate: 0.8, came: { yes: 1, all: 1 } }, { rate: 0.8, came: { yes: 0, all: 1 } }]);
  assert.ok(Math.abs(loss! - -(Math.log(0.8) + Math.log(0.2)) / 2) < 1e-12);
  assert.equal(logLoss([{ rate: 0.8, came: { yes: 0, all: 0 } }]), null);
});

Deno.test("the fitted beta distribution is that of people whose rates are far apart, or alike", () => {
  const apart = fitBeta(
    Array.from({ length: 40 }, (_, index) => ({ yes: index % 2 === 0 ? 0 : 20, all: 20 })),
  )!;
  assert.ok(apart.a + apart.b < 1, JSON.stringify(apart));
  const alike = fitBeta(Array.from({ length: 40 }, () => ({ yes: 5, all: 20 })))!;
  assert.ok(alike.a + alike.b > 500 && Math.abs(alike.a / (alike.a + alike.b) - 0.25) < 1e-3);
  assert.equal(fitBeta([{ yes: 1, all: 2 }, { yes: 0, all: 0 }]), null);
});

Deno.test("no other beta distribution makes the counts more probable", () => {
  const logGamma = (from: number, cases: number) =>
    Array.from({ length: cases }, (_, index) => Math.log(from + index)).reduce((sum, log) => sum + log, 0);
  const likelihood = (people: readonly { yes: number; all: number }[], a: number, b: number) =>
    people.reduce(
      (sum, { yes, all }) => sum + logGamma(a, yes) + logGamma(b, all - yes) - logGamma(a + b, all),
      0,
    );
  fc.assert(fc.property(
    fc.array(counts, { minLength: 2, maxLength: 12 }),
    fc.double({ min: 0.01, max: 0.99, noNaN: true }),
    fc.double({ min: 0.5, max: 2000, noNaN: true }),
    (people, mean, concentration) => {
      const fitted = fitBeta(people);
      if (fitted === null) return;
      const other = likelihood(people, mean * concentration, (1 - mean) * concentration);
      assert.ok(likelihood(people, fitted.a, fitted.b) >= other - 1e-3);
    },
  ));
});

Deno.test("a shrunken rate lies between the prior's mean and the person's own share", () => {
  fc.assert(fc.property(counts, ({ yes, all }) => {
    const rate = shrunkenRate({ a: 2, b: 3 }, { yes, all });
    const own = all === 0 ? 0.4 : yes / all;
    assert.ok(rate >= Math.min(0.4, own) - 1e-12 && rate <= Math.max(0.4, own) + 1e-12);
  }));
});

Deno.test("calibration counts each decision in the tenth of its foretold rate", () => {
  assert.deepEqual(
    calibrationOf([
      { rate: 0.25, came: { yes: 1, all: 4 } },
      { rate: 0.29, came: { yes: 1, all: 1 } },
      { rate: 1, came: { yes: 2, all: 2 } },
      { rate: 0.5, came: { yes: 0, all: 0 } },
    ]),
    [
      { from: 0.2, to: 0.3, decisions: 5, foretold: (4 * 0.25 + 0.29) / 5, came: 0.4 },
      { from: 0.9, to: 1, decisions: 2, foretold: 1, came: 1 },
    ],
  );
});
