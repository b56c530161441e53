/** The first run of a newcomer: `task dev` in a fresh clone, with nothing in Deno's cache. */
import assert from "node:assert/strict";
import { cloneTo } from "../clones.ts";
import { PACKAGES_OF_A_FIRST_RUN } from "../first_run.ts";
import { baseEnvironment, until, watch } from "../program.ts";

Deno.test("a first `task dev` fetches only the packages of the program and its pages, and prints no warning [needs an npm registry]", async () => {
  const place = await Deno.makeTempDir({ prefix: "jiss-first-" });
  await cloneTo(`${place}/clone`);
  const settings = Object.entries(Deno.env.toObject()).filter(([name]) =>
    /^npm_config_/i.test(name) || name === "NODE_EXTRA_CA_CERTS"
  );
  const service = await watch(
    new Deno.Command(Deno.execPath(), {
      args: ["task", "dev"],
      cwd: `${place}/clone`,
      clearEnv: true,
      env: {
        ...Object.fromEntries(settings),
        ...baseEnvironment(),
        DENO_DIR: `${place}/cache`,
        DENO_NO_UPDATE_CHECK: "1",
        NO_COLOR: "1",
        JISS_PORT: "0",
        JISS_LOG: "json",
      },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn(),
  );
  await until(() => service.output().includes("Score an interaction"));
  assert.equal(await service.stop(), 0);
  const fetched = [...service.errors().matchAll(/^Download \S+?\/((?:@[^/]+\/)?[^/]+)\/-\/\S+\.tgz$/gm)]
    .map(([, name]) => name!);
  assert.deepEqual(fetched.toSorted(), [...PACKAGES_OF_A_FIRST_RUN]);
  assert.doesNotMatch(service.errors(), /warn|deprecat|ignored/i);
  await Deno.remove(place, { recursive: true });
});
