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
type Unreadable =
  | "not JSON"
  | "too large"
  | "UTF-16"
  | "compressed"
  | "empty"
  | "a checkpoint"
  | "an error"
  | "no evidence"
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
  /** The reason why nothing can be verified; null if something can. */
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

/** The bytes of a file that was verified. */
export interface FileDigest {
  /** The name as it was given. */
  readonly name: string;
  /** Size in bytes. */
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** A key that was trusted from the start. */
export interface GivenKey {
  readonly fingerprint: string;
  /** The file of `--key`; `text` if the key itself was given; `memory` if an earlier visit trusted it. */
  readonly source: KeySource;
  /** Whether its file says that it was retired. */
  readonly isRetired: boolean;
}

export type KeySource = { readonly file: string } | "text" | "memory";

/** A checkpoint of an earlier visit, with which the files were compared. */
export interface GivenCheckpoint {
  readonly checkpoint: KnownCheckpoint;
  /** The file of `--checkpoint`; null if the memory of the auditor holds it. */
  readonly file: string | null;
}

/** The input of a verification, for the auditor's certificate. */
export interface Given {
  /** In the order of the command line. */
  readonly files: readonly FileDigest[];
  readonly keys: readonly GivenKey[];
  readonly checkpoints: readonly GivenCheckpoint[];
  /** The auditor's directory, whether or not this visit could be kept in it; null if there is none. */
  readonly directory: string | null;
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
  /** null if no certificate is written. */
  readonly given: Given | null;
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
  MALFORMED: "The file is not a complete answer of the service with its evidence.",
  RESULT_MISMATCH: "The document was changed: it does not say what the log recorded.",
  ENTRY_HASH_MISMATCH: "The document was changed: the entry that it shows is not the one that was recorded.",
  INCLUSION_FAILED: "The document's entry is not in the signed log at the place that the document names.",
  BAD_SIGNATURE: "The signature is invalid: the signature or the signed text was changed.",
  UNTRUSTED_KEY: "The document cannot be verified: no key that you trust signed it.",
  WRONG_ORIGIN: "The document is signed under the name of another log than that of its entry.",
};

const UNREADABLE_SENTENCES: Readonly<Record<Unreadable, string>> = {
  "not JSON":
    "The file is neither a bundle nor a saved answer of the service, or it contains a member twice.",
  "too large":
    "The file is not a bundle, and it is not UTF-8 text or is larger than any answer of the service.",
  "UTF-16":
    "The file is text in UTF-16, as some shells write it with >: copy it again byte for byte, or let the program write the file (jiss export -o FILE).",
  compressed:
    "The file is compressed or an archive: unpack it, and verify the text file in it, which begins with {.",
  empty: "The file is empty, because the export or the copy was interrupted: export or copy it again.",
  "a page":
    "The file is a page that contains no signed report, or more than one: save the report's page again as the service sends it, or save its JSON.",
  "an error":
    "The file is an error that the service answered in place of what was asked for: read its message, and ask again.",
  "no evidence":
    "The file is JSON without the evidence with which the service answers: lists, profiles and dashboards have none, so they cannot be verified.",
  "a checkpoint": "The file is a checkpoint, which bundles are compared with: pass it with --checkpoint.",
};

const PLACE_SENTENCES: Readonly<Record<DocumentPlace, string>> = {
  held: "The log recorded what its evidence covers, and the bundle contains the same.",
  removed:
    "The log recorded what its evidence covers. The bundle begins after its entry, because the retention rule has removed it since.",
  lost:
    "The log recorded what its evidence covers. The database has since been restored from a backup that is older than its checkpoint: the next chain says so.",
  beyond:
    "The log recorded what its evidence covers, but the bundle ends before it: the bundle was exported earlier, was cut off, or is of a chain that a restore has ended since. Ask for a new export of all epochs.",
  alone:
    "The log recorded what its evidence covers. The document was verified by itself: only an intact bundle of its log can show whether the log was rewritten since.",
};

const PAGE_SENTENCES: Readonly<Record<DocumentPage, string>> = {
  drawn: "The page shows what that report says.",
  "line ends":
    "The page shows what that report says. Only its line ends were changed (to CR LF), when it was copied as text.",
  other:
    "This applies to the report inside the page. The page itself is not verified and may show something else, because it differs from the page that this program draws: a browser saved it in its own form, another version drew it, or somebody changed it. Rely on its JSON, or get the page again.",
};

function sentenceOfDocument(document: VerifiedDocument): string {
  const { report, page } = document;
  const sentence = sentenceOfContent(document);
  return page === null || report?.fault !== null ? sentence : `${sentence} ${PAGE_SENTENCES[page]}`;
}

function sentenceOfContent(document: VerifiedDocument): string {
  const { report, unreadable, hasPins, place, isForked, isFormer, isCompared, uncompared } = document;
  if (report === null || unreadable !== null) return UNREADABLE_SENTENCES[unreadable ?? "not JSON"];
  const { fault } = report;
  if (fault === "UNTRUSTED_KEY" && !hasPins) {
    return "The document is complete, but without --key it is unknown who signed it: it proves nothing yet.";
  }
  if (fault !== null) return FAULT_SENTENCES[fault];
  if (isFormer && place !== "held") {
    return "An earlier key than the one that you trust signed it, and anybody who has that key by now could have made it. Verify it together with a bundle that contains its entry.";
  }
  if (report.kind === "batch" && !isCompared) {
    return "Its entries are in the log, but that does not prove its numbers: verify it together with a bundle that contains the results, or check each result by its replay.";
  }
  if (isForked) {
    return "You kept a checkpoint of the same size with another root: the log was rewritten. Keep both: together they prove it.";
  }
  if (uncompared === null) return PLACE_SENTENCES[place];
  return place === "lost" ? LOST_AND_UNCOMPARED : sentenceOfUncompared(uncompared);
}

const LOST_AND_UNCOMPARED =
  "The log recorded what its evidence covers. The next chain says that a restore from a backup lost it, and nothing older that you kept agrees with the remaining entries, so history may have been rewritten: make sure that there was such a restore, and pass the checkpoints and older answers that you kept with --checkpoint.";

function sentenceOfUncompared({ origin, size }: KnownCheckpoint): string {
  return `A log that your key signed recorded what its evidence covers. The document was not compared with your checkpoint of ${size} entries of ${origin}, so it may be of a rewritten history: verify it together with a bundle that leads from that checkpoint to it.`;
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
