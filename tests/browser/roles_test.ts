/** Each role sees in the console what it may do, and nothing else. */
import assert from "node:assert/strict";
import { type Access, isGranted, type Role, ROLES } from "../../src/domain/access.ts";
import { assertAccessible, browserTests } from "./browser.ts";
import { go, shown, signInWithRole } from "./console.ts";
import { type DemoService, withDemo } from "./demo_service.ts";
import { CONSOLE_VIEWS, fillDemo, FILLED } from "./views.ts";

const PATIENT = { ...FILLED, JISS_RATE_LIMIT_IP: "1000000", JISS_RATE_LIMIT_KEY: "1000000" };
const rolesTest = browserTests<DemoService>((use) => withDemo(use, PATIENT), ({ service }) => service.url);

/** The menu's views that a role has not, each with the views below it. */
const CLOSED: Readonly<Record<Role, readonly string[]>> = {
  viewer: [
    "/cases",
    "/alerts",
    "/labels",
    "/contests",
    "/audit-log",
    "/users",
    "/key",
    "/webhooks",
  ],
  officer: ["/audit-log", "/users", "/key", "/webhooks"],
  auditor: ["/labels", "/users", "/key", "/webhooks"],
  admin: [],
};

function isClosedTo(role: Role, route: string): boolean {
  return CLOSED[role].some((path) => route === path || route.startsWith(`${path}/`));
}

/** The acts by the names of their buttons, each with what its call does. */
const ACTS: readonly (readonly [name: RegExp, access: Access])[] = [
  [
    /^(?:Rotate|Make the key|Register|Invite|Disable|Erase|New link|Sessions|Remove|Test|Send a test)\b/,
    "administer",
  ],
  [/bundle|evidence|^Export\b/, "export"],
  [/^Copy for the operator/, "copy"],
  [/^(?:Take it|Assign|Wait|Add the note|End it|Dismiss|Set an)\b|own page/, "act"],
  [/^Set the team/, "team"],
  [/^(?:Copy the id|Next case)/, "label"],
];

rolesTest("whoever may not export has no button for the bundle on Verify", async (visit, demo) => {
  for (const role of ROLES) {
    const { page } = await visit();
    await signInWithRole(page, demo, role);
    await go(page, "/console/verify");
    await shown(page);
    await page.getByText("Drop bundles here").waitFor();
    const save = page.getByRole("button", { name: "Save this organization's bundle" });
    assert.equal(await save.count(), isGranted({ kind: "role", role }, "export") ? 1 : 0, role);
  }
});

rolesTest(
  "a view that a role may not use says so in one sentence, without a call that is refused and without an act",
  async (visit, demo) => {
    const single = await fillDemo(demo);
    const seen = new Set<Access>();
    for (const role of ROLES) {
      const { page, requests, idle } = await visit();
      await signInWithRole(page, demo, role);
      await shown(page);
      await idle();
      for (const { name, route, at } of CONSOLE_VIEWS) {
        const what = `${name} as ${role}`;
        // The view before may make another call until it is left: nothing is there in between.
        await go(page, "/console/nowhere");
        await shown(page);
        await idle();
        const before = requests.length;
        await go(page, `/console${at(single)}`);
        await shown(page);
        await idle();
        const calls = requests.slice(before).filter(({ path }) => path.startsWith("/v1/"));
        assert.deepEqual(calls.filter(({ status }) => status >= 400), [], what);
        const main = page.locator("main#main");
        const buttons = (await main.getByRole("button").allInnerTexts()).map((text) => text.trim());
        for (const [act, access] of ACTS) {
          const found = buttons.filter((text) => act.test(text));
          if (!isGranted({ kind: "role", role }, access)) assert.deepEqual(found, [], what);
          if (found.length > 0) seen.add(access);
        }
        const linked = await main.locator("a[href]").evaluateAll((links) =>
          links.map((link) => new URL((link as HTMLAnchorElement).href).pathname)
        );
        assert.deepEqual(linked.filter((path) => isClosedTo(role, path.replace(/^\/console/, ""))), [], what);
        const sentence = main.getByText(
          `Your role, ${role}, does not open this view. Ask an admin.`,
          { exact: true },
        );
        const isClosed = isClosedTo(role, route);
        assert.equal(await sentence.count(), isClosed ? 1 : 0, what);
        if (isClosed) {
          assert.deepEqual(
            calls.map(({ path }) => path),
            ["/v1/me"],
            `${what}: whether the role has changed`,
          );
          assert.equal(await main.locator("button, input, select, textarea, form").count(), 0, what);
        }
        await assertAccessible(page, what);
      }
      // The router takes these addresses for the same view.
      for (const address of ["/console/key/", "/console//key"]) {
        await go(page, address);
        await shown(page);
        const rotate = page.getByRole("button", { name: "Rotate the key" });
        assert.equal(await rotate.count(), role === "admin" ? 1 : 0, `${address} as ${role}`);
      }
    }
    assert.deepEqual([...seen].toSorted(), ACTS.map(([, access]) => access).toSorted());
  },
);
