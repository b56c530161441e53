#!/usr/bin/env node
// The `jiss` of the npm package: starts jiss.js, which lies beside it, on the `deno` that npm installed with it.
// launch.json has the arguments and the environment; scripts/pack.ts writes it.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import process from "node:process";
import { fileURLToPath } from "node:url";

const { options, environment, serveEnvironment } = JSON.parse(
  readFileSync(new URL("launch.json", import.meta.url), "utf8"),
);

/** The file of Deno. Its package puts it in place when it is installed, or here if npm runs no install scripts. */
function denoFile() {
  try {
    return createRequire(import.meta.url)("deno/install_api.cjs").runInstall();
  } catch (error) {
    console.error(
      `jiss: npm installed no Deno for this system (${process.platform}, ${process.arch}): ${error.message}`,
    );
    process.exit(1);
  }
}

const args = process.argv.slice(2);
const child = spawn(denoFile(), [
  "run",
  ...options,
  fileURLToPath(new URL("jiss.js", import.meta.url)),
  ...args,
], {
  stdio: "inherit",
  env: {
    ...(args[0] === "serve" ? serveEnvironment : {}),
    // An empty variable counts as unset.
    ...Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== "")),
    ...environment,
  },
});
// A supervisor signals this process alone; the program itself takes two of the same signal for one.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`jiss: Deno cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
