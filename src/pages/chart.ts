/**
 * The parts of a page's plots: the figure around picture and table, axes, bars, dashed marks and rows.
 * Lengths are in the picture's own units, of which a line of text is about 14 high.
 */
// @ts-types="@types/d3-scale"
import { scaleBand, type ScaleLinear } from "d3-scale";
import { roundTo } from "../scoring/arithmetic.ts";
import { type Markup, markup } from "./markup.ts";

/** Width of a picture that asks for no other. */
export const WIDTH = 520;
/** Width of a picture whose text stays legible on a telephone, and in the half of a page. */
export const NARROW = 420;
/** Edges of a plot of rows, height of a row, and height of its label. */
export const ROWS = { left: 10, right: 500, each: 36, label: 16 };
/** Room that a mark's label needs at the right of its line; with less room it is placed at the left. */
const MARK_LABEL = 110;
/** Height from one mark's label to the next. */
const MARK_LINE = 14;

export type Scale = ScaleLinear<number, number>;

/** The place of a picture's numbers. */
export type Numbers = "beside" | "folded";

/** A figure's pieces. */
export interface Figure {
  /** Unique in the page. */
  readonly id: string;
  readonly caption: string;
  /** The content of the picture, in words. */
  readonly description: string;
  readonly height: number;
  /** Default: `WIDTH`. A narrower picture has larger text in the same place. */
  readonly width?: number;
  readonly drawing: Markup;
  /** The numbers of the picture as a table. */
  readonly table: Markup;
  /** Whether the table stands beside the picture, or is shown when somebody asks for it. Default: `beside`. */
  readonly numbers?: Numbers;
}

/** A dashed line across a plot at a threshold. */
export interface Mark {
  readonly at: number;
  readonly label: string;
}

/** One labelled row of a plot. */
export interface Row {
  readonly label: string;
  /** Draws the part under the label, between `top` and `top + height`. */
  readonly draw: (place: { readonly top: number; readonly height: number }) => Markup;
}

/** Ticks and the format of their values. */
export interface Axis {
  readonly ticks: readonly number[];
  readonly format: (value: number) => string;
}

/** Bars differ by outline, so that they need no colour. */
const BAR_LOOKS = {
  solid: markup``,
  hollow: markup` fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="4 3"`,
  pale: markup` fill-opacity="0.35" stroke="currentColor"`,
};

const TICK = { ground: 6, line: markup` stroke-width="3"` };
const DASHED = { ground: 4, line: markup` stroke-width="1.5" stroke-dasharray="6 4"` };

/** A picture with its name and description, and its numbers. */
export function figure(
  { id, caption, description, height, width = WIDTH, drawing, table, numbers = "beside" }: Figure,
): Markup {
  return markup`<figure id="${id}">
<figcaption>${caption}</figcaption>
<div class="${classOf(numbers, width)}">
<svg role="img" aria-labelledby="${id}-title ${id}-desc" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" fill="currentColor" font-size="12">
<title id="${id}-title">${caption}</title>
<desc id="${id}-desc">${description}</desc>
${drawing}
</svg>
${
    numbers === "beside"
      ? markup`${table}
</div>`
      : markup`</div>
${folded(table)}`
  }
</figure>`;
}

function classOf(numbers: Numbers, width: number): string {
  const place = numbers === "beside" ? "plot" : "plot alone";
  return width < WIDTH ? `${place} narrow` : place;
}

/** Numbers that are shown when somebody asks for them. */
function folded(table: Markup): Markup {
  return markup`<details class="of-plot"><summary>Numbers</summary>${table}</details>`;
}

/** Labelled rows one under another over a common scale; without `axis` only the labels give the values. */
export function rowPlot({ rows, x, marks, axis }: {
  readonly rows: readonly Row[];
  readonly x: Scale;
  readonly marks: readonly Mark[];
  readonly axis?: Axis;
}): Pick<Figure, "height" | "drawing"> {
  const top = 4 + marks.length * MARK_LINE;
  const bottom = top + rows.length * ROWS.each;
  const band = scaleBand(rows.map((_, index) => index), [top, bottom]);
  const drawn = rows.map(({ label, draw }, index) => {
    const rowTop = px(band(index)!);
    const place = { top: rowTop + ROWS.label + 2, height: band.bandwidth() - ROWS.label - 8 };
    return markup`<text class="label" x="${ROWS.left}" y="${rowTop + ROWS.label - 3}">${label}</text>
${draw(place)}`;
  });
  const drawing = markup`${axis === undefined ? null : axisOf(x, { y: bottom, ...axis })}
${marksOf(marks, { x, bottom })}
${drawn}`;
  return { height: bottom + (axis === undefined ? 4 : 24), drawing };
}

/** A bar along the scale, from one value to another. */
export function bar({ x, from, to, top, height, look = "solid" }: {
  readonly x: Scale;
  readonly from: number;
  readonly to: number;
  readonly top: number;
  readonly height: number;
  readonly look?: keyof typeof BAR_LOOKS;
}): Markup {
  return markup`<rect class="bar" x="${px(x(from))}" y="${top}" width="${
    px(x(to) - x(from))
  }" height="${height}"${BAR_LOOKS[look]}/>`;
}

/** A thick upright line through a row, set off from the bar that it crosses. */
export function tick(
  at: number,
  { className, top, height }: { readonly className: string; readonly top: number; readonly height: number },
): Markup {
  return upright({ x: px(at), from: top - 3, to: top + height + 3, className, look: TICK });
}

/** An upright line over a wider one in the paper's colour; `look.ground` is the width of the latter. */
function upright({ x, from, to, className, look }: {
  readonly x: number;
  readonly from: number;
  readonly to: number;
  readonly className: string;
  readonly look: { readonly ground: number; readonly line: Markup };
}): Markup {
  const place = markup`x1="${x}" x2="${x}" y1="${from}" y2="${to}" stroke="currentColor"`;
  return markup`<line class="ground" ${place} stroke-width="${look.ground}"/><line class="${className}" ${place}${look.line}/>`;
}

/** A line with its ticks and their labels underneath. */
export function axisOf(x: Scale, { y, ticks, format }: Axis & { readonly y: number }): Markup {
  const [left, right] = x.range();
  return markup`<g class="axis" stroke="currentColor">
<line x1="${left!}" x2="${right!}" y1="${y}" y2="${y}"/>
${ticks.map((tick) => markup`<line x1="${px(x(tick))}" x2="${px(x(tick))}" y1="${y}" y2="${y + 4}"/>`)}
</g>
<g text-anchor="middle">${
    ticks.map((tick) => markup`<text x="${px(x(tick))}" y="${y + 18}">${format(tick)}</text>`)
  }</g>`;
}

/** Dashed lines down to `bottom`, each with its label in a line of its own at the top. */
export function marksOf(
  marks: readonly Mark[],
  { x, bottom }: { readonly x: Scale; readonly bottom: number },
): readonly Markup[] {
  const right = x.range()[1]!;
  return marks.map(({ at, label }, index) => {
    const place = px(x(at));
    const isRight = place > right - MARK_LABEL;
    const labelY = 12 + index * MARK_LINE;
    return markup`<g class="mark">
${upright({ x: place, from: labelY - 10, to: bottom, className: "mark", look: DASHED })}
<text class="label" x="${place + (isRight ? -5 : 5)}" y="${labelY}" text-anchor="${
      isRight ? "end" : "start"
    }">${label}</text>
</g>`;
  });
}

/** A length with two decimals; a picture shows no finer ones. */
export function px(length: number): number {
  return roundTo(length, 2);
}
