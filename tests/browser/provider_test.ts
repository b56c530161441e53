/** Signing in by clicks through the pages of an identity provider on another site, in a real browser. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { providerIsMissing } from "../real/openid_provider.ts";
import { type Scene, withScene } from "../real/provider_scene.ts";
import { chromiumIsMissing, NEEDS_CHROMIUM, type Visit, withBrowser } from "./browser.ts";
import { choose } from "./console.ts";

/** The program is known as `localhost`, and the provider as `127.0.0.1`: to a browser these are two sites. */
function clicksTest(name: string, run: (visit: () => Promise<Visit>, scene: Scene) => Promise<void>): void {
  Deno.test({
    name: `${name} ${NEEDS_CHROMIUM} [needs Node and oidc-provider]`,
    ignore: chromiumIsMissing() || providerIsMissing(),
    fn: () =>
      withScene((scene) =>
        withBrowser(scene.base, (visit) =>
          run(async () => {
            const visited = await visit();
            // The provider's pages, and the fonts and the icon that they ask for in vain.
            visited.expectErrors(
              /^asked http:\/\/127\.0\.0\.1:|fonts|404 \(Not Found\)|ERR_NAME_NOT_RESOLVED|ERR_INTERNET/,
            );
            return visited;
          }, scene)), { host: "localhost" }),
  });
}

/** Fills in the provider's forms until the browser is back. */
async function passProvider(page: Page, base: string): Promise<void> {
  const login = page.locator("input[name=login]");
  await login.waitFor();
  assert.ok(!page.url().startsWith(base));
  await login.fill("ada");
  await page.locator("input[name=password]").fill("x");
  await page.locator("button[type=submit]").click();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.waitForURL(`${base}/**`);
}

clicksTest(
  "a click at the console leads through the provider's pages into a session, which a reload keeps and a sign-out ends",
  async (visit, { base, service, key, provider }) => {
    const { page, expectErrors } = await visit();
    await page.goto("/console");
    const first = page.locator("main .main");
    assert.deepEqual(await first.allTextContents(), ["Sign in with your organization's account"]);
    await page.getByRole("link", { name: /organization's account/ }).click();
    await passProvider(page, base);
    await page.getByRole("navigation", { name: "Console" }).waitFor();
    assert.equal(page.url(), `${base}/console`);
    await page.getByRole("heading", { name: "What needs attention" }).waitFor({ timeout: 5_000 });
    await page.getByRole("button", { name: "Ada Ruiz" }).waitFor();
    const [session] = (await page.context().cookies(base)).filter(({ name }) => name === "jiss_session");
    assert.deepEqual([session!.httpOnly, session!.sameSite, session!.secure], [true, "Strict", false]);
    await page.reload();
    await page.getByRole("button", { name: "Ada Ruiz" }).waitFor();

    // A page of another site can send the browser here, but the session's cookie does not come along.
    const other = await page.context().newPage();
    await other.goto(`${provider.issuer}/.well-known/openid-configuration`);
    await Promise.all([
      other.waitForURL(`${base}/v1/me`),
      other.evaluate((to) => location.assign(to), `${base}/v1/me`),
    ]);
    assert.match(await other.locator("body").innerText(), /UNAUTHORIZED/);
    assert.equal((await other.goto(`${base}/v1/me`))!.status(), 200, "typed into the address bar");
    const log = await service.send("/v1/admin/audit-log?event_type=USER_SIGNED_IN", { key });
    assert.equal(log.body.events[0].detail.method, "oidc");

    expectErrors(/401/);
    await choose(page, "Sign out");
    // The provider asks whether the session there ends, too.
    await page.waitForURL((url) => !url.href.startsWith(base));
    await page.goto(`${base}/console`);
    await page.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
  },
);
