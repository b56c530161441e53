/**
 * Cases: opened by hand and by a contest, one for each operator and cause; brought forward step by step, each an entry of the
 * chain; listed, erased, and closed to those who may not see them.
 */
import assert from "node:assert/strict";
import { type Answer, type Harness, OWN_ORIGIN, scoreRequest, withHarness } from "../harness.ts";
import { verdictInWords } from "../../src/scoring/verdict_words.ts";
import { Upkeep } from "../../src/operations/installation/upkeep.ts";
import { builtInCaseSet } from "../../src/exercises/built_in.ts";
import { choiceOf, decideAll, decideNext, setRun } from "../exercising.ts";
import { JIS_2_0_0 } from "../models.ts";
import { auditReports, decide, drawDue, sealStock, setPolicy } from "../probing.ts";
import { refuses, storedText } from "../scenario.ts";
import { signedInUser, type TestUser } from "../signing_in.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

interface World {
  readonly harness: Harness;
  readonly key: string;
  readonly officer: TestUser;
}

function caseTest(
  name: string,
  test: (world: World) => Promise<void>,
  options: Parameters<typeof withHarness>[1] = {},
): void {
  Deno.test(
    name,
    withHarness(async (harness) => {
      const key = await harness.organization("acme");
      for (const [operator, session] of [["ada", "case-1"], ["bruno", "case-2"]] as const) {
        const body = scoreRequest({ operator_id: operator, session_id: session });
        const answer = await harness.send("/v1/score", { key, body });
        assert.equal(answer.status, 200, answer.text);
      }
      await test({ harness, key, officer: await signedInUser(harness, { orgId: "acme", role: "officer" }) });
    }, options),
  );
}

/** A request as a page of the service makes it with a session. */
function call({ harness }: World, { cookie }: TestUser, path: string, body?: unknown): Promise<Answer> {
  const headers = { Cookie: cookie, Origin: OWN_ORIGIN, "Sec-Fetch-Site": "same-origin" };
  return harness.send(path, body === undefined ? { headers } : { headers, body });
}

async function open(world: World, operator = "ada"): Promise<string> {
  const body = { operator_id: operator, statement: "Three complaints about last week." };
  const answer = await call(world, world.officer, "/v1/cases", body);
  assert.equal(answer.status, 201, answer.text);
  return answer.body.case_id;
}

async function step(world: World, id: string, body: Readonly<Record<string, unknown>>): Promise<Answer> {
  const answer = await call(world, world.officer, `/v1/cases/${id}/events`, body);
  assert.equal(answer.status, 201, answer.text);
  return answer;
}

caseTest(
  "a case goes from its cause to its effect, and each step is an entry with its user",
  async (world) => {
    const { harness, key, officer } = world;
    const id = await open(world);
    const profile = await harness.send("/v1/operator/ada/profile", { key });
    const { jis, uncertainty: { low, high }, verdict } = profile.body.profile;
    const opened = await harness.send(`/v1/cases/${id}`, { key });
    assert.deepEqual(opened.body.figures, { jis, low, high, verdict: verdict?.status ?? null });
    assert.deepEqual(
      [opened.body.state, opened.body.cause, opened.body.user_id, opened.body.steps],
      ["open", "by_hand", officer.userId, []],
    );

    await step(world, id, { step: "assign", owner: officer.userId, due_on: "2031-01-31" });
    await step(world, id, { step: "note", note: "Talked to the reviewer." });
    const exercise = await call(world, officer, "/v1/exercises", {
      operator_id: "ada",
      exercise_id: "ex_deferral_resistance_1",
      domain: "financial",
    });
    await step(world, id, { step: "exercise", run_id: exercise.body.run_id });
    await step(world, id, { step: "wait", due_on: "2031-02-15" });
    for (let index = 0; index < 5; index += 1) {
      harness.clock.advance(MINUTE);
      const body = scoreRequest(
        { operator_id: "ada", session_id: `later-${index}` },
        { ai_correct: false, decision: "rejected", outcome_correct: true },
      );
      assert.equal((await harness.send("/v1/score", { key, body })).status, 200);
    }
    const done = await step(world, id, { step: "done", note: "The exercise was held.", seen: 4 });
    const after = (await harness.send("/v1/operator/ada/profile", { key })).body.profile;
    assert.deepEqual(done.body.effect, {
      jis: Math.round(100 * (after.jis - jis)) / 100,
      clear: after.uncertainty.low > high || after.uncertainty.high < low,
    });
    assert.deepEqual(
      done.body.steps.map((
        { number, step, user_id, owner, due_on, note, run_id }: Record<string, unknown>,
      ) => [number, step, user_id === officer.userId, owner === officer.userId, due_on, note, run_id]),
      [
        [1, "assign", true, true, "2031-01-31", null, null],
        [2, "note", true, false, null, "Talked to the reviewer.", null],
        [3, "exercise", true, false, null, null, exercise.body.run_id],
        [4, "wait", true, false, "2031-02-15", null, null],
        [5, "done", true, false, null, "The exercise was held.", null],
      ],
    );
    assert.deepEqual([done.body.state, done.body.owner, done.body.due_on], [
      "done",
      officer.userId,
      "2031-02-15",
    ]);
    const read = await harness.send(`/v1/cases/${id}`, { key });
    const { request_id: _id, timestamp: _at, ...same } = read.body;
    const { request_id: _other, timestamp: _then, ...answered } = done.body;
    assert.deepEqual(same, answered, "what a step answers is what is read afterwards");

    harness.clock.advance(1);
    const log = await harness.send(`/v1/admin/audit-log?user_id=${officer.userId}&limit=100`, { key });
    const types = log.body.events.map(({ event_type, operator_id }: Record<string, unknown>) => [
      event_type,
      operator_id,
    ]);
    assert.deepEqual(types.filter(([type]: [string]) => /^CASE_(OPENED|CHANGED)$/.test(type)), [
      ...Array.from({ length: 5 }, () => ["CASE_CHANGED", "ada"]),
      ["CASE_OPENED", "ada"],
    ]);
    const [report] = await auditReports(world);
    assert.deepEqual([report!.verdict, report!.findings], ["INTACT, UNANCHORED", []]);
  },
);

caseTest("one case of a cause is open for an operator, however many are opened at once", async (world) => {
  const body = { operator_id: "ada", statement: "Complaints." };
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => call(world, world.officer, "/v1/cases", body)),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409]);
  const id = answers.find(({ status }) => status === 201)!.body.case_id;
  const refused = answers.find(({ status }) => status === 409)!;
  assert.ok(refused.body.error.message.includes(id), refused.text);
  await step(world, id, { step: "dismiss", note: "It was another reviewer." });
  assert.notEqual(await open(world), id);
  await open(world, "bruno");
});

caseTest("of two who answer the same state of a case, one is told that it changed", async (world) => {
  const id = await open(world);
  const path = `/v1/cases/${id}/events`;
  const body = { step: "note", note: "Seen.", seen: 0 };
  const answers = await Promise.all([1, 2, 3].map(() => call(world, world.officer, path, body)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409]);
  const free = await Promise.all(
    [1, 2, 3].map((number) => call(world, world.officer, path, { step: "note", note: `Note ${number}` })),
  );
  assert.deepEqual(free.map(({ status }) => status), [201, 201, 201]);
  const { body: { steps } } = await call(world, world.officer, `/v1/cases/${id}`);
  assert.deepEqual(steps.map(({ number }: { number: number }) => number), [1, 2, 3, 4]);
});

caseTest("bad requests about cases change nothing", async (world) => {
  const { harness, key, officer } = world;
  await harness.organization("other");
  const viewer = await signedInUser(harness, { orgId: "acme", role: "viewer" });
  const stranger = await signedInUser(harness, { orgId: "other", role: "officer" });
  const id = await open(world);
  const ended = await open(world, "bruno");
  await step(world, ended, { step: "done", note: "Nothing was found." });
  const ofBruno = await call(world, officer, "/v1/exercises", {
    operator_id: "bruno",
    exercise_id: "ex_deferral_resistance_1",
    domain: "financial",
  });
  const owner = officer.userId;
  const steps = `/v1/cases/${id}/events`;
  const rows = [
    ["an unknown operator", "/v1/cases", { operator_id: "nobody", statement: "x" }, 404, "nobody"],
    ["no reason", "/v1/cases", { operator_id: "bruno", statement: " " }, 422, "statement"],
    [
      "an unknown case",
      `/v1/cases/${"0".repeat(26)}/events`,
      { step: "note", note: "x" },
      404,
      "GET /v1/cases",
    ],
    ["an unknown step", steps, { step: "reopen" }, 422, "step"],
    ["a note without a text", steps, { step: "note", note: "" }, 422, "note"],
    ["an end without a note", steps, { step: "done" }, 422, "note"],
    ["a viewer as owner", steps, { step: "assign", owner: viewer.userId }, 422, "owner"],
    [
      "another organization's officer as owner",
      steps,
      { step: "assign", owner: stranger.userId },
      422,
      "owner",
    ],
    ["no user as owner", steps, { step: "assign", owner: `usr_${"0".repeat(26)}` }, 422, "owner"],
    ["a day that is none", steps, { step: "assign", owner, due_on: "2026-02-30" }, 422, "due_on"],
    ["another's exercise", steps, { step: "exercise", run_id: ofBruno.body.run_id }, 422, "run_id"],
    ["no exercise", steps, { step: "exercise", run_id: "0".repeat(26) }, 422, "run_id"],
    ["an outdated view", steps, { step: "note", note: "x", seen: 3 }, 409, "3"],
    ["an ended case", `/v1/cases/${ended}/events`, { step: "note", note: "x" }, 409, "done"],
  ] as const;
  const codes = { 404: "NOT_FOUND", 409: "CONFLICT", 422: "VALIDATION_FAILED" } as const;
  for (const [name, path, body, status, names] of rows) {
    await refuses(harness, { name, path, request: { key, body }, status, code: codes[status], names });
  }
  for (
    const [path, body] of [["/v1/cases", { operator_id: "ada", statement: "x" }], [steps, {
      step: "wait",
    }]] as const
  ) {
    const refused = await call(world, viewer, path, body);
    assert.equal(refused.status, 403, refused.text);
  }
  for (const path of [`/v1/cases/${id}`, "/v1/cases"]) {
    assert.equal((await call(world, viewer, path)).status, 403);
  }
  assert.equal((await call(world, stranger, `/v1/cases/${id}`)).status, 404);
  assert.deepEqual((await call(world, stranger, "/v1/cases?state=all")).body.cases, []);
});

caseTest("cases are listed by state, owner, cause and operator, page by page", async (world) => {
  const { harness, key, officer } = world;
  const [first, second] = [await open(world), await open(world, "bruno")];
  await step(world, first, { step: "assign", owner: officer.userId });
  await step(world, second, { step: "done", note: "Nothing." });
  const third = await open(world, "bruno");
  const ids = async (query: string) => {
    const { body, text, status } = await harness.send(`/v1/cases${query}`, { key });
    assert.equal(status, 200, text);
    assert.equal(body.count, body.cases.length);
    return body.cases.map(({ case_id }: { case_id: string }) => case_id);
  };
  assert.deepEqual(await ids(""), [third, first]);
  assert.deepEqual(await ids("?state=all"), [third, second, first]);
  assert.deepEqual(await ids(`?owner=${officer.userId}`), [first]);
  assert.deepEqual(await ids("?operator_id=bruno&state=all"), [third, second]);
  assert.deepEqual(await ids("?operator_id=nobody"), []);
  assert.deepEqual(await ids("?cause=contest"), []);
  const seen: string[] = [];
  for (let cursor = ""; cursor !== "end";) {
    const { body } = await harness.send(`/v1/cases?state=all&limit=1${cursor}`, { key });
    seen.push(...body.cases.map(({ case_id }: { case_id: string }) => case_id));
    cursor = body.next_cursor === null ? "end" : `&cursor=${body.next_cursor}`;
  }
  assert.deepEqual(seen, [third, second, first]);
});

/** The reads that a request makes of the database. */
const reads = { count: 0 };

caseTest(
  "the present state of a case has the newest exercise that is set and not over, read at once for all operators",
  async (world) => {
    const { harness, key } = world;
    const { send } = harness;
    const ids = { ada: await open(world), bruno: await open(world, "bruno") };
    const exercisesOf = async () => {
      const { body, text, status } = await send("/v1/cases?include=present", { key });
      assert.equal(status, 200, text);
      const found: Record<string, unknown> = {};
      for (const [operator, id] of Object.entries(ids)) {
        const { present } = body.cases.find(({ case_id }: { case_id: string }) => case_id === id);
        const one = await send(`/v1/cases/${id}?include=present`, { key });
        assert.deepEqual(one.body.present, present, "one case says the same as the list");
        found[operator] = present.exercise;
      }
      return found;
    };
    const openOf = async (operator: string) => {
      const { body } = await send(`/v1/exercises?operator_id=${operator}`, { key });
      const { run_id, exercise_id, title, state, decided, case_count, expires_at } = body.exercises.find(
        ({ state }: { state: string }) => state === "open" || state === "started",
      );
      return { run_id, exercise_id, title, state, decided, case_count, expires_at };
    };
    assert.deepEqual(await exercisesOf(), { ada: null, bruno: null });
    assert.ok(!("present" in (await send(`/v1/cases/${ids.ada}`, { key })).body), "unless it is asked for");

    const set = { send, key };
    await setRun(set, { operator_id: "ada", exercise_id: "ex_deferral_resistance_1" });
    harness.clock.advance(MINUTE);
    const second = await setRun(set, { operator_id: "ada", expires_hours: 48 });
    assert.deepEqual(await exercisesOf(), { ada: await openOf("ada"), bruno: null });
    assert.equal((await openOf("ada")).run_id, second.run.run_id);
    const counted = async () => {
      reads.count = 0;
      await send("/v1/cases?include=present", { key });
      return reads.count;
    };
    const one = await counted();
    const third = await setRun(set, { operator_id: "bruno" });
    assert.equal(await counted(), one, "the exercise of one more operator takes no read more");

    const { next: { id, advice } } = (await send(`${third.path}/state`)).body;
    const choice = choiceOf(await builtInCaseSet("financial", "en"), id, true);
    const decided = await decideNext(set, third.path, { number: 1, choice, advised: advice !== null });
    assert.equal(decided.status, 200, decided.text);
    const started = await exercisesOf();
    assert.deepEqual(started, { ada: await openOf("ada"), bruno: await openOf("bruno") });
    const { state, decided: cases } = started.bruno as { state: string; decided: number };
    assert.deepEqual([state, cases], ["started", 1]);

    // One that is done, or over, is none; the one before it is still open.
    await decideAll(set, third.path, () => true);
    harness.clock.advance(2 * DAY + MINUTE);
    assert.deepEqual(await exercisesOf(), { ada: await openOf("ada"), bruno: null });
    assert.notEqual((await openOf("ada")).run_id, second.run.run_id);
    harness.clock.advance(6 * DAY);
    assert.deepEqual(await exercisesOf(), { ada: null, bruno: null });
  },
  {
    model: JIS_2_0_0,
    wrap: (database) => ({
      ...database,
      read(compiled) {
        reads.count += 1;
        return database.read(compiled);
      },
      snapshot(queries) {
        reads.count += 1;
        return database.snapshot(queries);
      },
    }),
  },
);

caseTest("a contest opens a case, once while it is open", async (world) => {
  const { harness, key } = world;
  const link = await harness.send("/v1/operator/ada/page-link", { key, body: {} });
  const path = `${new URL(link.body.link).pathname}/contests`;
  const made = await harness.send(path, { body: { record_id: "case-1", statement: "I was called away." } });
  assert.equal(made.status, 201, made.text);
  await harness.send(path, { body: { statement: "All of it is wrong." } });
  const { body: { cases } } = await harness.send("/v1/cases?cause=contest", { key });
  assert.equal(cases.length, 1);
  const [one] = cases;
  assert.deepEqual([one.operator_id, one.about, one.actor, one.state], [
    "ada",
    made.body.contest_id,
    "system",
    "open",
  ]);
  await step(world, one.case_id, {
    step: "done",
    note: "The record stays: the case was decided at the desk.",
  });
  await harness.send(path, { body: { statement: "I still say so." } });
  const later = await harness.send("/v1/cases?cause=contest&state=all", { key });
  assert.deepEqual(later.body.cases.map(({ state }: { state: string }) => state), ["open", "done"]);
});

caseTest("an erasure takes what cases said of the reviewer, and the chain still verifies", async (world) => {
  const { harness, key } = world;
  const id = await open(world);
  await step(world, id, { step: "note", note: "An unforgettable remark." });
  await open(world, "bruno");
  const copy = await harness.send("/v1/operator/ada/export", { key });
  assert.ok(copy.text.includes("An unforgettable remark."), "the reviewer's copy has it");
  const erased = await harness.send("/v1/operator/ada", { method: "DELETE", key });
  assert.equal(erased.status, 200, erased.text);
  assert.doesNotMatch(await storedText(harness), /unforgettable/);
  assert.equal((await harness.send(`/v1/cases/${id}`, { key })).status, 410);
  const { body } = await harness.send("/v1/cases?state=all", { key });
  assert.deepEqual(body.cases.map(({ operator_id }: { operator_id: string }) => operator_id), ["bruno"]);
  const [report] = await auditReports(world);
  assert.deepEqual([report!.verdict, report!.findings], ["INTACT, UNANCHORED", []]);
});

caseTest("where reviewers are pseudonyms, a case names none", async (world) => {
  const { officer } = world;
  const { body } = await call(world, officer, "/v1/organization/operators");
  const [one] = body.operators;
  assert.match(one.operator_id, /^[0-9a-f]{32}$/);
  const made = await call(world, officer, "/v1/cases", {
    operator_id: one.operator_id,
    statement: "Complaints.",
  });
  assert.equal(made.status, 201, made.text);
  const listed = await call(world, officer, "/v1/cases");
  for (const { text } of [made, listed, await call(world, officer, `/v1/cases/${made.body.case_id}`)]) {
    assert.ok(text.includes(one.operator_id));
    assert.doesNotMatch(text, /ada|bruno/);
  }
  assert.equal((await call(world, officer, "/v1/cases", { operator_id: "ada", statement: "x" })).status, 422);
}, { privacy: "pseudonymous" });

/** Runs the upkeep in a new hour after some days, and returns the open cases of a cause. */
async function ruled(
  { harness, key }: World,
  { days, cause }: { readonly days: number; readonly cause: string },
) {
  harness.clock.advance(days * DAY + 60 * MINUTE);
  await new Upkeep(harness.dependencies).run(harness.clock.now());
  const { body, text } = await harness.send(`/v1/cases?cause=${cause}`, { key });
  assert.ok(Array.isArray(body.cases), text);
  return body.cases;
}

caseTest("who was away for 30 days gets one case, and another one a month after its end", async (world) => {
  const { harness, key } = world;
  assert.deepEqual(await ruled(world, { days: 29, cause: "away" }), []);
  const opened = await ruled(world, { days: 1, cause: "away" });
  assert.deepEqual(
    opened.map((
      { operator_id, statement, actor }: Record<string, unknown>,
    ) => [operator_id, statement, actor]),
    [["bruno", "No interaction for 30 days.", "system"], ["ada", "No interaction for 30 days.", "system"]],
  );
  assert.equal((await ruled(world, { days: 5, cause: "away" })).length, 2, "they are open");
  for (const { case_id } of opened) {
    const body = { step: "dismiss", note: "On leave." };
    const answer = await harness.send(`/v1/cases/${case_id}/events`, { key, body });
    assert.equal(answer.status, 201, answer.text);
  }
  assert.deepEqual(await ruled(world, { days: 5, cause: "away" }), []);
  const later = await ruled(world, { days: 27, cause: "away" });
  assert.deepEqual(later.map(({ statement }: { statement: string }) => statement), [
    "No interaction for 67 days.",
    "No interaction for 67 days.",
  ]);
  const left = await ruled(world, { days: 90, cause: "away" });
  assert.equal(left.length, 2, "who has left for good gets no more");
});

Deno.test(
  "no rule opens a case where nobody could work on it",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const officer = await signedInUser(harness, { orgId: "acme", role: "viewer" });
    await harness.send("/v1/score", { key, body: scoreRequest({ operator_id: "ada" }) });
    const world = { harness, key, officer };
    assert.deepEqual(await ruled(world, { days: 31, cause: "away" }), []);
    await signedInUser(harness, { orgId: "acme", role: "admin" });
    assert.equal((await ruled(world, { days: 1, cause: "away" })).length, 1);
  }),
);

caseTest("missed and lost probes give cases, a new probe another one", async (world) => {
  const { harness } = world;
  await setPolicy(world);
  await sealStock(world, 40, { stakes: "high_stakes" });
  const fields = { stakes: "high_stakes", operator_id: "ada" };
  const miss = async (prefix: string) => {
    for (let index = 0;; index += 1) {
      const { probe } = await drawDue(world, { prefix: `${prefix}-${index}`, ...fields });
      const scored = await decide(world, probe, {
        decision: "accepted",
        scenario_type: "high_stakes",
      }, { operator_id: "ada" });
      assert.equal(scored.status, 200, scored.text);
      if (Number(probe.probe_id.slice(-1)) % 2 === 0) return;
    }
  };
  await miss("first");
  const [first] = await ruled(world, { days: 0, cause: "probe_missed" });
  assert.match(
    first.statement,
    /^Followed wrong advice in 1 of 1 sealed probe in the last 30 days, 1 of them at high stakes\.$/,
  );
  assert.match(first.about, /^probe-/);
  await harness.send(`/v1/cases/${first.case_id}/events`, {
    key: world.key,
    body: { step: "done", note: "Talked about it." },
  });
  assert.deepEqual(await ruled(world, { days: 0, cause: "probe_missed" }), []);
  await miss("second");
  const [second] = await ruled(world, { days: 0, cause: "probe_missed" });
  assert.notEqual(second.about, first.about);

  const { session: _session, probe: _lost } = await drawDue(world, { prefix: "lost", ...fields });
  const [lost] = await ruled(world, { days: 1, cause: "probes_lost" });
  assert.match(lost.statement, /^1 sealed probe of the last 30 days ended without a decision\.$/);
});

Deno.test(
  "a verdict below the threshold and a projection below it give cases with their reasons",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await signedInUser(harness, { orgId: "acme", role: "officer" });
    const world = { harness, key, officer: await signedInUser(harness, { orgId: "acme", role: "officer" }) };
    for (let index = 0; index < 40; index += 1) {
      harness.clock.advance(12 * 60 * MINUTE);
      const interactions = [
        ["ada", { decision: "accepted", ai_correct: false, outcome_correct: false }],
        ["ada", { decision: "accepted", ai_correct: true, outcome_correct: true }],
      ] as const;
      for (const [at, [operator, interaction]] of interactions.entries()) {
        const body = scoreRequest({ operator_id: operator, session_id: `s-${index}-${at}` }, interaction);
        assert.equal((await harness.send("/v1/score", { key, body })).status, 200);
      }
    }
    const [one] = await ruled(world, { days: 0, cause: "at_risk" });
    const { body: { profile } } = await harness.send("/v1/operator/ada/profile", { key });
    assert.equal(profile.verdict.status, "non_compliant");
    assert.equal(one.statement, verdictInWords(profile.verdict));
    assert.equal(one.figures.verdict, "non_compliant");
  }, { model: JIS_2_0_0 }),
);
