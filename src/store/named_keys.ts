/** Rows of an organization's named keys. */
import { type CompiledQuery, type Insertable, type Selectable, sql } from "kysely";
import { heldColumn } from "./chains.ts";
import { compileOnce } from "./compile_once.ts";
import { type Database, query } from "./database.ts";
import { auditLog, keyIn, loadOnce, type RecordKind } from "./records.ts";
import type { NamedKeyTable } from "./schema.ts";

/** A named key; its seal is absent until it is saved. */
export type NamedKeyRow = Omit<Selectable<NamedKeyTable>, "seal"> & Pick<Insertable<NamedKeyTable>, "seal">;

export const namedKeys: RecordKind<NamedKeyRow> = {
  name: "named_key",
  load: loadOnce((keys) =>
    query.selectFrom("named_key").selectAll().where(keyIn(["key_id"], keys)).compile()
  ),
  keyOf: (row) => [row.key_id],
  sealing: {
    values: (row) => [
      row.key_id,
      row.org_id,
      row.name,
      row.prefix,
      row.key_hash,
      row.pepper_id,
      row.scopes,
      row.created_at,
      row.expires_at,
      row.used_at,
    ],
    heldBy: auditLog,
  },
  save: compileOnce((row) =>
    query.insertInto("named_key").values(row).onConflict((conflict) =>
      conflict.column("key_id").doUpdateSet(({ ref }) => ({
        key_hash: ref("excluded.key_hash"),
        pepper_id: ref("excluded.pepper_id"),
        used_at: ref("excluded.used_at"),
        seal: ref("excluded.seal"),
      }))
    ).compile()
  ),
  remove: ([id]) => ({
    ...query.deleteFrom("named_key").where("key_id", "=", id!).compile(),
    impersonal: true,
  }),
};

/** The names of an organization's keys; there is no row if it has none. */
export interface NamedKeyNames {
  readonly org_id: string;
  /** A JSON array. */
  readonly names: string;
}

export const namedKeyNames: RecordKind<NamedKeyNames> = {
  name: "named_key_names",
  load: loadOnce((keys) =>
    query.selectFrom("named_key").select(["org_id", sql<string>`json_group_array(name)`.as("names")])
      .where(keyIn(["org_id"], keys)).groupBy("org_id").compile()
  ),
  keyOf: (row) => [row.org_id],
};

/** An organization's named keys, the oldest first. */
export function namedKeysQuery(orgId: string): CompiledQuery<NamedKeyRow> {
  return query.selectFrom("named_key").selectAll().where("org_id", "=", orgId)
    .orderBy("created_at").orderBy("key_id").compile();
}

/** A named key, with the set that the head of its organization's audit log holds. */
export type NamedKeyHolder = NamedKeyRow & { readonly held: Uint8Array | null };

/** The named key with a prefix; null if there is none. */
export async function readNamedKeyHolder(database: Database, prefix: string): Promise<NamedKeyHolder | null> {
  const [row] = await database.read(namedKeyHolderQuery({ prefix }));
  return row ?? null;
}

const namedKeyHolderQuery = compileOnce(({ prefix }: { readonly prefix: string }) =>
  query.selectFrom("named_key").selectAll().select(heldColumn("named_key")).where("prefix", "=", prefix)
    .compile()
);
