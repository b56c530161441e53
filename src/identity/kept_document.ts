/**
 * A document of the OpenID provider that is fetched when it is first needed, and then kept. Calls that come while it is
 * being fetched wait for the same request.
 */

/** Milliseconds after a failure in which the next calls get the same failure, so that nobody waits in vain. */
const RETRY_MS = 2_000;
/** Milliseconds between two fetches ahead of time: anybody can send a token that seems to need new keys. */
const COOL_DOWN_MS = 10_000;

/** A value and when it came, epoch milliseconds. */
interface Dated<T> {
  readonly value: T;
  readonly at: number;
}

export class KeptDocument<T> {
  readonly #load: () => Promise<T>;
  readonly #now: () => number;
  readonly #maxAgeMs: number;
  #document: Dated<T> | null = null;
  #failure: Dated<unknown> | null = null;
  #loading: Promise<T> | null = null;

  /**
   * @param now epoch milliseconds.
   * @param maxAgeMs after which it is fetched again.
   */
  constructor(
    load: () => Promise<T>,
    { now, maxAgeMs }: { readonly now: () => number; readonly maxAgeMs: number },
  ) {
    this.#load = load;
    this.#now = now;
    this.#maxAgeMs = maxAgeMs;
  }

  /** @throws what the fetch threw. */
  async get(): Promise<T> {
    const document = this.#document;
    if (document !== null && this.#isWithin(document, this.#maxAgeMs)) return document.value;
    const failure = this.#failure;
    if (failure !== null && this.#isWithin(failure, RETRY_MS)) throw failure.value;
    return await this.#fetch();
  }

  /** The document fetched anew; the kept one if the last fetch was a moment ago. @throws what the fetch threw. */
  async renewed(): Promise<T> {
    const isRecent = [this.#document, this.#failure].some((last) =>
      last !== null && this.#isWithin(last, COOL_DOWN_MS)
    );
    return await (isRecent && this.#loading === null ? this.get() : this.#fetch());
  }

  /** If the clock went back, nobody knows how old it is. */
  #isWithin({ at }: Dated<unknown>, milliseconds: number): boolean {
    const age = this.#now() - at;
    return age >= 0 && age < milliseconds;
  }

  async #fetch(): Promise<T> {
    this.#loading ??= this.#load();
    const loading = this.#loading;
    try {
      const value = await loading;
      this.#document = { value, at: this.#now() };
      this.#failure = null;
      return value;
    } catch (error) {
      this.#failure = { value: error, at: this.#now() };
      throw error;
    } finally {
      if (this.#loading === loading) this.#loading = null;
    }
  }
}
