/**
 * One case: its evidence, the AI's advice, and the decision. It is measured from its appearance to the
 * decision.
 */
import type { Decision } from "../../domain/enums.ts";
import { inPercent, shareInWords } from "../../pages/wording.ts";
import { ChoiceForm, Fact, FoldedView, useMeasurement } from "../shared/case_parts.tsx";
import type { Advice, Choice, DemoCase } from "./cases.ts";
import type { Measure } from "../shared/measuring.ts";
import type { Judgment } from "./run.ts";
import { Stage } from "../shared/stage.tsx";

interface CaseProperties {
  readonly demoCase: DemoCase;
  /** Number of the case, from 0. */
  readonly index: number;
  readonly count: number;
  readonly measure: Measure;
  readonly onJudged: (judgment: Judgment) => void;
}

export function CaseView({ demoCase, index, count, measure, onJudged }: CaseProperties) {
  const { evidence, stop } = useMeasurement(measure);
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
            onChosen={(choice) => onJudged({ choice, measured: stop() })}
          />
        </div>
      </div>
    </Stage>
  );
}

function AdviceBox({ text, reason, confidence }: Advice) {
  return (
    <section class="advice" aria-labelledby="advice">
      <h2 id="advice">The AI's advice</h2>
      <p class="said">{text}</p>
      <p>{reason}</p>
      <p class="note">It says it is {inPercent(String(confidence))} sure.</p>
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
  return (
    <ChoiceForm
      legend="Your decision"
      choices={demoCase.choices.map((choice) => (
        <>
          {nameOf(demoCase, choice) !== null && <b>{nameOf(demoCase, choice)}:</b>} {choice.label}
          {choice.extent !== undefined && (
            <span class="extent">changes {shareInWords(choice.extent)} of the advice</span>
          )}
        </>
      ))}
      missing="Choose one of the decisions first."
      submit="Decide"
      onChosen={(index) => onChosen(demoCase.choices[index]!)}
    />
  );
}

/**
 * The name of a decision; null for the visitor's own decision without advice, as there is nothing to accept.
 */
function nameOf({ advice }: DemoCase, { decision }: Choice): string | null {
  return advice === null && decision === "accepted" ? null : DECISION_WORDS[decision];
}
