/**
 * The cases of an organization's history that calibration counts: for each operator in each domain those
 * whose truth is known, and the times of the reviews that went well.
 *
 * For times and for priors of buckets only decisions that wholly took one side count: accepted, rejected,
 * overridden. The evidence in a modification or a referral depends on the model's own shares (section 2.3), and a
 * touch-up that changes nothing would pass for a correction. The prior of `jis-3` is read together with the
 * operators' own cases, so it is fitted to all the evidence that these are made of, without announced tests.
 */
import type { Domain } from "../../domain/enums.ts";
import type { Interaction } from "../../domain/interaction.ts";
import { clamp, round } from "../arithmetic.ts";
import { classify, departureShare, type Evidence, isPresented } from "../classify.ts";
import type { KnownCases } from "../discrimination.ts";
import { DEFAULT_MODEL_DOCUMENT, domainRules, type ModelDocument } from "../model.ts";

const WHOLE_DECISIONS: readonly Interaction["decision"][] = ["accepted", "rejected", "overridden"];

/** Fewest cases that show if an operator judges well: with wrong advice, and with right advice. */
export const ENOUGH_CASES = { wrongAdvice: 10, rightAdvice: 20 } as const;

/** The outcomes of an operator's cases. */
export interface Outcomes {
  /** The AI was wrong: the operator departed from it (hits) or accepted it (misses). */
  hits: number;
  misses: number;
  /** The AI was right: the operator accepted it (correct acceptances) or departed from it (false alarms). */
  correctAcceptances: number;
  falseAlarms: number;
  /** Cases decided without the AI. */
  unaidedRight: number;
  unaidedWrong: number;
}

/** One operator's cases in one domain. */
export interface OwnCases extends Outcomes {
  /**
   * Times of hits and of correct acceptances that were not reflexive, milliseconds, within the model's
   * bounds.
   */
  readonly goodReviewsMs: number[];
}

/** One operator's live cases in all domains together: the evidence of decisions that nobody announced as tests. */
export interface LiveCases extends KnownCases {
  /** Numbers of cases in which the AI was wrong or right and nobody had planted an error. */
  readonly naturalWrong: number;
  readonly naturalRight: number;
}

/** Evidence is summed as whole numbers of this share: sums of fractions would depend on the order of the cases. */
const UNITS_PER_CASE = 1_000_000;
const LIVE_CELLS = ["hit", "miss", "correctAcceptance", "falseAlarm"] as const;

const CELLS = {
  hit: "hits",
  miss: "misses",
  correctAcceptance: "correctAcceptances",
  falseAlarm: "falseAlarms",
} as const satisfies Record<keyof Evidence, keyof Outcomes>;

const NO_CASES: Outcomes = {
  hits: 0,
  misses: 0,
  correctAcceptances: 0,
  falseAlarms: 0,
  unaidedRight: 0,
  unaidedWrong: 0,
};

/**
 * True if there are enough cases of both kinds. With one kind alone, an operator who always accepts, or
 * always departs, would be right in every case.
 */
export function hasEnoughCases({ hits, misses, correctAcceptances, falseAlarms }: Outcomes): boolean {
  return hits + misses >= ENOUGH_CASES.wrongAdvice &&
    correctAcceptances + falseAlarms >= ENOUGH_CASES.rightAdvice;
}

/** The cases of an organization; the order in which they are added does not matter. */
export class LabelledCases {
  readonly #model: ModelDocument;
  readonly #domains = new Map<Domain, Map<string, OwnCases>>();
  readonly #live = new Map<string, { -readonly [Name in keyof LiveCases]: number }>();

  constructor(model: ModelDocument) {
    this.#model = model;
  }

  /** Counts an interaction, with the outcome that is known by now. */
  add(operatorId: string, domain: Domain, interaction: Interaction): void {
    const { decision, scenario_type, outcome_correct } = interaction;
    if (!isPresented(interaction)) {
      if (outcome_correct === null) return;
      this.#of(operatorId, domain)[outcome_correct ? "unaidedRight" : "unaidedWrong"] += 1;
      return;
    }
    const departure = departureShare(this.#model, interaction);
    const evidence = classify(this.#model, { ...interaction, departure });
    if (scenario_type !== "calibration") this.#addLive(operatorId, evidence, scenario_type);
    if (!WHOLE_DECISIONS.includes(decision)) return;
    const cell = (Object.keys(CELLS) as (keyof Evidence)[]).find((name) => evidence[name] > 0);
    if (cell === undefined) return;
    const cases = this.#of(operatorId, domain);
    cases[CELLS[cell]] += 1;
    const time = interaction.time_to_decision_ms;
    // The threshold is the built-in one: with a fitted one each calibration would cut off cases that the next
    // one needs.
    const reflexive = time <= domainRules(DEFAULT_MODEL_DOCUMENT, domain).fast_ms;
    if (cell === "hit" || (cell === "correctAcceptance" && !reflexive)) {
      const { min_ms, max_ms } = this.#model.process;
      cases.goodReviewsMs.push(clamp(time, min_ms, max_ms));
    }
  }

  #addLive(operatorId: string, evidence: Evidence, scenario: Interaction["scenario_type"]): void {
    const wrong = evidence.hit + evidence.miss;
    const right = evidence.correctAcceptance + evidence.falseAlarm;
    if (wrong + right === 0) return;
    let live = this.#live.get(operatorId);
    if (live === undefined) {
      live = { hit: 0, miss: 0, correctAcceptance: 0, falseAlarm: 0, naturalWrong: 0, naturalRight: 0 };
      this.#live.set(operatorId, live);
    }
    for (const cell of LIVE_CELLS) live[cell] += round(evidence[cell] * UNITS_PER_CASE);
    if (scenario !== "error_injected") live[wrong > right ? "naturalWrong" : "naturalRight"] += 1;
  }

  /** The live cases of each operator with at least one, in a fixed order that does not depend on names. */
  live(): readonly LiveCases[] {
    const names = [...LIVE_CELLS, "naturalWrong", "naturalRight"] as const;
    return [...this.#live.values()].map((units) => {
      const cases = { ...units };
      for (const cell of LIVE_CELLS) cases[cell] = units[cell] / UNITS_PER_CASE;
      return cases;
    }).sort((one, other) => {
      const name = names.find((each) => one[each] !== other[each]);
      return name === undefined ? 0 : one[name] - other[name];
    });
  }

  /** The cases of each operator with at least one case in the domain. */
  in(domain: Domain): readonly OwnCases[] {
    return [...this.#domains.get(domain)?.values() ?? []];
  }

  /** The outcomes of each operator in all domains together. */
  ofOperators(): readonly Outcomes[] {
    const operators = new Map<string, Outcomes>();
    for (const domain of this.#domains.values()) {
      for (const [operatorId, cases] of domain) {
        const sum = operators.get(operatorId) ?? { ...NO_CASES };
        for (const name of Object.keys(sum) as (keyof Outcomes)[]) sum[name] += cases[name];
        operators.set(operatorId, sum);
      }
    }
    return [...operators.values()];
  }

  #of(operatorId: string, domain: Domain): OwnCases {
    let operators = this.#domains.get(domain);
    if (operators === undefined) this.#domains.set(domain, operators = new Map());
    let cases = operators.get(operatorId);
    if (cases === undefined) {
      cases = { ...NO_CASES, goodReviewsMs: [] };
      operators.set(operatorId, cases);
    }
    return cases;
  }
}
