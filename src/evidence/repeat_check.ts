/**
 * Finds records that can be made only once but stand in a chain twice. A session is scored, committed and
 * labelled at most once, and a decision is scored once, because the service answers a repeated request
 * without a new entry.
 *
 * A second record changes an operator's state again for one event. Names are followed from epoch to epoch if
 * a chain goes on from the one before it in the input. Only parts that are given have a name. Source:
 * contract, section 4.
 */
import type { Entry } from "./entry.ts";
import type { FindingLog } from "./finding_log.ts";
import type { PartName } from "./hashes.ts";
import { isMembers } from "./line_shapes.ts";
import type { PartCheck } from "./part_check.ts";
import type { RecordNames } from "./record_names.ts";

interface Rule {
  /** A different flag for each kind of record. */
  readonly flag: number;
  /** The member that holds the record's name. */
  readonly member: "session_id" | "decision_id";
  /** The parts that hold the name; the first one that is given counts. */
  readonly parts: readonly PartName[];
  readonly detail: string;
}

/** The rules by event type. SCORE_SKIPPED has none: its session can still be scored. */
const RULES: Readonly<Record<string, Rule>> = {
  SCORE_COMPUTED: {
    flag: 1,
    member: "session_id",
    parts: ["input", "result"],
    detail: "a second score of its session",
  },
  SCORE_COMMITTED: {
    flag: 2,
    member: "session_id",
    parts: ["result"],
    detail: "a second commit of its session",
  },
  OUTCOME_LABELLED: {
    flag: 4,
    member: "session_id",
    parts: ["input"],
    detail: "a second label of its session",
  },
  DRS_COMPUTED: {
    flag: 8,
    member: "decision_id",
    parts: ["input", "result"],
    detail: "a second score of its decision",
  },
};

export interface RepeatCheckOptions {
  readonly parts: PartCheck;
  readonly names: RecordNames;
}

export class RepeatCheck {
  readonly #log: FindingLog;
  readonly #options: RepeatCheckOptions;
  #isFollowing = true;

  constructor(log: FindingLog, options: RepeatCheckOptions) {
    this.#log = log;
    this.#options = options;
  }

  /** Stops checking: the chain is broken, so an entry may be one that came before. */
  stopFollowing(): void {
    this.#isFollowing = false;
  }

  /** Checks an entry whose parts are all read. */
  checkEntry({ seq, event_type }: Entry): void {
    const rule = Object.hasOwn(RULES, event_type) ? RULES[event_type]! : null;
    if (rule === null || !this.#isFollowing) return;
    const name = this.#findName(rule);
    if (name === null || this.#options.names.add(name, rule.flag)) return;
    this.#log.add("RECORD_REPEATED", { seq, detail: rule.detail });
  }

  /** The record's name; null if no part is given, or if the first given one has no name. */
  #findName({ member, parts }: Rule): string | null {
    const given = parts.find((part) => this.#options.parts.stateOf(part) === "given");
    const data = given === undefined ? null : this.#options.parts.dataOf(given);
    const name = isMembers(data) ? data[member] : null;
    return typeof name === "string" ? name : null;
  }
}
