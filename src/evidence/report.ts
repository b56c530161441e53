/**
 * The verifier's report on a bundle, and the verdict that follows from its findings.
 * Source: contract, section 1; evidence design, Read first, point 8.
 */
import type { FindingCounts } from "./finding_groups.ts";
import type { FindingLog } from "./finding_log.ts";
import { type EntryRange, type Finding, type FindingCode, FINDINGS } from "./findings.ts";
import type { Census } from "./census.ts";
import { parseChain } from "./chain_name.ts";
import type { KnownCheckpoint } from "./kept.ts";
import type { ComparedScore, Root } from "./kept_check.ts";
import type { Lost, NamedRoot, Uncompared } from "./uncompared.ts";
import type { Restored } from "./restored.ts";

export const VERDICTS_BY_WEIGHT = [
  "DIVERGED",
  "TAMPERED",
  "NOT VERIFIABLE",
  "INTACT, NOT COMPARED",
  "INTACT, UNANCHORED",
  "INTACT",
] as const;
export type Verdict = (typeof VERDICTS_BY_WEIGHT)[number];

export type ExitCode = 0 | 1 | 2;

/**
 * Damage to a file on its way: all line ends, or some, became those of Windows; an editor put a byte order
 * mark before the text; the file ends within a line, or lacks its last line; an empty line follows its end.
 */
export type Damage =
  | "line ends"
  | "some line ends"
  | "byte order mark"
  | "cut within a line"
  | "cut off"
  | "empty line";

/** Whether damage changes every hash after it: then a contradiction with a kept checkpoint proves nothing. */
function isMiscopied(damage: Damage | null): boolean {
  return damage === "line ends" || damage === "some line ends" || damage === "byte order mark";
}

export interface BundleReport {
  /** Empty, like `chain`, if the input is not a bundle. */
  readonly origin: string;
  readonly chain: string;
  /** The number of the chain's entries before the bundle's first. */
  readonly base: number;
  /** The chain's size at the bundle's end. */
  readonly size: number;
  /** The number of entries that were read. */
  readonly entries: number;
  /** The newest checkpoint that a trusted key signed and that the entries agree with. */
  readonly checkpoint: KnownCheckpoint | null;
  readonly verdict: Verdict;
  readonly exitCode: ExitCode;
  /** The smallest entry known to be bad; if there is none, the beginning of the first bad range. */
  readonly firstBadSeq: number | null;
  /** The range that begins at `firstBadSeq`; null if that is the bad entry itself. */
  readonly firstBadRange: EntryRange | null;
  /** At most 64. */
  readonly findings: readonly Finding[];
  /** The number of findings that were not kept. */
  readonly dropped: number;
  /** The number of findings of each code, kept or not. */
  readonly counts: FindingCounts;
  /** Damage to the file's form; null if none was found. */
  readonly damage: Damage | null;
  /** The number of parts whose content is withheld from the file. */
  readonly withheld: number;
  /** The number of parts that are marked as erased. A missing record of an erasure is a finding. */
  readonly erased: number;
  /** The number of entries that were replayed: scores, decisions, labels, skipped calls and commits. */
  readonly replayed: number;
  /** Fingerprint of the newest trusted key that signed; if none did, of the file's own key. */
  readonly keyFingerprint: string | null;
  /** Whether `keyFingerprint` is of a key that signed and counts: a trusted one, or the own one if none was pinned. */
  readonly isKeyTrusted: boolean;
  /** True if no key was pinned: the file was then checked with the key that it carries itself. */
  readonly selfTrusted: boolean;
  /** The number of checkpoints of this chain that the auditor kept. */
  readonly keptCount: number;
  /** Sizes and roots of this chain that are known from elsewhere and agree with it. */
  readonly agreed: readonly Root[];
  /** Whether signatures alone prove the contradiction with kept data, and nothing else is wrong. */
  readonly provesFork: boolean;
  readonly comparedScores: readonly ComparedScore[];
  /** The entry hashes in saved documents, hexadecimal, that differ from those of its entries. */
  readonly refuted: readonly string[];
  /**
   * The statement of the chain that a restore began at this one's end; null if the input has no such chain.
   */
  readonly restore: Restored | null;
  /** Kept checkpoints of this chain that no trusted key signed: they were not compared with it. */
  readonly untrustedKept: readonly KnownCheckpoint[];
  /** Kept checkpoints, of this family of chains or of another deployment, that could not be compared. */
  readonly uncompared: readonly Uncompared[];
  /** Whether it agrees with a kept checkpoint of its family, by itself or through chains after restores. */
  readonly isOfKeptFamily: boolean;
  /** Whether it agrees with a root of its family that a kept checkpoint of the system chain pins. */
  readonly isOfKeptSystem: boolean;
  /** Kept entries that a restore lost; null if there are none, or if an earlier visit reported the loss. */
  readonly lost: Lost | null;
  /** null if operators were not counted. */
  readonly census: Census | null;
}

/** The facts that decide a verdict. */
export interface VerdictFacts {
  readonly log: FindingLog;
  /** Whether a checkpoint of the bundle carries a good signature by a trusted key. */
  readonly sawTrusted: boolean;
  readonly selfTrusted: boolean;
  readonly isAnchored: boolean;
  readonly withheld: number;
  readonly replay: boolean;
  readonly untrustedKept: readonly KnownCheckpoint[];
  readonly uncompared: readonly Uncompared[];
  readonly damage: Damage | null;
}

const DIVERGENCES: readonly FindingCode[] = ["FORK_VS_KNOWN_CHECKPOINT", "ROLLBACK_VS_KNOWN_CHECKPOINT"];

/** Codes for data that was not read: it says nothing against the file, and nothing for it. */
const UNREAD: readonly FindingCode[] = ["UNSUPPORTED_VERSION", "LIMIT_EXCEEDED"];

/** Whether a code means that the file contradicts what the auditor kept. */
export function isDivergence(code: FindingCode): boolean {
  return DIVERGENCES.includes(code);
}

/** The verdict on one bundle, and its exit code. */
export function verdictOf(
  {
    log: { fatal },
    sawTrusted,
    selfTrusted,
    isAnchored,
    withheld,
    replay,
    untrustedKept,
    uncompared,
    damage,
  }: VerdictFacts,
): { readonly verdict: Verdict; readonly exitCode: ExitCode } {
  const isDiverged = !isMiscopied(damage) && DIVERGENCES.some((code) => fatal.has(code));
  if (isDiverged) return { verdict: "DIVERGED", exitCode: 1 };
  const proves = (code: FindingCode) =>
    !UNREAD.includes(code) && (sawTrusted || !FINDINGS[code].needsTrustedRoot);
  if ([...fatal].some(proves)) return { verdict: "TAMPERED", exitCode: 1 };
  if (fatal.size > 0 || selfTrusted || !sawTrusted || untrustedKept.length > 0) {
    return { verdict: "NOT VERIFIABLE", exitCode: 2 };
  }
  if (uncompared.length > 0) return { verdict: "INTACT, NOT COMPARED", exitCode: 2 };
  return {
    verdict: isAnchored ? "INTACT" : "INTACT, UNANCHORED",
    exitCode: withheld > 0 && replay ? 2 : 0,
  };
}

/** The report on an input that is not a bundle. The one finding in the log gives the reason. */
export function unusableReport(
  log: FindingLog,
  { selfTrusted, damage }: Pick<BundleReport, "selfTrusted" | "damage">,
): BundleReport {
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
    counts: log.counts,
    damage,
    withheld: 0,
    erased: 0,
    replayed: 0,
    keyFingerprint: null,
    isKeyTrusted: false,
    selfTrusted,
    keptCount: 0,
    agreed: [],
    provesFork: false,
    comparedScores: [],
    refuted: [],
    restore: null,
    untrustedKept: [],
    uncompared: [],
    isOfKeptFamily: false,
    isOfKeptSystem: false,
    lost: null,
    census: null,
  };
}

const EXIT_CODES: readonly ExitCode[] = [1, 2, 0];

/**
 * The worst report: exit code 1 before 2 before 0, then by verdict.
 * @throws {TypeError} if the list is empty.
 */
export function worstOf<Judged extends { readonly verdict: Verdict; readonly exitCode: ExitCode }>(
  judged: readonly Judged[],
): Judged {
  return judged.reduce((worst, other) => rankOf(other) < rankOf(worst) ? other : worst);
}

/** The rank of a report: a smaller number is worse. */
export function rankOf({ verdict, exitCode }: Pick<BundleReport, "verdict" | "exitCode">): number {
  return EXIT_CODES.indexOf(exitCode) * VERDICTS_BY_WEIGHT.length + VERDICTS_BY_WEIGHT.indexOf(verdict);
}

/** Whether nothing is wrong with a bundle by itself, even if it could not be compared with anything. */
export function isWhole({ verdict }: Pick<BundleReport, "verdict">): boolean {
  return verdict === "INTACT" || verdict === "INTACT, UNANCHORED" || verdict === "INTACT, NOT COMPARED";
}

/** The verdict in the words that are printed. They name the number of withheld parts, if there are any. */
export function verdictWords({ verdict, withheld }: Pick<BundleReport, "verdict" | "withheld">): string {
  if (!isWhole({ verdict }) || withheld === 0) return verdict;
  const intact = verdict === "INTACT, NOT COMPARED" ? verdict : "INTACT";
  return `${intact} (${withheld} ${withheld === 1 ? "part" : "parts"} withheld, not replayed)`;
}

/** The meaning of the verdict, in a few plain sentences. */
export function sentenceOfVerdict(report: BundleReport): string {
  const { verdict, withheld, selfTrusted, keyFingerprint, firstBadSeq, firstBadRange } = report;
  const damaged = sentenceOfDamage(report);
  if (damaged !== null) return damaged;
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
      if (report.findings.some(({ code }) => code === "LIMIT_EXCEEDED")) {
        return "The file goes beyond what this program takes in at once, as the finding says, so nothing can be said of all of it.";
      }
      if (!isWrong && report.untrustedKept.length > 0) {
        return "The file is sound by itself, but a checkpoint that you kept of it is signed by no key that you trust: either that key or that checkpoint is not of this log.";
      }
      return "Nothing can be said of the file: it is not signed by a key that you trust, or not a file that this program reads.";
    case "INTACT":
    case "INTACT, NOT COMPARED":
    case "INTACT, UNANCHORED": {
      const anchored = verdict === "INTACT, NOT COMPARED"
        ? sentenceOfUncompared(report)
        : sentenceOfIntact(report);
      if (withheld === 0) return anchored;
      return `${anchored} The file withholds ${
        withheld === 1 ? "one content" : `${withheld} contents`
      }, so not every score could be computed anew.`;
    }
  }
}

/** Findings that a cut-off end alone can cause. */
const OF_A_CUT: readonly FindingCode[] = ["TRUNCATED", "PART_MISSING", "ROLLBACK_VS_KNOWN_CHECKPOINT"];

const COPY_AGAIN =
  "Copy it again byte for byte, or export it again; whether anything else was changed, this copy cannot tell.";

const MISCOPIED_SENTENCES = {
  "line ends":
    `Each line of the file ends as Windows ends lines (CR LF): it was copied as a text by something that changes line ends. ${COPY_AGAIN}`,
  "some line ends":
    `Some lines of the file end as Windows ends lines (CR LF), and no line does that is written by this program: an editor, or something that joins texts, changed them. ${COPY_AGAIN}`,
  "byte order mark":
    `The file begins with a byte order mark, which some editors put before a text: it was copied as a text. ${COPY_AGAIN}`,
} as const;

const EMPTY_LINE_SENTENCE =
  `The file goes on after its end with an empty line, as some editors and copies add one. ${COPY_AGAIN}`;

/** The damage to a file on its way, and what to do; null if that does not explain the verdict. */
function sentenceOfDamage({ damage, counts }: BundleReport): string | null {
  if (damage === null) return null;
  if (isMiscopied(damage)) return MISCOPIED_SENTENCES[damage as keyof typeof MISCOPIED_SENTENCES];
  const faults = (Object.keys(counts) as FindingCode[]).filter((code) => FINDINGS[code].fatal);
  if (damage === "empty line") {
    const isAll = faults.length === 1 && counts.MALFORMED_LINE === 1;
    return isAll ? EMPTY_LINE_SENTENCE : null;
  }
  if (counts.FORK_VS_KNOWN_CHECKPOINT !== undefined) return null;
  const where = damage === "cut within a line"
    ? "it ends within a line, or without the line feed of its last one"
    : "its last line, which closes it, is missing";
  const rest = faults.every((code) => OF_A_CUT.includes(code))
    ? "What it holds up to there follows."
    : "Something else is wrong with it besides, as the findings say.";
  return `The file is cut off: ${where}. ${rest} Copy it again to its end, or ask for a new export; if that ends there too, somebody cut it off.`;
}

function sentenceOfIntact(report: BundleReport): string {
  const { lost } = report;
  const sentence = sentenceOfAgreement(report);
  if (lost === null) return sentence;
  const { entries, newest, agreed } = lost;
  const gone = entries === 1 ? "an entry that you had" : `${entries} entries that you had`;
  return `${sentence} But a restore took away ${gone} a checkpoint of, up to ${
    sizeOf(newest)
  }, as the chain after it says. Of what is left you had kept ${
    sizeOf(agreed)
  }: nobody can show that what stands between there and the end that the restore names was not rewritten, so make sure that there was such a restore.`;
}

function sizeOf({ origin, size }: NamedRoot): string {
  return `${size === 1 ? "1 entry" : `${size} entries`} of ${origin}`;
}

function sentenceOfAgreement(
  { verdict, keptCount, isOfKeptFamily, isOfKeptSystem }: BundleReport,
): string {
  if (verdict === "INTACT") {
    return "Nothing was changed, and the file goes on from what you kept of an earlier visit.";
  }
  if (isOfKeptFamily) {
    return "Nothing was changed after signing, and it is of one history with another epoch of its chain, which agrees with what you kept. Keep its own checkpoint now.";
  }
  if (isOfKeptSystem) {
    return "Nothing was changed after signing, and it agrees with what the system chain recorded of it up to what you kept of that. Keep its own checkpoint now.";
  }
  const kept = keptCount === 0
    ? "You kept nothing of this chain to hold it against"
    : "What you kept of this chain could not be compared with it";
  return `Nothing was changed after signing. ${kept}, so keep its checkpoint now.`;
}

/** Sentences on what was kept and not compared: why that matters, and what to ask for. */
function sentenceOfUncompared({ chain, uncompared }: BundleReport): string {
  const begin =
    "Nothing in the file was changed after signing, but it was not held against what you kept of an earlier visit, so history may have been rewritten since.";
  const unlinkable = uncompared.filter(({ reason }) => reason === "unlinkable");
  const other = uncompared.find(({ reason }) => reason !== "unlinkable");
  const reasons = [
    ...(unlinkable.length === 0 ? [] : [sentenceOfUnlinkable(chain, unlinkable)]),
    ...(other === undefined ? [] : [OTHER_REASONS[other.reason as keyof typeof OTHER_REASONS](other)]),
  ];
  return [begin, ...reasons].join(" ");
}

const BEGIN_ANEW =
  "If you accept that, begin a memory of its own for what is there now (another --state directory), and keep the old one.";

/**
 * The subject of a sentence: a kept checkpoint, or a root that a kept checkpoint of the system chain pins.
 */
function yoursOf({ checkpoint, anchor }: Uncompared): string {
  if (anchor === null) return `Your checkpoint of ${checkpoint.size} entries`;
  return `What your checkpoint of ${checkpoint.size} entries of ${checkpoint.origin} pins, ${anchor.size} entries,`;
}

const OTHER_REASONS = {
  restore: (one: Uncompared) =>
    `${yoursOf(one)} of ${
      (one.anchor ?? one.checkpoint).origin
    } is of entries that a restore lost, as the chain after it says in a signed record, and you kept nothing older that agrees with what is left: make sure that there was such a restore, and look for an older checkpoint or answer that you kept yourself, to pass with --checkpoint. ${BEGIN_ANEW}`,
  epoch: (one: Uncompared) =>
    `${yoursOf(one)} is of ${
      (one.anchor ?? one.checkpoint).origin
    }, another epoch of this chain, and what was given does not lead from there to here: ask for a new export of all epochs, and verify it whole. If nothing of that epoch is left, ask why. ${BEGIN_ANEW}`,
  deployment: ({ checkpoint: { origin, size } }: Uncompared) =>
    `The key that signed it, or one that certificates or a common key file join to it, also signed your checkpoint of ${size} entries of ${origin}, in another deployment, to which nothing in the file goes back: ask why there is a new one, and for the export of the one that you know. ${BEGIN_ANEW}`,
  system: ({ checkpoint: { origin, size } }: Uncompared) =>
    `Your checkpoint of ${size} entries of ${origin} pins this chain too, but what was given does not tell how: give the system chain with it, whole and before it. The administrator exports that by jiss export --chain system.`,
  behind: ({ anchor, checkpoint }: Uncompared) =>
    `The system chain, up to your checkpoint of ${checkpoint.size} entries of it, says that this chain had ${anchor?.size} entries, and the file ends before them: it was exported earlier, or history was cut off. Ask for a new export of all epochs.`,
} as const;

/** The most sizes that one request can link. */
const LINKED_AT_ONCE = 64;

function sentenceOfUnlinkable(chain: string, unlinkable: readonly Uncompared[]): string {
  const sizes = unlinkable.map(({ checkpoint, anchor }) => (anchor ?? checkpoint).size);
  const list = [...new Set(sizes)].slice(0, LINKED_AT_ONCE).join(",");
  const those = `${list.replaceAll(",", ", ")} entries`;
  const pinned = unlinkable.filter(({ anchor }) => anchor !== null).length;
  const yours = pinned > 0
    ? `What ${
      pinned < unlinkable.length ? "you kept of it, and what " : ""
    }the system chain pins of it by what you kept of that, at ${those}, is`
    : sizes.length === 1
    ? `Your checkpoint of ${those} is`
    : `Your checkpoints of ${those} are`;
  const family = parseChain(chain)?.family ?? chain;
  const [, organization, isAdmin] = family.split("/");
  const command = organization === undefined
    ? `jiss export --chain system --link ${list}`
    : `jiss export --org ${organization}${isAdmin === undefined ? "" : " --chain admin"} --link ${list}`;
  const path = `/v1/audit/chain/export?${isAdmin === undefined ? "" : "chain=admin&"}link=${list}`;
  const call = organization === undefined ? "" : `, or by the organization's own GET ${path}`;
  return `${yours} older than its first entry, what was between was removed by the retention rule, and nothing in the file leads over that: ask for a new export that does, by ${command}${call}.`;
}

/** Sentences on a divergence. They accuse nobody if the file may be damaged or older than what was kept. */
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
