/** Shared by tests of alerts: usage that raises one. */
import assert from "node:assert/strict";
import { Upkeep } from "../src/operations/installation/upkeep.ts";
import { alertsQuery } from "../src/store/alerts.ts";
import { query, type Statement } from "../src/store/database.ts";
import type { AlertRow } from "../src/store/records.ts";
import type { Harness } from "./harness.ts";

const DAY = 86_400_000;

let sessions = 0;

/** Scores `count` interactions at the present instant. */
export async function score({ send }: Harness, key: string, count: number): Promise<void> {
  const { status, text } = await send("/v1/score/batch", {
    key,
    body: {
      operator_id: "operator-1",
      domain: "general",
      interactions: Array.from({ length: count }, () => ({
        session_id: `s-${sessions += 1}`,
        time_to_decision_ms: 9000,
        decision: "accepted",
      })),
    },
  });
  assert.equal(status, 200, text);
}

/** Scores once a day for `days` days; returns when the last score is a day old. */
export async function useOn(harness: Harness, key: string, days: number): Promise<void> {
  for (let day = 0; day < days; day += 1) {
    await score(harness, key, 1);
    harness.clock.advance(DAY);
  }
}

export async function runUpkeep({ dependencies, clock }: Harness): Promise<void> {
  await new Upkeep(dependencies).run(clock.now());
}

export async function alertsOf({ database }: Harness): Promise<readonly AlertRow[]> {
  return await database.read(alertsQuery({ all: true }));
}

/** Statements for one score on each of seven days before an instant: more than ten on one day are then unusual. */
export function earlierUsage(orgId: string, now: number): readonly Statement[] {
  return Array.from({ length: 7 }, (_, day) =>
    query.insertInto("usage_hour").values({
      org_id: orgId,
      hour: Math.floor((now - (day + 1) * DAY - DAY / 2) / 3_600_000),
      count: 1,
    }).compile());
}

/** Gives an organization that has its key unusual usage; returns the id of the alert. */
export async function raiseUsageAlert(harness: Harness, orgId: string, key: string): Promise<string> {
  await useOn(harness, key, 7);
  await score(harness, key, 11);
  await runUpkeep(harness);
  return (await alertsOf(harness)).find((alert) => alert.org_id === orgId)!.alert_id;
}

/** Makes what an organization has scored so far unusual, at the present instant; returns the id of the alert. */
export async function alertOfUsageSoFar(harness: Harness, orgId: string): Promise<string> {
  await harness.database.batch(earlierUsage(orgId, harness.clock.now()));
  await runUpkeep(harness);
  return (await alertsOf(harness)).find((alert) => alert.org_id === orgId)!.alert_id;
}
