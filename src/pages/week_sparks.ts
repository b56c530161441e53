/**
 * The weeks of an organization as small pictures without axes: the median, the verdicts, the probes, and the operators. Words stand
 * beside each, and the large picture of it in the view Trends. Shapes say what colour repeats.
 */
// @ts-types="@types/d3-scale"
import { scaleBand, scaleLinear } from "d3-scale";
// @ts-types="@types/d3-shape"
import { area } from "d3-shape";
import type { VerdictStatus } from "../domain/enums.ts";
import type { OperatorWeek, Week } from "../domain/week.ts";
import { px } from "./chart.ts";
import { strokeOf } from "./jis_plot.ts";
import { type Markup, markup } from "./markup.ts";
import { sparkRange } from "./operator_plots.ts";
import { type MedianWeek, runsOf, SHARES } from "./week_plots.ts";

const SIZE = { width: 160, height: 48 };
const EDGE = 3;

function spark(label: string, drawing: Markup): Markup {
  const { width, height } = SIZE;
  return markup`<svg class="spark" role="img" aria-label="${label}" viewBox="0 0 ${width} ${height}" fill="currentColor">${drawing}</svg>`;
}

function bandsOf(weeks: readonly Week[]) {
  return scaleBand(weeks.map(({ week_start }) => week_start), [0, SIZE.width]).paddingInner(0.25);
}

/** The median of each week with its interval shaded, and the minimum if it lies in their range. */
export function medianSpark(
  weeks: readonly Week[],
  { label, minimum }: { readonly label: string; readonly minimum: number },
): Markup {
  const runs = runsOf(weeks);
  const [low, high] = sparkRange(
    runs.flat().flatMap(({ median_interval: interval }) => [interval.low, interval.high]),
  );
  const x = scaleLinear([0, Math.max(1, weeks.length - 1)], [EDGE, SIZE.width - EDGE]);
  const y = scaleLinear([low, high], [SIZE.height - EDGE, EDGE]);
  const placeOf = (week: MedianWeek) => px(x(weeks.indexOf(week)));
  const range = area<MedianWeek>(
    placeOf,
    ({ median_interval }) => px(y(median_interval.low)),
    ({ median_interval }) => px(y(median_interval.high)),
  );
  const at = px(y(minimum));
  const last = runs.at(-1)?.at(-1);
  return spark(
    label,
    markup`${runs.map((run) => markup`<path class="range" d="${range([...run])}"/>`)}${
      low <= minimum && minimum <= high
        ? markup`<line class="grid" x1="0" x2="${SIZE.width}" y1="${at}" y2="${at}" stroke="currentColor" stroke-dasharray="3 3"/>`
        : null
    }<g class="jis">${
      runs.map((run) => strokeOf(run.map((week) => ({ x: placeOf(week), y: px(y(week.median_jis)) }))))
    }${
      last === undefined
        ? null
        : markup`<circle cx="${placeOf(last)}" cy="${px(y(last.median_jis))}" r="2.5"/>`
    }</g>`,
  );
}

/** The operators by verdict in each week, as shares of a bar, with the looks of the large picture. */
export function verdictsSpark(weeks: readonly Week[], label: string): Markup {
  const x = bandsOf(weeks);
  const y = scaleLinear([0, 1], [SIZE.height - 1, 1]);
  return spark(
    label,
    markup`${
      weeks.map(({ week_start, verdicts, operators }) => {
        let floor = 0;
        return verdicts === null || operators === 0 ? null : SHARES.map(([status, tone, look]) => {
          const [bottom, top] = [px(y(floor)), px(y(floor += verdicts[status] / operators))];
          return bottom === top
            ? null
            : markup`<rect class="tone-${tone}" x="${px(x(week_start)!)}" y="${top}" width="${
              px(x.bandwidth())
            }" height="${px(bottom - top)}"${look}/>`;
        });
      })
    }`,
  );
}

/** The probes of each week: above the line the share of wrong advice that was found, below it the share of false alarms. */
export function probesSpark(weeks: readonly Week[], label: string): Markup {
  const x = bandsOf(weeks);
  const middle = SIZE.height / 2;
  const lengthOf = (share: number) => px(share * (middle - EDGE));
  const bars = weeks.map(({ week_start, probes }) => {
    const place = markup`x="${px(x(week_start)!)}" width="${px(x.bandwidth())}"`;
    const [found, alarms] = [probes?.wrong.share ?? null, probes?.right.share ?? null];
    return markup`${
      found === null
        ? null
        : markup`<rect class="bar" ${place} y="${px(middle - lengthOf(found))}" height="${lengthOf(found)}"/>`
    }${
      alarms === null
        ? null
        : markup`<rect class="tone-bad" ${place} y="${middle}" height="${
          lengthOf(alarms)
        }" fill-opacity="0.35" stroke="currentColor"/>`
    }`;
  });
  return spark(
    label,
    markup`${bars}<line class="axis" x1="0" x2="${SIZE.width}" y1="${middle}" y2="${middle}" stroke="currentColor"/>`,
  );
}

/** How much of its row a cell fills: the verdict that needs somebody is the thickest. */
const THICKNESS: Readonly<Record<VerdictStatus, readonly [share: number, look: Markup]>> = {
  non_compliant: [0.85, markup`class="tone-bad"`],
  undetermined: [0.45, markup`class="tone-fair" fill-opacity="0.5"`],
  compliant: [0.2, markup`class="tone-good"`],
};

/** Operators as rows of cells, a cell a week: the thicker it is, the worse is the verdict then. */
export function operatorsSpark(
  operators: readonly { readonly weeks: readonly (OperatorWeek | null)[] }[],
  label: string,
): Markup {
  const most = Math.max(1, ...operators.map(({ weeks }) => weeks.length));
  const [width, height] = [SIZE.width / most, SIZE.height / Math.max(1, operators.length)];
  return spark(
    label,
    markup`${
      operators.map(({ weeks }, row) =>
        weeks.map((cell, column) => {
          if (cell?.verdict == null) return null;
          const [share, look] = THICKNESS[cell.verdict];
          return markup`<rect ${look} x="${px(column * width)}" y="${
            px(row * height + height * (1 - share) / 2)
          }" width="${px(width - 1)}" height="${px(height * share)}"/>`;
        })
      )
    }`,
  );
}
