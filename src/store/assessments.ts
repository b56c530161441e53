/** Runs of the public demo: reads one by its session, finds and deletes those past their retention. */
import { type CompiledQuery, sql } from "kysely";
import { query, type Statement } from "./database.ts";
import type { AssessmentRow } from "./records.ts";

export function assessmentQuery(sessionId: string): CompiledQuery<AssessmentRow> {
  return query.selectFrom("assessment").selectAll().where("session_id", "=", sessionId).compile();
}

/** Runs created at or before an instant (epoch milliseconds), oldest first. */
export function oldAssessmentsQuery(
  { until, limit }: { readonly until: number; readonly limit: number },
): CompiledQuery<{ session_id: string }> {
  return query.selectFrom("assessment").select("session_id").where("created_at", "<=", until)
    .orderBy("created_at").limit(limit).compile();
}

/** Deletes these runs, except one whose session id was used again after `until`. */
export function deleteAssessments(sessionIds: readonly string[], until: number): Statement {
  return query.deleteFrom("assessment").where("created_at", "<=", until)
    .where(sql<boolean>`session_id in (select value from json_each(${JSON.stringify(sessionIds)}))`)
    .compile();
}
