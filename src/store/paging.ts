/**
 * Reads many rows in pages: a database server limits the size of an answer, and rows that are read at once
 * are held in memory at once.
 */
import type { CompiledQuery } from "kysely";
import type { Database } from "./database.ts";

/** Rows in a page: a few hundred kilobytes if a row has some hundred bytes. */
const ROWS_IN_PAGE = 1_000;

/** The query for the page after a row, in the order of a key; null for the first page. */
export type PageQuery<Row> = (after: Row | null, limit: number) => CompiledQuery<Row>;

/**
 * All rows, page by page. Each page is of its own state of the database. Rows of some kilobytes need smaller
 * pages.
 */
export async function* readPages<Row>(
  database: Database,
  pageAfter: PageQuery<Row>,
  rowsInPage = ROWS_IN_PAGE,
): AsyncGenerator<readonly Row[]> {
  for (let after: Row | null = null;;) {
    const page: readonly Row[] = await database.read(pageAfter(after, rowsInPage));
    if (page.length > 0) yield page;
    if (page.length < rowsInPage) return;
    after = page.at(-1)!;
  }
}

/** Cuts a list into pieces of at most `most` items. */
export function chunksOf<Item>(items: readonly Item[], most: number): readonly (readonly Item[])[] {
  return Array.from(
    { length: Math.ceil(items.length / most) },
    (_, index) => items.slice(index * most, (index + 1) * most),
  );
}
