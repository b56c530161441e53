/**
 * Proves an operator's records before any of them is destroyed: every entry with the pseudonym is what was
 * signed, its parts are those that it commits to and name this operator, and every row belongs to one of
 * those entries.
 *
 * Most records are proven before the write, page by page. Entries that are appended after that are proven
 * within the write: they are linked to the head, which is signed.
 */
import { AlteredError } from "../../domain/errors.ts";
import { BATCH_MAX } from "../../domain/limits.ts";
import { evidenceChain, parseChain } from "../../evidence/chain_name.ts";
import { type Crypto, equalBytes, fromHex, hex } from "../../evidence/crypto.ts";
import { entryHash } from "../../evidence/hashes.ts";
import type { KnownCheckpoint } from "../../evidence/kept.ts";
import { loadEpochs, type StoredChain } from "../../store/chains.ts";
import {
  chainTails,
  type EntryPlace,
  operatorRecords,
  type RecordTable,
  type RowPlace,
  tailEntries,
} from "../../store/operator_records.ts";
import { chunksOf } from "../../store/paging.ts";
import { leafHash, newestOwnCheckpoint } from "../../store/proofs.ts";
import { operators, subjects } from "../../store/records.ts";
import { AlteredRows } from "../../store/seals.ts";
import { nextTurn } from "../../store/turn.ts";
import type { Need, UnitOfWork } from "../../store/unit_of_work.ts";
import { originOf } from "../shared/deployment.ts";
import { requireCutOff } from "../shared/gone.ts";
import {
  alteredEntryError,
  entryOf,
  foreignEntryError,
  heldEntry,
  type OwnEntry,
  type Prior,
  type ProofDependencies,
  proveEntries,
} from "./operator_entries.ts";

/** The records that are destroyed with an operator. */
export interface OperatorRecords {
  /** Number of the operator's entries. */
  readonly entries: number;
  /** By chain, the entries whose parts are destroyed. */
  readonly destroyed: ReadonlyMap<string, readonly number[]>;
  /** By table, the ids of the rows. */
  readonly rows: ReadonlyMap<RecordTable, readonly string[]>;
  /** Ids of sessions and decisions, which stay used. */
  readonly names: readonly string[];
}

/** By table, the event type of the entries to which its rows may belong. */
const EVENT_OF_TABLE: Readonly<Record<RecordTable, string>> = {
  interaction: "SCORE_COMPUTED",
  skipped_interaction: "SCORE_SKIPPED",
  decision: "DRS_COMPUTED",
  outcome_label: "OUTCOME_LABELLED",
  score_commit: "SCORE_COMMITTED",
  score_batch: "SCORE_COMPUTED",
  probe_draw: "PROBE_ASSIGNED",
};

/** Tables whose ids no other record of the organization may use again. */
const NAMED_TABLES: readonly RecordTable[] = ["interaction", "skipped_interaction", "decision"];

/** Entries that are read and proven together: with their parts about a megabyte. */
const ENTRIES_IN_PAGE = 200;

type Operator = readonly [orgId: string, operatorId: string];

export class OperatorProof {
  readonly needs: readonly Need[];
  readonly #crypto: Crypto;
  readonly #operator: Operator;
  readonly #isAccepted: boolean;
  /** The epochs as they were when the proof was made, the oldest first. */
  readonly #epochs: readonly StoredChain[];
  readonly #pseudonym: string;
  /** By {@link placeName}; null for an entry of an accepted epoch that is not the operator's. */
  readonly #entries: Map<string, OwnEntry | null>;
  /** Hashes of entries that were cut off, or are in an epoch that an administrator accepted. */
  readonly #earlier: ReadonlySet<string>;

  constructor(
    crypto: Crypto,
    { operator, isAccepted, epochs, pseudonym, entries, earlier }: {
      readonly operator: Operator;
      readonly isAccepted: boolean;
      readonly epochs: readonly StoredChain[];
      readonly pseudonym: string;
      readonly entries: Map<string, OwnEntry | null>;
      readonly earlier: ReadonlySet<string>;
    },
  ) {
    this.#crypto = crypto;
    this.#operator = operator;
    this.#isAccepted = isAccepted;
    this.#epochs = epochs;
    this.#pseudonym = pseudonym;
    this.#entries = entries;
    this.#earlier = earlier;
    // A database is accepted only if nothing else is written meanwhile.
    this.needs = isAccepted ? [] : [this.#tail];
  }

  get #tail(): Need {
    const { chain, frontier: { size } } = this.#epochs.at(-1)!;
    return { kind: chainTails, key: [chain, String(size), ...this.#operator] };
  }

  /** Whether the proof is of the operator with this pseudonym, in the chain that is still the newest. */
  isOf(unit: UnitOfWork, pseudonym: string): boolean {
    if (pseudonym !== this.#pseudonym) return false;
    return this.#isAccepted ||
      unit.head(evidenceChain(this.#operator[0]))?.chain === this.#epochs.at(-1)!.chain;
  }

  /**
   * The records that the database assigns to the operator at the moment of the write.
   * @throws {AlteredError} if one of them is not proven.
   */
  recordsIn(unit: UnitOfWork): OperatorRecords {
    const named = unit.get(operatorRecords, this.#operator)!;
    const entries = this.#isAccepted
      ? this.#entries
      : new Map([...this.#entries, ...this.#tailEntries(unit)]);
    const present = new Set<string>();
    for (const [chain, seq] of JSON.parse(named.entries) as readonly EntryPlace[]) {
      const name = placeName(chain, seq);
      if (!entries.has(name)) throw foreignEntryError(chain, seq);
      present.add(name);
    }
    const rows: readonly RowPlace[] = JSON.parse(named.rows);
    for (const row of rows) this.#requireRow(row, entries);
    const hashes = new Set([...entries.values()].flatMap((entry) => entry === null ? [] : [entry.hash]));
    const state = unit.get(operators, this.#operator);
    const priors = [...entries.values()].flatMap((entry) => entry?.prior?.entry_hash ?? []);
    if (state !== null) priors.push(hex(state.prior_hash));
    const missing = priors.find((hash) => !hashes.has(hash) && !this.#earlier.has(hash));
    if (missing !== undefined && !this.#isAccepted) throw this.#altered("an entry of an operator");
    // An entry that was cut off meanwhile needs no erasure.
    const strict = this.#isAccepted ? null : this.#epochs.at(-1)!.chain;
    const held = [...entries].filter(([name]) => present.has(name) || placeOfName(name)[0] !== strict);
    return recordsOf(held, rows);
  }

  /**
   * The operator's entries since the proof: they are linked to the head, whose signature the writer checks.
   */
  #tailEntries(unit: UnitOfWork): ReadonlyMap<string, OwnEntry> {
    const { chain, frontier: { size } } = this.#epochs.at(-1)!;
    const texts = tailEntries(unit.get(chainTails, this.#tail.key)!);
    const head = unit.head(evidenceChain(this.#operator[0]))!;
    let next = head.previous;
    const own = new Map<string, OwnEntry>();
    for (const stored of texts.toReversed()) {
      const hash = entryHash(this.#crypto, stored.text);
      const entry = entryOf(chain, stored);
      if (!equalBytes(hash, next)) throw alteredEntryError(chain, stored.seq);
      next = fromHex(entry.prev);
      if (entry.subject !== this.#pseudonym) continue;
      own.set(
        placeName(chain, stored.seq),
        heldEntry(this.#crypto, { chain, stored, entry, operatorId: this.#operator[1] }),
      );
    }
    if (texts.length !== head.frontier.size - size) throw this.#altered("the set of entries");
    return own;
  }

  #requireRow(
    [table, id, position, count]: RowPlace,
    entries: ReadonlyMap<string, OwnEntry | null>,
  ): void {
    const epoch = this.#epochs.findLast(({ firstPosition }) => firstPosition <= position);
    if (epoch === undefined) throw this.#altered(`a row of ${table}`);
    if (this.#isAccepted || epoch !== this.#epochs.at(-1)) return;
    for (let place = position; place < position + count; place += 1) {
      const entry = entries.get(placeName(epoch.chain, place - epoch.firstPosition));
      const isTheirs = entry != null && entry.eventType === EVENT_OF_TABLE[table] &&
        (table === "score_batch" || entry.names.length === 0 || entry.names.includes(id));
      if (!isTheirs) throw this.#altered(`a row of ${table}`);
    }
  }

  #altered(rows: string): AlteredRows {
    return new AlteredRows(evidenceChain(this.#operator[0]), rows);
  }
}

function recordsOf(
  entries: Iterable<readonly [string, OwnEntry | null]>,
  rows: readonly RowPlace[],
): OperatorRecords {
  const destroyed = new Map<string, number[]>();
  const names = new Set<string>();
  let count = 0;
  for (const [place, entry] of entries) {
    if (entry === null) continue;
    count += 1;
    // The entry of an erasure names nobody.
    if (entry.eventType === "SUBJECT_ERASED") continue;
    const [chain, seq] = placeOfName(place);
    const seqs = destroyed.get(chain);
    if (seqs === undefined) destroyed.set(chain, [seq]);
    else seqs.push(seq);
    for (const name of entry.names) names.add(name);
  }
  const byTable = new Map<RecordTable, string[]>();
  for (const [table, id] of rows) {
    const ids = byTable.get(table);
    if (ids === undefined) byTable.set(table, [id]);
    else ids.push(id);
  }
  for (const table of NAMED_TABLES) for (const id of byTable.get(table) ?? []) names.add(id);
  return { entries: count, destroyed, rows: byTable, names: [...names] };
}

/**
 * Proves the present records of an operator.
 * @param isAccepted whether an administrator is about to accept all of the database as it is. In an accepted
 *   epoch an entry that cannot be proven is the operator's if one of its parts says so; else it is left
 *   alone.
 * @returns null if the operator is unknown.
 * @throws {AlteredError} if an entry, a part or a row is not what was recorded, or is another operator's.
 */
export async function proveOperator(
  dependencies: ProofDependencies,
  operator: Operator,
  { isAccepted }: { readonly isAccepted: boolean },
): Promise<OperatorProof | null> {
  const { database, crypto } = dependencies;
  const [orgId, operatorId] = operator;
  const family = evidenceChain(orgId);
  const epochs = await loadEpochs(database, family);
  const key = JSON.stringify([operator]);
  const [[subject], [records], [state]] = await database.snapshot([
    subjects.load(key),
    operatorRecords.load(key),
    operators.load(key),
  ]);
  if (subject === undefined || epochs.length === 0) return null;
  const newest = epochs.at(-1)!;
  for (const { chain } of epochs) {
    if (parseChain(chain)?.family !== family) {
      throw new AlteredError(family, `the row of ${chain} says that it is a chain of ${family}`);
    }
  }
  const places = placesToProve(epochs, { ...records!, isAccepted });
  const entries = new Map<string, OwnEntry | null>();
  for (const epoch of epochs) {
    const isStrict = !isAccepted && epoch === newest;
    const own = { dependencies, chain: epoch.chain, pseudonym: subject.pseudonym, operatorId };
    const checkpoint = await checkpointOf(dependencies, epoch.chain, { isStrict });
    for (const seqs of chunksOf(places.get(epoch.chain) ?? [], ENTRIES_IN_PAGE)) {
      for (const [seq, entry] of await proveEntries(own, { seqs, checkpoint, isStrict })) {
        entries.set(placeName(epoch.chain, seq), entry);
      }
      await nextTurn();
    }
  }
  const isGone = [...entries.values()].some((entry) => entry?.eventType === "SUBJECT_ERASED");
  // An erased operator can only have a new pseudonym: with the old one, somebody put the row back.
  if (isGone && !isAccepted) throw new AlteredRows(family, "a row of subject");
  const statePriors = state === undefined
    ? []
    : [{ seq: state.prior_seq, entry_hash: hex(state.prior_hash) }];
  const earlier = await earlierEntries(dependencies, epochs, { entries, statePriors });
  const proven = { operator, isAccepted, epochs, pseudonym: subject.pseudonym, entries, earlier };
  return new OperatorProof(crypto, proven);
}

/** By chain, the ordered places of the pseudonym's entries; in accepted epochs also those that rows name. */
function placesToProve(
  epochs: readonly StoredChain[],
  { entries, rows, isAccepted }: {
    readonly entries: string;
    readonly rows: string;
    readonly isAccepted: boolean;
  },
): ReadonlyMap<string, readonly number[]> {
  const newest = epochs.at(-1)!;
  const places = new Map(epochs.map(({ chain }) => [chain, new Set<number>()]));
  for (const [chain, seq] of JSON.parse(entries) as readonly EntryPlace[]) {
    // Entries that are appended meanwhile are proven within the write.
    if (isAccepted || chain !== newest.chain || seq < newest.frontier.size) places.get(chain)?.add(seq);
  }
  for (const [, , position, count] of JSON.parse(rows) as readonly RowPlace[]) {
    const epoch = epochs.findLast(({ firstPosition }) => firstPosition <= position);
    if (epoch === undefined || (epoch === newest && !isAccepted)) continue;
    const end = position + Math.min(count, BATCH_MAX);
    for (let at = position; at < end; at += 1) places.get(epoch.chain)!.add(at - epoch.firstPosition);
  }
  return new Map(
    [...places].map(([chain, seqs]) => [chain, [...seqs].sort((first, second) => first - second)]),
  );
}

/** The service's own checkpoint that must cover the entries; null if an accepted chain has none. */
async function checkpointOf(
  dependencies: ProofDependencies,
  chain: string,
  { isStrict }: { readonly isStrict: boolean },
): Promise<KnownCheckpoint | null> {
  try {
    return await newestOwnCheckpoint(dependencies, { chain, origin: originOf(dependencies, chain) });
  } catch (error) {
    if (isStrict || !(error instanceof AlteredError)) throw error;
    return null;
  }
}

/**
 * Hashes of the prior entries that need not be among the operator's entries: they were cut off, or are in an
 * epoch that an administrator accepted.
 */
async function earlierEntries(
  dependencies: ProofDependencies,
  epochs: readonly StoredChain[],
  { entries, statePriors }: {
    readonly entries: ReadonlyMap<string, OwnEntry | null>;
    readonly statePriors: readonly Prior[];
  },
): Promise<ReadonlySet<string>> {
  const hashes = new Set([...entries.values()].map((entry) => entry?.hash));
  const priors = [...[...entries.values()].flatMap((entry) => entry?.prior ?? []), ...statePriors];
  const unknown = new Map(priors.map((prior) => [prior.entry_hash, prior]));
  const earlier = new Set<string>();
  for (const prior of unknown.values()) {
    if (!hashes.has(prior.entry_hash) && await isEarlier(dependencies, epochs, prior)) {
      earlier.add(prior.entry_hash);
    }
  }
  return earlier;
}

async function isEarlier(
  dependencies: ProofDependencies,
  epochs: readonly StoredChain[],
  { seq, entry_hash }: Prior,
): Promise<boolean> {
  const { chain, minIndex } = epochs.at(-1)!;
  const leaf = await leafHash(dependencies.database, { chain, seq });
  if (leaf === null || hex(leaf) !== entry_hash) return epochs.length > 1;
  if (seq >= minIndex) return false;
  await requireCutOff(dependencies, { chain, seq });
  return true;
}

function placeName(chain: string, seq: number): string {
  return `${chain} ${seq}`;
}

function placeOfName(name: string): EntryPlace {
  const [chain, seq] = name.split(" ");
  return [chain!, Number(seq)];
}
