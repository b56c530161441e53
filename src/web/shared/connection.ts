/** Whether the service can be reached, as calls find out and the browser says. */

export interface Connection {
  /** `offline`: the browser has no network. `unreachable`: the last call got no answer. */
  readonly state: "connected" | "offline" | "unreachable";
  /** Instant of the last answer, milliseconds of the browser's clock; null before the first one. */
  readonly answeredAt: number | null;
}

let isAnswered = true;
let answeredAt: number | null = null;
const listeners = new Set<() => void>();

/** The present state. */
export function connection(): Connection {
  const { onLine = true } = navigator as { readonly onLine?: boolean };
  return { state: !onLine ? "offline" : isAnswered ? "connected" : "unreachable", answeredAt };
}

/** Reports whether a call got an answer of any kind. */
export function reportCall(hasAnswer: boolean): void {
  if (hasAnswer) answeredAt = Date.now();
  if (isAnswered === hasAnswer) return;
  isAnswered = hasAnswer;
  for (const listener of [...listeners]) listener();
}

/** Calls `listener` after each change of the state, until the returned function is called. */
export function onConnection(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener("online", listener);
  addEventListener("offline", listener);
  return () => {
    listeners.delete(listener);
    removeEventListener("online", listener);
    removeEventListener("offline", listener);
  };
}
