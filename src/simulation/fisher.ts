/** Fisher's exact test of two shares. */

/** Cases decided well, and the others: whole numbers, 0 or more. */
export interface Outcomes {
  readonly well: number;
  readonly badly: number;
}

/**
 * The chance, 0..1, of a difference at least as large in this direction, if the first share is truly not above the
 * second: Fisher's exact test, one-sided (Fisher 1935). 1 if one side has no case.
 */
export function fisherAbove(one: Outcomes, other: Outcomes): number {
  const size = one.well + one.badly;
  const all = size + other.well + other.badly;
  const well = one.well + other.well;
  let sum = 0;
  for (let count = one.well; count <= Math.min(size, well); count += 1) {
    sum += Math.exp(lnChoose(well, count) + lnChoose(all - well, size - count) - lnChoose(all, size));
  }
  return Math.min(1, sum);
}

const lnFactorials = [0];

function lnFactorial(count: number): number {
  while (lnFactorials.length <= count) {
    lnFactorials.push(lnFactorials.at(-1)! + Math.log(lnFactorials.length));
  }
  return lnFactorials[count]!;
}

/** ln of the ways to choose; -Infinity if there is none. */
function lnChoose(from: number, count: number): number {
  if (count < 0 || count > from) return -Infinity;
  return lnFactorial(from) - lnFactorial(count) - lnFactorial(from - count);
}
