/**
 * What a bundle of the system chain anchors of other chains. Of each chain it keeps the newest root; and the newest as
 * of each checkpoint of the system chain that the auditor kept, because a later entry, which was not kept, must not
 * take the place of one that was. Source: docs/verify/evidence-format.md, section 9, "What could not be compared".
 */
import type { Anchor } from "./anchors.ts";
import type { FindingLog } from "./finding_log.ts";
import type { KeptCheckpoint, KnownCheckpoint } from "./kept.ts";
import { ANCHOR_LIMIT, NAME_LIMIT } from "./limits.ts";

export class SystemAnchors {
  readonly #log: FindingLog;
  /** Smallest first. */
  readonly #kept: readonly KeptCheckpoint[];
  readonly #newest = new Map<string, Anchor>();
  /** Those that a newer one follows, and that are the newest as of a kept checkpoint. */
  readonly #earlier: (readonly [origin: string, anchor: Anchor])[] = [];
  #hides = false;
  #isFull = false;

  /** `kept` are the checkpoints of this chain that the auditor kept. */
  constructor(log: FindingLog, kept: readonly KeptCheckpoint[]) {
    this.#log = log;
    this.#kept = kept.toSorted((a, b) => a.size - b.size);
  }

  /** All of them, each with its chain's origin; of one chain the newest last. */
  get all(): Iterable<readonly [origin: string, anchor: Anchor]> {
    return [...this.#earlier, ...this.#newest];
  }

  /** Whether an entry that a kept checkpoint covers does not give what it anchors. */
  get hides(): boolean {
    return this.#hides;
  }

  /** The entry at `seq` says that a chain had this root at this size. Entries come in their order. */
  take(origin: string, { size, root }: Pick<KnownCheckpoint, "size" | "root">, seq: number): void {
    // A name that is too long is no chain's.
    if (origin.length > NAME_LIMIT) return;
    const pinnedBy = this.#covering(seq);
    const before = this.#newest.get(origin);
    const stays = before !== undefined && before.pinnedBy !== pinnedBy;
    const isOneMore = before === undefined || stays;
    if (isOneMore && this.#newest.size + this.#earlier.length >= ANCHOR_LIMIT) return this.#refuse(seq);
    if (stays) this.#earlier.push([origin, before]);
    this.#newest.set(origin, { size, root, by: "system", pinnedBy });
  }

  /** The entry at `seq` anchors something that the file does not give. */
  hide(seq: number): void {
    if (this.#covering(seq) !== null) this.#hides = true;
  }

  /** The first kept checkpoint that is of this entry too. */
  #covering(seq: number): KeptCheckpoint | null {
    return this.#kept.find(({ size }) => size > seq) ?? null;
  }

  #refuse(seq: number): void {
    if (this.#isFull) return;
    this.#isFull = true;
    this.#log.add("LIMIT_EXCEEDED", { seq, detail: `more than ${ANCHOR_LIMIT} checkpoints of other chains` });
  }
}
