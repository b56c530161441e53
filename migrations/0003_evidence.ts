/**
 * Tables for exporting evidence and for keeping it longer than the records that it is about: epochs of a
 * chain, the ladder of days, anchoring, signing keys, and the names of records that are gone.
 */
import type { Migration } from "../src/store/migrate.ts";

/**
 * Tables whose `seq` becomes a `position`: a record's place counted over all epochs of its chain. It stays
 * unique and in order if a restored database continues with a new chain.
 */
const PLACED = [
  "interaction",
  "skipped_interaction",
  "score_commit",
  "outcome_label",
  "decision",
  "compliance_report",
];

export const evidence: Migration = {
  version: 3,
  name: "evidence",
  statements: [
    // The chain of epoch 1; the same for all epochs.
    `ALTER TABLE audit_chain ADD COLUMN family TEXT NOT NULL DEFAULT ''`,
    `UPDATE audit_chain SET family = chain`,
    `CREATE UNIQUE INDEX audit_chain_epoch ON audit_chain (family, epoch)`,
    // The position of the chain's first entry.
    `ALTER TABLE audit_chain ADD COLUMN first_position INTEGER NOT NULL DEFAULT 0`,
    // Ordinal of the chain's signing key: 1, or the one that its newest SIGNING_KEY_ROTATED names.
    `ALTER TABLE audit_chain ADD COLUMN key_ordinal INTEGER NOT NULL DEFAULT 1`,
    // The size of the newest checkpoint that the system chain holds.
    `ALTER TABLE audit_chain ADD COLUMN anchored_size INTEGER NOT NULL DEFAULT 0`,

    // The last size of each day: there, a chain can be cut and an old checkpoint can be linked to a newer
    // one.
    `CREATE TABLE audit_ladder (
      chain TEXT NOT NULL REFERENCES audit_chain (chain),
      size INTEGER NOT NULL,
      -- of the last entry below it
      ts TEXT NOT NULL CHECK (length(ts) = 24),
      PRIMARY KEY (chain, size)
    ) WITHOUT ROWID, STRICT`,

    `ALTER TABLE audit_entry ADD COLUMN subject TEXT GENERATED ALWAYS AS (body ->> '$.subject') VIRTUAL`,
    `CREATE INDEX audit_entry_subject ON audit_entry (subject) WHERE subject IS NOT NULL`,

    `CREATE TABLE signing_key (
      -- 1, 2, 3 …
      ordinal INTEGER PRIMARY KEY,
      public_key BLOB NOT NULL UNIQUE CHECK (length(public_key) = 32),
      -- signed by this key and the one before it; NULL for the first
      certificate TEXT,
      -- sizes of the system chain, over its epochs: the first that it signs, and the last; NULL while it may sign
      from_size INTEGER NOT NULL,
      until_size INTEGER
    ) STRICT`,

    // The mark of a used name: an HMAC under the installation key, which does not reveal the name.
    `CREATE TABLE tombstone (
      name BLOB PRIMARY KEY CHECK (length(name) = 32),
      reason TEXT NOT NULL CHECK (reason IN ('erased', 'pruned')),
      -- the entry that tells of it
      chain TEXT NOT NULL,
      seq INTEGER NOT NULL,
      entry_hash BLOB NOT NULL CHECK (length(entry_hash) = 32)
    ) WITHOUT ROWID, STRICT`,

    ...PLACED.map((table) => `ALTER TABLE ${table} RENAME COLUMN seq TO position`),
    `ALTER TABLE score_batch RENAME COLUMN first_seq TO first_position`,
    `CREATE INDEX decision_operator ON decision (org_id, operator_id)`,
    `CREATE INDEX skipped_interaction_operator ON skipped_interaction (org_id, operator_id)`,
    `CREATE INDEX score_batch_operator ON score_batch (org_id, operator_id)`,

    // NULL if evidence is kept for good.
    `ALTER TABLE installation ADD COLUMN evidence_retention_days INTEGER`,
  ],
};
