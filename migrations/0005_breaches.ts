/** When a breach was last told, so that the processes over one database tell of it once. */
import type { Migration } from "../src/store/migrate.ts";

export const breaches: Migration = {
  version: 5,
  name: "breaches",
  statements: [
    `CREATE TABLE breach_window (
      subject TEXT PRIMARY KEY,
      -- epoch milliseconds
      told_at INTEGER NOT NULL
    ) WITHOUT ROWID, STRICT`,
  ],
};
