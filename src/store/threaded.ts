/**
 * The embedded backend with its writes on a thread of their own: while a batch is written and synced, requests are
 * read, authenticated, validated and answered. Reads stay on this thread, over a connection of their own: in the
 * write-ahead log neither waits for the other.
 */
import type { Database } from "./database.ts";
import { type EmbeddedOptions, openEmbedded } from "./embedded.ts";
import type { PassingFault, StorageFailure } from "./faults.ts";
import { StorageThread } from "./thread.ts";

export interface Threaded {
  readonly database: Database;
  /** Which its other files may be written by too; it ends when the database is closed. */
  readonly thread: StorageThread;
}

export interface ThreadedOptions extends Pick<EmbeddedOptions, "path" | "onFatal"> {
  /** Told of each refusal for something that passes, and with null of what is written after one. */
  readonly onPassing: (fault: PassingFault | null) => void;
  /** Starts `storage_thread.ts`. */
  readonly startThread: () => Worker;
}

/**
 * Opens the file, creating it where it is missing.
 * @throws {StorageFailure} where it is not a database or cannot be opened.
 */
export async function openThreaded(
  { path, onFatal, onPassing, startThread }: ThreadedOptions,
): Promise<Threaded> {
  let isFatal = false;
  const tellOnce = (error: StorageFailure) => {
    if (!isFatal) onFatal(error);
    isFatal = true;
  };
  let isPassing = false;
  const tellPassing = (fault: PassingFault | null) => {
    if (fault !== null || isPassing) onPassing(fault);
    isPassing = fault !== null;
  };
  const reader = openEmbedded({ path, onFatal: tellOnce, onPassing: tellPassing });
  let thread: StorageThread | null = null;
  try {
    thread = new StorageThread(startThread(), tellOnce);
    thread.onPassing = tellPassing;
    await thread.ask({ kind: "open", path });
  } catch (error) {
    thread?.end();
    await reader.close();
    throw error;
  }
  const database: Database = {
    isShared: false,
    read: (compiled) => reader.read(compiled),
    snapshot: (queries) => reader.snapshot(queries),
    batch: async (statements) => {
      await thread.batch(statements);
      tellPassing(null);
    },
    expunge: async () => (await thread.ask({ kind: "expunge" }))!,
    async close() {
      try {
        await thread.ask({ kind: "close" });
      } finally {
        thread.end();
        await reader.close();
      }
    },
  };
  return { database, thread };
}
