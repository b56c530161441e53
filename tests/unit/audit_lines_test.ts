/** Audit events as lines of the log: each event is logged once, however the process learned of it. */
import assert from "node:assert/strict";
import { hex } from "../../src/evidence/crypto.ts";
import type { LogFields } from "../../src/observability/log.ts";
import { AuditLines } from "../../src/operations/chains/audit_lines.ts";
import { eventDraft } from "../../src/operations/shared/drafts.ts";
import { SYSTEM_CHAIN } from "../../src/evidence/chain_name.ts";
import { Upkeep } from "../../src/operations/installation/upkeep.ts";
import type { PlacedEntry } from "../../src/store/unit_of_work.ts";
import { type Harness, scoreRequest, withHarness } from "../harness.ts";

function linesTo(written: string[]): AuditLines {
  const info = (_: string, { chain, seq, entry_hash }: LogFields = {}) => {
    written.push(`${chain} ${seq} ${entry_hash}`);
  };
  return new AuditLines({ info, warn: assert.fail, error: assert.fail });
}

const lineOf = ({ entry: { chain, seq }, hash }: PlacedEntry) => `${chain} ${seq} ${hex(hash)}`;

/** Records `count` events on the system chain. */
function record({ dependencies, clock }: Harness, count: number): Promise<readonly PlacedEntry[]> {
  const { world, writer } = dependencies;
  const caller = { actor: "system", orgId: null, prefix: null } as const;
  const drafts = Array.from(
    { length: count },
    () =>
      eventDraft(world, {
        type: "AUTH_FAIL_RATE_LIMITED_IP",
        caller,
        now: clock.now(),
        detail: { address: null, count: 1 },
      }),
  );
  return writer.submit({
    needs: [],
    chains: [SYSTEM_CHAIN],
    plan(unit) {
      const entries = drafts.map((draft) => unit.append(SYSTEM_CHAIN, draft));
      return () => entries;
    },
  });
}

Deno.test(
  "events of other processes are logged in order, page by page, without those that existed at the start or were logged already",
  withHarness(async (harness) => {
    const { database } = harness;
    const written: string[] = [];
    const lines = linesTo(written);
    await lines.skipExisting(database);
    const others = await record(harness, 250);
    const own = await record(harness, 2);
    lines.logOwn(own);
    assert.deepEqual(written.splice(0), own.map(lineOf), "its own events at once");
    await lines.logOthers(harness.dependencies, harness.clock.now());
    assert.deepEqual(written.splice(0), others.map(lineOf));
    await lines.logOthers(harness.dependencies, harness.clock.now());
    lines.logOwn([...others, ...own]);
    assert.deepEqual(written, []);
  }),
);

Deno.test(
  "a commit that is read from the database before its own process reports it is logged once",
  withHarness(async (harness) => {
    const written: string[] = [];
    const lines = linesTo(written);
    await lines.skipExisting(harness.database);
    const own = await record(harness, 3);
    await Promise.all([
      lines.logOthers(harness.dependencies, harness.clock.now()),
      lines.logOwn(own.slice(1)),
    ]);
    lines.logOwn(own.slice(0, 1));
    assert.deepEqual(written.sort(), own.map(lineOf).sort());
  }),
);

Deno.test(
  "chains that began after the start are logged from their first entry; scores are not logged",
  withHarness(async (harness) => {
    const written: string[] = [];
    const lines = linesTo(written);
    await lines.skipExisting(harness.database);
    const key = await harness.organization("acme");
    assert.equal((await harness.send("/v1/score", { key, body: scoreRequest() })).status, 200);
    await lines.logOthers(harness.dependencies, harness.clock.now());
    const chains = written.map((line) => line.split(" ").slice(0, 2).join(" "));
    assert.deepEqual(chains.filter((line) => line.startsWith("org/")), [
      "org/acme/admin 0",
      "org/acme/admin 1",
    ]);
  }),
);

Deno.test(
  "every minute and at the stop the service logs events of other processes",
  withHarness(async (harness) => {
    const { clock, database, dependencies } = harness;
    const written: string[] = [];
    const lines = linesTo(written);
    await lines.skipExisting(database);
    const upkeep = new Upkeep(dependencies, lines);
    for (const run of [() => upkeep.run(clock.now()), () => upkeep.finish(clock.now())]) {
      const others = await record(harness, 2);
      await run();
      assert.deepEqual(written.splice(0).slice(0, 2), others.map(lineOf));
    }
  }),
);
