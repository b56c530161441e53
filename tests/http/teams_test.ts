/**
 * Teams: set by the integration or an admin, each an entry of the chain; shown, listed and erased with the operator; kept through
 * scores, labels and an accepted alteration; hidden where reviewers are pseudonyms.
 */
import assert from "node:assert/strict";
import { acknowledgeRestore } from "../../src/operations/restoring/restores.ts";
import { alter, select } from "../altering.ts";
import { type Harness, OWN_ORIGIN, scoreRequest, withAlterations, withHarness } from "../harness.ts";
import { refuses, storedText } from "../scenario.ts";
import { signedInUser } from "../signing_in.ts";

const TEAMS = "/v1/organization/teams";

/** An organization with the operators anna and bela. */
async function scoredKey(harness: Harness): Promise<string> {
  const key = await harness.organization("acme");
  for (const [session, operator] of [["s-1", "anna"], ["s-2", "bela"]] as const) {
    const body = scoreRequest({ operator_id: operator, session_id: session }, { outcome_correct: null });
    assert.equal((await harness.send("/v1/score", { key, body })).status, 200);
  }
  return key;
}

const inTeam = (operator: string, team: string | null) => ({
  assignments: [{ operator_id: operator, team }],
});

async function teamOf({ send }: Harness, key: string, operator: string): Promise<string | null> {
  const { status, text, body } = await send(`/v1/operator/${operator}/profile`, { key });
  assert.equal(status, 200, text);
  return body.profile.team;
}

async function set({ send }: Harness, key: string, body: unknown): Promise<number> {
  const answer = await send(TEAMS, { key, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.changed;
}

Deno.test(
  "a team is shown in profile and list, and stays through scores and labels",
  withHarness(async (harness) => {
    const { send } = harness;
    const key = await scoredKey(harness);
    assert.equal(await teamOf(harness, key, "anna"), null);
    assert.equal(await set(harness, key, inTeam("anna", " Credit north ")), 1);
    assert.equal(await teamOf(harness, key, "anna"), "Credit north");
    const again = scoreRequest({ operator_id: "anna", session_id: "s-3" });
    assert.equal((await send("/v1/score", { key, body: again })).status, 200);
    const label = await send("/v1/score/s-1/commit", { key, body: { outcome_correct: true } });
    assert.equal(label.status, 200, label.text);
    assert.equal(await teamOf(harness, key, "anna"), "Credit north");

    const listed = async (query: string) =>
      (await send(`/v1/organization/operators${query}`, { key })).body.operators.map((
        { operator_id, team }: { operator_id: string; team: string | null },
      ) => [operator_id, team]);
    assert.deepEqual(await listed(""), [["anna", "Credit north"], ["bela", null]]);
    assert.deepEqual(await listed("?team=Credit%20north"), [["anna", "Credit north"]]);
    assert.deepEqual(await listed("?team=Credit"), []);

    // One name in two spellings of Unicode is one team.
    assert.equal(await set(harness, key, inTeam("anna", "Cre\u0301dit")), 1);
    assert.equal(await set(harness, key, inTeam("anna", "Cr\u00e9dit")), 0);
    assert.equal(await set(harness, key, inTeam("anna", null)), 1);
    assert.equal(await teamOf(harness, key, "anna"), null);
  }),
);

Deno.test(
  "a change is an entry of the chain, and the same team again is none",
  withHarness(async (harness) => {
    const key = await scoredKey(harness);
    const both = {
      assignments: [{ operator_id: "anna", team: "A" }, { operator_id: "bela", team: "B" }],
    };
    const before = await harness.rowCounts();
    assert.equal(await set(harness, key, both), 2);
    const between = await harness.rowCounts();
    assert.equal(Number(between.audit_entry), Number(before.audit_entry) + 2);
    assert.equal(await set(harness, key, both), 0);
    assert.deepEqual(await harness.rowCounts(), between);
    assert.equal(
      await set(harness, key, { assignments: [both.assignments[0], { operator_id: "bela", team: "A" }] }),
      1,
    );

    const copy = await harness.send("/v1/operator/bela/export", { key });
    const records = copy.body.records.filter(({ event_type }: { event_type: string }) =>
      event_type === "TEAM_SET"
    );
    assert.deepEqual(
      records.map(({ input }: { input: unknown }) => input),
      [{ operator_id: "bela", team: "B" }, { operator_id: "bela", team: "A" }],
    );
    const page = await harness.send("/v1/operator/bela/export?format=html", { key });
    assert.match(page.text, /Your team was set/);
  }),
);

Deno.test(
  "teams are set all or none, and a wrong one changes nothing",
  withHarness(async (harness) => {
    const key = await scoredKey(harness);
    const refused = [
      ["nobody", {}, "assignments"],
      ["an empty list", { assignments: [] }, "assignments"],
      ["an empty name", inTeam("anna", ""), "team"],
      ["a long name", inTeam("anna", "x".repeat(65)), "64"],
      ["a control character", inTeam("anna", "a\u0000b"), "control characters"],
      ["a character that turns the text", inTeam("anna", "a\u202eb"), "team"],
      ["a character that shows nothing", inTeam("anna", "A\u200bB"), "show nothing"],
      ["a blank that is no space", inTeam("anna", "\u3164"), "show nothing"],
      ["no team", { assignments: [{ operator_id: "anna" }] }, "team"],
      [
        "an operator twice",
        { assignments: [{ operator_id: "anna", team: "A" }, { operator_id: "anna", team: "B" }] },
        "once",
      ],
      [
        "too many",
        {
          assignments: Array.from({ length: 101 }, (_, index) => ({ operator_id: `o-${index}`, team: "A" })),
        },
        "100",
      ],
    ] as const;
    for (const [name, body, names] of refused) {
      const scenario = {
        name,
        path: TEAMS,
        request: { key, body },
        status: 422,
        code: "VALIDATION_FAILED",
        names,
      };
      await refuses(harness, scenario);
    }
    await refuses(harness, {
      name: "somebody unknown",
      path: TEAMS,
      request: {
        key,
        body: { assignments: [...inTeam("anna", "A").assignments, ...inTeam("carl", "A").assignments] },
      },
      status: 404,
      code: "NOT_FOUND",
      names: "carl",
    });
  }),
);

Deno.test(
  "an erased operator leaves no team, and who comes again is in none",
  withHarness(async (harness) => {
    const key = await scoredKey(harness);
    await set(harness, key, inTeam("anna", "Credit of the south-west"));
    assert.match(await storedText(harness), /Credit of the south-west/);
    assert.equal((await harness.send("/v1/operator/anna", { key, method: "DELETE" })).status, 200);
    assert.doesNotMatch(await storedText(harness), /Credit of the south-west/);
    const body = scoreRequest({ operator_id: "anna", session_id: "s-9" });
    assert.equal((await harness.send("/v1/score", { key, body })).status, 200);
    assert.equal(await teamOf(harness, key, "anna"), null);
  }),
);

Deno.test(
  "an admin sets teams, other people do not, and the entry names who did",
  withHarness(async (harness) => {
    const key = await scoredKey(harness);
    const as = async (role: "admin" | "officer" | "viewer" | "auditor") => {
      const { cookie } = await signedInUser(harness, { orgId: "acme", role });
      const headers = { Cookie: cookie, Origin: OWN_ORIGIN, "Sec-Fetch-Site": "same-origin" };
      return await harness.send(TEAMS, { headers, body: inTeam("anna", role) });
    };
    for (const role of ["officer", "viewer", "auditor"] as const) assert.equal((await as(role)).status, 403);
    assert.equal((await as("admin")).status, 200);
    harness.clock.advance(1);
    const log = await harness.send("/v1/admin/audit-log?event_type=TEAM_SET", { key });
    assert.equal(log.body.events.length, 1, log.text);
    assert.equal(log.body.events[0].actor, "user");
  }),
);

Deno.test(
  "an altered team is refused, and an accepted file has the team of its entries again",
  withAlterations(async (harness) => {
    const key = await scoredKey(harness);
    await set(harness, key, {
      assignments: [{ operator_id: "anna", team: "A" }, { operator_id: "bela", team: "B" }],
    });
    await set(harness, key, inTeam("bela", null));
    await alter(
      harness.database,
      "UPDATE operator SET team = 'B' WHERE operator_id = 'anna'",
      "UPDATE operator SET team = 'B' WHERE operator_id = 'bela'",
    );
    for (
      const path of ["/v1/organization/dashboard", "/v1/operator/anna/profile", "/v1/organization/weeks"]
    ) {
      assert.equal((await harness.send(path, { key })).status, 503, path);
    }
    await acknowledgeRestore(harness.dependencies, {
      reason: "the file was altered",
      now: harness.clock.now(),
    });
    assert.equal(await teamOf(harness, key, "anna"), "A");
    assert.equal(await teamOf(harness, key, "bela"), null);
    assert.deepEqual(
      (await select(harness.database, "SELECT operator_id, team FROM operator ORDER BY operator_id"))
        .map((row) => ({ ...row })),
      [{ operator_id: "anna", team: "A" }, { operator_id: "bela", team: null }],
    );
  }),
);

Deno.test(
  "where reviewers are pseudonyms, a session learns nothing of teams and sets none",
  withHarness(async (harness) => {
    const key = await scoredKey(harness);
    await set(harness, key, inTeam("anna", "A"));
    const { cookie } = await signedInUser(harness, { orgId: "acme", role: "admin" });
    const headers = { Cookie: cookie, Origin: OWN_ORIGIN, "Sec-Fetch-Site": "same-origin" };
    const list = await harness.send("/v1/organization/operators", { headers });
    assert.deepEqual(list.body.operators.map(({ team }: { team: string | null }) => team), [null, null]);
    const pseudonyms: string[] = list.body.operators.map((row: { operator_id: string }) => row.operator_id);
    for (const pseudonym of pseudonyms) {
      const profile = await harness.send(`/v1/operator/${pseudonym}/profile`, { headers });
      assert.equal(profile.body.profile.team, null);
    }
    // The figures of a team, even of five, could be told apart into those of its members.
    for (const path of ["/v1/organization/operators?team=A", "/v1/organization/weeks?team=A"]) {
      assert.equal((await harness.send(path, { headers })).status, 403, path);
    }
    assert.deepEqual((await harness.send("/v1/organization/weeks", { headers })).body.teams, []);
    // Whether a team changed would tell a guess right or wrong.
    const body = { assignments: pseudonyms.map((pseudonym) => ({ operator_id: pseudonym, team: "C" })) };
    assert.equal((await harness.send(TEAMS, { headers, body })).status, 403);
    assert.equal(await teamOf(harness, key, "anna"), "A");
  }, { privacy: "pseudonymous" }),
);

Deno.test(
  "the entries of one call are in the order of the pseudonyms, whatever the order of the names",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const names = Array.from({ length: 8 }, (_, index) => `reviewer-${index}`);
    for (const name of names) {
      const body = scoreRequest({ operator_id: name, session_id: `s-${name}` });
      assert.equal((await harness.send("/v1/score", { key, body })).status, 200);
    }
    await set(harness, key, { assignments: names.map((name) => ({ operator_id: name, team: "A" })) });
    const rows = await select(
      harness.database,
      "SELECT subject FROM audit_entry WHERE event_type = 'TEAM_SET' ORDER BY seq",
    );
    const subjects = rows.map(({ subject }) => String(subject));
    assert.equal(subjects.length, names.length);
    assert.deepEqual(subjects, subjects.toSorted());
  }),
);
