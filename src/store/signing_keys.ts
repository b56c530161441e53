/** The table of signing keys, as it stands: nothing here checks whether certificates prove its rows. */
import type { CompiledQuery } from "kysely";
import { type Database, query, type Statement } from "./database.ts";
import type { SigningKeyRow } from "./records.ts";

/** The query for all signing keys, oldest first. Every commit reads them, so it is compiled once. */
export const SIGNING_KEYS_QUERY: CompiledQuery<SigningKeyRow> = query.selectFrom("signing_key").selectAll()
  .orderBy("ordinal").compile();

/** All signing keys, oldest first. */
export function readSigningKeys(database: Database): Promise<readonly SigningKeyRow[]> {
  return database.read(SIGNING_KEYS_QUERY);
}

/** Inserts the row of a key. */
export function insertSigningKey(row: SigningKeyRow): Statement {
  return query.insertInto("signing_key").values(row).compile();
}

/** Inserts the key that a log begins with. */
export function insertFirstKey(publicKey: Uint8Array): Statement {
  return insertSigningKey({
    ordinal: 1,
    public_key: publicKey,
    certificate: null,
    from_size: 0,
    until_size: null,
  });
}

/** Retires the keys before an ordinal that are not retired yet: they sign no size beyond `untilSize`. */
export function retireKeysBefore(ordinal: number, untilSize: number): Statement {
  return query.updateTable("signing_key").set({ until_size: untilSize }).where("ordinal", "<", ordinal)
    .where("until_size", "is", null).compile();
}

/** Replaces all rows of the table. */
export function replaceSigningKeys(rows: readonly SigningKeyRow[]): readonly Statement[] {
  return [query.deleteFrom("signing_key").compile(), ...rows.map(insertSigningKey)];
}
