/**
 * The laws of an auditor's trust and memory: trust depends on the pins and the certificates, not on their
 * order; a memory only grows, whatever it is given and in whatever order.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { concat, fromHex, type Signer, utf8 } from "../../src/evidence/crypto.ts";
import {
  checkpointsIn,
  emptyMemory,
  type KnownCheckpoint,
  recallCheckpoints,
  remember,
} from "../../src/evidence/kept.ts";
import { nodeCrypto, signerFromPem } from "../../src/evidence/node_crypto.ts";
import { formatCheckpoint, signNote } from "../../src/evidence/note.ts";
import { formatRotationCertificate } from "../../src/evidence/rotation.ts";
import { TrustedKeys } from "../../src/evidence/trust.ts";

const SEED = 20_261_122;
const PREFIX = "jiss.test/01DEPLOYMENT/";

const signers = Array.from({ length: 6 }, (_, index): Signer => {
  const seed = nodeCrypto.sha256(utf8(`throw-away ${index}`));
  const der = concat(fromHex("302e020100300506032b657004220420"), seed);
  return signerFromPem(`-----BEGIN PRIVATE KEY-----\n${der.toBase64()}\n-----END PRIVATE KEY-----\n`);
});

const certificates = signers.flatMap((old, a) =>
  signers.slice(a + 1).map((next, offset) => ({
    joins: [a, a + 1 + offset] as const,
    note: formatRotationCertificate(nodeCrypto, {
      prefix: PREFIX,
      ordinal: 2,
      from: "2026-11-20T00:00:00.000Z",
      reason: "scheduled",
      old,
      new: next,
    }),
  }))
);

/**
 * Along certificates from the pins and, from the keys so reached, back; never from a key reached backwards to
 * another.
 */
function reached(
  pins: readonly number[],
  edges: readonly (readonly [number, number])[],
): ReadonlySet<number> {
  const onwards = new Set(pins);
  for (const _ of signers) {
    for (const [old, next] of edges) if (onwards.has(old)) onwards.add(next);
  }
  const found = new Set(onwards);
  for (const _ of signers) {
    for (const [old, next] of edges) if (found.has(next)) found.add(old);
  }
  return found;
}

Deno.test("trusted are the pins, the keys that certificates lead to from them, and the predecessors of these, in any order", () => {
  const pinned = fc.uniqueArray(fc.nat({ max: signers.length - 1 }), { maxLength: 2 });
  const admitted = fc.shuffledSubarray(certificates, { maxLength: 6 });
  fc.assert(
    fc.property(pinned, admitted, (pins, notes) => {
      const keys = new TrustedKeys(nodeCrypto, {
        prefix: PREFIX,
        pins: pins.map((index) => ({
          publicKey: signers[index]!.publicKey,
          prefix: null,
          from: null,
          until: null,
        })),
      });
      for (const { note } of notes) keys.admit(note);
      const expected = reached(pins, notes.map(({ joins }) => joins));
      for (const [index, { publicKey }] of signers.entries()) {
        assert.equal(keys.has(publicKey), expected.has(index), `key ${index}`);
      }
      assert.equal(keys.verifierKeys(`${PREFIX}sys`).length, expected.size);
    }),
    { seed: SEED, numRuns: 200 },
  );
});

const checkpoint = fc.record({
  origin: fc.constantFrom(`${PREFIX}sys`, `${PREFIX}org/acme`, `${PREFIX}org/acme/e2`),
  size: fc.integer({ min: 1, max: 12 }),
  fill: fc.constantFrom(1, 2),
}).map(({ origin, size, fill }): KnownCheckpoint => {
  const root = new Uint8Array(32).fill(fill);
  const text = formatCheckpoint({ origin, size, root });
  return { origin, size, root, note: signNote(nodeCrypto, { text, name: origin }, [signers[0]!]) };
});
const visits = fc.array(fc.array(checkpoint, { maxLength: 6 }), { maxLength: 5 });

const identityOf = ({ origin, size, root }: KnownCheckpoint) => `${origin} ${size} ${root[0]}`;

Deno.test("a memory holds every checkpoint that it was given, once, by origin and in order of size", () => {
  fc.assert(
    fc.property(visits, (given) => {
      const memory = given.reduce(
        (before, checkpoints) => remember(before, { keys: [], checkpoints }),
        emptyMemory(),
      );
      const known = recallCheckpoints(memory);
      assert.deepEqual(known.map(identityOf).toSorted(), [...new Set(given.flat().map(identityOf))].sort());
      for (const kept of Object.values(memory.checkpoints)) {
        assert.deepEqual(
          kept.map(({ size }) => size),
          kept.map(({ size }) => size).toSorted((a, b) => a - b),
        );
      }
      assert.deepEqual(
        remember(memory, { keys: [], checkpoints: known }),
        memory,
        "a checkpoint given again changes nothing",
      );
    }),
    { seed: SEED, numRuns: 200 },
  );
});

Deno.test("notes printed among lines that are no signatures are found again, in their order", () => {
  const heading = fc.stringMatching(/^[A-Za-z0-9 :.,-]{0,30}$/);
  const page = fc.array(fc.record({ checkpoint, above: fc.array(heading, { maxLength: 4 }) }), {
    minLength: 1,
  });
  fc.assert(
    fc.property(page, (blocks) => {
      const text = blocks.map(({ above, checkpoint: { note } }) => [...above, note].join("\n")).join("\n");
      assert.deepEqual(checkpointsIn(text), blocks.map((block) => block.checkpoint));
    }),
    { seed: SEED, numRuns: 200 },
  );
});
