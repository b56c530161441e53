/**
 * The entries of the lock: what an installation has issued, which operators it erased, and what its clock
 * showed.
 */

/** The newest checkpoint of a family. */
export interface IssuedCheckpoint {
  /** The chain of epoch 1. */
  readonly family: string;
  readonly epoch: number;
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
  /** The signed note. */
  readonly note: string;
}

/** An erasure that a restored database must go through again. */
export interface ErasedOperator {
  /** HMAC of organization and operator under the installation key. */
  readonly name: Uint8Array;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A family, with the epoch in which it does not match what was issued. */
export interface SuspectFamily extends Pick<IssuedCheckpoint, "family" | "epoch"> {
  /**
   * The rows that were altered, as the subject of a sentence; absent if the chain is older than what was
   * issued.
   */
  readonly altered?: string;
}

/** The epoch and size up to which a family was issued. */
export type IssuedPlace = Pick<IssuedCheckpoint, "epoch" | "size">;

/** The time of this machine's clock when the service ran last. */
export interface StoredClock {
  /** Epoch milliseconds. For a refused clock: the time that it should have shown. */
  readonly at: number;
  /** True if the service recorded nothing because the clock was too far ahead. */
  readonly isRefused: boolean;
}
