/** How explanations and pages write numbers, days, durations, names, movements and lists. */
import type { Domain } from "../domain/enums.ts";
import { roundTo } from "./arithmetic.ts";

/** Writes a number, 0 or above: rounded to at most `decimals` places, never as a power. */
export function formatFigure(value: number, decimals: number): string {
  const rounded = roundTo(value, decimals);
  return rounded > 0 && rounded < 1e-6 ? "almost 0" : String(rounded);
}

/**
 * A score, the end of its interval, or the difference of two scores, with one decimal.
 *
 * Decision: rounded towards zero, so that a score just under the threshold never reads as if it had met it.
 */
export function scoreInWords(points: number): string {
  // 1e-9: a product such as 64.1 × 10 may fall just short of the whole number that it stands for.
  const shown = String(Math.trunc(points * 10 + Math.sign(points) * 1e-9) / 10);
  return shown.includes(".") ? shown : `${shown}.0`;
}

const MONTHS = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
];

/** The UTC day of a date or an instant in ISO 8601, in words: `14 January 2027`. */
export function dayInWords(instant: string): string {
  const day = new Date(instant);
  return `${day.getUTCDate()} ${MONTHS[day.getUTCMonth()]!} ${day.getUTCFullYear()}`;
}

/** Two numbers with enough decimals to tell them apart: at least `decimals`, at most 9. */
export function distinctFigures(
  first: number,
  second: number,
  decimals: number,
): readonly [first: string, second: string] {
  for (let places = decimals; places < 9; places += 1) {
    const [firstText, secondText] = [formatFigure(first, places), formatFigure(second, places)];
    if (firstText !== secondText) return [firstText, secondText];
  }
  return [formatFigure(first, 9), formatFigure(second, 9)];
}

/** A number of percent that is already written, with its sign: sentences, pages and pictures have no other form. */
export function inPercent(shown: string): string {
  return `${shown} %`;
}

/** A share, 0..1, as a percentage; only 0 itself is written as 0. */
export function percent(share: number): string {
  return inPercent(distinctFigures(100 * share, 0, 1)[0]);
}

/** Milliseconds as a number of seconds, without the unit. */
export function inSeconds(ms: number): string {
  return formatFigure(ms / 1000, 3);
}

/** A number that is already written, with its noun: "1 day", "2.7 days". */
export function formatQuantity(shown: string, noun: string): string {
  return `${shown} ${noun}${shown === "1" ? "" : "s"}`;
}

export function nameOf(domain: Domain): string {
  return domain.replaceAll("_", " ");
}

export function joinWithAnd(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

/** A value that a rule moved, or left where it was. */
export interface Movement {
  readonly of: string;
  readonly before: number;
  readonly after: number;
  /** The details in brackets; may be empty. */
  readonly details: readonly string[];
}

/** Stored evidence is rounded to 1e-9: a mean that moved by no more than this counts as unchanged. */
const STORED_PRECISION = 1e-9;

export function isUnchanged(before: number, after: number): boolean {
  return Math.abs(after - before) <= STORED_PRECISION;
}

/** Movements as one list; a direction is repeated only if it changes. */
export function movementList(movements: readonly Movement[]): string {
  const directions = movements.map(({ before, after }) =>
    isUnchanged(before, after) ? "stayed" : after > before ? "rose" : "fell"
  );
  return joinWithAnd(movements.map(({ of, before, after, details }, index) => {
    const direction = directions[index]!;
    const [from, to] = distinctFigures(before, after, 2);
    const path = direction === "stayed"
      ? `stayed at ${formatFigure(after, 2)}`
      : `${direction === directions[index - 1] ? "" : `${direction} `}from ${from} to ${to}`;
    return `${of} ${path}${details.length === 0 ? "" : ` (${details.join(", ")})`}`;
  }));
}
