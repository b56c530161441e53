/**
 * The published bundle and its tamperings, each made anew as its name in the published table says. They have
 * the header of their time; {@link inPresentForm} gives them the present one.
 */
import { canonicalJson } from "../src/evidence/canonical.ts";
import { consistencyPath } from "../src/evidence/consistency.ts";
import { hex } from "../src/evidence/crypto.ts";
import { entryHash } from "../src/evidence/hashes.ts";
import { appendLeaf, EMPTY_FRONTIER } from "../src/evidence/merkle.ts";
import { nodeCrypto } from "../src/evidence/node_crypto.ts";
import { parsePins } from "../src/evidence/trust.ts";
import { throwAwaySigner } from "./bundle_builder.ts";
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
} from "./bundle_tampering.ts";
import checkpoints from "./vectors/evidence/checkpoint.json" with { type: "json" };

const GOOD = await Deno.readTextFile(`${import.meta.dirname}/vectors/evidence/bundle_good.ndjson`);
const signer = throwAwaySigner(checkpoints.seed_label);
const stranger = throwAwaySigner("THROW-AWAY TEST KEY 2");
/** The key that signed the published bundle, as an auditor pins it. */
export const VECTOR_PINS = parsePins(nodeCrypto, checkpoints.vkey);

export interface VectorCase {
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

/** The cases of the published table, in its order. */
export const VECTOR_CASES: readonly VectorCase[] = [
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

/** A case's text with the header that bundles have now, and a matching digest in its trailer. */
export function inPresentForm(text: string): string {
  const [first, ...rest] = linesOf(text);
  const header = JSON.parse(first!);
  const keys = header.keys.map((key: Record<string, unknown>) => ({ ...key, cert: null }));
  const present = { ...header, keys, exported_at: "2026-11-20T09:01:00.000Z" };
  return sealed([canonicalJson(present), ...rest]);
}
