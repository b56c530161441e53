/** A replay says the decision and each cause once; a report is shown whole in every width, and has one title on paper. */
import assert from "node:assert/strict";
import { dayInWords, nameInWords, scoreInWords } from "../../src/pages/wording.ts";
import { caseInWords } from "../../src/web/console/replay_words.ts";
import { assertAccessible, assertFits, browserTests, THEMES } from "./browser.ts";
import { go, shown, signIn } from "./console.ts";
import { type DemoService, sharedDemo } from "./demo_service.ts";

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

const demoTest = browserTests<DemoService>(sharedDemo(), ({ service }) => service.url);

async function ask({ service, key }: DemoService, path: string): Promise<Json> {
  const { status, body } = await service.send(path, { key });
  assert.equal(status, 200, path);
  return body;
}

demoTest("a replay says the decision, and a cause of several dimensions once", async (visit, demo) => {
  const { decisions } = await ask(demo, "/v1/organization/decisions?kind=score&limit=50");
  const { id, decision } = decisions.find((row: Json) => row.decision === "overridden");
  const answer = await ask(demo, `/v1/decision/replay/${id}`);
  const { explanation } = answer;
  const rules: readonly string[] = explanation.flatMap((row: Json) => row.rules);
  const once = new Set(rules);
  assert.ok(once.size < rules.length, "a cause moves several dimensions");
  const { page, requests, idle } = await visit({ width: 390 });
  await page.goto("/console");
  await signIn(page, demo.key);
  await shown(page);
  await idle();
  const sent = requests.length;
  await go(page, `/console/decisions/${id}`);
  await shown(page);
  const tile = page.locator(".tile").filter({ hasText: /^Decision/ });
  await tile.getByText(nameInWords(decision), { exact: true }).waitFor();
  assert.equal(await page.locator("[data-case]").innerText(), caseInWords(answer.case, answer.label));
  const { decisions: own } = await ask(
    demo,
    `/v1/organization/decisions?kind=score&operator_id=${answer.recorded.operator_id}&limit=100`,
  );
  const before = own[own.findIndex((row: Json) => row.id === id) + 1];
  await page.getByText(`was ${scoreInWords(before.jis)} at the score before`).waitFor();
  await idle();
  assert.ok(requests.slice(sent).filter(({ path }) => path.startsWith("/v1/")).length <= 3);
  await page.locator("details.still > summary").click();
  const said = await page.locator("main").innerText();
  for (const rule of once) assert.equal(said.split(rule).length - 1, 1, rule);
  await assertAccessible(page, "a replay");
  await assertFits(page, "a replay");
});

Deno.test("the case of a replay is one sentence", () => {
  const seen = {
    decision: "accepted",
    time_to_decision_ms: 13_400,
    ai_recommendation_presented: true,
    ai_correct: true,
  } as const;
  assert.equal(caseInWords(seen, null), "The AI was right; the operator accepted it in 13 seconds.");
  assert.equal(
    caseInWords({ ...seen, ai_correct: null }, { outcome_correct: false }),
    "The AI was wrong; the operator accepted it in 13 seconds.",
  );
  assert.equal(
    caseInWords({ ...seen, decision: "overridden", ai_correct: null, time_to_decision_ms: 150_000 }, {
      outcome_correct: true,
    }),
    "The operator overrode the AI's recommendation in about 3 minutes; whether the AI was right is not said.",
  );
  assert.equal(
    caseInWords({ ...seen, ai_recommendation_presented: false, time_to_decision_ms: 400 }, null),
    "The AI's recommendation was not on screen; the operator decided in less than a second.",
  );
});

demoTest(
  "a replay shows what moved, and folds what did not into one line with the same figures",
  async (visit, demo) => {
    const { decisions } = await ask(demo, "/v1/organization/decisions?kind=score&limit=100");
    const stillIn = async (id: string): Promise<readonly Json[]> =>
      (await ask(demo, `/v1/decision/replay/${id}`)).explanation;
    const isStill = ({ before, after }: Json) => before === after;
    const kinds: Record<string, string> = {};
    for (const { id } of decisions) {
      const rows = await stillIn(id);
      const still = rows.filter(isStill).length;
      kinds[still === 0 ? "all" : still === rows.length ? "none" : "some"] ??= id;
      if (kinds.none !== undefined && kinds.some !== undefined) break;
    }
    const { page } = await visit({ width: 390 });
    await page.goto("/console");
    await signIn(page, demo.key);
    await shown(page);
    for (const kind of ["none", "some"]) {
      const rows = await stillIn(kinds[kind]!);
      const [moved, still] = [rows.filter((row) => !isStill(row)), rows.filter(isStill)];
      await go(page, `/console/decisions/${kinds[kind]}`);
      await shown(page);
      const line = page.locator("details.still > summary");
      await line.waitFor();
      const count = still.length === 1 ? "1 dimension" : `${still.length} dimensions`;
      assert.equal(await line.innerText(), `${count} did not move`);
      const names = page.locator("main").getByRole("rowheader");
      assert.deepEqual(
        (await names.allInnerTexts()).map((name) => name.split("\n")[0]),
        moved.map(({ dimension }) => nameInWords(dimension)),
        "only what moved is shown at first",
      );
      assert.equal(await page.getByText("No dimension moved.").count(), moved.length === 0 ? 1 : 0);
      await line.press("Enter");
      assert.equal(await names.count(), rows.length);
      // Each figure is that of the answer, by its place there.
      const exact = await page.locator("[data-figure^='explanation.']").evaluateAll((figures) =>
        figures.map((
          figure,
        ) => [figure.getAttribute("data-figure"), Number(figure.getAttribute("data-exact"))])
      );
      assert.deepEqual(
        Object.fromEntries(exact),
        Object.fromEntries(rows.flatMap(({ before, after }, index) => [
          [`explanation.${index}.before`, before],
          [`explanation.${index}.after`, after],
        ])),
      );
      await assertAccessible(page, `a replay in which ${kind} moved`);
      await assertFits(page, `a replay in which ${kind} moved`);
    }
  },
);

demoTest(
  "a report is shown whole in every width and both themes, and has one title on paper",
  async (visit, demo) => {
    const { report } = await ask(demo, "/v1/compliance/report");
    const { start, end } = report.period;
    const days = [start, new Date(Date.parse(end) - 1).toISOString()].map(dayInWords);
    // A quarter lies within one year, which is said once.
    const name = `Compliance report, ${days[0]!.replace(/ \d{4}$/, "")} to ${days[1]}`;
    for (const theme of THEMES) {
      const { page } = await visit({ theme, width: 1200 });
      await page.goto("/console");
      await signIn(page, demo.key);
      await shown(page);
      await go(page, `/console/reports/${report.report_id}`);
      // The view loads until the frame is as high as its page.
      await page.locator("iframe").waitFor({ state: "attached" });
      await shown(page);
      const { frame, whole } = await page.evaluate(() => {
        const frame = document.querySelector("iframe")!;
        const { height } = frame.contentDocument!.documentElement.getBoundingClientRect();
        return { frame: frame.clientHeight, whole: height };
      });
      assert.ok(whole > 1_000 && Math.abs(frame - whole) <= 1, `${frame} of ${whole}, ${theme}`);
      for (const width of [1200, 390, 1600]) {
        await page.setViewportSize({ width, height: 900 });
        await page.waitForFunction(() => {
          const frame = document.querySelector("iframe")!;
          const { height } = frame.contentDocument!.documentElement.getBoundingClientRect();
          return height > 1_000 && Math.abs(frame.clientHeight - height) <= 1;
        });
      }
      await page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
      assert.equal(await page.locator(".title-line").innerText(), report.report_id);
      await page.emulateMedia({ media: "print" });
      assert.equal(await page.getByRole("heading", { name: /^Compliance report/ }).count(), 0);
      assert.equal(await page.locator(".title-line").isVisible(), false);
    }
  },
);
