/**
 * Findings about the rows beside the entries when a chain is verified in the database: codes that a bundle
 * cannot have, and those codes of a bundle's findings that fit.
 */
import type { FindingCode } from "../../evidence/findings.ts";

const SENTENCES = {
  COLUMN_MISMATCH: "A column of the database says something else than what was signed: it was changed.",
  NODE_MISMATCH: "A hash of the tree in the database is not the tree's: it was changed, added or taken out.",
  KEY_UNCERTIFIED:
    "The database names a signing key, or the sizes that one signs, by which nothing was certified.",
  REPORT_MISMATCH: "A report in the database is missing, or is not the one that was issued.",
  TOMBSTONE_MISMATCH:
    "A record is said to be gone by an entry that does not tell of it, or nothing is left that says so.",
  UNSIGNED_TAIL: "An entry in the database is not covered by any signature.",
  WRONG_ORIGIN: "A checkpoint in the database belongs to another log, or is none.",
  BAD_SIGNATURE: "The signature of a checkpoint in the database is false.",
  ROOT_MISMATCH: "A checkpoint in the database is not of what it covers.",
  MODEL_MISMATCH:
    "A scoring model in the database was changed: it does not have the fingerprint that it is kept under.",
} as const satisfies Readonly<Record<string, string>>;

export type RowCode = keyof typeof SENTENCES;

/** The codes that only the verification of a database has. */
export const ROW_CODES: readonly RowCode[] = [
  "COLUMN_MISMATCH",
  "NODE_MISMATCH",
  "KEY_UNCERTIFIED",
  "REPORT_MISMATCH",
  "TOMBSTONE_MISMATCH",
];

export interface Found {
  readonly chain: string;
  readonly code: FindingCode | RowCode;
  readonly fatal: true;
  readonly seq: number | null;
  /** The table and column, and other facts for an expert. */
  readonly detail: string;
}

/** Most findings that one verification keeps. */
const FINDINGS_LIMIT = 64;

export class FoundRows {
  readonly #findings: Found[] = [];

  add(code: RowCode, finding: Omit<Found, "code" | "fatal">): void {
    if (!this.isFull) this.#findings.push({ ...finding, code, fatal: true });
  }

  get isFull(): boolean {
    return this.#findings.length >= FINDINGS_LIMIT;
  }

  /** The findings in the form of an answer. */
  shown() {
    return this.#findings.map((finding) => ({
      ...finding,
      range: null,
      sentence: SENTENCES[finding.code as RowCode],
    }));
  }
}
