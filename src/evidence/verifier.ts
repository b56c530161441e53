/**
 * Verifies bundles as they stream by: chain, tree, signatures, parts, retention, erasures, and every score anew.
 *
 * One pass over bytes in any pieces, for a file of one bundle or of several one after another. Memory grows with the
 * number of operators (under 100 bytes each), of chains and of models, never with entries. No input makes it throw:
 * what is wrong is a finding. Source: evidence design, section 8.
 */
import { BundleCheck, type ReadLine } from "./bundle_check.ts";
import { headerSchema, lenientHeaderSchema } from "./bundle.ts";
import { isCanonicalText } from "./canonical_text.ts";
import { chainPrefix, parseChain } from "./chain_name.ts";
import { settleCoverage } from "./coverage.ts";
import type { Crypto } from "./crypto.ts";
import { Family } from "./family.ts";
import { FindingLog } from "./finding_log.ts";
import type { KeptCheckpoint, KnownCheckpoint } from "./kept.ts";
import type { Anchor, ExpectedEntry } from "./kept_check.ts";
import { type LineHandler, LineReader } from "./line_reader.ts";
import { isMembers } from "./line_shapes.ts";
import { type BundleReport, unusableReport } from "./report.ts";
import { settleRestore } from "./restore_check.ts";
import type { PinnedKey } from "./trust.ts";

export interface VerifierOptions {
  /** Keys to trust from the start; null: none, and each bundle is held against the first key that it carries. */
  readonly pins: readonly PinnedKey[] | null;
  /**
   * Checkpoints from earlier visits, of any chains. Those that no trusted key signed are not held against anything, but
   * reported.
   */
  readonly known: readonly KeptCheckpoint[];
  /** Entries that saved documents prove. */
  readonly expected: readonly ExpectedEntry[];
  /** Checkpoints of saved documents: where a bundle reaches them, they must agree. */
  readonly proven?: readonly KnownCheckpoint[];
  /** Whether scores, decisions and labels are computed anew. */
  readonly replay: boolean;
  /** Whether a removed prefix needs its RETENTION_PRUNED. Default: true; the published vectors have none. */
  readonly requirePruneRecord?: boolean;
  /** Whether headers may lack what the published vectors' lack. Default: false. */
  readonly lenientHeader?: boolean;
}

const HEADER_KIND = /^jis\.bundle\/\d+$/;

export class BundleVerifier {
  readonly #crypto: Crypto;
  readonly #options: VerifierOptions;
  readonly #reader: LineReader;
  readonly #take: LineHandler = (text, bytes) => this.#takeLine(text, bytes);
  readonly #digest = () => this.#reader.digestBeforeLine();
  readonly #bundles: (BundleCheck | BundleReport)[] = [];
  readonly #families = new Map<string, Family>();
  /** By origin: the newest of the system chain's, and the newest of each bundle. */
  readonly #anchors = new Map<string, readonly Anchor[]>();
  readonly #known: ReadonlyMap<string, readonly KeptCheckpoint[]>;
  readonly #expected: ReadonlyMap<string, readonly ExpectedEntry[]>;
  /** The bundle whose trailer has not come yet. */
  #open: BundleCheck | null = null;
  #finishedEntries = 0;
  #line = 0;
  /** Whether lines outside of a bundle were reported; they are once, until the next header. */
  #strayed = false;
  #stopped = false;

  constructor(crypto: Crypto, options: VerifierOptions) {
    this.#crypto = crypto;
    this.#options = options;
    this.#reader = new LineReader(crypto);
    this.#known = Map.groupBy(options.known, ({ origin }) => origin);
    this.#expected = Map.groupBy(options.expected, ({ origin }) => origin);
  }

  /** Entries read so far, of all bundles. */
  get entries(): number {
    return this.#finishedEntries + (this.#open?.entries ?? 0);
  }

  /** Takes the next bytes, cut anywhere. */
  push(chunk: Uint8Array): void {
    if (!this.#stopped) this.#reader.push(chunk, this.#take);
  }

  /** The input is over: one report for each bundle, in their order. Once. */
  end(): readonly BundleReport[] {
    if (!this.#stopped && this.#reader.endsWithinLine) this.#endWithinLine();
    this.#open?.cut("no trailer");
    this.#close();
    if (this.#bundles.length === 0) this.#stray("an empty file");
    const checks = this.#bundles.filter((bundle) => bundle instanceof BundleCheck);
    // The last first: whether a chain that goes on from another is signed decides what it says of the other's end.
    for (const [index, bundle] of [...checks.entries()].reverse()) {
      const later = checks.slice(index + 1);
      settleRestore(bundle, later);
      bundle.settlePrefix(later);
      bundle.settleKeys();
    }
    this.#reportOwed(checks);
    const { known, proven = [] } = this.#options;
    settleCoverage(this.#crypto, checks, { known, documents: proven });
    return this.#bundles.map((bundle) => bundle instanceof BundleCheck ? bundle.report() : bundle);
  }

  #takeLine(text: string | null, bytes: Uint8Array): void {
    this.#line += 1;
    if (this.#stopped) return;
    const line = text === null ? "too long, or not UTF-8" : readLine(text, { number: this.#line, bytes });
    if (typeof line !== "string" && HEADER_KIND.test(String(line.value.kind))) return this.#takeHeader(line);
    if (this.#open === null) return this.#stray("not a header");
    if (typeof line === "string") return this.#open.unreadable(this.#line, line);
    this.#open.line(line, this.#digest);
    this.#stopped = this.#open.isAbandoned;
    if (!this.#open.isOver && !this.#stopped) return;
    this.#close();
    this.#reader.restart({ afterLine: true });
  }

  #takeHeader(line: ReadLine): void {
    this.#open?.cut("no trailer");
    this.#close();
    this.#strayed = false;
    this.#reader.restart({ afterLine: false });
    const { lenientHeader = false } = this.#options;
    const parsed = (lenientHeader ? lenientHeaderSchema : headerSchema).safeParse(line.value);
    if (!parsed.success) return this.#strayHeader(line);
    const header = parsed.data;
    const { pins, replay, requirePruneRecord = true } = this.#options;
    this.#open = new BundleCheck(this.#crypto, header, line, {
      index: this.#bundles.length,
      pins,
      known: this.#known.get(header.origin) ?? [],
      expected: this.#expected.get(header.origin) ?? [],
      anchors: this.#anchorsOf(header.origin),
      family: this.#familyOf(header),
      replay,
      requirePruneRecord,
    });
    this.#bundles.push(this.#open);
  }

  /** Of a chain in its own log. */
  #familyOf({ origin, chain }: { readonly origin: string; readonly chain: string }): Family {
    const prefix = chainPrefix(origin, chain);
    const name = prefix === null ? origin : `${prefix}${parseChain(chain)!.family}`;
    const family = this.#families.get(name) ?? new Family();
    this.#families.set(name, family);
    return family;
  }

  /** The open bundle is over: what it anchors counts for the bundles that follow. */
  #close(): void {
    const bundle = this.#open;
    this.#open = null;
    if (bundle === null) return;
    this.#finishedEntries += bundle.entries;
    if (!bundle.isSound) return;
    for (const [origin, anchor] of bundle.structure.anchors) this.#anchor(origin, anchor);
    const { newest } = bundle.checkpoints;
    if (newest !== null) this.#anchor(bundle.origin, { ...newest, by: "bundle" });
  }

  #anchor(origin: string, anchor: Anchor): void {
    const known = this.#anchors.get(origin) ?? [];
    const others = anchor.by === "system" ? known.filter(({ by }) => by !== "system") : known;
    this.#anchors.set(origin, [...others, anchor]);
  }

  #anchorsOf(origin: string): readonly Anchor[] {
    const proven = this.#options.proven ?? [];
    return [
      ...this.#anchors.get(origin) ?? [],
      ...proven.filter((one) => one.origin === origin).map((one): Anchor => ({ ...one, by: "document" })),
    ];
  }

  #endWithinLine(): void {
    if (this.#open === null) return this.#stray("not ended by a line feed");
    this.#open.cut("the file ends within a line");
    this.#close();
  }

  /** A line where a header must stand: of the bundle before it where there is one, else the input is no bundle. */
  #stray(detail: string): void {
    if (this.#strayed) return;
    this.#strayed = true;
    const last = this.#bundles.at(-1);
    const line = Math.max(1, this.#line);
    if (last instanceof BundleCheck) {
      last.log.add("MALFORMED_LINE", { line, detail: `after the trailer: ${detail}` });
    } else if (last === undefined) this.#unusable("MALFORMED_LINE", detail);
  }

  #strayHeader({ value: { kind } }: ReadLine): void {
    this.#strayed = true;
    if (kind === "jis.bundle/1") this.#unusable("MALFORMED_LINE", "not a bundle's header");
    else this.#unusable("UNSUPPORTED_VERSION", String(kind));
  }

  #unusable(code: "MALFORMED_LINE" | "UNSUPPORTED_VERSION", detail: string): void {
    const log = new FindingLog();
    log.add(code, { line: Math.max(1, this.#line), detail });
    this.#bundles.push(unusableReport(log, this.#options.pins === null));
  }

  /** Parts that are said to be erased, of operators whose erasure is nowhere on record. */
  #reportOwed(checks: readonly BundleCheck[]): void {
    for (const family of new Set(this.#families.values())) {
      const owed = family.subjects.owed();
      const isIncomplete = checks.some((check) => check.family === family && check.isIncomplete);
      if (isIncomplete) continue;
      for (const { bundle, seq } of owed) {
        const check = this.#bundles[bundle];
        if (check instanceof BundleCheck) {
          check.log.add("ERASURE_UNPROVEN", { seq, detail: "no SUBJECT_ERASED for its operator" });
        }
      }
    }
  }
}

/** A line as JSON, or why it is none. */
function readLine(text: string, at: Pick<ReadLine, "number" | "bytes">): ReadLine | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "not JSON";
  }
  if (!isMembers(value)) return "not an object";
  return { ...at, value, isCanonical: isCanonicalText(text, value) };
}
