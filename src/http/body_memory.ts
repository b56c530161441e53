/**
 * A bound on the bytes of request bodies that are held at once, from their reading to their answer: who waits for the
 * writer keeps a body, and many large ones would be memory without end.
 */
import { unavailable } from "../domain/errors.ts";

export class BodyMemory {
  #held = 0;
  readonly #heldBy = new Map<string, number>();

  /** `limit`: bytes, of which one holder has half at most; one body alone is held however large it is. */
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
  readonly #taken: { readonly bytes: number; readonly holder: string }[] = [];
  #isOver = false;

  /** `holder`: whom what is taken from now on is counted for. */
  constructor(private readonly memory: BodyMemory, public holder: string) {}

  /** @throws {ServiceError} SERVICE_UNAVAILABLE */
  take(bytes: number): void {
    // A body that was given up may still be coming.
    if (this.#isOver) throw unavailable("The request is answered already.");
    const taken = { bytes, holder: this.holder };
    this.memory.take(bytes, taken.holder);
    this.#taken.push(taken);
  }

  /** Gives back what was taken; nothing can be taken any more. */
  release(): void {
    this.#isOver = true;
    for (const { bytes, holder } of this.#taken.splice(0)) this.memory.give(bytes, holder);
  }
}
