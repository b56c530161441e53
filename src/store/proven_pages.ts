/**
 * Proves many entries of one chain at once: together their hashes lead to the root of one signed checkpoint.
 * A page of entries thus costs one signature check and one read of the tree, which reads each hash once.
 */
import { AlteredError } from "../domain/errors.ts";
import { equalBytes } from "../evidence/crypto.ts";
import { type Entry, isCommitted, type Part } from "../evidence/entry.ts";
import { entryHash, PART_NAMES, type PartName } from "../evidence/hashes.ts";
import type { KnownCheckpoint } from "../evidence/kept.ts";
import { nodesBesideLeaves, rootFromLeaves } from "../evidence/merkle.ts";
import { readNodes } from "./chains.ts";
import { query } from "./database.ts";
import { listed } from "./value_list.ts";
import { type NamedChain, newestOwnCheckpoint, nodesOf, type ProofSource } from "./proofs.ts";

/** A proven entry, with those of its parts that are held. The entry commits to each of them. */
export interface ProvenRecord {
  readonly entry: Entry;
  readonly hash: Uint8Array;
  readonly parts: ReadonlyMap<PartName, Part>;
}

export interface PageOfEntries extends NamedChain {
  readonly seqs: readonly number[];
  /** The parts to read; all of them if left out. */
  readonly names?: readonly PartName[];
}

/**
 * Returns the given entries that are stored, by seq in ascending order, each proven with its parts.
 * @throws {AlteredError} if an entry, a part, the tree or the checkpoint is not what was signed.
 */
export async function readProvenPage(
  source: ProofSource,
  { seqs, names = PART_NAMES, chain, origin }: PageOfEntries,
): Promise<ReadonlyMap<number, ProvenRecord>> {
  if (seqs.length === 0) return new Map();
  const { database, crypto } = source;
  const [entries, parts] = await database.snapshot([
    query.selectFrom("audit_entry").select(["seq", "body"]).where("chain", "=", chain)
      .where("seq", "in", listed<number>(seqs)).orderBy("seq").compile(),
    query.selectFrom("audit_part").select(["seq", "name", "salt", "data"]).where("chain", "=", chain)
      .where("seq", "in", listed<number>(seqs)).where("name", "in", names).compile(),
  ]);
  const hashes = new Map(entries.map(({ seq, body }) => [seq, entryHash(crypto, body)]));
  await requireInTree(source, { chain, origin, hashes });
  const partsOf = Map.groupBy(parts, ({ seq }) => seq);
  return new Map(entries.map(({ seq, body }) => {
    // A text whose hash was signed is a valid entry, and the one of this place.
    const entry: Entry = JSON.parse(body);
    const held = (partsOf.get(seq) ?? []).flatMap(({ name, salt, data }) => {
      if (salt === null || data === null) return [];
      const part: Part = { name: name as PartName, salt, text: data };
      if (isCommitted(crypto, entry, part)) return [[part.name, part] as const];
      throw new AlteredError(chain, `a part of entry ${seq} of ${chain} is not what was recorded`);
    });
    return [seq, { entry, hash: hashes.get(seq)!, parts: new Map(held) }];
  }));
}

interface Hashes extends NamedChain {
  /** By the seq of the entry, ascending. */
  readonly hashes: ReadonlyMap<number, Uint8Array>;
}

/**
 * Requires that entries of these hashes are at these places in the tree of the chain's newest checkpoint.
 * @throws {AlteredError} if one is not, or the checkpoint is not the deployment's own.
 */
async function requireInTree(source: ProofSource, { hashes, ...place }: Hashes): Promise<void> {
  if (hashes.size === 0) return;
  await requireUnder(source, { ...place, hashes, checkpoint: await newestOwnCheckpoint(source, place) });
}

/**
 * Requires that entries of these hashes are at these places under a checkpoint that was verified as the
 * deployment's own.
 * @throws {AlteredError} if one is not.
 */
export async function requireUnder(
  { database, crypto }: Pick<ProofSource, "database" | "crypto">,
  { chain, hashes, checkpoint: { size, root } }: Pick<Hashes, "chain" | "hashes"> & {
    readonly checkpoint: KnownCheckpoint;
  },
): Promise<void> {
  if (hashes.size === 0) return;
  const seqs = [...hashes.keys()];
  if (seqs.at(-1)! >= size) {
    throw new AlteredError(chain, `the checkpoint of ${size} entries of ${chain} does not cover all of them`);
  }
  const nodes = await readNodes(database, { chain, indexes: nodesBesideLeaves(seqs, size) });
  const reached = rootFromLeaves(crypto, { size, leaves: [...hashes] }, nodesOf(chain, nodes));
  if (equalBytes(reached, root)) return;
  throw new AlteredError(
    chain,
    `an entry from ${seqs[0]} to ${seqs.at(-1)} of ${chain} does not stand in the tree that was signed`,
  );
}

/**
 * Finds the entries that are in the signed tree. Used for data that is shown although some of it was altered:
 * if the entries cannot be proven together, each is proven by itself.
 */
export async function findInTree(
  source: ProofSource,
  { hashes, ...place }: Hashes,
): Promise<ReadonlySet<number>> {
  const checkpoint = await nullIfAltered(() => newestOwnCheckpoint(source, place));
  if (hashes.size === 0 || checkpoint === null) return new Set();
  const prove = (some: Hashes["hashes"]) =>
    nullIfAltered(async () => {
      await requireUnder(source, { ...place, checkpoint, hashes: some });
      return [...some.keys()];
    });
  const all = await prove(hashes);
  if (all !== null) return new Set(all);
  const inTree: number[] = [];
  for (const single of hashes) inTree.push(...await prove(new Map([single])) ?? []);
  return new Set(inTree);
}

async function nullIfAltered<Result>(run: () => Promise<Result>): Promise<Result | null> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof AlteredError) return null;
    throw error;
  }
}
