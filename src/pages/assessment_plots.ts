/** The plots of a run of the public demo, on its page and in the demo itself: the score case by case, the dimensions. */
// @ts-types="@types/d3-scale"
import { scaleLinear } from "d3-scale";
// @ts-types="@types/d3-shape"
import { line } from "d3-shape";
import { bar, figure, px, type Row, rowPlot, ROWS } from "./chart.ts";
import { type Markup, markup } from "./markup.ts";
import { dataTable } from "./tables.ts";
import { nameInWords, pointsInWords } from "./wording.ts";

export interface Standing {
  /** 0 to 100. */
  readonly jis: number;
  readonly band: string;
}

const PLOT = { left: 36, right: 400, top: 14, bottom: 214, height: 250 };
const JIS_TICKS = [0, 20, 40, 60, 80, 100];
/** Beyond this many, dots of the usual size would run into each other. */
const LARGE_DOTS_MAX = 45;

/** The score after each case; `thresholds` are drawn as dashed lines where they are known. */
export function coursePlot(
  { results, thresholds }: {
    readonly results: readonly Standing[];
    readonly thresholds?: { readonly minJis: number; readonly targetJis: number };
  },
): Markup {
  const { left, right, top, bottom, height } = PLOT;
  const x = scaleLinear([1, Math.max(2, results.length)], [left + 8, right - 8]);
  const y = scaleLinear([0, 100], [bottom, top]);
  const places = results.map(({ jis }, index) => ({ x: px(x(index + 1)), y: px(y(jis)) }));
  const path = line<(typeof places)[number]>((place) => place.x, (place) => place.y)(places);
  const radius = results.length > LARGE_DOTS_MAX ? 1.5 : 3;
  const marks = thresholds === undefined
    ? []
    : [{ at: thresholds.minJis, name: "minimum" }, { at: thresholds.targetJis, name: "target" }];
  const [first, last] = [results[0]!, results.at(-1)!];
  return figure({
    id: "course",
    caption: "JIS after each case",
    description: `After the first case ${pointsInWords(first.jis)}, after the last ${
      pointsInWords(last.jis)
    }; lowest ${pointsInWords(Math.min(...results.map(({ jis }) => jis)))}, highest ${
      pointsInWords(Math.max(...results.map(({ jis }) => jis)))
    }.${
      marks.length === 0
        ? ""
        : ` Dashed lines: ${marks.map(({ at, name }) => `${name} ${pointsInWords(at)}`).join(", ")}.`
    }`,
    height,
    drawing: markup`<g class="grid" stroke="currentColor">${
      JIS_TICKS.map((tick) =>
        markup`<line x1="${left}" x2="${right}" y1="${px(y(tick))}" y2="${px(y(tick))}"/>`
      )
    }</g>
<g text-anchor="end">${
      JIS_TICKS.map((tick) => markup`<text x="${left - 6}" y="${px(y(tick))}" dy="0.35em">${tick}</text>`)
    }</g>
<text x="${(left + right) / 2}" y="${bottom + 24}" text-anchor="middle">case 1 to ${results.length}</text>
${
      marks.map(({ at, name }) =>
        markup`<g class="mark"><line x1="${left}" x2="${right}" y1="${px(y(at))}" y2="${
          px(y(at))
        }" stroke="currentColor" stroke-width="1.5" stroke-dasharray="6 4"/><text x="${right + 6}" y="${
          px(y(at))
        }" dy="0.35em">${name} ${pointsInWords(at)}</text></g>`
      )
    }
<g class="bar">${
      places.length < 2
        ? null
        : markup`<path d="${path}" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round"/>`
    }${places.map((place) => markup`<circle cx="${place.x}" cy="${place.y}" r="${radius}"/>`)}</g>`,
    table: dataTable({
      columns: ["After", "JIS", "Band"],
      rows: results.length > SAMPLED_ROWS
        ? [first, last].map(({ jis, band }, index) => [
          index === 0 ? "the first" : "the last",
          pointsInWords(jis),
          nameInWords(band),
        ])
        : results.map(({ jis, band }, index) => [`case ${index + 1}`, pointsInWords(jis), nameInWords(band)]),
      ...(results.length > SAMPLED_ROWS ? { note: "Every case stands in the table of cases." } : {}),
    }),
  });
}

/** A longer table beside a picture is told by its ends. */
const SAMPLED_ROWS = 12;

/** The dimensions after the last case, each a bar. */
export function dimensionsPlot(dimensions: Readonly<Record<string, number>>): Markup {
  const measured = Object.entries(dimensions).map(([name, value]) => ({ name: nameInWords(name), value }));
  const x = scaleLinear([0, 100], [ROWS.left, ROWS.right]);
  const rows = measured.map(({ name, value }): Row => ({
    label: `${name}: ${pointsInWords(value)}`,
    draw: ({ top, height }) => bar({ x, from: 0, to: value, top, height }),
  }));
  return figure({
    id: "dimensions",
    caption: "The dimensions after the last case",
    description: `${measured.map(({ name, value }) => `${name} ${pointsInWords(value)}`).join(", ")}.`,
    ...rowPlot({ rows, x, marks: [], axis: { ticks: JIS_TICKS, format: pointsInWords } }),
    table: dataTable({
      columns: ["Dimension", "Points"],
      rows: measured.map(({ name, value }) => [name, pointsInWords(value)]),
    }),
  });
}
