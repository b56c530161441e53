/**
 * Checks one bundle line by line: it holds the lines to their order, and passes each one to the check for its
 * kind. A line in a wrong place is reported and left out, so that one bad line neither hides nor causes other
 * findings. Source: evidence design, section 8.
 */
import { type BundleHeader, checkpointLineSchema, trailerSchema } from "./bundle.ts";
import { type CheckOptions, type Checks, openChecks } from "./checks.ts";
import { ClosedBundle } from "./closed_bundle.ts";
import { type Crypto, hex } from "./crypto.ts";
import { ENTRY_VERSIONS } from "./entry.ts";
import { EntryLines } from "./entry_lines.ts";
import { Preamble } from "./preamble.ts";
import { malformed, parseLine, type ReadLine, seqOf } from "./read_line.ts";
import type { Damage } from "./report.ts";
import type { SystemAnchors } from "./system_anchors.ts";

const CARRIAGE_RETURN = 0x0d;

/** Counts how many lines of a bundle end in a carriage return. */
class LineEnds {
  #lines = 0;
  #foreign = 0;

  countLine({ bytes }: ReadLine): void {
    this.#lines += 1;
    if (bytes.at(-1) === CARRIAGE_RETURN) this.#foreign += 1;
  }

  get damage(): Extract<Damage, `${string}line ends`> | null {
    if (this.#foreign === 0) return null;
    return this.#foreign === this.#lines ? "line ends" : "some line ends";
  }
}

export class BundleCheck {
  readonly #checks: Checks;
  readonly #preamble: Preamble;
  readonly #entries: EntryLines;
  readonly #lineEnds = new LineEnds();
  #isOver = false;
  #isAbandoned = false;
  #cutDamage: Damage | null = null;

  constructor(crypto: Crypto, header: BundleHeader, line: ReadLine, options: CheckOptions) {
    this.#lineEnds.countLine(line);
    this.#checks = openChecks(crypto, header, { line: line, options });
    this.#preamble = new Preamble(this.#checks);
    this.#entries = new EntryLines(this.#checks);
  }

  /** The number of entries that were read. */
  get entries(): number {
    return this.#entries.count;
  }

  /** Whether the trailer was read. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether reading stopped at an entry of an unknown version: the lines after it may be anything. */
  get isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  /** The checkpoints of other chains that it holds: only `sys` has them. */
  get anchors(): SystemAnchors {
    return this.#checks.structure.anchors;
  }

  /** Takes the next line; `digest` gives the SHA-256 of the bundle before it, once. */
  takeLine(line: ReadLine, digest: () => Uint8Array): void {
    const { number, value } = line;
    const { log } = this.#checks;
    this.#lineEnds.countLine(line);
    if (!line.isCanonical) log.add("NON_CANONICAL_LINE", { line: number, seq: seqOf(value) });
    switch (value.kind) {
      case undefined:
        return this.#entryLine(line);
      case "jis.part/1":
        return this.#entries.takePart(line);
      case "jis.checkpoint/1":
        return this.#checkpointLine(line);
      case "jis.model/1":
        return this.#preamble.takeModel(line);
      case "jis.ladder/1":
        return this.#preamble.takeLadder(line);
      case "jis.beginning/1":
        return this.#preamble.takeBeginning(line);
      case "jis.trailer/1":
        return this.#trailerLine(line, digest);
      default:
        malformed(log, number, "of no known kind");
    }
  }

  /** Takes a line that is not even JSON: it may have been any line that can stand at this place. */
  takeUnreadable(number: number, detail: string): void {
    if (this.#preamble.isOver) this.#entries.takeUnreadable(number, detail);
    else malformed(this.#checks.log, number, detail);
  }

  /** Ends the bundle without its trailer: the input ended, or another bundle began. */
  cutOff(damage: Extract<Damage, `cut${string}`>): void {
    const { chain, log } = this.#checks;
    this.#cutDamage = damage;
    const detail = damage === "cut off" ? "no trailer" : "the file ends within a line";
    this.#entries.close();
    chain.finish();
    log.add("TRUNCATED", { seq: chain.next, detail });
    this.#finish();
  }

  /** Closes the bundle and returns the part of its data that later steps need. */
  close(): ClosedBundle {
    const { census, checkpoints, chain, header, kept, log, options, parts, replay, retention } = this.#checks;
    const { signatures, structure, untrusted } = this.#checks;
    const { compared, refuted, provesFork, isAnchored, knownSize, agreed } = kept;
    const { known } = options;
    return new ClosedBundle({
      reportFields: {
        origin: header.origin,
        chain: header.chain,
        base: header.base.size,
        size: chain.next,
        entries: this.entries,
        checkpoint: checkpoints.newest,
        withheld: parts.withheld,
        erased: parts.erased,
        replayed: replay?.replayed ?? 0,
        selfTrusted: options.pins === null,
        damage: this.#lineEnds.damage ?? this.#cutDamage,
        keptCount: known.length,
        comparedScores: compared,
        refuted,
        census: census?.census ?? null,
        untrustedKept: untrusted.length === known.length ? known : untrusted,
      },
      log,
      family: options.family,
      root: chain.root,
      place: options.index,
      isAbandoned: this.#isAbandoned,
      signatures: signatures.facts,
      knownSize,
      beyond: checkpoints.beyond,
      restored: structure.restored,
      unrecorded: retention.unrecorded,
      records: retention.records,
      isAnchored,
      agreed,
      // A bundle with a fatal finding is not examined further.
      signers: log.fatal.size === 0 ? signatures.signers : [],
      hidesAnchors: header.base.size > 0 || structure.anchors.hasHidden,
      provesFork,
      replay: options.replay,
    });
  }

  #entryLine(line: ReadLine): void {
    const { number, value: { v } } = line;
    if (typeof v === "string" && !ENTRY_VERSIONS.some((version) => version === v)) {
      this.#checks.log.add("UNSUPPORTED_VERSION", { line: number, detail: v });
      this.#isAbandoned = true;
      return;
    }
    this.#preamble.end();
    this.#entries.takeEntry(line);
  }

  #checkpointLine(line: ReadLine): void {
    const { log } = this.#checks;
    const parsed = parseLine(log, line, checkpointLineSchema);
    if (parsed === null) return;
    if (!this.#preamble.isOver) return malformed(log, line.number, "a checkpoint before any entry");
    this.#entries.takeCheckpoint(parsed.note, line.number);
  }

  #trailerLine(line: ReadLine, digest: () => Uint8Array): void {
    const { chain, checkpoints, log } = this.#checks;
    const trailer = parseLine(log, line, trailerSchema);
    if (trailer === null) return;
    this.#preamble.end();
    this.#entries.close();
    chain.finish();
    checkpoints.takeLast(trailer.checkpoint, line.number);
    if (trailer.size !== chain.next && !chain.isUncertain) {
      log.add("TRAILER_SIZE_MISMATCH", { seq: chain.next, detail: `size ${trailer.size}` });
    }
    if (hex(digest()) !== trailer.bundle_sha256) log.add("BUNDLE_DIGEST_MISMATCH", { line: line.number });
    this.#finish();
  }

  #finish(): void {
    const { chain, commits, header, models, options, probes, retention, states } = this.#checks;
    this.#preamble.end();
    this.#isOver = true;
    retention.finish({ requireRecord: options.requirePruneRecord && !this.#isIncomplete });
    models.finish();
    states.finish();
    commits.finish();
    probes.finish();
    const { next: size, root, isUnbroken } = chain;
    options.family.end({ origin: header.origin, size, root, isUnbroken });
  }

  /** Whether signed entries may be missing: a record that is not found here may be in one of those. */
  get #isIncomplete(): boolean {
    const { fatal } = this.#checks.log;
    return this.#isAbandoned || fatal.has("MISSING") || fatal.has("TRUNCATED");
  }
}
