/** The command line that the program prints as the next step, by how it was started. */
import assert from "node:assert/strict";
import { RELEASE_PERMISSIONS } from "../../src/cli/permissions.ts";
import { commandLineOf, quoteForShell, type StartFacts } from "../../src/cli/invocation.ts";

const CLONE: StartFacts = {
  mainUrl: "file:///srv/jiss/main.ts",
  isExecutable: false,
  execPath: "/usr/bin/deno",
  denoVersion: "2.9.6",
  directory: "/srv/jiss",
  exists: () => false,
};

Deno.test("in a clone it is the task, run in that directory, by npx if Deno came from npm", () => {
  assert.equal(commandLineOf(CLONE, "serve"), "deno task jiss serve");
  assert.equal(
    commandLineOf({ ...CLONE, directory: "/home/ada" }, "serve"),
    "(cd /srv/jiss && deno task jiss serve)",
  );
  const execPath = "/root/.npm/_npx/7a40/node_modules/deno/deno";
  assert.equal(commandLineOf({ ...CLONE, execPath }, "serve"), "npx -y deno@2.9.6 task jiss serve");
});

Deno.test("for a bundle it is the launcher beside it, or Deno with the release's permissions", () => {
  const bundle = { ...CLONE, mainUrl: "file:///opt/my%20jiss/jiss.js", execPath: "/opt/my jiss/deno" };
  const exists = (path: string) => path === "/opt/my jiss/jiss";
  assert.equal(commandLineOf({ ...bundle, exists }, "serve"), "'/opt/my jiss/jiss' serve");
  const line = commandLineOf(bundle, "serve");
  assert.ok(line.startsWith("'/opt/my jiss/deno' run --no-config "), line);
  assert.ok(line.endsWith(" '/opt/my jiss/jiss.js' serve"), line);
  for (const flag of RELEASE_PERMISSIONS) assert.ok(line.includes(` ${quoteForShell(flag)} `), flag);
});

Deno.test("for an npm package it is npx in the installation's directory, and the launcher's path elsewhere", () => {
  const place = "/home/ada/node_modules/jiss";
  const installed = {
    ...CLONE,
    mainUrl: `file://${place}/jiss.js`,
    execPath: "/home/ada/node_modules/deno/deno",
    exists: (path: string) => path === `${place}/jiss.mjs`,
  };
  assert.equal(commandLineOf({ ...installed, directory: "/home/ada" }, "serve"), "npx jiss serve");
  assert.equal(commandLineOf(installed, "serve"), `node ${place}/jiss.mjs serve`);
});

Deno.test("for an executable it is its own path", () => {
  const compiled = {
    ...CLONE,
    isExecutable: true,
    execPath: "/usr/local/bin/jiss",
    mainUrl: "file:///tmp/x/jiss.js",
  };
  assert.equal(commandLineOf(compiled, "serve"), "/usr/local/bin/jiss serve");
});

Deno.test("a shell reads each quoted word as one", async () => {
  const words = ["plain", "a b", "it's", "$HOME", "[fd00::1],x", "", "-n", "`id`", "a\\b"];
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", `printf '%s\\n' ${words.map(quoteForShell).join(" ")}`],
  }).output();
  assert.deepEqual(new TextDecoder().decode(stdout).split("\n").slice(0, -1), words);
});
