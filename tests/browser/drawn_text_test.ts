/** How the pages draw numbers and instants: a real minus, whole days on cards, and JSON that nothing breaks. */
import assert from "node:assert/strict";
import { browserTests } from "./browser.ts";
import { go, shown, signIn } from "./console.ts";
import { type DemoService, sharedDemo } from "./demo_service.ts";

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

const drawnTest = browserTests<DemoService>(sharedDemo(), ({ service }) => service.url);

drawnTest("a negative number has a minus, not a hyphen", async (visit, { service, key }) => {
  const { body: { operators } }: Json = await service.send("/v1/organization/operators", { key });
  const trends: readonly (readonly [id: string, trend: number])[] = await Promise.all(
    operators.map(async ({ operator_id: id }: Json) => {
      const { body }: Json = await service.send(`/v1/operator/${id}/profile?include=projection`, { key });
      return [id, body.profile.decay_projection?.current_trend ?? body.decay_projection?.current_trend ?? 0];
    }),
  );
  const [falling, trend] = trends.find(([, trend]) => trend <= -0.1)!;
  const { page } = await visit();
  await page.goto("/console");
  await signIn(page, key);
  await go(page, `/console/operators/${falling}`);
  await shown(page);
  const figure = page.locator("[data-figure='decay_projection.current_trend']");
  await figure.waitFor();
  assert.match(await figure.innerText(), /^−\d+\.\d$/);
  assert.equal(await figure.getAttribute("data-exact"), String(trend));
});

drawnTest("the card of an operator says the latest day alone", async (visit, { key }) => {
  const { page } = await visit({ width: 390 });
  await page.goto("/console");
  await signIn(page, key);
  await go(page, "/console/operators");
  await shown(page);
  const days = await page.locator("[data-label='Latest'] time").allInnerTexts();
  assert.ok(days.length > 0);
  for (const day of days) assert.match(day.trim(), /^\d{1,2} \w{3,4} \d{4}$/);
});

drawnTest("JSON in the list of errors scrolls on a telephone, and no line of it breaks", async (visit) => {
  const { page } = await visit({ width: 390 });
  await page.goto("/docs/errors");
  const looks = await page.locator(".catalogue pre").first().evaluate((pre) => {
    const { whiteSpaceCollapse, textWrapMode, overflowX } = getComputedStyle(pre);
    return [whiteSpaceCollapse, textWrapMode, overflowX];
  });
  assert.deepEqual(looks, ["preserve", "nowrap", "auto"]);
});
