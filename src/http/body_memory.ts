/**
 * A bound on the memory of request bodies that are held at once, from their reading to their answer: the request itself
 * while it waits for its body, the body's bytes as there is room for them, and what parsing makes of them before it does. A
 * request that waits for the writer keeps its body, and many large ones would be memory without end.
 *
 * A body that, parsed and as it came, is worth more than half of the bound by itself, as one of a million empty objects is,
 * has a place of its own beside the bound, which holds one such body: else it could never be taken.
 */
import { unavailable } from "../domain/errors.ts";

export class BodyMemory {
  #held = 0;
  #heaviest: BodyLease | null = null;
  readonly #heldBy = new Map<string, number>();

  /** `limit`: bytes, of which one holder has half at most; the first piece is taken however large it is. */
  constructor(private readonly limit: number) {}

  /** @param holder - whom it is counted for, until that is known better. */
  lease(holder: string): BodyLease {
    return new BodyLease(this, holder);
  }

  /** @throws {ServiceError} SERVICE_UNAVAILABLE */
  take(bytes: number, holder: string): void {
    const own = this.#heldBy.get(holder) ?? 0;
    if (isOver(this.#held, bytes, this.limit)) {
      throw unavailable("Too many large requests are in work; send this again in a moment.");
    }
    if (isOver(own, bytes, this.limit / 2)) {
      throw unavailable("Too many large requests of yours are in work; send this again in a moment.");
    }
    this.#held += bytes;
    this.#heldBy.set(holder, own + bytes);
  }

  /**
   * @param bytes - what is made of a body, beside what its lease has taken for its bytes.
   * @throws {ServiceError} SERVICE_UNAVAILABLE
   */
  takeParsed(bytes: number, lease: BodyLease): void {
    if (lease.taken + bytes <= this.limit / 2) return lease.take(bytes);
    if (this.#heaviest !== null) {
      throw unavailable("Another request as heavy as this one is in work; send this again in a moment.");
    }
    this.#heaviest = lease;
  }

  giveParsed(lease: BodyLease): void {
    if (this.#heaviest === lease) this.#heaviest = null;
  }

  give(bytes: number, holder: string): void {
    this.#held -= bytes;
    const rest = this.#heldBy.get(holder)! - bytes;
    if (rest === 0) this.#heldBy.delete(holder);
    else this.#heldBy.set(holder, rest);
  }
}

function isOver(held: number, bytes: number, limit: number): boolean {
  return held > 0 && held + bytes > limit;
}

/** What one request holds. */
export class BodyLease {
  readonly #taken: { bytes: number; readonly holder: string }[] = [];
  #isOver = false;
  #isParsed = false;

  /** `holder`: whom what is taken from now on is counted for. */
  constructor(private readonly memory: BodyMemory, public holder: string) {}

  /** Bytes that it holds, but for what has a place of its own. */
  get taken(): number {
    return this.#taken.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** @throws {ServiceError} SERVICE_UNAVAILABLE */
  take(bytes: number): void {
    // A body that was given up may still be coming.
    if (this.#isOver) throw unavailable("The request is answered already.");
    const taken = { bytes, holder: this.holder };
    this.#orNothing(() => this.memory.take(bytes, taken.holder));
    this.#taken.push(taken);
  }

  /** Gives back so many bytes of what was taken first, which were no fewer. */
  giveBack(bytes: number): void {
    const [first] = this.#taken;
    // A body that was given up may have come to its end.
    if (first === undefined) return;
    first.bytes -= bytes;
    this.memory.give(bytes, first.holder);
  }

  /** Takes what is made of the body, once, however often it is parsed. @throws {ServiceError} SERVICE_UNAVAILABLE */
  takeParsed(bytes: number): void {
    if (this.#isParsed) return;
    this.#orNothing(() => this.memory.takeParsed(bytes, this));
    this.#isParsed = true;
  }

  /** Whoever is refused gives all back at once: else bodies that come together would all be refused for each other's sake. */
  #orNothing(take: () => void): void {
    try {
      take();
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Gives back what was taken; nothing can be taken any more. */
  release(): void {
    this.#isOver = true;
    this.memory.giveParsed(this);
    for (const { bytes, holder } of this.#taken.splice(0)) this.memory.give(bytes, holder);
  }
}
