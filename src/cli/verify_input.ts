/**
 * The files that `jiss verify` reads. Each is opened once, so a pipe works too. Its first line shows its
 * kind; then it is read to its end in pieces.
 */
import { concat, hex } from "../evidence/crypto.ts";
import { LINE_LIMIT_BYTES } from "../evidence/bundle.ts";
import { KEY_LIMIT } from "../evidence/limits.ts";
import { nodeCrypto } from "../evidence/node_crypto.ts";
import { orNull } from "../evidence/or_null.ts";
import { CommandFailure, EXIT } from "./shell.ts";
import type { FileDigest } from "./verify_outcome.ts";

/** The usual name of standard input on a command line. */
export const STANDARD_INPUT = "-";

const PIECE_BYTES = 262_144;
/** Bytes that are read at once for the first line; they are kept if the input is a pipe. */
const FIRST_PIECE_BYTES = 16_384;
const LINE_FEED = 0x0a;
const BUNDLE_KIND = /^jis\.bundle\/\d+$/;

/** The contents of a bundle's first line; nothing of it is proven yet. */
interface BundleHead {
  readonly origin: string;
  /** Rotation certificates. */
  readonly certificates: readonly string[];
}

export interface Input {
  /** The name as it was given. */
  readonly name: string;
  /** Size in bytes; null if it is unknown, as for a pipe. */
  readonly size: number | null;
  /** null if it is no bundle. */
  readonly head: BundleHead | null;
  /** The form that keeps its text from being read; null if its first bytes show none. */
  readonly form: "UTF-16" | "compressed" | "empty" | null;
  /** Reads all bytes, once. A piece is valid only until the next one. */
  pieces(): AsyncGenerator<Uint8Array>;
  close(): void;
}

/** @throws {CommandFailure} 2 if it cannot be read. */
export async function openInput(name: string): Promise<Input> {
  return await convertReadErrors(name, async () => {
    const file = name === STANDARD_INPUT ? Deno.stdin : await Deno.open(name, { read: true });
    const first = await readFirstLine(file);
    const status = file instanceof Deno.FsFile ? await file.stat() : null;
    // A regular file is read again from its beginning, so that no bytes are kept until its turn comes.
    const isSeekable = status?.isFile === true && file instanceof Deno.FsFile;
    if (isSeekable) await file.seek(0, Deno.SeekMode.Start);
    let start = isSeekable ? null : first;
    return {
      name,
      size: status?.isFile ? status.size : null,
      head: parseHead(first),
      form: detectForm(first),
      async *pieces() {
        if (start !== null) yield start;
        start = null;
        const buffer = new Uint8Array(PIECE_BYTES);
        for (;;) {
          const length = await convertReadErrors(name, () => file.read(buffer));
          if (length === null) return;
          yield buffer.subarray(0, length);
        }
      },
      close: () => file.close(),
    };
  });
}

export interface DigestedInput extends Input {
  /** Reads what was not read yet, and returns the digest of all bytes. Call it once. */
  digest(): Promise<FileDigest>;
}

/** The same input. The bytes that are verified are those that are digested: they are read once. */
export function digestInput(input: Input): DigestedInput {
  const hash = nodeCrypto.sha256Stream();
  let size = 0;
  async function* pieces() {
    for await (const piece of input.pieces()) {
      hash.update(piece);
      size += piece.length;
      yield piece;
    }
  }
  return {
    ...input,
    pieces,
    async digest() {
      // Nothing is read of a file that its first bytes show to be no text.
      for await (const _ of pieces());
      return { name: input.name, size, sha256: hex(hash.digest()) };
    },
  };
}

/** A whole file as text; null if it is larger than `limit` bytes, or not UTF-8. */
export async function textOf(input: Input, limit: number): Promise<string | null> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of input.pieces()) {
    bytes += piece.length;
    if (bytes > limit) return null;
    pieces.push(piece.slice());
  }
  return utf8OrNull(concat(...pieces));
}

/** Not `orNull`, which expects the SyntaxError of a JSON parser: a text decoder throws a TypeError. */
function utf8OrNull(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** @throws {CommandFailure} 2 instead of the system's error. */
async function convertReadErrors<Result>(name: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    const reason = error instanceof Deno.errors.NotFound
      ? "there is no such file"
      : error instanceof Deno.errors.IsADirectory
      ? "it is a directory"
      : (error as Error).message;
    throw new CommandFailure(`${name} cannot be read: ${reason}`, EXIT.usage);
  }
}

/** The beginning of a file, up to the piece in which its first line ends. */
async function readFirstLine(
  file: { read(buffer: Uint8Array): Promise<number | null> },
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for (let bytes = 0; bytes <= LINE_LIMIT_BYTES;) {
    const buffer = new Uint8Array(FIRST_PIECE_BYTES);
    const length = await file.read(buffer);
    if (length === null) break;
    pieces.push(buffer.subarray(0, length));
    if (pieces.at(-1)!.includes(LINE_FEED)) break;
    bytes += length;
  }
  return concat(...pieces);
}

/** The first bytes of archives and compressed files: gzip, zip, bzip2, xz, Zstandard. */
const COMPRESSED = ["1f8b", "504b0304", "425a68", "fd377a585a00", "28b52ffd"];

function detectForm(first: Uint8Array): Input["form"] {
  if (first.length === 0) return "empty";
  if (isUtf16(first)) return "UTF-16";
  const start = first.subarray(0, 6).toHex();
  return COMPRESSED.some((magic) => start.startsWith(magic)) ? "compressed" : null;
}

/**
 * Detects UTF-16 by the byte order mark and a first character with one zero byte: any file of the service
 * begins with such a character.
 */
function isUtf16([first, second, third, fourth]: Uint8Array): boolean {
  if (first === 0xff && second === 0xfe) return third !== 0 && fourth === 0;
  return first === 0xfe && second === 0xff && third === 0 && fourth !== 0;
}

function parseHead(first: Uint8Array): BundleHead | null {
  const feed = first.indexOf(LINE_FEED);
  const line = new TextDecoder().decode(feed < 0 ? first : first.subarray(0, feed));
  const header: unknown = orNull(() => JSON.parse(line));
  if (!isObject(header) || typeof header.kind !== "string" || !BUNDLE_KIND.test(header.kind)) return null;
  // The verifier refuses a header with more keys.
  const keys: readonly unknown[] = Array.isArray(header.keys) ? header.keys.slice(0, KEY_LIMIT) : [];
  return {
    origin: String(header.origin),
    certificates: keys.flatMap((key) => isObject(key) && typeof key.cert === "string" ? [key.cert] : []),
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
