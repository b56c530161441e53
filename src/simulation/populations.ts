/**
 * Populations of simulated reviewers: each archetype by itself, and two in which the hidden quantities vary without gaps,
 * so that an order of scores can be held against an order of people.
 * Source: scoring model, section 13.1; ranges that it does not give were fixed here before any seed of the check was run.
 */
import {
  type ArchetypeName,
  ARCHETYPES,
  drawOperator,
  type Operator,
  type TelemetryStyleName,
} from "./archetypes.ts";
import type { Random } from "./random.ts";

/** What honest work looks like in these archetypes: the score must not call it at risk. */
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

/** Those of them that are meant to deceive the score, each something that a plain rubber-stamper would not do. */
export const GAMING = BAD.filter((name) => name !== "rubber_stamper");

export const POPULATIONS = {
  /** Everything varies: how often they judge, how well, how fast, what is seen of it; one in eight departs blindly. */
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
  /** One style of work and one of skill: only how often they judge varies. */
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
} as const;
export type PopulationName = keyof typeof POPULATIONS | ArchetypeName;

const STYLES: readonly TelemetryStyleName[] = ["engaged", "sparse", "minimal", "unmeasured"];

function steady(value: number) {
  return { from: value, to: value, over: 0 };
}

/** Draws one of a population. */
export function drawFrom(population: PopulationName, random: Random): Operator {
  if (population === "spectrum" || population === "mixed") return POPULATIONS[population](random);
  return drawOperator(population, random);
}

export const ALL_ARCHETYPES = Object.keys(ARCHETYPES) as readonly ArchetypeName[];
