/**
 * The findings of the verifier: the closed table of codes, each with its weight and one plain sentence for a
 * reader who does not program. Source: evidence design, section 8.
 */
import type { PartName } from "./hashes.ts";

/** Both ends are included. */
export type EntryRange = readonly [first: number, last: number];

export interface Finding {
  readonly code: FindingCode;
  /** True if a bundle with this finding cannot be intact. */
  readonly fatal: boolean;
  /** The entry that the finding is about, or the beginning of its range; null if neither is given. */
  readonly seq: number | null;
  /** Given if the finding is about several entries, or about an unknown one among them. */
  readonly range: EntryRange | null;
  /** Line of the file, from 1. */
  readonly line: number | null;
  readonly part?: PartName;
  /** Details for an expert: hashes, names, sizes. */
  readonly detail: string | null;
}

interface Weight {
  readonly fatal: boolean;
  /** Whether the finding counts only if a trusted key signed a checkpoint of the bundle. */
  readonly needsTrustedRoot: boolean;
  /**
   * True if `seq` is the bad entry itself; false if it is the beginning of a range that holds the bad entry.
   */
  readonly exact: boolean;
}

const EXACT: Weight = { fatal: true, needsTrustedRoot: false, exact: true };
const SOMEWHERE: Weight = { ...EXACT, exact: false };
const SIGNED: Weight = { ...EXACT, needsTrustedRoot: true };
const SIGNED_SOMEWHERE: Weight = { ...SOMEWHERE, needsTrustedRoot: true };
const INFO: Weight = { fatal: false, needsTrustedRoot: false, exact: false };

/** The words that the sentences use. */
interface Words {
  readonly seq: number | null;
  readonly before: number;
  /** `entry 5`, or `entries 4 to 7`. */
  readonly those: string;
  readonly Those: string;
  /** `is` or `are`, `was` or `were`, `it` or `them`. */
  readonly are: string;
  readonly were: string;
  readonly them: string;
  /** `Line 12 of the file`, as exactly as it is known. */
  readonly Where: string;
  readonly part: string;
}

type Row = readonly [weight: Weight, sentence: (words: Words) => string];

const TABLE = {
  // Entries and their order.
  LINK_BROKEN: [
    EXACT,
    ({ seq }) =>
      `Entry ${seq} was changed after it was written: the chain from each entry to the next is broken there.`,
  ],
  MISSING: [EXACT, ({ Those, are, them }) => `${Those} ${are} missing: somebody took ${them} out.`],
  DUPLICATE_SEQ: [EXACT, ({ seq }) => `There is a second entry ${seq}: somebody put one in.`],
  REORDERED: [EXACT, ({ seq }) => `Entry ${seq} stands in the wrong place.`],
  CLOCK_ROLLBACK: [
    EXACT,
    ({ seq }) => `Time goes backwards at entry ${seq}: it claims to be older than the entry before it.`,
  ],
  WRONG_CHAIN: [EXACT, ({ seq }) => `Entry ${seq} was taken from another chain.`],
  GENESIS_MISMATCH: [
    EXACT,
    () =>
      "The chain does not begin as a chain of this log does: its first entry belongs to another log, or was changed.",
  ],

  // The end of the chain, and the form of the file.
  TRUNCATED: [
    EXACT,
    ({ seq, before }) =>
      seq === 0
        ? "The file is cut off before its first entry."
        : `The file is cut off after entry ${before}.`,
  ],
  UNSIGNED_TAIL: [EXACT, ({ Those, are }) => `${Those} ${are} not covered by any signature.`],
  TRAILER_SIZE_MISMATCH: [
    EXACT,
    () => "The number of entries in the last line of the file is not the number of entries in the file.",
  ],
  BUNDLE_DIGEST_MISMATCH: [
    EXACT,
    () => "The file was changed after it was exported: its fingerprint is not the one in its last line.",
  ],
  NON_CANONICAL_LINE: [
    EXACT,
    ({ Where }) =>
      `${Where} was changed in its form: it is not in the canonical form in which every line is written.`,
  ],
  MALFORMED_LINE: [EXACT, ({ Where }) => `${Where} is damaged, or does not belong there.`],
  UNSUPPORTED_VERSION: [
    EXACT,
    ({ Where }) => `${Where} is of a version that this program does not know: use a newer one.`,
  ],
  LIMIT_EXCEEDED: [
    EXACT,
    ({ Where }) => `${Where} is beyond a limit of this program: its content was not checked.`,
  ],

  // Signatures, and what the auditor kept.
  ROOT_MISMATCH: [
    SIGNED_SOMEWHERE,
    ({ those }) => `Something in ${those} was changed: it is not what was signed.`,
  ],
  UNTRUSTED_KEY: [
    SIGNED,
    ({ seq }) => `The signature over everything up to entry ${seq} is by a key that you do not trust for it.`,
  ],
  RETIRED_KEY: [
    SIGNED,
    ({ seq }) => `The signature over everything up to entry ${seq} is by a key that was no longer in use.`,
  ],
  EARLIER_KEY_ONLY: [
    SIGNED,
    ({ seq }) =>
      `The newest signature, over everything up to entry ${seq}, is by an earlier key than the one that you trust: anybody who has that key by now could have made the file. Verify it together with the system chain's bundle, or against a checkpoint that you kept.`,
  ],
  BAD_SIGNATURE: [
    EXACT,
    ({ seq }) =>
      `The signature over everything up to entry ${seq} is false: the signature was changed, or an entry that it covers.`,
  ],
  WRONG_ORIGIN: [EXACT, ({ Where }) => `${Where} belongs to another log: it names another origin.`],
  FORK_VS_KNOWN_CHECKPOINT: [
    SOMEWHERE,
    ({ Those, are }) => `${Those} ${are} not what you were shown before.`,
  ],
  ROLLBACK_VS_KNOWN_CHECKPOINT: [
    EXACT,
    ({ seq }) => `You were shown entry ${seq} before, and the file does not have it.`,
  ],

  // Parts, retention and erasure.
  COMMITMENT_MISMATCH: [
    EXACT,
    ({ seq, part }) =>
      `The content of entry ${seq} was changed: its ${part} is not the one that was recorded.`,
  ],
  PART_MISSING: [
    EXACT,
    ({ seq, part }) => `The ${part} of entry ${seq} is missing, and the file gives no reason.`,
  ],
  ERASURE_UNPROVEN: [
    EXACT,
    ({ those }) => `The content of ${those} is said to be destroyed by rule, but there is no record of that.`,
  ],
  PRUNED_PREFIX_UNPROVEN: [
    SIGNED_SOMEWHERE,
    ({ Those, are }) => `${Those} ${are} not in the file, and nothing signed proves a removal by rule.`,
  ],
  PRUNE_POLICY_VIOLATION: [
    EXACT,
    ({ seq }) =>
      `Entry ${seq} records a removal that the retention rule does not allow: the removed entries were too young.`,
  ],

  // Scores computed anew.
  SCORE_MISMATCH: [
    EXACT,
    ({ seq }) =>
      `The result in entry ${seq} is false: computed anew from the recorded input, it is different.`,
  ],
  // The bad entry is the one that `seq` names, or the one from which that entry starts.
  STATE_MISMATCH: [
    SOMEWHERE,
    ({ seq }) =>
      `Entry ${seq} does not start from the state in which the operator's entry before it ended: one of the two is false.`,
  ],
  RECORD_REPEATED: [
    EXACT,
    ({ seq }) =>
      `Entry ${seq} records a second time an event that can happen only once: a session is scored, committed and labelled at most once, and a decision is scored once.`,
  ],
  RECORD_MALFORMED: [
    EXACT,
    ({ seq }) => `The record in entry ${seq} does not have the form of its kind, so it cannot be checked.`,
  ],
  MODEL_MISSING: [
    EXACT,
    ({ seq }) => `Entry ${seq} was scored by a model that is not in the file, so it cannot be computed anew.`,
  ],
  MODEL_MISMATCH: [
    EXACT,
    () => "A scoring model in the file was changed: its fingerprint is not the one that entries name.",
  ],

  PROBE_MISMATCH: [
    EXACT,
    ({ seq }) =>
      `The record of a probe in entry ${seq} is false: it was not sealed, drawn or opened as the entries around it and the day's seed say.`,
  ],

  // Information: nothing is wrong.
  PRUNED_PREFIX: [
    INFO,
    ({ Those, were }) => `${Those} ${were} removed by the retention rule; a signed record says so.`,
  ],
  STATE_UNANCHORED: [
    INFO,
    ({ seq }) =>
      `From entry ${seq} on, the file has operators whose earlier entries are not in the file, or cannot be read.`,
  ],
  KNOWN_CHECKPOINT_UNLINKABLE: [
    INFO,
    () =>
      "A checkpoint that you kept is older than the entries in the file, and cannot be compared with them.",
  ],
  KNOWN_EPOCH_UNLINKED: [
    INFO,
    () =>
      "A checkpoint that you kept is of another epoch of this chain, and no file that was given leads from that epoch to this one.",
  ],
  KNOWN_DEPLOYMENT_OTHER: [
    INFO,
    () =>
      "The same key, or another key of its holder, signed, in another deployment, a checkpoint that you kept, for the same organization or for all organizations.",
  ],
  COMMIT_UNCOMPARED: [
    INFO,
    (finding) =>
      `From entry ${finding.seq} on, some final scores cannot be compared: the scores to which they refer are too far back, or not in the file.`,
  ],
  PROBE_LEFT_OUT: [
    INFO,
    ({ seq }) =>
      `From entry ${seq} on, cases were decided before which a probe was due on that day, and none was drawn: the review application did not ask, or asked on an earlier day.`,
  ],
  PROBE_SELECTION: [
    INFO,
    ({ seq }) =>
      `From entry ${seq} on, the organization can have chosen among draws of probes: drawn ones were recalled or not decided in their time, or their cases were never scored, or were scored as others than was said.`,
  ],
  PROBE_UNCOMPARED: [
    INFO,
    ({ seq }) =>
      `From entry ${seq} on, some records of probes cannot be compared: the seed of their day is not opened yet, or what they refer to is not in the file.`,
  ],
  ANCHOR_AHEAD: [
    INFO,
    () =>
      "The file holds fewer entries of this chain than are known from elsewhere: it was exported earlier.",
  ],
  RESTORED: [
    INFO,
    ({ seq }) =>
      `The database was restored from a backup: entries from ${seq} on were lost, and the next chain says so.`,
  ],
} as const satisfies Readonly<Record<string, Row>>;

export type FindingCode = keyof typeof TABLE;

/** The weight of each code. */
export const FINDINGS: Readonly<Record<FindingCode, Weight>> = Object.fromEntries(
  Object.entries(TABLE).map(([code, [weight]]) => [code, weight]),
) as Readonly<Record<FindingCode, Weight>>;

/** One plain sentence on a finding, for a reader who does not program. */
export function sentenceOf(finding: Finding): string {
  const [, sentence] = TABLE[finding.code];
  return sentence(wordsOf(finding));
}

function wordsOf({ seq, range, line, part }: Finding): Words {
  const [first, last] = range ?? [seq, seq];
  const isOne = first === last;
  const those = isOne ? `entry ${first}` : `entries ${first} to ${last}`;
  const ofEntry = seq === null ? "of the file" : `of entry ${seq}`;
  return {
    seq,
    before: (seq ?? 0) - 1,
    those,
    Those: `E${those.slice(1)}`,
    are: isOne ? "is" : "are",
    were: isOne ? "was" : "were",
    them: isOne ? "it" : "them",
    Where: line === null ? `A line ${ofEntry}` : `Line ${line} of the file`,
    part: part ?? "content",
  };
}
