/** Findings about the rows beside a chain. */
import type { Reading } from "../shared/capabilities.ts";

/** The dependencies for checking rows. */
export type RowReading = Pick<Reading, "database" | "seals">;

/** A fault of the rows beside a chain. */
export interface SealedRowFinding {
  readonly chain: string;
  /** The entry whose row it is; null if it is no single entry. */
  readonly seq: number | null;
  /** The fault, as a clause for a sentence. */
  readonly detail: string;
}
