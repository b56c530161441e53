/**
 * The stages of an exercise: introduction, cases one by one, each with its feedback, result. A decision is saved before
 * anything tells what was right, so that closing the page loses at most the case on the screen.
 */
import { useEffect, useState } from "preact/hooks";
import type { ExerciseDecision, ExercisePage } from "../../exercises/answers.ts";
import { ApiError, call } from "../shared/api.ts";
import { localInWords } from "../shared/local_time.ts";
import { loadCollector, type Measure, timeAlone } from "../shared/measuring.ts";
import { Stage } from "../shared/stage.tsx";
import { announceWait, Waiting } from "../shared/waiting.tsx";
import { CaseStage } from "./case.tsx";
import { Feedback, Result } from "./result.tsx";
import { languageOf, TEXTS, type Texts, translated } from "./texts.ts";

interface Settings {
  readonly token: string;
  /** Path of the measuring script. */
  readonly collector: string;
}

type Place =
  | { readonly name: "loading" }
  | { readonly name: "failed"; readonly error: unknown }
  | { readonly name: "intro"; readonly page: ExercisePage }
  | { readonly name: "case"; readonly page: ExercisePage; readonly measure: Measure }
  | {
    readonly name: "sending";
    readonly measure: Measure;
    readonly decision: ExerciseDecision;
    readonly error: unknown;
  }
  | { readonly name: "feedback"; readonly page: ExercisePage; readonly measure: Measure }
  | { readonly name: "result"; readonly page: ExercisePage };

/** The place after a decision, or after its feedback. */
function placeAfter(page: ExercisePage, measure: Measure): Place {
  return page.next === null ? { name: "result", page } : { name: "case", page, measure };
}

export function Exercise({ token, collector }: Settings) {
  const [place, setPlace] = useState<Place>({ name: "loading" });
  const [language, setLanguage] = useState(() => languageOf(navigator.languages));
  const [isUnmeasured, setUnmeasured] = useState(false);
  const texts = TEXTS[language];

  const ask = async <Body extends object>(path: string, body?: Body): Promise<ExercisePage> => {
    const page = await call<ExercisePage>(
      { method: body === undefined ? "GET" : "POST", path: `/exercise/${token}/${path}`, body },
      { onWait: announceWait },
    );
    setLanguage(page.language);
    return page;
  };
  const load = async () => {
    setPlace({ name: "loading" });
    try {
      const page = await ask("state");
      setPlace(page.next === null ? { name: "result", page } : { name: "intro", page });
    } catch (error) {
      setPlace({ name: "failed", error });
    }
  };
  useEffect(() => {
    load();
  }, []);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);

  const begin = async (page: ExercisePage) => {
    let measure = timeAlone;
    try {
      measure = await loadCollector(collector);
    } catch {
      setUnmeasured(true);
    }
    setPlace({ name: "case", page, measure });
  };
  const send = async (decision: ExerciseDecision, measure: Measure) => {
    setPlace({ name: "sending", measure, decision, error: null });
    try {
      const page = await ask("decisions", decision);
      const isTold = page.feedback === "immediate";
      setPlace(isTold ? { name: "feedback", page, measure } : placeAfter(page, measure));
    } catch (error) {
      setPlace({ name: "sending", measure, decision, error });
    }
  };

  switch (place.name) {
    case "loading":
      return (
        <Stage title={texts.loading} isFirst>
          <Waiting sentence={texts.waiting} inSeconds={texts.inSeconds} />
        </Stage>
      );
    case "failed":
      return <Failed texts={texts} error={place.error} onAgain={load} />;
    case "intro":
      return <Intro texts={texts} page={place.page} onBegin={() => begin(place.page)} />;
    case "case":
      return (
        <CaseStage
          key={place.page.decided}
          texts={texts}
          page={place.page}
          measure={place.measure}
          isUnmeasured={isUnmeasured}
          onDecided={(decision) => send(decision, place.measure)}
        />
      );
    case "sending":
      return (
        <Sending
          texts={texts}
          error={place.error}
          onAgain={() => send(place.decision, place.measure)}
          onReload={load}
        />
      );
    case "feedback":
      return (
        <Feedback
          texts={texts}
          page={place.page}
          onNext={() => setPlace(placeAfter(place.page, place.measure))}
        />
      );
    case "result":
      return <Result texts={texts} page={place.page} />;
  }
}

function Intro(
  { texts, page, onBegin }: {
    readonly texts: Texts;
    readonly page: ExercisePage;
    readonly onBegin: () => Promise<void>;
  },
) {
  const [isLoading, setLoading] = useState(false);
  const begin = () => {
    setLoading(true);
    onBegin();
  };
  const until = localInWords(page.expires_at, page.language);
  return (
    <Stage title={translated(texts, page.title)} isFirst>
      <p class="lead">
        {texts.setBy} <bdi>{page.organization}</bdi>
      </p>
      <div class="panels">
        <section aria-labelledby="what">
          <h2 id="what">{texts.instructions}</h2>
          <ol>{page.instructions.map((line) => <li key={line}>{translated(texts, line)}</li>)}</ol>
        </section>
        <section aria-labelledby="how">
          <h2 id="how">{texts.how}</h2>
          <ul>
            <li>{texts.cases(page.cases)}</li>
            <li>{texts.tell[page.feedback]}</li>
            <li>{texts.announced}</li>
            <li>{texts.once} {texts.until(until)}</li>
            <li>{texts.recorded}</li>
          </ul>
        </section>
      </div>
      <div class="actions">
        <button type="button" class="main" disabled={isLoading} onClick={begin}>
          {page.decided === 0 ? texts.begin : texts.goOn(page.decided + 1)}
        </button>
      </div>
    </Stage>
  );
}

function messageOf(texts: Texts, error: unknown): string {
  const { errors } = texts;
  if (!(error instanceof ApiError)) return errors.other;
  switch (error.status) {
    case 0:
      return errors.unreachable;
    case 404:
    case 422:
      return errors.unknown;
    case 409:
      return errors.otherwise;
    case 410:
      return errors.over;
    default:
      return errors.other;
  }
}

function Notice({ texts, error }: { readonly texts: Texts; readonly error: unknown }) {
  const requestId = error instanceof ApiError ? error.more.requestId : null;
  return (
    <div class="notice bad" role="alert">
      <p>{messageOf(texts, error)}</p>
      {requestId !== null && (
        <p class="note">
          {texts.request} <code>{requestId}</code>
        </p>
      )}
    </div>
  );
}

/** Whether another attempt can succeed. */
function mayPass(error: unknown): boolean {
  return !(error instanceof ApiError) || ![404, 409, 410, 422].includes(error.status);
}

function Failed(
  { texts, error, onAgain }: {
    readonly texts: Texts;
    readonly error: unknown;
    readonly onAgain: () => void;
  },
) {
  return (
    <Stage title={texts.loadFailed}>
      <Notice texts={texts} error={error} />
      {mayPass(error) && (
        <div class="actions">
          <button type="button" class="main" onClick={onAgain}>{texts.again}</button>
        </div>
      )}
    </Stage>
  );
}

function Sending(
  { texts, error, onAgain, onReload }: {
    readonly texts: Texts;
    readonly error: unknown;
    readonly onAgain: () => void;
    readonly onReload: () => void;
  },
) {
  if (error === null) {
    return (
      <Stage title={texts.sending}>
        <Waiting sentence={texts.waiting} inSeconds={texts.inSeconds} />
      </Stage>
    );
  }
  const isTaken = error instanceof ApiError && error.status === 409;
  return (
    <Stage title={texts.notSent}>
      <Notice texts={texts} error={error} />
      <div class="actions">
        {mayPass(error) && <button type="button" class="main" onClick={onAgain}>{texts.again}</button>}
        {isTaken && <button type="button" class="main" onClick={onReload}>{texts.next}</button>}
      </div>
    </Stage>
  );
}
