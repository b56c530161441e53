/**
 * Home and Trends in the console: people with the cause, the trend and one next step; the weeks of the organization in short,
 * and in full for all and for a team; two teams side by side. Every figure is the API's.
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { CAUSE_WORDS, conductOf, nextInWords, reasonInWords } from "../../src/web/console/case_words.ts";
import { weekInWords } from "../../src/pages/week_plots.ts";
import { scoreInWords } from "../../src/pages/wording.ts";
import { verdictWait } from "../../src/scoring/verdict_words.ts";
import { assertAccessible, assertFits, browserTests, THEMES } from "./browser.ts";
import { go, shown, signIn, signInByLink } from "./console.ts";
import { scoreRequest } from "../harness.ts";
import { type DemoService, sharedDemo, sharedWithEmpty } from "./demo_service.ts";

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

const homeTest = browserTests<DemoService>(sharedDemo(), ({ service }) => service.url);
const emptyTest = browserTests<DemoService>(sharedWithEmpty(), ({ service }) => service.url);

async function ask({ service, key }: DemoService, path: string): Promise<Json> {
  const { status, body } = await service.send(path, { key });
  assert.equal(status, 200, path);
  return body;
}

async function openHome(page: Page, { key }: DemoService): Promise<void> {
  await page.goto("/console");
  await signIn(page, key);
  await shown(page);
}

homeTest(
  "home begins with people: the cause, where the score goes, and one next step",
  async (visit, demo) => {
    const { page } = await visit();
    await openHome(page, demo);
    const { cases: found } = await ask(demo, "/v1/cases?include=present&limit=50");
    const isBelow = ({ present }: Json) => present.verdict === "non_compliant";
    const cases = [
      ...found.filter(isBelow).toSorted((one: Json, other: Json) => one.present.jis - other.present.jis),
      ...found.filter((one: Json) => !isBelow(one)),
    ].slice(0, 8);
    assert.ok(isBelow(cases[0]) && !isBelow(cases.at(-1)), "some are below the threshold and some are not");
    const items = page.getByRole("region", { name: "What needs attention" }).getByRole("listitem");
    assert.equal(await items.count(), cases.length);
    for (const [index, one] of cases.entries()) {
      const said = await items.nth(index).innerText();
      for (const text of [one.operator_id, reasonInWords(one), nextInWords(one)]) {
        assert.ok(said.includes(text), `${text} in ${said}`);
      }
      // How the operator judges comes before the interval and the counts.
      const { departs_when_wrong: wrong } = one.present.rates;
      const conduct = conductOf(one);
      assert.equal(conduct !== null, one.cause === "at_risk");
      if (conduct !== null) {
        assert.ok(said.indexOf(conduct.sentence) >= 0, `${conduct.sentence} in ${said}`);
        assert.ok(said.indexOf(conduct.sentence) < said.indexOf(reasonInWords(one)), said);
        const habit = wrong.high < 0.5 ? "Follows" : "Turns down or changes";
        const beginning = `${habit} most advice, right or wrong: departs from wrong advice in `;
        assert.ok(conduct.sentence.startsWith(beginning), conduct.sentence);
      }
      // The mark of the verdict says some causes already: nothing stands twice.
      const cause = CAUSE_WORDS[one.cause as keyof typeof CAUSE_WORDS];
      assert.equal(said.split(cause).length - 1, 1, `${cause} once in ${said}`);
      assert.equal(await items.nth(index).locator(`a[href="/console/cases/${one.case_id}"]`).count(), 1);
      const { change_30_days: change } = one.present;
      const arrow = change === null ? null : Math.abs(change) < 1 ? "→" : change > 0 ? "↗" : "↘";
      assert.equal(/[→↗↘]/.exec(said)?.[0] ?? null, arrow, `${change}: ${said}`);
      assert.equal(await items.nth(index).getByRole("link", { name: /^Open case/ }).count(), 1);
    }
    await items.first().getByRole("link", { name: /^Open case/ }).click();
    await page.getByRole("heading", { level: 1, name: cases[0].operator_id }).waitFor();
  },
);

homeTest(
  "home has the organization in short: figures of the API, each with a small picture, each the way to its chart",
  async (visit, demo) => {
    const { page } = await visit({ width: 390, height: 844 });
    await openHome(page, demo);
    const body = await ask(demo, "/v1/organization/weeks?limit=15");
    const last = body.weeks.at(-1);
    const { low, high } = last.median_interval;
    assert.equal(body.probes, null, "the demo opens no probe");
    const short = page.getByRole("region", { name: "In short, the last weeks" });
    const charts = [
      [
        "Median JIS",
        "median",
        `${scoreInWords(last.median_jis)} ${scoreInWords(low)} to ${scoreInWords(high)}, with 90 %`,
      ],
      [
        "Operators by verdict",
        "verdicts",
        `${last.verdicts.non_compliant} below ${last.verdicts.undetermined} undetermined, ${last.verdicts.compliant} meet it`,
      ],
      ["Sealed probes", "probes", "None was opened in these weeks"],
      ["Operators by week", "operators", `${last.operators} the lowest on top; thick: below, thin: meets it`],
    ] as const;
    const tiles = short.getByRole("listitem");
    assert.deepEqual(
      (await tiles.allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim()),
      charts.map(([name, , said]) => `${name} ${said}`),
    );
    // The charts, the map and the choices stand in Trends alone.
    assert.equal(await page.locator("main :is(table,figure,input,select):visible").count(), 0);
    assert.equal(await short.getByRole("img").count(), 3);
    for (const [name, chart] of charts) {
      await page.getByRole("link", { name, exact: true }).click();
      await page.waitForURL(`**/console/trends#first-${chart}`);
      await shown(page);
      const place = page.locator(`#first-${chart}`);
      await page.waitForFunction((id) => document.activeElement?.id === id, `first-${chart}`);
      const box = (await place.boundingBox())!;
      assert.ok(box.y >= 0 && box.y < 844, `${name} is in the window: ${box.y}`);
      await page.goBack();
      await page.getByRole("heading", { name: "What needs attention" }).waitFor();
      await shown(page);
    }
    await short.getByRole("link", { name: "undetermined" }).click();
    await page.waitForURL("**/console/operators?verdict=undetermined");
  },
);

homeTest(
  "the verdict on the organization says which condition failed, observed against allowed",
  async (visit, demo) => {
    const { page } = await visit();
    await openHome(page, demo);
    const { dashboard: { conditions, verdicts } } = await ask(demo, "/v1/organization/dashboard");
    assert.deepEqual(conditions.map(({ of, status }: Json) => [of, status]), [
      ["all", "non_compliant"],
      ["high_risk", "non_compliant"],
      ["critical", "undetermined"],
    ]);
    assert.deepEqual([conditions[0].below, conditions[0].open], [
      verdicts.non_compliant,
      verdicts.undetermined,
    ]);
    const rows = page.locator("[data-verdict] .conditions");
    const [heads, said] = await Promise.all(
      ["dt", "dd"].map((part) => rows.locator(part).allInnerTexts()),
    );
    const lines = heads!.map((head, index) => `${head} ${said![index]}`);
    // The sentences begin below one another and use the whole box.
    const edges = await rows.locator("dd").evaluateAll((all) =>
      all.map((one) => one.getBoundingClientRect())
    );
    assert.equal(new Set(edges.map(({ left }) => left)).size, 1);
    const box = (await page.locator("[data-verdict]").boundingBox())!;
    assert.ok(edges[0]!.right > box.x + box.width - 40, `${edges[0]!.right} of ${box.x + box.width}`);
    const [all, , critical] = conditions;
    const share = Math.floor(100 * all.below / all.operators);
    assert.match(
      lines[0]!,
      new RegExp(
        `^Fails ${all.below} of ${all.operators} operators \\(${share}[.\\d]* %\\) are certainly below 60, ${all.open} are not settled; allowed are 10 %\\.$`,
      ),
    );
    assert.equal(
      lines[2],
      `Open 0 of ${critical.operators} operators with critical decisions (0 %) are certainly below 40, ${critical.open} are not settled; allowed is none.`,
    );
    const last = await page.locator("[data-verdict] > p").last().innerText();
    assert.match(last, /Operators with an interaction in the last 90 days\.$/);
    await page.locator("[data-verdict]").getByRole("link", { name: String(all.below), exact: true }).click();
    await page.waitForURL("**/console/operators?verdict=non_compliant");
  },
);

homeTest(
  "the first line of home is the state of the organization, each part the way to what it counts",
  async (visit, demo) => {
    const { page } = await visit({ width: 390, height: 844 });
    await openHome(page, demo);
    const { dashboard: { total_operators: all, verdicts } } = await ask(demo, "/v1/organization/dashboard");
    const line = page.locator(".title-line");
    assert.equal(
      (await line.innerText()).replace(/\s+/g, " ").trim(),
      `Below the threshold · ${verdicts.non_compliant} of ${all} below · ${verdicts.undetermined} undetermined`,
    );
    await line.getByRole("link", { name: "Below the threshold" }).click();
    await page.waitForURL("**/console#organization-verdict");
    const box = (await page.locator("#organization-verdict").boundingBox())!;
    assert.ok(box.y >= 0 && box.y < 844, `the box is in the window: ${box.y}`);
    for (
      const [name, verdict] of [[/ below$/, "non_compliant"], [/ undetermined$/, "undetermined"]] as const
    ) {
      await line.getByRole("link", { name }).click();
      await page.waitForURL(`**/console/operators?verdict=${verdict}`);
      await page.goBack();
      await page.getByRole("heading", { name: "What needs attention" }).waitFor();
      await shown(page);
    }
  },
);

emptyTest(
  "while the cases of people below the threshold are not open yet, home and Cases do not say that all is well",
  async (visit, demo) => {
    for (const operator of ["ada", "ben"]) {
      const { interaction } = scoreRequest();
      const interactions = Array.from({ length: 80 }, (_, index) => ({
        ...interaction,
        session_id: `${operator}-${index}`,
        ai_correct: index % 2 === 0,
        outcome_correct: index % 2 === 0,
      }));
      const { status } = await demo.service.send("/v1/score/batch", {
        key: demo.key,
        body: { operator_id: operator, domain: "general", interactions },
      });
      assert.equal(status, 200);
    }
    const { dashboard: { verdicts } } = await ask(demo, "/v1/organization/dashboard");
    assert.equal(verdicts.non_compliant, 2);
    const { page } = await visit();
    await openHome(page, demo);
    const attention = page.getByRole("region", { name: "What needs attention" });
    await attention.getByText("the service opens their cases within an hour").waitFor();
    await assertAccessible(page, "home before the cases");
    await attention.getByRole("link", { name: "2 are below the threshold" }).click();
    await page.waitForURL("**/console/operators?verdict=non_compliant");
    await go(page, "/console/cases");
    await shown(page);
    const said = await page.locator("main").innerText();
    assert.ok(!said.includes("Nobody needs attention"), said);
    assert.match(said, /No case is open\. The service looks once an hour/);
    await page.getByRole("link", { name: "who is below the threshold" }).click();
    await page.waitForURL("**/console/operators?verdict=non_compliant");
  },
);

homeTest(
  "home tells on demand who is nearest to a verdict, each with the cases to label",
  async (visit, demo) => {
    const { page, requests, idle } = await visit();
    await openHome(page, demo);
    await idle();
    const before = requests.length;
    const { operators } = await ask(demo, "/v1/organization/operators?verdict=undetermined&limit=200");
    await page.getByText(`${operators.length} are undetermined.`).waitFor();
    const needed = ({ verdict }: Json) => verdict.wrong_cases_needed ?? verdict.right_cases_needed;
    const nearest = operators.filter((one: Json) => needed(one) !== null)
      .toSorted((one: Json, other: Json) => needed(one) - needed(other)).slice(0, 3);
    assert.equal(nearest.length, 3);
    await page.getByRole("button", { name: "Who is nearest to a verdict?" }).click();
    const items = page.getByRole("region", { name: "Nearest to a verdict" }).getByRole("listitem");
    await items.first().waitFor();
    await idle();
    assert.equal(requests.length, before + 1);
    for (const [index, one] of nearest.entries()) {
      const said = await items.nth(index).innerText();
      for (const text of [one.operator_id, verdictWait(one.verdict)!]) assert.ok(said.includes(text), said);
    }
    await assertAccessible(page, "home with those who are nearest to a verdict");
    await items.first().getByRole("link", { name: "Label the cases" }).click();
    await page.waitForURL(`**/console/labels?operator_id=${nearest[0].operator_id}`);
    await page.getByRole("heading", { level: 1, name: "Labels" }).waitFor();
    // In the list, what a verdict waits for leads there, too.
    await go(page, "/console/operators");
    await shown(page);
    const waits = page.getByRole("link", { name: verdictWait(nearest[0].verdict)! });
    const to = `/console/labels?operator_id=${nearest[0].operator_id}`;
    assert.ok((await waits.evaluateAll((all) => all.map((one) => one.getAttribute("href")))).includes(to));
  },
);

homeTest(
  "the weeks of Trends are those of the API, for all and for a team, and the address keeps the choice",
  async (visit, demo) => {
    const { page } = await visit();
    await openHome(page, demo);
    await page.getByRole("link", { name: "The weeks as charts, of all or of a team" }).click();
    await page.getByRole("heading", { level: 1, name: "Trends" }).waitFor();
    await shown(page);
    for (const team of [null, "Clinic"]) {
      if (team !== null) {
        await page.getByLabel("Team", { exact: true }).selectOption(team);
        await page.waitForURL(`**/console/trends?team=${team}`);
        await shown(page);
      }
      const body = await ask(demo, `/v1/organization/weeks?limit=15${team === null ? "" : `&team=${team}`}`);
      const rows = await page.locator("#first-median tbody tr").evaluateAll((found) =>
        found.map((row) => [...row.children].map((cell) => cell.textContent))
      );
      assert.deepEqual(
        rows,
        body.weeks.map(({ week_start, median_jis, median_interval: { low, high }, operators }: Json) => [
          week_start,
          scoreInWords(median_jis),
          `${scoreInWords(low)} to ${scoreInWords(high)}`,
          String(operators),
        ]),
      );
      const verdicts = await page.locator("#first-verdicts tbody tr").last().evaluate((row) =>
        [...row.children].slice(1).map((cell) => Number(cell.textContent))
      );
      const { compliant, undetermined, non_compliant } = body.weeks.at(-1).verdicts;
      assert.deepEqual(verdicts, [compliant, undetermined, non_compliant]);

      const map = page.getByRole("region", { name: "Scores by operator and week" });
      assert.deepEqual(
        await map.locator("thead th").allInnerTexts(),
        ["Operator", ...body.weeks.map(({ week_start }: Json) => weekInWords(week_start))],
      );
      const cells = await map.locator("tbody tr").evaluateAll((found) =>
        found.map((row) => [...row.children].map((cell) => cell.textContent!))
      );
      assert.deepEqual(
        cells.map(([name]) => name),
        body.operators.map(({ operator_id }: Json) => operator_id),
      );
      const signs: Record<string, string> = { compliant: "●", undetermined: "○", non_compliant: "◆" };
      for (const [row, { weeks }] of body.operators.entries()) {
        for (const [index, cell] of weeks.entries()) {
          const said = cells[row]![index + 1]!;
          if (cell === null) assert.equal(said, "–");
          else {
            assert.ok(said.startsWith(scoreInWords(cell.jis)), `${said}: ${cell.jis}`);
            assert.ok(said.includes(signs[cell.verdict]!), said);
            assert.equal(said.includes("no interaction in the week"), !cell.interacted);
          }
        }
      }
    }
    await page.goBack();
    await shown(page);
    assert.equal(await page.getByLabel("Team", { exact: true }).inputValue(), "");
  },
);

homeTest("two teams stand side by side, with what can be said of their difference", async (visit, demo) => {
  const { page, requests, idle } = await visit();
  await openHome(page, demo);
  await page.getByRole("link", { name: "Compare two periods or two teams" }).click();
  await page.getByRole("heading", { level: 1, name: "Trends" }).waitFor();
  await shown(page);
  await page.getByLabel("Weeks and team of the first").getByLabel("Team", { exact: true }).selectOption(
    "Clinic",
  );
  await shown(page);
  const second = page.getByLabel("Weeks and team of the second");
  await second.getByLabel("Team", { exact: true }).selectOption("Hiring");
  await shown(page);
  await idle();
  const before = requests.length;
  for (const label of ["From the week of (UTC)", "To that of (UTC)"]) {
    await second.getByLabel(label).fill("2020-01-06");
  }
  await idle();
  assert.equal(requests.length, before, "a date that is being typed asks for nothing");
  await second.getByRole("button", { name: "Show these weeks" }).click();
  await page.getByText("Nobody was scored in these weeks.").waitFor();
  await idle();
  assert.equal(requests.length, before + 1);
  await page.goBack();
  await shown(page);
  const [clinic, hiring] = await Promise.all(
    ["Clinic", "Hiring"].map((team) => ask(demo, `/v1/organization/weeks?team=${team}&limit=0`)),
  );
  const [one, other] = [clinic.weeks.at(-1), hiring.weeks.at(-1)];
  const apart = one.median_interval.low > other.median_interval.high ||
    other.median_interval.low > one.median_interval.high;
  const heading = apart ? "The medians differ clearly" : "The medians do not differ clearly";
  const said = await page.locator(".notice").filter({ hasText: heading }).innerText();
  for (const text of ["Clinic", "Hiring", scoreInWords(one.median_jis), scoreInWords(other.median_jis)]) {
    assert.ok(said.includes(text), `${text} in ${said}`);
  }
});

homeTest("an admin sets an operator's team from the operator's page", async (visit, demo) => {
  const { page, expectErrors } = await visit();
  await signInByLink(page, demo);
  await go(page, "/console/operators/reviewer-chen");
  await shown(page);
  await page.getByRole("button", { name: "Set the team" }).click();
  // A refusal stands at the field, and names no field of the request.
  expectErrors(/422/);
  await page.getByLabel("Name of the team").fill("x".repeat(500));
  await page.getByRole("button", { name: "Set it" }).click();
  await page.getByText(/^The name must be 1 to \d+ characters after trimming\.$/).waitFor();
  assert.equal(await page.getByLabel("Name of the team").getAttribute("aria-invalid"), "true");
  assert.ok(!(await page.locator("main").innerText()).includes("assignments"));
  await page.getByLabel("Name of the team").fill("Second line");
  await page.getByRole("button", { name: "Set it" }).click();
  await page.locator("[data-figure='profile.team']").filter({ hasText: "Second line" }).waitFor();
  assert.equal((await ask(demo, "/v1/operator/reviewer-chen/profile")).profile.team, "Second line");
  await page.getByRole("button", { name: "Set the team" }).click();
  await page.getByRole("button", { name: "Take the team away" }).click();
  await page.getByText("No team · ").waitFor();
  await assertAccessible(page, "the operator without a team");
});

homeTest(
  "charts of weeks keep their text whole, apart and legible, and paper says what is chosen",
  async (visit, demo) => {
    for (const [width, least] of [[1200, 12], [390, 12], [360, 11]] as const) {
      const { page } = await visit({ width });
      await openHome(page, demo);
      await go(page, "/console/trends");
      await shown(page);
      const charts = page.locator(".of-weeks svg");
      assert.equal(await charts.count(), 2);
      for (const chart of await charts.all()) {
        const { outside, touching, size } = await chart.evaluate((svg) => {
          const frame = svg.getBoundingClientRect();
          const texts = [...svg.querySelectorAll("text")].map((text) => ({
            said: text.textContent,
            box: text.getBoundingClientRect(),
          }));
          const lies = ({ left, right, top, bottom }: DOMRect) =>
            left >= frame.left - 0.5 && right <= frame.right + 0.5 && top >= frame.top - 0.5 &&
            bottom <= frame.bottom + 0.5;
          return {
            outside: texts.filter(({ box }) => !lies(box)).map(({ said }) => said),
            touching: texts.flatMap((one, index) =>
              texts.slice(index + 1).filter(({ box }) =>
                box.left < one.box.right + 4 && one.box.left < box.right + 4 &&
                box.top < one.box.bottom - 2 &&
                one.box.top < box.bottom - 2
              ).map((other) => `${one.said} and ${other.said}`)
            ),
            size: parseFloat(getComputedStyle(svg).fontSize) * frame.width /
              (svg as SVGSVGElement).viewBox.baseVal.width,
          };
        });
        assert.deepEqual([outside, touching], [[], []], `at ${width}`);
        assert.ok(size >= least, `text of ${size} pixels at ${width}`);
      }
      await page.getByText("90 % range of the median", { exact: true }).waitFor();
      await go(page, "/console/trends?team=Clinic");
      await shown(page);
      await page.emulateMedia({ media: "print" });
      await page.getByText(/^Weeks: \d+ \w+ \d{4} to \d+ \w+ \d{4} · Team: Clinic$/).waitFor();
    }
  },
);

for (const theme of THEMES) {
  homeTest(`home and trends are accessible and fit a phone, in the ${theme} theme`, async (visit, demo) => {
    for (const width of [1280, 390]) {
      const { page } = await visit({ theme, width });
      await openHome(page, demo);
      for (
        const view of ["", "/trends?team=Credit", "/trends", "/trends?compare=1&team=Clinic&team2=Credit"]
      ) {
        await go(page, `/console${view}`);
        await shown(page);
        await assertAccessible(page, `${view} at ${width}`);
        await assertFits(page, `${view} at ${width}`);
      }
    }
  });
}
