/** A reviewer's own record: the score with its interval, what moved it, exercises, contests, and what the law says. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { OwnPage } from "../../domain/own_page.ts";
import { historyFigure } from "../../pages/operator_plots.ts";
import { KNOWN_CASE, knownCasesInWords } from "../../pages/known_cases_words.ts";
import { ownRatesInWords } from "../../pages/estimates.ts";
import { scoreInWords, shareInWords } from "../../pages/wording.ts";
import { localInWords } from "../shared/local_time.ts";
import { verdictInWords } from "../../scoring/verdict_words.ts";
import { ApiError, call } from "../shared/api.ts";
import { Drawing } from "../shared/drawing.tsx";
import { announceWait, Waiting } from "../shared/waiting.tsx";
import { Contest, Contests, STATEMENT } from "./contest.tsx";
import { Records } from "./records.tsx";

type Place =
  | { readonly name: "loading" }
  | { readonly name: "failed"; readonly error: ApiError }
  | { readonly name: "shown"; readonly page: OwnPage };

export function OwnPageView({ token }: { readonly token: string }) {
  const [place, setPlace] = useState<Place>({ name: "loading" });
  const load = () => {
    call<OwnPage>({ path: `/me/${token}/state` }, { onWait: announceWait }).then(
      (page) => setPlace({ name: "shown", page }),
      (error) => {
        if (!(error instanceof ApiError)) throw error;
        setPlace({ name: "failed", error });
      },
    );
  };
  useEffect(load, []);
  switch (place.name) {
    case "loading":
      return (
        <Frame title="Your record">
          <p class="loading" role="status">Loading…</p>
          <Waiting />
        </Frame>
      );
    case "failed":
      return (
        <Frame title="This page cannot be shown">
          <p class="notice bad" role="alert">{place.error.message}</p>
          {(place.error.status === 0 || place.error.status >= 500) && (
            <p>
              <button type="button" onClick={load}>Try again</button>
            </p>
          )}
        </Frame>
      );
    case "shown":
      return (
        <Frame title="Your record">
          <Shown page={place.page} token={token} onContested={load} />
          <Waiting />
        </Frame>
      );
  }
}

function Frame({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} · JISS`;
  }, [title]);
  return (
    <main id="main" tabIndex={-1}>
      <h1>{title}</h1>
      {children}
    </main>
  );
}

function Shown({ page, token, onContested }: {
  readonly page: OwnPage;
  readonly token: string;
  readonly onContested: () => void;
}) {
  const { organization, operator_id, expires_at, notice } = page;
  const [record, setRecord] = useState("");
  const contest = (id: string) => {
    setRecord(id);
    document.getElementById(STATEMENT)!.focus();
  };
  return (
    <>
      <p>
        <bdi>{organization.name}</bdi> reviews with the help of an AI, and calls you{" "}
        <code>{operator_id}</code>. This page shows what is kept about how you judge. Only people who have its
        link can see it; the link works until {localInWords(expires_at)}.
      </p>
      <h2>Your score</h2>
      <Score page={page} />
      <h2>What moved it lately</h2>
      <Records records={page.records} contest={contest} />
      <h2>Exercises</h2>
      <Exercises exercises={page.exercises} organization={organization.name} />
      <h2>If you disagree</h2>
      <Contest {...{ token, page, record, setRecord, onContested }} />
      <Contests contests={page.contests} />
      <details>
        <summary>All steps</summary>
        <ol>{notice.contest.steps.map((step) => <li key={step}>{step}</li>)}</ol>
      </details>
      <h2>Everything that is kept</h2>
      <p>
        {page.record_count === 1 ? "One record" : `${page.record_count} records`}, each with its data and its
        explanation: <a href={`/me/${token}/copy?format=html`} target="_blank" rel="noopener">as a page</a>
        {" "}
        (new tab),{" "}
        <a href={`/me/${token}/copy`} download="my-records.json">as data (JSON)</a>. That a copy was made is
        recorded.
      </p>
      <details>
        <summary>What the score is, and what it is not</summary>
        <p>{notice.purpose}</p>
        <p>{notice.recorded}</p>
        <ul>{notice.logic.map((line) => <li key={line}>{line}</li>)}</ul>
        <ul>{notice.limits.map((line) => <li key={line}>{line}</li>)}</ul>
        <p>{notice.automated_decisions}</p>
      </details>
      <details>
        <summary>How long it is kept, and who gets it</summary>
        <p>{notice.retention.statement}</p>
        <p>{notice.source}</p>
        <p>{notice.recipients.statement}</p>
        <p class="note">{notice.law}</p>
      </details>
    </>
  );
}

function Score(
  { page: { profile, jis_history: history, thresholds } }: { readonly page: OwnPage },
) {
  if (profile === null) return <p>You were never scored.</p>;
  const { jis, uncertainty: { low, high, level }, verdict, estimates, total_interactions: cases } = profile;
  return (
    <>
      {verdict !== null && <p class="notice" data-verdict>{verdictInWords(verdict)}</p>}
      {estimates !== null && <p>{ownRatesInWords(estimates)}</p>}
      <p>
        Your score is <strong>{scoreInWords(jis)} of 100</strong>. What your cases show lies between{" "}
        <strong>{scoreInWords(low)} and {scoreInWords(high)}</strong>, with a probability of{" "}
        {shareInWords(level)} by the service's own reckoning. From {thresholds.min_jis}{" "}
        on it counts as enough.
      </p>
      <p>
        You decided {cases === 1 ? "one case" : `${cases} cases`}, the last of{" "}
        {localInWords(profile.last_interaction_at)}. {KNOWN_CASE} {knownCasesInWords(profile)}
      </p>
      {history.length > 0 && <Drawing of={historyFigure({ history, thresholds })} />}
    </>
  );
}

const STATES: Readonly<Record<string, string>> = {
  open: "not begun",
  started: "begun",
  done: "done",
  expired: "its link is over",
};

function Exercises({ exercises, organization }: {
  readonly exercises: OwnPage["exercises"];
  readonly organization: string;
}) {
  if (exercises.length === 0) return <p>None was set.</p>;
  return (
    <ul>
      {exercises.map(({ title, state, set_at, case_count, decided }) => (
        <li key={set_at + title}>
          {title}, set {localInWords(set_at)}: {STATES[state]}, {decided} of {case_count} cases decided.
          {state === "open" && (
            <>
              {" "}
              Ask <bdi>{organization}</bdi> for the link.
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
