/** Pages of an organization's record, newest first: walks along an index, as many steps as a page has rows. */
import { type CompiledQuery, sql } from "kysely";
import type { Decision, Domain } from "../domain/enums.ts";
import { query } from "./database.ts";

export interface ScoredEntry {
  readonly seq: number;
  readonly event_type: string;
  readonly ts: string;
  readonly id: string;
  readonly operator_id: string;
  readonly domain: Domain;
  readonly decision: Decision;
  /** Of a score. */
  readonly jis: number | null;
  readonly band: string | null;
  /** Of a decision. */
  readonly decision_risk_score: number | null;
  readonly routing_decision: string | null;
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

/** The newest entries of a page, whose parts still stand; newest first for each kind of event. */
export function scoredEntriesQuery({ chain, eventTypes, pseudonym, below, limit }: EntryPage): CompiledQuery<
  ScoredEntry
> {
  const pages = pseudonym === null
    // The index by event goes by time; an entry's time says where it stands there.
    ? eventTypes.map((type) =>
      sql`select * from (select chain, seq, event_type, ts from audit_entry
        where chain = ${chain} and event_type = ${type}
          and (ts, seq) < (select max(ts), ${below} from audit_entry where chain = ${chain} and seq = ${
        below - 1
      })
        order by ts desc, seq desc limit ${limit})`
    )
    : [
      sql`select * from (select chain, seq, event_type, ts from audit_entry
        where subject = ${pseudonym} and chain = ${chain} and seq < ${below}
          and event_type in (select value from json_each(${JSON.stringify(eventTypes)}))
        order by seq desc limit ${limit})`,
    ];
  const part = (name: string) =>
    sql`audit_part as ${sql.ref(name)} on ${sql.ref(`${name}.chain`)} = e.chain
      and ${sql.ref(`${name}.seq`)} = e.seq and ${sql.ref(`${name}.name`)} = ${sql.lit(name)}`;
  return sql<ScoredEntry>`select e.seq, e.event_type, e.ts,
      coalesce(result.data ->> 'session_id', result.data ->> 'decision_id') as id,
      result.data ->> 'operator_id' as operator_id, input.data ->> 'domain' as domain,
      input.data ->> '$.interaction.decision' as decision,
      result.data ->> 'jis' as jis, result.data ->> 'band' as band,
      result.data ->> 'decision_risk_score' as decision_risk_score,
      result.data ->> 'routing_decision' as routing_decision
    from (${sql.join(pages, sql` union all `)}) as e
      left join ${part("input")} left join ${part("result")}
    order by e.seq desc limit ${limit}`.compile(query);
}

export interface ListedReport {
  readonly report_id: string;
  readonly position: number;
  readonly issued_at: string | null;
  readonly start: string;
  readonly end: string;
  readonly overall_status: string;
  readonly status_certain: number;
}

/** An organization's reports before a position of its chain, newest first. */
export function reportsQuery(
  orgId: string,
  { family, below, limit }: {
    readonly family: string;
    readonly below: number | null;
    readonly limit: number;
  },
): CompiledQuery<ListedReport> {
  return sql<ListedReport>`select report_id, page.position,
      (select ts from audit_chain as c join audit_entry as e
          on e.chain = c.chain and e.seq = page.position - c.first_position
        where c.family = ${family} and c.first_position <= page.position
        order by c.epoch desc limit 1) as issued_at,
      report ->> '$.period.start' as start, report ->> '$.period.end' as end,
      report ->> 'overall_status' as overall_status, report ->> 'status_certain' as status_certain
    from (select report_id, position from compliance_report
      where org_id = ${orgId} and (${below} is null or position < ${below})
      order by position desc limit ${limit}) as page
    join compliance_report using (report_id) order by page.position desc`.compile(query);
}
