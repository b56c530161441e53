/** The installation's only row. */
import { type Selectable, sql } from "kysely";
import { type Database, query, type Statement } from "./database.ts";
import type { InstallationTable } from "./schema.ts";

export type StoredInstallation = Selectable<InstallationTable>;

/** The installation as it is stored; null if no start has created it yet. Does not check its seal. */
export async function readInstallation(database: Database): Promise<StoredInstallation | null> {
  const [row] = await database.read(query.selectFrom("installation").selectAll().compile());
  return row ?? null;
}

/** Resolves if the database answers. @throws what {@link Database.read} throws. */
export async function reachDatabase(database: Database): Promise<void> {
  await database.read(query.selectFrom("installation").select("id").compile());
}

/** Replaces the wrapped installation key, unless another process has replaced it since it was read. */
export function replaceInstallationKey(
  { before, after }: { readonly before: Uint8Array; readonly after: Uint8Array },
): Statement {
  return query.updateTable("installation").set({ wrapped_key: after }).where("wrapped_key", "=", before)
    .compile();
}

/** Records the id of the pepper under which new API keys are hashed. */
export function setPepper(pepperId: string): Statement {
  return query.updateTable("installation").set({ pepper_id: pepperId }).compile();
}

/** Writes the row as it is, which fails if the database takes no writes. */
export function rewriteInstallation(): Statement {
  return query.updateTable("installation").set({ id: sql`id` }).compile();
}
