/**
 * The parts of views: a heading that takes the focus, figures, tables, and the states in which there are
 * none.
 */
import { type ComponentChildren, Fragment } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { VerdictStatus } from "../../domain/enums.ts";
import { nameInWords, NO_DATA, scoreInWords } from "../../pages/wording.ts";
import { VERDICT_WORDS } from "../../scoring/verdict_words.ts";
import type { ApiError } from "../shared/api.ts";
import { longName } from "./long_name.ts";
import { type Entry, entryOf } from "./menu.ts";
import { SessionContext } from "./session.tsx";
import { localInWords, localToSecond, utcInWords } from "../shared/local_time.ts";
import { withMinus } from "./trend.ts";
import { refusedChoices, UnknownChoices } from "./unknown.tsx";
import type { Asked } from "./use_answer.ts";

/** One view: a keyboard and a screen reader begin at its heading. */
export function View({ title, within, mark, line, isNarrow = false, children }: {
  readonly title: string;
  /** The list or the view from which one comes here: the way back stands above the heading. */
  readonly within?: { readonly path: string; readonly label: string };
  /** Stands beside the heading. */
  readonly mark?: ComponentChildren;
  /** A quiet line below the heading. */
  readonly line?: ComponentChildren;
  /** Whether it is a short form and nothing else. */
  readonly isNarrow?: boolean;
  readonly children: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · JISS`;
    heading.current?.focus();
  }, [title]);
  return (
    <main id="main" class={isNarrow ? "narrow" : undefined}>
      <Printed title={title} />
      {within !== undefined && (
        <nav class="within" aria-label="Breadcrumb">
          <a href={within.path} {...longName(within.label)}>{within.label}</a>
        </nav>
      )}
      <div class="title">
        <h1 ref={heading} tabIndex={-1}>
          <bdi>{title}</bdi>
        </h1>
        {mark}
      </div>
      {line !== undefined && <div class="title-line">{line}</div>}
      {children}
    </main>
  );
}

/** On paper alone: whose view it is, and when it was printed. */
function Printed({ title }: { readonly title: string }) {
  const organization = useContext(SessionContext)?.signedIn.organization;
  const [at, setAt] = useState(() => Date.now());
  useEffect(() => {
    const print = () => setAt(Date.now());
    addEventListener("beforeprint", print);
    return () => removeEventListener("beforeprint", print);
  }, []);
  const parts = ["JISS", organization, title === organization ? "Home" : title];
  const line = [...parts, utcInWords(new Date(at).toISOString())].filter((part) => part !== undefined);
  return <p class="printed" data-line={line.join(" · ")} />;
}

/** The body of an answer, or the state of its request. The body stays while it is asked for again. */
export function Answered<Body>({ asked: { loaded, again, attempt, isRefreshing }, side, children }: {
  readonly asked: Asked<Body>;
  /** The end of the names that its choices have in the address, if another answer has the plain names. */
  readonly side?: string;
  readonly children: (body: Body) => ComponentChildren;
}) {
  // The element that had the focus may have disappeared with the last answer.
  useEffect(() => {
    if (document.activeElement === document.body) {
      document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
    }
  }, [loaded]);
  switch (loaded.state) {
    case "loading":
      return <Loading />;
    case "failed":
      return <Unanswered error={loaded.error} again={again} side={side} />;
    case "ready":
      return (
        <>
          {isRefreshing && (
            <p class="refreshing" role="status">
              <span class="hidden">Refreshing…</span>
            </p>
          )}
          <Fragment key={attempt}>{children(loaded.body)}</Fragment>
        </>
      );
  }
}

/** Stands where something is on its way, in about its shape. */
export function Loading() {
  return (
    <div class="loading" role="status">
      <span class="hidden">Loading…</span>
      <div class="skeleton" aria-hidden="true">
        <span />
        <span />
        <span />
        <span />
        <span />
        <span />
      </div>
    </div>
  );
}

/** A button for what cannot be undone: it asks once more. `warning` is shown with the question. */
export function Grave({ verb, what, busy, warning = null, onSure }: {
  /** What the button does, in capitals as it begins, such as `Remove`. */
  readonly verb: string;
  /** To whom or what it does it: the button's name for assistive technology. */
  readonly what: string;
  readonly busy: boolean;
  readonly warning?: string | null;
  readonly onSure: () => void;
}) {
  const [isAsking, setAsking] = useState(false);
  if (!isAsking) {
    return (
      <button class="grave" type="button" aria-label={`${verb} ${what}`} onClick={() => setAsking(true)}>
        {verb}
      </button>
    );
  }
  return (
    <>
      {warning !== null && <p class="small">{warning}</p>}
      <button class="grave" type="button" disabled={busy} onClick={onSure}>
        Really {verb.toLowerCase()}
      </button>
      <button type="button" onClick={() => setAsking(false)}>Keep</button>
    </>
  );
}

/** Stands in place of an answer: the choices of the address that are not known, or the refusal. */
function Unanswered({ error, again, side }: {
  readonly error: ApiError;
  readonly again: () => void;
  readonly side: string | undefined;
}) {
  const { path, query } = useLocation();
  const unknown = refusedChoices(error, query, side);
  if (unknown.length > 0) return <UnknownChoices names={unknown} />;
  const list = entryOf(path);
  return <Failure error={error} again={again} list={list?.path === path ? null : list} />;
}

/** The call that the service names to whoever uses the API: the console has a view for it. */
const NAMED_CALL = /: GET \/v1\/[^:]*$/;

/** A refusal of the service, in its own words. */
export function Failure({ error, again, list = null }: {
  readonly error: ApiError;
  readonly again?: () => void;
  /** The view that lists what was asked for. */
  readonly list?: Entry | null;
}) {
  const { title, advice } = wordsFor(error);
  return (
    <div class="notice bad" role="alert">
      <h2>{title}</h2>
      <p>{error.message.replace(NAMED_CALL, ".")}</p>
      {error.more.details.length > 1 && (
        <ul>{error.more.details.map(({ path, message }) => <li key={path}>{path}: {message}</li>)}</ul>
      )}
      {error.status === 404 && list !== null
        ? (
          <p>
            It was removed, or the address is another one: go on from <a href={list.path}>{list.label}</a>.
          </p>
        )
        : advice !== null && <p>{advice}</p>}
      {error.more.requestId !== null && (
        <p class="small">
          Request <code>{error.more.requestId}</code>
        </p>
      )}
      {again !== undefined && error.status !== 403 && (
        <p>
          <button type="button" onClick={again}>Try again</button>
        </p>
      )}
    </div>
  );
}

function wordsFor(
  { status, code, more }: ApiError,
): { readonly title: string; readonly advice: string | null } {
  switch (status) {
    case 0:
      return { title: "The service cannot be reached", advice: null };
    case 401:
      return { title: "No permission", advice: null };
    case 403:
      return { title: "No permission", advice: "The role decides: ask an admin of your organization." };
    case 422:
      return {
        title: code === "INSUFFICIENT_DATA" ? "Too little to say" : "This did not work",
        advice: null,
      };
    case 404:
      return {
        title: "There is nothing here",
        advice: "It was removed, or the address is another one: go on from the list that you came from.",
      };
    case 410:
      return {
        title: "This is gone",
        advice: more.reason === "pruned"
          ? "A signed entry of the chain records the removal."
          : "Its entry stays in the chain and still verifies.",
      };
    case 429:
      return { title: "Too many attempts", advice: null };
    case 501:
      return { title: "Switched off here", advice: "Whoever runs the service can switch it on." };
    case 503:
      return { title: "Not at the moment", advice: null };
    default:
      return {
        title: code === "UNREADABLE" ? "This was not the service" : "This did not work",
        advice: status >= 500 && code !== "UNREADABLE"
          ? "Try again. If it goes on, give the request's id to whoever runs the service: its log has the cause."
          : null,
      };
  }
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

/** The members of answers that hold points of a score, which the console shows with one decimal. */
const SCORES: ReadonlySet<string> = new Set([
  ...["jis", "low", "high", "mean_jis", "median_jis", "projected_today", "current_trend"],
  ...["before", "after"],
]);

/** A value of the API, unchanged, but for the minus and the one decimal of a score; `of` is its place in the answer. */
export function Figure({ of, value }: { readonly of: string; readonly value: number | string | null }) {
  if (typeof value === "number" && SCORES.has(of.slice(of.lastIndexOf(".") + 1))) {
    return (
      <span data-figure={of} data-exact={value} title={String(value)}>{withMinus(scoreInWords(value))}</span>
    );
  }
  if (typeof value === "number") return <span data-figure={of}>{withMinus(String(value))}</span>;
  return <span data-figure={of}>{value ?? NO_DATA}</span>;
}

export function Tile({ name, more, children }: {
  readonly name: string;
  readonly more?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <li class="tile">
      <span class="name">{name}</span>
      <span class="value">{children}</span>
      {more !== undefined && <span class="more">{more}</span>}
    </li>
  );
}

/** One line of what describes a thing: a name, and what is so. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** A band's name. It has no colour: the verdict near it has one. */
export function bandInWords(band: string): string {
  return nameInWords(band.toLowerCase().replaceAll(" ", "_"));
}

const VERDICT_TONES: Readonly<Record<VerdictStatus, string>> = {
  compliant: "good",
  undetermined: "fair",
  non_compliant: "bad",
};

/** The class of a notice or mark that says a verdict; its words say the same. */
export function toneOf(verdict: VerdictStatus | null): string {
  return verdict === null ? "none" : VERDICT_TONES[verdict];
}

/** A verdict in its words; null if there is none to give. */
export function VerdictMark({ status }: { readonly status: VerdictStatus | null }) {
  return (
    <span class={`status ${toneOf(status)}`}>{status === null ? "No verdict" : VERDICT_WORDS[status]}</span>
  );
}

/** An instant in the browser's own time, which breaks between day and clock; its title and its machine-readable value are UTC. */
export function Instant({ at, toSecond = false }: {
  readonly at: string;
  /** Whether the clock has seconds. */
  readonly toSecond?: boolean;
}) {
  const [day, clock] = (toSecond ? localToSecond(at) : localInWords(at)).split(", ");
  return (
    <time dateTime={at} title={at}>
      <span>{day}</span>
      {clock !== undefined && (
        <>
          <span>,</span> <span>{clock}</span>
        </>
      )}
    </time>
  );
}

/**
 * A table of given rows; if it is wider than the window it scrolls by itself, by keyboard too, and on a telephone each row is a
 * card. A list has a `Table`.
 */
export function Rows({ label, columns, children }: {
  readonly label: string;
  /** Names of the columns; one that begins with `#` holds numbers. */
  readonly columns: readonly string[];
  readonly children: ComponentChildren;
}) {
  const table = useRef<HTMLTableElement>(null);
  // The rows are made elsewhere. A card shows the head beside each cell, and the roles stay if the style draws cards.
  useLayoutEffect(() => {
    for (const row of table.current!.tBodies[0]!.rows) {
      row.setAttribute("role", "row");
      for (const [place, cell] of [...row.cells].entries()) {
        cell.setAttribute("role", cell.scope === "row" ? "rowheader" : "cell");
        cell.dataset.label = columns[place]?.replace(/^#/, "") ?? "";
      }
    }
  });
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="rows cards" role="table" aria-label={label} ref={table}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th
                scope="col"
                role="columnheader"
                key={column}
                class={column.startsWith("#") ? "number" : undefined}
              >
                {column.replace(/^#/, "")}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">{children}</tbody>
      </table>
    </div>
  );
}

/** The links under a list of more than one page: onwards, and back to its beginning. */
export function Pages({ path, query, next, nextPage = "Next page" }: {
  readonly path: string;
  /** The parameters that stay the same from page to page. */
  readonly query: Readonly<Record<string, string>>;
  readonly next: string | null;
  /** The name of the link to the next page. */
  readonly nextPage?: string;
}) {
  const { cursor, ...rest } = query;
  if (cursor === undefined && next === null) return null;
  return (
    <nav class="pages" aria-label="Pages">
      {cursor !== undefined && <a class="button" href={addressOf(path, rest)}>First page</a>}
      {next !== null && <a class="button" href={addressOf(path, { ...rest, cursor: next })}>{nextPage}</a>}
      {next === null && <span class="muted">That is all.</span>}
    </nav>
  );
}

/** A path with its query; empty parameters are left out. */
export function addressOf(path: string, query: Readonly<Record<string, string>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== "");
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
