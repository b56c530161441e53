/** Numbers, dates and wire names in words, in English and the same on every machine. */
import type { FindingStatus } from "../domain/report.ts";
import { roundTo } from "../scoring/arithmetic.ts";
import { formatQuantity, inPercent, scoreInWords } from "../scoring/wording.ts";

export { dayInWords, inPercent, scoreInWords } from "../scoring/wording.ts";

export const NO_DATA = "no data";

export const STATUS_WORDS: Readonly<Record<FindingStatus, string>> = {
  non_compliant: "Not compliant",
  partial: "Partial",
  insufficient_data: "Insufficient data",
  compliant: "Compliant",
  not_applicable: "Not applicable",
};

/** `deferral_resistance` → `Deferral resistance`. */
export function nameInWords(wireName: string): string {
  const words = wireName.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Points, 0 to 100, with at most the two decimals that a JIS has; null becomes words too. */
export function pointsInWords(points: number | null): string {
  return points === null ? NO_DATA : String(roundTo(points, 2));
}

/** A score as {@link scoreInWords} writes it; null becomes words too. */
export function figureInWords(points: number | null): string {
  return points === null ? NO_DATA : scoreInWords(points);
}

/**
 * A share, 0 to 1, in percent with at most one decimal.
 *
 * Decision: rounded down, so that a share just under its threshold never reads as if it had met it.
 */
export function shareInWords(share: number): string {
  return sharesInWords([share])[0]!;
}

/** The shares of one column, all with one decimal if any needs it; rounded as {@link shareInWords} does. */
export function sharesInWords(shares: readonly number[]): readonly string[] {
  // 1e-9: a product such as 0.58 × 1000 may fall just short of the whole number that it stands for.
  const percents = shares.map((share) => Math.floor(share * 1000 + 1e-9) / 10);
  const digits = percents.every(Number.isInteger) ? 0 : 1;
  return percents.map((percent) => inPercent(percent.toFixed(digits)));
}

/** `1 operator`, `0 operators`. */
export function countInWords(count: number, noun: string): string {
  return formatQuantity(String(count), noun);
}

/** The UTC day of an instant in ISO 8601. */
export function dayOf(instant: string): string {
  return new Date(instant).toISOString().slice(0, 10);
}

/** An instant in UTC to the second; a midnight is written as its day only. */
export function instantInWords(instant: string): string {
  const text = new Date(instant).toISOString();
  return text.endsWith("T00:00:00.000Z")
    ? text.slice(0, 10)
    : `${text.slice(0, 10)} ${text.slice(11, 19)} UTC`;
}
