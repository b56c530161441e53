/**
 * Checks whether removals from a chain kept to its own rule, and are on record.
 *
 * The retention in force is the newest one in the bundle before the removal: that of the first entry, or of a
 * RETENTION_POLICY for chains of this kind. Source: evidence design, sections 8 and 9.
 */
import { DAY_MS } from "../domain/time.ts";
import type { z } from "zod";
import { hex } from "./crypto.ts";
import type { Entry } from "./entry.ts";
import type { FindingLog } from "./finding_log.ts";
import type { Restored } from "./restored.ts";
import type { RetentionPolicyName, retentionPolicySchema, retentionPrunedSchema } from "./structural.ts";

type RetentionPolicy = z.infer<typeof retentionPolicySchema>;
export type RetentionPruned = z.infer<typeof retentionPrunedSchema>;

/** A removed prefix: its size and the root that the bundle begins with. */
export interface RemovedPrefix {
  readonly size: number;
  /** null if it is not proven: then no record can be for it. */
  readonly root: Uint8Array | null;
}

/** A removed prefix without a record in its own bundle; the same object for every bundle with this prefix. */
export interface UnrecordedPrefix {
  readonly origin: string;
  readonly size: number;
  /** Hexadecimal. */
  readonly root: string;
}

/** The records of one bundle on removals from the chains of its family. */
export interface RemovalRecords {
  /** The recorded prefixes, of those that earlier bundles of the input await. */
  readonly prefixes: ReadonlySet<UnrecordedPrefix>;
  /** Whether it has a record whose content is not in the file: it may be for any prefix. */
  readonly isAny: boolean;
}

/** The prefixes of a family's bundles whose removal a later bundle must record. */
export class AwaitedRemovals {
  readonly #byName = new Map<string, UnrecordedPrefix>();

  add(prefix: UnrecordedPrefix): UnrecordedPrefix {
    const name = nameOf(prefix);
    const known = this.#byName.get(name) ?? prefix;
    this.#byName.set(name, known);
    return known;
  }

  /** The prefix that a record is for; null if no bundle so far awaits it. */
  find({ origin, to, root }: Pick<RetentionPruned, "origin" | "to" | "root">): UnrecordedPrefix | null {
    return this.#byName.get(nameOf({ origin, size: to, root })) ?? null;
  }
}

function nameOf({ origin, size, root }: UnrecordedPrefix): string {
  return `${origin}\n${size}\n${root}`;
}

/** The policy for a family's chains; null for `sys`, which has none. */
export function policyOf(family: string): RetentionPolicyName | null {
  if (family === "sys") return null;
  return /^org\/[^/]+\/admin$/.test(family) ? "audit_log" : "evidence";
}

export class RetentionCheck {
  readonly #log: FindingLog;
  readonly #policy: RetentionPolicyName | null;
  readonly #origin: string;
  readonly #prefix: RemovedPrefix;
  /** Retention in days; null if entries are kept; undefined if it is not known. */
  #inForce: number | null | undefined = undefined;
  readonly #awaited: AwaitedRemovals;
  #prefixOnRecord = false;
  /** The prefix, if the bundle itself has no record of its removal; else null. */
  #unrecorded: UnrecordedPrefix | null = null;
  /** A record covers removals from entries below this seq. */
  #removedTo = 0;
  readonly #recorded = new Set<UnrecordedPrefix>();
  #recordsUnknown = false;
  /** The first and the last entry with a part that is marked as pruned and has no record so far. */
  #awaitingRecord: { readonly first: number; readonly last: number } | null = null;

  constructor(
    log: FindingLog,
    { origin, policy, prefix, awaited }: {
      readonly origin: string;
      readonly policy: RetentionPolicyName | null;
      readonly prefix: RemovedPrefix;
      /** Awaited removals of the chain's family. */
      readonly awaited: AwaitedRemovals;
    },
  ) {
    this.#log = log;
    this.#origin = origin;
    this.#policy = policy;
    this.#prefix = prefix;
    this.#awaited = awaited;
  }

  /** Sets the retention, in days, with which the chain began; null if entries are kept. */
  begin(retentionDays: number | null): void {
    this.#inForce = retentionDays;
  }

  /** Takes a RETENTION_POLICY; `detail` is null if it is withheld. */
  setPolicy(detail: RetentionPolicy | null): void {
    if (detail === null) this.#inForce = undefined;
    else if (detail.policy === this.#policy) this.#inForce = detail.to_days;
  }

  /** Takes a RETENTION_PRUNED; `detail` is null if it is withheld. */
  takeRemoval({ seq, timestamp }: Entry, detail: RetentionPruned | null): void {
    const { size, root } = this.#prefix;
    if (detail === null) {
      this.#prefixOnRecord = true;
      this.#markRemoved(seq);
      // The record may be for a chain that a restore ended.
      this.#recordsUnknown = true;
      return;
    }
    if (detail.origin === this.#origin) {
      if (detail.to === size && root !== null && detail.root === hex(root)) this.#prefixOnRecord = true;
      this.#markRemoved(detail.to);
    }
    const awaited = this.#awaited.find(detail);
    if (awaited !== null) this.#recorded.add(awaited);
    const violation = this.#violationOf(detail, { seq, timestamp });
    if (violation !== null) this.#log.add("PRUNE_POLICY_VIOLATION", { seq, detail: violation });
  }

  /**
   * Notes the removal of the whole chain from which this one goes on. Retention removes by age: if it removed
   * this chain's beginning, it also removed all of the older chain. The record of that may be removed too.
   */
  takeEarlierRemoval({ previousOrigin, size, root }: Restored): void {
    if (root === null) return;
    const awaited = this.#awaited.find({ origin: previousOrigin, to: size, root });
    if (awaited !== null) this.#recorded.add(awaited);
  }

  /** Notes that a part of this entry is marked as pruned. */
  awaitRecord(seq: number): void {
    this.#awaitingRecord = { first: this.#awaitingRecord?.first ?? seq, last: seq };
  }

  /** The records of this bundle on the removal of awaited prefixes. */
  get records(): RemovalRecords {
    return { prefixes: this.#recorded, isAny: this.#recordsUnknown };
  }

  /** The prefix of this bundle whose record must stand in a later bundle; null if there is none. */
  get unrecorded(): UnrecordedPrefix | null {
    return this.#unrecorded;
  }

  /** Adds the findings at the end of the bundle. */
  finish({ requireRecord }: { readonly requireRecord: boolean }): void {
    if (this.#awaitingRecord !== null) {
      const { first, last } = this.#awaitingRecord;
      const place = first >= this.#removedTo ? { seq: first } : { range: [this.#removedTo, last] } as const;
      this.#log.add("ERASURE_UNPROVEN", { ...place, detail: "pruned, without a RETENTION_PRUNED" });
    }
    const { size, root } = this.#prefix;
    if (size === 0 || root === null) return;
    if (this.#prefixOnRecord || !requireRecord) this.#log.add("PRUNED_PREFIX", { range: [0, size - 1] });
    else this.#unrecorded = this.#awaited.add({ origin: this.#origin, size, root: hex(root) });
  }

  #markRemoved(to: number): void {
    this.#removedTo = Math.max(this.#removedTo, to);
    if (this.#awaitingRecord !== null && this.#awaitingRecord.last < this.#removedTo) {
      this.#awaitingRecord = null;
    }
  }

  /** The way in which a removal broke the rule; null if it did not. */
  #violationOf(detail: RetentionPruned, at: Pick<Entry, "seq" | "timestamp">): string | null {
    const { from, to, last_ts, cutoff, policy_days } = detail;
    const isOwn = detail.origin === this.#origin;
    if (from > to || (isOwn && to > at.seq)) return `entries ${from} to ${to}, at entry ${at.seq}`;
    if (this.#inForce !== undefined && policy_days !== this.#inForce) {
      return `${policy_days} days, while ${this.#inForce ?? "no removal"} was in force`;
    }
    if (!(last_ts < cutoff)) return `the last one removed is of ${last_ts}, not before ${cutoff}`;
    const latest = Date.parse(at.timestamp) - policy_days * DAY_MS;
    return Date.parse(cutoff) <= latest ? null : `${cutoff} is less than ${policy_days} days before`;
  }
}
