/**
 * Scores a table of decisions, foretells the decisions that were held back, and says how well.
 *
 * The rows of one person are scored in their order and at one moment: a table has no times, so nothing fades
 * over gaps. A row of the fold `test` is never scored. It counts in the figures if its truth is known.
 */
import type { FOLDS } from "../../domain/decision_row.ts";
import type { Domain } from "../../domain/enums.ts";
import type { Interaction } from "../../domain/interaction.ts";
import { classify, departureShare, isPresented } from "../classify.ts";
import type { Compliance } from "../compliance.ts";
import { Posterior } from "../discrimination.ts";
import { type Estimate, estimateOf } from "../estimates.ts";
import { allLive, casesOf, NO_PARTS } from "../known_cases.ts";
import type { ModelDocument } from "../model.ts";
import { readState } from "../reading.ts";
import { initialState, type OperatorState } from "../state.ts";
import { score } from "../score.ts";
import type { Verdict } from "../verdict.ts";
import {
  type CountCoverage,
  countCoverage,
  type RateCoverage,
  rateCoverage,
  type RateDistribution,
} from "./coverage.ts";
import {
  type CalibrationBin,
  calibrationOf,
  type Counts,
  everybodysRate,
  fitBeta,
  type Foretold,
  logLoss,
  ownRate,
  shrunkenRate,
} from "./rates.ts";

/** One row of a table. */
export interface TableDecision {
  readonly operatorId: string;
  readonly domain: Domain;
  readonly interaction: Interaction;
  readonly fold: (typeof FOLDS)[number];
}

/** A person's rate, 0..1. */
export type PredictedRate = Estimate;

/** What is foretold of a person. */
export interface Prediction {
  readonly departs_when_wrong: PredictedRate;
  readonly follows_when_right: PredictedRate;
}

export interface EvaluatedOperator {
  readonly operator_id: string;
  readonly jis: number;
  readonly low: number;
  readonly high: number;
  readonly status: Compliance["status"];
  /** The part of the work that the status rests on; null with formulas before `jis-3`. */
  readonly part: Verdict["part"] | null;
  readonly band: Compliance["band"];
  /** Number of decisions that were scored. */
  readonly n: number;
  /** null with formulas before `jis-3`, which have no such estimates. */
  readonly predicted: Prediction | null;
}

/** Log loss of the decisions held back, nats a decision; null where there is none, or no estimate. */
export interface LogLosses {
  readonly decisions: number;
  readonly model: number | null;
  readonly everybody: number | null;
  readonly own_rate: number | null;
  readonly empirical_bayes: number | null;
}

/** How often the intervals of one kind held what came; null with formulas before `jis-3`. */
export interface Coverage {
  /** The predictive 90 % interval of a person's count among the decisions held back. */
  readonly next_counts: CountCoverage;
  /** The 90 % interval of a person's rate, held against the share of a long row of decisions held back. */
  readonly long_run_rates: RateCoverage;
}

export interface EvaluationResult {
  readonly decisions: { readonly fit: number; readonly test: number };
  readonly operators: readonly EvaluatedOperator[];
  /** Number of operators whose status is `compliant` or `non_compliant`. */
  readonly certain_verdicts: number;
  readonly log_loss: Readonly<Record<keyof Prediction, LogLosses>>;
  readonly calibration: Readonly<Record<keyof Prediction, readonly CalibrationBin[]>>;
  readonly coverage: Readonly<Record<keyof Prediction, Coverage | null>>;
}

interface Person {
  state: OperatorState | null;
  domain: Domain;
  status: Compliance["status"] | null;
  part: Verdict["part"] | null;
  band: Compliance["band"] | null;
  readonly fit: Record<keyof Prediction, { yes: number; all: number }>;
  readonly test: Record<keyof Prediction, { yes: number; all: number }>;
}

/** Takes a table row by row. */
export class Evaluation {
  readonly #model: ModelDocument;
  readonly #people = new Map<string, Person>();
  readonly #decisions = { fit: 0, test: 0 };

  constructor(model: ModelDocument) {
    this.#model = model;
  }

  /** Adds the next row. */
  add({ operatorId, domain, interaction, fold }: TableDecision): void {
    const person = this.#personOf(operatorId, domain);
    this.#decisions[fold] += 1;
    this.#count(person[fold], interaction);
    if (fold === "test") return;
    const options = { mode: "full", modeOverride: "normal" } as const;
    const { state, result } = score(this.#model, person.state, { interaction, domain, now: 0 }, options);
    person.state = state;
    person.domain = domain;
    person.status = result.compliance.status;
    person.part = result.compliance.verdict?.part ?? null;
    person.band = result.band;
  }

  #personOf(operatorId: string, domain: Domain): Person {
    const known = this.#people.get(operatorId);
    if (known !== undefined) return known;
    const none = () => ({ departs_when_wrong: { yes: 0, all: 0 }, follows_when_right: { yes: 0, all: 0 } });
    const person: Person = {
      state: null,
      domain,
      status: null,
      part: null,
      band: null,
      fit: none(),
      test: none(),
    };
    this.#people.set(operatorId, person);
    return person;
  }

  /** Counts a live decision whose truth is known; one that is shared between both answers counts with the larger share. */
  #count(counts: Person["fit"], interaction: Interaction): void {
    if (!isPresented(interaction) || interaction.scenario_type === "calibration") return;
    const departure = departureShare(this.#model, interaction);
    const { hit, miss, correctAcceptance, falseAlarm } = classify(this.#model, { ...interaction, departure });
    const wrong = hit + miss;
    const right = correctAcceptance + falseAlarm;
    if (wrong + right === 0) return;
    const kind = wrong > right ? "departs_when_wrong" : "follows_when_right";
    counts[kind].all += 1;
    if (wrong > right ? hit > miss : correctAcceptance >= falseAlarm) counts[kind].yes += 1;
  }

  /** The figures of all rows so far. Operators are in the order of their first rows. */
  result(): EvaluationResult {
    const operators: EvaluatedOperator[] = [];
    for (const [operatorId, person] of this.#people) {
      if (person.state !== null) operators.push(this.#operatorOf(operatorId, person));
    }
    const predictions = new Map(operators.map(({ operator_id, predicted }) => [operator_id, predicted]));
    const wrong = this.#figuresOf("departs_when_wrong", predictions);
    const right = this.#figuresOf("follows_when_right", predictions);
    return {
      decisions: { ...this.#decisions },
      operators,
      certain_verdicts: operators.filter(({ status }) => status !== "undetermined").length,
      log_loss: { departs_when_wrong: wrong.losses, follows_when_right: right.losses },
      calibration: { departs_when_wrong: wrong.calibration, follows_when_right: right.calibration },
      coverage: {
        departs_when_wrong: this.#coverageOf("departs_when_wrong", predictions),
        follows_when_right: this.#coverageOf("follows_when_right", predictions),
      },
    };
  }

  #operatorOf(operatorId: string, { state, domain, status, part, band }: Person): EvaluatedOperator {
    const { jis, uncertainty } = readState(this.#model, state!, { domain, mode: "full" });
    return {
      operator_id: operatorId,
      jis,
      low: uncertainty.low,
      high: uncertainty.high,
      status: status!,
      part,
      band: band!,
      n: state!.n,
      predicted: this.#predictionOf(state),
    };
  }

  /** What the posterior of all live cases foretells; of somebody without a scored row, what the prior does. */
  #predictionOf(state: OperatorState | null): Prediction | null {
    const posterior = this.#posteriorOf(state);
    if (posterior === null) return null;
    const estimate = (kind: keyof Prediction) => {
      const { rates, probabilities } = distributionOf(posterior, kind);
      return estimateOf(rates, probabilities, { least: 0, most: 1 });
    };
    return {
      departs_when_wrong: estimate("departs_when_wrong"),
      follows_when_right: estimate("follows_when_right"),
    };
  }

  #posteriorOf(state: OperatorState | null): Posterior | null {
    if (this.#model.discrimination === undefined) return null;
    const { ev } = state ?? initialState(this.#model);
    return new Posterior(this.#model, casesOf(allLive(ev ?? NO_PARTS)));
  }

  #coverageOf(
    kind: keyof Prediction,
    predictions: ReadonlyMap<string, Prediction | null>,
  ): Coverage | null {
    const prior = this.#predictionOf(null);
    if (prior === null) return null;
    const people = [...this.#people].filter(([, { test }]) => test[kind].all > 0);
    return {
      next_counts: countCoverage(
        people.map(([, { state, test }]) => ({
          distribution: distributionOf(this.#posteriorOf(state)!, kind),
          came: test[kind],
        })),
      ),
      long_run_rates: rateCoverage(
        people.map(([operatorId, { test }]) => {
          const { low, high } = (predictions.get(operatorId) ?? prior)[kind];
          return { low, high, came: test[kind] };
        }),
      ),
    };
  }

  #figuresOf(kind: keyof Prediction, predictions: ReadonlyMap<string, Prediction | null>) {
    const people = [...this.#people];
    const fitted: readonly Counts[] = people.map(([, { fit }]) => fit[kind]);
    const prior = fitBeta(fitted);
    const everybody = everybodysRate(fitted);
    const foretold = (rate: (person: Person, operatorId: string) => number | null): readonly Foretold[] =>
      people.flatMap(([operatorId, person]) => {
        const value = person.test[kind].all === 0 ? null : rate(person, operatorId);
        return value === null ? [] : [{ rate: value, came: person.test[kind] }];
      });
    const byModel = foretold((_, operatorId) =>
      (predictions.get(operatorId) ?? this.#predictionOf(null))?.[kind].mean ?? null
    );
    const losses: LogLosses = {
      decisions: people.reduce((sum, [, { test }]) => sum + test[kind].all, 0),
      model: logLoss(byModel),
      everybody: logLoss(foretold(() => everybody)),
      own_rate: logLoss(foretold(({ fit }) => ownRate(fit[kind]))),
      empirical_bayes: prior && logLoss(foretold(({ fit }) => shrunkenRate(prior, fit[kind]))),
    };
    return { losses, calibration: calibrationOf(byModel) };
  }
}

/** How probable each rate of a kind is; the rate of following is 1 minus that of departing. */
function distributionOf(posterior: Posterior, kind: keyof Prediction): RateDistribution {
  if (kind === "departs_when_wrong") {
    return { rates: posterior.rates, probabilities: posterior.ofWrongAdvice() };
  }
  return {
    rates: posterior.rates.map((rate) => 1 - rate).reverse(),
    probabilities: posterior.ofRightAdvice().toReversed(),
  };
}
