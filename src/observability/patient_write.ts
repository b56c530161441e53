/**
 * Writes to a file that answers "try again" when others would wait: a pipe that was made non-blocking by the
 * log's reader or by another process that shares it.
 */

/** Milliseconds before the next attempt. */
const RETRY_MS = 10;

/**
 * Number of bytes that a pipe takes completely or not at all (POSIX, PIPE_BUF). Deno 2.9.6 does not report
 * how many bytes of a larger piece were taken before there was no more room, so they would be written twice.
 */
const ATOMIC_BYTES = 4_096;

const LINE_FEED = 0x0a;

/**
 * Writes the first of the bytes once there is room for them.
 * @returns how many bytes were written.
 * @throws any error of `write` except `WouldBlock`.
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

/**
 * Whole lines if possible: Deno buffers the rest after the last line feed, and then tries to write it again.
 */
function firstPiece(bytes: Uint8Array): Uint8Array {
  const piece = bytes.subarray(0, ATOMIC_BYTES);
  const end = piece.lastIndexOf(LINE_FEED) + 1;
  return end === 0 ? piece : piece.subarray(0, end);
}
