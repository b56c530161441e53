/**
 * A bundle after it was read: its report, and the data with which later bundles, or the end of the input, may
 * still change the report. Its lines, keys and models are no longer held.
 */
import type { Family } from "./family.ts";
import type { FindingLog } from "./finding_log.ts";
import type { KnownCheckpoint } from "./kept.ts";
import type { Beyond, Root } from "./kept_check.ts";
import type { Uncompared } from "./uncompared.ts";
import { type BundleReport, isDivergence, verdictOf } from "./report.ts";
import type { Restored } from "./restored.ts";
import type { RemovalRecords, UnrecordedPrefix } from "./retention_check.ts";
import type { SignatureFacts } from "./signature_check.ts";

/** The members that the report takes over unchanged. */
type ReportFields = Omit<
  BundleReport,
  | "verdict"
  | "exitCode"
  | "firstBadSeq"
  | "firstBadRange"
  | "findings"
  | "dropped"
  | "counts"
  | "keyFingerprint"
  | "isKeyTrusted"
  | "provesFork"
  | "agreed"
  | "restore"
  | "uncompared"
  | "isOfKeptFamily"
  | "isOfKeptSystem"
  | "lost"
>;

/** The findings for kept checkpoints of chains other than the bundle's. */
const OPEN_CODES = [
  ["epoch", "KNOWN_EPOCH_UNLINKED"],
  ["deployment", "KNOWN_DEPLOYMENT_OTHER"],
] as const;

interface ClosedBundleFacts {
  readonly reportFields: ReportFields;
  readonly log: FindingLog;
  readonly family: Family;
  /** Root of all its entries; null if it is not the root of as many entries as were counted. */
  readonly root: Uint8Array | null;
  /** Place in the input, from 0. */
  readonly place: number;
  /** Whether reading stopped at an entry of an unknown version. */
  readonly isAbandoned: boolean;
  readonly signatures: SignatureFacts;
  /** The largest size at which a root known from elsewhere agrees; saved documents do not count. */
  readonly knownSize: number;
  /** Kept checkpoints beyond the bundle's end; null if there are none. */
  readonly beyond: Beyond | null;
  /** The statement of its first entry about the chain before it; null if it goes on from none. */
  readonly restored: Restored | null;
  readonly unrecorded: UnrecordedPrefix | null;
  readonly records: RemovalRecords;
  readonly isAnchored: boolean;
  /** Sizes and roots of this chain that are known from elsewhere and agree. */
  readonly agreed: readonly Root[];
  /** The trusted keys that signed it, one of each holder; empty if the bundle has a fatal finding. */
  readonly signers: readonly Uint8Array[];
  /** On `sys`: whether some of what it anchored up to a kept checkpoint is not in the bundle. */
  readonly hidesAnchors: boolean;
  readonly provesFork: boolean;
  readonly replay: boolean;
}

/** The report members of a bundle that answers for everything that was kept. */
type AnsweredFields = Pick<BundleReport, "isOfKeptFamily" | "isOfKeptSystem" | "lost">;

export class ClosedBundle {
  readonly #facts: ClosedBundleFacts;
  #newestKey: string | null;
  #restore: Restored | null = null;
  #uncompared: readonly Uncompared[] = [];
  #isFollowedByEmptyLine = false;
  #answered: AnsweredFields = { isOfKeptFamily: false, isOfKeptSystem: false, lost: null };

  constructor(facts: ClosedBundleFacts) {
    this.#facts = facts;
    this.#newestKey = facts.signatures.newest;
  }

  get origin(): string {
    return this.#facts.reportFields.origin;
  }

  /** The number of the chain's entries up to the bundle's end. */
  get size(): number {
    return this.#facts.reportFields.size;
  }

  /** The number of the chain's entries before the bundle's first. */
  get base(): number {
    return this.#facts.reportFields.base;
  }

  get root(): Uint8Array | null {
    return this.#facts.root;
  }

  get log(): FindingLog {
    return this.#facts.log;
  }

  get family(): Family {
    return this.#facts.family;
  }

  get place(): number {
    return this.#facts.place;
  }

  /** Whether signed entries may be missing: a record that is not found here may be in one of those. */
  get isIncomplete(): boolean {
    const { isAbandoned, log } = this.#facts;
    return isAbandoned || log.fatal.has("MISSING") || log.fatal.has("TRUNCATED");
  }

  get beyond(): Beyond | null {
    return this.#facts.beyond;
  }

  get restored(): Restored | null {
    return this.#facts.restored;
  }

  get unrecorded(): UnrecordedPrefix | null {
    return this.#facts.unrecorded;
  }

  get records(): RemovalRecords {
    return this.#facts.records;
  }

  /** The newest checkpoint that a trusted key signed and that the entries agree with. */
  get checkpoint(): KnownCheckpoint | null {
    return this.#facts.reportFields.checkpoint;
  }

  get agreed(): readonly Root[] {
    return this.#facts.agreed;
  }

  get signers(): readonly Uint8Array[] {
    return this.#facts.signers;
  }

  get hidesAnchors(): boolean {
    return this.#facts.hidesAnchors;
  }

  /** Whether a trusted key signed it, and nothing in it is wrong. */
  get isSound(): boolean {
    return this.#newestKey !== null && this.log.fatal.size === 0;
  }

  /** Notes that a later chain of the input, which a restore began, goes on from this one's end. */
  setRestore(restore: Restored): void {
    this.#restore = restore;
  }

  /**
   * Notes that the bundle answers for all that the auditor kept, by itself or through chains after restores.
   */
  setAnswered(fields: AnsweredFields): void {
    this.#answered = fields;
  }

  /** Notes what the auditor kept of its family, or of another deployment, and could not compare with it. */
  setUncompared(uncompared: readonly Uncompared[]): void {
    this.#uncompared = uncompared;
    for (const [reason, code] of OPEN_CODES) {
      const first = uncompared.find((item) => item.reason === reason)?.checkpoint;
      if (first !== undefined) this.log.add(code, { detail: `${first.origin}, size ${first.size}` });
    }
  }

  /**
   * Decides on the keys at the end of the input. If only earlier keys signed the newest checkpoint, anybody
   * who holds one of them could have made the whole bundle, unless a root that is known from elsewhere, of
   * this size or more, agrees.
   */
  settleKeys(): void {
    const { signatures: { former }, knownSize } = this.#facts;
    if (former === null) return;
    const { size, line, name, fingerprint } = former;
    if (size <= (this.#restore === null ? knownSize : this.size)) this.#newestKey ??= fingerprint;
    else this.log.add("EARLIER_KEY_ONLY", { seq: size - 1, line, detail: name });
  }

  /** Notes that the file goes on with an empty line, as some copies do. */
  noteEmptyLine(): void {
    this.#isFollowedByEmptyLine = true;
  }

  report(): BundleReport {
    const { reportFields, log, signatures, isAnchored, provesFork, replay } = this.#facts;
    const { withheld, selfTrusted, untrustedKept } = reportFields;
    const damage = reportFields.damage ?? (this.#isFollowedByEmptyLine ? "empty line" : null);
    const sawTrusted = this.#newestKey !== null;
    const uncompared = this.#uncompared;
    return {
      ...reportFields,
      damage,
      ...verdictOf({
        log,
        sawTrusted,
        selfTrusted,
        isAnchored,
        withheld,
        replay,
        untrustedKept,
        uncompared,
        damage,
      }),
      firstBadSeq: log.firstBadSeq,
      firstBadRange: log.firstBadRange,
      findings: log.findings,
      dropped: log.dropped,
      counts: log.counts,
      keyFingerprint: this.#newestKey ?? signatures.own,
      isKeyTrusted: sawTrusted,
      agreed: this.agreed,
      provesFork: provesFork && [...log.fatal].every(isDivergence),
      restore: this.#restore,
      uncompared,
      ...this.#answered,
    };
  }
}
