/**
 * The data that each bundle of a family of chains passes on to the next: the memory of operators and records,
 * and the end of the last chain, so that a chain after a restore can go on from there.
 */
import { type Crypto, hex } from "./crypto.ts";
import type { HashSeed } from "./keyed_hash.ts";
import { ProbeMemory } from "./probe_memory.ts";
import { RecordNames } from "./record_names.ts";
import type { Restored } from "./restored.ts";
import { AwaitedRemovals } from "./retention_check.ts";
import { SubjectMemory } from "./subject_memory.ts";

/** The end of a chain in a bundle. */
export interface ChainEnd {
  readonly origin: string;
  readonly size: number;
  /** null if it is not known. */
  readonly root: Uint8Array | null;
  readonly isUnbroken: boolean;
}

export class Family {
  readonly subjects: SubjectMemory;
  /** Sessions and decisions that have records. */
  readonly names: RecordNames;
  readonly removals = new AwaitedRemovals();
  readonly probes = new ProbeMemory();
  #beginsOpen = false;
  #last: ChainEnd | null = null;

  constructor(crypto: Crypto, seed?: HashSeed) {
    this.subjects = new SubjectMemory(seed);
    this.names = new RecordNames(crypto, seed);
  }

  /** Whether operators may have a history before the input begins. */
  get beginsOpen(): boolean {
    return this.#beginsOpen;
  }

  /** Begins a bundle that continues no other: it starts with the first entry, or after a removed prefix. */
  begin({ isOpen }: { readonly isOpen: boolean }): void {
    this.subjects.forgetStates();
    this.names.forget();
    this.probes.begin({ isOpen });
    this.#beginsOpen = isOpen;
  }

  /**
   * Begins a chain after a restore. It keeps the states if the last chain is unbroken and ends where the
   * restore says.
   */
  continueFrom(restored: Restored | null): void {
    this.probes.endAll();
    const last = this.#last;
    const isNext = restored !== null && last?.origin === restored.previousOrigin && last.isUnbroken;
    if (!isNext || !endsAsRestored(last, restored)) this.begin({ isOpen: true });
  }

  end(chain: ChainEnd): void {
    this.#last = chain;
  }
}

/** Whether a chain ends at the size and root that the chain after it names. */
export function endsAsRestored(
  { size, root }: Pick<ChainEnd, "size" | "root">,
  restored: Restored,
): boolean {
  return size === restored.size && root !== null && hex(root) === restored.root;
}
