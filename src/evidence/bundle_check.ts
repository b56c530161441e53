/**
 * Checks one bundle line by line: it checks the order of the lines and passes each line to the check for its
 * kind.
 *
 * Every check is a file of its own; this one owns the order of lines, the beginning and the end. A line in a
 * wrong place is reported and left out, so that one bad line neither hides nor causes other findings.
 * Source: evidence design, section 8.
 */
import type { z } from "zod";
import {
  beginningLineSchema,
  type BundleHeader,
  checkpointLineSchema,
  ladderLineSchema,
  modelLineSchema,
  trailerSchema,
} from "./bundle.ts";
import { canonicalTextOf } from "./canonical_text.ts";
import { ChainCheck } from "./chain_check.ts";
import { CommitCheck } from "./commit_check.ts";
import { type ChainName, chainPrefix, organizationOf, parseChain } from "./chain_name.ts";
import { CheckpointCheck } from "./checkpoint_check.ts";
import { type Crypto, equalBytes, fromHex, hex } from "./crypto.ts";
import { type Entry, ENTRY_VERSION } from "./entry.ts";
import type { ChainAnchors } from "./anchors.ts";
import { ClosedBundle } from "./closed_bundle.ts";
import type { Family } from "./family.ts";
import { type FindingBudget, FindingLog } from "./finding_log.ts";
import { entryHash, genesisPrevious } from "./hashes.ts";
import type { Damage } from "./report.ts";
import type { KeyHolders } from "./key_holders.ts";
import type { SignatureMemory } from "./key_index.ts";
import type { KeptCheckpoint, KnownCheckpoint } from "./kept.ts";
import { type AgreementBudget, type ExpectedEntry, KeptCheck } from "./kept_check.ts";
import { entryHashOfBytes } from "./line_hashes.ts";
import { isEntry, isMembers, isPart } from "./line_shapes.ts";
import { ModelCheck } from "./model_check.ts";
import { PartCheck } from "./part_check.ts";
import { baseFrontier, isFirstOf, provePrefix } from "./prefix_check.ts";
import { RepeatCheck } from "./repeat_check.ts";
import { ReplayCheck } from "./replay_check.ts";
import { policyOf, RetentionCheck } from "./retention_check.ts";
import { SignatureCheck } from "./signature_check.ts";
import { StateCheck } from "./state_check.ts";
import { StructureCheck } from "./structure_check.ts";
import type { PinnedKey } from "./trust.ts";

/** A line that is a JSON object. */
export interface ReadLine {
  /** Line number in the file, from 1. */
  readonly number: number;
  /** Valid only while the line is handled: the buffer is used again. */
  readonly bytes: Uint8Array;
  readonly value: Readonly<Record<string, unknown>>;
  readonly isCanonical: boolean;
}

export interface BundleCheckOptions {
  /** Place of the bundle in the input, from 0. */
  readonly index: number;
  readonly pins: readonly PinnedKey[] | null;
  /** Kept checkpoints of this bundle's origin. `expected` and `anchors` are of the same origin. */
  readonly known: readonly KeptCheckpoint[];
  readonly expected: readonly ExpectedEntry[];
  readonly anchors: ChainAnchors;
  /** Verdicts on the signatures of `known`, remembered from bundle to bundle. */
  readonly memory: SignatureMemory;
  readonly holders: KeyHolders;
  readonly budget: FindingBudget;
  /** null if the agreeing roots are not needed. */
  readonly agreements: AgreementBudget | null;
  readonly family: Family;
  readonly replay: boolean;
  /** Whether to check that records which can be made only once are not repeated. */
  readonly repeats: boolean;
  readonly requirePruneRecord: boolean;
}

const CARRIAGE_RETURN = 0x0d;

/** The stages of a bundle, in the order of its lines. */
const Stage = { models: 0, ladder: 1, beginning: 2, entries: 3, over: 4 } as const;

export class BundleCheck {
  readonly #crypto: Crypto;
  readonly #header: BundleHeader;
  readonly #options: BundleCheckOptions;
  readonly #signatures: SignatureCheck;
  /** The signed end of a removed prefix; null if there is none, or if it is not proven. */
  readonly #prefix: KnownCheckpoint | null;
  readonly #kept: KeptCheck;
  readonly #untrusted: readonly KnownCheckpoint[];
  readonly #retention: RetentionCheck;
  readonly #parts: PartCheck;
  readonly #models: ModelCheck;
  readonly #states: StateCheck;
  readonly #commits: CommitCheck;
  readonly #repeats: RepeatCheck;
  readonly #replay: ReplayCheck;
  /** null for the system chain. */
  readonly #organization: string | null;
  #stage: (typeof Stage)[keyof typeof Stage] = Stage.models;
  #isAbandoned = false;
  /** The number of lines so far, and how many of them end in a carriage return. */
  #lines = 0;
  #foreignLines = 0;
  #cut: Damage | null = null;
  #ladderSize = 0;
  #entries = 0;
  /** Hash of the entry whose parts are being read. */
  #entryHash: Uint8Array = new Uint8Array(0);

  readonly origin: string;
  /** The chain's name, parsed; null if the header names no valid chain. */
  readonly name: ChainName | null;
  readonly family: Family;
  readonly log: FindingLog;
  readonly chain: ChainCheck;
  readonly checkpoints: CheckpointCheck;
  readonly structure: StructureCheck;

  constructor(crypto: Crypto, header: BundleHeader, line: ReadLine, options: BundleCheckOptions) {
    const { origin, chain, base, keys } = header;
    const { family, index, pins, memory, holders } = options;
    const { subjects, removals } = family;
    const log = new FindingLog(options.budget);
    this.log = log;
    this.#crypto = crypto;
    this.#header = header;
    this.#noteLineEnd(line);
    this.#options = options;
    this.origin = origin;
    this.family = family;
    this.name = parseChain(chain);
    this.#organization = organizationOf(this.name?.family ?? chain);
    const isWhole = base.size === 0;
    const genesis = genesisPrevious(crypto, origin);
    if (!line.isCanonical) log.add("NON_CANONICAL_LINE", { line: line.number });
    if (chainPrefix(origin, chain) === null) {
      log.add("WRONG_ORIGIN", { line: line.number, detail: `${origin} is not that of ${chain}` });
    }
    if (isWhole && !equalBytes(genesis, fromHex(base.prev))) {
      log.add("GENESIS_MISMATCH", { seq: 0, line: line.number, detail: "the header's prev" });
    }

    const signatures = new SignatureCheck(crypto, log, {
      origin,
      chain: this.name,
      pins,
      keys,
      line: line.number,
      memory,
      holders,
    });
    const prefix = isWhole ? null : provePrefix(crypto, header, { log, signatures, line: line.number });
    this.#signatures = signatures;
    this.#prefix = prefix;
    const known = options.known.filter((checkpoint) => signatures.vouchesFor(checkpoint));
    const isVouchedFor = new Set(known);
    this.#untrusted = options.known.filter((checkpoint) => !isVouchedFor.has(checkpoint));
    this.#kept = new KeptCheck(crypto, log, {
      ...options,
      known,
      base: base.size,
      isByCurrentKey: (checkpoint) => signatures.isByCurrentKey(checkpoint),
    });
    this.chain = new ChainCheck(crypto, log, {
      size: base.size,
      previous: isWhole ? genesis : fromHex(base.prev),
      frontier: baseFrontier(base),
    });
    if (prefix !== null) this.chain.prove(base.size);
    this.checkpoints = new CheckpointCheck(log, {
      origin,
      signatures,
      chain: this.chain,
      kept: this.#kept,
      base: prefix,
    });
    const retention = new RetentionCheck(log, {
      origin,
      policy: policyOf(this.name?.family ?? ""),
      prefix: { size: base.size, root: prefix?.root ?? null },
      awaited: removals,
    });
    const parts = new PartCheck(crypto, log, { bundle: index, subjects, retention });
    this.#retention = retention;
    this.#parts = parts;
    this.structure = new StructureCheck(log, {
      origin,
      chain: this.name,
      parts,
      retention,
      signatures,
      subjects,
      known,
    });
    this.#models = new ModelCheck(crypto, log);
    this.#states = new StateCheck(crypto, log, family);
    this.#commits = new CommitCheck(crypto, log, {
      isLaterEpoch: (this.name?.epoch ?? 1) > 1,
      first: base.size,
    });
    this.#repeats = new RepeatCheck(log, { parts, names: family.names });
    this.#replay = new ReplayCheck(log, {
      parts,
      models: this.#models,
      states: this.#states,
      commits: this.#commits,
    });
    // The first entry of a chain after a restore says whether it goes on from the chain before it.
    if (!isWhole || this.name?.epoch === 1) family.begin({ isOpen: !isWhole });
  }

  /** The number of entries that were read. */
  get entries(): number {
    return this.#entries;
  }

  /** Whether the trailer was read. */
  get isOver(): boolean {
    return this.#stage === Stage.over;
  }

  /** Whether reading stopped at an entry of an unknown version: the lines after it may be anything. */
  get isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  /** Whether signed entries may be missing: a record that is not found here may be in one of those. */
  get isIncomplete(): boolean {
    return this.#isAbandoned || this.log.fatal.has("MISSING") || this.log.fatal.has("TRUNCATED");
  }

  /** Takes the next line; `digest` gives the SHA-256 of the bundle before it, once. */
  line(line: ReadLine, digest: () => Uint8Array): void {
    const { number, value } = line;
    this.#noteLineEnd(line);
    if (!line.isCanonical) this.log.add("NON_CANONICAL_LINE", { line: number, seq: seqOf(value) });
    switch (value.kind) {
      case undefined:
        return this.#entryLine(line);
      case "jis.part/1":
        return this.#partLine(line);
      case "jis.checkpoint/1":
        return this.#checkpointLine(line);
      case "jis.model/1":
        return this.#modelLine(line);
      case "jis.ladder/1":
        return this.#ladderLine(line);
      case "jis.beginning/1":
        return this.#beginningLine(line);
      case "jis.trailer/1":
        return this.#trailerLine(line, digest);
      default:
        this.#malformed(number, "of no known kind");
    }
  }

  /** Takes a line that is not even JSON: it may have been any line that can stand at this place. */
  unreadable(number: number, detail: string): void {
    const isEntries = this.#stage === Stage.entries;
    const seq = this.#parts.isIncomplete ? this.#parts.entry!.seq : this.chain.next;
    this.#malformed(number, detail, isEntries ? seq : null);
    this.#parts.skipUnreadable();
    if (isEntries) this.chain.skipUnreadable();
  }

  /** Ends the bundle without its trailer: the input ended, or another bundle began. */
  cut(damage: Extract<Damage, `cut${string}`>): void {
    this.#cut = damage;
    const detail = damage === "cut off" ? "no trailer" : "the file ends within a line";
    this.#closeEntry();
    this.chain.finish();
    this.log.add("TRUNCATED", { seq: this.chain.next, detail });
    this.#finish();
  }

  /** Closes the bundle and returns the part of its data that later steps need. */
  close(): ClosedBundle {
    const { origin, chain, base } = this.#header;
    const { pins, replay, known } = this.#options;
    const { withheld, erased } = this.#parts;
    const { compared, refuted, provesFork, isAnchored, knownSize, agreed } = this.#kept;
    return new ClosedBundle({
      told: {
        origin,
        chain,
        base: base.size,
        size: this.chain.next,
        entries: this.#entries,
        checkpoint: this.checkpoints.newest,
        withheld,
        erased,
        replayed: this.#replay.replayed,
        selfTrusted: pins === null,
        damage: this.#damage,
        keptCount: known.length,
        comparedScores: compared,
        refuted,
        untrustedKept: this.#untrusted.length === known.length ? known : this.#untrusted,
      },
      log: this.log,
      family: this.family,
      root: this.chain.root,
      place: this.#options.index,
      isAbandoned: this.#isAbandoned,
      signatures: this.#signatures.left,
      knownSize,
      beyond: this.checkpoints.beyond,
      restored: this.structure.restored,
      unrecorded: this.#retention.unrecorded,
      records: this.#retention.records,
      isAnchored,
      agreed,
      // A bundle with a fatal finding is not examined further.
      signers: this.log.fatal.size === 0 ? this.#signatures.signers : [],
      hidesAnchors: base.size > 0 || this.structure.anchors.hides,
      provesFork,
      replay,
    });
  }

  #noteLineEnd({ bytes }: ReadLine): void {
    this.#lines += 1;
    if (bytes.at(-1) === CARRIAGE_RETURN) this.#foreignLines += 1;
  }

  get #damage(): Damage | null {
    if (this.#foreignLines === 0) return this.#cut;
    return this.#foreignLines === this.#lines ? "line ends" : "some line ends";
  }

  #malformed(number: number, detail: string, seq: number | null = null): void {
    this.log.add("MALFORMED_LINE", { line: number, seq, detail });
  }

  #parse<Line>({ number, value }: ReadLine, schema: z.ZodType<Line>): Line | null {
    const parsed = schema.safeParse(value);
    if (!parsed.success) this.#malformed(number, `${value.kind}: ${parsed.error.issues[0]!.path.join(".")}`);
    return parsed.data ?? null;
  }

  #modelLine(line: ReadLine): void {
    const model = this.#parse(line, modelLineSchema);
    if (model === null) return;
    if (this.#stage > Stage.models) return this.#malformed(line.number, "a model after the models");
    const taken = this.#models.add(model, { line: line.number, bytes: line.bytes.length });
    if (taken === "known") this.#malformed(line.number, "a second model of one name");
    if (taken === "too many") {
      this.log.add("LIMIT_EXCEEDED", { line: line.number, detail: "models that are too many or too large" });
    }
  }

  #ladderLine(line: ReadLine): void {
    const ladder = this.#parse(line, ladderLineSchema);
    if (ladder === null) return;
    const { from, to } = ladder;
    const isNext = from >= this.#ladderSize && from < this.#header.base.size && from < to;
    if (this.#stage > Stage.ladder || !isNext) return this.#malformed(line.number, "a ladder out of order");
    this.#stage = Stage.ladder;
    this.#ladderSize = to;
    this.#kept.climb(ladder);
  }

  /** Takes the first entry of a chain that a restore began and from which a prefix was removed. */
  #beginningLine(line: ReadLine): void {
    const parsed = this.#parse(line, beginningLineSchema);
    if (parsed === null) return;
    const { number, bytes, value: { entry, data } } = line;
    const { base } = this.#header;
    const isDue = this.#stage < Stage.beginning && base.size > 0 && (this.name?.epoch ?? 1) > 1;
    if (!isDue) return this.#malformed(number, "a beginning out of place");
    this.#stage = Stage.beginning;
    const text = canonicalTextOf(entry);
    if (text === null || !isMembers(entry) || !isEntry(entry) || entry.seq !== 0) {
      return this.#malformed(number, "the entry of a beginning");
    }
    this.#checkOwner(entry, number);
    const hash = entryHash(this.#crypto, text);
    this.#kept.entry(0, hash);
    const isFirst = entry.prev === hex(genesisPrevious(this.#crypto, this.origin));
    // If the base is not proven, the check of the header has reported it.
    const isInTree = this.#prefix === null ||
      isFirstOf(this.#crypto, this.#prefix, { hash, path: parsed.path });
    if (!isFirst || !isInTree) {
      const detail = isFirst ? "it is not in the tree of what was removed" : "prev of a beginning";
      return this.log.add("GENESIS_MISMATCH", { seq: 0, line: number, detail });
    }
    const part = { seq: 0, name: "detail", salt: parsed.salt, data } as const;
    this.#parts.open(entry, number);
    this.#parts.take({ part, bytes, isCanonical: false }, number);
    this.#parts.close();
    this.structure.beginning(entry);
  }

  #entryLine({ number, bytes, value }: ReadLine): void {
    if (typeof value.v === "string" && value.v !== ENTRY_VERSION) {
      this.log.add("UNSUPPORTED_VERSION", { line: number, detail: value.v });
      this.#isAbandoned = true;
      return;
    }
    this.#beginEntries();
    if (!isEntry(value)) {
      this.#closeEntry();
      this.#malformed(number, "an entry", seqOf(value));
      return this.chain.skipUnreadable();
    }
    // A second entry of the same seq replaces the first. Parts of the first may follow it.
    if (this.#parts.entry?.seq === value.seq) this.#parts.skipUnreadable();
    this.#closeEntry();
    this.#checkOwner(value, number);
    this.#entries += 1;
    this.#entryHash = entryHashOfBytes(this.#crypto, bytes);
    this.chain.entry(value, { hash: this.#entryHash, line: number });
    this.#kept.entry(value.seq, this.#entryHash);
    this.#kept.compare(this.chain);
    if (!this.chain.isUnbroken) {
      this.#repeats.stopFollowing();
      this.#states.stopFollowing();
      this.#commits.stopFollowing();
    }
    this.#parts.open(value, number);
  }

  #checkOwner({ seq, chain, org_id }: Entry, line: number): void {
    if (chain === this.#header.chain && org_id === this.#organization) return;
    this.log.add("WRONG_CHAIN", { seq, line, detail: `${chain} of ${org_id ?? "no organization"}` });
  }

  #partLine({ number, bytes, value, isCanonical }: ReadLine): void {
    if (!isPart(value)) {
      this.#parts.skipUnreadable();
      return this.#malformed(number, "a part", seqOf(value));
    }
    // This part belongs to an entry that could not be read.
    if (this.chain.isUncertain && value.seq >= this.chain.next) return;
    if (!this.#parts.take({ part: value, bytes, isCanonical }, number)) {
      this.#malformed(number, `a part ${value.name} that does not belong there`, value.seq);
    }
  }

  #checkpointLine(line: ReadLine): void {
    const parsed = this.#parse(line, checkpointLineSchema);
    if (parsed === null) return;
    if (this.#stage < Stage.entries) return this.#malformed(line.number, "a checkpoint before any entry");
    this.#closeEntry();
    this.checkpoints.inside(parsed.note, line.number);
  }

  #trailerLine(line: ReadLine, digest: () => Uint8Array): void {
    const trailer = this.#parse(line, trailerSchema);
    if (trailer === null) return;
    this.#beginEntries();
    this.#closeEntry();
    this.chain.finish();
    this.checkpoints.last(trailer.checkpoint, line.number);
    if (trailer.size !== this.chain.next && !this.chain.isUncertain) {
      this.log.add("TRAILER_SIZE_MISMATCH", { seq: this.chain.next, detail: `size ${trailer.size}` });
    }
    if (hex(digest()) !== trailer.bundle_sha256) {
      this.log.add("BUNDLE_DIGEST_MISMATCH", { line: line.number });
    }
    this.#finish();
  }

  #beginEntries(): void {
    if (this.#stage >= Stage.entries) return;
    this.#stage = Stage.entries;
    this.#kept.begin(this.chain);
  }

  /** Checks the open entry, if there is one: all its parts are read. */
  #closeEntry(): void {
    const { entry } = this.#parts;
    if (entry === null) return;
    this.#parts.close();
    this.structure.entry(entry);
    const isAfterRestore = this.name !== null && this.name.epoch > 1;
    if (entry.seq === 0 && isAfterRestore) this.family.goOn(this.structure.restored);
    if (this.#parts.stateOf("result") === "given") {
      this.#kept.score(entry.seq, { hash: this.#entryHash, result: this.#parts.dataOf("result") });
    }
    if (this.#options.repeats) this.#repeats.entry(entry);
    if (this.#options.replay) this.#replay.entry(entry, this.#entryHash);
  }

  #finish(): void {
    this.#beginEntries();
    this.#stage = Stage.over;
    const requireRecord = this.#options.requirePruneRecord && !this.isIncomplete;
    this.#retention.finish({ requireRecord });
    this.#models.finish();
    this.#states.finish();
    this.#commits.finish();
    const { next: size, root, isUnbroken } = this.chain;
    this.family.end({ origin: this.origin, size, root, isUnbroken });
  }
}

/** The seq that a line of any kind names; null if it is not a safe integer. */
function seqOf({ seq }: ReadLine["value"]): number | null {
  return Number.isSafeInteger(seq) ? seq as number : null;
}
