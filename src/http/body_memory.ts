/**
 * A bound on the bytes of request bodies that are held at once, from their reading to their answer: who waits for the
 * writer keeps a body, and many large ones would be memory without end.
 */
import { unavailable } from "../domain/errors.ts";

export class BodyMemory {
  #held = 0;

  /** `limit`: bytes; one body alone is held however large it is. */
  constructor(private readonly limit: number) {}

  lease(): BodyLease {
    return new BodyLease(this);
  }

  /** @throws {ServiceError} SERVICE_UNAVAILABLE */
  take(bytes: number): void {
    if (this.#held > 0 && this.#held + bytes > this.limit) {
      throw unavailable("Too many large requests are in work; send this again in a moment.");
    }
    this.#held += bytes;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }
}

/** What one request holds. */
export class BodyLease {
  #bytes = 0;

  constructor(private readonly memory: BodyMemory) {}

  /** @throws {ServiceError} SERVICE_UNAVAILABLE */
  take(bytes: number): void {
    this.memory.take(bytes);
    this.#bytes += bytes;
  }

  release(): void {
    this.memory.give(this.#bytes);
    this.#bytes = 0;
  }
}
