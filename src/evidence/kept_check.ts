/**
 * Compares a bundle with what is known of its chain from elsewhere: checkpoints and entries that the auditor
 * kept, and checkpoints that the system chain anchored.
 *
 * A checkpoint within the bundle must have the root of the entries up to its size. A checkpoint within a
 * removed prefix is brought up to the bundle by the ladder. The ladder's proofs say nothing by themselves:
 * the root to which they lead must be a root of the bundle. Source: evidence design, sections 8 and 9.
 */
import { rootsFromConsistency } from "./consistency.ts";
import { type Crypto, equalBytes, fromHex, hex } from "./crypto.ts";
import type { LadderLine } from "./bundle.ts";
import type { ChainCheck } from "./chain_check.ts";
import type { FindingLog } from "./finding_log.ts";
import { type Anchor, type ChainAnchors, isAwaited } from "./anchors.ts";
import type { KeptCheckpoint, KnownCheckpoint } from "./kept.ts";
import { AGREEMENT_LIMIT } from "./limits.ts";

/** An entry that a saved document proves: the chain's entry at `seq` must have this hash (hexadecimal). */
export interface ExpectedEntry {
  readonly origin: string;
  readonly seq: number;
  readonly entryHash: string;
  /** Whether a key in use signed it; if only an earlier key did, it contradicts nothing. Default: true. */
  readonly isCurrent?: boolean;
  /**
   * The entry's score as the document states it, without proof of its own; null or absent if it states none.
   */
  readonly statedScore?: StatedScore | null;
}

/** One of the scores that a batch states. */
export interface StatedScore {
  readonly session_id: string;
  readonly operator_id: unknown;
  readonly jis: unknown;
}

/** The score that a saved document states for an entry, compared with the score that the entry records. */
export interface ComparedScore {
  readonly seq: number;
  readonly statedScore: StatedScore;
  readonly isTrue: boolean;
}

/** A size of the tree, and its root at that size. */
export type Root = Pick<KnownCheckpoint, "size" | "root">;

/** The number of agreements that can still be kept. All bundles of an input share it. */
export interface AgreementBudget {
  left: number;
}

/** The budget of one input. */
export function agreementBudget(): AgreementBudget {
  return { left: AGREEMENT_LIMIT };
}

/** A root that the tree must have at a size. */
interface Target {
  readonly size: number;
  readonly root: Uint8Array;
  /** The size and root that were known, before a ladder brought them up. */
  readonly known: Root;
  /** The source of the root; null if the auditor kept it. */
  readonly by: Anchor["by"] | null;
  /** Whether it does not rest on an earlier key alone. */
  readonly isCurrent: boolean;
  /** Whether it is an anchor that a kept checkpoint of the system chain covers. */
  readonly isPinned: boolean;
}

/** The targets that the ladder has brought up to one size and one root. */
interface Rung {
  readonly root: Uint8Array;
  readonly targets: Target[];
}

const ANCHORED_BY: Readonly<Record<Anchor["by"], string>> = {
  system: "as the system chain anchored it",
  bundle: "as another bundle has it",
  document: "as a saved document has it",
};

/** Kept checkpoints beyond the end of the bundle, all of the largest size. */
export interface Beyond {
  readonly size: number;
  readonly roots: readonly Uint8Array[];
}

export interface KeptCheckOptions {
  readonly base: number;
  /** Kept checkpoints of this bundle's origin. `anchors` and `expected` are of the same origin. */
  readonly known: readonly KeptCheckpoint[];
  readonly anchors: ChainAnchors;
  readonly expected: readonly ExpectedEntry[];
  /** null if the agreeing roots are not needed. */
  readonly agreements: AgreementBudget | null;
}

export class KeptCheck {
  readonly #crypto: Crypto;
  readonly #log: FindingLog;
  readonly #base: number;
  /** The targets below the base, by the size to which the ladder has brought them. */
  readonly #below = new Map<number, Rung[]>();
  /** The other targets, in the order of their sizes; `#at` is the index of the first not yet compared. */
  #targets: readonly Target[];
  #at = 0;
  readonly #expected: ReadonlyMap<number, readonly ExpectedEntry[]>;
  readonly #anchors: ChainAnchors;
  /** The size at which the anchors were compared last. */
  #anchorsAt = -1;
  /** Comparisons by the stated score: an entry can stand in a file many times. */
  readonly #compared = new Map<StatedScore, ComparedScore[]>();
  readonly #refuted = new Set<string>();
  #anchored = false;
  #forked = false;
  #provesFork = true;
  #knownSize = 0;
  readonly #agreed: Root[] = [];
  readonly #agreements: AgreementBudget | null;
  #hasLostAgreements = false;

  constructor(
    crypto: Crypto,
    log: FindingLog,
    { base, known, anchors, expected, agreements, isByCurrentKey }: KeptCheckOptions & {
      /** Whether a key that is in use signed a kept checkpoint. */
      isByCurrentKey(checkpoint: KnownCheckpoint): boolean;
    },
  ) {
    this.#crypto = crypto;
    this.#log = log;
    this.#base = base;
    this.#agreements = agreements;
    const kept = known.map((checkpoint) => {
      const { size, root } = checkpoint;
      const isCurrent = isByCurrentKey(checkpoint);
      return { size, root, known: checkpoint, by: null, isCurrent, isPinned: false };
    });
    const proven = anchors.awaitedBelow(base).map(targetOf);
    this.#anchors = anchors;
    for (const target of [...kept.filter(({ size }) => size < base), ...proven]) this.#addTarget(target);
    this.#targets = kept.filter(({ size }) => size >= base);
    this.#expected = Map.groupBy(expected, ({ seq }) => seq);
  }

  /** The known roots that agree with this chain, as they were known; empty if the chain is forked. */
  get agreed(): readonly Root[] {
    return this.#forked ? [] : this.#agreed;
  }

  /** The largest size at which a root known from elsewhere agrees; saved documents do not count. */
  get knownSize(): number {
    return this.#knownSize;
  }

  /** Whether a kept checkpoint of this chain was compared with the bundle and agreed. */
  get isAnchored(): boolean {
    return this.#anchored && !this.#forked;
  }

  /**
   * Whether the contradictions that were found rest on roots that keys in use signed. A contradiction over
   * the ladder does not: no signature covers the ladder.
   */
  get provesFork(): boolean {
    return this.#provesFork;
  }

  /** Brings the targets below the base up by one step of the ladder. */
  applyLadderStep({ from, to, proof }: LadderLine): void {
    if (from < this.#base) {
      for (const anchor of this.#anchors.at(from)) {
        // The constructor has added the other anchors.
        if (!isAwaited(anchor)) this.#addTarget(targetOf(anchor));
      }
    }
    const rungs = this.#below.get(from);
    if (rungs === undefined) return;
    this.#below.delete(from);
    const path = proof.map(fromHex);
    for (const { root: fromRoot, targets } of rungs) {
      const root = rootsFromConsistency(this.#crypto, { from, to, fromRoot, path });
      if (root !== null) {
        this.#addRung(to, { root, targets });
        continue;
      }
      this.#provesFork = false;
      const { size } = targets[0]!.known;
      this.#fork([0, size - 1], `size ${size}: the proof that leads to size ${to} does not hold`);
    }
  }

  #addTarget(target: Target): void {
    this.#addRung(target.size, { root: target.root, targets: [target] });
  }

  #addRung(size: number, rung: Rung): void {
    const rungs = this.#below.get(size) ?? [];
    const index = rungs.findIndex(({ root }) => equalBytes(root, rung.root));
    if (index < 0) {
      this.#below.set(size, [...rungs, rung]);
      return;
    }
    // The smaller list is added to the larger, so that a long ladder does not move all targets at each step.
    const [fewer, more] = [rung, rungs[index]!].sort((a, b) => a.targets.length - b.targets.length);
    for (const target of fewer!.targets) more!.targets.push(target);
    this.#below.set(size, rungs.with(index, more!));
  }

  /** Ends the ladder: targets that it did not bring to the base or beyond cannot be compared. */
  endLadder(chain: ChainCheck): void {
    const linked: Target[] = [];
    for (const [size, rungs] of this.#below) {
      for (const { root, targets } of rungs) {
        for (const target of targets) {
          if (size >= this.#base) linked.push({ ...target, size, root });
          else this.#unlinkable(target);
        }
      }
    }
    this.#below.clear();
    this.#targets = [...this.#targets, ...linked].sort((a, b) => a.size - b.size);
    this.compare(chain);
  }

  /** Compares the known roots of the size that the chain has reached. Cheap if there are none. */
  compare(chain: ChainCheck): void {
    const size = chain.next;
    while (this.#at < this.#targets.length && this.#targets[this.#at]!.size <= size) {
      const target = this.#targets[this.#at]!;
      this.#at += 1;
      if (target.size === size) this.#compareAt(target, chain);
    }
    if (this.#anchorsAt === size) return;
    this.#anchorsAt = size;
    for (const anchor of this.#anchors.at(size)) {
      this.#compareAt(targetOf(anchor), chain);
    }
  }

  /** Compares a target of the size that the chain has reached. */
  #compareAt(target: Target, chain: ChainCheck): void {
    const root = this.#forked ? null : chain.root;
    if (root !== null) this.#compareRoot(target, root, chain);
  }

  /** Compares an entry with the hashes that saved documents have for it. */
  compareEntry(seq: number, hash: Uint8Array): void {
    const expected = this.#expectedAt(seq);
    if (expected === undefined) return;
    const contradicting = expected.filter(({ entryHash }) => entryHash !== hex(hash));
    for (const { entryHash } of contradicting) this.#refuted.add(entryHash);
    if (contradicting.every(({ isCurrent = true }) => !isCurrent)) return;
    this.#log.add("FORK_VS_KNOWN_CHECKPOINT", {
      range: [seq, seq],
      detail: "a saved document proves another entry",
    });
  }

  /** Compares a score that an entry records with the scores that saved documents state for it. */
  compareScore(seq: number, { hash, result }: { readonly hash: Uint8Array; readonly result: unknown }): void {
    for (const { entryHash, statedScore = null } of this.#expectedAt(seq) ?? []) {
      if (statedScore === null || entryHash !== hex(hash)) continue;
      const recorded = (result ?? {}) as Partial<StatedScore>;
      const isTrue = recorded.session_id === statedScore.session_id &&
        recorded.operator_id === statedScore.operator_id &&
        recorded.jis === statedScore.jis;
      const compared = this.#compared.get(statedScore) ?? [];
      if (compared.some((one) => one.seq === seq && one.isTrue === isTrue)) continue;
      this.#compared.set(statedScore, [...compared, { seq, statedScore, isTrue }]);
    }
  }

  /** The hashes in saved documents that differ from those of the entries. */
  get refuted(): readonly string[] {
    return [...this.#refuted];
  }

  /** The scores that saved documents state, compared with the entries whose results are given. */
  get compared(): readonly ComparedScore[] {
    return [...this.#compared.values()].flat();
  }

  /**
   * The kept checkpoints beyond this chain's end, whose size is given; null if there are none.
   */
  finish(size: number): Beyond | null {
    const beyond = this.#targets.filter((target) => target.size > size);
    if (this.#anchors.largest > size || beyond.some(({ by }) => by === "system" || by === "bundle")) {
      this.#log.add("ANCHOR_AHEAD", { detail: `the bundle ends at ${size}` });
    }
    for (const target of beyond) if (target.known.size < this.#base) this.#unlinkable(target);
    const kept = beyond.filter(({ by, known }) => by === null && known.size >= this.#base);
    if (kept.length === 0) return null;
    const largest = Math.max(...kept.map((target) => target.size));
    return {
      size: largest,
      roots: kept.filter((target) => target.size === largest).map((target) => target.root),
    };
  }

  /**
   * The entries that documents prove at a seq. It is called for every entry, and there is nearly never one.
   */
  #expectedAt(seq: number): readonly ExpectedEntry[] | undefined {
    return this.#expected.size === 0 ? undefined : this.#expected.get(seq);
  }

  /** Reports a target that cannot be compared, unless only the input itself states it. */
  #unlinkable({ known: { size }, by, isPinned }: Target): void {
    if (by === "bundle" || (by === "system" && !isPinned)) return;
    const detail = by === null ? `size ${size}` : `size ${size}, ${ANCHORED_BY[by]}`;
    this.#log.add("KNOWN_CHECKPOINT_UNLINKABLE", { detail });
  }

  #compareRoot({ size, root, known, by, isCurrent }: Target, actual: Uint8Array, chain: ChainCheck): void {
    if (equalBytes(root, actual)) {
      chain.prove(size);
      this.#agree(known);
      if (by !== "document") this.#knownSize = size;
      if (by === null) this.#anchored = true;
      return;
    }
    // Anybody who holds an old key can sign anything with it.
    if (!isCurrent) this.#provesFork = false;
    const source = by === null ? "" : `, ${ANCHORED_BY[by]}`;
    if (known.size < this.#base) {
      this.#provesFork = false;
      this.#fork([0, size - 1], `size ${known.size}, brought up to size ${size}${source}`);
    } else {
      // The base is proven from the start: a difference there may begin at any entry below it.
      const first = chain.provenSize < size ? chain.provenSize : 0;
      this.#fork([first, size - 1], `size ${size}${source}`);
    }
  }

  #agree(known: Root): void {
    if (this.#agreements === null || this.#hasLostAgreements) return;
    if (this.#agreements.left > 0) {
      this.#agreements.left -= 1;
      this.#agreed.push(known);
      return;
    }
    this.#hasLostAgreements = true;
    const detail =
      `more than ${AGREEMENT_LIMIT} known roots are found again: verify the bundles in several runs`;
    this.#log.add("LIMIT_EXCEEDED", { detail });
  }

  /** Reports a fork, once: every known root beyond a fork contradicts the bundle too. */
  #fork(range: readonly [number, number], detail: string): void {
    if (!this.#forked) this.#log.add("FORK_VS_KNOWN_CHECKPOINT", { range, detail });
    this.#forked = true;
  }
}

function targetOf(anchor: Anchor): Target {
  const { size, root, by, pinnedBy } = anchor;
  return { size, root, known: anchor, by, isCurrent: by !== "document", isPinned: pinnedBy !== null };
}
