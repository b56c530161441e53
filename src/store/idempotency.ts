/** Answers to master calls. A plan reads and writes them by {@link idempotencyRecords}. */
import { query, type Statement } from "./database.ts";

/** Deletes the answers that were given up to an instant, epoch milliseconds. */
export function deleteAnswersUpTo(instant: number): Statement {
  return query.deleteFrom("idempotency").where("created_at", "<=", instant).compile();
}
