/**
 * Reading operators: GET /v1/operator/{operator_id}/profile and …/sparkline, GET /v1/organization/operators.
 * Source: specification, Operator profile; contract, section 4.
 */
import assert from "node:assert/strict";
import {
  type Answer,
  EPOCH,
  type Harness,
  openHarness,
  type RequestOptions,
  scoreRequest,
  withAlterations,
  withHarness,
  writingAfterReads,
} from "../harness.ts";
import { verdictInWords } from "../../src/scoring/verdict_words.ts";
import { JIS_2_0_0 } from "../models.ts";
import { resealed } from "../resealed.ts";
import { refuses } from "../scenario.ts";

const DAY = 86_400_000;
const UNKNOWN_KEY = "jis_ABCDEFGHJKMNPQRSTVWXYZ0123";

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

// ---- fixtures ---------------------------------------------------------------------------------------------

let sessions = 0;

/** Scores one careful, right acceptance with the given fields changed; returns the answer. */
async function score(
  { send }: Harness,
  key: string,
  { operator = "operator-1", domain = "general", mode = "full", query = "", ...interaction }: Record<
    string,
    unknown
  > = {},
): Promise<Json> {
  sessions += 1;
  const body = scoreRequest({ session_id: `s-${sessions}`, operator_id: operator, domain }, interaction);
  const answer = await send(`/v1/score?mode=${mode}${query}`, { key, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** Scores `count` interactions of one operator in a batch. Every fifth accepts a wrong advice. */
async function scoreMany(
  { send }: Harness,
  key: string,
  { operator = "operator-1", count }: { readonly operator?: string; readonly count: number },
): Promise<readonly { readonly session_id: string; readonly jis: number }[]> {
  const interactions = Array.from({ length: count }, (_, index) => ({
    session_id: `s-${sessions += 1}`,
    time_to_decision_ms: 9000 + 100 * index,
    decision: "accepted",
    outcome_correct: index % 5 !== 4,
  }));
  const answer = await send("/v1/score/batch", {
    key,
    body: { operator_id: operator, domain: "general", interactions },
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.results;
}

const profileOf = (harness: Harness, key: string, operator = "operator-1") =>
  harness.send(`/v1/operator/${operator}/profile`, { key });

const sparklineOf = (harness: Harness, key: string, query = "") =>
  harness.send(`/v1/operator/operator-1/sparkline${query}`, { key });

async function list(harness: Harness, key: string, query = ""): Promise<Json> {
  const answer = await harness.send(`/v1/organization/operators${query}`, { key });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

const idsOf = ({ operators }: Json): readonly string[] => operators.map((row: Json) => row.operator_id);

/** Reads every page from the first to the last, and runs `between` after each. */
async function pages(
  harness: Harness,
  key: string,
  { query, between = () => Promise.resolve() }: {
    readonly query: string;
    readonly between?: () => Promise<unknown>;
  },
): Promise<readonly Json[]> {
  const all: Json[] = [];
  let cursor = "";
  do {
    const page = await list(harness, key, `?${query}${cursor}`);
    all.push(page);
    cursor = page.next_cursor === null ? "" : `&cursor=${encodeURIComponent(page.next_cursor)}`;
    assert.ok(all.length < 100, "the paging ends");
    await between();
  } while (cursor !== "");
  return all;
}

/** Writes fields into an operator's stored state that a short history cannot produce. */
async function store(
  { database, dependencies }: Harness,
  operator: string,
  fields: Readonly<Record<string, number | null>>,
): Promise<void> {
  const places = Object.keys(fields).map((path) => `, '$.${path}', ?`).join("");
  await database.batch([{
    sql: `UPDATE operator SET state = json_set(state${places}) WHERE operator_id = ?`,
    parameters: [...Object.values(fields), operator],
    mustChange: 1,
  }]);
  await resealed(dependencies);
}

const iso = (at: number) => new Date(at).toISOString();

/** Asserts the refusals that all reads of one operator share. */
async function refusesOperators(harness: Harness, pathOf: (operator: string) => string): Promise<void> {
  const [key, other] = [await harness.organization("acme"), await harness.organization("other")];
  await score(harness, other, { operator: "theirs" });
  await score(harness, key, { operator: "frozen", query: "&mode_override=incident_frozen" });
  const decision = {
    operator_id: "decided",
    domain: "legal",
    time_to_decision_ms: 900,
    decision: "accepted",
  };
  assert.equal((await harness.send("/v1/decision/score", { key, body: decision })).status, 200);
  for (
    const [name, operator, status, code, names] of [
      ["an unknown operator", "nobody", 404, "NOT_FOUND", "nobody"],
      ["an operator with frozen calls alone", "frozen", 404, "NOT_FOUND", "frozen"],
      ["an operator with decisions alone", "decided", 404, "NOT_FOUND", "decided"],
      ["another organization's operator", "theirs", 404, "NOT_FOUND", "theirs"],
      ["the longest id that an operator may have", "a".repeat(256), 404, "NOT_FOUND", "a".repeat(256)],
      ["one character more", "a".repeat(257), 422, "VALIDATION_FAILED", "operator_id"],
      ["a space", "operator%201", 422, "VALIDATION_FAILED", "operator_id"],
      ["an encoded slash", "operator%2F1", 422, "VALIDATION_FAILED", "operator_id"],
      ["a letter beyond ASCII", "op%C3%A9rateur", 422, "VALIDATION_FAILED", "operator_id"],
      ["a null character", "operator%00", 422, "VALIDATION_FAILED", "operator_id"],
      ["a bad escape", "operator%E9", 422, "VALIDATION_FAILED", "operator_id"],
    ] as const
  ) {
    await refuses(harness, { name, path: pathOf(operator), request: { key }, status, code, names });
  }
}

// ---- profile, 200 -----------------------------------------------------------------------------------------

Deno.test(
  "a profile's figures are exactly those of the operator's last score",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    for (const decision of ["accepted", "modified", "rejected", "escalated"]) {
      await score(harness, key, { domain: "financial", decision, modification_extent: 0.4 });
      harness.clock.advance(DAY / 4);
    }
    const last = await score(harness, key, {
      domain: "financial",
      scenario_type: "error_injected",
      outcome_correct: null,
      time_to_decision_ms: 1400,
    });
    harness.clock.advance(5_000);
    const { status, body } = await profileOf(harness, key);
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), ["jis_history", "profile", "request_id", "timestamp"]);
    assert.deepEqual(body.profile, {
      operator_id: "operator-1",
      jis: last.jis,
      band: "Adequate",
      dimensions: last.dimensions,
      minimum_data_met: false,
      total_interactions: 5,
      uncertainty: last.uncertainty,
      verdict: null,
      estimates: null,
      prior_dimensions: [],
      domain: "financial",
      team: null,
      last_interaction_at: "2026-11-21T09:00:00.000Z",
      scored_by: last.model.version,
    });
    assert.equal(last.band, "adequate");
    assert.equal(body.timestamp, "2026-11-21T09:00:05.000Z");
  }),
);

Deno.test(
  "the first worked example of the model is the profile of an operator with one careful acceptance",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    const { body } = await profileOf(harness, key);
    assert.equal(body.profile.jis, 66.3);
    assert.deepEqual(Object.values(body.profile.dimensions), [67, 67, 65, 67, 65, 66, 66]);
    assert.deepEqual(body.profile.uncertainty, { level: 0.9, low: 51.7, high: 80.9, effective_n: 1 });
    assert.deepEqual(body.jis_history, [{ timestamp: "2026-11-20T09:00:00.000Z", jis: 66.3 }]);
  }),
);

Deno.test(
  "a profile names the bands Exemplary, Proficient, Adequate and At Risk, from 85, 75 and 60 on",
  withAlterations(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    for (
      const [jis, band] of [
        [100, "Exemplary"],
        [85, "Exemplary"],
        [84.99, "Proficient"],
        [75, "Proficient"],
        [74.99, "Adequate"],
        [60, "Adequate"],
        [59.99, "At Risk"],
        [0, "At Risk"],
      ] as const
    ) {
      await store(harness, "operator-1", { jis });
      const { body } = await profileOf(harness, key);
      assert.deepEqual([body.profile.jis, body.profile.band], [jis, band]);
    }
  }),
);

Deno.test(
  "minimum_data_met becomes true with the 50th interaction",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreMany(harness, key, { count: 49 });
    assert.equal((await profileOf(harness, key)).body.profile.minimum_data_met, false);
    await score(harness, key);
    const { profile } = (await profileOf(harness, key)).body;
    assert.deepEqual([profile.minimum_data_met, profile.total_interactions], [true, 50]);
  }),
);

Deno.test(
  "minimum_data_met becomes true 10 days after the first interaction, to the millisecond, without a write",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    harness.clock.advance(DAY);
    await score(harness, key);
    const before = await harness.rowCounts();
    harness.clock.advance(9 * DAY - 1);
    assert.equal((await profileOf(harness, key)).body.profile.minimum_data_met, false);
    harness.clock.advance(1);
    assert.equal((await profileOf(harness, key)).body.profile.minimum_data_met, true);
    assert.deepEqual(await harness.rowCounts(), before);
  }),
);

Deno.test(
  "a profile's history is the newest 100 of 130 scores, oldest first, those of one instant in their order",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const first = await scoreMany(harness, key, { count: 80 });
    harness.clock.advance(60_000);
    const second = await scoreMany(harness, key, { count: 49 });
    harness.clock.advance(60_000);
    const last = await score(harness, key);
    const { body } = await profileOf(harness, key);
    assert.deepEqual(body.jis_history, [
      ...first.slice(30).map(({ jis }) => ({ timestamp: "2026-11-20T09:00:00.000Z", jis })),
      ...second.map(({ jis }) => ({ timestamp: "2026-11-20T09:01:00.000Z", jis })),
      { timestamp: "2026-11-20T09:02:00.000Z", jis: last.jis },
    ]);
    assert.equal(body.profile.total_interactions, 130);
    assert.equal(body.profile.jis, last.jis);
  }),
);

Deno.test(
  "lite calls show their full-mode score in profile, history, sparkline and list",
  withHarness(async (harness) => {
    const [lite, full] = [await harness.organization("lite"), await harness.organization("full")];
    const same = { decision: "rejected", outcome_correct: false, domain: "legal" };
    const liteAnswer = await score(harness, lite, { ...same, mode: "lite" });
    const fullAnswer = await score(harness, full, same);
    assert.notEqual(liteAnswer.jis, fullAnswer.jis);
    const [ofLite, ofFull] = [await profileOf(harness, lite), await profileOf(harness, full)];
    assert.deepEqual(ofLite.body.profile, ofFull.body.profile);
    assert.deepEqual(ofLite.body.jis_history, [{ timestamp: iso(EPOCH), jis: fullAnswer.jis }]);
    assert.deepEqual(ofLite.body.profile.dimensions, fullAnswer.dimensions);
    assert.deepEqual(ofLite.body.profile.uncertainty, fullAnswer.uncertainty);
    const { body } = await sparklineOf(harness, lite);
    assert.deepEqual(body.points, [{ timestamp: iso(EPOCH), jis: fullAnswer.jis }]);
    const { operators: [row] } = await list(harness, lite, "?include=sparkline");
    assert.deepEqual([row.jis, row.sparkline], [fullAnswer.jis, [fullAnswer.jis]]);
    assert.deepEqual(row.uncertainty, fullAnswer.uncertainty);
  }),
);

Deno.test(
  "a change in 30 days is that from the last score before them; who is new or away has none",
  withHarness(async (harness) => {
    const key = await harness.organization("bank");
    const right = { decision: "accepted", outcome_correct: true, domain: "legal" };
    const wrong = { decision: "accepted", outcome_correct: false, domain: "legal" };
    await score(harness, key, { ...right, operator: "away" });
    const before = await score(harness, key, { ...right, operator: "present" });
    harness.clock.advance(40 * DAY);
    await score(harness, key, { ...wrong, operator: "present" });
    await score(harness, key, { ...right, operator: "new" });
    harness.clock.advance(DAY);
    const last = await score(harness, key, { ...wrong, operator: "present" });
    await score(harness, key, { ...wrong, operator: "new" });
    const { operators } = await list(harness, key, "?include=sparkline");
    assert.notEqual(last.jis, before.jis);
    assert.deepEqual(
      operators.map((row: Json) => [row.operator_id, row.change_30_days]),
      [["away", null], ["new", null], ["present", Math.round((last.jis - before.jis) * 100) / 100]],
    );
    assert.ok(!("change_30_days" in (await list(harness, key)).operators[0]));
  }),
);

Deno.test(
  "a profile has the domain of the last interaction, and the confidence in it",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key, { domain: "healthcare", decision: "rejected", outcome_correct: false });
    const last = await score(harness, key, { domain: "education" });
    const { profile } = (await profileOf(harness, key)).body;
    assert.equal(profile.domain, "education");
    assert.equal(profile.dimensions.domain_confidence, last.dimensions.domain_confidence);
    assert.deepEqual(profile.dimensions, last.dimensions);
  }),
);

Deno.test(
  "a frozen call, a decision, a commit or a repeated call does not change a profile",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const body = scoreRequest({ session_id: "kept" });
    await harness.send("/v1/score", { key, body });
    const before = (await profileOf(harness, key)).body;
    harness.clock.advance(1000);
    for (
      const [path, sent] of [
        ["/v1/score?mode_override=incident_frozen", scoreRequest({ session_id: "frozen" })],
        ["/v1/score", body],
        ["/v1/score/kept/commit", {}],
        ["/v1/decision/score", {
          operator_id: "operator-1",
          domain: "legal",
          time_to_decision_ms: 900,
          decision: "accepted",
        }],
      ] as const
    ) assert.equal((await harness.send(path, { key, body: sent })).status, 200, path);
    const after = (await profileOf(harness, key)).body;
    assert.deepEqual([after.profile, after.jis_history], [before.profile, before.jis_history]);
  }),
);

Deno.test(
  "a late label changes a profile's dimensions at once and its score with the next interaction",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const scored = await score(harness, key, { decision: "rejected", outcome_correct: null });
    const { session_id } = scored;
    await harness.send(`/v1/score/${session_id}/commit`, { key, body: { outcome_correct: false } });
    const { profile, jis_history } = (await profileOf(harness, key)).body;
    assert.equal(profile.jis, scored.jis);
    assert.deepEqual(jis_history, [{ timestamp: iso(EPOCH), jis: scored.jis }]);
    assert.ok(profile.dimensions.domain_confidence < scored.dimensions.domain_confidence);
    assert.ok(profile.uncertainty.effective_n > scored.uncertainty.effective_n);
    const next = await score(harness, key);
    const after = (await profileOf(harness, key)).body.profile;
    assert.deepEqual([after.jis, after.dimensions], [next.jis, next.dimensions]);
  }),
);

Deno.test(
  "two organizations with an operator of the same id each see their own, in every read",
  withHarness(async (harness) => {
    const [one, two] = [await harness.organization("one"), await harness.organization("two")];
    await score(harness, one);
    harness.clock.advance(60_000);
    await score(harness, two);
    const theirs = await score(harness, two, { outcome_correct: false, time_to_decision_ms: 1400 });
    assert.notEqual(theirs.jis, 66.3);
    for (
      const [key, count, at, jis] of [
        [one, 1, "2026-11-20T09:00:00.000Z", 66.3],
        [two, 2, "2026-11-20T09:01:00.000Z", theirs.jis],
      ] as const
    ) {
      const { profile, jis_history } = (await profileOf(harness, key)).body;
      assert.deepEqual([profile.total_interactions, profile.jis, jis_history.length], [count, jis, count]);
      const { points, current } = (await sparklineOf(harness, key)).body;
      assert.deepEqual([points, current], [[{ timestamp: at, jis }], jis]);
      const { operators } = await list(harness, key, "?include=sparkline");
      assert.deepEqual(operators.map((row: Json) => [row.jis, row.sparkline]), [[jis, [jis]]]);
    }
  }),
);

Deno.test("a profile and its history are of one state, also if another interaction is written between two reads", async () => {
  let armed = false;
  let written = 0;
  const harness = await openHarness({
    wrap(database) {
      const columns =
        "org_id, operator_id, request_digest, request_id, domain, decision, scenario_type, mode, departure, " +
        "position, committed, low, high, d1, d2, d3, d4, d5, d6, d7, mean_c, t0, ground_truth, tcrit, " +
        "crit_count, share_hs, share_crit, departed, referred";
      /** Writes one more interaction, and the state after it. */
      const write = async () => {
        if (!armed) return;
        written += 1;
        await database.batch([
          {
            sql: `INSERT INTO interaction (session_id, at, t1, jis, n, previous, ${columns})
              SELECT 'written-${written}', at + ${written}, t1 + ${written}, 10 + ${written}, n + ${written},
                position, ${columns} FROM interaction WHERE session_id = 'first'`,
            parameters: [],
          },
          {
            sql: `UPDATE operator SET state = json_set(state, '$.n', ${1 + written}, '$.jis', ${10 + written},
              '$.t1', t1 + 1)`,
            parameters: [],
          },
        ]);
        await resealed({ database, seals: harness.dependencies.seals });
      };
      return writingAfterReads(database, write);
    },
  });
  try {
    const key = await harness.organization("acme");
    await harness.send("/v1/score", { key, body: scoreRequest({ session_id: "first" }) });
    armed = true;
    for (let read = 0; read < 3; read += 1) {
      const { profile, jis_history } = (await profileOf(harness, key)).body;
      assert.equal(profile.total_interactions, jis_history.length);
      assert.equal(profile.jis, jis_history.at(-1).jis);
      assert.equal(profile.last_interaction_at, jis_history.at(-1).timestamp);
      const { current, points } = (await sparklineOf(harness, key)).body;
      assert.equal(current, points.at(-1).jis);
    }
    assert.ok(written >= 6, `${written} writes landed`);
  } finally {
    await harness.abandon();
  }
});

// ---- profile, refusals ------------------------------------------------------------------------------------

Deno.test(
  "a profile of an unknown operator, or of another organization's, is 404; an id out of its pattern is 422",
  withHarness((harness) => refusesOperators(harness, (operator) => `/v1/operator/${operator}/profile`)),
);

// ---- sparkline, 200 ---------------------------------------------------------------------------------------

Deno.test(
  "a sparkline has one point for each UTC day with a score: the last score of the day",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const { clock } = harness;
    await score(harness, key);
    clock.advance(15 * 3_600_000 - 1);
    const lastOfDay = await score(harness, key);
    assert.equal(lastOfDay.timestamp, "2026-11-20T23:59:59.999Z");
    clock.advance(1);
    await score(harness, key, { decision: "rejected" });
    const [, twin] = await scoreMany(harness, key, { count: 2 });
    // A day without a score has no point.
    clock.advance(2 * DAY);
    const newest = await score(harness, key);
    const { status, body } = await sparklineOf(harness, key);
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), [
      "current",
      "days",
      "max",
      "min",
      "operator_id",
      "points",
      "request_id",
      "timestamp",
      "trend",
      "uncertainty",
      "verdict",
    ]);
    assert.deepEqual(body.points, [
      { timestamp: "2026-11-20T23:59:59.999Z", jis: lastOfDay.jis },
      { timestamp: "2026-11-21T00:00:00.000Z", jis: twin!.jis },
      { timestamp: "2026-11-23T00:00:00.000Z", jis: newest.jis },
    ]);
    assert.deepEqual([body.operator_id, body.days, body.current], ["operator-1", 30, newest.jis]);
    const values = body.points.map(({ jis }: Json) => jis);
    assert.deepEqual([body.min, body.max], [Math.min(...values), Math.max(...values)]);
    assert.deepEqual(body.uncertainty, newest.uncertainty);
  }),
);

Deno.test(
  "a sparkline's window is whole UTC days and ends with today: days=1 is today alone",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const { clock } = harness;
    const first = await score(harness, key);
    clock.advance(DAY);
    const second = await score(harness, key);
    const pointsIn = async (query: string) => {
      const { body } = await sparklineOf(harness, key, query);
      return body.points.map(({ jis }: Json) => jis);
    };
    assert.deepEqual(await pointsIn("?days=1"), [second.jis]);
    assert.deepEqual(await pointsIn("?days=2"), [first.jis, second.jis]);
    // The last millisecond of today, and the first of tomorrow.
    clock.advance(15 * 3_600_000 - 1);
    assert.deepEqual(await pointsIn("?days=1"), [second.jis]);
    clock.advance(1);
    assert.deepEqual(await pointsIn("?days=1"), []);
    assert.deepEqual(await pointsIn("?days=2"), [second.jis]);
  }),
);

Deno.test(
  "a sparkline of 365 days begins on the day 364 days ago, and by default it has 30 days",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const { clock } = harness;
    const first = await score(harness, key);
    clock.advance(29 * DAY);
    assert.equal((await sparklineOf(harness, key)).body.points.length, 1);
    clock.advance(DAY);
    const outside = (await sparklineOf(harness, key)).body;
    assert.deepEqual([outside.points, outside.min, outside.max], [[], null, null]);
    assert.equal(outside.current, first.jis);
    clock.advance(334 * DAY);
    const { body } = await sparklineOf(harness, key, "?days=365");
    assert.deepEqual(body.points, [{ timestamp: iso(EPOCH), jis: first.jis }]);
    assert.equal(body.days, 365);
    clock.advance(DAY);
    assert.deepEqual((await sparklineOf(harness, key, "?days=365")).body.points, []);
  }),
);

Deno.test(
  "a sparkline's trend is that of the last score's decay projection",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreMany(harness, key, { count: 40 });
    let last: Json;
    for (let index = 0; index < 12; index += 1) {
      last = await score(harness, key, { time_to_decision_ms: 900, outcome_correct: false });
    }
    const { trend, current } = (await sparklineOf(harness, key)).body;
    assert.ok(last.decay_projection.current_trend < -1, `${last.decay_projection.current_trend}`);
    assert.equal(trend, last.decay_projection.current_trend);
    assert.equal(current, last.jis);
  }),
);

Deno.test(
  "format=svg is a picture with title, description and threshold line, under a policy without script",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    harness.clock.advance(DAY);
    await score(harness, key, { time_to_decision_ms: 1400, outcome_correct: false });
    const { status, headers, text } = await sparklineOf(harness, key, "?days=7&format=svg");
    assert.equal(status, 200);
    assert.equal(headers.get("Content-Type"), "image/svg+xml");
    assert.match(headers.get("Content-Security-Policy")!, /^default-src 'none'; style-src 'sha256-[^']+';/);
    assert.doesNotMatch(headers.get("Content-Security-Policy")!, /unsafe|script-src/);
    assert.match(headers.get("X-Request-Id")!, /^01TEST/);
    assert.equal(headers.get("Cache-Control"), "no-store");
    assert.equal(headers.get("X-Content-Type-Options"), "nosniff");
    assert.match(text, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" role="img"/);
    assert.match(text, /<title>JIS of operator operator-1, last 7 days<\/title>/);
    assert.match(text, /<desc>[^<]+66\.3[^<]+<\/desc>/);
    const line = /<line x1="36" x2="420" y1="([\d.]+)" y2="([\d.]+)"[^>]*stroke-dasharray/.exec(text);
    // 60 of 100 points up from the foot of the plot at 132 to its top at 14.
    assert.deepEqual([line?.[1], line?.[2]], ["61.2", "61.2"]);
    assert.match(text, /minimum 60/);
    assert.equal(text.match(/<circle /g)?.length, 2);
    assert.doesNotMatch(text, /<script|javascript:|request_id/);
  }),
);

Deno.test(
  "a sparkline has the verdict of the profile: the word in its JSON, a sentence in its picture",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    const { body } = await harness.send("/v1/operator/operator-1/profile", { key });
    const { verdict } = body.profile;
    assert.equal(verdict.doubt, "too_few_wrong_cases");
    assert.equal((await sparklineOf(harness, key)).body.verdict, verdict.status);
    const { text } = await sparklineOf(harness, key, "?format=svg");
    assert.ok(text.includes(`<desc>${verdictInWords(verdict)} `), text);
  }, { model: JIS_2_0_0 }),
);

Deno.test(
  "the picture of a window without a score says so in words",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    harness.clock.advance(2 * DAY);
    const { status, text } = await sparklineOf(harness, key, "?days=1&format=svg");
    assert.equal(status, 200);
    assert.match(text, /No interactions in the last day/);
    assert.doesNotMatch(text, /<circle |NaN|undefined/);
  }),
);

// ---- sparkline, refusals ----------------------------------------------------------------------------------

Deno.test(
  "a sparkline of an unknown or another organization's operator is 404; an id out of its pattern is 422",
  withHarness(async (harness) => {
    await refusesOperators(harness, (operator) => `/v1/operator/${operator}/sparkline`);
  }),
);

Deno.test(
  "an SVG of an unknown operator is 404 in the JSON envelope",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await refuses(harness, {
      name: "svg",
      path: "/v1/operator/nobody/sparkline?format=svg",
      request: { key },
      status: 404,
      code: "NOT_FOUND",
      names: "nobody",
    });
  }),
);

Deno.test(
  "days that are not a whole number from 1 to 365, and parameters empty or repeated, are 422",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    const bad = ["0", "366", "1.5", "7%20", "%207", "-1", "1e1", "0x7", "07", "+7", "seven", "NaN", ""];
    const queries: readonly (readonly [string, string])[] = [
      ...bad.map((days) => [`days=${days}`, "days"] as const),
      ["days=7&days=7", "days"],
      ["days=7&days=", "days"],
      ["format=png", "format"],
      ["format=", "format"],
      ["format=SVG", "format"],
      ["format=svg&format=svg", "format"],
    ];
    for (const [query, names] of queries) {
      await refuses(harness, {
        name: query,
        path: `/v1/operator/operator-1/sparkline?${query}`,
        request: { key },
        status: 422,
        code: "VALIDATION_FAILED",
        names,
      });
    }
  }),
);

// ---- operators, 200 ---------------------------------------------------------------------------------------

Deno.test(
  "a row of the operators' list has the operator's figures, and no sparkline unless it is asked for",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const last = await score(harness, key, { domain: "insurance" });
    const body = await list(harness, key);
    assert.deepEqual(Object.keys(body).sort(), [
      "count",
      "next_cursor",
      "operators",
      "request_id",
      "timestamp",
    ]);
    const row = {
      operator_id: "operator-1",
      team: null,
      domain: "insurance",
      jis: last.jis,
      band: "adequate",
      minimum_data_met: false,
      total_interactions: 1,
      uncertainty: last.uncertainty,
      verdict: null,
      high_risk: false,
      critical_decision: false,
      last_interaction_at: "2026-11-20T09:00:00.000Z",
    };
    assert.deepEqual(body.operators, [row]);
    assert.deepEqual([body.count, body.next_cursor], [1, null]);
    assert.deepEqual((await list(harness, key, "?include=sparkline")).operators, [
      { ...row, sparkline: [last.jis], change_30_days: null },
    ]);
  }),
);

Deno.test(
  "an organization without operators has an empty list",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    for (const query of ["", "?include=sparkline", "?band=at_risk&sort=-jis&limit=200"]) {
      const { operators, count, next_cursor } = await list(harness, key, query);
      assert.deepEqual([operators, count, next_cursor], [[], 0, null], query);
    }
  }),
);

Deno.test(
  "with include=sparkline each row has the last score of each of the last 30 days, oldest first",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const { clock } = harness;
    await score(harness, key, { operator: "a" });
    clock.advance(DAY);
    const a1 = await score(harness, key, { operator: "a", decision: "rejected" });
    await score(harness, key, { operator: "b" });
    const b1 = await score(harness, key, { operator: "b", decision: "rejected" });
    clock.advance(28 * DAY);
    const a2 = await score(harness, key, { operator: "a" });
    await score(harness, key, { operator: "c" });
    clock.advance(DAY);
    const { operators } = await list(harness, key, "?include=sparkline");
    assert.deepEqual(
      operators.map(({ operator_id, sparkline }: Json) => [operator_id, sparkline]),
      [["a", [a1.jis, a2.jis]], ["b", [b1.jis]], ["c", [66.3]]],
    );
    clock.advance(DAY);
    const later = await list(harness, key, "?include=sparkline");
    assert.deepEqual(later.operators.map(({ sparkline }: Json) => sparkline), [[a2.jis], [], [66.3]]);
  }),
);

/** Six operators with ties in every order: two have the same JIS, two the same last instant. */
async function sixOperators(harness: Harness, key: string): Promise<void> {
  const wrong = { outcome_correct: false, time_to_decision_ms: 1400 };
  const right = {};
  for (
    const [minute, operator, how] of [
      [0, "B", right],
      [0, "a", wrong],
      [1, "d", right],
      [2, "c", wrong],
      [2, "_x", right],
      [3, "0", { decision: "escalated", outcome_correct: null }],
    ] as const
  ) {
    const now = EPOCH + minute * 60_000;
    harness.clock.advance(now - harness.clock.now());
    await score(harness, key, { operator, ...how });
  }
}

const ORDERS = {
  // In the order of the ids' code points.
  "operator_id": ["0", "B", "_x", "a", "c", "d"],
  "-operator_id": ["d", "c", "a", "_x", "B", "0"],
  "jis": ["a", "c", "0", "B", "_x", "d"],
  "-jis": ["d", "_x", "B", "0", "c", "a"],
  "last_interaction_at": ["B", "a", "d", "_x", "c", "0"],
  "-last_interaction_at": ["0", "c", "_x", "d", "a", "B"],
  // Nobody has a verdict yet: those of one verdict are in the order of their JIS.
  "verdict": ["a", "c", "0", "B", "_x", "d"],
  "-verdict": ["d", "_x", "B", "0", "c", "a"],
} as const;

Deno.test(
  "the list can be sorted by id, score or last interaction, with ties by id; the default is by id",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await sixOperators(harness, key);
    for (const [sort, ids] of Object.entries(ORDERS)) {
      const body = await list(harness, key, `?sort=${sort}`);
      assert.deepEqual(idsOf(body), ids, sort);
      assert.deepEqual([body.count, body.next_cursor], [6, null]);
    }
    assert.deepEqual(idsOf(await list(harness, key)), ORDERS.operator_id);
    const { operators } = await list(harness, key, "?sort=jis");
    const scores = operators.map(({ jis }: Json) => jis);
    assert.deepEqual(scores, scores.toSorted((a: number, b: number) => a - b));
    assert.equal(scores[0], scores[1]);
    assert.equal(scores[4], scores[5]);
  }),
);

Deno.test(
  "pages of 1, 2, 5 and 6 visit every operator exactly once in each order, and the last has no cursor",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await sixOperators(harness, key);
    for (const [sort, ids] of Object.entries(ORDERS)) {
      for (const limit of [1, 2, 5, 6, 200]) {
        const all = await pages(harness, key, { query: `sort=${sort}&limit=${limit}` });
        assert.deepEqual(all.flatMap(idsOf), ids, `${sort}, ${limit}`);
        assert.equal(all.length, Math.ceil(6 / limit), `${sort}, ${limit}: no empty page`);
        assert.ok(all.every(({ operators, count }) => operators.length === count && count <= limit));
      }
    }
  }),
);

Deno.test(
  "paging visits every operator whose score does not change exactly once, while others are scored and added",
  withHarness(async (harness) => {
    for (const [sort, ids] of Object.entries(ORDERS)) {
      const key = await harness.organization(`paging-${sort}`);
      await sixOperators(harness, key);
      let turn = 0;
      const between = () => {
        turn += 1;
        // One operator moves to and fro in every order, and others are added on both sides of the cursor.
        return Promise.all([
          score(harness, key, {
            operator: "d",
            outcome_correct: turn % 2 === 0,
            time_to_decision_ms: turn % 2 === 0 ? 14200 : 1000,
          }),
          turn > 4 ? null : score(harness, key, { operator: `${"Z_a0"[turn - 1]}new-${turn}` }),
        ]);
      };
      harness.clock.advance(60_000);
      const all = await pages(harness, key, { query: `sort=${sort}&limit=1`, between });
      const seen = all.flatMap(idsOf);
      for (const id of ids.filter((id) => id !== "d")) {
        assert.equal(seen.filter((other) => other === id).length, 1, `${sort}: ${id} in ${seen}`);
      }
      if (sort === "operator_id") assert.equal(new Set(seen).size, seen.length);
    }
  }),
);

Deno.test(
  "paging works with ids of the greatest length, and together with a filter and sparklines",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const ids = ["a", "b", "c"].map((letter) => letter.repeat(256));
    for (const operator of ids) await score(harness, key, { operator });
    await score(harness, key, { operator: "at-risk", outcome_correct: false, time_to_decision_ms: 1000 });
    for (const sort of Object.keys(ORDERS)) {
      const all = await pages(harness, key, {
        query: `sort=${sort}&limit=1&band=adequate&include=sparkline`,
      });
      assert.deepEqual(all.flatMap(idsOf).toSorted(), ids, sort);
      assert.ok(all.every(({ operators: [row] }) => row.sparkline.length === 1));
    }
  }),
);

Deno.test(
  "the band filter has its edges at exactly 60, 75 and 85",
  withAlterations(async (harness) => {
    const key = await harness.organization("acme");
    const scores = [100, 85, 84.99, 75, 74.99, 60, 59.99, 0];
    for (const jis of scores) {
      const operator = `at-${String(jis).replace(".", "_")}`;
      await score(harness, key, { operator });
      await store(harness, operator, { jis });
    }
    for (
      const [band, expected] of [
        ["exemplary", [100, 85]],
        ["proficient", [84.99, 75]],
        ["adequate", [74.99, 60]],
        ["at_risk", [59.99, 0]],
      ] as const
    ) {
      const { operators, count } = await list(harness, key, `?band=${band}&sort=-jis`);
      assert.deepEqual(operators.map(({ jis }: Json) => jis), expected, band);
      assert.ok(operators.every((row: Json) => row.band === band));
      assert.equal(count, 2);
      const all = await pages(harness, key, { query: `band=${band}&sort=jis&limit=1` });
      assert.deepEqual(all.flatMap(({ operators }) => operators.map(({ jis }: Json) => jis)), [
        expected[1],
        expected[0],
      ]);
    }
  }),
);

Deno.test(
  "the list can be searched by a part of a name, in either case, with filters, in each order and page by page",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const other = await harness.organization("other");
    await score(harness, other, { operator: "anna-lee" });
    for (const operator of ["anna-lee", "JoAnna_P", "hannah", "ben", "x_y", "x-y", "an"]) {
      await score(harness, key, { operator });
    }
    await score(harness, key, { operator: "ANNA-low", outcome_correct: false, time_to_decision_ms: 1400 });
    const found = ["ANNA-low", "JoAnna_P", "anna-lee", "hannah"];
    for (const q of ["anna", "ANNA", "nNa"]) {
      assert.deepEqual(idsOf(await list(harness, key, `?q=${q}`)), found, q);
    }
    // No character has a meaning of its own.
    assert.deepEqual(idsOf(await list(harness, key, "?q=_y")), ["x_y"]);
    for (const q of ["nobody", "a_n", "n".repeat(128)]) {
      const { operators, count, next_cursor } = await list(harness, key, `?q=${q}`);
      assert.deepEqual([operators, count, next_cursor], [[], 0, null], q);
    }
    assert.deepEqual(idsOf(await list(harness, key, "?q=anna&band=at_risk")), ["ANNA-low"]);
    for (const sort of Object.keys(ORDERS)) {
      const whole = idsOf(await list(harness, key, `?q=anna&sort=${sort}`));
      const all = await pages(harness, key, { query: `q=anna&sort=${sort}&limit=1&include=sparkline` });
      assert.deepEqual(all.flatMap(idsOf), whole, sort);
      assert.deepEqual(whole.toSorted(), found, sort);
      assert.equal(all.length, 4, `${sort}: no empty page`);
      assert.ok(all.every(({ operators: [row] }) => row.sparkline.length === 1));
    }
  }),
);

Deno.test(
  "unknown parameters of the list are ignored, also empty and repeated ones",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    const { operators } = await list(harness, key, "?page=2&offset=9&offset=8&order=&LIMIT=0&Sort=nonsense");
    assert.equal(operators.length, 1);
  }),
);

Deno.test(
  "an operator who left the dashboard long ago is still listed, with an empty sparkline",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    harness.clock.advance(400 * DAY);
    const { operators: [row] } = await list(harness, key, "?include=sparkline");
    assert.deepEqual([row.operator_id, row.sparkline, row.minimum_data_met], ["operator-1", [], true]);
    assert.equal(row.last_interaction_at, "2026-11-20T09:00:00.000Z");
    const { body } = await harness.send("/v1/organization/dashboard", { key });
    assert.equal(body.dashboard.total_operators, 0);
  }),
);

Deno.test(
  "the list never shows another organization's operators, in any order, filter or cursor",
  withHarness(async (harness) => {
    const [one, two] = [await harness.organization("one"), await harness.organization("two")];
    for (const operator of ["a", "b", "c"]) await score(harness, one, { operator });
    for (const operator of ["a", "bb", "cc"]) {
      await score(harness, two, { operator, outcome_correct: false, time_to_decision_ms: 1400 });
    }
    for (const sort of Object.keys(ORDERS)) {
      const all = await pages(harness, one, { query: `sort=${sort}&limit=1&include=sparkline` });
      const rows = all.flatMap(({ operators }) => operators);
      assert.deepEqual(rows.map(({ operator_id }: Json) => operator_id).toSorted(), ["a", "b", "c"]);
      assert.ok(rows.every(({ jis, sparkline }: Json) => jis === 66.3 && sparkline.join() === "66.3"));
      // A cursor says where a page starts, not whose page it is.
      const [first] = await pages(harness, two, { query: `sort=${sort}&limit=1` });
      const rest = await list(harness, one, `?sort=${sort}&cursor=${first.next_cursor}`);
      assert.ok(idsOf(rest).every((id) => ["a", "b", "c"].includes(id)));
    }
    assert.deepEqual((await list(harness, one, "?band=at_risk")).operators, []);
  }),
);

Deno.test(
  "high_risk is an operator with enough data in a high-risk domain, or with a tenth of grave cases",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const { clock } = harness;
    await score(harness, key, { operator: "by-domain", domain: "financial" });
    await score(harness, key, { operator: "by-share", scenario_type: "high_stakes" });
    await score(harness, key, { operator: "neither" });
    // 1 of 10 is a tenth, 1 of 11 is less.
    for (const [operator, standard] of [["tenth", 9], ["less", 10]] as const) {
      await score(harness, key, { operator, scenario_type: "high_stakes" });
      for (let index = 0; index < standard; index += 1) await score(harness, key, { operator });
    }
    const flags = async () => {
      const { operators } = await list(harness, key);
      return operators.filter(({ high_risk }: Json) => high_risk).map(({ operator_id }: Json) => operator_id);
    };
    clock.advance(10 * DAY - 1);
    assert.deepEqual(await flags(), []);
    clock.advance(1);
    assert.deepEqual(await flags(), ["by-domain", "by-share", "tenth"]);
    // The domain is that of the last interaction.
    await score(harness, key, { operator: "by-domain" });
    assert.deepEqual(await flags(), ["by-share", "tenth"]);
  }),
);

Deno.test(
  "critical_decision holds for 90 days after a critical case, to the millisecond, with any data, without a write",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key, { operator: "critical", scenario_type: "critical" });
    await score(harness, key, { operator: "standard", scenario_type: "high_stakes" });
    const flags = async () =>
      (await list(harness, key)).operators.map((row: Json) => [row.operator_id, row.critical_decision]);
    const yes = [["critical", true], ["standard", false]];
    assert.deepEqual(await flags(), yes);
    harness.clock.advance(90 * DAY);
    assert.deepEqual(await flags(), yes);
    harness.clock.advance(1);
    assert.deepEqual(await flags(), [["critical", false], ["standard", false]]);
  }),
);

Deno.test(
  "critical_decision holds for good if critical cases are frequent: at least 3, and a fiftieth of recent cases",
  withAlterations(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    const flag = async (fields: Record<string, number | null>) => {
      await store(harness, "operator-1", { tcrit: null, ...fields });
      return (await list(harness, key)).operators[0].critical_decision;
    };
    assert.equal(await flag({ "cnt.crit": 3, "share.crit": 0.02 }), true);
    assert.equal(await flag({ "cnt.crit": 2, "share.crit": 0.02 }), false);
    assert.equal(await flag({ "cnt.crit": 3, "share.crit": 0.019999999 }), false);
    assert.equal(await flag({ "cnt.crit": 3, "share.crit": 0.02, tcrit: EPOCH - 91 * DAY }), true);
  }),
);

// ---- operators, refusals ----------------------------------------------------------------------------------

const base64url = (text: string) =>
  new TextEncoder().encode(text).toBase64({ alphabet: "base64url", omitPadding: true });

Deno.test(
  "a parameter of the list with an unknown value is 422 and is named",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    const limits = ["0", "201", "-1", "1.0", "1e1", "01", "ten", "", "2%20", "99999999999999999999"];
    const queries: readonly (readonly [string, string])[] = [
      ...limits.map((limit) => [`limit=${limit}`, "limit"] as const),
      ["limit=1&limit=2", "limit"],
      ["band=Exemplary", "band"],
      ["band=", "band"],
      ["band=at_risk&band=adequate", "band"],
      ["sort=--jis", "sort"],
      ...["", "%25", "*", "a%20n", "%C3%85", "%E2%84%AA", "a%00"].map((q) => [`q=${q}`, "q"] as const),
      [`q=${"a".repeat(129)}`, "q"],
      ["q=a&q=b", "q"],
      ["sort=JIS", "sort"],
      ["sort=", "sort"],
      ["include=profile", "include"],
      ["include=", "include"],
      ["include=sparkline&include=sparkline", "include"],
    ];
    for (const [query, names] of queries) {
      await refuses(harness, {
        name: query,
        path: `/v1/organization/operators?${query}`,
        request: { key },
        status: 422,
        code: "VALIDATION_FAILED",
        names,
      });
    }
  }),
);

Deno.test(
  "a cursor of another order, cut off, garbled or of other JSON is 422",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    for (const operator of ["a", "b"]) await score(harness, key, { operator });
    const cursors = new Map<string, string>();
    for (const sort of Object.keys(ORDERS)) {
      cursors.set(sort, (await list(harness, key, `?limit=1&sort=${sort}`)).next_cursor);
    }
    const own = cursors.get("jis")!;
    const bad: readonly (readonly [string, string, string])[] = [
      ...[...cursors].filter(([sort]) => sort !== "jis").map(([sort, cursor]) =>
        [`of ${sort}`, "jis", cursor] as const
      ),
      ["of jis", "-jis", own],
      ["of jis, by default", "operator_id", own],
      ["of operator_id", "-operator_id", cursors.get("operator_id")!],
      ["of last_interaction_at", "-last_interaction_at", cursors.get("last_interaction_at")!],
      ["cut by one", "jis", own.slice(0, -1)],
      ["cut in half", "jis", own.slice(0, own.length / 2)],
      ["grown", "jis", `${own}A`],
      ["empty", "jis", ""],
      ["garbage", "jis", "%C2%A4%C2%A4"],
      ["a space", "jis", "%20"],
      ["padded", "jis", `${own}====`],
      ["bytes that are not UTF-8", "jis", "_____w"],
      ["too long", "jis", "A".repeat(1025)],
      ...[
        "null",
        "{}",
        "[]",
        "7",
        '"jis"',
        '{"sort":"jis"}',
        '{"sort":"jis","value":66.3}',
        '{"sort":"jis","value":"66.3","operatorId":"a"}',
        '{"sort":"jis","value":null,"operatorId":"a"}',
        '{"sort":"jis","value":1e999,"operatorId":"a"}',
        '{"sort":"jis","value":66.3,"operatorId":7}',
        '{"sort":"jis","value":66.3,"operatorId":"a","limit":1}',
        '{"sort":"t1","value":66.3,"operatorId":"a"}',
      ].map((json) => [json, "jis", base64url(json)] as const),
    ];
    for (const [name, sort, cursor] of bad) {
      await refuses(harness, {
        name,
        path: `/v1/organization/operators?sort=${sort}&cursor=${cursor}`,
        request: { key },
        status: 422,
        code: "VALIDATION_FAILED",
        names: "cursor",
      });
    }
    await refuses(harness, {
      name: "twice",
      path: `/v1/organization/operators?sort=jis&cursor=${own}&cursor=${own}`,
      request: { key },
      status: 422,
      code: "VALIDATION_FAILED",
      names: "cursor",
    });
    assert.deepEqual(idsOf(await list(harness, key, `?sort=jis&cursor=${own}`)), ["b"]);
  }),
);

// ---- authentication and headers ---------------------------------------------------------------------------

Deno.test(
  "all three reads need a key, state what is left of its limit, and write nothing",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    const before = await harness.rowCounts();
    const paths = ["operator/operator-1/profile", "operator/operator-1/sparkline", "organization/operators"];
    for (const path of paths.map((path) => `/v1/${path}`)) {
      const refused: readonly RequestOptions[] = [{}, { key: UNKNOWN_KEY }, { key: `${key}x` }];
      for (const request of refused) {
        const answer: Answer = await harness.send(path, request);
        assert.deepEqual([answer.status, answer.body.error.code], [401, "UNAUTHORIZED"], path);
      }
      const { status, headers } = await harness.send(path, { key });
      assert.equal(status, 200);
      assert.equal(headers.get("Cache-Control"), "no-store");
      for (const name of ["Limit", "Remaining", "Reset"]) {
        assert.match(headers.get(`X-RateLimit-${name}`)!, /^\d+$/, `${path}: ${name}`);
      }
    }
    assert.deepEqual(await harness.rowCounts(), before);
  }),
);
