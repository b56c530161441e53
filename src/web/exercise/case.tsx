/** One case of an exercise: its evidence, the advice as the exercise shows it, and the decision. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ExerciseDecision, ExercisePage } from "../../exercises/answers.ts";
import { ChoiceForm, Fact, FoldedView, useMeasurement } from "../shared/case_parts.tsx";
import type { Measure } from "../shared/measuring.ts";
import { Stage } from "../shared/stage.tsx";
import type { Texts } from "./texts.ts";

type Advice = NonNullable<NonNullable<ExercisePage["next"]>["advice"]>;

interface CaseProperties {
  readonly texts: Texts;
  /** Its `next` is not null. */
  readonly page: ExercisePage;
  readonly measure: Measure;
  /** Whether the measuring script could not be loaded. */
  readonly isUnmeasured: boolean;
  readonly onDecided: (decision: ExerciseDecision) => void;
}

const DOUBLE_CLICK_MS = 400;

export function CaseStage({ texts, page, measure, isUnmeasured, onDecided }: CaseProperties) {
  const { presentation, cases } = page;
  const { number, title, task, facts, views, advice, choices } = page.next!;
  const { evidence, stop } = useMeasurement(measure);
  const [isShown, setShown] = useState(presentation === "shown" || presentation === "alternating");
  const [first, setFirst] = useState<number | null>(null);
  useEffect(() => {
    if (presentation !== "delayed") return;
    const timer = setTimeout(() => setShown(true), page.delay_ms!);
    return () => clearTimeout(timer);
  }, []);

  const labels = choices.map(({ label }) => label);
  const savedAt = useRef(-Infinity);
  const decide = (choice: number) => {
    // The rest of the double click that saved the first decision.
    if (performance.now() - savedAt.current < DOUBLE_CLICK_MS) return;
    const { time_to_decision_ms, hover_events, scroll_depth, alternative_views_checked } = stop();
    onDecided({
      number,
      choice,
      first_choice: first,
      advised: advice !== null && isShown,
      time_to_decision_ms,
      hover_events,
      scroll_depth,
      alternative_views_checked,
    });
  };
  const isFirst = presentation === "after_decision" && first === null;
  return (
    <Stage title={texts.caseTitle(number, cases, title)}>
      <progress class="judged-so-far" max={cases} value={number - 1} aria-label={texts.decided} />
      {isUnmeasured && <p class="note">{texts.unmeasured}</p>}
      <p class="lead">{task}</p>
      <div class="case">
        <div class="evidence" ref={evidence}>
          <h2>{texts.theCase}</h2>
          {facts.map((fact) => <Fact key={fact.title} {...fact} />)}
          <h2>{texts.more}</h2>
          {views.map((view) => <FoldedView key={view.name} {...view} />)}
        </div>
        <div class="deciding">
          {/* What appears later is announced. */}
          <div role="status">
            {advice === null
              ? presentation === "on_request"
                ? <Hidden title={texts.onRequestTitle} text={texts.noRequestLeft} />
                : <Hidden title={texts.withheldTitle} text={texts.withheld} />
              : isShown
              ? <AdviceBox texts={texts} {...advice} />
              : <Later texts={texts} page={page} onShow={() => setShown(true)} />}
          </div>
          {(presentation !== "delayed" || isShown) && (
            <ChoiceForm
              key={isFirst ? "first" : "final"}
              legend={isFirst
                ? texts.firstDecision
                : first !== null
                ? texts.finalDecision
                : texts.yourDecision}
              choices={labels}
              marked={first}
              missing={texts.missing}
              submit={isFirst ? texts.saveFirst : texts.decide}
              onChosen={(choice) => {
                if (!isFirst) return decide(choice);
                savedAt.current = performance.now();
                setFirst(choice);
                setShown(true);
              }}
            />
          )}
        </div>
      </div>
    </Stage>
  );
}

function AdviceBox({ texts, text, reason, confidence }: Advice & { readonly texts: Texts }) {
  return (
    <section class="advice" aria-labelledby="advice">
      <h2 id="advice">{texts.advice}</h2>
      <p class="said">{text}</p>
      <p>{reason}</p>
      <p class="note">{texts.confidence(confidence)}</p>
    </section>
  );
}

function Hidden({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <section class="advice withheld" aria-labelledby="advice">
      <h2 id="advice">{title}</h2>
      <p>{text}</p>
    </section>
  );
}

/** The place of advice that is not shown yet. */
function Later(
  { texts, page: { presentation, delay_ms, requests_left }, onShow }: {
    readonly texts: Texts;
    readonly page: ExercisePage;
    readonly onShow: () => void;
  },
) {
  switch (presentation) {
    case "delayed":
      return <Hidden title={texts.delayedTitle} text={texts.delayed(Math.ceil(delay_ms! / 1000))} />;
    case "after_decision":
      return <Hidden title={texts.firstTitle} text={texts.first} />;
    default:
      return (
        <>
          <Hidden title={texts.onRequestTitle} text={texts.onRequest(requests_left!)} />
          <button type="button" onClick={onShow}>{texts.showAdvice}</button>
        </>
      );
  }
}
