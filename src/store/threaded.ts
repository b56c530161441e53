/**
 * The embedded backend with its writes on a separate thread. While a batch is written and synced, requests
 * are read, authenticated, validated and answered. Reads stay on this thread and use a connection of their
 * own: with a write-ahead log neither waits for the other.
 */
import type { Database } from "./database.ts";
import { openEmbedded } from "./embedded.ts";
import type { EmbeddedOptions } from "./file_connection.ts";
import type { PassingFault, StorageFailure } from "./faults.ts";
import { StorageThread } from "./thread.ts";

export interface Threaded {
  readonly database: Database;
  /** The thread may write other files too; it ends when the database is closed. */
  readonly thread: StorageThread;
}

export interface ThreadedOptions extends Pick<EmbeddedOptions, "path" | "onFatal"> {
  /** Called on each refusal for a reason that passes, and with null on the first write after one. */
  readonly onPassing: (fault: PassingFault | null) => void;
  /** Starts `storage_thread.ts`. */
  readonly startThread: () => Worker;
}

/**
 * Opens the file and creates it if it is missing.
 * @throws {StorageFailure} if it is not a database or cannot be opened.
 */
export async function openThreaded(
  { path, onFatal, onPassing, startThread }: ThreadedOptions,
): Promise<Threaded> {
  let isFatal = false;
  const reportFatalOnce = (error: StorageFailure) => {
    if (!isFatal) onFatal(error);
    isFatal = true;
  };
  let isPassing = false;
  const reportPassing = (fault: PassingFault | null) => {
    if (fault !== null || isPassing) onPassing(fault);
    isPassing = fault !== null;
  };
  const reader = openEmbedded({ path, onFatal: reportFatalOnce, onPassing: reportPassing });
  let thread: StorageThread | null = null;
  try {
    thread = new StorageThread(startThread(), reportFatalOnce);
    thread.onPassing = reportPassing;
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
      reportPassing(null);
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
