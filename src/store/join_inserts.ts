/**
 * Inserts of single rows into one table, joined to inserts of many: what a statement costs by itself, its text, its
 * request's part and its preparation, is paid once for all of them. A row's triggers and conflicts are as before.
 */
import type { Statement } from "./database.ts";

/** Rows in one statement at most; fewer are so many as a power of two, so that of one insert there are few texts. */
const ROWS_TOGETHER = 64;

/** An insert of one row whose parameters are that row's values alone. */
const ONE_ROW = /^(insert into [^?]* values )(\(\?(?:, \?)*\))([^?]*)$/;

/** The same statements in the same order, those of one text that follow one another joined. */
export function joinInserts(statements: readonly Statement[]): readonly Statement[] {
  const joined: Statement[] = [];
  for (let first = 0; first < statements.length;) {
    const { sql, mustChange } = statements[first]!;
    let end = first + 1;
    while (end < statements.length && mustChange === undefined && statements[end]!.sql === sql) end += 1;
    const rows = statements.slice(first, end);
    joined.push(...(rows.length === 1 ? rows : together(rows)));
    first = end;
  }
  return joined;
}

function together(rows: readonly Statement[]): readonly Statement[] {
  const parts = ONE_ROW.exec(rows[0]!.sql);
  if (parts === null) return rows;
  const [, head, row, tail] = parts;
  const statements: Statement[] = [];
  for (let first = 0; first < rows.length;) {
    const left = Math.min(rows.length - first, ROWS_TOGETHER);
    const count = 2 ** Math.floor(Math.log2(left));
    const parameters = rows.slice(first, first + count).flatMap((statement) => statement.parameters);
    statements.push({ sql: `${head}${Array(count).fill(row).join(", ")}${tail}`, parameters });
    first += count;
  }
  return statements;
}
