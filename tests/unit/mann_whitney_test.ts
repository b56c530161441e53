/**
 * The rank test by which the times of refusals are compared. Expected values are from Python's `math.erfc`
 * with the same formulas.
 */
import assert from "node:assert/strict";
import { mannWhitney } from "../mann_whitney.ts";

const numbers = (count: number, first: number) => Array.from({ length: count }, (_, index) => first + index);

/** Equal up to the accuracy of the computed normal distribution. */
function near(actual: number, expected: number): void {
  assert.ok(Math.abs(actual / expected - 1) < 2e-7, `${actual}, expected ${expected}`);
}

Deno.test("separate samples, samples with ties and far tails have the p of the normal approximation", () => {
  const apart = mannWhitney([1, 2, 3], [4, 5, 6]);
  assert.equal(apart.u, 0);
  near(apart.z, -1.7457431218879391);
  near(apart.p, 0.0808555983700523);
  const tied = mannWhitney([1, 2, 2, 3], [2, 3, 3, 4, 5]);
  assert.equal(tied.u, 3);
  near(tied.z, -1.6480507967206073);
  near(tied.p, 0.09934224785346527);
  const shifted = mannWhitney(numbers(40, 0), numbers(40, 20.5));
  assert.equal(shifted.u, 190);
  near(shifted.p, 4.493588149677331e-9);
  near(mannWhitney(numbers(200, 0), numbers(200, 300)).p, 4.830856390397669e-67);
});

Deno.test("swapping the samples changes the sign alone, and all equal values give p = 1", () => {
  const [one, other] = [numbers(40, 0), numbers(40, 20.5)];
  const [forth, back] = [mannWhitney(one, other), mannWhitney(other, one)];
  assert.deepEqual([back.u, back.z, back.p], [1410, -forth.z, forth.p]);
  assert.deepEqual(mannWhitney([7, 7, 7], [7, 7]), { u: 3, z: 0, p: 1 });
  near(mannWhitney(one, one).p, 1);
});
