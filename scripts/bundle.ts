/** `task bundle`: the program as one JavaScript file, dist/jiss.js, that needs no npm, no cache and no network. */
import { asciiOf, buildWeb } from "./web.ts";

const OUTPUT = "dist/jiss.js";

/**
 * Packages in CommonJS (`prom-client`) ask for Deno's built-in modules by `require`, which `deno bundle` provides only
 * where it does not minify (2.9.6: "Dynamic require of node:util is not supported").
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

if (import.meta.main) {
  await bundle(OUTPUT);
  console.log(`${OUTPUT}: ${(await Deno.stat(OUTPUT)).size} bytes`);
}
