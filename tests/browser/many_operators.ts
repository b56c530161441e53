/** The console with many operators on a slow line: fewer of them in the tests, many in `task soak`. */
import assert from "node:assert/strict";
import { scoreRequest } from "../harness.ts";
import { assertFits, withBrowser } from "./browser.ts";
import { go, shown, signIn } from "./console.ts";
import type { DemoService } from "./demo_service.ts";

export interface Looked {
  /** Bytes of the view that loads most, including what a browser loads once. */
  readonly most_bytes: number;
  /** Rows of the view that shows most. */
  readonly most_rows: number;
}

/**
 * Scores each operator once and opens every view, with 50 ms added to every request. The organization must
 * have no records before.
 */
export async function lookAtManyOperators({ service, key }: DemoService, operators: number): Promise<Looked> {
  let [mostBytes, mostRows] = [0, 0];
  let next = 0;
  await Promise.all(Array.from({ length: 64 }, async () => {
    while (next < operators) {
      const number = String(next++).padStart(5, "0");
      const { status } = await service.send("/v1/score", {
        key,
        body: scoreRequest(
          { session_id: `session-${number}`, operator_id: `operator-${number}`, domain: "financial" },
          { time_to_decision_ms: 500 + Number(number) % 20_000 },
        ),
      });
      assert.equal(status, 200);
    }
  }));
  await withBrowser(service.url, async (visit) => {
    const { page, requests, idle, expectErrors } = await visit();
    // For a single interaction there is no recommendation.
    expectErrors(/422/);
    await page.route("**/*", async (route) => {
      await new Promise((after) => setTimeout(after, 50));
      await route.continue();
    });
    await page.goto("/console");
    await signIn(page, key);
    await shown(page);
    await idle();
    const assets = requests.filter(({ path }) => path.startsWith("/assets/"));
    for (
      const view of [
        ...["", "/operators", "/operators?band=adequate&sort=-jis", "/operators/operator-00042"],
        ...["/operators?q=0004&sort=-last_interaction_at", "/operators?q=nobody"],
        ...[
          "/decisions",
          "/decisions/session-00042",
          "/reports",
          "/audit-log",
          "/webhooks",
          "/key",
          "/verify",
        ],
      ]
    ) {
      const before = requests.length;
      await go(page, `/console${view}`);
      await shown(page);
      await idle();
      const made = requests.slice(before);
      const bytes = [...assets, ...made].reduce((sum, request) => sum + request.bytes, 0);
      mostBytes = Math.max(mostBytes, bytes);
      assert.ok(bytes <= 500_000, `${view}: ${bytes}`);
      assert.ok(made.length <= 3, `${view}: ${made.length}`);
      const rows = await page.locator("tbody tr").count();
      mostRows = Math.max(mostRows, rows);
      assert.ok(rows <= 200, `${view}: ${rows}`);
      await assertFits(page, view);
    }
    // Every operator is on exactly one page.
    await go(page, "/console/operators");
    await shown(page);
    const first = await page.locator("tbody th").allTextContents();
    await page.getByRole("link", { name: "Next page" }).click();
    await page.getByRole("link", { name: "operator-00050" }).waitFor();
    const second = await page.locator("tbody th").allTextContents();
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
    await page.waitForURL("**q=R-00042");
    await shown(page);
    assert.deepEqual(await page.locator("tbody th").allTextContents(), ["operator-00042"]);
    await go(page, "/console/operators?sort=-operator_id");
    const last = `operator-${String(operators - 1).padStart(5, "0")}`;
    await page.getByRole("link", { name: last }).waitFor();
    assert.equal(await page.locator("tbody th").first().textContent(), last);
  });
  return { most_bytes: mostBytes, most_rows: mostRows };
}
