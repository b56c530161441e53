/**
 * The bundles among the files that `jiss verify` is given, one after another through one verifier, in pieces: memory
 * does not grow with the files.
 */
import type { DocumentReport } from "../evidence/document.ts";
import { type FileReport, FilesVerifier } from "../evidence/files.ts";
import type { KnownCheckpoint } from "../evidence/kept.ts";
import type { HashSeed } from "../evidence/keyed_hash.ts";
import { nodeCrypto } from "../evidence/node_crypto.ts";
import type { PinnedKey } from "../evidence/trust.ts";
import { Progress } from "./progress.ts";
import type { Shell } from "./shell.ts";
import type { Input } from "./verify_input.ts";

/** A saved document in which nothing is wrong, and whether a key that is in use signed its checkpoint. */
export interface ProvenDocument {
  readonly report: DocumentReport;
  readonly isCurrent: boolean;
}

export async function verifyBundles(
  clock: Shell["clock"],
  inputs: readonly Input[],
  { pins, known, proven, replay, seed }: {
    readonly pins: readonly PinnedKey[] | null;
    readonly known: readonly KnownCheckpoint[];
    readonly proven: readonly ProvenDocument[];
    readonly replay: boolean;
    readonly seed: HashSeed;
  },
): Promise<readonly FileReport[]> {
  const expected = proven.flatMap(({ report: { origin, entries }, isCurrent }) =>
    entries.map(({ seq, entryHash, says }) => ({ origin: origin!, seq, entryHash, says, isCurrent }))
  );
  const verifier = new FilesVerifier(nodeCrypto, {
    pins,
    known,
    expected,
    proven: proven.filter(({ isCurrent }) => isCurrent).map(({ report }) => report.checkpoint!),
    replay,
    seed,
  });
  using progress = new Progress(clock);
  const total = inputs.some(({ size }) => size === null)
    ? null
    : inputs.reduce((sum, { size }) => sum + size!, 0);
  let bytes = 0;
  for (const input of inputs) {
    verifier.open(input.name);
    for await (const piece of input.pieces()) {
      verifier.push(piece);
      bytes += piece.length;
      progress.show(() => progressText({ entries: verifier.entries, bytes, total }));
    }
  }
  return verifier.end();
}

function progressText(
  { entries, bytes, total }: {
    readonly entries: number;
    readonly bytes: number;
    readonly total: number | null;
  },
): string {
  const share = total === null || total === 0 ? "" : `, ${Math.floor((100 * bytes) / total)} %`;
  return `${entries} entries${share}`;
}
