/** The period of a report in words. */
import type { Report } from "../domain/report.ts";
import { DAY_MS } from "../domain/time.ts";
import { dayInWords, instantInWords } from "./wording.ts";

/** A period in words: whole days by their first and last one, else by its bounds. */
export function periodInWords({ start, end }: Report["period"]): string {
  const [from, until] = [Date.parse(start), Date.parse(end)];
  const isWholeDays = [from, until].every((bound) => bound % DAY_MS === 0);
  if (!isWholeDays) return `${instantInWords(start)} (included) to ${instantInWords(end)} (not included)`;
  const [first, last] = [start, new Date(until - 1).toISOString()].map(dayInWords);
  return first === last ? first! : `${first} to ${last}`;
}

/** The same for a heading or a list: a year that both days share is said once. */
export function periodInShort(period: Report["period"]): string {
  const words = periodInWords(period);
  const [, first, year, last] = /^(\d+ \w+) (\d{4}) to (\d+ \w+) \2$/.exec(words) ?? [];
  return year === undefined ? words : `${first} to ${last} ${year}`;
}
