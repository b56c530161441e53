/** The program: arguments and environment in, exit code out. */
import { run } from "./src/cli/program.ts";
import type { Shell } from "./src/cli/shell.ts";
import * as compose from "./src/compose.ts";

/** What the program runs on. */
export const shell: Shell = {
  version: compose.VERSION,
  schemaVersion: compose.SCHEMA_VERSION,
  clock: compose.realClock,
  readEnvironment: compose.readEnvironment,
  realWorld: compose.realWorld,
  generateSecret: compose.generateSecret,
  generateSigningKey: compose.generateSigningKey,
  modelOf: compose.modelOf,
  standardLog: compose.standardLog,
  lockDirectory: compose.lockDirectory,
  keepStopped: compose.keepStopped,
  bringUpToDate: compose.bringUpToDate,
  keyInFile: compose.keyInFile,
  openStored: compose.openStored,
  openService: compose.openService,
};

if (import.meta.main) Deno.exit(await run(Deno.args, shell));
