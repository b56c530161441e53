/** Steps that several tests of the console share. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { DemoService } from "./demo_service.ts";

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Console" }).waitFor();
}

/** Goes to a view as a link does: loading the page anew would forget the key. */
export async function go(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    const link = document.createElement("a");
    link.href = to;
    document.body.append(link);
    link.click();
    link.remove();
  }, path);
}

/** Resolves once no part of a view is loading any more. */
export async function shown(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    document.querySelector("main#main") !== null && document.querySelector(".loading") === null
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
