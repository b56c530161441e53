/** The input of the rules: every chain with its rows, as the database holds them. */
import type { Selectable } from "kysely";
import { type Database, query } from "../../src/store/database.ts";
import type {
  AuditChainTable,
  AuditCheckpointTable,
  AuditEntryTable,
  AuditLadderTable,
  AuditNodeTable,
  AuditPartTable,
} from "../../src/store/schema.ts";
import { completedSubtrees, leafHash, type Tree, treeOf } from "./tree.ts";

// deno-lint-ignore no-explicit-any -- entries and parts are what the database holds
export type Json = any;

/** A stored entry. */
export interface Link {
  readonly row: Selectable<AuditEntryTable>;
  readonly entry: Json;
  /** By name; salt and data are null if it was erased. */
  readonly parts: ReadonlyMap<string, Selectable<AuditPartTable>>;
}

export interface Chain {
  readonly row: Selectable<AuditChainTable>;
  /** The entries that are still stored, oldest first. */
  readonly links: readonly Link[];
  /**
   * The first entry of a chain that a restore began, if it is kept below a cut; null if not, or if it is one
   * of the links.
   */
  readonly beginning: Link | null;
  /** In the order of their index. */
  readonly nodes: readonly Selectable<AuditNodeTable>[];
  readonly checkpoints: readonly Selectable<AuditCheckpointTable>[];
  readonly ladder: readonly Selectable<AuditLadderTable>[];
  /** The tree over the stored entries, and over the stored hashes of those that are gone. */
  readonly tree: Tree;
}

/** Every chain, in the order of their names. */
export async function readChains(database: Database): Promise<readonly Chain[]> {
  const rows = await database.read(query.selectFrom("audit_chain").selectAll().orderBy("chain").compile());
  return await Promise.all(rows.map((row) => readChain(database, row)));
}

async function readChain(database: Database, row: Selectable<AuditChainTable>): Promise<Chain> {
  const { chain } = row;
  // At once: each query to a server takes a round trip.
  const [entries, parts, nodes, checkpoints, ladder] = await database.snapshot([
    query.selectFrom("audit_entry").selectAll().where("chain", "=", chain).orderBy("seq").compile(),
    query.selectFrom("audit_part").selectAll().where("chain", "=", chain).compile(),
    query.selectFrom("audit_node").selectAll().where("chain", "=", chain).orderBy("idx").compile(),
    query.selectFrom("audit_checkpoint").selectAll().where("chain", "=", chain).orderBy("size").compile(),
    query.selectFrom("audit_ladder").selectAll().where("chain", "=", chain).orderBy("size").compile(),
  ]);
  const partsOf = Map.groupBy(parts, ({ seq }) => seq);
  const stored = entries.map((entry) => ({
    row: entry,
    entry: JSON.parse(entry.body),
    parts: new Map((partsOf.get(entry.seq) ?? []).map((part) => [part.name, part])),
  }));
  const isApart = row.epoch > 1 && stored[0]?.row.seq === 0 && (stored[1]?.row.seq ?? row.size) > 1;
  const [beginning, links] = isApart ? [stored[0]!, stored.slice(1)] : [null, stored];
  const gone = goneLeaves(row.size - links.length, nodes);
  const tree = treeOf([...gone, ...links.map((link) => leafHash(link.row.body))]);
  return { row, links, beginning, nodes, checkpoints, ladder, tree };
}

/** The stored hashes of the first `count` entries. */
function goneLeaves(count: number, nodes: Chain["nodes"]): readonly Uint8Array[] {
  if (count <= 0) return [];
  const indexes = completedSubtrees(count).flatMap(([low, high], index) => (high - low === 1 ? [index] : []));
  const hashes = new Map(nodes.map(({ idx, hash }) => [idx, hash]));
  return indexes.map((index) => hashes.get(index) ?? new Uint8Array(32));
}

/** The stored entry of an index; undefined if it is gone. */
export function linkAt({ row, links }: Chain, seq: number): Link | undefined {
  return links[seq - (row.size - links.length)];
}

/** The content of a part; undefined if it was erased or does not exist. */
export function partOf({ parts }: Link, name: string): Json {
  const data = parts.get(name)?.data;
  return typeof data === "string" ? JSON.parse(data) : undefined;
}

/** An event that the service itself wrote: only such entries affect others. */
export function isOwn({ entry }: Link, type: string): boolean {
  return entry.event_type === type && entry.actor === "system";
}

/** The position of an entry that was cut off, by its seq and its remaining hash; −1 if there was none. */
export function cutOffPosition(
  epochs: readonly Chain[],
  { seq, hash }: { readonly seq: number; readonly hash: string },
): number {
  const chain = epochs.findLast(({ row, tree }) =>
    seq < row.min_index && tree.hashOf(seq, seq + 1).toHex() === hash
  );
  return chain === undefined ? -1 : chain.row.first_position + seq;
}

/** The epochs of each family, oldest first. */
export function familiesOf(chains: readonly Chain[]): ReadonlyMap<string, readonly Chain[]> {
  const families = Map.groupBy(chains, ({ row }) => row.family);
  return new Map(
    [...families].map(([family, epochs]) => [family, epochs.toSorted((a, b) => a.row.epoch - b.row.epoch)]),
  );
}
