/** The program: arguments and environment in, exit code out. */
import { run } from "./src/cli/program.ts";
import * as compose from "./src/compose.ts";

if (import.meta.main) {
  Deno.exit(
    await run(Deno.args, {
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
      keyInFile: compose.keyInFile,
      openStored: compose.openStored,
      openService: compose.openService,
    }),
  );
}
