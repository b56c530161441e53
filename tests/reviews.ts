/**
 * Endless reviews for a chain of any size: scores, late labels and commits of many operators, all computed by
 * the scoring engine, so that they replay.
 *
 * So that a million of them take minutes, the operators share a few courses: those of one course meet the
 * same interactions at the same instants, and their results, computed once, differ only in names and links.
 * Memory grows with the operators alone.
 */
import type { Interaction } from "../src/domain/interaction.ts";
import { canonicalJson } from "../src/evidence/canonical.ts";
import { hex, utf8 } from "../src/evidence/crypto.ts";
import type { EntryDraft } from "../src/evidence/entry.ts";
import { modelSha256, type PartName } from "../src/evidence/hashes.ts";
import { nodeCrypto } from "../src/evidence/node_crypto.ts";
import { computeLabel, computeScore, inputHead, scoreResultPart } from "../src/evidence/record.ts";
import { DEFAULT_MODEL_DOCUMENT, type Model } from "../src/scoring/model.ts";
import type { EventWeights } from "../src/scoring/reducer.ts";
import type { OperatorState } from "../src/scoring/state.ts";
import {
  type ArchetypeName,
  ARCHETYPES,
  DEFAULT_ENVIRONMENT,
  drawInteraction,
  drawOperator,
  type Operator,
} from "../src/simulation/archetypes.ts";
import { type Random, seeded } from "../src/simulation/random.ts";

/**
 * How often a truth that was unknown at scoring becomes known, and how often it is that the decision was
 * right.
 */
const LABELLED_LATE = 0.6;
const RIGHT = 0.8;

/** The model of every score. */
export const REVIEW_MODEL: Model = {
  document: DEFAULT_MODEL_DOCUMENT,
  sha256: modelSha256(nodeCrypto, DEFAULT_MODEL_DOCUMENT),
};

export interface ReviewsOptions {
  readonly orgId: string;
  readonly operators: number;
  /** The same seed gives the same reviews. */
  readonly seed: string;
  /**
   * The seq of the first of the entries, which must follow one another; at least 1, as 0 is a chain's
   * genesis.
   */
  readonly first: number;
  /** The start of the reviews, epoch milliseconds. */
  readonly from: number;
  /** The time from one interaction of an operator to the next. */
  readonly roundMs: number;
}

/** The next entry of the chain: about the operator of this index. */
export interface Review {
  readonly index: number;
  readonly draft: EntryDraft;
}

/** The reviews, operators in turn; for the next one, pass the hash of the entry made from the last one. */
export function* reviews(
  { orgId, operators, seed, first, from, roundMs }: ReviewsOptions,
): Generator<Review, never, Uint8Array> {
  const courses = (Object.keys(ARCHETYPES) as ArchetypeName[]).map((name) => new Course(name, seed));
  /** The last score of each operator, and the last entry that changed its state. */
  const scores = new LastEntries(operators);
  const priors = new LastEntries(operators);
  let seq = first;
  for (let at = from;; at += roundMs) {
    for (const course of courses) course.advance(at);
    for (let index = 0; index < operators; index += 1) {
      for (const { eventType, parts } of courses[index % courses.length]!.steps) {
        const isScore = eventType === "SCORE_COMPUTED";
        const scoreSeq = isScore ? seq : scores.seqOf(index);
        const values = {
          operator: `"operator-${index}"`,
          session: `"session-${scoreSeq}"`,
          prior: priors.textOf(index),
          ref_id: `"${idOf(scoreSeq)}"`,
          ref_seq: String(scoreSeq),
          ref_entry_hash: `"${scores.hashOf(index)}"`,
        };
        const hash = yield {
          index,
          draft: {
            id: idOf(seq),
            actor: "api",
            eventType,
            orgId,
            prefix: "jis_test",
            subject: pseudonymOf(seed, index),
            at,
            parts: parts.map(({ name, template }) => ({
              name,
              salt: saltOf(seed, { seq, name }),
              text: filled(template, values),
            })),
          },
        };
        if (isScore) scores.set(index, seq, hash);
        if (eventType !== "SCORE_COMMITTED") priors.set(index, seq, hash);
        seq += 1;
      }
    }
  }
}

/** The id of an entry: 26 characters, as those of the service. */
export function idOf(seq: number): string {
  return `01TEST${String(seq).padStart(20, "0")}`;
}

export function pseudonymOf(seed: string, index: number): string {
  return hex(nodeCrypto.sha256(utf8(`${seed}/operator/${index}`)).subarray(0, 16));
}

export function saltOf(
  seed: string,
  { seq, name }: { readonly seq: number; readonly name: PartName },
): Uint8Array {
  return nodeCrypto.sha256(utf8(`${seed}/salt/${seq}/${name}`));
}

/** One entry for each operator, 36 bytes each. */
class LastEntries {
  readonly #hashes: Uint8Array;
  readonly #seqs: Uint32Array;

  constructor(operators: number) {
    this.#hashes = new Uint8Array(32 * operators);
    this.#seqs = new Uint32Array(operators);
  }

  set(index: number, seq: number, hash: Uint8Array): void {
    this.#hashes.set(hash, 32 * index);
    this.#seqs[index] = seq;
  }

  /** 0 if there is none. */
  seqOf(index: number): number {
    return this.#seqs[index]!;
  }

  hashOf(index: number): string {
    return hex(this.#hashes.subarray(32 * index, 32 * (index + 1)));
  }

  /** In the form of an input's `prior`. */
  textOf(index: number): string {
    const seq = this.seqOf(index);
    return seq === 0 ? "null" : `{"entry_hash":"${this.hashOf(index)}","seq":${seq}}`;
  }
}

// ---- templates ----------------------------------------------------------------------------------------------

/** A canonical text with placeholders: every second piece is the name of one. */
type Template = readonly string[];

/** The template of a JSON value, in which a string `@name` is a placeholder. */
function templateOf(value: unknown): Template {
  return canonicalJson(value).split(/"@(\w+)"/);
}

/** `values` are JSON texts by the names of their placeholders. */
function filled(template: Template, values: Readonly<Record<string, string>>): string {
  let text = template[0]!;
  for (let at = 1; at < template.length; at += 2) text += values[template[at]!]! + template[at + 1]!;
  return text;
}

// ---- courses ------------------------------------------------------------------------------------------------

/** One entry of a round, for any operator. */
interface Step {
  readonly eventType: "SCORE_COMPUTED" | "OUTCOME_LABELLED" | "SCORE_COMMITTED";
  readonly parts: readonly { readonly name: PartName; readonly template: Template }[];
}

function step(
  eventType: Step["eventType"],
  { detail, input, result }: Readonly<Partial<Record<PartName, unknown>>>,
): Step {
  const given = Object.entries({ detail, input, result }).filter(([, value]) => value !== undefined);
  const parts = given.map(([name, value]) => ({ name: name as PartName, template: templateOf(value) }));
  return { eventType, parts };
}

/** The values from which a late label of a score, and its commit, are made. */
interface Scored {
  readonly interaction: Interaction;
  readonly weights: EventWeights;
  readonly result: Readonly<Record<string, unknown>>;
}

const REFERENCE = { ref_id: "@ref_id", ref_seq: "@ref_seq", ref_entry_hash: "@ref_entry_hash" };
const NAMES = { operator_id: "@operator", session_id: "@session" };

/** The interactions of the operators of one course, round by round. */
class Course {
  readonly #random: Random;
  readonly #operator: Operator;
  #rounds = 0;
  #state: OperatorState | null = null;
  #last: Scored | null = null;
  #steps: readonly Step[] = [];

  constructor(archetype: ArchetypeName, seed: string) {
    this.#random = seeded(`${seed}/${archetype}`);
    this.#operator = drawOperator(archetype, this.#random);
  }

  /**
   * The entries of this round: if it is due, the label of the score before with its commit, and then a score.
   */
  get steps(): readonly Step[] {
    return this.#steps;
  }

  /** Begins the next round, at an instant in epoch milliseconds. */
  advance(now: number): void {
    this.#steps = [...this.#label(now), this.#score(now)];
    this.#rounds += 1;
  }

  #label(now: number): readonly Step[] {
    const last = this.#last;
    if (last === null || !this.#becomesKnown(last.interaction)) return [];
    const { interaction: { decision, scenario_type }, weights, result } = last;
    const label = this.#random.bernoulli(RIGHT);
    const input = {
      ...inputHead(REVIEW_MODEL, now),
      decision,
      scenario_type,
      label,
      weights,
      state: this.#state!,
    };
    const unread = {
      ref_id: "",
      ref_seq: 0,
      ref_entry_hash: "",
      operator_id: "",
      session_id: "",
      prior: null,
    };
    this.#state = computeLabel(REVIEW_MODEL.document, { ...input, ...unread });
    const labelled = step("OUTCOME_LABELLED", {
      input: { ...input, ...REFERENCE, ...NAMES, prior: "@prior" },
    });
    if (result.committed === true) return [labelled];
    const final = { ...result, provisional: false, committed: true };
    return [labelled, step("SCORE_COMMITTED", { detail: REFERENCE, result: final })];
  }

  /** Whether it is labelled a round after it was scored. */
  #becomesKnown({ scenario_type, outcome_correct }: Interaction): boolean {
    return scenario_type !== "error_injected" && outcome_correct === null &&
      this.#random.bernoulli(LABELLED_LATE);
  }

  #score(now: number): Step {
    const interaction = drawInteraction(this.#operator, this.#rounds, DEFAULT_ENVIRONMENT, this.#random);
    const input = {
      ...inputHead(REVIEW_MODEL, now),
      ...NAMES,
      mode: "full",
      role_tier: "tier_2",
      mode_override: "normal",
      domain: DEFAULT_ENVIRONMENT.domain,
      interaction,
      state: this.#state,
    } as const;
    const { state, weights, result } = computeScore(REVIEW_MODEL.document, input);
    this.#state = state;
    this.#last = { interaction, weights, result: scoreResultPart(input, result) };
    return step("SCORE_COMPUTED", {
      input: { ...input, prior: "@prior", weights },
      result: this.#last.result,
    });
  }
}
