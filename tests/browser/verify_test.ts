/**
 * Verify: the browser checks an exported bundle, over plain HTTP too, sends nothing anywhere, and gives the
 * same verdict as `jiss verify` does for the same file.
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { publicKeyPem } from "../auditing.ts";
import { buildWorld } from "../bundle_builder.ts";
import { scoreRequest } from "../harness.ts";
import { type RunningService, runProgram } from "../program.ts";
import { appendEvents } from "../sidestep_rows.ts";
import {
  assertAccessible,
  chromiumIsMissing,
  INTRANET,
  NEEDS_CHROMIUM,
  THEMES,
  withBrowser,
} from "./browser.ts";
import { go, signIn } from "./console.ts";
import { type DemoService, sharedDemo, sharedWithEmpty } from "./demo_service.ts";

const ignore = chromiumIsMissing();
/** No test changes anything there. */
const withDemo = sharedDemo();
const withEmpty = sharedWithEmpty();

/** A bundle that is verified quickly, and the text in it of the score of `session-1`. */
async function shortBundle({ service, key }: DemoService): Promise<{ bundle: string; score: string }> {
  let score = "";
  for (const session of ["session-1", "session-2", "session-3"]) {
    const { status, body } = await service.send("/v1/score", {
      key,
      body: scoreRequest({ session_id: session }),
    });
    assert.equal(status, 200);
    if (score === "") score = `"jis":${body.jis}`;
  }
  const bundle = await exported(service, key);
  assert.ok(bundle.includes(score));
  return { bundle, score };
}

async function exported(service: RunningService, key: string): Promise<string> {
  const answer = await fetch(`${service.url}/v1/audit/chain/export`, { headers: { "X-API-Key": key } });
  assert.equal(answer.status, 200);
  return await answer.text();
}

/** Files that a browser may read; they are removed when this is disposed. */
class Files {
  readonly #directory = Deno.makeTempDirSync({ prefix: "jiss-verify-" });
  #count = 0;

  /** Chooses a file with this text, and waits for the result. */
  async give(page: Page, text: string): Promise<void> {
    await this.choose(page, text);
    await page.locator("[data-verdict], .notice.bad").first().waitFor();
  }

  async choose(page: Page, text: string): Promise<void> {
    this.#count += 1;
    const path = `${this.#directory}/bundle-${this.#count}.ndjson`;
    await Deno.writeTextFile(path, text);
    await page.locator("#bundle").setInputFiles(path);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#directory, { recursive: true });
  }
}

/** The verdict on the page, and what the program says of the same file and keys. */
async function bothSay(page: Page, text: string, keys: string) {
  const directory = await Deno.makeTempDir({ prefix: "jiss-verify-" });
  try {
    await Deno.writeTextFile(`${directory}/demo.ndjson`, text);
    await Deno.writeTextFile(`${directory}/keys.json`, keys);
    const args = ["verify", `${directory}/demo.ndjson`, "--key", `${directory}/keys.json`, "--json"];
    const { stdout } = await runProgram(args);
    const said = JSON.parse(stdout);
    const verdict = page.locator("[data-verdict]");
    await verdict.waitFor();
    return {
      shown: await verdict.getAttribute("data-verdict"),
      text: (await verdict.textContent())!,
      said: said.bundles?.[0] ?? said,
    };
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test({
  name:
    `an untampered bundle is intact and a tampered one is not, as for jiss verify, over plain HTTP and without a key ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withDemo(async ({ service, key }) => {
      using files = new Files();
      const bundle = await exported(service, key);
      const keys = await (await fetch(`${service.url}/.well-known/jwks.json`)).text();
      const origin = service.url.replace("127.0.0.1", INTRANET);
      await withBrowser(origin, async (visit) => {
        const { page, requests } = await visit();
        await page.goto("/console/verify");
        assert.equal(await page.evaluate(() => globalThis.isSecureContext), false);
        assert.equal(await page.evaluate(() => crypto.subtle === undefined), true);
        await files.give(page, bundle);
        const intact = await bothSay(page, bundle, keys);
        assert.equal(intact.shown, "INTACT, UNANCHORED");
        assert.equal(intact.said.verdict, intact.shown);
        assert.ok(intact.text.includes(`${intact.said.entries} entries`), intact.text);
        assert.match(intact.text, /1\d\d\d computed anew/);
        assert.equal(await page.getByText("Its checkpoint, to be kept").count(), 1);

        // One digit of one recorded result is changed.
        const lines = bundle.split("\n");
        const at = lines.findIndex((line) => line.includes('"jis":77.6'));
        assert.ok(at > 0);
        const tampered = lines.with(at, lines[at]!.replace('"jis":77.6', '"jis":87.6')).join("\n");
        await files.give(page, tampered);
        await page.getByText("TAMPERED").waitFor();
        const altered = await bothSay(page, tampered, keys);
        assert.deepEqual([altered.shown, altered.said.verdict], ["TAMPERED", "TAMPERED"]);
        assert.match(altered.text, /COMMITMENT_MISMATCH/);
        // The checkpoint kept from a changed file would be compared with the true one.
        assert.equal(await page.getByText("Its checkpoint, to be kept").count(), 0);
        const { seq } = altered.said.findings.find(({ code }: { readonly code: string }) =>
          code === "COMMITMENT_MISMATCH"
        );
        assert.ok(altered.text.includes(`The content of entry ${seq} was changed`), altered.text);

        // A copy with Windows line ends is recognized as one; its thousands of findings are listed by kind.
        await files.give(page, bundle.replaceAll("\n", "\r\n"));
        await page.getByText("Each line of the file ends as Windows ends lines").waitFor();
        assert.match((await page.locator("[data-verdict]").textContent())!, /and \d{4} more of this kind: /);
        assert.ok(await page.locator("[data-verdict] li").count() < 10);

        // The page requested only itself and the published keys, and sent nothing.
        for (const { method, path } of requests) {
          assert.equal(method, "GET");
          assert.match(path, /^\/(?:console\/verify|assets\/[\w.-]+|\.well-known\/jwks\.json)$/);
        }
      });
    });
  },
});

Deno.test({
  name:
    `a kept checkpoint of the system chain pins the other chains, whatever the order of the files ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withDemo(async ({ service }) => {
      const directory = await Deno.makeTempDir({ prefix: "jiss-verify-" });
      const world = buildWorld();
      const [system, chain] = [world.chain("sys"), appendEvents(world.chain("org/acme"), "true", 2)];
      system.anchor([chain]);
      const forged = appendEvents(buildWorld().chain("org/acme"), "forged", 2);
      const save = async (name: string, text: string) => {
        await Deno.writeTextFile(`${directory}/${name}`, text);
        return `${directory}/${name}`;
      };
      const sys = await save("system.ndjson", system.bundle());
      await withBrowser(service.url, async (visit) => {
        const { page } = await visit();
        await page.goto("/console/verify");
        await page.getByLabel("Keys that I got another way").check();
        await page.getByLabel("Public keys").fill(publicKeyPem(world.newSigner(1).publicKey));
        await page.getByText("Compare it with a checkpoint").click();
        await page.locator("#kept").fill(system.checkpoint().note);
        const say = async (paths: readonly string[], text: string) => {
          await page.locator("#bundle").setInputFiles([...paths]);
          await page.getByText(text).first().waitFor();
        };
        const [own, other] = [
          await save("acme.ndjson", chain.bundle()),
          await save("forged.ndjson", forged.bundle()),
        ];
        await say([own], "give the system chain with it");
        await say([own, sys], "agrees with what the system chain recorded of it");
        await say([other, sys], "contradicts a checkpoint");
      });
      await Deno.remove(directory, { recursive: true });
    });
  },
});

Deno.test({
  name:
    `a bundle is compared with an auditor's own keys and checkpoints; unusable ones are reported ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withEmpty(async (demo) => {
      using files = new Files();
      const { service } = demo;
      const { bundle } = await shortBundle(demo);
      const keys = await (await fetch(`${service.url}/.well-known/jwks.json`)).text();
      await withBrowser(service.url, async (visit) => {
        for (const theme of THEMES) {
          const { page } = await visit({ theme, width: 360 });
          await page.goto("/console/verify");
          await page.getByLabel("Keys that I got another way").check();
          await page.getByLabel("Public keys").fill("no key");
          await files.give(page, bundle);
          await page.getByText("The keys cannot be used").waitFor();
          await assertAccessible(page, "unusable keys");
          await page.getByLabel("Public keys").fill(keys);
          await files.give(page, bundle);
          await page.locator("[data-verdict='INTACT, UNANCHORED']").waitFor();
          await page.getByText("Its checkpoint, to be kept").click();
          const checkpoint = (await page.locator("[data-verdict] pre").textContent())!;
          await page.getByText("Compare it with a checkpoint").click();
          await page.locator("#kept").fill(checkpoint);
          await page.getByRole("button", { name: "Verify again" }).click();
          await page.locator("[data-verdict='INTACT']").waitFor();
          await assertAccessible(page, "an intact bundle");

          // The same number of entries, another history.
          const other = checkpoint.replace(
            /^(.*\n.*\n)(.)/,
            (_, head: string, first: string) => `${head}${first === "A" ? "B" : "A"}`,
          );
          assert.notEqual(other, checkpoint);
          await page.locator("#kept").fill(other);
          await page.getByRole("button", { name: "Verify again" }).click();
          await page.locator("[data-verdict='NOT VERIFIABLE']").waitFor();

          await page.locator("#kept").fill("");
          await page.getByLabel("No key").check();
          await files.give(page, bundle);
          await page.getByText("The file agrees with the key that it carries itself").waitFor();
          await files.give(page, "no bundle at all\n");
          await page.getByText("damaged, or does not belong there").waitFor();
          // Cut off in the middle of a line.
          await page.getByLabel("The keys that this service publishes").check();
          await files.give(page, bundle.slice(0, -100));
          await page.locator("[data-verdict='TAMPERED']").waitFor();
          await page.getByText("The file is cut off: ").waitFor();
          await assertAccessible(page, "a bundle that is cut off");
        }
      });
    });
  },
});

Deno.test({
  name: `a signed-in user saves the organization's own bundle and drops it on the page ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withDemo(async ({ service, key }) => {
      await withBrowser(service.url, async (visit) => {
        const { page } = await visit();
        await page.goto("/console");
        await signIn(page, key);
        await go(page, "/console/verify");
        const saving = page.waitForEvent("download");
        await page.getByRole("button", { name: "Save this organization's bundle" }).click();
        const saved = await saving;
        assert.equal(saved.suggestedFilename(), "demo.ndjson");
        const text = await Deno.readTextFile(await saved.path());
        // The first line has the time of the export, and the last one the digest.
        const entries = (bundle: string) => bundle.split("\n").slice(1, -2).join("\n");
        assert.ok(entries(text) === entries(await exported(service, key)), "another bundle");
        // Dropped, as from a file manager.
        const transfer = await page.evaluateHandle((content) => {
          const files = new DataTransfer();
          files.items.add(new File([content], "demo.ndjson"));
          return files;
        }, text);
        await page.dispatchEvent(".drop", "drop", { dataTransfer: transfer });
        await page.locator("[data-verdict='INTACT, UNANCHORED']").waitFor();
      });
    });
  },
});

Deno.test({
  name: `a verdict is shown only beside the files that it is about ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withEmpty(async (demo) => {
      using files = new Files();
      const { service, key } = demo;
      const { bundle, score } = await shortBundle(demo);
      const tampered = bundle.replace(score, score.replace(/\d/, (digit) => digit === "9" ? "8" : "9"));
      await withBrowser(service.url, async (visit) => {
        const { page, expectErrors } = await visit();
        expectErrors(/ERR_FAILED/);
        await page.goto("/console/verify");
        await files.give(page, bundle);
        await page.getByText("Of bundle-1.ndjson, held against the keys that this service publishes.")
          .waitFor();
        await page.route("**/.well-known/jwks.json", (route) => route.abort());
        await files.give(page, tampered);
        await page.getByText("The service cannot be reached").first().waitFor();
        assert.equal(await page.locator("[data-verdict]").count(), 0);
        await page.unroute("**/.well-known/jwks.json");
        // Another choice of keys is named beside the verdict once it is applied.
        await files.give(page, bundle);
        await page.locator("[data-verdict='INTACT, UNANCHORED']").waitFor();
        await page.getByLabel("No key").check();
        await page.getByText("Of bundle-3.ndjson, held against the keys that this service publishes.")
          .waitFor();
        await page.getByRole("button", { name: "Verify again" }).click();
        await page.getByText("Of bundle-3.ndjson, held against no key but the file's own.").waitFor();
        // A slower run that was begun before no longer changes the page.
        const keys = Promise.withResolvers<void>();
        await page.route("**/.well-known/jwks.json", async (route) => {
          await keys.promise;
          await route.continue();
        });
        await page.getByLabel("The keys that this service publishes").check();
        await files.choose(page, tampered);
        await page.getByText("Verifying bundle-4.ndjson").waitFor();
        await page.getByLabel("No key").check();
        await files.give(page, bundle);
        await page.getByText("Of bundle-5.ndjson, held against no key but the file's own.").waitFor();
        keys.resolve();
        await new Promise((after) => setTimeout(after, 1000));
        assert.equal(await page.getByText("Of bundle-5.ndjson").count(), 1);
        assert.equal(await page.locator("[data-verdict]").getAttribute("data-verdict"), "NOT VERIFIABLE");
        await page.unroute("**/.well-known/jwks.json");
        // Nor does it if its keys cannot be fetched.
        const lost = Promise.withResolvers<void>();
        await page.route("**/.well-known/jwks.json", async (route) => {
          await lost.promise;
          await route.abort();
        });
        await page.getByLabel("The keys that this service publishes").check();
        await files.choose(page, bundle);
        await page.getByText("Verifying bundle-6.ndjson").waitFor();
        await page.getByLabel("No key").check();
        await files.give(page, bundle);
        lost.resolve();
        await new Promise((after) => setTimeout(after, 1000));
        assert.equal(await page.getByText("The service cannot be reached").count(), 0);
        assert.equal(await page.getByText("Of bundle-7.ndjson").count(), 1);
        await page.unroute("**/.well-known/jwks.json");
        // A saved answer is recognized as one.
        const { body } = await service.send("/v1/decision/replay/session-1", { key });
        await files.give(page, JSON.stringify(body, null, 2));
        await page.getByText("is a saved answer of the service, not a bundle").waitFor();
        // So are other files that are taken for bundles.
        await files.give(page, JSON.stringify({ error: { code: "UNAUTHORIZED", message: "…" } }));
        await page.getByText("is an error that the service answered").waitFor();
        await files.give(page, "<!doctype html><title>Report</title>");
        await page.getByText("is a page, not a bundle").waitFor();
        await files.give(page, "");
        await page.getByText("is empty, because the export or the copy was interrupted").waitFor();
      });
    });
  },
});
