/**
 * A connection to one SQLite file through `node:sqlite`.
 *
 * WAL with `synchronous=FULL`: a transaction that returned survives `kill -9` and a power cut.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { CompiledQuery } from "kysely";
import { DatabaseBusy, DatabaseUnavailable, HEAD_CONFLICT, WriteConflict } from "./database.ts";
import {
  asFailure,
  connectTo,
  faultOf,
  isPassing,
  type PassingFault,
  resultCode,
  type StorageFailure,
} from "./faults.ts";

/**
 * Milliseconds that a batch waits for another process's write lock. The wait blocks this whole process, so it
 * is short; the caller waits and tries again.
 */
const BUSY_TIMEOUT_MS = 100;

/** Maximum number of statements that are kept prepared; the service has some hundred. */
const PREPARED_MAX = 10_000;

/** https://sqlite.org/rescode.html; the low byte of an extended code is the primary one. */
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555;
const SQLITE_CONSTRAINT_TRIGGER = 1811;
const SQLITE_CONSTRAINT_UNIQUE = 2067;

/** Codes of a key that another row has. */
const TAKEN: readonly number[] = [SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE];
const LOCKED: readonly number[] = [SQLITE_BUSY, SQLITE_LOCKED];

const SETTING_UP = [
  "PRAGMA journal_mode = WAL",
  "PRAGMA synchronous = FULL",
  "PRAGMA trusted_schema = OFF",
  "PRAGMA secure_delete = ON",
  // A month of sparklines of twenty busy operators is more than SQLite's default of 2 MiB.
  "PRAGMA cache_size = -16384",
  // A temporary file in /var/tmp would hold erased data in the clear, and cannot be opened if file
  // descriptors run out.
  "PRAGMA temp_store = MEMORY",
];

const REFUSED: Readonly<Record<PassingFault, string>> = {
  full: "The database takes no writes at the moment; try again later.",
  read_only: "The database takes no writes at the moment; try again later.",
  unopened: "The database cannot do this at the moment; try again later.",
};

export interface EmbeddedOptions {
  /** A file's path, or `:memory:`. */
  readonly path: string;
  /** Called once on an I/O error: nothing may be written after it. */
  onFatal(error: StorageFailure): void;
  /** Called on each refusal for a reason that passes. */
  onPassing?(fault: PassingFault): void;
}

/** The connection to the file. It translates the errors of SQLite to those that a {@link Database} throws. */
export class FileConnection {
  readonly #options: EmbeddedOptions;
  readonly #connection: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();
  #hasFailed = false;

  /** @throws {StorageFailure} if it is not a database or cannot be opened. */
  constructor(options: EmbeddedOptions) {
    const { path } = options;
    this.#options = options;
    this.#connection = connectTo(
      path,
      { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true },
      SETTING_UP,
    );
  }

  /** Whether an I/O error ended all use of the file. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** The statement, prepared once. */
  prepare(sql: string): StatementSync {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      if (this.#prepared.size >= PREPARED_MAX) this.#prepared.clear();
      statement = this.#connection.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }

  /** The rows that a query finds. */
  rows({ sql, parameters }: CompiledQuery): unknown[] {
    return this.prepare(sql).all(...parameters as never[]);
  }

  /** Runs a statement that is not worth keeping; its errors carry no result code. */
  exec(sql: string): void {
    this.#connection.exec(sql);
  }

  /** Runs work that reads one state of the file. */
  reading<Result>(work: () => Result): Result {
    this.prepare("BEGIN").run();
    try {
      return work();
    } finally {
      // Nothing was written, so the snapshot is given up even if a read failed.
      this.#rollBack();
    }
  }

  /** Runs work that writes all that it writes, or nothing if it throws. */
  writing<Result>(work: () => Result): Result {
    // Prepared, because an error of `exec` carries no result code: a busy lock, or a commit that cannot be
    // synced.
    this.prepare("BEGIN IMMEDIATE").run();
    try {
      const result = work();
      this.prepare("COMMIT").run();
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** Runs work now. The promise rejects with the translated error. */
  answer<Result>(work: () => Result): Promise<Result> {
    try {
      return Promise.resolve(work());
    } catch (error) {
      return Promise.reject(this.translate(error));
    }
  }

  /** The error that a caller gets; it tells about a fault of the file. */
  translate(error: unknown): unknown {
    const code = resultCode(error);
    if (code === null) return error;
    const { message } = error as Error;
    if (code === SQLITE_CONSTRAINT_TRIGGER ? message.includes(HEAD_CONFLICT) : TAKEN.includes(code)) {
      return new WriteConflict(message);
    }
    if (LOCKED.includes(code & 0xff)) return new DatabaseBusy(message);
    const { path, onFatal, onPassing } = this.#options;
    const fault = faultOf(error, path);
    if (isPassing(fault)) {
      onPassing?.(fault);
      return new DatabaseUnavailable(REFUSED[fault]);
    }
    if (fault !== null && !this.#hasFailed) {
      this.#hasFailed = true;
      onFatal(asFailure(error, fault));
    }
    return this.#hasFailed ? stopping() : error;
  }

  close(): void {
    this.#connection.close();
  }

  /** A failure of this is ignored: the caller throws the error that led here. */
  #rollBack(): void {
    try {
      if (this.#connection.isTransaction) this.#connection.exec("ROLLBACK");
    } catch {
      // The error that led here decides what happens to the connection.
    }
  }
}

/** The refusal of everything once the file has failed. */
export function stopping(): DatabaseUnavailable {
  return new DatabaseUnavailable("The database failed; the service is stopping.");
}
