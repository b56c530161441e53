/** The messages between the page and its verifier. */
import type { Verdict } from "../../evidence/report.ts";

/** The one message to the verifier. */
export interface Question {
  readonly files: readonly File[];
  /** Trusted keys, in any form in which keys are handed on; if empty, the file's own key is shown. */
  readonly keys: string;
  /** Checkpoints of earlier visits, as they were saved; empty if there are none. */
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
  /** A sentence on the bundles that are too many to be shown; null if all are shown. */
  readonly others: string | null;
}

/** The input that cannot be used, and the reason. */
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
  /** The newest signed checkpoint, for an auditor to keep; null if the bundle is not intact. */
  readonly checkpoint: string | null;
  /** The first finding of each kind. */
  readonly findings: readonly {
    readonly code: string;
    /** null if no finding of the kind is kept. */
    readonly sentence: string | null;
    readonly detail: string | null;
    readonly file: string | null;
    readonly line: number | null;
    /** A sentence on the other findings of its kind; null if there are none. */
    readonly others: string | null;
  }[];
}
