/** Keys of a view: each a single character, or Enter or Escape. They can be switched off. */
import { useState } from "preact/hooks";
import { FIND } from "./find.tsx";
import { isTyped, useHeard, useSingleKeys } from "./single_keys.ts";

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
  const [isOn, switchOn] = useSingleKeys();
  useHeard((event) => {
    const { key, target } = event;
    if (!isOn || event.repeat || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyped(target) || (key === "Enter" && isPressed(target))) return;
    const act = key === "?" ? () => show(!isOpen) : keys.find((one) => one.key === key)?.act;
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
  return { isOpen, show, isOn, switchOn };
}

/** Whether Enter operates the element itself. */
function isPressed(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("a, button, summary") !== null;
}

const EVERYWHERE = [
  { key: "/", does: FIND },
  { key: "?", does: "Show or hide these shortcuts" },
] as const;

/** The list of a view's keys, folded away. */
export function KeysHelp({ keys, help: { isOpen, show, isOn, switchOn } }: {
  readonly keys: readonly Key[];
  readonly help: Help;
}) {
  return (
    <details class="keys" open={isOpen} onToggle={(event) => show(event.currentTarget.open)}>
      <summary>Keyboard shortcuts</summary>
      <dl>
        {[...keys, ...EVERYWHERE].map(({ key, does }) => (
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
