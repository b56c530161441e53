/**
 * The console's pictures: their words and numbers, and that they stay inside their frame with any figures.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  bandsFigure,
  crossingInWords,
  historyFigure,
  projectionFigure,
  sparkInWords,
  sparkPath,
  sparkRange,
} from "../../src/pages/operator_plots.ts";
import { DAY_MS } from "../../src/domain/time.ts";
import { type DecayReading, projectedJis } from "../../src/scoring/decay.ts";

/** The model's check values for J₀ = 80 in the financial domain (scoring model, section 7.2), read at once. */
const DECAY: DecayReading = {
  current_jis: 80,
  current_trend: 0,
  domain: "financial",
  decay_rate: 0.003,
  decay_acceleration: 0.000012,
  floor: 32,
  recovery_rate: 0.045,
  as_of: "2026-01-10T12:00:00.000Z",
  days_since_last_interaction: 0,
  projected_today: 80,
  not_heard_of: false,
  remarks: [],
  days_to_non_compliance: 141,
  non_compliant_on: "2026-05-31",
  projections: [[7, 79], [14, 78], [30, 75.6], [60, 71.2], [90, 66.9], [180, 55], [365, 39.2]].map(
    ([day, jis]) => ({ day: day!, jis: jis!, date: dayAfter(day!) }),
  ),
};

/** The date of a day after that of the reading. */
function dayAfter(days: number): string {
  return new Date(Date.parse("2026-01-10") + days * DAY_MS).toISOString().slice(0, 10);
}

const THRESHOLDS = { min_jis: 60, target_jis: 75 };

/** Every coordinate of the lines, circles and paths of a picture. */
function coordinates(picture: string): readonly (readonly [x: number, y: number])[] {
  const circles = [...picture.matchAll(/cx="([-\d.]+)" cy="([-\d.]+)"/g)];
  const paths = [...picture.matchAll(/ d="([^"]+)"/g)].flatMap(([, path]) => [
    ...path!.matchAll(/([-\d.]+),([-\d.]+)/g),
  ]);
  return [...circles, ...paths].map(([, x, y]) => [Number(x), Number(y)] as const);
}

Deno.test("a projection states when it falls below the minimum, from which score and interval", () => {
  const picture = String(
    projectionFigure({
      projection: DECAY,
      uncertainty: { level: 0.9, low: 72.1, high: 87.9, effective_n: 12 },
      thresholds: THRESHOLDS,
    }),
  );
  assert.match(
    picture,
    /<desc[^>]*>The score falls below 60 around 31 May 2026, in 141 days\. From 80.0 at the last interaction: 80.0 today, 79.0 on 17 January 2026, /,
  );
  assert.match(picture, /begins at the ends of the score&#39;s interval, 72\.1 and 87\.9\. /);
  assert.match(picture, /Dashed lines: minimum 60, target 75\.<\/desc>/);
  assert.match(picture, /<th scope="row">9 July 2026<\/th><td>180<\/td><td>55\.0<\/td>/);
  // The ring is on the curve, on the day, at the line of the minimum.
  const [, x, y] = /<circle cx="([\d.]+)" cy="([\d.]+)" r="5"/.exec(picture)!;
  const { current_jis: start, floor, decay_rate: rate, decay_acceleration: acceleration } = DECAY;
  const jis = projectedJis({ start, floor, rate, acceleration }, 141);
  assert.ok(jis < 60 && jis > 59.5);
  assert.ok(Math.abs(Number(x) - (36 + (282 * 141) / 365)) < 0.01);
  assert.ok(Math.abs(Number(y) - (172 - (158 * jis) / 100)) < 0.01);
});

Deno.test("a fall that never comes, is past or is far off is named, without a ring outside of the picture", () => {
  const never = { days_to_non_compliance: null, non_compliant_on: null };
  const said = (change: Partial<DecayReading>) => crossingInWords({ ...DECAY, ...change }, THRESHOLDS);
  assert.equal(said(never), "No fall below 60 is projected.");
  assert.equal(said({ current_jis: 45, days_to_non_compliance: 0 }), "The score is below 60 already.");
  assert.equal(
    said({ days_to_non_compliance: 0 }),
    "By the projection the score is below 60 since about 31 May 2026.",
  );
  assert.equal(said({ days_to_non_compliance: 1 }), "The score falls below 60 around 31 May 2026, in 1 day.");
  for (const days of [null, 0, 366, 3650]) {
    const picture = projectionFigure({
      projection: { ...DECAY, ...(days === null ? never : { days_to_non_compliance: days }) },
      uncertainty: { level: 0.9, low: 72.1, high: 87.9, effective_n: 12 },
      thresholds: THRESHOLDS,
    });
    assert.doesNotMatch(String(picture), / r="5"/);
  }
});

Deno.test("a projection that is read later goes on from the last interaction, and says what must be known first", () => {
  const picture = String(
    projectionFigure({
      projection: {
        ...DECAY,
        as_of: "2026-03-11T12:00:00.000Z",
        days_since_last_interaction: 60,
        projected_today: 71.2,
        days_to_non_compliance: 81,
        not_heard_of: true,
        remarks: ["The verdict is undetermined.", "The operator has not been heard of for 60 days."],
      },
      uncertainty: { level: 0.9, low: 72.1, high: 87.9, effective_n: 12 },
      thresholds: THRESHOLDS,
    }),
  );
  assert.match(
    picture,
    /<desc[^>]*>The verdict is undetermined\. The operator has not been heard of for 60 days\. The score falls below 60 around 31 May 2026, in 81 days\. From 80.0 at the last interaction: 71\.2 today, /,
  );
  assert.match(picture, /days from today, 11 March 2026/);
  assert.match(picture, />-60<\/text>/);
  // The ring is where it was in the picture of the last interaction: on the curve, 141 days after it.
  const [, x] = /<circle cx="([\d.]+)"/.exec(picture)!;
  assert.ok(Math.abs(Number(x) - (36 + (282 * 141) / 425)) < 0.01);
  for (const [x, y] of coordinates(picture)) {
    assert.ok(x >= 36 && x <= 405 && y >= 14 && y <= 172, `${x},${y}`);
  }
});

Deno.test("with any scores a history and a sparkline stay inside their pictures", () => {
  const points = fc.array(
    fc.record({ jis: fc.double({ min: 0, max: 100, noNaN: true }), at: fc.integer({ min: 0, max: 4e12 }) }),
    { minLength: 1, maxLength: 100 },
  );
  fc.assert(fc.property(points, (found) => {
    const history = found.toSorted((a, b) => a.at - b.at)
      .map(({ at, jis }) => ({ timestamp: new Date(at).toISOString(), jis }));
    for (const [x, y] of coordinates(String(historyFigure({ history, thresholds: THRESHOLDS })))) {
      assert.ok(x >= 36 && x <= 405 && y >= 14 && y <= 172, `${x},${y}`);
    }
    const line = sparkPath(history.map(({ jis }) => jis), { label: "days", minimum: 60 });
    for (const [x, y] of coordinates(String(line))) {
      assert.ok(x >= 0 && x <= 144 && y >= 0 && y <= 32, `${x},${y}`);
    }
  }));
});

Deno.test("a sparkline states in words what it shows; without a day it draws nothing", () => {
  assert.equal(sparkInWords([]), "No interaction in the last 30 days");
  assert.equal(sparkInWords([61.25]), "One day in the last 30: 61.2; drawn between 50 and 70");
  assert.equal(
    sparkInWords([61.25, 50, 40]),
    "3 days in the last 30: from 61.2 to 40.0; drawn between 40 and 70",
  );
  assert.doesNotMatch(String(sparkPath([], { label: "none", minimum: 60 })), /<path|<circle/);
  assert.doesNotMatch(String(sparkPath([50], { label: "one", minimum: 60 })), /<path/);
});

Deno.test("a sparkline's range holds its values, spans 20 points at least, and has the minimum if that lies in it", () => {
  const values = fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 1, maxLength: 30 });
  fc.assert(fc.property(values, (scores) => {
    const [low, high] = sparkRange(scores);
    assert.ok(0 <= low && low <= Math.min(...scores) && Math.max(...scores) <= high && high <= 100);
    assert.ok(high - low >= 20 && low % 10 === 0 && high % 10 === 0, `${low} to ${high}`);
    const hasMinimum = String(sparkPath(scores, { label: "days", minimum: 60 })).includes("<line");
    assert.equal(hasMinimum, low <= 60 && 60 <= high);
  }));
  assert.deepEqual(sparkRange([45.2, 84]), [40, 90]);
  assert.deepEqual(sparkRange([41.7, 42.7]), [30, 50]);
  assert.deepEqual(sparkRange([100]), [80, 100]);
  // The line that rises by less than a point rises by less than a twentieth of the picture's height.
  const [first, last] = coordinates(String(sparkPath([70, 70.9], { label: "days", minimum: 60 })));
  const rise = Math.abs(first![1] - last![1]);
  assert.ok(rise > 0 && rise < 32 / 20, `${rise}`);
});

Deno.test("bands without operators are bars without length", () => {
  const picture = String(bandsFigure({ exemplary: 0, proficient: 0, adequate: 0, at_risk: 0 }));
  assert.equal([...picture.matchAll(/ width="0"/g)].length, 4);
  assert.match(picture, /<desc[^>]*>Exemplary 0, Proficient 0, Adequate 0, At risk 0\.<\/desc>/);
});
