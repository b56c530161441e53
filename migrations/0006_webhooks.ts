/** Destinations of events. */
import type { Migration } from "../src/store/migrate.ts";

export const webhooks: Migration = {
  version: 6,
  name: "webhooks",
  statements: [
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
  ],
};
