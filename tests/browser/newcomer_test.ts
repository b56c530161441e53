/** The console says to a newcomer where to begin: one first button to sign in, one to use a link in spite of a session, and what a view holds. */
import assert from "node:assert/strict";
import { assertAccessible, assertFits, browserTests } from "./browser.ts";
import { go, shown, signInAsOfficer, signInByLink } from "./console.ts";
import { type DemoService, sharedDemo } from "./demo_service.ts";

const newcomerTest = browserTests<DemoService>(sharedDemo(), ({ service }) => service.url);

newcomerTest("the sign-in has one first button, and the key's form is reached by keyboard", async (visit) => {
  const { page } = await visit();
  await page.goto("/console");
  await page.getByLabel("Email address").waitFor();
  assert.deepEqual(await page.locator("main .main").allTextContents(), ["Continue"]);
  const button = page.getByRole("button", { name: "Sign in", exact: true });
  await page.getByLabel("API key").focus();
  await page.keyboard.press("Tab");
  assert.ok(await button.evaluate((element) => element === document.activeElement));
});

newcomerTest("the audit log says what it holds, and what it does not", async (visit, demo) => {
  const { page } = await visit({ width: 390 });
  await signInByLink(page, demo);
  await go(page, "/console/audit-log");
  await shown(page);
  await page.getByText(/^What was done to the organization, by whom and when/).waitFor();
  await page.getByText(/Scores are not in it/).waitFor();
  await page.getByText(/an administrator sets how long/).waitFor();
  assert.equal(
    await page.locator("main").getByRole("link", { name: "Decisions", exact: true }).getAttribute("href"),
    "/console/decisions",
  );

  // The same session: a link of somebody else is opened in it.
  const body = { email: "noor@demo.example", name: "Noor", role: "viewer" };
  const { link } = (await demo.service.send("/v1/users", { key: demo.key, method: "POST", body })).body;
  await page.goto(link);
  await page.getByRole("heading", { name: "You are signed in" }).waitFor();
  assert.equal(new URL(page.url()).hash, "", "the token leaves the address");
  await page.getByText("The link was not used.").waitFor();
  await assertAccessible(page, "a link while signed in");
  await assertFits(page, "a link while signed in");
  await page.getByRole("button", { name: "Sign out and open the link" }).click();
  await page.getByRole("heading", { name: /^Welcome to / }).waitFor();
  await page.getByText("Noor", { exact: true }).waitFor();
});

newcomerTest("without a link the page for links offers to sign out alone", async (visit, demo) => {
  const { page, expectErrors } = await visit();
  await signInAsOfficer(page, demo);
  await go(page, "/console/link");
  expectErrors(/422|404/);
  await page.locator("main").getByRole("button", { name: "Sign out", exact: true }).click();
  await page.getByRole("heading", { name: "This link does not work" }).waitFor();
});
