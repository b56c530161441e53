/**
 * The one switch for all shortcuts of a single character, since speech and screen readers may send characters of their own
 * (WCAG 2.2, 2.1.4). This browser remembers it.
 */
import { useEffect, useRef, useState } from "preact/hooks";

/** The name under which this browser remembers that they are off. */
const REMEMBERED = "jiss.single-keys";

let areOn = read();
const listeners = new Set<() => void>();

function read(): boolean {
  try {
    return localStorage.getItem(REMEMBERED) === null;
  } catch {
    return true;
  }
}

function switchAll(on: boolean): void {
  areOn = on;
  try {
    if (on) localStorage.removeItem(REMEMBERED);
    else localStorage.setItem(REMEMBERED, "off");
  } catch {
    // It lasts until the page is left.
  }
  for (const listener of listeners) listener();
}

/** Whether shortcuts of a single character are on, and the switch. */
export function useSingleKeys(): readonly [areOn: boolean, switchAll: (on: boolean) => void] {
  const [shown, show] = useState(areOn);
  useEffect(() => {
    const listener = () => show(areOn);
    listener();
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return [shown, switchAll];
}

/** Hears each key with what is shown now: a key that follows another at once must not meet what was before. */
export function useHeard(hear: (event: KeyboardEvent) => void): void {
  const heard = useRef(hear);
  heard.current = hear;
  useEffect(() => {
    const listener = (event: KeyboardEvent) => heard.current(event);
    document.addEventListener("keydown", listener);
    return () => document.removeEventListener("keydown", listener);
  }, []);
}

/** Inputs in which nobody types. */
const UNTYPED: ReadonlySet<string> = new Set(["radio", "checkbox", "button", "submit"]);

/** Whether a key belongs to the element: one in which somebody types or chooses. */
export function isTyped(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !UNTYPED.has(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement ||
    (target instanceof HTMLElement && target.isContentEditable);
}
