/**
 * Finds records that can be made once only and stand in a chain twice: a session is scored, committed and labelled at
 * most once, and a decision scored once, because the service answers the same request again without an entry.
 *
 * A second one moves an operator's state by what happened once. Names are followed from epoch to epoch where a chain
 * goes on from the one before it in the input. Only parts that are given have a name. Source: contract, section 4.
 */
import type { Entry } from "./entry.ts";
import type { FindingLog } from "./finding_log.ts";
import type { PartName } from "./hashes.ts";
import { isMembers } from "./line_shapes.ts";
import type { PartCheck } from "./part_check.ts";
import type { RecordNames } from "./record_names.ts";

interface Rule {
  /** Another for each kind of record. */
  readonly flag: number;
  /** What the record names. */
  readonly member: "session_id" | "decision_id";
  /** Parts that have the name, the first that is given counts. */
  readonly parts: readonly PartName[];
  readonly told: string;
}

/** A SCORE_SKIPPED uses no session up: it is none of these. */
const RULES: Readonly<Record<string, Rule>> = {
  SCORE_COMPUTED: {
    flag: 1,
    member: "session_id",
    parts: ["input", "result"],
    told: "a second score of its session",
  },
  SCORE_COMMITTED: {
    flag: 2,
    member: "session_id",
    parts: ["result"],
    told: "a second commit of its session",
  },
  OUTCOME_LABELLED: {
    flag: 4,
    member: "session_id",
    parts: ["input"],
    told: "a second label of its session",
  },
  DRS_COMPUTED: {
    flag: 8,
    member: "decision_id",
    parts: ["input", "result"],
    told: "a second score of its decision",
  },
};

export interface RepeatCheckOptions {
  readonly parts: PartCheck;
  readonly names: RecordNames;
}

export class RepeatCheck {
  readonly #log: FindingLog;
  readonly #options: RepeatCheckOptions;
  #follows = true;

  constructor(log: FindingLog, options: RepeatCheckOptions) {
    this.#log = log;
    this.#options = options;
  }

  /** The chain is broken: from here on an entry may be one that came before. */
  stopFollowing(): void {
    this.#follows = false;
  }

  /** Checks an entry whose parts are all read. */
  entry({ seq, event_type }: Entry): void {
    const rule = Object.hasOwn(RULES, event_type) ? RULES[event_type]! : null;
    if (rule === null || !this.#follows) return;
    const name = this.#nameBy(rule);
    if (name === null || this.#options.names.add(name, rule.flag)) return;
    this.#log.add("RECORD_REPEATED", { seq, detail: rule.told });
  }

  /** null where no part that is given has it. */
  #nameBy({ member, parts }: Rule): string | null {
    const given = parts.find((part) => this.#options.parts.stateOf(part) === "given");
    const data = given === undefined ? null : this.#options.parts.dataOf(given);
    const name = isMembers(data) ? data[member] : null;
    return typeof name === "string" ? name : null;
  }
}
