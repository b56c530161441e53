/**
 * Selects the entries on a page of an organization's record, newest first. Reads an index, with as many steps
 * as the page has rows. The content is read from the entries once they are proven.
 */
import { type CompiledQuery, sql } from "kysely";
import type { Decision, ScenarioType } from "../domain/enums.ts";
import { query } from "./database.ts";
import { listed } from "./value_list.ts";

/** The seq of an entry in its chain. */
export interface EntryPlace {
  readonly seq: number;
}

export interface EntryPage {
  readonly chain: string;
  readonly eventTypes: readonly string[];
  /** Pseudonym whose entries are selected; null for all. */
  readonly pseudonym: string | null;
  /** Instants as entries have them: the first that is selected, and the first after it that is not; null if open. */
  readonly since?: string | null;
  readonly until?: string | null;
  /** Only entries with a smaller seq. */
  readonly below: number;
  readonly limit: number;
}

/** Seqs of the entries on a page, newest first, as the columns have them. */
export function scoredEntriesQuery(
  { chain, eventTypes, pseudonym, since = null, until = null, below, limit }: EntryPage,
): CompiledQuery<EntryPlace> {
  const fromStart = since === null ? sql`` : sql`and ts >= ${since}`;
  // One comparison bounds the walk from above, by whichever comes first: a second one would be tested entry by entry.
  const end = until === null
    ? sql`max(ts), ${below}`
    : sql`min(max(ts), ${until}), iif(${until} <= max(ts), -1, ${below})`;
  const pages = pseudonym === null
    // The index by event is sorted by time, so the time of the last entry before `below` says where to start.
    ? eventTypes.map((type) =>
      sql`select * from (select seq from audit_entry
        where chain = ${chain} and event_type = ${type}
          and (ts, seq) < (select ${end} from audit_entry where chain = ${chain} and seq = ${below - 1})
          ${fromStart}
        order by ts desc, seq desc limit ${limit})`
    )
    : [
      sql`select * from (select seq from audit_entry
        where subject = ${pseudonym} and chain = ${chain} and seq < ${below}
          and event_type in (select value from json_each(${JSON.stringify(eventTypes)}))
          ${fromStart} ${until === null ? sql`` : sql`and ts < ${until}`}
        order by seq desc limit ${limit})`,
    ];
  return sql<EntryPlace>`select seq from (${sql.join(pages, sql` union all `)})
    order by seq desc limit ${limit}`.compile(query);
}

/** A score that nobody has labelled, as its row and its record say. It is not checked whether they are intact. */
export interface UnlabelledPlace extends EntryPlace {
  readonly session_id: string;
  readonly decision: Decision;
  readonly scenario_type: ScenarioType;
}

/**
 * Those of the given entries of scores that may still be labelled: the truth was neither known at scoring nor given since. Takes
 * two look-ups for each entry, and reads its input.
 */
export function unlabelledQuery(
  orgId: string,
  { chain, seqs }: { readonly chain: string; readonly seqs: readonly number[] },
): CompiledQuery<UnlabelledPlace> {
  return sql<UnlabelledPlace>`select p.seq, i.session_id, i.decision, i.scenario_type
    from ${listed<number>(seqs)} as place
    cross join audit_part as p on p.chain = ${chain} and p.seq = place.value and p.name = 'input'
    cross join interaction as i on i.org_id = ${orgId}
      and i.session_id = case when json_valid(p.data) then p.data ->> '$.session_id' end
    where i.label_position is null and i.scenario_type <> 'error_injected'
      and case when json_valid(p.data) then p.data ->> '$.interaction.outcome_correct' is null end`
    .compile(query);
}
