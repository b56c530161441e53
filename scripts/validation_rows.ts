/**
 * The rows of docs/understand/scoring-model.md that hold figures of the published studies, from the output of
 * `jiss simulate --json`.
 */
import { PUBLISHED_STUDIES } from "../src/simulation/published.ts";
import type { Validation } from "../src/simulation/validation.ts";

/** The rows of the page's tables: the other cells by the first cell. */
export function studyRows({ figures }: Validation): ReadonlyMap<string, readonly string[]> {
  const value = (measure: string, of: string, after: number) => {
    const figure = figures.find((one) => one.measure === measure && one.of === of && one.after === after);
    if (figure === undefined) throw new Error(`the validation lacks ${measure}, ${of}, ${after}`);
    return figure.value;
  };
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  const rows = new Map<string, readonly string[]>();
  for (const { name: study, groups, order, assumesWhenRight } of PUBLISHED_STUDIES) {
    for (const { name, goesAlong: { whenRight, whenWrong } } of groups) {
      const of = `${study}, ${name}`;
      rows.set(of, [
        assumesWhenRight ? `${percent(whenRight)}, assumed` : percent(whenRight),
        percent(whenWrong),
        ...[50, 200].map((after) => value("published: mean JIS", of, after).toFixed(1)),
        percent(value("published: at risk", of, 200)),
      ]);
    }
    for (const [better, worse] of order) {
      const of = `${study}, ${better} above ${worse}`;
      rows.set(of, [50, 200].map((after) => value("published: AUC", of, after).toFixed(2)));
    }
  }
  return rows;
}

/** The cells of a line of a Markdown table; none if the line is not one. */
export function cellsOf(line: string): readonly string[] {
  return line.startsWith("|") ? line.split("|").slice(1, -1).map((cell) => cell.trim()) : [];
}
