/** Limits of a prior that is fitted to an organization's people, and the laws of the fit over random organizations. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { calibratePeople } from "../../src/scoring/calibration/calibrate.ts";
import {
  leaningMeanBounds,
  PEOPLE_BOUNDS,
  PEOPLE_RULES,
} from "../../src/scoring/calibration/people_prior.ts";
import type { Part } from "../../src/scoring/known_cases.ts";
import { NO_PART } from "../../src/scoring/known_cases.ts";
import { type ModelDocument, modelSchema } from "../../src/scoring/model.ts";
import { judge } from "../../src/scoring/verdict.ts";
import { casesOf, type Reviews, reviewsOf } from "../labelled_reviews.ts";
import { JIS_2_0_0 as model } from "../models.ts";

const SEED = 20_261_124;
const section = model.discrimination!;

const between = ([min, max]: readonly [number, number]) =>
  fc.oneof(
    fc.constantFrom(min, max),
    fc.double({ min, max, noNaN: true }),
  );

/** Any prior that a fit could write, the bounds themselves often among them. */
const anyFitted = fc.record({
  leaning: fc.record({ mean: between(leaningMeanBounds()), sd: between(PEOPLE_BOUNDS.leaningSd) }),
  mean: between(PEOPLE_BOUNDS.sensitivityMean),
  sd: between(PEOPLE_BOUNDS.sensitivitySd),
  correlation: between(PEOPLE_BOUNDS.correlation),
  errorRate: between([section.error_rate.least, PEOPLE_BOUNDS.errorRateMost]),
}).map(fittedModel);

interface Fitted {
  readonly leaning: { readonly mean: number; readonly sd: number };
  readonly mean: number;
  readonly sd: number;
  readonly correlation: number;
  readonly errorRate: number;
}

function fittedModel({ leaning, mean, sd, correlation, errorRate }: Fitted): ModelDocument {
  const { builtInShare } = PEOPLE_RULES;
  const sensitivity = [
    { weight: 1 - builtInShare, mean, sd, correlation },
    ...section.sensitivity.map((row) => ({ ...row, weight: row.weight * builtInShare })),
  ];
  const error_rate = { ...section.error_rate, prior: errorRate };
  return { ...model, discrimination: { ...section, leaning, sensitivity, error_rate } };
}

/** The priors at the corners of the bounds, with leanings between them: a fit that is `bounded` lies there. */
function* corners(): Generator<ModelDocument> {
  const { leaningSd, sensitivityMean, sensitivitySd, correlation: ties, errorRateMost } = PEOPLE_BOUNDS;
  const [lowest, highest] = leaningMeanBounds();
  for (let step = 0; step <= 4; step += 1) {
    const leaningMean = lowest + (highest - lowest) * step / 4;
    for (const leaningSpread of leaningSd) {
      for (const mean of sensitivityMean) {
        for (const sd of sensitivitySd) {
          for (const correlation of ties) {
            for (const errorRate of [section.error_rate.least, errorRateMost]) {
              const leaning = { mean: leaningMean, sd: leaningSpread };
              yield fittedModel({ leaning, mean, sd, correlation, errorRate });
            }
          }
        }
      }
    }
  }
}

function statusOf(of: ModelDocument, [hit, miss, right, alarm]: readonly [number, number, number, number]) {
  const part: Part = [hit, miss, right, alarm, hit + miss, right + alarm, hit + miss + right + alarm, 0];
  const parts = {
    n: part,
    p: NO_PART,
    s: NO_PART,
    c: NO_PART,
    d: { general: part },
    q: {},
    u: {},
    a: NO_PART,
    t: null,
    m: 0,
  };
  return judge(of, parts, "full").verdict.status;
}

const rightCases = fc.nat(200);

function holds<Args extends [unknown, ...unknown[]]>(
  name: string,
  arbitraries: { [K in keyof Args]: fc.Arbitrary<Args[K]> },
  check: (...args: Args) => void,
  numRuns = 100,
): void {
  Deno.test(name, () => fc.assert(fc.property(...arbitraries, check), { seed: SEED, numRuns }));
}

holds("no fitted prior gives a certain verdict without evidence", [anyFitted], (of) => {
  assert.equal(statusOf(of, [0, 0, 0, 0]), "undetermined");
});

holds("no fitted prior certifies anybody by acceptances alone, however many are right", [
  anyFitted,
  rightCases,
], (
  of,
  right,
) => {
  assert.notEqual(statusOf(of, [0, 0, right, 0]), "compliant");
  assert.notEqual(statusOf(of, [0, section.wrong_cases, right, 0]), "compliant");
  assert.notEqual(statusOf(of, [1, section.wrong_cases, right, 0]), "compliant");
});

holds(
  "whatever the prior, who lets errors pass or tosses a coin is at risk, and who finds them is compliant",
  [
    anyFitted,
  ],
  (of) => {
    assert.equal(statusOf(of, [0, 20, 100, 0]), "non_compliant");
    assert.equal(statusOf(of, [2, 38, 155, 5]), "non_compliant");
    assert.equal(statusOf(of, [20, 20, 80, 80]), "non_compliant");
    assert.equal(statusOf(of, [36, 4, 196, 4]), "compliant");
  },
);

Deno.test("at no corner of the bounds much right advice, accepted, certifies somebody who lets errors pass", () => {
  for (const of of corners()) {
    const { leaning, sensitivity, error_rate } = of.discrimination!;
    const about = JSON.stringify([leaning, sensitivity[0], error_rate.prior]);
    for (const right of [20, 100, 200]) {
      for (const [hit, miss] of [[0, 5], [1, 4], [1, 9], [2, 8]] as const) {
        assert.notEqual(statusOf(of, [hit, miss, right, 0]), "compliant", `${hit} ${miss} ${right} ${about}`);
      }
      assert.notEqual(statusOf(of, [5, 0, right, 0]), "non_compliant", `${right} ${about}`);
    }
    assert.equal(statusOf(of, [0, 20, 100, 0]), "non_compliant", about);
    assert.equal(statusOf(of, [36, 4, 196, 4]), "compliant", about);
  }
});

const anyReviews: fc.Arbitrary<Reviews> = fc.record({
  hits: fc.nat(30),
  misses: fc.nat(30),
  correct: fc.nat(60),
  alarms: fc.nat(30),
  times: fc.constant([60_000]),
});
const anyOrganization = fc.array(anyReviews, { maxLength: 15 });

function fit(organization: readonly Reviews[]) {
  return calibratePeople(model, casesOf(organization.map(reviewsOf), model));
}

holds(
  "whatever the organization does, the fit stays in its bounds, and changes nothing else of a valid document",
  [anyOrganization],
  (organization) => {
    const { document } = fit(organization);
    if (document === null) return;
    assert.deepEqual(modelSchema.parse(document), document);
    const { leaning, sensitivity: [fitted, ...others], error_rate } = document.discrimination!;
    const [lowest, highest] = leaningMeanBounds();
    assert.ok(lowest <= leaning.mean && leaning.mean <= highest);
    const { leaningSd, sensitivityMean, sensitivitySd, correlation, errorRateMost } = PEOPLE_BOUNDS;
    assert.ok(leaningSd[0] <= leaning.sd && leaning.sd <= leaningSd[1]);
    assert.ok(sensitivityMean[0] <= fitted!.mean && fitted!.mean <= sensitivityMean[1]);
    assert.ok(sensitivitySd[0] <= fitted!.sd && fitted!.sd <= sensitivitySd[1]);
    assert.ok(Math.abs(fitted!.correlation) <= correlation[1]);
    assert.ok(error_rate.prior >= section.error_rate.least && error_rate.prior <= errorRateMost);
    assert.deepEqual(
      others.map(({ mean, sd }) => [mean, sd]),
      section.sensitivity.map(({ mean, sd }) => [mean, sd]),
    );
    const anchored = {
      ...document.discrimination!,
      leaning: section.leaning,
      sensitivity: section.sensitivity,
      error_rate: { ...error_rate, prior: section.error_rate.prior },
    };
    assert.deepEqual({ ...document, discrimination: anchored }, model);
  },
  40,
);

holds(
  "neither the order of the cases nor the names of the people matter to the fit, to the last bit",
  [fc.array(anyReviews, { minLength: 5, maxLength: 12 }), fc.infiniteStream(fc.nat())],
  (organization, order) => {
    const shuffled = organization.map((row) => ({ row, at: order.next().value as number }))
      .sort((one, other) => one.at - other.at).map(({ row }) => row);
    assert.equal(canonicalJson(fit(shuffled)), canonicalJson(fit(organization)));
  },
  20,
);
