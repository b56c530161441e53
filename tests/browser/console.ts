/** Steps that several tests of the console share. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { Role } from "../../src/domain/access.ts";
import type { DemoService } from "./demo_service.ts";

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Console" }).waitFor();
}

/** Clicks something in the menu of whoever is signed in, such as `Sign out`. */
export async function choose(page: Page, name: "Account" | "Refresh" | "Sign out"): Promise<void> {
  await openMenu(page);
  await page.locator("#menu").getByText(name, { exact: true }).click();
}

/** Opens the menu of whoever is signed in, if it is not open. */
export async function openMenu(page: Page): Promise<void> {
  const menu = page.locator("#menu");
  if (!await menu.isVisible()) await page.locator("button[aria-controls=menu]").click();
  await menu.waitFor();
}

/**
 * Goes to a view as a link does: loading the page anew would forget the key. Resolves once the view has begun, so that `shown` does not
 * look at the one before.
 */
export async function go(page: Page, path: string): Promise<void> {
  await page.evaluate(async (to) => {
    const link = document.createElement("a");
    link.href = to;
    document.body.append(link);
    link.click();
    link.remove();
    for (let frames = 0; frames < 2; frames += 1) await new Promise((next) => requestAnimationFrame(next));
  }, path);
}

/** Resolves once no part of a view is loading any more. */
export async function shown(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    document.querySelector("main#main") !== null && document.querySelector(".loading, .refreshing") === null
  );
}

/** The link that `jiss dev` prints: it signs in as the demo's admin, once. */
export function printedLink({ service }: DemoService): string {
  const [link] = /http\S+\/console\/link#\S+/.exec(service.output()) ?? [];
  assert.ok(link !== undefined, service.output());
  return link;
}

export async function signInByLink(page: Page, demo: DemoService): Promise<void> {
  await page.goto(printedLink(demo));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Console" }).waitFor();
}

let people = 0;

/** Signs a new user of a role in, by an invitation. */
export async function signInWithRole(page: Page, { service, key }: DemoService, role: Role): Promise<void> {
  people += 1;
  const body = { email: `${role}-${people}@demo.example`, name: `${role} ${people}`, role };
  const invited = (await service.send("/v1/users", { key, method: "POST", body })).body;
  await page.goto(invited.link);
  await page.getByLabel(/^Password/).fill("correct horse battery");
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.getByRole("navigation", { name: "Console" }).waitFor();
}

/** Signs a new officer in, by an invitation. */
export function signInAsOfficer(page: Page, demo: DemoService): Promise<void> {
  return signInWithRole(page, demo, "officer");
}
