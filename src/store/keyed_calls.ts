/** Rows of calls with an Idempotency-Key. A plan reads and replaces them by {@link keyedCalls}. */
import { sql } from "kysely";
import { type Database, query, type Statement } from "./database.ts";
import { readPages } from "./paging.ts";
import type { KeyedCallRow } from "./records.ts";

/** The call of a name; null if there is none. Does not check its seal. */
export async function readKeyedCall(database: Database, name: Uint8Array): Promise<KeyedCallRow | null> {
  const [row] = await database.read(
    query.selectFrom("keyed_call").selectAll().where("name", "=", name).compile(),
  );
  return row ?? null;
}

/** A call with an Idempotency-Key, and whether the operator that it names is known. */
export type NamedCall = KeyedCallRow & { readonly is_known: number };

/** The calls of an organization, page by page: first those about nobody. */
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

/** Deletes the call of a name. */
export function deleteKeyedCall(name: Uint8Array): Statement {
  return query.deleteFrom("keyed_call").where("name", "=", name).compile();
}

/** Deletes the calls that are stored for an operator. */
export function deleteKeyedCallsOf(
  [orgId, operatorId]: readonly [orgId: string, operatorId: string],
): Statement {
  return query.deleteFrom("keyed_call").where("org_id", "=", orgId).where("operator_id", "=", operatorId)
    .compile();
}

/** Whether a call was made up to an instant, epoch milliseconds. */
export async function hasKeyedCallsUpTo(database: Database, instant: number): Promise<boolean> {
  return (await database.read(oldestCalls(instant, 1).compile())).length > 0;
}

/** Deletes the oldest calls that were made up to an instant, epoch milliseconds. */
export function deleteKeyedCallsUpTo(instant: number, limit: number): Statement {
  return query.deleteFrom("keyed_call").where("name", "in", oldestCalls(instant, limit)).compile();
}

function oldestCalls(instant: number, limit: number) {
  return query.selectFrom("keyed_call").select("name").where("at", "<=", instant).orderBy("at").limit(limit);
}
