/** Reads over scores: one row, an operator's history, its days, the last records of a period. */
import { type CompiledQuery, type RawBuilder, sql } from "kysely";
import type { Period } from "../domain/report.ts";
import { type Database, query } from "./database.ts";
import type { InteractionRow } from "./records.ts";

const DAY_MS = 86_400_000;

/** The row of a score. @returns null where the session has none. */
export async function readInteraction(
  database: Database,
  orgId: string,
  sessionId: string,
): Promise<InteractionRow | null> {
  const [row] = await database.read(
    query.selectFrom("interaction").selectAll().where("org_id", "=", orgId)
      .where("session_id", "=", sessionId).compile(),
  );
  return row ?? null;
}

export interface HistoryPoint {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly jis: number;
}

/** The newest points of an operator's history, newest first: as many index entries as points, whatever its length. */
export function historyQuery(
  orgId: string,
  { operatorId, limit }: { readonly operatorId: string; readonly limit: number },
): CompiledQuery<HistoryPoint> {
  return query.selectFrom("interaction").select(["at", "jis"]).where("org_id", "=", orgId)
    .where("operator_id", "=", operatorId).orderBy("at", "desc").orderBy("position", "desc").limit(limit)
    .compile();
}

/** A half-open span of days since the epoch (UTC). */
export interface DaySpan {
  readonly first: number;
  readonly end: number;
}

export interface DayPoint extends HistoryPoint {
  readonly operator_id: string;
}

/** A table expression whose column `value` names operators. */
export type OperatorNames = RawBuilder<unknown>;

/** One operator by name. */
export function named(operatorId: string): OperatorNames {
  return sql`(select ${operatorId} as value)`;
}

/**
 * The last score of each day for each of the operators, oldest first: one look-up in the index for each day and
 * operator, however many scores a day has.
 */
export function daysQuery(
  orgId: string,
  { operators, days: { first, end } }: { readonly operators: OperatorNames; readonly days: DaySpan },
): CompiledQuery<DayPoint> {
  const days = JSON.stringify(Array.from({ length: end - first }, (_, index) => first + index));
  const last = (column: "at" | "jis") =>
    sql`(select ${sql.ref(column)} from interaction
      where org_id = ${orgId} and operator_id = operator.value
        and at >= day.value * 86400000 and at < (day.value + 1) * 86400000
      order by at desc, position desc limit 1)`;
  return sql<DayPoint>`select * from (
    select operator.value as operator_id, ${last("at")} as at, ${last("jis")} as jis
    from ${operators} as operator cross join json_each(${days}) as day
  ) where at is not null order by operator_id, at`.compile(query);
}

/** An operator's last score inside a period, and what the operator did in it. */
export interface PeriodRow extends InteractionRow {
  readonly interactions: number;
  /** Of these: departed from the recommendation, in whole or in part. */
  readonly departures: number;
  /** Of these: deferred or escalated. */
  readonly referrals: number;
}

/** How a period is counted: whole days, and what they have too much of, or lack, where it starts or ends within a day. */
interface PeriodSpans {
  readonly days: DaySpan;
  /** Of the day in which it starts, what comes before it, or after: the shorter part, taken away or added. */
  readonly start: Period & { readonly sign: "-" | "+" };
  /** Of the day in which it ends, what comes after it: nothing where it ends now. */
  readonly afterEnd: Period;
}

function spansOf({ start, end }: Period): PeriodSpans {
  const [first, last] = [Math.floor(start / DAY_MS), Math.ceil(end / DAY_MS)];
  const startsEarly = start - first * DAY_MS <= DAY_MS / 2;
  return {
    days: { first: startsEarly ? first : first + 1, end: last },
    start: startsEarly
      ? { sign: "-", start: first * DAY_MS, end: start }
      : { sign: "+", start, end: (first + 1) * DAY_MS },
    afterEnd: { start: end, end: last * DAY_MS },
  };
}

/**
 * One row for each operator with a score in the period: a few look-ups in indexes, the counts of its days, and an index
 * entry for each score in the part of a day at its start or end.
 */
export function periodQuery(orgId: string, period: Period): CompiledQuery<PeriodRow> {
  const { days, start, afterEnd } = spansOf(period);
  const own = sql`own.org_id = operator.org_id and own.operator_id = operator.operator_id`;
  const within = ({ start, end }: Period) => sql`${own} and own.at >= ${start} and own.at < ${end}`;
  const referred = sql`own.decision in ('deferred', 'escalated')`;
  const inDays = (column: "interactions" | "departures" | "referrals") =>
    sql`(select coalesce(sum(${sql.ref(column)}), 0) from operator_day as own
        where ${own} and own.day >= ${days.first} and own.day < ${days.end})`;
  const inPart = (part: Period, condition: RawBuilder<unknown>) =>
    sql`(select count(*) from interaction as own where ${within(part)} and ${condition})`;
  const atEdges = (condition: RawBuilder<unknown>) =>
    sql`${sql.raw(start.sign)} ${inPart(start, condition)} - ${inPart(afterEnd, condition)}`;
  return sql<PeriodRow>`select interaction.*,
      ${inDays("interactions")} ${atEdges(sql`true`)} as interactions,
      ${inDays("departures")} ${atEdges(sql`own.departure > 0 and not ${referred}`)} as departures,
      ${inDays("referrals")} ${atEdges(referred)} as referrals
    from operator join interaction
      on interaction.org_id = operator.org_id and interaction.session_id = (
        select session_id from interaction as own where ${within(period)}
        order by own.at desc, own.position desc limit 1)
    where operator.org_id = ${orgId} order by operator.operator_id`.compile(query);
}

/** Calls of a period that an incident froze. */
export function freezesQuery(
  orgId: string,
  { start, end }: Period,
): CompiledQuery<{ readonly count: number }> {
  return query.selectFrom("skipped_interaction").select(({ fn }) => fn.countAll<number>().as("count"))
    .where("org_id", "=", orgId).where("at", ">=", start).where("at", "<", end).compile();
}
