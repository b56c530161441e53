/** Tables as CSV files (RFC 4180) that a spreadsheet opens without running anything in them. */

/** A value of the API, unrounded. */
export type CsvValue = string | number | boolean | null | undefined;

/** The columns of a file: the API's name of each value, and the value of a row. */
export type CsvColumns<Row> = Readonly<Record<string, (row: Row) => CsvValue>>;

/** Spreadsheets take a file without this mark for one in the encoding of the machine. */
const BYTE_ORDER_MARK = "\uFEFF";

/** A cell that begins so is a formula to a spreadsheet. */
const FORMULA = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;
const PLAIN_NUMBER = /^[+-]?\d+(?:\.\d+)?$/;

/** Rows as a file with a line of names. A value that is not there is an empty cell. */
export function csvOf<Row>(columns: CsvColumns<Row>, rows: readonly Row[]): string {
  const lines = [
    Object.keys(columns),
    ...rows.map((row) => Object.values(columns).map((valueOf) => valueOf(row))),
  ];
  return BYTE_ORDER_MARK + lines.map((line) => `${line.map(cellOf).join(",")}\r\n`).join("");
}

function cellOf(value: CsvValue): string {
  if (value === null || value === undefined) return "";
  const text = String(value);
  const isFormula = typeof value === "string" && FORMULA.test(text) && !PLAIN_NUMBER.test(text);
  const safe = isFormula ? `'${text}` : text;
  // A spreadsheet of some languages parts cells at semicolons.
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The name of a table's file: the table, and the instant in UTC at which it is saved. */
export function csvName(label: string, now: Date): string {
  const table = label.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
  return `${table}-${now.toISOString().slice(0, 19).replaceAll(":", "-")}Z.csv`;
}
