/**
 * The record of what this installation has issued: the newest checkpoint of each chain, and which operators
 * were erased. It is kept apart from the database and is not part of its backups.
 *
 * A database that is behind the lock was restored from somewhere; to continue from there in silence would be
 * a fork. The lock may lag behind the database, by at most a second at a power cut; it never leads it.
 * Source: evidence design, section 10 and "Read first", point 4.
 */
import type { ErasedOperator, IssuedCheckpoint, IssuedPlace, StoredClock, SuspectFamily } from "./issued.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { ADMINISTRATOR_RETRY_SECONDS, BehindIssued, unavailable } from "../domain/errors.ts";
import type { StoredHead } from "./chains.ts";
import { asStorageFailure, connectTo } from "./faults.ts";
import { type LockEntries, PendingLockEntries } from "./lock_entries.ts";
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
   * @throws {BehindIssued} if a family's head is behind what was issued, or is suspect; {AlteredRows} if it is suspect because rows were altered.
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
  /**
   * Families that were found behind what was issued since this process started, and not current since. Every
   * write to a chain must check them besides its own.
   */
  behind(): readonly string[];
  /** Whether a family is suspect, or was found behind. Heads may then be older than what was issued. */
  isInDoubt(): boolean;
  erased(): readonly ErasedOperator[];
  recordErased(erased: ErasedOperator): void;
  /** Forgets erasures before this instant, epoch milliseconds. */
  forgetErased(before: number): void;
  /** null if none was kept. */
  clock(): StoredClock | null;
  recordClock(clock: StoredClock): void;
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

const STATEMENTS = {
  issued: "SELECT family, epoch, origin, size, root, note FROM checkpoint ORDER BY family",
  place: "SELECT epoch, size FROM checkpoint WHERE family = ?",
  record: `INSERT INTO checkpoint (family, epoch, origin, size, root, note)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (family) DO UPDATE SET epoch = excluded.epoch, origin = excluded.origin, size = excluded.size,
      root = excluded.root, note = excluded.note
    WHERE (excluded.epoch, excluded.size) > (checkpoint.epoch, checkpoint.size)`,
  erased: "SELECT name, at FROM erased ORDER BY at",
  recordErased:
    "INSERT INTO erased (name, at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at",
  forgetErased: "DELETE FROM erased WHERE at < ?",
  recordClock:
    "INSERT INTO clock (id, at, is_refused) VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at, is_refused = excluded.is_refused",
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  emptyLog: "PRAGMA wal_checkpoint(TRUNCATE)",
} as const;

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
export function openLock(options: LockOptions): CheckpointLock {
  return new FileLock(options);
}

class FileLock implements CheckpointLock {
  readonly #options: LockOptions;
  readonly #connection: DatabaseSync;
  readonly #statements: Readonly<Record<keyof typeof STATEMENTS, StatementSync>>;
  /** The kinds of work that failed and have not succeeded since. */
  readonly #troubles = new Set<Work>();
  /** Entries that could not be written. Each later write and each sync tries them again. */
  readonly #unwritten = new PendingLockEntries();
  #isUnsynced = false;
  #suspected: SuspectFamily | null = null;
  /** The families that were found behind what was issued, and not current since. */
  readonly #behind = new Set<string>();

  constructor(options: LockOptions) {
    this.#options = options;
    this.#connection = connectTo(options.path, { timeout: BUSY_TIMEOUT_MS }, SETTING_UP);
    const prepared = Object.entries(STATEMENTS).map(([name, sql]) => [name, this.#connection.prepare(sql)]);
    this.#statements = Object.fromEntries(prepared);
  }

  issued(): readonly IssuedCheckpoint[] {
    return this.#read(() => this.#statements.issued.all() as unknown as readonly IssuedCheckpoint[]);
  }

  record(issued: readonly IssuedCheckpoint[]): void {
    this.#writeEntries({ issued });
  }

  issuedOf(families: readonly string[]): ReadonlyMap<string, IssuedPlace> {
    return this.#read(() =>
      new Map(families.flatMap((family) => {
        const place = this.#statements.place.get(family) as unknown as IssuedPlace | undefined;
        return place === undefined ? [] : [[family, place]];
      }))
    );
  }

  requireCurrent(places: ReadonlyMap<string, IssuedPlace>, heads: readonly StoredHead[]): void {
    const suspected = this.#suspected;
    for (const [family, issued] of places) {
      const head = heads.find((candidate) => candidate.family === family);
      const isSuspect = suspected?.family === family && (head?.epoch ?? 0) <= suspected.epoch;
      if (head !== undefined && !isBehind(head, issued) && !isSuspect) {
        this.#behind.delete(family);
        continue;
      }
      if (isSuspect && suspected?.altered !== undefined) throw new AlteredRows(family, suspected.altered);
      if (!isSuspect) this.#behind.add(family);
      throw new BehindIssued(family);
    }
  }

  suspect(family: SuspectFamily | null): void {
    this.#suspected = family;
  }

  suspected(): SuspectFamily | null {
    return this.#suspected;
  }

  behind(): readonly string[] {
    return [...this.#behind];
  }

  isInDoubt(): boolean {
    return this.#suspected !== null || this.#behind.size > 0;
  }

  erased(): readonly ErasedOperator[] {
    return this.#read(() => this.#statements.erased.all() as unknown as readonly ErasedOperator[]);
  }

  recordErased(erased: ErasedOperator): void {
    this.#writeEntries({ erased: [erased] });
  }

  forgetErased(before: number): void {
    this.#writeEntries({ forgetBefore: before });
  }

  clock(): StoredClock | null {
    return this.#read(() => selectStoredClock(this.#connection));
  }

  recordClock(clock: StoredClock): void {
    this.#writeEntries({ clock });
  }

  sync(): Promise<void> {
    this.#writeEntries();
    if (this.#isUnsynced) {
      this.#attempt("syncing", () => {
        const row = this.#statements.emptyLog.get() as { busy: number };
        // If another process reads the log, the next sync tries again.
        this.#isUnsynced = row.busy !== 0;
      });
    }
    return Promise.resolve();
  }

  close(): Promise<void> {
    const synced = this.sync();
    this.#connection.close();
    return synced;
  }

  /**
   * Writes these entries and those owed. A failure is reported and keeps nothing else from going on: the
   * database has committed.
   */
  #writeEntries(entries: Partial<LockEntries> = {}): void {
    this.#unwritten.add(entries);
    if (this.#unwritten.isEmpty) return;
    const pending = this.#unwritten.takeAll();
    this.#attempt("writing", () => {
      try {
        this.#write(pending);
        this.#isUnsynced = true;
      } catch (error) {
        if (this.#connection.isTransaction) this.#connection.exec("ROLLBACK");
        this.#unwritten.add(pending);
        throw error;
      }
    });
  }

  #write({ issued, erased, forgetBefore, clock }: LockEntries): void {
    const { begin, record, recordErased, forgetErased, recordClock, commit } = this.#statements;
    begin.run();
    for (const { family, epoch, origin, size, root, note } of issued) {
      record.run(family, epoch, origin, size, root, note);
    }
    for (const { name, at } of erased) recordErased.run(name, at);
    if (forgetBefore !== null) forgetErased.run(forgetBefore);
    if (clock !== null) recordClock.run(clock.at, clock.isRefused ? 1 : 0);
    commit.run();
  }

  /** Runs the work and reports a failure. @returns whether it succeeded. */
  #attempt(kind: Work, work: () => void): boolean {
    const { path, onTrouble } = this.#options;
    try {
      work();
    } catch (error) {
      this.#troubles.add(kind);
      onTrouble(asStorageFailure(error, path));
      return false;
    }
    if (this.#troubles.delete(kind) && this.#troubles.size === 0) onTrouble(null);
    return true;
  }

  /**
   * Reads. If the lock cannot be read, nobody knows whether the database is older than what was issued.
   * @throws {ServiceError} if it cannot be read.
   */
  #read<Found>(read: () => Found): Found {
    let found: Found;
    if (this.#attempt("reading", () => found = read())) return found!;
    throw unavailable(
      "lock.db, which records what this installation has issued, cannot be read: nothing is recorded until an administrator has mended it.",
      ADMINISTRATOR_RETRY_SECONDS,
    );
  }
}

/** Instructions for an administrator whose lock is damaged. */
export const MEND_LOCK =
  "compare the database with checkpoints that are kept elsewhere (jiss verify), then move lock.db with its -wal and -shm away; the start makes a new one";

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
export function readStoredClock(path: string): StoredClock | null {
  // The file of an earlier program has no such table.
  return reading(path, (connection) => hasTable(connection, "clock") ? selectStoredClock(connection) : null);
}

function hasTable(connection: DatabaseSync, name: string): boolean {
  return connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(name) !== undefined;
}

function selectStoredClock(connection: DatabaseSync): StoredClock | null {
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
    throw asStorageFailure(error, path);
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
