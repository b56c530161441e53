/**
 * The signers: certificates link the keys in the database, and every checkpoint has a good signature by the
 * chain's own key at that size.
 */
import assert from "node:assert/strict";
import type { Selectable } from "kysely";
import { equalBytes } from "../../src/evidence/crypto.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { formatVerifierKey, keyId, parseNote, verifyNote } from "../../src/evidence/note.ts";
import { parseRotationCertificate } from "../../src/evidence/rotation.ts";
import { type Database, query } from "../../src/store/database.ts";
import type { SigningKeyTable } from "../../src/store/schema.ts";
import { type Chain, isOwn, type Link, linkAt, partOf } from "./chains.ts";

type KeyRow = Selectable<SigningKeyTable>;

export async function verifyKeys(
  database: Database,
  chains: readonly Chain[],
  publicKey: Uint8Array,
): Promise<void> {
  const rows = await database.read(
    query.selectFrom("signing_key").selectAll().orderBy("ordinal").compile(),
  );
  keysFollowOneAnother(rows, publicKey);
  keysWereTakenInBySystemChain(rows, chains);
  const keys = rows.length === 0 ? [publicKey] : rows.map((row) => row.public_key);
  for (const chain of chains) {
    const owners = ownersOf(chain, keys);
    genesisNamesItsKey(chain, owners);
    checkpointsAreSignedByTheOwner(chain, owners);
    // The store's own tests sign with keys that no installation knows.
    if (rows.length > 0) noStrangeSignatures(chain, keys);
    retiredKeysSignNothing(chain, keys);
  }
}

/** Ordinals 1, 2, 3 …; each key is certified by the one before it, and the first is the pinned one. */
function keysFollowOneAnother(rows: readonly KeyRow[], publicKey: Uint8Array): void {
  for (const [index, { ordinal, public_key, certificate, from_size, until_size }] of rows.entries()) {
    assert.equal(ordinal, index + 1, "ordinals of the signing keys");
    assert.ok(until_size === null || until_size >= from_size, `key ${ordinal}: range`);
    if (ordinal === 1) {
      assert.deepEqual([public_key, certificate, from_size], [publicKey, null, 0], "the first key");
      continue;
    }
    const rotation = parseRotationCertificate(nodeCrypto, certificate!);
    assert.ok(rotation !== null, `key ${ordinal}: its certificate is good`);
    assert.deepEqual(
      [rotation.ordinal, rotation.oldKey, rotation.newKey],
      [ordinal, rows[index - 1]!.public_key, public_key],
      `key ${ordinal}: certificate`,
    );
  }
}

/**
 * The system chain's entry at `from_size` − 1 introduced the key, and the one at `until_size` ended the
 * overlap.
 */
function keysWereTakenInBySystemChain(rows: readonly KeyRow[], chains: readonly Chain[]): void {
  const events = chains.filter(({ row }) => row.family === "sys").flatMap(({ row, links }) =>
    links.filter((link) => isOwn(link, "SIGNING_KEY_ROTATED")).map((link) => ({
      position: row.first_position + link.entry.seq,
      detail: partOf(link, "detail"),
    }))
  );
  for (const [index, { ordinal, certificate, from_size, until_size }] of rows.entries()) {
    if (certificate !== null) {
      const taken = events.filter(({ detail }) => detail.cert === certificate && detail.overlap);
      assert.deepEqual(taken.map(({ position }) => position), [from_size - 1], `key ${ordinal}: from_size`);
    }
    if (until_size === null) continue;
    const later = rows.slice(index + 1).map((row) => row.certificate);
    const retired = events.some(({ position, detail }) =>
      position === until_size && !detail.overlap && later.includes(detail.cert)
    );
    assert.ok(retired, `key ${ordinal}: until_size`);
  }
}

/** The key whose signature a chain's checkpoints must have from a size on. */
interface Owner {
  /** The least size. */
  readonly from: number;
  readonly publicKey: Uint8Array;
}

/** Walks back from the chain's present key over its rotations; oldest first. */
function ownersOf(chain: Chain, keys: readonly Uint8Array[]): readonly Owner[] {
  const { row } = chain;
  const owners: Owner[] = [];
  let ordinal = row.key_ordinal;
  for (const link of rotationsOf(chain).toReversed()) {
    const where = `${row.chain} ${link.entry.seq}`;
    const rotation = parseRotationCertificate(nodeCrypto, partOf(link, "detail").cert);
    assert.ok(rotation !== null, `${where}: certificate`);
    assert.equal(`${rotation.prefix}${row.chain}`, row.origin, `${where}: the log's own certificate`);
    assert.deepEqual(
      [rotation.ordinal, rotation.newKey],
      [ordinal, keys[ordinal - 1]],
      `${where}: the new key`,
    );
    owners.unshift({ from: link.entry.seq + 1, publicKey: rotation.newKey });
    ordinal -= 1;
  }
  return [{ from: 0, publicKey: keys[ordinal - 1]! }, ...owners];
}

function rotationsOf({ links }: Chain): readonly Link[] {
  return links.filter((link) => isOwn(link, "SIGNING_KEY_ROTATED") && partOf(link, "detail").overlap);
}

/** A chain's first entry names the key that signs it. */
function genesisNamesItsKey(chain: Chain, [first]: readonly Owner[]): void {
  const { row } = chain;
  const genesis = linkAt(chain, 0);
  if (genesis === undefined || !/^CHAIN_(?:GENESIS|RESTORED)$/.test(genesis.entry.event_type)) return;
  const vkey = formatVerifierKey(nodeCrypto, { name: row.origin, publicKey: first!.publicKey });
  assert.equal(partOf(genesis, "detail").vkey, vkey, `${row.chain}: vkey`);
}

/**
 * A checkpoint whose rotation entry may be gone may be signed by any known key: the rules of the tree compare
 * it with the entries above the cut.
 */
function checkpointsAreSignedByTheOwner({ row, links, checkpoints }: Chain, owners: readonly Owner[]): void {
  const first = row.size - links.length;
  for (const { size, note } of checkpoints.filter((checkpoint) => checkpoint.size > first)) {
    const { publicKey } = owners.findLast(({ from }) => from <= size)!;
    const verdict = verifyNote(nodeCrypto, parseNote(note), [{ name: row.origin, publicKey }]);
    assert.equal(verdict, "verified", `${row.chain}@${size}: signed by its own key`);
  }
}

/**
 * Every signature of a checkpoint is good, by a key of the database, for the chain's origin, and there once.
 */
function noStrangeSignatures({ row, checkpoints }: Chain, keys: readonly Uint8Array[]): void {
  for (const { size, note } of checkpoints) {
    const where = `${row.chain}@${size}`;
    const signed = parseNote(note);
    const signers = signersOf(row.origin, note, keys);
    assert.equal(signed.signatures.length, signers.length, `${where}: signed by known keys only, once each`);
    for (const publicKey of signers) {
      const verdict = verifyNote(nodeCrypto, signed, [{ name: row.origin, publicKey }]);
      assert.equal(verdict, "verified", `${where}: every signature is good`);
    }
  }
}

function signersOf(origin: string, note: string, keys: readonly Uint8Array[]): readonly Uint8Array[] {
  const ids = parseNote(note).signatures.filter(({ name }) => name === origin).map((line) => line.keyId);
  return keys.filter((publicKey) =>
    ids.some((id) => equalBytes(id, keyId(nodeCrypto, { name: origin, publicKey })))
  );
}

/** After the entry that ends an overlap, only the new key signs the system chain. */
function retiredKeysSignNothing({ row, links, checkpoints }: Chain, keys: readonly Uint8Array[]): void {
  const ends = links.filter((link) => isOwn(link, "SIGNING_KEY_ROTATED") && !partOf(link, "detail").overlap);
  for (const end of ends) {
    const { ordinal } = parseRotationCertificate(nodeCrypto, partOf(end, "detail").cert)!;
    for (const { size, note } of checkpoints.filter((checkpoint) => checkpoint.size > end.entry.seq)) {
      const retired = signersOf(row.origin, note, keys.slice(0, ordinal - 1));
      assert.deepEqual(retired, [], `${row.chain}@${size}: no signature by a retired key`);
    }
  }
}
