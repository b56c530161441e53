/**
 * What the verifier says of a bundle, and the verdict that follows from its findings.
 * Source: contract, section 1; evidence design, Read first, point 8.
 */
import type { FindingLog } from "./finding_log.ts";
import { type EntryRange, type Finding, type FindingCode, FINDINGS } from "./findings.ts";
import type { KnownCheckpoint } from "./kept.ts";
import type { ComparedScore } from "./kept_check.ts";
import type { RestoredGenesis } from "./structural.ts";

export type Verdict = "INTACT" | "INTACT, UNANCHORED" | "TAMPERED" | "DIVERGED" | "NOT VERIFIABLE";

export type ExitCode = 0 | 1 | 2;

export interface BundleReport {
  /** Empty, as `chain`, where the input is no bundle at all. */
  readonly origin: string;
  readonly chain: string;
  /** Entries before the bundle's first. */
  readonly base: number;
  /** The chain's size as far as the bundle goes. */
  readonly size: number;
  /** Entries that were read. */
  readonly entries: number;
  /** The newest that a trusted key signed and that the entries agree with. */
  readonly checkpoint: KnownCheckpoint | null;
  readonly verdict: Verdict;
  readonly exitCode: ExitCode;
  /** The smallest entry known to be bad; else the beginning of the first range that holds one. */
  readonly firstBadSeq: number | null;
  /** Given where `firstBadSeq` is only its beginning. */
  readonly firstBadRange: EntryRange | null;
  /** At most 64. */
  readonly findings: readonly Finding[];
  /** Findings beyond those. */
  readonly dropped: number;
  /** Parts whose content the file does not give. */
  readonly withheld: number;
  /** Parts whose content was destroyed, with a record of it. */
  readonly erased: number;
  /** Scores, decisions and labels that were computed anew. */
  readonly replayed: number;
  /** Of the newest trusted key that signed; where none did, of the file's own. */
  readonly keyFingerprint: string | null;
  /** Whether no key was pinned, so that the file was held against the key that it carries itself. */
  readonly selfTrusted: boolean;
  /** Checkpoints and entries of this chain that the auditor kept. */
  readonly keptCount: number;
  /** Whether what contradicts these is proven by signatures alone, and nothing else is wrong with the file. */
  readonly provesFork: boolean;
  readonly comparedScores: readonly ComparedScore[];
  /** Hashes, hexadecimal, that saved documents say of its entries, where the entries are others. */
  readonly refuted: readonly string[];
  /** What the chain that goes on from this one's end says, where a restore began it and the input has it. */
  readonly restore: RestoredGenesis | null;
  /** Checkpoints that were kept of this chain, but signed by no key that is trusted: they were not held against it. */
  readonly untrustedKept: readonly KnownCheckpoint[];
}

/** What a verdict follows from. */
export interface VerdictFacts {
  readonly log: FindingLog;
  /** Whether a checkpoint of the bundle carries a good signature by a trusted key. */
  readonly sawTrusted: boolean;
  readonly selfTrusted: boolean;
  readonly isAnchored: boolean;
  readonly withheld: number;
  readonly replay: boolean;
  readonly untrustedKept: readonly KnownCheckpoint[];
}

const DIVERGENCES: readonly FindingCode[] = ["FORK_VS_KNOWN_CHECKPOINT", "ROLLBACK_VS_KNOWN_CHECKPOINT"];

/** Whether a finding is that the file contradicts what the auditor kept. */
export function isDivergence(code: FindingCode): boolean {
  return DIVERGENCES.includes(code);
}

/** The verdict on one bundle, and the exit code that says it. */
export function verdictOf(
  { log: { fatal }, sawTrusted, selfTrusted, isAnchored, withheld, replay, untrustedKept }: VerdictFacts,
): { readonly verdict: Verdict; readonly exitCode: ExitCode } {
  if (DIVERGENCES.some((code) => fatal.has(code))) return { verdict: "DIVERGED", exitCode: 1 };
  const proves = (code: FindingCode) =>
    code !== "UNSUPPORTED_VERSION" && (sawTrusted || !FINDINGS[code].needsTrustedRoot);
  if ([...fatal].some(proves)) return { verdict: "TAMPERED", exitCode: 1 };
  if (fatal.size > 0 || selfTrusted || !sawTrusted || untrustedKept.length > 0) {
    return { verdict: "NOT VERIFIABLE", exitCode: 2 };
  }
  return {
    verdict: isAnchored ? "INTACT" : "INTACT, UNANCHORED",
    exitCode: withheld > 0 && replay ? 2 : 0,
  };
}

/** The report on an input that is no bundle, as the one finding in the log says. */
export function unusableReport(log: FindingLog, selfTrusted: boolean): BundleReport {
  return {
    origin: "",
    chain: "",
    base: 0,
    size: 0,
    entries: 0,
    checkpoint: null,
    verdict: "NOT VERIFIABLE",
    exitCode: 2,
    firstBadSeq: null,
    firstBadRange: null,
    findings: log.findings,
    dropped: 0,
    withheld: 0,
    erased: 0,
    replayed: 0,
    keyFingerprint: null,
    selfTrusted,
    keptCount: 0,
    provesFork: false,
    comparedScores: [],
    refuted: [],
    restore: null,
    untrustedKept: [],
  };
}

/** From worst to best, within one exit code. */
const VERDICTS: readonly Verdict[] = [
  "DIVERGED",
  "TAMPERED",
  "NOT VERIFIABLE",
  "INTACT, UNANCHORED",
  "INTACT",
];
const EXIT_CODES: readonly ExitCode[] = [1, 2, 0];

/** The worst of several: exit code 1 before 2 before 0, and within one the worst verdict. @throws {TypeError} of none. */
export function worstOf<Judged extends { readonly verdict: Verdict; readonly exitCode: ExitCode }>(
  judged: readonly Judged[],
): Judged {
  const rank = ({ verdict, exitCode }: Judged) =>
    EXIT_CODES.indexOf(exitCode) * VERDICTS.length + VERDICTS.indexOf(verdict);
  return judged.reduce((worst, other) => rank(other) < rank(worst) ? other : worst);
}

/** The verdict in the words that are printed: with parts withheld it says so. */
export function verdictWords({ verdict, withheld }: Pick<BundleReport, "verdict" | "withheld">): string {
  const isIntact = verdict === "INTACT" || verdict === "INTACT, UNANCHORED";
  if (!isIntact || withheld === 0) return verdict;
  return `INTACT (${withheld} ${withheld === 1 ? "part" : "parts"} withheld, not replayed)`;
}

/** What the verdict means, in a plain sentence or two. */
export function sentenceOfVerdict(report: BundleReport): string {
  const { verdict, withheld, selfTrusted, keyFingerprint, firstBadSeq, firstBadRange } = report;
  const isWrong = report.findings.some(({ fatal }) => fatal);
  switch (verdict) {
    case "DIVERGED":
      return sentenceOfDivergence(report);
    case "TAMPERED":
      return `The file was changed after its entries were written${placeOf(firstBadSeq, firstBadRange)}.`;
    case "NOT VERIFIABLE":
      if (selfTrusted && !isWrong) {
        return `The file agrees with the key that it carries itself, ${keyFingerprint}. That proves nothing until you compare this fingerprint with one that you got another way, and pass that key.`;
      }
      if (!isWrong && report.untrustedKept.length > 0) {
        return "The file is sound by itself, but a checkpoint that you kept of it is signed by no key that you trust: either that key or that checkpoint is not of this log.";
      }
      return "Nothing can be said of the file: it is not signed by a key that you trust, or not a file that this program reads.";
    case "INTACT":
    case "INTACT, UNANCHORED": {
      const anchored = sentenceOfIntact(report);
      if (withheld === 0) return anchored;
      return `${anchored} The file withholds ${
        withheld === 1 ? "one content" : `${withheld} contents`
      }, so not every score could be computed anew.`;
    }
  }
}

function sentenceOfIntact({ verdict, keptCount }: BundleReport): string {
  if (verdict === "INTACT") {
    return "Nothing was changed, and the file goes on from what you kept of an earlier visit.";
  }
  const kept = keptCount === 0
    ? "You kept nothing of an earlier visit to hold it against"
    : "What you kept of earlier visits could not be compared with it";
  return `Nothing was changed after signing. ${kept}, so keep its checkpoint now.`;
}

/** A file that is damaged, or was exported earlier, accuses nobody. */
function sentenceOfDivergence({ findings, provesFork }: BundleReport): string {
  const isCutOff = findings.every(({ code, fatal }) => !fatal || code === "ROLLBACK_VS_KNOWN_CHECKPOINT");
  if (isCutOff) {
    return "The file ends before what you were shown on an earlier visit: it was exported before that, or history was cut off. Ask for a new export; if that ends there too, it was cut off.";
  }
  if (provesFork) {
    return "The file contradicts a checkpoint or a document that you kept: history was rewritten. Keep both, together they prove it.";
  }
  return "The file contradicts a checkpoint or a document that you kept, which alone does not prove that history was rewritten: the file may have been changed on the way, or what you kept may be signed with an old key. Keep both, and ask for a new export.";
}

function placeOf(seq: number | null, range: EntryRange | null): string {
  if (range !== null) return `, somewhere in entries ${range[0]} to ${range[1]}`;
  return seq === null ? "" : `; the first bad one is entry ${seq}`;
}
