/**
 * Alerts in the console: an officer sees what happened with its figures and the next step, acknowledges it by keyboard, and everybody
 * sees who did; an auditor only reads.
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { earlierUsage } from "../alerting.ts";
import { alter } from "../altering.ts";
import {
  changeRows,
  createOrganization,
  freshDeployment,
  type RunningService,
  startService,
  withDatabaseOf,
} from "../program.ts";
import { assertAccessible, assertFits, browserTests, tabTo, THEMES } from "./browser.ts";
import { go, shown } from "./console.ts";

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

const ORGANIZATION = "acme";
const ALERTS = "/v1/organization/alerts";

interface Alerted {
  readonly service: RunningService;
  readonly key: string;
  readonly data: string;
}

/** A service of the test's own with an organization whose evidence was altered, which has raised an alert. */
async function withAlert(use: (alerted: Alerted) => Promise<void>): Promise<void> {
  const { directory, env, remove } = await freshDeployment();
  const service = await startService(["serve"], { env, cwd: directory });
  try {
    const data = env.JISS_DATA_DIR ?? `${directory}/data`;
    const key = await createOrganization(service, env, ORGANIZATION);
    const interactions = Array.from({ length: 11 }, (_, index) => ({
      session_id: `s-${index}`,
      time_to_decision_ms: 9000,
      decision: "accepted",
    }));
    const body = { operator_id: "operator-1", domain: "general", interactions };
    assert.equal((await service.send("/v1/score/batch", { key, body })).status, 200);
    await withDatabaseOf(data, (database) =>
      alter(
        database,
        `UPDATE audit_part SET salt = zeroblob(32) WHERE chain = 'org/${ORGANIZATION}' AND seq = 0`,
      ));
    const verified: Json = (await service.send("/v1/audit/chain/verify", { key })).body;
    assert.equal(verified.valid, false);
    await use({ service, key, data });
  } finally {
    await service.stop();
    await remove();
  }
}

const alertsTest = browserTests<Alerted>(withAlert, ({ service }) => service.url);

let users = 0;

/** Signs a new user in, by an invitation; returns the user's name. */
async function signInAs(page: Page, role: string, { service, key }: Alerted): Promise<string> {
  users += 1;
  const name = `Person ${users}`;
  const body = { email: `person-${users}@acme.example`, name, role };
  const invited: Json = (await service.send("/v1/users", { key, method: "POST", body })).body;
  await page.goto(invited.link);
  await page.getByLabel(/^Password/).fill("correct horse battery");
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.getByRole("navigation", { name: "Console" }).waitFor();
  return name;
}

async function listed({ service, key }: Alerted, query = ""): Promise<Json[]> {
  return ((await service.send(`${ALERTS}${query}`, { key })).body as Json).alerts;
}

alertsTest(
  "an officer sees what happened and the next step, acknowledges it by keyboard, and the list says who did",
  async (visit, alerted) => {
    const [alert] = await listed(alerted);
    const { page } = await visit();
    const name = await signInAs(page, "officer", alerted);
    await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: /^Cases/ }).click();
    const notice = page.getByText("alert is open");
    await notice.waitFor();
    assert.equal(await page.locator("[data-figure='alerts.count']").textContent(), "1");
    await page.getByRole("link", { name: "See what happened" }).click();
    await page.getByRole("heading", { level: 1, name: "Alerts" }).waitFor();
    await shown(page);
    const region = page.getByRole("region", { name: "Altered evidence" });
    for (const text of [alert.statement, alert.next_step]) {
      assert.ok(await region.getByText(text).isVisible(), text);
    }
    for (
      const text of [
        /found an entry that is not as it was signed/,
        /^The evidence of the organization: chain org\/acme, entry 0 \(/,
        /^None: a case follows up on one operator/,
        /the administrator of the service keeps the alert\./,
      ]
    ) {
      assert.ok(await region.getByRole("definition").filter({ hasText: text }).isVisible(), `${text}`);
    }
    assert.equal(
      await region.getByRole("link", { name: "How to verify offline" }).getAttribute("href"),
      "/docs/verify-offline",
    );

    await tabTo(page, "Acknowledge");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Acknowledge: Altered evidence" }).waitFor();
    assert.ok(await page.getByText("The administrator of the service keeps the alert.").isVisible());
    assert.equal((await listed(alerted)).length, 1, "a question changes nothing");
    await tabTo(page, "Acknowledge the alert");
    await page.keyboard.press("Enter");
    await page.getByText("No alert is open.").waitFor();
    await page.getByText("Acknowledged: Altered evidence.").waitFor();
    for (const rule of ["Unusual use", "Lost probes", "Altered evidence", "Altered audit log"]) {
      assert.ok(await page.getByRole("term").filter({ hasText: rule }).isVisible(), rule);
    }
    assert.deepEqual(await listed(alerted), []);

    await page.getByLabel("Show").selectOption("All, with those that were acknowledged");
    await shown(page);
    assert.equal(new URL(page.url()).searchParams.get("state"), "all", "the address keeps the filter");
    const [seen] = await listed(alerted, "?state=all");
    assert.equal(seen.acknowledged_by.user_name, name);
    await region.getByText(`by ${name}`).waitFor();
    assert.equal(
      await region.locator("time").last().getAttribute("datetime"),
      seen.acknowledged_at,
    );
    assert.equal(await region.getByRole("button", { name: "Acknowledge" }).count(), 0);
    await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: /^Cases/ }).click();
    await shown(page);
    await page.getByText("No case is open.").waitFor();
    assert.equal(await notice.count(), 0);
  },
);

alertsTest(
  "unusual use is shown with the API's figures; an auditor reads and has no act, and a viewer has no such view",
  async (visit, alerted) => {
    await changeRows(alerted.data, ...earlierUsage(ORGANIZATION, Date.now()));
    let usage: Json;
    while (usage === undefined) {
      await new Promise((next) => setTimeout(next, 250));
      usage = (await listed(alerted)).find(({ kind }) => kind === "USAGE_ANOMALY");
    }
    const { page } = await visit();
    await signInAs(page, "auditor", alerted);
    await go(page, "/console/alerts");
    await shown(page);
    const region = page.getByRole("region", { name: "Unusual use" });
    await region.getByText(usage.statement).waitFor();
    const [first] = await listed(alerted);
    assert.equal(first.alert_id, usage.alert_id, "the last created stands first");
    for (const [member, value] of [["count_24h", 11], ["threshold", 10]] as const) {
      const figure = page.locator(`[data-figure='alerts.0.usage.${member}']`);
      assert.equal(await figure.textContent(), String(usage.usage[member]));
      assert.equal(usage.usage[member], value);
    }
    await region.getByText("An admin sees them under Keys.").waitFor();
    assert.equal(await page.getByRole("button", { name: "Acknowledge" }).count(), 0);

    // Open ones stand first, although another was created later.
    const path = `${ALERTS}/${usage.alert_id}/ack`;
    assert.equal((await alerted.service.send(path, { key: alerted.key, method: "POST" })).status, 200);
    await go(page, "/console/alerts?state=all");
    await region.getByText("an application with a key").waitFor();
    assert.deepEqual(await page.locator("main section h2").allTextContents(), [
      "Altered evidence",
      "Unusual use",
    ]);

    const viewer = await visit();
    await signInAs(viewer.page, "viewer", alerted);
    assert.equal(await viewer.page.getByRole("link", { name: "Alerts", exact: true }).count(), 0);
    const admin = await visit();
    await signInAs(admin.page, "admin", alerted);
    await go(admin.page, "/console/alerts?state=all");
    await shown(admin.page);
    await go(admin.page, "/console/alerts");
    await shown(admin.page);
    await admin.page.getByRole("button", { name: "Acknowledge" }).waitFor();
  },
);

alertsTest(
  "an acknowledgement that cannot be recorded says so, and the alert stays open",
  async (visit, alerted) => {
    const { page, expectErrors } = await visit();
    await signInAs(page, "officer", alerted);
    await go(page, "/console/alerts");
    await shown(page);
    await page.getByRole("button", { name: "Acknowledge" }).click();
    await page.route("**/ack", (route) => route.abort());
    expectErrors(/ERR_FAILED/);
    await page.getByRole("button", { name: "Acknowledge the alert" }).click();
    await page.getByRole("heading", { name: "The service cannot be reached" }).waitFor();
    await page.unroute("**/ack");
    assert.equal((await listed(alerted)).length, 1);
    await page.getByRole("button", { name: "Acknowledge the alert" }).click();
    await page.getByText("No alert is open.").waitFor();
  },
);

for (const theme of THEMES) {
  alertsTest(
    `the view of alerts is accessible and fits a phone, in the ${theme} theme`,
    async (visit, alerted) => {
      const { page, idle, requests } = await visit({ theme, width: 390 });
      await signInAs(page, "officer", alerted);
      for (const view of ["/cases", "/alerts"]) {
        await idle();
        const before = requests.length;
        await go(page, `/console${view}`);
        await shown(page);
        await idle();
        const calls = requests.slice(before).filter(({ path }) => path.startsWith("/v1/"));
        assert.ok(calls.length <= 3, `${view}: ${calls.map(({ path }) => path)}`);
        await assertAccessible(page, `the view ${view} with an open alert`);
        await assertFits(page, `the view ${view} with an open alert`);
      }
      await page.getByRole("button", { name: "Acknowledge" }).click();
      await assertAccessible(page, "the question");
      await assertFits(page, "the question");
      await page.getByRole("button", { name: "Acknowledge the alert" }).click();
      await page.getByText("No alert is open.").waitFor();
      await assertAccessible(page, "no open alert");
      await go(page, "/console/alerts?state=all");
      await page.locator(".alert .status", { hasText: "Acknowledged" }).waitFor();
      await shown(page);
      await assertAccessible(page, "an acknowledged alert");
      await assertFits(page, "an acknowledged alert");
    },
  );
}
