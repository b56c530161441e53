/** Rows of users' passkeys. */
import type { CompiledQuery, Insertable, Selectable } from "kysely";
import { compileOnce } from "./compile_once.ts";
import { query } from "./database.ts";
import { auditLog, keyIn, loadOnce, type RecordKind } from "./records.ts";
import type { PasskeyTable } from "./schema.ts";

/** A passkey; its seal is absent until it is saved. */
export type PasskeyRow = Omit<Selectable<PasskeyTable>, "seal"> & Pick<Insertable<PasskeyTable>, "seal">;

export const passkeys: RecordKind<PasskeyRow> = {
  name: "passkey",
  load: loadOnce((keys) =>
    query.selectFrom("passkey").selectAll().where(keyIn(["credential_id"], keys)).compile()
  ),
  keyOf: (row) => [row.credential_id],
  sealing: {
    values: (row) => [
      row.credential_id,
      row.org_id,
      row.user_id,
      row.name,
      row.public_key,
      row.counter,
      row.created_at,
      row.used_at,
    ],
    heldBy: auditLog,
  },
  save: compileOnce((row) =>
    query.insertInto("passkey").values(row).onConflict((conflict) =>
      conflict.column("credential_id").doUpdateSet(({ ref }) => ({
        counter: ref("excluded.counter"),
        used_at: ref("excluded.used_at"),
        seal: ref("excluded.seal"),
      }))
    ).compile()
  ),
  remove: ([id]) => query.deleteFrom("passkey").where("credential_id", "=", id!).compile(),
};

/** The passkeys of an organization's users, the oldest first. */
export function passkeysQuery(orgId: string): CompiledQuery<PasskeyRow> {
  return query.selectFrom("passkey").selectAll().where("org_id", "=", orgId)
    .orderBy("created_at").orderBy("credential_id").compile();
}
