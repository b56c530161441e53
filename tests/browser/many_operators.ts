/** The console with many operators on a slow line: fewer of them in the tests, many in `task soak`. */
import assert from "node:assert/strict";
import { pastOf } from "../delivering.ts";
import { scoreRequest } from "../harness.ts";
import { assertFits, withBrowser } from "./browser.ts";
import { go, shown, signIn } from "./console.ts";
import type { DemoService } from "./demo_service.ts";
import { CONSOLE_VIEWS, fillOrganization } from "./views.ts";

/** Added to every request. */
const SLOW_MS = 50;
const PATIENCE_MS = 180_000;
const MOST_BYTES = 500_000;
const MOST_REQUESTS = 3;
const MOST_ROWS = 200;
/** More cases than a page of them shows, and users as a large team has them. */
const CASES = 300;
const USERS = 150;
/** The operator whose page is opened: one with a record that is long enough for a recommendation. */
const OPERATOR = "operator-00042";

export interface Looked {
  readonly views: number;
  /** Bytes of the view that loads most, including what a browser loads once. */
  readonly most_bytes: number;
  readonly most_requests: number;
  /** Rows of the view that shows most. */
  readonly most_rows: number;
  /** The view that took longest from the click to its last answer, in milliseconds. */
  readonly slowest_view: string;
  readonly slowest_ms: number;
}

/** Runs as many at once as a busy customer sends. */
async function inParallel(count: number, run: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(Array.from({ length: 64 }, async () => {
    while (next < count) await run(next++);
  }));
}

const operatorOf = (number: number) => `operator-${String(number).padStart(5, "0")}`;

/**
 * Scores each operator once and opens every view, with 50 ms added to every request. The organization must
 * have no records before, and the service the environment `FILLED`.
 */
export async function lookAtManyOperators(demo: DemoService, operators: number): Promise<Looked> {
  const { service, key } = demo;
  const ask = async (path: string, body: unknown) => {
    const { status, body: answer } = await service.send(path, { key, body });
    assert.ok(status < 300, `${path}: ${status} ${JSON.stringify(answer)}`);
  };
  await inParallel(operators, async (number) => {
    await ask(
      "/v1/score",
      scoreRequest(
        {
          session_id: `session-${String(number).padStart(5, "0")}`,
          operator_id: operatorOf(number),
          domain: "financial",
        },
        { time_to_decision_ms: 500 + number % 20_000 },
      ),
    );
  });
  await ask("/v1/score/batch", pastOf(OPERATOR));
  await ask("/v1/cases", { operator_id: OPERATOR, statement: "Somebody asked for a look." });
  await inParallel(
    CASES,
    (number) =>
      ask("/v1/cases", { operator_id: operatorOf(number + 100), statement: `Look number ${number}.` }),
  );
  await inParallel(
    USERS,
    (number) =>
      ask("/v1/users", { email: `user-${number}@acme.example`, name: `User ${number}`, role: "viewer" }),
  );
  const single = await fillOrganization(demo, OPERATOR);
  const looked = {
    views: 0,
    most_bytes: 0,
    most_requests: 0,
    most_rows: 0,
    slowest_view: "",
    slowest_ms: 0,
  };
  await withBrowser(service.url, async (visit) => {
    const { page, requests, idle } = await visit();
    // A busy machine reads ten thousand records in a minute.
    page.setDefaultTimeout(PATIENCE_MS);
    await page.route("**/*", async (route) => {
      await new Promise((after) => setTimeout(after, SLOW_MS));
      await route.continue();
    });
    await page.goto("/console");
    await signIn(page, key);
    await shown(page);
    await idle();
    const assets = requests.filter(({ path }) => path.startsWith("/assets/"));
    // A view that is open already would ask for nothing.
    await go(page, "/console/verify");
    await shown(page);
    const views = [
      ...CONSOLE_VIEWS.map(({ at }) => at(single)),
      "/operators?band=adequate&sort=-jis",
      "/operators?q=0004&sort=-last_interaction_at",
      "/cases?state=all",
      `/decisions?operator_id=${OPERATOR}`,
    ];
    for (const view of views) {
      const before = requests.length;
      const started = performance.now();
      await go(page, `/console${view}`);
      await shown(page);
      await idle();
      const took = Math.round(performance.now() - started);
      const made = requests.slice(before);
      const bytes = [...assets, ...made].reduce((sum, request) => sum + request.bytes, 0);
      const rows = await page.locator("tbody tr").count();
      assert.ok(bytes <= MOST_BYTES, `${view}: ${bytes} bytes`);
      assert.ok(view !== "" || made.length > 0, "home was measured without its requests");
      assert.ok(made.length <= MOST_REQUESTS, `${view}: ${made.length} requests`);
      assert.ok(rows <= MOST_ROWS, `${view}: ${rows} rows`);
      await assertFits(page, view);
      looked.views += 1;
      looked.most_bytes = Math.max(looked.most_bytes, bytes);
      looked.most_requests = Math.max(looked.most_requests, made.length);
      looked.most_rows = Math.max(looked.most_rows, rows);
      if (took > looked.slowest_ms) [looked.slowest_view, looked.slowest_ms] = [view, took];
    }
    // Every operator is on exactly one page.
    await go(page, "/console/operators?sort=operator_id");
    await shown(page);
    const first = await page.locator("tbody th > a").allTextContents();
    await page.getByRole("link", { name: "Next page" }).click();
    await page.getByRole("link", { name: "operator-00050" }).waitFor();
    const second = await page.locator("tbody th > a").allTextContents();
    assert.deepEqual([first.length, second.length, first.at(-1), second[0]], [
      50,
      50,
      "operator-00049",
      "operator-00050",
    ]);
    await page.goBack();
    await page.getByRole("link", { name: "operator-00000" }).waitFor();
    // A part of a name finds all who have it, wherever they stand; the other order begins at the end.
    await page.getByRole("searchbox", { name: "Part of the name" }).fill("R-00042");
    await page.keyboard.press("Enter");
    await page.waitForURL("**q=R-00042**");
    await shown(page);
    assert.deepEqual(await page.locator("tbody th > a").allTextContents(), ["operator-00042"]);
    await go(page, "/console/operators?sort=-operator_id");
    const last = `operator-${String(operators - 1).padStart(5, "0")}`;
    await page.getByRole("link", { name: last }).waitFor();
    assert.equal(await page.locator("tbody th > a").first().textContent(), last);
  });
  return looked;
}
