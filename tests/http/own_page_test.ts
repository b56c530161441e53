/**
 * A reviewer's own page: who has the link sees the own record and no other, takes the copy, and contests; the link ends by
 * time, by a newer one, by an erasure and with the organization; and what was contested is on the chain.
 */
import assert from "node:assert/strict";
import { rowsOf } from "../earlier_schema.ts";
import { type Harness, OWN_ORIGIN, scoreRequest, withHarness } from "../harness.ts";
import { auditReports } from "../probing.ts";
import { storedEvents, storedText } from "../scenario.ts";
import { signedInUser } from "../signing_in.ts";

const HOUR = 3_600_000;

function ownPageTest(
  name: string,
  test: (harness: Harness, key: string) => Promise<void>,
  options: Parameters<typeof withHarness>[1] = {},
): void {
  Deno.test(
    name,
    withHarness(async (harness) => {
      const key = await harness.organization("acme");
      for (
        const [operator, session] of [["ada", "case-1"], ["ada", "case-2"], ["bruno", "case-3"]] as const
      ) {
        const body = scoreRequest({ operator_id: operator, session_id: session });
        const answer = await harness.send("/v1/score", { key, body });
        assert.equal(answer.status, 200, answer.text);
      }
      await test(harness, key);
    }, options),
  );
}

async function issue({ send }: Harness, key: string, body: unknown = {}, operator = "ada"): Promise<string> {
  const answer = await send(`/v1/operator/${operator}/page-link`, { key, body });
  assert.equal(answer.status, 201, answer.text);
  assert.equal(answer.body.name, operator);
  const [, path] = /^http:\/\/jiss\.test(\/me\/[0-9A-Z]{26}\.[A-Za-z0-9_-]{22})$/.exec(answer.body.link) ??
    [];
  assert.ok(path !== undefined, answer.body.link);
  return path;
}

ownPageTest(
  "the page shows the reviewer's score, what moved it, and nothing of another",
  async (harness, key) => {
    const { send } = harness;
    await send("/v1/decision/score", {
      key,
      body: {
        decision_id: "decision-1",
        operator_id: "ada",
        domain: "general",
        ai_confidence: 0.9,
        stakes: "high",
        time_to_decision_ms: 9_000,
        decision: "accepted",
      },
    });
    const exercise = await send("/v1/exercises", {
      key,
      body: { operator_id: "ada", exercise_id: "ex_deferral_resistance_1", domain: "financial" },
    });
    assert.equal(exercise.status, 201, exercise.text);
    const path = await issue(harness, key);
    const { status, body, text, headers } = await send(`${path}/state`);
    assert.equal(status, 200, text);
    assert.equal(headers.get("Cache-Control"), "no-store");
    const profile = await send("/v1/operator/ada/profile", { key });
    assert.deepEqual(body.profile, profile.body.profile);
    assert.deepEqual(body.records.map(({ id }: { id: string }) => id), ["decision-1", "case-2", "case-1"]);
    const replay = await send("/v1/decision/replay/case-2", { key });
    assert.deepEqual(
      body.records[1].explanation,
      replay.body.explanation.filter(({ before, after }: { before: number; after: number }) =>
        before !== after
      ),
    );
    assert.deepEqual(
      body.exercises.map(({ state, decided }: Record<string, unknown>) => [state, decided]),
      [["open", 0]],
    );
    assert.equal(body.contests.length, 0);
    assert.match(body.notice.contest.steps[0], /Organization acme/);
    for (const secret of ["bruno", "case-3", exercise.body.link.split("/").at(-1)]) {
      assert.ok(!text.includes(secret), secret);
    }
    const page = await send(path);
    assert.equal(page.status, 200);
    assert.ok(!page.text.includes("ada"), "the page itself holds nobody's data");
  },
);

ownPageTest("a link of a reviewer who was never scored shows that", async (harness, key) => {
  const { send } = harness;
  await send("/v1/score?mode_override=incident_frozen", {
    key,
    body: scoreRequest({ operator_id: "frozen", session_id: "frozen-1" }),
  });
  const { body } = await send(`${await issue(harness, key, {}, "frozen")}/state`);
  assert.equal(body.profile, null);
  assert.deepEqual([body.records, body.jis_history, body.record_count], [[], [], 2]);
});

ownPageTest("the copy of a link is the reviewer's whole copy, and is recorded", async (harness, key) => {
  const { send } = harness;
  const path = await issue(harness, key);
  const own = await send(`${path}/copy`);
  assert.equal(own.status, 200, own.text);
  const asked = await send("/v1/operator/ada/export", { key });
  const kinds = ({ records }: { records: readonly { event_type: string }[] }) =>
    records.map(({ event_type }) => event_type).filter((type) => type !== "SUBJECT_ACCESS");
  assert.deepEqual(kinds(own.body), kinds(asked.body));
  assert.ok(kinds(own.body).includes("SUBJECT_LINK_ISSUED"));
  const page = await send(`${path}/copy?format=html`);
  assert.match(page.text, /A link to your own page was issued/);
  const events = await storedEvents(harness, "org/acme/admin");
  assert.deepEqual(
    events.filter(({ type }) => type === "SUBJECT_ACCESS").map(({ actor }) => actor),
    ["system", "api", "system"],
  );
});

ownPageTest("a contest is an entry with what was said, once, and changes no score", async (harness, key) => {
  const { send } = harness;
  const path = await issue(harness, key);
  const before = (await send("/v1/operator/ada/profile", { key })).body.profile;
  const body = { record_id: "case-2", statement: "I was called away.\nThe time is not mine." };
  const made = await send(`${path}/contests`, { body });
  assert.equal(made.status, 201, made.text);
  const again = await send(`${path}/contests`, { body });
  assert.equal(again.body.contest_id, made.body.contest_id);
  const whole = await send(`${path}/contests`, { body: { statement: "All of it." } });
  assert.equal(whole.status, 201);
  const entries = await rowsOf(
    harness.database,
    "select json_extract(body, '$.actor') as actor, subject, seq from audit_entry where event_type = 'SCORE_CONTESTED' order by seq",
  );
  const { pseudonym, contests } = (await send(`${path}/state`)).body;
  assert.deepEqual(
    entries.map(({ actor, subject }) => [actor, subject]),
    Array(2).fill(["system", pseudonym]),
  );
  assert.deepEqual(
    contests.map(({ seq }: { seq: number }) => seq),
    entries.map(({ seq }) => seq).toReversed(),
  );
  assert.equal(contests[1].statement, "I was called away.\nThe time is not mine.");
  assert.equal(contests[0].record_id, null);
  const listed = await send("/v1/contests", { key });
  assert.deepEqual(
    listed.body.contests.map(({ operator_id, ...rest }: Record<string, unknown>) => [operator_id, rest]),
    contests.map((one: unknown) => ["ada", one]),
  );
  assert.equal((await send("/v1/contests?operator_id=bruno", { key })).body.count, 0);
  const first = await send("/v1/contests?limit=1", { key });
  const second = await send(`/v1/contests?limit=1&cursor=${first.body.next_cursor}`, { key });
  assert.deepEqual([...first.body.contests, ...second.body.contests], listed.body.contests);
  assert.equal(second.body.next_cursor, null);
  assert.deepEqual((await send("/v1/operator/ada/profile", { key })).body.profile, before);
  const [report] = await auditReports({ harness, key });
  assert.deepEqual([report!.verdict, report!.findings], ["INTACT, UNANCHORED", []]);
});

ownPageTest(
  "what is not the reviewer's own, and what says nothing, cannot be contested",
  async (harness, key) => {
    const { send } = harness;
    const path = await issue(harness, key);
    const before = await harness.rowCounts();
    for (
      const body of [
        { record_id: "case-3", statement: "x" },
        { record_id: "no such case", statement: "x" },
        { record_id: "case-1", statement: " \n " },
        { record_id: "case-1" },
        { statement: "x".repeat(4_001) },
        { statement: 1 },
      ]
    ) {
      const { status, text } = await send(`${path}/contests`, { body });
      assert.equal(status, 422, text);
    }
    assert.deepEqual(await harness.rowCounts(), before);
  },
);

ownPageTest("a link takes twenty contests, and a new one takes more", async (harness, key) => {
  const { send } = harness;
  const path = await issue(harness, key);
  for (let number = 0; number < 20; number += 1) {
    harness.clock.advance(1_000);
    const { status } = await send(`${path}/contests`, { body: { statement: `number ${number}` } });
    assert.equal(status, 201);
  }
  const refused = await send(`${path}/contests`, { body: { statement: "one too many" } });
  assert.equal(refused.status, 409);
  assert.match(refused.body.error.message, /took 20 contests/);
  harness.clock.advance(1_000);
  const next = await issue(harness, key);
  assert.equal((await send(`${next}/contests`, { body: { statement: "one more" } })).status, 201);
});

ownPageTest("a link for a reviewer of whom nothing is stored is 404, and no entry", async (harness, key) => {
  const before = await harness.rowCounts();
  const nothing = await harness.send("/v1/operator/ada/page-link", { key, body: null });
  assert.equal(nothing.status, 422, "a body may be left out, and is not null");
  const { status, body } = await harness.send("/v1/operator/nobody/page-link", { key, body: {} });
  assert.equal(status, 404);
  assert.match(body.error.message, /Nothing is stored about operator_id nobody/);
  assert.deepEqual(await harness.rowCounts(), before);
});

ownPageTest(
  "a link takes twenty contests also if they come at once, and the same one once",
  async (harness, key) => {
    const { send } = harness;
    const path = await issue(harness, key);
    const statuses = async (statementOf: (number: number) => string) =>
      (await Promise.all(
        Array.from(
          { length: 30 },
          (_, number) => send(`${path}/contests`, { body: { statement: statementOf(number) } }),
        ),
      )).map(({ status }) => status);
    assert.deepEqual(new Set(await statuses(() => "the same")), new Set([201]));
    assert.equal((await send("/v1/contests", { key })).body.count, 1);
    const others = await statuses((number) => `number ${number}`);
    assert.deepEqual(others.toSorted(), [...Array(19).fill(201), ...Array(11).fill(409)]);
    assert.equal((await send("/v1/contests?limit=100", { key })).body.count, 20);
  },
);

ownPageTest("a made-up, altered or foreign token opens nothing, and all look alike", async (harness, key) => {
  const { send } = harness;
  const path = await issue(harness, key);
  const exercise = await send("/v1/exercises", {
    key,
    body: { operator_id: "ada", exercise_id: "ex_deferral_resistance_1", domain: "financial" },
  });
  const [id, secret] = path.slice("/me/".length).split(".") as [string, string];
  const other = (await issue(harness, key, {}, "bruno")).slice("/me/".length).split(".")[0]!;
  const flipped = secret.startsWith("A") ? `B${secret.slice(1)}` : `A${secret.slice(1)}`;
  const tokens = [
    `${id}.${flipped}`,
    `${other}.${secret}`,
    id,
    `${"0".repeat(26)}.${secret}`,
    exercise.body.link.split("/").at(-1),
    "x",
  ];
  for (const token of tokens) {
    for (
      const [call, options] of [["state", {}], ["copy", {}], ["contests", {
        body: { statement: "x" },
      }]] as const
    ) {
      const { status, body } = await send(`/me/${token}/${call}`, options);
      assert.equal(status, 404, `${token} ${call}`);
      assert.equal(body.error.message, "There is no page at this link: check that it is whole.");
    }
  }
  assert.equal((await send(`/exercise/${id}.${secret}/state`)).status, 404);
});

ownPageTest(
  "a link ends by time, by a newer one, by an erasure, and while the organization is inactive",
  async (harness, key) => {
    const { send, clock } = harness;
    const statusOf = async (path: string) => (await send(`${path}/state`)).status;
    const short = await issue(harness, key, { expires_hours: 1 });
    clock.advance(HOUR);
    assert.equal(await statusOf(short), 200);
    clock.advance(1);
    assert.equal(await statusOf(short), 410);
    const first = await issue(harness, key);
    const second = await issue(harness, key);
    assert.deepEqual([await statusOf(first), await statusOf(second)], [410, 200]);
    const ofBruno = await issue(harness, key, {}, "bruno");
    assert.equal(await statusOf(second), 200, "another reviewer's link ends nothing");
    assert.equal((await send("/v1/operator/ada", { key, method: "DELETE" })).status, 200);
    assert.equal(await statusOf(second), 410);
    assert.equal((await send(`${second}/contests`, { body: { statement: "x" } })).status, 410);
    await send("/v1/score", { key, body: scoreRequest({ operator_id: "ada", session_id: "back" }) });
    assert.equal(await statusOf(second), 410, "whoever comes back under the id is another to the service");
    assert.equal((await send("/v1/admin/key/revoke", { key, method: "POST" })).status, 200);
    assert.equal(await statusOf(ofBruno), 404);
  },
);

ownPageTest("an erasure destroys what was contested, and the list goes on", async (harness, key) => {
  const { send } = harness;
  const path = await issue(harness, key);
  await send(`${path}/contests`, { body: { statement: "a very telling sentence" } });
  const ofBruno = await issue(harness, key, {}, "bruno");
  await send(`${ofBruno}/contests`, { body: { statement: "another sentence" } });
  assert.equal((await send("/v1/operator/ada", { key, method: "DELETE" })).status, 200);
  assert.ok(!(await storedText(harness)).includes("a very telling sentence"));
  const { body } = await send("/v1/contests", { key });
  assert.deepEqual(body.contests.map(({ statement }: { statement: string }) => statement), [
    "another sentence",
  ]);
  const [report] = await auditReports({ harness, key });
  assert.equal(report!.verdict, "INTACT, UNANCHORED");
});

ownPageTest(
  "an event of the organization's own that has the name of a contest is none",
  async (harness, key) => {
    const answer = await harness.send("/v1/audit/append", {
      key,
      body: { event_type: "SCORE_CONTESTED", payload: { statement: "forged" } },
    });
    assert.equal(answer.status, 422, answer.text);
  },
);

ownPageTest("links are issued by officers and admins, and contests are not for viewers", async (harness) => {
  const expected = {
    viewer: [403, 403],
    officer: [201, 200],
    auditor: [403, 200],
    admin: [201, 200],
  } as const;
  for (const role of ["viewer", "officer", "auditor", "admin"] as const) {
    const { cookie } = await signedInUser(harness, { orgId: "acme", role });
    const headers = { Cookie: cookie, Origin: OWN_ORIGIN, "Sec-Fetch-Site": "same-origin" };
    const link = await harness.send("/v1/operator/ada/page-link", { headers, body: {} });
    const contests = await harness.send("/v1/contests", { headers });
    assert.deepEqual([link.status, contests.status], expected[role], role);
  }
});

ownPageTest(
  "where users see pseudonyms, a link takes a reason, which is recorded, and tells the name once",
  async (harness, key) => {
    const { cookie } = await signedInUser(harness, { orgId: "acme", role: "officer" });
    const headers = { Cookie: cookie, Origin: OWN_ORIGIN, "Sec-Fetch-Site": "same-origin" };
    const { body: { pseudonym } } = await harness.send("/v1/organization/operators/unmask", {
      key,
      body: { reviewer: "ada", reason: "a test" },
    });
    const path = `/v1/operator/${pseudonym}/page-link`;
    const refused = await harness.send(path, { headers, body: {} });
    assert.equal(refused.status, 422, refused.text);
    assert.ok(!refused.text.includes("ada"));
    const { status, body } = await harness.send(path, { headers, body: { reason: "asked for it" } });
    assert.equal(status, 201);
    assert.equal(body.name, "ada");
    const events = await storedEvents(harness, "org/acme/admin");
    const issued = events.filter(({ type }) => type === "SUBJECT_LINK_ISSUED");
    assert.deepEqual(issued.map(({ actor, detail }) => [actor, detail.reason]), [["user", "asked for it"]]);
    const token = new URL(body.link).pathname;
    await harness.send(`${token}/contests`, { body: { statement: "not so" } });
    const listed = await harness.send("/v1/contests", { headers });
    assert.equal(listed.body.contests[0].operator_id, pseudonym);
  },
  { privacy: "pseudonymous" },
);
