/** Tells the reviewer how a case was decided, and at the end how all were. */
import type { ExercisePage } from "../../exercises/answers.ts";
import { Stage } from "../shared/stage.tsx";
import { type Texts, translated } from "./texts.ts";

interface Shown {
  readonly texts: Texts;
  readonly page: ExercisePage;
}

type Solved = ExercisePage["solved"][number];

export function Feedback({ texts, page, onNext }: Shown & { readonly onNext: () => void }) {
  const last = page.solved.at(-1)!;
  return (
    <Stage title={`${last.correct ? texts.right : texts.wrong}: ${last.title}`}>
      <progress class="judged-so-far" max={page.cases} value={page.decided} aria-label={texts.decided} />
      <Solution texts={texts} solved={last} />
      <div class="actions">
        <button type="button" class="main" onClick={onNext}>
          {page.next === null ? texts.toResult : texts.next}
        </button>
      </div>
    </Stage>
  );
}

function Solution({ texts, solved: { correct, ai_correct, advice, explanation } }: {
  readonly texts: Texts;
  readonly solved: Solved;
}) {
  return (
    <div class={`notice ${correct ? "good" : "bad"}`}>
      {advice === null ? <p>{texts.noAdvice}</p> : (
        <p>
          {texts.adviceSaid(advice)} {ai_correct ? texts.adviceWasRight : texts.adviceWasWrong}
        </p>
      )}
      <p>{explanation}</p>
    </div>
  );
}

export function Result({ texts, page: { solved, debrief, cases } }: Shown) {
  const correct = solved.filter((one) => one.correct).length;
  return (
    <Stage title={texts.resultTitle}>
      <p class="lead">{texts.result(correct, cases)}</p>
      <p>{texts.resultNote} {texts.close}</p>
      <h2>{texts.questions}</h2>
      <ul>{debrief.map((line) => <li key={line}>{translated(texts, line)}</li>)}</ul>
      <h2>{texts.eachCase}</h2>
      {solved.map((one) => (
        <section key={one.number} class="solved" aria-labelledby={`solved-${one.number}`}>
          <h3 id={`solved-${one.number}`}>
            {one.number}. {one.title}: {one.correct ? texts.right : texts.wrong}
          </h3>
          <Solution texts={texts} solved={one} />
        </section>
      ))}
    </Stage>
  );
}
