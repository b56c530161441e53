/**
 * The interface of a database: compiled queries to read, and one way to write, the atomic batch.
 *
 * Kysely builds the SQL and its types. The backend runs it, so that a batch is one transaction on an embedded
 * file and one request to a libSQL server. No transaction is ever held open across awaits.
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

/**
 * Builds queries and runs none. Marked as pure, so that the bundle of the storage thread, which builds no
 * queries, leaves it out.
 */
export const query: Kysely<Schema> = /* @__PURE__ */ new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/** A query that is built and ready to run. Only this folder builds one or looks into it. */
export type { CompiledQuery };

/** One statement of a batch. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** How many rows it must change. The batch is a conflict if it changes another number. */
  readonly mustChange?: number;
  /**
   * True if it may run after everything else of its commit, grouped with other statements of the same SQL, in
   * their order.
   */
  readonly last?: boolean;
  /** True if what it deletes is no personal data, so that the file need not be cleared of it. */
  readonly impersonal?: boolean;
  /** Whether it replaces personal data: what was there must be cleared from the file, as after a deletion. */
  readonly replacesPersonal?: boolean;
}

export type Expunged = "done" | "pending" | "server";

export interface Database {
  /** Whether several hosts write to it, each with a lock of its own, see `lock.ts`. */
  readonly isShared: boolean;
  read<Row>(compiled: CompiledQuery<Row>): Promise<readonly Row[]>;
  /** Runs several queries on one state of the database, even if it is written meanwhile. */
  snapshot<Rows extends readonly unknown[]>(
    queries: { readonly [Index in keyof Rows]: CompiledQuery<Rows[Index]> },
  ): Promise<{ readonly [Index in keyof Rows]: readonly Rows[Index][] }>;
  /**
   * Runs all statements durably, or none.
   * @throws {WriteConflict} if another writer was first: reload and try again.
   * @throws {DatabaseBusy} if another process holds the database: wait and try again.
   * @throws {DatabaseUnavailable} if the disk is full or read-only, or the server does not answer.
   */
  batch(statements: readonly Statement[]): Promise<void>;
  /**
   * Makes sure that no file of the database holds deleted data any more: overwrites its place and empties the
   * write-ahead log. Returns `pending` if a reader holds the log: try again. Returns `server` if that is up
   * to the server.
   */
  expunge(): Promise<Expunged>;
  close(): Promise<void>;
}

/** Message of the trigger that refuses an entry which does not continue its chain's head. */
export const HEAD_CONFLICT = "audit_head_conflict";

/** A single row is larger than the largest answer that the server gives. */
export class AnswerTooLarge extends Error {
  override readonly name = "AnswerTooLarge";
}

/** Another writer changed what this batch was built on. */
export class WriteConflict extends Error {
  override readonly name = "WriteConflict";
}

/** The database does not answer, or takes no writes: writes that wait for it would be refused too. */
export class DatabaseUnavailable extends ServiceError {
  constructor(message: string) {
    super("SERVICE_UNAVAILABLE", message, { headers: retryAfter() });
  }
}

/** Another process holds the database, for the moment or for long. */
export class DatabaseBusy extends Error {
  override readonly name = "DatabaseBusy";
}
