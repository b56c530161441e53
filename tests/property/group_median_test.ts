/** The interval of a group's median: it holds the median, is that of one person for one, and narrows as people are added. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { type Measured, medianInterval } from "../../src/domain/group_median.ts";

const member: fc.Arbitrary<Measured> = fc.tuple(
  fc.integer({ min: 0, max: 10_000 }),
  fc.integer({ min: 0, max: 3_000 }),
  fc.integer({ min: 0, max: 3_000 }),
).map(([jis, below, above]) => ({
  jis: jis / 100,
  low: Math.max(0, jis - below) / 100,
  high: Math.min(10_000, jis + above) / 100,
}));

const group = fc.array(member, { minLength: 1, maxLength: 90 });

function medianOf(members: readonly Measured[]): number {
  const sorted = members.map(({ jis }) => jis).sort((one, other) => one - other);
  return (sorted[sorted.length >> 1]! + sorted[(sorted.length - 1) >> 1]!) / 2;
}

Deno.test("nobody has no median", () => assert.equal(medianInterval([]), null));

Deno.test("the interval of one person is that person's interval", () => {
  fc.assert(fc.property(member, (one) => {
    const { low, high } = medianInterval([one])!;
    assert.ok(Math.abs(low - one.low) <= 0.011, `${low} and ${one.low}`);
    assert.ok(Math.abs(high - one.high) <= 0.011, `${high} and ${one.high}`);
  }));
});

Deno.test("the interval lies between the medians of the lower and of the upper ends", () => {
  fc.assert(fc.property(group, (members) => {
    const { low, high } = medianInterval(members)!;
    const ends = (end: (one: Measured) => number) =>
      medianOf(members.map((one) => ({ ...one, jis: end(one) })));
    assert.ok(low <= high);
    assert.ok(ends((one) => Math.max(0, one.jis - 4 * (one.jis - one.low))) - 0.5 <= low);
    assert.ok(high <= ends((one) => Math.min(100, one.jis + 4 * (one.high - one.jis))) + 0.5);
  }));
});

Deno.test("the order of the people changes nothing", () => {
  fc.assert(fc.property(group, (members) => {
    const [one, other] = [medianInterval(members)!, medianInterval(members.toReversed())!];
    assert.ok(Math.abs(one.low - other.low) <= 0.01 && Math.abs(one.high - other.high) <= 0.01);
  }));
});

Deno.test("scores that are known exactly have their median as the interval", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 99 }), (scores) => {
      const exact = scores.map((jis) => ({ jis, low: jis, high: jis }));
      const median = medianOf(exact);
      assert.deepEqual(medianInterval(exact), { low: median, high: median });
    }),
  );
});

Deno.test("simulated medians of people fall into the interval nine times in ten", () => {
  let state = 7;
  const uniform = () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
  const deviation = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  for (const size of [1, 2, 5, 12, 63, 64, 65, 200]) {
    const members = Array.from({ length: size }, (_, index) => {
      const jis = 30 + 40 * ((index * 7919) % size) / size;
      const half = 3 + (index % 5) * 2;
      return { jis, low: jis - half, high: jis + half };
    });
    const { low, high } = medianInterval(members)!;
    let inside = 0;
    const rounds = 2_000;
    for (let round = 0; round < rounds; round += 1) {
      const drawn = medianOf(
        members.map((one) => ({ ...one, jis: one.jis + deviation() * (one.high - one.jis) / 1.6449 })),
      );
      if (drawn >= low && drawn <= high) inside += 1;
    }
    // Four standard errors of a share of 0.9 in 2,000 draws are 0.027. An even number of few people may have a wider one.
    const share = inside / rounds;
    assert.ok(share > 0.865 && (share < 0.935 || (size % 2 === 0 && size < 60)), `${size} people: ${share}`);
  }
});
