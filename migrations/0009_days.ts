/** Schema 9: what each operator did on each day is counted as it is written, so that a report counts no history. */
import type { Migration } from "../src/store/migrate.ts";

/** What a row of `interaction` counts as; one that was referred is no departure. */
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
    // Holds what a history, a sparkline, the last record of a period and the counts of a part of a day need.
    `CREATE INDEX interaction_operator
      ON interaction (org_id, operator_id, at, position, jis, decision, departure)`,

    `INSERT INTO operator_day
      SELECT org_id, operator_id, at / 86400000, count(*), sum(${EACH.departure}), sum(${EACH.referral})
      FROM interaction GROUP BY 1, 2, 3`,

    // By triggers: whatever writes, erases or prunes rows, an older program that still runs too, leaves exact counts.
    `CREATE TRIGGER interaction_comes AFTER INSERT ON interaction
      BEGIN INSERT INTO operator_day
        VALUES (NEW.org_id, NEW.operator_id, NEW.at / 86400000, 1, ${NEW.departure}, ${NEW.referral})
        ON CONFLICT DO UPDATE SET interactions = interactions + 1,
          departures = departures + excluded.departures, referrals = referrals + excluded.referrals; END`,
    // A day without rows has none here either: of who is erased nothing stays.
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
