/**
 * Which entries a page of an organization's record has, newest first: walks along an index, as many steps as a page has
 * rows. What the entries say is read from them once they are proven.
 */
import { type CompiledQuery, sql } from "kysely";
import { query } from "./database.ts";

/** Where an entry stands in its chain. */
export interface EntryPlace {
  readonly seq: number;
}

export interface EntryPage {
  readonly chain: string;
  readonly eventTypes: readonly string[];
  /** Of whom; null: of all. */
  readonly pseudonym: string | null;
  /** Entries before this one. */
  readonly below: number;
  readonly limit: number;
}

/** Where the newest entries of a page stand, newest first, as their columns have it. */
export function scoredEntriesQuery({ chain, eventTypes, pseudonym, below, limit }: EntryPage): CompiledQuery<
  EntryPlace
> {
  const pages = pseudonym === null
    // The index by event goes by time; an entry's time says where it stands there.
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

/** A report as its row has it. */
export interface StoredReport {
  readonly report_id: string;
  readonly position: number;
  /** Canonical JSON, as long as nobody altered it. */
  readonly report: string;
}

/** An organization's reports before a position of its chain, newest first. */
export function reportsQuery(
  orgId: string,
  { below, limit }: { readonly below: number | null; readonly limit: number },
): CompiledQuery<StoredReport> {
  const reports = query.selectFrom("compliance_report").select(["report_id", "position", "report"])
    .where("org_id", "=", orgId).orderBy("position", "desc").limit(limit);
  return (below === null ? reports : reports.where("position", "<", below)).compile();
}
