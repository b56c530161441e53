/**
 * The verifier against the published bundle and its table of tamperings, each made anew from the bundle as its name
 * says. The vectors pin hashing, notes, proofs and findings only: they are run without replay, without a record of
 * pruning, and with the header of their time.
 */
import assert from "node:assert/strict";
import { consistencyPath } from "../../src/evidence/consistency.ts";
import { hex, utf8 } from "../../src/evidence/crypto.ts";
import { entryHash } from "../../src/evidence/hashes.ts";
import { type KnownCheckpoint, knownCheckpointOrNull } from "../../src/evidence/kept.ts";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { appendLeaf, EMPTY_FRONTIER } from "../../src/evidence/merkle.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { parsePins } from "../../src/evidence/trust.ts";
import { BundleVerifier } from "../../src/evidence/verifier.ts";
import { throwAwaySigner } from "../bundle_builder.ts";
import {
  bundleLines,
  checkpointAt,
  forged,
  linesOf,
  type OpenBundle,
  prunedTo,
  putTogether,
  sealed,
  takeApart,
} from "../bundle_tampering.ts";
import checkpoints from "../vectors/evidence/checkpoint.json" with { type: "json" };
import matrix from "../vectors/evidence/tamper_matrix.json" with { type: "json" };

const GOOD = await Deno.readTextFile(`${import.meta.dirname}/../vectors/evidence/bundle_good.ndjson`);
const signer = throwAwaySigner(checkpoints.seed_label);
const stranger = throwAwaySigner("THROW-AWAY TEST KEY 2");
const PINS = parsePins(nodeCrypto, checkpoints.vkey);

interface Case {
  readonly text: string;
  /** Checkpoints that the auditor holds. */
  readonly known?: readonly string[];
}

const rename = (seq: number) => ({ groups }: OpenBundle) => {
  groups[seq]!.entry.prefix = "jis_evil";
};

function ladder(from: number, to: number): Record<string, unknown> {
  const nodes = new Map<number, Uint8Array>();
  let frontier = EMPTY_FRONTIER;
  for (const { entry } of takeApart(GOOD).groups) {
    const appended = appendLeaf(nodeCrypto, frontier, entryHash(nodeCrypto, canonicalJson(entry)));
    frontier = appended.frontier;
    for (const { index, hash } of appended.nodes) nodes.set(index, hash);
  }
  const proof = consistencyPath(nodeCrypto, { from, to }, (index) => nodes.get(index)).map(hex);
  return { kind: "jis.ladder/1", from, to, proof };
}

/** The table's cases in its order. */
const CASES: readonly Case[] = [
  { text: GOOD },
  { text: forged(GOOD, rename(5)) },
  { text: forged(GOOD, ({ groups }) => groups[3]!.parts[1].data.displayed_jis = 99) },
  { text: forged(GOOD, rename(5), { links: true }) },
  { text: forged(GOOD, rename(5), { links: true, signers: [stranger] }) },
  {
    text: forged(GOOD, rename(5), { links: true, signers: [signer] }),
    known: [checkpointAt(GOOD, 6, [signer])],
  },
  { text: forged(GOOD, ({ groups }) => groups.splice(2, 1)) },
  { text: sealed(insertedAfter(13, { ...takeApart(GOOD).groups[4]!.entry, prefix: "jis_evil" })) },
  {
    text: forged(GOOD, ({ groups }) => groups.splice(5, 2, groups[6]!, groups[5]!)),
  },
  { text: forged(GOOD, ({ groups }) => groups.splice(6, 2)) },
  { text: linesOf(GOOD).slice(0, 21).map((line) => `${line}\n`).join("") },
  { text: cutTo(6), known: [checkpointAt(GOOD, 8, [signer])] },
  { text: cutTo(6) },
  { text: forged(GOOD, ({ trailer }) => trailer.checkpoint = flippedSignature(trailer.checkpoint)) },
  { text: putTogether(prunedTo(GOOD, 4, [signer])) },
  { text: putTogether(withBase(4, { checkpoint: null })) },
  { text: putTogether(withForgedPeaks(5)) },
  { text: putTogether(withLadder(5, ladder(3, 5))), known: [checkpointAt(GOOD, 3, [signer])] },
  {
    text: forged(GOOD, ({ groups }) => groups[6]!.entry.timestamp = "2026-11-20T08:59:00.000Z", {
      links: true,
      signers: [signer],
    }),
  },
  { text: sealed(bundleLines(takeApart(GOOD)).with(5, linesOf(GOOD)[5]!.replace(":", ": "))) },
];

function insertedAfter(line: number, value: unknown): readonly string[] {
  return linesOf(GOOD).toSpliced(line, 0, canonicalJson(value));
}

function cutTo(size: number): string {
  return forged(GOOD, (open) => {
    open.groups.length = size;
    open.trailer = { ...open.trailer, size, checkpoint: checkpointAt(GOOD, size, [signer]) };
  });
}

function flippedSignature(note: string): string {
  const [, encoded] = /([A-Za-z0-9+/=]+)\n$/.exec(note)!;
  const bytes = Uint8Array.fromBase64(encoded!);
  bytes[20]! ^= 1;
  return note.replace(encoded!, bytes.toBase64());
}

function withBase(size: number, base: Record<string, unknown>): OpenBundle {
  const open = prunedTo(GOOD, size, [signer]);
  open.header.base = { ...open.header.base, ...base };
  return open;
}

function withForgedPeaks(size: number): OpenBundle {
  const open = prunedTo(GOOD, size, [signer]);
  open.header.base.peaks[0] = "00".repeat(32);
  return open;
}

function withLadder(size: number, line: unknown): OpenBundle {
  return { ...prunedTo(GOOD, size, [signer]), preamble: [line] };
}

function held(notes: readonly string[]): readonly KnownCheckpoint[] {
  return notes.map((note) => knownCheckpointOrNull(note)!);
}

interface Row {
  readonly code: string;
  readonly fatal: boolean;
  readonly seq?: number;
  readonly range?: readonly number[];
  readonly line?: number;
}

for (const [index, { case: name, ok, findings }] of matrix.entries()) {
  Deno.test(`the published table's row "${name}" is found as it says`, () => {
    const { text, known = [] } = CASES[index]!;
    const verifier = new BundleVerifier(nodeCrypto, {
      pins: PINS,
      known: held(known),
      expected: [],
      replay: false,
      requirePruneRecord: false,
      lenientHeader: true,
    });
    verifier.push(utf8(text));
    const [report] = verifier.end();
    const expected = findings as readonly Row[];
    assert.deepEqual(
      report!.findings.map(({ code, fatal, seq, range, line }, at) => ({
        code,
        fatal,
        ...(seq === null ? {} : { seq }),
        ...(range === null ? {} : { range }),
        ...(expected[at]?.line === undefined ? {} : { line }),
      })),
      expected.map(({ code, fatal, seq, range, line }) => ({
        code,
        fatal,
        ...(seq === undefined ? {} : { seq }),
        ...(range === undefined ? {} : { range }),
        ...(line === undefined ? {} : { line }),
      })),
    );
    assert.equal(report!.verdict.startsWith("INTACT"), ok);
  });
}

Deno.test("every row of the published table is run", () => {
  assert.equal(CASES.length, matrix.length);
});
