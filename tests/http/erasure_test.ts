/**
 * Erasing an operator: DELETE /v1/operator/{operator_id}. Personal data is removed: rows, parts and bytes.
 * The chain still verifies, and erased names stay used.
 * Source: contract, section 4; evidence design, "Read first", point 3.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { embeddedTest, IS_SERVER, makeQuickDir } from "../database.ts";
import { forgetOldDeliveries } from "../../src/operations/webhooks/delivery_bounds.ts";
import { Upkeep } from "../../src/operations/installation/upkeep.ts";
import { type Database, query } from "../../src/store/database.ts";
import { recordingDeliverer, register } from "../delivering.ts";
import { EPOCH, type Harness, MASTER_KEY, openHarness, scoreRequest, withHarness } from "../harness.ts";
import { createOrganization, freshDeployment, startService } from "../program.ts";
import { refuses } from "../scenario.ts";

const UNKNOWN_KEY = "jis_ABCDEFGHJKMNPQRSTVWXYZ0123";
const USAGE_KEY = "master-key-of-the-tests-ORG_USAGE_READ-0001";
const MASTER_SECRETS = { ORG_CREATE: [MASTER_KEY], ORG_USAGE_READ: [USAGE_KEY] };
const PERIOD = "period_start=2026-11-01&period_end=2026-12-01";

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

// ---- fixtures ---------------------------------------------------------------------------------------------

/** Requests of one operator's history. Each session and decision is named by `tag`. */
function historyOf(operator: string, tag: string) {
  const own = { operator_id: operator };
  return {
    late: scoreRequest({ ...own, session_id: `${tag}-late` }, { outcome_correct: null }),
    lite: scoreRequest({ ...own, session_id: `${tag}-lite` }),
    frozen: scoreRequest({ ...own, session_id: `${tag}-frozen` }),
    batch: {
      ...own,
      domain: "general",
      interactions: [1, 2, 3].map((index) => ({
        session_id: `${tag}-batch-${index}`,
        time_to_decision_ms: 8000 + index,
        decision: "accepted",
      })),
    },
    decision: {
      ...own,
      decision_id: `${tag}-decision`,
      domain: "legal",
      time_to_decision_ms: 900,
      decision: "accepted",
    },
  } as const;
}

type History = ReturnType<typeof historyOf>;

const namesOf = (tag: string) => [
  ...["late", "lite", "frozen", "batch-1", "batch-2", "batch-3", "decision"].map((name) => `${tag}-${name}`),
];

const CALLS: Readonly<Record<keyof History, string>> = {
  late: "/v1/score",
  lite: "/v1/score?mode=lite",
  frozen: "/v1/score?mode_override=incident_frozen",
  batch: "/v1/score/batch",
  decision: "/v1/decision/score",
};

/** Sends a record of every kind for an operator: nine entries. */
async function seed(
  { send }: Harness,
  key: string,
  { operator = "operator-1", tag = "s" }: { readonly operator?: string; readonly tag?: string } = {},
): Promise<History> {
  const history = historyOf(operator, tag);
  for (const [name, path] of Object.entries(CALLS)) {
    const answer = await send(path, { key, body: history[name as keyof History] });
    assert.equal(answer.status, 200, answer.text);
  }
  const committed = await send(`/v1/score/${tag}-late/commit`, { key, body: { outcome_correct: true } });
  assert.equal(committed.status, 200, committed.text);
  return history;
}

const erase = ({ send }: Harness, key: string, operator = "operator-1") =>
  send(`/v1/operator/${operator}`, { method: "DELETE", key });

async function erased(harness: Harness, key: string, operator = "operator-1"): Promise<Json> {
  const answer = await erase(harness, key, operator);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

async function okBody(harness: Harness, path: string, key: string): Promise<Json> {
  const answer = await harness.send(path, { key });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** Asserts that a repeated call beside an erasure gets its first answer, or 410 with that erasure's entry. */
function isFirstOrGone(
  { status, body }: { readonly status: number; readonly body: Json },
  { first, erasure, what }: { readonly first: Json; readonly erasure: Json; readonly what: string },
): void {
  if (status === 200) {
    assert.deepEqual(body, first, what);
    return;
  }
  assert.equal(status, 410, `${what}: ${JSON.stringify(body)}`);
  const { entry, entry_hash } = erasure.evidence;
  assert.equal(body.error.code, "GONE");
  assert.deepEqual(body.error.details, { reason: "erased", entry: { seq: entry.seq, entry_hash } }, what);
}

/**
 * Number of operators that are erased one after another, and how often each of their calls is repeated before
 * and after.
 */
const ERASED_BESIDE_REPEATS = 5;
const REPEATS = 15;

/** Asserts that a call about an erased record is 410 with the erasure's entry. */
async function isGone(harness: Harness, path: string, options: Json, erasure: Json): Promise<void> {
  const { status, body } = await harness.send(path, options);
  assert.equal(status, 410, `${path}: ${JSON.stringify(body)}`);
  assert.equal(body.error.code, "GONE");
  const { entry, entry_hash } = erasure.evidence;
  assert.deepEqual(body.error.details, { reason: "erased", entry: { seq: entry.seq, entry_hash } }, path);
}

const chainValid = async (harness: Harness, key: string) =>
  (await okBody(harness, "/v1/audit/chain/verify", key)).valid;

const usageOf = async ({ send }: Harness) =>
  (await send("/v1/admin/org/acme/usage", { key: USAGE_KEY })).body;

/** Number of rows that name the operator or one of the operator's sessions, by table. */
async function rowsOf({ database }: Harness, operator: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (
    const table of [
      "subject",
      "operator",
      "interaction",
      "skipped_interaction",
      "frozen_operator",
      "decision",
      "score_batch",
    ] as const
  ) {
    const rows = await database.read(
      query.selectFrom(table).select("org_id").where("operator_id", "=", operator).compile(),
    );
    counts[table] = rows.length;
  }
  return counts;
}

const NO_ROWS = {
  subject: 0,
  operator: 0,
  interaction: 0,
  skipped_interaction: 0,
  frozen_operator: 0,
  decision: 0,
  score_batch: 0,
};

/** The entries of a pseudonym, and which of their parts are held. */
async function entriesOf({ database }: Harness, pseudonym: string) {
  const entries = await database.read(
    query.selectFrom("audit_entry").select(["chain", "seq", "event_type"]).where("subject", "=", pseudonym)
      .orderBy("chain").orderBy("seq").compile(),
  );
  const parts = await database.read(query.selectFrom("audit_part").selectAll().compile());
  return entries.map(({ chain, seq, event_type }) => ({
    chain,
    event_type,
    held: parts.filter((part) => part.chain === chain && part.seq === seq).map(({ salt, data }) =>
      salt !== null && data !== null
    ),
  }));
}

async function pseudonymOf({ database }: Harness, orgId: string, operator: string): Promise<string> {
  const [row] = await database.read(
    query.selectFrom("subject").select("pseudonym").where("org_id", "=", orgId)
      .where("operator_id", "=", operator).compile(),
  );
  return row!.pseudonym;
}

// ---- the answer -------------------------------------------------------------------------------------------

Deno.test(
  "an erasure answers with its time, its entry's detail, and the evidence of a SUBJECT_ERASED entry by the system",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await seed(harness, key);
    const pseudonym = await pseudonymOf(harness, "acme", "operator-1");
    harness.clock.advance(5000);
    const answer = await erase(harness, key);
    assert.equal(answer.status, 200);
    const { evidence, ...body } = answer.body;
    const at = new Date(EPOCH + 5000).toISOString();
    assert.deepEqual(body, {
      erased: true,
      operator_id: "operator-1",
      erased_at: at,
      physical: IS_SERVER ? "server" : "done",
      detail: { requested_at: at, basis: "request", entries: 9 },
      request_id: answer.headers.get("X-Request-Id"),
      timestamp: at,
    });
    const { event_type, actor, subject, chain, org_id, prefix } = evidence.entry;
    assert.deepEqual(
      { event_type, actor, subject, chain, org_id, prefix },
      {
        event_type: "SUBJECT_ERASED",
        actor: "system",
        subject: pseudonym,
        chain: "org/acme",
        org_id: "acme",
        prefix: key.slice(0, 8),
      },
    );
    assert.equal(evidence.covers, "detail");
    assert.equal(answer.headers.get("Idempotency-Replayed"), null);
  }),
);

Deno.test(
  "the audit log shows an erasure by the pseudonym, and nowhere by the operator's id",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await seed(harness, key, { operator: "a-person-by-name", tag: "their-own" });
    const pseudonym = await pseudonymOf(harness, "acme", "a-person-by-name");
    await erased(harness, key, "a-person-by-name");
    const entries = await entriesOf(harness, pseudonym);
    assert.deepEqual(
      entries.filter(({ held }) => held.some((isHeld) => isHeld)).map(({ chain, event_type }) =>
        `${chain} ${event_type}`
      ),
      ["org/acme SUBJECT_ERASED", "org/acme/admin OPERATOR_ERASED"],
    );
    assert.equal(entries.length, 11);
    const bundle = await harness.send("/v1/audit/chain/export", { key });
    for (const name of ["a-person-by-name", "their-own"]) assert.ok(!bundle.text.includes(name), name);
  }),
);

// ---- what is erased ---------------------------------------------------------------------------------------

Deno.test(
  "every session and decision of an erased operator is 410 with the erasure's entry, in every endpoint",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const history = await seed(harness, key);
    const erasure = await erased(harness, key);
    for (const name of namesOf("s").filter((name) => name !== "s-frozen")) {
      await isGone(harness, `/v1/decision/replay/${name}`, { key }, erasure);
    }
    for (const name of ["late", "lite", "batch-1"]) {
      await isGone(harness, `/v1/score/s-${name}/commit`, { key, method: "POST" }, erasure);
    }
    await isGone(harness, "/v1/score/s-late/commit", { key, body: { outcome_correct: true } }, erasure);
    for (const [name, path] of Object.entries(CALLS)) {
      await isGone(harness, path, { key, body: history[name as keyof History] }, erasure);
    }
    const other = {
      operator_id: "operator-2",
      domain: "general",
      time_to_decision_ms: 1,
      decision: "accepted",
    };
    for (const name of namesOf("s")) {
      // The name is gone also for another request and another operator.
      await isGone(harness, "/v1/score", { key, body: { ...other, session_id: name } }, erasure);
      await isGone(harness, "/v1/decision/score", { key, body: { ...other, decision_id: name } }, erasure);
      const batch = {
        operator_id: "operator-2",
        domain: "general",
        interactions: ["fresh", name].map((session_id) => ({
          session_id,
          time_to_decision_ms: 1,
          decision: "accepted",
        })),
      };
      await isGone(harness, "/v1/score/batch", { key, body: batch }, erasure);
    }
    assert.deepEqual(await rowsOf(harness, "operator-2"), NO_ROWS);
  }),
);

Deno.test(
  "an erased operator has no profile, sparkline, recommendation or copy, and cannot be erased again",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await seed(harness, key);
    await erased(harness, key);
    const before = await harness.rowCounts();
    for (
      const [path, options] of [
        ["/v1/operator/operator-1/profile", {}],
        ["/v1/operator/operator-1/sparkline", {}],
        ["/v1/operator/operator-1/export", {}],
        ["/v1/operator/operator-1/export?format=html", {}],
        ["/v1/maintenance/recommend", { body: { operator_id: "operator-1" } }],
        ["/v1/operator/operator-1", { method: "DELETE" }],
      ] as const
    ) {
      const { status, body } = await harness.send(path, { key, ...options });
      assert.deepEqual([path, status, body.error.code], [path, 404, "NOT_FOUND"]);
    }
    assert.deepEqual(await rowsOf(harness, "operator-1"), NO_ROWS);
    const { score_commit, outcome_label } = await harness.rowCounts();
    assert.deepEqual({ score_commit, outcome_label }, { score_commit: 0, outcome_label: 0 });
    assert.deepEqual(await harness.rowCounts(), before);
  }),
);

Deno.test(
  "list, dashboard, Article 14 and a new report leave out an erased operator; an issued report stays as it was",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    for (const operator of ["operator-1", "operator-2"]) {
      await seed(harness, key, { operator, tag: operator });
    }
    const issued = await okBody(harness, `/v1/compliance/report?${PERIOD}`, key);
    assert.equal(issued.report.population.operators, 2);
    await erased(harness, key);

    const { operators } = await okBody(harness, "/v1/organization/operators?include=sparkline", key);
    assert.deepEqual(operators.map((row: Json) => row.operator_id), ["operator-2"]);
    assert.equal((await okBody(harness, "/v1/organization/dashboard", key)).dashboard.total_operators, 1);
    assert.equal((await okBody(harness, "/v1/compliance/article14", key)).operators.total, 1);

    const again = await okBody(harness, `/v1/compliance/report?${PERIOD}`, key);
    assert.equal(again.report.population.operators, 1);
    assert.equal(again.report.population.incident_freezes, 1);
    assert.notEqual(again.report.report_id, issued.report.report_id);
    const { report, report_sha256 } = await okBody(
      harness,
      `/v1/compliance/report/${issued.report.report_id}`,
      key,
    );
    assert.deepEqual(report, issued.report);
    assert.equal(report_sha256, issued.report_sha256);
  }),
);

// ---- what is kept -----------------------------------------------------------------------------------------

Deno.test(
  "an erasure leaves other operators and usage figures as they were",
  withHarness(
    async (harness) => {
      const [key, other] = [await harness.organization("acme"), await harness.organization("other")];
      await seed(harness, key);
      await seed(harness, key, { operator: "operator-2", tag: "t" });
      // The same names in another organization.
      await seed(harness, other);
      const asked = [
        ["/v1/operator/operator-2/profile", key],
        ["/v1/operator/operator-2/sparkline", key],
        ["/v1/operator/operator-1/profile", other],
        ["/v1/organization/dashboard", other],
        ...namesOf("t").filter((name) => name !== "t-frozen").map((
          name,
        ) => [`/v1/decision/replay/${name}`, key]),
        ["/v1/decision/replay/s-late", other],
      ] as const;
      const shown = async () =>
        await Promise.all(asked.map(async ([path, of]) => {
          const { request_id: _, evidence, ...body } = await okBody(harness, path!, of!);
          return { ...body, entry: evidence?.entry };
        }));
      const [before, usage] = [await shown(), await usageOf(harness)];
      await erased(harness, key);
      assert.deepEqual(await shown(), before);
      const { request_id: _, ...kept } = usage;
      const { request_id: __, ...now } = await usageOf(harness);
      assert.deepEqual(now, kept);
      assert.equal(now.interactions_30d ?? now.count, kept.interactions_30d ?? kept.count);
      const history = historyOf("operator-2", "t");
      for (const [name, path] of Object.entries(CALLS)) {
        const answer = await harness.send(path, { key, body: history[name as keyof History] });
        assert.deepEqual([answer.status, answer.headers.get("Idempotency-Replayed")], [200, "true"], path);
      }
    },
    { masterSecrets: MASTER_SECRETS },
  ),
);

Deno.test(
  "after erasures both chains of the organization verify, also if they were verified before",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    for (const operator of ["operator-1", "operator-2", "operator-3"]) {
      await seed(harness, key, { operator, tag: operator });
      // The audit log has entries about the operator. The erasure itself is on the other chain.
      await okBody(harness, `/v1/operator/${operator}/export`, key);
    }
    for (const operator of ["operator-2", "operator-1"]) await erased(harness, key, operator);
    const evidence = await okBody(harness, "/v1/audit/chain/verify", key);
    assert.deepEqual([evidence.valid, evidence.code, evidence.findings], [true, null, []]);
    const admin = await okBody(harness, "/v1/admin/audit/verify-chain", key);
    assert.deepEqual([admin.valid, admin.code, admin.findings], [true, null, []]);
  }),
);

Deno.test(
  "an operator who returns under an erased operator_id starts anew, under another pseudonym",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await seed(harness, key);
    const before = await pseudonymOf(harness, "acme", "operator-1");
    await erased(harness, key);
    const score = async (operator: string, session: string) => {
      const body = scoreRequest({ operator_id: operator, session_id: session });
      const answer = await harness.send("/v1/score", { key, body });
      assert.equal(answer.status, 200, answer.text);
      const { jis, displayed_jis, dimensions, uncertainty, evidence } = answer.body;
      return { subject: evidence.entry.subject, numbers: { jis, displayed_jis, dimensions, uncertainty } };
    };
    const newcomer = await score("newcomer", "n-1");
    const returned = await score("operator-1", "r-1");
    assert.deepEqual(returned.numbers, newcomer.numbers);
    assert.notEqual(returned.subject, before);
    assert.notEqual(returned.subject, newcomer.subject);
    const profile = await okBody(harness, "/v1/operator/operator-1/profile", key);
    assert.equal(profile.profile.total_interactions, 1);
    // The operator can be erased once more, by another entry.
    const erasure = await erased(harness, key);
    assert.deepEqual([erasure.evidence.entry.subject, erasure.detail.entries], [returned.subject, 1]);
    await isGone(harness, "/v1/decision/replay/r-1", { key }, erasure);
  }),
);

Deno.test(
  "an operator with frozen calls alone and one with decisions alone can be erased",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const frozen = scoreRequest({ operator_id: "frozen", session_id: "f" });
    const decided = historyOf("decided", "d").decision;
    await harness.send(CALLS.frozen, { key, body: frozen });
    await harness.send(CALLS.decision, { key, body: decided });
    const ofFrozen = await erased(harness, key, "frozen");
    assert.deepEqual(ofFrozen.detail.entries, 1);
    await isGone(harness, CALLS.frozen, { key, body: frozen }, ofFrozen);
    await isGone(harness, "/v1/score", { key, body: frozen }, ofFrozen);
    const ofDecided = await erased(harness, key, "decided");
    await isGone(harness, "/v1/decision/replay/d-decision", { key }, ofDecided);
    await isGone(harness, CALLS.decision, { key, body: decided }, ofDecided);
    for (const operator of ["frozen", "decided"]) assert.deepEqual(await rowsOf(harness, operator), NO_ROWS);
  }),
);

// ---- concurrency ------------------------------------------------------------------------------------------

for (const place of [0, 10, 20]) {
  Deno.test(
    `if 20 scores are sent at once with an erasure after ${place} of them, each is either erased or kept with all its rows`,
    withHarness(async (harness) => {
      const key = await harness.organization("acme");
      await seed(harness, key);
      const before = await pseudonymOf(harness, "acme", "operator-1");
      const sessions = Array.from({ length: 20 }, (_, index) => `c-${index}`);
      const score = (session: string) =>
        harness.send("/v1/score", { key, body: scoreRequest({ session_id: session }) });
      const early = sessions.slice(0, place).map(score);
      const erasing = erase(harness, key);
      const late = sessions.slice(place).map(score);
      const answers = await Promise.all([...early, ...late]);
      const erasure = await erasing;
      assert.equal(erasure.status, 200, erasure.text);

      const recorded: string[] = [];
      for (const [index, answer] of answers.entries()) {
        assert.equal(answer.status, 200, answer.text);
        const { entry } = answer.body.evidence;
        const isErased = entry.seq < erasure.body.evidence.entry.seq;
        assert.equal(entry.subject === before, isErased);
        const path = `/v1/decision/replay/${sessions[index]}`;
        if (isErased) await isGone(harness, path, { key }, erasure.body);
        else {
          recorded.push(sessions[index]!);
          assert.equal((await okBody(harness, path, key)).match, true);
        }
      }
      const rows = await rowsOf(harness, "operator-1");
      assert.equal(rows.interaction, recorded.length);
      assert.equal(rows.subject, recorded.length === 0 ? 0 : 1);
      const ofErased = (await entriesOf(harness, before)).filter(({ event_type }) =>
        !["SUBJECT_ERASED", "OPERATOR_ERASED"].includes(event_type)
      );
      assert.equal(ofErased.length, 9 + 20 - recorded.length);
      assert.ok(ofErased.every(({ held }) => held.length > 0 && held.every((isHeld) => !isHeld)));
      assert.equal(erasure.body.detail.entries, ofErased.length);
      if (recorded.length > 0) {
        const after = await entriesOf(harness, await pseudonymOf(harness, "acme", "operator-1"));
        assert.equal(after.length, recorded.length);
        assert.ok(after.every(({ held }) => held.every((isHeld) => isHeld)));
      }
      assert.equal(await chainValid(harness, key), true);
    }),
  );
}

Deno.test(
  "calls repeated, committed or replayed at once with an erasure get their earlier answer or 410",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const history = await seed(harness, key);
    const ask = () => [
      ...Object.entries(CALLS).map(([name, path]) =>
        harness.send(path, { key, body: history[name as keyof History] })
      ),
      harness.send("/v1/score/s-lite/commit", { key, method: "POST" }),
      harness.send("/v1/score/s-late/commit", { key, body: { outcome_correct: true } }),
      harness.send("/v1/decision/replay/s-late", { key }),
      harness.send("/v1/decision/replay/s-decision", { key }),
    ];
    const early = ask();
    let isOver = false;
    const erasing = erase(harness, key).finally(() => isOver = true);
    const answers = await Promise.all([...early, ...ask()]);
    // The records are verified before they are destroyed. These calls meet each step of that.
    while (!isOver) answers.push(...await Promise.all(ask()));
    answers.push(...await Promise.all(ask()));
    assert.equal((await erasing).status, 200);
    for (const { status, text } of answers) assert.ok(status === 200 || status === 410, text);
    assert.ok(answers.some(({ status }) => status === 410));
    assert.deepEqual(await rowsOf(harness, "operator-1"), NO_ROWS);
  }),
);

Deno.test("over HTTP many repeated calls beside their operator's erasure get their first answer or 410, and none fails", async () => {
  const deployment = await freshDeployment();
  const service = await startService(["serve"], deployment);
  try {
    const key = await createOrganization(service, deployment.env);
    for (let round = 0; round < ERASED_BESIDE_REPEATS; round += 1) {
      const [operator, tag] = [`operator-${round}`, `r${round}`];
      const history = historyOf(operator, tag);
      const calls = [
        ...Object.entries(CALLS).map(([name, path]) => ({ path, body: history[name as keyof History] })),
        { path: `/v1/score/${tag}-late/commit`, body: { outcome_correct: true } },
      ];
      const send = (call: (typeof calls)[number]) => service.send(call.path, { key, body: call.body });
      const firsts: Json[] = [];
      for (const call of calls) {
        const { status, body } = await send(call);
        assert.equal(status, 200, JSON.stringify(body));
        firsts.push(body);
      }
      const repeat = () =>
        Array.from({ length: REPEATS }, () =>
          calls.map(async (call, index) => ({
            ...await send(call),
            path: call.path,
            first: firsts[index],
          }))).flat();
      const early = repeat();
      const erasing = service.send(`/v1/operator/${operator}`, {
        method: "DELETE",
        key,
      });
      const answers = await Promise.all([...early, ...repeat()]);
      const erasure = await erasing;
      assert.equal(erasure.status, 200, JSON.stringify(erasure.body));
      for (const { path, first, ...answer } of answers) {
        isFirstOrGone(answer, { first, erasure: erasure.body, what: path });
      }
      assert.equal(answers.length, 2 * 6 * REPEATS);
      for (const call of calls) assert.equal((await send(call)).status, 410, call.path);
    }
    assert.deepEqual(service.log().filter(({ level }) => level === "error"), []);
    const { body } = await service.send("/v1/audit/chain/verify", { key });
    assert.equal(body.valid, true);
  } finally {
    await service.stop();
    await deployment.remove();
  }
});

Deno.test(
  "if two erasures are sent at once, one is 200 and the other 404, and each chain has one entry of it",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await seed(harness, key);
    const answers = await Promise.all([erase(harness, key), erase(harness, key)]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404]);
    const entries = await harness.database.read(
      query.selectFrom("audit_entry").select("chain").where("event_type", "in", [
        "SUBJECT_ERASED",
        "OPERATOR_ERASED",
      ]).orderBy("chain").compile(),
    );
    assert.deepEqual(entries.map(({ chain }) => chain), ["org/acme", "org/acme/admin"]);
  }),
);

// ---- the bytes --------------------------------------------------------------------------------------------

/** Marks by which a record of these tests is recognised: ids, and numbers that occur nowhere else. */
const MARKS = /person-\d+-[a-z]*-end|(?:case|choice|frozen)-\d+-\d+-[a-z]*-end|\b\d{8}\.\d{5}\b/g;

/** A filler that gives rows different lengths. */
const filler = (index: number) => "abcdefghij".repeat(20).slice(0, (37 * index) % 180);

/**
 * Numbers with eight digits, and five after the point. They are all different, and none is a number of the
 * model.
 */
const numberOf = (person: number, index: number) => 10_000_000 + 1000 * person + index + 0.54321;

const personOf = (person: number) => `person-${person}-${filler(person)}-end`;

/** Sends scores, a frozen call, a decision and a label of one person; returns the marks of all of them. */
async function seedPerson({ send }: Harness, key: string, person: number): Promise<readonly string[]> {
  const marks: string[] = [personOf(person)];
  const mark = (text: string) => {
    marks.push(text);
    return text;
  };
  const timeOf = (index: number) => Number(mark(String(numberOf(person, index))));
  const operator = { operator_id: personOf(person), domain: "financial" };
  const name = (kind: string, index: number) =>
    mark(`${kind}-${person}-${index}-${filler(person + 3 * index)}-end`);
  const interactions = Array.from({ length: 1 + (person % 9) }, (_, index) => ({
    session_id: name("case", index),
    time_to_decision_ms: timeOf(index),
    decision: ["accepted", "modified", "deferred"][index % 3],
  }));
  const calls = [
    ["/v1/score/batch", { ...operator, interactions }],
    [`/v1/score/${interactions[0]!.session_id}/commit`, { outcome_correct: person % 2 === 0 }],
    ["/v1/decision/score", {
      ...operator,
      decision_id: name("choice", 0),
      time_to_decision_ms: timeOf(100),
      decision: "accepted",
    }],
    ["/v1/score?mode_override=incident_frozen", {
      ...operator,
      session_id: name("frozen", 0),
      time_to_decision_ms: timeOf(200),
      decision: "accepted",
    }],
  ] as const;
  for (const [path, body] of calls) {
    const answer = await send(path, { key, body });
    assert.equal(answer.status, 200, answer.text);
  }
  return marks;
}

/** The marks that occur in any byte of the installation's files. */
async function kept(directory: string, marks: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for await (const { name } of Deno.readDir(directory)) {
    const text = new TextDecoder("latin1").decode(await Deno.readFile(`${directory}/${name}`));
    for (const [mark] of text.matchAll(MARKS)) found.add(mark);
  }
  return marks.filter((mark) => found.has(mark));
}

/** Runs a test with a service in a directory of its own, and removes that. */
async function withFiles(test: (harness: Harness, directory: string) => Promise<void>): Promise<void> {
  const directory = await makeQuickDir("jiss-erasure-");
  try {
    const files = { path: `${directory}/jiss.db`, lockPath: `${directory}/lock.db` };
    const harness = await openHarness({ ...files, deliverer: recordingDeliverer() });
    try {
      await test(harness, directory);
    } finally {
      await harness.close();
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

embeddedTest(
  "after an erasure no byte of any file, nor of the export, holds an id or a number of the erased operator",
  async () => {
    await withFiles(async (harness, directory) => {
      const key = await harness.organization("acme");
      await register(harness, key);
      const people = 100;
      const marks: (readonly string[])[] = [];
      for (let person = 0; person < people; person += 1) marks.push(await seedPerson(harness, key, person));
      // One more score for some, so that one person's records do not all lie together.
      for (let person = 0; person < people; person += 3) {
        const body = scoreRequest({ operator_id: personOf(person), session_id: `case-${person}-900--end` });
        assert.equal((await harness.send("/v1/score", { key, body })).status, 200);
      }
      // Some events are sent and deleted, which leaves their places in the file free; others wait.
      const events = async () => Number((await harness.rowCounts()).webhook_event);
      assert.ok(await events() >= people, "every person has events");
      while (await events() > people / 2) {
        await harness.deliver();
        await forgetOldDeliveries(harness.dependencies, harness.clock.now() + 8 * 86_400_000);
      }
      for (const person of [0, 50, 99]) {
        assert.deepEqual(
          await kept(directory, marks[person]!),
          marks[person],
          "the marks are found before the erasure",
        );
      }
      const gone: string[] = [];
      for (let index = 0; index < 30; index += 1) {
        const person = (index * 97 + 5) % people;
        const erasure = await erased(harness, key, personOf(person));
        assert.equal(erasure.physical, "done");
        gone.push(...marks[person]!, `case-${person}-900--end`);
        if (index % 8 === 7) {
          assert.deepEqual(await kept(directory, gone), [], `after ${index + 1} erasures`);
        }
      }
      const bundle = await harness.send("/v1/audit/chain/export", { key });
      const exported = new Set([...bundle.text.matchAll(MARKS)].map(([mark]) => mark));
      assert.deepEqual(gone.filter((mark) => exported.has(mark)), []);
      assert.ok(marks[0]!.every((mark) => exported.has(mark)));
      assert.deepEqual(await kept(directory, marks[0]!), marks[0]);
      assert.deepEqual([...Deno.readDirSync(directory)].map(({ name }) => name).sort(), [
        "jiss.db",
        "jiss.db-shm",
        "jiss.db-wal",
        "lock.db",
        "lock.db-shm",
        "lock.db-wal",
      ]);
      assert.equal(await chainValid(harness, key), true);
    });
  },
);

embeddedTest(
  "while a reader holds an older state the physical erasure is pending, and the next upkeep after that ends it",
  async () => {
    await withFiles(async (harness, directory) => {
      const key = await harness.organization("acme");
      const marks = [await seedPerson(harness, key, 1), await seedPerson(harness, key, 2)];
      const upkeep = new Upkeep(harness.dependencies);
      {
        using reader = new DatabaseSync(`${directory}/jiss.db`, { readOnly: true });
        reader.exec("BEGIN");
        reader.prepare("SELECT count(*) FROM interaction").get();
        const erasure = await erased(harness, key, personOf(1));
        assert.equal(erasure.physical, "pending");
        // The rows are gone, but the bytes are still on the disk.
        assert.deepEqual(await rowsOf(harness, personOf(1)), NO_ROWS);
        assert.deepEqual(await kept(directory, marks[0]!), marks[0]);
        await upkeep.run(harness.clock.now());
        assert.deepEqual(await kept(directory, marks[0]!), marks[0]);
      }
      await upkeep.run(harness.clock.now());
      assert.deepEqual(await kept(directory, marks[0]!), []);
      assert.deepEqual(await kept(directory, marks[1]!), marks[1]);
      assert.deepEqual(harness.log.filter(({ level }) => level === "error"), []);
    });
  },
);

/** The calls that can be repeated, by name, each after the calls that it needs. */
function repeatable(operator: string, tag: string) {
  const history = historyOf(operator, tag);
  const late = { path: CALLS.late, body: history.late };
  return {
    ...Object.fromEntries(
      Object.entries(CALLS).map(([name, path]) => [
        name,
        [{ path, body: history[name as keyof History] }],
      ]),
    ),
    commit: [late, { path: `/v1/score/${tag}-late/commit` }],
    label: [late, { path: `/v1/score/${tag}-late/commit`, body: { outcome_correct: true } }],
  } as Readonly<Record<string, readonly { readonly path: string; readonly body?: unknown }[]>>;
}

/** A database that calls `afterRead` after each of its reads. */
function watched(database: Database, afterRead: () => Promise<void>): Database {
  return {
    ...database,
    async read(compiled) {
      const rows = await database.read(compiled);
      await afterRead();
      return rows;
    },
    async snapshot(queries) {
      const rows = await database.snapshot(queries);
      await afterRead();
      return rows;
    },
  };
}

Deno.test("a replay of a labelled score shows its label or is 410, after whichever of its reads another process erases the operator", () =>
  withFiles(async (harness, directory) => {
    const key = await harness.organization("acme");
    const statuses: number[] = [];
    for (let at = 1;; at += 1) {
      let reads = 0;
      let isAsked = false;
      let isErased = false;
      const other = await openHarness({
        path: `${directory}/jiss.db`,
        lockPath: `${directory}/lock.db`,
        run: at,
        wrap: (database) =>
          watched(database, async () => {
            if (!isAsked) return;
            reads += 1;
            if (reads !== at) return;
            await erased(harness, key, `operator-${at}`);
            isErased = true;
          }),
      });
      try {
        for (const { path, body } of repeatable(`operator-${at}`, `t${at}`).label!) {
          assert.equal((await harness.send(path, { method: "POST", key, body })).status, 200);
        }
        isAsked = true;
        const { status, body, text } = await other.send(`/v1/decision/replay/t${at}-late`, { key });
        isAsked = false;
        if (!isErased) break;
        statuses.push(status);
        if (status === 200) assert.equal(body.label.outcome_correct, true, text);
        else assert.equal(status, 410, text);
      } finally {
        await other.close();
      }
    }
    assert.deepEqual([statuses[0], statuses.at(-1)], [410, 200], statuses.join(" "));
  }));

for (const name of [...Object.keys(CALLS), "commit", "label"]) {
  Deno.test(`a repeated call (${name}) gets its first answer or 410, after whichever of its reads another process erases the operator`, () =>
    withFiles(async (harness, directory) => {
      const key = await harness.organization("acme");
      const statuses: number[] = [];
      for (let at = 1;; at += 1) {
        let reads = 0;
        let isAsked = false;
        let erasure: Json = null;
        const other = await openHarness({
          path: `${directory}/jiss.db`,
          lockPath: `${directory}/lock.db`,
          run: at,
          wrap: (database) =>
            watched(database, async () => {
              if (!isAsked) return;
              reads += 1;
              if (reads === at) erasure = await erased(harness, key, `operator-${at}`);
            }),
        });
        try {
          const operator = `operator-${at}`;
          let first: Json = null;
          const calls = repeatable(operator, `t${at}`)[name]!;
          for (const { path, body } of calls) {
            first = await harness.send(path, { method: "POST", key, body });
            assert.equal(first.status, 200, first.text);
          }
          const { path, body } = calls.at(-1)!;
          isAsked = true;
          const answer = await other.send(path, { method: "POST", key, body });
          isAsked = false;
          if (erasure === null) break;
          statuses.push(answer.status);
          isFirstOrGone(answer, { first: first.body, erasure, what: `read ${at}` });
        } finally {
          await other.close();
        }
      }
      assert.deepEqual([statuses[0], statuses.at(-1)], [410, 200], statuses.join(" "));
    }));
}

// ---- refusals ---------------------------------------------------------------------------------------------

Deno.test(
  "an erasure is refused without a good key, and for an unknown operator, another organization's, or a malformed id",
  withHarness(async (harness) => {
    const [key, other] = [await harness.organization("acme"), await harness.organization("other")];
    await seed(harness, other, { operator: "theirs" });
    for (
      const [name, operator, presented, status, code, names] of [
        ["an unknown operator", "nobody", key, 404, "NOT_FOUND", "nobody"],
        ["another organization's operator", "theirs", key, 404, "NOT_FOUND", "theirs"],
        ["the longest id", "a".repeat(256), key, 404, "NOT_FOUND", "a".repeat(256)],
        ["one character more", "a".repeat(257), key, 422, "VALIDATION_FAILED", "operator_id"],
        ["a space", "operator%201", key, 422, "VALIDATION_FAILED", "operator_id"],
        ["no key", "theirs", undefined, 401, "UNAUTHORIZED", "key"],
        ["an unknown key", "theirs", UNKNOWN_KEY, 401, "UNAUTHORIZED", "key"],
      ] as const
    ) {
      await refuses(harness, {
        name,
        path: `/v1/operator/${operator}`,
        request: { method: "DELETE", ...(presented === undefined ? {} : { key: presented }) },
        status,
        code,
        names,
      });
    }
    assert.equal((await okBody(harness, "/v1/operator/theirs/profile", other)).profile.total_interactions, 5);
  }),
);
