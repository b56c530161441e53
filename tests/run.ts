/**
 * `task test`: every test, then how many ran, and each one that was skipped with its reason.
 *
 * A test that needs something of the machine names it in square brackets at the end of its name; that is the
 * reason which is printed where it is missing. Arguments are handed to `deno test` (a file, `--filter`). A file that
 * did not run is a failure.
 */
import { buildWeb, filesUnder } from "../scripts/web.ts";

const ROOT = `${import.meta.dirname}/..`;

// Each by its name: of a folder that holds a member of the workspace Deno 2.9.6 takes that member's tests alone.
const testFiles = (await filesUnder("tests")).filter((path) => path.endsWith("_test.ts")).sort();

await buildWeb();
const report = await Deno.makeTempFile({ prefix: "jiss-tests-", suffix: ".xml" });
const { code } = await new Deno.Command(Deno.execPath(), {
  args: [
    "test",
    "-A",
    "--quiet",
    `--junit-path=${report}`,
    ...(Deno.args.length > 0 ? Deno.args : testFiles),
  ],
  cwd: ROOT,
  stdout: "inherit",
  stderr: "inherit",
}).output();

const xml = await Deno.readTextFile(report);
await Deno.remove(report);
const cases = [...xml.matchAll(/<testcase name="([^"]*)"[^>]*?(?:\/>|>(.*?)<\/testcase>)/gs)];
const skipped = cases.filter(([, , inside]) => inside?.includes("<skipped"));
const failed = cases.filter(([, , inside]) => inside?.includes("<failure") || inside?.includes("<error"));

// What a filter leaves out stands in the report as if it were skipped.
const isFiltered = Deno.args.some((argument) => argument.startsWith("--filter"));
for (const [, name] of isFiltered ? [] : skipped) {
  console.log(
    `SKIPPED ${name}: ${/\[needs ([^\]]*)\]$/.exec(name!)?.[1] ?? "no reason given"} is missing here`,
  );
}
const unrun = testFiles.filter((path) => Deno.args.length === 0 && !xml.includes(`"./${path}"`));
for (const path of unrun) console.log(`NOT RUN ${path}`);
const passed = cases.length - skipped.length - failed.length;
console.log(`\n${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
Deno.exit(code !== 0 ? code : cases.length === 0 || unrun.length > 0 ? 1 : 0);
