/**
 * Clearing what an SQLite file still holds of deleted rows outside of any row.
 *
 * `secure_delete` overwrites a row as it is deleted and a page as it is freed. It does not reach the copies that stay
 * behind where SQLite moves rows from one page to another: such a copy lies in that part of its page which no row uses,
 * until something is put there. Here these parts are overwritten in place. No row, pointer or count changes: a page is
 * sound before, after, and torn at any byte between, and who reads the file meanwhile reads the same rows. VACUUM would
 * do as much by writing the whole database anew, with everybody waiting.
 * Source: https://sqlite.org/fileformat2.html, sections 1.3 and 1.6.
 */

/** The size of an interior or leaf page's header, by the flag that it begins with. */
const HEADER_SIZES: Readonly<Record<number, number>> = { 2: 12, 5: 12, 10: 8, 13: 8 };

/** The file's own header stands before that of its first page. */
const FILE_HEADER_BYTES = 100;

/** Pages that one step looks at: a few milliseconds of work. */
const PAGES_IN_STEP = 512;

/**
 * Other pages begin with the number of another page, four bytes, most significant first: below this many pages its first
 * byte is none of the flags.
 */
const PAGES_MAX = 2 ** 25;

interface PageLayout {
  /** Where the page's header begins. */
  readonly header: number;
  /** Bytes of a page that SQLite uses. */
  readonly usable: number;
}

/** Overwrites what no row of a page uses; a page that holds no rows stays as it is. @returns whether anything changed. */
export function clearUnused(page: Uint8Array, { header, usable }: PageLayout): boolean {
  const headerSize = HEADER_SIZES[page[header]!];
  if (headerSize === undefined) return false;
  const view = new DataView(page.buffer, page.byteOffset, page.byteLength);
  const cells = view.getUint16(header + 3);
  // 0 stands for 65,536.
  const content = view.getUint16(header + 5) || 65_536;
  const start = header + headerSize + 2 * cells;
  if (start > content || content > usable) return false;
  const unused = page.subarray(start, content);
  if (isClear(unused)) return false;
  unused.fill(0);
  return true;
}

/** By index: a callback for each byte would take ten times as long, on every byte of the file. */
function isClear(bytes: Uint8Array): boolean {
  for (let index = 0; index < bytes.length; index += 1) {
    if (bytes[index] !== 0) return false;
  }
  return true;
}

export interface ScrubStep {
  readonly changed: boolean;
  /** The page to go on with; null at the end. */
  readonly next: number | null;
}

/** The pages of a database file. */
export class PageScrubber {
  /**
   * Held until the connection is closed: on POSIX closing any descriptor of a file gives up all locks that the process
   * has on it, SQLite's too (https://sqlite.org/howtocorrupt.html, section 2.2).
   */
  readonly #file: Deno.FsFile;
  /** For the pages of one step, again and again. */
  #buffer: Uint8Array | null = null;

  /** For a file that is a database in WAL mode. */
  constructor(path: string) {
    this.#file = Deno.openSync(path, { read: true, write: true });
  }

  /**
   * Clears the pages from `first` on, counted from 0, as many as one step takes, durably. For who holds the write lock
   * while the log is empty: then nobody else writes the file.
   * @throws {RangeError} for a file of more than 2^25 pages; {Error} of the file system.
   */
  step(first: number): ScrubStep {
    const { size, usable } = this.#geometry();
    const count = Math.floor(this.#file.statSync().size / size);
    if (count >= PAGES_MAX) throw new RangeError(`a database of ${count} pages`);
    const end = Math.min(first + PAGES_IN_STEP, count);
    this.#buffer ??= new Uint8Array(PAGES_IN_STEP * size);
    const bytes = this.#read(first * size, Math.max(0, end - first) * size, this.#buffer);
    let changed = false;
    for (let page = first; page < end; page += 1) {
      const own = bytes.subarray((page - first) * size, (page - first + 1) * size);
      if (!clearUnused(own, { header: page === 0 ? FILE_HEADER_BYTES : 0, usable })) continue;
      this.#write(page * size, own);
      changed = true;
    }
    if (changed) this.#file.syncDataSync();
    return { changed, next: end < count ? end : null };
  }

  /** After the connection's own close. */
  close(): void {
    this.#file.close();
  }

  #geometry(): { readonly size: number; readonly usable: number } {
    const header = this.#read(0, FILE_HEADER_BYTES, new Uint8Array(FILE_HEADER_BYTES));
    const size = new DataView(header.buffer).getUint16(16);
    const bytes = size === 1 ? 65_536 : size;
    return { size: bytes, usable: bytes - header[20]! };
  }

  /** Fills the beginning of `into`. */
  #read(position: number, length: number, into: Uint8Array): Uint8Array {
    this.#file.seekSync(position, Deno.SeekMode.Start);
    let filled = 0;
    while (filled < length) {
      const count = this.#file.readSync(into.subarray(filled, length));
      if (count === null) throw new RangeError(`the file ends at ${position + filled}`);
      filled += count;
    }
    return into;
  }

  #write(position: number, bytes: Uint8Array): void {
    this.#file.seekSync(position, Deno.SeekMode.Start);
    for (let written = 0; written < bytes.length;) written += this.#file.writeSync(bytes.subarray(written));
  }
}
