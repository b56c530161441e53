/** Reads over decisions that were scored. */
import { type Database, query } from "./database.ts";

/** The position of a decision's entry; null if the organization has no such decision. */
export async function positionOfDecision(
  database: Database,
  { orgId, decisionId }: { readonly orgId: string; readonly decisionId: string },
): Promise<number | null> {
  const [row] = await database.read(
    query.selectFrom("decision").select("position").where("org_id", "=", orgId)
      .where("decision_id", "=", decisionId).compile(),
  );
  return row?.position ?? null;
}
