/**
 * The embedded backend: one SQLite file through `node:sqlite`, which is inside Deno, so that the compiled
 * binary needs no native add-on and no FFI permission.
 *
 * WAL with `synchronous=FULL`: a batch that returned survives `kill -9` and a power cut.
 */
import type { StatementSync } from "node:sqlite";
import type { CompiledQuery } from "kysely";
import {
  type Database,
  DatabaseBusy,
  DatabaseUnavailable,
  HEAD_CONFLICT,
  type Statement,
  WriteConflict,
} from "./database.ts";
import {
  asFailure,
  connectTo,
  faultOf,
  isPassing,
  type PassingFault,
  resultCode,
  type StorageFailure,
} from "./faults.ts";
import { PageScrubber } from "./scrub.ts";
import { nextTurn } from "./turn.ts";

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

/**
 * Opens the file and creates it if it is missing.
 * @throws {StorageFailure} if it is not a database or cannot be opened.
 */
export function openEmbedded({ path, onFatal, onPassing }: EmbeddedOptions): Database {
  const connection = connectTo(
    path,
    { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true },
    SETTING_UP,
  );
  const prepared = new Map<string, StatementSync>();
  let failed = false;
  let closed = false;
  /**
   * Number of batches that deleted something, and how many of them the file has been cleared of. Starts at 1
   * because deletions of an earlier process are unknown.
   */
  let deletions = 1;
  let cleared = 0;
  let scrubber: PageScrubber | null = null;

  function prepare(sql: string): StatementSync {
    let statement = prepared.get(sql);
    if (statement === undefined) {
      if (prepared.size >= PREPARED_MAX) prepared.clear();
      statement = connection.prepare(sql);
      prepared.set(sql, statement);
    }
    return statement;
  }

  function translate(error: unknown): unknown {
    const code = resultCode(error);
    if (code === null) return error;
    const { message } = error as Error;
    if (code === SQLITE_CONSTRAINT_TRIGGER ? message.includes(HEAD_CONFLICT) : TAKEN.includes(code)) {
      return new WriteConflict(message);
    }
    if (LOCKED.includes(code & 0xff)) return new DatabaseBusy(message);
    const fault = faultOf(error, path);
    if (isPassing(fault)) {
      onPassing?.(fault);
      return new DatabaseUnavailable(REFUSED[fault]);
    }
    if (fault !== null && !failed) {
      failed = true;
      onFatal(asFailure(error, fault));
    }
    return failed ? new DatabaseUnavailable("The database failed; the service is stopping.") : error;
  }

  /** Rolls back. A failure of that is ignored: the caller throws the error that led here. */
  function rollBack(): void {
    try {
      if (connection.isTransaction) connection.exec("ROLLBACK");
    } catch {
      // The error that led here decides what happens to the connection.
    }
  }

  function runBatch(statements: readonly Statement[]): void {
    // Prepared, because an error of `exec` carries no result code: a busy lock, or a commit that cannot be
    // synced.
    prepare("BEGIN IMMEDIATE").run();
    try {
      for (const { sql, parameters, mustChange, impersonal } of statements) {
        const { changes } = prepare(sql).run(...parameters as never[]);
        if (/^delete /i.test(sql) && !impersonal) deletions += 1;
        if (mustChange !== undefined && Number(changes) !== mustChange) {
          throw new WriteConflict(`changed ${changes} rows where it must change ${mustChange}`);
        }
      }
      prepare("COMMIT").run();
    } catch (error) {
      rollBack();
      throw error;
    }
  }

  /** Returns false if a reader holds the log. */
  function emptyLog(): boolean {
    const row = prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
    return row.busy === 0;
  }

  async function expunge(): Promise<boolean> {
    const upTo = deletions;
    if (!emptyLog()) return false;
    if (cleared >= upTo || path === ":memory:") return true;
    scrubber ??= new PageScrubber(path);
    for (let page: number | null = 0; page !== null;) {
      page = scrubFrom(scrubber, page);
      await nextTurn();
      // The rest is done when the file is opened again.
      if (closed) return false;
    }
    cleared = Math.max(cleared, upTo);
    return emptyLog();
  }

  /**
   * @returns the page to continue with; null at the end.
   * @throws {DatabaseBusy} if another process reads or writes.
   */
  function scrubFrom(pages: PageScrubber, first: number): number | null {
    if (!emptyLog()) throw new DatabaseBusy("a reader holds the log");
    prepare("BEGIN IMMEDIATE").run();
    try {
      if (Deno.statSync(`${path}-wal`).size > 0) throw new DatabaseBusy("another process has written");
      const { changed, next } = pages.step(first);
      // Other connections cache pages that were changed without their notice; this commit makes them drop the
      // cache.
      if (changed) connection.exec(`PRAGMA user_version = ${userVersion() === 1 ? 2 : 1}`);
      prepare("COMMIT").run();
      return next;
    } catch (error) {
      rollBack();
      throw error;
    } finally {
      // This connection drops its cache too.
      connection.exec("PRAGMA shrink_memory");
    }
  }

  function userVersion(): number {
    const row = prepare("PRAGMA user_version").get() as { user_version: number };
    return row.user_version;
  }

  return {
    isShared: false,
    read<Row>({ sql, parameters }: CompiledQuery<Row>) {
      try {
        return Promise.resolve(prepare(sql).all(...parameters as never[]) as Row[]);
      } catch (error) {
        return Promise.reject(translate(error));
      }
    },
    snapshot<Rows extends readonly unknown[]>(
      queries: { readonly [Index in keyof Rows]: CompiledQuery<Rows[Index]> },
    ) {
      try {
        prepare("BEGIN").run();
        try {
          const rows = queries.map(({ sql, parameters }) => prepare(sql).all(...parameters as never[]));
          return Promise.resolve(
            rows as unknown as { readonly [Index in keyof Rows]: readonly Rows[Index][] },
          );
        } finally {
          // Nothing was written, so the snapshot is given up even if a read failed.
          rollBack();
        }
      } catch (error) {
        return Promise.reject(translate(error));
      }
    },
    batch(statements) {
      if (failed) {
        return Promise.reject(new DatabaseUnavailable("The database failed; the service is stopping."));
      }
      try {
        runBatch(statements);
        return Promise.resolve();
      } catch (error) {
        return Promise.reject(translate(error));
      }
    },
    async expunge() {
      try {
        return await expunge() ? "done" : "pending";
      } catch (error) {
        const translated = translate(error);
        if (translated instanceof DatabaseBusy) return "pending";
        throw translated;
      }
    },
    close() {
      closed = true;
      connection.close();
      scrubber?.close();
      return Promise.resolve();
    },
  };
}

/** The version of SQLite that runs the embedded database, such as `3.50.4`. */
export function sqliteVersion(): string {
  const memory = connectTo(":memory:", {}, []);
  const row = memory.prepare("SELECT sqlite_version() AS version").get() as { readonly version: string };
  memory.close();
  return row.version;
}
