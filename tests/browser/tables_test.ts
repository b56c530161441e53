/**
 * The tables of the console: sorted by their heads, searched and limited by the address, saved as CSV, as cards on a telephone,
 * in local time, and with one decimal for a score.
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { VerdictStatus } from "../../src/domain/enums.ts";
import { dayInWords, scoreInWords } from "../../src/pages/wording.ts";
import { conductOf } from "../../src/web/console/case_words.ts";
import { VERDICT_WORDS } from "../../src/scoring/verdict_words.ts";
import { scoreRequest } from "../harness.ts";
import type { RunningService } from "../program.ts";
import { assertAccessible, assertFits, browserTests, focused } from "./browser.ts";
import { go, shown, signIn } from "./console.ts";
import { type DemoService, sharedDemo, sharedWithEmpty } from "./demo_service.ts";

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

const demoTest = browserTests<DemoService>(sharedDemo(), ({ service }) => service.url);
const emptyTest = browserTests<DemoService>(sharedWithEmpty(), ({ service }) => service.url);

async function ask({ service, key }: DemoService, path: string): Promise<Json> {
  const { status, body } = await service.send(path, { key });
  assert.equal(status, 200, path);
  return body;
}

/** Signs in as an admin whose session a reload keeps. */
async function signInAsAdmin(page: Page, { service, key }: DemoService): Promise<void> {
  const { body }: Json = await service.send("/v1/users", {
    key,
    body: { email: `${crypto.randomUUID()}@demo.example`, name: '=Ada, the "admin"', role: "admin" },
  });
  await page.goto(body.link);
  await page.getByLabel(/^Password/).fill("correct horse battery");
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.getByRole("navigation", { name: "Console" }).waitFor();
}

/** The names of the rows, without what stands in a second line. */
const names = (page: Page) => page.locator("main tbody > tr > th > a").allInnerTexts();

/** The texts of one column, by its head. */
const column = (page: Page, head: string) =>
  page.locator(`main tbody > tr > [data-label="${head}"]`).allInnerTexts();

async function parameters(page: Page): Promise<Record<string, string>> {
  await shown(page);
  return Object.fromEntries(new URL(page.url()).searchParams);
}

const head = (page: Page, name: string) => page.getByRole("columnheader", { name });

async function saved(page: Page, table: string): Promise<readonly [name: string, rows: readonly string[][]]> {
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: new RegExp(`^(Save as CSV|CSV of these rows): ${table}$`) }).click();
  const download = await saving;
  const text = await Deno.readTextFile((await download.path())!);
  assert.ok(text.startsWith("\uFEFF"), "the mark of UTF-8");
  return [download.suggestedFilename(), rowsOf(text.slice(1))];
}

/** A reader of RFC 4180 that knows nothing of the writer. */
function rowsOf(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (let at = 0; at < text.length;) {
    let cell = "";
    if (text[at] === '"') {
      for (at += 1;; at += 1) {
        if (text[at] === '"' && text[at + 1] === '"') at += 1;
        else if (text[at] === '"') break;
        cell += text[at];
      }
      at += 1;
    } else {
      for (; at < text.length && text[at] !== "," && text[at] !== "\r"; at += 1) cell += text[at];
    }
    row.push(cell);
    if (text[at] === ",") at += 1;
    else {
      assert.equal(text.slice(at, at + 2), "\r\n");
      at += 2;
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

async function scoreMany(service: RunningService, key: string, operators: readonly string[]): Promise<void> {
  for (const operator_id of operators) {
    const { status } = await service.send("/v1/score", {
      key,
      body: scoreRequest({ session_id: `of-${operator_id}`, operator_id }),
    });
    assert.equal(status, 200);
  }
}

demoTest(
  "a head sorts its table, by mouse and keyboard, and the address keeps the order",
  async (visit, demo) => {
    const { page, requests, idle } = await visit();
    await signInAsAdmin(page, demo);
    await go(page, "/console/operators");
    await shown(page);
    const idsIn = async (sort: string) =>
      (await ask(demo, `/v1/organization/operators?sort=${sort}&limit=50`)).operators.map((row: Json) =>
        row.operator_id
      );
    // Those who need somebody come first.
    assert.equal(await head(page, "Verdict").getAttribute("aria-sort"), "ascending");
    assert.deepEqual(await names(page), await idsIn("verdict"));
    const { operators: all } = await ask(demo, "/v1/organization/operators?limit=50");
    const below = all.filter(({ verdict }: Json) => verdict.status === "non_compliant");
    assert.ok(below.length > 1);
    assert.equal(
      (await names(page))[0],
      below.toSorted((one: Json, other: Json) => one.jis - other.jis)[0].operator_id,
    );
    await head(page, "Operator").getByRole("link", { name: "Operator" }).click();
    assert.deepEqual(await parameters(page), { sort: "operator_id" });
    assert.deepEqual(await names(page), await idsIn("operator_id"));

    await head(page, "JIS").getByRole("link", { name: "JIS" }).click();
    assert.deepEqual(await parameters(page), { sort: "jis" });
    assert.equal(await head(page, "JIS").getAttribute("aria-sort"), "ascending");
    assert.equal(await head(page, "Operator").getAttribute("aria-sort"), null);
    assert.deepEqual(await names(page), await idsIn("jis"));
    assert.equal(await focused(page), "JIS", "the focus stays on the head");
    await page.keyboard.press("Enter");
    await page.waitForURL("**sort=-jis");
    await shown(page);
    assert.equal(await head(page, "JIS").getAttribute("aria-sort"), "descending");
    assert.deepEqual(await names(page), await idsIn("-jis"));
    await page.reload();
    await shown(page);
    assert.deepEqual(await names(page), await idsIn("-jis"), "a reload keeps the order");
    await page.goBack();
    await page.waitForURL("**sort=jis");
    await shown(page);
    assert.deepEqual(await names(page), await idsIn("jis"), "back leads to the order before");

    // The demo's operators are in one answer: a head that the service has no order for sorts in the browser.
    await idle();
    const before = requests.length;
    await go(page, "/console/operators?verdict=undetermined");
    await shown(page);
    const trends = await page.locator("main tbody .trend").allInnerTexts();
    for (const said of [/^→ steady/, /^↗ \+\d/, /^no interaction$/, /^new$/]) {
      assert.ok(trends.some((text) => said.test(text)), `${said} in ${trends}`);
    }
    for (const text of await column(page, "Verdict")) assert.match(text, /^Undetermined\n\S/);
    const domains = async () =>
      (await column(page, "Operator")).map((text) => text.split("\n")[1]!.split(",")[0]!);
    await head(page, "Domain").getByRole("link", { name: "Domain" }).click();
    assert.deepEqual(await parameters(page), { verdict: "undetermined", sort: "domain" });
    assert.equal(await focused(page), "Domain", "the focus stays on its own order of the head");
    const ascending = await domains();
    assert.deepEqual(ascending, ascending.toSorted());
    assert.ok(new Set(ascending).size > 1);
    await head(page, "Domain").getByRole("link", { name: "Domain" }).click();
    const descending = await domains();
    assert.deepEqual(descending, ascending.toSorted().toReversed());
    await idle();
    assert.equal(requests.length, before + 1, "sorting here asks nothing of the service");
    // The figures are still those of their own row.
    const { operators } = await ask(
      demo,
      "/v1/organization/operators?verdict=undetermined&sort=verdict&limit=50",
    );
    for (const [at, id] of (await names(page)).entries()) {
      const index = operators.findIndex((row: Json) => row.operator_id === id);
      const figure = page.locator("main tbody > tr").nth(at).locator(
        `[data-figure="operators.${index}.jis"]`,
      );
      assert.equal(await figure.getAttribute("data-exact"), String(operators[index].jis), id);
    }
  },
);

demoTest(
  "lists that the service has in one order are sorted only if the page has all rows",
  async (visit, demo) => {
    const { page } = await visit();
    await page.goto("/console");
    await signIn(page, demo.key);
    await go(page, "/console/decisions?sort=domain");
    await shown(page);
    assert.equal(await page.locator("main thead a").count(), 0, "one page of many is not sorted by itself");
    assert.equal(await head(page, "When").getAttribute("aria-sort"), "descending");
    const { decisions } = await ask(demo, "/v1/organization/decisions?limit=50");
    assert.deepEqual(await names(page), decisions.map(({ id }: Json) => id), "the address cannot force it");

    const operator = decisions[0].operator_id;
    const [first] = (await ask(demo, `/v1/organization/decisions?operator_id=${operator}&limit=1`)).decisions;
    const day = first.timestamp.slice(0, 10);
    await page.getByLabel("Operator id").fill(operator);
    await page.getByLabel("From (UTC)").fill(day);
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.waitForURL(`**operator_id=${operator}&since=${day}**`);
    assert.deepEqual(await parameters(page), { operator_id: operator, since: day, sort: "domain" });
    await page.emulateMedia({ media: "print" });
    await page.getByText(`Operator: ${operator} · From (UTC): ${dayInWords(day)}`, { exact: true }).waitFor();
    await page.emulateMedia({ media: "screen" });
    const part = await ask(demo, `/v1/organization/decisions?operator_id=${operator}&since=${day}&limit=50`);
    assert.ok(part.decisions.length > 0 && part.next_cursor === null);
    assert.deepEqual((await names(page)).toSorted(), part.decisions.map(({ id }: Json) => id).toSorted());
    await head(page, "When").getByRole("link").click();
    assert.equal((await parameters(page)).sort, "timestamp");
    assert.deepEqual(
      await page.locator("main tbody time").evaluateAll((times) =>
        times.map((time) => time.getAttribute("datetime"))
      ),
      part.decisions.map(({ timestamp }: Json) => timestamp).toReversed(),
    );
    await page.getByLabel("Until, excluded (UTC)").fill(day);
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.getByText("Nothing was scored in this time").waitFor();
  },
);

demoTest(
  "in the list of decisions verdict and score stand in one column, as the operator's after it",
  async (visit, demo) => {
    const { page } = await visit();
    const { decisions: scores } = await ask(demo, "/v1/organization/decisions?limit=50");
    // The demo has no decision that is scored for its risk.
    const risk = {
      jis: null,
      band: null,
      verdict: null,
      decision_risk_score: 0.42,
      routing_decision: "human_review",
    };
    await page.route("**/v1/organization/decisions*", async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      body.decisions[0] = { ...body.decisions[0], kind: "decision", ...risk };
      await route.fulfill({ response, json: body });
    });
    await page.goto("/console");
    await signIn(page, demo.key);
    await go(page, "/console/decisions");
    await page.getByRole("columnheader").first().waitFor();
    const heads = await page.getByRole("columnheader").evaluateAll((all) =>
      all.map(({ firstChild }) => firstChild!.textContent!.replace(/ [↕▲▼]$/, ""))
    );
    assert.deepEqual(heads, ["Record", "Operator", "When", "Decision", "Operator afterwards"]);
    const [first, ...others] = await column(page, "Operator afterwards");
    assert.equal(first, "Unchanged\nRisk of this decision 0.42, human review");
    assert.equal(others.length, scores.length - 1);
    for (const [at, text] of others.entries()) {
      const { verdict, jis } = scores[at + 1];
      const [said, score] = text.split("\n");
      assert.equal(said, VERDICT_WORDS[verdict as VerdictStatus]);
      assert.ok(score!.startsWith(`JIS ${scoreInWords(jis)}, `), score);
    }
    await assertAccessible(page, "the decisions");
    await page.setViewportSize({ width: 390, height: 800 });
    const cell = page.locator(`main tbody [data-label="Operator afterwards"]`).last();
    assert.match(await cell.innerText(), /^Operator afterwards \S/, "a card says it, too");
    await assertFits(page, "the decisions on a phone");
  },
);

emptyTest(
  "contests, audit log and reports say nothing that the same page does not bear out",
  async (visit, demo) => {
    const { page } = await visit();
    await page.goto("/console/contests");
    await signIn(page, demo.key);
    await shown(page);
    const main = page.locator("main");
    const said = async () => (await main.innerText()).replace(/\s+/g, " ");
    assert.match(await said(), /Operators contest on their own page\. To issue its link, open an operator\./);
    await go(page, "/console/audit-log");
    await shown(page);
    assert.match(await said(), /an administrator sets how long they stay\./);
    await go(page, "/console/reports");
    await shown(page);
    assert.match(await said(), /A report is evidence for a deployer's own assessment/);
    await go(page, "/console/contests");
    await shown(page);
    await main.getByRole("link", { name: "open an operator" }).click();
    await page.waitForURL("**/console/operators");
  },
);

emptyTest(
  "operators are found by a part of the name, among more than one page of them",
  async (visit, demo) => {
    const ids = Array.from({ length: 60 }, (_, index) => `reviewer-${String(index).padStart(2, "0")}`);
    await scoreMany(demo.service, demo.key, [...ids, "Anna_Lee", "joanna"]);
    const { page, requests, idle } = await visit();
    await page.goto("/console");
    await signIn(page, demo.key);
    await go(page, "/console/operators");
    await shown(page);
    assert.equal(
      await page.locator("main p[role=status]").innerText(),
      "50 operators on this page; more follow.",
    );
    // The service has no order by domain, and this page is not the list.
    for (const name of ["Domain", "Interval"]) {
      assert.equal(await head(page, name).getByRole("link", { name }).count(), 0, name);
    }
    for (const name of ["Operator", "Verdict", "JIS", "Latest"]) {
      assert.equal(await head(page, name).getByRole("link", { name }).count(), 1, name);
    }
    for (const sort of ["operator_id", "-operator_id"]) {
      await head(page, "Operator").getByRole("link").click();
      assert.deepEqual(await parameters(page), { sort });
    }
    assert.equal((await names(page))[0], "reviewer-59");
    await page.getByRole("link", { name: "Next page" }).click();
    await page.getByRole("link", { name: "Anna_Lee" }).waitFor();
    assert.deepEqual((await names(page)).at(-1), "Anna_Lee");

    const field = page.getByRole("searchbox", { name: "Part of the name" });
    await idle();
    const before = requests.length;
    await field.pressSequentially("ANNA");
    await idle();
    assert.equal(requests.length, before, "no letter asks by itself");
    await field.press("Enter");
    await page.waitForURL("**q=ANNA**");
    assert.deepEqual(await parameters(page), { q: "ANNA", sort: "-operator_id" });
    assert.deepEqual(await names(page), ["joanna", "Anna_Lee"]);
    assert.equal(await page.locator("main p[role=status]").innerText(), "2 operators.");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "q", "the next search can be typed");
    await idle();
    assert.equal(requests.length, before + 1);
    // With a filter, and the other way round.
    await page.getByLabel("Band").selectOption("Exemplary");
    await page.getByText("No operator with “ANNA” in the name passes these filters.").waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "joanna" }).waitFor();
    assert.equal(await field.inputValue(), "ANNA", "back brings the search");
    await page.getByRole("button", { name: "Clear the search" }).click();
    await page.waitForURL((url) => !url.searchParams.has("q"));
    assert.deepEqual(await parameters(page), { sort: "-operator_id" });
    assert.equal(await field.inputValue(), "");
    assert.equal(await page.getByRole("button", { name: "Clear the search" }).count(), 0);
    await field.fill("nobody");
    await field.press("Enter");
    await page.getByText("No operator has a name with “nobody” in it.").waitFor();
    // A character that no name has is not sent.
    await field.fill("a b");
    await field.press("Enter");
    assert.equal(await field.evaluate((input: HTMLInputElement) => input.validity.patternMismatch), true);
  },
);

demoTest(
  "each table is saved as it is shown, with unrounded values and instants in UTC",
  async (visit, demo) => {
    const { page, requests, idle } = await visit({ timezone: "Asia/Kolkata" });
    await signInAsAdmin(page, demo);
    await go(page, "/console/operators?verdict=undetermined&sort=-jis");
    await shown(page);
    await idle();
    const before = requests.length;
    const [name, [columns, ...rows]] = await saved(page, "Operators");
    await idle();
    assert.equal(requests.length, before, "nothing is asked for it");
    assert.match(name, /^operators-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.csv$/);
    const { operators } = await ask(
      demo,
      "/v1/organization/operators?verdict=undetermined&sort=-jis&limit=50&include=sparkline",
    );
    const at = (name: string) => columns!.indexOf(name);
    assert.deepEqual(rows.map((row) => row[0]), await names(page), "in the order of the page");
    assert.deepEqual(
      rows.map((row) =>
        ["operator_id", "jis", "low", "high", "change_30_days", "last_interaction_at"]
          .map((name) => row[at(name)])
      ),
      operators.map((
        { operator_id, jis, uncertainty: { low, high }, change_30_days, last_interaction_at }: Json,
      ) => [
        ...[operator_id, String(jis), String(low), String(high), String(change_30_days ?? "")],
        last_interaction_at,
      ]),
    );
    assert.ok(operators.some(({ jis }: Json) => !Number.isInteger(jis * 10)), "some score has two decimals");

    // Sorted here, it is saved in that order.
    await go(page, "/console/users?sort=name");
    await shown(page);
    const [, [, ...users]] = await saved(page, "Users");
    assert.deepEqual(
      users.map((row) => row[1]!.replace(/^'/, "")),
      (await column(page, "Name")).map((text) => text.split("\n")[0]),
    );
    const dangerous = users.find((row) => row[1]!.includes('the "admin"'))!;
    assert.equal(dangerous[1], '\'=Ada, the "admin"', "no spreadsheet runs a name");

    await go(page, "/console/audit-log?event_type=USER_INVITED");
    await shown(page);
    const [, [, ...events]] = await saved(page, "Events");
    assert.equal(events.length, await page.locator("main tbody > tr").count());
    assert.ok(events.every((row) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(row[1]!)));
    assert.ok(events.every((row) => row[2] === "USER_INVITED"));

    await go(page, "/console/decisions");
    await shown(page);
    const [, [, ...decisions]] = await saved(page, "Decisions");
    assert.equal(decisions.length, await page.locator("main tbody > tr").count());
    assert.ok(decisions.length > 0);

    await go(page, "/console/cases");
    await shown(page);
    const [, [named, ...cases]] = await saved(page, "Cases");
    const { cases: served } = await ask(demo, "/v1/cases?include=present&limit=50");
    const byId = new Map<string, Json>(served.map((one: Json) => [one.case_id, one]));
    assert.equal(cases.length, served.length);
    const cell = (row: readonly string[], name: string) => row[named!.indexOf(name)]!;
    const steps = await page.locator("main tbody [data-label='Next step']").allTextContents();
    for (const [place, row] of cases.entries()) {
      const one = byId.get(cell(row, "case_id"));
      const { verdict, jis, low, high, change_30_days } = one.present;
      assert.deepEqual(
        ["verdict", "jis", "low", "high", "change_30_days"].map((name) => cell(row, name)),
        [verdict ?? "", ...[jis, low, high, change_30_days ?? ""].map(String)],
      );
      assert.equal(cell(row, "how_the_operator_judges"), conductOf(one)?.habit ?? "");
      assert.equal(cell(row, "next_step"), steps[place]);
    }
    assert.ok(cases.some((row) => cell(row, "how_the_operator_judges") !== ""));
  },
);

demoTest(
  "instants are in the time of the browser, with UTC on hover and for machines",
  async (visit, demo) => {
    const { operators: [{ last_interaction_at: at }] } = await ask(
      demo,
      "/v1/organization/operators?sort=verdict",
    );
    for (
      const [timezone, minutes, zone] of [
        ["Asia/Kolkata", 330, "GMT+5:30"],
        ["Etc/GMT+3", -180, "GMT-3"],
        ["UTC", 0, "UTC"],
      ] as const
    ) {
      const { page } = await visit({ timezone });
      await page.goto("/console");
      await signIn(page, demo.key);
      await go(page, "/console/operators");
      await shown(page);
      const time = page.locator("main tbody time").first();
      const local = new Date(Date.parse(at) + minutes * 60_000).toUTCString();
      const [, day, month, year, clock] = /, (\d\d) (\w{3}) (\d{4}) (\d\d:\d\d)/.exec(local)!;
      assert.equal(
        (await time.innerText()).replace("Sept", "Sep"),
        `${Number(day)} ${month} ${year}, ${clock} ${zone}`,
      );
      assert.equal(await time.getAttribute("title"), at);
      assert.equal(await time.getAttribute("datetime"), at);
      // A report's period has UTC days wherever the browser is.
      await go(page, "/console/reports");
      await shown(page);
      for (const text of await column(page, "Period")) {
        assert.match(
          text,
          /^\d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d$/,
        );
      }
    }
  },
);

demoTest("a score has one decimal in every view, and its exact value on hover", async (visit, demo) => {
  const { page } = await visit();
  await page.goto("/console");
  await signIn(page, demo.key);
  const { cases } = await ask(demo, "/v1/cases");
  for (
    const view of [
      ...["", "/operators", "/operators/reviewer-ada", "/decisions?kind=score", "/decisions/demo-01-0100"],
      `/cases/${cases[0].case_id}`,
    ]
  ) {
    await go(page, `/console${view}`);
    await shown(page);
    const scores = await page.locator("[data-exact]").evaluateAll((figures) =>
      figures.map((
        figure,
      ) => [figure.textContent!, figure.getAttribute("data-exact")!, figure.getAttribute("title")!])
    );
    assert.ok(scores.length > 0, view);
    for (const [text, exact, title] of scores) {
      assert.match(text!, /^-?\d+\.\d$/, view);
      assert.equal(text, scoreInWords(Number(exact)), view);
      assert.equal(title, exact);
    }
    const bare = await page.locator("[data-figure]").evaluateAll((figures) =>
      figures.filter((figure) =>
        /(?:^|\.)(?:jis|low|high|mean_jis|median_jis)$/.test(figure.getAttribute("data-figure")!)
      )
        .filter((figure) => !/^-?\d+\.\d$/.test(figure.textContent!)).map((figure) => figure.outerHTML)
    );
    assert.deepEqual(bare, [], view);
  }
});

/** Tables whose columns all fit beside each other in a window of 1,024 pixels or more. */
const FITTING: readonly (string | null)[] = ["Operators", "Decisions", "Cases"];
/** Rows and cards that also say the next step in full. */
const TALL: readonly (string | null)[] = ["Cases"];
/** The most pixels that a row takes on a wide window, three lines or five with the next step, and a card on a telephone. */
const MOST_HIGH = { row: 80, tall: 110, card: 150 };

demoTest("the audit log has its events, their makers and their details in words", async (visit, demo) => {
  const { body: key }: Json = await demo.service.send("/v1/keys", {
    key: demo.key,
    body: { name: "desk in words", scopes: ["score", "read"] },
  });
  const { page } = await visit();
  await signInAsAdmin(page, demo);
  await go(page, "/console/audit-log");
  await shown(page);
  const made = page.getByRole("row").filter({ hasText: "Named key made" }).first();
  await made.getByText("NAMED_KEY_CREATED").waitFor();
  assert.match(
    (await made.locator("time").first().innerText()).replaceAll("\n", " "),
    /^\d+ \w+ \d{4}, \d\d:\d\d:\d\d UTC$/,
    "events of one minute are told apart",
  );
  await made.getByRole("cell", { name: "A key" }).waitFor();
  // Names and lists in words, ids as code; what is null is left out.
  assert.deepEqual(await made.locator(".event-fact").allInnerTexts(), [
    `Key ${key.key_id}`,
    "Name desk in words",
    "Scopes score, read",
  ]);
  assert.equal(await made.locator(".event-fact code").innerText(), key.key_id);
  const invited = page.getByRole("row").filter({ hasText: "User invited" }).first();
  await invited.getByText('=Ada, the "admin"').waitFor();
  assert.match(
    (await invited.locator(".event-fact").allInnerTexts()).join("; "),
    /Link ends \d+ \w+ \d{4}, \d\d:\d\d UTC; Role admin/,
  );
  assert.equal(await invited.locator(".event-fact time").count(), 1);
  // A long value is folded.
  const begun = page.getByRole("row").filter({ hasText: "Log begun" }).last();
  assert.equal(await begun.locator("code").filter({ hasText: "jiss.local" }).first().isVisible(), false);
  await begun.getByText("Verification key").click();
  await begun.locator("code").filter({ hasText: /\+[0-9a-f]{8}\+/ }).waitFor();
  // The filter has both names, and so has the file the machine's.
  await page.getByLabel("Event", { exact: true }).selectOption({
    label: "Named key made (NAMED_KEY_CREATED)",
  });
  await page.waitForURL("**event_type=NAMED_KEY_CREATED");
});

// At 1,040 the bar of views stands beside the tables, which then have least room.
for (const width of [390, 1024, 1040, 1200]) {
  demoTest(`every table is accessible and fits a window of ${width} pixels`, async (visit, demo) => {
    await demo.service.send("/v1/keys", {
      key: demo.key,
      body: { name: `desk ${width}`, scopes: ["score"] },
    });
    await demo.service.send("/v1/compliance/report?period_start=2026-01-01&period_end=2026-12-01", {
      key: demo.key,
    });
    const { page } = await visit({ width });
    await signInAsAdmin(page, demo);
    for (
      const [view, table] of [
        ...[["/operators", "Operators"], ["/decisions", "Decisions"], ["/cases?state=all", "Cases"]],
        ...[["/reports", "Issued reports"], ["/audit-log", "Events"], ["/users", "Users"]],
        ...[["/key", "Named keys"], ["/account", "Sessions"]],
        ["/decisions/demo-01-0100", null],
        ["/operators/reviewer-ada", null],
        ["/contests", null],
      ] as const
    ) {
      await go(page, `/console${view}`);
      await shown(page);
      await assertFits(page, `${view} at ${width}`);
      await assertAccessible(page, `${view} at ${width}`);
      if (table === null) continue;
      const region = page.getByRole("region", { name: table!, exact: true });
      await region.first().waitFor();
      // The roles stay, whatever the style makes of the rows.
      assert.ok(await region.getByRole("rowheader").count() > 0, view);
      assert.ok(await region.getByRole("columnheader").count() > 1, view);
      const [layout] = await region.evaluateAll((regions) =>
        regions.map((region) => {
          const cell = region.querySelector("tbody td")!;
          const heads = [...region.querySelectorAll("thead th")];
          return {
            label: getComputedStyle(cell, "::before").content,
            display: getComputedStyle(cell.parentElement!).display,
            isShort: region.querySelector("table")!.classList.contains("short"),
            mostHigh: Math.max(
              ...[...region.querySelectorAll("tbody > tr")].map((row) => row.getBoundingClientRect().height),
            ),
            isNamed: heads[1]!.textContent!.startsWith(cell.getAttribute("data-label")!),
            isWide: region.scrollWidth > region.clientWidth,
          };
        })
      );
      const isCard = width === 390;
      if (table === "Operators") {
        const words = region.getByRole("row").nth(1).locator(".on-card");
        assert.deepEqual(await words.allTextContents(), ["30 days", "Latest"]);
        for (const word of await words.all()) assert.equal(await word.isVisible(), isCard);
      }
      assert.equal(layout!.display, isCard ? layout!.isShort ? "flex" : "block" : "table-row", view);
      // Most cells of a short card say themselves what they are.
      assert.equal(layout!.label.startsWith('"'), isCard && !layout!.isShort, `${view}: ${layout!.label}`);
      assert.ok(layout!.isNamed, `${view}: the label is the head`);
      if (isCard) assert.equal(layout!.isWide, false, `${view} scrolls sideways`);
      if (FITTING.includes(table)) {
        assert.equal(layout!.isWide, false, `${view} at ${width} scrolls sideways`);
        const isTall = TALL.includes(table);
        if (isCard && isTall) continue;
        const most = MOST_HIGH[isCard ? "card" : isTall ? "tall" : "row"];
        assert.ok(layout!.mostHigh <= most, `${view} at ${width}: ${layout!.mostHigh}`);
      }
    }
  });
}

demoTest("on a telephone the heads that sort stand above the cards", async (visit, demo) => {
  const { page } = await visit({ width: 390 });
  await page.goto("/console");
  await signIn(page, demo.key);
  await go(page, "/console/operators");
  await shown(page);
  const link = head(page, "JIS").getByRole("link", { name: "JIS" });
  const box = (await link.boundingBox())!;
  assert.ok(box.height >= 24 && box.width >= 24, JSON.stringify(box));
  await link.click();
  await page.waitForURL("**sort=jis");
  await shown(page);
  assert.equal(await head(page, "JIS").getAttribute("aria-sort"), "ascending");
});
