/**
 * Schema 9: each operator's interactions of each day are counted when they are written, so that a report
 * counts no history.
 */
import type { Migration } from "../src/store/migrate.ts";

/**
 * Conditions under which a row of `interaction` counts as a departure or a referral; a referral is no
 * departure.
 */
function countsOf(row: "" | "NEW." | "OLD.") {
  const isReferral = `${row}decision IN ('deferred', 'escalated')`;
  return { departure: `(${row}departure > 0 AND NOT ${isReferral})`, referral: `(${isReferral})` };
}

const [EACH, NEW, OLD] = [countsOf(""), countsOf("NEW."), countsOf("OLD.")];
const DAY_OF_OLD = "org_id = OLD.org_id AND operator_id = OLD.operator_id AND day = OLD.at / 86400000";

export const days: Migration = {
  version: 9,
  name: "days",
  statements: [
    `CREATE TABLE operator_day (
      org_id TEXT NOT NULL,
      operator_id TEXT NOT NULL,
      -- UTC, counted from 1970
      day INTEGER NOT NULL,
      interactions INTEGER NOT NULL CHECK (interactions > 0),
      departures INTEGER NOT NULL,
      referrals INTEGER NOT NULL,
      PRIMARY KEY (org_id, operator_id, day)
    ) WITHOUT ROWID, STRICT`,

    `DROP INDEX interaction_departed`,
    `DROP INDEX interaction_operator`,
    // Covers a history, a sparkline, the last record of a period and the counts of a part of a day.
    `CREATE INDEX interaction_operator
      ON interaction (org_id, operator_id, at, position, jis, decision, departure)`,

    `INSERT INTO operator_day
      SELECT org_id, operator_id, at / 86400000, count(*), sum(${EACH.departure}), sum(${EACH.referral})
      FROM interaction GROUP BY 1, 2, 3`,

    // Uses triggers, so that the counts are exact after every write, erasure or pruning, even by an older
    // program.
    `CREATE TRIGGER interaction_comes AFTER INSERT ON interaction
      BEGIN INSERT INTO operator_day
        VALUES (NEW.org_id, NEW.operator_id, NEW.at / 86400000, 1, ${NEW.departure}, ${NEW.referral})
        ON CONFLICT DO UPDATE SET interactions = interactions + 1,
          departures = departures + excluded.departures, referrals = referrals + excluded.referrals; END`,
    // A day without interactions has no row here either, so that nothing remains of an erased operator.
    `CREATE TRIGGER interaction_goes AFTER DELETE ON interaction
      BEGIN
        DELETE FROM operator_day WHERE ${DAY_OF_OLD} AND interactions = 1;
        UPDATE operator_day SET interactions = interactions - 1,
          departures = departures - ${OLD.departure}, referrals = referrals - ${OLD.referral} WHERE ${DAY_OF_OLD};
      END`,
    `CREATE TRIGGER interaction_stays BEFORE UPDATE OF org_id, operator_id, at, decision, departure ON interaction
      BEGIN SELECT RAISE (ABORT, 'interaction_is_counted'); END`,
  ],
};
