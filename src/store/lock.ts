/**
 * What this installation has issued, kept apart from the database and out of its backups: the newest checkpoint of
 * each chain, and which operators were erased.
 *
 * A database that stands behind it was put back from somewhere; to go on from there in silence would be a fork. The
 * lock may lag behind the database, by at most a second at a power cut; it never leads it.
 * Source: evidence design, section 10 and "Read first", point 4.
 */
import { DatabaseSync } from "node:sqlite";
import { ADMINISTRATOR_RETRY_SECONDS, unavailable } from "../domain/errors.ts";
import type { StoredHead } from "./chains.ts";

/** The newest checkpoint of a family. */
export interface IssuedCheckpoint {
  /** The chain of epoch 1. */
  readonly family: string;
  readonly epoch: number;
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
  /** The signed note. */
  readonly note: string;
}

/** An erasure that a restored database must go through again. */
export interface ErasedOperator {
  /** HMAC of organization and operator under the installation key. */
  readonly name: Uint8Array;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A family with the epoch in which it is not what was issued. */
export type SuspectFamily = Pick<IssuedCheckpoint, "family" | "epoch">;

/** How far a family was issued. */
export type IssuedPlace = Pick<IssuedCheckpoint, "epoch" | "size">;

export interface CheckpointLock {
  /** Every family's newest checkpoint, by family. */
  issued(): readonly IssuedCheckpoint[];
  /** Told after a commit. */
  record(checkpoints: readonly IssuedCheckpoint[]): void;
  /** How far each of these families was issued, where it was: read before the heads that are held against it. */
  issuedOf(families: readonly string[]): ReadonlyMap<string, IssuedPlace>;
  /** @throws {ServiceError} SERVICE_UNAVAILABLE where a family's head is behind what was issued, or is suspect. */
  requireCurrent(issued: ReadonlyMap<string, IssuedPlace>, heads: readonly StoredHead[]): void;
  /**
   * This family is not what was issued: nothing is recorded anywhere before it has begun a later epoch than this one,
   * which a restore begins for all families at once. null: nothing is suspect.
   */
  suspect(family: SuspectFamily | null): void;
  /** The family that every write must look at besides its own. */
  suspected(): SuspectFamily | null;
  erased(): readonly ErasedOperator[];
  recordErased(erased: ErasedOperator): void;
  /** Forgets erasures before this instant, epoch milliseconds. */
  forgetErased(before: number): void;
  /** Brings what was written to the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS checkpoint (
    family TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    origin TEXT NOT NULL,
    size INTEGER NOT NULL,
    root BLOB NOT NULL,
    note TEXT NOT NULL
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS erased (
    name BLOB PRIMARY KEY,
    at INTEGER NOT NULL
  ) WITHOUT ROWID, STRICT`;

/** How long a write waits for another process's. */
const BUSY_TIMEOUT_MS = 1_000;

export interface LockOptions {
  /** A file's path, or `:memory:`. */
  readonly path: string;
  /** Told where the lock could not follow: what it follows is durable already. */
  readonly onFailure: (error: unknown) => void;
}

/** Opens the lock, creating it where it is missing. */
export function openLock({ path, onFailure }: LockOptions): CheckpointLock {
  const connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  connection.exec("PRAGMA journal_mode = WAL");
  // In WAL a commit is then not synced, a checkpoint is: whatever is lost, the file stays whole.
  connection.exec("PRAGMA synchronous = NORMAL");
  connection.exec("PRAGMA wal_autocheckpoint = 0");
  connection.exec(SCHEMA);
  const all = connection.prepare(
    "SELECT family, epoch, origin, size, root, note FROM checkpoint ORDER BY family",
  );
  const one = connection.prepare("SELECT epoch, size FROM checkpoint WHERE family = ?");
  const upsert = connection.prepare(`INSERT INTO checkpoint (family, epoch, origin, size, root, note)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (family) DO UPDATE SET epoch = excluded.epoch, origin = excluded.origin, size = excluded.size,
      root = excluded.root, note = excluded.note
    WHERE (excluded.epoch, excluded.size) > (checkpoint.epoch, checkpoint.size)`);
  let unsynced = false;
  let suspected: SuspectFamily | null = null;

  /** Follows what is durable already: where it cannot, it says so, and nothing else fails. */
  function follow(write: () => void): void {
    try {
      write();
      unsynced = true;
    } catch (error) {
      onFailure(error);
    }
  }

  return {
    issued: () => all.all() as unknown as readonly IssuedCheckpoint[],
    record(checkpoints) {
      if (checkpoints.length === 0) return;
      follow(() => {
        for (const { family, epoch, origin, size, root, note } of checkpoints) {
          upsert.run(family, epoch, origin, size, root, note);
        }
      });
    },
    issuedOf(families) {
      return new Map(families.flatMap((family) => {
        const place = one.get(family) as unknown as IssuedPlace | undefined;
        return place === undefined ? [] : [[family, place]];
      }));
    },
    requireCurrent(places, heads) {
      for (const [family, issued] of places) {
        const head = heads.find((candidate) => candidate.family === family);
        const isSuspect = suspected?.family === family && (head?.epoch ?? 0) <= suspected.epoch;
        if (head !== undefined && !isBehind(head, issued) && !isSuspect) continue;
        throw unavailable(
          "The database is older than what this installation has issued, or was altered: nothing is recorded until an administrator runs `jiss restore --acknowledge REASON`.",
          ADMINISTRATOR_RETRY_SECONDS,
        );
      }
    },
    suspect(family) {
      suspected = family;
    },
    suspected: () => suspected,
    erased: () =>
      connection.prepare("SELECT name, at FROM erased ORDER BY at").all() as unknown as ErasedOperator[],
    recordErased({ name, at }) {
      follow(() =>
        connection.prepare(
          "INSERT INTO erased (name, at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at",
        ).run(name, at)
      );
    },
    forgetErased(before) {
      follow(() => connection.prepare("DELETE FROM erased WHERE at < ?").run(before));
    },
    sync() {
      if (!unsynced) return Promise.resolve();
      try {
        const row = connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
        // Where another process reads in it, the next sync makes up for this one.
        unsynced = row.busy !== 0;
      } catch (error) {
        onFailure(error);
      }
      return Promise.resolve();
    },
    close() {
      const synced = this.sync();
      connection.close();
      return synced;
    },
  };
}

/** How far each family was issued, as a lock's file has it, which stays as it is. @throws {Error} of SQLite. */
export function issuedPlaces(path: string): ReadonlyMap<string, IssuedPlace> {
  // Not read-only: such a connection would leave the files of the write-ahead log behind.
  const connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    const rows = connection.prepare("SELECT family, epoch, size FROM checkpoint").all();
    return new Map(
      (rows as unknown as readonly IssuedCheckpoint[]).map((
        { family, epoch, size },
      ) => [family, { epoch, size }]),
    );
  } finally {
    connection.close();
  }
}

/** Whether a chain stands before what was issued for its family. */
export function isBehind(
  head: StoredHead,
  issued: IssuedPlace,
): boolean {
  return head.epoch < issued.epoch || (head.epoch === issued.epoch && head.frontier.size < issued.size);
}
