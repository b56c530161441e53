/**
 * Checks the parts of one entry. Each part to which the entry commits has a line: the content fits the
 * commitment, or it is absent for a reason. Absences are counted; all except withholding must be on record.
 */
import { PART_LINE_START, partLineEnd } from "./bundle.ts";
import { canonicalTextOf } from "./canonical_text.ts";
import { type Crypto, hex, utf8 } from "./crypto.ts";
import type { Entry } from "./entry.ts";
import type { FindingLog } from "./finding_log.ts";
import { PART_NAMES, type PartName } from "./hashes.ts";
import { partCommitmentOfBytes } from "./line_hashes.ts";
import { absenceOf, type ParsedPart } from "./line_shapes.ts";
import type { RetentionCheck } from "./retention_check.ts";
import type { SubjectMemory } from "./subject_memory.ts";

/** State of a part. `none`: the entry does not commit to it; `altered`: not as committed, or out of order. */
export type PartState = "none" | "given" | "altered" | "missing" | "erased" | "pruned" | "withheld";

/** The order of part lines. */
const NAMES: readonly PartName[] = [...PART_NAMES].sort();

/** A part's line as it was read. */
export interface PartLineRead {
  readonly part: Readonly<Record<string, unknown>> & ParsedPart;
  /** The bytes of the whole line. */
  readonly bytes: Uint8Array;
  readonly isCanonical: boolean;
}

export interface PartCheckOptions {
  /** Place of the bundle in the input, from 0. */
  readonly bundle: number;
  readonly subjects: SubjectMemory;
  readonly retention: RetentionCheck;
}

export class PartCheck {
  readonly #crypto: Crypto;
  readonly #log: FindingLog;
  readonly #options: PartCheckOptions;
  #entry: Entry | null = null;
  #line = 0;
  #lastName = "";
  #allowsMissing = false;
  readonly #states: Record<PartName, PartState> = { input: "none", result: "none", detail: "none" };
  readonly #data: Record<PartName, unknown> = { input: null, result: null, detail: null };
  #withheld = 0;
  #erased = 0;

  constructor(crypto: Crypto, log: FindingLog, options: PartCheckOptions) {
    this.#crypto = crypto;
    this.#log = log;
    this.#options = options;
  }

  /** The entry whose parts are being read; null before the first and after {@link close}. */
  get entry(): Entry | null {
    return this.#entry;
  }

  /** Number of parts withheld so far. */
  get withheld(): number {
    return this.#withheld;
  }

  /** Number of parts erased so far. */
  get erased(): number {
    return this.#erased;
  }

  stateOf(name: PartName): PartState {
    return this.#states[name];
  }

  /** The content of a part that is given; null for other parts. */
  dataOf(name: PartName): unknown {
    return this.#data[name];
  }

  open(entry: Entry, line: number): void {
    this.#entry = entry;
    this.#line = line;
    this.#lastName = "";
    this.#allowsMissing = false;
    for (const name of NAMES) {
      this.#states[name] = Object.hasOwn(entry.commit, name) ? "missing" : "none";
      this.#data[name] = null;
    }
  }

  /** Whether a part of the entry has not come yet. */
  get isIncomplete(): boolean {
    return this.#entry !== null && NAMES.some((name) => this.#states[name] === "missing");
  }

  /** Notes that a line which may have been one of the parts could not be read. */
  skipUnreadable(): void {
    this.#allowsMissing = true;
  }

  /** Takes the next part; false if it cannot stand here. */
  take({ part, bytes, isCanonical }: PartLineRead, line: number): boolean {
    const { seq, name } = part;
    if (this.#entry?.seq !== seq || this.#states[name] !== "missing") return false;
    if (name < this.#lastName) {
      this.#states[name] = "altered";
      return false;
    }
    this.#lastName = name;
    const absence = absenceOf(part);
    if (absence !== null) {
      this.#states[name] = absence;
      this.#count(absence, name);
    } else if (this.#isCommitted({ part, bytes, isCanonical })) {
      this.#states[name] = "given";
      this.#data[name] = part.data;
    } else {
      this.#states[name] = "altered";
      this.#log.add("COMMITMENT_MISMATCH", { seq, line, part: name, detail: name });
    }
    return true;
  }

  /** Ends the entry's parts. Their states and contents stay readable until the next {@link open}. */
  close(): void {
    if (this.#entry === null) return;
    for (const name of NAMES) {
      if (this.#states[name] !== "missing" || this.#allowsMissing) continue;
      this.#log.add("PART_MISSING", { seq: this.#entry.seq, line: this.#line, part: name, detail: name });
    }
    this.#entry = null;
  }

  #isCommitted({ part: { name, salt, data }, bytes, isCanonical }: PartLineRead): boolean {
    const content = isCanonical ? contentOf(bytes, this.#entry!.seq, name) : canonicalBytesOf(data);
    if (content === null) return false;
    const commitment = partCommitmentOfBytes(this.#crypto, { name, salt: salt!, bytes: content });
    return this.#entry!.commit[name] === hex(commitment);
  }

  #count(absence: "erased" | "pruned" | "withheld", name: PartName): void {
    const { seq, subject } = this.#entry!;
    const { bundle, subjects, retention } = this.#options;
    if (absence === "withheld") this.#withheld += 1;
    if (absence === "pruned") retention.awaitRecord(seq);
    if (absence !== "erased") return;
    this.#erased += 1;
    if (subject !== null) subjects.awaitErasureRecord(subject, { bundle, seq });
    else this.#log.add("ERASURE_UNPROVEN", { seq, part: name, detail: "the entry names no operator" });
  }
}

const SOME_SALT = "0".repeat(64);

/** The content of a part in the bytes of its canonical line: it stands between two texts of known length. */
function contentOf(line: Uint8Array, seq: number, name: PartName): Uint8Array {
  const endLength = partLineEnd({ seq, name, salt: SOME_SALT }).length;
  return line.subarray(PART_LINE_START.length, line.length - endLength);
}

function canonicalBytesOf(data: unknown): Uint8Array | null {
  const text = canonicalTextOf(data);
  return text === null ? null : utf8(text);
}
