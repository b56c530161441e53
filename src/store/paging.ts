/** Reading many rows in pages: a database server bounds an answer, and what is read whole is held whole. */
import type { CompiledQuery } from "kysely";
import type { Database } from "./database.ts";

/** Rows of a page: of those of some hundred bytes a few hundred kilobytes. */
const ROWS_IN_PAGE = 1_000;

/** The page after a row, in the order of a key; null: the first. */
export type PageQuery<Row> = (after: Row | null, limit: number) => CompiledQuery<Row>;

/** All rows, page by page: each page of a state of its own. Rows of some kilobytes want smaller pages. */
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

/** A list cut into pieces of at most so many. */
export function piecesOf<Item>(items: readonly Item[], most: number): readonly (readonly Item[])[] {
  return Array.from(
    { length: Math.ceil(items.length / most) },
    (_, index) => items.slice(index * most, (index + 1) * most),
  );
}
