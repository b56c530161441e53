/**
 * Findings about the rows beside the entries when a chain is verified in the database: codes that a bundle
 * cannot have, and those codes of a bundle's findings that fit.
 */
import type { FindingCode } from "../../evidence/findings.ts";

const SENTENCES = {
  COLUMN_MISMATCH: "A column of the database differs from what was signed: it was changed.",
  NODE_MISMATCH:
    "A hash in the database is not the one of the signed tree: it was changed, added or removed.",
  KEY_UNCERTIFIED:
    "No certificate confirms a signing key that the database names, or the sizes that the key signs.",
  REPORT_MISMATCH: "A report in the database is missing, or is not the one that was issued.",
  TOMBSTONE_MISMATCH:
    "The database names a wrong entry as the reason why a record is gone, or names none any more.",
  UNSIGNED_TAIL: "An entry in the database is not covered by any signature.",
  WRONG_ORIGIN: "A checkpoint in the database belongs to another log, or is none.",
  BAD_SIGNATURE: "The signature of a checkpoint in the database is false.",
  ROOT_MISMATCH: "A checkpoint in the database does not match the entries that it covers.",
  MODEL_MISMATCH:
    "A scoring model in the database was changed: it does not have the fingerprint under which it is stored.",
} as const satisfies Readonly<Record<string, string>>;

export type RowCode = keyof typeof SENTENCES;

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
