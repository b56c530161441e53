/** The pictures of a validation, drawn from the object that `jiss simulate --json` prints. */
// @ts-types="@types/d3-scale"
import { scaleLinear } from "d3-scale";
import { raw } from "hono/html";
import { axisOf, bar, type Mark, px, type Row, rowPlot, ROWS, tick, WIDTH } from "../src/pages/chart.ts";
import {
  dotsOf,
  JIS_TICKS,
  jisGrid,
  jisScale,
  type Level,
  levelLines,
  levelsInWords,
  type Place,
  strokeOf,
} from "../src/pages/jis_plot.ts";
import { type Markup, markup } from "../src/pages/markup.ts";
import { PICTURE_STYLE } from "../src/pages/style.ts";
import { nameInWords, pointsInWords, shareInWords } from "../src/pages/wording.ts";
import type { ModelDocument } from "../src/scoring/model.ts";
import {
  CERTAINTY_GROUPS,
  certaintyFigure,
  type CertaintyGroup,
  SUPPLIES,
  type SupplyName,
} from "../src/simulation/certainty.ts";
import { BAD } from "../src/simulation/populations.ts";
import { mean } from "../src/simulation/statistics.ts";
import type { Figure, Validation } from "../src/simulation/validation.ts";

/** The validation that is drawn, with the digest of its model. */
export interface Kept extends Validation {
  readonly model_sha256: string;
}

interface Picture {
  readonly title: string;
  /** The picture in words, for readers who do not see it. */
  readonly description: string;
  readonly height: number;
  readonly drawing: Markup;
  /** The lines of text under the plot. */
  readonly legend: readonly string[];
}

const LEGEND_LINE = 15;
const SPECTRUM = { left: 40, right: 410, top: 14, bottom: 284 } as const satisfies Place;
/** Points of the curve through the scatter, each the mean of an equal share of the operators. */
const CURVE_POINTS = 10;
const CURVES = { left: 150, right: 500, top: 34, bottom: 284 } as const satisfies Place;
/** Height from one curve's name to the next. */
const NAME_LINE = 14;
/** The panels of one picture, one under another: the plot of the first, and the height from one to the next. */
const PANEL = { left: 40, right: 380, top: 26, bottom: 126 } as const satisfies Place;
const PANEL_EACH = 166;
const SHARE_TICKS = [0, 0.5, 1];

/**
 * The pictures by name of their file, SVG documents. The same validation gives the same bytes.
 * @throws {Error} if the validation is of another model than `document`, or lacks a figure.
 */
export function picturesOf(kept: Kept, document: ModelDocument): Readonly<Record<string, string>> {
  if (kept.model !== document.version) {
    throw new Error(`the validation is of model ${kept.model}, and the model in use is ${document.version}`);
  }
  const levels = [
    { at: document.thresholds.min_jis, name: "minimum" },
    { at: document.thresholds.target_jis, name: "target" },
  ];
  const { model, seeds, operators, distributions: { seed } } = kept;
  const origin = `Model ${model}; ${operators} simulated operators of each kind`;
  const ofAll = `${origin}, seeds ${seeds.join(", ")}.`;
  const ofOne = `${origin}, seed ${seed}.`;
  return {
    "archetypes.svg": svg(archetypes(kept, levels), ofOne),
    "spectrum.svg": svg(spectrum(kept, levels), ofOne),
    "coverage.svg": svg(coverage(kept), ofAll),
    "separation.svg": svg(separation(kept), ofAll),
    "truth.svg": svg(truth(kept), ofAll),
  };
}

function svg({ title, description, height, drawing, legend }: Picture, origin: string): string {
  const lines = [...legend, origin];
  const whole = height + 8 + lines.length * LEGEND_LINE;
  return markup`<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc" width="${WIDTH}" height="${whole}" viewBox="0 0 ${WIDTH} ${whole}" fill="currentColor" font-family="system-ui, sans-serif" font-size="12">
<title id="title">${title}</title>
<desc id="desc">${description} ${origin}</desc>
<style>${raw(PICTURE_STYLE)}</style>
<rect width="${WIDTH}" height="${whole}" style="fill:var(--paper)"/>
${drawing}
<g font-size="11">${
    lines.map((line, index) =>
      markup`<text x="${ROWS.left}" y="${height + (index + 1) * LEGEND_LINE}">${line}</text>`
    )
  }</g>
</svg>
`.toString();
}

function archetypes({ distributions: { spreads } }: Kept, levels: readonly Level[]): Picture {
  const x = scaleLinear([0, 100], [ROWS.left, ROWS.right]);
  const names = [...new Set(spreads.map(({ of }) => of))];
  const shown = names.map((name) => {
    const [early, late] = [50, 200].map((after) =>
      spreads.find((spread) => spread.of === name && spread.after === after)!
    );
    return { name: nameInWords(name), early: early!, late: late! };
  });
  const range = ({ low, high }: typeof spreads[number]) => `${points(low)} to ${points(high)}`;
  const rows = shown.map(({ name, early, late }): Row => ({
    label: `${name}: ${range(early)}, then ${range(late)}`,
    draw: ({ top, height }) => {
      const half = height / 2 - 1;
      return markup`${bar({ x, from: early.low, to: early.high, top, height: half, look: "pale" })}${
        tick(x(early.median), { className: "bar", top, height: half })
      }${bar({ x, from: late.low, to: late.high, top: top + half + 2, height: half })}${
        tick(x(late.median), { className: "mark", top: top + half + 2, height: half })
      }`;
    },
  }));
  return {
    title: "JIS by kind of reviewer",
    description: `Nine in ten scores after 50 and after 200 interactions. ${
      shown.map(({ name, early, late }) =>
        `${name}: ${range(early)} after 50, ${range(late)} after 200, median ${points(late.median)}.`
      ).join(" ")
    }${levelsInWords(levels)}`,
    ...rowPlot({ rows, x, marks: levels.map(markOf), axis: { ticks: JIS_TICKS, format: pointsInWords } }),
    legend: ["Bars hold nine in ten: above after 50 interactions, below after 200. Upright: the median."],
  };
}

function spectrum({ distributions: { spectrum: people } }: Kept, levels: readonly Level[]): Picture {
  const { left, right, bottom } = SPECTRUM;
  const x = scaleLinear([Math.min(0, ...people.map(({ latent }) => latent)), 1], [left, right]).nice(5);
  const y = jisScale(SPECTRUM);
  const sorted = people.toSorted((one, other) => one.latent - other.latent);
  const size = Math.max(1, Math.ceil(sorted.length / CURVE_POINTS));
  const curve = Array.from({ length: Math.ceil(sorted.length / size) }, (_, index) => {
    const bin = sorted.slice(index * size, (index + 1) * size);
    return { latent: mean(bin.map(({ latent }) => latent)), jis: mean(bin.map(({ jis }) => jis)) };
  });
  const place = ({ latent, jis }: typeof people[number]) => ({ x: px(x(latent)), y: px(y(jis)) });
  return {
    title: "JIS after 200 interactions against what is hidden",
    description: `Each dot is an operator; the line is the mean of tenths of them: ${
      curve.map(({ latent, jis }) => `J* ${latent.toFixed(2)}, JIS ${points(jis)}`).join("; ")
    }.${levelsInWords(levels)}`,
    height: bottom + 40,
    drawing: markup`${jisGrid(y, SPECTRUM)}
<g class="bar" opacity="0.55">${dotsOf(people.map(place))}</g>
${levelLines(levels, y, SPECTRUM)}
<g>${strokeOf(curve.map(place))}</g>
${axisOf(x, { y: bottom, ticks: x.ticks(5), format: String })}
<text x="${(left + right) / 2}" y="${
      bottom + 34
    }" text-anchor="middle">J*: P(depart | AI wrong) − P(depart | AI right)</text>`,
    legend: [`Up: JIS. Dots: ${people.length} operators of spectrum. Line: means of tenths of them.`],
  };
}

function coverage(kept: Kept): Picture {
  const figures = some(kept.figures.filter(({ measure }) => measure === "interval holds the true value"));
  const { least, most } = figures.find(({ target }) => target !== null)!.target!;
  const x = scaleLinear([0, 1], [ROWS.left + 20, ROWS.right - 20]);
  const kinds = [...new Set(figures.map(({ of }) => of))].map((of) => {
    const [early, late] = [50, 200].map((after) =>
      figures.find((figure) => figure.of === of && figure.after === after)!
    );
    return { name: nameInWords(of), early: early!, late: late! };
  });
  const shares = ({ early, late }: typeof kinds[number]) =>
    `${shareInWords(early.value)}, then ${shareInWords(late.value)}`;
  const rows = kinds.map((kind): Row => ({
    label: `${kind.name}: ${shares(kind)}`,
    draw: ({ top, height }) => {
      const { early, late } = kind;
      const [from, to] = [Math.min(...late.by_seed), Math.max(...late.by_seed)];
      return markup`${bar({ x, from, to, top, height, look: "pale" })}${
        tick(x(early.value), { className: "mark", top, height })
      }${tick(x(late.value), { className: "bar", top, height })}`;
    },
  }));
  const marks = [{ at: least!, label: `at least ${shareInWords(least!)}` }, {
    at: most!,
    label: `at most ${shareInWords(most!)}`,
  }];
  return {
    title: "How often the 90 % interval holds the true value",
    description: `${
      kinds.map((kind) =>
        `${kind.name}: ${shareInWords(kind.early.value)} after 50, ${
          shareInWords(kind.late.value)
        } after 200.`
      )
        .join(" ")
    } Dashed lines: ${marks.map(({ label }) => label).join(", ")}.`,
    ...rowPlot({ rows, x, marks, axis: { ticks: x.ticks(6), format: shareInWords } }),
    legend: [
      "Upright: after 50 interactions, and after 200 with a bar from the lowest seed to the highest.",
      "Dashed: the target for spectrum and the field, where true values vary.",
    ],
  };
}

function separation(kept: Kept): Picture {
  const { left, right, top, bottom } = CURVES;
  const figures = kept.figures.filter(({ measure }) => measure === "AUC, independent above");
  const target = some(figures).find((figure) => figure.target !== null)!.target!.least!;
  const lowest = Math.floor(Math.min(target, ...figures.map(({ value }) => value)) * 20) / 20;
  const lengths = [...new Set(figures.map(({ after }) => after!))];
  const x = scaleLinear([lengths[0]!, lengths.at(-1)!], [left, right]);
  const y = scaleLinear([lowest, 1], [bottom, top]);
  const curves = BAD.map((name) => ({
    name: nameInWords(name),
    values: some(figures.filter(({ of }) => of === name)),
  })).toSorted((one, other) => other.values[0]!.value - one.values[0]!.value);
  let free = -Infinity;
  const drawn = curves.map(({ name, values }) => {
    const dots = values.map(({ after, value }) => ({ x: px(x(after!)), y: px(y(value)) }));
    free = Math.max(free + NAME_LINE, dots[0]!.y - curves.length);
    return markup`<g class="bar">${strokeOf(dots)}${dotsOf(dots)}</g>
<line x1="${left - 34}" x2="${left - 6}" y1="${px(free)}" y2="${
      dots[0]!.y
    }" stroke="currentColor" stroke-width="0.75"/>
<text x="${left - 38}" y="${px(free)}" dy="0.35em" text-anchor="end">${name}</text>`;
  });
  const height = px(y(target));
  return {
    title: "How often an independent reviewer scores above another kind",
    description: `Area under the curve after ${lengths.join(", ")} interactions. ${
      curves.map(({ name, values }) => `${name}: ${values.map(({ value }) => value.toFixed(3)).join(", ")}.`)
        .join(" ")
    } Dashed line: at least ${target} after 50.`,
    height: Math.max(bottom + 40, px(free + NAME_LINE)),
    drawing: markup`<g class="grid" stroke="currentColor">${
      y.ticks(5).map((at) => markup`<line x1="${left}" x2="${right}" y1="${px(y(at))}" y2="${px(y(at))}"/>`)
    }</g>
<g text-anchor="end" font-size="11">${
      y.ticks(5).map((at) => markup`<text x="${right}" y="${px(y(at)) - 3}">${at.toFixed(2)}</text>`)
    }</g>
<g class="mark"><line x1="${left}" x2="${right}" y1="${height}" y2="${height}" stroke="currentColor" stroke-width="1.5" stroke-dasharray="6 4"/></g>
${drawn}
${axisOf(x, { y: bottom, ticks: lengths, format: String })}
<text x="${(left + right) / 2}" y="${bottom + 34}" text-anchor="middle">interactions</text>
<text x="${left}" y="12">area under the curve, from ${lowest} to 1</text>`,
    legend: [`Dashed: the target of ${target} after 50 interactions. Names stand at the left ends.`],
  };
}

function truth(kept: Kept): Picture {
  const supplies = Object.keys(SUPPLIES) as SupplyName[];
  const groups = Object.keys(CERTAINTY_GROUPS) as CertaintyGroup[];
  const panels = supplies.map((supply, index) => {
    const { name, values } = SUPPLIES[supply];
    const curves = groups.map((of) => ({
      of,
      shares: values.map((value) => {
        const { measure, after } = certaintyFigure(supply, value);
        const same = kept.figures.filter((one) =>
          one.measure === measure && one.of === of && one.after === after
        );
        return { value, share: some(same)[0]!.value };
      }),
    })).toSorted((one, other) => other.shares.at(-1)!.share - one.shares.at(-1)!.share);
    return { name, values, curves, down: index * PANEL_EACH };
  });
  return {
    title: "How much truth buys how much certainty",
    description: `Share of verdicts that are certain. ${
      panels.map(({ name, curves }) =>
        `By ${name}: ${
          curves.map(({ of, shares }) =>
            `${of} ${shares.map(({ value, share }) => `${shareInWords(share)} at ${value}`).join(", ")}`
          ).join("; ")
        }.`
      ).join(" ")
    }`,
    height: panels.length * PANEL_EACH,
    drawing: markup`${panels.map(panelOf)}`,
    legend: [
      "Up: share of verdicts that are certain, whichever they are. What does not vary in a plot:",
      "200 interactions, 70 % of outcomes known, 5 % planted errors.",
    ],
  };
}

interface Panel {
  readonly name: string;
  readonly values: readonly number[];
  readonly curves: readonly {
    readonly of: string;
    readonly shares: readonly { readonly value: number; readonly share: number }[];
  }[];
  /** Distance of the panel from the top of the picture. */
  readonly down: number;
}

/** A panel with its curves, each named at its right end. */
function panelOf({ name, values, curves, down }: Panel): Markup {
  const { left, right } = PANEL;
  const [top, bottom] = [PANEL.top + down, PANEL.bottom + down];
  const x = scaleLinear([values[0]!, values.at(-1)!], [left, right]);
  const y = scaleLinear([0, 1], [bottom, top]);
  let free = -Infinity;
  const drawn = curves.map(({ of, shares }) => {
    const dots = shares.map(({ value, share }) => ({ x: px(x(value)), y: px(y(share)) }));
    const end = dots.at(-1)!;
    free = Math.max(free + NAME_LINE, end.y);
    return markup`<g class="bar">${strokeOf(dots)}${dotsOf(dots)}</g>
<line x1="${right + 6}" x2="${right + 24}" y1="${end.y}" y2="${
      px(free)
    }" stroke="currentColor" stroke-width="0.75"/>
<text x="${right + 28}" y="${px(free)}" dy="0.35em">${of}</text>`;
  });
  return markup`<text x="${left}" y="${top - 12}">by ${name}</text>
<g class="grid" stroke="currentColor">${
    SHARE_TICKS.map((at) => markup`<line x1="${left}" x2="${right}" y1="${px(y(at))}" y2="${px(y(at))}"/>`)
  }</g>
<g text-anchor="end" font-size="11">${
    SHARE_TICKS.map((at) =>
      markup`<text x="${left - 6}" y="${px(y(at))}" dy="0.35em">${shareInWords(at)}</text>`
    )
  }</g>
${drawn}
${axisOf(x, { y: bottom, ticks: values, format: String })}`;
}

function markOf({ at, name }: Level): Mark {
  return { at, label: `${name} ${pointsInWords(at)}` };
}

function points(value: number): string {
  return value.toFixed(1);
}

function some(figures: readonly Figure[]): readonly Figure[] {
  if (figures.length === 0) throw new Error("the validation lacks a figure that is drawn");
  return figures;
}
