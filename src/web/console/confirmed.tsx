/** An act with consequences: it says what will happen and what will not before it is done. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { ApiError } from "../shared/api.ts";
import { Failure } from "./parts.tsx";

/** One way to do the act. */
interface Way {
  /** The label of its button. */
  readonly label: string;
  /** @returns whether it was done: then the questions close. */
  readonly act: () => Promise<boolean>;
  /** Whether it destroys something. */
  readonly isGrave?: boolean;
}

export function Confirmed(
  {
    button,
    isMain = false,
    isQuiet = false,
    isOpenAtFirst = false,
    title,
    choices,
    happens,
    stays,
    ways,
    ready = true,
    busy,
    error,
    children,
  }: {
    /** The label of the button that asks. */
    readonly button: string;
    /** Whether it is the view's first button. */
    readonly isMain?: boolean;
    /** Whether the button looks like a link. */
    readonly isQuiet?: boolean;
    /** Whether the question stands open, with the focus, as soon as it is there. */
    readonly isOpenAtFirst?: boolean;
    /** The question's heading. */
    readonly title: string;
    /** Fields that stand before what will happen. */
    readonly choices?: ComponentChildren;
    /** Sentences: what the act does, and what records it. */
    readonly happens: readonly string[];
    /** Sentences: what the act does not do. */
    readonly stays: readonly string[];
    readonly ways: readonly Way[];
    /** Whether the fields are filled in. */
    readonly ready?: boolean;
    readonly busy: boolean;
    readonly error: ApiError | null;
    /** Fields that stand after it. */
    readonly children?: ComponentChildren;
  },
) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const id = useId();
  const opener = useRef<HTMLButtonElement>(null);
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (isOpen) head.current?.focus();
  }, [isOpen]);
  const isGrave = ways.some((way) => way.isGrave);
  const look = isMain ? "main" : isGrave ? "grave" : isQuiet ? "link" : undefined;
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  const run = async ({ act }: Way) => {
    if (await act()) close();
  };
  return (
    <div class="act">
      <button
        ref={opener}
        type="button"
        class={look}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </button>
      {isOpen && (
        <form
          class="asked"
          aria-labelledby={id}
          onSubmit={(event) => {
            event.preventDefault();
            if (ready && !busy) run(ways[0]!);
          }}
        >
          <h3 id={id} ref={head} tabIndex={-1}>{title}</h3>
          {choices}
          <p>What will happen:</p>
          <ul>{happens.map((sentence) => <li key={sentence}>{sentence}</li>)}</ul>
          <p>What will not:</p>
          <ul>{stays.map((sentence) => <li key={sentence}>{sentence}</li>)}</ul>
          {children}
          <div class="actions">
            {ways.map((way, index) => (
              <button
                key={way.label}
                type={index === 0 ? "submit" : "button"}
                class={way.isGrave === true ? "grave" : "main"}
                disabled={busy || !ready}
                onClick={index === 0 ? undefined : () => run(way)}
              >
                {way.label}
              </button>
            ))}
            <button type="button" onClick={close}>Cancel</button>
          </div>
          {error !== null && <Failure error={error} />}
        </form>
      )}
    </div>
  );
}
