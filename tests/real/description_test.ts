/** The published document under the recommended rules of the two common linters. */
import assert from "node:assert/strict";
import { runProgram } from "../program.ts";

/** npm packages that Deno runs outside of this project: their dependencies are not in its lock. */
const REDOCLY = "npm:@redocly/cli@2.77.0";
const SPECTRAL = "npm:@stoplight/spectral-cli@6.16.3";

/** A finding of a linter: the rule and the place. */
type Finding = readonly [rule: string, place: string];

async function lint(tool: string, args: readonly string[], cwd: string) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--no-config", "--no-lock", tool, "lint", "openapi.json", ...args],
    cwd,
    env: { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
  }).output();
  const [said, complaint] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, said: said!, complaint: complaint! };
}

async function withDocument(use: (place: string) => Promise<void>): Promise<void> {
  const place = await Deno.makeTempDir({ prefix: "jiss-description-" });
  const { code, stdout } = await runProgram(["openapi"]);
  assert.equal(code, 0);
  await Deno.writeTextFile(`${place}/openapi.json`, stdout);
  await use(place);
  await Deno.remove(place, { recursive: true });
}

Deno.test("Redocly's recommended rules find nothing but that the health check has no error response", async () => {
  await withDocument(async (place) => {
    const { code, said, complaint } = await lint(
      REDOCLY,
      ["--extends=recommended", "--format=json"],
      place,
    );
    assert.equal(code, 0, `${said}${complaint}`);
    // deno-lint-ignore no-explicit-any -- as the tool writes it
    const findings = JSON.parse(said.slice(said.indexOf("{"))).problems.map((problem: any): Finding => [
      problem.ruleId,
      problem.location[0].pointer,
    ]);
    assert.deepEqual(findings, [
      ["operation-4xx-response", "#/paths/~1/get/responses"],
      ["operation-4xx-response", "#/paths/~1/head/responses"],
    ]);
  });
});

Deno.test("Spectral's recommended rules find nothing", async () => {
  await withDocument(async (place) => {
    await Deno.writeTextFile(`${place}/rules.yaml`, 'extends: ["spectral:oas"]\n');
    const args = ["--ruleset", "rules.yaml", "--format", "json", "--fail-severity", "hint"];
    const { code, said, complaint } = await lint(SPECTRAL, args, place);
    assert.equal(code, 0, `${said}${complaint}`);
    assert.match(said, /^\[\]/);
  });
});
