/** The plots of a run of the public demo, on its page and in the demo itself: the score case by case. */
// @ts-types="@types/d3-scale"
import { scaleLinear } from "d3-scale";
import { figure, NARROW, px } from "./chart.ts";
import { dotsOf, jisGrid, jisScale, levelLines, levelsInWords, strokeOf } from "./jis_plot.ts";
import { type Markup, markup } from "./markup.ts";
import { dataTable } from "./tables.ts";
import { nameInWords, scoreInWords } from "./wording.ts";

export interface ScoreAndBand {
  /** 0 to 100. */
  readonly jis: number;
  readonly band: string;
}

const PLOT = { left: 36, right: 400, top: 14, bottom: 214, height: 250 };

/** The score after each case; `thresholds` are drawn as dashed lines if they are known. */
export function coursePlot(
  { results, thresholds, isNarrow = false }: {
    readonly results: readonly ScoreAndBand[];
    readonly thresholds?: { readonly minJis: number; readonly targetJis: number };
    /** Whether it must be legible on a telephone. */
    readonly isNarrow?: boolean;
  },
): Markup {
  const place = isNarrow ? { ...PLOT, right: 318 } : PLOT;
  const { left, right, bottom, height } = place;
  const x = scaleLinear([1, Math.max(2, results.length)], [left + 8, right - 8]);
  const y = jisScale(place);
  const dots = results.map(({ jis }, index) => ({ x: px(x(index + 1)), y: px(y(jis)) }));
  const levels = thresholds === undefined
    ? []
    : [{ at: thresholds.minJis, name: "minimum" }, { at: thresholds.targetJis, name: "target" }];
  const [first, last] = [results[0]!, results.at(-1)!];
  return figure({
    id: "course",
    caption: "JIS after each case",
    description: `After the first case ${scoreInWords(first.jis)}, after the last ${
      scoreInWords(last.jis)
    }; lowest ${scoreInWords(Math.min(...results.map(({ jis }) => jis)))}, highest ${
      scoreInWords(Math.max(...results.map(({ jis }) => jis)))
    }.${levelsInWords(levels)}`,
    height,
    ...(isNarrow ? { width: NARROW } : {}),
    drawing: markup`${jisGrid(y, place)}
<text x="${(left + right) / 2}" y="${bottom + 24}" text-anchor="middle">case 1 to ${results.length}</text>
${levelLines(levels, y, place)}
<g class="bar">${strokeOf(dots)}${dotsOf(dots)}</g>`,
    table: dataTable({
      columns: ["After", "JIS", "Band"],
      rows: results.length > SAMPLED_ROWS
        ? [first, last].map(({ jis, band }, index) => [
          index === 0 ? "the first" : "the last",
          scoreInWords(jis),
          nameInWords(band),
        ])
        : results.map(({ jis, band }, index) => [`case ${index + 1}`, scoreInWords(jis), nameInWords(band)]),
      ...(results.length > SAMPLED_ROWS ? { note: "Every case stands in the table of cases." } : {}),
    }),
  });
}

/** Most rows of a table beside a picture; a longer one shows only its first and last row. */
const SAMPLED_ROWS = 12;
