/**
 * Roots of chains that are known from elsewhere in the input: system chains anchor them, bundles of the same
 * chain end at them, saved documents prove them. A chain's roots are looked up by their size, so comparing a
 * bundle with all of them takes one look-up for each of its entries.
 */
import { equalBytes } from "./crypto.ts";
import type { KeptCheckpoint, KnownCheckpoint } from "./kept.ts";
import { ANCHOR_LIMIT } from "./limits.ts";

/** A root of a chain. */
export interface Anchor {
  readonly size: number;
  readonly root: Uint8Array;
  /** The source of the root: the system chain, another bundle of the same chain, or a saved document. */
  readonly by: "system" | "bundle" | "document";
  /**
   * The first kept checkpoint of the system chain that covers the entry with this root: keeping the
   * checkpoint also kept the root. null if no kept checkpoint covers it, or if the source is not the system
   * chain.
   */
  readonly pinnedBy: KeptCheckpoint | null;
}

/** The known roots of one chain. */
export class ChainAnchors {
  readonly #bySize = new Map<number, readonly Anchor[]>();
  /** The roots that saved documents prove, and the pinned ones. */
  readonly #awaited: Anchor[] = [];
  /** The newest anchor of the system chain that no kept checkpoint pins: an older one does not count. */
  #system: Anchor | null = null;
  #largestEnd = 0;

  /** The roots below this size that the bundle must answer for: a ladder has to lead from there. */
  awaitedBelow(size: number): readonly Anchor[] {
    return this.#awaited.filter((anchor) => anchor.size < size);
  }

  /** The roots that are known at a size. */
  at(size: number): readonly Anchor[] {
    const known = this.#bySize.get(size) ?? [];
    return this.#system?.size === size ? [this.#system, ...known] : known;
  }

  /** The largest size that is known from the system chain or another bundle; 0 if there is none. */
  get largest(): number {
    return Math.max(this.#largestEnd, this.#system?.size ?? 0);
  }

  /** Adds a root. Returns by how many the number of stored roots grew: 0 or 1. */
  add(anchor: Anchor): number {
    if (anchor.by === "system" && anchor.pinnedBy === null) {
      const more = this.#system === null ? 1 : 0;
      this.#system = anchor;
      return more;
    }
    if (anchor.by !== "document") this.#largestEnd = Math.max(this.#largestEnd, anchor.size);
    const known = this.#bySize.get(anchor.size) ?? [];
    if (known.some(({ by, root }) => by === anchor.by && equalBytes(root, anchor.root))) return 0;
    this.#bySize.set(anchor.size, [...known, anchor]);
    if (isAwaited(anchor)) this.#awaited.push(anchor);
    return 1;
  }
}

/** Whether a bundle has to answer for an anchor, even if the anchor lies before the bundle's first entry. */
export function isAwaited({ by, pinnedBy }: Anchor): boolean {
  return by === "document" || pinnedBy !== null;
}

const NOTHING = new ChainAnchors();

/** The known roots of all chains, by their origins. */
export class Anchors {
  readonly #chains = new Map<string, ChainAnchors>();
  #ofSystem = 0;

  /** `proven` are checkpoints of saved documents. */
  constructor(proven: readonly KnownCheckpoint[]) {
    for (const { origin, size, root } of proven) {
      this.add(origin, { size, root, by: "document", pinnedBy: null });
    }
  }

  of(origin: string): ChainAnchors {
    return this.#chains.get(origin) ?? NOTHING;
  }

  /** Adds a root of a chain. "full" if system chains anchor too many roots: then this one is not stored. */
  add(origin: string, anchor: Anchor): "new" | "known" | "full" {
    if (anchor.by === "system" && this.#ofSystem >= ANCHOR_LIMIT) return "full";
    let chain = this.#chains.get(origin);
    if (chain === undefined) this.#chains.set(origin, chain = new ChainAnchors());
    const more = chain.add(anchor);
    if (anchor.by === "system") this.#ofSystem += more;
    return more > 0 ? "new" : "known";
  }
}
