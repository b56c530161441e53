/**
 * Tables for administration: why and since when an organization is inactive, the pepper of its key, alerts,
 * demo runs.
 */
import type { Migration } from "../src/store/migrate.ts";

export const administration: Migration = {
  version: 4,
  name: "administration",
  statements: [
    // Epoch milliseconds by reason, for the current reasons.
    `ALTER TABLE organization ADD COLUMN inactive_since TEXT NOT NULL DEFAULT '{}'`,
    // The pepper that key_hash was made with; NULL if the hash is older than this step.
    `ALTER TABLE organization ADD COLUMN pepper_id TEXT`,

    `CREATE INDEX idempotency_age ON idempotency (created_at)`,

    `CREATE TABLE alert (
      alert_id TEXT PRIMARY KEY,
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      severity TEXT NOT NULL,
      kind TEXT NOT NULL,
      -- UTC, counted from 1970
      day INTEGER NOT NULL,
      detail TEXT NOT NULL CHECK (json_valid(detail)),
      created_at INTEGER NOT NULL,
      acknowledged INTEGER NOT NULL DEFAULT 0 CHECK (acknowledged IN (0, 1)),
      acknowledged_at INTEGER,
      UNIQUE (org_id, kind, day),
      CHECK ((acknowledged = 1) = (acknowledged_at IS NOT NULL))
    ) WITHOUT ROWID, STRICT`,
    `CREATE INDEX alert_open ON alert (created_at) WHERE acknowledged = 0`,

    // A run of the public demo; it belongs to no organization. With rowids, because its hundred records fill
    // several pages.
    `CREATE TABLE assessment (
      session_id TEXT PRIMARY KEY,
      request_digest BLOB NOT NULL CHECK (length(request_digest) = 32),
      request_id TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      records TEXT NOT NULL CHECK (json_valid(records)),
      -- what was computed from them, and is answered ever after
      summary TEXT NOT NULL CHECK (json_valid(summary)),
      results TEXT NOT NULL CHECK (json_valid(results))
    ) STRICT`,
    `CREATE INDEX assessment_age ON assessment (created_at)`,
  ],
};
