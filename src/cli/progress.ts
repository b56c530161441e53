/** How far a long run has come, on one line of a terminal that is gone in the end; silent where there is none. */
import type { Clock } from "../domain/world.ts";

/** At most five times a second. */
const INTERVAL_MS = 200;
const ERASE_LINE = "\r\x1b[K";

export class Progress implements Disposable {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #isTerminal = Deno.stderr.isTerminal();
  readonly #encoder = new TextEncoder();
  #shownAt = -Infinity;
  #isShown = false;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Shows what `text` says, where it is time again. */
  show(text: () => string): void {
    if (!this.#isTerminal) return;
    const now = this.#clock.monotonic();
    if (now - this.#shownAt < INTERVAL_MS) return;
    this.#shownAt = now;
    this.#isShown = true;
    Deno.stderr.writeSync(this.#encoder.encode(`${ERASE_LINE}${text()}`));
  }

  [Symbol.dispose](): void {
    if (this.#isShown) Deno.stderr.writeSync(this.#encoder.encode(ERASE_LINE));
  }
}
