/** Model documents: every one that was ever used, under its hash. None is checked against its hash here. */
import { type Database, query, type Statement } from "./database.ts";
import type { ModelDocumentRow } from "./records.ts";

/** The text of the document of a hash; null if there is none. */
export async function readModelDocument(database: Database, sha256: string): Promise<string | null> {
  const [row] = await database.read(
    query.selectFrom("model_document").select("document").where("sha256", "=", sha256).compile(),
  );
  return row?.document ?? null;
}

/** The documents that came into use up to an instant (epoch milliseconds), newest first. */
export async function readModelDocumentsUpTo(
  database: Database,
  instant: number,
): Promise<readonly Pick<ModelDocumentRow, "sha256" | "document">[]> {
  return await database.read(
    query.selectFrom("model_document").select(["sha256", "document"]).where("first_used_at", "<=", instant)
      .orderBy("first_used_at", "desc").compile(),
  );
}

/** Every document, ordered by its hash. */
export async function readModelDocuments(
  database: Database,
): Promise<readonly Pick<ModelDocumentRow, "sha256" | "document">[]> {
  return await database.read(
    query.selectFrom("model_document").select(["sha256", "document"]).orderBy("sha256").compile(),
  );
}

/** Stores a document in the place of the text that is stored under its hash. */
export function replaceModelDocument(row: ModelDocumentRow): Statement {
  const { document } = row;
  return query.insertInto("model_document").values(row)
    .onConflict((conflict) => conflict.column("sha256").doUpdateSet({ document })).compile();
}
