/**
 * Entries that are yet to be written to `lock.db`: the newest checkpoint of each family, and erasures in
 * their order.
 */
import type { ErasedOperator, IssuedCheckpoint, IssuedPlace, StoredClock } from "./issued.ts";

export interface LockEntries {
  readonly issued: readonly IssuedCheckpoint[];
  readonly erased: readonly ErasedOperator[];
  /** Erasures before this instant (epoch milliseconds) are forgotten; null if none are. */
  readonly forgetBefore: number | null;
  /** null if it did not change. */
  readonly clock: StoredClock | null;
}

export class PendingLockEntries {
  #issued = new Map<string, IssuedCheckpoint>();
  #erased: ErasedOperator[] = [];
  #forgetBefore: number | null = null;
  #clock: StoredClock | null = null;

  get isEmpty(): boolean {
    return this.#issued.size + this.#erased.length === 0 && this.#forgetBefore === null &&
      this.#clock === null;
  }

  add({ issued = [], erased = [], forgetBefore = null, clock = null }: Partial<LockEntries>): void {
    for (const checkpoint of issued) {
      const pending = this.#issued.get(checkpoint.family);
      if (pending === undefined || isFurther(checkpoint, pending)) {
        this.#issued.set(checkpoint.family, checkpoint);
      }
    }
    this.#erased.push(...erased);
    this.#forgetBefore = forgetBefore ?? this.#forgetBefore;
    this.#clock = clock ?? this.#clock;
  }

  /** Returns all entries and leaves none. */
  takeAll(): LockEntries {
    const entries = {
      issued: [...this.#issued.values()],
      erased: this.#erased,
      forgetBefore: this.#forgetBefore,
      clock: this.#clock,
    };
    [this.#issued, this.#erased, this.#forgetBefore, this.#clock] = [new Map(), [], null, null];
    return entries;
  }
}

function isFurther(checkpoint: IssuedPlace, than: IssuedPlace): boolean {
  return checkpoint.epoch > than.epoch || (checkpoint.epoch === than.epoch && checkpoint.size > than.size);
}
