/**
 * The reference in a browser: complete, able to send calls, careful with keys and with calls that cannot be
 * undone.
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import {
  assertAccessible,
  assertFits,
  chromiumIsMissing,
  NEEDS_CHROMIUM,
  type Visit,
  type VisitOptions,
  withBrowser,
} from "./browser.ts";
import { type DemoService, sharedDemo } from "./demo_service.ts";

interface Scene extends DemoService {
  readonly visit: (options?: VisitOptions) => Promise<Visit>;
}

/** No test looks at what another writes or erases. */
const withDemo = sharedDemo();

/** A test in a browser, with the demo service. */
function reference(name: string, use: (scene: Scene) => Promise<void>): void {
  Deno.test({
    name: `${name} ${NEEDS_CHROMIUM}`,
    ignore: chromiumIsMissing(),
    async fn() {
      await withDemo(async (demo) => {
        await withBrowser(demo.service.url, (visit) => use({ ...demo, visit }));
      });
    },
  });
}

/** Opens the reference at an operation; returns the operation's element. */
async function openAt(page: Page, operationId: string) {
  await page.goto(`/docs#${operationId}`);
  const operation = page.locator(`#${operationId}`);
  await operation.locator(".details").waitFor();
  return operation;
}

async function fetchJson(url: string, key?: string) {
  const response = await fetch(url, key === undefined ? {} : { headers: { "X-API-Key": key } });
  return await response.json();
}

/** The latest answer, without what differs from call to call. */
async function shownBody(operation: ReturnType<Page["locator"]>) {
  const { request_id: _, timestamp: __, ...body } = JSON.parse(
    (await operation.locator(".answer pre").textContent())!,
  );
  return body;
}

reference("every operation and event of the document is shown, within 500 KB", async ({ service, visit }) => {
  const description = await fetchJson(`${service.url}/openapi.json`);
  // deno-lint-ignore no-explicit-any -- as it stands in the document
  const operations = Object.entries<any>(description.paths).flatMap(([path, methods]) =>
    // deno-lint-ignore no-explicit-any
    Object.entries<any>(methods).map(([method, { operationId, summary }]) =>
      [operationId, `${method.toUpperCase()} ${path} ${summary}`] as const
    )
  );
  // deno-lint-ignore no-explicit-any
  const events = Object.values<any>(description.webhooks).map(({ post }) => post.operationId);
  const { page, requests } = await visit();
  await page.goto("/docs");
  await page.locator("#postScore").waitFor();
  for (const [operationId, text] of operations) {
    const heading = await page.locator(`#${operationId} > summary`).innerText();
    assert.equal(heading.replace(/\s+/g, " ").trim(), text);
  }
  for (const operationId of events) assert.equal(await page.locator(`#${operationId}`).count(), 1);
  assert.equal(await page.locator("details.operation").count(), operations.length + events.length);
  const bytes = requests.reduce((sum, request) => sum + request.bytes, 0);
  assert.ok(bytes <= 500_000, `${bytes} bytes`);

  // Opened, each has its description, its answers and its form.
  await page.evaluate(() => {
    for (const one of document.querySelectorAll<HTMLDetailsElement>("details.operation")) one.open = true;
  });
  await page.waitForFunction(
    (count: number) => document.querySelectorAll("details.operation > .details").length === count,
    operations.length + events.length,
  );
  const sendable = operations.filter(([, text]) => !text.startsWith("OPTIONS"));
  assert.equal(await page.locator("form.sender").count(), sendable.length);
  const regions = await page.locator("[role=region], section[aria-label]").evaluateAll((all) =>
    all.map((region) => region.getAttribute("aria-label"))
  );
  assert.ok(regions.length > 20);
  assert.equal(new Set(regions).size, regions.length, "each region has a name of its own");
  await assertFits(page, "all opened");
});

reference(
  "a link to an operation or a section scrolls there and moves the focus there",
  async ({ visit }) => {
    const { page } = await visit();
    const landed = (id: string) =>
      page.waitForFunction((id: string) => {
        const element = document.getElementById(id)!;
        const top = element?.getBoundingClientRect().top;
        return top >= 0 && top < 100 && element.contains(document.activeElement);
      }, id);
    await openAt(page, "postScore");
    await landed("postScore");
    await page.goto("/docs/errors");
    await page.goto("/docs#authentication");
    await landed("authentication");
    // A filter that hides the target is cleared.
    await page.fill("#filter", "webhook");
    await page.locator("#postScore").waitFor({ state: "hidden" });
    await page.evaluate(() => {
      location.hash = "getOperators";
    });
    await landed("getOperators");
    assert.equal(await page.inputValue("#filter"), "");
    await page.goto("/docs/errors");
    await page.locator("#INSUFFICIENT_DATA ~ dl a", { hasText: "maintenance" }).click();
    await landed("postMaintenance");
  },
);

reference("the example of a read shows the API's own answer", async ({ service, key, visit }) => {
  const { page } = await visit();
  const operation = await openAt(page, "getOperators");
  await operation.getByText("No key is entered").waitFor();
  await page.fill("#api-key", key);
  assert.equal(await operation.getByText("No key is entered").count(), 0);
  await operation.locator("select[name=example]").selectOption({
    label: "The at-risk operators with the lowest JIS, with sparklines",
  });
  assert.equal(await operation.locator(".notice").count(), 0);
  await operation.getByRole("button", { name: "Send" }).click();
  await operation.locator(".answer .status", { hasText: "200" }).waitFor();
  const path = "/v1/organization/operators?band=at_risk&sort=jis&limit=20&include=sparkline";
  const { request_id: _, timestamp: __, ...expected } = await fetchJson(service.url + path, key);
  assert.deepEqual(await shownBody(operation), expected);
  assert.ok(expected.count > 0);
  assert.match(await operation.locator(".outcome").innerText(), /in \d+ ms/);
  assert.match(await operation.locator("dl.headers").innerText(), /X-RateLimit-Remaining\s+\d+/);
  const curl = await operation.getByLabel("The same as a command").innerText();
  assert.equal(
    curl,
    `curl -s '${service.url}${path}' \\\n  -H "X-API-Key: $KEY"`,
  );

  // A body that is no JSON is shown as it came; a long one is shortened.
  const bundle = await openAt(page, "getChainExport");
  await page.fill("#api-key", key);
  await bundle.getByRole("button", { name: "Send" }).click();
  await bundle.locator(".answer .note").waitFor();
  assert.match(await bundle.locator(".answer pre").innerText(), /^\{"bundle":|^\{/);
  assert.equal((await bundle.locator(".answer pre").textContent())!.length, 20_000);
  // The saved file is complete.
  const download = page.waitForEvent("download");
  await bundle.getByRole("button", { name: "Save the body" }).click();
  const saved = await download;
  assert.equal(saved.suggestedFilename(), "v1-audit-chain-export.ndjson");
  const lines = (await Deno.readTextFile((await saved.path())!)).trimEnd().split("\n").map((line) =>
    JSON.parse(line)
  );
  assert.ok(lines.length > 100);
});

reference(
  "the example of a write says beforehand that it writes, and is recorded",
  async ({ service, key, visit }) => {
    const { page, requests } = await visit();
    const operation = await openAt(page, "postScore");
    await page.fill("#api-key", key);
    await operation.getByText("This really writes.").waitFor();
    // A body that is no JSON is not sent.
    const body = operation.locator("textarea");
    const example = await body.inputValue();
    await body.fill(example.replace("}", ""));
    await operation.getByRole("button", { name: "Send" }).click();
    await operation.getByText(/This is not JSON: .*line \d+ column \d+/).waitFor();
    assert.ok(await body.evaluate((field) => document.activeElement === field));
    await body.fill("{\n  oops\n}");
    await operation.getByRole("button", { name: "Send" }).click();
    await operation.getByText(/This is not JSON: .*line 2 column 3/).waitFor();
    assert.ok(!requests.some(({ path }) => path.startsWith("/v1/score")));
    await body.fill(example.replace("case-2026-000123", "case-of-the-reference"));
    await operation.getByRole("button", { name: "Send" }).click();
    await operation.locator(".answer .status", { hasText: "200" }).waitFor();
    const { recorded } = await fetchJson(`${service.url}/v1/decision/replay/case-of-the-reference`, key);
    assert.equal((await shownBody(operation)).jis, recorded.jis);
    // Sent again, it gets the stored answer.
    await operation.getByRole("button", { name: "Send" }).click();
    await operation.locator("dl.headers dt", { hasText: "Idempotency-Replayed" }).waitFor();
  },
);

reference("a refused key is shown as the 401 that it is", async ({ visit }) => {
  const { page, expectErrors } = await visit();
  expectErrors(/401/);
  const operation = await openAt(page, "getDashboard");
  await page.fill("#api-key", "jis_00000000000000000000000000");
  await operation.getByRole("button", { name: "Send" }).click();
  await operation.locator(".answer .status", { hasText: "401" }).waitFor();
  assert.equal((await shownBody(operation)).error.code, "UNAUTHORIZED");
  const link = operation.locator(".outcome a");
  assert.equal(await link.getAttribute("href"), "/docs/errors#UNAUTHORIZED");
});

reference(
  "after a 429 a countdown runs beside the form and can be stopped",
  async ({ key, visit }) => {
    const { page, expectErrors } = await visit();
    expectErrors(/429/);
    const operation = await openAt(page, "getDashboard");
    await page.fill("#api-key", key);
    let seconds = "60";
    await page.route("**/v1/organization/dashboard", async (route) => {
      if (seconds === "0") return await route.continue();
      await route.fulfill({ status: 429, headers: { "Retry-After": seconds }, body: "{}" });
      seconds = seconds === "60" ? "1" : "0";
    });
    await operation.getByRole("button", { name: "Send" }).click();
    await operation.locator("[data-waiting]").waitFor();
    await operation.getByRole("button", { name: "Stop" }).click();
    assert.equal(await operation.locator("[data-waiting]").count(), 0);
    await operation.getByRole("button", { name: "Send" }).click();
    await operation.locator("[data-waiting]").waitFor();
    await operation.locator(".answer .status", { hasText: "200" }).waitFor();
    assert.equal(await operation.locator("[data-waiting]").count(), 0);
  },
);

reference("a call that cannot be undone asks for confirmation", async ({ service, key, visit }) => {
  const { page, requests } = await visit();
  const asked = () => requests.filter(({ method }) => method !== "GET");
  for (const operationId of ["postKeyRotation", "postKeyRevocation", "postOrganization"]) {
    const operation = await openAt(page, operationId);
    await operation.getByRole("button", { name: "Send" }).click();
    await operation.getByRole("button", { name: "No, leave it" }).click();
    assert.equal(await operation.getByRole("button", { name: "Yes, send it" }).count(), 0);
  }
  const operation = await openAt(page, "deleteOperator");
  await page.fill("#api-key", key);
  await operation.locator("input[name=operator_id]").fill("reviewer-ada");
  await operation.getByRole("button", { name: "Send" }).click();
  await operation.getByText("Really send DELETE /v1/operator/reviewer-ada?").waitFor();
  // The confirmed call is the one that is sent: a change cancels the question.
  await operation.locator("input[name=operator_id]").fill("reviewer-bruno");
  assert.equal(await operation.getByRole("button", { name: "Yes, send it" }).count(), 0);
  assert.deepEqual(asked(), []);
  await operation.getByRole("button", { name: "Send" }).click();
  await operation.getByRole("button", { name: "Yes, send it" }).click();
  await operation.locator(".answer .status", { hasText: "200" }).waitFor();
  // A busy browser reports a request after the page shows its answer.
  for (let looks = 0; looks < 100 && asked().length === 0; looks += 1) await page.waitForTimeout(50);
  assert.deepEqual(asked().map(({ path }) => path), ["/v1/operator/reviewer-bruno"]);
  const profile = await fetchJson(`${service.url}/v1/operator/reviewer-bruno/profile`, key);
  assert.equal(profile.error.code, "NOT_FOUND");
});

reference("a path that browsers would change is not sent", async ({ key, visit }) => {
  const { page, requests, expectErrors } = await visit();
  expectErrors(/422/);
  const operation = await openAt(page, "getProfile");
  await page.fill("#api-key", key);
  const field = operation.locator("input[name=operator_id]");
  for (const value of [".", ".."]) {
    await field.fill(value);
    await operation.getByRole("button", { name: "Send" }).click();
    await operation.getByText("Browsers drop . and .. from a path").waitFor();
    assert.ok(await field.evaluate((input) => document.activeElement === input));
  }
  assert.ok(!requests.some(({ path }) => path.startsWith("/v1/operator")));
  await field.fill("...");
  await operation.getByRole("button", { name: "Send" }).click();
  await operation.locator(".answer .status").waitFor();
  assert.match(await operation.locator(".outcome").innerText(), /GET \/v1\/operator\/\.\.\.\/profile/);
});

reference(
  "a call that needs an idempotency key has a fresh one, the same in header and body",
  async ({ visit }) => {
    const { page } = await visit();
    const operation = await openAt(page, "postSuspension");
    const name = await operation.locator("input[name=Idempotency-Key]").inputValue();
    assert.match(name, /^[0-9a-f]{32}$/);
    assert.equal(JSON.parse(await operation.locator("textarea").inputValue()).idempotency_key, name);
    await operation.locator("input[name=Idempotency-Key]").fill("");
    await operation.getByRole("button", { name: "Send" }).click();
    await operation.getByText("The call needs a name.").waitFor();
    const curl = await operation.getByLabel("The same as a command").innerText();
    assert.match(curl, /-H "X-API-Key: \$MASTER_ADMIN_KEY_ORG_SUSPEND"/);
  },
);

reference(
  "the key is in no address, storage, cookie, attribute or text of the page",
  async ({ key, visit }) => {
    const { page, requests } = await visit();
    const operation = await openAt(page, "getDashboard");
    await page.fill("#api-key", key);
    await operation.getByRole("button", { name: "Send" }).click();
    await operation.locator(".answer .status", { hasText: "200" }).waitFor();
    const left = await page.evaluate(() => [
      document.documentElement.outerHTML,
      document.cookie,
      JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }),
      location.href,
      JSON.stringify(history.state),
    ]);
    for (const text of left) assert.ok(!text.includes(key));
    assert.ok(!requests.some(({ path }) => path.includes(key)));
    const field = page.locator("#api-key");
    assert.equal(await field.getAttribute("type"), "password");
    assert.equal(await field.getAttribute("autocomplete"), "off");
    await page.reload();
    await page.locator("#getDashboard .details").waitFor();
    assert.equal(await page.inputValue("#api-key"), "");
  },
);

reference("everything works by keyboard: the key, the filter, opening, sending, refusing", async (scene) => {
  const { page } = await scene.visit();
  await page.goto("/docs");
  await page.locator("#postScore").waitFor();
  const tabTo = async (selector: string) => {
    for (let presses = 0; presses < 150; presses += 1) {
      await page.keyboard.press("Tab");
      if (await page.evaluate((selector: string) => document.activeElement!.matches(selector), selector)) {
        return;
      }
    }
    assert.fail(`Tab never came to ${selector}`);
  };
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement!.id), "main");
  await tabTo("#api-key");
  await page.keyboard.type(scene.key);
  assert.ok(
    await page.evaluate(
      (key) => document.querySelector<HTMLInputElement>("#api-key")!.value === key,
      scene.key,
    ),
  );
  await tabTo("#filter");
  await page.keyboard.type("erase reviewer");
  await tabTo("#deleteOperator > summary");
  await page.keyboard.press("Enter");
  await tabTo("#deleteOperator input[name=operator_id]");
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("reviewer-chen");
  await tabTo("#deleteOperator button.main");
  await page.keyboard.press("Enter");
  await tabTo("#deleteOperator button.grave");
  await tabTo("#deleteOperator .notice button:not(.grave)");
  await page.keyboard.press("Enter");
  assert.ok(await page.evaluate(() => document.activeElement!.matches("#deleteOperator button.main")));
  await page.keyboard.press("Enter");
  await tabTo("#deleteOperator button.grave");
  await page.keyboard.press("Space");
  await page.locator("#deleteOperator .answer").waitFor();
  assert.ok(await page.evaluate(() => document.activeElement!.matches("#deleteOperator button.main")));
  // The answer is the next element in the focus order.
  await tabTo("#deleteOperator .answer pre");
});

reference("a user who moves on before a link on the page is followed is not moved back", async (scene) => {
  const { page } = await scene.visit();
  await page.goto("/docs");
  await page.locator("#postScore").waitFor();
  const focused = await page.evaluate(async () => {
    const key = document.getElementById("api-key")!;
    // The page learns its new address only after the next key press.
    addEventListener("hashchange", () => {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Tab", bubbles: true }));
      key.focus();
    }, { capture: true, once: true });
    document.querySelector<HTMLElement>("a.skip")!.click();
    for (let frames = 0; frames < 10; frames += 1) await new Promise((next) => requestAnimationFrame(next));
    return document.activeElement!.id;
  });
  assert.equal(focused, "api-key");
});

reference("two open operations are distinguishable, in both themes and at both widths", async (scene) => {
  // The next test has the other two pairs.
  for (const [theme, width] of [["dark", 360], ["light", 1200]] as const) {
    const { page } = await scene.visit({ theme, width });
    await page.goto("/docs");
    await page.fill("#api-key", scene.key);
    for (const operationId of ["getProfile", "getSparkline", "postKeyRotation", "postKeyRevocation"]) {
      const operation = await openAt(page, operationId);
      await operation.getByRole("button", { name: "Send" }).click();
      await operation.locator(".answer, .notice button").first().waitFor();
    }
    for (const event of ["webhook_score_committed", "webhook_ping"]) await openAt(page, event);
    await assertAccessible(page, `${theme} ${width}`);
    await assertFits(page, `${theme} ${width}`);
  }
});

reference(
  "an opened and answered operation is accessible in both themes and fits 360 pixels",
  async (scene) => {
    for (const [theme, width] of [["light", 360], ["dark", 1200]] as const) {
      const { page } = await scene.visit({ theme, width });
      const operation = await openAt(page, "postScore");
      await page.fill("#api-key", scene.key);
      for (const folded of await operation.locator("details.deep:not([open]) > summary:visible").all()) {
        await folded.click();
      }
      await operation.getByRole("button", { name: "Send" }).click();
      await operation.locator(".answer").waitFor();
      const grave = await openAt(page, "postKeyRevocation");
      await grave.getByRole("button", { name: "Send" }).click();
      await openAt(page, "webhook_score_committed");
      await assertAccessible(page, theme);
      await assertFits(page, theme);
      await page.fill("#filter", "there is nothing of the kind");
      await page.getByRole("button", { name: "Show all" }).waitFor();
      await assertAccessible(page, `${theme}, empty`);
    }
  },
);

reference(
  "while the document is fetched the page says so, and if that fails, offers to try again",
  async (scene) => {
    const { page, expectErrors } = await scene.visit();
    expectErrors(/ERR_FAILED|Failed to load/);
    let answers = false;
    let release = () => {};
    const held = new Promise<void>((resolve) => release = resolve);
    await page.route("**/openapi.json", async (route) => {
      await held;
      return answers ? await route.continue() : await route.abort();
    });
    await page.goto("/docs#postScore");
    await page.getByText("Fetching the reference…").waitFor();
    await assertAccessible(page, "loading");
    release();
    await page.getByText("The service cannot be reached").waitFor();
    await assertAccessible(page, "failed");
    answers = true;
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator("#postScore .details").waitFor();
  },
);

reference("the catalogue and the guide have a link for each heading", async ({ visit }) => {
  const { page } = await visit({ width: 360 });
  await page.goto("/docs/errors");
  await page.locator("main table a[href='#GONE']").click();
  assert.match(page.url(), /\/docs\/errors#GONE$/);
  await page.locator("#RATE_LIMITED ~ dl summary").click();
  await assertFits(page, "errors");
  await assertAccessible(page, "errors");
  await page.goto("/docs/verify-offline");
  for (const heading of await page.locator("h2").all()) {
    const id = await heading.getAttribute("id");
    assert.equal(await heading.locator("a").getAttribute("href"), `#${id}`);
  }
  assert.ok(await page.locator("#each-visit").count() === 1);
});
