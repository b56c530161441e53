/** Reads over scores: one row, an operator's history, its days, and the rows at the edges of a period. */
import { type CompiledQuery, type RawBuilder, sql } from "kysely";
import type { Period } from "../domain/period.ts";
import { type Database, query } from "./database.ts";
import { listed } from "./value_list.ts";
import {
  type FrozenOperatorRow,
  type InteractionRow,
  type NewestInteraction,
  newestPosition,
  type SkippedInteractionRow,
} from "./records.ts";

/** The row of a score. @returns null if the session has none. */
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

/** Query for the given sessions that were scored. */
export function sessionsQuery(
  orgId: string,
  sessionIds: readonly string[],
): CompiledQuery<Pick<InteractionRow, "session_id">> {
  return query.selectFrom("interaction").select("session_id").where("org_id", "=", orgId)
    .where("session_id", "in", listed<string>(sessionIds)).compile();
}

/** The position of the newest interaction of each of the given operators; null if none is kept. */
export function newestQuery(
  orgId: string,
  operators: OperatorNames,
): CompiledQuery<Pick<NewestInteraction, "operator_id" | "position">> {
  const position = newestPosition(sql`${orgId}`, sql.ref("operator.value"));
  return sql<NewestInteraction>`select value as operator_id, ${position} as position
    from ${operators} as operator`.compile(query);
}

export interface HistoryPoint {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly jis: number;
}

/**
 * The newest points of an operator's history, newest first. Reads one index entry for each point, however
 * long the history is.
 */
export function historyQuery(
  orgId: string,
  { operatorId, limit }: { readonly operatorId: string; readonly limit: number },
): CompiledQuery<HistoryPoint> {
  return query.selectFrom("interaction").select(["t1 as at", "jis"]).where("org_id", "=", orgId)
    .where("operator_id", "=", operatorId).orderBy("t1", "desc").orderBy("position", "desc").limit(limit)
    .compile();
}

/** The rows of the newest points of an operator's history, newest first, with their seals. */
export function newestRowsQuery(
  orgId: string,
  { operatorId, limit }: { readonly operatorId: string; readonly limit: number },
): CompiledQuery<InteractionRow> {
  return query.selectFrom("interaction").selectAll().where("org_id", "=", orgId)
    .where("operator_id", "=", operatorId).orderBy("t1", "desc").orderBy("position", "desc").limit(limit)
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
export function operatorNamed(operatorId: string): OperatorNames {
  return sql`(select ${operatorId} as value)`;
}

/** Operators by name. */
export function operatorsNamed(operatorIds: readonly string[]): OperatorNames {
  return sql`json_each(${JSON.stringify(operatorIds)})`;
}

/**
 * The last score of each day for each of the operators, oldest first. Takes one index look-up for each day
 * and operator, however many scores a day has.
 */
export function daysQuery(
  orgId: string,
  { operators, days: { first, end } }: { readonly operators: OperatorNames; readonly days: DaySpan },
): CompiledQuery<DayPoint> {
  const days = JSON.stringify(Array.from({ length: end - first }, (_, index) => first + index));
  const last = (column: "t1" | "jis") =>
    sql`(select ${sql.ref(column)} from interaction
      where org_id = ${orgId} and operator_id = operator.value
        and t1 >= day.value * 86400000 and t1 < (day.value + 1) * 86400000
      order by t1 desc, position desc limit 1)`;
  return sql<DayPoint>`select * from (
    select operator.value as operator_id, ${last("t1")} as at, ${last("jis")} as jis
    from ${operators} as operator cross join json_each(${days}) as day
  ) where at is not null order by operator_id, at`.compile(query);
}

/** The last score of each of the operators before an instant, in epoch milliseconds; operators without one have no row. */
export function scoreBeforeQuery(
  orgId: string,
  { operators, at }: { readonly operators: OperatorNames; readonly at: number },
): CompiledQuery<{ readonly operator_id: string; readonly jis: number }> {
  return sql<{ readonly operator_id: string; readonly jis: number }>`select * from (
    select operator.value as operator_id, (select jis from interaction
      where org_id = ${orgId} and operator_id = operator.value and t1 < ${at}
      order by t1 desc, position desc limit 1) as jis
    from ${operators} as operator
  ) where jis is not null`.compile(query);
}

/** Places in an operator's history: around the start of a period, and around its end. */
export const PERIOD_EDGES = ["before", "first", "last", "after"] as const;
export type PeriodEdge = (typeof PERIOD_EDGES)[number];

/** Tables of rows that follow one another for each operator: scores, and calls that an incident froze. */
export interface Histories {
  readonly interaction: InteractionRow;
  readonly skipped_interaction: SkippedInteractionRow;
}

/** For each of these tables, the table with one row for each operator that has such rows. */
const OPERATORS_OF = { interaction: "operator", skipped_interaction: "frozen_operator" } as const;

/**
 * For each operator of an organization, its row at an edge of a period, if there is one: the last before the
 * period, the first or last in it, or the first after it. Takes one index look-up for each operator, however
 * long the history is.
 */
export function edgeQuery<Table extends keyof Histories>(
  table: Table,
  { orgId, period: { start, end }, edge }: {
    readonly orgId: string;
    readonly period: Period;
    readonly edge: PeriodEdge;
  },
): CompiledQuery<Histories[Table]> {
  const inside = {
    before: sql`own.t1 < ${start}`,
    first: sql`own.t1 >= ${start} and own.t1 < ${end}`,
    last: sql`own.t1 >= ${start} and own.t1 < ${end}`,
    after: sql`own.t1 >= ${end}`,
  }[edge];
  const direction = sql.raw(edge === "before" || edge === "last" ? "desc" : "asc");
  const rows = sql.table(table);
  return sql<Histories[Table]>`select history.* from ${sql.table(OPERATORS_OF[table])} as operator
      join ${rows} as history on history.org_id = operator.org_id and history.session_id = (
        select session_id from ${rows} as own
        where own.org_id = operator.org_id and own.operator_id = operator.operator_id and ${inside}
        order by own.t1 ${direction}, own.position ${direction} limit 1)
    where operator.org_id = ${orgId}`.compile(query);
}

/** Every operator of an organization that has frozen calls. */
export function frozenOperatorsQuery(orgId: string): CompiledQuery<FrozenOperatorRow> {
  return query.selectFrom("frozen_operator").selectAll().where("org_id", "=", orgId).compile();
}
