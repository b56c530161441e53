/** Trends in the console: the weeks in a sentence, and the map of operators and weeks on a telephone. */
import assert from "node:assert/strict";
import { dayInWords, scoreInWords } from "../../src/pages/wording.ts";
import { assertAccessible, assertFits, browserTests } from "./browser.ts";
import { go, shown, signIn } from "./console.ts";
import { sharedDemo } from "./demo_service.ts";

const trendsTest = browserTests(sharedDemo(), ({ service }) => service.url);

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

trendsTest(
  "trends begin with the median, who is below, and who crossed the threshold",
  async (visit, demo) => {
    const { page } = await visit();
    await page.goto("/console");
    await signIn(page, demo.key);
    const { body } = await demo.service.send("/v1/organization/weeks?limit=10", { key: demo.key });
    const { weeks, operators }: Json = body;
    const wasBelow = (row: Json, at: number) => row.weeks.at(at)?.verdict === "non_compliant";
    // Each pair of neighbouring weeks is the end of a span of its own.
    for (let end = 1; end < weeks.length; end += 1) {
      const [from, to] = [weeks[0].week_start, weeks[end].week_start];
      await go(page, `/console/trends?from=${from}&to=${to}`);
      await shown(page);
      const said = (await page.locator("[data-summary]").innerText()).replaceAll(/\s+/g, " ");
      const answer = (await demo.service.send(
        `/v1/organization/weeks?from=${from}&to=${to}&limit=10`,
        { key: demo.key },
      )).body as Json;
      const [first, before, last] = [answer.weeks[0], answer.weeks.at(-2), answer.weeks.at(-1)];
      const change = Number(scoreInWords(last.median_jis)) - Number(scoreInWords(first.median_jis));
      const way = Math.abs(change) < 0.05
        ? "unchanged"
        : `${change > 0 ? "up" : "down"} ${Math.abs(change).toFixed(1)}`;
      assert.ok(
        said.includes(`${scoreInWords(last.median_jis)}, ${way} since ${dayInWords(first.week_start)}.`),
        said,
      );
      const [now, then] = [last.verdicts.non_compliant, before.verdicts.non_compliant];
      const counts: number[] = answer.weeks.map(({ verdicts }: Json) => verdicts.non_compliant);
      let equal = 0;
      while (counts.at(-1 - equal) === now) equal += 1;
      const since = now === then ? `as for ${equal} weeks` : `after ${then} the week before`;
      assert.ok(said.includes(`Below: ${now}, ${since}.`), `${since}: ${said}`);
      const fell = answer.operators.filter((row: Json) => wasBelow(row, -1) && !wasBelow(row, -2))
        .map(({ operator_id }: Json) => operator_id);
      const rose = answer.operators.filter((row: Json) =>
        !wasBelow(row, -1) && wasBelow(row, -2) && row.weeks.at(-1) !== null
      ).map(({ operator_id }: Json) => operator_id);
      const list = (names: readonly string[]) =>
        names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
      assert.match(
        said,
        new RegExp(`week(?:, of the 10 lowest)?: ${fell.length === 0 ? "nobody" : list(fell)}\\.`),
      );
      assert.equal(said.includes("No longer below"), rose.length > 0, said);
      if (rose.length > 0) assert.ok(said.includes(`No longer below: ${list(rose)}.`), said);
    }
    await assertAccessible(page, "trends with their sentence");
    assert.ok(operators.length > 0);
  },
);

trendsTest("on a telephone the map has all weeks, and the names stay in sight", async (visit, demo) => {
  const { page } = await visit({ width: 390, height: 844 });
  await page.goto("/console");
  await signIn(page, demo.key);
  await go(page, "/console/trends");
  await shown(page);
  await page.getByText("The last 3 of 13 weeks are in sight; scroll sideways for the others.").waitFor();
  const map = page.getByRole("region", { name: "Scores by operator and week" });
  const inSight = () =>
    map.evaluate((region) => {
      const frame = region.getBoundingClientRect();
      const [name, ...heads] = [...region.querySelectorAll("thead th")].map((head) =>
        head.getBoundingClientRect()
      );
      return heads.map(({ left, right }, index) => ({ left, right, index })).filter(({ left, right }) =>
        left >= name!.right - 1 && right <= frame.right + 1
      ).map(({ index }) => index);
    });
  assert.deepEqual(await inSight(), [10, 11, 12]);
  await map.evaluate((region) => region.scrollTo({ left: 0 }));
  assert.equal((await inSight())[0], 0);
  const name = map.getByRole("rowheader").first();
  assert.ok((await name.boundingBox())!.x >= 0);
  await assertFits(page, "trends on a telephone");
  await assertAccessible(page, "trends on a telephone");
  // The legend stands above what it explains.
  const legend = page.getByText("◆ below it");
  assert.ok((await legend.boundingBox())!.y < (await map.boundingBox())!.y);
});
