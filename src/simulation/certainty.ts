/**
 * How much truth buys how much certainty: the share of verdicts that are certain, by interactions, by the share of
 * outcomes that become known, and by the share of planted errors.
 */
import type { Environment } from "./archetypes.ts";
import { FIELD_NAMES } from "./field.ts";
import { environmentOf, type PopulationName } from "./populations.ts";
import { type Measured, type Run, type Scored, scoredOf, statusShare } from "./samples.ts";

/** The groups whose certainty is measured, each of populations that are pooled. */
export const CERTAINTY_GROUPS = {
  "independent": ["independent"],
  "bad archetypes": ["bad"],
  "spectrum": ["spectrum"],
  "field": FIELD_NAMES,
} as const satisfies Record<string, readonly PopulationName[]>;
export type CertaintyGroup = keyof typeof CERTAINTY_GROUPS;

/** A quantity of truth with the values at which certainty is measured, in rising order. */
interface Supply {
  readonly name: string;
  readonly values: readonly number[];
  /** The differences from the population's environment at a value; absent if it is the number of interactions. */
  readonly environment?: (value: number) => Partial<Environment>;
}

const PLANTED = [0, 0.02, 0.05, 0.1] as const;

/** The supplies of truth; the rest of the environment is that of the population. */
export const SUPPLIES = {
  interactions: { name: "interactions", values: [25, 50, 100, 200, 400] },
  labels: {
    name: "share of outcomes known",
    values: [0, 0.1, 0.3, 0.7, 1],
    environment: (labelledShare) => ({ labelledShare }),
  },
  planted: {
    name: "share of planted errors",
    values: PLANTED,
    environment: (injectedShare) => ({ injectedShare }),
  },
  planted_alone: {
    name: "share of planted errors, no outcome known",
    values: PLANTED,
    environment: (injectedShare) => ({ injectedShare, labelledShare: 0 }),
  },
} as const satisfies Record<string, Supply>;
export type SupplyName = keyof typeof SUPPLIES;

/** Interactions where another supply than theirs is varied. */
const LENGTH = 200;

/** The name and length of the figure at a value of a supply. */
export function certaintyFigure(
  supply: SupplyName,
  value: number,
): { readonly measure: string; readonly after: number } {
  return supply === "interactions"
    ? { measure: "certain verdicts, by interactions", after: value }
    : { measure: `certain verdicts, ${SUPPLIES[supply].name} ${value}`, after: LENGTH };
}

/** Measures the share of verdicts that are certain. */
export function certainty(run: Run): readonly Measured[] {
  return (Object.keys(CERTAINTY_GROUPS) as CertaintyGroup[]).flatMap((of) =>
    (Object.keys(SUPPLIES) as SupplyName[]).flatMap((name) => {
      const { values, environment }: Supply = SUPPLIES[name];
      const share = (scored: readonly Scored[], value: number): Measured => {
        const { measure, after } = certaintyFigure(name, value);
        return { measure, of, after, value: 1 - statusShare(scored, after, "undetermined") };
      };
      if (environment === undefined) {
        const scored = groupOf(run, of, { lengths: values });
        return values.map((value) => share(scored, value));
      }
      return values.map((value) =>
        share(groupOf(run, of, { lengths: [LENGTH], ...environment(value) }), value)
      );
    })
  );
}

/** Operators of a group, as many as of one population. */
function groupOf(
  run: Run,
  of: CertaintyGroup,
  { lengths, ...environment }: Partial<Environment> & { readonly lengths: readonly number[] },
): readonly Scored[] {
  const populations: readonly PopulationName[] = CERTAINTY_GROUPS[of];
  const operators = Math.ceil(run.operators / populations.length);
  return populations.flatMap((name) =>
    scoredOf({ ...run, operators }, name, {
      environment: { ...environmentOf(name), ...environment },
      lengths,
    })
  );
}
