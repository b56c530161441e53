/** The score of a run from the service, each case with its right decision, and the link to share. */
import { useRef, useState } from "preact/hooks";
import { coursePlot } from "../../pages/assessment_plots.ts";
import { runRemarks, runVerdictInWords } from "../../pages/run_remarks.ts";
import { dimensionsFigure } from "../../pages/jis_plot.ts";
import { movedContent } from "../../pages/explanation.ts";
import { nameInWords, scoreInWords, shareInWords } from "../../pages/wording.ts";
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
  /** Goes on with the cases that are left; null if none is. */
  readonly onGoOn: (() => void) | null;
  readonly onRestart: () => void;
}

export function ResultView({ run, judgments, keptDays, onGoOn, onRestart }: ResultProperties) {
  const { summary, results, thresholds } = run;
  const count = judgments.length;
  const judged = CASES.slice(0, count);
  return (
    <Stage title={`Your result after ${count} cases`}>
      {summary.verdict !== undefined && <RunVerdict verdict={summary.verdict} cases={count} />}
      <div class="score">
        <p class="figure">
          <strong data-jis>{scoreInWords(summary.jis)}</strong>
          <span>of 100</span>
        </p>
        <div>
          <p>
            <span class={`band ${summary.band}`}>{nameInWords(summary.band)}</span>
          </p>
          <p>{relianceOf(judgments)}</p>
        </div>
      </div>
      <Limits cases={judged} isUndetermined={summary.verdict?.status === "undetermined"} />
      {onGoOn !== null && <GoOn count={count} hasVerdict={summary.verdict !== undefined} onGoOn={onGoOn} />}
      <Share url={run.shareUrl} keptDays={keptDays} />
      <h2>The score, case by case</h2>
      <Drawing
        of={coursePlot({
          results,
          isNarrow: true,
          thresholds: { minJis: thresholds.min_jis, targetJis: thresholds.target_jis },
        })}
      />
      <h2>What it is made of</h2>
      <Drawing
        of={dimensionsFigure(summary.dimensions, {
          caption: "The dimensions after the last case",
          isNarrow: true,
          remarks: runRemarks(run.records, summary.prior_dimensions ?? []),
        })}
      />
      <h2>The cases</h2>
      <p>In the sentences on what moved the score, “the operator” is you.</p>
      <ol class="judged">
        {judged.map((demoCase, index) => (
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
        {onGoOn !== null && <GoOnButton count={count} onGoOn={onGoOn} />}
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

/** Says what so few cases can tell and what they cannot, with the odds of chance, which everybody can work out. */
function Limits(
  { cases, isUndetermined }: { readonly cases: readonly DemoCase[]; readonly isUndetermined: boolean },
) {
  const advices = cases.flatMap(({ advice }) => advice === null ? [] : [advice]);
  const right = advices.filter(({ isRight }) => isRight);
  return (
    <section aria-labelledby="limits">
      <h2 id="limits">What {cases.length} cases can tell, and what they cannot</h2>
      <ul>
        <li>
          <strong>They can tell</strong>{" "}
          what you did with them: whether you noticed the advice that was wrong, and kept the advice that was
          right. Each case stands below, with what was right.
        </li>
        <li>
          <strong>They cannot tell</strong>{" "}
          how well you judge. Chance goes far in so few. Somebody who accepts everything unread is right about
          {" "}
          {right.length} of {advices.length}{" "}
          pieces of advice. Somebody who tosses a coin for each, with the advice or against it, is right about
          all of them in 1 of {(2 ** advices.length).toLocaleString("en")} runs.
        </li>
        {isUndetermined && (
          <li>
            <strong>Undetermined is an answer.</strong>{" "}
            It says that nobody can tell yet. It does not say that you did badly, or well.
          </li>
        )}
        <li>
          The score starts from what is usual and moves with each case. Here it shows how the measure works,
          and is evidence of nothing.
        </li>
      </ul>
    </section>
  );
}

interface GoOnProperties {
  /** How many cases are judged. */
  readonly count: number;
  readonly onGoOn: () => void;
}

function GoOn({ count, hasVerdict, onGoOn }: GoOnProperties & { readonly hasVerdict: boolean }) {
  const left = CASES.length - count;
  return (
    <section aria-labelledby="go-on">
      <h2 id="go-on">Go on, if you like</h2>
      <p>
        There are {left} more cases. Your {count} decisions count as the first ones of{" "}
        {CASES.length}, which are scored together and get an address of their own. {CASES.length}{" "}
        cases tell more than{" "}
        {count}, and are still few{hasVerdict && ": even they seldom bring a verdict"}. How often the advice
        was wrong so far says nothing about the other {left}. You can go on as long as this page stays open.
      </p>
      <div class="actions">
        <GoOnButton count={count} onGoOn={onGoOn} />
      </div>
    </section>
  );
}

function GoOnButton({ count, onGoOn }: GoOnProperties) {
  return <button type="button" class="main" onClick={onGoOn}>Go on with case {count + 1}</button>;
}

function relianceOf(judgments: readonly Judgment[]): string {
  const advised = judgments.flatMap(({ choice }, index) => {
    const { advice } = CASES[index]!;
    return advice === null ? [] : [{ isRight: advice.isRight, accepted: choice.decision === "accepted" }];
  });
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
          JIS {before === null ? "" : `from ${scoreInWords(before)} to `}
          <strong>{scoreInWords(result.jis)}</strong>, {nameInWords(result.band).toLowerCase()}: what moved it
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
    scroll_depth === null ? "scrolling not measured" : `${shareInWords(scroll_depth)} scrolled`,
    alternative_views_checked === null
      ? "folded material not measured"
      : `${formatQuantity(String(alternative_views_checked), "piece")} of folded material opened`,
  ];
  return `Measured: ${measured.join(", ")}.`;
}
