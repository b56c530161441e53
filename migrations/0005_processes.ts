/**
 * Data that the programs over one database share: when a breach was last reported, and the service's pepper.
 */
import type { Migration } from "../src/store/migrate.ts";

export const processes: Migration = {
  version: 5,
  name: "processes",
  statements: [
    `CREATE TABLE breach_window (
      subject TEXT PRIMARY KEY,
      -- epoch milliseconds
      told_at INTEGER NOT NULL
    ) WITHOUT ROWID, STRICT`,

    // The pepper under which keys are hashed since the last start; NULL until a start has recorded it.
    `ALTER TABLE installation ADD COLUMN pepper_id TEXT`,
  ],
};
