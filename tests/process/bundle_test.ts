/** The released form: one file that runs alone, with the release's permissions only. */
import assert from "node:assert/strict";
import { filesUnder } from "../../scripts/web.ts";
import { RELEASE_PERMISSIONS, UNSTABLE_FEATURES } from "../../scripts/compile.ts";
import { LAUNCH_ENVIRONMENT, LAUNCH_OPTIONS, SERVE_ENVIRONMENT } from "../../scripts/launch.ts";
import { launchOf } from "../../scripts/pack.ts";
import { scoreRequest } from "../harness.ts";
import {
  baseEnvironment,
  createOrganization,
  freshDeployment,
  putBundle,
  runProgram,
  watch,
} from "../program.ts";

Deno.test("the bundle serves from an empty directory, without npm, a cache or remote modules, with its own files only", async () => {
  const place = await Deno.makeTempDir({ prefix: "jiss-bundle-" });
  const deployment = await freshDeployment();
  await putBundle(`${place}/jiss.js`);
  await Deno.mkdir(`${place}/empty`);
  const data = `${deployment.directory}/data`;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--no-config",
      "--no-remote",
      "--no-npm",
      "--cached-only",
      // `serve` needs its data directory, the network and the environment.
      `--allow-read=${data}`,
      `--allow-write=${data}`,
      "--allow-net",
      "--allow-env",
      `${place}/jiss.js`,
      "serve",
    ],
    clearEnv: true,
    env: { ...deployment.env, DENO_DIR: `${place}/cache`, JISS_PORT: "0", JISS_LOG: "json" },
    cwd: `${place}/empty`,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const service = await watch(child);
  const key = await createOrganization(service, deployment.env);
  const { status, body } = await service.send("/v1/score", { key, body: scoreRequest() });
  assert.deepEqual([status, body.jis], [200, 48]);
  // Its pages, and everything that they load, are inside.
  for (const path of ["/console", "/docs", "/demo"]) {
    const page = await (await fetch(service.url + path)).text();
    const assets = [...page.matchAll(/(?:src|href|data-\w+)="(\/(?:assets\/|collector)[^"]+)"/g)];
    assert.ok(assets.length >= 2, path);
    for (const [, asset] of assets) {
      const answer = await fetch(service.url + asset);
      assert.deepEqual([answer.status, (await answer.text()).length > 100], [200, true], asset!);
    }
  }
  assert.equal(await service.stop(), 0);
  assert.deepEqual([...Deno.readDirSync(`${place}/empty`)], []);
  await deployment.remove();
  await Deno.remove(place, { recursive: true });
});

/** The next step that `init` prints at its end. */
function nextStepOf(stdout: string): string {
  const [, step] = stdout.split("Start the service with them:\n");
  assert.ok(step !== undefined, stdout);
  return step;
}

/** Runs a step as if pasted into a shell; its last line starts the service. */
async function startBy(step: string): Promise<void> {
  const lines = step.trim().split("\n");
  lines.push(`exec ${lines.pop()}`);
  const service = await watch(
    new Deno.Command("sh", {
      args: ["-euc", lines.join("\n")],
      clearEnv: true,
      env: { ...baseEnvironment(), JISS_PORT: "0", JISS_LOG: "json" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn(),
  );
  assert.equal(await service.stop(), 0);
}

Deno.test("the next step that init prints starts the service: for a bundle with or without its launcher, and in a clone", async () => {
  const place = await Deno.makeTempDir({ prefix: "jiss init " });
  await putBundle(`${place}/jiss.js`);
  const bare = await runProgram(["init", `${place}/one`], { bundle: `${place}/jiss.js` });
  await startBy(nextStepOf(bare.stdout));

  await Deno.copyFile(`${import.meta.dirname}/../../docs/operate/deploy/jiss`, `${place}/jiss`);
  await Deno.symlink(Deno.execPath(), `${place}/deno`);
  const launched = await runProgram(["init", `${place}/two`], { bundle: `${place}/jiss.js` });
  assert.match(launched.stdout, /\n {2}'.*\/jiss' serve\n$/);
  await startBy(nextStepOf(launched.stdout));

  // The task of a clone needs a deno on the PATH, or npx.
  await Deno.mkdir(`${place}/bin`);
  const cloned = await runProgram(["init", `${place}/three`], { cwd: place, main: "main.ts" });
  const step = nextStepOf(cloned.stdout);
  assert.match(step, /&& (?:deno|npx -y deno@[\d.]+) task jiss serve\)\n$/);
  for (const [name, args] of [["deno", '"$@"'], ["npx", '"${@:3}"']] as const) {
    const script = `#!/bin/bash\nexec '${Deno.execPath()}' ${args}\n`;
    await Deno.writeTextFile(`${place}/bin/${name}`, script, { mode: 0o755 });
  }
  const { success, stdout, stderr } = await new Deno.Command("sh", {
    // A service behind the task could only be stopped through the task. `version` shows which program it is,
    // and ends.
    args: [
      "-euc",
      `${step.replace(" serve)", " version)")}\ntest -n "$JISS_KEY_PEPPER" && test -d "$JISS_DATA_DIR"`,
    ],
    clearEnv: true,
    env: { ...baseEnvironment(), PATH: `${place}/bin:${Deno.env.get("PATH")}` },
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  assert.match(new TextDecoder().decode(stdout), /^jiss \d+\.\d+\.\d+\ndeno /);
  await Deno.remove(place, { recursive: true });
});

async function compileStep(args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", `${import.meta.dirname}/../compile_step.ts`, ...args],
    env: { DENORT_BIN: Deno.execPath() },
    stdout: "null",
    stderr: "piped",
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

Deno.test("the compile step builds an executable from the bundle with any base binary, also for a named target", async () => {
  // Without Deno's download host only a full deno is at hand. The result is not the program then, and is not
  // run.
  const output = await Deno.makeTempDir({ prefix: "jiss-compile-" });
  await compileStep([`${output}/jiss`]);
  await compileStep([`${output}/jiss-named`, Deno.build.target]);
  for (const name of ["jiss", "jiss-named"]) {
    const { size, mode } = await Deno.stat(`${output}/${name}`);
    assert.ok(size > (await Deno.stat(Deno.execPath())).size, "the base binary and the bundle");
    assert.notEqual(mode! & 0o100, 0);
  }
  await Deno.remove(output, { recursive: true });
});

Deno.test("the bundle keeps each `using` of the sources", async () => {
  const root = `${import.meta.dirname}/../..`;
  const sources = (await filesUnder("src")).filter((path) =>
    /\.ts$/.test(path) && !path.startsWith("src/web/")
  );
  const texts = await Promise.all(sources.map((path) => Deno.readTextFile(`${root}/${path}`)));
  const written = texts.flatMap((text) => text.match(/^ +using \w+ = /gm) ?? []).length;
  const place = await Deno.makeTempDir({ prefix: "jiss-bundle-" });
  await putBundle(`${place}/jiss.js`);
  const kept = (await Deno.readTextFile(`${place}/jiss.js`)).match(/\busing [\w$]+ ?=/g) ?? [];
  // A minifier that inlines a value with only one use drops its `using`: close that value in a `finally`.
  assert.ok(
    written >= 5 && kept.length === written,
    `the sources have ${written}, the bundle has ${kept.length}`,
  );
  await Deno.remove(place, { recursive: true });
});

Deno.test("the release asks for read, write, net and env, of sys only for the free space, and never for run or ffi", () => {
  assert.deepEqual(RELEASE_PERMISSIONS, [
    "--allow-read",
    "--allow-write",
    "--allow-net",
    "--allow-env",
    "--allow-sys=statfs",
    "--deny-net=169.254.0.0/16,[fd00:ec2::254],[fd00:ec2::23],[fd20:ce::254],100.100.100.200,168.63.129.16",
  ]);
});

Deno.test("tasks, documentation, launchers and image start the program with the release's permissions", async () => {
  const root = `${import.meta.dirname}/../..`;
  const { tasks } = JSON.parse(await Deno.readTextFile(`${root}/deno.json`));
  const commands = ["start", "jiss"].map((name): string => tasks[name].command);
  const [documented] = (await Deno.readTextFile(`${root}/docs/operate/configuration.md`)).match(
    /deno run [^`]*dist\/jiss\.js/,
  )!;
  const launcher = await Deno.readTextFile(`${root}/docs/operate/deploy/jiss`);
  const image = (await Deno.readTextFile(`${root}/Dockerfile`)).match(/^(?:ENTRYPOINT|HEALTHCHECK) .*$/gm)!;
  assert.equal(image.length, 2);
  const inNpmPackage = launchOf().options.join(" ");
  for (const [place, text] of Object.entries({ launcher, image: image[1], inNpmPackage })) {
    const flags = text!.replaceAll(/[",]+ "|\\\n */g, " ");
    for (const option of [...LAUNCH_OPTIONS, ...UNSTABLE_FEATURES]) {
      assert.ok(flags.includes(` ${option} `) || flags.startsWith(`${option} `), `${place}: ${option}`);
    }
  }
  for (const [name, value] of Object.entries({ ...LAUNCH_ENVIRONMENT, ...SERVE_ENVIRONMENT })) {
    assert.match(launcher, new RegExp(`export ${name}="?(?:\\$\\{${name}:-)?${value}\\b`), name);
  }
  for (const command of [...commands, documented, launcher, inNpmPackage, ...image]) {
    const flags = command.match(/--(?:allow|deny)-[^" ]+/g);
    assert.deepEqual(flags, RELEASE_PERMISSIONS, command);
  }
  // Local testing may also open a browser, and start nothing else.
  assert.deepEqual(tasks.dev.command.match(/--(?:allow|deny)-[^" ]+/g), [
    ...RELEASE_PERMISSIONS,
    "--allow-run=xdg-open,open,explorer",
  ]);
});

Deno.test("addresses that the release denies cannot be connected to", async () => {
  const denied = ["169.254.0.1", "169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254"];
  const program = `
    for (const hostname of ${JSON.stringify(denied)}) {
      try { await Deno.connect({ hostname, port: 80 }); console.log("connected"); } catch (error) { console.log(error.name); }
    }`;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-config",
      "--no-prompt",
      ...RELEASE_PERMISSIONS,
      `data:text/javascript,${encodeURIComponent(program)}`,
    ],
    stderr: "null",
  }).output();
  assert.deepEqual(new TextDecoder().decode(stdout).trim().split("\n"), denied.map(() => "NotCapable"));
});

Deno.test("Deno still refuses an IPv6 range in --deny-net; once it accepts one, fe80::/10 joins the release's permissions", async () => {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-config", "--deny-net=169.254.0.0/16,fe80::/10", "data:text/javascript,0"],
    stdout: "null",
    stderr: "piped",
  }).output();
  assert.notEqual(code, 0, "add fe80::/10 to RELEASE_PERMISSIONS in src/cli/permissions.ts");
  assert.match(new TextDecoder().decode(stderr), /ipv6/);
});
