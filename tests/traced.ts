/** The whole program under strace: the addresses that it connects and sends to, as the kernel was asked. */
import { baseEnvironment, programLine, type RunningService, watch } from "./program.ts";

export interface TracedService {
  readonly service: RunningService;
  /** Everything that was connected or sent to, `address port`, once each; only once the service has ended. */
  destinations(): Promise<readonly string[]>;
}

export function straceIsMissing(): boolean {
  try {
    const traced = new Deno.Command("strace", {
      args: ["-qq", "-o", "/dev/null", "true"],
      stdout: "null",
      stderr: "null",
    });
    return !traced.outputSync().success;
  } catch {
    return true;
  }
}

/** Starts a service whose calls are written to a file, and waits until it listens. */
export async function startTraced(
  trace: string,
  env: Readonly<Record<string, string>>,
): Promise<TracedService> {
  // -D: the program is the child, strace its grandchild, so that signals reach the program.
  const tracing = ["-D", "-f", "-qq", "-s", "0", "-o", trace];
  const child = new Deno.Command("strace", {
    args: [
      ...[...tracing, "-e", "trace=connect,sendto,sendmsg,sendmmsg"],
      ...programLine(["serve"]),
    ],
    clearEnv: true,
    env: {
      ...baseEnvironment(),
      // Deno's own check for a newer version would be a connection, too.
      DENO_NO_UPDATE_CHECK: "1",
      JISS_PORT: "0",
      JISS_LOG: "json",
      ...env,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const service = await watch(child);
  return {
    service,
    async destinations() {
      await service.status;
      return destinationsIn(await Deno.readTextFile(trace));
    },
  };
}

/** Calls that make a change durable, or remove something. */
const LASTING_CALLS = "fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat";

/**
 * Runs a command that is killed at a call that would make a change durable, the `count`th one of a thread,
 * before it is made.
 * @returns false if it ended before, or, as a service, listened: then it is killed as well.
 */
export async function runKilled(
  args: readonly string[],
  { env, count, path }: {
    readonly env: Readonly<Record<string, string>>;
    readonly count: number;
    /** Only calls on this file are counted; null: all. */
    readonly path: string | null;
  },
): Promise<boolean> {
  const child = new Deno.Command("strace", {
    args: [
      ...["-D", "-f", "-qq", "-o", "/dev/null", ...(path === null ? [] : ["-P", path])],
      ...["-e", `trace=${LASTING_CALLS}`, "-e", `inject=${LASTING_CALLS}:signal=SIGKILL:when=${count}`],
      ...programLine(args),
    ],
    clearEnv: true,
    env: { ...baseEnvironment(), JISS_PORT: "0", JISS_LOG: "json", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (args[0] === "serve") {
    const service = await watch(child).catch(() => null);
    if (service === null) return (await child.status).signal === "SIGKILL";
    service.kill("SIGKILL");
    await service.status;
    return false;
  }
  const { signal } = await child.output();
  return signal === "SIGKILL";
}

const PORT = /sin6?_port=htons\((\d+)\)/;
const ADDRESS = /inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"/;

/** @throws if a line names an internet address in a way that is not known here. */
function destinationsIn(trace: string): readonly string[] {
  const found = new Set<string>();
  for (const line of trace.split("\n").filter((line) => line.includes("AF_INET"))) {
    const port = PORT.exec(line)?.[1];
    const [, four, six] = ADDRESS.exec(line) ?? [];
    if (port === undefined || (four ?? six) === undefined) throw new Error(`not understood: ${line}`);
    // The resolver asks for a route to an answer by connecting a datagram socket to port 0: nothing is sent.
    if (port !== "0") found.add(`${four ?? six} ${port}`);
  }
  return [...found].sort();
}

/** Tampering with a program's calls, until it is ended. */
export interface Tampering {
  end(): Promise<void>;
}

/**
 * Tampers with calls of a running process. @param how - strace's `inject=` expression, and the files that it
 * is limited to.
 */
export async function tamperWith(
  pid: number,
  { inject, files = [] }: { readonly inject: string; readonly files?: readonly string[] },
): Promise<Tampering> {
  const child = new Deno.Command("strace", {
    args: [
      ...["-f", "-p", String(pid), "-o", "/dev/null", ...files.flatMap((path) => ["-P", path])],
      ...["-e", `trace=${inject.split(":")[0]}`, "-e", `inject=${inject}`],
    ],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  // strace says so once it is attached.
  const reader = child.stderr.getReader();
  await reader.read();
  reader.releaseLock();
  return {
    async end() {
      try {
        child.kill("SIGINT");
      } catch {
        // It ended with the process that it was attached to.
      }
      await child.stderr.cancel();
      await child.status;
    },
  };
}
