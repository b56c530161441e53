/**
 * Schema 13: the verdict of an operator's full-mode score, beside the score. It stays NULL in rows that formulas
 * without a verdict wrote, so that their seals, which cover a verdict only if there is one, stay valid.
 */
import type { Migration } from "../src/store/migrate.ts";

const VERDICT = "verdict TEXT CHECK (verdict IN ('compliant', 'undetermined', 'non_compliant'))";

export const verdicts: Migration = {
  version: 13,
  name: "verdicts",
  statements: [
    // The verdict of the state, which a late label changes.
    `ALTER TABLE operator ADD COLUMN ${VERDICT}`,
    // The verdict as it was at the score.
    `ALTER TABLE interaction ADD COLUMN ${VERDICT}`,
    `DROP INDEX operator_jis`,
    // Ordered by JIS, with all columns that the organization rule reads and the seal covers: one pass over
    // it.
    `CREATE INDEX operator_jis ON operator
      (org_id, jis, operator_id, domain, n, t0, t1, tcrit, crit_count, share_hs, share_crit, verdict, position, digest,
        seal)`,
  ],
};
