/**
 * Schema 18: the team of an operator. It stays NULL until somebody sets one, so that the seals of earlier rows, which cover a team
 * only if there is one, stay valid.
 */
import type { Migration } from "../src/store/migrate.ts";

export const teams: Migration = {
  version: 18,
  name: "teams",
  statements: [
    `ALTER TABLE operator ADD COLUMN team TEXT`,
    `DROP INDEX operator_jis`,
    // Ordered by JIS, with all columns that the organization rule reads and the seal covers: one pass over it.
    `CREATE INDEX operator_jis ON operator
      (org_id, jis, operator_id, domain, n, t0, t1, tcrit, crit_count, share_hs, share_crit, verdict, position, digest,
        seal, team)`,
  ],
};
