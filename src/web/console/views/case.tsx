/** One case: its cause, what was done, and what can be done next. */
import { useEffect, useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import type { CaseStepRequest } from "../../../domain/case.ts";
import { isOpenCase } from "../../../domain/case_states.ts";
import { dayInWords } from "../../../pages/wording.ts";
import { CaseFigures } from "../case_figures.tsx";
import {
  asksForExercise,
  CAUSE_WORDS,
  conductOf,
  nextInWords,
  reasonInWords,
  STATE_WORDS,
  STEP_WORDS,
} from "../case_words.ts";
import { addressOf, Answered, Failure, Instant, toneOf, View } from "../parts.tsx";
import { Reviewer, reviewerInWords } from "../reviewers.tsx";
import { may, useCaller, useSession } from "../session.tsx";
import type { Case } from "../types.ts";
import { useAction, useAnswer } from "../use_answer.ts";

export function CaseView() {
  const { params: { id = "" } } = useRoute();
  const asked = useAnswer<Case>({ path: `/v1/cases/${encodeURIComponent(id)}?include=present` });
  const [later, setLater] = useState<Case | null>(null);
  // The note outlives the reading of the case anew.
  const [note, setNote] = useState("");
  const { signedIn } = useSession();
  // The answer to a step is the case after it, without the operator's present state.
  const latest = (body: Case) =>
    later !== null && later.case_id === body.case_id && later.steps.length > body.steps.length
      ? { ...later, present: body.present }
      : body;
  const known = asked.loaded.state === "ready" ? latest(asked.loaded.body) : null;
  return (
    <View
      title={known === null
        ? "Case"
        : `${reviewerInWords(signedIn, known.operator_id)}: ${CAUSE_WORDS[known.cause].toLowerCase()}`}
      within={{ path: "/console/cases", label: "Cases" }}
      line={known === null ? undefined : <Place shown={known} />}
    >
      <Answered asked={asked}>
        {(body) => (
          <Shown
            shown={latest(body)}
            onChanged={setLater}
            again={asked.again}
            note={note}
            onNote={setNote}
          />
        )}
      </Answered>
    </View>
  );
}

/** The operator, and how far the case is. */
function Place({ shown: { operator_id, state, owner, owner_name, due_on } }: { readonly shown: Case }) {
  return (
    <span>
      <Reviewer id={operator_id} /> · {STATE_WORDS[state]}
      {owner !== null && (
        <>
          {" "}
          · <bdi>{owner_name ?? "an erased user"}</bdi>
        </>
      )}
      {owner === null && isOpenCase(state) && " · unassigned"}
      {due_on !== null && ` · due ${dayInWords(due_on)}`}
    </span>
  );
}

interface ShownProperties {
  readonly shown: Case;
  readonly onChanged: (shown: Case) => void;
  readonly again: () => void;
  /** The note that is written and not sent. */
  readonly note: string;
  readonly onNote: (note: string) => void;
}

function Shown({ shown, ...acts }: ShownProperties) {
  const { signedIn } = useSession();
  const isOpen = isOpenCase(shown.state);
  const conduct = conductOf(shown);
  return (
    <>
      <div class={`notice ${isOpen ? openTone(shown) : "none"}`}>
        <h2>Cause</h2>
        {conduct !== null && <p>{conduct.sentence}</p>}
        <p class={conduct === null ? undefined : "small muted"}>
          <bdi>{reasonInWords(shown)}</bdi>
        </p>
        {isOpen && (
          <>
            <h3>Next step</h3>
            <p>{nextInWords(shown)}</p>
          </>
        )}
        <NextActs shown={shown} />
      </div>
      <CaseFigures shown={shown} />
      {isOpen && may(signedIn, "act") && <Acts shown={shown} {...acts} />}
      <h2>What was done</h2>
      <ol class="steps">
        <li>
          <Instant at={shown.opened_at} />, {byInWords(shown)} opened it.
        </li>
        {shown.steps.map((step) => (
          <li key={step.number}>
            <Instant at={step.at} />, {byInWords(step)} {STEP_WORDS[step.step]}
            {step.step === "assign" &&
              (step.owner === null ? ": to nobody" : (
                <>
                  : <bdi>{step.owner_name ?? "an erased user"}</bdi>
                </>
              ))}
            {step.due_on !== null && `, until ${dayInWords(step.due_on)}`}
            {step.run_id !== null && (
              <>
                : <code>{step.run_id}</code>
              </>
            )}.
            {step.note !== null && (
              <p class="note">
                <bdi>{step.note}</bdi>
              </p>
            )}
          </li>
        ))}
      </ol>
      <p class="small muted">
        Each step is a signed entry of the chain, the last one number{" "}
        {shown.steps.at(-1)?.seq ?? shown.seq}. The operator's own copy shows them.
      </p>
    </>
  );
}

/** The acts of the next step: one button leads on, where the step stands. */
function NextActs({ shown }: { readonly shown: Case }) {
  const { signedIn } = useSession();
  const { cause, operator_id: id, present = null } = shown;
  const isContest = cause === "contest";
  const mayAct = isOpenCase(shown.state) && may(signedIn, "act");
  if (!isContest && !mayAct) return null;
  const operator = `/console/operators/${encodeURIComponent(id)}`;
  const isSet = (present?.exercise ?? null) !== null;
  return (
    <p class="actions">
      {isContest && (
        <a class="button main" href={addressOf("/console/contests", { operator_id: id })}>
          Read what was contested
        </a>
      )}
      {mayAct && (
        <a
          class={asksForExercise(cause) ? "button main" : "button"}
          href={isSet ? `${operator}#exercises` : addressOf(operator, { ask: "exercise" })}
        >
          {isSet ? "See the exercise" : "Open the operator, set an exercise"}
        </a>
      )}
    </p>
  );
}

/** The tone of an open case: that of the verdict now, if the case is about a verdict. */
function openTone({ cause, present }: Case): string {
  return cause === "at_risk" ? toneOf(present?.verdict ?? null) : "fair";
}

function byInWords({ actor, user_id, user_name }: Pick<Case, "actor" | "user_id" | "user_name">): string {
  if (user_id !== null) return user_name ?? "an erased user";
  return actor === "system" ? "the service" : "an application with a key";
}

function Acts({ shown, onChanged, again, note, onNote }: ShownProperties) {
  const { signedIn: { user } } = useSession();
  // One day stands in the case: that on which it is due, or until which it waits.
  const isWaiting = shown.state === "waiting";
  const now = {
    owner: shown.owner ?? "",
    due: isWaiting ? "" : shown.due_on ?? "",
    until: isWaiting ? shown.due_on ?? "" : "",
  };
  const [owner, setOwner] = useState(now.owner);
  const [due, setDue] = useState(now.due);
  const [until, setUntil] = useState(now.until);
  // The fields stand as the case stands after each step.
  useEffect(() => {
    setOwner(now.owner);
    setDue(now.due);
    setUntil(now.until);
  }, [now.owner, now.due, now.until]);
  const caller = useCaller();
  const { busy, error, run } = useAction<Case>();
  const step = async (request: DistributedOmit<CaseStepRequest, "seen">) => {
    const body = { ...request, seen: shown.steps.length };
    const path = `/v1/cases/${shown.case_id}/events`;
    const changed = await run((patience) => caller.json<Case>({ method: "POST", path, body }, { patience }));
    if (changed === null) return;
    onNote("");
    onChanged(changed);
  };
  const said = note.trim() === "" ? null : note;
  const dueOn = due === "" ? null : due;
  const isListed = shown.owner === null || shown.owners.some(({ user_id }) => user_id === shown.owner);
  const isMine = user !== null && shown.owner === user.user_id;
  return (
    <>
      <h2 class="acts">What to do</h2>
      {user !== null && !isMine && (
        <p class="actions">
          <button
            type="button"
            disabled={busy}
            onClick={() => step({ step: "assign", owner: user.user_id, due_on: dueOn, note: null })}
          >
            Take it
          </button>
        </p>
      )}
      <div class="filters">
        <div class="field">
          <label for="case-to">Owner</label>
          <select id="case-to" value={owner} onChange={(event) => setOwner(event.currentTarget.value)}>
            <option value="">Nobody</option>
            {!isListed && <option value={shown.owner!}>{shown.owner_name ?? "an erased user"}</option>}
            {shown.owners.map(({ user_id, name }) => <option key={user_id} value={user_id}>{name}</option>)}
          </select>
        </div>
        <CaseDay id="case-due" label="Due" value={due} onInput={setDue} />
        <button
          type="button"
          disabled={busy || (owner === now.owner && due === now.due)}
          onClick={() =>
            step({ step: "assign", owner: owner === "" ? null : owner, due_on: dueOn, note: said })}
        >
          Assign
        </button>
      </div>
      <div class="filters">
        <CaseDay id="case-until" label="Wait until" value={until} onInput={setUntil} />
        <button
          type="button"
          disabled={busy || until === "" || until === now.until}
          onClick={() => step({ step: "wait", due_on: until, note: said })}
        >
          Wait
        </button>
      </div>
      <div class="field">
        <label for="case-note">Note</label>
        <textarea
          id="case-note"
          rows={3}
          maxLength={4000}
          value={note}
          onInput={(event) => onNote(event.currentTarget.value)}
        />
        <p class="small muted">
          It is signed, cannot be changed, and the operator's own copy shows it. To end the case, say what
          came of it.
        </p>
      </div>
      <div class="actions">
        <button type="button" disabled={busy || said === null} onClick={() => step({ step: "note", note })}>
          Add the note
        </button>
        <button type="button" disabled={busy || said === null} onClick={() => step({ step: "done", note })}>
          End it as done
        </button>
        <button
          type="button"
          disabled={busy || said === null}
          onClick={() => step({ step: "dismiss", note })}
        >
          Dismiss it
        </button>
      </div>
      {error !== null && <Failure error={error} again={again} />}
    </>
  );
}

function CaseDay({ id, label, value, onInput }: {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly onInput: (day: string) => void;
}) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} type="date" value={value} onInput={(event) => onInput(event.currentTarget.value)} />
    </div>
  );
}

/** `Omit` of each kind of a step. */
type DistributedOmit<Union, Member extends PropertyKey> = Union extends unknown ? Omit<Union, Member> : never;
