/**
 * The console's queue of cases to label: five decisions by keyboard alone, every state of the view, and what a person may not label.
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { RunningService } from "../program.ts";
import { assertAccessible, assertFits, browserTests, focused, THEMES } from "./browser.ts";
import { choose, go, shown, signIn, signInByLink } from "./console.ts";
import { type DemoService, sharedWithEmpty, withDemo } from "./demo_service.ts";

interface Case {
  readonly session: string;
  readonly operator?: string;
  readonly decision: string;
  readonly stakes?: string;
  readonly advised?: boolean;
  readonly aiCorrect?: boolean;
}

async function score({ service, key }: DemoService, one: Case): Promise<void> {
  const { session, operator = "ada", decision, stakes = "standard", advised = true, aiCorrect = null } = one;
  const { status, body } = await service.send("/v1/score", {
    key,
    method: "POST",
    body: {
      session_id: session,
      operator_id: operator,
      domain: "financial",
      interaction: {
        time_to_decision_ms: 9000,
        decision,
        scenario_type: stakes,
        ai_recommendation_presented: advised,
        ai_correct: aiCorrect,
      },
    },
  });
  assert.equal(status, 200, JSON.stringify(body));
}

/** The sessions that are still to be labelled, in the order of the queue. */
async function unlabelled(service: RunningService, key: string): Promise<readonly string[]> {
  const { body } = await service.send("/v1/organization/decisions?unlabelled=true", { key });
  return body.decisions.map(({ id }: { readonly id: string }) => id);
}

const onEmpty = browserTests<DemoService>(sharedWithEmpty(), ({ service }) => service.url);

/** Waits until the view shows a case, and says how many are labelled and left. */
async function atCase(page: Page, session: string, progress: string): Promise<void> {
  await page.getByRole("heading", { level: 2, name: `Case ${session}`, exact: true }).waitFor();
  await page.getByText(`${progress} left on this page`, { exact: true }).waitFor();
}

onEmpty(
  "five decisions are labelled by keyboard alone, one click from home, in 14 keys",
  async (visit, demo) => {
    const { service, key } = demo;
    const cases: readonly Case[] = [
      { session: "case-6", decision: "accepted" },
      { session: "case-5", decision: "accepted", advised: false },
      { session: "case-4", decision: "overridden" },
      { session: "case-3", decision: "modified" },
      { session: "case-2", decision: "accepted", stakes: "high_stakes" },
      { session: "case-1", decision: "rejected", stakes: "critical" },
    ];
    for (const one of cases) await score(demo, one);
    const { page, requests, idle } = await visit();
    await page.goto("/console");
    await signIn(page, key);
    await shown(page);
    await idle();
    let clicks = 0;
    let presses = 0;
    const before = requests.length;
    await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: "Labels" }).click();
    clicks += 1;
    await atCase(page, "case-1", "0 labelled, 6");
    await idle();
    const calls = requests.slice(before).filter(({ path }) => path.startsWith("/v1/"));
    assert.deepEqual(calls.map(({ path }) => path), [
      "/v1/organization/decisions?unlabelled=true&limit=50",
    ]);
    const press = async (...keys: readonly string[]) => {
      for (const one of keys) await page.keyboard.press(one);
      presses += keys.length;
    };
    // Rejected although the AI was right: the decision was wrong, and nothing more is asked.
    await press("1");
    await page.getByText("So the decision (rejected) was wrong.").waitFor();
    await press("Enter");
    await atCase(page, "case-2", "1 labelled, 5");
    assert.equal(await focused(page), "Case case-2", "a screen reader hears the next case");
    // Accepted wrong advice.
    await press("2", "Enter");
    await atCase(page, "case-3", "2 labelled, 4");
    // Modified: both are asked, and nobody can say of the AI.
    await press("3", "1", "Enter");
    await atCase(page, "case-4", "3 labelled, 3");
    // Left out for now, and taken up again.
    await press("j");
    await atCase(page, "case-5", "3 labelled, 3");
    await press("1", "Enter");
    await atCase(page, "case-6", "4 labelled, 2");
    // The other way round, over the end.
    await press("k", "2", "1", "Enter");
    await atCase(page, "case-6", "5 labelled, 1");
    assert.deepEqual([clicks, presses], [1, 14]);
    assert.ok(clicks <= 3 && presses <= 15, `${clicks} clicks, ${presses} keys`);

    assert.deepEqual(await unlabelled(service, key), ["case-6"]);
    const labels = new Map<string, unknown>();
    for (let number = 1; number <= 5; number += 1) {
      const { body } = await service.send(`/v1/decision/replay/case-${number}`, { key });
      labels.set(`case-${number}`, body.label.outcome_correct);
    }
    assert.deepEqual([...labels.values()], [false, false, true, true, true]);
    await press("1", "Enter");
    await page.getByRole("heading", { name: "This page is done" }).waitFor();
    await assertAccessible(page, "a page that is done");
    assert.equal(await focused(page), "This page is done");
    await page.getByRole("button", { name: "Look for more" }).click();
    await page.getByText("There is nothing to label").waitFor();
  },
);

onEmpty("keys do nothing in a field, with a modifier, or when they are switched off", async (visit, demo) => {
  for (const session of ["case-2", "case-1"]) await score(demo, { session, decision: "modified" });
  const { page } = await visit();
  await page.goto("/console/labels");
  await signIn(page, demo.key);
  await atCase(page, "case-1", "0 labelled, 2");
  const chosen = () => page.locator(".queue input:checked").count();
  const keysOn = page.getByRole("checkbox", { name: "The shortcuts are on" });
  // The box of the keys is checked, too.
  const none = await chosen();
  await page.getByLabel("Operator id").focus();
  await page.keyboard.type("j12?");
  assert.equal(await page.getByLabel("Operator id").inputValue(), "j12?");
  await page.getByLabel("Operator id").fill("");
  await page.getByLabel("Operator id").blur();
  for (const modifier of ["Control", "Alt", "Meta"]) await page.keyboard.press(`${modifier}+j`);
  await atCase(page, "case-1", "0 labelled, 2");
  assert.equal(await chosen(), none);
  assert.equal(await keysOn.isVisible(), false);
  await page.keyboard.press("?");
  await keysOn.waitFor();
  for (const theme of THEMES) {
    await page.emulateMedia({ colorScheme: theme });
    await assertAccessible(page, `the keys, ${theme}`);
  }
  await keysOn.uncheck();
  await page.keyboard.press("j");
  await page.keyboard.press("1");
  await atCase(page, "case-1", "0 labelled, 2");
  await keysOn.check();
  await page.keyboard.press("j");
  await atCase(page, "case-2", "0 labelled, 2");
  await page.keyboard.press("?");
  await keysOn.waitFor({ state: "hidden" });
  // Enter saves nothing before the questions are answered, and Escape takes answers back.
  await page.keyboard.press("1");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Enter");
  await atCase(page, "case-2", "0 labelled, 2");
  assert.equal(await chosen(), none);
  assert.deepEqual(await unlabelled(demo.service, demo.key), ["case-1", "case-2"]);
});

onEmpty(
  "loading, empty, offline and conflict are told, in both themes and at 360 pixels",
  async (visit, demo) => {
    const { service, key } = demo;
    const { page, expectErrors } = await visit({ width: 360 });
    expectErrors(/409|ERR_FAILED/);
    await page.goto("/console/labels");
    await signIn(page, key);
    await page.getByText("There is nothing to label").waitFor();
    const assertFine = async (what: string) => {
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme });
        await assertAccessible(page, `${what}, ${theme}`);
      }
      await assertFits(page, what);
    };
    await assertFine("nothing to label");

    const long = `case-${"w".repeat(120)}`;
    await score(demo, { session: long, decision: "escalated", stakes: "critical" });
    await score(demo, { session: "taken", decision: "rejected" });
    await score(demo, { session: "known", decision: "accepted", aiCorrect: true });
    const answered = Promise.withResolvers<void>();
    await page.route("**/v1/organization/decisions*", async (route) => {
      await answered.promise;
      await route.continue();
    });
    await choose(page, "Refresh");
    await page.getByText("Refreshing…").waitFor();
    await assertFine("refreshing");
    answered.resolve();
    await atCase(page, long, "0 labelled, 3");
    await page.unroute("**/v1/organization/decisions*");
    await assertFine("a case");
    // The reviewer is not named, and nothing is said of the score.
    const said = await page.locator(".queue").innerText();
    assert.ok(!/ada|JIS|verdict/i.test(said), said);

    // The service cannot be reached: the answers stay, and Enter sends them again.
    await page.route("**/commit", (route) => route.abort());
    for (const one of ["2", "1", "Enter"]) await page.keyboard.press(one);
    await page.getByText("The service cannot be reached", { exact: true }).waitFor();
    await assertFine("offline");
    await page.unroute("**/commit");
    await page.keyboard.press("Enter");
    await atCase(page, "taken", "1 labelled, 2");

    // Somebody else labelled it meanwhile, and otherwise.
    assert.equal(
      (await service.send("/v1/score/taken/commit", { key, method: "POST", body: { outcome_correct: true } }))
        .status,
      200,
    );
    for (const one of ["1", "Enter"]) await page.keyboard.press(one);
    await page.getByRole("heading", { name: "Not labelled: something else is known" }).waitFor();
    await page.getByText("a label is final").waitFor();
    await assertFine("a conflict");
    await page.keyboard.press("Enter");
    await atCase(page, "known", "1 labelled, 1");
    // What was known of the AI at the score cannot be contradicted.
    for (const one of ["2", "Enter"]) await page.keyboard.press(one);
    await page.getByText("ai_correct must be true, as it was scored").waitFor();
    await page.keyboard.press("j");
    await page.getByRole("heading", { name: "This page is done" }).waitFor();
    await assertFine("done");

    await page.route("**/v1/organization/decisions*", (route) => route.abort());
    await choose(page, "Refresh");
    await page.getByText(/^The service cannot be reached.* What is shown is as of \d\d:\d\d UTC/).waitFor();
    await page.getByRole("heading", { name: "This page is done" }).waitFor();
    await assertFine("a list that cannot be read again");
  },
);

onEmpty("a page leads to the next one, and the filter to one operator's cases", async (visit, demo) => {
  for (let number = 0; number < 52; number += 1) {
    await score(demo, {
      session: `case-${number}`,
      operator: number % 26 === 0 ? "ben" : "ada",
      decision: "accepted",
    });
  }
  const { page } = await visit();
  await page.goto("/console/labels");
  await signIn(page, demo.key);
  await atCase(page, "case-51", "0 labelled, 50");
  // The next case and the next page are told apart by their names, and paper keeps the question.
  await page.getByText("AI's advice shown before the decision").waitFor();
  await page.getByText("Keyboard shortcuts", { exact: true }).waitFor();
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.getByText("Was the AI right?").isVisible(), true);
  assert.equal(await page.getByText("Keyboard shortcuts", { exact: true }).isVisible(), false);
  await page.emulateMedia({ media: "screen" });
  await page.getByRole("button", { name: "Next case", exact: true }).click();
  await atCase(page, "case-50", "0 labelled, 50");
  await page.getByRole("button", { name: "Previous case", exact: true }).click();
  await atCase(page, "case-51", "0 labelled, 50");
  await page.getByRole("link", { name: "Next page of cases" }).click();
  await atCase(page, "case-1", "0 labelled, 2");
  await page.keyboard.press("1");
  await page.keyboard.press("Enter");
  await atCase(page, "case-0", "1 labelled, 1");
  await page.getByRole("link", { name: "First page" }).click();
  await atCase(page, "case-51", "0 labelled, 50");
  await page.getByLabel("Operator id").fill("ben");
  await page.keyboard.press("Enter");
  await atCase(page, "case-26", "0 labelled, 2");
  assert.equal(new URL(page.url()).search, "?operator_id=ben");
});

const underPseudonyms = browserTests<DemoService>(
  (use) => withDemo(use, { JISS_PRIVACY: "pseudonymous" }),
  ({ service }) => service.url,
);
const named = browserTests<DemoService>(withDemo, ({ service }) => service.url);

/** The operator as whom the admin of the demo is known by name, "Demo admin". */
const ADMIN = "demo-admin";

named("an own decision is left out, and the page says so", async (visit, demo) => {
  await score(demo, { session: "mine", operator: ADMIN, decision: "rejected", stakes: "critical" });
  await score(demo, { session: "other", operator: "ada", decision: "rejected", stakes: "critical" });
  const { page } = await visit();
  await signInByLink(page, demo);
  await go(page, "/console/labels");
  await page.getByRole("heading", { name: "Case other", exact: true }).waitFor();
  await page.getByText("One decision of your own is left out: somebody else must label it.").waitFor();
  await assertAccessible(page, "an own decision");
});

underPseudonyms("an own decision is refused by the service, and nobody is named", async (visit, demo) => {
  await score(demo, { session: "mine", operator: ADMIN, decision: "rejected", stakes: "critical" });
  const { page, expectErrors } = await visit();
  expectErrors(/403/);
  await signInByLink(page, demo);
  await go(page, "/console/labels");
  await page.getByRole("heading", { name: "Case mine", exact: true }).waitFor();
  assert.ok(!(await page.locator("main").innerText()).includes(ADMIN));
  for (const one of ["1", "Enter"]) await page.keyboard.press(one);
  await page.getByText("is your own decision: somebody else must label it").waitFor();
  await page.getByText("0 labelled,").waitFor();
  await assertAccessible(page, "an own decision under a pseudonym");
  assert.ok((await unlabelled(demo.service, demo.key)).includes("mine"));
});
