/** The whole program as a process of its own: tests start it, send requests, stop it and kill it. */
import { CompiledQuery } from "kysely";
import { bundle } from "../scripts/bundle.ts";
import { RELEASE_PERMISSIONS, UNSTABLE_FEATURES } from "../src/cli/permissions.ts";
import type { Database, Statement } from "../src/store/database.ts";
import { openEmbedded } from "../src/store/embedded.ts";
import { copyFolder, IS_SERVER, openServer } from "./database.ts";
import { type Sqld, startSqld } from "./sqld.ts";

const ROOT = `${import.meta.dirname}/..`;

/** The program in one file, which starts in half the time; the lane of whole programs makes it once. */
const BUNDLE = Deno.env.get("JISS_TEST_BUNDLE");

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** The whole environment, without what Deno itself needs. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The file of a bundle to run instead of the sources. Default: the one that the test run made. */
  readonly bundle?: string;
  /** Limit of open file descriptors. */
  readonly descriptors?: number;
  /** A file that standard output goes to. */
  readonly output?: string;
  /** The program's file. Default: `main.ts`. */
  readonly main?: string;
}

/** Data directories whose database is on a server: its variables, and the folder of its files. */
const servers = new Map<string, { readonly sqld: Sqld; readonly directory: string }>();

/** The variables that name the database of a data directory, if it is not in there. */
function namesOfServer(data: string): Readonly<Record<string, string>> {
  const server = servers.get(data);
  if (server === undefined) return {};
  return { JISS_DATABASE_URL: server.sqld.url, JISS_DATABASE_ADMIN_URL: server.sqld.adminUrl };
}

/** The message of a command that needs a database, before the first start. */
export const NO_DATABASE = IS_SERVER ? / is not a database of this program/ : /there is no database at /;

/** The variables that Deno needs to find its cache. */
export function baseEnvironment(): Record<string, string> {
  const names = ["PATH", "HOME", "DENO_DIR", "XDG_CACHE_HOME"];
  return Object.fromEntries(names.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
}

/**
 * The whole environment of the program. A data directory without a database variable gets its own database's.
 */
export function environmentOf(env: Readonly<Record<string, string>>): Record<string, string> {
  return { ...baseEnvironment(), ...namesOfServer(env.JISS_DATA_DIR ?? ""), ...env };
}

/** Puts the program in one file at a path: the run's bundle, if there is one. */
export async function putBundle(path: string): Promise<void> {
  if (BUNDLE === undefined) await bundle(path);
  else await Deno.copyFile(BUNDLE, path);
}

/**
 * The program and its arguments, as a command line: the run's bundle, if there is one and no other file is
 * named.
 */
export function programLine(
  args: readonly string[],
  options: Pick<RunOptions, "bundle" | "main"> = {},
): readonly [string, ...string[]] {
  const file = options.bundle !== undefined
    ? ["--no-config", options.bundle]
    : options.main !== undefined || BUNDLE === undefined
    ? [`${ROOT}/${options.main ?? "main.ts"}`]
    // Without the configuration, which enables what the release's launcher enables, too.
    : ["--no-config", ...UNSTABLE_FEATURES, BUNDLE];
  return [Deno.execPath(), "run", "--quiet", "--no-prompt", ...RELEASE_PERMISSIONS, ...file, ...args];
}

function commandOf(args: readonly string[], options: RunOptions): Deno.Command {
  const { env = {}, cwd, descriptors, output } = options;
  const line = programLine(args, options);
  const steps = [
    ...(descriptors === undefined ? [] : [`ulimit -n ${descriptors} &&`]),
    'exec "$@"',
    ...(output === undefined ? [] : [`> ${output}`]),
  ];
  const [command, ...rest] = steps.length === 1 ? line : ["sh", "-c", steps.join(" "), "sh", ...line];
  return new Deno.Command(command!, {
    args: rest,
    clearEnv: true,
    // A free port, also if the program is expected to end before it listens.
    env: { JISS_PORT: "0", ...environmentOf(env) },
    ...(cwd === undefined ? {} : { cwd }),
    stdout: "piped",
    stderr: "piped",
    stdin: "null",
  });
}

/** Runs a command to its end. */
export async function runProgram(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const { code, stdout, stderr } = await commandOf(args, options).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

/** Starts a command or a service and does not wait. */
export function spawnProgram(args: readonly string[], options: RunOptions = {}): Deno.ChildProcess {
  return commandOf(args, options).spawn();
}

export interface RunningService {
  readonly url: string;
  readonly pid: number;
  /** Everything on standard output so far. */
  output(): string;
  /** Everything on standard error so far. */
  errors(): string;
  /** The log lines so far; lines that are no JSON are left out. */
  log(): readonly Record<string, unknown>[];
  send(path: string, options?: SendOptions): Promise<Answer>;
  kill(signal: Deno.Signal): void;
  /** Ends with SIGTERM and returns the exit code. */
  stop(): Promise<number>;
  readonly status: Promise<Deno.CommandStatus>;
}

export interface SendOptions {
  readonly method?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any -- an answer is whatever the service said
  readonly body: any;
}

/** Starts a service on a free port and waits until it listens. @throws if it ends before. */
export function startService(
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunningService> {
  return watch(
    commandOf(args, { ...options, env: { JISS_PORT: "0", JISS_LOG: "json", ...options.env } }).spawn(),
  );
}

/** Watches a spawned service until it listens. */
export async function watch(child: Deno.ChildProcess): Promise<RunningService> {
  let output = "";
  let errors = "";
  const listening = Promise.withResolvers<string>();
  let isListening = false;
  const log = () =>
    output.split("\n").slice(0, -1).flatMap((line) => {
      try {
        return [JSON.parse(line) as Record<string, unknown>];
      } catch {
        return [];
      }
    });
  const drained = Promise.all([
    drain(child.stdout, (text) => {
      output += text;
      if (isListening) return;
      const line = log().find(({ msg }) => msg === "listening");
      if (line === undefined) return;
      isListening = true;
      listening.resolve(String(line.url));
    }),
    drain(child.stderr, (text) => {
      errors += text;
    }),
  ]);
  const status = child.status.then(async (result) => {
    await drained;
    return result;
  });
  status.then(({ code }) =>
    listening.reject(new Error(`ended with ${code} before it listened: ${errors}${output}`))
  );
  const url = await listening.promise;
  return {
    url,
    pid: child.pid,
    output: () => output,
    errors: () => errors,
    log,
    status,
    kill: (signal) => child.kill(signal),
    async stop() {
      child.kill("SIGTERM");
      return (await status).code;
    },
    async send(path, { method, key, headers = {}, body } = {}) {
      const response = await fetch(url + path, {
        method: method ?? (body === undefined ? "GET" : "POST"),
        headers: {
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...(key === undefined ? {} : { "X-API-Key": key }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text === "" ? null : JSON.parse(text),
      };
    },
  };
}

async function drain(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const piece of stream) take(decoder.decode(piece, { stream: true }));
}

export interface Deployment {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

/**
 * A fresh directory, or one with its database on a server, with the output of `jiss init`, and the
 * environment that it describes.
 */
export async function freshDeployment(): Promise<Deployment> {
  const deployment = await deploymentIn(await Deno.makeTempDir({ prefix: "jiss-test-" }));
  return IS_SERVER ? await onServer(deployment) : deployment;
}

/** The same deployment with its database on a server of its own. */
async function onServer(deployment: Deployment): Promise<Deployment> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-sqld-" });
  const sqld = await startSqld({ directory });
  const data = deployment.env.JISS_DATA_DIR!;
  servers.set(data, { sqld, directory });
  return {
    ...deployment,
    env: { ...deployment.env, ...namesOfServer(data) },
    async remove() {
      await sqld.stop();
      servers.delete(data);
      await Deno.remove(directory, { recursive: true });
      await deployment.remove();
    },
  };
}

/** The same in an existing directory, unless it was initialized already. */
export async function deploymentIn(directory: string): Promise<Deployment> {
  const data = `${directory}/data`;
  const secrets = () => Deno.readTextFile(`${data}/jiss.env`);
  const text = await secrets().catch(async () => {
    const { code, stderr } = await runProgram(["init", data]);
    if (code !== 0) throw new Error(stderr);
    return await secrets();
  });
  const env = Object.fromEntries(
    text.trim().split("\n").map((line) => {
      const at = line.indexOf("=");
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
  return {
    directory,
    env: {
      ...env,
      JISS_DATA_DIR: data,
      JISS_RATE_LIMIT_IP: "1000000",
      JISS_RATE_LIMIT_KEY: "1000000",
    },
    remove: () => Deno.remove(directory, { recursive: true }),
  };
}

/** Opens the database of a data directory, possibly beside the program, and closes it. */
export async function withDatabaseOf<Result>(
  data: string,
  use: (database: Database) => Promise<Result>,
): Promise<Result> {
  const server = servers.get(data);
  const database = server === undefined
    ? openEmbedded({ path: `${data}/jiss.db`, onFatal: () => {} })
    : openServer(server.sqld);
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

/** The rows that a query finds in the database of a data directory. */
export function rowsIn<Row>(
  data: string,
  sql: string,
  ...parameters: readonly unknown[]
): Promise<readonly Row[]> {
  return withDatabaseOf(
    data,
    (database) => database.read(CompiledQuery.raw(sql, [...parameters]) as CompiledQuery<Row>),
  );
}

/** Changes the database of a data directory behind the program's back. */
export function changeRows(data: string, ...statements: readonly Statement[]): Promise<void> {
  return withDatabaseOf(data, (database) => database.batch(statements));
}

/** The process that syncs the writes of a data directory's service to its database. */
export function syncingPid(data: string, service: Pick<RunningService, "pid">): number {
  return servers.get(data)?.sqld.pid ?? service.pid;
}

/** The paths of the files of a data directory's database. */
export function databaseFolder(data: string): string {
  return servers.get(data)?.directory ?? data;
}

/**
 * Copies the database of a data directory to a path, while no program writes to it; returns a function that
 * puts it back. A server has the same address again each time.
 */
export async function backUpDatabase(data: string, to: string): Promise<() => Promise<void>> {
  const server = servers.get(data);
  if (server === undefined) {
    const path = `${data}/jiss.db`;
    await Deno.copyFile(path, to);
    return async () => {
      for (const end of ["-wal", "-shm"]) await Deno.remove(`${path}${end}`).catch(() => {});
      await Deno.copyFile(to, path);
    };
  }
  const { sqld, directory } = server;
  const whileStopped = async (work: () => Promise<void>) => {
    await sqld.stop();
    await work();
    await sqld.start();
  };
  await whileStopped(() => copyFolder(directory, to));
  return () =>
    whileStopped(async () => {
      await Deno.remove(directory, { recursive: true });
      await copyFolder(to, directory);
    });
}

/** Creates an organization over HTTP and returns its key. */
export async function createOrganization(
  service: RunningService,
  env: Readonly<Record<string, string>>,
  orgId = "acme",
): Promise<string> {
  const { status, body } = await service.send("/v1/admin/org/create", {
    key: env.MASTER_ADMIN_KEY_ORG_CREATE!,
    headers: { "Idempotency-Key": `create-${orgId}` },
    body: { org_id: orgId, name: orgId, domain: "financial", tier: "standard", allowed_origins: "" },
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.api_key;
}

/** Resolves once the condition holds. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((next) => setTimeout(next, 5));
}
