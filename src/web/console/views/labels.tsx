/**
 * The queue of cases to label, one at a time, by keys alone. A label is evidence and cannot be taken back: an answer is only chosen by
 * its key, and Enter saves it.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { isKnownAsOperator, type LabelAnswer, possibleLabels } from "../../../domain/labelling.ts";
import { nameInWords } from "../../../pages/wording.ts";
import { ApiError } from "../../shared/api.ts";
import { CopyButton } from "../../shared/copy_button.tsx";
import { Folded, useNarrow } from "../folded.tsx";
import { OfOperator } from "../of_operator.tsx";
import { addressOf, Answered, Empty, Failure, Instant, Pages, View } from "../parts.tsx";
import { type Key, KeysHelp, useKeys } from "../keys.tsx";
import { useCaller, useSession } from "../session.tsx";
import type { Decisions } from "../types.ts";
import { useAction, useAnswer } from "../use_answer.ts";

const PATH = "/console/labels";
const PAGE = "50";

export function LabelsView() {
  const { query: { operator_id: operator = "", cursor = "" } } = useLocation();
  const [hasLabelled, setLabelled] = useState(false);
  const introduction = (
    <p>
      Nobody knows yet how these cases turned out. Look each up in your own records, and answer what the form
      asks: whether the AI was right, and whether the decision was right if the first answer does not settle
      it. Scores and verdicts rest on these answers. The cases that teach most come first.
    </p>
  );
  return (
    <View title="Labels">
      {hasLabelled ? <Folded summary="How to label">{introduction}</Folded> : introduction}
      <Cases operator={operator} cursor={cursor} onLabelled={() => setLabelled(true)} />
    </View>
  );
}

function Cases({ operator, cursor, onLabelled }: {
  readonly operator: string;
  readonly cursor: string;
  readonly onLabelled: () => void;
}) {
  const isNarrow = useNarrow();
  const { signedIn: { user, privacy } } = useSession();
  const { route } = useLocation();
  const asked = useAnswer<Decisions>({
    path: addressOf("/v1/organization/decisions", {
      unlabelled: "true",
      operator_id: operator,
      cursor,
      limit: PAGE,
    }),
  });
  const query = { operator_id: operator, ...(cursor === "" ? {} : { cursor }) };
  const ofOperator = (
    <OfOperator
      operator={operator}
      onChosen={(id) => route(addressOf(PATH, { operator_id: id }))}
    />
  );
  return (
    <>
      {!isNarrow && ofOperator}
      <Answered asked={asked}>
        {({ decisions, next_cursor: next }) => {
          // Under pseudonyms only the service knows whose decision it is, and refuses the label.
          const cases = decisions.filter(({ operator_id }) =>
            user === null || privacy !== "named" || !isKnownAsOperator(user, operator_id)
          );
          const own = decisions.length - cases.length;
          return (
            <>
              {own > 0 && (
                <p class="notice">
                  {own === 1 ? "One decision of your own is" : `${own} decisions of your own are`}{" "}
                  left out: somebody else must label {own === 1 ? "it" : "them"}.
                </p>
              )}
              {cases.length === 0 ? <NoCases hasNext={next !== null} /> : (
                <Queue
                  key={`${operator} ${cursor} ${asked.number}`}
                  cases={cases}
                  next={next === null ? null : addressOf(PATH, { ...query, cursor: next })}
                  again={asked.again}
                  onLabelled={onLabelled}
                />
              )}
              <Pages path={PATH} query={query} next={next} nextPage="Next page of cases" />
            </>
          );
        }}
      </Answered>
      {isNarrow && ofOperator}
    </>
  );
}

function NoCases({ hasNext }: { readonly hasNext: boolean }) {
  return (
    <Empty>
      <p>
        {hasNext
          ? "Among the cases that were looked through the truth of each is known. Older ones are on the next page."
          : "There is nothing to label: the truth of each case is known, or nothing was scored."}
      </p>
    </Empty>
  );
}

type Case = Decisions["decisions"][number];

/** The state of a case on this page: labelled here, or refused by the service. */
type Closed = "labelled" | ApiError;

/** The answers to a case so far: undefined before the question was answered, null if nobody can say. */
interface Answers {
  readonly ai?: boolean | null;
  readonly outcome?: boolean;
}

/** Refusals that another attempt would get again: the user must go on to another case. */
const FINAL: ReadonlySet<number> = new Set([403, 404, 409, 410]);

function Queue({ cases, next, again, onLabelled }: {
  readonly cases: readonly Case[];
  /** The address of the next page; null if this is the last. */
  readonly next: string | null;
  /** Asks for the page anew. */
  readonly again: () => void;
  /** Hears of each label that was saved. */
  readonly onLabelled: () => void;
}) {
  const caller = useCaller();
  const [index, setIndex] = useState(0);
  const [answers, setAnswers] = useState<Answers>({});
  const [closed, setClosed] = useState<ReadonlyMap<string, Closed>>(new Map());
  const { busy, error, run } = useAction<Closed>();
  /** The case whose label could not be sent. */
  const [failed, setFailed] = useState<string | null>(null);
  /** Whether a refused case was left although no other one is open. */
  const [isOver, setOver] = useState(false);
  const isSaving = useRef(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);
  const open = cases.filter(({ id }) => !closed.has(id));
  const current = cases[index]!;
  const fate = closed.get(current.id);
  const isRefused = fate instanceof ApiError;
  const isDone = open.length === 0 && (!isRefused || isOver);
  useEffect(() => {
    // The view's own heading has the focus first. A button or a field that asked for this page would keep the keys for itself.
    const isNew = isFirst.current && document.activeElement?.matches("body, h1");
    isFirst.current = false;
    if (isNew !== true) heading.current?.focus();
  }, [index, isDone, isRefused]);

  const go = (steps: 1 | -1, among = closed) => {
    for (let step = 1; step <= cases.length; step += 1) {
      const place = (index + steps * step + step * cases.length) % cases.length;
      if (among.has(cases[place]!.id)) continue;
      setIndex(place);
      setAnswers({});
      return;
    }
    setOver(true);
  };
  const move = (steps: 1 | -1) => {
    if (!isSaving.current) go(steps);
  };
  const form = formOf(current, answers);
  const save = async () => {
    if (isRefused) return move(1);
    if (form.label === null || isSaving.current || fate !== undefined) return;
    isSaving.current = true;
    const { id } = current;
    const body = form.label;
    const became = await run(async (patience) => {
      try {
        await caller.json(
          { method: "POST", path: `/v1/score/${encodeURIComponent(id)}/commit`, body },
          { patience },
        );
        return "labelled";
      } catch (thrown) {
        if (thrown instanceof ApiError && FINAL.has(thrown.status)) return thrown;
        throw thrown;
      }
    });
    isSaving.current = false;
    setFailed(became === null ? id : null);
    if (became === null) return;
    const after = new Map(closed).set(id, became);
    setClosed(after);
    setAnswers({});
    if (became === "labelled") onLabelled();
    if (became === "labelled" && after.size < cases.length) go(1, after);
  };
  const choose = (place: 0 | 1 | 2) => {
    const option = form.asked?.options[place];
    if (option !== undefined && !isSaving.current && fate === undefined) {
      setAnswers(form.asked!.answered(option.value));
    }
  };
  const keys: readonly Key[] = [
    { key: "1", does: "Yes", act: () => choose(0) },
    { key: "2", does: "No", act: () => choose(1) },
    { key: "3", does: "Nobody can say, where that is an answer", act: () => choose(2) },
    { key: "Enter", does: "Save the answers, and go on to the next case", act: save },
    { key: "j", does: "Next case, without a label", act: () => move(1) },
    { key: "k", does: "Previous case", act: () => move(-1) },
    { key: "Escape", does: "Answer anew", act: () => setAnswers({}) },
  ];
  const help = useKeys(keys);
  const labelled = [...closed.values()].filter((one) => one === "labelled").length;
  return (
    <section class="queue" aria-label="Case to label">
      <p role="status" data-progress>
        {labelled} labelled, {open.length} left on this page
      </p>
      {isDone ? <Done heading={heading} next={next} again={again} /> : (
        <>
          <h2 ref={heading} tabIndex={-1}>
            Case <bdi>{current.id}</bdi>
          </h2>
          {/* The keys go on: a button that keeps the focus would take Enter for itself. */}
          <div class="copied" onClick={() => heading.current?.focus()}>
            <CopyButton text={() => current.id} of="the id" />
          </div>
          <Facts of={current} />
          {isRefused ? <Refused error={fate} onNext={() => move(1)} /> : (
            <form
              onSubmit={(event) => {
                event.preventDefault();
                return save();
              }}
            >
              {form.questions.map((question) => (
                <Choice
                  key={`${current.id} ${question.name}`}
                  question={question}
                  isAsked={question.name === form.asked?.name}
                  onChoose={(value) => setAnswers(question.answered(value))}
                />
              ))}
              {form.follows !== null && <p class="follows">{form.follows}</p>}
              {failed === current.id && error !== null && <Failure error={error} again={save} />}
              <div class="actions">
                <button class="main" type="submit" disabled={form.label === null || busy}>
                  {busy ? "Saving…" : "Save"}
                </button>
                <button type="button" onClick={() => move(1)}>Next case</button>
                <button type="button" onClick={() => move(-1)}>Previous case</button>
                <span class="small muted">A label is evidence: it cannot be taken back.</span>
              </div>
            </form>
          )}
        </>
      )}
      <KeysHelp keys={keys} help={help} />
    </section>
  );
}

function Facts(
  { of: { decision, domain, timestamp, scenario_type = "standard", ai_recommendation_presented: isShown } }: {
    readonly of: Case;
  },
) {
  const facts = [
    ["The operator's decision", nameInWords(decision)],
    ["Domain", nameInWords(domain)],
    ["Stakes", nameInWords(scenario_type)],
    ["AI's advice shown before the decision", isShown === false ? "No" : "Yes"],
  ] as const;
  return (
    <dl>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      <div>
        <dt>Decided</dt>
        <dd>
          <Instant at={timestamp} />
        </dd>
      </div>
    </dl>
  );
}

interface Option {
  readonly value: boolean | null;
  readonly label: string;
}

interface Question {
  readonly name: string;
  readonly text: string;
  readonly options: readonly Option[];
  /** The option that was chosen; undefined if none was. */
  readonly chosen: boolean | null | undefined;
  /** All answers, with one to this question. */
  readonly answered: (value: boolean | null) => Answers;
}

interface Form {
  readonly questions: readonly Question[];
  /** The question that the keys answer: the first open one, or the last. */
  readonly asked: Question | null;
  /** The answer that follows from the others without a question; null if nothing does. */
  readonly follows: string | null;
  /** null until every question is answered. */
  readonly label: LabelAnswer | null;
}

const YES_NO: readonly Option[] = [{ value: true, label: "Yes" }, { value: false, label: "No" }];

/** The questions about a case: only what the service takes can be answered. */
function formOf(
  { decision, scenario_type = "standard", ai_recommendation_presented = true }: Case,
  { ai, outcome }: Answers,
): Form {
  const asked = { decision, scenario_type, ai_recommendation_presented };
  const canBeOpen = possibleLabels(asked, null).length > 0;
  const ofAi: Question = {
    name: "ai",
    text: "Was the AI right?",
    options: canBeOpen ? [...YES_NO, { value: null, label: "Nobody can say" }] : YES_NO,
    chosen: ai,
    answered: (value) => ({ ai: value }),
  };
  const said = ai_recommendation_presented ? ai : null;
  const labels = said === undefined ? [] : possibleLabels(asked, said);
  const follows = labels.length === 1 ? labels[0]! : null;
  const ofOutcome: Question = {
    name: "outcome",
    text: "Was the decision right?",
    options: YES_NO,
    chosen: outcome,
    answered: (value) => ({ ...(ai === undefined ? {} : { ai }), outcome: value === true }),
  };
  const questions = [
    ...(ai_recommendation_presented ? [ofAi] : []),
    ...(labels.length > 1 ? [ofOutcome] : []),
  ];
  return {
    questions,
    asked: questions.find(({ chosen }) => chosen === undefined) ?? questions.at(-1) ?? null,
    follows: follows === null
      ? null
      : `So the decision (${decision}) was ${follows.outcome_correct ? "right" : "wrong"}.`,
    label: follows ?? labels.find((label) => label.outcome_correct === outcome) ?? null,
  };
}

function Choice({ question: { name, text, options, chosen }, isAsked, onChoose }: {
  readonly question: Question;
  /** Whether the keys answer it. */
  readonly isAsked: boolean;
  readonly onChoose: (value: boolean | null) => void;
}) {
  return (
    <fieldset class={isAsked ? "asked" : undefined}>
      <legend>{text}</legend>
      {options.map(({ value, label }, place) => (
        <label key={label}>
          <input
            type="radio"
            name={name}
            checked={chosen === value}
            onChange={() => onChoose(value)}
          />
          {isAsked && <kbd aria-hidden="true">{place + 1}</kbd>} {label}
        </label>
      ))}
    </fieldset>
  );
}

function Refused({ error, onNext }: { readonly error: ApiError; readonly onNext: () => void }) {
  return (
    <div class="notice fair" role="alert">
      <h3>{error.status === 409 ? "Not labelled: something else is known" : "Not labelled"}</h3>
      <p>{error.message}</p>
      <p>
        <button type="button" onClick={onNext}>Go on</button>
      </p>
    </div>
  );
}

function Done({ heading, next, again }: {
  readonly heading: { current: HTMLHeadingElement | null };
  readonly next: string | null;
  readonly again: () => void;
}) {
  return (
    <div class="empty">
      <h2 ref={heading} tabIndex={-1}>This page is done</h2>
      <p>
        {next === null
          ? <button type="button" onClick={again}>Look for more</button>
          : <a class="button" href={next}>Go on with the next page</a>}
      </p>
    </div>
  );
}
