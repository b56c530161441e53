/**
 * The plots of an organization's weeks: the median score with its interval, and the operators by verdict. The numbers stand in a
 * fold; each is the API's, scores with one decimal. Words and shapes say what colour repeats.
 */
// @ts-types="@types/d3-scale"
import { scaleBand, scaleLinear } from "d3-scale";
// @ts-types="@types/d3-shape"
import { area } from "d3-shape";
import type { VerdictStatus } from "../domain/enums.ts";
import type { Week } from "../domain/week.ts";
import { VERDICT_WORDS } from "../scoring/verdict_words.ts";
import { figure, px } from "./chart.ts";
import {
  dotsOf,
  jisGrid,
  jisScale,
  type Level,
  levelName,
  levelsInWords,
  levelStroke,
  strokeOf,
} from "./jis_plot.ts";
import { type Markup, markup } from "./markup.ts";
import { dataTable } from "./tables.ts";
import { countInWords, dayInWords, NO_DATA, scoreInWords, shareInWords } from "./wording.ts";

/** As wide as the half of a page: a wider picture would be drawn smaller, with its text. */
const WIDTH = 420;
const PLOT = { left: 60, right: 400, top: 12, bottom: 172 };
/** The line of the looks' names, under the weeks. */
const KEY = { left: 8, right: 276, top: 210, square: 11, text: 17 };
const SIZE = { width: WIDTH, height: 230 };

/** A week's day and month, such as `7 Sep`, from its Monday in ISO 8601. */
export function weekInWords(start: string): string {
  const [day, month] = dayInWords(start).split(" ");
  return `${day} ${month!.slice(0, 3)}`;
}

/** A week with a median. */
export type MedianWeek = Week & {
  readonly median_jis: number;
  readonly median_interval: { readonly low: number; readonly high: number };
};

/** Whether a week has a median to tell. */
export function hasMedian(week: Week): week is MedianWeek {
  return week.median_jis !== null && week.median_interval !== null;
}

/** The places of the weeks along a picture. */
function placesOf(weeks: readonly Week[]): (week: Week) => number {
  const scale = scaleBand(weeks.map(({ week_start }) => week_start), [PLOT.left, PLOT.right]);
  return ({ week_start }) => px(scale(week_start)! + scale.bandwidth() / 2);
}

/** The names of the first, the last and some weeks between, under a picture. */
function weekAxis(weeks: readonly Week[], placeOf: (week: Week) => number): Markup {
  const every = Math.ceil(weeks.length / AXIS_LABELS);
  const named = weeks.filter((_, index) => (weeks.length - 1 - index) % every === 0);
  return markup`<g text-anchor="middle">${
    named.map((week) =>
      markup`<text x="${placeOf(week)}" y="${PLOT.bottom + 24}">${weekInWords(week.week_start)}</text>`
    )
  }</g>`;
}

/** Weeks that a picture names. */
const AXIS_LABELS = 5;

/** The median score at the end of each week, with the interval shaded; null if no week has one. `id` is unique in the page. */
export function medianFigure(
  weeks: readonly Week[],
  { id, caption, minimum }: { readonly id: string; readonly caption: string; readonly minimum: number },
): Markup | null {
  const known = weeks.filter(hasMedian);
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return null;
  const y = jisScale(PLOT);
  const placeOf = placesOf(weeks);
  const level = { at: minimum, name: "minimum" };
  // A week without a median parts the line.
  const runs = runsOf(weeks);
  const range = area<MedianWeek>(
    placeOf,
    ({ median_interval: { low } }) => px(y(low)),
    (week) => px(y(week.median_interval.high)),
  );
  const said = ({ week_start, median_jis, median_interval: { low, high } }: MedianWeek) =>
    `${scoreInWords(median_jis)} (${scoreInWords(low)} to ${scoreInWords(high)}) in the week of ${
      weekInWords(week_start)
    }`;
  return figure({
    id,
    numbers: "folded",
    caption,
    description: `${
      first === last ? said(last) : `From ${said(first)} to ${said(last)}`
    }. The shaded range holds the median with 90 %.${levelsInWords([level])}`,
    ...SIZE,
    drawing: markup`${jisGrid(y, PLOT)}${
      runs.map((run) => markup`<path class="range" d="${range([...run])}" fill="currentColor"/>`)
    }<g class="mark">${levelStroke(px(y(minimum)), PLOT)}</g>
${weekAxis(weeks, placeOf)}
${medianKey(level)}
<g class="jis">${
      runs.map((run) => {
        const dots = run.map((week) => ({ x: placeOf(week), y: px(y(week.median_jis)) }));
        return markup`${strokeOf(dots)}${dotsOf(dots)}`;
      })
    }</g>`,
    table: dataTable({
      columns: ["Week of", "Median", "90 % interval", "Operators"],
      rows: weeks.map((week) =>
        hasMedian(week)
          ? [
            week.week_start,
            scoreInWords(week.median_jis),
            `${scoreInWords(week.median_interval.low)} to ${scoreInWords(week.median_interval.high)}`,
            week.operators,
          ]
          : [week.week_start, NO_DATA, NO_DATA, week.operators]
      ),
    }),
  });
}

/** The looks of the range and of the minimum, with their names. */
function medianKey(level: Level): Markup {
  const { left, top, square, text } = KEY;
  const [dashes, middle] = [KEY.right, top + square / 2];
  return markup`<g><rect class="range" x="${left}" y="${top}" width="${square}" height="${square}" fill="currentColor"/><text x="${
    left + text
  }" y="${top + 10}">90 % range of the median</text></g>
<g class="mark">${levelStroke(middle, { left: dashes, right: dashes + 22 })}<text x="${dashes + 28}" y="${
    top + 10
  }">${levelName(level)}</text></g>`;
}

/** The weeks with a median, parted where one has none. */
export function runsOf(weeks: readonly Week[]): readonly (readonly MedianWeek[])[] {
  const runs: MedianWeek[][] = [[]];
  for (const week of weeks) {
    if (hasMedian(week)) runs.at(-1)!.push(week);
    else runs.push([]);
  }
  return runs.filter((run) => run.length > 0);
}

/** From the floor of a bar to its top, each with its look: shape says the verdict, colour repeats it. */
export const SHARES: readonly (readonly [VerdictStatus, string, Markup])[] = [
  ["non_compliant", "bad", markup``],
  ["undetermined", "fair", markup` fill-opacity="0.35" stroke="currentColor" stroke-dasharray="3 2"`],
  ["compliant", "good", markup` fill="none" stroke="currentColor" stroke-width="1.5"`],
];

/** The looks of the bars' parts, from the top of a bar down, with the counts of a week. */
function keyOf({ verdicts }: Week): Markup {
  const { top, square, text } = KEY;
  return markup`<g>${
    SHARES.toReversed().map(([status, tone, look], index) => {
      const left = KEY_PLACES[index]!;
      return markup`<rect class="tone-${tone}" x="${left}" y="${top}" width="${square}" height="${square}"${look}/><text x="${
        left + text
      }" y="${top + 10}">${verdicts![status]} ${KEY_WORDS[status]}</text>`;
    })
  }</g>`;
}

/** Each name has room for a count of three digits in the largest text. */
const KEY_PLACES = [KEY.left, 128, 304];

const KEY_WORDS: Readonly<Record<VerdictStatus, string>> = {
  non_compliant: "below",
  undetermined: "undetermined",
  compliant: "meet it",
};

/** The operators by verdict at the end of each week, as shares of a bar; null if no week has any. */
export function verdictsFigure(
  weeks: readonly Week[],
  { id, caption }: { readonly id: string; readonly caption: string },
): Markup | null {
  const known = weeks.filter(({ verdicts, operators }) => verdicts !== null && operators > 0);
  const last = known.at(-1);
  if (last === undefined) return null;
  const x = scaleBand(weeks.map(({ week_start }) => week_start), [PLOT.left, PLOT.right]).paddingInner(0.25);
  const y = scaleLinear([0, 1], [PLOT.bottom, PLOT.top]);
  const width = px(x.bandwidth());
  const bars = known.map(({ week_start, verdicts, operators }) => {
    let floor = 0;
    return SHARES.map(([status, tone, look]) => {
      const share = verdicts![status] / operators;
      if (share === 0) return null;
      const [bottom, top] = [px(y(floor)), px(y(floor + share))];
      floor += share;
      return markup`<rect class="tone-${tone}" x="${
        px(x(week_start)!)
      }" y="${top}" width="${width}" height="${px(bottom - top)}"${look}/>`;
    });
  });
  const counts = (week: Week) =>
    SHARES.toReversed().map(([status]) => `${week.verdicts![status]} ${VERDICT_WORDS[status].toLowerCase()}`)
      .join(", ");
  return figure({
    id,
    numbers: "folded",
    caption,
    description: `In the week of ${weekInWords(last.week_start)}, of ${
      countInWords(last.operators, "operator")
    }: ${counts(last)}. Filled: below the threshold; dashed: undetermined; outlined: meets it.`,
    ...SIZE,
    drawing: markup`<g text-anchor="end">${
      [0, 0.5, 1].map((share) =>
        markup`<text x="${PLOT.left - 6}" y="${px(y(share))}" dy="0.35em">${shareInWords(share)}</text>`
      )
    }</g>${bars}${keyOf(last)}${weekAxis(weeks, placesOf(weeks))}`,
    table: dataTable({
      columns: ["Week of", ...SHARES.toReversed().map(([status]) => VERDICT_WORDS[status])],
      rows: weeks.map(({ week_start, verdicts }) => [
        week_start,
        ...SHARES.toReversed().map(([status]) => verdicts === null ? NO_DATA : verdicts[status]),
      ]),
    }),
  });
}
