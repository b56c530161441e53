/** Lists of values in a query. */
import { type RawBuilder, sql } from "kysely";

/** `x IN (…)` with one SQL text, however many values there are. */
export function listed<Value extends string | number>(values: readonly Value[]): RawBuilder<Value> {
  return sql<Value>`(select value from json_each(${JSON.stringify(values)}))`;
}
