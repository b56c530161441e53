/**
 * Reads the rows of an organization that name an operator but stand for no single entry, page by page, each
 * with what must exist beside it. Each page is of one state of the database, with what belongs to it.
 */
import { type CompiledQuery, sql } from "kysely";
import { type Database, query } from "./database.ts";
import { readPages } from "./paging.ts";
import type { KeyedCallRow, ScoreBatchRow, SubjectRow } from "./records.ts";
import { listed } from "./listed.ts";

export function readSubjects(database: Database, orgId: string): AsyncGenerator<readonly SubjectRow[]> {
  const rows = query.selectFrom("subject").selectAll().where("org_id", "=", orgId).orderBy("operator_id");
  return readPages<SubjectRow>(
    database,
    (after, limit) =>
      (after === null ? rows : rows.where("operator_id", ">", after.operator_id)).limit(limit).compile(),
  );
}

/** The rows of subjects that have one of these pseudonyms. */
export function subjectsOfPseudonyms(
  orgId: string,
  pseudonyms: readonly string[],
): CompiledQuery<SubjectRow> {
  return query.selectFrom("subject").selectAll().where("org_id", "=", orgId)
    .where("pseudonym", "in", listed<string>(pseudonyms)).compile();
}

/** The pseudonyms that entries of the given families report as erased. */
export async function readErased(
  database: Database,
  families: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await database.read(
    query.selectFrom("audit_chain as c").innerJoin("audit_entry as e", "e.chain", "c.chain").select(
      "e.subject",
    )
      .where("c.family", "in", families).where("e.event_type", "in", ["SUBJECT_ERASED", "OPERATOR_ERASED"])
      .compile(),
  );
  return new Set(rows.flatMap(({ subject }) => (subject === null ? [] : [subject])));
}

/** Whether an organization has an operator's row without a row for the operator's pseudonym. */
export async function hasNamelessOperator(database: Database, orgId: string): Promise<boolean> {
  const rows = await database.read(
    sql<{ one: number }>`select 1 as one from operator as o where org_id = ${orgId} and not exists (
        select 1 from subject as s where s.org_id = o.org_id and s.operator_id = o.operator_id
      ) limit 1`.compile(query),
  );
  return rows.length > 0;
}

/** A batch, with the operator that the score at its first position names; null if there is none. */
export type PlacedBatch = ScoreBatchRow & { readonly scored: string | null };

export function readBatches(database: Database, orgId: string): AsyncGenerator<readonly PlacedBatch[]> {
  return readPages<PlacedBatch>(
    database,
    (after, limit) =>
      sql<PlacedBatch>`select b.*, (
          select case when json_valid(p.data) then p.data ->> '$.operator_id' end from audit_chain as c
          join audit_entry as e on e.chain = c.chain and e.seq = b.first_position - c.first_position
          join audit_part as p on p.chain = e.chain and p.seq = e.seq and p.name = 'input'
          where c.family = 'org/' || b.org_id and e.event_type = 'SCORE_COMPUTED'
        ) as scored from score_batch as b where b.org_id = ${orgId}
          and b.request_digest > ${after?.request_digest ?? ""}
        order by b.request_digest limit ${limit}`.compile(query),
    BATCHES_IN_PAGE,
  );
}

/** Batches in a page: for each, an input of some kilobytes is read. */
const BATCHES_IN_PAGE = 100;

/** A call with an Idempotency-Key, and whether the operator that it names is known. */
export type NamedCall = KeyedCallRow & { readonly is_known: number };

export async function* readKeyedCalls(
  database: Database,
  orgId: string,
): AsyncGenerator<readonly NamedCall[]> {
  const calls = query.selectFrom("keyed_call as k").selectAll("k")
    .select(
      sql<number>`exists (
        select 1 from subject as s where s.org_id = k.org_id and s.operator_id = k.operator_id)`.as(
        "is_known",
      ),
    )
    .where("k.org_id", "=", orgId).orderBy("k.operator_id").orderBy("k.name");
  const ofNobody = calls.where("k.operator_id", "is", null);
  yield* readPages<NamedCall>(
    database,
    (after, limit) =>
      (after === null ? ofNobody : ofNobody.where("k.name", ">", after.name)).limit(limit).compile(),
  );
  const named = calls.where("k.operator_id", "is not", null);
  yield* readPages<NamedCall>(
    database,
    (after, limit) =>
      (after === null
        ? named
        : named.where(sql<boolean>`(k.operator_id, k.name) > (${after.operator_id}, ${after.name})`))
        .limit(limit).compile(),
  );
}
