/**
 * One case: its evidence, the AI's advice, and the decision. It is measured from its appearance to the
 * decision.
 */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Decision } from "../../domain/enums.ts";
import { percentInWords } from "../../pages/wording.ts";
import type { JissMeasurement } from "../collector/main.ts";
import type { Advice, Choice, DemoCase, Material, View } from "./cases.ts";
import type { Measure } from "./measuring.ts";
import type { Judgment } from "./run.ts";
import { Stage } from "./stage.tsx";

interface CaseProperties {
  readonly demoCase: DemoCase;
  /** Number of the case, from 0. */
  readonly index: number;
  readonly count: number;
  readonly measure: Measure;
  readonly onJudged: (judgment: Judgment) => void;
}

export function CaseView({ demoCase, index, count, measure, onJudged }: CaseProperties) {
  const evidence = useRef<HTMLDivElement>(null);
  const stop = useRef<(() => JissMeasurement) | null>(null);
  useLayoutEffect(() => {
    const end = measure(evidence.current!);
    stop.current = end;
    return end;
  }, []);
  return (
    <Stage title={`Case ${index + 1} of ${count}: ${demoCase.title}`}>
      <progress class="judged-so-far" max={count} value={index} aria-label="Cases judged" />
      <p class="lead">{demoCase.task}</p>
      {
        /* Decision: in a narrow window the decision stands below the evidence, so a visitor who decides has
           scrolled all of it: `scroll_depth` is 1 there, or null, and time and visits tell haste from care.
           Above the evidence the decision would invite visitors to decide before they read the case. */
      }
      <div class="case">
        <div class="evidence" ref={evidence}>
          <h2>The case</h2>
          {demoCase.facts.map((fact) => <Fact key={fact.title} {...fact} />)}
          <h2>More to look at</h2>
          {demoCase.views.map((view) => <FoldedView key={view.name} {...view} />)}
        </div>
        <div class="deciding">
          {demoCase.advice === null ? <Withheld /> : <AdviceBox {...demoCase.advice} />}
          <DecisionForm
            demoCase={demoCase}
            onChosen={(choice) => onJudged({ choice, measured: stop.current!() })}
          />
        </div>
      </div>
    </Stage>
  );
}

/** A part of the case that takes the focus, so that reading by keyboard is measured like reading by mouse. */
function Fact({ title, ...material }: Material) {
  return (
    <section class="fact" data-jiss-part tabIndex={0} role="group" aria-label={title}>
      <h3>{title}</h3>
      <Content {...material} />
    </section>
  );
}

function FoldedView({ name, title, ...material }: View) {
  return (
    <details class="fact" data-jiss-part data-jiss-view={name}>
      <summary>{title}</summary>
      <Content {...material} />
    </details>
  );
}

function Content({ rows, text }: Pick<Material, "rows" | "text">) {
  return (
    <>
      {rows !== undefined && (
        <dl>
          {rows.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {text?.map((paragraph) => <p key={paragraph}>{paragraph}</p>)}
    </>
  );
}

function AdviceBox({ text, reason, confidence }: Advice) {
  return (
    <section class="advice" aria-labelledby="advice">
      <h2 id="advice">The AI's advice</h2>
      <p class="said">{text}</p>
      <p>{reason}</p>
      <p class="note">It says it is {confidence} % sure.</p>
    </section>
  );
}

function Withheld() {
  return (
    <section class="advice withheld" aria-labelledby="advice">
      <h2 id="advice">No advice this time</h2>
      <p>The AI has looked at this case, and its advice is withheld: the decision is yours alone.</p>
    </section>
  );
}

const DECISION_WORDS: Readonly<Record<Decision, string>> = {
  accepted: "Accept",
  modified: "Change",
  rejected: "Reject",
  overridden: "Decide otherwise",
  deferred: "Put off",
  escalated: "Pass on",
};

function DecisionForm(
  { demoCase, onChosen }: { readonly demoCase: DemoCase; readonly onChosen: (choice: Choice) => void },
) {
  const [chosen, setChosen] = useState<number | null>(null);
  const [isMissing, setMissing] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    if (chosen !== null) return onChosen(demoCase.choices[chosen]!);
    setMissing(true);
    form.current!.querySelector("input")!.focus();
  };
  return (
    <form ref={form} onSubmit={submit}>
      <fieldset class="choices">
        <legend>Your decision</legend>
        {demoCase.choices.map((choice, index) => (
          <label key={choice.label} class="choice">
            <input
              type="radio"
              name="choice"
              value={index}
              checked={chosen === index}
              aria-describedby={isMissing ? "missing" : undefined}
              onChange={() => {
                setChosen(index);
                setMissing(false);
              }}
            />
            <span>
              {nameOf(demoCase, choice) !== null && <b>{nameOf(demoCase, choice)}:</b>} {choice.label}
              {choice.extent !== undefined && (
                <span class="extent">changes {percentInWords(choice.extent)} of the advice</span>
              )}
            </span>
          </label>
        ))}
      </fieldset>
      <div role="alert">
        {isMissing && <p id="missing" class="wrong">Choose one of the decisions first.</p>}
      </div>
      <button type="submit" class="main">Decide</button>
    </form>
  );
}

/**
 * The name of a decision; null for the visitor's own decision without advice, as there is nothing to accept.
 */
function nameOf({ advice }: DemoCase, { decision }: Choice): string | null {
  return advice === null && decision === "accepted" ? null : DECISION_WORDS[decision];
}
