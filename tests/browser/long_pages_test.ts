/** Pages that were long on a telephone: what matters stands near the top, and nothing stands twice. */
import assert from "node:assert/strict";
import { assertAccessible, browserTests } from "./browser.ts";
import { go, shown, signIn } from "./console.ts";
import { sharedDemo } from "./demo_service.ts";

const longTest = browserTests(sharedDemo(), ({ service }) => service.url);

longTest("the demo can be begun on the first screen of a telephone", async (visit) => {
  const { page } = await visit({ width: 390, height: 844 });
  await page.goto("/demo");
  const begin = page.getByRole("button", { name: "Begin with case 1" });
  const { y, height } = (await begin.boundingBox())!;
  assert.ok(y + height <= 844, `the button ends at ${y + height}`);
  await page.getByRole("link", { name: "what is measured and kept" }).click();
  assert.ok((await page.getByRole("heading", { name: "What is measured and kept" }).boundingBox())!.y < 844);
  await assertAccessible(page, "the demo's beginning");
});

longTest(
  "an exercise's sheet has its form on paper alone, and one way back",
  async (visit, { service, key }) => {
    const { page } = await visit({ width: 390, height: 844 });
    const { cases: [{ operator_id: operator }] } = (await service.send("/v1/cases", { key })).body;
    const recommended = await service.send("/v1/maintenance/recommend", {
      key,
      body: { operator_id: operator },
    });
    await page.goto("/console");
    await signIn(page, key);
    await go(page, `/console/operators/${operator}/sheets/${recommended.body.exercises[0].id}`);
    await page.getByRole("button", { name: "Print" }).waitFor();
    assert.equal(await page.locator("main").getByRole("link", { name: operator }).count(), 1);
    await page.getByText(/^The form for \d+ cases is on the printed sheet\.$/).waitFor();
    const form = page.locator(".sheet table");
    assert.equal(await form.isVisible(), false);
    await page.emulateMedia({ media: "print" });
    assert.equal(await form.isVisible(), true);
    assert.equal(await page.getByText(/is on the printed sheet/).isVisible(), false);
  },
);

longTest(
  "contests that nobody has made are said once, with the way to an operator",
  async (visit, { key }) => {
    const { page } = await visit();
    await page.goto("/console");
    await signIn(page, key);
    await go(page, "/console/contests");
    await shown(page);
    assert.equal(await page.getByText(/on their own page/).count(), 1);
    await page.locator("main").getByRole("link", { name: "open an operator" }).click();
    await page.getByRole("heading", { name: "Operators", level: 1 }).waitFor();
  },
);

longTest(
  "labels on a telephone: the question is in sight, the id is copied, no key is named",
  async (visit, { key }) => {
    const { page } = await visit({ isTouched: true, width: 390, height: 844 });
    await page.goto("/console");
    await signIn(page, key);
    await go(page, "/console/labels");
    await shown(page);
    const question = page.locator(".queue fieldset").first();
    assert.ok((await question.boundingBox())!.y < 700, `${(await question.boundingBox())!.y}`);
    const [filter, queue] = [page.getByLabel("Operator id"), page.locator(".queue")];
    assert.ok((await filter.boundingBox())!.y > (await queue.boundingBox())!.y);
    assert.equal(await page.locator("kbd:visible").count(), 0);
    assert.equal(await page.getByText("Keyboard shortcuts").isVisible(), false);
    await page.getByRole("button", { name: "Copy the id" }).click();
    await page.getByText("Copied", { exact: true }).waitFor();
    assert.ok(await page.evaluate(() => document.activeElement!.matches(".queue h2")));
    const introduction = page.getByText("Nobody knows yet how these cases turned out.");
    assert.ok(await introduction.isVisible());
    await question.getByRole("radio").first().check();
    if (await page.locator(".queue fieldset").count() > 1) {
      await page.locator(".queue fieldset").nth(1).getByRole("radio").first().check();
    }
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("How to label", { exact: true }).waitFor();
    assert.equal(await introduction.isVisible(), false);
    await assertAccessible(page, "labels on a telephone");
  },
);
