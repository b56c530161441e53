/**
 * Verifies the bundles among the files of `jiss verify`, one after another, with one verifier and in pieces:
 * memory does not grow with the files.
 */
import type { DocumentReport } from "../evidence/document.ts";
import { type FileReport, FilesVerifier } from "../evidence/files.ts";
import type { KnownCheckpoint } from "../evidence/kept.ts";
import { KeyHolders } from "../evidence/key_holders.ts";
import type { HashSeed } from "../evidence/keyed_hash.ts";
import { nodeCrypto } from "../evidence/node_crypto.ts";
import type { PinnedKey } from "../evidence/trust.ts";
import { Progress } from "./progress.ts";
import type { Shell } from "./shell.ts";
import type { Input } from "./verify_input.ts";

/** A saved document without a fault, and whether a key in use signed its checkpoint. */
export interface ProvenDocument {
  readonly report: DocumentReport;
  readonly isCurrent: boolean;
}

/** The findings in the bundles, and the keys that belong to one holder as far as the bundles tell. */
export interface VerifiedBundles {
  readonly reports: readonly FileReport[];
  readonly holders: KeyHolders;
}

export async function verifyBundles(
  clock: Shell["clock"],
  inputs: readonly Input[],
  { pins, together, known, proven, replay, census, seed }: {
    readonly pins: readonly PinnedKey[] | null;
    /** Sets of keys; all keys of a set have one holder. */
    readonly together: readonly (readonly Uint8Array[])[];
    readonly known: readonly KnownCheckpoint[];
    readonly proven: readonly ProvenDocument[];
    readonly replay: boolean;
    /** Whether operators are counted. */
    readonly census: boolean;
    readonly seed: HashSeed;
  },
): Promise<VerifiedBundles> {
  if (inputs.length === 0) return { reports: [], holders: new KeyHolders(together) };
  const expected = proven.flatMap(({ report: { origin, entries }, isCurrent }) =>
    entries.map(({ seq, entryHash, statedScore }) => ({
      origin: origin!,
      seq,
      entryHash,
      statedScore,
      isCurrent,
    }))
  );
  const verifier = new FilesVerifier(nodeCrypto, {
    pins,
    holderKeys: together,
    known,
    expected,
    proven: proven.filter(({ isCurrent }) => isCurrent).map(({ report }) => report.checkpoint!),
    replay,
    census,
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
  return { reports: verifier.end(), holders: verifier.holders };
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
