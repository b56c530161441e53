/** Rows of batches of scores. */
import { type CompiledQuery, sql } from "kysely";
import { type Database, query, type Statement } from "./database.ts";
import { readPages } from "./paging.ts";
import type { ScoreBatchRow } from "./records.ts";

/** A batch, with the operator that the score at its first position names; null if there is none. */
export type PlacedBatch = ScoreBatchRow & { readonly scored: string | null };

/** The batches of an organization, in the order of their digests, page by page. */
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

/** The first position and the operator of a batch of scores, from its row. */
export interface BatchPlace {
  readonly first_position: number;
  readonly operator_id: string;
}

/** The batches of an organization whose first position is in a range, both ends included. */
export function batchesQuery(
  orgId: string,
  [first, last]: readonly [first: number, last: number],
): CompiledQuery<BatchPlace> {
  return query.selectFrom("score_batch").select(["first_position", "operator_id"]).where("org_id", "=", orgId)
    .where("first_position", ">=", first).where("first_position", "<=", last).compile();
}

/** Deletes the batches of an organization whose first position is in a range, both ends included. */
export function deleteBatches(
  orgId: string,
  [first, last]: readonly [first: number, last: number],
): Statement {
  return query.deleteFrom("score_batch").where("org_id", "=", orgId)
    .where("first_position", ">=", first).where("first_position", "<=", last).compile();
}

/** Replaces the seal of a batch. */
export function setBatchSeal(
  { org_id, request_digest }: Pick<ScoreBatchRow, "org_id" | "request_digest">,
  seal: Uint8Array,
): Statement {
  return query.updateTable("score_batch").set({ seal }).where("org_id", "=", org_id)
    .where("request_digest", "=", request_digest).compile();
}
