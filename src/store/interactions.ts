/** Reads over scores: one recorded score, an operator's history, its days, the last records of a period. */
import { type CompiledQuery, sql } from "kysely";
import { type Database, query } from "./database.ts";
import type { InteractionRow } from "./records.ts";

/** A score as it was recorded: its row, its entry and the entry's parts. */
export interface RecordedScore {
  readonly row: InteractionRow;
  readonly entryId: string;
  readonly entryHash: Uint8Array;
  /** Canonical JSON. */
  readonly input: string;
  readonly result: string;
}

/** @returns null where the session has no score, or its record is no longer held. */
export async function readRecordedScore(
  database: Database,
  orgId: string,
  { sessionId, chain }: { readonly sessionId: string; readonly chain: string },
): Promise<RecordedScore | null> {
  const [row] = await database.read(
    query.selectFrom("interaction").selectAll().where("org_id", "=", orgId)
      .where("session_id", "=", sessionId).compile(),
  );
  if (row === undefined) return null;
  const entry = await readEntryParts(database, { chain, seq: row.seq });
  return entry === null ? null : { row, ...entry };
}

/** @returns null where the entry or one of its parts is not held. */
export async function readEntryParts(
  database: Database,
  { chain, seq }: { readonly chain: string; readonly seq: number },
): Promise<Omit<RecordedScore, "row"> | null> {
  const part = (name: string) =>
    query.selectFrom("audit_part").select("data").where("chain", "=", chain).where("seq", "=", seq)
      .where("name", "=", name);
  const [row] = await database.read(
    query.selectFrom("audit_entry")
      .select(["id", "entry_hash", part("input").as("input"), part("result").as("result")])
      .where("chain", "=", chain).where("seq", "=", seq).compile(),
  );
  if (row === undefined || row.input === null || row.result === null) return null;
  return { entryId: row.id, entryHash: row.entry_hash, input: row.input, result: row.result };
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
    .where("operator_id", "=", operatorId).orderBy("at", "desc").orderBy("seq", "desc").limit(limit)
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

/**
 * The last score of each day for each of the named operators, oldest first: one look-up in the index for each day
 * and operator, however many scores a day has.
 */
export function daysQuery(
  orgId: string,
  { operatorIds, days: { first, end } }: { readonly operatorIds: readonly string[]; readonly days: DaySpan },
): CompiledQuery<DayPoint> {
  const days = JSON.stringify(Array.from({ length: end - first }, (_, index) => first + index));
  const last = (column: "at" | "jis") =>
    sql`(select ${sql.ref(column)} from interaction
      where org_id = ${orgId} and operator_id = operator.value
        and at >= day.value * 86400000 and at < (day.value + 1) * 86400000
      order by at desc, seq desc limit 1)`;
  return sql<DayPoint>`select * from (
    select operator.value as operator_id, ${last("at")} as at, ${last("jis")} as jis
    from json_each(${JSON.stringify(operatorIds)}) as operator cross join json_each(${days}) as day
  ) where at is not null order by operator_id, at`.compile(query);
}

/** Epoch milliseconds; the start is included, the end is not. */
export interface Period {
  readonly start: number;
  readonly end: number;
}

/** The last score inside a period of each operator that has one. */
export function lastRecordsQuery(orgId: string, { start, end }: Period): CompiledQuery<InteractionRow> {
  return sql<InteractionRow>`select interaction.* from operator join interaction
    on interaction.org_id = operator.org_id and interaction.session_id = (
      select session_id from interaction as last
      where last.org_id = operator.org_id and last.operator_id = operator.operator_id
        and last.at >= ${start} and last.at < ${end}
      order by last.at desc, last.seq desc limit 1)
    where operator.org_id = ${orgId} order by operator.operator_id`.compile(query);
}

export interface PeriodCounts {
  readonly interactions: number;
  readonly departures: number;
  readonly referrals: number;
  readonly incident_freezes: number;
}

/** What happened in a period, counted from indexes alone. */
export function periodCountsQuery(orgId: string, { start, end }: Period): CompiledQuery<PeriodCounts> {
  const referred = sql`decision in ('deferred', 'escalated')`;
  const within = (condition: ReturnType<typeof sql>) =>
    sql`(select count(*) from interaction where org_id = ${orgId} and at >= ${start} and at < ${end}
      and (departure > 0 or ${referred}) and ${condition})`;
  return sql<PeriodCounts>`select
    (select coalesce(sum((select count(*) from interaction as i
        where i.org_id = operator.org_id and i.operator_id = operator.operator_id
          and i.at >= ${start} and i.at < ${end})), 0)
      from operator where org_id = ${orgId}) as interactions,
    ${within(sql`not ${referred}`)} as departures,
    ${within(referred)} as referrals,
    (select count(*) from skipped_interaction
      where org_id = ${orgId} and at >= ${start} and at < ${end}) as incident_freezes`.compile(query);
}
