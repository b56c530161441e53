/**
 * `/demo` from its first page to the shared link: by mouse and by keyboard; what is measured, posted and
 * shown; without the collector, without the service; accessible and narrow.
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { recordedInteractionSchema } from "../../src/domain/interaction.ts";
import { scoreInWords } from "../../src/scoring/wording.ts";
import type { JissMeasurement } from "../../src/web/collector/main.ts";
import { CASES, FIRST_CASES, outcomeOf } from "../../src/web/demo/cases.ts";
import type { Assessment } from "../../src/web/demo/run.ts";
import type { RunningService } from "../program.ts";
import {
  assertAccessible,
  assertFits,
  browserTests,
  focused,
  tabTo,
  tabToChoices,
  THEMES,
} from "./browser.ts";
import { sharedService } from "./demo_service.ts";

/** Not the default, so that the page is seen to state this service's value. */
const RETENTION_DAYS = "7";
/** Each run has a session id of its own. */
const withService = sharedService({ JISS_ASSESSMENT_RETENTION_DAYS: RETENTION_DAYS });

const browserTest = browserTests<RunningService>(
  (use) => withService(({ service }) => use(service)),
  ({ url }) => url,
);

// ---- a visitor --------------------------------------------------------------------------------------------

/** For each case the choice that its facts support, and the first one, which accepts if there is advice. */
const RIGHT = CASES.map((demoCase) =>
  demoCase.choices.findIndex((choice) => outcomeOf(demoCase, choice) === true)
);
const FIRST = CASES.map(() => 0);

/** The numbers of the cases of a part of the demo, from 0. */
const indexes = (from: number, to: number) => [...CASES.keys()].slice(from, to);
const FOUR = indexes(0, FIRST_CASES);
const EIGHT = indexes(FIRST_CASES, CASES.length);

/** Begins with the four cases that are chosen already, or with all. */
async function begin(page: Page, count: 4 | 12 = 4): Promise<void> {
  await page.goto("/demo");
  if (count === 12) await page.getByLabel("12 cases, about 12 minutes").check();
  await page.getByRole("button", { name: "Begin with case 1" }).click();
}

async function goOn(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Go on with case 5" }).first().click();
}

/** The heading of a case in the run of four, in which it is if it can be, or in that of twelve. */
function headingOf(index: number, count = index < FIRST_CASES ? 4 : 12): string {
  return `Case ${index + 1} of ${count}: ${CASES[index]!.title}`;
}

async function atCase(page: Page, index: number, count?: number): Promise<void> {
  await page.getByRole("heading", { level: 1, name: headingOf(index, count) }).waitFor();
}

/** Judges some cases, each by the choice of its number in `choices`. */
async function judge(page: Page, cases: readonly number[], choices: readonly number[]): Promise<void> {
  for (const index of cases) await judgeCase(page, index, choices[index]!);
}

/** Judges a case by a script, on the way to what a test looks at: a pointer takes ten times as long. */
async function judgeCase(page: Page, index: number, choice: number): Promise<void> {
  await page.evaluate(async ({ heading, choice, patience }) => {
    const until = performance.now() + patience;
    while (document.querySelector("h1")?.textContent !== heading) {
      if (performance.now() > until) throw new Error(`${heading} is not shown`);
      await new Promise((next) => setTimeout(next, 5));
    }
    document.querySelectorAll<HTMLInputElement>("input[type=radio]")[choice]!.click();
    // The form has the choice with the next rendering.
    await new Promise((next) => setTimeout(next));
    document.querySelector<HTMLButtonElement>("button[type=submit]")!.click();
  }, { heading: headingOf(index), choice, patience: 30_000 });
}

async function atResult(page: Page, count: 4 | 12 = 4): Promise<void> {
  await page.getByRole("heading", { level: 1, name: `Your result after ${count} cases` }).waitFor();
}

interface Posted {
  readonly sessionId: string;
  readonly records: readonly Record<string, unknown>[];
}

/** Every body that the page posts. */
function watchPosts(page: Page): Posted[] {
  const posts: Posted[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") posts.push(request.postDataJSON());
  });
  return posts;
}

type WatchedWindow = typeof globalThis & { measured?: JissMeasurement[] };

/** Keeps the measurement with which each collection ended. */
async function watchCollector(page: Page): Promise<void> {
  await page.addInitScript(() => {
    let api: unknown;
    const measured: unknown[] = [];
    Object.defineProperty(globalThis, "measured", { value: measured });
    Object.defineProperty(globalThis, "JissCollector", {
      get: () => api,
      set(given) {
        api = {
          start(element: Element) {
            const collection = given.start(element);
            const at = measured.length;
            return { measure: collection.measure, stop: () => measured[at] = collection.stop() };
          },
        };
      },
    });
  });
}

async function shownRun(service: RunningService, sessionId: string): Promise<Assessment> {
  const { status, body } = await service.send(`/assessments/${sessionId}`);
  assert.equal(status, 200);
  return body as unknown as Assessment;
}

/** Every figure of the run's JSON, found on the page that shows the run. */
async function assertShows(page: Page, { summary, results }: Assessment): Promise<void> {
  const tableOf = (id: string) => page.locator(`#${id} tbody tr`).allInnerTexts();
  const cells = (rows: readonly string[]) => rows.map((row) => row.split(/\s*\t\s*/));
  assert.deepEqual(
    cells(await tableOf("course")),
    results.map(({ jis, band }, index) => [`case ${index + 1}`, scoreInWords(jis), inWords(band)]),
  );
  assert.deepEqual(
    cells(await tableOf("dimensions")),
    Object.entries(summary.dimensions).map(([name, points]) => [inWords(name), String(points)]),
  );
}

function inWords(name: string): string {
  const words = name.replaceAll("_", " ");
  return words[0]!.toUpperCase() + words.slice(1);
}

// ---- the whole demo ---------------------------------------------------------------------------------------

browserTest(
  "by mouse: four cases, then the other eight; each run is posted once, shows the service's figures, and leaves nothing behind",
  async (visit, service) => {
    const { page, requests } = await visit({ height: 620 });
    const posts = watchPosts(page);
    await watchCollector(page);
    const judgeByMouse = async (cases: readonly number[]) => {
      for (const index of cases) {
        await atCase(page, index);
        assert.equal(await page.locator("progress").getAttribute("value"), String(index));
        if (index === CLAIM) await readClosely(page);
        await page.getByRole("radio").nth(RIGHT[index]!).check();
        await page.getByRole("button", { name: "Decide", exact: true }).click();
      }
    };

    await begin(page);
    await judgeByMouse(FOUR);
    await atResult(page, 4);
    const [four] = posts;
    const short = await shownRun(service, four!.sessionId);
    await assertPosted(page, four!, short);
    await assertResult(page, short);
    const said = await page.locator("main").innerText();
    assert.match(
      said,
      /wrong in 2 cases, of which you accepted it in 0; .* right in 2, of which you accepted it in 2/,
    );
    assert.match(said, /accepts everything unread is right about 2 of 4 pieces of advice/);
    assert.match(said, /tosses a coin .* is right about all of them in 1 of 16 runs/);
    assert.match(said, /Undetermined is an answer\. It says that nobody can tell yet\./);
    assert.match(said, /There are 8 more cases\. .* even they seldom bring a verdict/);
    assert.match(said, /Independent performance: unknown: nothing was decided without the AI/);
    for (const { title } of CASES.slice(FIRST_CASES)) assert.ok(!said.includes(title), title);

    await goOn(page);
    await judgeByMouse(EIGHT);
    await atResult(page, 12);
    assert.equal(posts.length, 2);
    const twelve = posts[1]!;
    assert.notEqual(twelve.sessionId, four!.sessionId);
    assert.deepEqual(twelve.records.slice(0, FIRST_CASES), four!.records, "the four count as the first ones");
    const run = await shownRun(service, twelve.sessionId);
    assert.deepEqual(run.results.slice(0, FIRST_CASES), short.results);
    const measured = await assertPosted(page, twelve, run);
    const read = measured[CLAIM]!;
    assert.ok(read.hover_events! >= 2, "a fact that the pointer rested on, and the terms that it opened");
    assert.ok(read.scroll_depth! > 0.9, `${read.scroll_depth}`);
    assert.equal(read.alternative_views_checked, 1);
    assert.ok(read.time_to_decision_ms >= 600);
    await assertResult(page, run);
    await page.getByText("You decided: “Return it for revision”").waitFor();
    const all = await page.locator("main").innerText();
    assert.match(
      all,
      /wrong in 4 cases, of which you accepted it in 0; .* right in 7, of which you accepted it in 7/,
    );
    assert.match(all, /accepts everything unread is right about 7 of 11 pieces of advice/);
    assert.match(all, /in 1 of 2,048 runs/);
    assert.equal(await page.getByRole("button", { name: /Go on/ }).count(), 0);
    const { records, results } = await shownRun(service, four!.sessionId);
    assert.deepEqual(
      [records, results],
      [short.records, short.results],
      "the link to the four stays as it was",
    );

    assert.deepEqual(await page.context().cookies(), []);
    assert.deepEqual(
      await page.evaluate(async () => [
        localStorage.length,
        sessionStorage.length,
        (await indexedDB.databases()).length,
        (await caches.keys()).length,
      ]),
      [0, 0, 0, 0],
    );
    // Of these only the calls of `/assessments` count against the limit of 60 in a minute.
    assert.deepEqual(
      requests.map(({ method, path }) =>
        `${method} ${path.replace(/-[0-9a-f]{16}\./, ".").replace(/[0-9a-f]{32}/, "…")}`
      ),
      [
        "GET /demo",
        "GET /assets/theme.js",
        "GET /assets/style.css",
        "GET /assets/demo.js",
        "GET /collector.js",
        ...["POST /assessments", "GET /assessments/…"],
        ...["POST /assessments", "GET /assessments/…"],
      ],
    );
  },
);

/**
 * The records that the page posted for the right decisions are what it measured and what the service scored.
 * @returns the measurements.
 */
async function assertPosted(
  page: Page,
  { records }: Posted,
  run: Assessment,
): Promise<readonly JissMeasurement[]> {
  const measured = await page.evaluate(() => (globalThis as WatchedWindow).measured!);
  assert.deepEqual(
    records,
    measured.map((measurement, index) => {
      const demoCase = CASES[index]!;
      const choice = demoCase.choices[RIGHT[index]!]!;
      return {
        ai_recommendation_presented: demoCase.advice !== null,
        ai_available: true,
        decision: choice.decision,
        modification_extent: choice.extent ?? 0,
        scenario_type: demoCase.scenario,
        outcome_correct: true,
        ...measurement,
      };
    }),
  );
  for (const record of records) assert.deepEqual(recordedInteractionSchema.parse(record), record);
  assert.deepEqual(run.records, records);
  return measured;
}

/** The page of a result shows the run: its verdict, score, figures, cases and address. */
async function assertResult(page: Page, run: Assessment): Promise<void> {
  assert.equal(await page.locator("[data-jis]").innerText(), scoreInWords(run.summary.jis));
  assert.equal(await page.locator(".score .band").innerText(), inWords(run.summary.band));
  await assertShows(page, run);
  await assertJudgments(page, run);
  const { status, low, high } = run.summary.verdict!;
  assert.equal(status, "undetermined");
  const verdict = await page.locator("[data-verdict]").innerText();
  assert.match(verdict, /^Verdict: Undetermined\s+That is usual after \d+ cases, and no fault of yours: /);
  assert.ok(verdict.includes(`after ${run.records.length} cases`), verdict);
  assert.ok(
    verdict.includes(
      `On all cases the score lies between ${scoreInWords(low)} and ${scoreInWords(high)}, with`,
    ),
    verdict,
  );
  assert.deepEqual(run.thresholds, { min_jis: 60, target_jis: 75 });
  const course = await page.locator("#course svg").textContent();
  assert.match(course!, /minimum 60/);
  assert.match(course!, /target 75/);
  const text = await page.locator("main").innerText();
  assert.doesNotMatch(text, /\d%/, "percent is written one way");
  assert.match(text, /“the operator” is you/);
  assert.equal(await page.getByLabel("Address of this run").inputValue(), run.shareUrl);
}

/** The case whose terms are longer than the window. */
const CLAIM = CASES.findIndex(({ id }) => id === "claim");

async function readClosely(page: Page): Promise<void> {
  await page.locator(".fact").nth(1).hover();
  await page.waitForTimeout(300);
  await page.getByText("Terms of insurance").click();
  await page.mouse.wheel(0, 4000);
  await page.waitForFunction(() => scrollY + innerHeight >= document.documentElement.scrollHeight - 1);
  await page.waitForTimeout(300);
}

/** Each case with its decision, the right one, its score, and the model's sentences. */
async function assertJudgments(page: Page, { results, records, initial_jis }: Assessment): Promise<void> {
  const judgments = await page.locator(".judgment").evaluateAll((found) =>
    (found as HTMLElement[]).map((judgment) => {
      judgment.querySelector("summary")!.click();
      return judgment.innerText;
    })
  );
  assert.equal(judgments.length, records.length);
  for (const [index, { jis, explanation }] of results.entries()) {
    const text = judgments[index]!;
    const demoCase = CASES[index]!;
    const outcome = records[index]!.outcome_correct;
    const before = `JIS from ${scoreInWords(index === 0 ? initial_jis! : results[index - 1]!.jis)} to`;
    const moved = explanation!.filter(({ before, after }) => before !== after);
    for (
      const said of [
        demoCase.title,
        demoCase.truth,
        outcome === null ? "Not known" : outcome ? "You were right" : "You were wrong",
        `${before} ${scoreInWords(jis)}`,
        `${records[index]!.time_to_decision_ms / 1000} second`,
        ...moved.flatMap(({ rules }) => rules),
      ]
    ) assert.ok(text.includes(said), `${demoCase.id}: ${said}\n${text}`);
  }
}

browserTest(
  "by keyboard alone: twelve cases are chosen, read and judged; accepting four at once scores lower than looking",
  async (visit, service) => {
    const { page } = await visit();
    const posts = watchPosts(page);
    await page.goto("/demo");
    await tabToChoices(page);
    await page.keyboard.press("ArrowDown");
    await tabTo(page, "Begin with case 1");
    await page.keyboard.press("Enter");
    for (const [index, choice] of RIGHT.entries()) {
      await atCase(page, index, 12);
      assert.equal(
        await focused(page),
        await page.locator("h1").innerText(),
        "the focus is on the case's heading",
      );
      if (index === 1) {
        await tabTo(page, "The bank's lending rules");
        await page.keyboard.press("Enter");
        await page.getByText("at most 25 % of the net income").first().waitFor();
        await page.waitForTimeout(300);
      }
      await tabToChoices(page);
      await page.keyboard.press("Space");
      for (let step = 0; step < choice; step += 1) await page.keyboard.press("ArrowDown");
      await tabTo(page, "Decide");
      await page.keyboard.press("Enter");
    }
    await atResult(page, 12);
    assert.equal(await focused(page), "Your result after 12 cases");
    const careful = posts[0]!;
    assert.deepEqual(careful.records.map(({ outcome_correct }) => outcome_correct), CASES.map(() => true));
    assert.equal(careful.records[1]!.alternative_views_checked, 1);
    assert.ok((careful.records[1]!.hover_events as number) >= 1);
    await tabTo(page, "Copy the address");
    await page.keyboard.press("Enter");
    await page.getByText("Copied.").waitFor();

    await tabTo(page, "Judge the cases again");
    await page.keyboard.press("Enter");
    await tabTo(page, "Begin with case 1");
    await page.keyboard.press("Enter");
    for (const index of FOUR) {
      await atCase(page, index);
      await tabToChoices(page);
      await page.keyboard.press("Space");
      await page.keyboard.press("Enter");
    }
    await atResult(page, 4);
    assert.equal(await focused(page), "Your result after 4 cases");
    assert.equal(posts.length, 2);
    const careless = posts[1]!;
    assert.notEqual(careless.sessionId, careful.sessionId);
    const [low, high] = await Promise.all(
      [careless, careful].map(async ({ sessionId }) => (await shownRun(service, sessionId)).results[3]!.jis),
    );
    assert.ok(low! < high! - 10, `${low} and ${high}`);
    assert.ok(low! < 60, `${low}`);
    await tabTo(page, "Go on with case 5");
    await page.keyboard.press("Enter");
    await atCase(page, 4);
    assert.equal(await focused(page), headingOf(4));
  },
);

browserTest(
  "a case read with the same care by keyboard and by mouse has the same measurement",
  async (visit) => {
    const measuredBy = async (read: (page: Page) => Promise<void>) => {
      const { page } = await visit({ height: 2000 });
      await watchCollector(page);
      await begin(page);
      for (const index of [0, 1, 2]) {
        await atCase(page, index);
        await read(page);
        await page.getByRole("radio").first().focus();
        await page.keyboard.press("Space");
        await page.keyboard.press("Enter");
      }
      await atCase(page, 3);
      const measured = await page.evaluate(() => (globalThis as WatchedWindow).measured!);
      return measured.map(({ hover_events, alternative_views_checked }) => ({
        hover_events,
        alternative_views_checked,
      }));
    };
    const readByMouse = async (page: Page) => {
      for (const fact of await page.locator("section.fact").all()) {
        await fact.locator("h3").hover();
        await rest(page);
      }
      for (const summary of await page.locator(".evidence summary").all()) {
        await summary.click();
        await rest(page);
      }
    };
    const readByKeyboard = async (page: Page) => {
      const facts = await page.locator("section.fact h3").allInnerTexts();
      for (const fact of facts) {
        await page.keyboard.press("Tab");
        const [name, outline] = await page.evaluate(() => {
          const part = document.activeElement!;
          return [part.getAttribute("aria-label"), getComputedStyle(part).outlineStyle];
        });
        assert.deepEqual([name, outline], [fact, "solid"]);
        await rest(page);
      }
      for (const title of await page.locator(".evidence summary").allInnerTexts()) {
        await page.keyboard.press("Tab");
        assert.equal(await focused(page), title);
        await page.keyboard.press("Enter");
        await rest(page);
      }
    };
    const [byMouse, byKeyboard] = await Promise.all([readByMouse, readByKeyboard].map(measuredBy));
    assert.deepEqual(byKeyboard, byMouse);
    assert.deepEqual(
      byMouse,
      CASES.slice(0, 3).map(({ facts, views }) => ({
        hover_events: facts.length + views.length,
        alternative_views_checked: views.length,
      })),
    );
  },
);

/** The collector counts a part as examined once the pointer or the focus has rested on it for 200 ms. */
const RESTED_MS = 300;

/** Waits by the page's own timers: on a busy machine they run late, and the collector's is one of them. */
function rest(page: Page): Promise<unknown> {
  return page.evaluate((ms) => new Promise((resolve) => setTimeout(resolve, ms)), RESTED_MS);
}

browserTest(
  "a double click decides, begins or goes on once, and presses nothing in the next case",
  async (visit) => {
    const decideTwice = async ([width, height]: readonly [width: number, height: number]) => {
      const { page } = await visit({ width, height });
      await watchCollector(page);
      await page.goto("/demo");
      await page.getByRole("button", { name: "Begin with case 1" }).dblclick();
      for (const index of CASES.keys()) {
        if (index === FIRST_CASES) {
          await atResult(page, 4);
          await page.getByRole("button", { name: "Go on with case 5" }).first().dblclick();
        }
        await atCase(page, index);
        await rest(page);
        assert.deepEqual(
          await page.evaluate(() => ({
            chosen: document.querySelectorAll("main :checked").length,
            complaint: document.querySelector("form [role=alert]")!.textContent,
            unfolded: document.querySelectorAll("details[open]").length,
            focused: document.activeElement?.textContent,
          })),
          { chosen: 0, complaint: "", unfolded: 0, focused: headingOf(index) },
          `case ${index + 1} at ${width} × ${height}`,
        );
        await page.getByRole("radio").first().check();
        await page.getByRole("button", { name: "Decide", exact: true }).dblclick();
      }
      await atResult(page, 12);
      const measured = await page.evaluate(() => (globalThis as WatchedWindow).measured!);
      for (const { hover_events } of measured) assert.equal(hover_events ?? 0, 0);
    };
    await Promise.all(([[1200, 900], [1200, 600], [600, 900]] as const).map(decideTwice));
  },
);

browserTest(
  "the shared page shows somebody else the same figures and sentences, and leads to the demo",
  async (visit, service) => {
    const { page } = await visit();
    await begin(page);
    await judge(page, FOUR, FIRST);
    await atResult(page);
    const [shared] = await Promise.all([
      page.context().waitForEvent("page"),
      page.getByRole("link", { name: "Open the page to share" }).click(),
    ]);
    await shared.waitForLoadState();
    const address = shared.url();

    const { page: other } = await visit();
    await other.goto(address);
    const run = await shownRun(service, address.split("/").at(-1)!);
    assert.equal(
      (await other.locator(".verdict strong").allInnerTexts()).join(": "),
      `Undetermined: ${scoreInWords(run.summary.jis)}, ${inWords(run.summary.band)}`,
    );
    await assertShows(other, run);
    await other.getByText("Case 2: JIS from").click();
    const caseText = await other.locator("details").nth(1).innerText();
    const moved = run.results[1]!.explanation!.filter(({ before, after }) => before !== after);
    assert.ok(moved.length > 0);
    for (const { rules } of moved) for (const rule of rules) assert.ok(caseText.includes(rule), rule);
    await other.getByRole("link", { name: "Judge four short cases yourself" }).click();
    await other.getByRole("button", { name: "Begin with case 1" }).waitFor();
  },
);

// ---- failures ---------------------------------------------------------------------------------------------

browserTest(
  "without the collector the visitor is told and may go on; only the time is measured",
  async (visit) => {
    const { page, expectErrors } = await visit();
    expectErrors(/Failed to load resource/);
    const posts = watchPosts(page);
    await page.route("**/collector.js", (route) => route.abort());
    await begin(page, 12);
    await page.getByText("The measuring script cannot be loaded.").waitFor();
    await page.getByLabel("4 cases, about 4 minutes").check();
    await page.getByRole("button", { name: "Load it again" }).click();
    await page.getByText("The measuring script cannot be loaded.").waitFor();
    await page.getByRole("button", { name: "Go on without measurements" }).click();
    await atCase(page, 0);
    await page.waitForTimeout(250);
    await judge(page, FOUR, FIRST);
    await atResult(page);
    const [first, ...others] = posts[0]!.records;
    assert.ok(first!.time_to_decision_ms as number >= 250);
    for (const record of [first!, ...others]) {
      assert.deepEqual(
        [record.hover_events, record.scroll_depth, record.alternative_views_checked],
        [null, null, null],
      );
    }
    assert.match(await page.locator(".judgment").first().innerText(), /parts not measured/);
  },
);

browserTest(
  "a collector that loads at the second attempt is used, for the number of cases that was chosen before",
  async (visit) => {
    const { page, expectErrors } = await visit();
    expectErrors(/Failed to load resource/);
    let release = () => {};
    const held = new Promise<void>((resolve) => release = resolve);
    let attempts = 0;
    await page.route("**/collector.js", async (route) => {
      if (attempts++ === 0) return await route.abort();
      await held;
      await route.continue();
    });
    await begin(page, 12);
    await page.getByRole("button", { name: "Load it again" }).click();
    await page.getByRole("button", { name: "One moment…" }).waitFor();
    assert.ok(await page.getByLabel("4 cases, about 4 minutes").isDisabled());
    release();
    await atCase(page, 0, 12);
    assert.ok(await page.evaluate(() => "JissCollector" in globalThis));
  },
);

browserTest(
  "decisions that could not be sent are kept and sent again as one run, even if only the answer was lost",
  async (visit, service) => {
    const { page, expectErrors } = await visit();
    expectErrors(/Failed to load resource/);
    const posts = watchPosts(page);
    const failures = [
      (route: Route) => route.abort(),
      async (route: Route) => {
        assert.equal((await route.fetch()).status(), 200);
        await route.abort();
      },
      (route: Route) => route.fulfill({ status: 429, headers: { "Retry-After": "1" }, body: "{}" }),
    ];
    await page.route("**/assessments", async (route) => {
      const fail = failures.shift();
      await (fail === undefined ? route.continue() : fail(route));
    });
    await begin(page);
    await judge(page, FOUR, RIGHT);
    for (const left of [2, 1]) {
      await page.getByRole("heading", { name: "Your decisions could not be scored" }).waitFor();
      assert.equal(failures.length, left);
      await page.getByText("The service cannot be reached").waitFor();
      await page.getByText("All 4 decisions are still here").waitFor();
      await page.getByRole("button", { name: "Try again" }).click();
    }
    await page.getByText("the page goes on by itself").waitFor();
    await atResult(page, 4);
    const sent = posts.splice(0, Infinity);
    assert.equal(sent.length, 4);
    for (const post of sent) assert.deepEqual(post, sent[0]);

    failures.push((route) => route.abort());
    await goOn(page);
    await judge(page, EIGHT, RIGHT);
    await page.getByText("All 12 decisions are still here").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await atResult(page, 12);
    assert.equal(posts.length, 2);
    assert.deepEqual(posts[1], posts[0]);
    assert.notEqual(posts[0]!.sessionId, sent[0]!.sessionId);
    for (const [{ sessionId }, count] of [[sent[0]!, 4], [posts[0]!, 12]] as const) {
      assert.equal((await shownRun(service, sessionId)).records.length, count);
    }
  },
);

type Route = Parameters<Parameters<Page["route"]>[1]>[0];

browserTest(
  "a run that no retry can score offers only to start over, and says so in a visitor's words",
  async (visit) => {
    const { page, expectErrors } = await visit();
    expectErrors(/Failed to load resource/);
    const posts = watchPosts(page);
    await page.route("**/assessments", (route) =>
      route.fulfill({
        status: 409,
        body: JSON.stringify({
          error: { code: "CONFLICT", message: "sessionId x was used for other records", request_id: "01" },
        }),
      }), { times: 1 });
    await page.route("**/assessments", (route) => route.abort(), { times: 1 });
    await begin(page);
    await judge(page, FOUR, FIRST);
    await page.getByText("The service cannot be reached").waitFor();
    assert.equal(await page.getByRole("button", { name: "Start over" }).count(), 1);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("other decisions under the name of this run").waitFor();
    const text = await page.locator("main").innerText();
    assert.doesNotMatch(text, /sessionId|records/);
    assert.match(text, /Request 01/);
    assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0);
    await page.getByRole("button", { name: "Start over" }).click();
    await page.getByRole("button", { name: "Begin with case 1" }).click();
    await judge(page, FOUR, FIRST);
    await atResult(page);
    assert.equal(posts.length, 3);
    assert.notEqual(posts[2]!.sessionId, posts[1]!.sessionId);
  },
);

browserTest(
  "a visitor who leaves in a run is asked first, has sent nothing of it, and starts again at the beginning; at a result nobody is asked",
  async (visit) => {
    const { page, requests } = await visit();
    const sent = () => requests.filter(({ method }) => method !== "GET").length;
    const asked: string[] = [];
    let leaves = false;
    page.on("dialog", async (dialog) => {
      asked.push(dialog.type());
      await (leaves ? dialog.accept() : dialog.dismiss());
    });
    const reload = async () => {
      await page.reload();
      await page.getByRole("button", { name: "Begin with case 1" }).waitFor();
      assert.ok(await page.getByLabel("4 cases, about 4 minutes").isChecked());
      return asked.splice(0, Infinity);
    };

    await begin(page);
    await judge(page, FOUR.slice(1).map((index) => index - 1), FIRST);
    await atCase(page, 3);
    await page.evaluate(() => setTimeout(() => location.reload(), 0));
    await page.waitForTimeout(300);
    await atCase(page, 3);
    leaves = true;
    assert.deepEqual(await reload(), ["beforeunload", "beforeunload"]);
    assert.deepEqual(await reload(), [], "nothing is lost there");
    assert.equal(sent(), 0);

    await begin(page);
    await judge(page, FOUR, FIRST);
    await atResult(page, 4);
    assert.deepEqual(await reload(), [], "the result is where its link leads");

    await begin(page);
    await judge(page, FOUR, FIRST);
    await atResult(page, 4);
    await goOn(page);
    await atCase(page, 4);
    assert.deepEqual(await reload(), ["beforeunload"], "the four would have to be judged again");
    assert.equal(sent(), 2);
  },
);

browserTest(
  "the page says how long this deployment keeps a run",
  async (visit) => {
    const { page } = await visit();
    await page.goto("/demo");
    await page.getByText(`The service keeps them for ${RETENTION_DAYS} days`).waitFor();
  },
);

// ---- accessibility ----------------------------------------------------------------------------------------

browserTest(
  "every state is accessible in both themes and fits a window of 360 pixels",
  async (visit) => {
    const { page, expectErrors } = await visit({ width: 360 });
    expectErrors(/Failed to load resource/);
    const look = async (state: string) => {
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme });
        await assertAccessible(page, `${state}, ${theme}`);
        await assertFits(page, `${state}, ${theme}`);
      }
    };
    const judgeFitting = async (cases: readonly number[]) => {
      for (const index of cases) {
        await atCase(page, index);
        if (CASES[index]!.advice === null) await look("advice withheld");
        await assertFits(page, CASES[index]!.title);
        await judgeCase(page, index, FIRST[index]!);
      }
    };
    await page.route("**/collector.js", (route) => route.abort(), { times: 1 });
    await begin(page);
    await page.getByText("The measuring script cannot be loaded.").waitFor();
    await look("no collector");
    await page.getByRole("button", { name: "Load it again" }).click();
    await atCase(page, 0);
    await look("a case");
    await page.getByRole("button", { name: "Decide", exact: true }).click();
    await page.getByText("Choose one of the decisions first.").waitFor();
    for (const view of await page.locator("summary").all()) await view.click();
    await look("nothing chosen, all unfolded");
    let release = () => {};
    const held = new Promise<void>((resolve) => release = resolve);
    await page.route("**/assessments", async (route) => {
      await held;
      await route.abort();
    }, { times: 1 });
    await judgeFitting(FOUR);
    await page.getByRole("heading", { name: "Scoring your decisions" }).waitFor();
    await look("sending");
    release();
    await page.getByRole("heading", { name: "Your decisions could not be scored" }).waitFor();
    await look("failed");
    await page.getByRole("button", { name: "Try again" }).click();
    await atResult(page, 4);
    await look("result of four");
    await goOn(page);
    await judgeFitting(EIGHT);
    await atResult(page, 12);
    for (const moved of await page.locator(".judgment summary").all()) await moved.click();
    await look("result of twelve");
    const address = await page.getByLabel("Address of this run").inputValue();
    await page.goto(address);
    for (const moved of await page.locator("details summary").all()) await moved.click();
    await look("shared page");
    await page.goto("/assessments/nobody");
    await page.getByRole("heading", { name: "This run is not here" }).waitFor();
    await look("no such run");
    await page.goto("/demo");
    await page.getByRole("button", { name: "Begin with case 1" }).waitFor();
    await look("beginning");
  },
);
