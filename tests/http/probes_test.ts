/** Sealed probes, over HTTP: seal, draw, decision, opening, recall, loss. */
import assert from "node:assert/strict";
import { PROBES_SEALED_MAX } from "../../src/domain/limits.ts";
import { Upkeep } from "../../src/operations/installation/upkeep.ts";
import { alter, select } from "../altering.ts";
import { withAlterations, withHarness } from "../harness.ts";
import { decide, draw, drawDue, POLICY, type Programme, sealStock, setPolicy } from "../probing.ts";

type Test = (programme: Programme) => Promise<void>;

/** A test with an organization whose programme is on, and forty probes. */
function withProgramme(test: Test, options: Parameters<typeof withHarness>[1] = {}) {
  return withHarness(async (harness) => {
    const programme = { harness, key: await harness.organization("acme") };
    await setPolicy(programme);
    await sealStock(programme, 40);
    await test(programme);
  }, options);
}

const probeList = async ({ harness: { send }, key }: Programme, query = "") =>
  (await send(`/v1/probes${query}`, { key })).body.probes;

Deno.test(
  "a sealed probe shows neither truth nor operator, in no answer",
  withProgramme(async (programme) => {
    const { harness: { send }, key } = programme;
    const body = {
      probe_id: "one",
      domain: "legal",
      stakes: "critical",
      ai_correct: false,
      reference: "case 7",
    };
    const sealed = await send("/v1/probes", { key, body });
    assert.equal(sealed.status, 201, sealed.text);
    assert.equal(sealed.body.state, "sealed");
    assert.equal(sealed.body.evidence.entry.event_type, "PROBE_SEALED");
    const refusals: unknown[] = [];
    for (const ai_correct of [false, true]) {
      for (const reference of [body.reference, "case 8"]) {
        const probe = { ...body, ai_correct, reference };
        const again = await send("/v1/probes", { key, body: probe });
        assert.equal(again.status, 409, again.text);
        const batch = await send("/v1/probes/batch", { key, body: { probes: [probe] } });
        refusals.push([again.body.error.message, batch.status, batch.body.error.message]);
      }
    }
    assert.deepEqual(refusals, refusals.map(() => refusals[0]), "a repeat tells nothing of the truth");
    const [listed] = await probeList(programme, "?limit=1");
    assert.equal(listed.probe_id, "one");
    assert.deepEqual([listed.ai_correct, listed.operator_id, listed.departed], [null, null, null]);
  }),
);

Deno.test(
  "a probe is drawn, scored with the truth of its seal, and opened beside the score",
  withProgramme(async (programme) => {
    const { session, probe } = await drawDue(programme);
    assert.equal(probe.do_not_execute, true);
    assert.deepEqual(await draw(programme, session), probe, "the same session draws the same");
    const answer = await decide(programme, probe);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.session_id, probe.session_id);
    const repeated = await decide(programme, probe);
    assert.equal(repeated.headers.get("Idempotency-Replayed"), "true", repeated.text);
    assert.equal(await draw(programme, session), null, "a decided probe is not shown again");
    const [decided] = await probeList(programme, "?state=decided");
    assert.equal(decided.probe_id, probe.probe_id);
    assert.equal(decided.departed, true);
    assert.equal(decided.ai_correct, Number(probe.probe_id.slice(-1)) % 2 === 1);
    const { harness: { send }, key } = programme;
    const replay = await send(`/v1/decision/replay/${probe.session_id}`, { key });
    assert.equal(replay.status, 200, replay.text);
    assert.equal(replay.body.match, true, replay.text);
    const bundle = await send("/v1/audit/chain/export", { key });
    // deno-lint-ignore no-explicit-any -- lines of every kind
    const lines: Record<string, any>[] = bundle.text.trim().split("\n").map((line) => JSON.parse(line));
    const partsOf = (event: string) => {
      const seqs = lines.filter(({ event_type }) => event_type === event).map(({ seq }) => seq);
      return lines.filter(({ kind, seq }) => kind === "jis.part/1" && seqs.includes(seq)).map(({ data }) =>
        data
      );
    };
    const { interaction } = partsOf("SCORE_COMPUTED").find(({ interaction }) => interaction !== undefined);
    assert.deepEqual(
      [interaction.ai_correct, interaction.outcome_correct, interaction.sealed_probe],
      [decided.ai_correct, !decided.ai_correct, true],
    );
    const [opened] = partsOf("PROBE_OPENED");
    assert.deepEqual(
      [opened.probe_id, opened.ai_correct, opened.reference],
      [probe.probe_id, decided.ai_correct, probe.reference],
    );
    assert.equal(bundle.text.includes(probe.ticket), false, "no ticket is on the chain");
  }),
);

Deno.test(
  "what contradicts the seal, the draw or the ticket is refused with its place, and nothing is written",
  withProgramme(async (programme) => {
    const { harness: { send, rowCounts }, key } = programme;
    const { probe } = await drawDue(programme);
    const before = await rowCounts();
    const refusals: [Record<string, unknown>, Record<string, unknown>, string][] = [
      ...[true, false].flatMap((said): [Record<string, unknown>, Record<string, unknown>, string][] => [
        [{ ai_correct: said }, {}, "interaction.ai_correct"],
        [
          { ai_correct: said, decision: "modified", modification_extent: 0.4 },
          {},
          "interaction.ai_correct",
        ],
        [
          { ai_correct: said, decision: "modified", outcome_correct: true },
          {},
          "interaction.ai_correct",
        ],
        [{ ai_correct: said, probe_ticket: "x".repeat(43) }, {}, "interaction.ai_correct"],
        [{ outcome_correct: said }, {}, "interaction.outcome_correct"],
        [{ outcome_correct: said, decision: "accepted" }, {}, "interaction.outcome_correct"],
      ]),
      [{ decision: "modified", modification_extent: 0.4 }, {}, "interaction.outcome_correct"],
      [{ scenario_type: "critical" }, {}, "interaction.scenario_type"],
      [{ ai_recommendation_presented: false }, {}, "interaction.ai_recommendation_presented"],
      [{ probe_ticket: "x".repeat(43) }, {}, "interaction.probe_ticket"],
      [{ probe_ticket: undefined }, {}, "interaction.probe_ticket"],
      [{}, { operator_id: "operator-2" }, "operator_id"],
      [{}, { domain: "legal" }, "domain"],
      [{}, { session_id: "another" }, "interaction.probe_ticket"],
    ];
    for (const [interaction, fields, path] of refusals) {
      const answer = await decide(programme, probe, interaction, fields);
      assert.equal(answer.status, 422, answer.text);
      assert.deepEqual(
        answer.body.error.details.map((detail: { path: string }) => detail.path),
        [path],
        answer.text,
      );
    }
    const flat = await send("/v1/score", {
      key,
      body: {
        session_id: probe.session_id,
        operator_id: "operator-1",
        domain: "general",
        time_to_decision_ms: 9_000,
        decision: "rejected",
        ai_correct: true,
        probe_ticket: probe.ticket,
      },
    });
    assert.deepEqual([flat.status, flat.body.error.details[0].path], [422, "ai_correct"]);
    const batch = await send("/v1/score/batch", {
      key,
      body: {
        operator_id: "operator-1",
        domain: "general",
        interactions: [{ session_id: probe.session_id, time_to_decision_ms: 1, decision: "accepted" }],
      },
    });
    assert.equal(batch.status, 422, batch.text);
    assert.equal(batch.body.error.details[0].path, "interactions.0.session_id");
    for (
      const item of [
        { session_id: "live", time_to_decision_ms: 1, decision: "accepted", probe_ticket: probe.ticket },
        {
          session_id: "live",
          interaction: { time_to_decision_ms: 1, decision: "accepted", probe_ticket: probe.ticket },
        },
      ]
    ) {
      const answer = await send("/v1/score/batch", {
        key,
        body: {
          operator_id: "operator-1",
          domain: "general",
          interactions: [{ session_id: "first", time_to_decision_ms: 1, decision: "accepted" }, item],
        },
      });
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.body.error.details[0].path, /^interactions\.1\..*probe_ticket$/);
      assert.match(answer.body.error.message, /probes cannot be in a batch/);
    }
    const decision = await send("/v1/decision/score", {
      key,
      body: {
        decision_id: probe.session_id,
        operator_id: "operator-1",
        domain: "general",
        time_to_decision_ms: 900,
        decision: "accepted",
      },
    });
    assert.equal(decision.status, 422, decision.text);
    assert.equal(decision.body.error.details[0].path, "decision_id");
    const own = await send("/v1/probes/draw", {
      key,
      body: {
        operator_id: "operator-1",
        session_id: probe.session_id,
        domain: "general",
        stakes: "standard",
      },
    });
    assert.equal(own.status, 409, own.text);
    assert.deepEqual(await rowCounts(), before);
    assert.equal((await decide(programme, probe)).status, 200);
  }),
);

Deno.test(
  "a probe that nobody decided in its time is lost: an entry, an alert and a line of the log, within a minute",
  withProgramme(async (programme) => {
    const { harness } = programme;
    const { probe } = await drawDue(programme);
    const upkeep = new Upkeep(harness.dependencies);
    harness.clock.advance(60 * 60_000 - 1);
    await upkeep.run(harness.clock.now());
    assert.equal((await probeList(programme, "?state=lost")).length, 0);
    harness.clock.advance(60_000);
    await upkeep.run(harness.clock.now());
    const [lost] = await probeList(programme, "?state=lost");
    assert.equal(lost.probe_id, probe.probe_id);
    assert.notEqual(lost.ai_correct, null);
    const late = await decide(programme, probe);
    assert.equal(late.status, 409, late.text);
    const alerts = await harness.database.read<{ kind: string; detail: string; acknowledged: number }>({
      sql: "SELECT kind, detail, acknowledged FROM alert",
      parameters: [],
      query: {} as never,
      queryId: {} as never,
    });
    assert.deepEqual(alerts.map((alert) => ({ ...alert })), [
      { kind: "PROBE_LOST", detail: JSON.stringify({ probes: [probe.probe_id] }), acknowledged: 0 },
    ]);
    assert.ok(harness.log.some(({ probe_id }) => probe_id === probe.probe_id));
    // A second one of the same day joins the alert.
    const next = await drawDue(programme, { prefix: "later" });
    harness.clock.advance(61 * 60_000);
    await upkeep.run(harness.clock.now());
    const ids = (await probeList(programme, "?state=lost")).map(({ probe_id }: { probe_id: string }) =>
      probe_id
    );
    assert.deepEqual(new Set(ids), new Set([probe.probe_id, next.probe.probe_id]));
  }),
);

Deno.test(
  "a recalled probe is never shown, and its seal is opened; one that was decided cannot be recalled",
  withProgramme(async (programme) => {
    const { harness: { send }, key } = programme;
    const { session, probe } = await drawDue(programme);
    const recall = (id: string) => send(`/v1/probes/${id}/recall`, { key, method: "POST" });
    const answer = await recall(probe.probe_id);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual((await recall(probe.probe_id)).body.recalled_at, answer.body.recalled_at);
    assert.equal(await draw(programme, session), null);
    assert.equal((await decide(programme, probe)).status, 409);
    assert.equal((await recall("probe-9999")).status, 404);
    const next = await drawDue(programme, { prefix: "next" });
    assert.equal((await decide(programme, next.probe)).status, 200);
    assert.equal((await recall(next.probe.probe_id)).status, 409);
    const sealed = await probeList(programme, "?state=sealed&limit=1");
    assert.equal((await recall(sealed[0].probe_id)).status, 200);
    assert.equal((await probeList(programme, "?state=recalled")).length, 2);
  }),
);

Deno.test(
  "a policy counts from the next day on, and switching it off counts at once",
  withProgramme(async (programme) => {
    const { harness: { clock } } = programme;
    await drawDue(programme);
    const changed = await setPolicy(programme, { rate: 0, highest_share: 0 });
    assert.equal(changed.day.policy.rate, POLICY.rate);
    await drawDue(programme, { prefix: "still" });
    clock.advance(86_400_000);
    await draw(programme, "next-day");
    assert.equal((await setPolicy(programme, { rate: 0, highest_share: 0 })).day.policy.rate, 0);
    await setPolicy(programme, { enabled: false });
    clock.advance(86_400_000);
    for (let number = 0; number < 60; number += 1) assert.equal(await draw(programme, `off-${number}`), null);
  }),
);

Deno.test(
  "what is left out of a policy keeps its value, unknown fields change nothing, and a highest share below the rate is refused",
  withProgramme(async ({ harness: { send, rowCounts }, key }) => {
    const put = (body: Record<string, unknown>) => send("/v1/probes/policy", { key, method: "PUT", body });
    const set = { enabled: true, rate: 0.05, highest_share: 0.06, minimum: 33, ticket_minutes: 30 };
    assert.deepEqual((await put(set)).body.policy, set);
    assert.deepEqual((await put({ enabled: false })).body.policy, { ...set, enabled: false });
    assert.deepEqual((await put({ enabled: true, minimum: 12 })).body.policy, { ...set, minimum: 12 });
    const before = await rowCounts();
    assert.deepEqual((await put({ enabled: true, Rate: 0.01 })).body.policy, { ...set, minimum: 12 });
    for (const share of [{ highest_share: 0.01 }, { rate: 0.07 }, { rate: 0.02, highest_share: 0.01 }]) {
      const refused = await put({ enabled: true, ...share });
      assert.equal(refused.status, 422, refused.text);
      assert.equal(refused.body.error.details[0].path, "highest_share");
    }
    assert.equal((await put({ rate: 0.01 })).status, 422);
    assert.deepEqual(await rowCounts(), before);
    assert.equal((await put({ enabled: true, rate: 0.06 })).status, 200);
  }),
);

Deno.test(
  "an erasure recalls the operator's open probe, and keeps no name",
  withProgramme(async (programme) => {
    const { harness: { send, database }, key } = programme;
    const { probe } = await drawDue(programme);
    const decided = await drawDue(programme, { prefix: "second" });
    assert.equal((await decide(programme, decided.probe)).status, 200);
    const erased = await send("/v1/operator/operator-1", { key, method: "DELETE" });
    assert.equal(erased.status, 200, erased.text);
    const [recalled] = await probeList(programme, "?state=recalled");
    assert.equal(recalled.probe_id, probe.probe_id);
    const [row] = await probeList(programme, "?state=decided");
    assert.deepEqual([row.operator_id, row.probe_session_id, row.case_session_id], [null, null, null]);
    const draws = await database.read<{ n: number }>({
      sql: "SELECT count(*) AS n FROM probe_draw",
      parameters: [],
      query: {} as never,
      queryId: {} as never,
    });
    assert.equal(draws[0]!.n, 0);
    for (const gone of [probe, decided.probe]) {
      for (const interaction of [{}, { probe_ticket: undefined }]) {
        const retried = await decide(programme, gone, interaction);
        assert.deepEqual([retried.status, retried.body.error.details.reason], [410, "erased"], retried.text);
      }
    }
    assert.equal((await send("/v1/probes/summary", { key })).status, 200);
  }),
);

/** What somebody with the database's file removes; what must refuse then. */
const REMOVALS: readonly (readonly [what: string, sql: string, refused: readonly Refusing[]])[] = [
  ["the draw of an open probe", "DELETE FROM probe_draw WHERE session_id = ?1", [
    "draw",
    "redraw",
    "summary",
  ]],
  ["the draw of a decided probe", "DELETE FROM probe_draw WHERE session_id = ?2", ["summary"]],
  [
    "a sealed probe",
    "DELETE FROM probe WHERE rowid IN (SELECT rowid FROM probe WHERE state = 'sealed' LIMIT 1)",
    [
      "draw",
      "summary",
    ],
  ],
  ["the programme", "DELETE FROM probe_programme", ["draw", "summary", "policy", "change"]],
];
type Refusing = "draw" | "redraw" | "summary" | "policy" | "change";

for (const [what, sql, refused] of REMOVALS) {
  Deno.test(
    `if ${what} was removed from the file, what rests on it is refused, and nothing is written`,
    withAlterations(async (harness) => {
      const programme = { harness, key: await harness.organization("acme") };
      await setPolicy(programme);
      await sealStock(programme, 40);
      const { send, database } = harness;
      const { key } = programme;
      const open = await drawDue(programme);
      const decided = await drawDue(programme, { prefix: "second" });
      assert.equal((await decide(programme, decided.probe)).status, 200);
      await alter(database, sql.replace("?1", `'${open.session}'`).replace("?2", `'${decided.session}'`));
      const before = await harness.rowCounts();
      const drawing = (session_id: string) =>
        send("/v1/probes/draw", {
          key,
          body: { operator_id: "operator-1", session_id, domain: "financial", stakes: "standard" },
        });
      // Some draw of these is due.
      const draws = [];
      for (let number = 0; number < 60; number += 1) draws.push((await drawing(`third-${number}`)).status);
      const statuses: Readonly<Record<Refusing, number>> = {
        draw: draws.includes(503) ? 503 : 200,
        redraw: (await drawing(open.session)).status,
        summary: (await send("/v1/probes/summary", { key })).status,
        policy: (await send("/v1/probes/policy", { key })).status,
        change: (await send("/v1/probes/policy", { key, method: "PUT", body: { enabled: true, minimum: 3 } }))
          .status,
      };
      for (const [name, status] of Object.entries(statuses)) {
        assert.equal(status, refused.includes(name as Refusing) ? 503 : 200, name);
      }
      const written = (await harness.rowCounts()) as Record<string, unknown>;
      if (refused.includes("draw")) assert.equal(written.probe_draw, before.probe_draw);
    }),
  );
}

Deno.test(
  "a reviewer's copy names decided probes, and never shows which one waits for its decision",
  withProgramme(async (programme) => {
    const { harness: { send }, key } = programme;
    const open = await drawDue(programme);
    const decided = await drawDue(programme, { prefix: "second" });
    assert.equal((await decide(programme, decided.probe)).status, 200);
    const copy = await send("/v1/operator/operator-1/export", { key });
    assert.equal(copy.status, 200, copy.text);
    const assigned = copy.body.records.filter(({ event_type }: { event_type: string }) =>
      event_type === "PROBE_ASSIGNED"
    );
    assert.deepEqual(assigned.map(({ session_id }: { session_id: string }) => session_id), [decided.session]);
    assert.equal(copy.body.records.length, copy.body.record_count);
    for (const name of [open.session, open.probe.probe_id, open.probe.session_id]) {
      assert.equal(copy.text.includes(`"${name}"`), false, name);
    }
    assert.ok(copy.body.records.every(({ altered }: { altered: boolean }) => !altered));
    assert.match(copy.body.notice.recorded, /probes/);
  }),
);

Deno.test(
  "a row of a probe that somebody altered is found by the verification, and nothing is drawn or answered from it",
  withAlterations(async (harness) => {
    const programme = { harness, key: await harness.organization("acme") };
    await setPolicy(programme);
    await sealStock(programme, 1);
    await harness.database.batch([{ sql: "UPDATE probe SET reference = 'another case'", parameters: [] }]);
    const { send } = harness;
    const { key } = programme;
    const verified = await send("/v1/audit/chain/verify", { key });
    assert.equal(verified.body.valid, false, verified.text);
    assert.match(verified.text, /a row of probe was altered/);
    assert.equal((await send("/v1/probes", { key })).status, 503);
    let refused = 0;
    for (let number = 0; number < 100; number += 1) {
      const body = {
        operator_id: "ada",
        session_id: `case-${number}`,
        domain: "general",
        stakes: "standard",
      };
      const { status } = await send("/v1/probes/draw", { key, body });
      if (status === 503) refused += 1;
      else assert.equal(status, 200);
    }
    assert.ok(refused > 0);
  }),
);

Deno.test(
  "an altered probe of one organization stops the day of no other, is told, and its own draws are refused",
  withAlterations(async (harness) => {
    const programmes: Programme[] = [];
    for (const name of ["acme", "beta"]) {
      const programme = { harness, key: await harness.organization(name) };
      await setPolicy(programme);
      await sealStock(programme, 40);
      for (const prefix of ["one", "two"]) await drawDue(programme, { prefix });
      programmes.push(programme);
    }
    const [acme, beta] = programmes as [Programme, Programme];
    await alter(
      harness.database,
      "UPDATE probe SET reference = 'x' WHERE org_id = 'acme' AND probe_id = (SELECT min(probe_id) FROM probe WHERE org_id = 'acme' AND state = 'drawn')",
    );
    harness.clock.advance(86_400_000);
    const refused = await harness.send("/v1/probes/draw", {
      key: acme.key,
      body: { operator_id: "ben", session_id: "q", domain: "general", stakes: "standard" },
    });
    assert.equal(refused.status, 503, refused.text);
    const upkeep = new Upkeep(harness.dependencies);
    for (let day = 0; day < 2; day += 1) {
      await upkeep.run(harness.clock.now());
      harness.clock.advance(86_400_000);
    }
    const states = await select(
      harness.database,
      "SELECT org_id, count(*) AS n FROM probe WHERE state = 'lost' GROUP BY org_id ORDER BY org_id",
    );
    assert.deepEqual(states.map((row) => ({ ...row })), [{ org_id: "acme", n: 1 }, { org_id: "beta", n: 2 }]);
    // The seed of a day is not opened while a probe of it is not closed.
    for (const [{ key }, day] of [[acme, "2026-11-20"], [beta, "2026-11-22"]] as const) {
      assert.equal((await harness.send("/v1/probes/policy", { key })).body.day.day, day);
    }
    assert.ok(
      harness.log.some(({ msg, org_id }) => msg === "lost probes could not be recorded" && org_id === "acme"),
    );
    const alerts = await select(harness.database, "SELECT kind FROM alert WHERE org_id = 'acme'");
    assert.ok(alerts.some(({ kind }) => kind === "CHAIN_TAMPERED"), JSON.stringify(alerts));
  }, { raisesTampering: true }),
);

Deno.test(
  "the summary counts errors found and false alarms with exact intervals, and dashboard, report and Article 14 agree with it",
  withProgramme(async (programme) => {
    const { harness, key } = programme;
    const { send, clock } = harness;
    const counts = { wrong: [0, 0], right: [0, 0] };
    for (let number = 0; number < 8; number += 1) {
      const { probe } = await drawDue(programme, { prefix: `round-${number}` });
      const isRight = Number(probe.probe_id.slice(-1)) % 2 === 1;
      const decision = number % 3 === 0 ? "accepted" : "rejected";
      assert.equal((await decide(programme, probe, { decision })).status, 200);
      const own = counts[isRight ? "right" : "wrong"];
      own[0]! += 1;
      if (decision === "rejected") own[1]! += 1;
    }
    const open = await drawDue(programme, { prefix: "lost" });
    clock.advance(2 * 3_600_000);
    await new Upkeep(programme.harness.dependencies).run(clock.now());
    assert.equal((await probeList(programme, "?state=lost"))[0].probe_id, open.probe.probe_id);

    const shown = await drawDue(programme, { prefix: "shown" });
    const [unseen] = await probeList(programme, "?state=sealed&limit=1");
    for (const { probe_id } of [shown.probe, unseen]) {
      assert.equal((await send(`/v1/probes/${probe_id}/recall`, { key, method: "POST" })).status, 200);
    }
    await sealStock(programme, 1, { probe_id: "rare", domain: "legal", stakes: "critical" });
    let due = 0;
    while (due < 2) {
      const before = await harness.rowCounts();
      await draw(programme, `legal-${clock.now()}`, { domain: "legal", stakes: "critical" });
      clock.advance(1);
      if ((await harness.rowCounts()).probe_draw !== before.probe_draw) due += 1;
    }

    const { body, status } = await send("/v1/probes/summary", { key });
    assert.equal(status, 200);
    assert.deepEqual(body.stock, [
      { domain: "general", stakes: "standard", sealed: 29 },
      { domain: "legal", stakes: "critical", sealed: 0 },
    ]);
    assert.deepEqual(body.draws, { due: 12, empty: 1 });
    assert.deepEqual(body.undecided, { lost: 1, recalled: 2, recalled_after_draw: 1 });
    assert.deepEqual([body.whole.wrong.probes, body.whole.wrong.count], counts.wrong);
    assert.deepEqual([body.whole.right.probes, body.whole.right.count], counts.right);
    assert.deepEqual(body.states, { sealed: 29, drawn: 1, decided: 8, recalled: 2, lost: 1 });
    const [operator] = body.by_operator;
    assert.deepEqual(operator, { operator_id: "operator-1", ...body.whole, lost: 1 });
    const { low, share, high } = body.whole.wrong;
    assert.ok(low <= share && share <= high);
    const figures = { ...body.whole, ...body.undecided };
    const { body: dashboard } = await send("/v1/organization/dashboard", { key });
    assert.deepEqual(dashboard.dashboard.probes, figures);
    const { body: article14 } = await send("/v1/compliance/article14", { key });
    assert.deepEqual(article14.probes, figures);
    const period = "period_start=2026-11-01&period_end=2026-12-01";
    const { body: report } = await send(`/v1/compliance/report?${period}`, { key });
    assert.deepEqual(report.report.probes, figures);
    const page = await send(`/v1/compliance/report?${period}&format=html`, { key });
    assert.match(page.text, /Sealed probes/);
    assert.match(page.text, /Lost: 1\. Recalled: 2, of which after they were shown: 1\./);
  }),
);

Deno.test(
  "an organization may have so many sealed probes and no more; a batch over the limit seals none, and a recall makes room",
  withHarness(async (harness) => {
    const programme = { harness, key: await harness.organization("acme") };
    const { send } = harness;
    await sealStock(programme, PROBES_SEALED_MAX - 1);
    const seal = (...ids: readonly string[]) =>
      send("/v1/probes/batch", {
        key: programme.key,
        body: {
          probes: ids.map((probe_id) => ({
            probe_id,
            domain: "general",
            stakes: "critical",
            ai_correct: true,
          })),
        },
      });
    const sealed = async () => (await send("/v1/probes/summary", { key: programme.key })).body.states.sealed;
    const refused = await seal("over-1", "over-2");
    assert.equal(refused.status, 409);
    assert.match(refused.body.error.message, /recall some first/);
    assert.equal(await sealed(), PROBES_SEALED_MAX - 1);
    assert.equal((await seal("last-1")).status, 201);
    assert.equal((await seal("over-1")).status, 409);
    const recalled = await send("/v1/probes/last-1/recall", { key: programme.key, method: "POST" });
    assert.equal(recalled.status, 200, recalled.text);
    assert.equal((await seal("over-1")).status, 201);
    assert.equal(await sealed(), PROBES_SEALED_MAX);
  }),
);
