/**
 * The only write path: a bounded queue whose waiting jobs are committed together, in one atomic batch.
 *
 * For each commit the writer loads the rows that the jobs need and lets each job plan on top of the one
 * before it. It closes the tree of each chain once, signs once for each chain, lets each job make its answer
 * from the proofs, and writes. Only then does it answer. A signature of a batch that did not commit is thrown
 * away: if released, it would contradict the signature that replaces it.
 */
import type { CompiledQuery } from "kysely";
import { ServiceError, unavailable } from "../domain/errors.ts";
import { WRITE_QUEUE_LIMIT } from "../domain/limits.ts";
import type { Crypto, Signer } from "../evidence/crypto.ts";
import type { EntryDraft } from "../evidence/entry.ts";
import type { InclusionProof } from "../evidence/envelope.ts";
import { inclusionPath, peakNodes, rootOf } from "../evidence/merkle.ts";
import { formatCheckpoint, signNote } from "../evidence/note.ts";
import {
  headOf,
  type HeadRow,
  headsQuery,
  insertCheckpoint,
  insertLadder,
  placeOfHead,
  type StoredHead,
  updateHeld,
  updatePeaks,
} from "./chains.ts";
import {
  type Database,
  DatabaseBusy,
  DatabaseUnavailable,
  type Statement,
  WriteConflict,
} from "./database.ts";
import { joinInserts } from "./join_inserts.ts";
import type { CheckpointLock } from "./lock.ts";
import type { IssuedCheckpoint } from "./issued.ts";
import type { OwnSignatures } from "./proofs.ts";
import type { SigningKeyRow } from "./records.ts";
import { AlteredRows, EMPTY_SET, type Seals, shareOf, xor } from "./seals.ts";
import { findUnsignedHeads, unsignedHeadError } from "./signed_head.ts";
import { nextTurn } from "./turn.ts";
import { type Need, needKey, type PlacedEntry, type Scope, UnitOfWork } from "./unit_of_work.ts";

/** Maximum number of jobs in one commit; limits how long the first of them waits for the last. */
const GROUP_LIMIT = 256;
/**
 * Maximum number of rows that the jobs of one commit read, unless a single job reads more; limits how much a
 * commit writes.
 */
const NEEDS_LIMIT = 4_000;
/** How often a commit is planned again after it lost a race. */
const ATTEMPTS = 20;
/** How often a commit is tried while another process holds the database: one or two seconds. */
const BUSY_ATTEMPTS = 10;

/** Maximum number of heads that are remembered as signed; each takes a few hundred bytes. */
const REMEMBERED_HEADS = 10_000;

/** Proofs of the entries of a commit under the commit's own checkpoints. */
export interface Receipts {
  proofOf(appended: PlacedEntry): InclusionProof;
}

export interface WriteJob<Result> {
  readonly needs: readonly Need[];
  /** Families of the chains that the job may append to. */
  readonly chains: readonly string[];
  /** True if it must be the only job of its commit, because it changes rows that it does not name. */
  readonly alone?: boolean;
  /** Signs the commit, of which it is the only job, instead of the keys in use. */
  readonly signing?: Signing;
  /** True if it is the acknowledgement of a restore, which may continue from less than was issued. */
  readonly restores?: boolean;
  /**
   * Pure: plans on the unit, throws to change nothing, and returns the function that makes the answer once
   * the commit's trees are closed. Runs again with fresh data if the commit lost a race.
   */
  plan(unit: UnitOfWork): (receipts: Receipts) => Result;
}

/** The keys that sign a commit. */
export interface Signing {
  /** The key in use; during a rotation also the key before it. */
  readonly signers: readonly Signer[];
  /** Ordinal of the key in use: 1, 2, 3 … */
  readonly ordinal: number;
  /** The entries by which a chain changes to the keys after its own. */
  rotations(head: StoredHead): readonly EntryDraft[];
}

/** The keys to sign with, as the database lists them at each commit. */
export interface SigningSource extends OwnSignatures {
  readonly rows: CompiledQuery<SigningKeyRow>;
  /** @throws {ServiceError} SERVICE_UNAVAILABLE if this process holds no key that the rows allow to sign. */
  update(rows: readonly SigningKeyRow[]): Signing;
}

/** A failed attempt at a commit, caused by another process. The next attempt waits for the backoff. */
export interface Setback {
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly tookMs: number;
  readonly cause: "conflict" | "busy";
}

/** A commit that is durable. */
export interface Committed {
  /** Number of jobs in the commit. */
  readonly jobs: number;
  /** From planning until it was durable. */
  readonly milliseconds: number;
  readonly entries: readonly PlacedEntry[];
}

export interface WriterOptions {
  readonly database: Database;
  readonly crypto: Crypto;
  readonly seals: Seals;
  readonly signing: SigningSource;
  readonly lock: CheckpointLock;
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
  readonly backoff: (setback: Setback) => Promise<void>;
  /** Called after each commit, before its jobs are answered. */
  readonly onCommitted?: (committed: Committed) => void;
}

interface QueuedJob {
  readonly job: WriteJob<unknown>;
  /** True if it must be the only job of its commit, or was in a commit with others that failed. */
  readonly alone: boolean;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

interface Planned {
  readonly queued: QueuedJob;
  readonly finish: (receipts: Receipts) => unknown;
}

export class Writer {
  readonly #options: WriterOptions;
  #queue: QueuedJob[] = [];
  #running: Promise<void> | null = null;
  #closed = false;
  /** By family: the head that is known to be signed, and the set that it holds. */
  readonly #known = new Map<string, KnownHead>();

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /**
   * Runs a job in the next commit.
   * @throws what the job's plan throws; {ServiceError} SERVICE_UNAVAILABLE if the queue is full, the writer
   * is closed, or the database takes no writes.
   */
  submit<Result>(job: WriteJob<Result>): Promise<Result> {
    if (this.#closed) {
      return Promise.reject(unavailable("The service is shutting down: retry later."));
    }
    if (this.#queue.length >= WRITE_QUEUE_LIMIT) {
      return Promise.reject(unavailable("Too many writes are waiting; send this again in a moment."));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#queue.push({
      job,
      alone: mustBeAlone(job),
      resolve: resolve as (value: unknown) => void,
      reject,
    });
    this.#running ??= this.#run();
    return promise;
  }

  /** Runs a statement in the next commit; nothing may depend on it. @throws like {@link submit}. */
  execute(statement: Statement): Promise<void> {
    return this.submit<void>({
      needs: [],
      chains: [],
      plan(unit) {
        unit.execute(statement);
        return () => undefined;
      },
    });
  }

  /** Jobs that wait for a commit. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Takes no more jobs, and waits until those taken are answered. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // One turn of the event loop, so that requests that arrived together are committed together.
    await nextTurn();
    while (this.#queue.length > 0) {
      await this.#commit(this.#nextGroup());
      await nextTurn();
    }
    this.#running = null;
  }

  /** The waiting jobs up to one that must be alone. */
  #nextGroup(): readonly QueuedJob[] {
    return this.#queue[0]!.alone ? this.#queue.splice(0, 1) : this.#withWaiting([]);
  }

  /** A group, extended by the jobs that wait behind it. */
  #withWaiting(group: readonly QueuedJob[]): readonly QueuedJob[] {
    if (group.some(({ alone }) => alone)) return group;
    let jobs = group.length;
    let needs = group.reduce((sum, { job }) => sum + job.needs.length, 0);
    const end = this.#queue.findIndex(({ job, alone }) => {
      jobs += 1;
      needs += job.needs.length;
      return alone || jobs > GROUP_LIMIT || (needs > NEEDS_LIMIT && jobs > 1);
    });
    return [...group, ...this.#queue.splice(0, end < 0 ? this.#queue.length : end)];
  }

  /** Commits a group, and plans it again if another writer was first. Never throws. */
  async #commit(first: readonly QueuedJob[]): Promise<void> {
    const { monotonic, backoff } = this.#options;
    let group = first;
    let busy = 0;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const started = monotonic();
      try {
        await this.#attempt(group);
        return;
      } catch (error) {
        if (error instanceof DatabaseBusy) {
          busy += 1;
          if (busy >= BUSY_ATTEMPTS || this.#closed) return refuse(group, busyError());
        } else if (!(error instanceof WriteConflict)) return this.#fail(group, error);
        const cause = error instanceof DatabaseBusy ? "busy" : "conflict";
        await backoff({ attempt, tookMs: monotonic() - started, cause });
        group = this.#withWaiting(group);
      }
    }
    this.#fail(group, new WriteConflict("planned again too often"));
  }

  #fail(group: readonly QueuedJob[], error: unknown): void {
    // Each of the waiting jobs would wait for the database in turn, and be refused then.
    if (error instanceof DatabaseUnavailable) return refuse([...group, ...this.#queue.splice(0)], error);
    if (group.length > 1 && !(error instanceof ServiceError)) {
      // A job that cannot be written must not make the others of its commit fail.
      this.#queue.unshift(...group.map((waiting) => ({ ...waiting, alone: true })));
      return;
    }
    const reason = error instanceof WriteConflict
      ? unavailable("Other writers kept changing the same data; send this again.")
      : error;
    refuse(group, reason);
  }

  async #attempt(group: readonly QueuedJob[]): Promise<void> {
    const { database, crypto, seals, monotonic, onCommitted } = this.#options;
    const started = monotonic();
    const unit = new UnitOfWork({ crypto, seals });
    const { heads, keys, sets } = await this.#load(unit, group);
    const signing = group[0]!.job.signing ?? this.#options.signing.update(keys);
    const planned: Planned[] = [];
    const failed: (readonly [QueuedJob, unknown])[] = [];
    for (const waiting of group) {
      const jobUnit = new UnitOfWork({ crypto, seals }, scopeOf(waiting.job, unit));
      try {
        requireSets(waiting.job, { heads, sets });
        planned.push({ queued: waiting, finish: waiting.job.plan(jobUnit) });
        jobUnit.merge();
      } catch (error) {
        failed.push([waiting, error]);
      }
    }
    appendRotations(unit, signing);
    const { receipts, first, statements, issued, held } = this.#close(unit, { before: heads, sets, signing });
    const answers = planned.map(({ finish }) => finish(receipts));
    const batch = joinInserts([...first, ...unit.statements(), ...statements]);
    if (batch.length > 0) {
      await database.batch(batch);
      onCommitted?.({ jobs: planned.length, milliseconds: monotonic() - started, entries: unit.appended });
    }
    this.#options.lock.record(issued);
    for (const [head, set] of held) this.#remember(head, set);
    for (const [waiting, error] of failed) waiting.reject(error);
    planned.forEach(({ queued: waiting }, index) => waiting.resolve(answers[index]));
  }

  /**
   * Loads what a group depends on, all of one state: the heads, the signing keys, and the rows with one query
   * for each kind. A later change by another process moves one of the heads, and the commit then fails as a
   * conflict.
   */
  async #load(unit: UnitOfWork, group: readonly QueuedJob[]): Promise<Loaded> {
    const { database, lock, signing } = this.#options;
    const chains = group.flatMap(({ job }) => job.chains);
    const suspect = lock.suspected();
    const families = [
      ...new Set([
        ...chains,
        ...(suspect === null ? [] : [suspect.family]),
        ...(chains.length === 0 ? [] : lock.behind()),
      ]),
    ];
    for (const family of families) unit.setLoadedHead(family, null);
    // The lock is read first: it never leads, so a concurrent write of another process cannot make a head
    // look old.
    const issued = lock.issuedOf(families);
    const byKind = new Map<string, Need[]>();
    const seen = new Set<string>();
    for (const need of group.flatMap(({ job }) => job.needs)) {
      const name = needKey(need);
      if (seen.has(name)) continue;
      seen.add(name);
      unit.setLoaded(need, null);
      const list = byKind.get(need.kind.name);
      if (list === undefined) byKind.set(need.kind.name, [need]);
      else list.push(need);
    }
    const kinds = [...byKind.values()].map((needs) => needs[0]!.kind);
    const keys = [...byKind.values()].map((needs) => JSON.stringify(needs.map(({ key }) => key)));
    const [headRows, signingKeys, ...found] = await database.snapshot<[HeadRow, SigningKeyRow, ...unknown[]]>(
      [
        headsQuery(families),
        signing.rows,
        ...kinds.map((kind, index) => kind.load(keys[index]!)),
      ],
    );
    const heads = headRows.map(headOf);
    for (const head of heads) unit.setLoadedHead(head.family, head);
    if (!group[0]!.job.restores) {
      lock.requireCurrent(issued, heads);
      await this.#requireSigned(heads);
    }
    for (const [index, kind] of kinds.entries()) {
      for (const row of found[index]!) {
        const share = kind.sealing === undefined ? undefined : shareOf(this.#options.seals, kind, row);
        unit.setLoaded({ kind, key: kind.keyOf(row) }, row, share);
      }
    }
    return {
      heads: new Map(heads.map((head) => [head.family, head])),
      keys: signingKeys,
      sets: new Map(heads.map((head) => [head.family, this.#setOf(head)])),
    };
  }

  /** The set that a head holds; null if the stored set was not made for this head. */
  #setOf(head: StoredHead): Uint8Array | null {
    const known = this.#known.get(head.family);
    if (known?.set != null && known.identity === identityOf(head)) return known.set;
    return head.held && this.#options.seals.openSet(placeOfHead(head), head.held);
  }

  /**
   * Requires that every head was signed, before anything is signed over it. Heads that this writer left are
   * known; all others are checked.
   */
  async #requireSigned(heads: readonly StoredHead[]): Promise<void> {
    const unknownHeads = heads.filter((head) => this.#known.get(head.family)?.identity !== identityOf(head));
    const [unsigned] = await findUnsignedHeads(this.#options, unknownHeads);
    if (unsigned !== undefined) throw unsignedHeadError(unsigned);
    for (const head of unknownHeads) this.#remember(head, null);
  }

  #remember(head: StoredHead, set: Uint8Array | null): void {
    if (this.#known.size >= REMEMBERED_HEADS) this.#known.clear();
    this.#known.set(head.family, { identity: identityOf(head), set });
  }

  /** Closes the tree of each chain that grew, and stores the set in each head whose rows changed. */
  #close(
    unit: UnitOfWork,
    { before, sets, signing }: Pick<Loaded, "sets"> & {
      readonly before: ReadonlyMap<string, StoredHead>;
      readonly signing: Signing;
    },
  ): Closing {
    const { crypto, seals } = this.#options;
    const closed: ClosedChain[] = [];
    const statements: Statement[] = [];
    const held: (readonly [StoredHead, Uint8Array])[] = [];
    /** The head with the set that it holds after the commit. */
    const withSet = (unsealed: StoredHead): StoredHead => {
      const change = unit.heldChanges.get(unsealed.family) ?? EMPTY_SET;
      const set = xor(sets.get(unsealed.family) ?? EMPTY_SET, change);
      const head = { ...unsealed, held: seals.closeSet(placeOfHead(unsealed), set) };
      held.push([head, set]);
      return head;
    };
    const grown = new Set(unit.appended.map((appended) => appended.family));
    for (const family of unit.heldChanges.keys()) {
      const head = unit.head(family)!;
      if (!grown.has(family)) statements.push(updateHeld(withSet(head), head));
    }
    for (const family of grown) {
      closed.push(
        this.#closeChain(unit, { head: withSet(unit.head(family)!), known: before.get(family), signing }),
      );
    }
    const byChain = new Map(closed.map((each) => [each.chain, each]));
    const receipts: Receipts = {
      proofOf({ family, entry: { chain, seq } }) {
        const { issued: { note }, nodes } = byChain.get(chain)!;
        const { size } = unit.head(family)!.frontier;
        const path = inclusionPath(crypto, { leaf: seq, size }, (index) => nodes.get(index));
        return { index: seq, path, note };
      },
    };
    return {
      receipts,
      first: closed.flatMap(({ first }) => first),
      statements: [...statements, ...closed.flatMap((each) => each.statements)],
      issued: closed.map(({ issued }) => issued),
      held,
    };
  }

  /** Closes the tree of one chain that grew. @param known the head of its family before the commit. */
  #closeChain(
    unit: UnitOfWork,
    { head, known, signing }: {
      readonly head: StoredHead;
      readonly known: StoredHead | undefined;
      readonly signing: Signing;
    },
  ): ClosedChain {
    const { crypto } = this.#options;
    const { family, chain, epoch, origin, frontier: { size, peaks } } = head;
    const root = rootOf(crypto, peaks);
    const note = signNote(
      crypto,
      { text: formatCheckpoint({ origin, size, root }), name: origin },
      signing.signers,
    );
    const old = known?.chain === chain ? known : undefined;
    const nodes = new Map([
      ...(old === undefined ? [] : peakNodes(old.frontier)),
      ...unit.appended.filter(({ entry }) => entry.chain === chain).flatMap((appended) => appended.nodes),
    ].map(({ index, hash }) => [index, hash]));
    const issued = { family, epoch, origin, size, root, note };
    const checkpoint = insertCheckpoint(head, note);
    if (old === undefined) {
      return {
        chain,
        nodes,
        issued,
        first: [],
        statements: [updatePeaks(head, { size, held: null }), checkpoint],
      };
    }
    const isNewDay = dayOf(old.lastTimestamp) < dayOf(head.lastTimestamp);
    return {
      chain,
      nodes,
      issued,
      first: [updatePeaks(head, { size: old.frontier.size, held: old.held })],
      statements: isNewDay ? [checkpoint, insertLadder(old)] : [checkpoint],
    };
  }
}

interface Loaded {
  /** By family. */
  readonly heads: ReadonlyMap<string, StoredHead>;
  readonly keys: readonly SigningKeyRow[];
  /** By family: the set of rows that its head holds; null if it is unknown. */
  readonly sets: ReadonlyMap<string, Uint8Array | null>;
}

interface KnownHead {
  readonly identity: string;
  /** null if it was not read. */
  readonly set: Uint8Array | null;
}

/** A chain that grew: root, one signed checkpoint, and the nodes for the paths of its new entries. */
interface ClosedChain {
  readonly chain: string;
  readonly nodes: ReadonlyMap<number, Uint8Array>;
  readonly issued: IssuedCheckpoint;
  /** Run before all others, so that a lost race is noticed before anything is written in vain. */
  readonly first: readonly Statement[];
  readonly statements: readonly Statement[];
}

interface Closing {
  readonly receipts: Receipts;
  /** Statements that run before all others. */
  readonly first: readonly Statement[];
  readonly statements: readonly Statement[];
  readonly issued: readonly IssuedCheckpoint[];
  /** The heads after the commit, each with the set that it holds. */
  readonly held: readonly (readonly [StoredHead, Uint8Array])[];
}

/** Refuses a job if the set of rows of one of its chains is unknown. @throws {AlteredRows} */
function requireSets(
  { chains, restores }: WriteJob<unknown>,
  { heads, sets }: Pick<Loaded, "heads" | "sets">,
): void {
  if (restores === true) return;
  for (const family of chains) {
    if (heads.has(family) && sets.get(family) === null) throw new AlteredRows(family, "the set of rows");
  }
}

/**
 * Moves each chain that grew to the key in use, by an entry with the certificate.
 * @throws {ServiceError} SERVICE_UNAVAILABLE if a chain was signed by a key that this process does not have
 * yet.
 */
function appendRotations(unit: UnitOfWork, signing: Signing): void {
  for (const family of new Set(unit.appended.map((appended) => appended.family))) {
    const head = unit.head(family)!;
    if (head.keyOrdinal > signing.ordinal) {
      throw unavailable("The signing key was rotated, and this process does not have the new one yet.");
    }
    if (head.keyOrdinal === signing.ordinal) continue;
    for (const draft of signing.rotations(head)) unit.append(family, draft);
    unit.setSigningKey(family, signing.ordinal);
  }
}

/** The UTC day of a timestamp. */
function dayOf(timestamp: string): string {
  return timestamp.slice(0, "YYYY-MM-DD".length);
}

function mustBeAlone({ alone, signing, restores }: WriteJob<unknown>): boolean {
  return alone === true || signing !== undefined || restores === true;
}

function refuse(group: readonly QueuedJob[], error: unknown): void {
  for (const waiting of group) waiting.reject(error);
}

function busyError(): ServiceError {
  return new DatabaseUnavailable("Another process holds the database; send this again in a moment.");
}

function scopeOf({ needs, chains }: WriteJob<unknown>, parent: UnitOfWork): Scope {
  return { parent, needs: new Set(needs.map(needKey)), families: new Set(chains) };
}

/** A text that is different for each head. */
function identityOf(
  { chain, origin, epoch, firstPosition, keyOrdinal, previous, lastTimestamp, held, frontier }: StoredHead,
): string {
  const { size, peaks } = frontier;
  const hashes = [previous, held ?? new Uint8Array(), ...peaks];
  const values = [chain, origin, epoch, firstPosition, keyOrdinal, size, lastTimestamp];
  return [...values, ...hashes.map((hash) => hash.toHex())].join(" ");
}
