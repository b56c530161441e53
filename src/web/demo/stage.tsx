/**
 * What every stage of the demo stands in: a title to which the focus goes, so that a screen reader tells of it. It is
 * deaf to the rest of the double click that brought it, which would press what stands under the pointer now.
 */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Shown {
  readonly title: string;
  /** Whether the focus stays where the browser put it, as on a page that was just opened. */
  readonly isFirst?: boolean;
  readonly children: ComponentChildren;
}

/** A tap has no count of clicks everywhere: so long after it the next one may belong to it. */
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

/** Until a click begins here. Before all other listeners, the collector's too; what it returns ends it. */
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
  // The press alone would move the focus.
  for (const type of ["mousedown", "click"]) {
    addEventListener(type, ignore, { capture: true, signal: listening.signal });
  }
  return () => listening.abort();
}
