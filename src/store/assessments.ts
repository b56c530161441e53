/** Runs of the public demo: one by its name, and those that are past their time. */
import { type CompiledQuery, sql } from "kysely";
import { query, type Statement } from "./database.ts";
import type { AssessmentRow } from "./records.ts";

export function assessmentQuery(sessionId: string): CompiledQuery<AssessmentRow> {
  return query.selectFrom("assessment").selectAll().where("session_id", "=", sessionId).compile();
}

/** Those of an instant (epoch milliseconds) and before, the oldest first. */
export function oldAssessmentsQuery(
  { until, limit }: { readonly until: number; readonly limit: number },
): CompiledQuery<{ session_id: string }> {
  return query.selectFrom("assessment").select("session_id").where("created_at", "<=", until)
    .orderBy("created_at").limit(limit).compile();
}

/** A name that was used anew meanwhile is left alone. */
export function deleteAssessments(sessionIds: readonly string[], until: number): Statement {
  return query.deleteFrom("assessment").where("created_at", "<=", until)
    .where(sql<boolean>`session_id in (select value from json_each(${JSON.stringify(sessionIds)}))`)
    .compile();
}
