/** Remembers logout tokens, so that each is used once. Source: OpenID Connect Back-Channel Logout 1.0, section 2.6, step 8. */
import { CLOCK_TOLERANCE_S, LOGOUT_TOKEN_AGE_S } from "./tokens.ts";

/** A token that is older than this is refused anyway, whatever the clocks show. */
const REMEMBERED_MS = (LOGOUT_TOKEN_AGE_S + 2 * CLOCK_TOLERANCE_S) * 1_000;
/** Most tokens that are remembered: each was signed by the provider. */
const TOKENS_MAX = 100_000;

export class SeenTokens {
  /** The instant of each token's first use, epoch milliseconds, in the order of their uses. */
  readonly #seen = new Map<string, number>();

  /** Whether a token is used for the first time. */
  isNew(id: string, now: number): boolean {
    for (const [old, at] of this.#seen) {
      if (now - at < REMEMBERED_MS && this.#seen.size <= TOKENS_MAX) break;
      this.#seen.delete(old);
    }
    if (this.#seen.has(id)) return false;
    this.#seen.set(id, now);
    return true;
  }
}
