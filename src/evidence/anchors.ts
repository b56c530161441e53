/**
 * Roots of chains that are known from elsewhere in the input: what system chains anchor, how bundles of the same chain
 * end, what saved documents prove. A chain's roots are looked up by their size, so that a bundle is held against all of
 * them by as many look-ups as it has entries.
 */
import { equalBytes } from "./crypto.ts";
import type { KeptCheckpoint, KnownCheckpoint } from "./kept.ts";
import { ANCHOR_LIMIT } from "./limits.ts";

/** A root of a chain. */
export interface Anchor {
  readonly size: number;
  readonly root: Uint8Array;
  /** Who says so: the system chain, another bundle of the same chain, or a saved document. */
  readonly by: "system" | "bundle" | "document";
  /**
   * The first kept checkpoint of the system chain that is of the entry which says so: who kept that one kept this root
   * with it. null: none is, or it is no system chain that says so.
   */
  readonly pinnedBy: KeptCheckpoint | null;
}

/** What is known of one chain. */
export class ChainAnchors {
  readonly #bySize = new Map<number, readonly Anchor[]>();
  /** Saved documents', and pinned ones. */
  readonly #awaited: Anchor[] = [];
  /** The newest anchor of the system chain that no kept checkpoint pins: an older one does not count. */
  #system: Anchor | null = null;
  #largestEnd = 0;

  /** The roots at smaller sizes than this that must be answered for: a ladder has to lead from there. */
  awaitedBelow(size: number): readonly Anchor[] {
    return this.#awaited.filter((anchor) => anchor.size < size);
  }

  /** The roots that are known at a size. */
  at(size: number): readonly Anchor[] {
    const known = this.#bySize.get(size) ?? [];
    return this.#system?.size === size ? [this.#system, ...known] : known;
  }

  /** The largest size that is known from the system chain or another bundle; 0 where none is. */
  get largest(): number {
    return Math.max(this.#largestEnd, this.#system?.size ?? 0);
  }

  /** How many more are held for it: 0 or 1. */
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

/** Whether a bundle has to answer for it, so that it is awaited from the beginning also where the bundle begins later. */
export function isAwaited({ by, pinnedBy }: Anchor): boolean {
  return by === "document" || pinnedBy !== null;
}

const NOTHING = new ChainAnchors();

/** What is known of all chains, by their origins. */
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

  /** "full" where system chains anchor one root too many: then it is not held. */
  add(origin: string, anchor: Anchor): "new" | "known" | "full" {
    if (anchor.by === "system" && this.#ofSystem >= ANCHOR_LIMIT) return "full";
    let chain = this.#chains.get(origin);
    if (chain === undefined) this.#chains.set(origin, chain = new ChainAnchors());
    const more = chain.add(anchor);
    if (anchor.by === "system") this.#ofSystem += more;
    return more > 0 ? "new" : "known";
  }
}
