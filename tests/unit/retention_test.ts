/**
 * Retention: what is pruned and when, that the rest still verifies, the answers to pruned names, and that no
 * removed byte is left in a file. Every test ends with the oracle.
 * Source: evidence design, section 9; contract, section 2.
 */
import assert from "node:assert/strict";
import { verifyDocument } from "../../src/evidence/document.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { directCall } from "../../src/operations/organizations/organization_change.ts";
import { rotateByHand } from "../../src/operations/organizations/organization_states.ts";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import { Upkeep } from "../../src/operations/installation/upkeep.ts";
import type { Database } from "../../src/store/database.ts";
import { type Row, rowsOf } from "../earlier_schema.ts";
import {
  type Answer,
  EPOCH,
  type Harness,
  type HarnessOptions,
  openHarness,
  type RequestOptions,
  scoreRequest,
  withHarness,
} from "../harness.ts";
import { refuses } from "../scenario.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Retention of evidence in these tests, in days. */
const KEPT_DAYS = 30;
const KEPT: HarnessOptions = { evidenceRetentionDays: KEPT_DAYS };

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

// ---- fixtures ---------------------------------------------------------------------------------------------

async function ask({ send }: Pick<Harness, "send">, path: string, request: RequestOptions): Promise<Answer> {
  const answer = await send(path, request);
  assert.equal(answer.status, 200, `${path}: ${answer.text}`);
  return answer;
}

const unlabelled = (session: string, operator = "operator-1") =>
  scoreRequest({ session_id: session, operator_id: operator }, { outcome_correct: null });

async function score(harness: Harness, key: string, session: string): Promise<Json> {
  return (await ask(harness, "/v1/score", { key, body: unlabelled(session) })).body;
}

const decisionOf = (id: string) => ({
  decision_id: id,
  operator_id: "operator-1",
  domain: "general",
  time_to_decision_ms: 5000,
  decision: "accepted",
});

const batchOf = (name: string) => ({
  operator_id: "operator-2",
  domain: "general",
  interactions: ["a", "b", "c"].map((suffix) => ({
    session_id: `${name}-${suffix}`,
    time_to_decision_ms: 5000,
    decision: "accepted",
  })),
});

/** The path of a report of the present day. */
function reportOf({ clock }: Harness): string {
  const [start, end] = [clock.now(), clock.now() + DAY].map((at) => new Date(at).toISOString().slice(0, 10));
  return `/v1/compliance/report?period_start=${start}&period_end=${end}`;
}

/** Makes one record of every kind in an evidence chain; returns the report's id. */
async function writeDay(harness: Harness, key: string, name: string): Promise<string> {
  await score(harness, key, `${name}-score`);
  await score(harness, key, `${name}-committed`);
  await ask(harness, `/v1/score/${name}-committed/commit`, { key, body: { outcome_correct: true } });
  await ask(harness, "/v1/score?mode_override=incident_frozen", { key, body: unlabelled(`${name}-frozen`) });
  await ask(harness, "/v1/score/batch", { key, body: batchOf(name) });
  await ask(harness, "/v1/decision/score", { key, body: decisionOf(`${name}-decision`) });
  return (await ask(harness, reportOf(harness), { key })).body.report.report_id;
}

/** Adds an entry to the organization's audit log by rotating its key; returns the new key. */
async function note({ dependencies, clock }: Harness): Promise<string> {
  const call = directCall("acme", { now: clock.now(), requestId: "" });
  return String((await rotateByHand(dependencies, { actor: "system" }, call)).body.new_api_key);
}

const prune = ({ dependencies, clock }: Harness) => pruneChains(dependencies, clock.now());

async function prunedOf(database: Database, chain: string): Promise<readonly Json[]> {
  const rows = await rowsOf(
    database,
    `SELECT seq, data FROM audit_entry JOIN audit_part USING (chain, seq)
      WHERE chain = '${chain}' AND event_type = 'RETENTION_PRUNED' ORDER BY seq`,
  );
  return rows.map(({ seq, data }) => {
    const { root, origin, ...detail } = JSON.parse(String(data));
    assert.match(root, /^[0-9a-f]{64}$/);
    assert.ok(origin.endsWith(`/${chain}`));
    return { seq, ...detail };
  });
}

interface Kept {
  readonly from: unknown;
  readonly size: unknown;
  readonly min_index: unknown;
}

/** The first stored entry of a chain, its size, and the first entry that is kept. */
async function keptOf({ database }: Pick<Harness, "database">, chain: string): Promise<Kept> {
  const [row] = await rowsOf(
    database,
    `SELECT (SELECT min(seq) FROM audit_entry WHERE chain = '${chain}') AS "from", size, min_index
      FROM audit_chain WHERE chain = '${chain}'`,
  );
  return row as unknown as Kept;
}

/** The entry in the 410 of a pruned record: the newest RETENTION_PRUNED of the chain. */
async function causeOf({ database }: Pick<Harness, "database">): Promise<Row> {
  const [row] = await rowsOf(
    database,
    `SELECT seq, lower(hex(entry_hash)) AS entry_hash FROM audit_entry
      WHERE chain = 'org/acme' AND event_type = 'RETENTION_PRUNED' ORDER BY seq DESC LIMIT 1`,
  );
  return row!;
}

interface NamedCall {
  readonly path: string;
  readonly body?: unknown;
}

/** Calls about a day's records that are answered as before as long as they are kept. */
function repeatsOf(name: string, reportId: string): readonly NamedCall[] {
  return [
    { path: `/v1/decision/replay/${name}-score` },
    { path: `/v1/decision/replay/${name}-committed` },
    { path: `/v1/decision/replay/${name}-b` },
    { path: `/v1/decision/replay/${name}-decision` },
    { path: `/v1/compliance/report/${reportId}` },
    { path: "/v1/score", body: unlabelled(`${name}-score`) },
    { path: "/v1/score", body: unlabelled(`${name}-committed`) },
    { path: `/v1/score/${name}-committed/commit`, body: { outcome_correct: true } },
    { path: "/v1/score/batch", body: batchOf(name) },
    { path: "/v1/decision/score", body: decisionOf(`${name}-decision`) },
  ];
}

/** Other calls that name them: a later commit, and names that are used otherwise. */
function othersOf(name: string, reportId: string): readonly NamedCall[] {
  return [
    { path: `/v1/compliance/report/${reportId}?format=html` },
    { path: `/v1/score/${name}-score/commit`, body: {} },
    { path: `/v1/score/${name}-score/commit`, body: { outcome_correct: true } },
    { path: "/v1/score", body: unlabelled(`${name}-score`, "somebody-else") },
    { path: "/v1/score", body: unlabelled(`${name}-a`) },
    { path: "/v1/score", body: unlabelled(`${name}-decision`) },
    { path: "/v1/decision/score", body: decisionOf(`${name}-score`) },
  ];
}

/** The answer without its request id, time and evidence. */
function contentOf(
  { body: { request_id: _id, timestamp: _timestamp, evidence: _evidence, ...content } }: Answer,
) {
  return content;
}

async function areGone(
  harness: Harness,
  key: string,
  { calls, cause }: { readonly calls: readonly NamedCall[]; readonly cause?: Row },
): Promise<void> {
  const entry = cause ?? await causeOf(harness);
  const before = await harness.rowCounts();
  for (const { path, ...request } of calls) {
    const { status, body: { error } } = await harness.send(path, { key, ...request });
    const where = `${path} ${JSON.stringify(request)}`;
    assert.deepEqual([status, error.code], [410, "GONE"], where);
    assert.deepEqual(error.details, { reason: "pruned", entry }, where);
  }
  assert.deepEqual(await harness.rowCounts(), before, "nothing is written");
}

// ---- removals ---------------------------------------------------------------------------------------------

Deno.test(
  "an admin chain is pruned at the end of the last day before its 90, by an entry that states the range, and evidence stays",
  withHarness(async (harness) => {
    const { clock, database } = harness;
    const key = await harness.organization("acme");
    await score(harness, key, "first");
    clock.advance(DAY);
    await note(harness);
    await note(harness);
    clock.advance(DAY);
    await note(harness);
    clock.advance(90 * DAY - HOUR);
    const last = await note(harness);
    await prune(harness);
    assert.deepEqual(await prunedOf(database, "org/acme/admin"), [{
      seq: 6,
      from: 0,
      to: 4,
      last_ts: "2026-11-21T09:00:00.000Z",
      cutoff: "2026-11-22T08:00:00.000Z",
      policy_days: 90,
    }]);
    assert.deepEqual(await keptOf(harness, "org/acme/admin"), { from: 4, size: 7, min_index: 4 });
    const [{ actor, org_id, subject }] = (await rowsOf(
      database,
      "SELECT body FROM audit_entry WHERE event_type = 'RETENTION_PRUNED'",
    )).map(({ body }) => JSON.parse(String(body)));
    assert.deepEqual([actor, org_id, subject], ["system", "acme", null]);
    assert.deepEqual(
      await rowsOf(database, "SELECT DISTINCT chain FROM audit_part WHERE seq < 4 ORDER BY chain"),
      [
        { chain: "org/acme" },
        { chain: "sys" },
      ],
    );
    for (const chain of ["org/acme", "sys"]) assert.equal((await keptOf(harness, chain)).min_index, 0, chain);
    assert.deepEqual(await prunedOf(database, "org/acme"), []);
    assert.equal((await ask(harness, "/v1/decision/replay/first", { key: last })).body.match, true);
  }),
);

Deno.test(
  "an entry exactly as old as its retention is kept, and pruned a millisecond later",
  withHarness(async (harness) => {
    const { clock, database } = harness;
    const key = await harness.organization("acme");
    await score(harness, key, "old");
    clock.advance(KEPT_DAYS * DAY);
    await score(harness, key, "young");
    await prune(harness);
    assert.deepEqual(await prunedOf(database, "org/acme"), []);
    clock.advance(1);
    await prune(harness);
    assert.deepEqual(await prunedOf(database, "org/acme"), [{
      seq: 3,
      from: 0,
      to: 2,
      last_ts: "2026-11-20T09:00:00.000Z",
      cutoff: "2026-11-20T09:00:00.001Z",
      policy_days: KEPT_DAYS,
    }]);
  }, KEPT),
);

Deno.test(
  "a period with pruned records has no report, and the refusal names the first period start that can have one",
  withHarness(async (harness) => {
    const { clock, send } = harness;
    const key = await harness.organization("acme");
    await score(harness, key, "old");
    clock.advance(DAY);
    await score(harness, key, "young");
    clock.advance(KEPT_DAYS * DAY - HOUR);
    await prune(harness);
    const report = (start: string) =>
      send(`/v1/compliance/report?period_start=${start}&period_end=2026-12-31`, { key });
    const refused = await report("2026-11-20");
    assert.deepEqual([refused.status, refused.body.error.code], [422, "VALIDATION_FAILED"]);
    assert.deepEqual(refused.body.error.details, [
      { path: "period_start", message: "must be after 2026-11-20T09:00:00.000Z" },
    ]);
    const { body } = await ask(
      harness,
      "/v1/compliance/report?period_start=2026-11-21&period_end=2026-12-31",
      { key },
    );
    assert.equal(body.report.population.interactions, 1);
  }, KEPT),
);

Deno.test(
  "a day is pruned as a whole: while its last entry is young, its first stays",
  withHarness(async (harness) => {
    const { clock, database } = harness;
    const key = await harness.organization("acme");
    await score(harness, key, "morning");
    clock.advance(10 * HOUR);
    await score(harness, key, "evening");
    clock.advance(KEPT_DAYS * DAY - HOUR);
    await score(harness, key, "young");
    await prune(harness);
    assert.deepEqual(await prunedOf(database, "org/acme"), []);
    clock.advance(2 * HOUR);
    await prune(harness);
    assert.equal((await keptOf(harness, "org/acme")).min_index, 3);
  }, KEPT),
);

Deno.test(
  "a chain without new entries for long is pruned at its end, and then continues",
  withHarness(async (harness) => {
    const { clock } = harness;
    const key = await harness.organization("acme");
    await score(harness, key, "old");
    clock.advance((KEPT_DAYS + 1) * DAY);
    await prune(harness);
    assert.deepEqual(await keptOf(harness, "org/acme"), { from: 2, size: 3, min_index: 2 });
    const { evidence } = await score(harness, key, "new");
    assert.equal(evidence.entry.seq, 3);
  }, KEPT),
);

Deno.test(
  "the next cut continues from the one before it, and prunes that one's entry",
  withHarness(async (harness) => {
    const { clock, database } = harness;
    const key = await harness.organization("acme");
    for (let day = 0; day < 5; day += 1) {
      await score(harness, key, `day-${day}`);
      clock.advance(DAY);
    }
    clock.advance((KEPT_DAYS - 5) * DAY + 1);
    await prune(harness);
    const first = await causeOf(harness);
    clock.advance(DAY);
    await prune(harness);
    assert.deepEqual((await prunedOf(database, "org/acme")).map(({ seq, from, to }) => ({ seq, from, to })), [
      { seq: 6, from: 0, to: 2 },
      { seq: 7, from: 2, to: 3 },
    ]);
    clock.advance(60 * DAY);
    await prune(harness);
    assert.deepEqual((await prunedOf(database, "org/acme")).map(({ seq, from, to }) => ({ seq, from, to })), [
      { seq: 8, from: 3, to: 8 },
    ]);
    await areGone(harness, key, { calls: [{ path: "/v1/decision/replay/day-4" }] });
    // The first cut is known only by its entry's position and hash.
    await areGone(harness, key, { calls: [{ path: "/v1/decision/replay/day-0" }], cause: first });
  }, KEPT),
);

Deno.test(
  "a run that finds nothing past its retention writes nothing, and neither does a second run",
  withHarness(async (harness) => {
    const { clock } = harness;
    const key = await harness.organization("acme");
    await score(harness, key, "old");
    const before = await harness.rowCounts();
    await prune(harness);
    assert.deepEqual(await harness.rowCounts(), before);
    clock.advance(100 * DAY);
    await prune(harness);
    const after = await harness.rowCounts();
    assert.notDeepEqual(after, before);
    await prune(harness);
    assert.deepEqual(await harness.rowCounts(), after);
  }, KEPT),
);

Deno.test(
  "two processes that prune at once prune each chain once",
  withHarness(async (harness) => {
    const { clock, database } = harness;
    for (const orgId of ["acme", "other"]) {
      const key = await harness.organization(orgId);
      await score(harness, key, "old");
    }
    clock.advance(100 * DAY);
    await Promise.allSettled([prune(harness), prune(harness)]);
    await prune(harness);
    for (const chain of ["org/acme", "org/acme/admin", "org/other", "org/other/admin"]) {
      assert.equal((await prunedOf(database, chain)).length, 1, chain);
    }
  }, KEPT),
);

Deno.test(
  "by default evidence is kept for good",
  withHarness(async (harness) => {
    const { clock, database } = harness;
    const key = await harness.organization("acme");
    const reportId = await writeDay(harness, key, "old");
    clock.advance(36_500 * DAY);
    await prune(harness);
    assert.equal((await keptOf(harness, "org/acme")).from, 0);
    assert.equal((await keptOf(harness, "sys")).from, 0);
    assert.deepEqual(await prunedOf(database, "org/acme"), []);
    await ask(harness, `/v1/compliance/report/${reportId}`, { key });
  }),
);

Deno.test(
  "pruning an admin chain removes nothing of the organization's evidence, however long that chain is",
  withHarness(async (harness) => {
    const { clock } = harness;
    const key = await harness.organization("acme");
    await ask(harness, "/v1/score/batch", { key, body: batchOf("batch") });
    await ask(harness, "/v1/score?mode_override=incident_frozen", { key, body: unlabelled("frozen") });
    for (let index = 0; index < 20; index += 1) await note(harness);
    clock.advance(100 * DAY);
    await prune(harness);
    assert.equal((await keptOf(harness, "org/acme/admin")).min_index, 22);
    assert.deepEqual(
      await rowsOf(
        harness.database,
        "SELECT (SELECT count(*) FROM score_batch) AS batches, (SELECT count(*) FROM skipped_interaction) AS frozen",
      ),
      [{ batches: 1, frozen: 1 }],
    );
  }),
);

// ---- removed records --------------------------------------------------------------------------------------

Deno.test(
  "a pruned record is 410 with the entry of its cut, and a kept one is answered as before",
  withHarness(async (harness) => {
    const { clock } = harness;
    const key = await harness.organization("acme");
    const old = await writeDay(harness, key, "old");
    clock.advance(10 * DAY);
    const young = await writeDay(harness, key, "young");
    clock.advance(21 * DAY);
    const before: Answer[] = [];
    for (const { path, ...request } of repeatsOf("young", young)) {
      before.push(await ask(harness, path, { key, ...request }));
    }
    await prune(harness);
    await areGone(harness, key, { calls: [...repeatsOf("old", old), ...othersOf("old", old)] });
    for (const [index, { path, ...request }] of repeatsOf("young", young).entries()) {
      const again = await ask(harness, path, { key, ...request });
      const { body } = before[index]!;
      if (request.body === undefined) assert.deepEqual(contentOf(again), contentOf(before[index]!), path);
      else assert.deepEqual(again.body, body, path);
    }
  }, KEPT),
);

Deno.test(
  "an unknown record is 404, and so are another organization's pruned names",
  withHarness(async (harness) => {
    const { clock } = harness;
    const key = await harness.organization("acme");
    const other = await harness.organization("other");
    const reportId = await writeDay(harness, key, "old");
    clock.advance(100 * DAY);
    await prune(harness);
    for (
      const [path, asker] of [
        ["/v1/decision/replay/never", key],
        ["/v1/decision/replay/old-score", other],
        ["/v1/compliance/report/01TEST99999999999999999999", key],
        [`/v1/compliance/report/${reportId}`, other],
      ] as const
    ) {
      await refuses(harness, {
        name: path,
        path,
        request: { key: asker },
        status: 404,
        code: "NOT_FOUND",
        names: path.split("/").at(-1)!,
      });
    }
    await score(harness, other, "old-score");
  }, KEPT),
);

Deno.test(
  "a frozen call is pruned with its time, and its session can still be scored",
  withHarness(async (harness) => {
    const { clock, database } = harness;
    const key = await harness.organization("acme");
    const frozen = ["/v1/score?mode_override=incident_frozen", { key, body: unlabelled("frozen") }] as const;
    await ask(harness, ...frozen);
    clock.advance(100 * DAY);
    await prune(harness);
    assert.deepEqual(await rowsOf(database, "SELECT * FROM skipped_interaction"), []);
    const again = await ask(harness, ...frozen);
    assert.equal(again.headers.get("Idempotency-Replayed"), null, "a new call");
    await score(harness, key, "frozen");
  }, KEPT),
);

Deno.test(
  "an operator continues after pruning: scores, decisions, labels, figures and usage",
  withHarness(async (harness) => {
    const { clock, database } = harness;
    const key = await harness.organization("acme");
    await score(harness, key, "old-1");
    await score(harness, key, "old-2");
    clock.advance(100 * DAY);
    await prune(harness);
    const { profile, jis_history } = (await ask(harness, "/v1/operator/operator-1/profile", { key })).body;
    assert.deepEqual([profile.total_interactions, jis_history], [2, []]);
    await ask(harness, "/v1/operator/operator-1/sparkline", { key });
    await ask(harness, "/v1/operator/operator-1/sparkline?format=svg", { key });
    await ask(harness, "/v1/organization/operators?include=sparkline", { key });
    await ask(harness, "/v1/organization/dashboard", { key });
    await ask(harness, "/v1/compliance/article14", { key });
    await ask(harness, "/v1/decision/score", { key, body: decisionOf("decision") });
    await score(harness, key, "new");
    await ask(harness, "/v1/score/new/commit", { key, body: { outcome_correct: false } });
    const after = (await ask(harness, "/v1/operator/operator-1/profile", { key })).body;
    assert.deepEqual([after.profile.total_interactions, after.jis_history.length], [3, 1]);
    assert.deepEqual(await rowsOf(database, "SELECT sum(count) AS scores FROM usage_hour"), [{ scores: 3 }]);
    for (const id of ["new", "decision"]) {
      assert.equal((await ask(harness, `/v1/decision/replay/${id}`, { key })).body.match, true, id);
    }
  }, KEPT),
);

Deno.test(
  "kept entries verify under new checkpoints, and saved answers of pruned ones by themselves",
  withHarness(async (harness) => {
    const { clock } = harness;
    const key = await harness.organization("acme");
    const faultOf = (body: Json) =>
      verifyDocument(nodeCrypto, body, { keysFor: (origin) => [harness.verifierKey(origin)] }).fault;
    const pruned = [];
    for (let index = 0; index < 5; index += 1) pruned.push(await score(harness, key, `old-${index}`));
    clock.advance(20 * DAY);
    for (let index = 0; index < 6; index += 1) await score(harness, key, `young-${index}`);
    clock.advance(20 * DAY);
    await prune(harness);
    for (let index = 0; index < 6; index += 1) {
      const { recorded, evidence } = (await ask(harness, `/v1/decision/replay/young-${index}`, { key })).body;
      assert.equal(faultOf({ ...recorded, evidence }), null);
      assert.equal(evidence.entry.seq, 6 + index);
    }
    for (const body of pruned) assert.equal(faultOf(body), null);
  }, KEPT),
);

// ---- interrupted removals ---------------------------------------------------------------------------------

/** Makes batches that remove entries fail while `isBroken`, after `letThrough` of them. */
function breakingRemovals(state: { isBroken: boolean; letThrough: number }): HarnessOptions {
  return {
    ...KEPT,
    wrap: (database) => ({
      ...database,
      batch(statements) {
        const removes = statements.some(({ sql }) => sql.startsWith('delete from "audit_entry"'));
        if (!state.isBroken || !removes || state.letThrough-- > 0) return database.batch(statements);
        return Promise.reject(new Error("the process was killed here"));
      },
    }),
  };
}

Deno.test("between the cut and the removal all pruned records are 410 already, and the next run completes it", async () => {
  const state = { isBroken: true, letThrough: 0 };
  const harness = await openHarness(breakingRemovals(state));
  const key = await harness.organization("acme");
  const old = await writeDay(harness, key, "old");
  harness.clock.advance(100 * DAY);
  await assert.rejects(prune(harness), /killed here/);
  const { size } = await keptOf(harness, "org/acme");
  assert.deepEqual(await keptOf(harness, "org/acme"), { from: 0, size, min_index: Number(size) - 1 });
  const calls = [...repeatsOf("old", old), ...othersOf("old", old)];
  const taken = calls.filter(({ path, body }) => {
    const { operator_id, session_id, decision_id } = (body ?? {}) as Record<string, string>;
    const isOtherwise = operator_id === "somebody-else" || session_id === "old-a" ||
      session_id === "old-decision" ||
      decision_id === "old-score";
    return !isOtherwise && !path.endsWith("=html");
  });
  await areGone(harness, key, { calls: taken });
  state.isBroken = false;
  await prune(harness);
  assert.deepEqual(await keptOf(harness, "org/acme"), {
    from: Number(size) - 1,
    size,
    min_index: Number(size) - 1,
  });
  assert.equal((await prunedOf(harness.database, "org/acme")).length, 1);
  await areGone(harness, key, { calls });
  await harness.close();
});

Deno.test("a long chain is removed in several writes, and the next run completes one that stopped in the middle", async () => {
  const state = { isBroken: true, letThrough: 1 };
  const harness = await openHarness(breakingRemovals(state));
  const key = await harness.organization("acme");
  for (let index = 0; index < 12; index += 1) {
    const interactions = Array.from({ length: 100 }, (_, item) => ({
      session_id: `s-${index}-${item}`,
      time_to_decision_ms: 5000,
      decision: "accepted",
    }));
    await ask(harness, "/v1/score/batch", {
      key,
      body: { operator_id: `operator-${index}`, domain: "general", interactions },
    });
  }
  harness.clock.advance(100 * DAY);
  await assert.rejects(prune(harness), /killed here/);
  assert.deepEqual(await keptOf(harness, "org/acme"), { from: 500, size: 1202, min_index: 1201 });
  const gone = ["s-0-0", "s-4-99", "s-5-0", "s-11-99"].map((id) => ({ path: `/v1/decision/replay/${id}` }));
  await areGone(harness, key, { calls: gone });
  state.isBroken = false;
  await prune(harness);
  assert.deepEqual(await keptOf(harness, "org/acme"), { from: 1201, size: 1202, min_index: 1201 });
  await areGone(harness, key, { calls: gone });
  assert.deepEqual(await rowsOf(harness.database, "SELECT * FROM interaction"), []);
  assert.deepEqual(await rowsOf(harness.database, "SELECT * FROM score_batch"), []);
  await harness.close();
});

// ---- bytes ------------------------------------------------------------------------------------------------

/** Bytes as text with a character for each, so that they can be searched. */
const textOf = (bytes: Uint8Array) => new TextDecoder("latin1").decode(bytes);

Deno.test("no byte of removed records is in any file of the database: parts, salts, names", async () => {
  const directory = await Deno.makeTempDir({ prefix: "jiss-retention-" });
  const path = `${directory}/jiss.db`;
  const harness = await openHarness({ ...KEPT, path, lockPath: `${directory}/lock.db` });
  const key = await harness.organization("acme");
  for (let index = 0; index < 40; index += 1) await score(harness, key, `SESSION-TO-FORGET-${index}`);
  await writeDay(harness, key, "NAME-TO-FORGET");
  const parts = await rowsOf(
    harness.database,
    "SELECT salt, data FROM audit_part WHERE chain = 'org/acme' AND seq > 0",
  );
  assert.ok(parts.length > 90);
  const secrets = [
    ...parts.flatMap(({ salt, data }) => [textOf(salt as Uint8Array), String(data).slice(0, 200)]),
    "SESSION-TO-FORGET",
    "NAME-TO-FORGET",
  ];
  const readFiles = () =>
    [...Deno.readDirSync(directory)].map(({ name }) => textOf(Deno.readFileSync(`${directory}/${name}`)));
  const before = readFiles();
  assert.ok(
    secrets.every((secret) => before.some((file) => file.includes(secret))),
    "found before the removal",
  );
  harness.clock.advance(100 * DAY);
  await prune(harness);
  const after = readFiles();
  assert.ok(after.length >= 4, "the database and the lock, each with its log");
  assert.deepEqual(secrets.filter((secret) => after.some((file) => file.includes(secret))), []);
  await harness.close();
  await Deno.remove(directory, { recursive: true });
});

// ---- policies ---------------------------------------------------------------------------------------------

Deno.test("a new retention of evidence is recorded in each evidence chain at the next start, and applies from then on", async () => {
  const directory = await Deno.makeTempDir({ prefix: "jiss-retention-" });
  const over = { path: `${directory}/jiss.db`, lockPath: `${directory}/lock.db` };
  const first = await openHarness(over);
  const key = await first.organization("acme");
  await first.organization("other");
  await score(first, key, "old");
  await first.close();

  const second = await openHarness({ ...over, ...KEPT, run: 1, startsAt: EPOCH + 40 * DAY });
  const recorded = await rowsOf(
    second.database,
    `SELECT chain, seq, data FROM audit_entry JOIN audit_part USING (chain, seq)
      WHERE event_type = 'RETENTION_POLICY' ORDER BY chain`,
  );
  const detail = '{"from_days":null,"policy":"evidence","to_days":30}';
  assert.deepEqual(recorded, [
    { chain: "org/acme", seq: 2, data: detail },
    { chain: "org/other", seq: 1, data: detail },
    { chain: "sys", seq: 1, data: detail },
  ]);
  await second.organization("new");
  const [genesis] = await rowsOf(
    second.database,
    "SELECT data ->> '$.retention_days' AS days FROM audit_part WHERE chain = 'org/new' AND seq = 0",
  );
  assert.deepEqual(genesis, { days: 30 });
  await prune(second);
  assert.equal((await keptOf(second, "org/acme")).from, 2);
  const { send } = second;
  assert.equal((await send("/v1/decision/replay/old", { key })).status, 410);
  await second.close();

  const third = await openHarness({ ...over, run: 2, startsAt: EPOCH + 41 * DAY });
  assert.equal(
    (await third.send("/v1/decision/replay/old", { key })).status,
    410,
    "the record does not come back",
  );
  third.clock.advance(1000 * DAY);
  await prune(third);
  assert.equal((await keptOf(third, "org/acme")).from, 2, "kept for good from now on");
  await third.close();
  await Deno.remove(directory, { recursive: true });
});

// ---- the upkeep task --------------------------------------------------------------------------------------

Deno.test(
  "the service anchors with each run, prunes once a day, and deletes erasures from the lock after 400 days",
  withHarness(async (harness) => {
    const { clock, database, dependencies } = harness;
    const upkeep = new Upkeep(dependencies);
    const key = await harness.organization("acme");
    await score(harness, key, "old");
    dependencies.lock.recordErased({ name: new Uint8Array(32), at: clock.now() });
    await upkeep.run(clock.now());
    const anchors = async () => {
      const rows = await rowsOf(
        database,
        "SELECT count(*) AS n FROM audit_entry WHERE event_type = 'ORG_CHECKPOINTS'",
      );
      return rows[0]!.n;
    };
    assert.equal(await anchors(), 1);
    clock.advance(30 * DAY - 9 * HOUR);
    await upkeep.run(clock.now());
    assert.equal(
      (await prunedOf(database, "org/acme")).length,
      0,
      "at midnight it is 29 days and 15 hours old",
    );
    clock.advance(10 * HOUR);
    await upkeep.run(clock.now());
    assert.equal((await prunedOf(database, "org/acme")).length, 0, "it was checked today already");
    clock.advance(14 * HOUR);
    await upkeep.run(clock.now());
    assert.equal((await prunedOf(database, "org/acme")).length, 1);
    assert.equal(dependencies.lock.erased().length, 1);
    clock.advance(370 * DAY);
    await upkeep.finish(clock.now());
    assert.equal(dependencies.lock.erased().length, 1, "the last run only anchors");
    await upkeep.run(clock.now());
    assert.equal(dependencies.lock.erased().length, 0);
    assert.ok(Number(await anchors()) > 1);
  }, KEPT),
);

Deno.test("a failed run is reported in the log and tried again with the next", async () => {
  const state = { isBroken: true, letThrough: 0 };
  const harness = await openHarness(breakingRemovals(state));
  const key = await harness.organization("acme");
  await score(harness, key, "old");
  harness.clock.advance(100 * DAY);
  const upkeep = new Upkeep(harness.dependencies);
  await upkeep.run(harness.clock.now());
  assert.deepEqual(harness.log.filter(({ level }) => level === "error").map(({ msg }) => msg), [
    "retention failed and is tried again",
  ]);
  state.isBroken = false;
  await upkeep.run(harness.clock.now());
  assert.equal((await keptOf(harness, "org/acme")).from, 2);
  assert.equal(harness.log.filter(({ level }) => level === "error").length, 1);
  await harness.close();
});
