/**
 * The one write path: a bounded queue whose waiting jobs are committed together, in one atomic batch.
 *
 * For each commit the writer loads what the jobs need, lets each plan on top of the one before it, closes each
 * chain's tree once, signs once for each chain, lets each job make its answer from the proofs, writes, and only
 * then answers. A signature of a batch that did not commit is thrown away: released, it would contradict the
 * one that takes its place.
 */
import { setImmediate } from "node:timers";
import { ServiceError, unavailable } from "../domain/errors.ts";
import { WRITE_QUEUE_LIMIT } from "../domain/limits.ts";
import type { Crypto, Signer } from "../evidence/crypto.ts";
import type { AppendedEntry, ChainHead } from "../evidence/entry.ts";
import type { InclusionProof } from "../evidence/envelope.ts";
import { inclusionPath, peakNodes, rootOf } from "../evidence/merkle.ts";
import { formatCheckpoint, signNote } from "../evidence/note.ts";
import { insertCheckpoint, loadHeads, updatePeaks } from "./chains.ts";
import { type Database, DatabaseBusy, type Statement, WriteConflict } from "./database.ts";
import { type Need, needKey, type Scope, UnitOfWork } from "./unit_of_work.ts";

/** Jobs in one commit at most: bounds how long the first of them waits for the last. */
const GROUP_LIMIT = 256;
/** How often a commit that lost a race is planned anew. */
const ATTEMPTS = 20;
/** How often a commit is tried while another process holds the database: one or two seconds. */
const BUSY_ATTEMPTS = 10;

/** Proofs of the entries of a commit, against its own checkpoints. */
export interface Receipts {
  proofOf(appended: AppendedEntry): InclusionProof;
}

export interface WriteJob<Result> {
  readonly needs: readonly Need[];
  /** Chains that the job may append to. */
  readonly chains: readonly string[];
  /**
   * Pure: plans on the unit, throws to change nothing, and returns what makes the answer once the commit's
   * trees are closed. Runs again from fresh data where the commit lost a race.
   */
  plan(unit: UnitOfWork): (receipts: Receipts) => Result;
}

export interface WriterOptions {
  readonly database: Database;
  readonly crypto: Crypto;
  /** One, or during a key rotation two. */
  readonly signers: () => readonly Signer[];
  /** Waits before attempt 2, 3 … of a commit, with jitter. */
  readonly backoff: (attempt: number) => Promise<void>;
}

interface Waiting {
  readonly job: WriteJob<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

interface Planned {
  readonly waiting: Waiting;
  readonly finish: (receipts: Receipts) => unknown;
}

export class Writer {
  readonly #options: WriterOptions;
  #queue: Waiting[] = [];
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /**
   * Runs a job in the next commit.
   * @throws what the job's plan throws; {ServiceError} SERVICE_UNAVAILABLE where the queue is full, the writer
   *   is closed, or the database takes no writes.
   */
  submit<Result>(job: WriteJob<Result>): Promise<Result> {
    if (this.#closed) {
      return Promise.reject(unavailable("The service is shutting down; send this again later."));
    }
    if (this.#queue.length >= WRITE_QUEUE_LIMIT) {
      return Promise.reject(unavailable("Too many writes are waiting; send this again in a moment."));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#queue.push({ job, resolve: resolve as (value: unknown) => void, reject });
    this.#running ??= this.#run();
    return promise;
  }

  /** Takes no more jobs and waits until those taken are answered. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // One turn of the event loop, so that requests that arrived together commit together.
    await nextTurn();
    while (this.#queue.length > 0) {
      await this.#commit(this.#queue.splice(0, GROUP_LIMIT));
      await nextTurn();
    }
    this.#running = null;
  }

  /** Commits a group, planning it anew where another writer was first. Never throws. */
  async #commit(group: readonly Waiting[]): Promise<void> {
    let busy = 0;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      try {
        await this.#attempt(group);
        return;
      } catch (error) {
        if (error instanceof DatabaseBusy) {
          busy += 1;
          if (busy >= BUSY_ATTEMPTS || this.#closed) return refuse(group, held());
        } else if (!(error instanceof WriteConflict)) return await this.#fail(group, error);
        await this.#options.backoff(attempt);
      }
    }
    await this.#fail(group, new WriteConflict("planned anew too often"));
  }

  /** One job that cannot be written must not take the others of its commit with it. */
  async #fail(group: readonly Waiting[], error: unknown): Promise<void> {
    if (group.length > 1 && !(error instanceof ServiceError)) {
      for (const waiting of group) await this.#commit([waiting]);
      return;
    }
    const told = error instanceof WriteConflict
      ? unavailable("Other writers kept changing the same data; send this again.")
      : error;
    refuse(group, told);
  }

  async #attempt(group: readonly Waiting[]): Promise<void> {
    const { database, crypto } = this.#options;
    const unit = new UnitOfWork(crypto);
    const heads = await this.#load(unit, group);
    const planned: Planned[] = [];
    const failed: (readonly [Waiting, unknown])[] = [];
    for (const waiting of group) {
      const own = new UnitOfWork(crypto, scopeOf(waiting.job, unit));
      try {
        planned.push({ waiting, finish: waiting.job.plan(own) });
        own.merge();
      } catch (error) {
        failed.push([waiting, error]);
      }
    }
    const { receipts, statements } = this.#close(unit, heads);
    const answers = planned.map(({ finish }) => finish(receipts));
    const batch = [...unit.statements(), ...statements];
    if (batch.length > 0) await database.batch(batch);
    for (const [waiting, error] of failed) waiting.reject(error);
    planned.forEach(({ waiting }, index) => waiting.resolve(answers[index]));
  }

  /**
   * Loads the heads and rows that a group needs: one query for each kind. Heads come first: a row that another
   * process changed after that belongs to a head which has moved on, and the commit then fails as a conflict.
   */
  async #load(unit: UnitOfWork, group: readonly Waiting[]): Promise<ReadonlyMap<string, ChainHead>> {
    const { database } = this.#options;
    const chains = [...new Set(group.flatMap(({ job }) => job.chains))];
    for (const chain of chains) unit.loadedHead(chain, null);
    const heads = await loadHeads(database, chains);
    for (const head of heads) unit.loadedHead(head.chain, head);

    const byKind = new Map<string, Need[]>();
    const seen = new Set<string>();
    for (const need of group.flatMap(({ job }) => job.needs)) {
      const name = needKey(need);
      if (seen.has(name)) continue;
      seen.add(name);
      unit.loaded(need, null);
      const list = byKind.get(need.kind.name);
      if (list === undefined) byKind.set(need.kind.name, [need]);
      else list.push(need);
    }
    for (const needs of byKind.values()) {
      const { kind } = needs[0]!;
      const rows = await database.read(kind.load(JSON.stringify(needs.map((need) => need.key))));
      for (const row of rows) unit.loaded({ kind, key: kind.keyOf(row) }, row);
    }
    return new Map(heads.map((head) => [head.chain, head]));
  }

  /** Closes the tree of each chain that grew: root, one signed checkpoint, and a path for each new entry. */
  #close(
    unit: UnitOfWork,
    before: ReadonlyMap<string, ChainHead>,
  ): { readonly receipts: Receipts; readonly statements: readonly Statement[] } {
    const { crypto, signers } = this.#options;
    const grown = new Set(unit.appended.map(({ entry }) => entry.chain));
    const closings = new Map<
      string,
      { readonly note: string; readonly nodes: ReadonlyMap<number, Uint8Array> }
    >();
    const statements: Statement[] = [];
    for (const chain of grown) {
      const head = unit.head(chain)!;
      const { origin, frontier: { size, peaks } } = head;
      const text = formatCheckpoint({ origin, size, root: rootOf(crypto, peaks) });
      const note = signNote(crypto, { text, name: origin }, signers());
      const old = before.get(chain);
      const nodes = new Map([
        ...(old === undefined ? [] : peakNodes(old.frontier)),
        ...unit.appended.filter(({ entry }) => entry.chain === chain).flatMap((appended) => appended.nodes),
      ].map(({ index, hash }) => [index, hash]));
      closings.set(chain, { note, nodes });
      statements.push(updatePeaks(head), insertCheckpoint(head, note));
    }
    const receipts: Receipts = {
      proofOf({ entry: { chain, seq } }) {
        const { note, nodes } = closings.get(chain)!;
        const { size } = unit.head(chain)!.frontier;
        const path = inclusionPath(crypto, { leaf: seq, size }, (index) => nodes.get(index));
        return { index: seq, path, note };
      },
    };
    return { receipts, statements };
  }
}

function refuse(group: readonly Waiting[], error: unknown): void {
  for (const waiting of group) waiting.reject(error);
}

function held(): ServiceError {
  return unavailable("Another process holds the database; send this again in a moment.");
}

function scopeOf({ needs, chains }: WriteJob<unknown>, parent: UnitOfWork): Scope {
  return { parent, needs: new Set(needs.map(needKey)), chains: new Set(chains) };
}

/** After the I/O that is ready now; a timer would cost at least a millisecond. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
