/** What is found of the rows beside a chain. */
import type { Reading } from "../shared/capabilities.ts";

/** What looking at rows needs. */
export type RowReading = Pick<Reading, "database" | "seals">;

/** Something that is wrong with the rows beside a chain. */
export interface SealedRowFinding {
  readonly chain: string;
  /** The entry whose row it is; null where it is no single one. */
  readonly seq: number | null;
  /** What is wrong, for a sentence. */
  readonly detail: string;
}
