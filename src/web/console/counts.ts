/**
 * How many cases and alerts are open and how many contests there are, as the last answers of this session had it. No request is made
 * for them: the bar shows what the views have asked for anyway.
 */
import { useEffect, useState } from "preact/hooks";

/** The views with a count. */
type Counted = "/cases" | "/alerts" | "/contests";

export interface Count {
  readonly count: number;
  /** Whether there are more than the answer has. */
  readonly hasMore: boolean;
}

/** Each list, the view that shows it, and the parameters that leave nothing open out of its first page. */
const LISTS: readonly (readonly [path: string, view: Counted, list: string, words: string])[] = [
  ["/v1/cases", "/cases", "cases", "open"],
  ["/v1/organization/alerts", "/alerts", "alerts", "open"],
  ["/v1/contests", "/contests", "contests", "recorded"],
];
const WHOLE: ReadonlySet<string> = new Set(["include", "limit"]);

let known: ReadonlyMap<string, Count> = new Map();
const listeners = new Set<() => void>();

function become(counts: ReadonlyMap<string, Count>): void {
  known = counts;
  for (const listener of [...listeners]) listener();
}

/** Keeps the count of an answer that has the first page of a whole list. */
export function noteCount(path: string, body: unknown): void {
  const [place, query = ""] = path.split("?");
  const found = LISTS.find(([one]) => one === place);
  if (found === undefined || [...new URLSearchParams(query).keys()].some((name) => !WHOLE.has(name))) return;
  const [, view, list] = found;
  const answer = body as Readonly<Record<string, readonly unknown[]>> & { readonly next_cursor: unknown };
  become(new Map(known).set(view, { count: answer[list]!.length, hasMore: answer.next_cursor !== null }));
}

/** Nothing is known of the next session. */
export function forgetCounts(): void {
  become(new Map());
}

/** The attributes of the bar's link to a view: a count in sight, and a name that says what is counted; none without a count. */
export function countOf(counts: ReadonlyMap<string, Count>, view: string, label: string) {
  const of = counts.get(view);
  if (of === undefined || of.count === 0) return {};
  const words = LISTS.find(([, one]) => one === view)![3];
  return {
    "data-count": `${of.count}${of.hasMore ? "+" : ""}`,
    "aria-label": `${label}, ${of.hasMore ? "more than " : ""}${of.count} ${words}`,
  };
}

export function useCounts(): ReadonlyMap<string, Count> {
  const [counts, setCounts] = useState(known);
  useEffect(() => {
    const listener = () => setCounts(known);
    listener();
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return counts;
}
