/** Schema 11: calls of organizations that carried an Idempotency-Key, each with a reference to its result. */
import type { Migration } from "../src/store/migrate.ts";

export const keyedCalls: Migration = {
  version: 11,
  name: "keyed_calls",
  statements: [
    `CREATE TABLE keyed_call (
      -- keyed hash of organization, endpoint and Idempotency-Key
      name BLOB PRIMARY KEY CHECK (length(name) = 32),
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      -- of the reviewer whom the call was about, if it was about one
      operator_id TEXT,
      -- keyed hash of what was asked for; NULL once the reviewer was erased
      request_digest BLOB CHECK (length(request_digest) = 32),
      -- what the call made, where the request does not name it
      reference TEXT,
      request_id TEXT NOT NULL,
      at INTEGER NOT NULL,
      -- the entry that tells of the erasure
      erased_chain TEXT,
      erased_seq INTEGER,
      erased_hash BLOB,
      seal BLOB CHECK (length(seal) = 16),
      CHECK ((request_digest IS NULL) = (erased_seq IS NOT NULL)),
      CHECK ((erased_seq IS NULL) = (erased_hash IS NULL)),
      CHECK ((erased_seq IS NULL) = (erased_chain IS NULL)),
      CHECK (request_digest IS NOT NULL OR (operator_id IS NULL AND reference IS NULL))
    ) WITHOUT ROWID, STRICT`,
    `CREATE INDEX keyed_call_age ON keyed_call (at)`,
    `CREATE INDEX keyed_call_operator ON keyed_call (org_id, operator_id)`,
  ],
};
