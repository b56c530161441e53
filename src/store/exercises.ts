/** Reads over exercises: the runs that some operators were set lately, and the live scores around a run. */
import { type CompiledQuery, sql } from "kysely";
import { query } from "./database.ts";
import type { InteractionRow } from "./records.ts";
import { listed } from "./value_list.ts";

/**
 * The positions in a family of the runs that the operators of some pseudonyms were set since an instant, newest first; of each
 * operator no more than `limit`. The index is named because that of subjects would read all that was ever recorded of them.
 */
export function recentRunsQuery(
  { family, pseudonyms, since, limit }: {
    readonly family: string;
    readonly pseudonyms: readonly string[];
    /** ISO 8601. */
    readonly since: string;
    readonly limit: number;
  },
): CompiledQuery<{ readonly position: number }> {
  return sql<{ readonly position: number }>`select position from (
      select c.first_position + e.seq as position,
          row_number() over (partition by e.subject order by c.first_position + e.seq desc) as place
        from audit_chain as c join audit_entry as e indexed by audit_entry_event on e.chain = c.chain
        where c.family = ${family} and e.event_type = 'EXERCISE_SET' and e.ts >= ${since}
          and e.subject in ${listed<string>(pseudonyms)}
    ) where place <= ${limit} order by position desc`.compile(query);
}

/** The operator's scores before a position, or after it, in the order away from it. */
export function scoresBesideQuery(
  { orgId, operatorId, position, side, limit }: {
    readonly orgId: string;
    readonly operatorId: string;
    readonly position: number;
    readonly side: "before" | "after";
    readonly limit: number;
  },
): CompiledQuery<InteractionRow> {
  const order = side === "before" ? "desc" : "asc";
  return query.selectFrom("interaction").selectAll().where("org_id", "=", orgId)
    .where("operator_id", "=", operatorId).where("position", side === "before" ? "<" : ">", position)
    .orderBy("t1", order).orderBy("position", order).limit(limit).compile();
}
