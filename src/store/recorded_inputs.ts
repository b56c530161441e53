/** Reading the inputs of a chain's entries out of the database, page by page. */
import { type Database, query } from "./database.ts";
import { readPages } from "./paging.ts";

/** An entry as it was hashed, with its part `input`. */
export interface RecordedInput {
  readonly seq: number;
  readonly event_type: string;
  readonly body: string;
  readonly salt: Uint8Array;
  readonly data: string;
}

export interface InputSpan {
  readonly chain: string;
  /** The first entry, and the one after the last. */
  readonly first: number;
  readonly end: number;
  readonly eventTypes: readonly string[];
}

/** Rows of a page: an input has about three kilobytes. */
const ROWS_IN_PAGE = 200;

/** The entries of these types whose input is still held, oldest first. */
export function readInputs(
  database: Database,
  { chain, first, end, eventTypes }: InputSpan,
): AsyncGenerator<readonly RecordedInput[]> {
  const inputs = query.selectFrom("audit_entry as e")
    .innerJoin(
      "audit_part as p",
      (join) => join.onRef("p.chain", "=", "e.chain").onRef("p.seq", "=", "e.seq").on("p.name", "=", "input"),
    )
    .select(["e.seq", "e.event_type", "e.body", "p.salt", "p.data"])
    .$narrowType<{ salt: Uint8Array; data: string }>()
    .where("p.salt", "is not", null).where("p.data", "is not", null)
    .where("e.chain", "=", chain).where("e.event_type", "in", eventTypes).where("e.seq", "<", end)
    .orderBy("e.seq");
  return readPages<RecordedInput>(
    database,
    (after, limit) =>
      inputs.where("e.seq", ">=", after === null ? first : after.seq + 1).limit(limit).compile(),
    ROWS_IN_PAGE,
  );
}
