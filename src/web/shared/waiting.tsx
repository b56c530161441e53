/** The countdown while the service makes this address wait. */
import { useEffect, useState } from "preact/hooks";

/** The end of a call's wait, milliseconds of `performance.now()`; null if no call waits. */
let until: number | null = null;
const listeners = new Set<() => void>();

/** The `onWait` of a call. */
export function announceWait(next: number | null): void {
  until = next;
  for (const listener of listeners) listener();
}

interface WaitingWords {
  readonly sentence?: string;
  readonly inSeconds?: (seconds: number) => string;
}

/** Shown while a call waits. */
export function Waiting(
  {
    sentence = "Too many requests from this address in a minute: the page goes on by itself",
    inSeconds = (seconds) => `in ${seconds} ${seconds === 1 ? "second" : "seconds"}`,
  }: WaitingWords,
) {
  const [seconds, setSeconds] = useState<number | null>(null);
  useEffect(() => {
    const show = () => {
      setSeconds(until === null ? null : Math.max(0, Math.ceil((until - performance.now()) / 1000)));
    };
    listeners.add(show);
    const timer = setInterval(show, 250);
    return () => {
      listeners.delete(show);
      clearInterval(timer);
    };
  }, []);
  return (
    <div role="status">
      {seconds !== null && (
        <p class="notice fair" data-waiting>
          {sentence}
          {/* Screen readers do not announce each second. */}
          <span aria-hidden="true">{` ${inSeconds(seconds)}`}</span>.
        </p>
      )}
    </div>
  );
}
