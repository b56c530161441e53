/** Organizations and their keys, operators, interactions, and the three kinds of evidence chain. */
import type { Migration } from "../src/store/migrate.ts";

export const initial: Migration = {
  version: 1,
  name: "initial",
  statements: [
    `CREATE TABLE installation (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      deployment_id TEXT NOT NULL,
      -- 32 bytes under which request digests are made, wrapped under the secrets key
      wrapped_key BLOB NOT NULL,
      model_sha256 TEXT NOT NULL REFERENCES model_document (sha256),
      created_at INTEGER NOT NULL
    ) STRICT`,

    `CREATE TABLE model_document (
      sha256 TEXT PRIMARY KEY CHECK (length(sha256) = 64),
      document TEXT NOT NULL,
      first_used_at INTEGER NOT NULL
    ) WITHOUT ROWID, STRICT`,

    `CREATE TABLE organization (
      org_id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      domain TEXT NOT NULL,
      tier TEXT NOT NULL CHECK (tier IN ('starter', 'standard', 'enterprise')),
      allowed_origins TEXT NOT NULL,
      -- a set, as a JSON array in alphabetical order; the organization is active when it is empty
      inactive_reasons TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(inactive_reasons)),
      active INTEGER NOT NULL GENERATED ALWAYS AS (inactive_reasons = '[]') STORED,
      prefix TEXT UNIQUE CHECK (length(prefix) = 8),
      key_hash BLOB CHECK (length(key_hash) = 32),
      api_key_version INTEGER NOT NULL,
      api_key_rotated_at INTEGER,
      created_at INTEGER NOT NULL,
      CHECK ((prefix IS NULL) = (key_hash IS NULL))
    ) WITHOUT ROWID, STRICT`,

    `CREATE TABLE organization_origin (
      origin TEXT NOT NULL,
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      PRIMARY KEY (origin, org_id)
    ) WITHOUT ROWID, STRICT`,

    // The only table that links an operator's id to the pseudonym in the chain: deleting a row deletes the
    // link.
    `CREATE TABLE subject (
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      operator_id TEXT NOT NULL,
      pseudonym TEXT NOT NULL CHECK (length(pseudonym) = 32),
      PRIMARY KEY (org_id, operator_id)
    ) WITHOUT ROWID, STRICT`,

    `CREATE TABLE operator (
      org_id TEXT NOT NULL,
      operator_id TEXT NOT NULL,
      state TEXT NOT NULL CHECK (json_valid(state)),
      -- of the last interaction
      domain TEXT NOT NULL,
      -- the entry that the state is the state after
      prior_seq INTEGER NOT NULL,
      prior_hash BLOB NOT NULL CHECK (length(prior_hash) = 32),
      jis REAL NOT NULL GENERATED ALWAYS AS (state ->> '$.jis') STORED,
      n INTEGER NOT NULL GENERATED ALWAYS AS (state ->> '$.n') STORED,
      t0 INTEGER NOT NULL GENERATED ALWAYS AS (state ->> '$.t0') STORED,
      t1 INTEGER NOT NULL GENERATED ALWAYS AS (state ->> '$.t1') STORED,
      tcrit INTEGER GENERATED ALWAYS AS (state ->> '$.tcrit') STORED,
      crit_count INTEGER NOT NULL GENERATED ALWAYS AS (state ->> '$.cnt.crit') STORED,
      share_hs REAL NOT NULL GENERATED ALWAYS AS (state ->> '$.share.hs') STORED,
      share_crit REAL NOT NULL GENERATED ALWAYS AS (state ->> '$.share.crit') STORED,
      PRIMARY KEY (org_id, operator_id),
      FOREIGN KEY (org_id, operator_id) REFERENCES subject (org_id, operator_id)
    ) STRICT`,

    // One score. jis, d1 to d7 and mean_c are full-mode values after the interaction, in lite mode too.
    `CREATE TABLE interaction (
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
      seq INTEGER NOT NULL,
      committed INTEGER NOT NULL CHECK (committed IN (0, 1)),
      jis REAL NOT NULL,
      d1 INTEGER NOT NULL, d2 INTEGER NOT NULL, d3 INTEGER NOT NULL, d4 INTEGER NOT NULL,
      d5 INTEGER NOT NULL, d6 INTEGER NOT NULL, d7 INTEGER NOT NULL,
      mean_c REAL NOT NULL,
      PRIMARY KEY (org_id, session_id)
    ) WITHOUT ROWID, STRICT`,
    `CREATE INDEX interaction_operator ON interaction (org_id, operator_id, at)`,

    // A call while scoring was frozen. It is recorded, but does not use up its session_id.
    `CREATE TABLE skipped_interaction (
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      session_id TEXT NOT NULL,
      operator_id TEXT NOT NULL,
      request_digest BLOB NOT NULL CHECK (length(request_digest) = 32),
      request_id TEXT NOT NULL,
      at INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (org_id, session_id)
    ) WITHOUT ROWID, STRICT`,

    // The answer to a master call; it holds no key.
    `CREATE TABLE idempotency (
      endpoint TEXT NOT NULL,
      idempotency_key TEXT NOT NULL,
      request_digest BLOB NOT NULL CHECK (length(request_digest) = 32),
      status INTEGER NOT NULL,
      body TEXT NOT NULL CHECK (json_valid(body)),
      created_at INTEGER NOT NULL,
      PRIMARY KEY (endpoint, idempotency_key)
    ) WITHOUT ROWID, STRICT`,

    `CREATE TABLE audit_chain (
      chain TEXT PRIMARY KEY,
      origin TEXT NOT NULL UNIQUE,
      epoch INTEGER NOT NULL DEFAULT 1,
      size INTEGER NOT NULL,
      head BLOB NOT NULL CHECK (length(head) = 32),
      last_ts TEXT NOT NULL,
      -- 32 bytes for each complete subtree, largest first
      peaks BLOB NOT NULL,
      min_index INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID, STRICT`,

    // body is the canonical text that entry_hash covers; an entry is never serialised again
    `CREATE TABLE audit_entry (
      chain TEXT NOT NULL REFERENCES audit_chain (chain),
      seq INTEGER NOT NULL,
      id TEXT NOT NULL UNIQUE,
      entry_hash BLOB NOT NULL CHECK (length(entry_hash) = 32),
      prev_hash BLOB NOT NULL CHECK (length(prev_hash) = 32),
      event_type TEXT NOT NULL,
      ts TEXT NOT NULL CHECK (length(ts) = 24),
      body TEXT NOT NULL,
      PRIMARY KEY (chain, seq)
    ) WITHOUT ROWID, STRICT`,
    `CREATE INDEX audit_entry_event ON audit_entry (chain, event_type, ts)`,

    // data is the canonical text that the entry commits to; NULL once erased or pruned. With rowids: without
    // them, each row of more than a quarter of a page would spill into its own overflow page.
    `CREATE TABLE audit_part (
      chain TEXT NOT NULL,
      seq INTEGER NOT NULL,
      name TEXT NOT NULL CHECK (name IN ('input', 'result', 'detail')),
      salt BLOB CHECK (length(salt) = 32),
      data TEXT,
      PRIMARY KEY (chain, seq, name),
      CHECK ((salt IS NULL) = (data IS NULL))
    ) STRICT`,

    // Hashes of all complete subtrees, in the order in which appending completes them.
    `CREATE TABLE audit_node (
      chain TEXT NOT NULL,
      idx INTEGER NOT NULL,
      hash BLOB NOT NULL CHECK (length(hash) = 32),
      PRIMARY KEY (chain, idx)
    ) WITHOUT ROWID, STRICT`,

    `CREATE TABLE audit_checkpoint (
      chain TEXT NOT NULL REFERENCES audit_chain (chain),
      size INTEGER NOT NULL,
      ts TEXT NOT NULL,
      note TEXT NOT NULL,
      PRIMARY KEY (chain, size)
    ) WITHOUT ROWID, STRICT`,

    // Guards against our own mistakes, not against an attacker with the file: an entry must continue the
    // head.
    `CREATE TRIGGER audit_entry_continues BEFORE INSERT ON audit_entry
      WHEN NOT EXISTS (SELECT 1 FROM audit_chain
        WHERE chain = NEW.chain AND size = NEW.seq AND head = NEW.prev_hash AND last_ts <= NEW.ts)
      BEGIN SELECT RAISE (ABORT, 'audit_head_conflict'); END`,
    `CREATE TRIGGER audit_entry_moves_head AFTER INSERT ON audit_entry
      BEGIN UPDATE audit_chain SET size = NEW.seq + 1, head = NEW.entry_hash, last_ts = NEW.ts
        WHERE chain = NEW.chain; END`,
    `CREATE TRIGGER audit_entry_stays BEFORE UPDATE ON audit_entry
      BEGIN SELECT RAISE (ABORT, 'audit_entry_is_immutable'); END`,
    `CREATE TRIGGER audit_entry_pruned_only BEFORE DELETE ON audit_entry
      WHEN OLD.seq >= (SELECT min_index FROM audit_chain WHERE chain = OLD.chain)
      BEGIN SELECT RAISE (ABORT, 'audit_entry_is_immutable'); END`,
    `CREATE TRIGGER audit_checkpoint_stays BEFORE UPDATE ON audit_checkpoint
      BEGIN SELECT RAISE (ABORT, 'audit_checkpoint_is_immutable'); END`,
  ],
};
