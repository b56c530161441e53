/**
 * An operator's page as an officer uses it: the cause and the next step first, exercises set and held, and every act on a
 * reviewer's records with what it says before it is done. Each act is at most three clicks from the home view.
 */
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import type { VerdictStatus } from "../../src/domain/enums.ts";
import { ratesByWork } from "../../src/pages/estimates.ts";
import { knownCasesInWords } from "../../src/pages/known_cases_words.ts";
import { nameInWords } from "../../src/pages/wording.ts";
import { VERDICT_WORDS, verdictInWords } from "../../src/scoring/verdict_words.ts";
import { decideAll, type Setting } from "../exercising.ts";
import { assertAccessible, assertFits, browserTests, tabTo, THEMES, type Visit } from "./browser.ts";
import { choose, go, shown, signIn, signInByLink } from "./console.ts";
import { type DemoService, sharedDemo, withDemo } from "./demo_service.ts";

const originOf = ({ service }: DemoService) => service.url;
/** Tests that erase, or need the printed link, have a demo of their own. */
const ownTest = browserTests<DemoService>((use) => withDemo(use), originOf);
const sharedTest = browserTests<DemoService>(sharedDemo(), originOf);
const pseudonymousTest = browserTests<DemoService>(
  (use) => withDemo(use, { JISS_PRIVACY: "pseudonymous" }),
  originOf,
);

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

async function ask({ service, key }: DemoService, path: string, body?: unknown): Promise<Json> {
  const answer = await service.send(path, { key, ...(body === undefined ? {} : { method: "POST", body }) });
  assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Clicks, and counts it. */
class Clicks {
  count = 0;
  async on(target: Locator): Promise<void> {
    this.count += 1;
    await target.click();
  }
}

/** Opens an operator's page by its link in the home view: the first click. */
async function fromHome(page: Page, name: string | RegExp): Promise<Clicks> {
  await go(page, "/console");
  await page.locator("main h1").waitFor();
  await shown(page);
  const clicks = new Clicks();
  await clicks.on(page.locator("main").getByRole("link", { name, exact: true }).first());
  await page.locator("[data-verdict]").waitFor();
  await shown(page);
  return clicks;
}

/** A role that sees no cases goes from the home view to those who are below, and from them to one. */
async function fromBelow(page: Page, name: string): Promise<void> {
  await go(page, "/console");
  await shown(page);
  await page.getByRole("link", { name: /^\d+ below$/ }).click();
  await page.waitForURL("**/operators?verdict=non_compliant");
  await page.locator("main").getByRole("link", { name, exact: true }).click();
  await page.locator("[data-verdict]").waitFor();
  await shown(page);
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** Asks for an act, and looks at its question. @returns the question. */
async function asking(page: Page, clicks: Clicks, name: string): Promise<Locator> {
  await clicks.on(button(page, name));
  const question = page.locator("form.asked");
  await question.waitFor();
  assert.equal(await question.count(), 1);
  assert.equal(
    await question.locator("h3").evaluate((head) => head === document.activeElement),
    true,
    "a keyboard goes on in the question",
  );
  await assertAccessible(page, name);
  return question;
}

async function savedText(
  page: Page,
  act: () => Promise<void>,
): Promise<readonly [name: string, text: string]> {
  const [download] = await Promise.all([page.waitForEvent("download"), act()]);
  return [download.suggestedFilename(), await Deno.readTextFile((await download.path())!)];
}

/** The roles of an organization's people, each with a session. */
async function signInAs(visit: Visit, demo: DemoService, role: string): Promise<void> {
  const { service, key } = demo;
  const { body } = await service.send("/v1/users", {
    key,
    body: { email: `${role}-${crypto.randomUUID()}@demo.example`, name: `Some ${role}`, role },
  });
  await visit.page.goto(body.link);
  await visit.page.getByLabel(/^Password/).fill("correct horse battery");
  await visit.page.getByRole("button", { name: "Set the password" }).click();
  await visit.page.getByRole("navigation", { name: "Console" }).waitFor();
}

/** An operator of the demo with this verdict. */
async function operatorWith(demo: DemoService, status: string): Promise<string> {
  const { operators } = await ask(demo, `/v1/organization/operators?verdict=${status}&sort=jis&limit=5`);
  return operators[0].operator_id;
}

sharedTest(
  "the cause comes first, then the next step with one button, then the figures, in three requests",
  async (visit, demo) => {
    const { page, requests, idle } = await visit();
    await page.goto("/console");
    await signIn(page, demo.key);
    const steps = {
      non_compliant: ["Set an exercise that trains", "Set an exercise"],
      undetermined: ["Say of decisions whose outcome is known", "Label decisions"],
    };
    for (const [status, [sentence, act]] of Object.entries(steps)) {
      const operator = await operatorWith(demo, status);
      await idle();
      const before = requests.length;
      await go(page, `/console/operators/${operator}`);
      await page.locator("section.next").waitFor();
      await shown(page);
      await idle();
      assert.equal(requests.length - before, 3);
      const { profile } = await ask(demo, `/v1/operator/${operator}/profile?include=projection`);
      const text = await page.locator("main").innerText();
      const places = [
        operator,
        VERDICT_WORDS[profile.verdict.status as VerdictStatus],
        nameInWords(profile.domain),
        "Verdict and cause",
        verdictInWords(profile.verdict),
        " departs from wrong advice in",
        "Next step",
        sentence!,
        "JIS",
        "How the operator judges",
        "From today",
        "Exercises",
        "Records of this operator",
      ].map((part) => text.indexOf(part));
      assert.ok(places[0]! >= 0, text);
      assert.deepEqual(places, places.toSorted((a, b) => a - b), text);
      const acts = page.locator("section.next").locator("button, a.button");
      assert.deepEqual(await acts.allInnerTexts(), [act]);
      // Beside the name, with its sign: colour alone says nothing.
      const mark = page.locator(".title .status");
      assert.equal(await mark.innerText(), VERDICT_WORDS[profile.verdict.status as VerdictStatus]);
      assert.notEqual(
        await mark.evaluate((element) => getComputedStyle(element, "::before").content),
        "none",
      );
      const joined = knownCasesInWords(profile);
      assert.equal(text.split(joined).length - 1, 1, text);
      const { effective_n: weight } = profile.uncertainty;
      assert.equal(text.split(String(weight)).length - 1, 1, "the weight stands in that sentence alone");
      const kinds = page.getByRole("region", { name: "Rates by kind of work" });
      const known = ratesByWork(profile.estimates);
      assert.deepEqual(
        await kinds.getByRole("rowheader").allInnerTexts(),
        known.filter(({ rates }) => rates !== null).map(({ name }) => name),
      );
      assert.deepEqual(await kinds.getByRole("columnheader").allInnerTexts(), [
        "Work",
        "Departs from wrong advice (finds the error: more is better)",
        "Departs from right advice (false alarm: less is better)",
      ]);
      assert.equal(profile.estimates.announced, null);
      const unknown = known.filter(({ rates }) => rates === null).map(({ name }) => name.toLowerCase());
      await page.getByText(`No known case: ${unknown.join(", ")}`, { exact: true }).waitFor();
      assert.deepEqual(await kinds.locator(".rate-ends").allInnerTexts(), ["0 %\n100 %", "0 %\n100 %"]);
      await page.locator("#dimensions").getByText("minimum 60", { exact: true }).waitFor();
    }
    // The latest decisions come on demand.
    const before = requests.length;
    await button(page, "Show the latest decisions").click();
    await page.getByRole("region", { name: /^Latest decisions of/ }).waitFor();
    await shown(page);
    assert.ok(await page.locator("main tbody th a").count() >= 10);
    await idle();
    assert.equal(requests.length - before, 1);
  },
);

sharedTest("the projection names the day of the fall in words", async (visit, demo) => {
  const { operators } = await ask(demo, "/v1/organization/operators?limit=50");
  const readings = await Promise.all(operators.map(async ({ operator_id }: Json) => {
    const body = await ask(demo, `/v1/operator/${operator_id}/profile?include=projection`);
    return { operator_id, ...body.decay_projection };
  }));
  const { operator_id, days_to_non_compliance: days, non_compliant_on: date } = readings.find((reading) =>
    reading.days_to_non_compliance > 1
  );
  const { page } = await visit();
  await page.goto("/console");
  await signIn(page, demo.key);
  await go(page, `/console/operators/${operator_id}`);
  const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }).format(
    Date.parse(date),
  );
  await page.locator("p", { hasText: `The score falls below 60 around ${day}, in ${days} days.` }).first()
    .waitFor();
});

ownTest(
  "an officer sets an exercise in three clicks, the reviewer holds it, and its result and effect stand in words",
  async (visit, demo) => {
    const visited = await visit();
    const { page, requests } = visited;
    await signInAs(visited, demo, "officer");
    const operator = await operatorWith(demo, "non_compliant");
    const clicks = await fromHome(page, operator);
    const question = await asking(page, clicks, "Set an exercise");
    const said = await question.innerText();
    for (
      const text of ["shown once", "works for 7 days", "nothing is sent", "No score and no verdict moves"]
    ) {
      assert.ok(said.includes(text), said);
    }
    const { recommendation } = await ask(demo, "/v1/maintenance/recommend", { operator_id: operator });
    assert.equal(await question.getByLabel("Difficulty").inputValue(), recommendation.difficulty);
    await question.getByLabel("Exercise").selectOption("ex_error_detection_1");
    await question.getByLabel("Difficulty").selectOption("easy");
    await question.getByLabel("Domain of the cases").selectOption("financial");
    await clicks.on(button(page, "Set this exercise"));
    const link = (await page.locator(".once code.secret").textContent())!;
    assert.equal(clicks.count, 3);
    assert.match(link, /\/exercise\//);
    await button(page, "I have kept it").click();
    await shown(page);
    assert.ok(!(await page.content()).includes(new URL(link).pathname), "the link is shown once");
    await page.getByText("Wait for “Find the Planted Error”: 0 of 6 cases decided").waitFor();
    await page.locator(".run").getByText("not begun; the link works until").waitFor();

    const send: Setting["send"] = async (path, options) => {
      const answer = await demo.service.send(path, options);
      return { ...answer, text: JSON.stringify(answer.body) };
    };
    await decideAll({ send, key: demo.key }, new URL(link).pathname, (number) => number !== 2);
    await choose(page, "Refresh");
    await page.locator(".run").getByText("in English: done.").waitFor();
    const { exercises: [run] } = await ask(demo, `/v1/exercises?operator_id=${operator}`);
    const figures = await page.locator(".run [data-figure]").evaluateAll((found) =>
      found.map((figure) => Number(figure.textContent))
    );
    const { correct, wrong, right } = run.figures;
    assert.deepEqual(figures, [correct, wrong, right].flatMap(({ count, of }) => [count, of]));
    const before = requests.length;
    await page.getByRole("button", { name: /^Result and effect/ }).click();
    await page.getByText(/^(Passed|Not passed)\. It is passed if at least/).waitFor();
    await page.getByText("The effect is not known yet: 0 of 30 live interactions have come since.").waitFor();
    assert.equal(requests.length - before, 1);
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await assertAccessible(page, `an exercise that was held, ${theme}`);
    }
    for (const width of [360, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await assertFits(page, `an exercise that was held, ${width}`);
    }
  },
);

ownTest(
  "an exercise that was set twice by a lost answer is one, and refusals are shown",
  async (visit, demo) => {
    const { page, expectErrors } = await visit();
    expectErrors(/ERR_FAILED|422/);
    await page.goto("/console");
    await signIn(page, demo.key);
    const operator = await operatorWith(demo, "non_compliant");
    const clicks = await fromHome(page, operator);
    await asking(page, clicks, "Set an exercise");
    // The service sets it, and its answer is lost.
    await page.route("**/v1/exercises", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await button(page, "Set this exercise").click();
    await page.getByRole("heading", { name: "The service cannot be reached" }).waitFor();
    await page.unroute("**/v1/exercises");
    await button(page, "Set this exercise").click();
    await page.locator(".once code.secret").waitFor();
    const { exercises } = await ask(demo, `/v1/exercises?operator_id=${operator}`);
    assert.equal(exercises.length, 1);
  },
);

sharedTest(
  "recommended exercises are numbered steps without JSON, each with a sheet that prints on paper",
  async (visit, demo) => {
    const { page, requests, idle } = await visit();
    await page.goto("/console");
    await signIn(page, demo.key);
    const operator = await operatorWith(demo, "non_compliant");
    const { exercises } = await ask(demo, "/v1/maintenance/recommend", { operator_id: operator });
    const clicks = await fromHome(page, operator);
    const fold = page.locator(".recommended > summary");
    assert.equal(await fold.innerText(), `${exercises.length} exercises are recommended`);
    assert.equal(await page.locator(".exercise-card:visible").count(), 0, "what is not set is folded");
    await fold.click();
    for (const steps of await page.locator(".exercise-card summary").all()) await steps.click();
    assert.ok(await page.locator(".exercise-card ol li").count() >= 3 * exercises.length);
    const cards = (await page.locator(".exercise-card").allInnerTexts()).join("\n");
    assert.doesNotMatch(cards, /[{}[\]]|\w_\w/);
    await idle();
    const before = requests.length;
    await clicks.on(page.getByRole("link", { name: `Sheet to print: ${exercises[0].title}` }));
    await page.getByRole("heading", { level: 1, name: exercises[0].title }).waitFor();
    await shown(page);
    await idle();
    assert.equal(requests.length - before, 1);
    const { items, instructions, debrief, sample_case } = exercises[0].payload;
    const text = await page.locator(".sheet").innerText();
    for (const sentence of [...instructions, ...debrief, sample_case.look_for, operator]) {
      assert.ok(text.includes(sentence), sentence);
    }
    assert.equal(await page.locator(".sheet tbody tr").count(), items);
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await assertAccessible(page, `a sheet, ${theme}`);
    }
    await page.setViewportSize({ width: 360, height: 800 });
    await assertFits(page, "a sheet on a phone");
    assert.equal(await page.locator(".sheet table").isVisible(), false, "nobody writes on a telephone");

    const printed = page.evaluate(() =>
      new Promise((resolve) => {
        globalThis.print = () => resolve("printed");
      })
    );
    await clicks.on(button(page, "Print"));
    assert.equal(await printed, "printed");
    assert.equal(clicks.count, 3);
    await page.emulateMedia({ media: "print" });
    for (const gone of [button(page, "Print"), page.getByRole("navigation", { name: "Console" })]) {
      assert.equal(await gone.isVisible(), false);
    }
    // The solution is on another page than what the reviewer gets.
    const solution = page.locator(".sheet > p", { hasText: sample_case.look_for });
    assert.ok(await solution.isVisible());
    const breakBefore = await page.locator(".sheet .page").evaluate((part) =>
      getComputedStyle(part).breakBefore
    );
    assert.equal(breakBefore, "page");
    assert.equal(await page.locator(".sheet .page").getByText(sample_case.look_for).count(), 0);
    assert.equal(new TextDecoder().decode((await page.pdf()).slice(0, 5)), "%PDF-");
    // The page of the operator prints without its buttons.
    await page.emulateMedia({ media: "screen" });
    await page.locator(".within").getByRole("link", { name: operator }).click();
    await page.locator("[data-verdict]").waitFor();
    await shown(page);
    await page.emulateMedia({ media: "print" });
    // A sheet of A4 within its margins.
    await page.setViewportSize({ width: 680, height: 1000 });
    assert.equal(await page.locator("button:visible").count(), 0);
    assert.ok(await page.locator("[data-verdict]").isVisible());
    await assertFits(page, "an operator on paper");

    await page.emulateMedia({ media: "screen" });
    await go(page, `/console/operators/${operator}/sheets/ex_unknown`);
    await page.getByText("This exercise is not recommended now").waitFor();
  },
);

ownTest(
  "an admin exports evidence, takes the copy in both forms and gives the link, each after what will happen",
  async (visit, demo) => {
    const { page } = await visit();
    await signInByLink(page, demo);
    const operator = await operatorWith(demo, "non_compliant");
    let clicks = await fromHome(page, operator);
    let question = await asking(page, clicks, "Export the evidence");
    assert.match(
      await question.innerText(),
      /records of all operators[^]*What will not:[^]*no entry is written/i,
    );
    const [bundle, lines] = await savedText(page, () => clicks.on(button(page, "Export")));
    assert.equal(clicks.count, 3);
    const exported = await (await fetch(`${demo.service.url}/v1/audit/chain/export`, {
      headers: { "X-API-Key": demo.key },
    })).text();
    assert.match(bundle, /\.ndjson$/);
    // The first line and the last have the instant of the export.
    const entries = (text: string) => text.trim().split("\n").slice(1, -1);
    assert.deepEqual(entries(lines), entries(exported));
    assert.ok(entries(lines).length > 100);

    for (const [label, form] of [["Save as a page", "html"], ["Save as data (JSON)", "json"]]) {
      clicks = await fromHome(page, operator);
      question = await asking(page, clicks, "Copy for the operator");
      assert.match(await question.innerText(), /SUBJECT_ACCESS[^]*What will not:[^]*No record changes/);
      const [name, text] = await savedText(page, () => clicks.on(button(page, label!)));
      assert.equal(clicks.count, 3);
      assert.equal(name, `${operator}.${form}`);
      if (form === "json") {
        assert.equal(JSON.parse(text).operator_id ?? JSON.parse(text).profile.operator_id, operator);
      } else assert.match(text, /^<!doctype html>/i);
    }

    clicks = await fromHome(page, operator);
    question = await asking(page, clicks, "Link to the operator's own page");
    assert.match(await question.innerText(), /Earlier links of the operator end[^]*Nothing is sent/);
    // Whoever cancels has done nothing, and the focus is back on the button.
    await button(page, "Cancel").click();
    assert.equal(await question.count(), 0);
    const opener = button(page, "Link to the operator's own page");
    assert.equal(await opener.evaluate((element) => element === document.activeElement), true);
    await opener.click();
    await button(page, "Issue the link").click();
    await page.locator(".once code.secret").waitFor();
    await button(page, "I have kept it").click();

    await go(page, "/console/audit-log");
    await shown(page);
    assert.equal(await page.getByRole("cell", { name: "SUBJECT_ACCESS" }).count(), 2);
    assert.equal(await page.getByRole("cell", { name: "SUBJECT_LINK_ISSUED" }).count(), 1);
  },
);

ownTest(
  "an erasure says what goes and what stays, asks for the name, cannot slip, and the page says that it is done",
  async (visit, demo) => {
    const { page } = await visit({ width: 390 });
    await signInByLink(page, demo);
    const operator = await operatorWith(demo, "non_compliant");
    const clicks = await fromHome(page, operator);
    const question = await asking(page, clicks, "Erase this operator");
    const said = await question.innerText();
    for (
      const text of [
        "cannot be undone",
        "SUBJECT_ERASED",
        "OPERATOR_ERASED",
        "entries themselves stay on the chain",
        "Backups",
      ]
    ) assert.ok(said.includes(text), said);
    await assertFits(page, "the question of an erasure");
    const erase = button(page, "Erase for ever");
    assert.equal(await erase.isDisabled(), true);
    const field = page.getByLabel(`To be sure, type “${operator}”`);
    for (const wrong of [operator.slice(0, -1), `${operator}x`, " "]) {
      await field.fill(wrong);
      assert.equal(await erase.isDisabled(), true, wrong);
      await field.press("Enter");
    }
    assert.equal(
      (await demo.service.send(`/v1/operator/${operator}/profile`, { key: demo.key })).status,
      200,
    );
    await field.fill(operator);
    await clicks.on(erase);
    assert.equal(clicks.count, 3);
    await page.getByText(`The records of ${operator} were erased on`).waitFor();
    await assertAccessible(page, "an erased reviewer");
    assert.equal(await page.locator("section.acts, [data-verdict]").count(), 0);
    assert.equal(
      (await demo.service.send(`/v1/operator/${operator}/profile`, { key: demo.key })).status,
      404,
    );
    await page.getByRole("link", { name: "To the home view" }).click();
    await page.getByRole("heading", { level: 1, name: "Demo organization" }).waitFor();
    await shown(page);
    assert.ok(!(await page.locator("main").innerText()).includes(operator));
    await go(page, "/console/audit-log");
    await shown(page);
    await page.getByRole("cell", { name: "Operator erased" }).waitFor();
  },
);

ownTest(
  "the page by keyboard alone: an exercise is set, and a question is left again",
  async (visit, demo) => {
    const { page } = await visit();
    await page.goto("/console");
    await signIn(page, demo.key);
    const operator = await operatorWith(demo, "non_compliant");
    await go(page, `/console/operators/${operator}`);
    await page.locator("section.next").waitFor();
    await shown(page);
    await tabTo(page, "Set an exercise");
    await page.keyboard.press("Enter");
    await tabTo(page, "Cancel");
    await page.keyboard.press("Enter");
    await tabTo(page, "Set an exercise");
    await page.keyboard.press("Enter");
    await tabTo(page, "Set this exercise");
    await page.keyboard.press("Enter");
    await page.locator(".once code.secret").waitFor();
  },
);

const BY_ROLE: Readonly<Record<string, readonly string[]>> = {
  viewer: [],
  officer: ["Link to the operator's own page", "Copy for the operator"],
  auditor: ["Copy for the operator", "Export the evidence"],
  admin: [
    "Link to the operator's own page",
    "Copy for the operator",
    "Export the evidence",
    "Erase this operator",
  ],
};

sharedTest(
  "each role has the acts that it may do, and whoever may not act has the sentence alone",
  async (visit, demo) => {
    const operator = await operatorWith(demo, "non_compliant");
    for (const [role, acts] of Object.entries(BY_ROLE)) {
      const visited = await visit();
      const { page, requests } = visited;
      await signInAs(visited, demo, role);
      const mayAct = role === "officer" || role === "admin";
      if (mayAct) await fromHome(page, operator);
      else await fromBelow(page, operator);
      assert.deepEqual(await page.locator("section.acts .act > button").allInnerTexts(), acts, role);
      await page.getByText("Set an exercise that trains").waitFor();
      assert.equal(await button(page, "Set an exercise").count(), mayAct ? 1 : 0, role);
      await page.locator(".recommended > summary").click();
      assert.equal(await page.getByRole("button", { name: /^Set “/ }).count() > 0, mayAct, role);
      assert.equal(await button(page, "Set the team").count(), role === "admin" ? 1 : 0, role);
      if (role === "viewer") await page.getByText("Your role may read.").waitFor();
      assert.ok(requests.every(({ status }) => status < 400), role);
      await assertAccessible(page, role);
    }
  },
);

pseudonymousTest(
  "under pseudonyms an exercise is set, the bundle names nobody, no copy is offered, and an erasure asks for the pseudonym",
  async (visit, demo) => {
    const { page } = await visit();
    await signInByLink(page, demo);
    const known = await ask(demo, "/v1/organization/operators");
    const ids: readonly string[] = known.operators.map(({ operator_id }: Json) => operator_id);
    // The demo's session ids name its operators: what a sender puts there is shown to everybody.
    const assertUnnamed = async () => {
      const text = (await page.content()).replaceAll(/demo-[\w-]+/g, "");
      for (const id of ids) assert.ok(!text.includes(id), `the page names ${id}`);
    };
    const clicks = await fromHome(page, /^Operator [0-9a-f]{8}$/);
    const name = (await page.locator("main h1").innerText()).trim();
    const address = new URL(page.url()).pathname;
    await page.getByText("A copy names its operator").waitFor();
    assert.equal(await button(page, "Copy for the operator").count(), 0);
    const unmask = await asking(page, clicks, "Who is this?");
    assert.match(await unmask.innerText(), /SUBJECT_UNMASKED[^]*cannot be taken back/);
    await page.getByLabel("Reason").fill("a probe was missed");
    await clicks.on(button(page, "Show the name"));
    assert.equal(clicks.count, 3);
    const told = (await page.locator("[role=status] strong").textContent())!;
    assert.ok(ids.includes(told));

    await go(page, "/console/operators");
    await shown(page);
    await go(page, address);
    await page.locator("[data-verdict]").waitFor();
    await shown(page);
    await assertUnnamed();
    const [, lines] = await savedText(page, async () => {
      await button(page, "Export the evidence").click();
      await page.getByText("without what they say of anybody").waitFor();
      await button(page, "Export").click();
    });
    assert.ok(!lines.includes("reviewer-"), "the bundle names nobody");

    await page.getByRole("button", { name: /^Set (an exercise|another exercise|“)/ }).first().click();
    await button(page, "Set this exercise").click();
    await page.getByText(`Pass it on to ${name} alone`).waitFor();
    await button(page, "I have kept it").click();
    await page.locator(".run").waitFor();
    await assertUnnamed();

    await button(page, "Link to the operator's own page").click();
    await page.getByText("You learn who the operator is").waitFor();
    await button(page, "Cancel").click();

    await button(page, "Erase this operator").click();
    await page.getByLabel(/^To be sure/).fill(told);
    assert.equal(await button(page, "Erase for ever").isDisabled(), true, "the name is not the pseudonym");
    await page.getByLabel(/^To be sure/).fill(name);
    await button(page, "Erase for ever").click();
    await page.getByText(`The records of ${name} were erased on`).waitFor();
    assert.equal((await demo.service.send(`/v1/operator/${told}/profile`, { key: demo.key })).status, 404);
  },
);
