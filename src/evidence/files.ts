/**
 * Verifies bundles in files, one after another, with one verifier. Each finding names its file and the line
 * in it. Memory does not grow with the files.
 */
import type { Crypto } from "./crypto.ts";
import type { Finding } from "./findings.ts";
import type { KeyHolders } from "./key_holders.ts";
import type { BundleReport } from "./report.ts";
import { BundleVerifier, type VerifierOptions } from "./verifier.ts";

export interface FileFinding extends Finding {
  /** Name of the file; null if there is only one file, or if the finding names no line. */
  readonly file: string | null;
}

export interface FileReport extends BundleReport {
  readonly findings: readonly FileFinding[];
}

const LINE_FEED = 0x0a;

export class FilesVerifier {
  readonly #verifier: BundleVerifier;
  /** The name of each file, and the number of lines before it. */
  readonly #files: { readonly name: string; readonly start: number }[] = [];
  #lines = 0;

  constructor(crypto: Crypto, options: VerifierOptions) {
    this.#verifier = new BundleVerifier(crypto, options);
  }

  /** The number of entries read so far, in all files. */
  get entries(): number {
    return this.#verifier.entries;
  }

  /** The holders of keys, as far as the files were read. */
  get holders(): KeyHolders {
    return this.#verifier.holders;
  }

  /** Begins a file: the bytes pushed from now on belong to it. */
  open(name: string): void {
    // The beginning of this file must not complete the last line of the file before.
    this.#verifier.endFile();
    this.#files.push({ name, start: this.#lines });
  }

  /** Takes the next bytes, cut anywhere. */
  push(piece: Uint8Array): void {
    this.#verifier.push(piece);
    this.#lines += countLines(piece);
  }

  /** Ends the input. Returns one report for each bundle, in their order. Call it once. */
  end(): readonly FileReport[] {
    return this.#verifier.end().map((report) => ({
      ...report,
      findings: report.findings.map((finding) => this.#locate(finding)),
    }));
  }

  /** The finding with its file, and the line number in that file. */
  #locate(finding: Finding): FileFinding {
    const { line } = finding;
    if (line === null || this.#files.length === 1) return { ...finding, file: null };
    const { name, start } = this.#fileOf(line);
    return { ...finding, line: line - start, file: name };
  }

  /** The file that holds a line: the last file that begins before it. */
  #fileOf(line: number): { readonly name: string; readonly start: number } {
    let [low, high] = [0, this.#files.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#files[middle]!.start < line) low = middle;
      else high = middle - 1;
    }
    return this.#files[low]!;
  }
}

function countLines(piece: Uint8Array): number {
  let count = 0;
  for (let feed = piece.indexOf(LINE_FEED); feed >= 0; feed = piece.indexOf(LINE_FEED, feed + 1)) count += 1;
  return count;
}
