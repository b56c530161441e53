/**
 * Joins inserts of single rows into one table to inserts of many rows. The fixed cost of a statement (its
 * text, its part of the request, its preparation) is then paid once for all of them. Triggers and conflicts
 * apply to each row as before.
 */
import type { Statement } from "./database.ts";

/**
 * Maximum number of rows in one statement. Fewer rows are split into powers of two, so that an insert has few
 * texts.
 */
const ROWS_TOGETHER = 64;

/** An insert of one row whose parameters are the values of that row only. */
const ONE_ROW = /^(insert into [^?]* values )(\(\?(?:, \?)*\))([^?]*)$/;

/** The same statements in the same order; consecutive statements of the same text are joined. */
export function joinInserts(statements: readonly Statement[]): readonly Statement[] {
  const joined: Statement[] = [];
  for (let first = 0; first < statements.length;) {
    const { sql, mustChange } = statements[first]!;
    let end = first + 1;
    while (end < statements.length && mustChange === undefined && statements[end]!.sql === sql) end += 1;
    const rows = statements.slice(first, end);
    joined.push(...(rows.length === 1 ? rows : joinRows(rows)));
    first = end;
  }
  return joined;
}

function joinRows(rows: readonly Statement[]): readonly Statement[] {
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
