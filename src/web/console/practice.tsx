/** The exercises of an operator: the one that is set, what is recommended, folded as numbered steps, and what was set before. */
import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { rateInWords } from "../../pages/estimates.ts";
import {
  countInterval,
  effectInWords,
  exerciseSheet,
  FIGURE_NAMES,
  passedInWords,
  stateInWords,
} from "../../pages/exercise_words.ts";
import { countInWords, dayInWords, nameInWords } from "../../pages/wording.ts";
import { joinWithAnd } from "../../scoring/wording.ts";
import { addressOf, Answered, Empty, Figure } from "./parts.tsx";
import { may, useSession } from "./session.tsx";
import { type ExerciseDefaults, languageInWords, SetExercise } from "./set_exercise.tsx";
import type { ExerciseResult, Exercises, Maintenance } from "./types.ts";
import { type Asked, useAnswer } from "./use_answer.ts";

interface Setting {
  /** The operator. */
  readonly id: string;
  readonly set: Exercises;
  readonly defaults: ExerciseDefaults;
  readonly onSet: () => void;
}

/** The recommended practice. A record that is too short has none, which is no failure. */
export function Recommendation({ asked, ...setting }: Setting & { readonly asked: Asked<Maintenance> }) {
  const { signedIn } = useSession();
  const { loaded } = asked;
  if (loaded.state === "failed" && loaded.error.code === "INSUFFICIENT_DATA") {
    return (
      <>
        <Empty>
          <p>{loaded.error.message}</p>
        </Empty>
        {may(signedIn, "act") && (
          <SetExercise {...setting} button="Set an exercise all the same" held={setting.set.can_be_set} />
        )}
      </>
    );
  }
  return (
    <Answered asked={asked}>
      {(body) => <Recommended {...body} {...setting} />}
    </Answered>
  );
}

function Recommended({ recommendation, exercises, id, set, defaults, onSet }: Maintenance & Setting) {
  const { signedIn } = useSession();
  const mayAct = may(signedIn, "act");
  const { intervention_type, target_dimension, difficulty, frequency_ratio } = recommendation;
  const isHeld = (one: string) => set.can_be_set.some(({ exercise_id }) => exercise_id === one);
  const heldHere = exercises.filter((one) => isHeld(one.id));
  const isOne = exercises.length === 1;
  return (
    <>
      <p>
        {intervention_type === "none"
          ? <>Nothing is urgent. To stay in practice,</>
          : <>{nameInWords(intervention_type)} is recommended:</>} let about{" "}
        <span data-rate="recommendation.frequency_ratio">{rateInWords(frequency_ratio)}</span>{" "}
        of the operator's cases be exercises that train{" "}
        {nameInWords(target_dimension).toLowerCase()}, at the difficulty “{nameInWords(difficulty)
          .toLowerCase()}”.
      </p>
      <p>
        To hold one by hand, print its sheet: {exercises.map((exercise, index) => (
          <Fragment key={exercise.id}>
            {index > 0 && (index === exercises.length - 1 ? " or " : ", ")}
            <a
              aria-label={`Sheet to print: ${exercise.title}`}
              href={`/console/operators/${encodeURIComponent(id)}/sheets/${encodeURIComponent(exercise.id)}`}
            >
              {exercise.title}
            </a>
          </Fragment>
        ))}.
      </p>
      <details class="recommended">
        <summary>{countInWords(exercises.length, "exercise")} {isOne ? "is" : "are"} recommended</summary>
        <ol class="steps">
          <li>
            Choose one of these {countInWords(exercises.length, "exercise")}. The service can hold{" "}
            {heldHere.length > 0
              ? joinWithAnd(heldHere.map(({ title }) => `“${title}”`))
              : "none of them by itself, but others"}; any of them can be held by hand with its printed sheet.
          </li>
          <li>Tell the operator beforehand that exercises happen, and pass on the link or the sheet.</li>
          <li>Look at the result here, and go through the questions for afterwards together.</li>
          <li>After 30 more live cases look at the effect; then set the next one, or stop.</li>
        </ol>
        {exercises.map((exercise) => {
          const sheet = exerciseSheet(exercise);
          return (
            <article class="exercise-card" key={exercise.id} aria-label={exercise.title}>
              <h3>{exercise.title}</h3>
              <p>{sheet.purpose}</p>
              <p class="small">
                {countInWords(sheet.cases, "case")}, about {countInWords(sheet.minutes, "minute")}.{" "}
                {sheet.passed}
              </p>
              <details>
                <summary>The steps of “{exercise.title}”</summary>
                <h4>Prepare it</h4>
                <ol>{[...sheet.setup, ...sheet.conditions].map((step) => <li key={step}>{step}</li>)}</ol>
                <h4>What the operator does</h4>
                <ol>{sheet.instructions.map((step) => <li key={step}>{step}</li>)}</ol>
                <h4>Afterwards</h4>
                <ol>{sheet.debrief.map((step) => <li key={step}>{step}</li>)}</ol>
              </details>
              {mayAct && isHeld(exercise.id) && (
                <SetExercise
                  id={id}
                  button={`Set “${exercise.title}”`}
                  held={set.can_be_set}
                  defaults={{ ...defaults, exerciseId: exercise.id }}
                  onSet={onSet}
                />
              )}
            </article>
          );
        })}
        {mayAct && heldHere.length === 0 && (
          <SetExercise
            id={id}
            button="Set another exercise"
            held={set.can_be_set}
            defaults={defaults}
            onSet={onSet}
          />
        )}
      </details>
    </>
  );
}

type RunOfList = Exercises["exercises"][number];

/** Whether an exercise is set, and neither done nor over. */
export function isRunOpen({ state }: RunOfList): boolean {
  return state === "open" || state === "started";
}

/** The exercises that are set, and neither done nor over. */
export function SetNow({ set }: { readonly set: Exercises }) {
  if (!set.exercises.some(isRunOpen)) return null;
  return (
    <>
      <h3>Set now</h3>
      <Runs set={set} isShown={isRunOpen} />
    </>
  );
}

/** The exercises that are done or over, the last one first; earlier ones on demand. */
export function SetBefore({ id, set }: { readonly id: string; readonly set: Exercises }) {
  const { exercises, next_cursor: next } = set;
  if (exercises.length === 0 && next === null) return <p class="muted">No exercise was set yet.</p>;
  if (exercises.every(isRunOpen) && next === null) return null;
  return (
    <>
      <h3>Set before</h3>
      <PageOfRuns id={id} set={set} isShown={(run) => !isRunOpen(run)} />
    </>
  );
}

interface SomeRuns {
  readonly set: Exercises;
  readonly isShown: (run: RunOfList) => boolean;
}

function PageOfRuns({ id, ...runs }: SomeRuns & { readonly id: string }) {
  const [isAsked, setAsked] = useState(false);
  const { next_cursor: next } = runs.set;
  return (
    <>
      <Runs {...runs} />
      {next !== null && (isAsked ? <Earlier id={id} cursor={next} /> : (
        <p>
          <button type="button" onClick={() => setAsked(true)}>Earlier exercises</button>
        </p>
      ))}
    </>
  );
}

function Earlier({ id, cursor }: { readonly id: string; readonly cursor: string }) {
  const asked = useAnswer<Exercises>({ path: addressOf("/v1/exercises", { operator_id: id, cursor }) });
  return <Answered asked={asked}>{(set) => <PageOfRuns id={id} set={set} isShown={() => true} />}</Answered>;
}

function Runs({ set, isShown }: SomeRuns) {
  return (
    <ul class="runs">
      {set.exercises.map((run, index) =>
        isShown(run) && <Run key={run.run_id} run={run} place={`exercises.${index}`} />
      )}
    </ul>
  );
}

function Run({ run, place }: {
  readonly run: RunOfList;
  /** Its place in the answer. */
  readonly place: string;
}) {
  const [isAsked, setAsked] = useState(false);
  const { run_id, title, set_at, language, domain, figures, decided } = run;
  return (
    <li class="run">
      <h4>{title}</h4>
      <p>
        Set on {dayInWords(set_at)}, {nameInWords(domain).toLowerCase()}, in {languageInWords(language)}:{" "}
        {stateInWords(run)}.
      </p>
      {decided > 0 && (
        <p>
          {(["correct", "wrong", "right"] as const).map((name, index) => (
            <span key={name}>
              {index > 0 && "; "}
              {FIGURE_NAMES[name]}{" "}
              <Figure of={`${place}.figures.${name}.count`} value={figures[name].count} /> of{" "}
              <Figure of={`${place}.figures.${name}.of`} value={figures[name].of} />
              {countInterval(figures[name])}
            </span>
          ))}.
        </p>
      )}
      {isAsked ? <Effect id={run_id} /> : decided > 0 && (
        <p>
          <button
            type="button"
            aria-label={`Result and effect of ${title}, set on ${dayInWords(set_at)}`}
            onClick={() => setAsked(true)}
          >
            Result and effect
          </button>
        </p>
      )}
    </li>
  );
}

/** Whether a run was passed, and what became of live work after it: asked for on demand. */
function Effect({ id }: { readonly id: string }) {
  const asked = useAnswer<ExerciseResult>({ path: `/v1/exercises/${encodeURIComponent(id)}` });
  return (
    <div aria-live="polite">
      <Answered asked={asked}>
        {({ success, effect }) => (
          <>
            <p>{passedInWords(success) ?? "Whether it is passed is known after the last case."}</p>
            <p>{effectInWords(effect)}</p>
          </>
        )}
      </Answered>
    </div>
  );
}
