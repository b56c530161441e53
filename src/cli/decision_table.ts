/**
 * Reads a table of decisions: a CSV file (RFC 4180) with a header, one decision in each row, and columns named as
 * the API's fields. An empty cell is null. Every value is held to the API's own schema.
 */
import { parse } from "csv-parse/stream";
import { decisionRowSchema } from "../domain/decision_row.ts";
import type { TableDecision } from "../scoring/evaluation/evaluation.ts";
import { domainRules, type ModelDocument } from "../scoring/model.ts";
import { CommandFailure, EXIT } from "./shell.ts";
import { type Input, openInput } from "./verify_input.ts";

const FLAGS: Readonly<Record<string, boolean>> = { true: true, "1": true, false: false, "0": false };

/** What the cells of a column are read as; a text that is not of that kind goes to the schema as it is. */
const READERS = {
  text: (cell: string): unknown => cell,
  flag: (cell: string): unknown => FLAGS[cell.toLowerCase()] ?? cell,
  number: (cell: string): unknown => /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(cell) ? Number(cell) : cell,
};

const COLUMNS: Readonly<Record<string, keyof typeof READERS>> = {
  operator_id: "text",
  domain: "text",
  scenario_type: "text",
  decision: "text",
  modification_extent: "number",
  outcome_correct: "flag",
  ai_correct: "flag",
  time_to_decision_ms: "number",
  hover_events: "number",
  scroll_depth: "number",
  alternative_views_checked: "number",
  ai_recommendation_presented: "flag",
  ai_available: "flag",
  fold: "text",
};
const REQUIRED = ["operator_id", "decision"] as const;

/** A table that is read row by row. */
export interface DecisionTable {
  /** Names of columns that were not read; complete after the first row. */
  readonly ignoredColumns: readonly string[];
  /**
   * All rows, once. A decision without a time gets the reference time of its domain in the model.
   * @throws {CommandFailure} 2 for a file that is no table or has no decision, or a value that the API would refuse.
   */
  rows(model: ModelDocument): AsyncGenerator<TableDecision>;
  close(): void;
}

/** @throws {CommandFailure} 2 if the file cannot be read. */
export async function openDecisionTable(name: string): Promise<DecisionTable> {
  const input = await openInput(name);
  const ignored: string[] = [];
  return {
    ignoredColumns: ignored,
    rows: (model) => readRows(input, { model, ignored }),
    close: () => input.close(),
  };
}

async function* readRows(
  input: Input,
  { model, ignored }: { readonly model: ModelDocument; readonly ignored: string[] },
): AsyncGenerator<TableDecision> {
  if (input.form !== null) {
    throw refused(input.name, input.form === "empty" ? "it is empty" : `it is ${input.form}, not UTF-8 text`);
  }
  const parser = parse({
    bom: true,
    info: true,
    record_delimiter: ["\r\n", "\n", "\r"],
    skip_empty_lines: true,
    columns: (header: string[]) => {
      ignored.push(...requireColumns(input.name, header));
      return header;
    },
  });
  const bytes = ReadableStream.from(copies(input))
    .pipeThrough(new TextDecoderStream("utf-8", { fatal: true }))
    .pipeThrough(new TextEncoderStream())
    .pipeThrough(parser as unknown as TransformStream<Uint8Array, CsvRow>);
  let isEmpty = true;
  try {
    for await (const { record, info } of bytes) {
      isEmpty = false;
      yield decisionOf(record, { model, where: `${input.name}, line ${info.lines}` });
    }
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw refused(input.name, error instanceof TypeError ? "it is not UTF-8 text" : (error as Error).message);
  }
  if (isEmpty) throw refused(input.name, "it has no decision: there is no row below its first line");
}

interface CsvRow {
  readonly record: Readonly<Record<string, string>>;
  readonly info: { readonly lines: number };
}

/** The pieces of an input are valid only until the next one. */
async function* copies(input: Input): AsyncGenerator<Uint8Array> {
  for await (const piece of input.pieces()) yield piece.slice();
}

/** The columns that have no meaning here. @throws {CommandFailure} if a column is missing or there twice. */
function requireColumns(name: string, header: readonly string[]): readonly string[] {
  const missing = REQUIRED.filter((column) => !header.includes(column));
  if (missing.length > 0) {
    // A spreadsheet of a country with a decimal comma saves a table with semicolons.
    const hint = header.length === 1 && header[0]!.includes(";") ? ": columns are separated by commas" : "";
    throw refused(name, `its first line has no column ${missing.join(", ")}${hint}`);
  }
  const twice = header.find((column, index) => column in COLUMNS && header.indexOf(column) !== index);
  if (twice !== undefined) throw refused(name, `its first line has the column ${twice} twice`);
  return header.filter((column) => !Object.hasOwn(COLUMNS, column));
}

function decisionOf(
  record: CsvRow["record"],
  { model, where }: { readonly model: ModelDocument; readonly where: string },
): TableDecision {
  const cells = Object.entries(COLUMNS).flatMap(([column, kind]) => {
    const cell = (record[column] ?? "").trim();
    return cell === "" ? [] : [[column, READERS[kind](cell)]];
  });
  const parsed = decisionRowSchema.safeParse(Object.fromEntries(cells));
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw refused(where, `${path.join(".")}: ${message}`);
  }
  const { operator_id: operatorId, domain, fold, time_to_decision_ms, ...rest } = parsed.data;
  const interaction = {
    ...rest,
    time_to_decision_ms: time_to_decision_ms ?? domainRules(model, domain).reference_ms,
  };
  return { operatorId, domain, fold, interaction };
}

function refused(where: string, reason: string): CommandFailure {
  return new CommandFailure(`${where}: ${reason}`, EXIT.usage);
}
