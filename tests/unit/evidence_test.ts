/** The evidence formats against their vectors: canonical JSON, entries, tree, notes, proofs, the envelope, keys. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { fromBase64, fromHex, hex, type Signer, utf8 } from "../../src/evidence/crypto.ts";
import { type EvidenceFault, verifyDocument } from "../../src/evidence/document.ts";
import {
  appendEntry,
  type ChainHead,
  emptyChain,
  type Entry,
  type EntryDraft,
  entrySchema,
} from "../../src/evidence/entry.ts";
import { isEntry } from "../../src/evidence/line_shapes.ts";
import {
  type Evidence,
  evidenceOf,
  evidenceOfAppended,
  formatProof,
  parseProof,
  resultPart,
} from "../../src/evidence/envelope.ts";
import {
  entryHash,
  genesisPrevious,
  modelSha256,
  partCommitment,
  type PartName,
} from "../../src/evidence/hashes.ts";
import {
  appendLeaf,
  EMPTY_FRONTIER,
  type Frontier,
  inclusionNodeIndexes,
  inclusionPath,
  rootFromInclusion,
  rootOf,
  storedNodeIndex,
} from "../../src/evidence/merkle.ts";
import { nodeCrypto, signerFromPem } from "../../src/evidence/node_crypto.ts";
import {
  formatCheckpoint,
  formatVerifierKey,
  isSoundPublicKey,
  keyId,
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
  signNote,
  type VerifierKey,
  verifyNote,
} from "../../src/evidence/note.ts";
import chain8 from "../vectors/evidence/chain_8.json" with { type: "json" };
import checkpoints from "../vectors/evidence/checkpoint.json" with { type: "json" };
import envelope from "../vectors/evidence/evidence_envelope.json" with { type: "json" };
import jcs from "../vectors/evidence/jcs_vectors.json" with { type: "json" };
import merkle from "../vectors/evidence/merkle.json" with { type: "json" };

const ORIGIN = "jis.example.internal/dep-7f3a/org/acme";
const EM_DASH = "\u2014";

/** The vectors' keys: each seed is the SHA-256 of the label. */
function throwAwaySigner(label: string): Signer {
  const pkcs8 = [...fromHex("302e020100300506032b657004220420"), ...nodeCrypto.sha256(utf8(label))];
  const text = Uint8Array.from(pkcs8).toBase64();
  return signerFromPem(`-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----\n`);
}
const signer = throwAwaySigner(checkpoints.seed_label);
const nextSigner = throwAwaySigner("THROW-AWAY TEST KEY 2");
const trusted = parseVerifierKey(nodeCrypto, checkpoints.vkey);
const trustedNext = parseVerifierKey(nodeCrypto, checkpoints.vkey_next);

// ---- canonical JSON ---------------------------------------------------------------------------------------

for (const { name, input, canonical, canonical_utf8_hex, sha256 } of jcs.vectors) {
  Deno.test(`canonical JSON of the RFC 8785 companion's document ${name} is reproduced`, () => {
    const text = canonicalJson(JSON.parse(input));
    assert.equal(text, canonical);
    assert.equal(hex(utf8(text)), canonical_utf8_hex);
    assert.equal(hex(nodeCrypto.sha256(utf8(text))), sha256);
  });
}

Deno.test("canonical JSON orders members by UTF-16 code units, however many and however long their names", () => {
  const names = [
    "",
    "a",
    "aa",
    "B",
    "b",
    "é",
    "€",
    "\u{1F600}",
    "\uFB33",
    "10",
    "9",
    "__proto_",
    '"',
    "\u0080",
    "\r",
  ];
  const many = Array.from({ length: 40 }, (_, index) => `${(index * 7) % 40} ${"x".repeat(index * 3)}`);
  for (const some of [names, [...names].reverse(), many, [...many, ...names]]) {
    const expected = [...some].sort().map((name) => `${JSON.stringify(name)}:1`).join(",");
    for (let write = 0; write < 2; write += 1) {
      assert.equal(canonicalJson(Object.fromEntries(some.map((name) => [name, 1]))), `{${expected}}`);
    }
  }
});

function doubleOf(bits: bigint): number {
  return new Float64Array(BigUint64Array.of(bits).buffer)[0]!;
}

Deno.test("canonical JSON writes the RFC's edge numbers, and -0 as 0", () => {
  for (const { ieee754_hex, canonical } of jcs.numbers) {
    assert.equal(canonicalJson(doubleOf(BigInt(`0x${ieee754_hex}`))), canonical, ieee754_hex);
  }
});

/**
 * Doubles from which the companion's number file starts (cyberphone/json-canonicalization,
 * testdata/README.md): fifty that occur with either sign, and the rest.
 */
const WITH_EITHER_SIGN = `
  446696695dbd1cc3 443211ede4974a35 43fce97ca0f21056 43c7213080c1a6ac 439280f39a348556 435d9b1f5d20d557
  4327af4c4a80aaac 42f2f2a36ecd5556 42be51057e155558 428840d131aaaaac 4253670dc1555557 421f0b4935555557
  41e8d5d42aaaaaac 41b3de4355555556 417fca0555555556 41496e6aaaaaaaab 4114585555555555 40e046aaaaaaaaab
  40aa0aaaaaaaaaaa 4074d55555555555 4040aaaaaaaaaaab 400aaaaaaaaaaaab 3fd5555555555555 3fa1111111111111
  3f6b4e81b4e81b4f 3f35d867c3ece2a5 3f0179ec9cbd821e 3ecbf647612f3696 3e965e9f80f29212 3e61e54c672874db
  3e2ca213d840baf8 3df6e80fe033c8c6 3dc2533fe68fd3d2 3d8d51ffd74c861c 3d5774ccac3d3817 3d22c3d6f030f9ac
  3cee0624b3818f79 3cb804ea293472c7 3c833721ba905bd3 3c4ebe9c5db3c61e 3c18987d17c304e5 3be3ad30dfcf371d
  3baf7b816618582f 3b792f9ab81379bf 3b442615600f9499 3b101e77800c76e1 3ad9ca58cce0be35 3aa4a1e0a3e6fe90
  3a708180831f320d 3a3a68cd9e985016`;
const EDGES = `
  4024000000000000 4014000000000000 3fe0000000000000 3fa999999999999a 3f747ae147ae147b 3f40624dd2f1a9fc
  3f0a36e2eb1c432d 3ed4f8b588e368f1 3ea0c6f7a0b5ed8d 3e6ad7f29abcaf48 3e35798ee2308c3a 3ed539223589fa95
  3ed4ff26cd5a7781 3ed4f95a762283ff 3ed4f8c60703520c 3ed4f8b72f19cd0d 3ed4f8b5b31c0c8d 3ed4f8b58d1c461a
  3ed4f8b5894f7f0e 3ed4f8b588ee37f3 3ed4f8b588e47da4 3ed4f8b588e3849c 3ed4f8b588e36bb5 3ed4f8b588e36937
  3ed4f8b588e368f8 3ed4f8b588e368f1 3ff0000000000000 bff0000000000000 bfeffffffffffffa bfeffffffffffffb
  3feffffffffffffa 3feffffffffffffb 3feffffffffffffc 3feffffffffffffe bfefffffffffffff bfefffffffffffff
  3fefffffffffffff 3fefffffffffffff 3fd3333333333332 3fd3333333333333 3fd3333333333334 0010000000000000
  000ffffffffffffd 000fffffffffffff 7fefffffffffffff ffefffffffffffff 4340000000000000 c340000000000000
  4430000000000000 44b52d02c7e14af5 44b52d02c7e14af6 44b52d02c7e14af7 444b1ae4d6e2ef4e 444b1ae4d6e2ef4f
  444b1ae4d6e2ef50 3eb0c6f7a0b5ed8c 3eb0c6f7a0b5ed8d 41b3de4355555553 41b3de4355555554 41b3de4355555555
  41b3de4355555556 41b3de4355555557 becbf647612f3696 43143ff3c1cb0959`;
const SIGN = 1n << 63n;
const SMALLEST_NORMAL = 0x0010_0000_0000_0000n;

function bitPatterns(text: string): readonly bigint[] {
  return text.trim().split(/\s+/).map((word) => BigInt(`0x${word}`));
}

/** The companion's stream: its static values, 2,000 in a row, then values from a chain of SHA-256. */
function* numberStream(): Generator<bigint> {
  const magnitudes = bitPatterns(WITH_EITHER_SIGN);
  const statics = [
    ...[0n, SIGN, 1n, SIGN + 1n],
    ...magnitudes.map((bits) => bits + SIGN),
    ...magnitudes,
    ...bitPatterns(EDGES),
  ];
  assert.equal(statics.length, jcs.es6_number_stream.static);
  yield* statics;
  for (let i = 0n; i < 2_000n; i += 1n) yield SMALLEST_NORMAL + i;
  let block = new Uint8Array(32);
  while (true) {
    block = Uint8Array.from(nodeCrypto.sha256(block));
    for (const bits of new BigUint64Array(block.buffer)) {
      const value = doubleOf(bits);
      if (value !== 0 && Number.isFinite(value)) yield bits;
    }
  }
}

Deno.test("canonical JSON reproduces the digests of the companion's number stream at 1,000 and 100,000 lines", () => {
  const stream = createHash("sha256");
  const digests: Record<number, string> = {};
  let lines = 0;
  for (const bits of numberStream()) {
    stream.update(`${bits.toString(16)},${canonicalJson(doubleOf(bits))}\n`);
    lines += 1;
    if (lines === 1_000 || lines === 100_000) digests[lines] = stream.copy().digest("hex");
    if (lines === 100_000) break;
  }
  assert.deepEqual(digests, {
    1000: "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687",
    100000: "22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7",
  });
});

Deno.test("canonical JSON refuses values that JSON does not have, and never drops or converts them", () => {
  const ofTheVectors: Record<string, unknown> = {
    "NaN": NaN,
    "Infinity": Infinity,
    "undefined member": { a: undefined },
    "Date": new Date(0),
    "lone surrogate": "\ud800",
    "bigint": 1n,
  };
  assert.deepEqual(Object.keys(ofTheVectors), jcs.must_reject);
  class Point {
    x = 1;
  }
  const refused: Record<string, unknown> = {
    ...ofTheVectors,
    "-Infinity": -Infinity,
    "undefined": undefined,
    "undefined item": [undefined],
    "array hole": new Array(1),
    "lone low surrogate": "a\udc00",
    "lone surrogate in a key": { "\ud800": 1 },
    "function": () => 1,
    "symbol": Symbol("s"),
    "Map": new Map([["a", 1]]),
    "bytes": Uint8Array.of(1),
    "class instance": new Point(),
    "boxed number": Object(1),
    "null-prototype holding a bigint": Object.assign(Object.create(null), { a: 1n }),
    "toJSON": { toJSON: () => "converted" },
  };
  for (const [name, value] of Object.entries(refused)) {
    assert.throws(() => canonicalJson(value), TypeError, name);
    assert.throws(() => canonicalJson({ deep: [value] }), TypeError, `${name}, inside`);
  }
});

Deno.test("canonical JSON takes 64 levels of nesting and refuses 65", () => {
  const nested = (depth: number): unknown => (depth === 0 ? null : [nested(depth - 1)]);
  assert.equal(canonicalJson(nested(64)), `${"[".repeat(64)}null${"]".repeat(64)}`);
  assert.throws(() => canonicalJson(nested(65)), RangeError);
});

Deno.test("canonical JSON keeps a member named __proto__", () => {
  assert.equal(canonicalJson(JSON.parse(`{"b":1,"__proto__":{"a":2}}`)), `{"__proto__":{"a":2},"b":1}`);
});

// ---- encodings --------------------------------------------------------------------------------------------

Deno.test("hexadecimal is read in lower case and whole bytes only", () => {
  assert.deepEqual(fromHex("00ff"), Uint8Array.of(0, 255));
  for (const text of ["00FF", "0", "0g", " 00", "00\n", "0x00"]) {
    assert.throws(() => fromHex(text), SyntaxError, JSON.stringify(text));
  }
});

Deno.test("base64 is read in the one form of its bytes", () => {
  assert.deepEqual(fromBase64("AAE="), Uint8Array.of(0, 1));
  for (const text of ["AAF=", "AAE", "AAE=\n", "AA E=", "AAE==", "-_8="]) {
    assert.throws(() => fromBase64(text), SyntaxError, JSON.stringify(text));
  }
});

// ---- entries and the chain --------------------------------------------------------------------------------

interface VectorPart {
  readonly name: string;
  readonly salt: string;
  readonly data: unknown;
}
interface VectorEntry {
  readonly entry: Entry;
  readonly leaf_data: string;
  readonly entry_hash: string;
  readonly parts: readonly VectorPart[];
}
const vectorEntries = chain8.entries as readonly unknown[] as readonly VectorEntry[];

/** The draft from which the service would write the vector's entry. */
function draftOf({ entry, parts }: VectorEntry): EntryDraft {
  return {
    id: entry.id,
    actor: entry.actor,
    eventType: entry.event_type,
    orgId: entry.org_id,
    prefix: entry.prefix,
    subject: entry.subject,
    at: Date.parse(entry.timestamp),
    parts: parts.map(({ name, salt, data }) => ({
      name: name as PartName,
      salt: fromHex(salt),
      text: canonicalJson(data),
    })),
  };
}

const vectorDrafts = vectorEntries.map(draftOf);
const SIMPLE_DRAFT: EntryDraft = {
  id: "01TEST00000000000000000000",
  actor: "system",
  eventType: "CHAIN_GENESIS",
  orgId: null,
  prefix: null,
  subject: null,
  at: 1_795_165_200_123,
  parts: [],
};

Deno.test("a chain's first link is the hash of its origin", () => {
  assert.equal(chain8.origin, ORIGIN);
  assert.equal(
    hex(genesisPrevious(nodeCrypto, ORIGIN)),
    "9016ad9380b3c899eefc6c1ef2e0f1a93aa786229a46c4b6c4d9b7bb57011e7e",
  );
  assert.equal(chain8.genesis_prev, "9016ad9380b3c899eefc6c1ef2e0f1a93aa786229a46c4b6c4d9b7bb57011e7e");
});

Deno.test("every entry of chain_8 has the vector's leaf data and hash, and links to the one before", () => {
  assert.equal(vectorEntries.length, 8);
  let previous = chain8.genesis_prev;
  for (const [seq, { entry, leaf_data, entry_hash }] of vectorEntries.entries()) {
    assert.deepEqual(entrySchema.parse(entry), entry);
    assert.equal(canonicalJson(entry), leaf_data, `entry ${seq}`);
    assert.equal(hex(entryHash(nodeCrypto, leaf_data)), entry_hash, `entry ${seq}`);
    assert.equal(entry.prev, previous, `entry ${seq}`);
    assert.equal(merkle.chain_leaf_hashes[seq], entry_hash);
    previous = entry_hash;
  }
  assert.equal(
    vectorEntries[2]!.entry_hash,
    "871672f058f20022d9e1680ee145386157675d530cb49ee058dbc14af5a48923",
  );
});

Deno.test("every part of chain_8 opens the commitment of its entry", () => {
  let parts = 0;
  for (const [seq, { entry }] of vectorEntries.entries()) {
    for (const part of vectorDrafts[seq]!.parts) {
      assert.equal(
        hex(partCommitment(nodeCrypto, part)),
        entry.commit[part.name],
        `entry ${seq} ${part.name}`,
      );
      parts += 1;
    }
  }
  assert.equal(parts, vectorEntries.flatMap(({ entry }) => Object.keys(entry.commit)).length);
});

Deno.test("appending the drafts of chain_8 to an empty chain writes the vector's bytes", () => {
  let head = emptyChain(nodeCrypto, { chain: "org/acme", origin: ORIGIN });
  for (const [seq, draft] of vectorDrafts.entries()) {
    const next = appendEntry(nodeCrypto, head, draft);
    const { entry, leaf_data, entry_hash } = vectorEntries[seq]!;
    assert.deepEqual(next.appended.entry, entry);
    assert.equal(next.appended.text, leaf_data);
    assert.equal(hex(next.appended.hash), entry_hash);
    assert.deepEqual(next.appended.parts, draft.parts);
    assert.deepEqual(next.head.previous, next.appended.hash);
    assert.equal(next.head.lastTimestamp, entry.timestamp);
    assert.equal(hex(rootOf(nodeCrypto, next.head.frontier.peaks)), merkle.chain_roots[seq + 1]!.root_hex);
    head = next.head;
  }
  assert.equal(head.frontier.size, 8);
});

Deno.test("a chain's time never goes back: an entry of an earlier instant gets the last one's", () => {
  const empty = emptyChain(nodeCrypto, { chain: "sys", origin: "jiss.test/dep/sys" });
  const first = appendEntry(nodeCrypto, empty, { ...SIMPLE_DRAFT, at: 1_795_165_200_123 });
  const earlier = appendEntry(nodeCrypto, first.head, { ...SIMPLE_DRAFT, at: 1_795_165_200_122 });
  const later = appendEntry(nodeCrypto, earlier.head, { ...SIMPLE_DRAFT, at: 1_795_165_200_124 });
  assert.equal(first.appended.entry.timestamp, "2026-11-20T09:00:00.123Z");
  assert.equal(earlier.appended.entry.timestamp, "2026-11-20T09:00:00.123Z");
  assert.equal(later.appended.entry.timestamp, "2026-11-20T09:00:00.124Z");
});

Deno.test("an entry of 4,096 bytes is appended and one of 4,097 is refused", () => {
  const empty = emptyChain(nodeCrypto, { chain: "sys", origin: "jiss.test/dep/sys" });
  const bare = appendEntry(nodeCrypto, empty, { ...SIMPLE_DRAFT, eventType: "" }).appended.text.length;
  const sized = (bytes: number) =>
    appendEntry(nodeCrypto, empty, { ...SIMPLE_DRAFT, eventType: "X".repeat(bytes - bare) });
  assert.equal(sized(4_096).appended.text.length, 4_096);
  assert.throws(() => sized(4_097), RangeError);
});

Deno.test("an entry has exactly its twelve keys", () => {
  const { entry } = vectorEntries[2]!;
  assert.equal(Object.keys(entry).length, 12);
  for (const key of Object.keys(entry)) {
    const { [key as keyof Entry]: _, ...rest } = entry;
    assert.equal(entrySchema.safeParse(rest).success, false, `without ${key}`);
  }
  const bad: Record<string, unknown> = {
    more: { ...entry, more: 1 },
    actor: { ...entry, actor: "somebody" },
    commit: { ...entry, commit: { other: entry.prev } },
    prev: { ...entry, prev: entry.prev.toUpperCase() },
    seq: { ...entry, seq: -1 },
    "seq beyond 2^53": { ...entry, seq: 2 ** 53 },
    subject: { ...entry, subject: "op-42" },
    timestamp: { ...entry, timestamp: "2026-11-20T09:00:02Z" },
    v: { ...entry, v: "jis.audit/3" },
  };
  for (const [name, value] of Object.entries(bad)) {
    assert.equal(entrySchema.safeParse(value).success, false, name);
    assert.equal(isEntry(value as Record<string, unknown>), false, name);
  }
});

Deno.test("an entry by a user has the user's id, and only that one", () => {
  const { entry } = vectorEntries[2]!;
  const user_id = "usr_01JZZZZZZZZZZZZZZZZZZZZZZZ";
  const good = { ...entry, v: "jis.audit/2", actor: "user", user_id };
  const rows: readonly (readonly [name: string, value: Record<string, unknown>, isGood: boolean])[] = [
    ["by a user", good, true],
    ["without the user", { ...entry, v: "jis.audit/2", actor: "user" }, false],
    ["another actor", { ...good, actor: "system" }, false],
    ["the earlier version", { ...good, v: "jis.audit/1" }, false],
    ["a user without the id", { ...entry, actor: "user" }, false],
    ["an id of another form", { ...good, user_id: "ada" }, false],
    ["no id", { ...good, user_id: null }, false],
    ["one member more", { ...good, more: 1 }, false],
  ];
  for (const [name, value, isGood] of rows) {
    assert.equal(entrySchema.safeParse(value).success, isGood, name);
    assert.equal(isEntry(value), isGood, name);
  }
});

Deno.test("a model document has one hash, under a prefix of its own", () => {
  // printf 'jis.params/1\n{"a":[],"b":1}' | sha256sum
  assert.equal(
    modelSha256(nodeCrypto, { b: 1, a: [] }),
    "d6940db3bed55fdae2d882dc99f8e3ba428529b7b3c1203ba046a60c13ba2279",
  );
});

// ---- the tree ---------------------------------------------------------------------------------------------

interface Tree {
  readonly frontiers: readonly Frontier[];
  readonly nodes: ReadonlyMap<number, Uint8Array>;
}

/** Appends leaves one by one, keeping every frontier and every node. */
function grow(leaves: readonly Uint8Array[]): Tree {
  const frontiers = [EMPTY_FRONTIER];
  const nodes = new Map<number, Uint8Array>();
  for (const leaf of leaves) {
    const next = appendLeaf(nodeCrypto, frontiers.at(-1)!, leaf);
    frontiers.push(next.frontier);
    for (const { index, hash } of next.nodes) nodes.set(index, hash);
  }
  return { frontiers, nodes };
}

const ctLeaves = merkle.ct_reference_leaves_hex.map((leaf) =>
  nodeCrypto.sha256(Uint8Array.of(0), fromHex(leaf))
);
const chainLeaves = merkle.chain_leaf_hashes.map(fromHex);
const TREES = [
  { name: "the CT reference leaves", leaves: ctLeaves, roots: merkle.ct_roots },
  { name: "chain_8", leaves: chainLeaves, roots: merkle.chain_roots },
];

for (const { name, leaves, roots } of TREES) {
  Deno.test(`the frontier over ${name} has the vector's root at every size`, () => {
    const { frontiers } = grow(leaves);
    for (const { size, root_hex, root_b64 } of roots.slice(1)) {
      const { peaks } = frontiers[size]!;
      assert.equal(frontiers[size]!.size, size);
      assert.equal(hex(rootOf(nodeCrypto, peaks)), root_hex, `size ${size}`);
      assert.deepEqual(fromBase64(root_b64), rootOf(nodeCrypto, peaks), `size ${size}`);
    }
    assert.deepEqual(frontiers.map(({ peaks }) => peaks.length), [0, 1, 1, 2, 1, 2, 2, 3, 1]);
  });

  Deno.test(`over ${name}, every leaf has a proof at every size from stored nodes`, () => {
    const { frontiers, nodes } = grow(leaves);
    for (let size = 1; size <= 8; size += 1) {
      for (let leaf = 0; leaf < size; leaf += 1) {
        const path = inclusionPath(nodeCrypto, { leaf, size }, (index) => nodes.get(index));
        assert.deepEqual(
          rootFromInclusion(nodeCrypto, { leaf, size, leafHash: leaves[leaf]!, path }),
          rootOf(nodeCrypto, frontiers[size]!.peaks),
          `leaf ${leaf} of ${size}`,
        );
      }
    }
  });

  Deno.test(`over ${name}, the newest leaf's proof is the old frontier reversed`, () => {
    const { frontiers, nodes } = grow(leaves);
    for (let size = 1; size <= 8; size += 1) {
      const path = inclusionPath(nodeCrypto, { leaf: size - 1, size }, (index) => nodes.get(index));
      assert.deepEqual(path, [...frontiers[size - 1]!.peaks].reverse(), `size ${size}`);
    }
  });
}

Deno.test("the root of chain_8 is the anchor that other tools computed", () => {
  const { frontiers } = grow(chainLeaves);
  assert.deepEqual(
    rootOf(nodeCrypto, frontiers[8]!.peaks),
    fromBase64("Qlircu+KMdLQrLwjXmoFXHpPFbmNkysaN1Qi/mNRS3c="),
  );
});

Deno.test("the vector's inclusion proofs are made from stored nodes and lead to its roots", () => {
  const { nodes } = grow(chainLeaves);
  assert.equal(merkle.inclusion.length, 2);
  for (const { index: leaf, size, leaf_hash, proof_hex, root_hex } of merkle.inclusion) {
    const path = inclusionPath(nodeCrypto, { leaf, size }, (index) => nodes.get(index));
    assert.deepEqual(path.map(hex), proof_hex);
    const root = rootFromInclusion(nodeCrypto, { leaf, size, leafHash: fromHex(leaf_hash), path });
    assert.equal(hex(root!), root_hex);
  }
});

Deno.test("nodes have the indexes of Go's sumdb", () => {
  assert.deepEqual([0, 1, 2, 3, 4, 5, 6, 7].map((n) => storedNodeIndex(0, n)), [0, 1, 3, 4, 7, 8, 10, 11]);
  assert.deepEqual([0, 1, 2, 3].map((n) => storedNodeIndex(1, n)), [2, 5, 9, 12]);
  assert.deepEqual([0, 1].map((n) => storedNodeIndex(2, n)), [6, 13]);
  assert.equal(storedNodeIndex(3, 0), 14);
  assert.deepEqual(inclusionNodeIndexes(3, 8), [3, 2, 13]);
  assert.deepEqual(inclusionNodeIndexes(0, 7), [1, 5, 9, 10]);
});

Deno.test("a leaf outside the tree has no proof and leads to no root", () => {
  const { nodes } = grow(chainLeaves);
  const read = (index: number) => nodes.get(index);
  for (const [leaf, size] of [[8, 8], [-1, 8], [0, 0], [NaN, 8]] as const) {
    assert.throws(() => inclusionPath(nodeCrypto, { leaf, size }, read), RangeError);
    assert.equal(rootFromInclusion(nodeCrypto, { leaf, size, leafHash: chainLeaves[0]!, path: [] }), null);
  }
  assert.throws(() => inclusionPath(nodeCrypto, { leaf: 0, size: 9 }, read), /tree node 15 is missing/);
});

Deno.test("a path that is too short or too long for its leaf leads to no root", () => {
  const { nodes } = grow(chainLeaves);
  const path = inclusionPath(nodeCrypto, { leaf: 3, size: 8 }, (index) => nodes.get(index));
  const place = { leaf: 3, size: 8, leafHash: chainLeaves[3]! };
  assert.equal(rootFromInclusion(nodeCrypto, { ...place, path: path.slice(1) }), null);
  assert.equal(rootFromInclusion(nodeCrypto, { ...place, path: [...path, path[0]!] }), null);
});

// ---- keys -------------------------------------------------------------------------------------------------

Deno.test("the vectors' keys have the vectors' public keys, ids and verifier keys", () => {
  assert.equal(hex(signer.publicKey), checkpoints.public_key_hex);
  assert.equal(
    hex(signer.publicKey),
    "04c3a4f368d0bbdcd4b4f4d9fe3739a988c85581f5006dc1d4012d26b2e744ce",
  );
  assert.equal(hex(keyId(nodeCrypto, { name: ORIGIN, publicKey: signer.publicKey })), "b388ee46");
  assert.equal(
    formatVerifierKey(nodeCrypto, { name: ORIGIN, publicKey: signer.publicKey }),
    checkpoints.vkey,
  );
  assert.equal(
    formatVerifierKey(nodeCrypto, { name: ORIGIN, publicKey: nextSigner.publicKey }),
    checkpoints.vkey_next,
  );
  assert.deepEqual(trusted, { name: ORIGIN, publicKey: signer.publicKey });
});

Deno.test("a verifier key whose id, type, length or encoding does not fit is refused", () => {
  const [name, id, encoded] = checkpoints.vkey.split("+") as [string, string, string];
  const key = fromBase64(encoded);
  const bad = {
    "another id": `${name}+b388ee47+${encoded}`,
    "another name": `${name}x+${id}+${encoded}`,
    "upper-case id": `${name}+B388EE46+${encoded}`,
    "a time key": checkpoints.time_vkey,
    "another type": `${name}+${id}+${Uint8Array.of(4, ...key.slice(1)).toBase64()}`,
    "no key": `${name}+${id}+AQ==`,
    "a short key": `${name}+${id}+${key.slice(0, 32).toBase64()}`,
    "a long key": `${name}+${id}+${Uint8Array.of(...key, 0).toBase64()}`,
    "no name": `+${id}+${encoded}`,
    "a space in the name": `a b+${id}+${encoded}`,
    "white space after it": `${checkpoints.vkey}\n`,
    "nothing": "",
  };
  for (const [what, text] of Object.entries(bad)) {
    assert.throws(() => parseVerifierKey(nodeCrypto, text), SyntaxError, what);
  }
});

const FIELD_PRIME = 2n ** 255n - 19n;

/** Little-endian y with the sign of x in the last bit, as RFC 8032 writes a point. */
function encodePoint(y: bigint, sign: 0 | 1): Uint8Array {
  const value = y | (BigInt(sign) << 255n);
  return Uint8Array.from({ length: 32 }, (_, index) => Number((value >> BigInt(8 * index)) & 255n));
}

/** y of the eight points of small order: the neutral one, one of order 2, two of 4 and four of 8. */
const SMALL_ORDER_Y = [
  1n,
  FIELD_PRIME - 1n,
  0n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  FIELD_PRIME - 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
];

Deno.test("public keys of small order are refused with either sign", () => {
  for (const y of SMALL_ORDER_Y) {
    for (const sign of [0, 1] as const) {
      const publicKey = encodePoint(y, sign);
      assert.equal(isSoundPublicKey(publicKey), false, hex(publicKey));
      const text = formatVerifierKey(nodeCrypto, { name: ORIGIN, publicKey });
      assert.throws(() => parseVerifierKey(nodeCrypto, text), SyntaxError, hex(publicKey));
    }
  }
});

Deno.test("public keys whose y is not reduced are refused, all nineteen with either sign", () => {
  for (let above = 0n; above < 19n; above += 1n) {
    for (const sign of [0, 1] as const) {
      const publicKey = encodePoint(FIELD_PRIME + above, sign);
      assert.equal(isSoundPublicKey(publicKey), false, hex(publicKey));
      const text = formatVerifierKey(nodeCrypto, { name: ORIGIN, publicKey });
      assert.throws(() => parseVerifierKey(nodeCrypto, text), SyntaxError, hex(publicKey));
    }
  }
});

Deno.test("sound public keys are not refused, up to the last reduced y", () => {
  assert.equal(isSoundPublicKey(signer.publicKey), true);
  assert.equal(isSoundPublicKey(nextSigner.publicKey), true);
  assert.equal(isSoundPublicKey(encodePoint(FIELD_PRIME - 2n, 0)), true);
  assert.equal(isSoundPublicKey(encodePoint(2n ** 255n - 257n, 0)), true);
  assert.equal(isSoundPublicKey(signer.publicKey.slice(1)), false);
  assert.equal(isSoundPublicKey(Uint8Array.of(...signer.publicKey, 0)), false);
});

Deno.test("a signature that is not 64 bytes or a key that is not 32 verifies nothing and throws nothing", () => {
  const message = utf8("message");
  const signature = signer.sign(message);
  assert.equal(signature.length, 64);
  assert.equal(nodeCrypto.verifyEd25519(signer.publicKey, message, signature), true);
  assert.equal(nodeCrypto.verifyEd25519(signer.publicKey, message, signature.slice(1)), false);
  assert.equal(nodeCrypto.verifyEd25519(signer.publicKey.slice(1), message, signature), false);
  assert.equal(nodeCrypto.verifyEd25519(new Uint8Array(32).fill(2), message, signature), false);
});

Deno.test("a signature whose scalar was raised by the group's order is refused", () => {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const signature = signer.sign(utf8("message"));
  const scalar = signature.slice(32).reduceRight((value, byte) => (value << 8n) + BigInt(byte), 0n);
  const raised = scalar + order;
  const malleated = Uint8Array.of(
    ...signature.slice(0, 32),
    ...Array.from({ length: 32 }, (_, index) => Number((raised >> BigInt(8 * index)) & 255n)),
  );
  assert.equal(nodeCrypto.verifyEd25519(signer.publicKey, utf8("message"), malleated), false);
});

Deno.test("a private key that is malformed or not Ed25519 is refused and never shown", () => {
  const p256 = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgvVNFwWlOOsTd/VBu
2tesWZrLqqqT4B67G9/zqNZHY92hRANCAAQOFbcmTbl+15xmzrMLccEwhq+OaQRH
FkWF9VYMQ5DwvAzdhvKkuggpRvL7SHwu7fifA5hsosw1EFsmtPxTLfgV
-----END PRIVATE KEY-----
`;
  assert.throws(() => signerFromPem("SECRET-TEXT"), { message: "is not a private key in PKCS#8 PEM" });
  assert.throws(() => signerFromPem(p256), { message: "is not an Ed25519 key" });
});

// ---- notes and checkpoints --------------------------------------------------------------------------------

const CHECKPOINT_TEXT = `${ORIGIN}\n8\nQlircu+KMdLQrLwjXmoFXHpPFbmNkysaN1Qi/mNRS3c=\n`;

Deno.test("a checkpoint is written and read as C2SP says", () => {
  const root = fromHex("4258ab72ef8a31d2d0acbc235e6a055c7a4f15b98d932b1a375422fe63514b77");
  const checkpoint = { origin: ORIGIN, size: 8, root };
  assert.equal(formatCheckpoint(checkpoint), CHECKPOINT_TEXT);
  assert.deepEqual(parseCheckpoint(CHECKPOINT_TEXT), checkpoint);
});

Deno.test("a text that is not exactly a checkpoint is refused", () => {
  const root = "Qlircu+KMdLQrLwjXmoFXHpPFbmNkysaN1Qi/mNRS3c=";
  const bad = {
    "an extension line": `${CHECKPOINT_TEXT}extension\n`,
    "no last line feed": CHECKPOINT_TEXT.slice(0, -1),
    "one blank line more": `${CHECKPOINT_TEXT}\n`,
    "no origin": `\n8\n${root}\n`,
    "a leading zero": `o\n08\n${root}\n`,
    "a sign": `o\n+8\n${root}\n`,
    "no size": `o\n\n${root}\n`,
    "a size beyond 2^53": `o\n9007199254740992\n${root}\n`,
    "a carriage return": `o\n8\r\n${root}\n`,
    "a root of 31 bytes": `o\n8\n${new Uint8Array(31).toBase64()}\n`,
    "stray bits in the root": `o\n8\n${root.slice(0, -2)}d=\n`,
    "no root": "o\n8\n\n",
  };
  for (const [what, text] of Object.entries(bad)) {
    assert.throws(() => parseCheckpoint(text), SyntaxError, what);
  }
  assert.equal(parseCheckpoint(`o\n9007199254740991\n${root}\n`).size, 9_007_199_254_740_991);
});

Deno.test("signing the vector's checkpoint with its key writes the vector's note, byte for byte", () => {
  const note = signNote(nodeCrypto, { text: CHECKPOINT_TEXT, name: ORIGIN }, [signer]);
  assert.equal(note, checkpoints.checkpoint);
  const parsed = parseNote(note);
  assert.equal(parsed.text, CHECKPOINT_TEXT);
  assert.deepEqual(parsed.signatures.map(({ name, keyId }) => [name, hex(keyId)]), [[ORIGIN, "b388ee46"]]);
  assert.equal(verifyNote(nodeCrypto, parsed, [trusted]), "verified");
});

Deno.test("during a rotation a checkpoint carries both signatures, and either key verifies it", () => {
  const note = signNote(nodeCrypto, { text: CHECKPOINT_TEXT, name: ORIGIN }, [signer, nextSigner]);
  assert.equal(note, checkpoints.checkpoint_during_rotation);
  const parsed = parseNote(note);
  assert.equal(verifyNote(nodeCrypto, parsed, [trusted, trustedNext]), "verified");
  assert.equal(verifyNote(nodeCrypto, parsed, [trusted]), "verified");
  assert.equal(verifyNote(nodeCrypto, parsed, [trustedNext]), "verified");
});

Deno.test("a signature by an unknown key is ignored, whatever its kind", () => {
  const parsed = parseNote(checkpoints.checkpoint_with_time_cosignature);
  assert.equal(parsed.signatures.length, 2);
  assert.equal(verifyNote(nodeCrypto, parsed, [trusted]), "verified");
  assert.equal(verifyNote(nodeCrypto, parsed, [trustedNext]), "untrusted_key");
  assert.equal(verifyNote(nodeCrypto, parsed, []), "untrusted_key");
});

Deno.test("a signature by a known key that fails makes the note bad, before or after a good one", () => {
  const lines = checkpoints.checkpoint_during_rotation.split("\n");
  const [first, second] = lines.slice(4) as [string, string];
  const spoil = (line: string) => {
    const at = line.length - 20;
    return line.slice(0, at) + (line[at] === "A" ? "B" : "A") + line.slice(at + 1);
  };
  const note = (...signatures: string[]) => parseNote(`${CHECKPOINT_TEXT}\n${signatures.join("\n")}\n`);
  const both = [trusted, trustedNext];
  assert.equal(verifyNote(nodeCrypto, note(first, second), both), "verified");
  assert.equal(verifyNote(nodeCrypto, note(first, spoil(second)), both), "bad_signature");
  assert.equal(verifyNote(nodeCrypto, note(spoil(first), second), both), "bad_signature");
  assert.equal(verifyNote(nodeCrypto, note(spoil(second), first), both), "bad_signature");
  assert.equal(verifyNote(nodeCrypto, note(first, spoil(second)), [trusted]), "verified");
});

Deno.test("a known key under another name is an unknown key", () => {
  const other = { name: `${ORIGIN}/admin`, publicKey: signer.publicKey };
  assert.equal(verifyNote(nodeCrypto, parseNote(checkpoints.checkpoint), [other]), "untrusted_key");
});

Deno.test("a note with 32 signatures is read and one with 33 is refused", () => {
  const line = `${EM_DASH} other ${new Uint8Array(68).toBase64()}\n`;
  assert.equal(parseNote(`${checkpoints.checkpoint}${line.repeat(31)}`).signatures.length, 32);
  assert.throws(() => parseNote(`${checkpoints.checkpoint}${line.repeat(32)}`), SyntaxError);
});

Deno.test("a text that is not a signed note is refused", () => {
  const line = checkpoints.checkpoint.split("\n")[4]!;
  const bad = {
    "nothing": "",
    "no signatures": CHECKPOINT_TEXT,
    "no signature lines": `${CHECKPOINT_TEXT}\n`,
    "no last line feed": checkpoints.checkpoint.slice(0, -1),
    "a hyphen for the dash": checkpoints.checkpoint.replace(EM_DASH, "-"),
    "a second space": checkpoints.checkpoint.replace(`${EM_DASH} `, `${EM_DASH}  `),
    "a plus in the name": `${CHECKPOINT_TEXT}\n${line.replace("acme", "ac+me")}\n`,
    "a signature of 4 bytes": `${CHECKPOINT_TEXT}\n${EM_DASH} other AAAAAA==\n`,
    "stray bits in the signature": `${CHECKPOINT_TEXT}\n${EM_DASH} other AAAAAAB=\n`,
    "a line that is not a signature": `${checkpoints.checkpoint}more\n`,
  };
  for (const [what, text] of Object.entries(bad)) {
    assert.throws(() => parseNote(text), SyntaxError, what);
  }
});

// ---- proofs and the envelope ------------------------------------------------------------------------------

Deno.test("the vector's tlog-proof is read, written back, and leads to its signed root", () => {
  const proof = parseProof(checkpoints.tlog_proof_index_3);
  assert.equal(proof.index, 3);
  assert.deepEqual(proof.path.map(hex), merkle.inclusion[0]!.proof_hex);
  assert.equal(proof.note, checkpoints.checkpoint);
  assert.equal(formatProof(proof), checkpoints.tlog_proof_index_3);
  const { size, root } = parseCheckpoint(parseNote(proof.note).text);
  assert.deepEqual(
    rootFromInclusion(nodeCrypto, { leaf: 3, size, leafHash: chainLeaves[3]!, path: proof.path }),
    root,
  );
});

Deno.test("a proof without hashes is read: the tree has one leaf", () => {
  const text = formatProof({ index: 0, path: [], note: checkpoints.checkpoint });
  assert.equal(text, `c2sp.org/tlog-proof@v1\nindex 0\n\n${checkpoints.checkpoint}`);
  assert.deepEqual(parseProof(text), { index: 0, path: [], note: checkpoints.checkpoint });
});

Deno.test("a text that is not a tlog-proof is refused", () => {
  const good = checkpoints.tlog_proof_index_3;
  const hash = good.split("\n")[2]!;
  const bad = {
    "nothing": "",
    "no checkpoint": good.slice(0, good.indexOf("\n\n")),
    "another version": good.replace("@v1", "@v2"),
    "an extra line": good.replace("index", "extra AAAA\nindex"),
    "a leading zero": good.replace("index 3", "index 03"),
    "no index": good.replace("index 3\n", ""),
    "a hash of 31 bytes": good.replace(hash, new Uint8Array(31).toBase64()),
    "stray bits in a hash": good.replace(hash, `${hash.slice(0, -2)}N=`),
    "64 hashes": good.replace(`${hash}\n`, `${hash}\n`.repeat(62)),
  };
  for (const [what, text] of Object.entries(bad)) {
    assert.throws(() => parseProof(text), SyntaxError, what);
  }
});

const response = envelope.response_body as Record<string, unknown> & { readonly evidence: Evidence };

function faultOf(body: Record<string, unknown>, keys: readonly VerifierKey[]): EvidenceFault | null {
  return verifyDocument(nodeCrypto, body, { keysFor: () => keys }).fault;
}

Deno.test("the vector's response verifies offline with the pinned key", () => {
  assert.equal(faultOf(response, [trusted]), null);
  assert.equal(faultOf(response, [trustedNext, trusted]), null);
});

Deno.test("evidence made from chain_8 is the vector's, byte for byte", () => {
  let head: ChainHead = emptyChain(nodeCrypto, { chain: "org/acme", origin: ORIGIN });
  const nodes = new Map<number, Uint8Array>();
  let newest!: ReturnType<typeof appendEntry>["appended"];
  for (const draft of vectorDrafts.slice(0, 7)) {
    const next = appendEntry(nodeCrypto, head, draft);
    for (const { index, hash } of next.appended.nodes) nodes.set(index, hash);
    head = next.head;
    newest = next.appended;
  }
  const text = formatCheckpoint({
    origin: ORIGIN,
    size: 7,
    root: rootOf(nodeCrypto, head.frontier.peaks),
  });
  const note = signNote(nodeCrypto, { text, name: ORIGIN }, [signer]);
  const path = inclusionPath(nodeCrypto, { leaf: 6, size: 7 }, (index) => nodes.get(index));
  const proof = { index: 6, path, note };
  const evidence = evidenceOfAppended(newest, { covers: "result", proof });
  assert.deepEqual(evidence, response.evidence);
  const part = newest.parts.find(({ name }) => name === "result")!;
  assert.deepEqual(evidenceOf({ entry: newest.entry, hash: newest.hash, part, proof }), response.evidence);
});

Deno.test("the result is the body without evidence, request_id, timestamp, event and delivery_id", () => {
  assert.deepEqual(resultPart({ ...response, event: "score.computed", delivery_id: "01D" }), {
    displayed_jis: 76,
    jis_e4: 761234,
    mode: "standard",
  });
});

Deno.test("members outside of the result may differ: a webhook has the same evidence", () => {
  const { request_id: _, ...rest } = response;
  const body = { ...rest, event: "score.computed", delivery_id: "01D", timestamp: "later" };
  assert.equal(faultOf(body, [trusted]), null);
});

/** The vector's response with its evidence changed. */
function withEvidence(change: (evidence: Record<string, unknown>) => unknown): Record<string, unknown> {
  return { ...response, evidence: change(structuredClone(response.evidence)) };
}

const { evidence: sound } = response;
const FAULTS: readonly (readonly [what: string, body: Record<string, unknown>, fault: string])[] = [
  ["no evidence", resultPart(response), "MALFORMED"],
  ["evidence of another version", withEvidence((e) => ({ ...e, v: "jis.evidence/2" })), "MALFORMED"],
  ["evidence over another part", withEvidence((e) => ({ ...e, covers: "input" })), "MALFORMED"],
  ["an unknown member", withEvidence((e) => ({ ...e, more: 1 })), "MALFORMED"],
  ["an upper-case salt", withEvidence((e) => ({ ...e, salt: sound.salt.toUpperCase() })), "MALFORMED"],
  ["a proof that is not one", withEvidence((e) => ({ ...e, proof: "proof" })), "MALFORMED"],
  ["another score", { ...response, displayed_jis: 77 }, "RESULT_MISMATCH"],
  ["one member more", { ...response, more: null }, "RESULT_MISMATCH"],
  ["one member less", { ...response, mode: undefined }, "RESULT_MISMATCH"],
  ["another salt", withEvidence((e) => ({ ...e, salt: "0".repeat(64) })), "RESULT_MISMATCH"],
  ["another commitment", withEvidence((e) => ({ ...e, sha256: "0".repeat(64) })), "RESULT_MISMATCH"],
  [
    "another subject",
    withEvidence((e) => ({ ...e, entry: { ...sound.entry, subject: "0".repeat(32) } })),
    "ENTRY_HASH_MISMATCH",
  ],
  ["another entry hash", withEvidence((e) => ({ ...e, entry_hash: "0".repeat(64) })), "ENTRY_HASH_MISMATCH"],
  [
    "another index",
    withEvidence((e) => ({ ...e, proof: sound.proof.replace("index 6", "index 5") })),
    "INCLUSION_FAILED",
  ],
  [
    "another size",
    withEvidence((e) => ({ ...e, proof: sound.proof.replace("\n7\n", "\n8\n") })),
    "INCLUSION_FAILED",
  ],
  [
    "another root",
    withEvidence((e) => ({ ...e, proof: sound.proof.replace("bQNyekqV", "bQNyekqW") })),
    "INCLUSION_FAILED",
  ],
  [
    "another path",
    withEvidence((e) => ({ ...e, proof: sound.proof.replace("It38rV9h", "It38rV9i") })),
    "INCLUSION_FAILED",
  ],
  [
    "a signature that fails",
    withEvidence((e) => ({ ...e, proof: sound.proof.replace("s4juRhrx", "s4juRhry") })),
    "BAD_SIGNATURE",
  ],
  [
    "a signature by an unknown key",
    withEvidence((e) => ({
      ...e,
      proof: sound.proof.replace(`${EM_DASH} ${ORIGIN} s4ju`, `${EM_DASH} ${ORIGIN} s4jv`),
    })),
    "UNTRUSTED_KEY",
  ],
];

for (const [what, body, fault] of FAULTS) {
  Deno.test(`a response with ${what} is ${fault}`, () => {
    const sent = JSON.parse(JSON.stringify(body));
    assert.equal(faultOf(sent, [trusted]), fault);
  });
}

Deno.test("a response whose key is not pinned is UNTRUSTED_KEY", () => {
  assert.equal(faultOf(response, []), "UNTRUSTED_KEY");
  assert.equal(faultOf(response, [trustedNext]), "UNTRUSTED_KEY");
});

Deno.test("a checkpoint of another chain, signed by the same key, is WRONG_ORIGIN", () => {
  const { path, index } = parseProof(sound.proof);
  const { size, root } = parseCheckpoint(parseNote(parseProof(sound.proof).note).text);
  const other = "jis.example.internal/dep-7f3a/org/other";
  const note = signNote(
    nodeCrypto,
    { text: formatCheckpoint({ origin: other, size, root }), name: other },
    [signer],
  );
  const body = withEvidence((e) => ({ ...e, proof: formatProof({ index, path, note }) }));
  const pinned = [trusted, { name: other, publicKey: signer.publicKey }];
  assert.equal(faultOf(body, pinned), "WRONG_ORIGIN");
});

Deno.test("another result with its own commitment is RESULT_MISMATCH: the entry committed to the first", () => {
  const result = { ...resultPart(response), displayed_jis: 99 };
  const part = { name: "result", salt: fromHex(sound.salt), text: canonicalJson(result) } as const;
  const sha256 = hex(partCommitment(nodeCrypto, part));
  const body = { ...withEvidence((e) => ({ ...e, sha256 })), displayed_jis: 99 };
  assert.equal(faultOf(body, [trusted]), "RESULT_MISMATCH");
});

Deno.test("an entry at another position than it states is INCLUSION_FAILED, signed or not", () => {
  const head = emptyChain(nodeCrypto, { chain: "org/acme", origin: ORIGIN });
  const { appended } = appendEntry(nodeCrypto, head, vectorDrafts[6]!);
  const { frontiers } = grow([chainLeaves[0]!, appended.hash]);
  const root = rootOf(nodeCrypto, frontiers[2]!.peaks);
  const text = formatCheckpoint({ origin: ORIGIN, size: 2, root });
  const note = signNote(nodeCrypto, { text, name: ORIGIN }, [signer]);
  const evidence = evidenceOfAppended(appended, {
    covers: "result",
    proof: { index: 1, path: [chainLeaves[0]!], note },
  });
  assert.equal(evidence.entry.seq, 0);
  assert.equal(faultOf({ ...response, evidence }, [trusted]), "INCLUSION_FAILED");
});

Deno.test("a checkpoint of another log, signed by a key that is pinned under a third name, is WRONG_ORIGIN", () => {
  const { path, index } = parseProof(sound.proof);
  const { size, root } = parseCheckpoint(parseNote(parseProof(sound.proof).note).text);
  const stranger = "other.example/dep-1/org/acme";
  const note = signNote(
    nodeCrypto,
    { text: formatCheckpoint({ origin: ORIGIN, size, root }), name: stranger },
    [nextSigner],
  );
  const body = withEvidence((e) => ({ ...e, proof: formatProof({ index, path, note }) }));
  const pinned = [trusted, { name: stranger, publicKey: nextSigner.publicKey }];
  assert.equal(faultOf(body, pinned), "WRONG_ORIGIN");
});

Deno.test("a response that canonical JSON cannot express is MALFORMED, never an exception", () => {
  const text = JSON.stringify(response);
  const bad = {
    "a lone surrogate": text.replace('"mode":"standard"', '"mode":"\\ud800"'),
    "an infinite number": text.replace("761234", "1e999"),
    "a deep nesting": text.replace("761234", "[".repeat(70) + "]".repeat(70)),
    "a lone surrogate in the entry": text.replace('"id":"', '"id":"\\ud800'),
  };
  for (const [what, changed] of Object.entries(bad)) {
    assert.notEqual(changed, text, what);
    assert.equal(faultOf(JSON.parse(changed), [trusted]), "MALFORMED", what);
  }
});

Deno.test("a member named __proto__ anywhere in a response is refused", () => {
  const text = JSON.stringify(response);
  for (const member of ['{"displayed_jis"', '"v":"jis.evidence/1"', '"actor"', '"input":"0b']) {
    const proto = '"__proto__":{"x":1},';
    const changed = member.startsWith("{")
      ? text.replace(member, `{${proto}${member.slice(1)}`)
      : text.replace(member, proto + member);
    assert.notEqual(changed, text, member);
    assert.notEqual(faultOf(JSON.parse(changed), [trusted]), null, member);
  }
});
