/**
 * Usage: number of scores by organization and time only. A count over any window is exact: one counter for
 * each whole hour in the window, and the stored instants for its two edge hours.
 * Source: contract, section 5.
 */
import { type CompiledQuery, type Insertable, type RawBuilder, sql } from "kysely";
import { DAY_MS } from "../domain/time.ts";
import { compileOnce } from "./compile_once.ts";
import { type Database, query, type Statement } from "./database.ts";
import type { UsageHourTable, UsageInstantTable } from "./schema.ts";

const HOUR_MS = 3_600_000;
const HOURS_IN_DAY = 24;

/** Adds `count` scores at an instant, epoch milliseconds. */
export function addUsage(
  orgId: string,
  { at, count }: { readonly at: number; readonly count: number },
): Statement[] {
  return [
    { ...addInInstant({ org_id: orgId, at, count }), last: true },
    { ...addInHour({ org_id: orgId, hour: Math.floor(at / HOUR_MS), count }), last: true },
  ];
}

const addInInstant = compileOnce((row: Insertable<UsageInstantTable>) =>
  query.insertInto("usage_instant").values(row)
    .onConflict((conflict) =>
      conflict.columns(["org_id", "at"]).doUpdateSet({ count: sql`usage_instant.count + excluded.count` })
    ).compile()
);

const addInHour = compileOnce((row: Insertable<UsageHourTable>) =>
  query.insertInto("usage_hour").values(row)
    .onConflict((conflict) =>
      conflict.columns(["org_id", "hour"]).doUpdateSet({ count: sql`usage_hour.count + excluded.count` })
    ).compile()
);

/**
 * Scores after `from` and up to `to` (inclusive), epoch milliseconds. The window may begin at most 31 days
 * ago.
 */
export async function countUsage(
  database: Database,
  orgId: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<number> {
  const firstHour = Math.floor(from / HOUR_MS) + 1;
  const endHour = Math.max(firstHour, Math.floor((to + 1) / HOUR_MS));
  const instants = query.selectFrom("usage_instant").where("org_id", "=", orgId)
    .select(sql<number>`coalesce(sum(count), 0)`.as("count"));
  const [row] = await database.read(
    query.selectNoFrom([
      instants.where("at", ">", from).where("at", "<", Math.min(firstHour * HOUR_MS, to + 1)).as("before"),
      query.selectFrom("usage_hour").where("org_id", "=", orgId)
        .select(sql<number>`coalesce(sum(count), 0)`.as("count"))
        .where("hour", ">=", firstHour).where("hour", "<", endHour).as("hours"),
      instants.where("at", ">=", endHour * HOUR_MS).where("at", "<=", to).as("after"),
    ]).compile(),
  );
  return row!.before! + row!.hours! + row!.after!;
}

/**
 * Scores of each of the last `days` spans of 24 hours up to `to` (epoch milliseconds, inclusive), newest
 * first. The counts are exact like those of {@link countUsage}. At most 31 days.
 */
export async function dailyUsage(
  database: Database,
  orgId: string,
  { to, days }: { readonly to: number; readonly days: number },
): Promise<readonly number[]> {
  const from = to - days * DAY_MS;
  // An hour in which one day ends and the next begins is counted by its instants, every other hour as a
  // whole.
  const lastEdge = Math.floor(to / HOUR_MS);
  const edges = Array.from({ length: days + 1 }, (_, index) => lastEdge - HOURS_IN_DAY * index);
  const edgeList = JSON.stringify(edges);
  const hour = sql.lit(HOUR_MS);
  const dayOf = (at: RawBuilder<unknown>) =>
    sql<number>`(cast(${to} as integer) - ${at}) / ${sql.lit(DAY_MS)}`;
  const rows = await database.read(
    sql<{ day: number; count: number }>`select day, sum(count) as count from (
      select ${dayOf(sql`hour * ${hour}`)} as day, count from usage_hour
        where org_id = ${orgId} and hour > ${edges.at(-1)} and hour < ${lastEdge}
          and hour not in (select value from json_each(${edgeList}))
      union all
      select ${dayOf(sql`at`)}, count from json_each(${edgeList}) cross join usage_instant
        where org_id = ${orgId} and at >= value * ${hour} and at < (value + 1) * ${hour}
          and at > ${from} and at <= ${to}
    ) group by day`.compile(query),
  );
  const counts = new Map(rows.map((row) => [row.day, row.count]));
  return Array.from({ length: days }, (_, index) => counts.get(index) ?? 0);
}

/**
 * Organizations with a score in the 24 hours before `now`, to the hour, and without an alert of this kind on
 * this UTC day.
 */
export function busyOrganizationsQuery(
  { now, kind, day }: { readonly now: number; readonly kind: string; readonly day: number },
): CompiledQuery<{ org_id: string }> {
  return query.selectFrom("organization as o").select("o.org_id")
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("usage_hour as u").select(sql.lit(1).as("one")).whereRef("u.org_id", "=", "o.org_id")
          .where("u.hour", ">=", Math.floor((now - DAY_MS) / HOUR_MS)),
      )
    )
    .where(({ exists, not, selectFrom }) =>
      not(exists(
        selectFrom("alert as a").select(sql.lit(1).as("one")).whereRef("a.org_id", "=", "o.org_id")
          .where("a.kind", "=", kind).where("a.day", "=", day),
      ))
    )
    .orderBy("o.org_id").compile();
}
