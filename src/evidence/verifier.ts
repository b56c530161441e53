/**
 * Verifies bundles as they stream by: chain, tree, signatures, parts, retention, erasures, and every score
 * computed anew.
 *
 * It makes one pass over bytes in any pieces, for a file of one bundle or of several one after another, in
 * time that grows with the bytes. Memory grows with the number of operators (under 100 bytes each, and under 20
 * more if they are counted) and with that of sessions and decisions (under 20 bytes each); all else that grows
 * has a limit (`limits.ts`). No input makes it throw: each fault is a finding. Source: evidence design, section 8.
 */
import { type Anchor, Anchors } from "./anchors.ts";
import { BundleCheck } from "./bundle_check.ts";
import { type BundleHeader, headerSchema, lenientHeaderSchema } from "./bundle.ts";
import { chainPrefix, parseChain } from "./chain_name.ts";
import { ClosedBundle } from "./closed_bundle.ts";
import { Coverage } from "./coverage.ts";
import { type Crypto, equalBytes } from "./crypto.ts";
import { Family } from "./family.ts";
import { findingBudget, FindingLog } from "./finding_log.ts";
import { KeyHolders } from "./key_holders.ts";
import type { SignatureMemory } from "./key_index.ts";
import type { KeptCheckpoint, KnownCheckpoint } from "./kept.ts";
import { agreementBudget, type ExpectedEntry } from "./kept_check.ts";
import type { HashSeed } from "./keyed_hash.ts";
import { BUNDLE_LIMIT, KEY_LIMIT, NAME_LIMIT } from "./limits.ts";
import { type LineHandler, LineReader } from "./line_reader.ts";
import { type ReadLine, readLine } from "./read_line.ts";
import { type BundleReport, type Damage, unusableReport } from "./report.ts";
import { settle } from "./settlement.ts";
import type { PinnedKey } from "./trust.ts";

export interface VerifierOptions {
  /**
   * Keys to trust from the start; null if there are none: each bundle is then checked with its own first key.
   */
  readonly pins: readonly PinnedKey[] | null;
  /** Sets of raw public keys, each of one holder, from key files and earlier visits. Default: none. */
  readonly holderKeys?: readonly (readonly Uint8Array[])[];
  /**
   * Checkpoints from earlier visits, of any chains. Those that no trusted key signed are not compared with
   * anything, but reported.
   */
  readonly known: readonly KeptCheckpoint[];
  /** Entries that saved documents prove. */
  readonly expected: readonly ExpectedEntry[];
  /** Checkpoints of saved documents: if a bundle reaches one, it must agree with it. */
  readonly proven?: readonly KnownCheckpoint[];
  /** Whether scores, decisions and labels are computed anew. */
  readonly replay: boolean;
  /** Whether to check that records which can be made only once are not repeated. Default: true. */
  readonly repeats?: boolean;
  /** Whether a removed prefix needs its RETENTION_PRUNED. Default: true; the published vectors have none. */
  readonly requirePruneRecord?: boolean;
  /** Whether headers may lack the members that the published vectors lack. Default: false. */
  readonly lenientHeader?: boolean;
  /** Whether the operators of each bundle are counted, and the time that it spans. Default: false. */
  readonly census?: boolean;
  /** The most bundles that are read. Default: {@link BUNDLE_LIMIT}. */
  readonly bundleLimit?: number;
  /** A random seed, unknown to anybody who made the file. Default: none, for files that no attacker made. */
  readonly seed?: HashSeed;
}

const HEADER_KIND = /^jis\.bundle\/\d+$/;
const BYTE_ORDER_MARK = "\ufeff";

export class BundleVerifier {
  readonly #crypto: Crypto;
  readonly #options: VerifierOptions;
  readonly #reader: LineReader;
  readonly #take: LineHandler = (text, bytes) => this.#takeLine(text, bytes);
  readonly #digest = () => this.#reader.digestBeforeLine();
  readonly #bundles: (ClosedBundle | BundleReport)[] = [];
  readonly #families = new Map<string, Family>();
  readonly #anchors: Anchors;
  readonly #signatures: SignatureMemory = new WeakMap();
  readonly #budget = findingBudget();
  readonly #agreements = agreementBudget();
  readonly #coverage: Coverage;
  /** The holders of keys, as far as the input was read. */
  readonly holders: KeyHolders;
  readonly #known: ReadonlyMap<string, readonly KeptCheckpoint[]>;
  readonly #expected: ReadonlyMap<string, readonly ExpectedEntry[]>;
  /** The bundle whose trailer has not come yet. */
  #open: BundleCheck | null = null;
  #finishedEntries = 0;
  #line = 0;
  /** Whether lines outside of a bundle were reported since the last header: they are reported once. */
  #hasReportedStray = false;
  #isStopped = false;
  /** Whether reading stopped because there are too many bundles. */
  #isCutShort = false;

  constructor(crypto: Crypto, options: VerifierOptions) {
    this.#crypto = crypto;
    this.#options = options;
    this.#reader = new LineReader(crypto);
    const { known, proven = [], holderKeys } = options;
    this.holders = new KeyHolders(holderKeys);
    this.#anchors = new Anchors(proven);
    this.#coverage = new Coverage(crypto, { known, documents: proven, holders: this.holders });
    this.#known = Map.groupBy(options.known, ({ origin }) => origin);
    this.#expected = Map.groupBy(options.expected, ({ origin }) => origin);
  }

  /** The number of entries read so far, in all bundles. */
  get entries(): number {
    return this.#finishedEntries + (this.#open?.entries ?? 0);
  }

  /** Takes the next bytes, cut anywhere. */
  push(chunk: Uint8Array): void {
    if (!this.#isStopped) this.#reader.push(chunk, this.#take);
  }

  /** Ends a file before another one follows. A last line without its line feed is reported as cut off. */
  endFile(): void {
    if (this.#isStopped || !this.#reader.endsWithinLine) return;
    this.#endWithinLine();
    this.#reader.dropLine();
  }

  /** Ends the input. Returns one report for each bundle, in their order. Call it once. */
  end(): readonly BundleReport[] {
    if (!this.#isStopped && this.#reader.endsWithinLine) this.#endWithinLine();
    this.#open?.cutOff("cut off");
    this.#close();
    if (this.#bundles.length === 0) this.#reportStray("an empty file");
    const closed = this.#bundles.filter((bundle) => bundle instanceof ClosedBundle);
    settle(closed, { isCutShort: this.#isCutShort });
    this.#coverage.settle(closed);
    return this.#bundles.map((bundle) => bundle instanceof ClosedBundle ? bundle.report() : bundle);
  }

  #takeLine(text: string | null, bytes: Uint8Array): void {
    this.#line += 1;
    if (this.#isStopped) return;
    if (text !== null && text.startsWith(BYTE_ORDER_MARK)) return this.#takeMarked(text, bytes);
    this.#takeText(text, bytes);
  }

  /**
   * Takes a line that begins with a byte order mark. An editor may put one before a header; no line has one.
   */
  #takeMarked(text: string, bytes: Uint8Array): void {
    const line = readLine(text.slice(BYTE_ORDER_MARK.length), { number: this.#line, bytes });
    if (isHeader(line)) this.#takeHeader(line, { isMarked: true });
    else this.#takeText(text, bytes);
  }

  #takeText(text: string | null, bytes: Uint8Array): void {
    const line = text === null ? "too long, or not UTF-8" : readLine(text, { number: this.#line, bytes });
    if (isHeader(line)) return this.#takeHeader(line, { isMarked: false });
    if (this.#open === null) {
      return this.#reportStray(text === "" ? "an empty line" : "not a header", { isEmpty: text === "" });
    }
    if (typeof line === "string") return this.#open.takeUnreadable(this.#line, line);
    this.#open.takeLine(line, this.#digest);
    this.#isStopped = this.#open.isAbandoned;
    if (!this.#open.isOver && !this.#isStopped) return;
    this.#close();
    this.#reader.restart({ afterLine: true });
  }

  #takeHeader(line: ReadLine, { isMarked }: { readonly isMarked: boolean }): void {
    this.#open?.cutOff("cut off");
    this.#close();
    this.#hasReportedStray = false;
    this.#reader.restart({ afterLine: false });
    const { lenientHeader = false, bundleLimit = BUNDLE_LIMIT } = this.#options;
    if (this.#bundles.length >= bundleLimit) return this.#stopShort(bundleLimit);
    if (isMarked) {
      this.#hasReportedStray = true;
      return this.#unusable("MALFORMED_LINE", "a byte order mark before the header", "byte order mark");
    }
    const parsed = (lenientHeader ? lenientHeaderSchema : headerSchema).safeParse(line.value);
    if (!parsed.success) return this.#reportStrayHeader(line);
    const header = parsed.data;
    if (isTooLarge(header)) {
      this.#hasReportedStray = true;
      return this.#unusable("LIMIT_EXCEEDED", "a header with too many keys, or too long a name");
    }
    const { pins, replay, repeats = true, requirePruneRecord = true, census = false, seed } = this.#options;
    this.#open = new BundleCheck(this.#crypto, header, line, {
      index: this.#bundles.length,
      pins,
      known: this.#known.get(header.origin) ?? [],
      expected: this.#expected.get(header.origin) ?? [],
      anchors: this.#anchors.of(header.origin),
      memory: this.#signatures,
      holders: this.holders,
      budget: this.#budget,
      agreements: this.#coverage.isEmpty ? null : this.#agreements,
      family: this.#familyOf(header),
      replay,
      repeats,
      requirePruneRecord,
      census,
      seed,
    });
  }

  /** The family of a chain in its log; a header with a wrong origin has a family of its own. */
  #familyOf({ origin, chain }: { readonly origin: string; readonly chain: string }): Family {
    const prefix = chainPrefix(origin, chain);
    const name = prefix === null ? origin : `${prefix}${parseChain(chain)!.family}`;
    const family = this.#families.get(name) ?? new Family(this.#crypto, this.#options.seed);
    this.#families.set(name, family);
    return family;
  }

  /** Closes the open bundle. The roots that it anchors count for the bundles that follow. */
  #close(): void {
    const check = this.#open;
    this.#open = null;
    if (check === null) return;
    this.#finishedEntries += check.entries;
    const bundle = check.close();
    this.#bundles.push(bundle);
    for (const [origin, anchor] of check.anchors.all) {
      if (!bundle.isSound && !isKeptWith(bundle, anchor)) continue;
      const added = this.#anchors.add(origin, anchor);
      if (added === "new") this.#coverage.pin(origin, anchor);
      if (added !== "full") continue;
      return bundle.log.add("LIMIT_EXCEEDED", { detail: "it holds checkpoints of too many chains" });
    }
    if (!bundle.isSound || bundle.checkpoint === null) return;
    const { size, root } = bundle.checkpoint;
    this.#anchors.add(bundle.origin, { size, root, by: "bundle", pinnedBy: null });
  }

  #endWithinLine(): void {
    if (this.#open === null) return this.#reportStray("not ended by a line feed");
    this.#open.cutOff("cut within a line");
    this.#close();
  }

  /** Reports a line in place of a header: in the bundle before it, or else as an input without a bundle. */
  #reportStray(detail: string, { isEmpty = false } = {}): void {
    if (this.#hasReportedStray) return;
    this.#hasReportedStray = true;
    const last = this.#bundles.at(-1);
    const line = Math.max(1, this.#line);
    if (last instanceof ClosedBundle) {
      last.log.add("MALFORMED_LINE", { line, detail: `after the trailer: ${detail}` });
      if (isEmpty) last.noteEmptyLine();
    } else if (last === undefined) this.#unusable("MALFORMED_LINE", detail);
  }

  #reportStrayHeader({ value: { kind } }: ReadLine): void {
    this.#hasReportedStray = true;
    if (kind === "jis.bundle/1") this.#unusable("MALFORMED_LINE", "not a bundle's header");
    else this.#unusable("UNSUPPORTED_VERSION", String(kind));
  }

  /** Stops reading: there are more bundles than the limit. */
  #stopShort(limit: number): void {
    this.#isStopped = true;
    this.#isCutShort = true;
    const detail = `more than ${limit} bundles: verify them in several runs, with the same kept checkpoints`;
    this.#unusable("LIMIT_EXCEEDED", detail);
  }

  #unusable(
    code: "MALFORMED_LINE" | "UNSUPPORTED_VERSION" | "LIMIT_EXCEEDED",
    detail: string,
    damage: Damage | null = null,
  ): void {
    const log = new FindingLog(this.#budget);
    log.add(code, { line: Math.max(1, this.#line), detail });
    this.#bundles.push(unusableReport(log, { selfTrusted: this.#options.pins === null, damage }));
  }
}

/**
 * Whether a kept checkpoint that agrees with the bundle covers an anchor. Then the anchor counts, whichever
 * key signed the bundle: nothing may name the keys of an earlier epoch any more.
 */
function isKeptWith({ agreed, log }: ClosedBundle, { pinnedBy }: Anchor): boolean {
  return pinnedBy !== null && log.fatal.size === 0 &&
    agreed.some(({ size, root }) => size === pinnedBy.size && equalBytes(root, pinnedBy.root));
}

function isTooLarge({ origin, chain, keys }: BundleHeader): boolean {
  return origin.length > NAME_LIMIT || chain.length > NAME_LIMIT || keys.length > KEY_LIMIT;
}

function isHeader(line: ReadLine | string): line is ReadLine {
  return typeof line !== "string" && HEADER_KIND.test(String(line.value.kind));
}
