/** Steps that several tests of the console share. */
import type { Page } from "playwright-core";

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
