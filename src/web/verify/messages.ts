/** What the page and its verifier say to each other. */
import type { Verdict } from "../../evidence/report.ts";

/** To the verifier: once. */
export interface Question {
  readonly files: readonly File[];
  /** Keys that are trusted, in any form in which one is handed on; empty: none, the file's own is shown. */
  readonly keys: string;
  /** Checkpoints of earlier visits, as they were saved; empty: none. */
  readonly kept: string;
}

export interface Progressed {
  readonly kind: "progress";
  readonly entries: number;
  readonly bytes: number;
  readonly total: number;
}

export interface Verified {
  readonly kind: "verified";
  readonly bundles: readonly VerifiedBundle[];
  /** What is to be said of those that are too many to be shown; null where all are shown. */
  readonly others: string | null;
}

/** What was given cannot be used, and why. */
export interface Unusable {
  readonly kind: "unusable";
  readonly field: "keys" | "kept" | "files";
  readonly message: string;
}

export type Told = Progressed | Verified | Unusable;

export interface VerifiedBundle {
  readonly origin: string;
  readonly verdict: Verdict;
  /** The verdict as it is shown. */
  readonly words: string;
  readonly sentence: string;
  readonly entries: number;
  readonly replayed: number;
  readonly erased: number;
  readonly withheld: number;
  readonly keyFingerprint: string | null;
  /** The newest signed checkpoint: what an auditor keeps; null where the bundle is not intact. */
  readonly checkpoint: string | null;
  /** The first of each kind. */
  readonly findings: readonly {
    readonly code: string;
    /** null where none of the kind is kept. */
    readonly sentence: string | null;
    readonly detail: string | null;
    readonly file: string | null;
    readonly line: number | null;
    /** What is to be said of the others of its kind; null where there are none. */
    readonly others: string | null;
  }[];
}
