/**
 * The console's plots of one operator and of an organization's operators, drawn like those of the printable
 * pages, with the numbers in a fold. Every number in text is the API's, a score with one decimal; the text says so if something
 * is only drawn.
 */
// @ts-types="@types/d3-scale"
import { scaleLinear } from "d3-scale";
// @ts-types="@types/d3-shape"
import { area } from "d3-shape";
import { type Band, BANDS } from "../domain/enums.ts";
import { curveOf, type DecayReading, projectedJis } from "../scoring/decay.ts";
import type { Uncertainty } from "../scoring/uncertainty.ts";
import { axisOf, bar, figure, NARROW, px, type Row, rowPlot, ROWS } from "./chart.ts";
import { dotsOf, jisGrid, jisScale, type Level, levelLines, levelsInWords, strokeOf } from "./jis_plot.ts";
import { type Markup, markup } from "./markup.ts";
import { dataTable } from "./tables.ts";
import { countInWords, dayInWords, nameInWords, scoreInWords, shareInWords } from "./wording.ts";

export interface Thresholds {
  readonly min_jis: number;
  readonly target_jis: number;
}

export interface HistoryPoint {
  /** ISO 8601. */
  readonly timestamp: string;
  /** 0 to 100. */
  readonly jis: number;
}

const PLOT = { left: 36, right: 318, top: 14, bottom: 172, height: 214 };

/** The number of operators in each band. */
export function bandsFigure(distribution: Readonly<Record<Band, number>>): Markup {
  const largest = Math.max(1, ...BANDS.map((band) => distribution[band]));
  const x = scaleLinear([0, largest], [ROWS.left, NARROW - ROWS.left]);
  const rows = BANDS.map((band): Row => ({
    label: `${nameInWords(band)}: ${distribution[band]}`,
    draw: ({ top, height }) => bar({ x, from: 0, to: distribution[band], top, height }),
  }));
  return figure({
    id: "bands",
    numbers: "folded",
    width: NARROW,
    caption: "Operators by band",
    description: `${BANDS.map((band) => `${nameInWords(band)} ${distribution[band]}`).join(", ")}.`,
    ...rowPlot({ rows, x, marks: [] }),
    table: dataTable({
      columns: ["Band", "Operators"],
      rows: BANDS.map((band) => [nameInWords(band), distribution[band]]),
    }),
  });
}

/** A day with three letters of its month, such as `25 Sep 2026`: two of them stand under a narrow picture. */
function shortDay(instant: string): string {
  return dayInWords(instant).replace(/ (\w{3})\w*/, " $1");
}

/** The newest scores over time, oldest first; at least one. */
export function historyFigure(
  { history, thresholds }: { readonly history: readonly HistoryPoint[]; readonly thresholds: Thresholds },
): Markup {
  const [first, last] = [history[0]!, history.at(-1)!];
  const instant = ({ timestamp }: HistoryPoint) => Date.parse(timestamp);
  const end = Math.max(instant(last), instant(first) + 1);
  const x = scaleLinear([instant(first), end], [PLOT.left + 6, PLOT.right - 6]);
  const y = jisScale(PLOT);
  const levels = levelsOf(thresholds);
  const places = history.map((point) => ({ x: px(x(instant(point))), y: px(y(point.jis)) }));
  const lowest = history.reduce((least, point) => point.jis < least.jis ? point : least);
  const highest = history.reduce((most, point) => point.jis > most.jis ? point : most);
  const told = [["Oldest shown", first], ["Lowest", lowest], ["Highest", highest], ["Latest", last]] as const;
  return figure({
    id: "history",
    numbers: "folded",
    caption: `JIS after the latest ${countInWords(history.length, "interaction")}`,
    description: `${
      told.map(([name, { timestamp, jis }]) => `${name} ${scoreInWords(jis)} on ${dayInWords(timestamp)}`)
        .join(", ")
    }.${levelsInWords(levels)}`,
    height: PLOT.height,
    width: NARROW,
    drawing: markup`${jisGrid(y, PLOT)}${levelLines(levels, y, PLOT)}
<text x="${PLOT.left}" y="${PLOT.bottom + 22}">${shortDay(first.timestamp)}</text>
<text x="${PLOT.right}" y="${PLOT.bottom + 22}" text-anchor="end">${shortDay(last.timestamp)}</text>
<g class="jis">${strokeOf(places)}${dotsOf(places)}</g>`,
    table: dataTable({
      columns: ["Score", "Day", "JIS"],
      rows: told.map(([name, { timestamp, jis }]) => [name, dayInWords(timestamp), scoreInWords(jis)]),
    }),
  });
}

/**
 * The course of the score if nothing renews it, by the curve of section 7.2 with the rates from the API: from the
 * last interaction to today, and then forward. The shaded range is the same curve from both ends of the score's
 * interval.
 */
export function projectionFigure({ projection, uncertainty, thresholds }: {
  readonly projection: DecayReading;
  readonly uncertainty: Uncertainty;
  readonly thresholds: Thresholds;
}): Markup {
  const { days_since_last_interaction: passed, projected_today: today, projections } = projection;
  const curve = curveOf(projection);
  const horizon = projections.at(-1)?.day ?? 1;
  const x = scaleLinear([-passed, horizon], [PLOT.left, PLOT.right]);
  const y = jisScale(PLOT);
  const levels = levelsOf(thresholds);
  const along = Array.from(
    { length: STEPS + 1 },
    (_, step) => -passed + (step * (passed + horizon)) / STEPS,
  );
  /** Height of the curve from a score, on a day counted from today. */
  const at = (start: number, day: number) => px(y(projectedJis({ ...curve, start }, passed + day)));
  const range = area<number>(
    (day) => px(x(day)),
    (day) => at(uncertainty.low, day),
    (day) => at(uncertainty.high, day),
  )(along);
  const fall = projection.days_to_non_compliance;
  const ticks = [-passed, ...[0, 90, 180, 270, 365].filter((day) => day <= horizon)]
    .filter((day, index) => index > 0 || x(0) - x(day) >= TICK_ROOM);
  return figure({
    id: "projection",
    numbers: "folded",
    caption: "Projection if nothing renews the score",
    description: `${[...projection.remarks, crossingInWords(projection, thresholds)].join(" ")} From ${
      scoreInWords(curve.start)
    } at the last interaction: ${scoreInWords(today)} today, ${
      projections.map(({ date, jis }) => `${scoreInWords(jis)} on ${dayInWords(date)}`).join(", ")
    }. The shaded range begins at the ends of the score's interval, ${scoreInWords(uncertainty.low)} and ${
      scoreInWords(uncertainty.high)
    }.${levelsInWords(levels)}`,
    height: PLOT.height,
    width: NARROW,
    drawing: markup`${jisGrid(y, PLOT)}<path class="range" d="${range}" fill="currentColor"/>${
      levelLines(levels, y, PLOT)
    }
<line class="grid" x1="${px(x(0))}" x2="${
      px(x(0))
    }" y1="${PLOT.top}" y2="${PLOT.bottom}" stroke="currentColor"/>
${axisOf(x, { y: PLOT.bottom, ticks, format: String })}
<text x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 36}" text-anchor="middle">days from today, ${
      dayInWords(projection.as_of)
    }</text>
<g class="jis">${strokeOf(along.map((day) => ({ x: px(x(day)), y: at(curve.start, day) })))}${
      fall === null || fall === 0 || fall > horizon
        ? null
        : markup`<circle cx="${px(x(fall))}" cy="${
          at(curve.start, fall)
        }" r="5" fill="none" stroke="currentColor" stroke-width="2"/>`
    }</g>`,
    table: dataTable({
      columns: ["Date", "Days from today", "JIS"],
      rows: [
        [dayInWords(projection.as_of), "0", scoreInWords(today)],
        ...projections.map(({ date, day, jis }) =>
          [dayInWords(date), String(day), scoreInWords(jis)] as const
        ),
      ],
      note: `Shaded: the same curve from both ends of the ${shareInWords(uncertainty.level)} interval. ${
        crossingInWords(projection, thresholds)
      }`,
    }),
  });
}

/** Steps of a drawn curve, enough for it to look smooth. */
const STEPS = 73;

/** Least distance between the tick of the last interaction and that of today, in units of the picture. */
const TICK_ROOM = 30;

/** A sentence that says on which day the projection falls below the minimum. */
export function crossingInWords(
  { current_jis: score, days_to_non_compliance: days, non_compliant_on: date }: Pick<
    DecayReading,
    "current_jis" | "days_to_non_compliance" | "non_compliant_on"
  >,
  { min_jis: minimum }: Thresholds,
): string {
  if (days === null || date === null) return `No fall below ${minimum} is projected.`;
  if (score < minimum) return `The score is below ${minimum} already.`;
  return days === 0
    ? `By the projection the score is below ${minimum} since about ${dayInWords(date)}.`
    : `The score falls below ${minimum} around ${dayInWords(date)}, in ${countInWords(days, "day")}.`;
}

/** The fewest points that a row's line spans: a change of less than one point stays nearly flat. */
const SPARK_POINTS_MIN = 20;
const SPARK_STEP = 10;

/**
 * The points of a score between which a row's line stands: the values' own range, rounded outward to tens, and widened to 20 points
 * around them within 0 to 100.
 */
export function sparkRange(values: readonly number[]): readonly [low: number, high: number] {
  if (values.length === 0) return [0, 100];
  let low = Math.floor(Math.min(...values) / SPARK_STEP) * SPARK_STEP;
  let high = Math.ceil(Math.max(...values) / SPARK_STEP) * SPARK_STEP;
  const middle = (Math.min(...values) + Math.max(...values)) / 2;
  while (high - low < SPARK_POINTS_MIN) {
    if (high < 100 && (low === 0 || middle - low > high - middle)) high += SPARK_STEP;
    else low -= SPARK_STEP;
  }
  return [low, high];
}

/**
 * A row's line without axes; its content stands in words beside it. It has no line if there is nothing to
 * draw, and shows the minimum if that lies in its range.
 */
export function sparkPath(
  values: readonly number[],
  { label, minimum }: { readonly label: string; readonly minimum: number },
): Markup {
  const [width, height] = [144, 32];
  const [low, high] = sparkRange(values);
  const x = scaleLinear([0, Math.max(1, values.length - 1)], [3, width - 3]);
  const y = scaleLinear([low, high], [height - 3, 3]);
  const places = values.map((jis, index) => ({ x: px(x(index)), y: px(y(jis)) }));
  const last = places.at(-1);
  const isInRange = values.length > 0 && low <= minimum && minimum <= high;
  return markup`<svg class="spark" role="img" aria-label="${label}" viewBox="0 0 ${width} ${height}" fill="currentColor">${
    isInRange
      ? markup`<line class="grid" x1="0" x2="${width}" y1="${px(y(minimum))}" y2="${
        px(y(minimum))
      }" stroke="currentColor" stroke-dasharray="3 3"/>`
      : null
  }<g class="jis">${strokeOf(places)}${
    last === undefined ? null : markup`<circle cx="${last.x}" cy="${last.y}" r="2.5"/>`
  }</g></svg>`;
}

/** The days' scores in words, with the range in which {@link sparkPath} draws them. */
export function sparkInWords(values: readonly number[]): string {
  const [first, last] = [values[0], values.at(-1)];
  if (first === undefined || last === undefined) return "No interaction in the last 30 days";
  const [low, high] = sparkRange(values);
  const course = values.length === 1
    ? `One day in the last 30: ${scoreInWords(last)}`
    : `${countInWords(values.length, "day")} in the last 30: from ${scoreInWords(first)} to ${
      scoreInWords(last)
    }`;
  return `${course}; drawn between ${low} and ${high}`;
}

function levelsOf({ min_jis, target_jis }: Thresholds): readonly Level[] {
  return [{ at: min_jis, name: "minimum" }, { at: target_jis, name: "target" }];
}
