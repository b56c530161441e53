/**
 * A run of the public demo as a page: the same figures as its JSON, drawn. It is one document without script
 * that fetches nothing. Source: contract, section 5, Demo.
 */
import type { Interaction } from "../domain/interaction.ts";
import { isPresented, isReferral } from "../scoring/classify.ts";
import type { Verdict } from "../scoring/verdict.ts";
import { VERDICT_WORDS } from "../scoring/verdict_words.ts";
import { coursePlot, type ScoreAndBand } from "./assessment_plots.ts";
import { textMarkup } from "./document_markup.ts";
import { dimensionsFigure } from "./jis_plot.ts";
import { type DimensionMoved, movedContent } from "./explanation.ts";
import { headOf } from "./head.ts";
import { runRemarks, runVerdictInWords } from "./run_remarks.ts";
import { siteHeader } from "./shell.ts";
import { type Markup, markup } from "./markup.ts";
import { policyFor } from "./policy.ts";
import { LINK_STYLE, PAGE_STYLE, SITE_STYLE } from "./style.ts";
import { dataTable, definitionList } from "./tables.ts";
import { countInWords, instantInWords, nameInWords, scoreInWords, sharesInWords } from "./wording.ts";

export interface AssessmentPage {
  readonly sessionId: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly records: readonly Interaction[];
  /** The findings after the last record. */
  readonly summary: ScoreAndBand & {
    readonly dimensions: Readonly<Record<string, number>>;
    /** Absent if the formulas of the run's model have none. */
    readonly verdict?: Verdict;
    readonly prior_dimensions?: readonly string[];
  };
  /** JIS from which the run starts; null if it can no longer be told. */
  readonly initialJis: number | null;
  /** The score and band after each record; `explanation` is null if it can no longer be given. */
  readonly results: readonly (ScoreAndBand & { readonly explanation: readonly DimensionMoved[] | null })[];
  readonly shareUrl: string;
  readonly thresholds: { readonly minJis: number; readonly targetJis: number };
  readonly retentionDays: number;
}

const STYLE = `${PAGE_STYLE}${LINK_STYLE}${SITE_STYLE}
details{border-bottom:1px solid var(--grid);padding:.5rem 0}
summary{cursor:pointer}
details>*:not(summary){margin-left:1.1rem}
details ul{padding-left:1.2rem}
.moves{max-width:30rem}
.moves table{margin:.5rem 0}
@media (max-width:48rem){main{padding:1.25rem .9rem 3rem}details>*:not(summary){margin-left:0}}
`;

/** The policy to serve {@link assessmentPage} with. */
export const ASSESSMENT_PAGE_CSP: string = policyFor(STYLE);

/** Times are whole milliseconds. */
const MILLISECOND_DIGITS = 3;

const NOT_INDEXED = markup`<meta name="robots" content="noindex">
`;

/** The whole HTML document. */
export function assessmentPage(page: AssessmentPage): string {
  const { sessionId, createdAt, records, summary, shareUrl, retentionDays } = page;
  const { verdict } = summary;
  const score = `JIS ${scoreInWords(summary.jis)}, ${nameInWords(summary.band)}`;
  const document = markup`${
    headOf({
      title: `Demo run: ${verdict === undefined ? "" : `${VERDICT_WORDS[verdict.status]}, `}${score}`,
      style: STYLE,
      more: NOT_INDEXED,
    })
  }
<body>
${siteHeader(null)}
<main id="main" tabindex="-1">
<header>
<h1>A run of the demo: ${countInWords(records.length, "case")}</h1>
${
    verdict === undefined
      ? null
      : verdictOf(verdict, records.length)
  }<div class="verdict"><p>Judgment Independence Score: <strong class="status">${
    scoreInWords(summary.jis)
  }, ${nameInWords(summary.band)}</strong></p></div>
<p class="statement">Of so few cases a score says little: it starts from what is usual and moves with each case. It shows how the measure works, and is evidence of nothing.</p>
<p><a href="/demo">Judge four short cases yourself</a></p>
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
${coursePlot(page)}
</section>
<section aria-labelledby="dimensions-head">
<h2 id="dimensions-head">What it is made of</h2>
${
    dimensionsFigure(summary.dimensions, {
      caption: "The dimensions after the last case",
      remarks: runRemarks(records, summary.prior_dimensions ?? []),
    })
  }
</section>
<section aria-labelledby="cases">
<h2 id="cases">The cases</h2>
<div class="scroll" role="region" aria-label="Table of the cases" tabindex="0">
${casesOf(page)}
</div>
</section>
<section aria-labelledby="moved">
<h2 id="moved">What moved it</h2>
${movementsOf(page)}
</section>
</main>
</body>
</html>
`;
  return document.toString();
}

function verdictOf(verdict: Verdict, cases: number): Markup {
  return markup`<div class="verdict"><p>Verdict: ${textMarkup({ judged: verdict.status })}</p></div>
<p>${runVerdictInWords(verdict, cases)}</p>
`;
}

function casesOf({ records, results }: AssessmentPage): Markup {
  const changed = sharesInWords(records.map(({ modification_extent }) => modification_extent));
  const scrolled = sharesInWords(records.map(({ scroll_depth }) => scroll_depth ?? 0));
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
      (record.time_to_decision_ms / 1_000).toFixed(MILLISECOND_DIGITS),
      decisionInWords(record),
      changed[index]!,
      record.outcome_correct === null ? "not known" : record.outcome_correct ? "right" : "wrong",
      record.hover_events ?? "not measured",
      record.scroll_depth === null ? "not measured" : scrolled[index]!,
      record.alternative_views_checked ?? "not measured",
      scoreInWords(results[index]!.jis),
    ]),
  });
}

/**
 * The decision in words. Without advice on the screen nothing was accepted or overridden, whatever was sent.
 */
function decisionInWords(record: Interaction): string {
  if (isPresented(record)) return nameInWords(record.decision);
  return isReferral(record) ? `${nameInWords(record.decision)}, without advice` : "Decided without advice";
}

function movementsOf({ initialJis, results }: AssessmentPage): Markup {
  const before = [initialJis, ...results.map(({ jis }) => jis)];
  return markup`<p>By the model's own rules, for each case: the dimensions that moved by a point or more, and why. “The operator” is whoever judged the cases: you, if it was you.</p>
${
    results.map(({ jis, explanation }, index) =>
      markup`<details>
<summary>Case ${index + 1}: JIS ${
        before[index] === null
          ? scoreInWords(jis)
          : `from ${scoreInWords(before[index]!)} to ${scoreInWords(jis)}`
      }</summary>
${movedContent(explanation)}
</details>
`
    )
  }`;
}
