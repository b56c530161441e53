/** Schema 15: named keys of an organization, its users, and their sessions. The head of its audit log holds all of them. */
import type { Migration } from "../src/store/migrate.ts";

export const users: Migration = {
  version: 15,
  name: "users",
  statements: [
    // Named keys and sessions that are not younger are void. It stays NULL in rows whose seals are older than the column.
    `ALTER TABLE organization ADD COLUMN access_from INTEGER`,

    `CREATE TABLE named_key (
      key_id TEXT PRIMARY KEY,
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      name TEXT NOT NULL,
      prefix TEXT NOT NULL UNIQUE CHECK (length(prefix) = 8),
      key_hash BLOB NOT NULL CHECK (length(key_hash) = 32),
      pepper_id TEXT NOT NULL,
      -- separated by single spaces
      scopes TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER,
      used_at INTEGER,
      seal BLOB CHECK (length(seal) = 16)
    ) WITHOUT ROWID, STRICT`,
    `CREATE INDEX named_key_organization ON named_key (org_id, created_at, key_id)`,

    `CREATE TABLE user_account (
      user_id TEXT PRIMARY KEY,
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      -- NULL, as the name, once the user is erased
      email TEXT,
      name TEXT,
      role TEXT NOT NULL CHECK (role IN ('viewer', 'officer', 'auditor', 'admin')),
      state TEXT NOT NULL CHECK (state IN ('invited', 'active', 'disabled', 'erased')),
      -- the parameters, the salt and the hash
      password TEXT,
      -- of the one-time link that was issued last and is not used yet
      link_hash BLOB CHECK (length(link_hash) = 32),
      link_purpose TEXT CHECK (link_purpose IN ('set_password', 'sign_in')),
      link_expires_at INTEGER,
      -- of the identity provider that signs the user in
      issuer TEXT,
      issuer_subject TEXT,
      -- sessions with another number are over
      session_epoch INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      changed_at INTEGER NOT NULL,
      seal BLOB CHECK (length(seal) = 16),
      CHECK ((link_hash IS NULL) = (link_expires_at IS NULL)),
      CHECK ((link_hash IS NULL) = (link_purpose IS NULL)),
      CHECK ((issuer IS NULL) = (issuer_subject IS NULL))
    ) WITHOUT ROWID, STRICT`,
    `CREATE UNIQUE INDEX user_account_email ON user_account (org_id, email) WHERE email IS NOT NULL`,
    `CREATE UNIQUE INDEX user_account_subject ON user_account (org_id, issuer, issuer_subject) WHERE issuer IS NOT NULL`,
    `CREATE INDEX user_account_order ON user_account (org_id, created_at, user_id)`,

    `CREATE TABLE passkey (
      credential_id TEXT PRIMARY KEY,
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      user_id TEXT NOT NULL REFERENCES user_account (user_id),
      -- what the user calls the device
      name TEXT NOT NULL,
      -- COSE
      public_key BLOB NOT NULL,
      counter INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      used_at INTEGER,
      seal BLOB CHECK (length(seal) = 16)
    ) WITHOUT ROWID, STRICT`,
    `CREATE INDEX passkey_user ON passkey (org_id, user_id, created_at)`,

    `CREATE TABLE user_session (
      session_hash BLOB PRIMARY KEY CHECK (length(session_hash) = 32),
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      user_id TEXT NOT NULL REFERENCES user_account (user_id),
      session_epoch INTEGER NOT NULL,
      method TEXT NOT NULL CHECK (method IN ('password', 'passkey', 'oidc', 'link')),
      -- the provider's name of the session, which its logout token names
      provider_session TEXT,
      -- what the browser said of itself, for the list of one's own sessions
      agent TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      seen_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      seal BLOB CHECK (length(seal) = 16)
    ) WITHOUT ROWID, STRICT`,
    `CREATE INDEX user_session_user ON user_session (org_id, user_id)`,
    `CREATE INDEX user_session_end ON user_session (expires_at)`,
  ],
};
