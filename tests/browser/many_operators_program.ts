/**
 * A program of its own, since the page's types come from other libraries than the soaks'. Prints its figures.
 */
import { createOrganization, freshDeployment, startService } from "../program.ts";
import { closeBrowser } from "./browser.ts";
import { FILLED } from "./views.ts";
import { lookAtManyOperators } from "./many_operators.ts";

const { env: own, directory, remove } = await freshDeployment();
const env = { ...own, ...FILLED };
const service = await startService(["serve"], { env, cwd: directory });
try {
  const key = await createOrganization(service, env);
  console.log(JSON.stringify(await lookAtManyOperators({ service, key }, Number(Deno.args[0]))));
} finally {
  await closeBrowser();
  await service.stop();
  await remove();
}
