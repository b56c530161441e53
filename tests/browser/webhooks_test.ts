/**
 * Webhooks in the console: a destination is registered, tested against a real receiver, its deliveries are
 * listed, and it is removed.
 */
import assert from "node:assert/strict";
import { certificate, isSigned, openReceiver } from "../receiver.ts";
import { pastOf } from "../delivering.ts";
import { scoreRequest } from "../harness.ts";
import { createOrganization, freshDeployment, startService } from "../program.ts";
import { assertAccessible, assertFits, chromiumIsMissing, NEEDS_CHROMIUM, withBrowser } from "./browser.ts";
import { shown, signIn } from "./console.ts";

Deno.test({
  name:
    `a destination is registered, tested and removed in the console; its deliveries are shown, and dead ones can be sent again ${NEEDS_CHROMIUM}`,
  ignore: chromiumIsMissing(),
  async fn() {
    const deployment = await freshDeployment();
    const authority = `${deployment.directory}/authority.pem`;
    await Deno.writeTextFile(authority, (await certificate()).authority);
    const env = {
      ...deployment.env,
      JISS_WEBHOOK_ALLOW: "127.0.0.0/8",
      JISS_WEBHOOK_BACKOFF_MS: "0,0",
      JISS_EXTRA_CA_FILE: authority,
    };
    const service = await startService(["serve"], { env });
    const receiver = await openReceiver();
    try {
      const key = await createOrganization(service, env);
      assert.equal(
        (await service.send("/v1/score/batch", { key, body: pastOf("operator-1") })).status,
        200,
      );
      await withBrowser(service.url, async (visit) => {
        const { page, expectErrors, requests } = await visit({ width: 360, theme: "dark" });
        expectErrors(/422/);
        await page.goto("/console/webhooks");
        await signIn(page, key);
        const opener = page.getByRole("button", { name: "Register a destination" });
        assert.match((await opener.getAttribute("class"))!, /\bmain\b/);
        await opener.click();
        await page.getByLabel("URL").fill("https://192.168.0.1/hook");
        for (
          const [event, isChosen] of [["score.committed", true], ["drs.must_review", true], [
            "drs.escalation",
            true,
          ], ["case.opened", false]] as const
        ) {
          assert.equal(await page.getByRole("checkbox", { name: event }).isChecked(), isChosen, event);
        }
        await page.getByRole("checkbox", { name: "case.opened" }).check();
        await page.getByRole("button", { name: "Draw one" }).click();
        assert.equal((await page.getByLabel("Shared secret").inputValue()).length, 64);
        await page.getByRole("button", { name: "Register", exact: true }).click();
        await page.locator("#url-wrong:not(:empty)").waitFor();
        assert.equal(await page.getByLabel("URL").getAttribute("aria-invalid"), "true");
        await assertAccessible(page, "a refused URL");

        await page.getByLabel("URL").fill(`${receiver.url}/hook`);
        await page.getByRole("button", { name: "Register", exact: true }).click();
        const secret = (await page.locator(".secret").textContent())!;
        assert.match(secret, /^whsec_/);
        await page.getByRole("link", { name: `${receiver.url}/hook` }).waitFor();
        await assertAccessible(page, "a registered destination");
        await assertFits(page, "a registered destination");
        await page.getByRole("button", { name: "I have kept it" }).click();

        const { webhooks: [registered] } = (await service.send("/v1/admin/webhook/list", { key })).body;
        assert.deepEqual(registered.events, [
          "score.committed",
          "drs.must_review",
          "drs.escalation",
          "case.opened",
        ]);
        const row = page.getByRole("row").filter({ hasText: receiver.url });
        assert.deepEqual(
          (await row.locator("[data-label='Events'] > div").allInnerTexts()).map((text) =>
            text.split(/\s*\n/)
          ),
          [
            ["A score was made final", "score.committed"],
            ["A decision must be reviewed", "drs.must_review"],
            ["A decision must be escalated", "drs.escalation"],
            ["A case was opened", "case.opened"],
          ],
        );
        const remove = row.getByRole("button", { name: `Remove ${receiver.url}/hook` });
        const [edge, words] = await remove.evaluate((button) => {
          const { borderColor, color } = getComputedStyle(button);
          return [borderColor, color];
        });
        assert.equal(edge, words, "an act that destroys has the colour of its words around it");
        assert.match((await remove.getAttribute("class"))!, /\bgrave\b/);
        // If nothing was sent yet, a test is the next thing to do.
        await page.getByRole("link", { name: `${receiver.url}/hook` }).click();
        await page.getByText("Nothing was sent yet").waitFor();
        await page.getByRole("button", { name: "Send a test", exact: true }).click();
        await page.getByRole("cell", { name: "Delivered" }).waitFor();
        assert.match(await page.getByRole("rowheader").first().innerText(), /^A test\s+ping\s/);
        const [ping] = receiver.arrivals;
        assert.equal(ping!.body.event, "ping");
        assert.ok(isSigned(ping!, secret));

        await page.getByRole("link", { name: "Webhooks" }).last().click();
        receiver.react(() => new Response(null, { status: 500 }));
        const body = scoreRequest({ session_id: "told", operator_id: "operator-1" });
        assert.equal((await service.send("/v1/score", { key, body })).status, 200);
        await page.getByRole("link", { name: `${receiver.url}/hook` }).click();
        const dead = page.getByRole("cell", { name: "Failed" });
        await page.getByRole("heading", { level: 1, name: `${receiver.url}/hook` }).waitFor();
        const fact = (name: string) =>
          page.locator("dl > div").filter({ has: page.locator("dt", { hasText: name }) }).locator("dd");
        assert.match((await fact("State").textContent())!, /Active.*since /);
        assert.deepEqual(await fact("Events").locator("code").allTextContents(), registered.events);
        while (await dead.count() === 0) {
          await page.getByRole("button", { name: "Look again" }).click();
          await shown(page);
          await new Promise((next) => setTimeout(next, 100));
        }
        for (const name of ["Last delivery", "Last failure"]) {
          assert.match((await fact(name).textContent())!, /score\.committed.*status 500/, name);
        }
        await page.getByText("3 attempts").click();
        await page.getByText("status 500").first().waitFor();
        // All deliveries are in the answer: their heads sort them, above the cards.
        const times = () =>
          page.locator("main tbody > tr > [data-label='Of'] time").evaluateAll((found) =>
            found.map((time) => time.getAttribute("datetime")!)
          );
        const newestFirst = await times();
        assert.equal(newestFirst.length, 2);
        assert.deepEqual(newestFirst, newestFirst.toSorted().toReversed());
        await page.getByRole("columnheader", { name: "Of" }).getByRole("link").click();
        await page.waitForURL("**sort=event_at");
        assert.deepEqual(await times(), newestFirst.toReversed());
        const [download] = await Promise.all([
          page.waitForEvent("download"),
          page.getByRole("button", { name: "Save as CSV: Deliveries" }).click(),
        ]);
        const lines = (await Deno.readTextFile((await download.path())!)).split("\r\n");
        assert.match(lines[2]!, /,score\.committed,[^,]*,[^,]*,dead,3,[^,]*Z,status,500,/);
        await assertFits(page, "the deliveries");
        await assertAccessible(page, "a dead delivery");
        receiver.react(() => new Response(null, { status: 200 }));
        await page.getByRole("button", { name: "Send again" }).click();
        const again = page.getByText(/ again for /);
        await again.waitFor();
        const delivered = page.getByRole("row").filter({ has: again }).getByText("Delivered");
        while (await delivered.count() === 0) {
          await page.getByRole("button", { name: "Look again" }).click();
          await shown(page);
          await new Promise((next) => setTimeout(next, 100));
        }
        assert.match((await fact("Last delivery").textContent())!, /Delivered/);
        const calls = requests.length;
        await page.getByRole("link", { name: "Show the failed ones" }).click();
        await page.waitForURL("**status=dead*");
        await dead.waitFor();
        await shown(page);
        assert.equal(await page.locator("tbody tr").count(), 1);
        assert.equal(await page.getByLabel("Status").inputValue(), "dead");
        assert.equal(requests.slice(calls).filter(({ path }) => path.startsWith("/v1/")).length, 1);
        assert.match((await fact("Last failure").textContent())!, /score\.committed/);
        await page.getByRole("button", { name: `Test ${receiver.url}/hook` }).click();
        await page.getByText(/^Delivered: 200, \d+ ms$/).waitFor();
        await page.getByLabel("Status").selectOption("cancelled");
        await page.getByText("No delivery has this status.").waitFor();
        await assertAccessible(page, "no delivery of a status");

        await page.getByRole("button", { name: `Remove ${receiver.url}/hook` }).click();
        await page.getByRole("button", { name: "Keep" }).click();
        await page.getByRole("button", { name: `Remove ${receiver.url}/hook` }).click();
        await page.getByRole("button", { name: "Really remove" }).click();
        await page.getByText("No destination is registered").waitFor();
        assert.equal((await service.send("/v1/admin/webhook/list", { key })).body.count, 0);
      });
    } finally {
      await service.stop();
      await receiver.close();
      await deployment.remove();
    }
  },
});
