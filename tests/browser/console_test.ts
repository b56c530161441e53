/**
 * The console with the seeded demo, in a real browser: each view shows the API's own figures, in few
 * requests, to anybody with a key; and each action there works.
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { lastFullQuarter } from "../../src/domain/period.ts";
import { VERDICT_STATUSES, type VerdictStatus } from "../../src/domain/enums.ts";
import { estimateRows } from "../../src/pages/estimates.ts";
import { dayInWords, NO_DATA } from "../../src/pages/wording.ts";
import type { Estimates } from "../../src/scoring/estimates.ts";
import { VERDICT_WORDS, verdictInWords, verdictWait } from "../../src/scoring/verdict_words.ts";
import type { RunningService } from "../program.ts";
import { assertAccessible, assertFits, chromiumIsMissing, NEEDS_CHROMIUM, withBrowser } from "./browser.ts";
import { sharedDemo, sharedWithEmpty } from "./demo_service.ts";
import { choose, go, openMenu, shown, signIn } from "./console.ts";

const ignore = chromiumIsMissing();
const API = /^\/(?:v1|\.well-known|openapi\.json|assessments)/;

/** No test removes what another looks at, or the key. */
const withDemo = sharedDemo();
const withEmpty = sharedWithEmpty();

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

async function ask(service: RunningService, key: string, path: string, body?: unknown): Promise<Json> {
  const answer = await service.send(path, {
    key,
    ...(body === undefined ? {} : { method: "POST", body }),
  });
  assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Compares every figure on the page with the value at its place in the API's answer. */
async function assertFigures(page: Page, answers: readonly Json[], least: number): Promise<void> {
  const figures = await page.locator("[data-figure]").evaluateAll((elements) =>
    elements.map((element) =>
      [
        element.getAttribute("data-figure")!,
        element.textContent!,
        element.getAttribute("data-exact"),
      ] as const
    )
  );
  assert.ok(figures.length >= least, `${figures.length} figures`);
  const assertShown = (path: string, text: string, words: (value: Json) => string) => {
    const values = answers.map((answer) =>
      path.split(".").reduce((value: Json, name) => value?.[name], answer)
    ).filter((value) => value !== undefined);
    const expected = values.map(words);
    assert.ok(expected.includes(text), `${path} shows ${text}; the API says ${expected}`);
  };
  for (const [path, text, exact] of figures) {
    if (exact === null) assertShown(path, text, (value) => value === null ? NO_DATA : String(value));
    else {
      // A score has one decimal on the page, and its exact value beside.
      assertShown(path, exact, String);
      assertShown(path, text, (value) => oneDecimal(value));
    }
  }
  // Rates are shares in the API, and whole percents on the page.
  const rates = await page.locator("[data-rate]").evaluateAll((elements) =>
    elements.map((element) => [element.getAttribute("data-rate")!, element.textContent!] as const)
  );
  for (const [path, text] of rates) assertShown(path, text, (value) => `${Math.round(100 * value)} %`);
}

/** Rounded towards zero. A product with 10 may fall just short of the number that it stands for. */
function oneDecimal(score: number): string {
  return (Math.trunc(score * 10 + Math.sign(score) * 1e-9) / 10).toFixed(1);
}

let prepared: Promise<string> | null = null;

/**
 * Adds a decision, a late label and a report to the demo's scores, once for all tests. Resolves to the
 * report's id.
 */
function prepare(service: RunningService, key: string): Promise<string> {
  return prepared ??= write(service, key);
}

async function write(service: RunningService, key: string): Promise<string> {
  await ask(service, key, "/v1/decision/score", {
    decision_id: "decision-1",
    operator_id: "reviewer-goran",
    domain: "employment",
    time_to_decision_ms: 900,
    decision: "accepted",
    stakes: "critical",
  });
  await ask(service, key, "/v1/score", {
    session_id: "labelled-1",
    operator_id: "reviewer-ada",
    domain: "financial",
    interaction: { time_to_decision_ms: 9000, decision: "accepted" },
  });
  await ask(service, key, "/v1/score/labelled-1/commit", { outcome_correct: false });
  await decideProbe(service, key);
  const { report } = await ask(
    service,
    key,
    "/v1/compliance/report?period_start=2026-01-01&period_end=2027-01-01",
  );
  return report.report_id;
}

/** Begins a programme of probes, and decides the first one that is drawn. */
async function decideProbe(service: RunningService, key: string): Promise<void> {
  const policy = { enabled: true, rate: 0.1 };
  assert.equal(
    (await service.send("/v1/probes/policy", { key, method: "PUT", body: policy })).status,
    200,
  );
  const stratum = { domain: "financial", stakes: "standard" };
  await ask(service, key, "/v1/probes", { probe_id: "probe-1", ...stratum, ai_correct: false });
  for (let number = 0; number < 500; number += 1) {
    const { probe } = await ask(service, key, "/v1/probes/draw", {
      operator_id: "reviewer-ada",
      session_id: `probed-${number}`,
      ...stratum,
    });
    if (probe === null) continue;
    await ask(service, key, "/v1/score", {
      session_id: probe.session_id,
      operator_id: "reviewer-ada",
      domain: "financial",
      interaction: { time_to_decision_ms: 9000, decision: "rejected", probe_ticket: probe.ticket },
    });
    return;
  }
  throw new Error("no probe was drawn");
}

/** The first score of an operator. */
async function scoreOnce(service: RunningService, key: string, operator: string): Promise<void> {
  await ask(service, key, "/v1/score", {
    session_id: `${operator}-1`,
    operator_id: operator,
    domain: "general",
    interaction: { time_to_decision_ms: 15000, decision: "overridden", outcome_correct: true },
  });
}

Deno.test({
  name:
    `each view of the console shows the API's figures, in at most 3 requests, 500 KB and 200 rows ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withDemo(async ({ service, key }) => {
      const report = await prepare(service, key);
      const operator = "/v1/operator/reviewer-ada/profile?include=projection";
      const views:
        readonly (readonly [view: string, heading: string, least: number, asked: readonly string[]])[] = [
          ["", "Demo organization", 12, [
            "/v1/organization/dashboard",
            "/v1/cases?include=present&limit=50",
            "/v1/organization/weeks?limit=15",
          ]],
          ["/trends?team=Clinic", "Trends", 30, ["/v1/organization/weeks?team=Clinic&limit=15"]],
          ["/cases", "Cases", 0, ["/v1/cases?include=present&limit=50", "/v1/organization/alerts?limit=100"]],
          ["/alerts", "Alerts", 0, ["/v1/organization/alerts?limit=25"]],
          ["/operators", "Operators", 40, [
            "/v1/organization/operators?sort=verdict&limit=50&include=sparkline",
          ]],
          ["/operators?band=at_risk&sort=jis", "Operators", 20, [
            "/v1/organization/operators?band=at_risk&sort=jis&limit=50&include=sparkline",
          ]],
          ["/operators?verdict=undetermined", "Operators", 10, [
            "/v1/organization/operators?verdict=undetermined&sort=verdict&limit=50&include=sparkline",
          ]],
          ["/operators/reviewer-ada", "reviewer-ada", 8, [
            operator,
            "/v1/exercises?operator_id=reviewer-ada",
          ]],
          ["/decisions", "Decisions", 50, ["/v1/organization/decisions?limit=50"]],
          ["/decisions/demo-01-0100", "Replay of demo-01-0100", 15, [
            "/v1/decision/replay/demo-01-0100",
          ]],
          ["/decisions/labelled-1", "Replay of labelled-1", 16, ["/v1/decision/replay/labelled-1"]],
          ["/decisions/decision-1", "Replay of decision-1", 6, ["/v1/decision/replay/decision-1"]],
          ["/labels", "Labels", 0, []],
          ["/reports", "Compliance reports", 8, ["/v1/compliance/article14"]],
          [`/reports/${report}`, "Compliance report, 1 January to 31 December 2026", 0, []],
          ["/audit-log", "Audit log", 0, []],
          ["/webhooks", "Webhooks", 0, []],
          ["/key", "Keys", 0, []],
          ["/verify", "Verify", 0, []],
        ];
      await withBrowser(service.url, async (visit) => {
        // Each width and each theme once: colours do not depend on the width, nor the layout on the theme.
        for (const [theme, width] of [["light", 1200], ["dark", 360]] as const) {
          const { page, requests, idle } = await visit({ theme, width });
          await page.goto("/console");
          await signIn(page, key);
          await shown(page);
          await idle();
          for (const [view, heading, least, asked] of views) {
            const before = requests.length;
            await go(page, `/console${view}`);
            await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
            await shown(page);
            await idle();
            const made = requests.slice(before);
            const calls = made.filter(({ path }) => API.test(path));
            assert.ok(calls.length <= 3, `${view}: ${calls.map(({ path }) => path)}`);
            // Files that a browser loads once count for each view.
            const bytes = made.concat(requests.filter(({ path }) => path.startsWith("/assets/")))
              .reduce((sum, request) => sum + request.bytes, 0);
            assert.ok(bytes <= 500_000, `${view}: ${bytes} bytes`);
            assert.ok(await page.locator("tr").count() <= 201, view);
            await assertFits(page, `${view} at ${width}`);
            await assertAccessible(page, `${view} ${theme} ${width}`);
            const answers = await Promise.all(asked.map((path) => ask(service, key, path)));
            if (view === "/operators/reviewer-ada") {
              answers.push(
                await ask(service, key, "/v1/maintenance/recommend", { operator_id: "reviewer-ada" }),
              );
            }
            if (asked.length > 0) await assertFigures(page, answers, least);
          }
        }
      });
    });
  },
});

Deno.test({
  name:
    `bands, projection, dimensions, exercises, reports and events in the views are the API's ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withDemo(async ({ service, key }) => {
      const report = await prepare(service, key);
      await withBrowser(service.url, async (visit) => {
        const { page, requests, idle } = await visit();
        await page.goto("/console");
        await signIn(page, key);
        const { dashboard } = await ask(service, key, "/v1/organization/dashboard");
        await shown(page);
        assert.equal(
          await page.locator("#bands desc").textContent(),
          `Exemplary ${dashboard.band_distribution.exemplary}, Proficient ${dashboard.band_distribution.proficient}, ` +
            `Adequate ${dashboard.band_distribution.adequate}, At risk ${dashboard.band_distribution.at_risk}.`,
        );

        await go(page, "/console/operators/reviewer-farah");
        await page.locator("#projection").waitFor();
        await shown(page);
        const { profile, jis_history: history, decay_projection: projection } = await ask(
          service,
          key,
          "/v1/operator/reviewer-farah/profile?include=projection",
        );
        assert.equal(projection.days_to_non_compliance, 0);
        const rows = await page.locator("#projection tbody tr").evaluateAll((found) =>
          found.map((row) => [...row.children].map((cell) => cell.textContent))
        );
        assert.deepEqual(
          rows,
          [{ day: 0, date: projection.as_of.slice(0, 10), jis: projection.projected_today }].concat(
            projection.projections,
          ).map(({ day, date, jis }: Json) => [dayInWords(date), String(day), oneDecimal(jis)]),
        );
        assert.match(
          (await page.locator("#projection desc").textContent())!,
          /The score is below 60 already\./,
        );
        assert.match((await page.locator("#projection desc").textContent())!, /minimum 60, target 75/);
        const dimensions = await page.locator("#dimensions tbody tr").evaluateAll((found) =>
          found.map((row) => row.querySelector("td")!.textContent)
        );
        assert.deepEqual(dimensions, Object.values(profile.dimensions).map(String));
        const lastJis = await page.locator("#history tbody tr").last().evaluate((row) =>
          row.querySelectorAll("td")[1]!.textContent
        );
        assert.equal(lastJis, oneDecimal(history.at(-1).jis));
        assert.equal(await page.locator("#history circle").count(), history.length);
        const { exercises } = await ask(service, key, "/v1/maintenance/recommend", {
          operator_id: "reviewer-farah",
        });
        assert.deepEqual(
          await page.locator(".exercise-card h3").allTextContents(),
          exercises.map(({ title }: Json) => title),
        );

        await go(page, "/console/reports");
        const { start, end } = lastFullQuarter(Date.now());
        for (const [label, instant] of [["From, included", start], ["To, excluded", end]] as const) {
          assert.equal(
            await page.getByLabel(label).inputValue(),
            new Date(instant).toISOString().slice(0, 10),
          );
        }
        await page.getByRole("link", { name: "1 January to 31 December 2026" }).click();
        const frame = page.frameLocator("iframe");
        await frame.getByRole("heading", { level: 1 }).waitFor();
        const asked = await service.send(`/v1/compliance/report/${report}`, { key });
        await frame.getByText(asked.body.report_sha256).first().waitFor();
        const printed = await page.locator("iframe").evaluate((element) => {
          const { contentWindow } = element as HTMLIFrameElement;
          return new Promise((resolve) => {
            contentWindow!.print = () => resolve("the report alone");
            document.querySelector<HTMLButtonElement>(".actions button")!.click();
          });
        });
        assert.equal(printed, "the report alone");
        // The policy allows its style, and it is shown whole.
        const [background, inner, outer] = await page.locator("iframe").evaluate((element) => {
          const { contentDocument, clientHeight } = element as HTMLIFrameElement;
          const root = contentDocument!.documentElement;
          return [
            getComputedStyle(root.querySelector(".statement")!).borderStyle,
            root.scrollHeight,
            clientHeight,
          ];
        });
        assert.equal(background, "solid");
        assert.ok(Number(inner) <= Number(outer), `${inner} in ${outer}`);

        await go(page, "/console/audit-log");
        await shown(page);
        await page.getByLabel("Event", { exact: true }).selectOption("AUDIT_LOG_READ");
        await page.getByRole("cell", { name: "AUDIT_LOG_READ" }).first().waitFor();
        await shown(page);
        await page.getByLabel("Event", { exact: true }).selectOption("KEY_REVOKED");
        await page.getByText("No event is of this kind and time.").waitFor();
        // The day is applied once it is fully typed.
        await idle();
        const before = requests.length;
        await page.getByLabel("From (UTC)").pressSequentially("11202020");
        await page.getByRole("button", { name: "Show these days" }).click();
        await page.waitForURL("**/audit-log?event_type=KEY_REVOKED&since=2020-11-20");
        await shown(page);
        await idle();
        assert.equal(requests.length, before + 1);
      });
    });
  },
});

Deno.test({
  name:
    `the verdict comes first on dashboard, list, operator and replay, in the words of the API ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withDemo(async ({ service, key }) => {
      const { dashboard } = await ask(service, key, "/v1/organization/dashboard");
      for (const status of VERDICT_STATUSES) assert.ok(dashboard.verdicts[status] > 0, `nobody is ${status}`);
      await withBrowser(service.url, async (visit) => {
        const { page } = await visit({ width: 390 });
        await page.goto("/console");
        await signIn(page, key);
        await shown(page);
        const said = await page.locator("main").innerText();
        const places = [
          "What needs attention",
          `Verdict on the organization: ${VERDICT_WORDS[dashboard.verdict.status as VerdictStatus]}`,
          "Operators with an interaction in the last 90 days.",
          "In short, the last weeks",
          "Operators by verdict",
        ].map((text) => said.indexOf(text));
        assert.ok(places[0]! >= 0, said);
        assert.deepEqual(places, places.toSorted((a, b) => a - b));
        // The scores alone decide nothing, so they are folded.
        assert.ok(!said.includes("Mean JIS"), said);
        await page.getByText("Scores alone, as if each were exact").click();
        const scores = await page.locator("main").innerText();
        const status = "Compliance status of the specification:";
        for (const text of ["Mean JIS", status, dashboard.organization_rule.reasons[0]]) {
          assert.ok(scores.includes(text), `${text} in ${scores}`);
        }

        // The filter by keyboard alone.
        await go(page, "/console/operators");
        await shown(page);
        const { operators } = await ask(service, key, "/v1/organization/operators?sort=verdict&limit=50");
        const cells = () => page.locator("tbody td[data-label=Verdict]").allTextContents();
        assert.deepEqual(
          await cells(),
          operators.map(({ verdict }: Json) =>
            verdict.status === "undetermined"
              ? `${VERDICT_WORDS.undetermined}${verdictWait(verdict)}`
              : VERDICT_WORDS[verdict.status as VerdictStatus]
          ),
        );
        await page.getByText("Filter", { exact: true }).focus();
        await page.keyboard.press("Enter");
        await page.getByLabel("Verdict").focus();
        await page.keyboard.type("Below");
        await page.waitForURL("**/operators?verdict=non_compliant");
        await shown(page);
        assert.deepEqual(
          await page.locator("tbody th > a").allInnerTexts(),
          operators.filter(({ verdict }: Json) => verdict.status === "non_compliant")
            .map(({ operator_id }: Json) => operator_id),
        );
        await assertFits(page, "operators by verdict");

        // The page says that an operator has left, and what the verdict rests on.
        await go(page, "/console/operators/reviewer-kofi");
        await page.locator("#projection").waitFor();
        await shown(page);
        const { profile, decay_projection: projection } = await ask(
          service,
          key,
          "/v1/operator/reviewer-kofi/profile?include=projection",
        );
        assert.equal(projection.not_heard_of, true);
        const operator = await page.locator("main").innerText();
        const [verdict, score] = [operator.indexOf(verdictInWords(profile.verdict)), operator.indexOf("JIS")];
        assert.ok(verdict > 0 && verdict < score, operator);
        for (const remark of projection.remarks) assert.ok(operator.includes(remark), remark);
        for (const { meaning } of estimateRows(profile.estimates)) {
          await page.getByRole("listitem").filter({ hasText: meaning }).waitFor();
        }
        await page.getByText("Statistics", { exact: true }).click();
        const estimates = page.getByRole("region", { name: "Estimates from the known cases" });
        assert.deepEqual(
          await estimates.locator("tbody tr").evaluateAll((rows) =>
            rows.map((row) => [...row.children].map((cell) => cell.textContent))
          ),
          estimateRows(profile.estimates).map(({ name, estimate, interval }) => [name, estimate, interval]),
        );
        assert.match(remarkOf(projection), /has not been heard of for \d+ days/);

        await go(page, "/console/decisions/demo-01-0003");
        await page.locator("[data-verdict]").waitFor();
        const { recorded } = await ask(service, key, "/v1/decision/replay/demo-01-0003");
        assert.equal(
          await page.locator("[data-verdict] p").innerText(),
          verdictInWords(recorded.compliance.verdict),
        );
        assert.ok(recorded.prior_dimensions.length > 0);
        assert.equal(
          await page.getByText("from the prior: too few known cases").count(),
          recorded.prior_dimensions.length,
        );
      });
    });
  },
});

const remarkOf = ({ remarks }: Json): string => remarks.at(-1);

Deno.test({
  name:
    `an operator's page says how the operator judges, and which numbers are the prior's ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withDemo(async ({ service, key }) => {
      await withBrowser(service.url, async (visit) => {
        const { page } = await visit({ width: 390 });
        // Figures that no history of the demo has.
        await page.route("**/profile?include=projection", async (route) => {
          const response = await route.fetch();
          const body = await response.json();
          body.profile.estimates = ESTIMATES;
          body.profile.prior_dimensions = ["error_detection"];
          await route.fulfill({ response, json: body });
        });
        await page.goto("/console");
        await signIn(page, key);
        await go(page, "/console/operators/reviewer-ada");
        await page.locator("#dimensions").waitFor();
        await shown(page);
        const table = page.getByRole("region", { name: "Estimates from the known cases" });
        assert.equal(await table.isVisible(), false, "the numbers are folded");
        await page.getByText("Statistics", { exact: true }).click();
        assert.deepEqual(
          await table.locator("tbody tr").evaluateAll((rows) =>
            rows.map((row) => [...row.children].map((cell) => cell.textContent))
          ),
          estimateRows(ESTIMATES).map(({ name, estimate, interval }) => [name, estimate, interval]),
        );
        const kinds = ["", "high_stakes.", "critical.", "probes.", "announced."];
        const places = kinds.flatMap((kind) =>
          ["wrong", "right"].flatMap((advice) =>
            ["mean", "low", "high"].map((name) => `profile.estimates.${kind}departs_when_${advice}.${name}`)
          )
        );
        assert.deepEqual(
          await page.locator("[data-rate^='profile.']").evaluateAll((rates) =>
            rates.map((rate) => rate.getAttribute("data-rate"))
          ),
          places,
        );
        const profile = await ask(service, key, "/v1/operator/reviewer-ada/profile?include=projection");
        profile.profile.estimates = ESTIMATES;
        await assertFigures(page, [
          profile,
          await ask(service, key, "/v1/exercises?operator_id=reviewer-ada"),
          await ask(service, key, "/v1/maintenance/recommend", { operator_id: "reviewer-ada" }),
        ], 15);
        assert.equal(await page.getByRole("img", { name: /interval \d+ % to \d+ %/ }).count(), 10);
        // A rate from few cases is said and drawn less firmly: its interval is the picture, without a point.
        const rates = page.locator(".rate-line");
        assert.equal(await rates.filter({ hasText: "says little" }).count(), 3);
        for (const rate of await rates.all()) {
          const isLittle = (await rate.innerText()).includes("says little");
          assert.equal(await rate.locator("strong").count(), isLittle ? 0 : 1);
          assert.equal(await rate.locator("svg .mark").count(), isLittle ? 0 : 1);
        }
        assert.match(
          (await page.locator("#dimensions desc").textContent())!,
          /Error detection \d+ \(from the prior: too few known cases\)/,
        );
        await page.locator("#dimensions summary").click();
        await page.getByText("Error detection: from the prior: too few known cases.").waitFor();
        await assertFits(page, "an operator with estimates");
        await assertAccessible(page, "an operator with estimates");
      });
    });
  },
});

const ESTIMATES: Estimates = {
  error_rate: 0.18,
  departs_when_wrong: { mean: 0.624, low: 0.48, high: 0.755, cases: 14 },
  departs_when_right: { mean: 0.081, low: 0.05, high: 0.12, cases: 52 },
  sensitivity: { mean: 2.9, low: 1.75, high: 4.1 },
  criterion: { mean: -0.3, low: -0.7, high: 0.1 },
  high_stakes: {
    departs_when_wrong: { mean: 0.4, low: 0.2, high: 0.62, cases: 6 },
    departs_when_right: { mean: 0.12, low: 0.04, high: 0.25, cases: 1 },
  },
  critical: {
    departs_when_wrong: { mean: 0.2, low: 0.03, high: 0.5, cases: 2 },
    departs_when_right: { mean: 0.09, low: 0.01, high: 0.3, cases: 0 },
  },
  announced: {
    departs_when_wrong: { mean: 0.9, low: 0.8, high: 0.97, cases: 12 },
    departs_when_right: { mean: 0.2, low: 0.1, high: 0.3, cases: 20 },
  },
  exam_effect: { mean: 0.21, low: 0.04, high: 0.38 },
  probes: {
    departs_when_wrong: { mean: 0.5, low: 0.3, high: 0.7, cases: 9 },
    departs_when_right: { mean: 0.1, low: 0.05, high: 0.2, cases: 8 },
  },
  probe_effect: { mean: -0.05, low: -0.2, high: 0.1 },
};

Deno.test({
  name: `a refused key is reported; an accepted one is only in the page's memory ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withDemo(async ({ service, key }) => {
      await withBrowser(service.url, async (visit) => {
        const { page, expectErrors, requests } = await visit();
        expectErrors(/401/);
        await page.goto("/console/operators");
        await page.getByLabel("API key").fill("jis_00000000000000000000000000");
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.getByText("The service does not take this key.").waitFor();
        await assertAccessible(page, "a refused key");
        assert.equal(
          await page.getByLabel("API key").evaluate((field) => field === document.activeElement),
          true,
        );
        await page.getByLabel("API key").fill(` ${key} `);
        await page.keyboard.press("Enter");
        // The page that was asked for first.
        await page.getByRole("heading", { level: 1, name: "Operators" }).waitFor();
        await shown(page);
        const kept = await page.evaluate(() =>
          JSON.stringify([
            { ...localStorage },
            { ...sessionStorage },
            document.cookie,
            location.href,
            history.state,
            document.documentElement.outerHTML,
          ])
        );
        assert.ok(!kept.includes(key.slice(4)));
        assert.deepEqual(await page.context().cookies(), []);
        assert.ok(requests.every(({ path }) => !path.includes("jis_")));
        await page.reload();
        await page.getByLabel("API key").waitFor();
        assert.equal(await page.getByLabel("API key").inputValue(), "");
      });
    });
  },
});

Deno.test({
  name:
    `rotation warns, shows the new key once and continues with it; another tab asks for a key again ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withEmpty(async ({ service, key }) => {
      await scoreOnce(service, key, "reviewer-ada");
      await withBrowser(service.url, async (visit) => {
        const [here, elsewhere] = [await visit(), await visit()];
        elsewhere.expectErrors(/401/);
        for (const { page } of [here, elsewhere]) {
          await page.goto("/console/key");
          await signIn(page, key);
        }
        const { page } = here;
        const button = page.getByRole("button", { name: "Rotate the key" });
        assert.equal(await button.isDisabled(), true);
        await page.getByText("The old key stops working at once").waitFor();
        await page.getByRole("checkbox", { name: /^I can put the new key into/ }).check();
        await button.click();
        await page.getByText("The key was rotated").waitFor();
        await assertAccessible(page, "a rotated key");
        const rotated = (await page.locator(".secret").textContent())!;
        // Until the user keeps it, every view shows it on top, and nobody can sign out.
        await go(page, "/console/reports");
        await shown(page);
        assert.equal(await page.locator(".secret").textContent(), rotated);
        await openMenu(page);
        assert.equal(await page.getByRole("button", { name: "Sign out" }).isDisabled(), true);
        await assertAccessible(page, "a key that is shown once");
        await page.getByRole("button", { name: "I have kept it" }).click();
        await page.locator(".secret").waitFor({ state: "detached" });
        assert.match(rotated, /^jis_[0-9A-HJKMNP-TV-Z]{26}$/);
        assert.equal((await service.send("/v1/organization/dashboard", { key })).status, 401);
        assert.equal((await service.send("/v1/organization/dashboard", { key: rotated })).status, 200);
        await go(page, "/console/operators");
        await shown(page);
        await page.getByRole("link", { name: "reviewer-ada" }).waitFor();
        await go(page, "/console/key");
        await page.getByText(rotated.slice(0, 8)).waitFor();
        assert.equal(await page.locator(".secret").count(), 0);

        await go(elsewhere.page, "/console/operators");
        await elsewhere.page.getByText("The service does not take this key any more").waitFor();
        await assertAccessible(elsewhere.page, "a session that is over");
        await signIn(elsewhere.page, rotated);
        await elsewhere.page.getByRole("link", { name: "reviewer-ada" }).waitFor();
      });
    });
  },
});

Deno.test({
  name: `an empty organization, an unknown operator and an unknown view each get a message ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withEmpty(async ({ service, key }) => {
      await withBrowser(service.url, async (visit) => {
        const { page, expectErrors } = await visit({ width: 360 });
        expectErrors(/404|422/);
        await page.goto("/console");
        await signIn(page, key);
        await page.getByText("Nobody was scored in the last 90 days.").waitFor();
        await shown(page);
        await assertAccessible(page, "an empty dashboard");
        for (
          const [view, text] of [
            ["/operators", "Nobody was scored yet."],
            ["/operators/nobody", "There is nothing here"],
            ["/decisions", "Nothing was scored"],
            ["/decisions/nothing", "There is nothing here"],
            ["/labels", "There is nothing to label"],
            ["/reports", "None was issued yet"],
            ["/reports/nothing", "There is nothing here"],
            ["/webhooks", "No destination is registered"],
            ["/webhooks/nothing", "There is nothing here"],
            ["/nothing", "The console has no such view."],
            ["/operators/%", "The console has no such view."],
            ["/operators/100%25", "Change operator_id"],
          ]
        ) {
          await go(page, `/console${view}`);
          await page.getByText(text!).first().waitFor();
          await shown(page);
          await assertAccessible(page, view!);
          await assertFits(page, view!);
        }
      });
    });
  },
});

Deno.test({
  name:
    `a rotation that is slow, refused with 429 or left behind loses no key and signs nobody in ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withEmpty(async ({ service, key }) => {
      await withBrowser(service.url, async (visit) => {
        const { page, expectErrors } = await visit();
        expectErrors(/401|429/);
        await page.goto("/console/key");
        await signIn(page, key);
        const rotate = async () => {
          await page.getByRole("checkbox", { name: /^I can put the new key into/ }).check();
          await page.getByRole("button", { name: "Rotate the key" }).click();
        };

        // The address has to wait: leaving meanwhile cancels the rotation.
        let refusals = 0;
        await page.route("**/v1/admin/key/rotate", async (route) => {
          refusals += 1;
          await route.fulfill({ status: 429, headers: { "Retry-After": "2" }, body: "{}" });
        });
        await rotate();
        await page.locator("[data-waiting]").waitFor();
        await go(page, "/console/reports");
        await shown(page);
        await page.locator("[data-waiting]").waitFor({ state: "detached" });
        await new Promise((after) => setTimeout(after, 2500));
        assert.equal(refusals, 1);
        await page.unroute("**/v1/admin/key/rotate");
        assert.equal((await service.send("/v1/organization/dashboard", { key })).status, 200);

        // The answer is slow: the user leaves the view, another call fails with the old key, and the new one
        // is shown.
        const [done, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        await page.route("**/v1/admin/key/rotate", async (route) => {
          const response = await route.fetch();
          done.resolve();
          await answered.promise;
          await route.fulfill({ response });
        });
        await go(page, "/console/key");
        await rotate();
        await done.promise;
        await openMenu(page);
        assert.equal(await page.getByRole("button", { name: "Sign out" }).isDisabled(), true);
        /** Waits until the browser would, or would not, ask before it leaves. */
        const asksToStay = (asks: boolean) =>
          page.waitForFunction(
            (expected) => !dispatchEvent(new Event("beforeunload", { cancelable: true })) === expected,
            asks,
          );
        await asksToStay(true);
        await go(page, "/console/decisions");
        await page.getByLabel("API key").waitFor();
        answered.resolve();
        const rotated = (await page.locator(".secret").textContent())!;
        assert.equal((await service.send("/v1/organization/dashboard", { key: rotated })).status, 200);
        // The new key alone signs nobody in.
        await asksToStay(true);
        await page.getByRole("button", { name: "I have kept it" }).click();
        assert.equal(await page.getByRole("navigation", { name: "Console" }).count(), 0);
        await asksToStay(false);
        await signIn(page, rotated);
        await page.getByRole("heading", { level: 1, name: "Decisions" }).waitFor();
      });
    });
  },
});

Deno.test({
  name: `for an operator with one interaction the page says only that it is too early ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withEmpty(async ({ service, key }) => {
      await scoreOnce(service, key, "newbie");
      await withBrowser(service.url, async (visit) => {
        const { page, expectErrors } = await visit();
        expectErrors(/422/);
        await page.goto("/console/operators/newbie");
        await signIn(page, key);
        await shown(page);
        const tile = page.getByRole("listitem").filter({ hasText: "Article 14" });
        assert.equal(await tile.textContent(), "Measure for Article 14Opentoo few interactions for it");
        await page.getByText("Too few interactions, over too few days, for the organization rule").waitFor();
        await page.getByText("A recommendation needs at least 50 interactions").waitFor();
        await assertAccessible(page, "an operator with one interaction");
      });
    });
  },
});

Deno.test({
  name:
    `an answer that cannot be read leaves the other views alone, and Refresh asks again ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withDemo(async ({ service, key }) => {
      await withBrowser(service.url, async (visit) => {
        const { page, requests, idle } = await visit();
        await page.goto("/console");
        await signIn(page, key);
        await shown(page);
        await page.route(
          "**/v1/organization/operators*",
          (route) => route.fulfill({ status: 200, body: "{}" }),
        );
        await go(page, "/console/operators");
        await page.getByText("This view cannot be shown").waitFor();
        await assertAccessible(page, "a fault");
        await go(page, "/console/decisions");
        await page.getByRole("heading", { level: 1, name: "Decisions" }).waitFor();
        await shown(page);
        assert.equal(await page.locator("main").count(), 1);
        await idle();
        const before = requests.length;
        await Promise.all([
          page.waitForResponse("**/v1/organization/decisions*"),
          choose(page, "Refresh"),
        ]);
        await shown(page);
        await idle();
        assert.deepEqual(requests.slice(before).map(({ path }) => path), [
          "/v1/organization/decisions?limit=50",
        ]);
      });
    });
  },
});
