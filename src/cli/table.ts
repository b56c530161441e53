/** Rows of text in columns, each as wide as its widest cell; the last one is never padded. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]!.length)));
  return rows
    .map((row) => row.map((cell, index) => cell.padEnd(widths[index]!)).join("  ").trimEnd())
    .join("\n");
}
