/**
 * Lines on their way to a reader that may be slow, stopped or gone. Adding a line never waits for the reader.
 *
 * Lines that do not fit are dropped and counted. The reader gets one line with the number of lost lines, at
 * the place where they are missing.
 */

/** Number of characters in one write; its last line may exceed it. */
const PIECE_LENGTH = 65_536;

const LINE_FEED = 0x0a;

export interface LineQueueOptions {
  /**
   * Writes some of the bytes, however long that takes, and returns how many it wrote.
   * @throws if it cannot write.
   */
  readonly write: (bytes: Uint8Array) => Promise<number>;
  /** Maximum number of characters that may wait. A single line may be longer. */
  readonly limit: number;
  /** The line that reports lost lines, with its line feed. */
  readonly lossLine: (lost: number) => string;
  /**
   * Called on the first lost line, and again on the first one after the reader was informed of all earlier
   * losses.
   */
  readonly onLost: (reason: string) => void;
}

/** A line, or a gap with the number of lines that are missing. */
type Item = string | { lost: number };

export class LineQueue {
  readonly #waiting: Item[] = [];
  #waitingLength = 0;
  #writing: Promise<void> | null = null;
  #lost = 0;
  #isLosing = false;
  #isCutOff = false;
  readonly #encoder = new TextEncoder();

  constructor(private readonly options: LineQueueOptions) {}

  /** Number of lines lost since the start. */
  get lost(): number {
    return this.#lost;
  }

  /** Adds a line, which must end with a line feed. It is lost if there is no room. */
  put(line: string): void {
    if (this.#hasRoomFor(line)) {
      this.#waiting.push(line);
      this.#waitingLength += line.length;
      this.#writing ??= this.#writeAll();
      return;
    }
    const last = this.#waiting.at(-1);
    if (typeof last === "object") last.lost += 1;
    else this.#waiting.push({ lost: 1 });
    this.#countLost(1, "its reader does not read");
  }

  /** Resolves once each line is written or lost. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  #hasRoomFor(line: string): boolean {
    if (this.#writing === null) return true;
    // One gap instead of many small ones: after a gap, the reader must catch up first.
    if (typeof this.#waiting.at(-1) === "object") return false;
    return this.#waitingLength + line.length <= this.options.limit;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const piece = this.#takePiece();
      const failure = await this.#write(piece);
      if (failure === null) continue;
      const { missing, reason } = failure;
      this.#countLost(missing.filter((item) => typeof item === "string").length, reason);
      this.#putGapFirst(missing.reduce((sum, item) => sum + (typeof item === "string" ? 1 : item.lost), 0));
      // A gap alone is not tried again at once: it is written with the next line.
      if (this.#waiting.length === 1) break;
    }
    this.#writing = null;
  }

  #takePiece(): readonly Item[] {
    let length = 0;
    let count = 0;
    while (count < this.#waiting.length && length < PIECE_LENGTH) {
      const item = this.#waiting[count]!;
      if (typeof item === "string") length += item.length;
      count += 1;
    }
    this.#waitingLength -= length;
    return this.#waiting.splice(0, count);
  }

  /** Puts a gap before everything that waits. */
  #putGapFirst(lost: number): void {
    const first = this.#waiting[0];
    if (typeof first === "object") first.lost += lost;
    else this.#waiting.unshift({ lost });
  }

  /** Returns the items that could not be written, and the reason; null if all were written. */
  async #write(
    piece: readonly Item[],
  ): Promise<{ readonly missing: readonly Item[]; readonly reason: string } | null> {
    const texts = piece.map((item) => typeof item === "string" ? item : this.options.lossLine(item.lost));
    const start = this.#isCutOff ? "\n" : "";
    const bytes = this.#encoder.encode(start + texts.join(""));
    let written = 0;
    try {
      while (written < bytes.length) {
        written += await this.options.write(bytes.subarray(written));
        this.#isCutOff = written < bytes.length && bytes[written - 1] !== LINE_FEED;
      }
    } catch (error) {
      let end = start.length;
      const firstMissing = texts.findIndex((text) => (end += this.#encoder.encode(text).length) > written);
      return { missing: piece.slice(firstMissing), reason: String(error) };
    }
    if (piece.some((item) => typeof item === "object")) this.#isLosing = false;
    return null;
  }

  #countLost(lines: number, reason: string): void {
    this.#lost += lines;
    if (this.#isLosing || lines === 0) return;
    this.#isLosing = true;
    this.options.onLost(reason);
  }
}
