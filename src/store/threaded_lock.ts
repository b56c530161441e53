/**
 * `lock.db` written by the thread that waits for the disk: a sync each second on this thread would stop every
 * request meanwhile. It is read here, over a connection of its own. What is read may lag behind by the time
 * for which writes are gathered; it never leads.
 */
import { type CheckpointLock, type LockOptions, openLock } from "./lock.ts";
import { type LockEntries, PendingLockEntries } from "./lock_entries.ts";
import type { StorageThread } from "./thread.ts";

/** Milliseconds for which writes are gathered, so that not every commit wakes the thread. */
const COLLECTED_MS = 20;

/**
 * Opens the lock and creates it if it is missing.
 * @throws {StorageFailure} if it is no database or cannot be opened.
 */
export async function openThreadedLock(
  { path, onTrouble }: LockOptions,
  thread: StorageThread,
): Promise<CheckpointLock> {
  const local = openLock({ path, onTrouble });
  thread.onLockTrouble = onTrouble;
  try {
    await thread.ask({ kind: "open_lock", path });
  } catch (error) {
    await local.close();
    throw error;
  }
  const collected = new PendingLockEntries();
  let timer: ReturnType<typeof setTimeout> | null = null;
  let syncing: Promise<void> | null = null;
  /**
   * The next sync, which waits for the one under way: on a slow disk, syncs must not pile up before the
   * batches.
   */
  let nextSync: Promise<void> | null = null;

  const sendRequest = async (kind: "sync_lock" | "close_lock") => {
    sendCollected();
    await thread.ask({ kind }).catch(onTrouble);
  };

  function collect(entries: Partial<LockEntries>): void {
    collected.add(entries);
    if (!collected.isEmpty) timer ??= setTimeout(sendCollected, COLLECTED_MS);
  }

  function sendCollected(): void {
    if (timer === null) return;
    clearTimeout(timer);
    timer = null;
    thread.ask({ kind: "lock", entries: collected.takeAll() }).catch(onTrouble);
  }

  function sync(): Promise<void> {
    if (syncing === null) {
      syncing = sendRequest("sync_lock").finally(() => syncing = null);
      return syncing;
    }
    nextSync ??= syncing.then(() => {
      nextSync = null;
      return sync();
    });
    return nextSync;
  }

  return {
    issued: () => local.issued(),
    issuedOf: (families) => local.issuedOf(families),
    requireCurrent: (places, heads) => local.requireCurrent(places, heads),
    suspect: (family) => local.suspect(family),
    suspected: () => local.suspected(),
    behind: () => local.behind(),
    isInDoubt: () => local.isInDoubt(),
    erased: () => local.erased(),
    record: (issued) => collect({ issued }),
    recordErased: (erased) => collect({ erased: [erased] }),
    forgetErased: (forgetBefore) => collect({ forgetBefore }),
    clock: () => local.clock(),
    recordClock: (clock) => collect({ clock }),
    sync,
    async close() {
      await sendRequest("close_lock");
      await local.close();
    },
  };
}
