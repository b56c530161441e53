/** The look of the console: one bar, themes, what stands while the service is away, and paper. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { VerdictStatus } from "../../src/domain/enums.ts";
import type { FindingStatus } from "../../src/domain/report.ts";
import { forceInWords } from "../../src/pages/force_words.ts";
import { STATUS_WORDS } from "../../src/pages/wording.ts";
import { VERDICT_WORDS } from "../../src/scoring/verdict_words.ts";
import { assertAccessible, assertFits, browserTests, focused, THEMES } from "./browser.ts";
import { choose, go, openMenu, shown, signIn, signInByLink } from "./console.ts";
import { sharedDemo } from "./demo_service.ts";

const lookTest = browserTests(sharedDemo(), ({ service }) => service.url);

/** Each view with the name that its paper has. */
const VIEWS: readonly (readonly [path: string, name: string])[] = [
  ["", "Home"],
  ["/cases", "Cases"],
  ["/operators", "Operators"],
  ["/operators/reviewer-ada", "reviewer-ada"],
  ["/labels", "Labels"],
  ["/decisions", "Decisions"],
  ["/contests", "Contests"],
  ["/reports", "Compliance reports"],
  ["/audit-log", "Audit log"],
  ["/verify", "Verify"],
  ["/users", "Users"],
  ["/key", "Keys"],
  ["/webhooks", "Webhooks"],
  ["/account", "Account"],
  ["/nowhere", "There is nothing here"],
];

/** The theme that the page shows: that of its ground. */
async function ground(page: Page): Promise<"light" | "dark"> {
  const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  return colour === "rgb(255, 255, 255)" ? "light" : "dark";
}

async function open(page: Page, key: string): Promise<void> {
  await page.goto("/console");
  await signIn(page, key);
  await shown(page);
}

lookTest(
  "the console has one bar, whose groups hold the views, and which marks the open one",
  async (visit, { key }) => {
    const { page } = await visit();
    await page.goto("/console");
    assert.ok(await page.getByRole("navigation", { name: "Site" }).isVisible());
    await signIn(page, key);
    await shown(page);
    assert.equal(await page.getByRole("navigation").filter({ visible: true }).count(), 1);
    const bar = page.getByRole("navigation", { name: "Console" });
    for (
      const [group, first] of [["Overview", "Home"], ["Evidence", "Reports"], ["Settings", "Users"]] as const
    ) {
      const links = bar.getByRole("list", { name: group }).getByRole("link");
      assert.equal(await links.first().textContent(), first);
    }
    for (const one of await bar.getByRole("list", { name: "Help" }).getByRole("link").all()) {
      assert.match((await one.textContent())!, /\(new tab\)$/);
      assert.equal(await one.getAttribute("target"), "_blank");
    }
    await bar.getByRole("link", { name: "Cases" }).click();
    await shown(page);
    assert.deepEqual(await page.locator("[aria-current=page]").filter({ visible: true }).allTextContents(), [
      "Cases",
    ]);
    const skip = page.getByRole("link", { name: "Skip to the content" });
    await skip.focus();
    assert.ok((await skip.boundingBox())!.x >= 0);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    assert.ok(await page.evaluate(() => document.activeElement!.closest("main") !== null));
    // Signed out, the page has the header of the others again.
    await choose(page, "Sign out");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    assert.ok(await page.getByRole("navigation", { name: "Site" }).isVisible());
  },
);

lookTest(
  "the menu opens by keyboard, Escape closes it where it was opened, and so does the focus elsewhere",
  async (visit, { key }) => {
    const { page } = await visit();
    await open(page, key);
    const opener = page.locator("button[aria-controls=menu]");
    const menu = page.locator("#menu");
    assert.equal(await menu.isVisible(), false);
    await opener.focus();
    await page.keyboard.press("Enter");
    assert.equal(await opener.getAttribute("aria-expanded"), "true");
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await assertAccessible(page, `the menu, ${theme}`);
    }
    await page.keyboard.press("Tab");
    await page.keyboard.press("Escape");
    await menu.waitFor({ state: "hidden" });
    assert.ok(await opener.evaluate((button) => button === document.activeElement));
    await openMenu(page);
    await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: /^Cases/ }).focus();
    await menu.waitFor({ state: "hidden" });
  },
);

lookTest(
  "at 390 pixels a button opens the list of views, which closes with the choice",
  async (visit, { key }) => {
    const { page } = await visit({ width: 390, height: 844 });
    await open(page, key);
    const opener = page.getByRole("button", { name: "Menu" });
    const reports = page.getByRole("link", { name: "Reports" });
    assert.equal(await reports.isVisible(), false);
    // The view begins near the top.
    assert.ok((await page.locator("h1").boundingBox())!.y < 100);
    await opener.focus();
    await page.keyboard.press("Enter");
    await reports.waitFor();
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await assertAccessible(page, `the list of views, ${theme}`);
    }
    await assertFits(page, "the list of views");
    await page.keyboard.press("Escape");
    await reports.waitFor({ state: "hidden" });
    assert.equal(await focused(page), "Menu");
    await opener.click();
    await reports.click();
    await page.getByRole("heading", { name: "Compliance reports" }).waitFor();
    await reports.waitFor({ state: "hidden" });
    await page.waitForFunction(() => document.activeElement?.tagName === "H1");
  },
);

lookTest(
  "a chosen theme holds on all pages, before they are drawn, and System gives it back",
  async (visit, { key }) => {
    const { page } = await visit({ theme: "light" });
    await open(page, key);
    assert.equal(await ground(page), "light");
    await openMenu(page);
    await page.getByRole("radio", { name: "Dark" }).check();
    assert.equal(await ground(page), "dark");
    await assertAccessible(page, "dark by choice");
    await page.addInitScript(() => {
      // The body does not exist before the head's scripts have run.
      new MutationObserver((_, observer) => {
        if (document.body === null) return;
        observer.disconnect();
        Object.assign(globalThis, { themeAtBody: document.documentElement.dataset.theme });
      }).observe(document, { childList: true, subtree: true });
    });
    for (const path of ["/docs", "/docs/errors", "/docs/verify-offline", "/demo"]) {
      await page.goto(path);
      assert.equal(
        await page.evaluate(() => (globalThis as { themeAtBody?: string }).themeAtBody),
        "dark",
        path,
      );
      assert.equal(await ground(page), "dark", path);
      await assertAccessible(page, `${path}, dark by choice`);
    }
    await page.getByLabel("Theme").selectOption("light");
    await page.emulateMedia({ colorScheme: "dark" });
    assert.equal(await ground(page), "light");
    await page.getByLabel("Theme").selectOption("system");
    assert.equal(await ground(page), "dark");
    await page.reload();
    assert.equal(await page.getByLabel("Theme").inputValue(), "system");
    await page.emulateMedia({ colorScheme: "light" });
    assert.equal(await ground(page), "light");
  },
);

lookTest("where the browser keeps nothing, a theme holds until the page is left", async (visit, { key }) => {
  const { page } = await visit();
  await page.addInitScript(() => {
    const refuse = () => {
      throw new DOMException("refused", "SecurityError");
    };
    Object.defineProperty(globalThis, "localStorage", { get: refuse });
  });
  await open(page, key);
  await openMenu(page);
  await page.getByRole("radio", { name: "Dark" }).check();
  assert.equal(await ground(page), "dark");
  await page.reload();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.equal(await ground(page), "light");
});

lookTest(
  "without a connection the view stays, says as of when, and goes on by itself",
  async (visit, { key }) => {
    const { page, requests, idle, expectErrors } = await visit();
    expectErrors(/ERR_(?:FAILED|INTERNET_DISCONNECTED)/);
    await open(page, key);
    await go(page, "/console/operators");
    await shown(page);
    const bar = page.locator("[data-connection]");
    const rows = page.getByRole("row");
    const before = await rows.count();
    assert.ok(before > 5);
    assert.equal(await bar.count(), 0);
    await page.context().setOffline(true);
    await page.getByText(/^This browser has no connection\. What is shown is as of \d\d:\d\d UTC\./)
      .waitFor();
    assert.equal(await rows.count(), before);
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await assertAccessible(page, `offline, ${theme}`);
    }
    await page.context().setOffline(false);
    await bar.waitFor({ state: "detached" });

    // The browser has a connection, and the service does not answer.
    await page.route("**/*", (route) => route.abort());
    await choose(page, "Refresh");
    await page.getByText(/^The service cannot be reached: look whether it runs\. What is shown is as of/)
      .waitFor();
    assert.equal(await rows.count(), before);
    // What was never shown says so in its own place.
    await go(page, "/console/decisions");
    await page.getByRole("heading", { name: "The service cannot be reached" }).waitFor();
    await go(page, "/console/operators");
    await page.getByRole("heading", { name: "The service cannot be reached" }).waitFor();
    await idle();
    const asked = () => requests.filter(({ path }) => path.startsWith("/v1/organization/operators")).length;
    const askedBefore = asked();
    await page.unroute("**/*");
    await bar.waitFor({ state: "detached" });
    await page.waitForFunction((count) => document.querySelectorAll("tr").length === count, before);
    await idle();
    assert.equal(asked() - askedBefore, 1);
  },
);

lookTest(
  "a refresh keeps what is shown, and another question never gets the answer to the last one",
  async (visit, { key }) => {
    const { page } = await visit();
    await open(page, key);
    await go(page, "/console/operators");
    await shown(page);
    const first = page.getByRole("row").nth(1);
    const name = await first.getByRole("link").first().textContent();
    let answer = Promise.withResolvers<void>();
    await page.route("**/v1/organization/operators*", async (route) => {
      await answer.promise;
      await route.continue();
    });
    await choose(page, "Refresh");
    await page.getByText("Refreshing…").waitFor({ state: "attached" });
    assert.equal(await first.getByRole("link").first().textContent(), name);
    assert.equal(await page.locator(".loading").count(), 0);
    answer.resolve();
    await shown(page);
    assert.equal(await first.getByRole("link").first().textContent(), name);
    answer = Promise.withResolvers<void>();
    await go(page, "/console/operators?verdict=non_compliant");
    await page.getByRole("status").filter({ hasText: "Loading…" }).waitFor();
    assert.equal(await page.getByRole("row").count(), 0);
    await assertAccessible(page, "a view on its way");
    answer.resolve();
    await shown(page);
    assert.ok(await page.getByRole("row").count() > 1);
  },
);

lookTest(
  "on paper each view has whose it is and when, its tables whole, in black, and nothing to click",
  async (visit, { key }) => {
    const { page } = await visit({ theme: "dark", width: 700, height: 990 });
    await open(page, key);
    for (const [path, name] of VIEWS) {
      await page.emulateMedia({ media: "screen" });
      await go(page, `/console${path}`);
      await page.waitForFunction((to) => location.pathname === to, `/console${path}`);
      await shown(page);
      await page.emulateMedia({ media: "print" });
      const line = await page.locator(".printed").evaluate((one) => [
        getComputedStyle(one).display,
        (one as HTMLElement).dataset.line,
      ]);
      assert.equal(line[0], "block");
      assert.match(
        line[1]!,
        new RegExp(
          `^JISS · Demo organization · ${name} · \\d{1,2} [A-Z][a-z]{2,3} \\d{4}, \\d\\d:\\d\\d UTC$`,
        ),
      );
      for (const gone of [page.getByRole("navigation"), page.locator("main").getByRole("button")]) {
        assert.equal(await gone.filter({ visible: true }).count(), 0, name);
      }
      const cut = await page.locator(".scroll").evaluateAll((all) =>
        all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) =>
          one.getAttribute("aria-label")
        )
      );
      assert.deepEqual(cut, [], name);
      const colours = await page.locator(".status, .band, h1, td").evaluateAll((
        all,
      ) => [...new Set(all.map((one) => getComputedStyle(one).color))]);
      assert.deepEqual(colours.filter((colour) => colour !== "rgb(0, 0, 0)"), [], name);
    }
  },
);

lookTest("on a phone the site's bar, the errors and the hints of Verify are whole", async (visit) => {
  const { page } = await visit({ width: 390 });
  const isInside = (box: { readonly x: number; readonly width: number } | null) =>
    box !== null && box.x >= 0 && box.x + box.width <= 390;
  for (
    const path of ["/console", "/console/verify", "/docs", "/docs/errors", "/docs/verify-offline", "/demo"]
  ) {
    await page.goto(path);
    await page.locator("h1").first().waitFor();
    const links = page.getByRole("navigation", { name: "Site" }).getByRole("link");
    assert.equal(await links.count(), 6);
    for (const link of await links.all()) {
      assert.ok(isInside(await link.boundingBox()), `${await link.textContent()} at ${path}`);
    }
    await assertFits(page, path);
  }
  await page.goto("/docs/errors");
  assert.ok(isInside(await page.getByRole("columnheader", { name: "Send again?" }).boundingBox()));
  assert.ok(isInside(await page.locator("table").first().boundingBox()));
  await page.goto("/console/verify");
  const hint = page.getByText("Tells whether the file is the service's own, unchanged.");
  const label = page.getByText("The keys that this service publishes");
  assert.equal(
    (await hint.boundingBox())!.x,
    (await label.boundingBox())!.x,
    "a hint stands below its label",
  );
  // Verify is neither the sign-in nor the document about it, and works without one.
  assert.deepEqual(await page.locator(".site [aria-current]").allTextContents(), ["Verify"]);
  await page.getByLabel("Drop bundles here, or choose them", { exact: true }).waitFor();
  await page.goto("/console");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.deepEqual(await page.locator(".site [aria-current]").allTextContents(), ["Console"]);
});

lookTest("paper shows no column of buttons and no heading of a form", async (visit, { key }) => {
  const { page } = await visit();
  await open(page, key);
  await go(page, "/console/users");
  await shown(page);
  await page.emulateMedia({ media: "print" });
  assert.deepEqual(
    (await page.locator("thead th").filter({ visible: true }).allInnerTexts()).map((head) => head.trim()),
    ["Name", "Role", "State", "Changed"],
  );
  assert.equal(await page.getByRole("heading", { name: "Invite" }).count(), 0);
  await go(page, "/console/key");
  await shown(page);
  assert.equal(await page.locator("main input:visible").count(), 0);
});

lookTest("after a reload there is still one bar, without a finding", async (visit, demo) => {
  const { page } = await visit();
  await signInByLink(page, demo);
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    await page.reload();
    await page.getByRole("heading", { name: "What needs attention" }).waitFor();
    await shown(page);
    assert.equal(await page.getByRole("banner").filter({ visible: true }).count(), 1);
    await assertAccessible(page, `home after a reload at ${width}`);
    await assertFits(page, `home after a reload at ${width}`);
  }
});

lookTest("a chart stands alone, and its numbers come when they are asked for", async (visit, { key }) => {
  const { page } = await visit();
  await open(page, key);
  await go(page, "/console/operators/reviewer-ada");
  await shown(page);
  const figures = page.locator("main figure");
  const count = await figures.count();
  assert.ok(count >= 3);
  for (let number = 0; number < count; number += 1) {
    const figure = figures.nth(number);
    assert.equal(await figure.locator("svg").count(), 1);
    assert.equal(await figure.locator("table").isVisible(), false);
    await figure.getByText("Numbers", { exact: true }).click();
    assert.ok(await figure.locator("table").isVisible());
  }
  await assertAccessible(page, "charts with their numbers");
});

lookTest(
  "the measures of Article 14 and that of an operator say whether it is in force",
  async (visit, { service, key }) => {
    const { page } = await visit();
    await open(page, key);
    await go(page, "/console/reports");
    const { body } = await service.send("/v1/compliance/article14", { key });
    const said = forceInWords(body.measures[0], body.timestamp.slice(0, "YYYY-MM-DD".length)).phrase;
    assert.match(said, /2 December 2027/);
    await page.getByRole("heading", { name: /^Article 14/ }).filter({ hasText: said }).waitFor();
    // An operator's measure says the same.
    await go(page, "/console/operators/reviewer-ada");
    await shown(page);
    const tile = page.locator(".tile").filter({ hasText: "Measure for Article 14" });
    assert.equal(await tile.locator(".more").innerText(), said);
  },
);

lookTest(
  "nothing stands beside a verdict that says it in other words: the status by the scores alone is folded",
  async (visit, { service, key }) => {
    await service.send("/v1/compliance/report?period_start=2026-12-01&period_end=2027-03-01", { key });
    const { page } = await visit();
    await open(page, key);
    await go(page, "/console/reports");
    await shown(page);
    const { body } = await service.send("/v1/compliance/article14", { key });
    const inWords = STATUS_WORDS[body.overall_status as FindingStatus];
    const said = await page.locator("main").innerText();
    assert.ok(said.includes(VERDICT_WORDS[body.overall_verdict as VerdictStatus]), said);
    for (const words of [inWords, "y the scores alone"]) assert.ok(!said.includes(words), said);
    await page.getByText("Scores alone, as if each were exact").click();
    const statuses = page.locator("details").filter({ hasText: "Scores alone" }).getByRole("listitem");
    assert.deepEqual(await statuses.allInnerTexts(), [
      `All measures together: ${inWords}`,
      ...body.measures.map(({ paragraph, status }: { paragraph: string; status: FindingStatus }) =>
        `Article ${paragraph}: ${STATUS_WORDS[status]}`
      ),
    ]);
    await assertAccessible(page, "the statuses by the scores alone");
    // The file has what the API says.
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save as CSV: Issued reports" }).click();
    const file = await Deno.readTextFile(await (await download).path());
    assert.match(file, /overall_status/);

    // The score has a band in words; the verdict beside it has the colour.
    await go(page, "/console/operators/reviewer-farah");
    await shown(page);
    assert.equal(await page.locator(".band").count(), 0);
    await page.locator(".tile").filter({ hasText: "JIS" }).getByText("At risk", { exact: true }).waitFor();
  },
);

lookTest(
  "on a telephone a list begins the view: what chooses is folded, and says what is chosen",
  async (visit, { key }) => {
    const { page } = await visit({ width: 390, height: 844 });
    await open(page, key);
    const fold = page.locator("details.folded").first();
    const summary = fold.locator("summary");
    for (
      const [path, first, field] of [
        ["/operators", ".cards > tbody > tr", "Band"],
        ["/cases", ".cards > tbody > tr", "Cause"],
        ["/decisions", ".cards > tbody > tr", "Kind"],
        ["/audit-log", ".cards > tbody > tr", "Event"],
        ["/trends", "p[data-summary]", "Team"],
      ] as const
    ) {
      await go(page, `/console${path}`);
      await shown(page);
      const { y } = (await page.locator(first).first().boundingBox())!;
      assert.ok(y < 844 / 3, `${path} begins at ${y}`);
      assert.equal(await page.getByLabel(field, { exact: true }).isVisible(), false);
      await summary.focus();
      await page.keyboard.press("Enter");
      assert.ok(await page.getByLabel(field, { exact: true }).isVisible(), path);
      await assertAccessible(page, `${path} with its filters`);
      await assertFits(page, `${path} with its filters`);
    }
    // A choice that the address has is seen.
    for (
      const [path, said] of [
        ["operators?verdict=undetermined&q=a", "Filter · Name: a · Verdict: Undetermined"],
        ["cases?state=all&cause=at_risk", "Filter · Show: all · Cause: Below the threshold"],
      ] as const
    ) {
      await go(page, `/console/${path}`);
      await shown(page);
      assert.equal(await summary.textContent(), said);
    }
    await page.setViewportSize({ width: 1200, height: 800 });
    await fold.waitFor({ state: "detached" });
    await go(page, "/console/cases");
    await shown(page);
    assert.ok(await page.getByLabel("Cause", { exact: true }).isVisible());
  },
);

lookTest("on a telephone a report has the width of the window", async (visit, { service, key }) => {
  const { body } = await service.send(
    "/v1/compliance/report?period_start=2026-12-01&period_end=2027-03-01",
    { key },
  );
  const { page } = await visit({ width: 390 });
  await open(page, key);
  await go(page, `/console/reports/${body.report.report_id}`);
  await shown(page);
  const statement = page.frameLocator("iframe").getByRole("heading", { name: "What is not known" });
  await statement.waitFor();
  const { x, width } = (await statement.boundingBox())!;
  assert.ok(x <= 16 && width >= 340, `${width} pixels from ${x}`);
  await assertFits(page, "a report on a telephone");
});

lookTest("on a telephone the interval of a score stands on one line", async (visit, { key }) => {
  const { page } = await visit({ width: 390 });
  await open(page, key);
  await go(page, "/console/operators/reviewer-farah");
  await shown(page);
  const values = page.locator(".tile .value");
  for (const value of await values.filter({ has: page.locator("[data-figure]") }).all()) {
    const { height } = (await value.boundingBox())!;
    assert.ok(height < 36, `${await value.innerText()} is ${height} pixels high`);
  }
});

lookTest("a view is as old as the oldest of what it shows", async (visit, { key }) => {
  const { page, expectErrors } = await visit();
  expectErrors(/ERR_INTERNET_DISCONNECTED/);
  await page.clock.setFixedTime(new Date("2030-01-01T10:00:00Z"));
  await open(page, key);
  await go(page, "/console/operators/reviewer-ada");
  await shown(page);
  await page.clock.setFixedTime(new Date("2030-01-01T10:30:00Z"));
  await page.getByRole("button", { name: "Show the latest decisions" }).click();
  await page.getByRole("region", { name: "Latest decisions of reviewer-ada" }).waitFor();
  await page.context().setOffline(true);
  await page.getByText("What is shown is as of 10:00 UTC.").waitFor();
  await page.context().setOffline(false);
  await page.locator("[data-connection]").waitFor({ state: "detached" });
  const answered = page.waitForResponse((answer) => answer.url().includes("/profile"));
  await choose(page, "Refresh");
  await answered;
  await shown(page);
  await page.context().setOffline(true);
  await page.getByText("What is shown is as of 10:30 UTC.").waitFor();
});
