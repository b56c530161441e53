/**
 * Writing to a file that says "try again" where others wait: a pipe that somebody made non-blocking, as the log's reader or
 * another process that has it too may.
 */

/** How long its reader gets before it is tried again. */
const RETRY_MS = 10;

/**
 * Bytes that a pipe takes wholly or not at all (POSIX, PIPE_BUF). Deno 2.9.6 does not say how many bytes of a larger piece
 * were taken before there was no room for the rest, so that they would be written twice.
 */
const ATOMIC_BYTES = 4_096;

const LINE_FEED = 0x0a;

/**
 * Writes the first of the bytes once there is room for them, and returns how many those were.
 * @throws what else `write` throws.
 */
export async function writePatiently(
  write: (bytes: Uint8Array) => Promise<number>,
  bytes: Uint8Array,
): Promise<number> {
  const piece = firstPiece(bytes);
  for (;;) {
    try {
      return await write(piece);
    } catch (error) {
      if (!(error instanceof Deno.errors.WouldBlock)) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** Whole lines if possible: Deno keeps back what stands after the last line feed, and then tries to write it again. */
function firstPiece(bytes: Uint8Array): Uint8Array {
  const piece = bytes.subarray(0, ATOMIC_BYTES);
  const end = piece.lastIndexOf(LINE_FEED) + 1;
  return end === 0 ? piece : piece.subarray(0, end);
}
