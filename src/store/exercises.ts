/** Reads over exercises: the live scores around a run. */
import type { CompiledQuery } from "kysely";
import { query } from "./database.ts";
import type { InteractionRow } from "./records.ts";

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
