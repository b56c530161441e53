/**
 * The outcome of a verification, and the verdict on all of it.
 *
 * Pure. Source: contract, section 1; evidence design, "Read first", point 8.
 */
import type { DocumentReport, EvidenceFault } from "../evidence/document.ts";
import type { FileReport } from "../evidence/files.ts";
import type { EntryRange } from "../evidence/findings.ts";
import type { KnownCheckpoint } from "../evidence/kept.ts";
import {
  type BundleReport,
  type ExitCode,
  sentenceOfVerdict,
  type Verdict,
  verdictWords,
  worstOf,
} from "../evidence/report.ts";

export interface VerifiedBundle extends FileReport {
  /** The kept checkpoints of this origin that contradict the bundle; empty if none does. */
  readonly contradicted: readonly KnownCheckpoint[];
}

/**
 * The place of a document's entries, according to the given bundles:
 * - `held`: an intact bundle of its log contains them.
 * - `removed`: the bundle begins after them, since the retention rule removed them.
 * - `lost`: a restore lost them, or entries that were signed after them, and the next chain says so.
 * - `beyond`: the bundle ends before the document's checkpoint.
 * - `alone`: there is no bundle of its log, or only one with another entry in its place.
 */
export type DocumentPlace = "held" | "removed" | "lost" | "beyond" | "alone";

/** Why a file is not read as a document. */
export type Unreadable =
  | "not JSON"
  | "too large"
  | "UTF-16"
  | "compressed"
  | "empty"
  | "a checkpoint"
  | "a page";

/**
 * A report that was saved as a page. Only the signed JSON in it is verified. The page around it is one of:
 * - `drawn`: exactly the page that this program draws from the JSON.
 * - `line ends`: the same, except that a copy changed its line ends to those of Windows.
 * - `other`: another page; nobody vouches for its words and figures.
 */
export type DocumentPage = "drawn" | "line ends" | "other";

export interface VerifiedDocument {
  readonly file: string;
  /** null if the file is no document; then `unreadable` says why. */
  readonly report: DocumentReport | null;
  readonly unreadable: Unreadable | null;
  /** null if it was saved as JSON. */
  readonly page: DocumentPage | null;
  /** Whether any key was pinned. */
  readonly hasPins: boolean;
  readonly place: DocumentPlace;
  /** Whether all its statements that it does not prove itself were compared with the entries. */
  readonly isCompared: boolean;
  /** Whether only former keys signed it, and no key in use. */
  readonly isFormer: boolean;
  /** Whether a kept checkpoint of the same size has another root. */
  readonly isForked: boolean;
  /**
   * A kept checkpoint that could not be compared with it: of its chain, or of the same organization in
   * another deployment; null if there is none.
   */
  readonly uncompared: KnownCheckpoint | null;
  /** Fingerprint of the trusted key that signed its checkpoint; null if none did. */
  readonly keyFingerprint: string | null;
}

export interface Outcome {
  readonly bundles: readonly VerifiedBundle[];
  readonly documents: readonly VerifiedDocument[];
  /** Whether scores were to be computed anew. */
  readonly replay: boolean;
  /** Number of `--checkpoint` checkpoints whose chain is not among the given files. */
  readonly unusedCheckpoints: number;
  /** The auditor's directory; null if there is none. */
  readonly rememberedIn: string | null;
}

/** The verdict on a document or a bundle, and the place of its first fault. */
export interface Judgment {
  readonly verdict: Verdict;
  readonly exitCode: ExitCode;
  /** The verdict as it is printed. */
  readonly words: string;
  /** The meaning of the verdict. */
  readonly sentence: string;
  /** Code of the first fault; null if there is none. */
  readonly code: string | null;
  readonly firstBadSeq: number | null;
  /** The range of entries that `firstBadSeq` begins; null if the fault is in that entry. */
  readonly firstBadRange: EntryRange | null;
}

// ---- one of them ------------------------------------------------------------------------------------------

export function judgeBundle(bundle: BundleReport): Judgment {
  const { verdict, exitCode, firstBadSeq, firstBadRange, findings } = bundle;
  return {
    verdict,
    exitCode,
    words: verdictWords(bundle),
    sentence: sentenceOfVerdict(bundle),
    code: findings.find(({ fatal }) => fatal)?.code ?? null,
    firstBadSeq,
    firstBadRange,
  };
}

/** Faults that are proven without a key, or with a trusted key. */
const PROVEN_FAULTS: readonly EvidenceFault[] = [
  "RESULT_MISMATCH",
  "ENTRY_HASH_MISMATCH",
  "INCLUSION_FAILED",
  "BAD_SIGNATURE",
  "WRONG_ORIGIN",
];

export function judgeDocument(document: VerifiedDocument): Judgment {
  const { report, isForked } = document;
  const { verdict, exitCode } = verdictOn(document);
  const entries = report?.entries ?? [];
  return {
    verdict,
    exitCode,
    words: verdict,
    sentence: sentenceOfDocument(document),
    code: report?.fault ?? (isForked ? "FORK_VS_KNOWN_CHECKPOINT" : null),
    firstBadSeq: exitCode === 1 && entries.length > 0 ? Math.min(...entries.map(({ seq }) => seq)) : null,
    firstBadRange: null,
  };
}

function verdictOn(
  { report, page, place, isForked, isFormer, uncompared }: VerifiedDocument,
): { readonly verdict: Verdict; readonly exitCode: ExitCode } {
  if (report === null) return { verdict: "NOT VERIFIABLE", exitCode: 2 };
  const { fault } = report;
  if (fault !== null && PROVEN_FAULTS.includes(fault)) return { verdict: "TAMPERED", exitCode: 1 };
  if (fault !== null) return { verdict: "NOT VERIFIABLE", exitCode: 2 };
  if (isForked) return { verdict: "DIVERGED", exitCode: 1 };
  // Somebody else may sign with an old key by now: only a bundle that contains the entry can tell.
  if (isFormer && place !== "held") return { verdict: "NOT VERIFIABLE", exitCode: 2 };
  // The bundle is an older export, or was cut off: only a newer export can tell.
  if (place === "beyond") return { verdict: "NOT VERIFIABLE", exitCode: 2 };
  // The report inside is intact, but the page that people read was not verified.
  if (page === "other") return { verdict: "NOT VERIFIABLE", exitCode: 2 };
  if (uncompared !== null) return { verdict: "INTACT, NOT COMPARED", exitCode: 2 };
  return { verdict: place === "held" ? "INTACT" : "INTACT, UNANCHORED", exitCode: 0 };
}

const FAULT_SENTENCES: Readonly<Record<EvidenceFault, string>> = {
  MALFORMED: "The file is not an answer of the service with its evidence, or not a whole one.",
  RESULT_MISMATCH: "The document was changed: it does not say what the log recorded.",
  ENTRY_HASH_MISMATCH: "The document was changed: the entry that it shows is not the one that was recorded.",
  INCLUSION_FAILED: "The document's entry does not stand in the signed log where it says.",
  BAD_SIGNATURE: "The signature is false: it, or what it covers, was changed.",
  UNTRUSTED_KEY: "Nothing can be said of the document: no key that you trust signed it.",
  WRONG_ORIGIN: "The document is signed, but under the name of another log than its entry's.",
};

const UNREADABLE_SENTENCES: Readonly<Record<Unreadable, string>> = {
  "not JSON":
    "The file is neither a bundle nor a saved answer of the service, or one in which something stands twice.",
  "too large": "The file is no bundle, and no text in UTF-8, or larger than any answer of the service.",
  "UTF-16":
    "The file is a text in UTF-16, as the > of some shells writes what a program says: copy it again byte for byte, or have the file written by the program itself (jiss export -o FILE).",
  compressed:
    "The file is compressed, or an archive: unpack it, and verify what is in it, which is a text that begins with {.",
  empty: "The file is empty: the export, or the copy, did not come to its end. Have it written again.",
  "a page":
    "The file is a page that carries no signed report, or carries two: save the report's page again, as it is served, or its JSON.",
  "a checkpoint": "The file is a checkpoint, to hold a bundle against: pass it with --checkpoint.",
};

const PLACE_SENTENCES: Readonly<Record<DocumentPlace, string>> = {
  held: "What its evidence covers is what the log recorded, and the bundle holds the same.",
  removed:
    "What its evidence covers is what the log recorded. The bundle begins after it: its entry was removed since, by the retention rule.",
  lost:
    "What its evidence covers is what the log recorded. The database was restored from a backup since, one from before its checkpoint: the next chain says so.",
  beyond:
    "What its evidence covers is what the log recorded, but the bundle ends before it: that was exported earlier, was cut off, or is of a chain that a restore ended since. Ask for a new export of all epochs.",
  alone:
    "What its evidence covers is what the log recorded. It was verified by itself: only an intact bundle of its log can tell whether that was rewritten since.",
};

const PAGE_SENTENCES: Readonly<Record<DocumentPage, string>> = {
  drawn: "The page shows what that report says.",
  "line ends":
    "The page shows what that report says: it was copied as a text by something that changes line ends (CR LF), and nothing else in it was changed.",
  other:
    "That holds for the report inside the page. What the page shows is not verified, and may be something else: it is not, to the letter, what this program draws, because a browser saved it in its own form, another version drew it, or somebody changed it. Rely on its JSON, or get the page anew.",
};

function sentenceOfDocument(document: VerifiedDocument): string {
  const { report, page } = document;
  const sentence = sentenceOfContent(document);
  return page === null || report?.fault !== null ? sentence : `${sentence} ${PAGE_SENTENCES[page]}`;
}

function sentenceOfContent(document: VerifiedDocument): string {
  const { report, unreadable, hasPins, place, isForked, isFormer, isCompared, uncompared } = document;
  if (report === null) return UNREADABLE_SENTENCES[unreadable ?? "not JSON"];
  const { fault } = report;
  if (fault === "UNTRUSTED_KEY" && !hasPins) {
    return "The document is whole, but without --key nobody can say who signed it: it proves nothing yet.";
  }
  if (fault !== null) return FAULT_SENTENCES[fault];
  if (isFormer && place !== "held") {
    return "It is signed by a key from before the one that you trust: whoever has that key by now could have made it. Verify it beside a bundle that holds it.";
  }
  if (report.kind === "batch" && !isCompared) {
    return "Its entries stand in the log. The numbers in it are not proven by that: verify it beside a bundle that gives the results, or each one by its replay.";
  }
  if (isForked) {
    return "You kept a checkpoint of the same size that says otherwise: the log was rewritten. Keep both, together they prove it.";
  }
  if (uncompared === null) return PLACE_SENTENCES[place];
  return place === "lost" ? LOST_AND_UNCOMPARED : sentenceOfUncompared(uncompared);
}

const LOST_AND_UNCOMPARED =
  "What its evidence covers is what the log recorded. The next chain says that a restore from a backup lost it, and nothing older that you kept agrees with what is left, so history may have been rewritten: make sure that there was such a restore, and pass what you kept yourself, an older answer too, with --checkpoint.";

function sentenceOfUncompared({ origin, size }: KnownCheckpoint): string {
  return `What its evidence covers is what a log recorded that your key signed. It was not held against your checkpoint of ${size} entries of ${origin}: verify it beside a bundle that leads from there to it, or it may be of a rewritten history.`;
}

// ---- all of them ------------------------------------------------------------------------------------------

/** The worst of everything that was verified. */
export function judge({ bundles, documents }: Pick<Outcome, "bundles" | "documents">): Judgment {
  return worstOf([...documents.map(judgeDocument), ...bundles.map(judgeBundle)]);
}

/**
 * Whether no fault was found and everything that was kept was compared, even without an anchor or with parts
 * withheld.
 */
export function isIntact({ verdict }: { readonly verdict: Verdict }): boolean {
  return verdict === "INTACT" || verdict === "INTACT, UNANCHORED";
}
