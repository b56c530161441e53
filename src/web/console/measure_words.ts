/** How many operators must pass the measures of Article 14, in words. */
import { shareInWords } from "../../pages/wording.ts";
import type { Article14 } from "./types.ts";

/**
 * How many operators must pass a measure, and how many do: once for all measures. Null if nobody is measured, or if the measures do not
 * share one threshold and one population.
 */
export function barInWords(measures: Article14["measures"]): string | null {
  const [first, ...others] = measures;
  if (first === undefined || first.operators === 0) return null;
  const { operators, threshold } = first;
  const isShared = others.every((other) => other.operators === operators && other.threshold === threshold);
  if (!isShared) return null;
  const bar = `Passing needs ${shareInWords(threshold)} of the operators: ${
    leastPassing(threshold, operators)
  } of ${operators}.`;
  const counts = measures.flatMap(({ passing }) => passing ?? []);
  if (counts.length < measures.length) return bar;
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return `${bar} Passing now: ${least === most ? least : `${least} to ${most}, by measure`}.`;
}

/** The least count whose share of the operators reaches the threshold, which the service compares by the same division. */
function leastPassing(threshold: number, operators: number): number {
  let count = Math.ceil(threshold * operators);
  while (count > 0 && (count - 1) / operators >= threshold) count -= 1;
  return count;
}
