/** Reads the inputs or other parts of a chain's entries from the database, page by page. */
import type { PartName } from "../evidence/hashes.ts";
import { type Database, query } from "./database.ts";
import { readPages } from "./paging.ts";

/** An entry as it was hashed, with its part `input`. */
export type RecordedInput = RecordedPart;

/** An entry as it was hashed, with one of its parts. */
export interface RecordedPart {
  readonly seq: number;
  readonly event_type: string;
  readonly body: string;
  readonly salt: Uint8Array;
  readonly data: string;
}

export interface InputSpan {
  readonly chain: string;
  /** Seq of the first entry (inclusive); `end` is exclusive. */
  readonly first: number;
  readonly end: number;
  /** null for every type. The column of types can be altered by anyone who holds the file. */
  readonly eventTypes: readonly string[] | null;
}

/** Rows of a page: an input has about three kilobytes. */
const ROWS_IN_PAGE = 200;

/** The entries of these types whose input is still held, oldest first. */
export function readInputs(database: Database, span: InputSpan): AsyncGenerator<readonly RecordedInput[]> {
  return readParts(database, { ...span, name: "input" });
}

/** The entries of these types of which this part is still held, oldest first. */
export function readParts(
  database: Database,
  { chain, first, end, eventTypes, name }: InputSpan & { readonly name: PartName },
): AsyncGenerator<readonly RecordedPart[]> {
  const parts = query.selectFrom("audit_entry as e")
    .innerJoin(
      "audit_part as p",
      (join) => join.onRef("p.chain", "=", "e.chain").onRef("p.seq", "=", "e.seq").on("p.name", "=", name),
    )
    .select(["e.seq", "e.event_type", "e.body", "p.salt", "p.data"])
    .$narrowType<{ salt: Uint8Array; data: string }>()
    .where("p.salt", "is not", null).where("p.data", "is not", null)
    .where("e.chain", "=", chain).where("e.seq", "<", end)
    .$if(eventTypes !== null, (all) => all.where("e.event_type", "in", eventTypes!)).orderBy("e.seq");
  return readPages<RecordedPart>(
    database,
    (after, limit) =>
      parts.where("e.seq", ">=", after === null ? first : after.seq + 1).limit(limit).compile(),
    ROWS_IN_PAGE,
  );
}
