/** Programmes of probes over days: shares, minimum, concurrency, and what an auditor finds in the export. */
import assert from "node:assert/strict";
import type { BundleReport } from "../../src/evidence/report.ts";
import { Upkeep } from "../../src/operations/installation/upkeep.ts";
import { withHarness } from "../harness.ts";
import {
  auditReports,
  decide,
  draw,
  drawDue,
  nextDay,
  type Programme,
  sealStock,
  setPolicy,
} from "../probing.ts";

/** The report of an auditor's verifier on the organization's only epoch. */
async function audited(programme: Programme, query = ""): Promise<BundleReport> {
  return (await auditReports(programme, query))[0]!;
}

const codesOf = ({ findings }: BundleReport) => findings.map(({ code, detail }) => [code, detail]);

async function scoreCase({ harness: { send }, key }: Programme, operator: string, session: string) {
  const answer = await send("/v1/score", {
    key,
    body: {
      session_id: session,
      operator_id: operator,
      domain: "general",
      interaction: { time_to_decision_ms: 9_000, decision: "accepted" },
    },
  });
  assert.equal(answer.status, 200, answer.text);
}

Deno.test(
  "an auditor computes every draw of three days anew from the export, and counts the cases for which nobody asked",
  withHarness(async (harness) => {
    const programme = { harness, key: await harness.organization("acme") };
    await setPolicy(programme, { rate: 0.05, minimum: 3 });
    await sealStock(programme, 60);
    let decided = 0;
    for (let day = 0; day < 3; day += 1) {
      for (let number = 0; number < 60; number += 1) {
        const operator = `operator-${number % 3}`;
        const session = `case-${day}-${number}`;
        const probe = await draw(programme, session, { operator_id: operator });
        if (probe !== null) {
          decided += 1;
          assert.equal((await decide(programme, probe, {}, { operator_id: operator })).status, 200);
        }
        await scoreCase(programme, operator, session);
      }
      await nextDay(programme);
    }
    assert.ok(decided > 5, `${decided}`);
    const honest = await audited(programme);
    assert.equal(honest.verdict, "INTACT, UNANCHORED");
    assert.deepEqual(codesOf(honest), []);
    for (const parts of ["structural", "none"]) {
      const withheld = await audited(programme, `?parts=${parts}`);
      assert.equal(withheld.verdict, "INTACT, UNANCHORED");
      assert.ok(!codesOf(withheld).some(([code]) => code === "PROBE_MISMATCH" || code === "PROBE_LEFT_OUT"));
    }

    for (let number = 0; number < 80; number += 1) {
      await scoreCase(programme, "operator-0", `unasked-${number}`);
    }
    await nextDay(programme);
    const [[code, detail]] = codesOf(await audited(programme)) as [[string, string]];
    assert.equal(code, "PROBE_LEFT_OUT");
    assert.match(detail, /^[1-9][0-9]* cases?$/);
  }),
);

Deno.test(
  "10,000 draws keep the share of the policy, and the minimum, within what chance allows",
  withHarness(async (harness) => {
    const programme = { harness, key: await harness.organization("acme") };
    const { rate, highest_share, minimum } = { rate: 0.02, highest_share: 0.1, minimum: 10 };
    await setPolicy(programme, { rate, highest_share, minimum, ticket_minutes: 1440 });
    await sealStock(programme, 800);
    const operators = ["ada", "ben", "cleo", "dan"];
    const decided = new Map(operators.map((operator) => [operator, 0]));
    let [expected, variance, due] = [0, 0, 0];
    for (let day = 0; day < 10; day += 1) {
      const before = new Map(decided);
      for (const operator of operators) {
        const share = before.get(operator)! < minimum ? highest_share : rate;
        for (let number = 0; number < 250; number += 1) {
          const probe = await draw(programme, `${operator}-${day}-${number}`, { operator_id: operator });
          expected += share;
          variance += share * (1 - share);
          if (probe === null) continue;
          due += 1;
          const answer = await decide(programme, probe, {}, { operator_id: operator });
          assert.equal(answer.status, 200, answer.text);
          decided.set(operator, decided.get(operator)! + 1);
        }
      }
      await nextDay(programme);
    }
    assert.ok(Math.abs(due - expected) < 4 * Math.sqrt(variance), `${due} of ${expected} expected`);
    for (const [operator, count] of decided) assert.ok(count >= minimum, `${operator}: ${count}`);
    // None of the cases is scored, as when an organization makes up sessions until it gets a probe.
    const [[code, detail], ...others] = codesOf(await audited(programme)) as [[string, string]];
    assert.equal(code, "PROBE_SELECTION");
    assert.match(detail, /[1-9][0-9]* for cases that were not scored/);
    assert.deepEqual(others, []);
  }),
);

Deno.test(
  "a probe that is drawn after the clock went back can be decided for its whole time, and the auditor agrees",
  withHarness(async (harness) => {
    const programme = { harness, key: await harness.organization("acme") };
    await setPolicy(programme);
    await sealStock(programme, 40);
    harness.clock.advance(2 * 3_600_000);
    await scoreCase(programme, "operator-1", "ahead");
    harness.clock.advance(-2 * 3_600_000);
    const first = await drawDue(programme);
    const second = await drawDue(programme, { prefix: "other" });
    harness.clock.advance(60_000);
    const decided = await decide(programme, first.probe);
    assert.equal(decided.status, 200, decided.text);
    harness.clock.advance(5 * 3_600_000);
    await new Upkeep(harness.dependencies).run(harness.clock.now());
    const { body } = await harness.send("/v1/probes?state=lost", { key: programme.key });
    assert.deepEqual(body.probes.map(({ probe_id }: { probe_id: string }) => probe_id), [
      second.probe.probe_id,
    ]);
    await nextDay(programme);
    const codes = codesOf(await audited(programme));
    assert.ok(!codes.some(([code]) => code === "PROBE_MISMATCH"), JSON.stringify(codes));
  }),
);

Deno.test(
  "draws at the same moment show each probe once, and one session the same probe each time",
  withHarness(async (harness) => {
    const programme = { harness, key: await harness.organization("acme") };
    await setPolicy(programme);
    await sealStock(programme, 30);
    const sessions = Array.from({ length: 150 }, (_, number) => `case-${number}`);
    const answers = await Promise.all(
      [...sessions, ...sessions].map(async (session) => ({ session, probe: await draw(programme, session) })),
    );
    const shown = new Map<string, string>();
    for (const { session, probe } of answers) {
      if (probe === null) continue;
      assert.equal(shown.get(probe.probe_id) ?? session, session, "no probe is shown twice");
      shown.set(probe.probe_id, session);
    }
    for (
      const [one, other] of sessions.map((_, at) => [answers[at]!, answers[at + sessions.length]!] as const)
    ) {
      assert.deepEqual(one, other);
    }
    assert.ok(shown.size >= 5, `${shown.size}`);
    const probes = answers.slice(0, sessions.length).flatMap(({ probe }) => probe === null ? [] : [probe]);
    const decisions = await Promise.all([...probes, ...probes].map((probe) => decide(programme, probe)));
    assert.deepEqual([...new Set(decisions.map(({ status }) => status))], [200]);
    await nextDay(programme);
    assert.deepEqual(codesOf(await audited(programme)), []);
  }),
);

Deno.test(
  "a probe that was due and of which none was left is on the chain, and is told once",
  withHarness(async (harness) => {
    const programme = { harness, key: await harness.organization("acme") };
    await setPolicy(programme);
    await sealStock(programme, 2);
    for (let round = 0; round < 2; round += 1) {
      for (let number = 0; number < 80; number += 1) await draw(programme, `case-${number}`);
    }
    await nextDay(programme);
    // Both were shown, nobody decided them, and the draws after them found none.
    const choices =
      "0 recalled after they were drawn, 2 not decided in their time, 0 for cases that were not scored, 0 for cases of other stakes or another domain";
    assert.deepEqual(codesOf(await audited(programme)), [["PROBE_SELECTION", choices]]);
    const { text } = await harness.send("/v1/audit/chain/export", { key: programme.key });
    const drawn = text.split("\n").filter((line) => line.includes('"event_type":"PROBE_DRAWN"')).length;
    const lost = text.split("\n").filter((line) => line.includes('"event_type":"PROBE_LOST"')).length;
    assert.ok(drawn > 2, `${drawn}`);
    assert.equal(lost, 2);
  }),
);
