/** The stages of the demo: introduction, cases one by one, sending, score. Nothing outlives the page. */
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../shared/api.ts";
import { announceWait, Waiting } from "../shared/waiting.tsx";
import { CaseView } from "./case.tsx";
import { CASES } from "./cases.ts";
import { Intro } from "./intro.tsx";
import type { Measure } from "../shared/measuring.ts";
import { ResultView } from "./result.tsx";
import { Stage } from "../shared/stage.tsx";
import { type Assessment, type Judgment, newSessionId, recordOf, submitRun } from "./run.ts";

interface Settings {
  /** Path of the measuring script. */
  readonly collector: string;
  /** How long the service keeps a run. */
  readonly keptDays: number;
}

/** A run that a visitor judges. If they go on after it, that is a run of its own. */
interface Run {
  /** One name for one run, even if it is sent several times. */
  readonly sessionId: string;
  /** How many cases it has: the first ones of `CASES`. */
  readonly count: number;
  readonly measure: Measure;
}

type Place =
  | { readonly name: "intro" }
  | { readonly name: "cases"; readonly run: Run }
  | { readonly name: "sending"; readonly run: Run }
  | { readonly name: "failed"; readonly run: Run; readonly error: unknown }
  | { readonly name: "result"; readonly run: Run; readonly assessment: Assessment };

export function Demo({ collector, keptDays }: Settings) {
  const [place, setPlace] = useState<Place>({ name: "intro" });
  const [judgments, setJudgments] = useState<readonly Judgment[]>([]);

  const begin = (count: number, measure: Measure) => {
    setJudgments([]);
    setPlace({ name: "cases", run: { sessionId: newSessionId(), count, measure } });
  };

  // The decisions so far are the first ones of the longer run, which the service scores as a whole.
  const goOn = ({ measure }: Run) => {
    setPlace({ name: "cases", run: { sessionId: newSessionId(), count: CASES.length, measure } });
  };

  const send = async (run: Run, made: readonly Judgment[]) => {
    setPlace({ name: "sending", run });
    const records = made.map((judgment, index) => recordOf(CASES[index]!, judgment));
    try {
      const assessment = await submitRun({ sessionId: run.sessionId, records }, { onWait: announceWait });
      setPlace({ name: "result", run, assessment });
    } catch (error) {
      setPlace({ name: "failed", run, error });
    }
  };

  const judge = (run: Run, judgment: Judgment) => {
    const made = [...judgments, judgment];
    setJudgments(made);
    if (made.length === run.count) send(run, made);
  };

  const restart = () => setPlace({ name: "intro" });

  useUnloadQuestion(judgments.length > 0 && place.name !== "intro" && place.name !== "result");

  switch (place.name) {
    case "intro":
      return <Intro collector={collector} keptDays={keptDays} onBegin={begin} />;
    case "cases":
      return (
        <CaseView
          key={judgments.length}
          demoCase={CASES[judgments.length]!}
          index={judgments.length}
          count={place.run.count}
          measure={place.run.measure}
          onJudged={(judgment) => judge(place.run, judgment)}
        />
      );
    case "sending":
      return <Sending count={place.run.count} />;
    case "failed":
      return (
        <Failed
          count={place.run.count}
          error={place.error}
          onAgain={() => send(place.run, judgments)}
          onRestart={restart}
        />
      );
    case "result":
      return (
        <ResultView
          run={place.assessment}
          judgments={judgments}
          keptDays={keptDays}
          onGoOn={judgments.length < CASES.length ? () => goOn(place.run) : null}
          onRestart={restart}
        />
      );
  }
}

/** Makes the browser ask before it leaves the page if `isAsked`: unsent decisions are only in its memory. */
function useUnloadQuestion(isAsked: boolean): void {
  useEffect(() => {
    if (!isAsked) return;
    const ask = (event: Event) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isAsked]);
}

function Sending({ count }: { readonly count: number }) {
  return (
    <Stage title="Scoring your decisions">
      <p class="loading" role="status">The service scores your {count} decisions…</p>
      <Waiting />
    </Stage>
  );
}

interface FailedProperties {
  readonly count: number;
  readonly error: unknown;
  readonly onAgain: () => void;
  readonly onRestart: () => void;
}

function Failed({ count, error, onAgain, onRestart }: FailedProperties) {
  const requestId = error instanceof ApiError ? error.more.requestId : null;
  // Other decisions are stored under this run's name and stay, so no attempt will succeed.
  const isTaken = error instanceof ApiError && error.status === 409;
  return (
    <Stage title="Your decisions could not be scored">
      <div class="notice bad" role="alert">
        <p>
          {isTaken
            ? "The service already has other decisions under the name of this run, and the first ones stand: these cannot be scored any more."
            : error instanceof Error
            ? error.message
            : String(error)}
        </p>
        {requestId !== null && (
          <p class="note">
            Request <code>{requestId}</code>
          </p>
        )}
      </div>
      <p>
        {isTaken
          ? "Starting over begins a run under a new name, with the first case."
          : `All ${count} decisions are still here, as long as this page stays open. Sent again, they count once. Starting over gives them up.`}
      </p>
      <div class="actions">
        {!isTaken && <button type="button" class="main" onClick={onAgain}>Try again</button>}
        <button type="button" class={isTaken ? "main" : undefined} onClick={onRestart}>Start over</button>
      </div>
    </Stage>
  );
}
