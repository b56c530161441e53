/** Finds the entries of follow-up cases: those of some operators, and how many one operator has. */
import { type CompiledQuery, sql } from "kysely";
import { query } from "./database.ts";
import { loadOnce, type RecordKind } from "./records.ts";
import { listed } from "./value_list.ts";

/** The condition of the index of these entries, word for word. */
const IS_OF_CASE = sql<boolean>`e.event_type in ('CASE_OPENED', 'CASE_CHANGED')`;

/** The positions in a family of all entries about cases of the operators of some pseudonyms, oldest first. */
export function caseEntriesQuery(
  family: string,
  pseudonyms: readonly string[],
): CompiledQuery<{ readonly position: number }> {
  const position = sql<number>`c.first_position + e.seq`;
  return query.selectFrom("audit_entry as e").innerJoin("audit_chain as c", "c.chain", "e.chain")
    .select(position.as("position")).where("e.subject", "in", listed<string>(pseudonyms)).where(IS_OF_CASE)
    .where("c.family", "=", family).orderBy(position).compile();
}

/** How many entries about cases a family has of a pseudonym. */
export interface CaseEntryCount {
  readonly family: string;
  readonly subject: string;
  readonly count: number;
}

export const caseEntryCounts: RecordKind<CaseEntryCount> = {
  name: "case_entry_count",
  load: loadOnce((keys) =>
    sql<CaseEntryCount>`select value ->> 0 as family, value ->> 1 as subject, (
        select count(*) from audit_entry as e
          where e.subject = value ->> 1 and e.event_type in ('CASE_OPENED', 'CASE_CHANGED')
            and e.chain in (select chain from audit_chain where family = value ->> 0)
      ) as count from json_each(${keys})`.compile(query)
  ),
  keyOf: (row) => [row.family, row.subject],
};
