/** A thread of `storage_thread.ts`, asked one thing after another. */
import {
  DatabaseBusy,
  DatabaseUnavailable,
  type Expunged,
  type Statement,
  WriteConflict,
} from "./database.ts";
import { type PassingFault, StorageFailure } from "./faults.ts";
import type { SentFailure, SentStatement, ThreadAnswer, ThreadRequest } from "./storage_thread.ts";

/** Texts of statements that are known by a number at once; the service has some hundred. */
const TEXTS_MAX = 10_000;

interface Asked {
  resolve(answer: Expunged | null): void;
  reject(error: unknown): void;
}

export class StorageThread {
  readonly #worker: Worker;
  readonly #asked = new Map<number, Asked>();
  readonly #texts = new Map<string, number>();
  #nextId = 0;
  /** Told where `lock.db` could not be written, and with null once it has caught up. */
  onLockTrouble: (error: unknown) => void = () => {};
  /** Told where a batch is refused for something that passes. */
  onPassing: (fault: PassingFault) => void = () => {};
  /** Why it ended by itself. */
  #failure: StorageFailure | null = null;

  /** @param onFatal - told where it ended by itself, or what it writes to failed for good. */
  constructor(worker: Worker, onFatal: (error: StorageFailure) => void) {
    this.#worker = worker;
    worker.onmessage = ({ data }: { readonly data: ThreadAnswer }) => {
      if ("fatal" in data) onFatal(new StorageFailure(data.fatal, data.fault));
      else if ("passing" in data) this.onPassing(data.passing);
      else if ("lockTrouble" in data) {
        this.onLockTrouble(data.lockTrouble === null ? null : errorOf(data.lockTrouble));
      } else this.#answered(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      const error = new StorageFailure(`the thread that writes ended: ${event.message}`, "failed");
      this.#failure = error;
      for (const { reject } of this.#asked.values()) reject(error);
      this.#asked.clear();
      onFatal(error);
    };
  }

  ask(request: ThreadRequest): Promise<Expunged | null> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const { promise, resolve, reject } = Promise.withResolvers<Expunged | null>();
    const id = this.#nextId++;
    this.#worker.postMessage({ id, request });
    this.#asked.set(id, { resolve, reject });
    return promise;
  }

  /** @throws where a statement has a parameter that no message carries. */
  batch(statements: readonly Statement[]): Promise<Expunged | null> {
    // What is sent from here on takes the place of what the thread knows by the same number.
    if (this.#texts.size >= TEXTS_MAX) this.#texts.clear();
    const fresh = new Map<string, number>();
    const numbered = statements.map(({ sql, ...rest }): SentStatement => {
      let text = this.#texts.get(sql) ?? fresh.get(sql);
      if (text === undefined) {
        text = this.#texts.size + fresh.size;
        fresh.set(sql, text);
      }
      return { ...rest, parameters: rest.parameters.map(alone), text };
    });
    const texts = [...fresh].map(([sql, text]) => [text, sql] as const);
    const answered = this.ask({ kind: "batch", texts, statements: numbered });
    // What was not sent is not known.
    for (const [sql, text] of fresh) this.#texts.set(sql, text);
    return answered;
  }

  #answered(answer: Extract<ThreadAnswer, { readonly id: number }>): void {
    const { resolve, reject } = this.#asked.get(answer.id)!;
    this.#asked.delete(answer.id);
    if ("failure" in answer) reject(errorOf(answer.failure));
    else resolve(answer.expunged);
  }

  end(): void {
    this.#worker.terminate();
  }
}

/** Bytes are copied with all of the buffer that they lie in. */
function alone(value: unknown): unknown {
  return value instanceof Uint8Array && value.byteLength !== value.buffer.byteLength ? value.slice() : value;
}

function errorOf({ kind, message }: SentFailure): Error {
  if (kind === "conflict") return new WriteConflict(message);
  if (kind === "busy") return new DatabaseBusy(message);
  if (kind === "unavailable") return new DatabaseUnavailable(message);
  return kind === "other" ? new Error(message) : new StorageFailure(message, kind);
}
