/**
 * Roots of chains that are known from elsewhere in the input: what system chains anchor, how bundles of the same chain
 * end, what saved documents prove. A chain's roots are looked up by their size, so that a bundle is held against all of
 * them by as many look-ups as it has entries.
 */
import { equalBytes } from "./crypto.ts";
import type { KnownCheckpoint } from "./kept.ts";
import { ANCHORED_CHAIN_LIMIT } from "./limits.ts";

/** A root of a chain. */
export interface Anchor {
  readonly size: number;
  readonly root: Uint8Array;
  /** Who says so: the system chain, another bundle of the same chain, or a saved document. */
  readonly by: "system" | "bundle" | "document";
}

/** What is known of one chain. */
export class ChainAnchors {
  readonly #bySize = new Map<number, readonly Anchor[]>();
  readonly #documents: Anchor[] = [];
  /** Of the system chain's the newest alone counts. */
  #system: Anchor | null = null;
  #largestEnd = 0;

  /** The roots that saved documents prove at smaller sizes than this. */
  documentsBelow(size: number): readonly Anchor[] {
    return this.#documents.filter((anchor) => anchor.size < size);
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

  add(anchor: Anchor): void {
    if (anchor.by === "system") {
      this.#system = anchor;
      return;
    }
    const known = this.#bySize.get(anchor.size) ?? [];
    const isKnown = known.some(({ by, root }) => by === anchor.by && equalBytes(root, anchor.root));
    if (!isKnown) this.#bySize.set(anchor.size, [...known, anchor]);
    if (!isKnown && anchor.by === "document") this.#documents.push(anchor);
    if (anchor.by === "bundle") this.#largestEnd = Math.max(this.#largestEnd, anchor.size);
  }
}

const NOTHING = new ChainAnchors();

/** What is known of all chains, by their origins. */
export class Anchors {
  readonly #chains = new Map<string, ChainAnchors>();
  #anchored = 0;

  /** `proven` are checkpoints of saved documents. */
  constructor(proven: readonly KnownCheckpoint[]) {
    for (const { origin, size, root } of proven) this.add(origin, { size, root, by: "document" });
  }

  of(origin: string): ChainAnchors {
    return this.#chains.get(origin) ?? NOTHING;
  }

  /** False where a system chain anchors one chain too many: then it is not held. */
  add(origin: string, anchor: Anchor): boolean {
    let chain = this.#chains.get(origin);
    if (chain === undefined) {
      if (anchor.by === "system" && this.#anchored >= ANCHORED_CHAIN_LIMIT) return false;
      if (anchor.by === "system") this.#anchored += 1;
      chain = new ChainAnchors();
      this.#chains.set(origin, chain);
    }
    chain.add(anchor);
    return true;
  }
}
