/** Reads over exercises: their entries, and the live scores around a run. */
import { type CompiledQuery, sql } from "kysely";
import { type Database, query } from "./database.ts";
import type { InteractionRow } from "./records.ts";

/** The place of an entry by its id; null if no such entry is stored. */
export async function placeOfEntry(
  database: Database,
  id: string,
): Promise<{ readonly chain: string; readonly seq: number } | null> {
  const [row] = await database.read(
    query.selectFrom("audit_entry").select(["chain", "seq"]).where("id", "=", id).compile(),
  );
  return row ?? null;
}

/** The positions of the entries of a type in a family, newest first. */
export function newestEventsQuery(
  { family, eventType, subject, below, limit }: {
    readonly family: string;
    readonly eventType: string;
    /** A pseudonym; null for all entries of the type. */
    readonly subject: string | null;
    /** Only entries before this position; null begins with the newest. */
    readonly below: number | null;
    readonly limit: number;
  },
): CompiledQuery<{ readonly position: number }> {
  const position = sql<number>`c.first_position + e.seq`;
  let rows = query.selectFrom("audit_chain as c").innerJoin("audit_entry as e", "e.chain", "c.chain")
    .select(position.as("position")).where("c.family", "=", family).where("e.event_type", "=", eventType);
  if (subject !== null) rows = rows.where("e.subject", "=", subject);
  if (below !== null) rows = rows.where(position, "<", below);
  return rows.orderBy("c.epoch", "desc").orderBy("e.ts", "desc").orderBy("e.seq", "desc").limit(limit)
    .compile();
}

/** The event by which a model of the formulas `jis-3` tells an announced test. */
const ANNOUNCED = "calibration";

interface LiveScores {
  readonly orgId: string;
  readonly operatorId: string;
  readonly position: number;
}

/** The operator's last score of live work before a position. */
export function lastLiveBeforeQuery(
  { orgId, operatorId, position }: LiveScores,
): CompiledQuery<InteractionRow> {
  return query.selectFrom("interaction").selectAll().where("org_id", "=", orgId)
    .where("operator_id", "=", operatorId).where("position", "<", position)
    .where("scenario_type", "!=", ANNOUNCED)
    .orderBy("t1", "desc").orderBy("position", "desc").limit(1).compile();
}

/** The operator's first scores of live work after a position, in their order. */
export function firstLiveAfterQuery(
  { orgId, operatorId, position, limit }: LiveScores & { readonly limit: number },
): CompiledQuery<InteractionRow> {
  return query.selectFrom("interaction").selectAll().where("org_id", "=", orgId)
    .where("operator_id", "=", operatorId).where("position", ">", position)
    .where("scenario_type", "!=", ANNOUNCED)
    .orderBy("t1").orderBy("position").limit(limit).compile();
}
