/** `jiss serve`: the service. */
import { loadConfig, runService } from "./run_service.ts";
import type { Shell } from "./shell.ts";

export async function serve(shell: Shell): Promise<number> {
  return await runService(shell, loadConfig(shell.readEnvironment()));
}
