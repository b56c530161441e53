/** Services for tests of pages: one of a test's own, or one that all tests of a file share. */
import { createOrganization, freshDeployment, type RunningService, startService } from "../program.ts";

type Environment = Readonly<Record<string, string>>;

export interface DemoService {
  readonly service: RunningService;
  /** The key of the organization `demo`, or of the test's own organization. */
  readonly key: string;
}

interface Started<Given> {
  readonly given: Given;
  stop(): Promise<void>;
}

/** Above what any test asks for, except the test of the limit. */
const PATIENT: Environment = { JISS_RATE_LIMIT_IP: "1000000", JISS_RATE_LIMIT_KEY: "1000000" };

/** `jiss dev` with its seeded demo organization, on its own port and in its own directory. */
async function startDemo(env: Environment): Promise<Started<DemoService>> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-demo-" });
  const remove = () => Deno.remove(directory, { recursive: true });
  const service = await startService(["dev"], { cwd: directory, env }).catch(async (error) => {
    await remove();
    throw error;
  });
  return {
    given: { service, key: await printedKey(service) },
    async stop() {
      await service.stop();
      await remove();
    },
  };
}

export async function withDemo(
  use: (demo: DemoService) => Promise<void>,
  env: Environment = {},
): Promise<void> {
  const { given, stop } = await startDemo(env);
  try {
    await use(given);
  } finally {
    await stop();
  }
}

/**
 * Starts with the first test that asks and stops after the file's last: a start costs more than most tests.
 */
function shared<Given>(
  start: () => Promise<Started<Given>>,
): (use: (given: Given) => Promise<void>) => Promise<void> {
  let started: Promise<Started<Given>> | null = null;
  Deno.test.afterAll(async () => {
    // The tests that asked were told that it did not start.
    const running = await started?.catch(() => null);
    await running?.stop();
  });
  return async (use) => use((await (started ??= start())).given);
}

/** One demo for tests that change nothing that another test looks at. */
export function sharedDemo(): (use: (demo: DemoService) => Promise<void>) => Promise<void> {
  return shared(() => startDemo(PATIENT));
}

export interface Service {
  readonly service: RunningService;
  readonly env: Environment;
}

/** One service, empty at first. */
export function sharedService(
  env: Environment = {},
): (use: (service: Service) => Promise<void>) => Promise<void> {
  return shared(async () => {
    const deployment = await freshDeployment();
    const whole = { ...deployment.env, ...env };
    const service = await startService(["serve"], { env: whole, cwd: deployment.directory });
    return {
      given: { service, env: whole },
      async stop() {
        await service.stop();
        await deployment.remove();
      },
    };
  });
}

/** One service for tests that each have an organization of their own there, without records. */
export function sharedWithEmpty(
  env: Environment = {},
): (use: (demo: DemoService) => Promise<void>) => Promise<void> {
  const withService = sharedService(env);
  let organizations = 0;
  return (use) =>
    withService(async ({ service, env }) => {
      // Its name equals its id, which has no place to break the line.
      const name = `${"W".repeat(125)}${String(organizations++).padStart(3, "0")}`;
      await use({ service, key: await createOrganization(service, env, name) });
    });
}

/** The greeting follows the line "listening". */
async function printedKey(service: RunningService): Promise<string> {
  for (;;) {
    const key = /API key \(this is the only copy\): {2}(jis_\w{26})/.exec(service.output())?.[1];
    if (key !== undefined) return key;
    await new Promise((next) => setTimeout(next, 5));
  }
}
