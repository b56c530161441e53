/** The tests of all pages in a browser that is not Chromium: the same path for each. They run in `task endure`. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { JissCollection, JissCollectorApi } from "../../src/web/collector/main.ts";
import { printedLink } from "./console.ts";
import { type DemoService, withDemo } from "./demo_service.ts";
import { type Engine, KEYS, missingPrograms, Visitor, type WindowOptions } from "./driving.ts";
import { CONSOLE_VIEWS, fillDemo, FILLED, OPEN_PAGES } from "./views.ts";

const DESK: WindowOptions = { theme: "light", width: 1200, height: 900 };
const PHONE: WindowOptions = { theme: "dark", width: 390, height: 800 };
const PATIENT = { ...FILLED, JISS_RATE_LIMIT_IP: "1000000", JISS_RATE_LIMIT_KEY: "1000000" };

/** Defines the tests for an engine. */
export function testEngine(engine: Engine): void {
  const missing = missingPrograms(engine);
  /** Defines a test with one window of the engine. */
  const engineTest = (
    name: string,
    options: WindowOptions,
    run: (visitor: Visitor) => Promise<void>,
  ) =>
    Deno.test({
      name: `${engine.name}: ${name} [needs ${engine.programs.join(", ")}]`,
      ignore: missing.length > 0,
      async fn() {
        const driver = await engine.start(options);
        try {
          await run(new Visitor(driver));
        } finally {
          await driver.close();
        }
      },
    });
  /** Defines such a test over the demo, whose pages may not complain. */
  const demoTest = (
    name: string,
    options: WindowOptions,
    run: (visitor: Visitor, demo: DemoService) => Promise<void>,
  ) =>
    engineTest(name, options, (visitor) =>
      withDemo(async (demo) => {
        visitor.origin = demo.service.url;
        await run(visitor, demo);
        await visitor.hadNoComplaints();
      }, PATIENT));

  engineTest("what a page complains of is noticed", PHONE, async (visitor) => {
    const page = `<!doctype html><html lang="en"><title>Wrong</title><button>Begin</button><script>
      document.querySelector("button").onclick = () => {
        console.error("an error that was logged");
        document.body.style.width = "600px";
        document.body.append("It has begun.");
        setTimeout(() => { throw new Error("an error that was thrown"); });
        Promise.reject(new Error("a promise that was rejected"));
        document.body.append(Object.assign(new Image(), { src: "https://elsewhere.example/picture" }));
      };
      </script>`;
    const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () =>
      new Response(page, {
        headers: {
          "Content-Type": "text/html",
          "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'",
        },
      }));
    try {
      visitor.origin = `http://127.0.0.1:${server.addr.port}`;
      await visitor.open("/");
      await visitor.click("button", "Begin");
      await visitor.sees("It has begun.");
      await visitor.until("the breach", () => document.querySelector("img") !== null);
      const wanted = ["was logged", "was thrown", "was rejected", "elsewhere.example"];
      const missed = async () => {
        const said = (await visitor.driver.complaints()).join("\n");
        return wanted.filter((part) => !said.includes(part));
      };
      for (let looks = 0; looks < 100 && (await missed()).length > 0; looks += 1) {
        await new Promise((next) => setTimeout(next, 50));
      }
      assert.deepEqual(await missed(), []);
      await assert.rejects(visitor.hadNoComplaints());
      await assert.rejects(visitor.isAccessible("a page with an image without a text"));
      await assert.rejects(visitor.fits("a page that is too wide"));
    } finally {
      await server.shutdown();
    }
  });

  demoTest(
    "an officer's path: signs in by link, takes a case, labels five by keys, makes a report, verifies a bundle, registers a destination, signs in by key",
    DESK,
    async (visitor, demo) => {
      await visitor.open(printedLink(demo));
      await visitor.click("button", "Sign in");
      await visitor.finds("navigation", "Console");
      await visitor.finds("heading", "What needs attention");
      await visitor.shown();
      await visitor.isAccessible("home");

      await visitor.click("link", "All cases");
      await visitor.finds("heading", "Cases");
      await visitor.clickSelector("tbody a[href^='/console/cases/']");
      await visitor.finds("heading", /^reviewer-\w+: /);
      await visitor.click("button", "Take it");
      await visitor.sees("In work");
      await visitor.type("Note", "We looked at it together.");
      await visitor.click("button", "Add the note");
      await visitor.until("the note", () => document.querySelector(".note bdi") !== null);
      await visitor.isAccessible("a case");

      await visitor.click("link", "Operators");
      await visitor.finds("heading", "Operators");
      await visitor.shown();
      await visitor.choose("Verdict", "Undetermined");
      await visitor.until("the address", () => location.search.includes("verdict=undetermined"));
      await visitor.shown();
      await visitor.type("Part of the name", "R-ADA");
      await visitor.press(KEYS.enter);
      await visitor.until("the address", () => location.search.includes("q=R-ADA"));
      await visitor.shown();
      await visitor.click("link", "reviewer-ada");
      await visitor.finds("heading", "reviewer-ada");
      await visitor.finds("heading", "Verdict and cause");
      await visitor.shown();
      await visitor.isAccessible("an operator");

      await visitor.click("link", "Labels");
      for (let labelled = 0; labelled < 5; labelled += 1) {
        await visitor.sees(`${labelled} labelled, `);
        // Yes to each question that is asked; the second one answers the last question again if there is one alone.
        await visitor.press("1");
        await visitor.press("1");
        await visitor.press(KEYS.enter);
      }
      await visitor.sees("5 labelled, ");

      await visitor.click("link", "Reports");
      await visitor.click("button", "Make the report");
      await visitor.finds("heading", /^Compliance report, /);
      await visitor.until(
        "the report in its frame",
        () =>
          document.querySelector("iframe")?.contentDocument?.body.innerText.includes(
            "What this report is not",
          ) ??
            false,
      );
      await visitor.isAccessible("a report");

      const bundle = await (await fetch(`${demo.service.url}/v1/audit/chain/export`, {
        headers: { "X-API-Key": demo.key },
      })).text();
      await visitor.click("link", "Verify");
      await visitor.seesElement(".drop");
      const drop = (text: string) => {
        const files = new DataTransfer();
        files.items.add(new File([text], "demo.ndjson"));
        document.querySelector(".drop")!.dispatchEvent(
          new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }),
        );
        return null;
      };
      await visitor.evaluate(drop, bundle);
      await visitor.seesElement("[data-verdict='INTACT, UNANCHORED']");
      await visitor.isAccessible("a verified bundle");
      const place = bundle.indexOf("reviewer-", Math.floor(bundle.length / 2));
      assert.ok(place > 0);
      await visitor.evaluate(drop, `${bundle.slice(0, place)}R${bundle.slice(place + 1)}`);
      await visitor.seesElement("[data-verdict='TAMPERED']");

      await visitor.click("link", "Webhooks");
      await visitor.finds("heading", "Webhooks");
      await visitor.shown();
      await visitor.click("button", "Register a destination");
      await visitor.type("URL", "https://192.168.0.1/hook");
      await visitor.click("button", "Draw one");
      await visitor.click("button", "Register");
      await visitor.seesElement("#url-wrong:not(:empty)");
      await visitor.type("URL", "https://127.0.0.1:9/hook");
      await visitor.click("button", "Register");
      assert.match(await visitor.text(".once .secret"), /^whsec_/);
      await visitor.click("button", "I have kept it");
      await visitor.finds("link", "https://127.0.0.1:9/hook");

      await visitor.clickSelector("button[aria-controls=menu]");
      await visitor.click("button", "Sign out");
      await visitor.finds("heading", "Sign in");
      await visitor.type("API key", demo.key);
      await visitor.click("button", "Sign in");
      await visitor.finds("navigation", "Console");
      await visitor.go("/console");
      await visitor.finds("heading", "What needs attention");
      const picture = await visitor.driver.screenshot();
      assert.deepEqual([...picture.slice(1, 4)].map((code) => String.fromCharCode(code)).join(""), "PNG");
      assert.ok(picture.length > 10_000, `a picture of ${picture.length} bytes is empty`);
    },
  );

  demoTest(
    "a reviewer reads the own page and contests, and a visitor goes through the demo",
    DESK,
    async (visitor, demo) => {
      const { links: { me } } = await fillDemo(demo);
      await visitor.open(me);
      await visitor.finds("heading", "Your score");
      await visitor.isAccessible("a reviewer's own page");
      await visitor.clickSelector("details summary");
      const record = await visitor.text("tbody th code");
      await visitor.type("Case or decision", record);
      await visitor.type("What is wrong", "I was called away.");
      await visitor.click("button", "Contest");
      await visitor.sees("It is recorded, as entry");

      await visitor.open("/demo");
      await visitor.click("button", "Begin with case 1");
      for (let number = 1; number <= 4; number += 1) {
        await visitor.sees(`Case ${number} of 4`);
        await visitor.clickSelector("input[type=radio]");
        await visitor.click("button", "Decide");
      }
      await visitor.finds("heading", "Your result after 4 cases");
      await visitor.isAccessible("the demo's result");
    },
  );

  demoTest(
    "every view and every page fits a phone in the dark, without a finding of axe",
    PHONE,
    async (visitor, demo) => {
      const shown = await fillDemo(demo);
      const look = async (what: string) => {
        const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
        assert.equal(await visitor.evaluate(isDark), true, what);
        await visitor.isAccessible(what);
        await visitor.fits(what);
      };
      for (const { name, at, drawn } of OPEN_PAGES) {
        await visitor.open(at(shown.links));
        await visitor.seesElement(drawn);
        await look(name);
      }
      await visitor.open(printedLink(demo));
      await visitor.click("button", "Sign in");
      await visitor.finds("navigation", "Console");
      for (const { name, at } of CONSOLE_VIEWS) {
        await visitor.go(`/console${at(shown)}`);
        await look(name);
      }
    },
  );

  engineTest("the collector measures on a customer's page of another origin", DESK, async (visitor) => {
    await withDemo(async ({ service }) => {
      const script = await (await fetch(`${service.url}/collector.js`)).text();
      const integrity = `sha384-${createHash("sha384").update(script).digest("base64")}`;
      const page = `<!doctype html><html lang="en"><title>Review</title>
        <script src="${service.url}/collector.js" defer integrity="${integrity}" crossorigin="anonymous"></script>
        <body><main><h1>Case</h1><section data-jiss-part>The amounts</section><details data-jiss-view="terms"><summary>Terms</summary>All of them.</details>
        <button>Decide</button></main>`;
      const server = Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen() {} },
        ({ url }) =>
          new URL(url).pathname === "/"
            ? new Response(page, {
              headers: {
                "Content-Type": "text/html",
                "Content-Security-Policy": `default-src 'none'; script-src ${service.url}; img-src 'self'`,
              },
            })
            : new Response(null, { status: 204 }),
      );
      try {
        visitor.origin = `http://127.0.0.1:${server.addr.port}`;
        await visitor.open("/");
        await visitor.until("the collector", () => "JissCollector" in globalThis);
        await visitor.evaluate(() => {
          const given = globalThis as unknown as { JissCollector: JissCollectorApi; running: JissCollection };
          given.running = given.JissCollector.start(document.querySelector("main")!);
          return null;
        });
        await new Promise((next) => setTimeout(next, 400));
        await visitor.clickSelector("summary");
        await visitor.clickSelector("section");
        await new Promise((next) => setTimeout(next, 1_000));
        await visitor.click("button", "Decide");
        const measured = await visitor.evaluate(() =>
          (globalThis as unknown as { running: JissCollection }).running.stop()
        );
        assert.ok(
          measured.time_to_decision_ms >= 300 && measured.time_to_decision_ms < 60_000,
          JSON.stringify(measured),
        );
        assert.deepEqual([measured.hover_events, measured.alternative_views_checked], [1, 1]);
        await visitor.hadNoComplaints();
      } finally {
        await server.shutdown();
      }
    });
  });
}
