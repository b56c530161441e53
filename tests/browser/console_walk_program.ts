/**
 * A program of its own, as many_operators_program.ts. A person walks through all views of the console for some minutes, a view
 * a second, while an integration on the same host sends almost all that its address may. Prints its figures.
 */
import { closeBrowser, withBrowser } from "./browser.ts";
import { go, shown, signInByLink } from "./console.ts";
import { withDemo } from "./demo_service.ts";
import { CONSOLE_VIEWS, fillDemo, FILLED } from "./views.ts";

const VIEW_MS = 1_000;
/** 55 requests a minute, of the 60 that an address may make. */
const INTEGRATION_MS = 60_000 / 55;
/** The demo is filled from the same address: its requests count for a minute. */
const FILLED_MS = 60_000;

const until = performance.now() + Number(Deno.args[0]) * 60_000;
const figures = { views: 0, requests: 0, limited: 0, integration: { requests: 0, limited: 0 } };

await withDemo(async (demo) => {
  const single = await fillDemo(demo);
  const integrate = async () => {
    await new Promise((wait) => setTimeout(wait, FILLED_MS));
    for (let number = 0; performance.now() < until; number += 1) {
      const next = new Promise((wait) => setTimeout(wait, INTEGRATION_MS));
      const { status } = await demo.service.send("/v1/score", {
        key: demo.key,
        body: {
          session_id: `walked-${number}`,
          operator_id: "walker",
          domain: "general",
          interaction: { time_to_decision_ms: 9_000, decision: "accepted" },
        },
      });
      figures.integration.requests += 1;
      if (status !== 200) figures.integration.limited += 1;
      await next;
    }
  };
  await withBrowser(demo.service.url, async (visit) => {
    const { page, requests } = await visit();
    await signInByLink(page, demo);
    const integration = integrate();
    while (performance.now() < until) {
      const next = new Promise((wait) => setTimeout(wait, VIEW_MS));
      await go(page, `/console${CONSOLE_VIEWS[figures.views % CONSOLE_VIEWS.length]!.at(single)}`);
      await shown(page);
      figures.views += 1;
      await next;
    }
    await integration;
    const calls = requests.filter(({ path }) => path.startsWith("/v1/"));
    figures.requests = calls.length;
    figures.limited = calls.filter(({ status }) => status !== 200).length;
  });
}, { ...FILLED, JISS_RATE_LIMIT_IP: "60" });
await closeBrowser();
console.log(JSON.stringify(figures));
