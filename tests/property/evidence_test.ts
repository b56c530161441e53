/**
 * The laws of evidence: one value has one text; proofs from stored nodes equal RFC 6962's definition; and
 * verification accepts what signing made, and nothing that differs from it anywhere.
 */
import assert from "node:assert/strict";
import { generateKeyPairSync, hash, randomBytes } from "node:crypto";
import fc from "fast-check";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { concat, equalBytes, hex, utf8 } from "../../src/evidence/crypto.ts";
import { verifyDocument } from "../../src/evidence/document.ts";
import { type AppendedEntry, appendEntry, type ChainHead, emptyChain } from "../../src/evidence/entry.ts";
import { type Evidence, evidenceOfAppended } from "../../src/evidence/envelope.ts";
import {
  appendLeaf,
  EMPTY_FRONTIER,
  type Frontier,
  inclusionNodeIndexes,
  inclusionPath,
  nodesBesideLeaves,
  peakNodes,
  rootFromInclusion,
  rootFromLeaves,
  rootOf,
  storedNodeIndex,
} from "../../src/evidence/merkle.ts";
import { nodeCrypto, signerFromPem } from "../../src/evidence/node_crypto.ts";
import { formatCheckpoint, signNote, type VerifierKey } from "../../src/evidence/note.ts";

const SEED = 20_261_120;

// ---- canonical JSON ---------------------------------------------------------------------------------------

const jsonValue = fc.jsonValue({ maxDepth: 5, stringUnit: "binary" });

/** The same value with the members of every object in another order of insertion. */
function reordered(value: unknown, order: (a: string, b: string) => number): unknown {
  if (Array.isArray(value)) return value.map((item) => reordered(item, order));
  if (value === null || typeof value !== "object") return value;
  const members = Object.entries(value).sort(([a], [b]) => order(a, b));
  return Object.fromEntries(members.map(([key, member]) => [key, reordered(member, order)]));
}

const byDigest = (salt: number) => (a: string, b: string) =>
  hash("sha256", `${salt}/${a}`) < hash("sha256", `${salt}/${b}`) ? -1 : 1;

Deno.test("canonical JSON of a parsed canonical text is that text, and holds the value", () => {
  fc.assert(
    fc.property(jsonValue, (value) => {
      const text = canonicalJson(value);
      assert.equal(canonicalJson(JSON.parse(text)), text);
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
    }),
    { seed: SEED, numRuns: 1_000 },
  );
});

Deno.test("canonical JSON does not depend on the order in which members were set", () => {
  fc.assert(
    fc.property(jsonValue, fc.nat(), (value, salt) => {
      assert.equal(canonicalJson(reordered(value, byDigest(salt))), canonicalJson(value));
    }),
    { seed: SEED, numRuns: 1_000 },
  );
});

Deno.test("two different JSON values have different canonical texts", () => {
  fc.assert(
    fc.property(jsonValue, jsonValue, (a, b) => {
      const same = JSON.stringify(reordered(a, byDigest(0))) === JSON.stringify(reordered(b, byDigest(0)));
      assert.equal(canonicalJson(a) === canonicalJson(b), same);
    }),
    { seed: SEED, numRuns: 1_000 },
  );
});

// ---- the tree ---------------------------------------------------------------------------------------------

function sha256(...chunks: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(hash("sha256", concat(...chunks), "buffer"));
}

/** RFC 6962, section 2.1, as it is written there, remembering what it computed. */
class NaiveTree {
  readonly #known = new Map<string, Uint8Array>();

  constructor(readonly leaves: readonly Uint8Array[]) {}

  root(low: number, high: number): Uint8Array {
    if (high - low === 1) return this.leaves[low]!;
    const name = `${low}-${high}`;
    let value = this.#known.get(name);
    if (value === undefined) {
      const k = splitOf(high - low);
      value = sha256(Uint8Array.of(1), this.root(low, low + k), this.root(low + k, high));
      this.#known.set(name, value);
    }
    return value;
  }

  /** PATH(m, D[low:high]) of section 2.1.1, m counted from `low`. */
  path(m: number, low: number, high: number): readonly Uint8Array[] {
    if (high - low === 1) return [];
    const k = splitOf(high - low);
    return m < k
      ? [...this.path(m, low, low + k), this.root(low + k, high)]
      : [...this.path(m - k, low + k, high), this.root(low, low + k)];
  }
}

/** The largest power of two below n. */
function splitOf(n: number): number {
  return 2 ** (Math.ceil(Math.log2(n)) - 1);
}

const LARGEST = 300;
const leaves = Array.from({ length: LARGEST }, (_, index) => sha256(utf8(`leaf ${index}`)));
const naive = new NaiveTree(leaves);
const frontiers: Frontier[] = [EMPTY_FRONTIER];
const stored: Uint8Array[] = [];
for (const leaf of leaves) {
  const next = appendLeaf(nodeCrypto, frontiers.at(-1)!, leaf);
  frontiers.push(next.frontier);
  for (const { index, hash } of next.nodes) {
    assert.equal(index, stored.length, "nodes are written one after another");
    stored.push(hash);
  }
}

function assertProof(leaf: number, size: number): void {
  const wanted = new Set(inclusionNodeIndexes(leaf, size));
  const path = inclusionPath(nodeCrypto, { leaf, size }, (index) => {
    assert.ok(wanted.has(index), `leaf ${leaf} of ${size}: node ${index} was not named beforehand`);
    return stored[index];
  });
  assert.deepEqual(path, naive.path(leaf, 0, size), `leaf ${leaf} of ${size}`);
  const root = rootFromInclusion(nodeCrypto, { leaf, size, leafHash: leaves[leaf]!, path });
  assert.deepEqual(root, naive.root(0, size), `leaf ${leaf} of ${size}`);
}

Deno.test("the frontier's root is RFC 6962's at every size to 300", () => {
  for (let size = 1; size <= LARGEST; size += 1) {
    assert.deepEqual(rootOf(nodeCrypto, frontiers[size]!.peaks), naive.root(0, size), `size ${size}`);
  }
});

Deno.test("stored-node inclusion proofs are RFC 6962's for every leaf of every size to 130", () => {
  for (let size = 1; size <= 130; size += 1) {
    for (let leaf = 0; leaf < size; leaf += 1) assertProof(leaf, size);
  }
});

const place = fc.integer({ min: 1, max: LARGEST }).chain((size) =>
  fc.record({ size: fc.constant(size), leaf: fc.nat({ max: size - 1 }) })
);

Deno.test("stored-node inclusion proofs are RFC 6962's for random leaves of random sizes to 300", () => {
  fc.assert(
    fc.property(place, ({ leaf, size }) => assertProof(leaf, size)),
    { seed: SEED, numRuns: 500 },
  );
});

const someLeaves = fc.integer({ min: 1, max: LARGEST }).chain((size) =>
  fc.record({
    size: fc.constant(size),
    known: fc.uniqueArray(fc.nat({ max: size - 1 }), { maxLength: 40 })
      .map((found) => found.toSorted((one, other) => one - other)),
  })
);

Deno.test("some leaves and the stored nodes beside them give RFC 6962's root, and a wrong leaf hash does not", () => {
  fc.assert(
    fc.property(someLeaves, fc.nat(), ({ size, known }, which) => {
      const named = nodesBesideLeaves(known, size);
      const read = new Set<number>();
      const rootWith = (hashOf: (leaf: number) => Uint8Array) =>
        rootFromLeaves(
          nodeCrypto,
          { size, leaves: known.map((leaf) => [leaf, hashOf(leaf)]) },
          (index) => {
            read.add(index);
            return stored[index];
          },
        );
      assert.deepEqual(rootWith((leaf) => leaves[leaf]!), naive.root(0, size));
      assert.deepEqual(named.toSorted(), [...read].toSorted(), "every node that is read was named, once");
      for (const leaf of known) assert.ok(!read.has(storedNodeIndex(0, leaf)), "no known leaf is read");
      if (known.length === 0) return;
      const changed = known[which % known.length]!;
      const other = rootWith((leaf) => leaf === changed ? sha256(utf8("another")) : leaves[leaf]!);
      assert.notDeepEqual(other, naive.root(0, size));
    }),
    { seed: SEED, numRuns: 500 },
  );
});

Deno.test("known leaves that are out of order or outside the tree are refused", () => {
  const root = (size: number, known: readonly number[]) => () =>
    rootFromLeaves(
      nodeCrypto,
      { size, leaves: known.map((leaf) => [leaf, leaves[leaf] ?? leaves[0]!]) },
      (index) => stored[index],
    );
  for (const [size, known] of [[0, []], [5, [5]], [5, [-1]], [5, [2, 1]], [5, [2, 2]]] as const) {
    assert.throws(root(size, known), RangeError, `${known} of ${size}`);
  }
  root(5, [0, 4])();
});

Deno.test("a frontier of any size holds the roots of its complete subtrees, at their stored places", () => {
  for (const frontier of frontiers) {
    for (const { index, hash } of peakNodes(frontier)) assert.equal(stored[index], hash);
    assert.equal(frontier.peaks.length, frontier.size.toString(2).replaceAll("0", "").length);
  }
});

Deno.test("the old frontier and the new nodes are enough to prove every entry of a commit", () => {
  fc.assert(
    fc.property(fc.nat({ max: 150 }), fc.integer({ min: 1, max: 150 }), (old, added) => {
      const size = old + added;
      const known = new Map(peakNodes(frontiers[old]!).map(({ index, hash }) => [index, hash]));
      for (let leaf = old; leaf < size; leaf += 1) {
        const { nodes } = appendLeaf(nodeCrypto, frontiers[leaf]!, leaves[leaf]!);
        for (const { index, hash } of nodes) known.set(index, hash);
      }
      for (let leaf = old; leaf < size; leaf += 1) {
        const path = inclusionPath(nodeCrypto, { leaf, size }, (index) => known.get(index));
        assert.deepEqual(path, naive.path(leaf, 0, size));
      }
    }),
    { seed: SEED, numRuns: 100 },
  );
});

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = bytes.slice();
  copy[(bit >> 3) % copy.length]! ^= 1 << (bit & 7);
  return copy;
}

Deno.test("a flipped bit anywhere in the leaf or in a proof hash leads to another root", () => {
  fc.assert(
    fc.property(place, fc.nat({ max: 255 }), ({ leaf, size }, bit) => {
      const path = naive.path(leaf, 0, size);
      const root = naive.root(0, size);
      const leadsTo = (leafHash: Uint8Array, hashes: readonly Uint8Array[]) =>
        rootFromInclusion(nodeCrypto, { leaf, size, leafHash, path: hashes })!;
      assert.ok(equalBytes(leadsTo(leaves[leaf]!, path), root));
      assert.ok(!equalBytes(leadsTo(flipped(leaves[leaf]!, bit), path), root));
      for (const [at, sibling] of path.entries()) {
        assert.ok(!equalBytes(leadsTo(leaves[leaf]!, path.with(at, flipped(sibling, bit))), root));
      }
    }),
    { seed: SEED, numRuns: 300 },
  );
});

Deno.test("a proof holds for no other index of its tree", () => {
  fc.assert(
    fc.property(place, ({ leaf, size }) => {
      const path = naive.path(leaf, 0, size);
      for (let other = 0; other < size; other += 1) {
        if (other === leaf) continue;
        const root = rootFromInclusion(nodeCrypto, { leaf: other, size, leafHash: leaves[leaf]!, path });
        assert.ok(root === null || !equalBytes(root, naive.root(0, size)), `${leaf} as ${other} of ${size}`);
      }
    }),
    { seed: SEED, numRuns: 200 },
  );
});

Deno.test("a proof of one tree does not hold against the root of a tree of another size", () => {
  fc.assert(
    fc.property(place, fc.integer({ min: 1, max: LARGEST }), ({ leaf, size }, other) => {
      fc.pre(other !== size);
      const path = naive.path(leaf, 0, size);
      const root = rootFromInclusion(nodeCrypto, { leaf, size: other, leafHash: leaves[leaf]!, path });
      assert.ok(root === null || !equalBytes(root, naive.root(0, other)), `${leaf} of ${size} in ${other}`);
    }),
    { seed: SEED, numRuns: 1_000 },
  );
});

// ---- a signed response ------------------------------------------------------------------------------------

interface SignedResponse {
  readonly body: Record<string, unknown> & { readonly evidence: Evidence };
  readonly keys: readonly VerifierKey[];
}

/** A response signed with a fresh key: entry `index` of a chain of `size` entries. */
function signedResponse({ index, size }: { readonly index: number; readonly size: number }): SignedResponse {
  const origin = "jiss.test/01DEPLOYMENT/org/acme";
  const { privateKey } = generateKeyPairSync("ed25519");
  const signer = signerFromPem(privateKey.export({ format: "pem", type: "pkcs8" }).toString());
  const result = {
    jis: 76.25,
    skipped: false,
    reason: null,
    dimensions: { d1: 80, d2: 71 },
    path: ["a", "b"],
  };
  const nodes = new Map<number, Uint8Array>();
  const appended: AppendedEntry[] = [];
  let head: ChainHead = emptyChain(nodeCrypto, { chain: "org/acme", origin });
  for (let seq = 0; seq < size; seq += 1) {
    const next = appendEntry(nodeCrypto, head, {
      id: `01TEST${String(seq).padStart(20, "0")}`,
      actor: "api",
      eventType: "SCORE_COMPUTED",
      orgId: "acme",
      prefix: "jis_ABCD",
      subject: "0123456789abcdef0123456789abcdef",
      at: 1_795_165_200_000 + seq,
      parts: [
        { name: "input", salt: new Uint8Array(randomBytes(32)), text: canonicalJson({ seq }) },
        { name: "result", salt: new Uint8Array(randomBytes(32)), text: canonicalJson(result) },
      ],
    });
    head = next.head;
    appended.push(next.appended);
    for (const node of next.appended.nodes) nodes.set(node.index, node.hash);
  }
  const text = formatCheckpoint({ origin, size, root: rootOf(nodeCrypto, head.frontier.peaks) });
  const note = signNote(nodeCrypto, { text, name: origin }, [signer]);
  const path = inclusionPath(nodeCrypto, { leaf: index, size }, (at) => nodes.get(at));
  const evidence = evidenceOfAppended(appended[index]!, { covers: "result", proof: { index, path, note } });
  return {
    body: { ...result, request_id: "01REQUEST", timestamp: "2026-11-20T09:00:00.000Z", evidence },
    keys: [{ name: origin, publicKey: signer.publicKey }],
  };
}

/** The verdict on a body as it would arrive: through JSON. */
function verdictOf({ keys }: SignedResponse, body: unknown): string | null {
  return verifyDocument(nodeCrypto, JSON.parse(JSON.stringify(body)), { keysFor: () => keys }).fault;
}

function withProof({ body }: SignedResponse, proof: string): unknown {
  return { ...body, evidence: { ...body.evidence, proof } };
}

Deno.test("verification accepts what signing made: every entry of chains of 1 to 20", () => {
  for (let size = 1; size <= 20; size += 1) {
    for (let index = 0; index < size; index += 1) {
      const response = signedResponse({ index, size });
      assert.equal(verdictOf(response, response.body), null, `entry ${index} of ${size}`);
    }
  }
});

const sample = signedResponse({ index: 4, size: 11 });
const proofBytes = utf8(sample.body.evidence.proof);

Deno.test("a proof text with a flipped bit at any byte is refused", () => {
  for (let at = 0; at < proofBytes.length; at += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const changed = flipped(proofBytes, at * 8 + bit);
      let text: string;
      try {
        text = new TextDecoder().decode(changed);
      } catch {
        continue; // not UTF-8: no JSON text can contain it
      }
      assert.notEqual(verdictOf(sample, withProof(sample, text)), null, `byte ${at}, bit ${bit}`);
    }
  }
});

Deno.test("a proof text with a byte less or more anywhere is refused", () => {
  const text = sample.body.evidence.proof;
  for (let at = 0; at <= text.length; at += 1) {
    const changed = [
      text.slice(0, at) + text.slice(at + 1),
      ...["\n", " ", "A", "0"].map((more) => text.slice(0, at) + more + text.slice(at)),
    ].filter((candidate) => candidate !== text);
    for (const candidate of changed) {
      assert.notEqual(verdictOf(sample, withProof(sample, candidate)), null, `character ${at}`);
    }
  }
});

Deno.test("a proof text with two lines exchanged is refused", () => {
  const lines = sample.body.evidence.proof.split("\n");
  for (let a = 0; a < lines.length; a += 1) {
    for (let b = a + 1; b < lines.length; b += 1) {
      if (lines[a] === lines[b]) continue;
      const swapped = lines.with(a, lines[b]!).with(b, lines[a]!).join("\n");
      assert.notEqual(verdictOf(sample, withProof(sample, swapped)), null, `lines ${a} and ${b}`);
    }
  }
});

const OUTSIDE = ["request_id", "timestamp"];

/** Every value that differs from this one in one place: one member changed, removed or added. */
function* changesOf(value: unknown, where: string): Generator<readonly [where: string, changed: unknown]> {
  if (Array.isArray(value)) {
    yield [`${where}[+]`, [...value, null]];
    yield [`${where} reversed`, value.toReversed()];
    for (const [index, item] of value.entries()) {
      yield [`${where}[-${index}]`, value.toSpliced(index, 1)];
      for (const [place, changed] of changesOf(item, `${where}[${index}]`)) {
        yield [place, value.with(index, changed)];
      }
    }
  } else if (value !== null && typeof value === "object") {
    yield [`${where}.+`, { ...value, more: null }];
    for (const [key, member] of Object.entries(value)) {
      if (OUTSIDE.includes(key) && where === "") continue;
      const { [key as keyof typeof value]: _, ...rest } = value;
      yield [`${where}.${key} removed`, rest];
      for (const [place, changed] of changesOf(member, `${where}.${key}`)) {
        yield [place, { ...value, [key]: changed }];
      }
    }
    yield [`${where} as null`, null];
  } else {
    for (const other of scalarsUnlike(value)) yield [`${where} as ${JSON.stringify(other)}`, other];
  }
}

function* scalarsUnlike(value: unknown): Generator<unknown> {
  if (typeof value === "string") {
    for (let at = 0; at < value.length; at += 1) {
      const code = value.charCodeAt(at);
      for (const bit of [1, 2, 4, 8, 16, 32]) {
        yield value.slice(0, at) + String.fromCharCode(code ^ bit) + value.slice(at + 1);
      }
    }
    yield* [`${value} `, value.slice(1), null];
    if (value.toUpperCase() !== value) yield value.toUpperCase();
  } else if (typeof value === "number") {
    yield* [value + 1, -value - 1, value + 0.5, String(value), null];
  } else if (typeof value === "boolean") {
    yield* [!value, String(value), null];
  } else {
    yield* [0, "", false, "null"];
  }
}

Deno.test("a signed response with a single value changed is refused", () => {
  let changes = 0;
  const { evidence: { proof, ...evidence }, ...rest } = sample.body;
  // The proof text has tests of its own, byte by byte.
  for (const [where, changed] of changesOf({ ...rest, evidence }, "")) {
    const body = changed as { readonly evidence?: unknown } | null;
    if (body === null) continue;
    const restored = typeof body.evidence === "object" && body.evidence !== null
      ? { ...body, evidence: { ...body.evidence, proof } }
      : body;
    assert.notEqual(verdictOf(sample, restored), null, where);
    changes += 1;
  }
  assert.ok(changes > 3_000, `${changes} changes were tried`);
});

Deno.test("members outside the result, and the order of members, may change", () => {
  const { request_id: _id, timestamp: _timestamp, ...rest } = sample.body;
  assert.equal(verdictOf(sample, rest), null);
  assert.equal(verdictOf(sample, { ...rest, event: "score.computed", delivery_id: "01DELIVERY" }), null);
  assert.equal(verdictOf(sample, reordered(sample.body, byDigest(1))), null);
});

Deno.test("evidence of one response does not prove another one", () => {
  const other = signedResponse({ index: 5, size: 11 });
  assert.notEqual(verdictOf(sample, { ...sample.body, evidence: other.body.evidence }), null);
  assert.equal(
    verifyDocument(nodeCrypto, other.body, { keysFor: () => [...other.keys, ...sample.keys] }).fault,
    null,
    "it proves its own, whichever other keys are trusted",
  );
});

Deno.test("hexadecimal and UTF-8 are read back as they were written", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.string({ unit: "binary" }), (bytes, text) => {
      assert.deepEqual(Uint8Array.fromHex(hex(bytes)), bytes);
      assert.equal(new TextDecoder().decode(utf8(text)), text);
    }),
    { seed: SEED, numRuns: 200 },
  );
});
