/** Plots whose height is a JIS, 0 to 100: their grid, the threshold levels, the line and its dots. */
// @ts-types="@types/d3-scale"
import { scaleLinear } from "d3-scale";
// @ts-types="@types/d3-shape"
import { line } from "d3-shape";
import { joinWithAnd } from "../scoring/wording.ts";
import { bar, figure, NARROW, type Numbers, px, type Row, rowPlot, ROWS, type Scale } from "./chart.ts";
import { type Markup, markup } from "./markup.ts";
import { dataTable } from "./tables.ts";
import { nameInWords, pointsInWords } from "./wording.ts";

/** The edges of a plot in its picture. */
export interface Place {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** A point in the picture. */
export interface Dot {
  readonly x: number;
  readonly y: number;
}

/** A JIS that is a threshold. */
export interface Level {
  /** 0 to 100. */
  readonly at: number;
  readonly name: string;
}

export const JIS_TICKS = [0, 20, 40, 60, 80, 100];
/** Most dots of the usual size: more of them would overlap. */
const LARGE_DOTS_MAX = 45;

export function jisScale({ top, bottom }: Place): Scale {
  return scaleLinear([0, 100], [bottom, top]);
}

/** Horizontal lines, with their JIS at the left. */
export function jisGrid(y: Scale, { left, right }: Place): Markup {
  return markup`<g class="grid" stroke="currentColor">${
    JIS_TICKS.map((tick) =>
      markup`<line x1="${left}" x2="${right}" y1="${px(y(tick))}" y2="${px(y(tick))}"/>`
    )
  }</g>
<g text-anchor="end">${
    JIS_TICKS.map((tick) => markup`<text x="${left - 6}" y="${px(y(tick))}" dy="0.35em">${tick}</text>`)
  }</g>`;
}

/** Dashed horizontal lines, named at their right. */
export function levelLines(levels: readonly Level[], y: Scale, place: Place): readonly Markup[] {
  return levels.map((level) => {
    const height = px(y(level.at));
    return markup`<g class="mark">${levelStroke(height, place)}<text x="${
      place.right + 6
    }" y="${height}" dy="0.35em">${levelName(level)}</text></g>`;
  });
}

/** A dashed horizontal line without its name. */
export function levelStroke(height: number, { left, right }: Pick<Place, "left" | "right">): Markup {
  return markup`<line x1="${left}" x2="${right}" y1="${height}" y2="${height}" stroke="currentColor" stroke-width="1.5" stroke-dasharray="6 4"/>`;
}

/** A level's name with its points, such as `minimum 60`. */
export function levelName({ at, name }: Level): string {
  return `${name} ${pointsInWords(at)}`;
}

/** The levels in words, for readers who do not see them; empty if there are none. */
export function levelsInWords(levels: readonly Level[]): string {
  if (levels.length === 0) return "";
  return ` Dashed lines: ${levels.map(levelName).join(", ")}.`;
}

/** A line from dot to dot; null if there are fewer than two. */
export function strokeOf(dots: readonly Dot[]): Markup | null {
  if (dots.length < 2) return null;
  const path = line<Dot>((dot) => dot.x, (dot) => dot.y)([...dots]);
  return markup`<path d="${path}" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round"/>`;
}

export function dotsOf(dots: readonly Dot[]): readonly Markup[] {
  const radius = dots.length > LARGE_DOTS_MAX ? 1.5 : 3;
  return dots.map(({ x, y }) => markup`<circle cx="${x}" cy="${y}" r="${radius}"/>`);
}

/** The remark on a dimension whose number no case of the operator gave. */
export const FROM_PRIOR = "from the prior: too few known cases";

/** The remarks of a dimensions figure on those whose number is the prior's. */
export function priorRemarks(prior: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(prior.map((name) => [name, FROM_PRIOR]));
}

/** Room at the right of a narrow plot of rows for half of its last label. */
const MARGIN = 16;

/** The dimensions, each a bar from 0 to 100, which is hollow if there is a remark on its number. */
export function dimensionsFigure(
  dimensions: Readonly<Record<string, number>>,
  { caption, remarks = {}, numbers, isNarrow = false, levels = [] }: {
    readonly caption: string;
    /** Dashed lines through all rows. */
    readonly levels?: readonly Level[];
    /** By name of the dimension: why its number is not one of the operator's cases. */
    readonly remarks?: Readonly<Record<string, string>>;
    readonly numbers?: Numbers;
    /** Whether it must be legible on a telephone; the full remarks are then in the table alone. */
    readonly isNarrow?: boolean;
  },
): Markup {
  const measured = Object.entries(dimensions).map(([name, value]) => {
    const points = pointsInWords(value);
    const remark = remarks[name] ?? null;
    return {
      name: nameInWords(name),
      points,
      remark,
      value,
      said: remark === null ? points : `${points} (${remark})`,
    };
  });
  const x = scaleLinear([0, 100], [ROWS.left, isNarrow ? NARROW - MARGIN : ROWS.right]);
  const rows = measured.map(({ name, points, said, remark, value }): Row => ({
    label: `${name}: ${isNarrow && remark !== null ? `${points} (${remark.split(":")[0]})` : said}`,
    draw: ({ top, height }) =>
      bar({ x, from: 0, to: value, top, height, look: remark === null ? "solid" : "hollow" }),
  }));
  const note = [...new Set(Object.values(remarks))].flatMap((remark) => {
    const names = measured.filter((row) => row.remark === remark).map(({ name }) => name);
    return names.length === 0 ? [] : [`${joinWithAnd(names)}: ${remark}.`];
  }).join(" ");
  return figure({
    id: "dimensions",
    ...(isNarrow ? { width: NARROW } : {}),
    ...(numbers === undefined ? {} : { numbers }),
    caption,
    description: `${measured.map(({ name, said }) => `${name} ${said}`).join(", ")}.${levelsInWords(levels)}`,
    ...rowPlot({
      rows,
      x,
      marks: levels.map((level) => ({ at: level.at, label: levelName(level) })),
      axis: { ticks: JIS_TICKS, format: pointsInWords },
    }),
    table: dataTable({
      columns: ["Dimension", "Points"],
      rows: measured.map(({ name, points }) => [name, points]),
      ...(note === "" ? {} : { note }),
    }),
  });
}
