/**
 * The frame of every stage of the demo and of an exercise. Its title takes the focus, so that a screen reader announces it. It
 * ignores the rest of the double click that opened it, which would press the element that is under the
 * pointer now.
 */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Shown {
  readonly title: string;
  /** True if the focus stays where the browser put it, as on a page that was just opened. */
  readonly isFirst?: boolean;
  readonly children: ComponentChildren;
}

/** Time for which a tap may belong to the one before: not every browser counts the clicks of taps. */
const DOUBLE_TAP_MS = 400;

export function Stage({ title, isFirst = false, children }: Shown) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => isFirst ? undefined : ignoreRestOfClick(), [title]);
  useLayoutEffect(() => {
    document.title = `${title} · JISS`;
    if (isFirst) return;
    scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <main id="main" tabIndex={-1}>
      <h1 ref={heading} tabIndex={-1}>{title}</h1>
      {children}
    </main>
  );
}

/** Ignores clicks until one begins here. It precedes all other listeners; the returned function ends it. */
function ignoreRestOfClick(): () => void {
  const shown = performance.now();
  const listening = new AbortController();
  const ignore = (event: Event) => {
    const { detail, pointerType, type } = event as PointerEvent;
    if (detail > 1 || (pointerType === "touch" && performance.now() - shown < DOUBLE_TAP_MS)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else if (type === "click" && detail === 1) listening.abort();
  };
  // A press would move the focus even without its click.
  for (const type of ["mousedown", "click"]) {
    addEventListener(type, ignore, { capture: true, signal: listening.signal });
  }
  return () => listening.abort();
}
