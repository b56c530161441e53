/**
 * Writes text of any length in pieces: to standard output, or to a file that appears only once it is whole.
 */
import { writePatiently } from "../observability/patient_write.ts";
import { renameDurably } from "../store/durable_file.ts";
import { exists } from "./init.ts";
import { CommandFailure, EXIT, isSystemError } from "./shell.ts";

const PRIVATE_FILE = 0o600;
/** Characters that are gathered before they are written. */
const PIECE_LENGTH = 65_536;

/** A text in pieces; one that is there already is a list of one piece. */
type Pieces = AsyncIterable<string> | Iterable<string>;

/**
 * Writes to standard output; false if its reader is gone.
 * @throws {CommandFailure} if it cannot be written.
 */
export async function writeToStandardOutput(pieces: AsyncIterable<string>): Promise<boolean> {
  try {
    await writePieces(pieces, {
      write: (bytes) => writePatiently((rest) => Deno.stdout.write(rest), bytes),
    });
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return false;
    if (!isSystemError(error)) throw error;
    throw new CommandFailure(`standard output cannot be written: ${error.message}`, EXIT.failure);
  }
}

/**
 * Writes a new file that only its owner can access. It gets its name once it is complete and on the disk.
 * @returns its size in bytes.
 * @throws {CommandFailure} if the file exists (nothing is ever replaced), or if it cannot be written.
 */
export async function writeToNewFile(pieces: Pieces, path: string): Promise<number> {
  if (path === "") throw new CommandFailure("-o needs the name of a file", EXIT.usage);
  return await createFile(path, async (partial) => {
    using file = await Deno.open(partial, { write: true });
    const bytes = await writePieces(pieces, file);
    await file.sync();
    return bytes;
  });
}

/**
 * Makes a new file that only its owner can access and that gets its name only once it is whole.
 * @param fill - fills the empty file at the given path and syncs it to the disk.
 * @throws {CommandFailure} if the file exists (nothing is ever replaced), or if it cannot be written.
 */
export async function createFile<Result>(
  path: string,
  fill: (partial: string) => Promise<Result>,
): Promise<Result> {
  requireAbsent(path);
  const partial = `${path}.${Deno.pid}.part`;
  await createEmpty(partial, path);
  try {
    const result = await fill(partial);
    requireAbsent(path);
    renameDurably(partial, path);
    return result;
  } catch (error) {
    await Deno.remove(partial);
    if (!isSystemError(error)) throw error;
    throw new CommandFailure(`${path} cannot be written: ${error.message}`, EXIT.failure);
  }
}

/** @throws {CommandFailure} if nothing can be written there. */
async function createEmpty(partial: string, path: string): Promise<void> {
  try {
    (await Deno.open(partial, { createNew: true, write: true, mode: PRIVATE_FILE })).close();
  } catch (error) {
    throw new CommandFailure(`${path} cannot be written: ${(error as Error).message}`, EXIT.failure);
  }
}

/** @throws {CommandFailure} if the path exists. */
export function requireAbsent(path: string): void {
  if (exists(path)) {
    throw new CommandFailure(`${path} already exists and was not changed`, EXIT.failure);
  }
}

interface Sink {
  write(bytes: Uint8Array): Promise<number>;
}

async function writePieces(pieces: Pieces, sink: Sink): Promise<number> {
  const encoder = new TextEncoder();
  let bytes = 0;
  let buffered = "";
  for await (const piece of pieces) {
    buffered += piece;
    if (buffered.length < PIECE_LENGTH) continue;
    bytes += await writeAll(encoder.encode(buffered), sink);
    buffered = "";
  }
  return bytes + await writeAll(encoder.encode(buffered), sink);
}

async function writeAll(bytes: Uint8Array, sink: Sink): Promise<number> {
  for (let written = 0; written < bytes.length;) written += await sink.write(bytes.subarray(written));
  return bytes.length;
}
