/** Schema 14: sealed probes, the draws by which they are shown, and each organization's programme of them. */
import type { Migration } from "../src/store/migrate.ts";

export const probes: Migration = {
  version: 14,
  name: "probes",
  statements: [
    `CREATE TABLE probe_programme (
      org_id TEXT PRIMARY KEY REFERENCES organization (org_id),
      policy TEXT NOT NULL CHECK (json_valid(policy)),
      changed_at INTEGER NOT NULL,
      -- the newest day whose seed is committed to, such as 2026-11-26; NULL before the first
      day TEXT,
      -- the policy of that day
      day_policy TEXT CHECK (json_valid(day_policy)),
      -- whether the seed of that day is opened
      opened INTEGER NOT NULL CHECK (opened IN (0, 1)),
      seal BLOB CHECK (length(seal) = 16),
      CHECK ((day IS NULL) = (day_policy IS NULL))
    ) WITHOUT ROWID, STRICT`,

    `CREATE TABLE probe (
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      probe_id TEXT NOT NULL,
      -- of PROBE_SEALED
      position INTEGER NOT NULL,
      request_id TEXT NOT NULL,
      at INTEGER NOT NULL,
      domain TEXT NOT NULL,
      stakes TEXT NOT NULL CHECK (stakes IN ('standard', 'high_stakes', 'critical')),
      commitment TEXT NOT NULL,
      reference TEXT,
      state TEXT NOT NULL CHECK (state IN ('sealed', 'drawn', 'decided', 'recalled', 'lost')),
      drawn_at INTEGER,
      expires_at INTEGER,
      -- of the entry that opened it, and its instant; NULL while it is sealed or drawn
      closed_position INTEGER,
      closed_at INTEGER,
      ai_correct INTEGER CHECK (ai_correct IN (0, 1)),
      -- of a decided one: whether the reviewer departed from the recommendation
      departed INTEGER CHECK (departed IN (0, 1)),
      seal BLOB CHECK (length(seal) = 16),
      PRIMARY KEY (org_id, probe_id),
      CHECK ((closed_at IS NULL) = (state IN ('sealed', 'drawn')))
    ) STRICT`,
    `CREATE INDEX probe_stock ON probe (org_id, domain, stakes, position) WHERE state = 'sealed'`,
    `CREATE INDEX probe_open ON probe (expires_at) WHERE state = 'drawn'`,
    `CREATE INDEX probe_order ON probe (org_id, position)`,

    // A case before which a probe was due: it stands for PROBE_ASSIGNED.
    `CREATE TABLE probe_draw (
      org_id TEXT NOT NULL REFERENCES organization (org_id),
      -- the case
      session_id TEXT NOT NULL,
      operator_id TEXT NOT NULL,
      position INTEGER NOT NULL,
      -- NULL, with the next, if no probe was left
      probe_id TEXT,
      probe_session_id TEXT,
      seal BLOB CHECK (length(seal) = 16),
      PRIMARY KEY (org_id, session_id),
      FOREIGN KEY (org_id, operator_id) REFERENCES subject (org_id, operator_id)
    ) STRICT`,
    `CREATE UNIQUE INDEX probe_draw_session ON probe_draw (org_id, probe_session_id) WHERE probe_session_id IS NOT NULL`,
    `CREATE UNIQUE INDEX probe_draw_probe ON probe_draw (org_id, probe_id) WHERE probe_id IS NOT NULL`,
    `CREATE INDEX probe_draw_operator ON probe_draw (org_id, operator_id, position)`,
  ],
};
