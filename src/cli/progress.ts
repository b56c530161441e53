/**
 * Shows the progress of a long run on one line of a terminal, erased at the end; silent without a terminal.
 */
import type { Clock } from "../domain/world.ts";

/** Milliseconds between two updates: at most five a second. */
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

  /** Shows `text` if the interval has passed. */
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
