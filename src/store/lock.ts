/**
 * The record of what this installation has issued: the newest checkpoint of each chain, and which operators
 * were erased. It is kept apart from the database and is not part of its backups.
 *
 * A database that is behind the lock was restored from somewhere; to continue from there in silence would be
 * a fork. The lock may lag behind the database, by at most a second at a power cut; it never leads it.
 * Source: evidence design, section 10 and "Read first", point 4.
 */
import type { ErasedOperator, IssuedCheckpoint, IssuedPlace, KeptClock, SuspectFamily } from "./issued.ts";
import type { DatabaseSync } from "node:sqlite";
import { ADMINISTRATOR_RETRY_SECONDS, unavailable } from "../domain/errors.ts";
import type { StoredHead } from "./chains.ts";
import { connectTo, told } from "./faults.ts";
import { GatheredEntries, type LockEntries } from "./lock_entries.ts";
import { AlteredRows } from "./seals.ts";

export interface CheckpointLock {
  /** The newest checkpoint of every family, ordered by family. */
  issued(): readonly IssuedCheckpoint[];
  /** Called after a commit. */
  record(checkpoints: readonly IssuedCheckpoint[]): void;
  /**
   * The place up to which each of these families was issued, without those that were never issued. Read it
   * before the heads that are checked against it.
   */
  issuedOf(families: readonly string[]): ReadonlyMap<string, IssuedPlace>;
  /**
   * @throws {ServiceError} SERVICE_UNAVAILABLE if a family's head is behind what was issued, or is suspect;
   * {AlteredRows} if it is suspect because rows were altered.
   */
  requireCurrent(issued: ReadonlyMap<string, IssuedPlace>, heads: readonly StoredHead[]): void;
  /**
   * Marks a family that does not match what was issued. Nothing is recorded anywhere before this family has
   * begun a later epoch than the marked one; a restore begins it for all families at once. null if nothing is
   * suspect.
   */
  suspect(family: SuspectFamily | null): void;
  /** The suspect family, which every write must check besides its own; null if there is none. */
  suspected(): SuspectFamily | null;
  erased(): readonly ErasedOperator[];
  recordErased(erased: ErasedOperator): void;
  /** Forgets erasures before this instant, epoch milliseconds. */
  forgetErased(before: number): void;
  /** null if none was kept. */
  clock(): KeptClock | null;
  recordClock(clock: KeptClock): void;
  /** Syncs what was written to the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

const SETTING_UP = [
  "PRAGMA journal_mode = WAL",
  // In WAL this syncs checkpoints but no commits: some commits may be lost, but the file stays whole.
  "PRAGMA synchronous = NORMAL",
  "PRAGMA wal_autocheckpoint = 0",
  `CREATE TABLE IF NOT EXISTS checkpoint (
    family TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    origin TEXT NOT NULL,
    size INTEGER NOT NULL,
    root BLOB NOT NULL,
    note TEXT NOT NULL
  ) WITHOUT ROWID, STRICT`,
  `CREATE TABLE IF NOT EXISTS erased (
    name BLOB PRIMARY KEY,
    at INTEGER NOT NULL
  ) WITHOUT ROWID, STRICT`,
  `CREATE TABLE IF NOT EXISTS clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at INTEGER NOT NULL,
    is_refused INTEGER NOT NULL
  ) STRICT`,
];

/** Milliseconds that a write waits for another process's write. */
const BUSY_TIMEOUT_MS = 1_000;

/** The kinds of work that can fail independently. */
type Work = "reading" | "writing" | "syncing";

export interface LockOptions {
  /** A file's path, or `:memory:`. */
  readonly path: string;
  /**
   * Called each time that the lock cannot be read or written, and with null once it works again and has
   * caught up. A failed write is reported only here, since the database has committed already.
   */
  readonly onTrouble: (error: unknown) => void;
}

/**
 * Opens the lock and creates it if it is missing.
 * @throws {StorageFailure} if it is no database or cannot be opened.
 */
export function openLock({ path, onTrouble }: LockOptions): CheckpointLock {
  const connection = connectTo(path, { timeout: BUSY_TIMEOUT_MS }, SETTING_UP);
  const all = connection.prepare(
    "SELECT family, epoch, origin, size, root, note FROM checkpoint ORDER BY family",
  );
  const one = connection.prepare("SELECT epoch, size FROM checkpoint WHERE family = ?");
  const upsert = connection.prepare(`INSERT INTO checkpoint (family, epoch, origin, size, root, note)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (family) DO UPDATE SET epoch = excluded.epoch, origin = excluded.origin, size = excluded.size,
      root = excluded.root, note = excluded.note
    WHERE (excluded.epoch, excluded.size) > (checkpoint.epoch, checkpoint.size)`);
  const rememberErased = connection.prepare(
    "INSERT INTO erased (name, at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at",
  );
  const forget = connection.prepare("DELETE FROM erased WHERE at < ?");
  const setClock = connection.prepare(
    "INSERT INTO clock (id, at, is_refused) VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at, is_refused = excluded.is_refused",
  );
  const [begin, commit] = ["BEGIN IMMEDIATE", "COMMIT"].map((text) => connection.prepare(text));
  let unsynced = false;
  const troubles = new Set<Work>();
  let suspected: SuspectFamily | null = null;
  /** Entries that could not be written. Each later write and each sync tries them again. */
  const owed = new GatheredEntries();

  /**
   * Writes these entries and those owed. A failure is reported and keeps nothing else from going on: the
   * database has committed.
   */
  function follow(entries: Partial<LockEntries> = {}): void {
    owed.add(entries);
    if (owed.isEmpty) return;
    const taken = owed.take();
    attempt("writing", () => {
      try {
        write(taken);
        unsynced = true;
      } catch (error) {
        if (connection.isTransaction) connection.exec("ROLLBACK");
        owed.add(taken);
        throw error;
      }
    });
  }

  function write({ issued, erased, forgetBefore, clock }: LockEntries): void {
    begin!.run();
    for (const { family, epoch, origin, size, root, note } of issued) {
      upsert.run(family, epoch, origin, size, root, note);
    }
    for (const { name, at } of erased) rememberErased.run(name, at);
    if (forgetBefore !== null) forget.run(forgetBefore);
    if (clock !== null) setClock.run(clock.at, clock.isRefused ? 1 : 0);
    commit!.run();
  }

  /** Runs the work and reports a failure. @returns whether it succeeded. */
  function attempt(what: Work, work: () => void): boolean {
    try {
      work();
    } catch (error) {
      troubles.add(what);
      onTrouble(told(error, path));
      return false;
    }
    if (troubles.delete(what) && troubles.size === 0) onTrouble(null);
    return true;
  }

  /**
   * Reads. If the lock cannot be read, nobody knows whether the database is older than what was issued.
   * @throws {ServiceError} if it cannot be read.
   */
  function look<Found>(read: () => Found): Found {
    let found: Found;
    if (attempt("reading", () => found = read())) return found!;
    throw unavailable(
      "What this installation has issued cannot be read: nothing is recorded until an administrator has looked at lock.db.",
      ADMINISTRATOR_RETRY_SECONDS,
    );
  }

  return {
    issued: () => look(() => all.all() as unknown as readonly IssuedCheckpoint[]),
    record: (issued) => follow({ issued }),
    issuedOf(families) {
      return look(() =>
        new Map(families.flatMap((family) => {
          const place = one.get(family) as unknown as IssuedPlace | undefined;
          return place === undefined ? [] : [[family, place]];
        }))
      );
    },
    requireCurrent(places, heads) {
      for (const [family, issued] of places) {
        const head = heads.find((candidate) => candidate.family === family);
        const isSuspect = suspected?.family === family && (head?.epoch ?? 0) <= suspected.epoch;
        if (head !== undefined && !isBehind(head, issued) && !isSuspect) continue;
        if (isSuspect && suspected?.altered !== undefined) throw new AlteredRows(family, suspected.altered);
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
      look(() =>
        connection.prepare("SELECT name, at FROM erased ORDER BY at").all() as unknown as ErasedOperator[]
      ),
    recordErased: (erased) => follow({ erased: [erased] }),
    forgetErased: (forgetBefore) => follow({ forgetBefore }),
    clock: () => look(() => keptClockIn(connection)),
    recordClock: (clock) => follow({ clock }),
    sync() {
      follow();
      if (unsynced) {
        attempt("syncing", () => {
          const row = connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
          // If another process reads the log, the next sync tries again.
          unsynced = row.busy !== 0;
        });
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

/** Instructions for an administrator whose lock is damaged. */
export const MEND_LOCK =
  "hold the database against checkpoints kept elsewhere (jiss verify), then put lock.db with its -wal and -shm aside; the start makes a new one";

/**
 * The place up to which each family was issued, read from a lock's file, which stays as it is.
 * @throws {StorageFailure} if the file cannot be read.
 */
export function issuedPlaces(
  path: string,
): ReadonlyMap<string, IssuedPlace & Pick<IssuedCheckpoint, "origin">> {
  return reading(path, (connection) => {
    // A power cut right after a first start leaves the file empty.
    if (!hasTable(connection, "checkpoint")) return new Map();
    const rows = connection.prepare("SELECT family, epoch, origin, size FROM checkpoint").all();
    return new Map(
      (rows as unknown as readonly IssuedCheckpoint[]).map((
        { family, epoch, origin, size },
      ) => [family, { epoch, origin, size }]),
    );
  });
}

/**
 * The clock that a lock's file has kept; null if there is none. The file stays as it is.
 * @throws {StorageFailure} if it cannot be read.
 */
export function keptClock(path: string): KeptClock | null {
  // The file of an earlier program has no such table.
  return reading(path, (connection) => hasTable(connection, "clock") ? keptClockIn(connection) : null);
}

function hasTable(connection: DatabaseSync, name: string): boolean {
  return connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(name) !== undefined;
}

function keptClockIn(connection: DatabaseSync): KeptClock | null {
  const row = connection.prepare("SELECT at, is_refused FROM clock").get();
  if (row === undefined) return null;
  const { at, is_refused } = row as { readonly at: number; readonly is_refused: number };
  return { at, isRefused: is_refused === 1 };
}

function reading<Result>(path: string, read: (connection: DatabaseSync) => Result): Result {
  // Not read-only: such a connection would leave the files of the write-ahead log behind.
  const connection = connectTo(path, { timeout: BUSY_TIMEOUT_MS }, []);
  try {
    return read(connection);
  } catch (error) {
    throw told(error, path);
  } finally {
    connection.close();
  }
}

/** Whether a chain is behind what was issued for its family. */
export function isBehind(
  head: StoredHead,
  issued: IssuedPlace,
): boolean {
  return head.epoch < issued.epoch || (head.epoch === issued.epoch && head.frontier.size < issued.size);
}
