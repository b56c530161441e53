/**
 * The console's plots of one operator and of an organization's operators, drawn like those of the printable
 * pages. Every number in text is the API's; the text says so if something is only drawn.
 */
// @ts-types="@types/d3-scale"
import { scaleLinear } from "d3-scale";
// @ts-types="@types/d3-shape"
import { area } from "d3-shape";
import { type Band, BANDS } from "../domain/enums.ts";
import { type DecayProjection, projectedJis } from "../scoring/decay.ts";
import type { Uncertainty } from "../scoring/uncertainty.ts";
import { axisOf, bar, figure, px, type Row, rowPlot, ROWS } from "./chart.ts";
import { dotsOf, jisGrid, jisScale, type Level, levelLines, levelsInWords, strokeOf } from "./jis_plot.ts";
import { type Markup, markup } from "./markup.ts";
import { dataTable } from "./tables.ts";
import { countInWords, dayOf, nameInWords, pointsInWords, shareInWords } from "./wording.ts";

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

const PLOT = { left: 36, right: 405, top: 14, bottom: 172, height: 210 };

/** The number of operators in each band. */
export function bandsFigure(distribution: Readonly<Record<Band, number>>): Markup {
  const largest = Math.max(1, ...BANDS.map((band) => distribution[band]));
  const x = scaleLinear([0, largest], [ROWS.left, ROWS.right]);
  const rows = BANDS.map((band): Row => ({
    label: `${nameInWords(band)}: ${distribution[band]}`,
    draw: ({ top, height }) => bar({ x, from: 0, to: distribution[band], top, height }),
  }));
  return figure({
    id: "bands",
    caption: "Operators by band",
    description: `${BANDS.map((band) => `${nameInWords(band)} ${distribution[band]}`).join(", ")}.`,
    ...rowPlot({ rows, x, marks: [] }),
    table: dataTable({
      columns: ["Band", "Operators"],
      rows: BANDS.map((band) => [nameInWords(band), distribution[band]]),
    }),
  });
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
    caption: `JIS after the latest ${countInWords(history.length, "interaction")}`,
    description: `${
      told.map(([name, { timestamp, jis }]) => `${name} ${pointsInWords(jis)} on ${dayOf(timestamp)}`)
        .join(", ")
    }.${levelsInWords(levels)}`,
    height: PLOT.height,
    drawing: markup`${jisGrid(y, PLOT)}${levelLines(levels, y, PLOT)}
<text x="${PLOT.left}" y="${PLOT.bottom + 22}">${dayOf(first.timestamp)}</text>
<text x="${PLOT.right}" y="${PLOT.bottom + 22}" text-anchor="end">${dayOf(last.timestamp)}</text>
<g class="jis">${strokeOf(places)}${dotsOf(places)}</g>`,
    table: dataTable({
      columns: ["Score", "Day", "JIS"],
      rows: told.map(([name, { timestamp, jis }]) => [name, dayOf(timestamp), pointsInWords(jis)]),
    }),
  });
}

/**
 * The course of the score if nothing renews it, by the curve of section 7.2 with the rates from the API. The
 * shaded range is the same curve from both ends of the score's interval.
 */
export function projectionFigure({ projection, uncertainty, thresholds }: {
  readonly projection: DecayProjection;
  readonly uncertainty: Uncertainty;
  readonly thresholds: Thresholds;
}): Markup {
  const { current_jis: start, floor, decay_rate: rate, decay_acceleration: acceleration } = projection;
  const days = projection.days_to_non_compliance;
  const horizon = projection.projections.at(-1)?.day ?? 1;
  const x = scaleLinear([0, horizon], [PLOT.left, PLOT.right]);
  const y = jisScale(PLOT);
  const levels = levelsOf(thresholds);
  const along = Array.from({ length: STEPS + 1 }, (_, step) => (step * horizon) / STEPS);
  const at = (from: number, day: number) =>
    px(y(projectedJis({ start: from, floor, rate, acceleration }, day)));
  const range = area<number>(
    (day) => px(x(day)),
    (day) => at(uncertainty.low, day),
    (day) => at(uncertainty.high, day),
  )(along);
  return figure({
    id: "projection",
    caption: "Projection if nothing renews the score",
    description: `${crossingInWords(days, thresholds)} From ${pointsInWords(start)} today: ${
      projection.projections.map(({ day, jis }) => `${pointsInWords(jis)} after ${countInWords(day, "day")}`)
        .join(", ")
    }. The shaded range begins at the ends of the score's interval, ${pointsInWords(uncertainty.low)} and ${
      pointsInWords(uncertainty.high)
    }.${levelsInWords(levels)}`,
    height: PLOT.height,
    drawing: markup`${jisGrid(y, PLOT)}<path class="range" d="${range}" fill="currentColor"/>${
      levelLines(levels, y, PLOT)
    }
${
      axisOf(x, {
        y: PLOT.bottom,
        ticks: [0, 90, 180, 270, 365].filter((day) => day <= horizon),
        format: String,
      })
    }
<text x="${(PLOT.left + PLOT.right) / 2}" y="${
      PLOT.bottom + 36
    }" text-anchor="middle">days after the latest interaction</text>
<g class="jis">${strokeOf(along.map((day) => ({ x: px(x(day)), y: at(start, day) })))}${
      days === null || days > horizon
        ? null
        : markup`<circle cx="${px(x(days))}" cy="${
          at(start, days)
        }" r="5" fill="none" stroke="currentColor" stroke-width="2"/>`
    }</g>`,
    table: dataTable({
      columns: ["Day", "JIS"],
      rows: projection.projections.map(({ day, jis }) => [String(day), pointsInWords(jis)]),
      note: `Shaded: the same curve from both ends of the ${shareInWords(uncertainty.level)} interval. ${
        crossingInWords(days, thresholds)
      }`,
    }),
  });
}

/** Steps of a drawn curve, enough for it to look smooth. */
const STEPS = 73;

/** A sentence that says when the projection falls below the minimum. */
export function crossingInWords(days: number | null, { min_jis: minimum }: Thresholds): string {
  if (days === null) return `No fall below ${minimum} is projected.`;
  return days === 0
    ? `It is below ${minimum} already.`
    : `It falls below ${minimum} after ${countInWords(days, "day")}.`;
}

/**
 * A row's line without axes; its content stands in words beside it. It has no line if there is nothing to
 * draw.
 */
export function sparkPath(
  values: readonly number[],
  { label, minimum }: { readonly label: string; readonly minimum: number },
): Markup {
  const [width, height] = [144, 32];
  const x = scaleLinear([0, Math.max(1, values.length - 1)], [3, width - 3]);
  const y = scaleLinear([0, 100], [height - 3, 3]);
  const places = values.map((jis, index) => ({ x: px(x(index)), y: px(y(jis)) }));
  const last = places.at(-1);
  return markup`<svg class="spark" role="img" aria-label="${label}" viewBox="0 0 ${width} ${height}" fill="currentColor"><line class="grid" x1="0" x2="${width}" y1="${
    px(y(minimum))
  }" y2="${px(y(minimum))}" stroke="currentColor" stroke-dasharray="3 3"/><g class="jis">${strokeOf(places)}${
    last === undefined ? null : markup`<circle cx="${last.x}" cy="${last.y}" r="2.5"/>`
  }</g></svg>`;
}

/** The days' scores in words. */
export function sparkInWords(values: readonly number[]): string {
  const [first, last] = [values[0], values.at(-1)];
  if (first === undefined || last === undefined) return "No interaction in the last 30 days";
  return values.length === 1
    ? `One day in the last 30: ${pointsInWords(last)}`
    : `${countInWords(values.length, "day")} in the last 30: from ${pointsInWords(first)} to ${
      pointsInWords(last)
    }`;
}

function levelsOf({ min_jis, target_jis }: Thresholds): readonly Level[] {
  return [{ at: min_jis, name: "minimum" }, { at: target_jis, name: "target" }];
}
