/**
 * Follows each operator's state from entry to entry: each entry must start from the state that the one before
 * it left.
 *
 * It keeps one hash for each operator: SHA-256(entry hash ‖ canonical JSON of the state after that entry).
 * The `prior` and `state` of the operator's next entry must give the same hash. Source: evidence design,
 * section 12.
 */
import type { OperatorState } from "../scoring/state.ts";
import { canonicalJson } from "./canonical.ts";
import { type Crypto, equalBytes, fromHex, utf8 } from "./crypto.ts";
import type { Family } from "./family.ts";
import type { FindingLog } from "./finding_log.ts";

/** The prior entry and the state from which an entry starts, as its input records them. */
export interface RecordedStart {
  readonly prior: { readonly entry_hash: string } | null;
  readonly state: OperatorState | null;
}

export class StateCheck {
  readonly #crypto: Crypto;
  readonly #log: FindingLog;
  readonly #family: Family;
  #isFollowing = true;
  #unanchored = 0;
  #firstUnanchored = 0;

  constructor(crypto: Crypto, log: FindingLog, family: Family) {
    this.#crypto = crypto;
    this.#log = log;
    this.#family = family;
  }

  /** Stops checking: the chain is broken, so a state need not be the one that the entry before left. */
  stopFollowing(): void {
    this.#isFollowing = false;
  }

  /** Checks the state from which an operator's entry starts. */
  check({ seq, subject }: { readonly seq: number; readonly subject: string }, start: RecordedStart): void {
    if (!this.#isFollowing) return;
    const { subjects } = this.#family;
    if (start.prior === null) {
      if (start.state !== null || subjects.hasChanged(subject)) {
        this.#log.add("STATE_MISMATCH", { seq, detail: "it begins anew, with a history behind it" });
      }
      return;
    }
    const prior = `${start.prior.entry_hash.slice(0, 12)}…`;
    const known = subjects.stateOf(subject);
    if (known !== null) {
      const recorded = this.#hash(fromHex(start.prior.entry_hash), start.state);
      if (equalBytes(known, recorded)) return;
      this.#log.add("STATE_MISMATCH", { seq, detail: `not the state after ${prior}` });
    } else if (this.#family.beginsOpen || subjects.isLost(subject)) {
      if (subjects.noteUnanchoredOnce(subject)) this.#countUnanchored(seq);
    } else {
      this.#log.add("STATE_MISMATCH", { seq, detail: `no entry of the operator before it, ${prior} named` });
    }
  }

  /** Remembers the state to which an entry changed an operator's state. */
  remember(
    subject: string,
    { hash, state }: { readonly hash: Uint8Array; readonly state: OperatorState },
  ): void {
    this.#family.subjects.remember(subject, this.#hash(hash, state));
  }

  /** Notes that an entry changed an operator's state to an unknown one. `isReported`: a finding says why. */
  markLost(subject: string, { isReported }: { readonly isReported: boolean }): void {
    const { subjects } = this.#family;
    subjects.markLost(subject);
    if (isReported) subjects.noteUnanchoredOnce(subject);
  }

  finish(): void {
    if (this.#unanchored === 0) return;
    const detail = `${this.#unanchored} ${this.#unanchored === 1 ? "operator" : "operators"}`;
    this.#log.add("STATE_UNANCHORED", { seq: this.#firstUnanchored, detail });
  }

  #countUnanchored(seq: number): void {
    if (this.#unanchored === 0) this.#firstUnanchored = seq;
    this.#unanchored += 1;
  }

  #hash(entryHash: Uint8Array, state: OperatorState | null): Uint8Array {
    return this.#crypto.sha256(entryHash, utf8(canonicalJson(state)));
  }
}
