/**
 * Holds a bundle against what is known of its chain from elsewhere: checkpoints and entries that the auditor kept,
 * and checkpoints that the system chain anchored.
 *
 * A checkpoint within the bundle must have the root of the entries up to its size. One below a removed prefix is
 * brought up to it over the ladder, whose proofs say nothing by themselves: what they lead to must be a root of the
 * bundle. Source: evidence design, sections 8 and 9.
 */
import { rootsFromConsistency } from "./consistency.ts";
import { type Crypto, equalBytes, fromHex, hex } from "./crypto.ts";
import type { LadderLine } from "./bundle.ts";
import type { ChainCheck } from "./chain_check.ts";
import type { FindingLog } from "./finding_log.ts";
import { type Anchor, type ChainAnchors, isAwaited } from "./anchors.ts";
import type { KeptCheckpoint, KnownCheckpoint } from "./kept.ts";
import { AGREEMENT_LIMIT } from "./limits.ts";

/** An entry that a saved document speaks of: the chain's entry at `seq` must have this hash (hexadecimal). */
export interface ExpectedEntry {
  readonly origin: string;
  readonly seq: number;
  readonly entryHash: string;
  /** Whether a key that is in use stands for it; one that an earlier key signed contradicts nothing. Default: true. */
  readonly isCurrent?: boolean;
  /** What the document says that the entry's result says, without proof of its own; null, or nothing: nothing. */
  readonly says?: SaidScore | null;
}

/** What a batch says of one of its scores. */
export interface SaidScore {
  readonly session_id: string;
  readonly operator_id: unknown;
  readonly jis: unknown;
}

/** A saved document's word on an entry, held against what the entry records. */
export interface ComparedScore {
  readonly seq: number;
  readonly says: SaidScore;
  readonly isTrue: boolean;
}

/** A size of the tree, and its root there. */
export type Root = Pick<KnownCheckpoint, "size" | "root">;

/** How many more agreements are kept of a whole input, whose bundles share it. */
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
  /** As it was known, before any ladder brought it up. */
  readonly known: Root;
  /** Who says so; null: the auditor kept it. */
  readonly by: Anchor["by"] | null;
  /** Whether a key that is in use stands for it. */
  readonly isCurrent: boolean;
  /** Whether it is an anchor that a kept checkpoint of the system chain covers. */
  readonly isPinned: boolean;
}

/** Those that the ladder has brought to one size and one root. */
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
  /** Of this bundle's origin, as the two that follow. */
  readonly known: readonly KeptCheckpoint[];
  readonly anchors: ChainAnchors;
  readonly expected: readonly ExpectedEntry[];
  /** null: nobody asks what agrees. */
  readonly agreements: AgreementBudget | null;
}

export class KeptCheck {
  readonly #crypto: Crypto;
  readonly #log: FindingLog;
  readonly #base: number;
  /** What is known below the base, by the size to which the ladder has brought it. */
  readonly #below = new Map<number, Rung[]>();
  /** The others, by size; `#at` is the first that has not been compared. */
  #targets: readonly Target[];
  #at = 0;
  readonly #expected: ReadonlyMap<number, readonly ExpectedEntry[]>;
  readonly #anchors: ChainAnchors;
  /** The size at which the anchors were compared last. */
  #anchorsAt = -1;
  /** By what was said: an entry can stand in a file many times. */
  readonly #compared = new Map<SaidScore, ComparedScore[]>();
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
    for (const target of [...kept.filter(({ size }) => size < base), ...proven]) this.#await(target);
    this.#targets = kept.filter(({ size }) => size >= base);
    this.#expected = Map.groupBy(expected, ({ seq }) => seq);
  }

  /** What is known of this chain from elsewhere, and agrees: as it was known. */
  get agreed(): readonly Root[] {
    return this.#forked ? [] : this.#agreed;
  }

  /** The largest size whose root is known from elsewhere, and agrees. */
  get knownSize(): number {
    return this.#knownSize;
  }

  /** Whether a kept checkpoint of this chain was held against the bundle, and agreed. */
  get isAnchored(): boolean {
    return this.#anchored && !this.#forked;
  }

  /**
   * Whether what it found contradicts signed checkpoints by signed roots alone: the ladder, by which one from before
   * the bundle is brought up to it, is covered by no signature.
   */
  get provesFork(): boolean {
    return this.#provesFork;
  }

  /** Brings what is known below the base up by one step. */
  climb({ from, to, proof }: LadderLine): void {
    if (from < this.#base) {
      for (const anchor of this.#anchors.at(from)) {
        // The others are awaited from the beginning.
        if (!isAwaited(anchor)) this.#await(targetOf(anchor));
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

  #await(target: Target): void {
    this.#addRung(target.size, { root: target.root, targets: [target] });
  }

  #addRung(size: number, rung: Rung): void {
    const rungs = this.#below.get(size) ?? [];
    const index = rungs.findIndex(({ root }) => equalBytes(root, rung.root));
    if (index < 0) {
      this.#below.set(size, [...rungs, rung]);
      return;
    }
    // The fewer go to the more, so that a long ladder does not move all of them at each of its steps.
    const [fewer, more] = [rung, rungs[index]!].sort((a, b) => a.targets.length - b.targets.length);
    for (const target of fewer!.targets) more!.targets.push(target);
    this.#below.set(size, rungs.with(index, more!));
  }

  /** The ladder is over: what it did not bring to the base or beyond it cannot be compared. */
  begin(chain: ChainCheck): void {
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

  /** Compares what is known of the size that the chain has reached. Cheap where nothing is. */
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

  /** Compares one that is of the size that the chain has reached. */
  #compareAt(target: Target, chain: ChainCheck): void {
    const root = this.#forked ? null : chain.root;
    if (root !== null) this.#compareRoot(target, root, chain);
  }

  /** Compares an entry with what saved documents say of it. */
  entry(seq: number, hash: Uint8Array): void {
    const expected = this.#expectedAt(seq);
    if (expected === undefined) return;
    const strange = expected.filter(({ entryHash }) => entryHash !== hex(hash));
    for (const { entryHash } of strange) this.#refuted.add(entryHash);
    if (strange.every(({ isCurrent = true }) => !isCurrent)) return;
    this.#log.add("FORK_VS_KNOWN_CHECKPOINT", {
      range: [seq, seq],
      detail: "a saved document proves another entry",
    });
  }

  /** Compares a score that an entry records with what saved documents say of it. */
  score(seq: number, { hash, result }: { readonly hash: Uint8Array; readonly result: unknown }): void {
    for (const { entryHash, says = null } of this.#expectedAt(seq) ?? []) {
      if (says === null || entryHash !== hex(hash)) continue;
      const recorded = (result ?? {}) as Partial<SaidScore>;
      const isTrue = recorded.session_id === says.session_id && recorded.operator_id === says.operator_id &&
        recorded.jis === says.jis;
      const compared = this.#compared.get(says) ?? [];
      if (compared.some((one) => one.seq === seq && one.isTrue === isTrue)) continue;
      this.#compared.set(says, [...compared, { seq, says, isTrue }]);
    }
  }

  /** Hashes that saved documents say of entries, where the entries are others. */
  get refuted(): readonly string[] {
    return [...this.#refuted];
  }

  /** What saved documents say of scores, held against the entries that give their results. */
  get compared(): readonly ComparedScore[] {
    return [...this.#compared.values()].flat();
  }

  /**
   * What the auditor kept of a chain longer than this one, whose signed size is given; null where there is nothing.
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

  /** Asked for every entry, and nearly always of nothing. */
  #expectedAt(seq: number): readonly ExpectedEntry[] | undefined {
    return this.#expected.size === 0 ? undefined : this.#expected.get(seq);
  }

  /** Told of what an auditor has, as the kept system chain has it too; of what the input itself says it is no news. */
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
    // Whoever has come to hold an old key can sign what he likes with it.
    if (!isCurrent) this.#provesFork = false;
    const who = by === null ? "" : `, ${ANCHORED_BY[by]}`;
    if (known.size < this.#base) {
      this.#provesFork = false;
      this.#fork([0, size - 1], `size ${known.size}, brought up to size ${size}${who}`);
    } else {
      // The base itself is proven, before anything below it is.
      const first = chain.provenSize < size ? chain.provenSize : 0;
      this.#fork([first, size - 1], `size ${size}${who}`);
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

  /** Once: whatever is known beyond a fork contradicts the bundle too. */
  #fork(range: readonly [number, number], detail: string): void {
    if (!this.#forked) this.#log.add("FORK_VS_KNOWN_CHECKPOINT", { range, detail });
    this.#forked = true;
  }
}

function targetOf(anchor: Anchor): Target {
  const { size, root, by, pinnedBy } = anchor;
  return { size, root, known: anchor, by, isCurrent: by !== "document", isPinned: pinnedBy !== null };
}
