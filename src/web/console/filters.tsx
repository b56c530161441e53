/** The fields above a list that choose what it shows; the address keeps each choice. */
import type { Ref } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { OPERATOR_PART_MAX_LENGTH } from "../../domain/limits.ts";
import { dayInWords } from "../../pages/wording.ts";

/** A choice of one value; an empty one shows all. */
export function Choice({ id, label, value, options, onChosen }: {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  /** Values with their words, in their order. */
  readonly options: readonly (readonly [value: string, words: string])[];
  readonly onChosen: (value: string) => void;
}) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChosen(event.currentTarget.value)}>
        {options.map(([name, words]) => <option key={name} value={name}>{words}</option>)}
      </select>
    </div>
  );
}

/**
 * A field that is typed in freely until it is sent, and follows the address, back and forth. It keeps the focus, which a field that
 * is drawn anew would lose.
 */
export function useFollowing(value: string): Ref<HTMLInputElement> {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    input.current!.value = value;
  }, [value]);
  return input;
}

type Sent = SubmitEvent & { readonly currentTarget: HTMLFormElement };

/** A part of a name; Enter sends it, since each letter would be another question. */
export function Search({ label, value, onSent }: {
  readonly label: string;
  readonly value: string;
  readonly onSent: (part: string) => void;
}) {
  const input = useFollowing(value);
  const send = (event: Sent) => {
    event.preventDefault();
    onSent(String(new FormData(event.currentTarget).get("q") ?? "").trim());
  };
  return (
    <form class="filters" role="search" onSubmit={send}>
      <div class="field">
        <label for="q">{label}</label>
        <input
          id="q"
          name="q"
          type="search"
          ref={input}
          maxLength={OPERATOR_PART_MAX_LENGTH}
          pattern="\s*[A-Za-z0-9_\-]*\s*"
          title="Letters, digits, hyphens and underscores"
          autocomplete="off"
          spellcheck={false}
        />
      </div>
      <button type="submit">Search</button>
      {value !== "" && <button type="button" onClick={() => onSent("")}>Clear the search</button>}
    </form>
  );
}

/** The words of a range of days. */
const BOUNDS = { since: "From (UTC)", until: "Until, excluded (UTC)", show: "Show these days" };

/** A range of UTC days. A button sends it: a half-typed date is another date. */
export function Days({ id = "", words = BOUNDS, since, until, onSent }: {
  /** The beginning of the fields' ids, if the page has more than one range. */
  readonly id?: string;
  readonly words?: typeof BOUNDS;
  /** ISO 8601; empty if the range is open. */
  readonly since: string;
  readonly until: string;
  readonly onSent: (days: { readonly since: string; readonly until: string }) => void;
}) {
  const send = (event: Sent) => {
    event.preventDefault();
    const days = new FormData(event.currentTarget);
    onSent({ since: String(days.get("since") ?? ""), until: String(days.get("until") ?? "") });
  };
  return (
    <form class="filters" onSubmit={send}>
      <DayFields id={id} words={words} since={since} until={until} />
      <button type="submit">{words.show}</button>
    </form>
  );
}

/** The two fields of a range of UTC days, `since` and `until`, for a form that has others, too. */
export function DayFields({ id = "", words = BOUNDS, since, until }: {
  readonly id?: string;
  readonly words?: Pick<typeof BOUNDS, "since" | "until">;
  readonly since: string;
  readonly until: string;
}) {
  return (
    <>
      <Day id={id} name="since" label={words.since} value={since} />
      <Day id={id} name="until" label={words.until} value={until} />
    </>
  );
}

/** On paper alone: what the fields above a list have chosen. Empty choices are left out; without any, all is shown. */
export function ChosenOnPaper({ choices }: {
  readonly choices: readonly (readonly [label: string, words: string])[];
}) {
  const made = choices.filter(([, words]) => words !== "");
  const said = made.map(([label, words]) => `${label}: ${words}`).join(" · ");
  return <p class="on-paper">{said === "" ? "No filter: all is shown." : said}</p>;
}

/** The choices of a range of days, for paper. */
export function daysInWords(since: string, until: string): readonly (readonly [string, string])[] {
  const day = (date: string) => date === "" ? "" : dayInWords(date);
  return [[BOUNDS.since, day(since)], [BOUNDS.until, day(until)]];
}

function Day({ id, name, label, value }: {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly value: string;
}) {
  const day = value.slice(0, 10);
  // The browser complains of a text that is no date, which an address may hold.
  const input = useFollowing(Number.isNaN(Date.parse(`${day}T00:00:00Z`)) ? "" : day);
  return (
    <div class="field">
      <label for={id + name}>{label}</label>
      <input id={id + name} name={name} type="date" ref={input} />
    </div>
  );
}
