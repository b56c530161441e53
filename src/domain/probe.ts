/** The figures of people that probes give: counts with exact intervals. Source: oversight loop, section 1. */
import * as z from "zod";
import { DOMAINS, PROBE_STAKES } from "./enums.ts";
import { domainNameSchema, type Interaction, operatorIdSchema } from "./interaction.ts";
import { exactProportion } from "./proportion.ts";

const count = z.int().min(0);
const share = z.number().min(0).max(1);

const countedShareSchema = z.object({
  probes: count,
  count: count.meta({ description: "Those in which the reviewer departed from the advice." }),
  share: share.nullable(),
  low: share.nullable(),
  high: share.nullable(),
}).meta({ id: "CountedShare" });

const countedShare = (description: string) => countedShareSchema.meta({ id: undefined, description });

/** The decisions on decided probes. Intervals are exact (Clopper and Pearson), of 95 %; null without a probe. */
const rates = {
  wrong: countedShare(
    "Probes with wrong advice. A departure found the error; a modification counts as one if it mended the advice.",
  ),
  right: countedShare(
    "Probes with right advice. A departure is a false alarm; a modification counts as one if it spoiled the advice.",
  ),
};

export const probeRatesSchema = z.object(rates).meta({
  id: "ProbeRates",
  description:
    "What reviewers made of probes. Each share has its exact interval of 95 %; null without a probe.",
});
export type ProbeRates = z.infer<typeof probeRatesSchema>;

const undecided = {
  lost: count.meta({ description: "Probes that were shown and not decided in their time." }),
  recalled: count.meta({ description: "Probes that were withdrawn." }),
  recalled_after_draw: count.meta({
    description:
      "Those of the recalled probes that had been shown: each is a case whose decision nobody sees.",
  }),
};

/** The probes that were opened in a span of time without a decision. */
export const undecidedProbesSchema = z.object(undecided);
export type UndecidedProbes = z.infer<typeof undecidedProbesSchema>;

/** The figures of a span of time, as dashboard, report and Article 14 show them. */
export const probeFiguresSchema = z.object({
  ...rates,
  ...undecided,
}).meta({ id: "ProbeFigures" });
export type ProbeFigures = z.infer<typeof probeFiguresSchema>;

const reviewers = count.meta({ description: "Reviewers who decided these probes, without erased ones." });

export const probeSummarySchema = z.object({
  whole: probeRatesSchema,
  by_stakes: z.array(z.object({ stakes: z.enum(PROBE_STAKES), reviewers, ...rates })),
  by_domain: z.array(z.object({ domain: domainNameSchema, reviewers, ...rates })),
  by_operator: z.array(z.object({
    operator_id: operatorIdSchema,
    ...rates,
    lost: count.meta({
      description: "Probes that were shown and not decided in their time: nobody sees what became of them.",
    }),
  })).meta({
    description:
      "Operators with a decided or lost probe, those with the most errors let pass or lost first. `estimates` of a profile has the same beside live cases and announced tests.",
  }),
});
export type ProbeSummary = z.infer<typeof probeSummarySchema>;

/** A decided probe. */
export interface ProbeDecision {
  readonly domain: string;
  readonly stakes: string;
  /** Null if the operator was erased. */
  readonly operatorId: string | null;
  readonly aiCorrect: boolean;
  readonly departed: boolean;
}

/**
 * Whether a decision departs from the advice of a probe, as the model counts it: a modification that leaves wrong advice wrong
 * found no error, and one that leaves right advice right is no false alarm.
 */
export function departsFromAdvice(
  { decision, ai_correct, outcome_correct }: Pick<Interaction, "decision" | "ai_correct" | "outcome_correct">,
): boolean {
  if (decision === "modified") return outcome_correct !== ai_correct;
  return decision !== "accepted";
}

export function probeRates(decisions: readonly ProbeDecision[]): ProbeRates {
  const counted = (isRight: boolean) => {
    const own = decisions.filter(({ aiCorrect }) => aiCorrect === isRight);
    const departed = own.filter(({ departed }) => departed).length;
    const { share = null, low = null, high = null } = exactProportion(departed, own.length) ?? {};
    return {
      probes: own.length,
      count: departed,
      share: rounded(share),
      low: rounded(low),
      high: rounded(high),
    };
  };
  return { wrong: counted(false), right: counted(true) };
}

/** To four decimals. */
function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(1e4 * value) / 1e4;
}

/** The errors of wrong advice that an operator let pass or that may have passed, because the probe was lost. */
export function errorsHidden({ wrong, lost }: ProbeRates & { readonly lost: number }): number {
  return wrong.probes - wrong.count + lost;
}

/** Groups without a probe are left out. */
export function summaryOf(
  decisions: readonly ProbeDecision[],
  /** The operators of lost probes; null for one that was erased. */
  lost: readonly (string | null)[],
): ProbeSummary {
  const grouped = <Name extends string>(
    names: readonly Name[],
    of: (decision: ProbeDecision) => string | null,
  ) =>
    names.map((name) => {
      const own = decisions.filter((decision) => of(decision) === name);
      const reviewers = new Set(own.flatMap(({ operatorId }) => operatorId ?? [])).size;
      return { name, reviewers, ...probeRates(own) };
    })
      .filter(({ wrong, right }) => wrong.probes + right.probes > 0);
  const operators = [...new Set([...decisions.map(({ operatorId }) => operatorId), ...lost])]
    .filter((operator) => operator !== null).sort();
  const lostOf = (operator: string) => lost.filter((one) => one === operator).length;
  return {
    whole: probeRates(decisions),
    by_stakes: grouped(PROBE_STAKES, ({ stakes }) => stakes).map(({ name, ...own }) => ({
      stakes: name,
      ...own,
    })),
    by_domain: grouped(DOMAINS, ({ domain }) => domain).map(({ name, ...own }) => ({ domain: name, ...own })),
    by_operator: operators.map((operator) => ({
      operator_id: operator,
      ...probeRates(decisions.filter(({ operatorId }) => operatorId === operator)),
      lost: lostOf(operator),
    })).sort((one, other) => errorsHidden(other) - errorsHidden(one)),
  };
}
