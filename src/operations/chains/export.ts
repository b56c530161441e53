/**
 * Bundles: a chain as a file that anybody can verify. It is made line by line from short reads, so that
 * neither memory nor the write-ahead log grows with the chain.
 * Source: evidence design, section 8.
 */
import { unavailable } from "../../domain/errors.ts";
import {
  beginningLine,
  CHECKPOINT_EVERY,
  checkpointLine,
  headerLine,
  ladderLine,
  modelLine,
  partLine,
  STRUCTURAL_EVENTS,
  trailerLine,
} from "../../evidence/bundle.ts";
import {
  consistencyNodeIndexes,
  consistencyPath,
  frontierFrom,
  frontierNodeIndexes,
} from "../../evidence/consistency.ts";
import { type Crypto, hex, utf8 } from "../../evidence/crypto.ts";
import { genesisPrevious } from "../../evidence/hashes.ts";
import { inclusionNodeIndexes, inclusionPath, storedNodeIndex } from "../../evidence/merkle.ts";
import { formatVerifierKey } from "../../evidence/note.ts";
import {
  type BundleEntry,
  checkpointFrom,
  endOfEntries,
  readBundleEntries,
  readLadder,
} from "../../store/bundles.ts";
import {
  loadEpochs,
  newestCheckpoint,
  readNodes,
  type StoredChain,
  type StoredCheckpoint,
} from "../../store/chains.ts";
import type { Database } from "../../store/database.ts";
import { readModelDocuments } from "../../store/model_documents.ts";
import { readSigningKeys } from "../../store/signing_keys.ts";
import { isEvidenceChain } from "../../evidence/chain_name.ts";

/** Entries that are read at once: about half a millisecond's work, during which nobody else is served. */
const PAGE = 32;

/** The parts that a bundle gives: all, those that record the history of the chain itself, or none. */
export const BUNDLE_PARTS = ["all", "structural", "none"] as const;
export type BundleParts = (typeof BUNDLE_PARTS)[number];

/** The dependencies for exporting a chain: no key, no configuration. */
export interface BundleSource {
  readonly database: Database;
  readonly crypto: Crypto;
}

export interface BundleOptions {
  readonly chain: StoredChain;
  readonly parts: BundleParts;
  /** The checkpoint at which the bundle begins; left out if it begins at the first entry that is left. */
  readonly base?: StoredCheckpoint;
  /**
   * Sizes from which proofs are to lead to the base, besides the ends of days: sizes that an auditor kept.
   */
  readonly links?: readonly number[];
  /** Days for which the chain's entries are kept; null if they are kept for good. */
  readonly retentionDays: number | null;
  /** Instant of the export, epoch milliseconds. */
  readonly now: number;
  /** The program and its version. */
  readonly software: string;
}

/**
 * The lines of a bundle, without their line feeds, up to the newest checkpoint.
 * @throws {ServiceError} SERVICE_UNAVAILABLE if the chain is pruned beyond the entries that have been read;
 *   {Error} if an entry is missing or damaged. The bundle then ends without its trailer.
 */
export async function* bundleLines(source: BundleSource, options: BundleOptions): AsyncGenerator<string> {
  const digest = source.crypto.sha256Stream();
  for await (const line of contentLines(source, options)) {
    if (typeof line !== "string") {
      yield trailerLine({ checkpoint: line.note, size: line.size, bundle_sha256: hex(digest.digest()) });
      return;
    }
    digest.update(utf8(`${line}\n`));
    yield line;
  }
}

/** The name of the program in a bundle. */
export function softwareName(version: string): string {
  return `jiss ${version}`;
}

/** The bundles of every epoch of a family that can be shown, oldest first, as the text of one file. */
export async function* bundleFile(
  source: BundleSource,
  options: Omit<BundleOptions, "chain" | "base"> & { readonly family: string },
): AsyncGenerator<string> {
  for (const chain of await shownEpochs(source.database, options)) {
    for await (const line of bundleLines(source, { ...options, chain })) yield `${line}\n`;
  }
}

/**
 * The epochs of a family that can be shown. An epoch without entries is left out if the next epoch's first
 * entry, which names its end, is missing or cannot be shown: earlier releases removed that entry, and a
 * bundle without parts cannot show it.
 */
async function shownEpochs(
  database: Database,
  { family, parts }: { readonly family: string; readonly parts: BundleParts },
): Promise<readonly StoredChain[]> {
  const epochs = await loadEpochs(database, family);
  const shown: StoredChain[] = [];
  for (const [index, chain] of epochs.entries()) {
    const { minIndex, frontier: { size } } = chain;
    const next = epochs[index + 1];
    const isCutOff = minIndex === size && next !== undefined && next.minIndex > 0;
    if (isCutOff && (parts === "none" || await readBeginning(database, next.chain) === null)) continue;
    shown.push(chain);
  }
  return shown;
}

/** Size of the longest chain that an export of a family shows: a larger size cannot be linked. */
export async function longestShownSize(
  database: Database,
  options: { readonly family: string; readonly parts: BundleParts },
): Promise<number> {
  const epochs = await shownEpochs(database, options);
  return Math.max(0, ...epochs.map(({ frontier: { size } }) => size));
}

/**
 * Like {@link bundleFile}, for a file that leaves the service.
 * @throws {Error} if the database lacks the newest checkpoint of the newest chain: the file would lack the
 *   chain's end, and nobody would notice.
 */
export async function* exportFile(
  source: BundleSource,
  options: Omit<BundleOptions, "chain"> & { readonly family: string },
): AsyncGenerator<string> {
  const { database } = source;
  const { chain, frontier: { size } } = (await loadEpochs(database, options.family)).at(-1)!;
  const end = Math.max(size, await endOfEntries(database, chain));
  const newest = await requireCheckpoint(database, chain);
  if (newest.size < end) throw new Error(`${chain} lacks its newest checkpoint`);
  yield* bundleFile(source, options);
}

/** Every line before the trailer, then the checkpoint that the trailer holds. */
async function* contentLines(
  source: BundleSource,
  options: BundleOptions,
): AsyncGenerator<string | StoredCheckpoint> {
  const { chain: { chain }, parts } = options;
  const { database } = source;
  const base = await requireReadable(`the tree of ${chain}`, () => readBase(source, options));
  yield await requireReadable(
    "a signing key",
    async () => headerLine(await readHeader(source, options, base)),
  );
  if (parts === "all" && isEvidenceChain(options.chain.family)) {
    for (const { sha256, document } of await readModelDocuments(database)) {
      const line = () => modelLine({ sha256, document: JSON.parse(document) });
      yield await requireReadable(`the model document ${sha256}`, line);
    }
  }
  const ladder = await readLadder(database, chain);
  yield* ladderLines(source, { chain, sizes: ladderSizes(base.size, [...ladder, ...options.links ?? []]) });
  yield* beginningLines(source, options, base);

  let end = await requireCheckpoint(database, chain);
  const awaitedErasures = new Set<string>();
  const marks = new CheckpointMarks(database, { chain, ladder, from: base.size });
  for (let next = base.size; next < end.size;) {
    const entries = await readBundleEntries(database, {
      chain,
      first: next,
      end: Math.min(next + PAGE, end.size),
    });
    if (entries[0]?.seq !== next) await refuseIfPruned(source, options);
    for (const entry of entries) {
      const lines = () => [...entryLines(entry, { parts, awaitedErasures })];
      yield* await requireReadable(`entry ${entry.seq} of ${chain}`, lines);
      next = entry.seq + 1;
      const due = next < end.size ? await marks.noteAt(next) : null;
      if (due !== null) yield checkpointLine(due);
    }
    // An erasure during the export is recorded by an entry that was appended since.
    if (next === end.size && awaitedErasures.size > 0) end = await requireCheckpoint(database, chain);
  }
  // The trailer's digest covers the checkpoint on this line, and so the same checkpoint in the trailer.
  if (end.size > base.size) yield checkpointLine(end.note);
  yield end;
}

/**
 * Makes a value from rows. Rows that the service did not write can hold anything: a failure to read them is
 * damage of the database, and no mistake of this program.
 * @throws {Error} that says what is damaged.
 */
async function requireReadable<Made>(what: string, read: () => Made | Promise<Made>): Promise<Made> {
  try {
    return await read();
  } catch (error) {
    const isDamage = error instanceof SyntaxError || error instanceof TypeError ||
      error instanceof RangeError;
    if (!isDamage) throw error;
    throw new Error(`${what} is damaged in the database (${error.message})`, { cause: error });
  }
}

/**
 * Refuses to go on, because the next entry is missing.
 * @throws {ServiceError} SERVICE_UNAVAILABLE if it was pruned while the chain was read; {Error} if it was
 *   taken out of the database.
 */
async function refuseIfPruned(
  { database }: BundleSource,
  { chain: { family, chain, minIndex } }: BundleOptions,
): Promise<never> {
  const now = (await loadEpochs(database, family)).find((epoch) => epoch.chain === chain);
  if (now !== undefined && now.minIndex > minIndex) {
    throw unavailable("The chain was pruned while it was read; ask again.");
  }
  throw new Error(`${chain} lacks an entry`);
}

async function requireCheckpoint(database: Database, chain: string): Promise<StoredCheckpoint> {
  const checkpoint = await newestCheckpoint(database, chain);
  if (checkpoint === null) throw new Error(`${chain} has no checkpoint`);
  return checkpoint;
}

interface Base {
  readonly size: number;
  readonly prev: string;
  readonly peaks: readonly string[];
  readonly checkpoint: string | null;
}

async function readBase(
  { database, crypto }: BundleSource,
  { chain: { chain, origin, minIndex }, base }: BundleOptions,
): Promise<Base> {
  const size = base?.size ?? minIndex;
  if (size === 0) return { size, prev: hex(genesisPrevious(crypto, origin)), peaks: [], checkpoint: null };
  const last = storedNodeIndex(0, size - 1);
  const nodes = await readNodes(database, { chain, indexes: [...frontierNodeIndexes(size), last] });
  const checkpoint = base ?? await checkpointFrom(database, { chain, size });
  return {
    size,
    prev: hex(nodes.get(last)!),
    peaks: frontierFrom(size, (index) => nodes.get(index)).peaks.map(hex),
    checkpoint: checkpoint?.size === size ? checkpoint.note : null,
  };
}

async function readHeader(
  { database, crypto }: BundleSource,
  { chain: { chain, origin }, retentionDays, now, software }: BundleOptions,
  base: Base,
) {
  const keys = await readSigningKeys(database);
  return {
    origin,
    chain,
    base: { ...base, peaks: [...base.peaks] },
    keys: keys.map(({ public_key, certificate }) => ({
      vkey: formatVerifierKey(crypto, { name: origin, publicKey: public_key }),
      cert: certificate,
    })),
    retention_days: retentionDays,
    exported_at: new Date(now).toISOString(),
    software,
  };
}

/** The sizes between which proofs lead, each to the next; the base is the last of them. */
function ladderSizes(base: number, sizes: readonly number[]): readonly number[] {
  if (base === 0) return [];
  return [...new Set([...sizes.filter((size) => size < base), base])].sort((a, b) => a - b);
}

/** The proofs that check a checkpoint of an earlier day's end, or of a requested size, against the base. */
async function* ladderLines(
  { database, crypto }: BundleSource,
  { chain, sizes }: { readonly chain: string; readonly sizes: readonly number[] },
): AsyncGenerator<string> {
  for (const [index, to] of sizes.entries()) {
    const from = sizes[index - 1];
    if (from === undefined) continue;
    const nodes = await readNodes(database, { chain, indexes: consistencyNodeIndexes(from, to) });
    const line = () =>
      ladderLine({
        from,
        to,
        proof: consistencyPath(crypto, { from, to }, (node) => nodes.get(node)).map(hex),
      });
    yield await requireReadable(`the tree of ${chain}`, line);
  }
}

/** The first entry of a chain that a restore began, which stays below a cut; null if it is not held. */
async function readBeginning(database: Database, chain: string): Promise<BundleEntry | null> {
  const [first] = await readBundleEntries(database, { chain, first: 0, end: 1 });
  return first ?? null;
}

/** The first entry of a chain that a restore began, for a bundle whose beginning was removed. */
async function* beginningLines(
  { database, crypto }: BundleSource,
  { chain: { chain, epoch }, parts, base: resumed }: BundleOptions,
  { size }: Base,
): AsyncGenerator<string> {
  if (size === 0 || epoch === 1 || parts === "none" || resumed !== undefined) return;
  const first = await readBeginning(database, chain);
  if (first === null) return;
  const nodes = await readNodes(database, { chain, indexes: inclusionNodeIndexes(0, size) });
  const line = () => {
    const held = first.parts.find(({ name }) => name === "detail")?.held ?? null;
    if (held === null) throw new TypeError("without its detail");
    return beginningLine({
      entry: JSON.parse(requireText(first.text)),
      salt: hex(held.salt),
      data: JSON.parse(requireText(held.text)),
      path: inclusionPath(crypto, { leaf: 0, size }, (node) => nodes.get(node)).map(hex),
    });
  };
  yield await requireReadable(`the first entry of ${chain}`, line);
}

/**
 * The line of an entry and the lines of its parts. `awaitedErasures` holds the pseudonyms of erased parts until the
 * entry of their erasure is given.
 */
function* entryLines(
  { seq, text, subject, eventType, parts }: BundleEntry,
  { parts: given, awaitedErasures }: { readonly parts: BundleParts; readonly awaitedErasures: Set<string> },
): Generator<string> {
  yield requireText(text);
  if (eventType === "SUBJECT_ERASED" && subject !== null) awaitedErasures.delete(subject);
  const structural = (STRUCTURAL_EVENTS as readonly (string | null)[]).includes(eventType);
  const isGiven = given === "all" || (given === "structural" && structural);
  for (const { name, held } of parts) {
    if (held === null) {
      if (subject !== null) awaitedErasures.add(subject);
      yield partLine({ seq, name, absent: "erased" });
    } else if (isGiven) yield partLine({ seq, name, salt: hex(held.salt), text: requireText(held.text) });
    else yield partLine({ seq, name, absent: "withheld" });
  }
}

/** A stored text for a line. @throws {TypeError} if it is no text. */
function requireText(stored: unknown): string {
  if (typeof stored !== "string") throw new TypeError("not a text");
  return stored;
}

/** The stored checkpoints that a bundle shows: every few hundred entries, and at the end of each day. */
class CheckpointMarks {
  readonly #days: number[];
  /** The next checkpoint by number of entries; null if there is none, undefined until it is looked up. */
  #due: StoredCheckpoint | null | undefined;
  #from: number;

  constructor(
    private readonly database: Database,
    private readonly options: {
      readonly chain: string;
      readonly ladder: readonly number[];
      readonly from: number;
    },
  ) {
    this.#from = options.from;
    this.#days = options.ladder.filter((size) => size > options.from);
  }

  /** The note to show after the entry that makes the tree this large; null if none is due. */
  async noteAt(size: number): Promise<string | null> {
    const { chain } = this.options;
    if (this.#due === undefined) {
      this.#due = await checkpointFrom(this.database, { chain, size: this.#from + CHECKPOINT_EVERY });
    }
    if (this.#days[0] !== size && this.#due?.size !== size) return null;
    if (this.#days[0] === size) this.#days.shift();
    const shown = this.#due?.size === size ? this.#due : await checkpointFrom(this.database, { chain, size });
    this.#due = undefined;
    this.#from = size;
    return shown?.size === size ? shown.note : null;
  }
}
