/** How an explanation writes numbers, durations, names and lists. */
import type { Domain } from "../domain/enums.ts";
import { roundTo } from "./arithmetic.ts";

/** The one way in which a number, 0 or above, is written: rounded to at most `decimals` places, never as a power. */
export function figure(value: number, decimals: number): string {
  const rounded = roundTo(value, decimals);
  return rounded > 0 && rounded < 1e-6 ? "almost 0" : String(rounded);
}

/** Two numbers with as many decimals, at least `decimals`, as it takes to tell them apart. */
export function apart(
  first: number,
  second: number,
  decimals: number,
): readonly [first: string, second: string] {
  for (let places = decimals; places < 9; places += 1) {
    const [one, other] = [figure(first, places), figure(second, places)];
    if (one !== other) return [one, other];
  }
  return [figure(first, 9), figure(second, 9)];
}

export function percent(share: number): string {
  return `${figure(100 * share, 1)} %`;
}

export function seconds(ms: number): string {
  const shown = figure(ms / 1000, 3);
  return shown === "1" ? "1 second" : `${shown} seconds`;
}

export function quantity(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}

export function nameOf(domain: Domain): string {
  return domain.replaceAll("_", " ");
}

export function listed(clauses: readonly string[]): string {
  return clauses.join("; ");
}

export function enumeration(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}
