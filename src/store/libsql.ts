/**
 * The server backend: a libSQL server (`sqld`) through `@libsql/client` over HTTP, for several replicas of
 * the service.
 *
 * A batch is one request and one transaction, so that nothing is held open across the network. Its answer can
 * be lost while it commits. Therefore each batch replaces the id of the batch before it in the row of this
 * process's session, and the row is read before the batch is sent again. A batch that did not replace the id
 * can never commit once another batch has replaced it.
 * Source: contract, section 6; platform facts, libSQL server; Hrana over HTTP (libsql/docs/HRANA_3_SPEC.md).
 */
import {
  createClient,
  type InStatement,
  LibsqlBatchError,
  LibsqlError,
  type ResultSet,
  type Transaction,
} from "@libsql/client/http";
import { HttpServerError } from "@libsql/hrana-client";
import { type CompiledQuery, sql } from "kysely";
import { isUnavailable, unavailable } from "../domain/errors.ts";
import {
  AnswerTooLarge,
  type Database,
  DatabaseBusy,
  DatabaseUnavailable,
  HEAD_CONFLICT,
  query,
  type Statement,
  WriteConflict,
} from "./database.ts";

/** Milliseconds that a batch with a lost answer is looked for before the caller is told to try again. */
const LOST_ANSWER_MS = 5_000;
/** Milliseconds between two attempts. */
const RETRY_MS = 100;
/** A session with no write for so long belonged to a process that ended. */
const SESSION_SECONDS = 7 * 86_400;
/**
 * FULL: `PRAGMA synchronous` in a namespace of durability `strong`, in which a commit is synced before it is
 * answered. Source: https://sqlite.org/pragma.html#pragma_synchronous.
 */
export const SYNCHRONOUS_FULL = 2;

/** One row for each process that writes: the last of its batches that committed. */
export const WRITE_SESSION_TABLE = `CREATE TABLE IF NOT EXISTS write_session (
  session TEXT PRIMARY KEY, batch TEXT NOT NULL, used_at INTEGER NOT NULL) WITHOUT ROWID, STRICT`;

/** Maximum number of read requests under way. Later reads wait and are sent together. */
const READS_AT_ONCE = 4;
/** Maximum number of reads in one request: an answer may have 10 MB. */
const READS_TOGETHER = 64;

/** Rows of the first page if an answer is too large, and the divisor for a page that is still too large. */
const PAGE_ROWS = 8_192;
const PAGE_SHRINKS = 4;

/** Codes which mean that the server's database did not answer the request. */
const LOST_CODES = /^(?:HRANA_|SERVER_ERROR$|INTERNAL_ERROR$|UNKNOWN$|TRANSACTION_CLOSED$|PROXY_ERROR$)/;
/** Another client has the lock, or took it from a transaction that held it too long. */
const BUSY_CODES = /^(?:SQLITE_(?:BUSY|LOCKED)|TRANSACTION_(?:TIMEOUT|BUSY))/;
/** The disk is full or read-only, or an administrator blocked writes. */
const CLOSED_CODES = /^(?:SQLITE_(?:FULL|READONLY|IOERR|CORRUPT|CANTOPEN)|BLOCKED)/;

/** The statuses with which a server, or a proxy before it, refuses the client. */
const REFUSED_STATUSES = [401, 403, 404];

/** The error of a failed guard, see {@link withGuard}. */
const GUARD_FAILED = /malformed JSON/;

/**
 * Index in a batch of the guard that fails if the session's row was changed, and of the one that fails if the
 * server would not sync.
 */
const SESSION_GUARD = 1;
const DURABILITY_GUARD = 2;

export interface LibsqlOptions {
  /** `http://`, `https://` or `libsql://`. */
  readonly url: string;
  readonly authToken: string | null;
  /** Ends a request that takes too long, and trusts the certificates that the server may have. */
  readonly fetch: typeof fetch;
  /** Returns an id that nobody else has. */
  readonly newId: () => string;
  readonly time: { monotonic(): number; wait(milliseconds: number): Promise<void> };
  /**
   * Sets the durability of the namespace, which a server may lose when it restarts; null if there is no
   * access to do so.
   */
  readonly strengthen: (() => Promise<void>) | null;
  /** Called once when writing or reading begins to fail, and once with null when it works again. */
  readonly onTrouble: (trouble: ServerTrouble | null) => void;
}

/** The reason why a server cannot be used, and how to mend it. */
export class ServerTrouble extends Error {
  override readonly name = "ServerTrouble";

  constructor(message: string, readonly mend: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/** The message of each trouble, and how to mend it. */
const TROUBLES = {
  unreachable: ["the database server does not answer", "make sure that it runs and can be reached"],
  refused: [
    "the database server refuses this service",
    "set JISS_DATABASE_AUTH_TOKEN to a token that is valid for the namespace, and restart",
  ],
  shut: ["the database server cannot be read", "check block_reads of its namespace, and the server's disk"],
  closed: [
    "the database server takes no writes",
    "check block_writes of its namespace, and the server's disk",
  ],
  weak: [
    "the database server lost its durability: it would not keep what it confirms, so nothing is written to it",
    "set durability_mode of its namespace to strong over its admin API, or set JISS_DATABASE_ADMIN_URL to that API and restart",
  ],
} as const;
type Trouble = keyof typeof TROUBLES;

/** Troubles that end with any answer; the others end with a write. */
const ENDED_BY_ANSWER: readonly (Trouble | null)[] = ["unreachable", "refused", "shut"];

/** A client of the server. Sends nothing yet. */
export function openLibsql(options: LibsqlOptions): Database {
  const session = new LibsqlSession(options);
  let writing: Promise<unknown> = Promise.resolve();
  return {
    isShared: true,
    read: (compiled) => session.read(compiled),
    snapshot: (queries) => session.snapshot(queries),
    batch(statements) {
      const committed = writing.then(() => session.commit(statements));
      writing = committed.catch(() => {});
      return committed;
    },
    // The server decides what its own log and its replicas hold, and for how long.
    expunge: () => Promise.resolve("server"),
    async close() {
      await writing;
      session.close();
    },
  };
}

/** The server's answer did not come. What it was asked to write may be written or not. */
class NoAnswer extends Error {
  override readonly name = "NoAnswer";
}

interface WaitingRead {
  readonly compiled: CompiledQuery<unknown>;
  readonly rows: Promise<readonly unknown[]>;
  resolve(rows: readonly unknown[]): void;
  reject(error: unknown): void;
}

class LibsqlSession {
  readonly #options: LibsqlOptions;
  readonly #client;
  readonly #name: string;
  /**
   * The id of the last batch in this session's row, as far as is known; null if the row does not exist yet.
   */
  #last: string | null = null;
  #trouble: Trouble | null = null;
  /** By the identity of the query. */
  readonly #waiting = new Map<string | symbol, WaitingRead>();
  #reading = 0;

  constructor(options: LibsqlOptions) {
    const { url, authToken, fetch } = options;
    this.#options = options;
    this.#client = createClient({
      url,
      fetch,
      intMode: "number",
      ...(authToken === null ? {} : { authToken }),
    });
    this.#name = options.newId();
  }

  /**
   * Reads rows. A request costs more than a look-up, so waiting reads are sent together, and equal reads are
   * sent once.
   */
  read<Row>(compiled: CompiledQuery<Row>): Promise<readonly Row[]> {
    const identity = identityOf(compiled);
    const same = this.#waiting.get(identity);
    if (same !== undefined) return same.rows as Promise<readonly Row[]>;
    const { promise, resolve, reject } = Promise.withResolvers<readonly Row[]>();
    this.#waiting.set(identity, {
      compiled,
      rows: promise,
      resolve: resolve as WaitingRead["resolve"],
      reject,
    });
    if (this.#reading < READS_AT_ONCE) this.#readWaiting();
    return promise;
  }

  async #readWaiting(): Promise<void> {
    this.#reading += 1;
    while (this.#waiting.size > 0) {
      const group = this.#takeWaiting(READS_TOGETHER);
      await (group.length === 1 ? this.#readAlone(group[0]!) : this.#readTogether(group));
    }
    this.#reading -= 1;
  }

  /** Takes up to `limit` waiting reads. An equal read that comes later is sent again. */
  #takeWaiting(limit: number): readonly WaitingRead[] {
    const entries = [...this.#waiting.entries().take(limit)];
    for (const [identity] of entries) this.#waiting.delete(identity);
    return entries.map(([, waiting]) => waiting);
  }

  async #readTogether(group: readonly WaitingRead[]): Promise<void> {
    try {
      const found = await this.snapshot(group.map(({ compiled }) => compiled));
      group.forEach(({ resolve }, index) => resolve(found[index]!));
    } catch (error) {
      // An error that refuses one of the queries need not refuse the others.
      if (isUnavailable(error)) this.#refuse(group, error);
      else await Promise.all(group.map((waiting) => this.#readAlone(waiting)));
    }
  }

  async #readAlone(waiting: WaitingRead): Promise<void> {
    const { compiled, resolve } = waiting;
    try {
      const [rows] = await this.#read(() => this.#readRows([compiled]));
      resolve(rows!);
    } catch (error) {
      this.#refuse([waiting], error);
    }
  }

  /**
   * Refuses these reads. If the server does not answer, all other waiting reads are refused too: they would
   * get no answer either.
   */
  #refuse(group: readonly WaitingRead[], error: unknown): void {
    const refused = error instanceof DatabaseUnavailable ? [...group, ...this.#takeWaiting(Infinity)] : group;
    for (const { reject } of refused) reject(error);
  }

  async snapshot<Rows extends readonly unknown[]>(
    queries: { readonly [Index in keyof Rows]: CompiledQuery<Rows[Index]> },
  ): Promise<{ readonly [Index in keyof Rows]: readonly Rows[Index][] }> {
    return await this.#read(() => this.#readRows(queries)) as never;
  }

  /** The rows of each query, all of one state. */
  async #readRows(queries: readonly CompiledQuery<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    try {
      const [only] = queries;
      const results = queries.length === 1
        ? [await this.#client.execute(inputOf(only!))]
        : await this.#client.batch(queries.map(inputOf), "read");
      return results.map(rowsOf);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      return await this.#readRowsInPages(queries);
    }
  }

  /** Like `#answers`, for answers that are larger than the server sends at once. */
  async #readRowsInPages(
    queries: readonly CompiledQuery<unknown>[],
  ): Promise<readonly (readonly unknown[])[]> {
    const transaction = await this.#client.transaction("read");
    try {
      // If the first statement fails, the transaction ends; this one cannot fail for its size.
      await transaction.execute("SELECT 1");
      const answers: (readonly unknown[])[] = [];
      for (const compiled of queries) answers.push(await readAllPages(transaction, compiled));
      return answers;
    } finally {
      transaction.close();
    }
  }

  /** Commits a batch exactly once, even if it has to be sent several times. */
  async commit(statements: readonly Statement[]): Promise<void> {
    const { time, newId } = this.#options;
    const batch = newId();
    const inputs = statements.flatMap(withGuard);
    let lostAt: number | null = null;
    let strengthened = false;
    for (;;) {
      try {
        this.#last ??= await this.#joinSession();
        await this.#send(() =>
          this.#client.batch([...this.#sessionStatements(batch, this.#last!), ...inputs], "write")
        );
        this.#last = batch;
        this.#setTrouble(null);
        return;
      } catch (error) {
        if (failedGuard(error) === DURABILITY_GUARD && !strengthened && await this.#strengthen()) {
          strengthened = true;
          continue;
        }
        const isSessionChanged = failedGuard(error) === SESSION_GUARD;
        if (!isSessionChanged && !(error instanceof NoAnswer)) {
          // A refused statement is not written. A batch that failed as a whole, or was sent before, may be.
          const isUnsure = lostAt !== null || !(error instanceof LibsqlBatchError);
          if (isUnsure && await this.#isCommitted(batch)) return;
          throw this.#translate(error, "write");
        }
        lostAt ??= time.monotonic();
        const last = await this.#readLastBatch().catch(() => undefined);
        if (last !== undefined) this.#last = last;
        if (last === batch) return;
        if (time.monotonic() - lostAt >= LOST_ANSWER_MS) {
          // The caller must be able to rely on the error that nothing was written, if the server can be asked
          // at all.
          if (await this.#isCommitted(batch).catch(() => false)) return;
          throw this.#translate(new NoAnswer("the batch was given up"), "write");
        }
        await time.wait(RETRY_MS);
      }
    }
  }

  close(): void {
    this.#client.close();
  }

  /** Whether the server was told to sync what it confirms. */
  async #strengthen(): Promise<boolean> {
    const { strengthen } = this.#options;
    if (strengthen === null) return false;
    try {
      await strengthen();
      return true;
    } catch (error) {
      this.#setTrouble("weak", error);
      return false;
    }
  }

  /**
   * Statements that replace the id of the batch before in the session's row. They fail if the row has another
   * id, or if the server would not sync the batch.
   */
  #sessionStatements(batch: string, before: string): readonly InStatement[] {
    const update = sql`UPDATE write_session SET batch = ${batch}, used_at = unixepoch()
      WHERE session = ${this.#name} AND batch = ${before}`.compile(query);
    return [
      ...withGuard({ ...update, mustChange: 1 }),
      `SELECT json(iif(synchronous >= ${SYNCHRONOUS_FULL}, '1', 'weak')) FROM pragma_synchronous`,
    ];
  }

  /** Creates this session's row, and deletes those of processes that ended. */
  async #joinSession(): Promise<string> {
    const batch = this.#options.newId();
    await this.#send(() =>
      this.#client.batch([
        WRITE_SESSION_TABLE,
        { sql: "DELETE FROM write_session WHERE used_at < unixepoch() - ?", args: [SESSION_SECONDS] },
        {
          sql: `INSERT INTO write_session (session, batch, used_at) VALUES (?, ?, unixepoch())
            ON CONFLICT (session) DO NOTHING`,
          args: [this.#name, batch],
        },
      ], "write")
    );
    return await this.#readLastBatch() ?? batch;
  }

  /** The last batch of this session that committed; null if it has no row. */
  async #readLastBatch(): Promise<string | null> {
    const [row] = await this.read(
      sql<{ batch: string }>`SELECT batch FROM write_session WHERE session = ${this.#name}`.compile(query),
    );
    return row?.batch ?? null;
  }

  /** Whether a batch has committed. If it has not, another id takes its place, so that it never will. */
  async #isCommitted(batch: string): Promise<boolean> {
    this.#last = await this.#readLastBatch();
    if (this.#last === batch || this.#last === null) return this.#last === batch;
    const fence = this.#options.newId();
    try {
      await this.#send(() => this.#client.batch([...this.#sessionStatements(fence, this.#last!)], "write"));
      this.#last = fence;
      return false;
    } catch (error) {
      if (failedGuard(error) !== SESSION_GUARD) throw this.#translate(error, "write");
      this.#last = await this.#readLastBatch();
      return this.#last === batch;
    }
  }

  /** Asks twice before it fails: the server may have closed a connection that was idle for a while. */
  async #read<Answer>(send: () => Promise<Answer>): Promise<Answer> {
    try {
      if (ENDED_BY_ANSWER.includes(this.#trouble)) return await this.#send(send);
      const first = await send().catch((error) => {
        if (isAnswer(error)) throw error;
        return null;
      });
      return first ?? await this.#send(send);
    } catch (error) {
      const translated = this.#translate(error, "read");
      // A read has nothing to plan again.
      throw translated instanceof DatabaseBusy
        ? unavailable("The database is busy; send this again in a moment.")
        : translated;
    }
  }

  /** @throws {NoAnswer} if the server did not answer; otherwise the error that it answered. */
  async #send<Answer>(send: () => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await send();
      if (ENDED_BY_ANSWER.includes(this.#trouble)) this.#setTrouble(null);
      return answer;
    } catch (error) {
      if (isAnswer(error)) throw error;
      this.#setTrouble("unreachable", error);
      throw new NoAnswer("the server did not answer", { cause: error });
    }
  }

  #setTrouble(trouble: Trouble | null, cause?: unknown): void {
    // `closed` is no news while the trouble is `shut`: a database that cannot be read takes no writes either.
    if (trouble === this.#trouble || (trouble === "closed" && this.#trouble === "shut")) return;
    this.#trouble = trouble;
    const { onTrouble } = this.#options;
    if (trouble === null) return onTrouble(null);
    const [message, mend] = TROUBLES[trouble];
    onTrouble(new ServerTrouble(message, mend, cause === undefined ? undefined : { cause }));
  }

  #translate(error: unknown, operation: "read" | "write"): unknown {
    if (error instanceof NoAnswer) {
      return new DatabaseUnavailable("The database server does not answer; send this again in a moment.");
    }
    if (!(error instanceof LibsqlError)) return error;
    if (isRefused(error)) {
      this.#setTrouble("refused", error);
      return new DatabaseUnavailable(
        "The database server refuses this service; its administrator must mend that.",
      );
    }
    if (failedGuard(error) === DURABILITY_GUARD) {
      this.#setTrouble("weak");
      return new DatabaseUnavailable(
        "The database server does not keep what it confirms; its administrator must mend that.",
      );
    }
    const { code, message } = error;
    if (GUARD_FAILED.test(message) || /UNIQUE constraint failed/.test(message)) {
      return new WriteConflict(message);
    }
    if (message.includes(HEAD_CONFLICT)) return new WriteConflict(message);
    if (BUSY_CODES.test(code)) return new DatabaseBusy(message);
    if (CLOSED_CODES.test(code)) {
      this.#setTrouble(operation === "read" ? "shut" : "closed", error);
      return new DatabaseUnavailable(
        operation === "read"
          ? "The database cannot be read at the moment; try again later."
          : "The database takes no writes at the moment; try again later.",
      );
    }
    return error;
  }
}

/** The same value for queries that ask the same. */
function identityOf({ sql, parameters }: CompiledQuery<unknown>): string | symbol {
  const isPlain = parameters.every((value) => typeof value === "string" || Number.isFinite(value));
  return isPlain ? JSON.stringify([sql, ...parameters]) : Symbol();
}

/**
 * The rows of a query, with a request for each page, all of one state since they are read in one transaction.
 */
async function readAllPages(
  transaction: Transaction,
  { sql, parameters }: CompiledQuery<unknown>,
): Promise<readonly unknown[]> {
  const rows: unknown[] = [];
  let limit = PAGE_ROWS;
  for (;;) {
    try {
      const page = rowsOf(
        await transaction.execute(
          inputOf({ sql: `SELECT * FROM (${sql}) LIMIT ${limit} OFFSET ${rows.length}`, parameters }),
        ),
      );
      for (const row of page) rows.push(row);
      if (page.length < limit) return rows;
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      if (limit === 1) {
        throw new AnswerTooLarge(`the database server cannot send a row as large as one of: ${sql}`);
      }
      limit = Math.ceil(limit / PAGE_SHRINKS);
    }
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof LibsqlError && error.code === "RESPONSE_TOO_LARGE";
}

/** Whether an error is an answer of the server's database, so that nothing of the request was written. */
function isAnswer(error: unknown): boolean {
  return error instanceof AnswerTooLarge || isRefused(error) ||
    (error instanceof LibsqlError && !LOST_CODES.test(error.code));
}

/** Whether a server refuses this token or this namespace. */
export function isRefused(error: unknown): boolean {
  if (error instanceof HttpServerError) return REFUSED_STATUSES.includes(error.status);
  return error instanceof Error && error.cause !== undefined && isRefused(error.cause);
}

/** Whether the server's database refused the request and would refuse it again. */
export function isFinal(code: string | undefined): boolean {
  return code !== undefined && [LOST_CODES, BUSY_CODES, CLOSED_CODES].every((codes) => !codes.test(code));
}

/** The index of the statement in a batch whose guard failed; null for any other failure. */
function failedGuard(error: unknown): number | null {
  return error instanceof LibsqlBatchError && isAnswer(error) && GUARD_FAILED.test(error.message)
    ? error.statementIndex
    : null;
}

/** A statement. If it must change a number of rows, a second one follows that fails unless it did. */
function withGuard(statement: Statement): readonly InStatement[] {
  const { mustChange } = statement;
  if (mustChange === undefined) return [inputOf(statement)];
  // Only an error can stop a batch that is one request; no other statement raises this error.
  return [inputOf(statement), `SELECT json(iif(changes() = ${mustChange}, '1', 'conflict'))`];
}

function inputOf({ sql, parameters }: Pick<Statement, "sql" | "parameters">): InStatement {
  return { sql, args: parameters.map(valueOf) as never };
}

/**
 * The client sends every number as a float, and SQLite would store it as one if the column is not an integer
 * column.
 */
function valueOf(value: unknown): unknown {
  return Number.isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value as number) : value;
}

function rowsOf<Row>({ columns, rows }: ResultSet): readonly Row[] {
  return rows.map((row) =>
    Object.fromEntries(columns.map((name, index) => {
      const value = row[index];
      return [name, value instanceof ArrayBuffer ? new Uint8Array(value) : value];
    })) as Row
  );
}
