/** What every stage of the demo stands in: a title to which the focus goes, so that a screen reader tells of it. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Shown {
  readonly title: string;
  /** Whether the focus stays where the browser put it, as on a page that was just opened. */
  readonly isFirst?: boolean;
  readonly children: ComponentChildren;
}

export function Stage({ title, isFirst = false, children }: Shown) {
  const heading = useRef<HTMLHeadingElement>(null);
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
