/**
 * The history with which `jiss dev` fills its demo organization: named reviewers of different archetypes, weekdays
 * and working hours only (UTC), from a seed and the instant at which it ends.
 *
 * The reviewers are examples for the pages: steady reviewers, a learner, one who tires, one who is away, one
 * who is new, and several whose approvals mean little. None is a real person.
 */
import type { Domain } from "../domain/enums.ts";
import type { Interaction } from "../domain/interaction.ts";
import { DAY_MS } from "../domain/time.ts";
import {
  type ArchetypeName,
  DEFAULT_ENVIRONMENT,
  drawInteraction,
  drawOperator,
  type Environment,
  type Operator,
} from "./archetypes.ts";
import { type Random, seeded } from "./random.ts";

/** One interaction of the history, to be scored at `at`. */
export interface DemoEvent {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly operatorId: string;
  /** Unique within the history. */
  readonly sessionId: string;
  readonly domain: Domain;
  readonly interaction: Interaction;
}

export interface DemoReviewer {
  readonly operatorId: string;
  readonly archetype: ArchetypeName;
  /** Domains of the cases; each case draws one with equal probability. */
  readonly domains: readonly Domain[];
  /** Mean interactions in a working day. */
  readonly perWorkday: number;
  /** Days before the end of the history; absent if present from its beginning. */
  readonly joinedDaysAgo?: number;
  /** Days before the end of the history; absent if present until its end. */
  readonly leftDaysAgo?: number;
  /** Present if the review page measures only the time. */
  readonly unmeasured?: true;
}

export const DEMO_REVIEWERS: readonly DemoReviewer[] = [
  { operatorId: "reviewer-ada", archetype: "independent", domains: ["financial"], perWorkday: 2 },
  { operatorId: "reviewer-bruno", archetype: "independent", domains: ["healthcare"], perWorkday: 1.6 },
  {
    operatorId: "reviewer-chen",
    archetype: "fast_expert",
    domains: ["insurance", "financial"],
    perWorkday: 2.6,
  },
  {
    operatorId: "reviewer-dana",
    archetype: "fast_expert",
    domains: ["healthcare"],
    perWorkday: 1.8,
    unmeasured: true,
  },
  { operatorId: "reviewer-emil", archetype: "novice_learning", domains: ["financial"], perWorkday: 1.8 },
  { operatorId: "reviewer-farah", archetype: "rubber_stamper", domains: ["insurance"], perWorkday: 2.2 },
  { operatorId: "reviewer-goran", archetype: "slow_rubber", domains: ["employment"], perWorkday: 1.4 },
  { operatorId: "reviewer-hana", archetype: "fatigued", domains: ["healthcare"], perWorkday: 3.4 },
  { operatorId: "reviewer-ivo", archetype: "hover_gamer", domains: ["financial"], perWorkday: 1.5 },
  { operatorId: "reviewer-jun", archetype: "contrarian", domains: ["employment"], perWorkday: 1.4 },
  {
    operatorId: "reviewer-kofi",
    archetype: "independent",
    domains: ["insurance", "employment"],
    perWorkday: 2.6,
    leftDaysAgo: 40,
  },
  {
    operatorId: "reviewer-lena",
    archetype: "independent",
    domains: ["employment"],
    perWorkday: 3,
    joinedDaysAgo: 14,
  },
];

const TEAMS: Partial<Record<Domain, string>> = {
  financial: "Credit",
  insurance: "Claims",
  healthcare: "Clinic",
  employment: "Hiring",
};

/** The teams of the reviewers, by the domain of their cases. */
export const DEMO_TEAMS: readonly { readonly operator_id: string; readonly team: string }[] = DEMO_REVIEWERS
  .flatMap(({ operatorId: operator_id, domains }) => {
    const team = TEAMS[domains[0]!];
    return team === undefined ? [] : [{ operator_id, team }];
  });

/** Shares of grave cases, 0..1, added to the default environment. */
const HIGH_STAKES_SHARE = 0.06;
const CRITICAL_SHARE = 0.02;

const HOUR_MS = 3_600_000;
/** Working hours, UTC: from 08:00 until 17:00. */
const WORKDAY_STARTS_MS = 8 * HOUR_MS;
const WORKDAY_ENDS_MS = 17 * HOUR_MS;
/** 1 January 1970 was a Thursday; weekdays count from Sunday, 0. */
const EPOCH_WEEKDAY = 4;

/** A stretch of time, epoch milliseconds, the end not included. */
interface Span {
  readonly from: number;
  readonly until: number;
}

/**
 * The history of the `days` before `endsAt` (epoch milliseconds, not included), in chronological order; the same
 * arguments give the same history.
 */
export function demoHistory(
  { seed, endsAt, days }: {
    readonly seed: number | string;
    readonly endsAt: number;
    readonly days: number;
  },
): DemoEvent[] {
  const period = { from: endsAt - days * DAY_MS, until: endsAt };
  return DEMO_REVIEWERS
    .flatMap((reviewer) => reviewerHistory(reviewer, period, `${seed}/${reviewer.operatorId}`))
    .sort((a, b) => a.at - b.at || (a.sessionId < b.sessionId ? -1 : 1));
}

/**
 * The times have a random stream of their own, so that the end of a history does not change the operators.
 */
function reviewerHistory(reviewer: DemoReviewer, period: Span, seed: string): DemoEvent[] {
  const { operatorId, domains, perWorkday, joinedDaysAgo, leftDaysAgo = 0 } = reviewer;
  const joined = joinedDaysAgo === undefined ? period.from : period.until - joinedDaysAgo * DAY_MS;
  const present = { from: Math.max(period.from, joined), until: period.until - leftDaysAgo * DAY_MS };
  const times = drawTimes(workingSpans(present), perWorkday, seeded(`${seed}/times`));
  const random = seeded(seed);
  const operator = drawReviewer(reviewer, random);
  // The number tells nobody who it is: users may be shown pseudonyms.
  const number = DEMO_REVIEWERS.indexOf(reviewer) + 1;
  return times.map((at, index) => {
    const environment = environmentOf(random.pick(domains));
    return {
      at,
      operatorId,
      sessionId: `demo-${String(number).padStart(2, "0")}-${String(index + 1).padStart(4, "0")}`,
      domain: environment.domain,
      interaction: drawInteraction(operator, index, environment, random),
    };
  });
}

function drawReviewer({ archetype, unmeasured }: DemoReviewer, random: Random): Operator {
  const operator = drawOperator(archetype, random);
  return unmeasured ? { ...operator, telemetry: "unmeasured" } : operator;
}

function environmentOf(domain: Domain): Environment {
  return {
    ...DEFAULT_ENVIRONMENT,
    highStakesShare: HIGH_STAKES_SHARE,
    criticalShare: CRITICAL_SHARE,
    domain,
  };
}

/** The working hours within a span, in order. */
function workingSpans({ from, until }: Span): Span[] {
  const spans: Span[] = [];
  for (let day = Math.floor(from / DAY_MS); day * DAY_MS < until; day++) {
    const weekday = (day + EPOCH_WEEKDAY) % 7;
    if (weekday === 0 || weekday === 6) continue;
    const opens = Math.max(from, day * DAY_MS + WORKDAY_STARTS_MS);
    const closes = Math.min(until, day * DAY_MS + WORKDAY_ENDS_MS);
    if (opens < closes) spans.push({ from: opens, until: closes });
  }
  return spans;
}

/**
 * Times in whole milliseconds over the working time, in order. Each equal share of it has one, never at its
 * edges, so that no case of a reviewer begins before the previous case can have ended.
 */
function drawTimes(spans: readonly Span[], perWorkday: number, random: Random): number[] {
  const workingMs = spans.reduce((sum, span) => sum + span.until - span.from, 0);
  const count = Math.round(perWorkday * workingMs / (WORKDAY_ENDS_MS - WORKDAY_STARTS_MS));
  return Array.from({ length: count }, (_, index) => {
    const worked = (index + random.uniform(0.1, 0.9)) / count * workingMs;
    return Math.floor(instantAfter(spans, worked));
  });
}

/** The instant at which `workedMs` of the spans have passed; `workedMs` is less than all spans together. */
function instantAfter(spans: readonly Span[], workedMs: number): number {
  let rest = workedMs;
  for (const span of spans) {
    if (rest < span.until - span.from) return span.from + rest;
    rest -= span.until - span.from;
  }
  throw new RangeError("more work than working time");
}
