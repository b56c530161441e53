/**
 * Populations of simulated reviewers: each archetype by itself, two in which the hidden quantities vary
 * continuously, so that the order of the scores can be compared with the order of those quantities, and those of the
 * field. Source: scoring model, section 13.1. Ranges that it does not give were fixed before any check seed was run.
 */
import {
  type ArchetypeName,
  ARCHETYPES,
  DEFAULT_ENVIRONMENT,
  drawOperator,
  type Environment,
  type Operator,
  type TelemetryStyleName,
} from "./archetypes.ts";
import { drawFieldReviewer, fieldEnvironment, type FieldName, isField } from "./field.ts";
import type { Random } from "./random.ts";

/** Archetypes of honest work: the score must not call them at risk. */
export const HONEST = ["independent", "fast_expert"] as const satisfies readonly ArchetypeName[];

/** Ways of approving without judging, or of departing without judging. */
export const BAD = [
  "rubber_stamper",
  "slow_rubber",
  "idle_clicker",
  "hover_gamer",
  "token_departer",
  "retoucher",
  "blind_referrer",
  "contrarian",
  "always_reject",
  "always_escalate",
] as const satisfies readonly ArchetypeName[];

/** Archetypes that try to deceive the score, each by something that a plain rubber-stamper does not do. */
export const GAMING = BAD.filter((name) => name !== "rubber_stamper");

const POPULATIONS = {
  /**
   * All qualities vary: how often operators judge, how well, how fast, the telemetry; 12 % often depart
   * blindly.
   */
  spectrum(random: Random): Operator {
    return {
      archetype: "independent",
      theta: steady(random.uniform()),
      skill: steady(random.uniform(0.55, 0.97)),
      blindDeparture: random.bernoulli(0.12) ? random.uniform(0.3, 0.8) : random.uniform(0, 0.08),
      medianMs: Math.exp(random.uniform(Math.log(1_500), Math.log(40_000))),
      telemetry: random.pick(STYLES),
    };
  },
  /** One style of work and a narrow range of skill: mainly how often operators judge varies. */
  mixed(random: Random): Operator {
    return {
      archetype: "independent",
      theta: steady(random.uniform()),
      skill: steady(random.uniform(0.8, 0.95)),
      blindDeparture: random.uniform(0, 0.05),
      medianMs: random.uniform(9_000, 25_000),
      telemetry: "engaged",
    };
  },
  /** The bad archetypes, each equally often. */
  bad: (random: Random): Operator => drawOperator(random.pick(BAD), random),
} as const;
export type PopulationName = keyof typeof POPULATIONS | FieldName | ArchetypeName;

const STYLES: readonly TelemetryStyleName[] = ["engaged", "sparse", "minimal", "unmeasured"];

function steady(value: number) {
  return { from: value, to: value, over: 0 };
}

/** Draws one operator of a population. */
export function drawFrom(population: PopulationName, random: Random): Operator {
  if (isField(population)) return drawFieldReviewer(population, random);
  return population in POPULATIONS
    ? POPULATIONS[population as keyof typeof POPULATIONS](random)
    : drawOperator(population as ArchetypeName, random);
}

/** The environment in which a population works if nothing else is said. */
export function environmentOf(population: PopulationName): Environment {
  return isField(population) ? fieldEnvironment(population) : DEFAULT_ENVIRONMENT;
}

export const ALL_ARCHETYPES = Object.keys(ARCHETYPES) as readonly ArchetypeName[];
