/** Schema 17: an index over the entries of follow-up cases, so that one operator's cases are found without reading a chain. */
import type { Migration } from "../src/store/migrate.ts";

export const cases: Migration = {
  version: 17,
  name: "cases",
  statements: [
    `CREATE INDEX audit_entry_case ON audit_entry (subject) WHERE event_type IN ('CASE_OPENED', 'CASE_CHANGED')`,
  ],
};
