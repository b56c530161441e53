/** Windows of breaches that were recorded. A plan reads and writes them by {@link breachWindows}. */
import { query, type Statement } from "./database.ts";

/** Deletes the windows whose breach was recorded up to an instant, epoch milliseconds. */
export function deleteBreachWindowsUpTo(instant: number): Statement {
  return query.deleteFrom("breach_window").where("told_at", "<=", instant).compile();
}
