/**
 * How one operator, and an organization's operators, stand: the pictures of the console, of the same making as those
 * of the printable pages. Every number that is written is the API's; what is only drawn is said to be.
 */
// @ts-types="@types/d3-scale"
import { scaleLinear } from "d3-scale";
// @ts-types="@types/d3-shape"
import { area, line } from "d3-shape";
import { type Band, BANDS } from "../domain/enums.ts";
import { type DecayProjection, projectedJis } from "../scoring/decay.ts";
import type { Uncertainty } from "../scoring/uncertainty.ts";
import { axisOf, bar, figure, px, type Row, rowPlot, ROWS, type Scale } from "./chart.ts";
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

const PLOT = { left: 36, right: 430, top: 14, bottom: 172, height: 210 };
const JIS_TICKS = [0, 20, 40, 60, 80, 100];
/** Beyond this many, dots of the usual size would run into each other. */
const LARGE_DOTS_MAX = 45;

/** Operators in each band; the whole of their number is `total`. */
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

/** The seven dimensions, each from 0 to 100. */
export function dimensionsFigure(dimensions: Readonly<Record<string, number>>): Markup {
  const measured = Object.entries(dimensions);
  const x = scaleLinear([0, 100], [ROWS.left, ROWS.right]);
  const rows = measured.map(([name, value]): Row => ({
    label: `${nameInWords(name)}: ${pointsInWords(value)}`,
    draw: ({ top, height }) => bar({ x, from: 0, to: value, top, height }),
  }));
  return figure({
    id: "dimensions",
    caption: "Dimensions",
    description: `${
      measured.map(([name, value]) => `${nameInWords(name)} ${pointsInWords(value)}`).join(", ")
    }.`,
    ...rowPlot({ rows, x, marks: [], axis: { ticks: JIS_TICKS, format: pointsInWords } }),
    table: dataTable({
      columns: ["Dimension", "Points"],
      rows: measured.map(([name, value]) => [nameInWords(name), pointsInWords(value)]),
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
  const y = scaleLinear([0, 100], [PLOT.bottom, PLOT.top]);
  const places = history.map((point) => ({ x: px(x(instant(point))), y: px(y(point.jis)) }));
  const lowest = history.reduce((least, point) => point.jis < least.jis ? point : least);
  const highest = history.reduce((most, point) => point.jis > most.jis ? point : most);
  const told = [["Oldest shown", first], ["Lowest", lowest], ["Highest", highest], ["Latest", last]] as const;
  const radius = history.length > LARGE_DOTS_MAX ? 1.5 : 3;
  return figure({
    id: "history",
    caption: `JIS after the latest ${countInWords(history.length, "interaction")}`,
    description: `${
      told.map(([name, { timestamp, jis }]) => `${name} ${pointsInWords(jis)} on ${dayOf(timestamp)}`)
        .join(", ")
    }. ${levelsInWords(thresholds)}`,
    height: PLOT.height,
    drawing: markup`${grid(y)}${levels(thresholds, y)}
<text x="${PLOT.left}" y="${PLOT.bottom + 22}">${dayOf(first.timestamp)}</text>
<text x="${PLOT.right}" y="${PLOT.bottom + 22}" text-anchor="end">${dayOf(last.timestamp)}</text>
<g class="jis">${places.length < 2 ? null : strokeOf(places)}${
      places.map((place) => markup`<circle cx="${place.x}" cy="${place.y}" r="${radius}"/>`)
    }</g>`,
    table: dataTable({
      columns: ["Score", "Day", "JIS"],
      rows: told.map(([name, { timestamp, jis }]) => [name, dayOf(timestamp), pointsInWords(jis)]),
    }),
  });
}

/**
 * Where the score goes if nothing renews it, by the curve of section 7.2 with the rates that the API gives; shaded, the
 * same from both ends of the score's interval.
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
  const y = scaleLinear([0, 100], [PLOT.bottom, PLOT.top]);
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
    }. ${levelsInWords(thresholds)}`,
    height: PLOT.height,
    drawing: markup`${grid(y)}<path class="range" d="${range}" fill="currentColor"/>${levels(thresholds, y)}
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

/** Enough that the curve looks like one. */
const STEPS = 73;

/** When the projection falls below the minimum. */
export function crossingInWords(days: number | null, { min_jis: minimum }: Thresholds): string {
  if (days === null) return `It does not fall below ${minimum} within a year.`;
  return days === 0
    ? `It is below ${minimum} already.`
    : `It falls below ${minimum} after ${countInWords(days, "day")}.`;
}

/** A row's line without axes: what it shows stands in words beside it. Empty where there is nothing to draw. */
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
  }" y2="${px(y(minimum))}" stroke="currentColor" stroke-dasharray="3 3"/><g class="jis">${
    places.length < 2 ? null : strokeOf(places)
  }${last === undefined ? null : markup`<circle cx="${last.x}" cy="${last.y}" r="2.5"/>`}</g></svg>`;
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

function grid(y: Scale): Markup {
  return markup`<g class="grid" stroke="currentColor">${
    JIS_TICKS.map((tick) =>
      markup`<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${px(y(tick))}" y2="${px(y(tick))}"/>`
    )
  }</g>
<g text-anchor="end">${
    JIS_TICKS.map((tick) => markup`<text x="${PLOT.left - 6}" y="${px(y(tick))}" dy="0.35em">${tick}</text>`)
  }</g>`;
}

/** The dashed lines that decide something, named at their right. */
function levels({ min_jis, target_jis }: Thresholds, y: Scale): readonly Markup[] {
  return [[min_jis, "minimum"], [target_jis, "target"]].map(([at, name]) => {
    const height = px(y(Number(at)));
    return markup`<g class="mark"><line x1="${PLOT.left}" x2="${PLOT.right}" y1="${height}" y2="${height}" stroke="currentColor" stroke-width="1.5" stroke-dasharray="6 4"/><text x="${
      PLOT.right + 6
    }" y="${height}" dy="0.35em">${name!} ${at!}</text></g>`;
  });
}

function levelsInWords({ min_jis, target_jis }: Thresholds): string {
  return `Dashed lines: minimum ${min_jis}, target ${target_jis}.`;
}

function strokeOf(places: readonly { readonly x: number; readonly y: number }[]): Markup {
  const path = line<(typeof places)[number]>((place) => place.x, (place) => place.y)([...places]);
  return markup`<path d="${path}" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round"/>`;
}
