/**
 * What the service asks of a database: compiled queries to read, and one way to write, the atomic batch.
 *
 * Kysely builds the SQL and its types; running it is left to the backend, so that a batch is one transaction
 * on an embedded file and one request to a libSQL server. No transaction is ever held open across awaits.
 */
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { retryAfter, ServiceError } from "../domain/errors.ts";
import type { Schema } from "./schema.ts";

/** Builds queries and runs none. Marked, so that the bundle of the thread that writes, which builds none, goes without. */
export const query: Kysely<Schema> = /* @__PURE__ */ new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/** One statement of a batch. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** How many rows it must change; the batch is a conflict where it changes another number. */
  readonly mustChange?: number;
  /** Whether it may come after everything else of its commit, and among others of its text in their order. */
  readonly last?: boolean;
  /** Whether what it deletes is nobody's personal data, so that the file need not be cleared of it. */
  readonly impersonal?: boolean;
}

export type Expunged = "done" | "pending" | "server";

export interface Database {
  /** Whether hosts write to it that each have a lock of their own, see `lock.ts`. */
  readonly isShared: boolean;
  read<Row>(compiled: CompiledQuery<Row>): Promise<readonly Row[]>;
  /** Runs several queries on one state of the database, whatever is written meanwhile. */
  snapshot<Rows extends readonly unknown[]>(
    queries: { readonly [Index in keyof Rows]: CompiledQuery<Rows[Index]> },
  ): Promise<{ readonly [Index in keyof Rows]: readonly Rows[Index][] }>;
  /**
   * Runs all statements, durably, or none.
   * @throws {WriteConflict} where another writer was there first: reload and try again.
   * @throws {DatabaseBusy} where another process holds the database: wait and try again.
   * @throws {DatabaseUnavailable} where the disk is full or read-only, or a server gives no answer.
   */
  batch(statements: readonly Statement[]): Promise<void>;
  /**
   * Makes sure that what was deleted is in no file of the database any more: its place is overwritten, and the
   * write-ahead log emptied. `pending` where a reader holds the log: try again. `server`: that is the server's own
   * to do.
   */
  expunge(): Promise<Expunged>;
  close(): Promise<void>;
}

/** What the trigger says that refuses an entry which does not continue its chain's head. */
export const HEAD_CONFLICT = "audit_head_conflict";

/** A server gives no answer as large as a single row is. */
export class AnswerTooLarge extends Error {
  override readonly name = "AnswerTooLarge";
}

/** Another writer changed what this batch was built on. */
export class WriteConflict extends Error {
  override readonly name = "WriteConflict";
}

/** The database gives no answer, or takes no writes: what waits for it would be refused in its turn. */
export class DatabaseUnavailable extends ServiceError {
  constructor(message: string) {
    super("SERVICE_UNAVAILABLE", message, { headers: retryAfter() });
  }
}

/** Another process holds the database, for the moment or for long. */
export class DatabaseBusy extends Error {
  override readonly name = "DatabaseBusy";
}
