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
export async function writeToNewFile(pieces: AsyncIterable<string>, path: string): Promise<number> {
  if (path === "") throw new CommandFailure("-o needs the name of a file", EXIT.usage);
  return await newFile(path, async (partial) => {
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
export async function newFile<Result>(
  path: string,
  fill: (partial: string) => Promise<Result>,
): Promise<Result> {
  requireFree(path);
  const partial = `${path}.${Deno.pid}.part`;
  await makeEmpty(partial, path);
  try {
    const result = await fill(partial);
    requireFree(path);
    renameDurably(partial, path);
    return result;
  } catch (error) {
    await Deno.remove(partial);
    if (!isSystemError(error)) throw error;
    throw new CommandFailure(`${path} cannot be written: ${error.message}`, EXIT.failure);
  }
}

/** @throws {CommandFailure} if nothing can be written there. */
async function makeEmpty(partial: string, path: string): Promise<void> {
  try {
    (await Deno.open(partial, { createNew: true, write: true, mode: PRIVATE_FILE })).close();
  } catch (error) {
    throw new CommandFailure(`${path} cannot be written: ${(error as Error).message}`, EXIT.failure);
  }
}

/** @throws {CommandFailure} if the path exists. */
export function requireFree(path: string): void {
  if (exists(path)) {
    throw new CommandFailure(`${path} is there already, and was left as it is`, EXIT.failure);
  }
}

interface Sink {
  write(bytes: Uint8Array): Promise<number>;
}

async function writePieces(pieces: AsyncIterable<string>, sink: Sink): Promise<number> {
  const encoder = new TextEncoder();
  let bytes = 0;
  let gathered = "";
  for await (const piece of pieces) {
    gathered += piece;
    if (gathered.length < PIECE_LENGTH) continue;
    bytes += await writeAll(encoder.encode(gathered), sink);
    gathered = "";
  }
  return bytes + await writeAll(encoder.encode(gathered), sink);
}

async function writeAll(bytes: Uint8Array, sink: Sink): Promise<number> {
  for (let written = 0; written < bytes.length;) written += await sink.write(bytes.subarray(written));
  return bytes.length;
}
