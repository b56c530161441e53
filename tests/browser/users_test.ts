/**
 * People in the console: the link that signs in, an invitation, a password, passkeys, what each role is shown, sessions, and named
 * keys.
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { assertAccessible, assertFits, browserTests, THEMES } from "./browser.ts";
import { choose, go, printedLink, shown, signInByLink } from "./console.ts";
import { type DemoService, withDemo } from "./demo_service.ts";
import { addAuthenticator } from "./virtual_authenticator.ts";

const PASSWORD = "correct horse battery";

/** The labels of the views that the console offers. */
async function offered(page: Page): Promise<readonly string[]> {
  return await page.getByRole("navigation", { name: "Console" }).locator("ul a:not([target])")
    .allTextContents();
}

const ALL = [
  "Home",
  "Cases",
  "Alerts",
  "Operators",
  "Trends",
  "Labels",
  "Decisions",
  "Contests",
  "Reports",
  "Audit log",
  "Verify",
  "Users",
  "Keys",
  "Webhooks",
];

/** A few requests of an address: a session must not use them. */
const usersTest = browserTests<DemoService>(
  (use) => withDemo(use, { JISS_RATE_LIMIT_IP: "20" }),
  ({ service }) => service.url,
);

usersTest(
  "the printed link signs in once, survives a reload, and walking through the views never meets a limit",
  async (visit, demo) => {
    const { page, requests, expectErrors } = await visit();
    await signInByLink(page, demo);
    assert.equal(new URL(page.url()).hash, "", "the token is not in the address");
    assert.deepEqual(await offered(page), ALL);
    for (let round = 0; round < 8; round += 1) {
      for (const view of ["", "/operators", "/decisions", "/reports", "/webhooks", "/users", "/key"]) {
        await go(page, `/console${view}`);
        await shown(page);
      }
    }
    const calls = requests.filter(({ path }) => path.startsWith("/v1/"));
    assert.ok(calls.length > 60, `${calls.length} calls`);
    assert.ok(calls.every(({ status }) => status === 200));
    await page.reload();
    await page.getByRole("navigation", { name: "Console" }).waitFor();
    await choose(page, "Sign out");
    await page.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
    await page.reload();
    await page.getByLabel("Email address").waitFor();
    expectErrors(/404/);
    await page.goto("about:blank");
    await page.goto(printedLink(demo));
    await page.getByRole("heading", { name: "This link does not work" }).waitFor();
  },
);

usersTest("a session's browser has its name, and its whole text on hover", async (visit, demo) => {
  const { page } = await visit();
  await signInByLink(page, demo);
  await go(page, "/console/account");
  await shown(page);
  const browser = page.getByRole("rowheader").getByText(/^Chrome on \w+$/);
  assert.equal(await browser.getAttribute("title"), await page.evaluate(() => navigator.userAgent));
  assert.equal(await page.getByRole("button", { name: /CSV/ }).count(), 0, "nobody files sessions");
});

usersTest("the account says who one is, each with its label", async (visit, demo) => {
  const { page } = await visit();
  await page.goto("/console");
  await page.getByText("Forgot the password? Ask your administrator for a new link.").waitFor();
  await assertAccessible(page, "the sign-in");
  await signInByLink(page, demo);
  await go(page, "/console/account");
  await shown(page);
  const facts = await page.locator("main dl > div").allInnerTexts();
  assert.deepEqual(facts.map((fact) => fact.split(/\s*\n\s*/)), [
    ["Name", "Demo admin"],
    ["Email address", "admin@demo.example"],
    ["Role", "admin"],
    ["Organization", "Demo organization (demo)"],
  ]);
  await assertAccessible(page, "the account");
});

usersTest(
  "an admin invites somebody, who sets a password, sees what a viewer may see, and signs in again",
  async (visit, demo) => {
    const { page: admin } = await visit();
    await signInByLink(admin, demo);
    await go(admin, "/console/users");
    await shown(admin);
    await admin.getByLabel("Email address").fill("vera@demo.example");
    await admin.getByLabel("Name").fill("Vera Vogt");
    await admin.getByLabel("Role", { exact: true }).selectOption("viewer");
    await admin.getByRole("button", { name: "Invite" }).click();
    const link = await admin.locator(".once code.secret").textContent();
    await admin.getByRole("button", { name: "I have kept it" }).click();

    const { page: vera, expectErrors } = await visit();
    await vera.goto(link!);
    await vera.getByRole("heading", { name: "Welcome to Demo organization" }).waitFor();
    const field = vera.getByLabel(/^Password/);
    await field.fill("too short");
    assert.ok(await vera.getByRole("button", { name: "Set the password" }).isDisabled());
    await field.fill(PASSWORD);
    await vera.getByRole("button", { name: "Set the password" }).click();
    await vera.getByRole("navigation", { name: "Console" }).waitFor();
    assert.deepEqual(await offered(vera), ["Home", "Operators", "Trends", "Decisions", "Reports", "Verify"]);
    expectErrors(/401/);
    await go(vera, "/console/users");
    await vera.getByText("Your role, viewer, does not open this view").waitFor();
    await choose(vera, "Sign out");

    await vera.getByLabel("Email address").fill("vera@demo.example");
    await vera.getByLabel("Password").fill("a wrong password");
    await vera.getByRole("button", { name: "Continue" }).click();
    await vera.getByText("This address and password do not fit").waitFor();
    await vera.getByLabel("Password").fill(PASSWORD);
    await vera.getByRole("button", { name: "Continue" }).click();
    await vera.getByRole("navigation", { name: "Console" }).waitFor();

    // The admin changes the role: it counts at the next request.
    const changed = admin.waitForResponse((answer) => answer.request().method() === "PUT");
    await admin.getByLabel("Role of Vera Vogt").selectOption("auditor");
    await admin.getByRole("button", { name: "Really change to auditor" }).click();
    assert.equal((await changed).status(), 200);
    await go(vera, "/console/audit-log");
    await vera.getByRole("heading", { name: "Audit log" }).waitFor();
    await shown(vera);
    await vera.getByRole("cell", { name: "USER_CHANGED" }).waitFor();
    await vera.getByRole("link", { name: "Demo admin" }).first().click();
    await vera.getByText("Only what").waitFor();
    await shown(vera);
    const actors = await vera.locator("tbody tr td:nth-of-type(2)").allTextContents();
    assert.deepEqual(new Set(actors), new Set(["Demo admin"]));

    await vera.getByText("Vera Vogt").first().waitFor();

    // The admin ends the session, and the user signs in again.
    await admin.getByRole("button", { name: "Sessions of Vera Vogt" }).click();
    const sessions = admin.getByRole("region", { name: "Sessions" });
    const over = admin.waitForResponse((answer) => answer.request().method() === "DELETE");
    await sessions.getByRole("button", { name: "End" }).first().click();
    assert.equal((await over).status(), 200);
    await admin.getByText("None is open.").waitFor();
    await go(vera, "/console/operators");
    await vera.getByText("Your session is over").waitFor();
    await vera.getByLabel("Email address").fill("vera@demo.example");
    await vera.getByLabel("Password").fill(PASSWORD);
    await vera.getByRole("button", { name: "Continue" }).click();
    await vera.getByRole("navigation", { name: "Console" }).waitFor();

    // Disabled, the open page is told at its next request.
    await admin.getByRole("button", { name: "Disable Vera Vogt" }).click();
    await admin.getByRole("button", { name: "Really disable" }).click();
    await admin.getByRole("button", { name: "Enable Vera Vogt" }).waitFor();
    await go(vera, "/console/decisions");
    await vera.getByText("Your session is over").waitFor();
  },
);

usersTest("a user ends sessions and changes the password", async (visit, demo) => {
  const { page, expectErrors } = await visit();
  await signInByLink(page, demo);
  await choose(page, "Account");
  await page.getByRole("heading", { name: "Account" }).waitFor();
  await shown(page);
  await page.getByText("this one").waitFor();
  expectErrors(/401/);
  await page.getByRole("button", { name: "Sign out everywhere" }).click();
  await page.getByText("You are signed out").waitFor();
});

/** Many calls follow each other. */
const patientTest = browserTests<DemoService>(
  (use) => withDemo(use, { JISS_RATE_LIMIT_IP: "1000000", JISS_RATE_LIMIT_KEY: "1000000" }),
  ({ service }) => service.url,
);

patientTest(
  "more users than a page shows come on the next one, and are sorted by no head",
  async (visit, demo) => {
    for (let number = 0; number < 105; number += 1) {
      const body = { email: `user-${number}@demo.example`, name: `User ${number}`, role: "viewer" };
      assert.equal((await demo.service.send("/v1/users", { key: demo.key, body })).status, 201);
    }
    const { body } = await demo.service.send("/v1/users?limit=200", { key: demo.key });
    const { page } = await visit();
    await signInByLink(page, demo);
    await go(page, "/console/users");
    await shown(page);
    const emails = () => page.locator("main tbody > tr > th .small").allInnerTexts();
    const first = await emails();
    assert.equal(first.length, 100);
    assert.equal(await page.locator("main thead a").count(), 0, "one page of two is not sorted by itself");
    await page.getByRole("link", { name: "Next page" }).click();
    await page.waitForURL("**/users?cursor=usr_*");
    await shown(page);
    const second = await emails();
    assert.deepEqual([...first, ...second], body.users.map(({ email }: { email: string }) => email));
    await page.getByRole("link", { name: "First page" }).click();
    await page.getByRole("link", { name: "Next page" }).waitFor();
  },
);

usersTest(
  "an admin's own row says who changes the role, and a confirmation runs beside its box on a telephone",
  async (visit, demo) => {
    const { page } = await visit({ width: 390 });
    await signInByLink(page, demo);
    await go(page, "/console/users");
    await shown(page);
    const role = page.getByLabel("Role of Demo admin");
    assert.ok(await role.isDisabled());
    const hint = page.locator(`[id="${await role.getAttribute("aria-describedby")}"]`);
    assert.equal(await hint.innerText(), "Another admin must change your role.");
    const own = page.getByRole("row").filter({ has: role });
    assert.equal(await own.locator("[data-label='State']").innerText(), "Active");
    await assertAccessible(page, "the own row");
    await assertFits(page, "the own row");

    await go(page, "/console/key");
    await shown(page);
    const box = page.getByRole("checkbox", { name: /^I can put the new key into/ });
    const words = page.getByText(/^I can put the new key into/);
    const [boxAt, wordsAt] = [(await box.boundingBox())!, (await words.boundingBox())!];
    assert.ok(wordsAt.height > 2 * boxAt.height, "the sentence has more than one line here");
    assert.ok(wordsAt.x >= boxAt.x + boxAt.width, "no line of it runs under the box");
  },
);

usersTest("an admin makes a named key, which works, and removes it", async (visit, demo) => {
  const { page } = await visit();
  await signInByLink(page, demo);
  await go(page, "/console/key");
  await shown(page);
  // Each scope says what a key with it may do.
  for (
    const [scope, does] of [
      ["score", /A review application needs this alone\.$/],
      ["read", /^It reads figures/],
      ["export", /^It exports evidence/],
      ["probe", /^It seals and recalls probes\.$/],
    ] as const
  ) {
    const box = page.getByRole("checkbox", { name: scope, exact: true });
    const hint = await box.getAttribute("aria-describedby");
    assert.match(await page.locator(`#${hint}`).innerText(), does);
  }
  await page.getByLabel("Name of a new key").fill("review desk");
  await page.getByLabel(/^Ends/).fill("2099-12-31");
  await page.getByRole("button", { name: "Make the key" }).click();
  const key = (await page.locator(".once code.secret").textContent())!;
  assert.match(key, /^jis_/);
  await page.getByRole("button", { name: "I have kept it" }).click();
  await page.getByRole("cell", { name: /2099/ }).waitFor();
  const use = async () => (await demo.service.send("/v1/organization/dashboard", { key })).status;
  assert.equal(await use(), 403, "its scope is score");
  await page.getByRole("button", { name: "Remove review desk" }).click();
  await page.getByRole("button", { name: "Really remove" }).click();
  await page.getByText("There is none. Make one").waitFor();
  assert.equal(await use(), 401);
});

/** No browser makes a passkey for an address without a name. */
const atLocalhost = browserTests<DemoService>(
  (use) => withDemo(use),
  ({ service }) => service.url.replace("127.0.0.1", "localhost"),
);

atLocalhost(
  "an invited user makes a passkey in place of a password, signs in with it, adds none twice, and removes it",
  async (visit, demo) => {
    const { body } = await demo.service.send("/v1/users", {
      key: demo.key,
      body: { email: "pia@demo.example", name: "Pia Paul", role: "viewer" },
    });
    const { page, expectErrors } = await visit();
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("WebAuthn.enable");
    await addAuthenticator(cdp);
    await page.goto(`/console/link${new URL(body.link).hash}`);
    await page.getByRole("heading", { name: "Or make a passkey" }).waitFor();
    await assertAccessible(page, "the page of a link");
    await page.getByLabel(/^Name of this device/).fill("work laptop");
    await page.getByRole("button", { name: "Make a passkey and sign in" }).click();
    await page.getByRole("navigation", { name: "Console" }).waitFor();

    await choose(page, "Sign out");
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.getByRole("navigation", { name: "Console" }).waitFor();

    await choose(page, "Account");
    await page.getByRole("rowheader", { name: "work laptop" }).waitFor();
    assert.equal(await page.getByRole("heading", { name: "Password" }).count(), 0);
    await page.getByLabel(/^Name of this device/).fill("the same device");
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByText("This device has a passkey of yours already").waitFor();
    await page.getByRole("button", { name: "Remove work laptop" }).click();
    await page.getByText("You have no password").waitFor();
    await page.getByRole("button", { name: "Really remove" }).click();
    await page.getByText("There is none. Add one").waitFor();
    await page.getByLabel(/^Name of this device/).fill("another name");
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByRole("rowheader", { name: "another name" }).waitFor();
    await page.getByRole("button", { name: "Remove another name" }).click();
    await page.getByRole("button", { name: "Really remove" }).click();
    await page.getByText("There is none. Add one").waitFor();

    expectErrors(/401/);
    await choose(page, "Sign out");
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.getByText("This passkey opens nothing here").waitFor();
  },
);

usersTest("at an address without a name the account says where passkeys work", async (visit, demo) => {
  const { page } = await visit();
  await signInByLink(page, demo);
  await choose(page, "Account");
  await page.getByText(
    /^No passkey can be added on this page\. Passkeys work at localhost, not at 127\.0\.0\.1: open http:\/\/localhost:/,
  )
    .waitFor();
  assert.equal(await page.getByRole("button", { name: "Add a passkey" }).count(), 0);
  assert.equal(await page.getByText("Add one").count(), 0, "nobody is told to do what cannot be done");
});

for (const theme of THEMES) {
  usersTest(
    `the views for people are accessible and fit a phone, in the ${theme} theme`,
    async (visit, demo) => {
      const { page } = await visit({ theme, width: 390 });
      await page.goto("/console");
      await page.getByLabel("Email address").waitFor();
      await assertAccessible(page, "a view for people");
      await assertFits(page, "a view for people");
      await page.goto(printedLink(demo));
      await page.getByRole("button", { name: "Sign in" }).waitFor();
      await assertAccessible(page, "a view for people");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("navigation", { name: "Console" }).waitFor();
      for (const view of ["/users", "/account", "/key"]) {
        await go(page, `/console${view}`);
        await shown(page);
        await assertAccessible(page, "a view for people");
        await assertFits(page, "a view for people");
      }
    },
  );
}
