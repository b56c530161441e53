/**
 * `lock.db` written by the thread that waits for the disk: to sync it each second would stop every request for as long.
 * It is read here, over a connection of its own, and may lag behind what is written by as long as is gathered: it never
 * leads.
 */
import {
  type CheckpointLock,
  type ErasedOperator,
  type IssuedCheckpoint,
  type IssuedPlace,
  type LockOptions,
  openLock,
} from "./lock.ts";
import type { StorageThread } from "./thread.ts";

/** What is written is gathered for so long, so that busy commits do not wake the thread each. */
const GATHERED_MS = 20;

export interface LockEntries {
  readonly issued: readonly IssuedCheckpoint[];
  readonly erased: readonly ErasedOperator[];
  /** Erasures before this instant are forgotten, epoch milliseconds; null: none are. */
  readonly forgetBefore: number | null;
}

/** Opens the lock, creating it where it is missing. */
export async function openThreadedLock(
  { path, onFailure }: LockOptions,
  thread: StorageThread,
): Promise<CheckpointLock> {
  const local = openLock({ path, onFailure });
  thread.onLockFailure = onFailure;
  try {
    await thread.ask({ kind: "open_lock", path });
  } catch (error) {
    await local.close();
    throw error;
  }
  let issued = new Map<string, IssuedCheckpoint>();
  let erased: ErasedOperator[] = [];
  let forgetBefore: number | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let syncing: Promise<void> | null = null;
  /** The one that waits for that: on a slow disk they must not pile up before the batches. */
  let nextSync: Promise<void> | null = null;

  const ask = async (kind: "sync_lock" | "close_lock") => {
    send();
    await thread.ask({ kind }).catch(onFailure);
  };

  function gather(): void {
    timer ??= setTimeout(send, GATHERED_MS);
  }

  function send(): void {
    if (timer === null) return;
    clearTimeout(timer);
    timer = null;
    const entries = { issued: [...issued.values()], erased, forgetBefore };
    [issued, erased, forgetBefore] = [new Map(), [], null];
    thread.ask({ kind: "lock", entries }).catch(onFailure);
  }

  function sync(): Promise<void> {
    if (syncing === null) {
      syncing = ask("sync_lock").finally(() => syncing = null);
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
    erased: () => local.erased(),
    record(checkpoints) {
      for (const checkpoint of checkpoints) {
        const gathered = issued.get(checkpoint.family);
        if (gathered === undefined || isFurther(checkpoint, gathered)) {
          issued.set(checkpoint.family, checkpoint);
        }
      }
      if (checkpoints.length > 0) gather();
    },
    recordErased(operator) {
      erased.push(operator);
      gather();
    },
    forgetErased(before) {
      forgetBefore = before;
      gather();
    },
    sync,
    async close() {
      await ask("close_lock");
      await local.close();
    },
  };
}

function isFurther(checkpoint: IssuedPlace, than: IssuedPlace): boolean {
  return checkpoint.epoch > than.epoch || (checkpoint.epoch === than.epoch && checkpoint.size > than.size);
}
