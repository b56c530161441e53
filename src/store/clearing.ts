/** Clears a database's file and its write-ahead log of deleted data. */
import { DatabaseBusy } from "./database.ts";
import type { FileConnection } from "./file_connection.ts";
import { PageScrubber } from "./scrub.ts";
import { nextTurn } from "./turn.ts";

export class Clearing {
  readonly #file: FileConnection;
  readonly #path: string;
  /** The number of deletions. It starts at 1 because those of an earlier process are unknown. */
  #deletions = 1;
  /** The number of deletions of which the file has been cleared. */
  #cleared = 0;
  #scrubber: PageScrubber | null = null;
  #isClosed = false;

  constructor(file: FileConnection, path: string) {
    this.#file = file;
    this.#path = path;
  }

  /** Notes that a statement deleted personal data. */
  noteDeletion(): void {
    this.#deletions += 1;
  }

  /**
   * @returns false if a reader holds the log, or if the file was closed meanwhile.
   * @throws {DatabaseBusy} if another process reads or writes.
   */
  async clear(): Promise<boolean> {
    const upTo = this.#deletions;
    if (!this.#emptyLog()) return false;
    if (this.#cleared >= upTo || this.#path === ":memory:") return true;
    this.#scrubber ??= new PageScrubber(this.#path);
    for (let page: number | null = 0; page !== null;) {
      page = this.#scrubFrom(this.#scrubber, page);
      await nextTurn();
      // The rest is done when the file is opened again.
      if (this.#isClosed) return false;
    }
    this.#cleared = Math.max(this.#cleared, upTo);
    return this.#emptyLog();
  }

  /** Ends the clearing. Call it once the connection is closed. */
  close(): void {
    this.#isClosed = true;
    this.#scrubber?.close();
  }

  /** Returns false if a reader holds the log. */
  #emptyLog(): boolean {
    const row = this.#file.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
    return row.busy === 0;
  }

  /**
   * @returns the page to continue with; null at the end.
   * @throws {DatabaseBusy} if another process reads or writes.
   */
  #scrubFrom(pages: PageScrubber, first: number): number | null {
    if (!this.#emptyLog()) throw new DatabaseBusy("a reader holds the log");
    try {
      return this.#file.writing(() => {
        if (Deno.statSync(`${this.#path}-wal`).size > 0) {
          throw new DatabaseBusy("another process has written");
        }
        const { changed, next } = pages.step(first);
        // Other connections cache pages that were changed without their notice; this commit makes them drop
        // the cache.
        if (changed) this.#file.exec(`PRAGMA user_version = ${this.#userVersion() === 1 ? 2 : 1}`);
        return next;
      });
    } finally {
      // This connection drops its cache too.
      this.#file.exec("PRAGMA shrink_memory");
    }
  }

  #userVersion(): number {
    const row = this.#file.prepare("PRAGMA user_version").get() as { user_version: number };
    return row.user_version;
  }
}
