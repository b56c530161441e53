/**
 * The queue of scores to label, GET /v1/organization/decisions?unlabelled=true, and who may not label:
 * POST /v1/score/{session_id}/commit.
 */
import assert from "node:assert/strict";
import type { Role } from "../../src/domain/access.ts";
import { LABEL_STRETCH, LABEL_STRETCHES_OF_PAGE } from "../../src/domain/limits.ts";
import {
  type Harness,
  openHarness,
  OWN_ORIGIN,
  type RequestOptions,
  scoreRequest,
  withHarness,
} from "../harness.ts";
import type { CompiledQuery } from "../../src/store/database.ts";
import { unlabelledQuery } from "../../src/store/record_list.ts";
import { storedEvents } from "../scenario.ts";
import { signedInUser } from "../signing_in.ts";

const PATH = "/v1/organization/decisions?unlabelled=true";

interface Case {
  readonly session: string;
  readonly operator?: string;
  readonly decision?: string;
  readonly stakes?: string;
  readonly outcome?: boolean | null;
  readonly advised?: boolean;
}

async function score(
  { send }: Harness,
  key: string,
  { session, operator = "ada", decision = "accepted", stakes = "standard", outcome = null, advised = true }:
    Case,
): Promise<void> {
  const { status, text } = await send("/v1/score", {
    key,
    body: scoreRequest({ session_id: session, operator_id: operator }, {
      decision,
      scenario_type: stakes,
      outcome_correct: outcome,
      ai_recommendation_presented: advised,
    }),
  });
  assert.equal(status, 200, text);
}

async function label({ send }: Harness, key: string, session: string, outcome_correct = true): Promise<void> {
  const { status, text } = await send(`/v1/score/${session}/commit`, { key, body: { outcome_correct } });
  assert.equal(status, 200, text);
}

async function list({ send }: Harness, key: string, query = "") {
  const { status, body, text } = await send(`${PATH}${query}`, { key });
  assert.equal(status, 200, text);
  return body;
}

const ids = (body: { readonly decisions: readonly { readonly id: string }[] }) =>
  body.decisions.map(({ id }) => id);

/** Many scores of one operator whose outcome is known, in batches. */
async function scoreKnown({ send }: Harness, key: string, { count, name }: { count: number; name: string }) {
  for (let first = 0; first < count; first += 100) {
    const interactions = Array.from({ length: Math.min(100, count - first) }, (_, index) => ({
      session_id: `${name}-${first + index}`,
      time_to_decision_ms: 9_000,
      decision: "accepted",
      outcome_correct: true,
    }));
    const { status, text } = await send("/v1/score/batch", {
      key,
      body: { operator_id: "bulk", domain: "general", interactions },
    });
    assert.equal(status, 200, text);
  }
}

/** Sends requests as a page of the service does, with the session of a user. */
async function asUser(harness: Harness, user: { role: Role; email?: string; name?: string }) {
  const { cookie, userId } = await signedInUser(harness, { orgId: "acme", ...user });
  return {
    userId,
    send: (path: string, options: RequestOptions = {}) =>
      harness.send(path, {
        ...options,
        headers: { Cookie: cookie, Origin: OWN_ORIGIN, "Sec-Fetch-Site": "same-origin" },
      }),
  };
}

Deno.test(
  "cases to label can be limited to a time, page by page",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const times: string[] = [];
    for (let index = 0; index < 6; index += 1) {
      times.push(new Date(harness.clock.now()).toISOString());
      const stakes = index === 2 ? "critical" : "standard";
      await score(harness, key, { session: `s-${index}`, operator: index % 2 === 0 ? "ada" : "ben", stakes });
      harness.clock.advance(1000);
    }
    const read = async (query: string) => {
      const found: string[] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const page: Awaited<ReturnType<typeof list>> = await list(
          harness,
          key,
          `&limit=1${query}${cursor === "" ? "" : `&cursor=${cursor}`}`,
        );
        found.push(...ids(page));
        cursor = page.next_cursor;
      }
      return found;
    };
    assert.deepEqual(await read(`&since=${times[1]}&until=${times[4]}`), ["s-2", "s-3", "s-1"]);
    assert.deepEqual(await read(`&since=${times[1]}&until=${times[5]}&operator_id=ada`), ["s-2", "s-4"]);
    assert.deepEqual(await read(`&until=${times[1]}`), ["s-0"]);
    assert.deepEqual(await read(`&since=${times[5]}`), ["s-5"]);
    assert.deepEqual(await read(`&until=${times[0]}`), []);
  }),
);

Deno.test(
  "a case to label has what a labeller needs, and nothing of the reviewer's score",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    assert.deepEqual((await list(harness, key)).decisions, []);
    await score(harness, key, { session: "s-1", decision: "rejected", stakes: "critical", advised: false });
    const { decisions, count, next_cursor } = await list(harness, key);
    assert.deepEqual(decisions, [{
      id: "s-1",
      kind: "score",
      timestamp: new Date(harness.clock.now()).toISOString(),
      operator_id: "ada",
      domain: "general",
      decision: "rejected",
      jis: null,
      band: null,
      verdict: null,
      decision_risk_score: null,
      routing_decision: null,
      scenario_type: "critical",
      ai_recommendation_presented: false,
    }]);
    assert.deepEqual([count, next_cursor], [1, null]);
    // The list of all shows what it always did.
    const all = (await harness.send("/v1/organization/decisions?unlabelled=false", { key })).body.decisions;
    assert.equal("scenario_type" in all[0], false);
    assert.equal(typeof all[0].jis, "number");
  }),
);

Deno.test(
  "departures and high stakes come first, then the newest; what needs no label is not listed",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const cases: readonly Case[] = [
      { session: "plain-1" },
      { session: "critical", stakes: "critical" },
      { session: "rejected", decision: "rejected" },
      { session: "plain-2", stakes: "calibration" },
      { session: "both-1", decision: "escalated", stakes: "critical" },
      { session: "known", decision: "rejected", outcome: false },
      { session: "planted", decision: "accepted", stakes: "error_injected" },
      { session: "modified", decision: "modified" },
      { session: "labelled", decision: "overridden" },
      { session: "withheld", stakes: "ai_withheld" },
      { session: "both-2", decision: "deferred", stakes: "high_stakes" },
      { session: "high", stakes: "high_stakes" },
    ];
    for (const one of cases) {
      await score(harness, key, one);
      // Several of one instant keep the order of the chain.
      if (one.session !== "both-1") harness.clock.advance(1000);
    }
    const risk = { decision_id: "d-1", operator_id: "ada", domain: "general", decision: "rejected" };
    await harness.send("/v1/decision/score", { key, body: { ...risk, time_to_decision_ms: 900 } });
    await label(harness, key, "labelled");
    assert.deepEqual(ids(await list(harness, key)), [
      ...["both-2", "both-1"],
      ...["high", "modified", "rejected", "critical"],
      ...["withheld", "plain-2", "plain-1"],
    ]);
    assert.deepEqual(ids(await list(harness, key, "&kind=score&limit=2")), ["both-2", "both-1"]);
    assert.deepEqual(ids(await list(harness, key, "&kind=decision")), []);
    // A commit without a label leaves the truth open.
    assert.equal(
      (await harness.send("/v1/score/both-2/commit", { key, method: "POST" })).status,
      200,
    );
    assert.equal(ids(await list(harness, key))[0], "both-2");
  }),
);

Deno.test(
  "pages follow each other without a gap or a double while labels and scores arrive",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const all: Record<string, string[]> = { high: [], low: [] };
    for (let index = 0; index < 13; index += 1) {
      const isHigh = index % 3 === 0;
      const session = `s-${index}`;
      const operator = index % 2 === 0 ? "ada" : "ben";
      await score(harness, key, { session, operator, decision: isHigh ? "rejected" : "accepted" });
      all[isHigh ? "high" : "low"]!.unshift(session);
    }
    const expected = [...all.high!, ...all.low!];
    const read = async (filter: string, between: (page: readonly string[]) => Promise<void>) => {
      const found: string[] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const page: Awaited<ReturnType<typeof list>> = await list(
          harness,
          key,
          `&limit=3${filter}${cursor === "" ? "" : `&cursor=${cursor}`}`,
        );
        found.push(...ids(page));
        cursor = page.next_cursor;
        await between(ids(page));
      }
      return found;
    };
    const nothing = () => Promise.resolve();
    assert.deepEqual(await read("", nothing), expected);
    assert.deepEqual(
      await read("&operator_id=ben", nothing),
      expected.filter((session) => Number(session.slice(2)) % 2 === 1),
    );
    assert.deepEqual(await read("&operator_id=nobody", nothing), []);
    let late = 0;
    assert.deepEqual(
      await read("", async (page) => {
        for (const session of page.slice(0, 2)) await label(harness, key, session);
        await score(harness, key, { session: `late-${late++}`, operator: "zoe", decision: "rejected" });
      }),
      expected,
    );
    const left = ids(await list(harness, key));
    assert.equal(left.filter((session) => session.startsWith("s-")).length, 13 - 2 * 4 - 1);
    assert.ok(left[0]!.startsWith("late-"));
  }),
);

Deno.test(
  "a long history is sorted in stretches, and a page looks through a limited number of them",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key, { session: "oldest", decision: "rejected", stakes: "critical" });
    await scoreKnown(harness, key, { count: LABEL_STRETCH - 1, name: "first" });
    await score(harness, key, { session: "newer" });
    // The newer stretch is first, whatever the older one teaches.
    assert.deepEqual(ids(await list(harness, key)), ["newer", "oldest"]);
    const count = LABEL_STRETCH * (LABEL_STRETCHES_OF_PAGE - 1);
    await scoreKnown(harness, key, { count, name: "second" });
    const first = await list(harness, key);
    assert.deepEqual(ids(first), ["newer"]);
    assert.notEqual(first.next_cursor, null);
    const second = await list(harness, key, `&cursor=${first.next_cursor}`);
    assert.deepEqual([ids(second), second.next_cursor], [["oldest"], null]);
  }),
);

Deno.test(
  "a stretch is read by keys, whatever else the tables hold",
  withHarness(async ({ database, organization }) => {
    await organization("acme");
    const query = unlabelledQuery("acme", { chain: "org/acme", seqs: [0] });
    const plan = await database.read(
      { ...query, sql: `EXPLAIN QUERY PLAN ${query.sql}` } as unknown as CompiledQuery<
        { readonly detail: string }
      >,
    );
    const steps = plan.map(({ detail }) => detail);
    assert.equal(steps.length, 3, steps.join("\n"));
    assert.match(steps[1]!, /^SEARCH p USING .*\(chain=\? AND seq=\? AND name=\?\)$/);
    assert.match(steps[2]!, /^SEARCH i USING PRIMARY KEY \(org_id=\? AND session_id=\?\)$/);
  }),
);

Deno.test(
  "erased cases are not listed, and no other organization's",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const other = await harness.organization("other");
    for (let index = 0; index < 4; index += 1) {
      await score(harness, key, { session: `s-${index}`, operator: index % 2 === 0 ? "ada" : "ben" });
    }
    await score(harness, other, { session: "s-9" });
    assert.equal((await harness.send("/v1/operator/ada", { method: "DELETE", key })).status, 200);
    assert.deepEqual(ids(await list(harness, key)), ["s-3", "s-1"]);
    assert.deepEqual(ids(await list(harness, key, "&operator_id=ada")), []);
    assert.deepEqual(ids(await list(harness, other)), ["s-9"]);
  }),
);

Deno.test(
  "the list refuses unknown values, and the cursor of the other list",
  withHarness(async (harness) => {
    const { send, organization } = harness;
    const key = await organization("acme");
    for (let index = 0; index < 3; index += 1) await score(harness, key, { session: `s-${index}` });
    const [plain, queue] = await Promise.all(
      ["limit=1", "unlabelled=true&limit=1"].map(async (query) =>
        (await send(`/v1/organization/decisions?${query}`, { key })).body.next_cursor
      ),
    );
    for (
      const query of [
        "unlabelled=yes",
        "unlabelled=",
        "unlabelled=true&limit=201",
        "unlabelled=true&cursor=u",
        "unlabelled=true&cursor=u1-3-1",
        "unlabelled=true&cursor=u1-1",
        `unlabelled=true&cursor=${plain}`,
        `cursor=${queue}`,
      ]
    ) {
      const { status, body } = await send(`/v1/organization/decisions?${query}`, { key });
      assert.deepEqual([status, body.error.code], [422, "VALIDATION_FAILED"], query);
    }
  }),
);

Deno.test("a case whose row, record or label was altered is not listed but refused", async () => {
  for (
    const change of [
      "UPDATE interaction SET decision = 'rejected' WHERE session_id = 's-1'",
      "UPDATE interaction SET scenario_type = 'critical' WHERE session_id = 's-1'",
      "UPDATE interaction SET seal = NULL WHERE session_id = 's-1'",
      "UPDATE audit_part SET data = json_set(data, '$.interaction.decision', 'rejected') WHERE name = 'input' AND chain = 'org/acme'",
      "UPDATE audit_part SET data = json_set(data, '$.operator_id', 'ben') WHERE name = 'result' AND chain = 'org/acme'",
      // The label of another case is taken away, and the case of its row opened again.
      "UPDATE interaction SET label_position = NULL WHERE session_id = 's-2'",
    ]
  ) {
    const harness = await openHarness();
    const key = await harness.organization("acme");
    await score(harness, key, { session: "s-1" });
    await score(harness, key, { session: "s-2" });
    await label(harness, key, "s-2");
    assert.deepEqual(ids(await list(harness, key)), ["s-1"]);
    await harness.database.batch([{ sql: change, parameters: [] }]);
    const { status, body } = await harness.send(PATH, { key });
    assert.deepEqual([status, body.error?.code], [503, "SERVICE_UNAVAILABLE"], change);
    // Closing the harness would run its oracle, which would find the alteration.
    await harness.abandon();
  }
});

Deno.test("a row from before its label that was put back is refused", async () => {
  const harness = await openHarness();
  const key = await harness.organization("acme");
  await score(harness, key, { session: "s-1" });
  await harness.database.batch([{
    sql: "CREATE TABLE kept AS SELECT seal FROM interaction",
    parameters: [],
  }]);
  await label(harness, key, "s-1");
  await harness.database.batch([{
    sql: "UPDATE interaction SET label_position = NULL, seal = (SELECT seal FROM kept)",
    parameters: [],
  }]);
  assert.equal((await harness.send(PATH, { key })).status, 503);
  await harness.abandon();
});

Deno.test(
  "whoever reads may read the queue; an officer and an admin may label, a viewer and an auditor not",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const mayLabel = { viewer: false, officer: true, auditor: false, admin: true } as const;
    for (const [role, allowed] of Object.entries(mayLabel) as [Role, boolean][]) {
      await score(harness, key, { session: `of-${role}` });
      const { send } = await asUser(harness, { role });
      assert.ok(ids((await send(PATH)).body).includes(`of-${role}`), role);
      const answer = await send(`/v1/score/of-${role}/commit`, { body: { outcome_correct: true } });
      assert.equal(answer.status, allowed ? 200 : 403, `${role}: ${answer.text}`);
      assert.equal(ids((await send(PATH)).body).includes(`of-${role}`), !allowed, role);
    }
    for (const [scope, reads, labels] of [["read", 200, 403], ["score", 403, 200]] as const) {
      const named = await harness.send("/v1/keys", { key, body: { name: scope, scopes: [scope] } });
      assert.equal(named.status, 201, named.text);
      const own = named.body.api_key;
      await score(harness, key, { session: `by-${scope}` });
      assert.equal((await harness.send(PATH, { key: own })).status, reads, scope);
      const commit = `/v1/score/by-${scope}/commit`;
      assert.equal(
        (await harness.send(commit, { key: own, body: { outcome_correct: true } })).status,
        labels,
        scope,
      );
    }
  }),
);

Deno.test(
  "nobody labels an own decision: the refusal is in the audit log, and nothing else is written",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    for (const operator of ["ada-ruiz", "ben-okri", "carla"]) {
      await score(harness, key, { session: `by-${operator}`, operator });
    }
    const before = (await storedEvents(harness, "org/acme/admin")).length;
    const own = [
      { operator: "ada-ruiz", email: "Ada.Ruiz@acme.example", name: "A. R." },
      { operator: "ben-okri", email: "bo@acme.example", name: "Ben Okri" },
    ];
    for (const { operator, ...account } of own) {
      const { send, userId } = await asUser(harness, { role: "officer", ...account });
      const path = `/v1/score/by-${operator}/commit`;
      const rows = await harness.rowCounts();
      const { status, body } = await send(path, { body: { outcome_correct: true } });
      assert.deepEqual([status, body.error.code], [403, "FORBIDDEN"], operator);
      assert.match(body.error.message, /your own decision: somebody else must label it/);
      // The counts wait for what is being written.
      const after = await harness.rowCounts();
      assert.equal(after.outcome_label, rows.outcome_label);
      assert.equal(after.score_commit, rows.score_commit);
      const events = (await storedEvents(harness, "org/acme/admin")).slice(before);
      assert.ok(
        events.some(({ type, detail }) => type === "ACCESS_DENIED" && detail.user_id === userId),
        JSON.stringify(events),
      );
      // A commit without a label finalizes the score and says nothing of the truth.
      assert.equal((await send(path, { body: {} })).status, 200);
      // A decision of somebody else.
      assert.equal(
        (await send("/v1/score/by-carla/commit", { body: { outcome_correct: true } })).status,
        200,
      );
    }
    // Somebody else labels it, and so does a program, whose key is of no person.
    const { send } = await asUser(harness, { role: "admin" });
    const path = (operator: string) => `/v1/score/by-${operator}/commit`;
    assert.equal((await send(path("ada-ruiz"), { body: { outcome_correct: true } })).status, 200);
    await label(harness, key, "by-ben-okri");
  }),
);

Deno.test(
  "under pseudonyms the queue names nobody, and an own decision is refused by the reviewer's real id",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key, { session: "s-1", operator: "zoe-okafor" });
    await score(harness, key, { session: "s-2", operator: "yuri-lang" });
    const { send } = await asUser(harness, { role: "officer", email: "zoe.okafor@acme.example" });
    const { text, body } = await send(PATH);
    assert.deepEqual(ids(body), ["s-2", "s-1"]);
    for (const name of ["zoe", "okafor", "yuri", "lang"]) assert.ok(!text.includes(name), name);
    const pseudonym = body.decisions[1].operator_id;
    assert.match(pseudonym, /^[0-9a-f]{32}$/);
    assert.deepEqual(ids((await send(`${PATH}&operator_id=${pseudonym}`)).body), ["s-1"]);
    assert.equal((await send(`${PATH}&operator_id=zoe-okafor`)).status, 422);
    const refused = await send("/v1/score/s-1/commit", { body: { outcome_correct: true } });
    assert.equal(refused.status, 403);
    assert.ok(!/zoe|okafor/.test(refused.text), refused.text);
    assert.equal((await send("/v1/score/s-2/commit", { body: { outcome_correct: true } })).status, 200);
  }, { privacy: "pseudonymous" }),
);
