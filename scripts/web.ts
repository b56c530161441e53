/**
 * `task web`: everything that browsers are sent, and the thread that writes to the database, in dist/web/. The other
 * tasks run it first; if its sources are those of the last run, it does nothing.
 *
 * Markdown becomes HTML here, so that neither the service nor a browser needs a parser for it.
 */
import { createHash } from "node:crypto";
import { Marked, Renderer } from "marked";
import { UNBROKEN_CODE_LENGTH } from "../src/pages/prose.ts";
import { LINK_STYLE, PAGE_STYLE, SITE_STYLE } from "../src/pages/style.ts";
import { SHEET_TOKENS } from "../src/pages/tokens.ts";

const ROOT = await Deno.realPath(`${import.meta.dirname}/..`);
const OUTPUT = `${ROOT}/dist/web`;
/** Digest of the sources from which the output was made. */
const STAMP = `${OUTPUT}/sources.sha256`;
/** Pages of `/docs/`, each `docs/verify/<name>.md`. */
const DOCUMENTS: readonly string[] = ["evidence-format", "formulas", "verify-offline"];
/** The sources of the output: files, and folders with all files in them. */
const SOURCES = [
  "deno.json",
  "deno.lock",
  "scripts/web.ts",
  ...DOCUMENTS.map((name) => `docs/verify/${name}.md`),
  ...["domain", "evidence", "pages", "scoring", "store", "web"].map((name) => `src/${name}`),
];

/** The files of the one style sheet in `src/web/styles/`, in the order in which they are joined. */
const STYLES: readonly string[] = [
  "base",
  "navigation",
  "find",
  "controls",
  "states",
  "tables",
  "figures",
  "home",
  "operator",
  "labels",
  "reference",
  "documents",
  "cases",
  "touch",
  "media",
];

/** The module from which each output is bundled. */
export const SCRIPTS: Readonly<Record<string, string>> = {
  "collector.js": "src/web/collector/main.ts",
  "console.js": "src/web/console/main.tsx",
  "demo.js": "src/web/demo/main.tsx",
  "exercise.js": "src/web/exercise/main.tsx",
  "me.js": "src/web/me/main.tsx",
  "reference.js": "src/web/reference/main.tsx",
  "storage_thread.js": "src/store/storage_thread.ts",
  "theme.js": "src/web/theme/main.ts",
  "verifier.js": "src/web/verify/worker.ts",
};

/** The scripts that run in the service's own process. */
const OWN_SCRIPTS: readonly string[] = ["storage_thread.js"];

/** Loaded as classic scripts, in which a module's names would become the page's: customers' pages may load the collector so. */
const CLASSIC_SCRIPTS: readonly string[] = ["collector.js", "theme.js"];

/** Builds the output if it is missing or was made from other sources. */
export async function buildWeb(): Promise<void> {
  const sources = await sourcesDigest();
  if (await isBuiltFrom(sources)) return;
  // It is built beside the output and then put in its place: another process may be reading it, or building
  // it too.
  await Deno.mkdir(`${ROOT}/dist`, { recursive: true });
  const place = await Deno.makeTempDir({ dir: `${ROOT}/dist`, prefix: "web-" });
  try {
    const [first, ...others] = Object.entries(SCRIPTS).map(([name, module]) => () =>
      bundleScript(module, { place, name })
    );
    // The first runs alone: on a new machine it fetches the bundler, and two fetches at once break each other
    // (2.9.6).
    await first!();
    await Promise.all(others.map((bundleNext) => bundleNext()));
    const styles = await Promise.all(
      STYLES.map((name) => Deno.readTextFile(`${ROOT}/src/web/styles/${name}.css`)),
    );
    await Deno.writeTextFile(
      `${place}/style.css`,
      compact([PAGE_STYLE, LINK_STYLE, SITE_STYLE, SHEET_TOKENS, ...styles].join("")),
    );
    for (const name of DOCUMENTS) {
      await Deno.writeTextFile(`${place}/${name}.html`, await documentHtml(`docs/verify/${name}.md`));
    }
    await Deno.mkdir(OUTPUT, { recursive: true });
    for await (const { name } of Deno.readDir(place)) {
      await Deno.rename(`${place}/${name}`, `${OUTPUT}/${name}`);
    }
    await Deno.writeTextFile(STAMP, sources);
  } finally {
    await Deno.remove(place, { recursive: true });
  }
}

/** A style sheet without comments, indentation and ends of lines, which mean nothing to a browser. */
function compact(style: string): string {
  return style.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/\s*\n\s*/g, "");
}

async function isBuiltFrom(sources: string): Promise<boolean> {
  try {
    return await Deno.readTextFile(STAMP) === sources;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function sourcesDigest(): Promise<string> {
  const hash = createHash("sha256");
  for (const path of (await Promise.all(SOURCES.map(filesUnder))).flat().sort()) {
    const content = await Deno.readFile(`${ROOT}/${path}`);
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

/** Paths of all files below a path, which may be a file itself; from the repository's root. */
export async function filesUnder(path: string): Promise<readonly string[]> {
  if ((await Deno.stat(`${ROOT}/${path}`)).isFile) return [path];
  const entries = await Array.fromAsync(Deno.readDir(`${ROOT}/${path}`));
  return (await Promise.all(entries.map(({ name }) => filesUnder(`${path}/${name}`)))).flat();
}

/** The options of `deno bundle` for one of the scripts. */
export function formOf(name: string): readonly string[] {
  const format = CLASSIC_SCRIPTS.includes(name) ? "iife" : "esm";
  const platform = OWN_SCRIPTS.includes(name) ? "deno" : "browser";
  return ["--platform", platform, "--format", format];
}

async function bundleScript(
  module: string,
  { place, name }: { readonly place: string; readonly name: string },
): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", ...formOf(name), "--minify"],
      ...["--output", `${place}/${name}`, module],
    ],
    cwd: ROOT,
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`deno bundle ${module} failed\n${new TextDecoder().decode(stderr)}`);
  await Deno.writeTextFile(`${place}/${name}`, asciiOf(await Deno.readTextFile(`${place}/${name}`)));
}

/** The same script in ASCII: V8 keeps every character in two bytes if one of a text is beyond Latin-1. */
export function asciiOf(script: string): string {
  return script.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A document's HTML; links to documents that the service does not have become their names. */
async function documentHtml(path: string): Promise<string> {
  let tables = 0;
  const marked: Marked = new Marked({
    async: false,
    renderer: {
      code(token) {
        // A reader without a mouse scrolls code that is wider than the window by the arrow keys.
        return Renderer.prototype.code.call(this, token).replace("<pre>", '<pre tabindex="0">');
      },
      codespan(token) {
        const code = Renderer.prototype.codespan.call(this, token);
        return token.text.length <= UNBROKEN_CODE_LENGTH
          ? code.replace("<code>", '<code class="whole">')
          : code;
      },
      heading({ tokens, depth, text }) {
        const title = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${title}</h1>`;
        const id = text.toLowerCase().replace(/\W+/g, "-").replace(/^-|-$/g, "");
        return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${title}</a></h${depth}>`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const [, name, fragment = ""] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
        if (name !== undefined && DOCUMENTS.includes(name)) {
          return `<a href="/docs/${name}${fragment}">${text}</a>`;
        }
        return /^(?:#|\/|https?:)/.test(href) ? `<a href="${href}">${text}</a>` : `<em>${text}</em>`;
      },
      table(token) {
        return `<div class="scroll" tabindex="0" role="region" aria-label="Table ${tables += 1}">${
          Renderer.prototype.table.call(this, token)
        }</div>`;
      },
    },
  });
  return marked.parse(await Deno.readTextFile(`${ROOT}/${path}`)) as string;
}

if (import.meta.main) await buildWeb();
