/** Schema 16: an index over the entries that users made, so that the audit log can show them without reading a chain. */
import type { Migration } from "../src/store/migrate.ts";

export const userEntries: Migration = {
  version: 16,
  name: "user_entries",
  statements: [
    // The version of a user's entry is the last member of its canonical JSON.
    `CREATE INDEX audit_entry_user ON audit_entry (chain, ts, seq) WHERE substr(body, -18) = '"v":"jis.audit/2"}'`,
  ],
};
