/**
 * Reads the records that the database attributes to an operator: entries by pseudonym, and rows by id. They
 * are not verified here.
 */
import { type CompiledQuery, sql } from "kysely";
import type { Part } from "../evidence/entry.ts";
import type { PartName } from "../evidence/hashes.ts";
import { type Database, query } from "./database.ts";
import type { RecordKind } from "./records.ts";

/** The tables whose rows stand for an operator's entries. */
export type RecordTable =
  | "interaction"
  | "skipped_interaction"
  | "decision"
  | "outcome_label"
  | "score_commit"
  | "score_batch"
  | "probe_draw";

/**
 * A row: its table, its id within the organization, its first position, and the number of positions that it
 * stands for.
 */
export type RowPlace = readonly [table: RecordTable, id: string, position: number, count: number];

/** An entry's place. */
export type EntryPlace = readonly [chain: string, seq: number];

export interface OperatorRecordsRow {
  readonly org_id: string;
  readonly operator_id: string;
  /** JSON of {@link EntryPlace}s: the entries of the operator's pseudonym in the evidence chains. */
  readonly entries: string;
  /** JSON of {@link RowPlace}s. A label and a commit belong to the operator of their session's score. */
  readonly rows: string;
}

export const operatorRecords: RecordKind<OperatorRecordsRow> = {
  name: "operator_records",
  load: (keys) =>
    sql<OperatorRecordsRow>`select value ->> 0 as org_id, value ->> 1 as operator_id, (
        select json_group_array(json_array(chain, seq)) from audit_entry where subject = (
          select pseudonym from subject where org_id = value ->> 0 and operator_id = value ->> 1)
          and chain in (select chain from audit_chain where family = 'org/' || (value ->> 0))
      ) as entries, (
        select json_group_array(json_array(name, id, position, count)) from (
          select 'interaction' as name, session_id as id, position, 1 as count from interaction
            where org_id = value ->> 0 and operator_id = value ->> 1
          union all select 'skipped_interaction', session_id, position, 1
            from skipped_interaction indexed by skipped_interaction_operator
            where org_id = value ->> 0 and operator_id = value ->> 1
          union all select 'decision', decision_id, position, 1 from decision indexed by decision_operator
            where org_id = value ->> 0 and operator_id = value ->> 1
          union all select 'score_batch', request_digest, first_position, count
            from score_batch indexed by score_batch_operator
            where org_id = value ->> 0 and operator_id = value ->> 1
          union all select 'probe_draw', session_id, position, 1 from probe_draw indexed by probe_draw_operator
            where org_id = value ->> 0 and operator_id = value ->> 1
          union all select 'outcome_label', l.session_id, l.position, 1 from interaction as i
            cross join outcome_label as l on l.org_id = i.org_id and l.session_id = i.session_id
            where i.org_id = value ->> 0 and i.operator_id = value ->> 1
          union all select 'score_commit', s.session_id, s.position, 1 from interaction as i
            cross join score_commit as s on s.org_id = i.org_id and s.session_id = i.session_id
            where i.org_id = value ->> 0 and i.operator_id = value ->> 1
        )) as rows from json_each(${keys})`.compile(query),
  keyOf: (row) => [row.org_id, row.operator_id],
};

/**
 * The end of a chain from an entry on, with the held parts of those entries that bear an operator's
 * pseudonym.
 */
export interface ChainTailRow {
  readonly chain: string;
  readonly first: string;
  readonly org_id: string;
  readonly operator_id: string;
  /** JSON of `[seq, body]`, in no order. */
  readonly entries: string;
  /** JSON of `[seq, name, salt in hexadecimal, data]`. */
  readonly parts: string;
}

export const chainTails: RecordKind<ChainTailRow> = {
  name: "chain_tail",
  load: (keys) =>
    sql<ChainTailRow>`select value ->> 0 as chain, value ->> 1 as first, value ->> 2 as org_id,
        value ->> 3 as operator_id, (
        select json_group_array(json_array(seq, body)) from audit_entry
          where chain = value ->> 0 and seq >= cast(value ->> 1 as integer)
      ) as entries, (
        select json_group_array(json_array(p.seq, p.name, hex(p.salt), p.data))
          from audit_entry as e cross join audit_part as p on p.chain = e.chain and p.seq = e.seq
          where e.chain = value ->> 0 and e.seq >= cast(value ->> 1 as integer) and p.data is not null
          and e.subject = (
            select pseudonym from subject where org_id = value ->> 2 and operator_id = value ->> 3)
      ) as parts from json_each(${keys})`.compile(query),
  keyOf: (row) => [row.chain, row.first, row.org_id, row.operator_id],
};

/** An entry as it is stored, and those of its parts that are held. */
export interface StoredText {
  readonly seq: number;
  /** The text that was hashed, unless somebody altered it. */
  readonly text: string;
  readonly parts: readonly Part[];
}

interface PartRow {
  readonly seq: number;
  readonly name: string;
  readonly salt: Uint8Array | null;
  readonly data: string | null;
}

/**
 * The stored entries of a chain at the given places, all of one state of the database. Does not check whether
 * they are intact.
 */
export async function readEntriesAt(
  database: Database,
  { chain, seqs }: { readonly chain: string; readonly seqs: readonly number[] },
): Promise<readonly StoredText[]> {
  const wanted = sql<boolean>`seq in (select value from json_each(${JSON.stringify(seqs)}))`;
  const entries: CompiledQuery<{ readonly seq: number; readonly body: string }> = query
    .selectFrom("audit_entry").select(["seq", "body"]).where("chain", "=", chain).where(wanted).orderBy("seq")
    .compile();
  const parts: CompiledQuery<PartRow> = query.selectFrom("audit_part").select(["seq", "name", "salt", "data"])
    .where("chain", "=", chain).where(wanted).compile();
  const [bodies, held] = await database.snapshot<[{ readonly seq: number; readonly body: string }, PartRow]>(
    [entries, parts],
  );
  const partsOf = Map.groupBy(held, ({ seq }) => seq);
  return bodies.map(({ seq, body }) => ({ seq, text: body, parts: heldParts(partsOf.get(seq) ?? []) }));
}

function heldParts(rows: readonly PartRow[]): readonly Part[] {
  return rows.flatMap(({ name, salt, data }) =>
    salt === null || data === null ? [] : [{ name: name as PartName, salt, text: data }]
  );
}

/** The entries of a chain's end, oldest first. */
export function tailEntries({ entries, parts }: ChainTailRow): readonly StoredText[] {
  const texts: readonly (readonly [number, string])[] = JSON.parse(entries);
  const rows = (JSON.parse(parts) as readonly (readonly [number, string, string, string])[]).map(
    ([seq, name, salt, data]) => ({ seq, name, salt: Uint8Array.fromHex(salt), data }),
  );
  const partsOf = Map.groupBy(rows, ({ seq }) => seq);
  return texts.toSorted(([first], [second]) => first - second)
    .map(([seq, text]) => ({ seq, text, parts: heldParts(partsOf.get(seq) ?? []) }));
}
