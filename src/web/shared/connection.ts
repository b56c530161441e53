/** Whether the service can be reached, as calls find out and the browser says, and how old what is shown is. */

export interface Connection {
  /** `offline`: the browser has no network. `unreachable`: the last call got no answer. */
  readonly state: "connected" | "offline" | "unreachable";
  /** Instant of the oldest answer that is shown, milliseconds of the browser's clock; null if none is. */
  readonly asOf: number | null;
}

let isAnswered = true;
const shown = new Set<{ readonly answeredAt: number }>();
const listeners = new Set<() => void>();

/** The present state. */
export function connection(): Connection {
  const { onLine = true } = navigator as { readonly onLine?: boolean };
  return {
    state: !onLine ? "offline" : isAnswered ? "connected" : "unreachable",
    asOf: shown.size === 0 ? null : Math.min(...[...shown].map(({ answeredAt }) => answeredAt)),
  };
}

/** Reports whether a call got an answer of any kind. */
export function reportCall(hasAnswer: boolean): void {
  if (isAnswered === hasAnswer) return;
  isAnswered = hasAnswer;
  tell();
}

/** Reports that an answer of an instant is shown, until the returned function is called. */
export function reportShown(answeredAt: number): () => void {
  const one = { answeredAt };
  shown.add(one);
  tell();
  return () => {
    shown.delete(one);
    tell();
  };
}

/** Calls `listener` after each change, until the returned function is called. */
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

function tell(): void {
  for (const listener of [...listeners]) listener();
}
