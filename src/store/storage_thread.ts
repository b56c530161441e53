/**
 * The thread that waits for the disk, bundled by itself. It opens the embedded database, runs the batches
 * that it receives in their order, and answers each once it is durable. It also writes `lock.db`, for either
 * backend.
 */
import {
  type Database,
  DatabaseBusy,
  DatabaseUnavailable,
  type Expunged,
  type Statement,
  WriteConflict,
} from "./database.ts";
import { openEmbedded } from "./embedded.ts";
import { type Fault, type PassingFault, StorageFailure } from "./faults.ts";
import { type CheckpointLock, openLock } from "./lock.ts";
import type { LockEntries } from "./lock_entries.ts";

/**
 * A statement as it is sent to the thread: its SQL text is sent once and referred to by a number from then
 * on.
 */
export type SentStatement = Omit<Statement, "sql"> & { readonly text: number };

export type ThreadRequest =
  | { readonly kind: "open"; readonly path: string }
  | {
    readonly kind: "batch";
    /** SQL texts that were not sent before, each with its number. */
    readonly texts: readonly (readonly [number: number, text: string])[];
    readonly statements: readonly SentStatement[];
  }
  | { readonly kind: "open_lock"; readonly path: string }
  | { readonly kind: "lock"; readonly entries: LockEntries }
  | { readonly kind: "expunge" | "close" | "sync_lock" | "close_lock" };

/** An error as it is sent between threads, since it would lose its class. */
export interface SentFailure {
  readonly kind: "conflict" | "busy" | "unavailable" | "other" | Fault;
  readonly message: string;
}

export type ThreadAnswer =
  | { readonly id: number; readonly expunged: Expunged | null }
  | { readonly id: number; readonly failure: SentFailure }
  | { readonly fatal: string; readonly fault: Fault }
  /** A batch was refused for a reason that passes. */
  | { readonly passing: PassingFault }
  /** Trouble of `lock.db`: the database has committed all the same. null once the lock has caught up. */
  | { readonly lockTrouble: SentFailure | null };

interface ThreadScope {
  onmessage: (event: { readonly data: { readonly id: number; readonly request: ThreadRequest } }) => void;
  postMessage(answer: ThreadAnswer): void;
}

const scope = globalThis as unknown as ThreadScope;
const texts: string[] = [];
let database: Database;
let lock: CheckpointLock;

scope.onmessage = async ({ data: { id, request } }) => {
  try {
    scope.postMessage({ id, expunged: await execute(request) });
  } catch (error) {
    scope.postMessage({ id, failure: failureOf(error) });
  }
};

async function execute(request: ThreadRequest): Promise<Expunged | null> {
  switch (request.kind) {
    case "open":
      database = openEmbedded({
        path: request.path,
        onFatal: ({ message, fault }) => scope.postMessage({ fatal: message, fault }),
        onPassing: (passing) => scope.postMessage({ passing }),
      });
      return null;
    case "batch":
      for (const [number, text] of request.texts) texts[number] = text;
      await database.batch(request.statements.map(({ text, ...rest }) => ({ ...rest, sql: texts[text]! })));
      return null;
    case "open_lock":
      lock = openLock({
        path: request.path,
        onTrouble: (error) => scope.postMessage({ lockTrouble: error === null ? null : failureOf(error) }),
      });
      return null;
    case "lock":
      lock.record(request.entries.issued);
      for (const erased of request.entries.erased) lock.recordErased(erased);
      if (request.entries.forgetBefore !== null) lock.forgetErased(request.entries.forgetBefore);
      if (request.entries.clock !== null) lock.recordClock(request.entries.clock);
      return null;
    case "sync_lock":
      await lock.sync();
      return null;
    case "close_lock":
      await lock.close();
      return null;
    case "expunge":
      return await database.expunge();
    case "close":
      await database.close();
      return null;
  }
}

function failureOf(error: unknown): SentFailure {
  const { message } = error as Error;
  if (error instanceof WriteConflict) return { kind: "conflict", message };
  if (error instanceof DatabaseBusy) return { kind: "busy", message };
  if (error instanceof StorageFailure) return { kind: error.fault, message };
  return { kind: error instanceof DatabaseUnavailable ? "unavailable" : "other", message };
}
