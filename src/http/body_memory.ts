/**
 * A bound on the memory of request bodies that are held at once, from reading to answer. It counts the
 * request itself while it waits for its body, the body's bytes when they are allocated, and the parsed value
 * before it is parsed. A request that waits for the writer keeps its body, so many large requests would take
 * memory without end.
 *
 * A body that takes more than half of the bound by itself, parsed value and bytes together, could never be
 * taken; one of a million empty objects does. So there is one place beside the bound for the parsed value of
 * one such body.
 */
import { unavailable } from "../domain/errors.ts";

export class BodyMemory {
  #held = 0;
  #heaviest: BodyLease | null = null;
  readonly #heldBy = new Map<string, number>();

  /** @param limit - bytes; one holder may have half of them. The first piece is taken at any size. */
  constructor(private readonly limit: number) {}

  /** @param holder - the lease counts for this holder until its `holder` is set. */
  lease(holder: string): BodyLease {
    return new BodyLease(this, holder);
  }

  /** @throws {ServiceError} SERVICE_UNAVAILABLE */
  take(bytes: number, holder: string): void {
    const ofHolder = this.#heldBy.get(holder) ?? 0;
    if (exceeds(this.#held, bytes, this.limit)) {
      throw unavailable("Too many large requests are being processed: retry in a moment.");
    }
    if (exceeds(ofHolder, bytes, this.limit / 2)) {
      throw unavailable("Too many of your large requests are being processed: retry in a moment.");
    }
    this.#held += bytes;
    this.#heldBy.set(holder, ofHolder + bytes);
  }

  /**
   * @param bytes - size of the parsed value, beyond what its lease has taken for the body's bytes.
   * @throws {ServiceError} SERVICE_UNAVAILABLE
   */
  takeParsed(bytes: number, lease: BodyLease): void {
    if (lease.taken + bytes <= this.limit / 2) return lease.take(bytes);
    if (this.#heaviest !== null) {
      throw unavailable("Another request as large as this one is being processed: retry in a moment.");
    }
    this.#heaviest = lease;
  }

  giveBackParsed(lease: BodyLease): void {
    if (this.#heaviest === lease) this.#heaviest = null;
  }

  giveBack(bytes: number, holder: string): void {
    this.#held -= bytes;
    const rest = this.#heldBy.get(holder)! - bytes;
    if (rest === 0) this.#heldBy.delete(holder);
    else this.#heldBy.set(holder, rest);
  }
}

function exceeds(held: number, bytes: number, limit: number): boolean {
  return held > 0 && held + bytes > limit;
}

/** Memory that one request holds. */
export class BodyLease {
  readonly #taken: { bytes: number; readonly holder: string }[] = [];
  #isReleased = false;
  #isParsed = false;

  /** @param holder - the holder that further bytes count for. */
  constructor(private readonly memory: BodyMemory, public holder: string) {}

  /** Bytes that it holds, without a parsed value that has the place beside the bound. */
  get taken(): number {
    return this.#taken.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** @throws {ServiceError} SERVICE_UNAVAILABLE */
  take(bytes: number): void {
    // The rest of an abandoned body may still come.
    if (this.#isReleased) throw unavailable("The request was already answered.");
    const taken = { bytes, holder: this.holder };
    this.#takeOrRelease(() => this.memory.take(bytes, taken.holder));
    this.#taken.push(taken);
  }

  /** Gives back `bytes` of the first piece that was taken, which must have at least as many. */
  giveBack(bytes: number): void {
    const [first] = this.#taken;
    // An abandoned body may have come to its end.
    if (first === undefined) return;
    first.bytes -= bytes;
    this.memory.giveBack(bytes, first.holder);
  }

  /**
   * Takes memory for the parsed body; further calls take nothing.
   * @throws {ServiceError} SERVICE_UNAVAILABLE
   */
  takeParsed(bytes: number): void {
    if (this.#isParsed) return;
    this.#takeOrRelease(() => this.memory.takeParsed(bytes, this));
    this.#isParsed = true;
  }

  /** Gives everything back if refused, or simultaneous bodies could all be refused because of each other. */
  #takeOrRelease(take: () => void): void {
    try {
      take();
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Gives back everything that was taken; after this, nothing can be taken. */
  release(): void {
    this.#isReleased = true;
    this.memory.giveBackParsed(this);
    for (const { bytes, holder } of this.#taken.splice(0)) this.memory.giveBack(bytes, holder);
  }
}
