/**
 * The field that finds from anywhere: operators by a part of the name, views by theirs, and a decision by its id. It is an editable
 * combobox with a list (WAI-ARIA APG); nothing is asked before somebody types.
 */
import { useLocation } from "preact-iso";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useFoundOperators } from "./find_operators.ts";
import { VerdictMark } from "./parts.tsx";
import { reviewerInWords } from "./reviewers.tsx";
import { type SignedIn, useSession } from "./session.tsx";
import { isTyped, useHeard, useSingleKeys } from "./single_keys.ts";
import type { Operators } from "./types.ts";

/** The name of the field, and the words of its shortcut. */
export const FIND = "Find an operator, a decision or a view";
/** Most hits of all groups, and most views among them. */
const MOST = 8;
const MOST_VIEWS = 3;

/** A view that the menu has. */
interface Place {
  readonly label: string;
  readonly path: string;
}

interface Hit {
  readonly group: "Operators" | "Views" | "Decisions";
  /** The path that it opens. */
  readonly to: string;
  readonly words: string;
  readonly operator?: Operators["operators"][number];
}

const HIT_GROUPS = ["Operators", "Views", "Decisions"] as const;

/** The hits in the order of the list. */
function hitsOf({ text, root, entries, operators, signedIn }: {
  readonly text: string;
  readonly root: string;
  readonly entries: readonly Place[];
  readonly operators: Operators["operators"];
  readonly signedIn: SignedIn;
}): readonly Hit[] {
  if (text === "") return [];
  const views = entries.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()))
    .slice(0, MOST_VIEWS)
    .map(({ label, path }): Hit => ({ group: "Views", to: path, words: label }));
  const decisions = `${root}/decisions`;
  const replay: readonly Hit[] = entries.some(({ path }) => path === decisions)
    ? [{ group: "Decisions", to: `${decisions}/${encodeURIComponent(text)}`, words: text }]
    : [];
  const others = [...views, ...replay];
  return [
    ...operators.slice(0, MOST - others.length).map((operator): Hit => ({
      group: "Operators",
      to: `${root}/operators/${encodeURIComponent(operator.operator_id)}`,
      words: reviewerInWords(signedIn, operator.operator_id),
      operator,
    })),
    ...others,
  ];
}

export function Find({ root, entries }: { readonly root: string; readonly entries: readonly Place[] }) {
  const { signedIn } = useSession();
  const { route } = useLocation();
  const input = useRef<HTMLInputElement>(null);
  /** The element that had the focus before. */
  const before = useRef<Element | null>(null);
  /** Whether Enter was pressed before the operators were there. */
  const isAwaited = useRef(false);
  const [isOpen, setOpen] = useState(false);
  const [typed, type] = useState("");
  const [chosen, choose] = useState<string | null>(null);
  const text = typed.trim();
  const found = useFoundOperators(text);
  const hits = hitsOf({ text, root, entries, operators: found.operators, signedIn });
  const active = hits.findIndex(({ to }) => to === chosen);
  const isExpanded = isOpen && text !== "";
  const shown = hits.filter(({ group }) => group === "Operators").length;
  const note = noteOf({ ...found, text, shown, isNamed: signedIn.privacy === "named" });
  const [areSingleKeysOn] = useSingleKeys();

  useHeard((event) => {
    const { key, target, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (event.defaultPrevented || event.repeat || event.isComposing || altKey) return;
    const isCommand = (ctrlKey !== metaKey) && !shiftKey && key.toLowerCase() === "k";
    const isSlash = areSingleKeysOn && key === "/" && !ctrlKey && !metaKey && !isTyped(target);
    // A question that is half answered keeps the keyboard.
    if (!(isCommand || isSlash) || document.querySelector("form.asked, dialog[open]") !== null) return;
    event.preventDefault();
    open();
  });
  // In a narrow window the field is there only once it is open.
  useLayoutEffect(() => {
    if (isOpen) input.current?.focus();
  }, [isOpen]);
  useLayoutEffect(() => {
    if (active >= 0) document.getElementById(`hit-${active}`)?.scrollIntoView({ block: "nearest" });
  }, [active]);
  useEffect(() => {
    if (!isAwaited.current || found.isPending) return;
    isAwaited.current = false;
    // Without the operators the first hit may be another thing than the one that was meant.
    if (found.error === null && hits[0] !== undefined) go(hits[0]);
  });

  function open() {
    if (document.activeElement !== input.current) before.current = document.activeElement;
    setOpen(true);
    input.current?.focus();
    input.current?.select();
  }
  const clear = () => {
    isAwaited.current = false;
    type("");
    choose(null);
    setOpen(false);
  };
  /** Gives the focus back. */
  const leave = () => {
    clear();
    const place = before.current;
    if (place instanceof HTMLElement && place.isConnected && place !== document.body) place.focus();
    else input.current?.blur();
  };
  const go = ({ to }: Hit) => {
    clear();
    // The next view takes the focus itself; if the view stays, its heading does.
    const heading = document.querySelector<HTMLElement>("main h1");
    if (heading === null) input.current?.blur();
    else heading.focus({ preventScroll: true });
    route(to);
  };
  const move = (by: 1 | -1) => {
    if (hits.length === 0) return;
    const next = active < 0 ? (by === 1 ? 0 : hits.length - 1) : (active + by + hits.length) % hits.length;
    choose(hits[next]!.to);
  };
  const press = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    switch (event.key) {
      case "ArrowDown":
      case "ArrowUp":
        move(event.key === "ArrowDown" ? 1 : -1);
        break;
      case "Enter": {
        if (active >= 0) go(hits[active]!);
        else if (found.isPending) isAwaited.current = true;
        else if (hits[0] !== undefined) go(hits[0]);
        break;
      }
      case "Escape":
        leave();
        break;
      default:
        return;
    }
    event.preventDefault();
  };
  const keepFocus = (event: MouseEvent) => event.preventDefault();
  return (
    <div class={isOpen ? "find open" : "find"} role="search" aria-label="Anywhere">
      <button
        type="button"
        class="finder"
        aria-label="Find"
        aria-expanded={isOpen}
        aria-controls="find-field"
        onMouseDown={isOpen ? keepFocus : undefined}
        onClick={isOpen ? leave : open}
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M11 11l3.5 3.5M12 7A5 5 0 1 1 2 7a5 5 0 0 1 10 0z" />
        </svg>
      </button>
      <div id="find-field">
        <input
          ref={input}
          id="find"
          type="text"
          role="combobox"
          aria-label={FIND}
          aria-keyshortcuts="/ Control+K Meta+K"
          aria-autocomplete="list"
          aria-expanded={isExpanded && hits.length > 0}
          aria-controls="found"
          aria-activedescendant={isExpanded && active >= 0 ? `hit-${active}` : undefined}
          placeholder="Find an operator…"
          title={`${FIND} (/ or Ctrl+K)`}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          enterkeyhint="go"
          value={typed}
          onInput={(event) => {
            isAwaited.current = false;
            type(event.currentTarget.value);
            choose(null);
          }}
          onKeyDown={press}
          onFocus={({ relatedTarget }) => {
            if (!isOpen) before.current = relatedTarget instanceof Element ? relatedTarget : null;
            setOpen(true);
          }}
          onBlur={() => {
            // Another window took the focus, and gives it back.
            if (document.hasFocus()) clear();
          }}
        />
        {isExpanded && (
          <div class="found" onMouseDown={keepFocus}>
            {note !== null && <p class="small muted">{note}</p>}
            {hits.length > 0 && (
              <div id="found" role="listbox" aria-label="Found">
                {HIT_GROUPS.map((group) => (
                  <HitGroup
                    key={group}
                    group={group}
                    hits={hits}
                    active={active}
                    onChosen={go}
                  />
                ))}
              </div>
            )}
          </div>
        )}
      </div>
      <p class="hidden" role="status">
        {isExpanded && !found.isPending && countInWords(hits.length, note)}
      </p>
    </div>
  );
}

function HitGroup({ group, hits, active, onChosen }: {
  readonly group: Hit["group"];
  readonly hits: readonly Hit[];
  readonly active: number;
  readonly onChosen: (hit: Hit) => void;
}) {
  const own = hits.flatMap((hit, index) => hit.group === group ? [[hit, index] as const] : []);
  if (own.length === 0) return null;
  return (
    <div role="group" aria-label={group}>
      <p class="group" aria-hidden="true">{group}</p>
      {own.map(([hit, index]) => (
        <div
          key={hit.to}
          id={`hit-${index}`}
          role="option"
          aria-selected={index === active}
          onClick={() => onChosen(hit)}
        >
          <span>
            {group === "Decisions" && "Replay "}
            <bdi>{hit.words}</bdi>
          </span>
          {hit.operator !== undefined && (
            <>
              {" "}
              <VerdictMark status={hit.operator.verdict?.status ?? null} />
            </>
          )}
        </div>
      ))}
    </div>
  );
}

/** The line above the hits, about the operators; null if the list says all there is. */
function noteOf({ text, isAsked, isPending, error, isWhole, operators, shown, isNamed }: {
  readonly text: string;
  readonly shown: number;
  readonly isNamed: boolean;
} & ReturnType<typeof useFoundOperators>): string | null {
  const name = isNamed ? "name" : "pseudonym";
  if (!isAsked) return null;
  if (isPending) return "Searching the operators…";
  if (error !== null) return `The operators could not be searched. ${error.message}`;
  if (operators.length === 0) return `No operator has a ${name} with “${text}” in it.`;
  return isWhole && shown === operators.length ? null : `More operators have it: type more of the ${name}.`;
}

function countInWords(count: number, note: string | null): string {
  return `${count} ${count === 1 ? "hit" : "hits"}.${note === null ? "" : ` ${note}`}`;
}
