/**
 * A run of the public demo as a page: the same figures as its JSON, drawn. One document, no script, nothing fetched.
 * Source: contract, section 5, Demo.
 */
// @ts-types="@types/d3-scale"
import { scaleLinear } from "d3-scale";
// @ts-types="@types/d3-shape"
import { line } from "d3-shape";
import type { Interaction } from "../domain/interaction.ts";
import { bar, figure, px, type Row, rowPlot, ROWS } from "./chart.ts";
import { headOf } from "./head.ts";
import { type Markup, markup } from "./markup.ts";
import { policyFor } from "./policy.ts";
import { PAGE_STYLE } from "./style.ts";
import { dataTable, definitionList } from "./tables.ts";
import { countInWords, instantInWords, nameInWords, pointsInWords, shareInWords } from "./wording.ts";

interface Standing {
  /** 0 to 100. */
  readonly jis: number;
  readonly band: string;
}

export interface AssessmentPage {
  readonly sessionId: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly records: readonly Interaction[];
  /** After the last record. */
  readonly summary: Standing & { readonly dimensions: Readonly<Record<string, number>> };
  /** After each record. */
  readonly results: readonly Standing[];
  readonly shareUrl: string;
  readonly thresholds: { readonly minJis: number; readonly targetJis: number };
  readonly retentionDays: number;
}

/** The policy to serve {@link assessmentPage} with. */
export const ASSESSMENT_PAGE_CSP: string = policyFor(PAGE_STYLE);

const NOT_INDEXED = markup`<meta name="robots" content="noindex">
`;

/** The whole HTML document. */
export function assessmentPage(page: AssessmentPage): string {
  const { sessionId, createdAt, records, summary, shareUrl, retentionDays } = page;
  const document = markup`${
    headOf({
      title: `Demo run: JIS ${pointsInWords(summary.jis)}, ${nameInWords(summary.band)}`,
      style: PAGE_STYLE,
      more: NOT_INDEXED,
    })
  }
<body>
<main>
<header>
<h1>A run of the demo: ${countInWords(records.length, "case")}</h1>
<div class="verdict"><p>Judgment Independence Score: <strong class="status">${pointsInWords(summary.jis)}, ${
    nameInWords(summary.band)
  }</strong></p></div>
<p class="statement">Of so few cases a score says little: it starts from what is usual and moves with each case. It shows how the measure works, and is evidence of nothing.</p>
${
    definitionList([
      ["Run", markup`<code>${sessionId}</code>`],
      ["Submitted", instantInWords(createdAt)],
      ["To share", markup`<code>${shareUrl}</code>`],
      [
        "Kept",
        `${
          countInWords(retentionDays, "day")
        }, for whoever knows this address; it belongs to nobody's record`,
      ],
    ])
  }
</header>
<section aria-labelledby="plots">
<h2 id="plots">The score, case by case</h2>
${courseOf(page)}
</section>
<section aria-labelledby="dimensions-head">
<h2 id="dimensions-head">What it is made of</h2>
${dimensionsOf(summary)}
</section>
<section aria-labelledby="cases">
<h2 id="cases">The cases</h2>
<div class="scroll" role="region" aria-labelledby="cases" tabindex="0">
${casesOf(page)}
</div>
</section>
</main>
</body>
</html>
`;
  return document.toString();
}

const PLOT = { left: 36, right: 400, top: 14, bottom: 214, height: 250 };
const JIS_TICKS = [0, 20, 40, 60, 80, 100];
/** Beyond this many, dots of the usual size would run into each other. */
const LARGE_DOTS_MAX = 45;

function courseOf({ results, thresholds: { minJis, targetJis } }: AssessmentPage): Markup {
  const { left, right, top, bottom, height } = PLOT;
  const x = scaleLinear([1, Math.max(2, results.length)], [left + 8, right - 8]);
  const y = scaleLinear([0, 100], [bottom, top]);
  const places = results.map(({ jis }, index) => ({ x: px(x(index + 1)), y: px(y(jis)) }));
  const path = line<(typeof places)[number]>((place) => place.x, (place) => place.y)(places);
  const radius = results.length > LARGE_DOTS_MAX ? 1.5 : 3;
  const marks = [{ at: minJis, name: "minimum" }, { at: targetJis, name: "target" }];
  const [first, last] = [results[0]!, results.at(-1)!];
  return figure({
    id: "course",
    caption: "JIS after each case",
    description: `After the first case ${pointsInWords(first.jis)}, after the last ${
      pointsInWords(last.jis)
    }; lowest ${pointsInWords(Math.min(...results.map(({ jis }) => jis)))}, highest ${
      pointsInWords(Math.max(...results.map(({ jis }) => jis)))
    }. Dashed lines: ${marks.map(({ at, name }) => `${name} ${pointsInWords(at)}`).join(", ")}.`,
    height,
    drawing: markup`<g class="grid" stroke="currentColor">${
      JIS_TICKS.map((tick) =>
        markup`<line x1="${left}" x2="${right}" y1="${px(y(tick))}" y2="${px(y(tick))}"/>`
      )
    }</g>
<g text-anchor="end">${
      JIS_TICKS.map((tick) => markup`<text x="${left - 6}" y="${px(y(tick))}" dy="0.35em">${tick}</text>`)
    }</g>
<text x="${(left + right) / 2}" y="${bottom + 24}" text-anchor="middle">case 1 to ${results.length}</text>
${
      marks.map(({ at, name }) =>
        markup`<g class="mark"><line x1="${left}" x2="${right}" y1="${px(y(at))}" y2="${
          px(y(at))
        }" stroke="currentColor" stroke-width="1.5" stroke-dasharray="6 4"/><text x="${right + 6}" y="${
          px(y(at))
        }" dy="0.35em">${name} ${pointsInWords(at)}</text></g>`
      )
    }
<g class="bar">${
      places.length < 2
        ? null
        : markup`<path d="${path}" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round"/>`
    }${places.map((place) => markup`<circle cx="${place.x}" cy="${place.y}" r="${radius}"/>`)}</g>`,
    table: dataTable({
      columns: ["After", "JIS", "Band"],
      rows: results.length > SAMPLED_ROWS
        ? [first, last].map(({ jis, band }, index) => [
          index === 0 ? "the first" : "the last",
          pointsInWords(jis),
          nameInWords(band),
        ])
        : results.map(({ jis, band }, index) => [`case ${index + 1}`, pointsInWords(jis), nameInWords(band)]),
      ...(results.length > SAMPLED_ROWS ? { note: "Every case stands in the table of cases." } : {}),
    }),
  });
}

/** A longer table beside a picture is told by its ends. */
const SAMPLED_ROWS = 12;

function dimensionsOf({ dimensions }: AssessmentPage["summary"]): Markup {
  const measured = Object.entries(dimensions).map(([name, value]) => ({ name: nameInWords(name), value }));
  const x = scaleLinear([0, 100], [ROWS.left, ROWS.right]);
  const rows = measured.map(({ name, value }): Row => ({
    label: `${name}: ${pointsInWords(value)}`,
    draw: ({ top, height }) => bar({ x, from: 0, to: value, top, height }),
  }));
  return figure({
    id: "dimensions",
    caption: "The dimensions after the last case",
    description: `${measured.map(({ name, value }) => `${name} ${pointsInWords(value)}`).join(", ")}.`,
    ...rowPlot({ rows, x, marks: [], axis: { ticks: JIS_TICKS, format: pointsInWords } }),
    table: dataTable({
      columns: ["Dimension", "Points"],
      rows: measured.map(({ name, value }) => [name, pointsInWords(value)]),
    }),
  });
}

function casesOf({ records, results }: AssessmentPage): Markup {
  return dataTable({
    columns: [
      "Case",
      "Seconds",
      "Decision",
      "Changed",
      "Outcome",
      "Hovers",
      "Scrolled",
      "Views",
      "JIS after",
    ],
    rows: records.map((record, index) => [
      String(index + 1),
      String(record.time_to_decision_ms / 1_000),
      nameInWords(record.decision),
      shareInWords(record.modification_extent),
      record.outcome_correct === null ? "not known" : record.outcome_correct ? "right" : "wrong",
      record.hover_events ?? "not measured",
      record.scroll_depth === null ? "not measured" : shareInWords(record.scroll_depth),
      record.alternative_views_checked ?? "not measured",
      pointsInWords(results[index]!.jis),
    ]),
  });
}
