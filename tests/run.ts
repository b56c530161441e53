/**
 * `task test`: every test, then how many ran, and each one that was skipped with its reason.
 *
 * A test that needs something of the machine names it in square brackets at the end of its name; that is the
 * reason which is printed where it is missing. Arguments are handed to `deno test` (a file, `--filter`).
 */
import { buildWeb } from "../scripts/web.ts";

await buildWeb();
const report = await Deno.makeTempFile({ prefix: "jiss-tests-", suffix: ".xml" });
const { code } = await new Deno.Command(Deno.execPath(), {
  args: [
    "test",
    "-A",
    "--quiet",
    `--junit-path=${report}`,
    ...(Deno.args.length > 0 ? Deno.args : ["tests"]),
  ],
  cwd: `${import.meta.dirname}/..`,
  stdout: "inherit",
  stderr: "inherit",
}).output();

const xml = await Deno.readTextFile(report);
await Deno.remove(report);
const cases = [...xml.matchAll(/<testcase name="([^"]*)"[^>]*?(?:\/>|>(.*?)<\/testcase>)/gs)];
const skipped = cases.filter(([, , inside]) => inside?.includes("<skipped"));
const failed = cases.filter(([, , inside]) => inside?.includes("<failure") || inside?.includes("<error"));

for (const [, name] of skipped) {
  console.log(
    `SKIPPED ${name}: ${/\[needs ([^\]]*)\]$/.exec(name!)?.[1] ?? "no reason given"} is missing here`,
  );
}
const passed = cases.length - skipped.length - failed.length;
console.log(`\n${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
Deno.exit(code !== 0 ? code : cases.length === 0 ? 1 : 0);
