/**
 * Limits that hosts share through a real KV Connect server: each service has a data directory of its own.
 * Source: contract, sections 1 (`JISS_RATE_LIMIT_STORE`) and 5.
 */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { freshDeployment, type RunningService, startService } from "../program.ts";
import { assertClosed, recovered } from "../shared_limits.ts";

const TOKEN = "a-token-of-the-tests-0123456789";
const DENOKV = denokv();

/** The place at which `cargo install denokv` puts it; null if it is not there. */
function denokv(): string | null {
  const home = Deno.env.get("CARGO_HOME") ?? `${Deno.env.get("HOME")}/.cargo`;
  for (const command of ["denokv", `${home}/bin/denokv`]) {
    try {
      const { success } = new Deno.Command(command, { args: ["--help"], stdout: "null", stderr: "null" })
        .outputSync();
      if (success) return command;
    } catch {
      // Not there.
    }
  }
  return null;
}

interface KvServer {
  readonly url: string;
  stop(): Promise<void>;
  start(): Promise<void>;
  kill(signal: Deno.Signal): void;
}

async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as { port: number };
    server.close(() => resolve(port));
  });
  return await promise;
}

async function openServer(directory: string): Promise<KvServer> {
  const port = await freePort();
  let child: Deno.ChildProcess | null = null;
  const server: KvServer = {
    url: `http://127.0.0.1:${port}`,
    async start() {
      child = new Deno.Command(DENOKV!, {
        args: ["--sqlite-path", `${directory}/denokv.sqlite`, "serve", "--addr", `127.0.0.1:${port}`],
        env: { DENO_KV_ACCESS_TOKEN: TOKEN },
        stdout: "null",
        stderr: "null",
      }).spawn();
      for (;;) {
        try {
          (await Deno.connect({ hostname: "127.0.0.1", port })).close();
          return;
        } catch {
          await new Promise((later) => setTimeout(later, 20));
        }
      }
    },
    async stop() {
      if (child === null) return;
      child.kill("SIGKILL");
      await child.status;
      child = null;
    },
    kill: (signal) => child!.kill(signal),
  };
  await server.start();
  return server;
}

/** Two services with a data directory each, that share one server. */
async function withHosts(
  settings: Readonly<Record<string, string>>,
  test: (services: readonly RunningService[], server: KvServer) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-test-" });
  const server = await openServer(directory);
  const deployments = [await freshDeployment(), await freshDeployment()];
  const environment = {
    ...settings,
    JISS_RATE_LIMIT_STORE: `kv:${server.url}`,
    DENO_KV_ACCESS_TOKEN: TOKEN,
  };
  try {
    const services = await Promise.all(
      deployments.map(({ env }) => startService(["serve"], { env: { ...env, ...environment } })),
    );
    await test(services, server);
    for (const service of services) assert.equal(await service.stop(), 0);
  } finally {
    await server.stop();
    for (const { remove } of deployments) await remove();
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test({
  name:
    "two hosts together let through no more than one address limit, however many ask at once [needs denokv]",
  ignore: DENOKV === null,
  fn: () =>
    withHosts({ JISS_RATE_LIMIT_IP: "60" }, async (services) => {
      for (let n = 0; n < 50; n += 1) assert.equal((await services[n % 2]!.send("/v1")).status, 200);
      const burst = await Promise.all(
        Array.from({ length: 100 }, (_, n) => services[n % 2]!.send("/v1")),
      );
      const admitted = burst.filter(({ status }) => status === 200).length;
      assert.ok(admitted <= 10, `${admitted} of 10`);
      assert.equal(burst.filter(({ status }) => status === 429).length, burst.length - admitted);
      for (const service of services) assert.equal((await service.send("/v1")).status, 429);
    }),
});

Deno.test({
  name:
    "while the shared server is gone or silent, nothing is let through; counting resumes once it is back [needs denokv]",
  ignore: DENOKV === null,
  fn: () =>
    withHosts({}, async ([service], server) => {
      assert.equal((await service!.send("/v1")).status, 200);
      await server.stop();
      await assertClosed(service!);
      await server.start();
      await recovered(service!);
      server.kill("SIGSTOP");
      await assertClosed(service!);
      server.kill("SIGCONT");
      await recovered(service!);
    }),
});

Deno.test({
  name: "with a token that the shared server does not know, nothing is let through [needs denokv]",
  ignore: DENOKV === null,
  async fn() {
    const directory = await Deno.makeTempDir({ prefix: "jiss-test-" });
    const server = await openServer(directory);
    const { env, remove } = await freshDeployment();
    const token = "a-token-that-nobody-knows-0123456789";
    const service = await startService(["serve"], {
      env: { ...env, JISS_RATE_LIMIT_STORE: `kv:${server.url}`, DENO_KV_ACCESS_TOKEN: token },
    });
    try {
      await assertClosed(service);
      assert.ok(!service.output().includes(token) && !service.errors().includes(token));
    } finally {
      await service.stop();
      await server.stop();
      await remove();
      await Deno.remove(directory, { recursive: true });
    }
  },
});
