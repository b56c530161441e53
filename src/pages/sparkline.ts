/**
 * One operator's JIS over a window of days, as a picture that stands alone: it describes itself in words, and
 * is legible in light and dark. Colours are presentation attributes; the `<style>` element holds only the
 * dark ones. Source: specification, Sparkline; contract, section 4.
 */
// @ts-types="@types/d3-scale"
import { scaleLinear } from "d3-scale";
// @ts-types="@types/d3-shape"
import { line } from "d3-shape";
import { raw } from "hono/html";
import { roundTo } from "../scoring/arithmetic.ts";
import type { Verdict } from "../scoring/verdict.ts";
import { VERDICT_WORDS, verdictInWords } from "../scoring/verdict_words.ts";
import { knownCasesInWords } from "./known_cases_words.ts";
import { type Markup, markup } from "./markup.ts";
import { policyFor } from "./policy.ts";
import { countInWords, dayOf, pointsInWords, shareInWords } from "./wording.ts";

export interface SparklinePoint {
  /** ISO 8601. */
  readonly timestamp: string;
  /** 0 to 100. */
  readonly jis: number;
}

/** The data of a sparkline. */
export interface Sparkline {
  readonly operatorId: string;
  /** Length of the window, used only in the words. */
  readonly days: number;
  /** Oldest first. */
  readonly points: readonly SparklinePoint[];
  /** 0 to 100. */
  readonly minJis: number;
  /** Uncertainty of the present score: the interval, points, and the weight of evidence behind it. */
  readonly uncertainty: {
    readonly level: number;
    readonly low: number;
    readonly high: number;
    readonly effective_n: number;
  };
  /** The verdict now; null with the formulas before `jis-3`. */
  readonly verdict: Verdict | null;
  /** The window's edges, epoch milliseconds. */
  readonly from: number;
  readonly to: number;
}

const WIDTH = 520;
const HEIGHT = 160;
const PLOT = { left: 36, right: 420, top: 14, bottom: 132 };
const JIS_TICKS = [0, 50, 100];
/** Most dots of the usual size: more of them would overlap. */
const LARGE_DOTS_MAX = 45;

const STYLE =
  `@media (prefers-color-scheme:dark){svg{color:#e6edf3}.ground{fill:#10161d}.grid{color:#3d4854}.jis{color:#79b8ff}.minimum{color:#ffb35c}}`;

/** The policy to serve {@link sparklineSvg} with. */
export const SPARKLINE_CSP: string = policyFor(STYLE);

/** The picture as an SVG document; without points it shows a sentence instead of an empty plot. */
export function sparklineSvg(sparkline: Sparkline): string {
  const { operatorId, days, points, verdict } = sparkline;
  const svg =
    markup`<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" color="#1b2733" fill="currentColor" font-family="system-ui, sans-serif" font-size="12">
<title>JIS of operator ${operatorId}, last ${spanInWords(days)}</title>
<desc>${describe(sparkline)}</desc>
<style>${raw(STYLE)}</style>
<rect class="ground" width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>
${
      points.length === 0
        ? markup`<text x="${WIDTH / 2}" y="${HEIGHT / 2}" text-anchor="middle">${nothingInWords(days)}</text>`
        : plot(sparkline)
    }${
      verdict === null ? null : markup`
<text x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 18}" text-anchor="middle">${
        VERDICT_WORDS[verdict.status]
      }</text>`
    }
</svg>`;
  return svg.toString();
}

function plot({ points, minJis, uncertainty: { low, high }, from, to }: Sparkline): Markup {
  const { left, right, top, bottom } = PLOT;
  const x = scaleLinear([from, to], [left, right]).clamp(true);
  const y = scaleLinear([0, 100], [bottom, top]).clamp(true);
  const places = points.map(({ timestamp, jis }) => ({
    x: roundTo(x(Date.parse(timestamp)), 2),
    y: roundTo(y(jis), 2),
  }));
  const path = line<{ readonly x: number; readonly y: number }>(({ x }) => x, ({ y }) => y)(places);
  const radius = points.length > LARGE_DOTS_MAX ? 1.5 : 3;
  const minimumY = roundTo(y(minJis), 2);
  return markup`<g class="grid" color="#c3ccd5" stroke="currentColor">${
    JIS_TICKS.map((tick) => markup`<line x1="${left}" x2="${right}" y1="${y(tick)}" y2="${y(tick)}"/>`)
  }</g>
<g text-anchor="end">${
    JIS_TICKS.map((tick) => markup`<text x="${left - 6}" y="${y(tick)}" dy="0.35em">${tick}</text>`)
  }</g>
<text x="${left}" y="${bottom + 18}">${dayOf(new Date(from).toISOString())}</text>
<text x="${right}" y="${bottom + 18}" text-anchor="end">${dayOf(new Date(to - 1).toISOString())}</text>
<g class="minimum" color="#9a4a00">
<line x1="${left}" x2="${right}" y1="${minimumY}" y2="${minimumY}" stroke="currentColor" stroke-width="1.5" stroke-dasharray="6 4"/>
<text x="${right + 6}" y="${minimumY}" dy="0.35em">minimum ${pointsInWords(minJis)}</text>
</g>
<g class="jis" color="#1a5fb4">
<path class="interval" d="M${right - 3},${y(high)}h6M${right},${y(high)}V${y(low)}M${right - 3},${
    y(low)
  }h6" fill="none" stroke="currentColor" opacity="0.7"/>
<text x="${right + 6}" y="${top}" dy="0.35em">${pointsInWords(low)} to ${pointsInWords(high)}</text>
${
    places.length < 2
      ? null
      : markup`<path d="${path}" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round"/>`
  }
${places.map((place) => markup`<circle cx="${place.x}" cy="${place.y}" r="${radius}"/>`)}
</g>`;
}

/** The picture in words, for readers who do not see it. */
function describe(sparkline: Sparkline): string {
  const { verdict, uncertainty } = sparkline;
  const { level, low, high } = uncertainty;
  const interval =
    `The present score lies between ${pointsInWords(low)} and ${pointsInWords(high)} at a level of ` +
    `${shareInWords(level)}. ${knownCasesInWords({ uncertainty, estimates: null })}`;
  return [...(verdict === null ? [] : [verdictInWords(verdict)]), history(sparkline), interval].join(" ");
}

function history({ days, points, minJis }: Sparkline): string {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return `${nothingInWords(days)}.`;
  const side = `${last.jis < minJis ? "below" : "at or above"} the minimum of ${pointsInWords(minJis)}`;
  if (points.length === 1) return `One value, ${valueInWords(first)}; it is ${side}.`;
  const lowest = points.reduce((least, point) => point.jis < least.jis ? point : least);
  const highest = points.reduce((most, point) => point.jis > most.jis ? point : most);
  const below = points.filter(({ jis }) => jis < minJis).length;
  return `First ${valueInWords(first)}, last ${valueInWords(last)}, lowest ${valueInWords(lowest)}, ` +
    `highest ${valueInWords(highest)}. The last value is ${side}; ${below} of ` +
    `${countInWords(points.length, "value")} ${below === 1 ? "is" : "are"} below it.`;
}

function valueInWords({ timestamp, jis }: SparklinePoint): string {
  return `${pointsInWords(jis)} on ${dayOf(timestamp)}`;
}

function spanInWords(days: number): string {
  return days === 1 ? "day" : countInWords(days, "day");
}

function nothingInWords(days: number): string {
  return `No interactions in the last ${spanInWords(days)}`;
}
