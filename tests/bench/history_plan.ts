/**
 * The contents of a history, and how its reader asks: 90 days of 100 organizations with 10,000 operators.
 *
 * For the one organization that is asked, the small and the large history differ only in the number of
 * records: it has the same twenty operators, each with a hundred times as many interactions. The same holds
 * for all others together.
 */
import type { Service } from "../../src/service/compose.ts";
import { EPOCH } from "../harness.ts";

export const DAY_MS = 86_400_000;
export const DAYS = 90;

export interface HistoryPlan {
  readonly name: string;
  readonly organizations: number;
  readonly operators: number;
  /** Operators of the organization that is asked. */
  readonly asked: number;
  /**
   * Rounds, each with one interaction of every asked operator, and four times as many of the others, who take
   * turns.
   */
  readonly rounds: number;
}

const WHOLE = { organizations: 100, operators: 10_000, asked: 20 };
const QUICK = { organizations: 10, operators: 1_000, asked: 2 };

/** 10,000 interactions and 1,000,000, or with `quick` 1,000 and 20,000. */
export function historyPlans(quick: boolean): { readonly few: HistoryPlan; readonly many: HistoryPlan } {
  const [shape, label] = quick ? [QUICK, "quick-"] : [WHOLE, ""];
  return {
    few: { ...shape, name: `${label}few`, rounds: 100 },
    many: { ...shape, name: `${label}many`, rounds: quick ? 2_000 : 10_000 },
  };
}

export function interactionsOf({ asked, rounds }: HistoryPlan): number {
  return 5 * asked * rounds;
}

export function sizesOf(plan: HistoryPlan): Sizes {
  return { interactions: interactionsOf(plan), operators: plan.asked, records: plan.rounds };
}

/** Numbers that follow from its plan; all but `interactions` are of the organization that is asked. */
export interface Sizes {
  readonly interactions: number;
  readonly operators: number;
  /** The number for each operator. */
  readonly records: number;
}

/** The facts about the written history that a reader needs. */
export interface Facts {
  readonly key: string;
  /** Some sessions of the organization that is asked. */
  readonly sessions: readonly string[];
  readonly decision: string;
  readonly report: string;
  readonly webhook: string;
  readonly assessment: string;
  /** An exercise that nobody began: its id, the token of its link, and the hash of its case set. */
  readonly exercise: { readonly id: string; readonly token: string; readonly set: string };
  /** The token of the link to the own page of the first operator. */
  readonly ownPage: string;
  /** The id of a case. */
  readonly followUp: string;
  /** The size of the organization's evidence chain. */
  readonly entries: number;
}

export function organizationName(index: number): string {
  return `organization-${index}`;
}

export const ASKED_ORGANIZATION = organizationName(0);
/** The instant at which the histories end and are read. */
export const HISTORY_END = EPOCH;
export const HISTORY_START = EPOCH - DAYS * DAY_MS;

export function operatorName(index: number): string {
  return `operator-${index}`;
}

/** A report over days, counted back from the end. */
export function reportPath(from: number, to = 0): string {
  const day = (daysAgo: number) => new Date(HISTORY_END - daysAgo * DAY_MS).toISOString().slice(0, 10);
  return `/v1/compliance/report?period_start=${day(from)}&period_end=${day(to)}`;
}

export interface Question {
  readonly path: string;
  readonly key?: string;
  readonly body?: unknown;
}

/** Asks the application, without a network. @throws if it refuses. */
export async function ask({ app }: Pick<Service, "app">, { path, key, body }: Question): Promise<Response> {
  const request = new Request(`http://127.0.0.1${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...(key === undefined ? {} : { "X-API-Key": key }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const response = await app.fetch(request, { peer: "127.0.0.1" });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}
