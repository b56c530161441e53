/**
 * The roots of other chains that a bundle of the system chain anchors. It keeps the newest root of each
 * chain, and the newest as of each checkpoint of the system chain that the auditor kept: a later entry, which
 * no kept checkpoint covers, must not replace one that is covered.
 * Source: docs/verify/evidence-format.md, section 9, "What could not be compared".
 */
import type { Anchor } from "./anchors.ts";
import type { FindingLog } from "./finding_log.ts";
import type { KeptCheckpoint, KnownCheckpoint } from "./kept.ts";
import { ANCHOR_LIMIT, NAME_LIMIT } from "./limits.ts";

export class SystemAnchors {
  readonly #log: FindingLog;
  /** Kept checkpoints of the system chain, smallest first. */
  readonly #kept: readonly KeptCheckpoint[];
  readonly #newest = new Map<string, Anchor>();
  /** Anchors that are the newest as of a kept checkpoint, and that a newer anchor follows. */
  readonly #earlier: (readonly [origin: string, anchor: Anchor])[] = [];
  #hides = false;
  #isFull = false;

  /** `kept` are the checkpoints of this chain that the auditor kept. */
  constructor(log: FindingLog, kept: readonly KeptCheckpoint[]) {
    this.#log = log;
    this.#kept = kept.toSorted((a, b) => a.size - b.size);
  }

  /** All anchors, each with its chain's origin; the newest of a chain is last. */
  get all(): Iterable<readonly [origin: string, anchor: Anchor]> {
    return [...this.#earlier, ...this.#newest];
  }

  /** Whether the anchors of an entry that a kept checkpoint covers are not in the file. */
  get hasHidden(): boolean {
    return this.#hides;
  }

  /** Takes a chain's root at a size, from the entry at `seq`. Entries must come in their order. */
  add(origin: string, { size, root }: Pick<KnownCheckpoint, "size" | "root">, seq: number): void {
    // A text that is too long names no chain.
    if (origin.length > NAME_LIMIT) return;
    const pinnedBy = this.#covering(seq);
    const before = this.#newest.get(origin);
    const keepsEarlier = before !== undefined && before.pinnedBy !== pinnedBy;
    const isOneMore = before === undefined || keepsEarlier;
    if (isOneMore && this.#newest.size + this.#earlier.length >= ANCHOR_LIMIT) return this.#refuse(seq);
    if (keepsEarlier) this.#earlier.push([origin, before]);
    this.#newest.set(origin, { size, root, by: "system", pinnedBy });
  }

  /** Notes that the anchors of the entry at `seq` are not in the file. */
  noteHidden(seq: number): void {
    if (this.#covering(seq) !== null) this.#hides = true;
  }

  /** The first kept checkpoint that covers an entry; null if there is none. */
  #covering(seq: number): KeptCheckpoint | null {
    return this.#kept.find(({ size }) => size > seq) ?? null;
  }

  #refuse(seq: number): void {
    if (this.#isFull) return;
    this.#isFull = true;
    this.#log.add("LIMIT_EXCEEDED", { seq, detail: `more than ${ANCHOR_LIMIT} checkpoints of other chains` });
  }
}
