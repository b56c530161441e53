/** Remembers what may be used once: a provider's logout tokens, the states of sign-ins, and the challenges of passkeys. */

/** Most ids that are remembered: each took a signature of the provider, or a request within the limits. */
const IDS_MAX = 100_000;

export class UsedOnce {
  /** The instant of each id's first use, epoch milliseconds, in the order of their uses. */
  readonly #seen = new Map<string, number>();

  /** @param rememberedMs after which what has the id is refused anyway. */
  constructor(private readonly rememberedMs: number) {}

  /** Whether an id is used for the first time. */
  isNew(id: string, now: number): boolean {
    for (const [old, at] of this.#seen) {
      if (now - at < this.rememberedMs && this.#seen.size <= IDS_MAX) break;
      this.#seen.delete(old);
    }
    if (this.#seen.has(id)) return false;
    this.#seen.set(id, now);
    return true;
  }

  /** Takes back a use that came to nothing. */
  forget(id: string): void {
    this.#seen.delete(id);
  }
}
