/** What an installation has issued, and what it remembers besides: the entries of the lock. */

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

/** A family with the epoch in which it is not what was issued. */
export interface SuspectFamily extends Pick<IssuedCheckpoint, "family" | "epoch"> {
  /** Which of its rows were altered, as the subject of a sentence; absent if the chain is older than what was issued. */
  readonly altered?: string;
}

/** How far a family was issued. */
export type IssuedPlace = Pick<IssuedCheckpoint, "epoch" | "size">;

/** What this machine's clock said when the service ran last. */
export interface KeptClock {
  /** Epoch milliseconds; of a clock that is refused, what it should have said. */
  readonly at: number;
  /** Whether the service recorded nothing, since the clock was too far ahead. */
  readonly isRefused: boolean;
}
