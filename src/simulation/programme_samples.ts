/** Samples of reviewers in programmes of sealed probes, and the words of the figures that are measured on them. */
import { VERDICT_STATUSES, type VerdictStatus } from "../domain/enums.ts";
import { NO_PARTS } from "../scoring/known_cases.ts";
import type { ModelDocument } from "../scoring/model.ts";
import type { Environment, Operator } from "./archetypes.ts";
import { drawFrom, type PopulationName } from "./populations.ts";
import type { ProbePolicy } from "./probe_policy.ts";
import { programme, recorded, statusAt, steadyWork, type Terms, type Work } from "./programmes.ts";
import { seeded } from "./random.ts";
import type { Measured, Run } from "./samples.ts";
import { shareOf } from "./statistics.ts";
import { statusName } from "./verdicts.ts";

/** The share of a run's operators of each kind in a programme: histories are long, and the settings are many. */
const SAMPLED = 1 / 4;
/** Live cases of the longest look. */
export const LONGEST = 1_000;

/** How often the AI is wrong by itself, and the shares of live outcomes that become known, 0..1. */
export const NATURAL_RATES = [0.02, 0.05, 0.15] as const;
export const KNOWN_SHARES = [0, 0.1, 0.5] as const;
/** The values at which one natural rate, one share of probes or one policy is looked at. */
export const USUAL_RATE = 0.05;
export const USUAL_SHARE = 0.05;

/** The two kinds of reviewers that a programme is to tell apart, each as a population. */
export const KINDS = { blind: "rubber_stamper", careful: "independent" } as const satisfies Record<
  string,
  PopulationName
>;
export const KIND_NAMES = Object.keys(KINDS) as readonly (keyof typeof KINDS)[];

/** A share, 0..1, as the names of figures write it. */
export function percent(share: number): string {
  return `${Math.round(1_000 * share) / 10} %`;
}

/** A simulated reviewer with the work that is kept between programmes. */
export interface Reviewer {
  readonly name: string;
  readonly operator: Operator;
  readonly environment: Environment;
  readonly work: Work;
}

/** Draws the reviewers of a population, a part of the run's operators, each with work that is the same in every programme. */
export function reviewersOf(
  { seed, operators }: Run,
  population: PopulationName,
  { environment, policy, change = (operator) => operator }: {
    readonly environment: Environment;
    readonly policy: ProbePolicy;
    readonly change?: (operator: Operator) => Operator;
  },
): readonly Reviewer[] {
  return Array.from({ length: Math.ceil(operators * SAMPLED) }, (_, index) => {
    const name = `${seed}/programme/${population}/${index}`;
    const operator = change(drawFrom(population, seeded(name)));
    return { name, operator, environment, work: steadyWork(operator, { environment, policy, name }) };
  });
}

/** A programme: its policy, what becomes known, and how it is counted. */
export interface Setting extends Terms {
  readonly policy: ProbePolicy;
}

/** A look at a reviewer. */
export interface Look {
  readonly status: VerdictStatus;
  /** Probes so far. */
  readonly probes: number;
}

/** The verdicts after some numbers of live cases, in rising order. */
export function looksAfter(
  model: ModelDocument,
  { name, work, environment: { daysBetween } }: Reviewer,
  { policy, ...terms }: Setting,
  lengths: readonly number[],
): readonly Look[] {
  const looks: Look[] = [];
  let [parts, probes] = [NO_PARTS, 0];
  for (const step of programme(work, policy, { due: seeded(`${name}/due`), daysBetween })) {
    parts = recorded(model, parts, step, terms);
    if (step.worked.isProbe) probes += 1;
    else if (lengths.includes(step.index + 1)) {
      looks.push({ status: statusAt(model, parts, step.now), probes });
      if (looks.length === lengths.length) break;
    }
  }
  return looks;
}

/** The share of each verdict after so many live cases. */
export function sharesAfter(
  model: ModelDocument,
  reviewers: readonly Reviewer[],
  { setting, name, of, after }: {
    readonly setting: Setting;
    readonly name: string;
    readonly of: string;
    readonly after: number;
  },
): readonly Measured[] {
  const statuses = reviewers.map((one) => looksAfter(model, one, setting, [after])[0]!.status);
  return statusShares(statuses, { setting: name, of, after });
}

/** The share of each verdict. */
export function statusShares(
  statuses: readonly VerdictStatus[],
  { setting, of, after }: { readonly setting: string; readonly of: string; readonly after: number },
): readonly Measured[] {
  return VERDICT_STATUSES.map((status) => ({
    measure: `${setting}: ${statusName(status)}`,
    of,
    after,
    value: shareOf(statuses, (one) => one === status),
  }));
}
