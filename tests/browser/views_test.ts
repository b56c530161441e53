/** The list of views is the console's own, and each view on it can be drawn. */
import assert from "node:assert/strict";
import { chromiumIsMissing, NEEDS_CHROMIUM } from "./browser.ts";
import { drawPictures, FORMS, PICTURED } from "./pictures.ts";
import { CONSOLE_VIEWS } from "./views.ts";

const MAIN = `${import.meta.dirname}/../../src/web/console/main.tsx`;

/** Routes of the console below its root, as its router names them. */
async function routes(): Promise<readonly string[]> {
  const source = await Deno.readTextFile(MAIN);
  const elements = [...source.matchAll(/<Route\b([^>]*)>/g)].map(([, attributes]) => attributes!);
  return elements.filter((attributes) => !/\bdefault\b/.test(attributes)).map((attributes) => {
    const found = /path=\{(?:ROOT|`\$\{ROOT\}([^`]*)`)\}/.exec(attributes);
    assert.ok(found !== null, `a route in another form: ${attributes}`);
    return found[1] ?? "";
  });
}

Deno.test("the list of views has each route of the console, once, under a name of its own", async () => {
  const known = CONSOLE_VIEWS.map(({ route }) => route);
  const real = await routes();
  assert.ok(real.length >= 20, `${real.length} routes`);
  assert.deepEqual(known.toSorted(), real.toSorted());
  assert.equal(new Set(PICTURED).size, PICTURED.length);
});

/** Width and height that a PNG declares. */
async function sizeOf(path: string): Promise<readonly [width: number, height: number]> {
  const bytes = await Deno.readFile(path);
  const view = new DataView(bytes.buffer);
  assert.equal(view.getUint32(0), 0x89504e47, path);
  return [view.getUint32(16), view.getUint32(20)];
}

Deno.test({
  name: `pictures of views and pages are drawn in four forms, and a page shows them ${NEEDS_CHROMIUM}`,
  ignore: chromiumIsMissing(),
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "jiss-pictures-" });
    try {
      const names = ["sign-in", "collector", "case"];
      const { files } = await drawPictures(folder, names);
      assert.deepEqual(
        files.toSorted(),
        names.flatMap((name) => FORMS.map((form) => `${name}-${form.name}.png`)).toSorted(),
      );
      const index = await Deno.readTextFile(`${folder}/index.html`);
      for (const { name, width, height } of FORMS) {
        const sizes = await Promise.all(names.map((view) => sizeOf(`${folder}/${view}-${name}.png`)));
        for (const [wide, high] of sizes) {
          assert.equal(wide, width, name);
          assert.ok(name === "print" ? high === height : high >= height, `${name}: ${high}`);
        }
        for (const view of names) assert.ok(index.includes(`src="${view}-${name}.png"`));
      }
      const bytes = async (form: string) => (await Deno.readFile(`${folder}/case-${form}.png`)).join();
      assert.notEqual(await bytes("desktop-light"), await bytes("desktop-dark"));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
