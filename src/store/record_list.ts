/**
 * Selects the entries on a page of an organization's record, newest first. Reads an index, with as many steps
 * as the page has rows. The content is read from the entries once they are proven.
 */
import { type CompiledQuery, sql } from "kysely";
import { query } from "./database.ts";

/** The seq of an entry in its chain. */
export interface EntryPlace {
  readonly seq: number;
}

export interface EntryPage {
  readonly chain: string;
  readonly eventTypes: readonly string[];
  /** Pseudonym whose entries are selected; null for all. */
  readonly pseudonym: string | null;
  /** Only entries with a smaller seq. */
  readonly below: number;
  readonly limit: number;
}

/** Seqs of the entries on a page, newest first, as the columns have them. */
export function scoredEntriesQuery({ chain, eventTypes, pseudonym, below, limit }: EntryPage): CompiledQuery<
  EntryPlace
> {
  const pages = pseudonym === null
    // The index by event is sorted by time, so the time of the last entry before `below` says where to start.
    ? eventTypes.map((type) =>
      sql`select * from (select seq from audit_entry
        where chain = ${chain} and event_type = ${type}
          and (ts, seq) < (select max(ts), ${below} from audit_entry where chain = ${chain} and seq = ${
        below - 1
      })
        order by ts desc, seq desc limit ${limit})`
    )
    : [
      sql`select * from (select seq from audit_entry
        where subject = ${pseudonym} and chain = ${chain} and seq < ${below}
          and event_type in (select value from json_each(${JSON.stringify(eventTypes)}))
        order by seq desc limit ${limit})`,
    ];
  return sql<EntryPlace>`select seq from (${sql.join(pages, sql` union all `)})
    order by seq desc limit ${limit}`.compile(query);
}
