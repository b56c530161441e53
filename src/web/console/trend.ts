/** Changes of a score as a number with its sign. */
import { scoreInWords } from "../../pages/wording.ts";

/** Points below which a score neither rises nor falls. */
const STEADY = 1;

/** Whether a change in points is too small to speak of. */
export function isSteady(points: number): boolean {
  return Math.abs(points) < STEADY;
}

/** A number with a real minus, which is as wide as a plus. */
export function withMinus(number: string): string {
  return number.replace(/^-/, "−");
}

/** A change in points: `+2.0`, `−1.2`, or `steady`. */
export function changeInWords(points: number): string {
  if (isSteady(points)) return "steady";
  return `${points > 0 ? "+" : "−"}${scoreInWords(Math.abs(points))}`;
}
