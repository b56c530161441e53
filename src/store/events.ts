/** Finds entries by their id, by their kind, and by what they record of an operator. */
import { type CompiledQuery, sql } from "kysely";
import { type Database, query } from "./database.ts";
import { loadOnce, type RecordKind } from "./records.ts";

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

/** The places of the entries that record the erasure of an operator, by pseudonym. */
export function erasuresQuery(
  subject: string,
): CompiledQuery<{ readonly chain: string; readonly seq: number }> {
  return query.selectFrom("audit_entry").select(["chain", "seq"]).where("subject", "=", subject)
    .where("event_type", "=", "SUBJECT_ERASED").compile();
}

/** How many contests entries of a family record of a pseudonym since an instant, ISO 8601. */
export interface ContestCount {
  readonly family: string;
  readonly subject: string;
  readonly since: string;
  readonly count: number;
}

export const contestCounts: RecordKind<ContestCount> = {
  name: "contest_count",
  load: loadOnce((keys) =>
    sql<ContestCount>`select value ->> 0 as family, value ->> 1 as subject, value ->> 2 as since, (
        select count(*) from audit_entry as e indexed by audit_entry_subject
          where e.subject = value ->> 1 and e.event_type = 'SCORE_CONTESTED' and e.ts >= value ->> 2
            and e.chain in (select chain from audit_chain where family = value ->> 0)
      ) as count from json_each(${keys})`.compile(query)
  ),
  keyOf: (row) => [row.family, row.subject, row.since],
};
