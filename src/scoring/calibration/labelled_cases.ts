/**
 * What calibration counts of an organization's history: for each operator in each domain the cases whose truth is known,
 * and the times of the reviews that went well.
 *
 * Only decisions that took a side as a whole count: accepted, rejected, overridden. What a modification or a referral
 * says of the AI rests on shares of the model's own (section 2.3), and a touch-up that changes nothing would pass for a
 * correction.
 */
import type { Domain } from "../../domain/enums.ts";
import type { Interaction } from "../../domain/interaction.ts";
import { clamp } from "../arithmetic.ts";
import { classify, departureShare, type Evidence, isPresented } from "../classify.ts";
import { DEFAULT_MODEL_DOCUMENT, type ModelDocument } from "../model.ts";

const WHOLE_DECISIONS: readonly Interaction["decision"][] = ["accepted", "rejected", "overridden"];

/** Cases that say whether an operator judges: with the AI wrong, and with the AI right. */
export const ENOUGH_CASES = { wrongAdvice: 10, rightAdvice: 20 } as const;

/** How an operator's cases came out. */
export interface Outcomes {
  /** The AI was wrong and was departed from, or was accepted. */
  hits: number;
  misses: number;
  /** The AI was right and was accepted, or was departed from. */
  correctAcceptances: number;
  falseAlarms: number;
  /** Decided without the AI. */
  unaidedRight: number;
  unaidedWrong: number;
}

/** One operator's cases in one domain. */
export interface OwnCases extends Outcomes {
  /** Milliseconds, within the model's bounds: of hits, and of correct acceptances that were not reflexive. */
  readonly goodReviewsMs: number[];
}

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

/** Whether there are enough cases of both kinds: of either alone whoever always accepts, or always departs, has all right. */
export function hasEnoughCases({ hits, misses, correctAcceptances, falseAlarms }: Outcomes): boolean {
  return hits + misses >= ENOUGH_CASES.wrongAdvice &&
    correctAcceptances + falseAlarms >= ENOUGH_CASES.rightAdvice;
}

/** The cases of an organization, whatever the order in which they are added. */
export class LabelledCases {
  readonly #model: ModelDocument;
  readonly #domains = new Map<Domain, Map<string, OwnCases>>();

  constructor(model: ModelDocument) {
    this.#model = model;
  }

  /** Counts an interaction, with its outcome as it is known by now. */
  add(operatorId: string, domain: Domain, interaction: Interaction): void {
    const { decision, scenario_type, outcome_correct } = interaction;
    if (!isPresented(interaction)) {
      if (outcome_correct === null) return;
      this.#of(operatorId, domain)[outcome_correct ? "unaidedRight" : "unaidedWrong"] += 1;
      return;
    }
    if (!WHOLE_DECISIONS.includes(decision)) return;
    const departure = departureShare(this.#model, interaction);
    const evidence = classify(this.#model, { decision, scenario_type, outcome_correct, departure });
    const cell = (Object.keys(CELLS) as (keyof Evidence)[]).find((name) => evidence[name] > 0);
    if (cell === undefined) return;
    const cases = this.#of(operatorId, domain);
    cases[CELLS[cell]] += 1;
    const time = interaction.time_to_decision_ms;
    // The built-in threshold and never a fitted one, or each calibration would cut off what the next one could learn from.
    const reflexive = time <= DEFAULT_MODEL_DOCUMENT.domains[domain].fast_ms;
    if (cell === "hit" || (cell === "correctAcceptance" && !reflexive)) {
      const { min_ms, max_ms } = this.#model.process;
      cases.goodReviewsMs.push(clamp(time, min_ms, max_ms));
    }
  }

  /** Operators with at least one case there. */
  in(domain: Domain): readonly OwnCases[] {
    return [...this.#domains.get(domain)?.values() ?? []];
  }

  /** What each operator did in all domains together. */
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
