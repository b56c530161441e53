/**
 * An alert about lost probes in the console: whom each probe was shown to, the case that follows it up or the step that comes first,
 * and what an acknowledgement does.
 */
import assert from "node:assert/strict";
import type { Locator } from "playwright-core";
import { Upkeep } from "../../src/operations/installation/upkeep.ts";
import { type Harness, openHarness, scoreRequest } from "../harness.ts";
import { drawDue, sealStock, setPolicy } from "../probing.ts";
import { serveHarness } from "../review_desk.ts";
import { signedInUser } from "../signing_in.ts";
import { assertAccessible, assertFits, browserTests, THEMES } from "./browser.ts";
import { go, shown, signIn } from "./console.ts";

interface World {
  readonly harness: Harness;
  readonly key: string;
  readonly url: string;
}

/** A service on which a probe of `ada`, who has a record, and one of `bruno`, who has none, are lost; an officer could follow up. */
async function withLostProbes(use: (world: World) => Promise<void>): Promise<void> {
  const harness = await openHarness();
  const jiss = serveHarness(harness);
  try {
    const key = await harness.organization("acme");
    await signedInUser(harness, { orgId: "acme", role: "officer", name: "Olga" });
    await harness.send("/v1/score", { key, body: scoreRequest({ operator_id: "ada" }) });
    await setPolicy({ harness, key });
    await sealStock({ harness, key }, 40);
    for (const operator of ["ada", "bruno"]) {
      await drawDue({ harness, key }, { prefix: `of-${operator}`, operator_id: operator });
    }
    harness.clock.advance(61 * 60_000);
    await new Upkeep(harness.dependencies).run(harness.clock.now());
    await use({ harness, key, url: jiss.url });
  } finally {
    await jiss.close();
    await harness.close();
  }
}

const lostTest = browserTests<World>(withLostProbes, ({ url }) => url);

/** The words that stand beside a name in the alert. */
function fact(region: Locator, name: string): Locator {
  return region.locator("dl > div").filter({ has: region.page().locator("dt", { hasText: name }) })
    .locator("dd");
}

lostTest(
  "each operator of an alert about lost probes has the case that follows up, or the step that comes first",
  async (visit, { harness, key }) => {
    const { page, requests, idle } = await visit();
    await page.goto("/console/cases");
    await signIn(page, key);
    await idle();
    const before = requests.length;
    await go(page, "/console/alerts");
    const region = page.getByRole("region", { name: "Lost probes" });
    await region.waitFor();
    await shown(page);
    await idle();
    const calls = requests.slice(before).filter(({ path }) => path.startsWith("/v1/"));
    assert.equal(calls.length, 2, calls.map(({ path }) => path).join());

    await page.getByText("A case follows up on one operator").waitFor();
    assert.match((await fact(region, "Set off by").textContent())!, /nobody decided it/);
    const { body: { alerts: [alert] } } = await harness.send("/v1/organization/alerts", { key });
    const raised = fact(region, "When").locator("time").first();
    assert.equal(await raised.getAttribute("title"), alert.created_at, "UTC on hover");

    const { body: { cases: [followUp] } } = await harness.send("/v1/cases?cause=probes_lost", { key });
    assert.equal(followUp.operator_id, "ada");
    const [ada, bruno] = ["ada", "bruno"].map((name) =>
      region.getByRole("listitem").filter({ has: page.getByRole("link", { name, exact: true }) })
    ) as [Locator, Locator];
    assert.equal(
      await ada.getByRole("link", { name: "ada", exact: true }).getAttribute("href"),
      "/console/operators/ada",
    );
    assert.match((await ada.textContent())!, /probe-\d{4}.*A case is open, unassigned/);
    assert.equal(
      await ada.getByRole("link", { name: "Open the case of ada" }).getAttribute("href"),
      `/console/cases/${followUp.case_id}`,
    );
    assert.match((await bruno.textContent())!, /probe-\d{4}.*No case follows it up/);
    assert.equal(
      await bruno.getByRole("link", { name: "Look at the operator bruno" }).getAttribute("href"),
      "/console/operators/bruno",
    );
    assert.match((await fact(region, "Acknowledging").textContent())!, /for everybody/);
    await region.getByRole("button", { name: "Acknowledge" }).waitFor();

    const done = await harness.send(`/v1/cases/${followUp.case_id}/events`, {
      key,
      body: { step: "done", note: "Asked." },
    });
    assert.equal(done.status, 201, done.text);
    await go(page, "/console/cases");
    await go(page, "/console/alerts");
    await shown(page);
    await ada.getByText("Its case has ended: done").waitFor();
  },
);

for (const theme of THEMES) {
  lostTest(
    `an alert about lost probes is accessible and fits a phone, in the ${theme} theme`,
    async (visit, { key }) => {
      const { page } = await visit({ theme, width: 390 });
      await page.goto("/console/alerts");
      await signIn(page, key);
      await page.getByRole("link", { name: "Open the case of ada" }).waitFor();
      await shown(page);
      await assertAccessible(page, "lost probes");
      await assertFits(page, "lost probes");
    },
  );
}
