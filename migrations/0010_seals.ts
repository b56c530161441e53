/**
 * Schema 10: rows from which answers are made carry a seal, a MAC under a key that is not in the database.
 * Each chain's head holds the set of the rows that belong to it. A start seals the existing rows.
 */
import type { Migration } from "../src/store/migrate.ts";

/**
 * The current figures of an operator. They become ordinary columns: the definition of a computed column could
 * be altered in the file.
 */
const OPERATOR = `(
  org_id TEXT NOT NULL,
  operator_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (json_valid(state)),
  -- of the last interaction
  domain TEXT NOT NULL,
  -- the entry that the state is the state after
  prior_seq INTEGER NOT NULL,
  prior_hash BLOB NOT NULL CHECK (length(prior_hash) = 32),
  -- of the last interaction; -1 until it is sealed
  position INTEGER NOT NULL DEFAULT -1,
  jis REAL NOT NULL,
  n INTEGER NOT NULL,
  t0 INTEGER NOT NULL,
  t1 INTEGER NOT NULL,
  tcrit INTEGER,
  crit_count INTEGER NOT NULL,
  share_hs REAL NOT NULL,
  share_crit REAL NOT NULL,
  -- SHA-256 over the state and what else no figure shows
  digest BLOB CHECK (length(digest) = 32),
  seal BLOB CHECK (length(seal) = 16),
  PRIMARY KEY (org_id, operator_id),
  FOREIGN KEY (org_id, operator_id) REFERENCES subject (org_id, operator_id)
) STRICT`;

const FIGURES = "jis, n, t0, t1, tcrit, crit_count, share_hs, share_crit";

export const seals: Migration = {
  version: 10,
  name: "seals",
  statements: [
    `CREATE TABLE operator_new ${OPERATOR}`,
    `INSERT INTO operator_new (org_id, operator_id, state, domain, prior_seq, prior_hash, ${FIGURES})
      SELECT org_id, operator_id, state, domain, prior_seq, prior_hash, ${FIGURES} FROM operator`,
    `DROP TABLE operator`,
    `ALTER TABLE operator_new RENAME TO operator`,
    // Ordered by JIS, with all columns that the organization rule reads and the seal covers: one pass over
    // it.
    `CREATE INDEX operator_jis ON operator
      (org_id, jis, operator_id, domain, n, t0, t1, tcrit, crit_count, share_hs, share_crit, position, digest, seal)`,
    `CREATE INDEX operator_last ON operator (org_id, t1, operator_id)`,

    // The counts of a period are now differences between the running counts in its first and last row.
    `DROP TRIGGER interaction_comes`,
    `DROP TRIGGER interaction_goes`,
    `DROP TRIGGER interaction_stays`,
    `DROP TABLE operator_day`,
    // The operator's latest instant up to this interaction; it never decreases.
    `ALTER TABLE interaction ADD COLUMN t1 INTEGER NOT NULL DEFAULT 0`,
    // The position of the operator's previous interaction; NULL if there is none, or it was pruned before
    // this step.
    `ALTER TABLE interaction ADD COLUMN previous INTEGER`,
    // Running counts from the operator's first interaction: departed from the recommendation or referred;
    // referred.
    `ALTER TABLE interaction ADD COLUMN departed INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE interaction ADD COLUMN referred INTEGER NOT NULL DEFAULT 0`,
    // The positions of the entry that committed it later, and of its late label; NULL if there is none.
    `ALTER TABLE interaction ADD COLUMN commit_position INTEGER`,
    `ALTER TABLE interaction ADD COLUMN label_position INTEGER`,
    `ALTER TABLE interaction ADD COLUMN seal BLOB CHECK (length(seal) = 16)`,
    `DROP INDEX interaction_operator`,
    `CREATE INDEX interaction_operator ON interaction (org_id, operator_id, t1, position, jis)`,

    // The frozen calls of an operator are linked in the same way, and counted from the first one on.
    `ALTER TABLE skipped_interaction ADD COLUMN t0 INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE skipped_interaction ADD COLUMN t1 INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE skipped_interaction ADD COLUMN previous INTEGER`,
    `ALTER TABLE skipped_interaction ADD COLUMN n INTEGER NOT NULL DEFAULT 0`,
    `DROP INDEX skipped_interaction_time`,
    `DROP INDEX skipped_interaction_operator`,
    `CREATE INDEX skipped_interaction_operator ON skipped_interaction (org_id, operator_id, t1, position)`,
    // Each operator with frozen calls, with the values of the last of them; a start fills it.
    `CREATE TABLE frozen_operator (
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      operator_id TEXT NOT NULL,
      position INTEGER NOT NULL,
      n INTEGER NOT NULL,
      t0 INTEGER NOT NULL,
      t1 INTEGER NOT NULL,
      seal BLOB CHECK (length(seal) = 16),
      PRIMARY KEY (org_id, operator_id)
    ) WITHOUT ROWID, STRICT`,

    ...["installation", "subject", "skipped_interaction", "decision", "organization", "webhook"].map((
      table,
    ) => `ALTER TABLE ${table} ADD COLUMN seal BLOB CHECK (length(seal) = 16)`),

    ...["score_commit", "outcome_label", "score_batch"].map((table) =>
      `ALTER TABLE ${table} ADD COLUMN seal BLOB CHECK (length(seal) = 16)`
    ),

    // The set of the rows that belong to the chain, bound to its head; NULL until they are sealed.
    `ALTER TABLE audit_chain ADD COLUMN held BLOB CHECK (length(held) = 32)`,
  ],
};
