/** `task bundle`: the program as one JavaScript file, dist/jiss.js, that needs no npm, no cache and no network. */

const OUTPUT = "dist/jiss.js";

export async function bundle(output: string): Promise<void> {
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--minify", "--keep-names", "--output", output, "main.ts"],
    cwd: `${import.meta.dirname}/..`,
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  if (!success) throw new Error("deno bundle failed");
}

if (import.meta.main) {
  await bundle(OUTPUT);
  console.log(`${OUTPUT}: ${(await Deno.stat(OUTPUT)).size} bytes`);
}
