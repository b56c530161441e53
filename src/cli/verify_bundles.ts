/**
 * The bundles among the files that `jiss verify` is given, one after another through one verifier, in pieces: memory
 * does not grow with the files.
 */
import type { DocumentReport } from "../evidence/document.ts";
import type { KnownCheckpoint } from "../evidence/kept.ts";
import { nodeCrypto } from "../evidence/node_crypto.ts";
import type { BundleReport } from "../evidence/report.ts";
import type { PinnedKey } from "../evidence/trust.ts";
import { BundleVerifier } from "../evidence/verifier.ts";
import { Progress } from "./progress.ts";
import type { Shell } from "./shell.ts";
import type { Input } from "./verify_input.ts";
import type { VerifiedBundle } from "./verify_outcome.ts";

/** No text: a file that ends within a line is cut off, and the next one's beginning must not complete it. */
const CUT = Uint8Array.of(0xff, 0x0a);
const LINE_FEED = 0x0a;

/** A saved document in which nothing is wrong, and whether a key that is in use signed its checkpoint. */
export interface ProvenDocument {
  readonly report: DocumentReport;
  readonly isCurrent: boolean;
}

export async function verifyBundles(
  clock: Shell["clock"],
  inputs: readonly Input[],
  { pins, known, proven, replay }: {
    readonly pins: readonly PinnedKey[] | null;
    readonly known: readonly KnownCheckpoint[];
    readonly proven: readonly ProvenDocument[];
    readonly replay: boolean;
  },
): Promise<readonly Omit<VerifiedBundle, "contradicted">[]> {
  const expected = proven.flatMap(({ report: { origin, entries }, isCurrent }) =>
    entries.map(({ seq, entryHash, says }) => ({ origin: origin!, seq, entryHash, says, isCurrent }))
  );
  const verifier = new BundleVerifier(nodeCrypto, {
    pins,
    known,
    expected,
    proven: proven.filter(({ isCurrent }) => isCurrent).map(({ report }) => report.checkpoint!),
    replay,
  });
  using progress = new Progress(clock);
  const total = inputs.some(({ size }) => size === null)
    ? null
    : inputs.reduce((sum, { size }) => sum + size!, 0);
  /** How many lines stand before each file. */
  const starts: number[] = [];
  let lines = 0;
  let bytes = 0;
  for (const [index, input] of inputs.entries()) {
    starts.push(lines);
    let last = LINE_FEED;
    for await (const piece of input.pieces()) {
      verifier.push(piece);
      lines += countLines(piece);
      bytes += piece.length;
      last = piece.at(-1) ?? last;
      progress.show(() => progressText({ entries: verifier.entries, bytes, total }));
    }
    if (last === LINE_FEED || index === inputs.length - 1) continue;
    verifier.push(CUT);
    lines += 1;
  }
  return verifier.end().map((report) => locate(report, { starts, files: inputs.map(({ name }) => name) }));
}

function countLines(piece: Uint8Array): number {
  let count = 0;
  for (let feed = piece.indexOf(LINE_FEED); feed >= 0; feed = piece.indexOf(LINE_FEED, feed + 1)) count += 1;
  return count;
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

/** Findings with the line of their own file. */
function locate(
  report: BundleReport,
  { starts, files }: { readonly starts: readonly number[]; readonly files: readonly string[] },
): Omit<VerifiedBundle, "contradicted"> {
  return {
    ...report,
    findings: report.findings.map((finding) => {
      const { line } = finding;
      if (line === null || files.length === 1) return { ...finding, file: null };
      const index = starts.findLastIndex((start) => line > start);
      return { ...finding, line: line - starts[index]!, file: files[index]! };
    }),
  };
}
