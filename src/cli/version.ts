/** `jiss version`: the versions of everything that an answer can depend on. */
import { readModel } from "../config/config.ts";
import { sqliteVersion } from "../store/embedded.ts";
import { EXIT, type Shell } from "./shell.ts";
import { reportProblems } from "./run_service.ts";

export function version(shell: Shell): number {
  const document = reportProblems(() => readModel(shell.readEnvironment(), Deno.readTextFileSync));
  const model = shell.modelOf(document);
  console.log(`jiss ${shell.version}
deno ${Deno.version.deno}
v8 ${Deno.version.v8}
sqlite ${sqliteVersion()}
model ${model.document.version}
model sha256 ${model.sha256}`);
  return EXIT.ok;
}
