/** Each role sees in the console what it may do, and nothing else. */
import assert from "node:assert/strict";
import { isGranted, ROLES } from "../../src/domain/access.ts";
import { browserTests } from "./browser.ts";
import { go, shown, signInWithRole } from "./console.ts";
import { sharedDemo } from "./demo_service.ts";

const rolesTest = browserTests(sharedDemo(), ({ service }) => service.url);

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
