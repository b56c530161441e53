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
  /** The newest signed checkpoint: what an auditor keeps. */
  readonly checkpoint: string | null;
  readonly findings: readonly {
    readonly code: string;
    readonly fatal: boolean;
    readonly sentence: string;
    readonly detail: string | null;
    readonly file: string | null;
    readonly line: number | null;
  }[];
  /** Findings beyond those. */
  readonly dropped: number;
}
