/** The history of the demo organization, scored by the model in use. */
import assert from "node:assert/strict";
import { HISTORY_DAYS, HISTORY_SEED } from "../../src/cli/demo_organization.ts";
import { BANDS, VERDICT_STATUSES } from "../../src/domain/enums.ts";
import { DAY_MS } from "../../src/domain/time.ts";
import { DEFAULT_MODEL_DOCUMENT } from "../../src/scoring/model.ts";
import { score, type Scored } from "../../src/scoring/score.ts";
import { demoHistory } from "../../src/simulation/demo.ts";

Deno.test("whenever the demo begins, its reviewers show all bands and all three verdicts", () => {
  const first = Date.parse("2026-11-24T12:00:00Z");
  for (const weeks of [0, 9, 31]) {
    // Another weekday and hour each time: the history holds working hours only.
    const endsAt = first + weeks * 8 * DAY_MS + weeks * 3_600_000;
    const latest = new Map<string, Scored>();
    for (
      const { at, operatorId, domain, interaction } of demoHistory({
        seed: HISTORY_SEED,
        endsAt,
        days: HISTORY_DAYS,
      })
    ) {
      const before = latest.get(operatorId)?.state ?? null;
      const event = { interaction, domain, now: at };
      const scored = score(DEFAULT_MODEL_DOCUMENT, before, event, { mode: "full", modeOverride: "normal" });
      latest.set(operatorId, scored as Scored);
    }
    const shown = [...latest.values()];
    const verdicts = new Set(shown.map(({ fullVerdict }) => fullVerdict?.status));
    const bands = new Set(shown.map(({ result }) => result.band));
    assert.deepEqual([...verdicts].toSorted(), [...VERDICT_STATUSES].toSorted());
    assert.deepEqual([...bands].toSorted(), [...BANDS].toSorted());
  }
});
