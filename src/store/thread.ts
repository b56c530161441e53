/** A thread that runs `storage_thread.ts`; it handles requests in their order. */
import {
  DatabaseBusy,
  DatabaseUnavailable,
  type Expunged,
  type Statement,
  WriteConflict,
} from "./database.ts";
import { type PassingFault, StorageFailure } from "./faults.ts";
import type { SentFailure, SentStatement, ThreadAnswer, ThreadRequest } from "./storage_thread.ts";

/** Maximum number of SQL texts that are known by a number; the service has some hundred. */
const TEXTS_MAX = 10_000;

interface PendingRequest {
  resolve(answer: Expunged | null): void;
  reject(error: unknown): void;
}

export class StorageThread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, PendingRequest>();
  readonly #texts = new Map<string, number>();
  #nextId = 0;
  /** Called if `lock.db` could not be written, and with null once it has caught up. */
  onLockTrouble: (error: unknown) => void = () => {};
  /** Called if a batch is refused for a reason that passes. */
  onPassing: (fault: PassingFault) => void = () => {};
  /** The reason why the thread ended by itself; null while it runs. */
  #failure: StorageFailure | null = null;

  /**
   * @param onFatal - called if the thread ended by itself, or the storage that it writes to failed for good.
   */
  constructor(worker: Worker, onFatal: (error: StorageFailure) => void) {
    this.#worker = worker;
    worker.onmessage = ({ data }: { readonly data: ThreadAnswer }) => {
      if ("fatal" in data) onFatal(new StorageFailure(data.fatal, data.fault));
      else if ("passing" in data) this.onPassing(data.passing);
      else if ("lockTrouble" in data) {
        this.onLockTrouble(data.lockTrouble === null ? null : errorOf(data.lockTrouble));
      } else this.#settle(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      const error = new StorageFailure(`the thread that writes ended: ${event.message}`, "failed");
      this.#failure = error;
      for (const { reject } of this.#pending.values()) reject(error);
      this.#pending.clear();
      onFatal(error);
    };
  }

  ask(request: ThreadRequest): Promise<Expunged | null> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const { promise, resolve, reject } = Promise.withResolvers<Expunged | null>();
    const id = this.#nextId++;
    this.#worker.postMessage({ id, request });
    this.#pending.set(id, { resolve, reject });
    return promise;
  }

  /** @throws if a parameter of a statement cannot be sent in a message. */
  batch(statements: readonly Statement[]): Promise<Expunged | null> {
    // From here on, new texts replace those that the thread knows by the same numbers.
    if (this.#texts.size >= TEXTS_MAX) this.#texts.clear();
    const newTexts = new Map<string, number>();
    const numbered = statements.map(({ sql, ...rest }): SentStatement => {
      let text = this.#texts.get(sql) ?? newTexts.get(sql);
      if (text === undefined) {
        text = this.#texts.size + newTexts.size;
        newTexts.set(sql, text);
      }
      return { ...rest, parameters: rest.parameters.map(detached), text };
    });
    const texts = [...newTexts].map(([sql, text]) => [text, sql] as const);
    const reply = this.ask({ kind: "batch", texts, statements: numbered });
    // The texts are remembered only once they were sent.
    for (const [sql, text] of newTexts) this.#texts.set(sql, text);
    return reply;
  }

  #settle(answer: Extract<ThreadAnswer, { readonly id: number }>): void {
    const { resolve, reject } = this.#pending.get(answer.id)!;
    this.#pending.delete(answer.id);
    if ("failure" in answer) reject(errorOf(answer.failure));
    else resolve(answer.expunged);
  }

  end(): void {
    this.#worker.terminate();
  }
}

/** A copy if the bytes are part of a larger buffer: a message would copy the whole buffer. */
function detached(value: unknown): unknown {
  return value instanceof Uint8Array && value.byteLength !== value.buffer.byteLength ? value.slice() : value;
}

function errorOf({ kind, message }: SentFailure): Error {
  if (kind === "conflict") return new WriteConflict(message);
  if (kind === "busy") return new DatabaseBusy(message);
  if (kind === "unavailable") return new DatabaseUnavailable(message);
  return kind === "other" ? new Error(message) : new StorageFailure(message, kind);
}
