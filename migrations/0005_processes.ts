/** What the programs over one database must know of each other: when a breach was last told, and the service's pepper; webhook destinations. */
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

    `CREATE TABLE webhook (
      webhook_id TEXT PRIMARY KEY,
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      url TEXT NOT NULL,
      -- separated by single spaces
      events TEXT NOT NULL,
      active INTEGER NOT NULL CHECK (active IN (0, 1)),
      wrapped_secret BLOB NOT NULL,
      created_at INTEGER NOT NULL
    ) WITHOUT ROWID, STRICT`,
    `CREATE INDEX webhook_organization ON webhook (org_id)`,

    // That keys are hashed with since the last start; NULL until one has recorded it.
    `ALTER TABLE installation ADD COLUMN pepper_id TEXT`,
  ],
};
