/** Altered, removed and older rows of probes: what finds them, what is refused, and what an acceptance makes of them. */
import assert from "node:assert/strict";
import { DAY_MS } from "../../src/domain/time.ts";
import { Upkeep } from "../../src/operations/installation/upkeep.ts";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import { acknowledgeRestore } from "../../src/operations/restoring/restores.ts";
import { verifyChain } from "../../src/operations/verification/verification.ts";
import { alter, select } from "../altering.ts";
import { type Harness, withAlterations } from "../harness.ts";
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

const REPORT = "/v1/compliance/report?period_start=2026-11-01&period_end=2026-12-01";

function withProgramme(test: (programme: Programme) => Promise<void>): () => Promise<void> {
  return withAlterations(async (harness) => {
    const programme = { harness, key: await harness.organization("acme") };
    await setPolicy(programme);
    await sealStock(programme, 40);
    await test(programme);
  });
}

async function accept({ dependencies, clock }: Harness): Promise<void> {
  await acknowledgeRestore(dependencies, { reason: "the file was altered", now: clock.now() });
}

async function findings({ dependencies, clock }: Harness): Promise<readonly string[]> {
  const options = { family: "org/acme", from: 0, sinceSize: null, now: clock.now() };
  const { findings } = await verifyChain(dependencies, options);
  return findings.filter(({ fatal }) => fatal).map(({ detail }) => `${detail}`);
}

/** The fatal findings of an auditor who has both epochs. */
async function audited(programme: Programme): Promise<readonly string[]> {
  const reports = await auditReports(programme);
  assert.equal(reports.length, 2);
  return reports.flatMap(({ findings }) =>
    findings.filter(({ fatal }) => fatal).map(({ code, detail }) => `${code} ${detail}`)
  );
}

async function sealOne({ harness: { send }, key }: Programme, probe: Record<string, unknown>) {
  const body = { domain: "general", stakes: "standard", ...probe };
  return await send("/v1/probes", { key, body });
}

async function rowsOf({ database }: Harness, where = "true") {
  return await select(
    database,
    `SELECT probe_id, position, at, domain, stakes, commitment, reference, drawn_at,
      expires_at, closed_position, closed_at, ai_correct, departed, state
      FROM probe WHERE ${where} ORDER BY position`,
  );
}

Deno.test(
  "an acceptance makes altered rows of probes anew from the chain: names stay used, tickets are refused, and the chain stays sound",
  withProgramme(async (programme) => {
    const { harness, key } = programme;
    const { database, send } = harness;
    const decided = await drawDue(programme, { prefix: "decided" });
    assert.equal((await decide(programme, decided.probe)).status, 200);
    const { probe } = await drawDue(programme);
    const before = await rowsOf(harness, "state = 'decided'");
    await alter(
      database,
      `UPDATE probe SET reference = 'x' WHERE probe_id IN ('${probe.probe_id}', 'probe-0039')`,
      "UPDATE probe SET domain = 'medical' WHERE probe_id = 'probe-0038'",
      "DELETE FROM probe WHERE probe_id = 'probe-0037'",
      `UPDATE probe SET departed = 1 - departed, closed_at = 0 WHERE state = 'decided'`,
    );
    await accept(harness);
    assert.deepEqual(await findings(harness), []);
    assert.deepEqual(await rowsOf(harness, "state = 'decided'"), before);
    assert.equal((await decide(programme, probe)).status, 409);
    for (const index of [37, 38, 39]) {
      const again = await sealOne(programme, { probe_id: `probe-00${index}`, ai_correct: index % 2 === 1 });
      assert.equal(again.status, 409, again.text);
    }
    const { body } = await send("/v1/probes?limit=200", { key });
    assert.deepEqual(
      new Set(body.probes.map(({ state }: { state: string }) => state)),
      new Set(["recalled", "decided"]),
    );
    await sealOne(programme, { probe_id: "new-1", ai_correct: true });
    await nextDay(programme);
    for (let number = 0; number < 40; number += 1) await draw(programme, `again-${number}`);
    await nextDay(programme);
    assert.deepEqual(await findings(harness), []);
    assert.deepEqual(await audited(programme), []);
  }),
);

Deno.test(
  "after an acceptance an operator's decided probes are counted as the chain counts them",
  withAlterations(async (harness) => {
    const programme = { harness, key: await harness.organization("acme") };
    await setPolicy(programme, { rate: 0.05, minimum: 2 });
    await sealStock(programme, 40);
    for (const prefix of ["a", "b"]) {
      const { probe } = await drawDue(programme, { prefix });
      assert.equal((await decide(programme, probe)).status, 200);
    }
    await alter(harness.database, "DELETE FROM probe WHERE state = 'decided'");
    await accept(harness);
    assert.equal((await rowsOf(harness, "state = 'decided' AND departed = 1")).length, 2);
    await nextDay(programme);
    for (let index = 0; index < 10; index += 1) {
      await sealOne(programme, { probe_id: `new-${index}`, ai_correct: true });
    }
    let drawn = 0;
    for (let number = 0; number < 100; number += 1) {
      if (await draw(programme, `again-${number}`) !== null) drawn += 1;
    }
    assert.ok(drawn > 0);
    await nextDay(programme);
    assert.deepEqual(await audited(programme), []);
  }),
);

for (
  const change of [
    "UPDATE probe_programme SET opened = 1",
    "UPDATE probe_programme SET policy = json_set(policy, '$.enabled', json('false'))",
    "DELETE FROM probe_programme",
  ]
) {
  Deno.test(
    `the programme's row is checked, and an acceptance makes it anew: ${change}`,
    withProgramme(async (programme) => {
      const { harness, key } = programme;
      const { send, database } = harness;
      await drawDue(programme);
      const before = await select(database, "SELECT * FROM probe_programme");
      await alter(database, change);
      const verified = await send("/v1/audit/chain/verify", { key });
      assert.equal(verified.body.valid, false);
      assert.match(verified.text, /probe_programme/);
      await accept(harness);
      assert.deepEqual(await findings(harness), []);
      assert.deepEqual(await select(database, "SELECT * FROM probe_programme"), before);
      await setPolicy(programme, { rate: 0.08 });
      await sealOne(programme, { probe_id: "new-1", ai_correct: true });
      await nextDay(programme);
      await draw(programme, "again");
      await nextDay(programme);
      assert.deepEqual(await audited(programme), []);
    }),
  );
}

Deno.test(
  "a removed row of a probe is found, and nothing is signed or shown of the others",
  withProgramme(async (programme) => {
    const { harness, key } = programme;
    for (const [prefix, decision] of [["a", "accepted"], ["b", "rejected"], ["c", "accepted"]] as const) {
      const { probe } = await drawDue(programme, { prefix });
      assert.equal((await decide(programme, probe, { decision })).status, 200);
    }
    await alter(harness.database, "DELETE FROM probe WHERE state = 'decided' AND departed = 0");
    assert.match((await findings(harness)).join(), /probe is missing/);
    for (
      const path of [
        REPORT,
        "/v1/compliance/article14",
        "/v1/organization/dashboard",
        "/v1/probes/summary",
      ]
    ) {
      assert.equal((await harness.send(path, { key })).status, 503, path);
    }
  }),
);

Deno.test(
  "an older row of a probe that was put back is found, and an acceptance makes it as the chain says",
  withProgramme(async (programme) => {
    const { harness, key } = programme;
    const { database, send } = harness;
    await alter(database, "CREATE TABLE kept AS SELECT * FROM probe");
    const { probe } = await drawDue(programme);
    assert.equal((await decide(programme, probe)).status, 200);
    const before = await rowsOf(harness, "state = 'decided'");
    await alter(
      database,
      `DELETE FROM probe WHERE probe_id = '${probe.probe_id}'`,
      `INSERT INTO probe SELECT * FROM kept WHERE probe_id = '${probe.probe_id}'`,
      "DROP TABLE kept",
    );
    assert.match((await findings(harness)).join(), /an old one was put back/);
    assert.equal((await send("/v1/probes/summary", { key })).status, 503);
    await accept(harness);
    assert.deepEqual(await rowsOf(harness, "state = 'decided'"), before);
    assert.deepEqual(await findings(harness), []);
    assert.equal((await send("/v1/probes/summary", { key })).status, 200);
  }),
);

Deno.test(
  "the score of a drawn probe whose row is gone is refused until the database is accepted, and then for good",
  withProgramme(async (programme) => {
    const { harness } = programme;
    const { probe } = await drawDue(programme);
    await alter(harness.database, `DELETE FROM probe WHERE probe_id = '${probe.probe_id}'`);
    assert.equal((await decide(programme, probe)).status, 503);
    await accept(harness);
    assert.equal((await decide(programme, probe)).status, 409);
    await nextDay(programme);
    assert.deepEqual(await audited(programme), []);
  }),
);

Deno.test(
  "after retention an acceptance keeps the rows that this installation wrote, and believes none that it did not",
  withAlterations(async (harness) => {
    const programme = { harness, key: await harness.organization("acme") };
    const { clock, database, dependencies, send } = harness;
    await setPolicy(programme);
    await sealStock(programme, 40);
    for (const prefix of ["a", "b"]) {
      const { probe } = await drawDue(programme, { prefix });
      assert.equal((await decide(programme, probe)).status, 200);
    }
    await nextDay(programme);
    clock.advance(40 * DAY_MS);
    await new Upkeep(dependencies).run(clock.now());
    await pruneChains(dependencies, clock.now());
    await sealOne(programme, { probe_id: "fresh-1", ai_correct: true });
    assert.deepEqual(await findings(harness), []);
    const [first, second] = await rowsOf(harness, "state = 'decided'");
    const programmes = await select(database, "SELECT * FROM probe_programme");
    await alter(
      database,
      `UPDATE probe SET departed = 1 - departed WHERE probe_id = '${first!.probe_id}'`,
      `INSERT INTO probe SELECT org_id, 'forged', position + 1000000, request_id, at, domain, stakes,
        commitment, reference, state, drawn_at, expires_at, closed_position, closed_at, ai_correct, departed, seal
        FROM probe WHERE probe_id = '${second!.probe_id}'`,
    );
    await accept(harness);
    assert.deepEqual(await findings(harness), []);
    assert.deepEqual(await rowsOf(harness, "state = 'decided'"), [second]);
    assert.deepEqual(await rowsOf(harness, "probe_id = 'forged'"), []);
    assert.deepEqual(await select(database, "SELECT * FROM probe_programme"), programmes);
    const again = await sealOne(programme, { probe_id: first!.probe_id, ai_correct: true });
    assert.equal(again.status, 409, again.text);
    const { body: { whole } } = await send("/v1/probes/summary?days=90", { key: programme.key });
    assert.equal(whole.wrong.probes + whole.right.probes, 1);
  }, { evidenceRetentionDays: 30 }),
);
