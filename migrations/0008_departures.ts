/** Schema 8: a report counts departures from their index only. */
import type { Migration } from "../src/store/migrate.ts";

export const departures: Migration = {
  version: 8,
  name: "departures",
  statements: [
    `DROP INDEX interaction_departed`,
    // Includes the column of its own condition: without it, each departure was looked up in the table.
    `CREATE INDEX interaction_departed ON interaction (org_id, operator_id, at, decision, departure)
      WHERE departure > 0 OR decision IN ('deferred', 'escalated')`,
  ],
};
