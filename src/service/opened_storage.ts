/** The storage that the first stage of a start opened, and how a start waits for a busy database. */
import type { Clock } from "../domain/world.ts";
import { type Database, DatabaseBusy } from "../store/database.ts";
import type { CheckpointLock } from "../store/lock.ts";

/** Attempts of a start while another process holds the database, and the wait between: about six seconds. */
const START_ATTEMPTS = 30;
const START_RETRY_MS = 100;

export interface Storage {
  readonly database: Database;
  readonly lock: CheckpointLock;
  /** True while `lock.db` cannot follow the database. */
  isLockBehind(): boolean;
  close(): Promise<void>;
}

/** Tries again while another process, for example a backup, holds the database. */
export async function whileBusy<Result>(clock: Clock, run: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1;; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof DatabaseBusy) || attempt >= START_ATTEMPTS) throw error;
      await clock.wait(START_RETRY_MS);
    }
  }
}
