/** What the programs over one database must know of each other: when a breach was last told, and the service's pepper. */
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

    // That keys are hashed with since the last start; NULL until one has recorded it.
    `ALTER TABLE installation ADD COLUMN pepper_id TEXT`,
  ],
};
