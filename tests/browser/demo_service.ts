/** `jiss dev` with its seeded demo organization, on a port and in a directory of its own. */
import { createOrganization, freshDeployment, type RunningService, startService } from "../program.ts";

export interface DemoService {
  readonly service: RunningService;
  /** Of the organization `demo`. */
  readonly key: string;
}

export async function withDemo(
  use: (demo: DemoService) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-demo-" });
  const service = await startService(["dev"], { cwd: directory, env });
  try {
    await use({ service, key: await printedKey(service) });
  } finally {
    await service.stop();
    await Deno.remove(directory, { recursive: true });
  }
}

/** A service with an organization of which there is no record. */
export async function withEmpty(use: (demo: DemoService) => Promise<void>): Promise<void> {
  const { env, remove } = await freshDeployment();
  const service = await startService(["serve"], { env });
  try {
    // Its name, which is its id, has no place to be broken at.
    await use({ service, key: await createOrganization(service, env, "W".repeat(128)) });
  } finally {
    await service.stop();
    await remove();
  }
}

/** The greeting follows the line that says that the service listens. */
async function printedKey(service: RunningService): Promise<string> {
  for (;;) {
    const key = /API key \(this is the only copy\): {2}(jis_\w{26})/.exec(service.output())?.[1];
    if (key !== undefined) return key;
    await new Promise((next) => setTimeout(next, 5));
  }
}
