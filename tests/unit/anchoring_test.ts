/**
 * Anchoring: the system chain records the checkpoint of every chain that has grown, so that one kept
 * checkpoint of it pins all of them. Each test ends with the oracle, which checks the recorded checkpoints.
 * Source: evidence design, section 4.
 */
import assert from "node:assert/strict";
import { unavailable } from "../../src/domain/errors.ts";
import { anchorChains } from "../../src/operations/chains/anchoring.ts";
import { rowsOf } from "../earlier_schema.ts";
import { type Harness, openHarness, scoreRequest, withHarness, writingAfterReads } from "../harness.ts";

// ---- fixtures ---------------------------------------------------------------------------------------------

let sessions = 0;

async function score({ send }: Harness, key: string): Promise<void> {
  sessions += 1;
  const answer = await send("/v1/score", { key, body: scoreRequest({ session_id: `s-${sessions}` }) });
  assert.equal(answer.status, 200, answer.text);
}

const anchor = ({ dependencies, clock }: Harness) => anchorChains(dependencies, clock.now());

/** The checkpoints in each ORG_CHECKPOINTS entry, as `<chain>@<size>`. */
async function anchorsOf({ database }: Harness): Promise<readonly (readonly string[])[]> {
  const rows = await rowsOf(
    database,
    `SELECT data FROM audit_entry JOIN audit_part USING (chain, seq)
      WHERE chain = 'sys' AND event_type = 'ORG_CHECKPOINTS' ORDER BY seq`,
  );
  return rows.map(({ data }) =>
    JSON.parse(String(data)).checkpoints.map((
      { origin, size }: { readonly origin: string; readonly size: number },
    ) => `${origin.slice("jiss.test/01TEST00000000000000000000/".length)}@${size}`)
  );
}

// ---- what is anchored -------------------------------------------------------------------------------------

Deno.test(
  "every chain that has grown is anchored at its size, and the system chain does not anchor itself",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await harness.organization("other");
    await score(harness, key);
    await anchor(harness);
    assert.deepEqual(await anchorsOf(harness), [[
      "org/acme@2",
      "org/acme/admin@2",
      "org/other@1",
      "org/other/admin@2",
    ]]);
    const [entry] = await rowsOf(
      harness.database,
      "SELECT body FROM audit_entry WHERE event_type = 'ORG_CHECKPOINTS'",
    );
    const { actor, org_id, subject, chain } = JSON.parse(String(entry!.body));
    assert.deepEqual([actor, org_id, subject, chain], ["system", null, null, "sys"]);
  }),
);

Deno.test(
  "without growth nothing is written, and only chains that have grown since are anchored again",
  withHarness(async (harness) => {
    await anchor(harness);
    assert.deepEqual(await anchorsOf(harness), [], "a deployment without organizations");
    const key = await harness.organization("acme");
    await harness.organization("other");
    await anchor(harness);
    const before = await harness.rowCounts();
    await anchor(harness);
    assert.deepEqual(await harness.rowCounts(), before);
    await score(harness, key);
    await score(harness, key);
    await anchor(harness);
    assert.deepEqual((await anchorsOf(harness)).slice(1), [["org/acme@3"]]);
  }),
);

Deno.test(
  "one entry holds at most 500 checkpoints, and one run anchors all chains",
  withHarness(async (harness) => {
    const names = Array.from({ length: 251 }, (_, index) => `org-${index}`);
    await Promise.all(names.map((name) => harness.organization(name)));
    await anchor(harness);
    const anchors = await anchorsOf(harness);
    assert.deepEqual(anchors.map(({ length }) => length), [500, 2]);
    assert.equal(new Set(anchors.flat()).size, 502);
    const before = await harness.rowCounts();
    await anchor(harness);
    assert.deepEqual(await harness.rowCounts(), before);
  }),
);

Deno.test("a chain that grows while it is anchored is anchored at the size that was read, and again by the next run", async () => {
  let write: (() => Promise<void>) | null = null;
  const harness = await openHarness({
    wrap: (database) =>
      writingAfterReads(database, async () => {
        const once = write;
        write = null;
        await once?.();
      }),
  });
  const key = await harness.organization("acme");
  write = () => score(harness, key);
  await anchor(harness);
  await anchor(harness);
  assert.deepEqual(await anchorsOf(harness), [["org/acme@1", "org/acme/admin@2"], ["org/acme@2"]]);
  await harness.close();
});

Deno.test(
  "two processes that anchor at once leave no chain out",
  withHarness(async (harness) => {
    await harness.organization("acme");
    await Promise.all([anchor(harness), anchor(harness)]);
    const before = await harness.rowCounts();
    await anchor(harness);
    assert.deepEqual(await harness.rowCounts(), before);
    assert.deepEqual(new Set((await anchorsOf(harness)).flat()), new Set(["org/acme@1", "org/acme/admin@2"]));
  }),
);

Deno.test("a run that cannot write leaves everything to the next", async () => {
  let isFull = false;
  const harness = await openHarness({
    wrap: (database) => ({
      ...database,
      batch: (statements) => isFull ? Promise.reject(unavailable("full")) : database.batch(statements),
    }),
  });
  await harness.organization("acme");
  const before = await harness.rowCounts();
  isFull = true;
  await assert.rejects(anchor(harness), { code: "SERVICE_UNAVAILABLE" });
  isFull = false;
  assert.deepEqual(await harness.rowCounts(), before);
  await anchor(harness);
  assert.deepEqual(await anchorsOf(harness), [["org/acme@1", "org/acme/admin@2"]]);
  await harness.close();
});
