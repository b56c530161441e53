/**
 * Tables for reports, dashboards and usage: fuller interaction rows, commits, late labels, batches,
 * decisions, reports and usage counters. Adds the audit retention that was last in force.
 */
import type { Migration } from "../src/store/migrate.ts";

/**
 * One score. The values from `jis` on are full-mode values of the operator's state after it, in lite mode
 * too. In rows that this step copies, `low` and `high` are taken from the answer: in lite mode they are lite
 * values.
 */
const INTERACTION = `(
  org_id TEXT NOT NULL REFERENCES organization (org_id),
  session_id TEXT NOT NULL,
  operator_id TEXT NOT NULL,
  request_digest BLOB NOT NULL CHECK (length(request_digest) = 32),
  request_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  domain TEXT NOT NULL,
  decision TEXT NOT NULL,
  scenario_type TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('full', 'lite')),
  -- share of the recommendation that was departed from, 0 to 1
  departure REAL NOT NULL,
  seq INTEGER NOT NULL,
  -- at scoring; a later commit has its own row
  committed INTEGER NOT NULL CHECK (committed IN (0, 1)),
  jis REAL NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL,
  d1 INTEGER NOT NULL, d2 INTEGER NOT NULL, d3 INTEGER NOT NULL, d4 INTEGER NOT NULL,
  d5 INTEGER NOT NULL, d6 INTEGER NOT NULL, d7 INTEGER NOT NULL,
  mean_c REAL NOT NULL,
  n INTEGER NOT NULL,
  t0 INTEGER NOT NULL,
  ground_truth INTEGER NOT NULL,
  tcrit INTEGER,
  crit_count INTEGER NOT NULL,
  share_hs REAL NOT NULL,
  share_crit REAL NOT NULL,
  PRIMARY KEY (org_id, session_id)
) WITHOUT ROWID, STRICT`;

export const surface: Migration = {
  version: 2,
  name: "surface",
  statements: [
    `CREATE TABLE interaction_new ${INTERACTION}`,
    // The state after a score is the state before the operator's next score, or the operator's current state.
    `INSERT INTO interaction_new
      SELECT org_id, session_id, operator_id, request_digest, request_id, at, domain, decision, scenario_type, mode,
        departure, seq, committed, jis, low, high, d1, d2, d3, d4, d5, d6, d7, mean_c,
        after ->> '$.n', after ->> '$.t0', after ->> '$.cnt.truth', after ->> '$.tcrit', after ->> '$.cnt.crit',
        after ->> '$.share.hs', after ->> '$.share.crit'
      FROM (
        SELECT i.*, input.data ->> '$.weights.s' AS departure,
          result.data ->> '$.uncertainty.low' AS low, result.data ->> '$.uncertainty.high' AS high,
          coalesce(
            lead(input.data -> '$.state') OVER (PARTITION BY i.org_id, i.operator_id ORDER BY i.seq),
            operator.state
          ) AS after
        FROM interaction AS i
        JOIN operator ON operator.org_id = i.org_id AND operator.operator_id = i.operator_id
        JOIN audit_part AS input
          ON input.chain = 'org/' || i.org_id AND input.seq = i.seq AND input.name = 'input'
        JOIN audit_part AS result
          ON result.chain = 'org/' || i.org_id AND result.seq = i.seq AND result.name = 'result'
      )`,
    `DROP TABLE interaction`,
    `ALTER TABLE interaction_new RENAME TO interaction`,
    // Covers a history, a sparkline and the last record of a period, so that none of them reads the table.
    `CREATE INDEX interaction_operator ON interaction (org_id, operator_id, at, seq, jis)`,
    `CREATE INDEX interaction_departed ON interaction (org_id, operator_id, at, decision)
      WHERE departure > 0 OR decision IN ('deferred', 'escalated')`,
    `CREATE INDEX skipped_interaction_time ON skipped_interaction (org_id, at)`,

    // Ordered by JIS, with all columns that the organization rule reads: the dashboard takes one pass over
    // it.
    `CREATE INDEX operator_jis
      ON operator (org_id, jis, operator_id, domain, n, t0, t1, tcrit, crit_count, share_hs, share_crit)`,
    `CREATE INDEX operator_last ON operator (org_id, t1, operator_id)`,

    `CREATE TABLE score_commit (
      org_id TEXT NOT NULL,
      session_id TEXT NOT NULL,
      request_id TEXT NOT NULL,
      at INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (org_id, session_id),
      FOREIGN KEY (org_id, session_id) REFERENCES interaction (org_id, session_id)
    ) WITHOUT ROWID, STRICT`,

    // The ground truth of a case that was scored without it.
    `CREATE TABLE outcome_label (
      org_id TEXT NOT NULL,
      session_id TEXT NOT NULL,
      outcome_correct INTEGER NOT NULL CHECK (outcome_correct IN (0, 1)),
      request_id TEXT NOT NULL,
      at INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (org_id, session_id),
      FOREIGN KEY (org_id, session_id) REFERENCES interaction (org_id, session_id)
    ) WITHOUT ROWID, STRICT`,

    // A batch that was answered, so that the same batch again gets the same answer.
    `CREATE TABLE score_batch (
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      -- hexadecimal
      request_digest TEXT NOT NULL CHECK (length(request_digest) = 64),
      request_id TEXT NOT NULL,
      at INTEGER NOT NULL,
      operator_id TEXT NOT NULL,
      -- its entries follow one another on the chain
      first_seq INTEGER NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (org_id, request_digest)
    ) WITHOUT ROWID, STRICT`,

    // Shares its ids with interaction.session_id. The head of the chain keeps two writers from using one id.
    `CREATE TABLE decision (
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      decision_id TEXT NOT NULL,
      operator_id TEXT NOT NULL,
      request_digest BLOB NOT NULL CHECK (length(request_digest) = 32),
      request_id TEXT NOT NULL,
      at INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (org_id, decision_id)
    ) WITHOUT ROWID, STRICT`,

    `CREATE TABLE compliance_report (
      report_id TEXT PRIMARY KEY,
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      -- of everything that it says, its period included, but its id
      content_sha256 TEXT NOT NULL CHECK (length(content_sha256) = 64),
      seq INTEGER NOT NULL,
      -- canonical JSON
      report TEXT NOT NULL,
      UNIQUE (org_id, content_sha256)
    ) STRICT`,

    // Scores by organization and time only: erasing an operator does not lower a usage figure.
    `CREATE TABLE usage_hour (
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      -- epoch hours
      hour INTEGER NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (org_id, hour)
    ) WITHOUT ROWID, STRICT`,
    `CREATE TABLE usage_instant (
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      at INTEGER NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (org_id, at)
    ) WITHOUT ROWID, STRICT`,
    `INSERT INTO usage_hour SELECT org_id, at / 3600000, count(*) FROM interaction GROUP BY 1, 2`,
    `INSERT INTO usage_instant SELECT org_id, at, count(*) FROM interaction GROUP BY 1, 2`,
    // Deletes instants that are too old to be in an edge hour of the 30-day window.
    `CREATE TRIGGER usage_hour_begins AFTER INSERT ON usage_hour
      BEGIN DELETE FROM usage_instant WHERE org_id = NEW.org_id AND at < (NEW.hour - 31 * 24) * 3600000; END`,

    // NULL until a start has recorded it
    `ALTER TABLE installation ADD COLUMN audit_retention_days INTEGER`,
  ],
};
