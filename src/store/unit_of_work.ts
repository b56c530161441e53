/**
 * The reads and planned writes of one job: rows by key, chain heads, entries, statements.
 *
 * A job plans on a unit of its own, on top of the plans of the jobs before it in the same commit. Only a job
 * that succeeds is merged; one that throws leaves nothing behind.
 */
import type { Crypto } from "../evidence/crypto.ts";
import { type AppendedEntry, appendEntry, emptyChain, type EntryDraft } from "../evidence/entry.ts";
import { insertChain, insertEntry, type StoredHead } from "./chains.ts";
import type { Statement } from "./database.ts";
import type { Key, RecordKind } from "./records.ts";
import { AlteredRows, EMPTY_SET, sealed, type Seals, xor } from "./seals.ts";

// deno-lint-ignore no-explicit-any -- a unit holds rows of every kind, each under its own kind's name
type AnyKind = RecordKind<any>;

/** A row that a job may read. */
export interface Need {
  readonly kind: AnyKind;
  readonly key: Key;
}

/**
 * A unique name for each row. Each part of the key is preceded by its length, so that its characters do not
 * matter.
 */
export function needKey({ kind, key }: Need): string {
  let name = kind.name;
  for (const part of key) name += `\n${part.length}:${part}`;
  return name;
}

interface Cell {
  readonly kind: AnyKind;
  readonly key: Key;
  /** null if there is none. */
  readonly row: unknown;
  /**
   * For a sealed kind: the row's share in the hash of its set; null if this installation did not write the
   * row, and then a job that reads it fails.
   */
  readonly share?: Uint8Array | null;
}

/** A job's view of its commit: only what the job itself declared. */
export interface Scope {
  readonly parent: UnitOfWork;
  /** The {@link needKey} of each declared row. */
  readonly needs: ReadonlySet<string>;
  readonly families: ReadonlySet<string>;
}

/** An entry with its family, and its position over all epochs. */
export interface PlacedEntry extends AppendedEntry {
  readonly family: string;
  readonly position: number;
}

/** A chain to be started. */
export type NewChain = Pick<
  StoredHead,
  "chain" | "family" | "origin" | "epoch" | "firstPosition" | "keyOrdinal"
>;

/** The hash functions and seals that a unit uses. */
export interface UnitTools {
  readonly crypto: Crypto;
  readonly seals: Seals;
}

export class UnitOfWork {
  readonly #cells = new Map<string, Cell>();
  readonly #dirty = new Set<string>();
  readonly #heads = new Map<string, StoredHead | null>();
  readonly #statements: Statement[] = [];
  readonly #appended: PlacedEntry[] = [];
  /** The change of the set that the head of each family holds, by family. */
  readonly #held = new Map<string, Uint8Array>();

  constructor(private readonly tools: UnitTools, private readonly scope: Scope | null = null) {}

  /** Stores a row as the database held it before any job of the commit planned. */
  setLoaded(need: Need, row: unknown, share?: Uint8Array | null): void {
    this.#cells.set(needKey(need), { ...need, row, ...(share === undefined ? {} : { share }) });
  }

  setLoadedHead(family: string, head: StoredHead | null): void {
    this.#heads.set(family, head);
  }

  /**
   * The row of a key after the plans of the commit so far; null if there is none.
   * @throws {AlteredRows} if this installation did not write it.
   */
  get<Row>(kind: RecordKind<Row>, key: Key): Row | null {
    return this.#cellOf(kind, key).row as Row | null;
  }

  #cellOf<Row>(kind: RecordKind<Row>, key: Key): Cell {
    const name = needKey({ kind, key });
    const cell = this.#cells.get(name);
    if (cell !== undefined) {
      if (cell.share === null) throw alteredRow(kind, cell.row as Row);
      return cell;
    }
    if (!this.scope?.needs.has(name)) throw new Error(`${name} was not declared as a need`);
    return this.scope.parent.#cellOf(kind, key);
  }

  /** Saves a row, and seals it if its kind is sealed. */
  put<Row>(kind: RecordKind<Row>, row: Row): void {
    const key = kind.keyOf(row);
    if (kind.sealing === undefined) return this.#change({ kind, key, row });
    const { row: sealedRow, share } = sealed(this.tools.seals, kind, row);
    this.#updateSet(kind, key, { row, share });
    this.#change({ kind, key, row: sealedRow, share });
  }

  /** Deletes the row of a key. */
  remove<Row>(kind: RecordKind<Row>, key: Key): void {
    this.#updateSet(kind, key, null);
    this.#change({ kind, key, row: null });
  }

  /** Removes the old row from the set that its chain's head holds, and adds the new one. */
  #updateSet<Row>(
    kind: RecordKind<Row>,
    key: Key,
    after: { readonly row: Row; readonly share: Uint8Array } | null,
  ): void {
    if (kind.sealing?.heldBy === undefined) return;
    const before = this.#cellOf(kind, key);
    const family = kind.sealing.heldBy((after?.row ?? before.row) as Row);
    for (const share of [before.share, after?.share]) {
      if (share != null) this.#held.set(family, xor(this.#held.get(family) ?? EMPTY_SET, share));
    }
  }

  /** The change of the set that the head of each family holds, by family. */
  get heldChanges(): ReadonlyMap<string, Uint8Array> {
    return this.#held;
  }

  #change(cell: Cell): void {
    const name = needKey(cell);
    this.#cells.set(name, cell);
    this.#dirty.add(name);
  }

  /** Adds a statement whose effect no job of this commit reads. */
  execute(statement: Statement): void {
    this.#statements.push(statement);
  }

  /** The newest head of a family; null if it has no chain yet. */
  head(family: string): StoredHead | null {
    const head = this.#heads.get(family);
    if (head !== undefined) return head;
    if (!this.scope?.families.has(family)) throw new Error(`chain ${family} was not declared as a need`);
    return this.scope.parent.head(family);
  }

  /** Starts a chain, in a family's first epoch or in its next. Its first entry must follow. */
  openChain(chain: NewChain): void {
    const head: StoredHead = { ...emptyChain(this.tools.crypto, chain), ...chain, held: null };
    this.#heads.set(chain.family, head);
    this.#statements.push(insertChain(head));
  }

  append(family: string, draft: EntryDraft): PlacedEntry {
    const before = this.head(family);
    if (before === null) throw new Error(`chain ${family} does not exist`);
    const { head, appended } = appendEntry(this.tools.crypto, before, draft);
    const placed = { ...appended, family, position: head.firstPosition + appended.entry.seq };
    this.#heads.set(family, head);
    this.#appended.push(placed);
    this.#statements.push(...insertEntry(appended, before.previous));
    return placed;
  }

  /** Signs the chain with this key from this commit on; its newest entry has named the key. */
  setSigningKey(family: string, keyOrdinal: number): void {
    this.#heads.set(family, { ...this.head(family)!, keyOrdinal });
  }

  /** Hands everything that this unit planned to its parent. */
  merge(): void {
    const { parent } = this.scope!;
    for (const [name, cell] of this.#cells) parent.#cells.set(name, cell);
    for (const name of this.#dirty) parent.#dirty.add(name);
    for (const [family, head] of this.#heads) parent.#heads.set(family, head);
    for (const [family, change] of this.#held) {
      parent.#held.set(family, xor(parent.#held.get(family) ?? EMPTY_SET, change));
    }
    parent.#statements.push(...this.#statements);
    parent.#appended.push(...this.#appended);
  }

  /** The entries planned so far, each chain's in their order. */
  get appended(): readonly PlacedEntry[] {
    return this.#appended;
  }

  /**
   * All statements except those that close the chains. Rows come first, so that references hold. Statements
   * that may run in any order are grouped by their texts, so that inserts can be joined.
   */
  statements(): readonly Statement[] {
    const cells = [...this.#dirty].map((name) => this.#cells.get(name)!);
    const kinds = Map.groupBy(cells, ({ kind }) => kind);
    const orderedKinds = [...kinds].sort(([first], [second]) =>
      Number(isReferredTo(second)) - Number(isReferredTo(first))
    );
    const rows = orderedKinds.flatMap(([kind, cellsOfKind]) =>
      cellsOfKind.flatMap(({ key, row }) => {
        if (row === null) return [kind.remove!(key)];
        return kind.save === undefined ? [] : [kind.save(row)];
      })
    );
    const last = Map.groupBy(this.#statements.filter(({ last }) => last === true), ({ sql }) => sql);
    return [...rows, ...this.#statements.filter(({ last }) => last !== true), ...[...last.values()].flat()];
  }
}

/** The error for a row that this installation did not write. */
function alteredRow<Row>({ name, sealing }: RecordKind<Row>, row: Row): AlteredRows {
  const { org_id } = row as { readonly org_id: string };
  return new AlteredRows(sealing?.heldBy?.(row) ?? `org/${org_id}`, `a row of ${name}`);
}

function isReferredTo({ isReferredTo }: AnyKind): boolean {
  return isReferredTo === true;
}
