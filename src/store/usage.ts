/**
 * Usage: scores counted by organization and time only. A count over any window is exact: the whole hours inside it
 * from one counter each, its two edge hours from their instants.
 * Source: contract, section 5.
 */
import { sql } from "kysely";
import { type Database, query, type Statement } from "./database.ts";

const HOUR_MS = 3_600_000;

/** Adds `count` scores at an instant, epoch milliseconds. */
export function addUsage(
  orgId: string,
  { at, count }: { readonly at: number; readonly count: number },
): Statement[] {
  return [
    query.insertInto("usage_instant").values({ org_id: orgId, at, count })
      .onConflict((conflict) =>
        conflict.columns(["org_id", "at"]).doUpdateSet({ count: sql`usage_instant.count + excluded.count` })
      ).compile(),
    query.insertInto("usage_hour").values({ org_id: orgId, hour: Math.floor(at / HOUR_MS), count })
      .onConflict((conflict) =>
        conflict.columns(["org_id", "hour"]).doUpdateSet({ count: sql`usage_hour.count + excluded.count` })
      ).compile(),
  ];
}

/** Scores after `from` and not after `to`, epoch milliseconds; the window may begin 31 days back at most. */
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
