/** Opens `lock.db` of this installation, and logs it if `lock.db` cannot follow the database. */
import type { Config } from "../config/config.ts";
import { unusable } from "./databases.ts";
import type { Clock } from "../domain/world.ts";
import type { Log } from "../observability/log.ts";
import { createPrivately } from "./data_directory.ts";
import { StorageFailure } from "../store/faults.ts";
import { type CheckpointLock, type LockOptions, MEND_LOCK, openLock } from "../store/lock.ts";
import type { StorageThread } from "../store/thread.ts";
import { openThreadedLock } from "../store/threaded_lock.ts";

/** Milliseconds between two log lines while the lock cannot follow. */
const LOCK_TELL_MS = 60_000;

/** A lock that cannot follow makes nothing else fail. It is logged again and again, so that it is noticed. */
export function lockFollowing({ log, clock }: { readonly log: Log; readonly clock: Clock }) {
  let toldAt: number | null = null;
  return {
    isBehind: () => toldAt !== null,
    onTrouble(error: unknown): void {
      const now = clock.monotonic();
      if (error === null) {
        toldAt = null;
        return log.info("lock.db is read and written again");
      }
      if (toldAt !== null && now - toldAt < LOCK_TELL_MS) return;
      toldAt = now;
      log.error("lock.db cannot be read or written: an older database, put back, may go unnoticed", {
        error: (error as Error).message,
        mend: isDamage(error)
          ? MEND_LOCK
          : "see to the disk that JISS_DATA_DIR lies on; the lock catches up by itself",
      });
    },
  };
}

export async function openCheckpointLock(
  { lockFile, database }: Config,
  { thread, onTrouble }: Pick<LockOptions, "onTrouble"> & { readonly thread: StorageThread },
): Promise<CheckpointLock> {
  if (database.kind === "file" && database.path === ":memory:") {
    return openLock({ path: ":memory:", onTrouble });
  }
  createPrivately(lockFile, "");
  try {
    return await openThreadedLock({ path: lockFile, onTrouble }, thread);
  } catch (error) {
    throw unusable("lock.db in JISS_DATA_DIR", error, isDamage(error) ? MEND_LOCK : undefined);
  }
}

function isDamage(error: unknown): boolean {
  return error instanceof StorageFailure && error.fault === "damaged";
}
