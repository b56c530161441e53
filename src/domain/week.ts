/**
 * Weeks: what the dashboard would have said of an organization, or of a team, at the end of each week, and each operator's score
 * then. Source: oversight-loop design, section 5.
 */
import * as z from "zod";
import { VERDICT_STATUSES } from "./enums.ts";
import { isoTimestamp } from "./instant.ts";
import { operatorIdSchema } from "./interaction.ts";
import type { Period } from "./period.ts";
import { probeFiguresSchema } from "./probe.ts";
import { verdictCountsSchema } from "./report.ts";
import { envelopeFields, points } from "./score.ts";
import { DAY_MS } from "./time.ts";

/** Weeks that one answer covers. */
export const WEEKS_MAX = 27;
export const WEEKS_DEFAULT = 13;
/** Operators whose weeks one answer has. */
export const WEEK_ROWS_MAX = 100;
export const WEEK_ROWS_DEFAULT = 25;

/** The length of a week. */
export const WEEK_MS = 7 * DAY_MS;
/** The first Monday after the epoch, which was a Thursday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/** The Monday (UTC) on which the week of an instant begins; both in epoch milliseconds. */
export function weekStart(at: number): number {
  return at - (((at - FIRST_MONDAY_MS) % WEEK_MS) + WEEK_MS) % WEEK_MS;
}

/**
 * The weeks from that of `from` to that of `to`, from Monday to Monday (UTC), oldest first; instants are epoch milliseconds. Weeks
 * that have not begun at `now` are left out, and so are weeks before 1970. Empty if `to` is before `from`.
 */
export function weeksBetween(from: number, to: number, now: number): readonly Period[] {
  const weeks: Period[] = [];
  for (let start = Math.max(weekStart(from), FIRST_MONDAY_MS); start <= Math.min(to, now); start += WEEK_MS) {
    weeks.push({ start, end: start + WEEK_MS });
  }
  return weeks;
}

/** The first instant of the weeks that an answer covers by default. */
export function defaultFirstWeek(to: number): number {
  return weekStart(to) - (WEEKS_DEFAULT - 1) * WEEK_MS;
}

const count = z.int().min(0);
const day = z.iso.date();
const withheld = "Null if there is no operator, and where reviewers are pseudonyms for fewer than five.";

const weekSchema = z.object({
  week_start: day.meta({ description: "The Monday on which the week begins (UTC)." }),
  as_of: isoTimestamp.meta({ description: "The end of the week; the time of the call in the present week." }),
  operators: count.meta({ description: "Operators with an interaction in the 90 days before." }),
  median_jis: points.nullable().meta({ description: `Their median score then. ${withheld}` }),
  median_interval: z.object({ low: points, high: points }).nullable().meta({
    description:
      `The median within 90 %, by the intervals of the operators' scores: it tells how well the scores are known. ${withheld}`,
  }),
  verdicts: verdictCountsSchema.nullable().meta({
    description: `The same operators by verdict. ${withheld}`,
  }),
  probes: probeFiguresSchema.nullable().meta({
    description: "The probes that were opened in the week; null if there was none, or they are withheld.",
  }),
}).meta({ id: "Week" });
export type Week = z.output<typeof weekSchema>;

const cellSchema = z.object({
  jis: points,
  verdict: z.enum(VERDICT_STATUSES).nullable(),
  interacted: z.boolean().meta({ description: "Whether there was an interaction in the week." }),
}).meta({ id: "OperatorWeek" });
export type OperatorWeek = z.output<typeof cellSchema>;

/** The figures of probes, with the number of people behind them, which no answer shows. */
export interface ProbedFigures {
  readonly probes: Week["probes"];
  readonly probed: number;
}

/** The weeks of all operators, or of a team. */
export interface OrganizationWeeks {
  /** The teams of today by name, the operators without one last. */
  readonly teams: readonly { readonly team: string | null; readonly operators: number }[];
  /** Oldest first. */
  readonly weeks: readonly (Week & ProbedFigures)[];
  /** The probes of all these weeks. */
  readonly total: ProbedFigures;
  /** The lowest latest score first; only those who were active in one of the weeks. */
  readonly operators: readonly {
    readonly operator_id: string;
    readonly team: string | null;
    readonly weeks: readonly (OperatorWeek | null)[];
  }[];
}

export const weeksResponseSchema = z.object({
  team: z.string().nullable().meta({ description: "The team that was asked for; null for all operators." }),
  teams: z.array(z.object({ team: z.string().nullable(), operators: count })).meta({
    description:
      "The teams of today by name, with their operators who were active in the last 90 days; `null` for those without a team. Empty where reviewers are pseudonyms.",
  }),
  weeks: z.array(weekSchema).meta({ description: "Oldest first." }),
  probes: probeFiguresSchema.nullable().meta({ description: "The probes of all these weeks." }),
  operators: z.array(z.object({
    operator_id: operatorIdSchema,
    team: z.string().nullable().meta({
      description: "The operator's team; null without one, and where reviewers are pseudonyms.",
    }),
    weeks: z.array(cellSchema.nullable()).meta({
      description: "One for each of `weeks`; null if there was no interaction in the 90 days before its end.",
    }),
  })).meta({ description: "The lowest latest score first." }),
  next_cursor: z.string().nullable(),
  ...envelopeFields,
}).meta({ id: "Weeks" });
