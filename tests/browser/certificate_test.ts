/** The auditor's certificate in a browser: on a telephone, in both themes, and on paper. */
import assert from "node:assert/strict";
import {
  bundleOf,
  forkedBundle,
  save,
  verifyProgram,
  type Visit as Audited,
  withVisit as withAudited,
} from "../auditing.ts";
import {
  assertAccessible,
  assertFits,
  chromiumIsMissing,
  NEEDS_CHROMIUM,
  THEMES,
  withBrowser,
} from "./browser.ts";

/** Width of A4 within the margins of the page's style, pixels of 1/96 inch. */
const A4_WIDTH = Math.floor((210 - 2 * 15) / 25.4 * 96);

/** Certificates by path: of an intact file, of a rewritten history, and of a file with a hostile name. */
async function certificates(
  { harness, directory, put, jwks }: Audited,
): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  const certify = async (path: string, args: readonly string[]) => {
    const file = `${directory}${path}.html`;
    await verifyProgram([...args, "--report", file]);
    pages.set(path, await Deno.readTextFile(file));
  };
  const state = ["--state", `${directory}/memory`];
  const good = await put("acme.ndjson", await bundleOf(harness, "org/acme"));
  await certify("/intact", [good, "--key", jwks, ...state]);
  await certify("/forked", [await put("forked.ndjson", await forkedBundle(6)), ...state]);
  const name = `${"long".repeat(40)}<script>document.title="run"<\u2044script>.ndjson`;
  await certify("/hostile", [await save(directory, name, "x".repeat(500))]);
  return pages;
}

/** Serves pages, without the policy that a service would send: the pages have their own. */
async function withPages(
  pages: ReadonlyMap<string, string>,
  use: (origin: string) => Promise<void>,
): Promise<void> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const page = pages.get(new URL(request.url).pathname);
    return new Response(page ?? null, {
      status: page === undefined ? 404 : 200,
      headers: { "Content-Type": "text/html" },
    });
  });
  try {
    await use(`http://127.0.0.1:${server.addr.port}`);
  } finally {
    await server.shutdown();
  }
}

Deno.test({
  name:
    `a certificate is accessible in both themes, fits a window of 360 pixels and a sheet of A4, and prints black on white ${NEEDS_CHROMIUM}`,
  ignore: chromiumIsMissing(),
  fn: withAudited(async (audited) => {
    const pages = await certificates(audited);
    await withPages(pages, async (origin) => {
      await withBrowser(origin, async (visit) => {
        for (const theme of THEMES) {
          const { page } = await visit({ theme, width: 360 });
          for (const path of pages.keys()) {
            await page.emulateMedia({ media: "screen" });
            await page.setViewportSize({ width: 360, height: 800 });
            await page.goto(path);
            assert.equal(await page.title(), "Auditor’s certificate");
            await assertAccessible(page, `${path} ${theme}`);
            await assertFits(page, `${path} on a telephone`);

            await page.emulateMedia({ media: "print" });
            await page.setViewportSize({ width: A4_WIDTH, height: 1000 });
            await assertFits(page, `${path} on paper`);
            const colours = await page.evaluate(() =>
              ["body", "h1", ".status", "dt"].map((what) => {
                const { color, backgroundColor } = getComputedStyle(document.querySelector(what)!);
                return what === "body" ? [backgroundColor, color] : [color];
              }).flat()
            );
            assert.deepEqual(colours, ["rgb(255, 255, 255)", ...Array(4).fill("rgb(0, 0, 0)")], path);
            const printed = new TextDecoder("latin1").decode(
              await page.pdf({ preferCSSPageSize: true, format: "A4" }),
            );
            const sheets = printed.match(/\/Type\s*\/Page\b(?!s)/g)!.length;
            assert.ok(sheets >= 2 && sheets <= 6, `${path}: ${sheets} sheets`);
          }
        }
      });
    });
  }),
});
