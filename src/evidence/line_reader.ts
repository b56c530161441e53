/**
 * Cuts a stream of bytes, which may come in any pieces, into lines of text, and computes the SHA-256 of the
 * bytes.
 *
 * It holds one window of the stream and at most one line: a line that is too long is dropped as it comes.
 */
import { LINE_LIMIT_BYTES } from "./bundle.ts";
import type { Crypto, Sha256Stream } from "./crypto.ts";

const LINE_FEED = 0x0a;
const NO_BYTES = new Uint8Array(0);
const FIRST_BUFFER_BYTES = 4096;
/** The number of bytes that are decoded at once: each call of the decoder is dear, each byte is cheap. */
const WINDOW_BYTES = 65_536;

/** Decodes UTF-8. It leaves a byte order mark in the text: the verifier reports it. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Takes one line, without its line feed. `text` is null if the line is too long or not UTF-8. `bytes` are
 * valid only during the call; there are none if the line is too long.
 */
export type LineHandler = (text: string | null, bytes: Uint8Array) => void;

export class LineReader {
  readonly #crypto: Crypto;
  #digest: Sha256Stream;
  #window: Uint8Array = NO_BYTES;
  /** Place in the window where the current line begins, and where the next one begins. */
  #lineStart = 0;
  #lineEnd = 0;
  /** The window is hashed up to this place. */
  #hashedTo = 0;
  /** Its first `#carried` bytes are the beginning of a line from earlier windows, which is not hashed yet. */
  #buffer: Uint8Array = new Uint8Array(FIRST_BUFFER_BYTES);
  #carried = 0;
  /** Whether the line from earlier windows is too long: its bytes are hashed and dropped. */
  #isTooLong = false;

  constructor(crypto: Crypto) {
    this.#crypto = crypto;
    this.#digest = crypto.sha256Stream();
  }

  /** Whether the stream, as far as it was read, ends within a line. */
  get endsWithinLine(): boolean {
    return this.#carried > 0 || this.#isTooLong;
  }

  push(chunk: Uint8Array, handle: LineHandler): void {
    for (let start = 0; start < chunk.length; start += WINDOW_BYTES) {
      this.#takeWindow(chunk.subarray(start, start + WINDOW_BYTES), handle);
    }
  }

  /** SHA-256 of all bytes before the current line; a {@link restart} must follow. */
  digestBeforeLine(): Uint8Array {
    this.#hashUpTo(this.#lineStart);
    return this.#digest.digest();
  }

  /** Begins a new digest, at the current line or after it. */
  restart({ afterLine }: { readonly afterLine: boolean }): void {
    this.#digest = this.#crypto.sha256Stream();
    if (afterLine) this.#carried = 0;
    this.#hashedTo = afterLine ? this.#lineEnd : this.#lineStart;
  }

  /** Drops the unfinished line: its end will not come. */
  dropLine(): void {
    this.#hashCarried();
    this.#isTooLong = false;
  }

  #takeWindow(window: Uint8Array, handle: LineHandler): void {
    this.#window = window;
    this.#lineStart = 0;
    this.#hashedTo = 0;
    if (this.endsWithinLine) this.#endCarried(handle);
    this.#takeLines(handle);
    this.#hashUpTo(this.#lineStart);
    this.#carry(window.subarray(this.#lineStart));
    this.#window = NO_BYTES;
  }

  /** Ends the line that earlier windows began, if this window holds its end. */
  #endCarried(handle: LineHandler): void {
    const feed = this.#window.indexOf(LINE_FEED);
    if (feed < 0) return;
    this.#lineEnd = feed + 1;
    const length = this.#carried + feed;
    if (this.#isTooLong || length > LINE_LIMIT_BYTES) {
      handle(null, NO_BYTES);
    } else {
      this.#reserve(length);
      this.#buffer.set(this.#window.subarray(0, feed), this.#carried);
      const bytes = this.#buffer.subarray(0, length);
      handle(decodeOrNull(bytes), bytes);
    }
    this.#hashCarried();
    this.#isTooLong = false;
    this.#lineStart = this.#lineEnd;
  }

  /**
   * Takes the lines that lie wholly in the window. They are decoded together; one by one if any is not UTF-8.
   */
  #takeLines(handle: LineHandler): void {
    const end = this.#window.lastIndexOf(LINE_FEED) + 1;
    if (end <= this.#lineStart) return;
    const windowText = decodeOrNull(this.#window.subarray(this.#lineStart, end));
    let at = 0;
    while (this.#lineStart < end) {
      const feed = this.#window.indexOf(LINE_FEED, this.#lineStart);
      this.#lineEnd = feed + 1;
      const bytes = this.#window.subarray(this.#lineStart, feed);
      if (windowText === null) {
        handle(decodeOrNull(bytes), bytes);
      } else {
        const next = windowText.indexOf("\n", at);
        handle(windowText.slice(at, next), bytes);
        at = next + 1;
      }
      this.#lineStart = this.#lineEnd;
    }
  }

  #carry(rest: Uint8Array): void {
    if (rest.length === 0) return;
    if (this.#isTooLong || this.#carried + rest.length > LINE_LIMIT_BYTES) {
      this.#hashCarried();
      this.#digest.update(rest);
      this.#isTooLong = true;
      return;
    }
    this.#reserve(this.#carried + rest.length);
    this.#buffer.set(rest, this.#carried);
    this.#carried += rest.length;
  }

  #reserve(length: number): void {
    if (length <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(length, 2 * this.#buffer.length));
    larger.set(this.#buffer.subarray(0, this.#carried));
    this.#buffer = larger;
  }

  #hashCarried(): void {
    if (this.#carried > 0) this.#digest.update(this.#buffer.subarray(0, this.#carried));
    this.#carried = 0;
  }

  #hashUpTo(end: number): void {
    if (end > this.#hashedTo) this.#digest.update(this.#window.subarray(this.#hashedTo, end));
    this.#hashedTo = Math.max(this.#hashedTo, end);
  }
}

function decodeOrNull(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}
