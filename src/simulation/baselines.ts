/**
 * Simple measures of the same history that a score reads, to be held beside it: a score that orders people no
 * better than these has no use.
 */
import type { Interaction } from "../domain/interaction.ts";
import { type Evidence, isPresented } from "../scoring/classify.ts";
import { normalQuantile } from "./statistics.ts";

/** Counts of a history; the evidence is weighed as the engine weighs it. */
export interface Tally {
  /** Decisions with a recommendation on screen, and those of them that accepted it. */
  readonly presented: number;
  readonly accepted: number;
  /** Decisions whose outcome is known, and those of them that were right. */
  readonly known: number;
  readonly right: number;
  readonly evidence: Evidence;
}

export const NO_TALLY: Tally = {
  presented: 0,
  accepted: 0,
  known: 0,
  right: 0,
  evidence: { hit: 0, miss: 0, correctAcceptance: 0, falseAlarm: 0 },
};

/** The tally with one interaction more. */
export function counted(tally: Tally, interaction: Interaction, evidence: Evidence): Tally {
  const { hit, miss, correctAcceptance, falseAlarm } = tally.evidence;
  const presented = isPresented(interaction);
  return {
    presented: tally.presented + (presented ? 1 : 0),
    accepted: tally.accepted + (presented && interaction.decision === "accepted" ? 1 : 0),
    known: tally.known + (interaction.outcome_correct === null ? 0 : 1),
    right: tally.right + (interaction.outcome_correct === true ? 1 : 0),
    evidence: {
      hit: hit + evidence.hit,
      miss: miss + evidence.miss,
      correctAcceptance: correctAcceptance + evidence.correctAcceptance,
      falseAlarm: falseAlarm + evidence.falseAlarm,
    },
  };
}

/** Means and weights of the priors to which `jis-1.1.0` draws both rates. */
const SHRINKAGE = { mean: 0.65, ofHits: 4, ofAcceptances: 6 };

/** Each measure rises with independent judgment; a rate without cases is one half. */
export const BASELINES = {
  /** Share of decisions that do not accept the recommendation. */
  "1 − acceptance rate": ({ presented, accepted }) => 1 - share(accepted, presented),
  /** Share of right decisions among those whose outcome is known. */
  "accuracy": ({ known, right }) => share(right, known),
  /** Sensitivity of signal detection, log-linear (Hautus 1995, Behavior Research Methods 27, 46-51). */
  "d′": ({ evidence: { hit, miss, correctAcceptance, falseAlarm } }) =>
    normalQuantile((hit + 0.5) / (hit + miss + 1)) -
    normalQuantile((falseAlarm + 0.5) / (falseAlarm + correctAcceptance + 1)),
  /** Rate of hits minus rate of false alarms (Youden 1950). */
  "J": ({ evidence: { hit, miss, correctAcceptance, falseAlarm } }) =>
    share(hit, hit + miss) - share(falseAlarm, falseAlarm + correctAcceptance),
  /** Geometric mean of the hit rate and the rate of correct acceptances, each drawn to a prior. */
  "two shrunken rates": ({ evidence: { hit, miss, correctAcceptance, falseAlarm } }) => {
    const { mean, ofHits, ofAcceptances } = SHRINKAGE;
    const hits = (hit + mean * ofHits) / (hit + miss + ofHits);
    const acceptances = (correctAcceptance + mean * ofAcceptances) /
      (correctAcceptance + falseAlarm + ofAcceptances);
    return Math.sqrt(hits * acceptances);
  },
} as const satisfies Record<string, (tally: Tally) => number>;
export type Baseline = keyof typeof BASELINES;
export const BASELINE_NAMES = Object.keys(BASELINES) as readonly Baseline[];

function share(part: number, whole: number): number {
  return whole === 0 ? 0.5 : part / whole;
}
