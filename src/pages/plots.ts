/**
 * The plots of a report. Each is a figure whose picture has a description in words and a table of its numbers
 * beside it. Shape, dashes and words distinguish everything; colour only repeats them. A plot without data is
 * not drawn.
 */
// @ts-types="@types/d3-scale"
import { scaleLinear } from "d3-scale";
import { BANDS } from "../domain/enums.ts";
import type { Finding, Report } from "../domain/report.ts";
import { axisOf, bar, figure, type Mark, marksOf, px, type Row, rowPlot, ROWS, tick } from "./chart.ts";
import { type Markup, markup } from "./markup.ts";
import { dataTable } from "./tables.ts";
import { countInWords, nameInWords, NO_DATA, pointsInWords, shareInWords, STATUS_WORDS } from "./wording.ts";

/** Writes a score, or that there is none. */
export type WritePoints = (points: number | null) => string;

const HISTOGRAM = { height: 260, left: 40, right: 506, top: 40, bottom: 214 };
const POINT_TICKS = [0, 20, 40, 60, 80, 100];
const SHARE_TICKS = [0, 0.25, 0.5, 0.75, 1];

/** The words of the plots, of the shares of findings above all. */
export interface PassWords {
  readonly points: WritePoints;
  readonly nameOf: (finding: Finding) => string;
  /** The result after a finding's share; empty if none is said. */
  readonly resultOf: (finding: Finding) => string;
  /** Names the mark of the findings' threshold. */
  readonly threshold: string;
  /** Writes a share, 0 to 1. */
  readonly share: (share: number) => string;
}

/** The words of the pages that had no summary. */
export const EARLIER_PASS_WORDS: PassWords = {
  points: pointsInWords,
  nameOf,
  resultOf: ({ status }) => `, ${STATUS_WORDS[status].toLowerCase()}`,
  threshold: "compliant",
  share: earlierShare,
};

/** A share as the pages that had no summary wrote it: saved ones are verified to the letter. */
export function earlierShare(share: number): string {
  return shareInWords(share).replace(" ", "");
}

/**
 * The report's figures that have something to show, in the order of the page.
 *
 * `partialShare` is the share from which a finding is partial, a second mark beside each finding's own
 * threshold. It is not in a report, so it is drawn only if the caller knows it.
 */
export function reportPlots(
  report: Report,
  { words, partialShare }: { readonly words: PassWords; readonly partialShare?: number | undefined },
): readonly Markup[] {
  return [
    histogram(report, words.points),
    bands(report),
    passShares(report, { words, partialShare }),
    dimensionRanges(report, words.points),
  ].filter((plot) => plot !== null);
}

function histogram({ figures, thresholds }: Report, points: WritePoints): Markup | null {
  const bins = figures.histogram.filter(({ operators }) => operators > 0);
  const total = bins.reduce((sum, { operators }) => sum + operators, 0);
  if (total === 0) return null;
  const { left, right, top, bottom, height } = HISTOGRAM;
  const x = scaleLinear([0, 100], [left, right]);
  const y = scaleLinear([0, Math.max(...bins.map(({ operators }) => operators))], [bottom, top]).nice(4);
  const steps = y.ticks(4).filter(Number.isInteger);
  const marks = thresholdMarks(thresholds);
  const drawing = markup`<g class="grid" stroke="currentColor">${
    steps.map((step) => markup`<line x1="${left}" x2="${right}" y1="${px(y(step))}" y2="${px(y(step))}"/>`)
  }</g>
<g text-anchor="end">${
    steps.map((step) => markup`<text x="${left - 6}" y="${px(y(step))}" dy="0.35em">${step}</text>`)
  }</g>
<g class="bar">${
    bins.map(({ from, to, operators }) =>
      markup`<rect x="${px(x(from) + 1)}" y="${px(y(operators))}" width="${
        px(x(to) - x(from) - 2)
      }" height="${px(bottom - y(operators))}"/>`
    )
  }</g>
${axisOf(x, { y: bottom, ticks: POINT_TICKS, format: pointsInWords })}
<text x="${(left + right) / 2}" y="${bottom + 38}" text-anchor="middle" font-style="italic">JIS</text>
${marksOf(marks, { x, bottom })}
<text x="${left - 6}" y="${top - 22}" text-anchor="start" font-style="italic">operators</text>`;
  return figure({
    id: "histogram",
    caption: "Operators by JIS",
    description: `${countInWords(total, "operator")} in steps of 5 points, from ${bins[0]!.from} to ${
      bins.at(-1)!.to
    }; dashed lines at the ${marks.map(({ label }) => label).join(" and the ")}. Mean ${
      points(figures.jis.mean)
    }, median ${points(figures.jis.median)}.`,
    height,
    drawing,
    table: dataTable({
      columns: ["JIS", "Operators"],
      rows: bins.map(({ from, to, operators }) => [
        to === 100 ? `${from} to 100` : `${from} to under ${to}`,
        operators,
      ]),
      note: "No operator stands in the other steps.",
    }),
  });
}

function bands({ figures, verdict }: Report): Markup | null {
  const reaches = "the interval reaches into another band";
  const doubt = verdict === undefined ? reaches : `the verdict is, or without a verdict ${reaches}`;
  const counts = [...BANDS, "undetermined" as const].map((band) => ({
    band,
    operators: figures.bands[band],
  }));
  const most = Math.max(...counts.map(({ operators }) => operators));
  if (most === 0) return null;
  const x = scaleLinear([0, most], [ROWS.left, ROWS.right]);
  const rows = counts.map(({ band, operators }): Row => ({
    label: `${nameInWords(band)}: ${operators}`,
    draw: ({ top, height }) =>
      operators === 0
        ? markup``
        : bar({ x, from: 0, to: operators, top, height, look: band === "undetermined" ? "hollow" : "solid" }),
  }));
  return figure({
    id: "bands",
    caption: "Operators by band",
    description: `${
      counts.map(({ band, operators }) => `${nameInWords(band)} ${operators}`).join(", ")
    }. Undetermined, drawn hollow: ${doubt}.`,
    ...rowPlot({ rows, x, marks: [] }),
    table: dataTable({
      columns: ["Band", "Operators"],
      rows: counts.map(({ band, operators }) => [nameInWords(band), operators]),
      note: `Undetermined: ${doubt}.`,
    }),
  });
}

function passShares(
  { findings }: Report,
  { words: { nameOf, resultOf, threshold, share }, partialShare }: {
    readonly words: PassWords;
    readonly partialShare: number | undefined;
  },
): Markup | null {
  const measured = findings.flatMap((finding) =>
    finding.observed === null ? [] : [{ ...finding, observed: finding.observed }]
  );
  if (measured.length === 0) return null;
  const x = scaleLinear([0, 1], [ROWS.left, ROWS.right]);
  const rows = measured.map((finding): Row => ({
    label: `${nameOf(finding)}: ${share(finding.observed)}${resultOf(finding)}`,
    draw: ({ top, height }) =>
      markup`${bar({ x, from: 0, to: finding.observed, top, height })}
${tick(x(finding.threshold), { className: "mark", top, height })}`,
  }));
  const thresholds = [...new Set(measured.map(({ threshold }) => threshold))];
  const marks = [
    ...(partialShare === undefined ? [] : [{ at: partialShare, name: "partial" }]),
    ...thresholds.map((at) => ({ at, name: threshold })),
  ].map(({ at, name }): Mark => ({ at, label: `${name} from ${share(at)}` }));
  return figure({
    id: "pass-shares",
    caption: "Share of operators who pass, by finding",
    description: `${
      measured.map((finding) =>
        `${nameOf(finding)}: ${share(finding.observed)} against ${share(finding.threshold)}`
      ).join("; ")
    }. Dashed lines: ${marks.map(({ label }) => label).join(", ")}.`,
    ...rowPlot({ rows, x, marks, axis: { ticks: SHARE_TICKS, format: share } }),
    table: dataTable({
      columns: ["Finding", "Pass", "Share", "Threshold"],
      rows: measured.map((finding) => [
        nameOf(finding),
        `${finding.passing ?? NO_DATA} of ${finding.operators}`,
        share(finding.observed),
        share(finding.threshold),
      ]),
      note: "The thick upright line is the finding's threshold. Shares are rounded down.",
    }),
  });
}

function dimensionRanges({ figures }: Report, points: WritePoints): Markup | null {
  const measured = figures.dimensions.flatMap(({ dimension, lower_quartile, median, upper_quartile }) =>
    lower_quartile === null || median === null || upper_quartile === null
      ? []
      : [{ name: nameInWords(dimension), lower: lower_quartile, median, upper: upper_quartile }]
  );
  if (measured.length === 0) return null;
  const x = scaleLinear([0, 100], [ROWS.left, ROWS.right]);
  const rows = measured.map(({ name, lower, median, upper }): Row => ({
    label: `${name}: median ${points(median)}`,
    draw: ({ top, height }) =>
      markup`${bar({ x, from: lower, to: upper, top, height, look: "pale" })}
${tick(x(median), { className: "bar", top, height })}`,
  }));
  return figure({
    id: "dimensions",
    caption: "Dimensions: the middle half of the operators",
    description: `${
      measured.map(({ name, lower, median, upper }) =>
        `${name}: ${points(lower)} to ${points(upper)}, median ${points(median)}`
      ).join("; ")
    }.`,
    ...rowPlot({ rows, x, marks: [], axis: { ticks: POINT_TICKS, format: pointsInWords } }),
    table: dataTable({
      columns: ["Dimension", "Mean", "Lower quartile", "Median", "Upper quartile"],
      rows: figures.dimensions.map(({ dimension, mean, lower_quartile, median, upper_quartile }) => [
        nameInWords(dimension),
        ...[mean, lower_quartile, median, upper_quartile].map(points),
      ]),
      note: measured.length === figures.dimensions.length
        ? "Bars reach from the lower to the upper quartile; the upright line is the median."
        : `Bars reach from the lower to the upper quartile; the upright line is the median. Dimensions with ${NO_DATA} are not drawn.`,
    }),
  });
}

/** A finding's law and provision. */
export function nameOf({ regulation, provision }: Pick<Finding, "regulation" | "provision">): string {
  return `${regulation}, ${provision}`;
}

function thresholdMarks({ min_jis, target_jis }: Report["thresholds"]): readonly Mark[] {
  return [
    { at: min_jis, label: `minimum ${pointsInWords(min_jis)}` },
    { at: target_jis, label: `target ${pointsInWords(target_jis)}` },
  ];
}
