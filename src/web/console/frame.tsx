/**
 * The frame of the console: one bar with all views, the other pages, and the menu of whoever is signed in. It stands at the left of
 * wide windows and above narrow ones, where a button opens the list of views.
 */
import type { ComponentChildren, Ref } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { chooseTheme, chosenTheme, THEME_CHOICES, THEME_WORDS } from "../shared/theme.ts";
import { countOf, useCounts } from "./counts.ts";
import { Find } from "./find.tsx";
import { type Entry, GROUPS } from "./menu.ts";
import { useSingleKeys } from "./single_keys.ts";
import type { SignedIn } from "./session.tsx";

/** Leaving the console forgets a key, so these open in a new tab. */
const HELP = [["API reference", "/docs"], ["Errors", "/docs/errors"], [
  "Verify offline",
  "/docs/verify-offline",
], ["Demo", "/demo"]] as const;

interface Acts {
  readonly onRefresh: () => void;
  /** null while something is shown once: it would be lost. */
  readonly onSignOut: (() => void) | null;
}

interface FrameProperties extends Acts {
  readonly path: string;
  /** The path of the first view, which is not above the others. */
  readonly root: string;
  readonly entries: readonly Entry[];
  readonly signedIn: SignedIn;
  readonly children: ComponentChildren;
}

export function Frame({ path, root, entries, signedIn, children, ...acts }: FrameProperties) {
  const isOpen = (to: string) => path === to || (to !== root && path.startsWith(`${to}/`));
  const current = (to: string) => isOpen(to) ? "page" as const : undefined;
  const list = useDisclosure(path);
  const counts = useCounts();
  return (
    <div class="frame">
      <header class="rail">
        <a class="brand" href={root}>JISS</a>
        <Find root={root} entries={entries} />
        <nav aria-label="Console" ref={list.place}>
          <button
            type="button"
            class="opener"
            aria-expanded={list.isOpen}
            aria-controls="views"
            onClick={list.toggle}
          >
            Menu
          </button>
          <div id="views" class={list.isOpen ? "panel open" : "panel"}>
            {GROUPS.map((group) => {
              const inGroup = entries.filter((entry) => entry.group === group);
              return inGroup.length > 0 && (
                <Group key={group} name={group}>
                  {inGroup.map(({ label, path: to }) => (
                    <li key={to}>
                      <a
                        href={to}
                        aria-current={current(to)}
                        onClick={list.close}
                        {...countOf(counts, to.slice(root.length), label)}
                      >
                        {label}
                      </a>
                    </li>
                  ))}
                </Group>
              );
            })}
            <Group name="Help">
              {HELP.map(([label, to]) => (
                <li key={to}>
                  <a href={to} target="_blank" rel="noopener">
                    {label}
                    <span class="hidden">(new tab)</span>
                  </a>
                </li>
              ))}
            </Group>
          </div>
        </nav>
        <PersonMenu path={path} account={`${root}/account`} signedIn={signedIn} {...acts} />
      </header>
      <div class="stage">{children}</div>
    </div>
  );
}

/** The frame while it is not known who is signed in: an empty bar, so that nothing jumps. */
export function EmptyFrame({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="frame">
      <div class="rail" />
      <div class="stage">{children}</div>
    </div>
  );
}

function Group({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  const id = `views-${name.toLowerCase()}`;
  return (
    <div>
      <p class="group" id={id}>{name}</p>
      <ul aria-labelledby={id}>{children}</ul>
    </div>
  );
}

function PersonMenu({ path, account, signedIn: { user, organization }, onRefresh, onSignOut }: Acts & {
  readonly path: string;
  readonly account: string;
  readonly signedIn: SignedIn;
}) {
  const menu = useDisclosure<HTMLDivElement>(path);
  return (
    <div class="who" ref={menu.place}>
      <button type="button" aria-expanded={menu.isOpen} aria-controls="menu" onClick={menu.toggle}>
        <span class="names">
          <bdi>{user === null ? organization : user.name}</bdi>{" "}
          <bdi>{user === null ? "API key" : organization}</bdi>
        </span>
      </button>
      <div id="menu" class="menu" hidden={!menu.isOpen}>
        <p class="full">
          <bdi>{organization}</bdi>
        </p>
        {user !== null && (
          <a href={account} aria-current={path === account ? "page" : undefined} onClick={menu.close}>
            Account
          </a>
        )}
        <ThemeChoice />
        <SingleKeys />
        <button
          type="button"
          onClick={() => {
            menu.close();
            onRefresh();
          }}
        >
          Refresh
        </button>
        <button
          type="button"
          disabled={onSignOut === null}
          title={onSignOut === null ? "First keep what is shown once" : undefined}
          onClick={() => onSignOut?.()}
        >
          Sign out
        </button>
      </div>
    </div>
  );
}

function ThemeChoice() {
  const [chosen, setChosen] = useState(chosenTheme);
  return (
    <fieldset>
      <legend>Theme</legend>
      {THEME_CHOICES.map((theme) => (
        <label key={theme}>
          <input
            type="radio"
            name="theme"
            checked={theme === chosen}
            onChange={() => {
              chooseTheme(theme);
              setChosen(theme);
            }}
          />
          {THEME_WORDS[theme]}
        </label>
      ))}
    </fieldset>
  );
}

function SingleKeys() {
  const [areOn, switchAll] = useSingleKeys();
  return (
    <label>
      <input
        type="checkbox"
        checked={areOn}
        onChange={(event) => switchAll(event.currentTarget.checked)}
      />
      Single-key shortcuts
    </label>
  );
}

interface Disclosure<Place extends HTMLElement> {
  readonly isOpen: boolean;
  readonly toggle: () => void;
  readonly close: () => void;
  /** The element that has the button and what it opens. */
  readonly place: Ref<Place>;
}

/** The part that a button opens, until Escape, a click or the focus elsewhere, or another view. */
function useDisclosure<Place extends HTMLElement>(path: string): Disclosure<Place> {
  const [isOpen, setOpen] = useState(false);
  const place = useRef<Place>(null);
  const close = () => setOpen(false);
  useEffect(close, [path]);
  useEffect(() => {
    if (!isOpen) return;
    const leave = ({ target }: Event) => {
      if (target instanceof Node && !place.current?.contains(target)) close();
    };
    const press = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      close();
      place.current?.querySelector("button")?.focus();
    };
    const events = ["pointerdown", "focusin"] as const;
    for (const event of events) addEventListener(event, leave);
    addEventListener("keydown", press);
    return () => {
      for (const event of events) removeEventListener(event, leave);
      removeEventListener("keydown", press);
    };
  }, [isOpen]);
  return { isOpen, toggle: () => setOpen(!isOpen), close, place };
}
