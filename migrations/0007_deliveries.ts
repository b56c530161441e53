/** Events for destinations, and each delivery of an event with its attempts. */
import type { Migration } from "../src/store/migrate.ts";

export const deliveries: Migration = {
  version: 7,
  name: "deliveries",
  statements: [
    // The last event that was turned into a delivery or skipped, and the results of the last attempts.
    `ALTER TABLE webhook ADD COLUMN cursor INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE webhook ADD COLUMN failures INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE webhook ADD COLUMN failing_since INTEGER`,
    `ALTER TABLE webhook ADD COLUMN paused_at INTEGER`,
    `ALTER TABLE webhook ADD COLUMN probe_at INTEGER`,
    `ALTER TABLE webhook ADD COLUMN last_delivery TEXT`,
    // One row for an event, however many destinations there are. A sequence is never reused, because cursors
    // hold it.
    `CREATE TABLE webhook_event (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT,
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      operator_id TEXT NOT NULL,
      event TEXT NOT NULL,
      -- of the entry in the organization's evidence chain, over its epochs
      position INTEGER NOT NULL,
      request_id TEXT NOT NULL,
      at INTEGER NOT NULL
    ) STRICT`,
    `CREATE INDEX webhook_event_organization ON webhook_event (org_id, sequence)`,
    `CREATE TABLE webhook_delivery (
      delivery_id TEXT PRIMARY KEY,
      webhook_id TEXT NOT NULL REFERENCES webhook (webhook_id) ON DELETE CASCADE,
      -- null: a ping, or the event's record is gone
      sequence INTEGER REFERENCES webhook_event (sequence),
      event TEXT NOT NULL,
      request_id TEXT NOT NULL,
      at INTEGER NOT NULL,
      redelivery_of TEXT,
      status TEXT NOT NULL CHECK (status IN ('queued', 'delivered', 'dead', 'cancelled')),
      -- attempts that count towards the three
      counted INTEGER NOT NULL,
      attempts TEXT NOT NULL CHECK (json_valid(attempts)),
      created_at INTEGER NOT NULL,
      finished_at INTEGER,
      next_at INTEGER NOT NULL,
      lease TEXT,
      lease_until INTEGER NOT NULL
    ) WITHOUT ROWID, STRICT`,
    `CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook_id, next_at) WHERE status = 'queued'`,
    `CREATE INDEX webhook_delivery_newest ON webhook_delivery (webhook_id, created_at)`,
    `CREATE INDEX webhook_delivery_event ON webhook_delivery (sequence)`,
    `CREATE INDEX webhook_delivery_lease ON webhook_delivery (lease) WHERE lease IS NOT NULL`,
  ],
};
