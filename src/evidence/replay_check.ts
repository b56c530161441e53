/**
 * Computes scores, decisions and late labels anew from the recorded inputs, with the functions that made
 * them, and compares the results with the recorded ones. Source: evidence design, section 12.
 */
import * as z from "zod";
import { hash32 } from "../domain/hash.ts";
import { FORMULAS } from "../domain/enums.ts";
import type { ModelDocument } from "../scoring/model.ts";
import { modeName } from "../scoring/score.ts";
import type { CommitCheck } from "./commit_check.ts";
import type { Entry } from "./entry.ts";
import type { FindingLog } from "./finding_log.ts";
import type { PartName } from "./hashes.ts";
import { isMembers } from "./line_shapes.ts";
import type { ModelCheck } from "./model_check.ts";
import type { PartCheck } from "./part_check.ts";
import {
  computeDecision,
  computeLabel,
  computeScore,
  decisionInputSchema,
  decisionResultPart,
  differencesOf,
  labelInputSchema,
  scoreInputSchema,
  scoreResultPart,
} from "./record.ts";
import type { RecordedStart, StateCheck } from "./state_check.ts";

/** The most characters of a value that are shown in a finding. */
const SHOWN_LENGTH = 60;

/** The input of a frozen call: nothing is computed from it. */
const skippedInputSchema = scoreInputSchema.extend({ weights: z.null(), prior: z.null(), state: z.null() });

const commitReferenceSchema = z.strictObject({
  ref_id: z.string(),
  ref_seq: z.int().min(0),
  ref_entry_hash: hash32,
});

/** An entry that names an operator, with all its parts read. */
interface ReadEntry {
  readonly entry: Entry & { readonly subject: string };
  readonly hash: Uint8Array;
}

/** The common members of all inputs that start from a state. */
interface RecordedInput extends RecordedStart {
  readonly algo: { readonly formulas: string; readonly model_sha256: string; readonly model_version: string };
}

export interface ReplayCheckOptions {
  readonly parts: PartCheck;
  readonly models: ModelCheck;
  readonly states: StateCheck;
  readonly commits: CommitCheck;
}

export class ReplayCheck {
  readonly #log: FindingLog;
  readonly #parts: PartCheck;
  readonly #models: ModelCheck;
  readonly #states: StateCheck;
  readonly #commits: CommitCheck;
  #replayed = 0;

  constructor(log: FindingLog, { parts, models, states, commits }: ReplayCheckOptions) {
    this.#log = log;
    this.#parts = parts;
    this.#models = models;
    this.#states = states;
    this.#commits = commits;
  }

  /** The number of entries that were replayed. Commits count too, even those that could not be compared. */
  get replayed(): number {
    return this.#replayed;
  }

  /** Checks an entry whose parts are all read. */
  checkEntry(entry: Entry, hash: Uint8Array): void {
    switch (entry.event_type) {
      case "SCORE_COMPUTED":
        return this.#replay(entry, hash, { names: ["input", "result"], compute: this.#score });
      case "OUTCOME_LABELLED":
        return this.#replay(entry, hash, { names: ["input"], compute: this.#label });
      case "DRS_COMPUTED":
        return this.#replay(entry, hash, { names: ["input", "result"], compute: this.#decision });
      case "SCORE_SKIPPED":
        return this.#replay(entry, hash, { names: ["input", "result"], compute: this.#skipped });
      case "SCORE_COMMITTED":
        return this.#replay(entry, hash, { names: ["result"], compute: this.#committed });
    }
  }

  /** Replays an entry if all its parts are given; if not, or if it fails, a state that it changed is lost. */
  #replay(
    entry: Entry,
    hash: Uint8Array,
    { names, compute }: {
      readonly names: readonly PartName[];
      /** False if it could not be computed; that is reported. */
      readonly compute: (read: ReadEntry) => boolean;
    },
  ): void {
    const { seq, subject } = entry;
    const states = names.map((name) => this.#parts.stateOf(name));
    const missing = names[states.indexOf("none")];
    if (missing !== undefined || subject === null) {
      this.#log.add("RECORD_MALFORMED", { seq, detail: subject === null ? "no operator" : `no ${missing}` });
      return;
    }
    const isGiven = states.every((state) => state === "given");
    if (isGiven && this.#isComputed(() => compute({ entry: { ...entry, subject }, hash }), seq)) return;
    if (entry.event_type !== "SCORE_COMPUTED" && entry.event_type !== "OUTCOME_LABELLED") return;
    const isReported = isGiven || states.includes("altered") || states.includes("missing");
    if (entry.event_type === "SCORE_COMPUTED") this.#commits.markLost(seq, { isReported });
    this.#states.markLost(subject, { isReported });
  }

  #isComputed(compute: () => boolean, seq: number): boolean {
    try {
      return compute();
    } catch (error) {
      // The document and the input fit their schemas, but the computation fails: no honest record is like
      // this.
      if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
      this.#log.add("RECORD_MALFORMED", { seq, detail: `cannot be computed: ${error.message}` });
      return false;
    }
  }

  readonly #score = (read: ReadEntry): boolean => {
    const input = this.#parse(read, scoreInputSchema);
    const document = input && this.#checkStart(read, input);
    if (!input || !document) return false;
    const { result, weights, state } = computeScore(document, input);
    this.#compareResult(read, scoreResultPart(input, result));
    this.#compare(read, "input", { recorded: { weights: input.weights }, computed: { weights } });
    this.#states.remember(read.entry.subject, { hash: read.hash, state });
    if (result.provisional) {
      this.#commits.remember(read.entry, { hash: read.hash, result: scoreResultPart(input, result) });
    }
    return true;
  };

  readonly #label = (read: ReadEntry): boolean => {
    const input = this.#parse(read, labelInputSchema);
    const document = input && this.#checkStart(read, input);
    if (!input || !document) return false;
    const state = computeLabel(document, input);
    this.#replayed += 1;
    this.#states.remember(read.entry.subject, { hash: read.hash, state });
    return true;
  };

  readonly #decision = (read: ReadEntry): boolean => {
    const input = this.#parse(read, decisionInputSchema);
    const document = input && this.#checkStart(read, input);
    if (!input || !document) return false;
    const result = computeDecision(document, input);
    this.#compareResult(read, decisionResultPart(input, { result, auditId: read.entry.id }));
    return true;
  };

  readonly #skipped = (read: ReadEntry): boolean => {
    const input = this.#parse(read, skippedInputSchema);
    if (input === null) return false;
    const skipped = {
      skipped: true,
      reason: "incident_frozen",
      jis: null,
      mode: modeName(input.mode),
    } as const;
    this.#compareResult(read, scoreResultPart(input, skipped));
    return true;
  };

  /** Checks a commit: its numbers must be those of the score that it refers to. */
  readonly #committed = (read: ReadEntry): boolean => {
    const { entry: { seq } } = read;
    const result = this.#parts.dataOf("result");
    if (!isMembers(result)) {
      this.#log.add("RECORD_MALFORMED", { seq, part: "result" });
      return false;
    }
    const { provisional = null, committed = null } = result;
    this.#replayed += 1;
    if (provisional !== false || committed !== true) {
      this.#compare(read, "result", {
        recorded: { provisional, committed },
        computed: { provisional: false, committed: true },
      });
      return true;
    }
    if (this.#parts.stateOf("detail") !== "given") {
      this.#commits.compare(seq, { reference: null, result });
      return true;
    }
    const reference = commitReferenceSchema.safeParse(this.#parts.dataOf("detail"));
    if (reference.success) this.#commits.compare(seq, { reference: reference.data, result });
    else this.#log.add("RECORD_MALFORMED", { seq, part: "detail" });
    return true;
  };

  /** The input as a record of its kind. If it is none, returns null and adds a finding. */
  #parse<Input>({ entry: { seq } }: ReadEntry, schema: z.ZodType<Input>): Input | null {
    const data = this.#parts.dataOf("input");
    const parsed = schema.safeParse(data);
    if (parsed.success) return parsed.data;
    if (isOfLaterVersion(data)) {
      this.#log.add("UNSUPPORTED_VERSION", { seq, part: "input" });
    } else {
      const detail = parsed.error.issues[0]!.path.join(".");
      this.#log.add("RECORD_MALFORMED", { seq, part: "input", detail });
    }
    return null;
  }

  /** Checks the state from which an entry starts. Returns its model document; null if none is usable. */
  #checkStart(read: ReadEntry, input: RecordedInput): ModelDocument | null {
    this.#states.check(read.entry, input);
    const { formulas, model_sha256, model_version } = input.algo;
    const document = this.#models.find(model_sha256, read.entry.seq);
    if (document === null) return null;
    this.#compare(read, "input", {
      recorded: { algo: { formulas, model_version } },
      computed: { algo: { formulas: document.formulas, model_version: document.version } },
    });
    return document;
  }

  #compareResult(read: ReadEntry, computed: unknown): void {
    this.#replayed += 1;
    this.#compare(read, "result", { recorded: this.#parts.dataOf("result"), computed });
  }

  /** Reports the first difference only: those after it mostly have the same cause. */
  #compare(
    { entry: { seq } }: ReadEntry,
    part: PartName,
    { recorded, computed }: { readonly recorded: unknown; readonly computed: unknown },
  ): void {
    const [first] = differencesOf(recorded, computed);
    if (first === undefined) return;
    const detail = `${first.path}: recorded ${shortened(first.recorded)}, computed ${
      shortened(first.replayed)
    }`;
    this.#log.add("SCORE_MISMATCH", { seq, part, detail });
  }
}

/** Whether a later program wrote an input: with a format or formulas that this one does not have. */
function isOfLaterVersion(input: unknown): boolean {
  if (!isMembers(input)) return false;
  const { v, algo } = input;
  const formulas = isMembers(algo) ? algo.formulas : undefined;
  const isOther = (name: unknown, own: readonly string[], family: RegExp) =>
    typeof name === "string" && !own.includes(name) && family.test(name);
  return isOther(v, ["jis.input/1"], /^jis\.input\/\d+$/) || isOther(formulas, FORMULAS, /^jis-\d+$/);
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}…`;
}
