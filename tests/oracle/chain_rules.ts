/** Rules of each chain by itself: entries, parts, tree, checkpoints, ladder, and removals. */
import assert from "node:assert/strict";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { parseCheckpoint, parseNote } from "../../src/evidence/note.ts";
import { type Chain, isOwn, type Link, linkAt, partOf } from "./chains.ts";
import { completedSubtrees, leafHash, peaksOf, rootAt, sha256 } from "./tree.ts";

const DAY_MS = 86_400_000;

export interface RuleOptions {
  /** Epoch milliseconds from which the ladder is kept. */
  readonly ladderSince: number;
  /** Every epoch of the chain's family. */
  readonly epochs: readonly Chain[];
}

export function verifyChain(chain: Chain, { ladderSince, epochs }: RuleOptions): void {
  const hasEnded = epochs.some(({ row }) => row.epoch > chain.row.epoch);
  entriesAreKept(chain, { hasEnded });
  for (const link of chain.links) entryIsWhatItsColumnsSay(chain, link);
  beginningIsTheFirstEntry(chain);
  entriesFollowOneAnother(chain);
  partsAreThoseCommittedTo(chain);
  nodesAreTheTree(chain);
  headIsTheEnd(chain);
  checkpointsAreOfTheTree(chain);
  ladderIsOfDays(chain, { hasEnded });
  ladderHasEveryDay(chain, ladderSince);
  cutsAreRecorded(chain, epochs);
  oldCheckpointsAreOfTheLadder(chain);
}

/** Nothing is missing from the least index on, or from the place of a removal's record. */
function entriesAreKept({ row, links }: Chain, { hasEnded }: { readonly hasEnded: boolean }): void {
  const first = row.size - links.length;
  assert.deepEqual(
    links.map((link) => link.row.seq),
    links.map((_, index) => first + index),
    `${row.chain}: gaps`,
  );
  assert.ok(
    first >= 0 && first <= row.min_index,
    `${row.chain}: entries from ${first} on, kept from ${row.min_index}`,
  );
  // A chain that a restore ended has this in the chain that continues it.
  const end = hasEnded ? row.size + 1 : row.size;
  assert.ok(row.min_index < end, `${row.chain}: the entry that records a cut is above it`);
}

function entryIsWhatItsColumnsSay({ row: { chain } }: Chain, { row, entry }: Link): void {
  const where = `${chain} ${row.seq}`;
  assert.equal(row.body, canonicalJson(entry), `${where}: canonical`);
  const isOfUser = entry.actor === "user";
  assert.equal(Object.keys(entry).length, isOfUser ? 13 : 12, `${where}: its keys`);
  assert.equal(entry.v, isOfUser ? "jis.audit/2" : "jis.audit/1", `${where}: version`);
  assert.equal(typeof entry.user_id, isOfUser ? "string" : "undefined", `${where}: user`);
  assert.deepEqual(row.entry_hash, leafHash(row.body), `${where}: hash`);
  assert.deepEqual(
    [entry.chain, entry.seq, entry.id, entry.event_type, entry.timestamp, entry.subject, entry.prev],
    [chain, row.seq, row.id, row.event_type, row.ts, row.subject, row.prev_hash.toHex()],
    `${where}: columns`,
  );
}

/** Below a cut, only the first entry of a chain that a restore began is kept, whole. */
function beginningIsTheFirstEntry(chain: Chain): void {
  const { row, beginning, tree } = chain;
  if (beginning === null) return;
  entryIsWhatItsColumnsSay(chain, beginning);
  partsAreThoseCommittedTo({ ...chain, links: [beginning] });
  assert.deepEqual([...beginning.parts.keys()], ["detail"], `${row.chain}: the detail of its first entry`);
  assert.ok(row.epoch > 1 && row.min_index > 0, `${row.chain}: it is kept below a cut`);
  assert.deepEqual(tree.hashOf(0, 1), leafHash(beginning.row.body), `${row.chain}: leaf of its first entry`);
  assert.equal(beginning.entry.prev, sha256(`jis.genesis/1\n${row.origin}`).toHex(), `${row.chain}: link`);
}

/** Each entry names the hash of the one before it, gone or not, and time goes forward. */
function entriesFollowOneAnother({ row, links, tree }: Chain): void {
  for (const [index, { entry }] of links.entries()) {
    const where = `${row.chain} ${entry.seq}`;
    const previous = entry.seq === 0
      ? sha256(`jis.genesis/1\n${row.origin}`)
      : tree.hashOf(entry.seq - 1, entry.seq);
    assert.equal(entry.prev, previous.toHex(), `${where}: link`);
    const before = links[index - 1];
    if (before !== undefined) {
      assert.ok(entry.timestamp >= before.entry.timestamp, `${where}: time goes forward`);
    }
  }
}

/** Below the least index parts may be gone already. */
function partsAreThoseCommittedTo({ row, links }: Chain): void {
  for (const { entry, parts } of links) {
    const where = `${row.chain} ${entry.seq}`;
    if (entry.seq < row.min_index && parts.size === 0) continue;
    assert.deepEqual([...parts.keys()].sort(), Object.keys(entry.commit).sort(), `${where}: parts`);
    for (const { name, salt, data } of parts.values()) {
      assert.equal(salt === null, data === null, `${where}: a salt goes with its part`);
      if (salt === null || data === null) continue;
      const commitment = sha256(`jis.commit/1\n${name}\n`, salt, data);
      assert.equal(entry.commit[name], commitment.toHex(), `${where}: commitment ${name}`);
      assert.equal(data, canonicalJson(JSON.parse(data)), `${where}: canonical ${name}`);
    }
  }
}

/** Every complete subtree has its node, gone entries included, and there is no other node. */
function nodesAreTheTree({ row, nodes, tree }: Chain): void {
  const subtrees = completedSubtrees(row.size);
  assert.equal(nodes.length, subtrees.length, `${row.chain}: nodes`);
  for (const [index, [low, high]] of subtrees.entries()) {
    const node = nodes[index]!;
    assert.equal(node.idx, index, `${row.chain}: node ${index}`);
    assert.deepEqual(node.hash, tree.hashOf(low, high), `${row.chain}: node ${index} of [${low}, ${high})`);
  }
}

function headIsTheEnd({ row, links, tree }: Chain): void {
  assert.deepEqual(row.head, tree.hashOf(row.size - 1, row.size), `${row.chain}: head`);
  const last = links.at(-1)?.entry.timestamp ?? row.last_ts;
  assert.equal(row.last_ts, last, `${row.chain}: last timestamp`);
  const peaks = peaksOf(row.size).map(([low, high]) => tree.hashOf(low, high).toHex()).join("");
  assert.equal(row.peaks.toHex(), peaks, `${row.chain}: peaks`);
}

/** Whose signatures they have is a rule of keys. */
function checkpointsAreOfTheTree(chain: Chain): void {
  const { row, checkpoints, tree } = chain;
  assert.equal(
    checkpoints.at(-1)?.size,
    row.size,
    `${row.chain}: the newest checkpoint covers the newest entry`,
  );
  for (const { size, ts, note } of checkpoints) {
    const where = `${row.chain}@${size}`;
    const checkpoint = parseCheckpoint(parseNote(note).text);
    assert.equal(checkpoint.origin, row.origin, `${where}: origin`);
    assert.equal(checkpoint.size, size, `${where}: size`);
    assert.deepEqual(checkpoint.root, rootAt(tree, size), `${where}: root`);
    const last = linkAt(chain, size - 1);
    if (last !== undefined) assert.equal(ts, last.entry.timestamp, `${where}: timestamp`);
  }
}

const dayOf = (timestamp: string) => timestamp.slice(0, 10);

/** Each size of the ladder was signed, and ends a day. */
function ladderIsOfDays(chain: Chain, { hasEnded }: { readonly hasEnded: boolean }): void {
  const { row, ladder, checkpoints } = chain;
  for (const { size, ts } of ladder) {
    const where = `${row.chain} ladder ${size}`;
    assert.equal(checkpoints.find((checkpoint) => checkpoint.size === size)?.ts, ts, `${where}: checkpoint`);
    const last = linkAt(chain, size - 1);
    if (last !== undefined) assert.equal(last.entry.timestamp, ts, `${where}: timestamp`);
    if (hasEnded && size === row.size) continue;
    assert.ok(size < row.size, `${where}: below the end`);
    const next = checkpoints.find((checkpoint) => checkpoint.size > size)!;
    assert.ok(dayOf(ts) < dayOf(next.ts), `${where}: day`);
  }
}

/** A commit on a later day than the one before it put that one's size on the ladder. */
function ladderHasEveryDay({ row, ladder, checkpoints }: Chain, since: number): void {
  for (const [index, { ts }] of checkpoints.entries()) {
    const before = checkpoints[index - 1];
    if (before === undefined || dayOf(before.ts) >= dayOf(ts) || Date.parse(ts) <= since) continue;
    assert.ok(
      ladder.some(({ size }) => size === before.size),
      `${row.chain}: ${before.size} is on the ladder`,
    );
  }
}

/**
 * The least index is the one in the newest RETENTION_PRUNED; each removal continues the one before it, and
 * none removed entries that its policy keeps. A record that is gone itself cannot be checked. For a chain
 * that a restore ended, the chains after it have the records.
 */
function cutsAreRecorded(chain: Chain, epochs: readonly Chain[]): void {
  const { row, tree } = chain;
  const isGone = epochs.some((epoch) => epoch.row.size > epoch.links.length);
  let to = isGone ? null : 0;
  const records = epochs.flatMap(({ links }) => links.filter((link) => isOwn(link, "RETENTION_PRUNED")));
  for (const link of records.filter((record) => partOf(record, "detail").origin === row.origin)) {
    const where = `${link.entry.chain} ${link.entry.seq}`;
    const detail = partOf(link, "detail");
    if (to !== null) assert.equal(detail.from, to, `${where}: from`);
    assert.ok(detail.from < detail.to && detail.to <= row.size, `${where}: entries were there`);
    if (link.entry.chain === row.chain) {
      assert.ok(detail.to <= link.entry.seq, `${where}: the removal before it`);
    }
    assert.equal(detail.root, rootAt(tree, detail.to).toHex(), `${where}: root`);
    assert.ok(detail.last_ts < detail.cutoff, `${where}: last_ts`);
    const last = linkAt(chain, detail.to - 1);
    if (last !== undefined) assert.equal(detail.last_ts, last.entry.timestamp, `${where}: last_ts`);
    const youngest = Date.parse(link.entry.timestamp) - detail.policy_days * DAY_MS;
    assert.ok(Date.parse(detail.cutoff) <= youngest, `${where}: cutoff`);
    to = detail.to;
  }
  const isLast = epochs.every((epoch) => epoch.row.epoch <= row.epoch);
  if (to !== null || isLast) assert.equal(row.min_index, to ?? 0, `${row.chain}: least index`);
}

/**
 * The checkpoint at the cut is kept, and those of the ladder, so that the remaining entries prove themselves.
 */
function oldCheckpointsAreOfTheLadder({ row, links, checkpoints, ladder }: Chain): void {
  const first = row.size - links.length;
  if (row.min_index > 0) {
    assert.ok(checkpoints.some(({ size }) => size === row.min_index), `${row.chain}: checkpoint at the cut`);
  }
  for (const { size } of checkpoints.filter((checkpoint) => checkpoint.size <= first)) {
    const kept = size === row.min_index || ladder.some((day) => day.size === size);
    assert.ok(kept, `${row.chain}: checkpoint ${size} went with its entries`);
  }
}
