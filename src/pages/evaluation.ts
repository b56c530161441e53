/**
 * What `jiss evaluate` found as a page that a model-risk reader can file: one document without script that
 * fetches nothing.
 */
// @ts-types="@types/d3-scale"
import { scaleLinear } from "d3-scale";
import type {
  EvaluatedOperator,
  EvaluationResult,
  LogLosses,
  Prediction,
} from "../scoring/evaluation/evaluation.ts";
import { LONG_HISTORY } from "../scoring/evaluation/coverage.ts";
import type { CalibrationBin } from "../scoring/evaluation/rates.ts";
import { partInWords } from "../scoring/verdict_words.ts";
import { axisOf, bar, figure, px, rowPlot, ROWS, tick } from "./chart.ts";
import { headOf } from "./head.ts";
import { JIS_TICKS, jisGrid, jisScale } from "./jis_plot.ts";
import { type Markup, markup } from "./markup.ts";
import { LINK_STYLE, PAGE_STYLE } from "./style.ts";
import { dataTable, definitionList } from "./tables.ts";
import { countInWords, inPercent, instantInWords, nameInWords, pointsInWords } from "./wording.ts";

export interface EvaluationPage {
  /** The name of the table. */
  readonly file: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly model: { readonly version: string; readonly sha256: string };
  readonly ignoredColumns: readonly string[];
  readonly minimum: number;
  readonly result: EvaluationResult;
}

const STYLE = `${PAGE_STYLE}${LINK_STYLE}`;
/** Most operators in the forest plot; the table has all. */
const PLOTTED_OPERATORS = 60;
const PLOT = { left: 36, right: 400, top: 14, bottom: 214, height: 250 };
/** Area of a calibration dot for all decisions of its kind, square units. */
const DOT_AREA = 900;
const KINDS = {
  departs_when_wrong: "Departs from wrong advice",
  follows_when_right: "Follows right advice",
} as const satisfies Record<keyof Prediction, string>;

const STATUS_IN_WORDS: Readonly<Record<EvaluatedOperator["status"], string>> = {
  compliant: "Compliant",
  conditional: "Conditional",
  non_compliant: "Not compliant",
  undetermined: "Undetermined",
};

/** The whole HTML document. */
export function evaluationPage(page: EvaluationPage): string {
  const { file, createdAt, model, ignoredColumns, result } = page;
  const { decisions, operators, certain_verdicts } = result;
  const title = `Evaluation of ${model.version} on ${file}`;
  return String(markup`${headOf({ title, style: STYLE })}
<body>
<main id="main" tabindex="-1">
<header>
<h1>${title}</h1>
${
    definitionList([
      ["Made", instantInWords(createdAt)],
      ["Table", file],
      ["Model", markup`${model.version}, SHA-256 <code>${model.sha256}</code>`],
      ["Decisions", `${decisions.fit} scored, ${decisions.test} held back and foretold`],
      ["Verdicts", `${certain_verdicts} certain, of ${countInWords(operators.length, "operator")}`],
      ...(ignoredColumns.length === 0 ? [] : [["Columns not read", ignoredColumns.join(", ")] as const]),
    ])
  }
<p class="statement">An undetermined verdict says that these decisions do not settle the question. It is neither a good nor a bad verdict.</p>
</header>
${decisions.test === 0 ? null : foretoldSection(result)}
<section aria-labelledby="operators">
<h2 id="operators">Operators</h2>
${operators.length === 0 ? markup`<p>No row was scored.</p>` : forestFigure(page)}
${operatorsTable(operators)}
</section>
</main>
</body>
</html>
`);
}

function foretoldSection({ log_loss, calibration, coverage }: EvaluationResult): Markup {
  const kinds = Object.keys(KINDS) as (keyof Prediction)[];
  const hasEstimates = kinds.some((kind) => calibration[kind].length > 0);
  return markup`<section aria-labelledby="foretold">
<h2 id="foretold">How well the decisions held back are foretold</h2>
<p>Log loss is the mean surprise of each decision: lower is better. A model that does not beat everybody’s rate tells these people no better apart than one number for all.</p>
${
    dataTable({
      columns: ["Decisions", "Number", "Model", "Everybody’s rate", "Own rate", "Empirical Bayes"],
      rows: kinds.map((kind) => [KINDS[kind], ...lossCells(log_loss[kind])]),
    })
  }
${
    hasEstimates
      ? [coverageTable(coverage), ...kinds.map((kind) => calibrationFigure(kind, calibration[kind]))]
      : markup`<p>The formulas of this model have no estimate of these rates.</p>`
  }
</section>`;
}

function lossCells({ decisions, model, everybody, own_rate, empirical_bayes }: LogLosses) {
  const shown = [model, everybody, own_rate, empirical_bayes].map((loss) => loss?.toFixed(4) ?? "none");
  return [String(decisions), ...shown];
}

/** How often intervals held what came, for counts and for rates. */
function coverageTable(coverage: EvaluationResult["coverage"]): Markup {
  const shown = (share: number | null) => share === null ? "none" : percent(share);
  const rows = (Object.keys(KINDS) as (keyof Prediction)[]).flatMap((kind) => {
    const found = coverage[kind];
    if (found === null) return [];
    const { next_counts: counts, long_run_rates: rates } = found;
    return [
      [
        KINDS[kind],
        counts.people,
        shown(counts.foretold),
        shown(counts.came),
        rates.people,
        shown(rates.came),
      ] as const,
    ];
  });
  return markup`<h3>Coverage of the 90 % intervals</h3>
${
    dataTable({
      columns: [
        "Decisions",
        "People",
        "Counts foretold inside",
        "Counts inside",
        `People with ${LONG_HISTORY} held back`,
        "Rates inside",
      ],
      rows,
      note:
        "Counts: how many of a person’s decisions held back were of this kind. Counts are whole, so that an interval of a few decisions holds more than 90 %; the model says how much more. " +
        `Rates: whether the interval of a person’s rate holds the share of at least ${LONG_HISTORY} decisions held back. That share has chance in it, so that somewhat less than 90 % is to be expected.`,
    })
  }`;
}

/** What was foretold against what came; on the diagonal both are equal. */
function calibrationFigure(kind: keyof Prediction, bins: readonly CalibrationBin[]): Markup {
  const x = scaleLinear([0, 100], [PLOT.left, PLOT.right]);
  const y = jisScale(PLOT);
  const all = bins.reduce((sum, { decisions }) => sum + decisions, 0);
  const dots = bins.map(({ foretold, came, decisions }) =>
    markup`<circle cx="${px(x(foretold * 100))}" cy="${px(y(came * 100))}" r="${
      px(Math.max(2, Math.sqrt(DOT_AREA * decisions / all / Math.PI)))
    }" fill-opacity="0.6"/>`
  );
  return figure({
    id: `calibration-${kind}`,
    caption: `Calibration: ${KINDS[kind].toLowerCase()}, percent`,
    description: bins.length === 0
      ? "No decision of this kind was held back."
      : `${
        bins.map(({ foretold, came, decisions }) =>
          `foretold ${percent(foretold)}, came ${percent(came)}, ${countInWords(decisions, "decision")}`
        ).join("; ")
      }.`,
    height: PLOT.height,
    drawing: markup`${jisGrid(y, PLOT)}
<line x1="${px(x(0))}" y1="${px(y(0))}" x2="${px(x(100))}" y2="${
      px(y(100))
    }" stroke="currentColor" stroke-dasharray="6 4"/>
${axisOf(x, { y: PLOT.bottom, ticks: JIS_TICKS, format: String })}
<g class="bar">${dots}</g>`,
    table: dataTable({
      columns: ["Foretold", "Decisions", "Mean foretold", "Came"],
      rows: bins.map(({ from, to, decisions, foretold, came }) => [
        `${percent(from)} to ${percent(to)}`,
        decisions,
        percent(foretold),
        percent(came),
      ]),
      note: "On the dashed line as many came as were foretold. The area of a dot stands for its decisions.",
    }),
  });
}

/** The intervals of the scores, the lowest scores first. */
function forestFigure({ result: { operators }, minimum }: EvaluationPage): Markup {
  const shown = operators.toSorted((one, other) => one.jis - other.jis).slice(0, PLOTTED_OPERATORS);
  const x = scaleLinear([0, 100], [ROWS.left, ROWS.right]);
  const rows = shown.map(({ operator_id, status, jis, low, high }) => ({
    label: `${operator_id}: ${STATUS_IN_WORDS[status].toLowerCase()}`,
    draw: ({ top, height }: { readonly top: number; readonly height: number }) =>
      markup`${bar({ x, from: low, to: high, top, height, look: "pale" })}${
        tick(x(jis), { className: "point", top, height })
      }`,
  }));
  const undetermined = operators.filter(({ status }) => status === "undetermined").length;
  return figure({
    id: "forest",
    caption: "Scores with their intervals",
    description: `${undetermined} of ${
      countInWords(operators.length, "operator")
    } undetermined; the minimum is ${pointsInWords(minimum)}. The numbers stand in the table.`,
    ...rowPlot({
      rows,
      x,
      marks: [{ at: minimum, label: `minimum ${pointsInWords(minimum)}` }],
      axis: { ticks: JIS_TICKS, format: String },
    }),
    table: markup`<p class="note">${
      shown.length < operators.length
        ? `The ${shown.length} lowest scores. The table has all ${operators.length}.`
        : "All operators, the lowest score first."
    }</p>`,
  });
}

function operatorsTable(operators: readonly EvaluatedOperator[]): Markup {
  const rate = (predicted: Prediction | null, kind: keyof Prediction) => {
    if (predicted === null) return "none";
    const { mean, low, high } = predicted[kind];
    return `${percent(mean)} (${percent(low)} to ${percent(high)})`;
  };
  return dataTable({
    columns: [
      "Operator",
      "JIS",
      "Interval",
      "Status",
      "Rests on",
      "Band",
      "Decisions",
      ...Object.values(KINDS),
    ],
    rows: operators.map(({ operator_id, jis, low, high, status, part, band, n, predicted }) => [
      operator_id,
      pointsInWords(jis),
      `${pointsInWords(low)} to ${pointsInWords(high)}`,
      STATUS_IN_WORDS[status],
      part === null ? "none" : partInWords(part),
      nameInWords(band),
      n,
      rate(predicted, "departs_when_wrong"),
      rate(predicted, "follows_when_right"),
    ]),
    note: "The intervals of both rates hold a person’s rate with 90 %, by the model’s own estimate.",
  });
}

function percent(share: number): string {
  return inPercent(String(Math.round(share * 100)));
}
