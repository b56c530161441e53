/**
 * The files that `jiss verify` is given: each is opened once and told by its first line, so that a pipe will do as
 * well, and then read to its end in pieces.
 */
import { concat } from "../evidence/crypto.ts";
import { LINE_LIMIT_BYTES } from "../evidence/bundle.ts";
import { KEY_LIMIT } from "../evidence/limits.ts";
import { orNull } from "../evidence/or_null.ts";
import { CommandFailure, EXIT } from "./shell.ts";

/** As on every command line: standard input. */
export const STANDARD_INPUT = "-";

const PIECE_BYTES = 262_144;
/** What is read at once of a file's first line, which is kept of a pipe. */
const FIRST_PIECE_BYTES = 16_384;
const LINE_FEED = 0x0a;
const BUNDLE_KIND = /^jis\.bundle\/\d+$/;

/** What a bundle's first line says, none of which is proven yet. */
export interface BundleHead {
  readonly origin: string;
  /** Rotation certificates. */
  readonly certificates: readonly string[];
}

export interface Input {
  /** As it was given. */
  readonly name: string;
  /** Bytes; null where nobody knows, as of a pipe. */
  readonly size: number | null;
  /** null where it is no bundle. */
  readonly head: BundleHead | null;
  /** What keeps its text from being read; null: nothing that its first bytes tell. */
  readonly form: "UTF-16" | "compressed" | "empty" | null;
  /** All bytes, once; each piece is only lent until the next. */
  pieces(): AsyncGenerator<Uint8Array>;
  close(): void;
}

/** @throws {CommandFailure} 2 where it cannot be read. */
export async function openInput(name: string): Promise<Input> {
  return await readable(name, async () => {
    const file = name === STANDARD_INPUT ? Deno.stdin : await Deno.open(name, { read: true });
    const first = await readFirstLine(file);
    const status = file instanceof Deno.FsFile ? await file.stat() : null;
    // A file is read anew from its beginning, so that nothing of it is held until its turn comes.
    const isAgain = status?.isFile === true && file instanceof Deno.FsFile;
    if (isAgain) await file.seek(0, Deno.SeekMode.Start);
    let start = isAgain ? null : first;
    return {
      name,
      size: status?.isFile ? status.size : null,
      head: headIn(first),
      form: formOf(first),
      async *pieces() {
        if (start !== null) yield start;
        start = null;
        const buffer = new Uint8Array(PIECE_BYTES);
        for (;;) {
          const length = await readable(name, () => file.read(buffer));
          if (length === null) return;
          yield buffer.subarray(0, length);
        }
      },
      close: () => file.close(),
    };
  });
}

/** A whole file as text; null where it is larger than `limit` bytes, or not UTF-8. */
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

/** A text decoder throws a TypeError, where a reader of JSON throws a SyntaxError. */
function utf8OrNull(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** @throws {CommandFailure} 2 in place of what the system says. */
async function readable<Result>(name: string, read: () => Promise<Result>): Promise<Result> {
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

/** What archives and compressed files begin with: gzip, zip, bzip2, xz, Zstandard. */
const COMPRESSED = ["1f8b", "504b0304", "425a68", "fd377a585a00", "28b52ffd"];

function formOf(first: Uint8Array): Input["form"] {
  if (first.length === 0) return "empty";
  if (isUtf16(first)) return "UTF-16";
  const start = first.subarray(0, 6).toHex();
  return COMPRESSED.some((magic) => start.startsWith(magic)) ? "compressed" : null;
}

/** By the mark, and a first letter of which one byte is zero, as of all that a file of the service can begin with. */
function isUtf16([first, second, third, fourth]: Uint8Array): boolean {
  if (first === 0xff && second === 0xfe) return third !== 0 && fourth === 0;
  return first === 0xfe && second === 0xff && third === 0 && fourth !== 0;
}

function headIn(first: Uint8Array): BundleHead | null {
  const feed = first.indexOf(LINE_FEED);
  const line = new TextDecoder().decode(feed < 0 ? first : first.subarray(0, feed));
  const header: unknown = orNull(() => JSON.parse(line));
  if (!isObject(header) || typeof header.kind !== "string" || !BUNDLE_KIND.test(header.kind)) return null;
  // The verifier does not read a header with more of them.
  const keys: readonly unknown[] = Array.isArray(header.keys) ? header.keys.slice(0, KEY_LIMIT) : [];
  return {
    origin: String(header.origin),
    certificates: keys.flatMap((key) => isObject(key) && typeof key.cert === "string" ? [key.cert] : []),
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
