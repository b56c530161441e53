/**
 * Checks the checkpoints of a bundle. Each must be signed by a trusted key, be of this chain, and cover
 * exactly the entries before it; the trailer's checkpoint must cover all entries.
 */
import type { ChainCheck } from "./chain_check.ts";
import type { FindingLog } from "./finding_log.ts";
import type { KnownCheckpoint } from "./kept.ts";
import type { Beyond, KeptCheck } from "./kept_check.ts";
import type { SignatureCheck, SignedCheckpoint } from "./signature_check.ts";

export interface CheckpointCheckOptions {
  readonly origin: string;
  readonly signatures: SignatureCheck;
  readonly chain: ChainCheck;
  readonly kept: KeptCheck;
  /** Checkpoint of a removed prefix; null if there is none, or if it is not proven. */
  readonly base: KnownCheckpoint | null;
}

export class CheckpointCheck {
  readonly #log: FindingLog;
  readonly #options: CheckpointCheckOptions;
  /** The checkpoint that was read last, signed by any key. */
  #lastRead: Pick<KnownCheckpoint, "size" | "note"> | null;
  #newest: KnownCheckpoint | null;
  #beyond: Beyond | null = null;

  constructor(log: FindingLog, options: CheckpointCheckOptions) {
    this.#log = log;
    this.#options = options;
    this.#lastRead = options.base;
    this.#newest = options.base;
  }

  /** The newest checkpoint that a trusted key signed and that the entries agree with. */
  get newest(): KnownCheckpoint | null {
    return this.#newest;
  }

  /** Kept checkpoints beyond the bundle's end; null if there are none. */
  get beyond(): Beyond | null {
    return this.#beyond;
  }

  /** Takes a checkpoint among the entries: it must come once, directly after the entries that it counts. */
  takeInside(note: string, line: number): void {
    const { chain } = this.#options;
    const signed = this.#open(note, line);
    if (signed === null) return;
    const { checkpoint: { size }, fault } = signed;
    // A checkpoint that was signed over more entries shows that some are missing before it.
    if (size > chain.next && fault === null) chain.reach(size);
    if (size !== chain.next || size === this.#lastRead?.size) {
      const detail = `a checkpoint of size ${size} after ${chain.next} entries`;
      return this.#log.add("MALFORMED_LINE", { line, detail });
    }
    this.#lastRead = { size, note };
    this.#compareRoot(signed, line);
  }

  /** Takes the trailer's checkpoint, and finds the kept checkpoints beyond it. */
  takeLast(note: string, line: number): void {
    const { chain, kept } = this.#options;
    const signed = this.#open(note, line);
    if (signed === null) return;
    const { checkpoint: { size }, fault } = signed;
    const { next } = chain;
    // No digest covers this line. All its signatures, also those by unknown keys, must be those that were
    // read before.
    if (size === this.#lastRead?.size && note !== this.#lastRead.note) {
      this.#log.add("MALFORMED_LINE", { line, detail: "not the checkpoint before it" });
    }
    if (chain.lacks(size)) {
      this.#log.add("TRUNCATED", { seq: next, detail: `signed size ${size}, entries end at ${next - 1}` });
    } else if (size < next) {
      const range = [size, next - 1] as const;
      this.#log.add("UNSIGNED_TAIL", { seq: size, range, detail: `signed size ${size}` });
    } else if (size === next) {
      this.#compareRoot(signed, line);
    }
    this.#beyond = kept.finish(fault === null ? Math.max(size, next) : next);
  }

  /** Reads and checks a signed checkpoint of this chain. If it is none, returns null and adds a finding. */
  #open(note: string, line: number): SignedCheckpoint | null {
    const { origin, signatures } = this.#options;
    const signed = signatures.open(note, line);
    if (signed === null) {
      this.#log.add("MALFORMED_LINE", { line, detail: "not a signed checkpoint" });
      return null;
    }
    const { checkpoint, fault } = signed;
    if (checkpoint.origin !== origin) {
      this.#log.add("WRONG_ORIGIN", { seq: checkpoint.size - 1, line, detail: checkpoint.origin });
      return null;
    }
    if (fault !== null) this.#log.add(fault.code, { seq: checkpoint.size - 1, line, detail: fault.detail });
    return signed;
  }

  #compareRoot({ checkpoint, fault }: SignedCheckpoint, line: number): void {
    if (fault === null && this.#options.chain.compareRoot(checkpoint, line)) this.#newest = checkpoint;
  }
}
