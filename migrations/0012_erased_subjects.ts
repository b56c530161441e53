/** Schema 12: an index for looking up whether a pseudonym was erased, which happens wherever one is used. */
import type { Migration } from "../src/store/migrate.ts";

export const erasedSubjects: Migration = {
  version: 12,
  name: "erased_subjects",
  statements: [
    `CREATE INDEX audit_entry_erased ON audit_entry (subject) WHERE event_type = 'SUBJECT_ERASED'`,
  ],
};
