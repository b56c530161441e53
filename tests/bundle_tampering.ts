/**
 * A forger's work on a bundle: it takes it apart, changes it, and mends everything that depends on the
 * change, as far as keys and tools allow. Knows the format by itself, so that it can also write what no
 * service would.
 */
import { canonicalJson } from "../src/evidence/canonical.ts";
import { fromHex, hex, type Signer, utf8 } from "../src/evidence/crypto.ts";
import { entryHash, genesisPrevious, partCommitment } from "../src/evidence/hashes.ts";
import { appendLeaf, type Frontier, rootOf } from "../src/evidence/merkle.ts";
import { nodeCrypto } from "../src/evidence/node_crypto.ts";
import { formatCheckpoint, signNote } from "../src/evidence/note.ts";

// deno-lint-ignore no-explicit-any -- lines are changed in any way
export type Json = any;

/** An entry with the lines that follow it up to the next. */
export interface Group {
  /** The hash of the unchanged entry, hexadecimal. */
  readonly hash: string;
  entry: Json;
  parts: Json[];
  /** Signed notes. */
  checkpoints: string[];
}

/** One bundle, to be changed. */
export interface OpenBundle {
  header: Json;
  /** Models and ladder. */
  preamble: Json[];
  groups: Group[];
  trailer: Json;
}

/** The lines of a text, without their line feeds. */
export function linesOf(text: string): string[] {
  return text.split("\n").slice(0, -1);
}

export function takeApart(text: string): OpenBundle {
  const [header, ...rest] = linesOf(text).map((line) => JSON.parse(line));
  const open: OpenBundle = { header, preamble: [], groups: [], trailer: null };
  for (const line of rest) {
    const group = open.groups.at(-1);
    if (line.kind === undefined) {
      const hash = hex(entryHash(nodeCrypto, canonicalJson(line)));
      open.groups.push({ hash, entry: line, parts: [], checkpoints: [] });
    } else if (line.kind === "jis.part/1") group!.parts.push(line);
    else if (line.kind === "jis.checkpoint/1") group!.checkpoints.push(line.note);
    else if (line.kind === "jis.trailer/1") open.trailer = line;
    else open.preamble.push(line);
  }
  return open;
}

/** The lines of a bundle, as the exporter would write them; the trailer is the last. */
export function bundleLines({ header, preamble, groups, trailer }: OpenBundle): string[] {
  const notes = (checkpoints: string[]) => checkpoints.map((note) => ({ kind: "jis.checkpoint/1", note }));
  const body = groups.flatMap(({ entry, parts, checkpoints }) => [entry, ...parts, ...notes(checkpoints)]);
  return [header, ...preamble, ...body, ...(trailer === null ? [] : [trailer])].map(canonicalJson);
}

/** A bundle's text with a matching digest in its trailer; unchanged if it has no trailer. */
export function sealed(lines: readonly string[]): string {
  const last = lines.at(-1)!;
  if (!last.includes('"jis.trailer/1"')) return lines.map((line) => `${line}\n`).join("");
  const body = lines.slice(0, -1).map((line) => `${line}\n`).join("");
  const trailer = { ...JSON.parse(last), bundle_sha256: hex(nodeCrypto.sha256(utf8(body))) };
  return `${body}${canonicalJson(trailer)}\n`;
}

export function putTogether(open: OpenBundle): string {
  return sealed(bundleLines(open));
}

/** The parts that a forger mends after a change. */
export interface Mending {
  /** Commitments of all parts that are included. */
  readonly commitments?: boolean;
  /** Links from each entry to the next. */
  readonly links?: boolean;
  /** References in inputs to the entries that they start from; the commitments of these inputs too. */
  readonly priors?: boolean;
  /** Checkpoints, signed anew over the changed entries by these keys; the base's too if `base` is set. */
  readonly signers?: readonly Signer[];
  /** Only checkpoints of at least this size; default: all. */
  readonly signFrom?: number;
}

/** Makes commitments, links and checkpoints match the changed bundle, as far as asked for. */
export function mend(open: OpenBundle, mending: Mending): OpenBundle {
  const { commitments, links, priors, signers, signFrom = 0 } = mending;
  const renamed = new Map<string, string>();
  const { origin, base } = open.header;
  let previous = base.size === 0 ? hex(genesisPrevious(nodeCrypto, origin)) : base.prev;
  let frontier: Frontier = { size: base.size, peaks: base.peaks.map(fromHex) };
  const signed = (note: string) => {
    const size = Number(note.split("\n")[1]);
    if (signers === undefined || size < signFrom) return note;
    const text = formatCheckpoint({ origin, size: frontier.size, root: rootOf(nodeCrypto, frontier.peaks) });
    return signNote(nodeCrypto, { text, name: origin }, signers);
  };
  for (const group of open.groups) {
    const { entry, parts } = group;
    for (const part of commitments === true || priors === true ? parts : []) {
      if (part.salt === undefined) continue;
      if (priors === true) renamePriors(part.data, renamed);
      const text = canonicalJson(part.data);
      const commitment = partCommitment(nodeCrypto, { name: part.name, salt: fromHex(part.salt), text });
      entry.commit[part.name] = hex(commitment);
    }
    if (links === true) entry.prev = previous;
    const hash = entryHash(nodeCrypto, canonicalJson(entry));
    previous = hex(hash);
    renamed.set(group.hash, previous);
    frontier = appendLeaf(nodeCrypto, frontier, hash).frontier;
    group.checkpoints = group.checkpoints.map(signed);
  }
  if (open.trailer !== null) {
    open.trailer.checkpoint = signed(open.trailer.checkpoint);
    if (signers !== undefined) open.trailer.size = frontier.size;
  }
  return open;
}

function renamePriors(data: Json, renamed: ReadonlyMap<string, string>): void {
  if (renamed.has(data?.prior?.entry_hash)) data.prior.entry_hash = renamed.get(data.prior.entry_hash);
  if (renamed.has(data?.ref_entry_hash)) data.ref_entry_hash = renamed.get(data.ref_entry_hash);
}

/** Takes a bundle apart, changes it, mends it, and puts it together again. */
export function forged(text: string, change: (open: OpenBundle) => void, mending: Mending = {}): string {
  const open = takeApart(text);
  change(open);
  return putTogether(mend(open, mending));
}

/** The signed checkpoint of the first `size` entries of a bundle that begins at its chain's first. */
export function checkpointAt(text: string, size: number, signers: readonly Signer[]): string {
  const { header: { origin }, groups } = takeApart(text);
  let frontier: Frontier = { size: 0, peaks: [] };
  for (const { entry } of groups.slice(0, size)) {
    frontier = appendLeaf(nodeCrypto, frontier, entryHash(nodeCrypto, canonicalJson(entry))).frontier;
  }
  const root = rootOf(nodeCrypto, frontier.peaks);
  return signNote(nodeCrypto, { text: formatCheckpoint({ origin, size, root }), name: origin }, signers);
}

/** The same chain as a bundle that begins at `size`, with a checkpoint of that size signed by `signers`. */
export function prunedTo(text: string, size: number, signers: readonly Signer[]): OpenBundle {
  const open = takeApart(text);
  let frontier: Frontier = { size: 0, peaks: [] };
  let previous = open.header.base.prev;
  for (const { entry } of open.groups.slice(0, size)) {
    const hash = entryHash(nodeCrypto, canonicalJson(entry));
    previous = hex(hash);
    frontier = appendLeaf(nodeCrypto, frontier, hash).frontier;
  }
  open.header.base = {
    size,
    prev: previous,
    peaks: frontier.peaks.map(hex),
    checkpoint: checkpointAt(text, size, signers),
  };
  open.groups = open.groups.slice(size);
  return open;
}
