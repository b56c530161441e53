/** Parts that stand open on wide windows and are folded on a telephone, so that the content begins near the top. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

const NARROW = "(max-width: 48rem)";

/** Whether the window is as narrow as a telephone's; it follows the window. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const follow = () => setNarrow(query.matches);
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, []);
  return isNarrow;
}

/** Folded in narrow windows under `summary`, followed by what is set. */
export function Folded({ summary, choices = [], children }: {
  readonly summary: string;
  readonly choices?: readonly (readonly [label: string, words: string])[];
  readonly children: ComponentChildren;
}) {
  const isNarrow = useNarrow();
  if (!isNarrow) return <>{children}</>;
  const set = choices.filter(([, words]) => words !== "").map(([label, words]) => `${label}: ${words}`);
  return (
    <details class="folded">
      <summary>{[summary, ...set].join(" · ")}</summary>
      {children}
    </details>
  );
}
