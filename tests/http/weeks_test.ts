/**
 * The weeks of an organization: each says what the dashboard said at its end, the present one what it says now; a team has the
 * figures of its members; small groups are withheld where reviewers are pseudonyms.
 */
import assert from "node:assert/strict";
import { alter } from "../altering.ts";
import { type Harness, OWN_ORIGIN, scoreRequest, withAlterations, withHarness } from "../harness.ts";
import { decide, drawDue, sealStock, setPolicy } from "../probing.ts";
import { signedInUser } from "../signing_in.ts";

const DAY = 86_400_000;
/** A Monday, some hours into the day. */
const MONDAY = Date.parse("2026-09-07T09:00:00.000Z");

interface Scene {
  readonly harness: Harness;
  readonly key: string;
}

let sessions = 0;

async function score({ harness: { send }, key }: Scene, operator: string, wrong: boolean): Promise<void> {
  const body = scoreRequest(
    { operator_id: operator, session_id: `w-${sessions++}` },
    { scenario_type: "error_injected", decision: wrong ? "accepted" : "rejected", outcome_correct: null },
  );
  const answer = await send("/v1/score", { key, body });
  assert.equal(answer.status, 200, answer.text);
}

async function weeksOf({ harness: { send }, key }: Scene, query = "") {
  const answer = await send(`/v1/organization/weeks${query}`, { key });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

async function dashboardOf({ harness: { send }, key }: Scene) {
  return (await send("/v1/organization/dashboard", { key })).body.dashboard;
}

async function setTeam({ harness: { send }, key }: Scene, team: string, operators: readonly string[]) {
  const assignments = operators.map((operator_id) => ({ operator_id, team }));
  assert.equal((await send("/v1/organization/teams", { key, body: { assignments } })).status, 200);
}

function weeksTest(
  name: string,
  test: (scene: Scene) => Promise<void>,
  options: Parameters<typeof withHarness>[1] = {},
): void {
  Deno.test(
    name,
    withHarness(async (harness) => {
      await test({ harness, key: await harness.organization("acme") });
    }, { startsAt: MONDAY, ...options }),
  );
}

weeksTest(
  "each week says what the dashboard said at its end, the last one what it says now",
  async (scene) => {
    const { harness: { clock } } = scene;
    const operators = ["anna", "bela", "cleo"];
    const said: { median: number; verdicts: unknown; total: number }[] = [];
    for (let week = 0; week < 3; week += 1) {
      for (const [index, operator] of operators.entries()) {
        // Cleo is away in the second week.
        if (operator === "cleo" && week === 1) continue;
        for (let time = 0; time < 3; time += 1) await score(scene, operator, (time + index + week) % 3 === 0);
      }
      const { median_jis, verdicts, total_operators } = await dashboardOf(scene);
      said.push({ median: median_jis, verdicts, total: total_operators });
      if (week < 2) clock.advance(7 * DAY);
    }
    const { weeks, operators: rows, teams, team, probes } = await weeksOf(scene, "?from=2026-09-07");
    assert.deepEqual(
      weeks.map((week: Record<string, unknown>) => [week.week_start, week.as_of]),
      [
        ["2026-09-07", "2026-09-14T00:00:00.000Z"],
        ["2026-09-14", "2026-09-21T00:00:00.000Z"],
        ["2026-09-21", new Date(clock.now()).toISOString()],
      ],
    );
    assert.deepEqual(
      weeks.map(({ median_jis: median, verdicts, operators: total }: Record<string, unknown>) => ({
        median,
        verdicts,
        total,
      })),
      said,
    );
    for (const { median_jis, median_interval: { low, high } } of weeks) {
      assert.ok(low <= median_jis && median_jis <= high && low < high, `${low} ${median_jis} ${high}`);
    }
    assert.deepEqual([team, teams, probes], [null, [{ team: null, operators: 3 }], null]);
    assert.deepEqual(
      new Set(rows.map(({ operator_id }: { operator_id: string }) => operator_id)),
      new Set(operators),
    );
    const latest = rows.map((row: { weeks: { jis: number }[] }) => row.weeks.at(-1)!.jis);
    assert.deepEqual(latest, latest.toSorted((one: number, other: number) => one - other));
    const cleo = rows.find(({ operator_id }: { operator_id: string }) => operator_id === "cleo");
    assert.deepEqual(
      cleo.weeks.map(({ interacted }: { interacted: boolean }) => interacted),
      [true, false, true],
    );
    assert.equal(cleo.weeks[1].jis, cleo.weeks[0].jis);
  },
);

weeksTest("a late label counts in the present week at once, as on the dashboard", async (scene) => {
  const { harness: { clock, send }, key } = scene;
  for (let time = 0; time < 3; time += 1) await score(scene, "anna", false);
  const open = scoreRequest({ operator_id: "anna", session_id: "open" }, { outcome_correct: null });
  assert.equal((await send("/v1/score", { key, body: open })).status, 200);
  const before = (await weeksOf(scene)).weeks.at(-1);
  clock.advance(60_000);
  const label = { outcome_correct: false, ai_correct: false };
  assert.equal((await send("/v1/score/open/commit", { key, body: label })).status, 200);
  const after = (await weeksOf(scene)).weeks.at(-1);
  assert.equal(after.median_jis, (await dashboardOf(scene)).median_jis);
  assert.deepEqual(after.verdicts, (await dashboardOf(scene)).verdicts);
  assert.ok(after.median_interval.low <= after.median_jis && after.median_jis <= after.median_interval.high);
  assert.equal(typeof before.median_jis, "number");
});

weeksTest("a team has the figures of its members alone", async (scene) => {
  for (const operator of ["anna", "bela", "cleo"]) {
    for (let time = 0; time < 4; time += 1) await score(scene, operator, operator === "bela");
  }
  await setTeam(scene, "North", ["anna", "cleo"]);
  await setTeam(scene, "South", ["bela"]);
  const north = await weeksOf(scene, "?team=North");
  const south = await weeksOf(scene, "?team=South");
  assert.deepEqual(north.teams, [{ team: "North", operators: 2 }, { team: "South", operators: 1 }]);
  assert.equal(north.weeks.at(-1).operators, 2);
  const { jis, uncertainty } =
    (await scene.harness.send("/v1/operator/bela/profile", { key: scene.key })).body.profile;
  const { median_jis, median_interval } = south.weeks.at(-1);
  assert.equal(median_jis, jis);
  // The median of one person is that person's score, and its interval that person's interval, but for their rounding.
  assert.ok(
    Math.abs(median_interval.low - uncertainty.low) < 0.02 || uncertainty.low === 0,
    median_interval.low,
  );
  assert.ok(north.weeks.at(-1).median_jis > median_jis);
  assert.deepEqual(south.operators.map(({ operator_id }: { operator_id: string }) => operator_id), ["bela"]);
  const nobody = await weeksOf(scene, "?team=East");
  assert.deepEqual(
    [nobody.weeks.at(-1).operators, nobody.weeks.at(-1).median_jis, nobody.operators],
    [0, null, []],
  );
});

weeksTest(
  "probes stand in the week in which they were opened, and with the team of their reviewer",
  async (scene) => {
    const { harness: { clock } } = scene;
    const programme = { harness: scene.harness, key: scene.key };
    for (const operator of ["anna", "bela"]) await score(scene, operator, false);
    await setTeam(scene, "North", ["anna"]);
    await sealStock(programme, 20);
    await setPolicy(programme, { rate: 0.1 });
    const { probe } = await drawDue(programme, { operator_id: "anna" });
    const decided = await decide(programme, probe, {}, { operator_id: "anna" });
    assert.equal(decided.status, 200, decided.text);
    const whole = await weeksOf(scene, "?from=2026-08-31");
    assert.deepEqual(whole.weeks.map(({ probes }: { probes: unknown }) => probes === null), [true, false]);
    const { wrong, right } = whole.probes;
    assert.equal(wrong.probes + right.probes, 1);
    assert.deepEqual((await weeksOf(scene, "?team=North")).probes, whole.probes);
    await setTeam(scene, "South", ["bela"]);
    assert.equal((await weeksOf(scene, "?team=South")).probes, null);
    clock.advance(7 * DAY);
    assert.equal((await weeksOf(scene)).weeks.at(-1).probes, null);
  },
);

weeksTest("operators come page by page, each once", async (scene) => {
  const names = ["anna", "bela", "cleo", "dora", "emil"];
  for (const [index, operator] of names.entries()) await score(scene, operator, index % 2 === 0);
  const seen: string[] = [];
  let cursor: string | null = "";
  do {
    const page: Awaited<ReturnType<typeof weeksOf>> = await weeksOf(
      scene,
      `?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`,
    );
    assert.ok(page.operators.length <= 2);
    seen.push(...page.operators.map(({ operator_id }: { operator_id: string }) => operator_id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  assert.deepEqual(seen.toSorted(), names);
  const none = await weeksOf(scene, "?limit=0");
  assert.deepEqual([none.operators, none.next_cursor], [[], null]);
});

weeksTest(
  "a span that is too long, reversed or ahead is refused; weeks that lie ahead are left out",
  async (scene) => {
    await score(scene, "anna", false);
    const { send } = scene.harness;
    const wrong = [
      "?from=2026-01-01",
      "?from=2026-09-20",
      "?from=2026-09-07&to=2026-08-01",
      "?from=2026-02-30",
      "?to=x",
      "?to=0000-01-01",
      "?to=1970-01-04",
    ];
    for (const query of wrong) {
      const answer = await send(`/v1/organization/weeks${query}`, { key: scene.key });
      assert.equal(answer.status, 422, `${query}: ${answer.text}`);
      assert.equal(answer.body.error.code, "VALIDATION_FAILED");
    }
    const { weeks } = await weeksOf(scene, "?from=2026-09-01&to=2027-12-31");
    assert.deepEqual(
      weeks.map(({ week_start }: { week_start: string }) => week_start),
      ["2026-08-31", "2026-09-07"],
    );
    assert.deepEqual(weeks[0], {
      week_start: "2026-08-31",
      as_of: "2026-09-07T00:00:00.000Z",
      operators: 0,
      median_jis: null,
      median_interval: null,
      verdicts: null,
      probes: null,
    });
    assert.equal((await weeksOf(scene)).weeks.length, 13);
    assert.deepEqual(
      (await weeksOf(scene, "?to=1970-01-14")).weeks.map(({ week_start }: { week_start: string }) =>
        week_start
      ),
      ["1970-01-05", "1970-01-12"],
    );
  },
);

weeksTest(
  "where reviewers are pseudonyms, the figures of small groups are withheld",
  async (scene) => {
    const { harness } = scene;
    const names = ["anna", "bela", "cleo", "dora", "emil", "fred"];
    for (const operator of names.slice(0, 3)) await score(scene, operator, false);
    harness.clock.advance(7 * DAY);
    for (const operator of names) await score(scene, operator, false);
    const { cookie } = await signedInUser(harness, { orgId: "acme", role: "officer" });
    const headers = { Cookie: cookie, Origin: OWN_ORIGIN, "Sec-Fetch-Site": "same-origin" };
    const { body } = await harness.send("/v1/organization/weeks?from=2026-09-07", { headers });
    const [few, many] = body.weeks;
    assert.deepEqual([few.operators, few.median_jis, few.median_interval, few.verdicts], [
      3,
      null,
      null,
      null,
    ]);
    assert.equal(many.operators, 6);
    assert.equal(typeof many.median_jis, "number");
    assert.equal(body.operators.length, 6);
    for (const name of names) assert.ok(!JSON.stringify(body).includes(name), name);
  },
  { privacy: "pseudonymous" },
);

Deno.test(
  "an altered score of an earlier week is refused",
  withAlterations(async (harness) => {
    const scene = { harness, key: await harness.organization("acme") };
    await score(scene, "anna", true);
    harness.clock.advance(14 * DAY);
    await score(scene, "anna", true);
    assert.equal((await weeksOf(scene)).operators.length, 1);
    await alter(
      harness.database,
      "UPDATE interaction SET jis = 99, low = 98, high = 100 WHERE session_id = 'w-'||" +
        "(SELECT min(cast(substr(session_id, 3) AS INTEGER)) FROM interaction)",
    );
    const answer = await harness.send("/v1/organization/weeks", { key: scene.key });
    assert.equal(answer.status, 503, answer.text);
  }, { startsAt: MONDAY }),
);
