/**
 * `task bundle`: the program as one JavaScript file, dist/jiss.js, that needs no npm, no cache and no network, and its
 * SHA-256 beside it. The same commit gives the same bytes, wherever it is built.
 */
import { createHash } from "node:crypto";
import { asciiOf, buildWeb } from "./web.ts";

const OUTPUT = "dist/jiss.js";

/**
 * Packages in CommonJS (`prom-client`) ask for Deno's built-in modules by `require`, which `deno bundle` provides only
 * if it does not minify (2.9.6: "Dynamic require of node:util is not supported").
 */
const REQUIRE =
  'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);\n';

export async function bundle(output: string): Promise<void> {
  await buildWeb();
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--minify", "--keep-names", "--output", output, "main.ts"],
    cwd: `${import.meta.dirname}/..`,
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  if (!success) throw new Error("deno bundle failed");
  await Deno.writeTextFile(output, REQUIRE + asciiOf(await Deno.readTextFile(output)));
}

/** Writes a file's digest beside it, for `sha256sum -c`; returns the digest in hexadecimal. */
export async function writeDigest(path: string): Promise<string> {
  const digest = createHash("sha256").update(await Deno.readFile(path)).digest("hex");
  await Deno.writeTextFile(`${path}.sha256`, `${digest}  ${path.slice(path.lastIndexOf("/") + 1)}\n`);
  return digest;
}

if (import.meta.main) {
  await bundle(OUTPUT);
  console.log(`${OUTPUT}: ${(await Deno.stat(OUTPUT)).size} bytes, SHA-256 ${await writeDigest(OUTPUT)}`);
}
