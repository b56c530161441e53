/** The program: arguments and environment in, exit code out. */
import { exists } from "./src/cli/init.ts";
import { run } from "./src/cli/program.ts";
import type { Shell } from "./src/cli/shell.ts";
import * as compose from "./src/service/compose.ts";
import { commandLineOf } from "./src/cli/invocation.ts";
import * as world from "./src/service/world.ts";

/** The clock, the environment and the other parts on which the program runs. */
export const shell: Shell = {
  version: compose.VERSION,
  schemaVersion: compose.SCHEMA_VERSION,
  clock: world.realClock,
  readEnvironment: world.readEnvironment,
  commandLine: (args) =>
    commandLineOf({
      mainUrl: import.meta.url,
      isExecutable: Deno.build.standalone,
      execPath: Deno.execPath(),
      denoVersion: Deno.version.deno,
      directory: Deno.cwd(),
      exists,
    }, args),
  realWorld: world.realWorld,
  generateSecret: world.generateSecret,
  generateSigningKey: world.generateSigningKey,
  modelOf: compose.modelOf,
  standardLog: world.standardLog,
  lockDirectory: compose.lockDirectory,
  reserveData: compose.keepStopped,
  bringUpToDate: compose.bringUpToDate,
  schemaTroubleOf: compose.schemaTroubleOf,
  keyInFile: compose.keyInFile,
  openStored: compose.openStored,
  openService: compose.openService,
};

if (import.meta.main) Deno.exit(await run(Deno.args, shell));
