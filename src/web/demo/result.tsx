/** The score of a run from the service, each case with its right decision, and the link to share. */
import { useRef, useState } from "preact/hooks";
import { coursePlot } from "../../pages/assessment_plots.ts";
import { runRemarks, runVerdictInWords } from "../../pages/run_remarks.ts";
import { dimensionsFigure } from "../../pages/jis_plot.ts";
import { movedContent } from "../../pages/explanation.ts";
import { nameInWords, percentInWords, pointsInWords } from "../../pages/wording.ts";
import type { Verdict } from "../../scoring/verdict.ts";
import { VERDICT_WORDS } from "../../scoring/verdict_words.ts";
import { formatFigure, formatQuantity } from "../../scoring/wording.ts";
import { Drawing } from "../shared/drawing.tsx";
import { CASES, type DemoCase } from "./cases.ts";
import type { Assessment, Judgment } from "./run.ts";
import { Stage } from "../shared/stage.tsx";

interface ResultProperties {
  readonly run: Assessment;
  readonly judgments: readonly Judgment[];
  readonly keptDays: number;
  readonly onRestart: () => void;
}

export function ResultView({ run, judgments, keptDays, onRestart }: ResultProperties) {
  const { summary, results, thresholds } = run;
  return (
    <Stage title="Your result">
      {summary.verdict !== undefined && <RunVerdict verdict={summary.verdict} cases={run.records.length} />}
      <div class="score">
        <p class="figure">
          <strong data-jis>{pointsInWords(summary.jis)}</strong>
          <span>of 100</span>
        </p>
        <div>
          <p>
            <span class={`band ${summary.band}`}>{nameInWords(summary.band)}</span>
          </p>
          <p>{relianceOf(judgments)}</p>
        </div>
      </div>
      <p class="statement">
        Of so few cases a score says little: it starts from what is usual and moves with each case. It shows
        how the measure works, and is evidence of nothing.
      </p>
      <Share url={run.shareUrl} keptDays={keptDays} />
      <h2>The score, case by case</h2>
      <Drawing
        of={coursePlot({
          results,
          thresholds: { minJis: thresholds.min_jis, targetJis: thresholds.target_jis },
        })}
      />
      <h2>What it is made of</h2>
      <Drawing
        of={dimensionsFigure(summary.dimensions, {
          caption: "The dimensions after the last case",
          remarks: runRemarks(run.records, summary.prior_dimensions ?? []),
        })}
      />
      <h2>The cases</h2>
      <p>In the sentences on what moved the score, “the operator” is you.</p>
      <ol class="judged">
        {CASES.map((demoCase, index) => (
          <JudgedCase
            key={demoCase.id}
            demoCase={demoCase}
            index={index}
            judgment={judgments[index]!}
            record={run.records[index]!}
            result={results[index]!}
            before={index === 0 ? run.initial_jis : results[index - 1]!.jis}
          />
        ))}
      </ol>
      <div class="actions">
        <button type="button" onClick={onRestart}>Judge the cases again</button>
      </div>
    </Stage>
  );
}

const TONES: Readonly<Record<Verdict["status"], string>> = {
  compliant: "good",
  undetermined: "fair",
  non_compliant: "bad",
};

function RunVerdict({ verdict, cases }: { readonly verdict: Verdict; readonly cases: number }) {
  return (
    <div class={`notice ${TONES[verdict.status]}`} data-verdict>
      <h2>
        Verdict: <span class={`status ${TONES[verdict.status]}`}>{VERDICT_WORDS[verdict.status]}</span>
      </h2>
      <p>{runVerdictInWords(verdict, cases)}</p>
    </div>
  );
}

function relianceOf(judgments: readonly Judgment[]): string {
  const advised = CASES.flatMap(({ advice }, index) =>
    advice === null
      ? []
      : [{ isRight: advice.isRight, accepted: judgments[index]!.choice.decision === "accepted" }]
  );
  const wrong = advised.filter(({ isRight }) => !isRight);
  const right = advised.filter(({ isRight }) => isRight);
  const of = (cases: typeof advised) => cases.filter(({ accepted }) => accepted).length;
  return `The advice was wrong in ${wrong.length} cases, of which you accepted it in ${
    of(wrong)
  }; it was right in ${right.length}, of which you accepted it in ${of(right)}.`;
}

function Share({ url, keptDays }: { readonly url: string; readonly keptDays: number }) {
  const field = useRef<HTMLInputElement>(null);
  const [told, setTold] = useState("");
  const copy = async () => {
    const copied = await copyText(url, field.current!);
    setTold(
      copied
        ? "Copied."
        : "This browser does not let the page copy: the address is selected, copy it yourself.",
    );
  };
  return (
    <section class="share" aria-labelledby="share">
      <h2 id="share">To share</h2>
      <p>
        Anybody who has this address can look at the run for {formatQuantity(String(keptDays), "day")}
        ; then it is deleted. It shows your decisions, times and scores, and nothing about who you are.
      </p>
      <div class="field">
        <label for="share-address">Address of this run</label>
        <input
          id="share-address"
          ref={field}
          type="text"
          readOnly
          value={url}
          onFocus={() => field.current!.select()}
        />
      </div>
      <div class="actions">
        <button type="button" class="main" onClick={copy}>Copy the address</button>
        <a class="button" href={url} target="_blank" rel="noopener">Open the page to share (new tab)</a>
        <span role="status">{told}</span>
      </div>
    </section>
  );
}

/** Copies a text. Plain HTTP has no clipboard to write to; there the selected text is copied as by hand. */
async function copyText(text: string, field: HTMLInputElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    field.focus();
    field.select();
    return document.execCommand("copy");
  }
}

interface JudgedProperties {
  readonly demoCase: DemoCase;
  /** Number of the case, from 0. */
  readonly index: number;
  readonly judgment: Judgment;
  readonly record: Assessment["records"][number];
  readonly result: Assessment["results"][number];
  /** JIS before this case; null if it is not known, which only the first case can have. */
  readonly before: number | null;
}

function JudgedCase({ demoCase, index, judgment, record, result, before }: JudgedProperties) {
  const { choice } = judgment;
  return (
    <li class="judgment">
      <h3>Case {index + 1}: {demoCase.title}</h3>
      <p class="verdicts">
        <span class={`status ${toneOf(record.outcome_correct)}`}>
          {outcomeInWords(record)}
        </span>
        <span>
          {demoCase.advice === null
            ? "The advice was withheld."
            : `The advice was ${demoCase.advice.isRight ? "right" : "wrong"}: “${demoCase.advice.text}”`}
        </span>
      </p>
      <p>
        You {demoCase.advice === null && record.decision === "accepted" ? "decided:" : VERBS[record.decision]}
        {" "}
        “{choice.label}”. {demoCase.truth}
      </p>
      <p class="note">{measuredInWords(record)}</p>
      <details>
        <summary>
          JIS {before === null ? "" : `from ${pointsInWords(before)} to `}
          <strong>{pointsInWords(result.jis)}</strong>,{" "}
          {nameInWords(result.band).toLowerCase()}: what moved it
        </summary>
        <Drawing of={movedContent(result.explanation)} />
      </details>
    </li>
  );
}

const VERBS: Readonly<Record<Assessment["records"][number]["decision"], string>> = {
  accepted: "accepted:",
  modified: "changed it:",
  rejected: "rejected it:",
  overridden: "decided:",
  deferred: "put it off:",
  escalated: "passed it on:",
};

/**
 * The outcome in words. Deferring or escalating decides nothing; it can only be right not to settle as
 * advised.
 */
function outcomeInWords({ decision, outcome_correct }: Assessment["records"][number]): string {
  if (outcome_correct === null) return "Not known";
  if (decision === "deferred" || decision === "escalated") {
    return outcome_correct ? "Rightly not settled as advised" : "Needed no second look";
  }
  return outcome_correct ? "You were right" : "You were wrong";
}

function toneOf(correct: boolean | null): string {
  return correct === null ? "none" : correct ? "good" : "bad";
}

/** The measurements of the record as it was scored, in words. */
function measuredInWords(record: Assessment["records"][number]): string {
  const { time_to_decision_ms, hover_events, scroll_depth, alternative_views_checked } = record;
  const measured = [
    formatQuantity(formatFigure(time_to_decision_ms / 1000, 3), "second"),
    hover_events === null
      ? "parts not measured"
      : `${formatQuantity(String(hover_events), "part")} looked at`,
    scroll_depth === null ? "scrolling not measured" : `${percentInWords(scroll_depth)} scrolled`,
    alternative_views_checked === null
      ? "folded material not measured"
      : `${formatQuantity(String(alternative_views_checked), "piece")} of folded material opened`,
  ];
  return `Measured: ${measured.join(", ")}.`;
}
