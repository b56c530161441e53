/**
 * When a sealed probe is due, and which one it is. A probe is a case of known truth, with wrong advice or with right one,
 * that is slipped among a reviewer's live cases. Pure and seeded.
 * Source: design of the oversight loop, section 1; Threat Image Projection (Hofer and Schwaninger 2005).
 */
import { DAY_MS } from "../domain/time.ts";
import type { Random } from "./random.ts";

/** The stakes that a probe can have: a word of `scenario_type`, so that nothing tells it from a live case. */
export const PROBE_STAKES = ["standard", "high_stakes", "critical"] as const;
export type ProbeStakes = (typeof PROBE_STAKES)[number];

/** When probes come, and of which kinds. */
export interface ProbePolicy {
  /** Share of live cases before which a probe is shown, 0 to `highest`. */
  readonly rate: number;
  /** Probes that each operator shall have had in the last 90 days: whole, 0 or more. With fewer, `highest` is the share. */
  readonly minimum: number;
  /** The highest share, 0 to 0.1. */
  readonly highest: number;
  /** Share of probes whose advice is wrong, 0..1; the others are right decoys. */
  readonly wrongShare: number;
  /** Relative frequency of each kind of stakes, 0 or more, one of them above 0. */
  readonly stakes: Readonly<Record<ProbeStakes, number>>;
}

/** No probe may come before more than this share of the live cases. */
export const HIGHEST_SHARE = 0.1;
/** Days over which a policy counts the probes of an operator, and the same in milliseconds. */
export const WINDOW_DAYS = 90;
export const WINDOW_MS = WINDOW_DAYS * DAY_MS;

/** A policy of one rate, half of its probes wrong, none of high stakes. */
export const PLAIN_POLICY: ProbePolicy = {
  rate: 0,
  minimum: 0,
  highest: HIGHEST_SHARE,
  wrongShare: 0.5,
  stakes: { standard: 1, high_stakes: 0, critical: 0 },
};

/**
 * The share of cases, 0..0.1, before which a probe is due to an operator who had `recent` probes in 90 days.
 * @throws {RangeError} if the policy is out of its ranges.
 */
export function dueShare({ rate, minimum, highest, wrongShare }: ProbePolicy, recent: number): number {
  const isOrdered = 0 <= rate && rate <= highest && highest <= HIGHEST_SHARE;
  const isPossible = 0 <= wrongShare && wrongShare <= 1 && Number.isInteger(minimum) && minimum >= 0;
  if (!isOrdered || !isPossible) throw new RangeError("a probe policy out of its ranges");
  return recent < minimum ? highest : rate;
}

/** A probe as it was sealed. */
export interface Probe {
  readonly isWrong: boolean;
  readonly stakes: ProbeStakes;
}

/** Draws a probe of a policy. */
export function drawProbe({ wrongShare, stakes }: ProbePolicy, random: Random): Probe {
  return {
    isWrong: random.bernoulli(wrongShare),
    stakes: random.pick(PROBE_STAKES, PROBE_STAKES.map((name) => stakes[name])),
  };
}
