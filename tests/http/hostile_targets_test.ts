/**
 * Registration of hostile destinations: each is refused with 422, and nothing is written.
 * Source: contract, sections 1 (`JISS_WEBHOOK_ALLOW`) and 8.14; issue: "Safe targets".
 */
import assert from "node:assert/strict";
import { type Harness, type HarnessOptions, withHarness } from "../harness.ts";
import {
  type HostileName,
  type HostileTarget,
  MISUSED_AND_HOSTILE,
  misusedTargets,
  NEVER,
  NEVER_NAMES,
  NO_TARGET,
  NOT_PUBLIC,
  NOT_PUBLIC_NAMES,
  ownListenerTargets,
} from "../hostile_targets.ts";

const PORT = 8080;
const ANYWHERE = ["0.0.0.0/0", "::/0"];
const OPTIONS: HarnessOptions = {
  listeners: [{ url: `http://127.0.0.1:${PORT}`, host: "127.0.0.1" }],
  hosts: Object.fromEntries(
    [...NEVER_NAMES, ...NOT_PUBLIC_NAMES].map(({ name, answers }) => [hostOf(name), answers]),
  ),
};

/** Targets that are refused whatever JISS_WEBHOOK_ALLOW says. */
const ALWAYS: readonly HostileTarget[] = [
  ...NEVER,
  ...misusedTargets("8.8.8.8"),
  ...MISUSED_AND_HOSTILE,
  ...NO_TARGET,
  ...ownListenerTargets(PORT),
];

/** The host as it is looked up. */
function hostOf(name: string): string {
  return new URL(`https://${name}/`).hostname;
}

function urlOf({ name, reason }: HostileName): HostileTarget {
  return [`https://${name}${name.startsWith("own") ? `:${PORT}` : ""}/jiss`, reason];
}

/** Asserts that each target is refused for its URL, with a matching message, and that no row is added. */
async function assertRefused(
  harness: Harness,
  targets: readonly HostileTarget[],
  message = /^Change url: /,
): Promise<void> {
  const key = await harness.organization("acme");
  const before = await harness.rowCounts();
  for (const [url, reason] of targets) {
    const of = `${JSON.stringify(url)}: ${reason}`;
    const answer = await harness.send("/v1/admin/webhook/register", {
      key,
      body: { url, secret: "a-secret-of-the-receiver" },
    });
    assert.deepEqual([answer.status, answer.body.error?.code], [422, "VALIDATION_FAILED"], of);
    assert.equal(answer.body.error.details[0].path, "url", of);
    assert.match(answer.body.error.message, message, of);
  }
  assert.deepEqual(await harness.rowCounts(), before);
}

Deno.test("there are at least 150 hostile targets, each once", () => {
  const urls = [...ALWAYS, ...NOT_PUBLIC].map(([url]) => url);
  assert.equal(new Set(urls).size, urls.length);
  assert.ok(urls.length >= 150, `${urls.length}`);
});

Deno.test(
  "every hostile URL is refused at registration, and nothing is written",
  withHarness((harness) => assertRefused(harness, [...ALWAYS, ...NOT_PUBLIC]), OPTIONS),
);

Deno.test(
  "a URL that is hostile by its address, its form or as the service itself is refused even if every network is allowed",
  withHarness((harness) => assertRefused(harness, ALWAYS), { ...OPTIONS, webhookAllow: ANYWHERE }),
);

Deno.test(
  "an address that is not public is refused with the variable that would allow it",
  withHarness((harness) => assertRefused(harness, NOT_PUBLIC, /JISS_WEBHOOK_ALLOW/), OPTIONS),
);

Deno.test(
  "a name is refused with the same message if one of its addresses is not public or if it has none",
  withHarness(
    (harness) =>
      assertRefused(
        harness,
        [...NEVER_NAMES, ...NOT_PUBLIC_NAMES].map(urlOf),
        /^Change url: must name a host that resolves only to public addresses, or to networks that JISS_WEBHOOK_ALLOW lists/,
      ),
    OPTIONS,
  ),
);

Deno.test(
  "a name with an address that is never called is refused even if every network is allowed",
  withHarness((harness) => assertRefused(harness, NEVER_NAMES.map(urlOf)), {
    ...OPTIONS,
    webhookAllow: ANYWHERE,
  }),
);

Deno.test(
  "a URL that only the setting refuses is accepted if every network is allowed",
  withHarness(async (harness) => {
    const targets = [...NOT_PUBLIC, ...NOT_PUBLIC_NAMES.map(urlOf)];
    for (let first = 0; first < targets.length; first += 10) {
      const key = await harness.organization(`org-${first}`);
      for (const [url, reason] of targets.slice(first, first + 10)) {
        const body = { url, secret: "a-secret-of-the-receiver" };
        const answer = await harness.send("/v1/admin/webhook/register", { key, body });
        assert.equal(answer.status, 201, `${url}: ${reason}: ${answer.text}`);
      }
    }
  }, { ...OPTIONS, webhookAllow: ANYWHERE }),
);
