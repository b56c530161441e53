/**
 * What the bundles of one family of chains hand on, from each to the next: what is remembered of operators, and where
 * the last chain ended, so that one that a restore began can go on from there.
 */
import { type Crypto, hex } from "./crypto.ts";
import type { HashSeed } from "./keyed_hash.ts";
import { RecordNames } from "./record_names.ts";
import type { Restored } from "./restored.ts";
import { AwaitedRemovals } from "./retention_check.ts";
import { SubjectMemory } from "./subject_memory.ts";

/** A chain as a bundle left it. */
export interface ChainEnd {
  readonly origin: string;
  readonly size: number;
  /** null where it is not known. */
  readonly root: Uint8Array | null;
  readonly isUnbroken: boolean;
}

export class Family {
  readonly subjects: SubjectMemory;
  /** Sessions and decisions of which something was recorded. */
  readonly names: RecordNames;
  readonly removals = new AwaitedRemovals();
  #beginsOpen = false;
  #last: ChainEnd | null = null;

  constructor(crypto: Crypto, seed?: HashSeed) {
    this.subjects = new SubjectMemory(seed);
    this.names = new RecordNames(crypto, seed);
  }

  /** Whether operators' states may begin with a history that is not in the input. */
  get beginsOpen(): boolean {
    return this.#beginsOpen;
  }

  /** A bundle begins that goes on from no other: with the chain's first entry, or after a removed prefix. */
  begin({ isOpen }: { readonly isOpen: boolean }): void {
    this.subjects.forgetStates();
    this.names.forget();
    this.#beginsOpen = isOpen;
  }

  /** A chain begins that a restore began: its states go on where the one before it, as it was left, is in the input. */
  goOn(restored: Restored | null): void {
    const last = this.#last;
    const isNext = restored !== null && last?.origin === restored.previousOrigin && last.isUnbroken;
    if (!isNext || !endsAsRestored(last, restored)) this.begin({ isOpen: true });
  }

  end(chain: ChainEnd): void {
    this.#last = chain;
  }
}

/** Whether a chain ends where the one after it says that it was left. */
export function endsAsRestored(
  { size, root }: Pick<ChainEnd, "size" | "root">,
  restored: Restored,
): boolean {
  return size === restored.size && root !== null && hex(root) === restored.root;
}
