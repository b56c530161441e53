/**
 * Clears what an SQLite file still holds of deleted rows outside of any row.
 *
 * `secure_delete` overwrites a row when it is deleted and a page when it is freed. It does not clear the
 * copies that stay behind if SQLite moves rows from one page to another: such a copy lies in the unused part
 * of its page until something is written there. This module overwrites these parts in place. No row, pointer
 * or count changes: a page is sound before, after, and if the write stops at any byte, and a concurrent
 * reader reads the same rows. VACUUM would have the same effect, but writes the whole database anew while
 * everybody waits.
 * Source: https://sqlite.org/fileformat2.html, sections 1.3 and 1.6.
 */

/** Size of the header of an interior or leaf page, by its first byte, the flag. */
const HEADER_SIZES: Readonly<Record<number, number>> = { 2: 12, 5: 12, 10: 8, 13: 8 };

/** The file's own header comes before the header of its first page. */
const FILE_HEADER_BYTES = 100;

/** Number of pages in one step: a few milliseconds of work. */
const PAGES_IN_STEP = 512;

/**
 * Pages of other kinds begin with the number of another page: four bytes, most significant first. If the file
 * has fewer pages than this, their first byte cannot be one of the flags.
 */
const PAGES_MAX = 2 ** 25;

interface PageLayout {
  /** Offset of the page's header. */
  readonly header: number;
  /** Bytes of a page that SQLite uses. */
  readonly usable: number;
}

/**
 * Overwrites the part of a page that no row uses. A page that holds no rows stays as it is.
 * @returns whether anything changed.
 */
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

/** Uses an index: a callback for each byte of the file would take ten times as long. */
function isClear(bytes: Uint8Array): boolean {
  for (let index = 0; index < bytes.length; index += 1) {
    if (bytes[index] !== 0) return false;
  }
  return true;
}

export interface ScrubStep {
  readonly changed: boolean;
  /** The page to continue with; null at the end. */
  readonly next: number | null;
}

/** The pages of a database file. */
export class PageScrubber {
  /**
   * Stays open until the connection is closed: on POSIX, closing any descriptor of a file releases all locks
   * that the process holds on it, including SQLite's (https://sqlite.org/howtocorrupt.html, section 2.2).
   */
  readonly #file: Deno.FsFile;
  /** Reused for the pages of each step. */
  #buffer: Uint8Array | null = null;

  /** The file must be a database in WAL mode. */
  constructor(path: string) {
    this.#file = Deno.openSync(path, { read: true, write: true });
  }

  /**
   * Clears the pages of one step, from page `first` (counted from 0), durably. The caller must hold the write
   * lock while the log is empty: then nobody else writes the file.
   * @throws {RangeError} if the file has 2^25 pages or more; {Error} from the file system.
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

  /** Call it after the connection is closed. */
  close(): void {
    this.#file.close();
  }

  #geometry(): { readonly size: number; readonly usable: number } {
    const header = this.#read(0, FILE_HEADER_BYTES, new Uint8Array(FILE_HEADER_BYTES));
    const size = new DataView(header.buffer).getUint16(16);
    const bytes = size === 1 ? 65_536 : size;
    return { size: bytes, usable: bytes - header[20]! };
  }

  /** Reads into the beginning of `into`. @throws {RangeError} if the file ends earlier. */
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
