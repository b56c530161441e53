/**
 * Keys of a view: each a single character, or Enter or Escape. They can be switched off, since speech and screen readers may send
 * characters of their own (WCAG 2.2, 2.1.4).
 */
import { useEffect, useRef, useState } from "preact/hooks";

export interface Key {
  /** As the browser names it. */
  readonly key: string;
  /** Its effect, as a list of keys says it. */
  readonly does: string;
  readonly act: () => unknown;
}

export interface Help {
  readonly isOpen: boolean;
  readonly show: (isOpen: boolean) => void;
  readonly isOn: boolean;
  readonly switchOn: (isOn: boolean) => void;
}

/** Acts on keys while the view is shown, and shows its list of keys with `?`. */
export function useKeys(keys: readonly Key[]): Help {
  const [isOpen, show] = useState(false);
  const [isOn, switchOn] = useState(true);
  const hear = (event: KeyboardEvent) => {
    const { key, target } = event;
    if (!isOn || event.repeat || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyped(target) || (key === "Enter" && isPressed(target))) return;
    const act = key === "?" ? () => show(!isOpen) : keys.find((one) => one.key === key)?.act;
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  // One listener hears with what the view shows now: a key that follows another at once must not meet what was before.
  const heard = useRef(hear);
  heard.current = hear;
  useEffect(() => {
    const listener = (event: KeyboardEvent) => heard.current(event);
    document.addEventListener("keydown", listener);
    return () => document.removeEventListener("keydown", listener);
  }, []);
  return { isOpen, show, isOn, switchOn };
}

/** Inputs in which nobody types. */
const UNTYPED: ReadonlySet<string> = new Set(["radio", "checkbox", "button", "submit"]);

/** Whether a key belongs to the element: one in which somebody types or chooses. */
function isTyped(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !UNTYPED.has(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement ||
    (target instanceof HTMLElement && target.isContentEditable);
}

/** Whether Enter operates the element itself. */
function isPressed(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("a, button, summary") !== null;
}

/** The list of a view's keys, folded away. */
export function KeysHelp({ keys, help: { isOpen, show, isOn, switchOn } }: {
  readonly keys: readonly Key[];
  readonly help: Help;
}) {
  return (
    <details class="keys" open={isOpen} onToggle={(event) => show(event.currentTarget.open)}>
      <summary>Keyboard shortcuts</summary>
      <dl>
        {[...keys, { key: "?", does: "Show or hide these shortcuts" }].map(({ key, does }) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label>
        <input
          type="checkbox"
          checked={isOn}
          onChange={(event) => switchOn(event.currentTarget.checked)}
        />{" "}
        The shortcuts are on
      </label>
    </details>
  );
}
