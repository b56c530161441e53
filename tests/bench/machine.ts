/** The machine that a bench ran on, and its tools: a real disk, the bundle, processes and their memory. */
import { bundle } from "../../scripts/bundle.ts";
import {
  baseEnvironment,
  type Deployment,
  deploymentIn,
  type RunningService,
  startService,
} from "../program.ts";

export const ROOT = `${import.meta.dirname}/../..`;

/** Benches write inside the working copy, as the system's temporary directory may be memory. */
const DISK = `${ROOT}/data/bench`;

export interface Machine {
  readonly processor: string;
  readonly memory: string;
  readonly system: string;
  readonly deno: string;
  readonly disk: string;
}

export async function describeMachine(): Promise<Machine> {
  await Deno.mkdir(DISK, { recursive: true });
  const cpuinfo = await Deno.readTextFile("/proc/cpuinfo").catch(() => "");
  const model = /model name\s*: (.+)/.exec(cpuinfo)?.[1] ?? Deno.build.arch;
  return {
    processor: `${navigator.hardwareConcurrency} × ${model}`,
    memory: `${Math.round(Deno.systemMemoryInfo().total / 2 ** 30)} GiB`,
    system: `${Deno.build.os} ${Deno.osRelease()}`,
    deno: `Deno ${Deno.version.deno}`,
    disk: `data on ${await fileSystem()}`,
  };
}

/** The type of the file system that benches write to. */
async function fileSystem(): Promise<string> {
  const result = await new Deno.Command("df", { args: ["--output=fstype", DISK] }).output().catch(() => null);
  const type = result?.success ? new TextDecoder().decode(result.stdout).trim().split("\n")[1] : undefined;
  return type ?? "a file system of unknown type";
}

/** @returns why durability cannot be measured here; null if it can. */
export async function noDisk(): Promise<string | null> {
  const type = await fileSystem();
  return type === "tmpfs" || type === "ramfs" ? `data/bench lies on ${type}, which is no disk` : null;
}

/** A fresh directory on the disk. */
export async function directoryOnDisk(): Promise<string> {
  await Deno.mkdir(DISK, { recursive: true });
  return await Deno.makeTempDir({ dir: DISK, prefix: "run-" });
}

/** A deployment on the disk with rate limits that no bench reaches. */
export async function deploymentOnDisk(): Promise<Deployment> {
  const deployment = await deploymentIn(await directoryOnDisk());
  const env = {
    ...deployment.env,
    JISS_RATE_LIMIT_IP: "1000000000",
    JISS_RATE_LIMIT_KEY: "1000000000",
  };
  return { ...deployment, env };
}

let bundled: Promise<string> | null = null;

/** The release's file, made once. */
export function bundleFile(): Promise<string> {
  bundled ??= (async () => {
    const path = `${ROOT}/dist/jiss.js`;
    await bundle(path);
    return path;
  })();
  return bundled;
}

/** `serve` of the bundle, with the permissions of a release. */
export async function serveBundle({ env }: Pick<Deployment, "env">): Promise<RunningService> {
  return await startService(["serve"], { bundle: await bundleFile(), env });
}

export interface Server {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** A server of this folder in a process of its own, which prints its address. */
export async function startServer(file: string): Promise<Server> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--allow-net", `${import.meta.dirname}/${file}`],
    clearEnv: true,
    env: baseEnvironment(),
    stdout: "piped",
    stderr: "inherit",
    stdin: "null",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`${file} ended before it listened`);
    text += value;
  }
  return {
    url: text.trim(),
    pid: child.pid,
    async stop() {
      child.kill("SIGTERM");
      await child.status;
      await reader.cancel();
    },
  };
}

/** Memory that a process uses, MiB, if the system says so. */
export async function residentMiB(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) / 1024;
}

/** @returns why memory cannot be measured here; null if it can. */
export function noMemoryFigures(): string | null {
  return Deno.build.os === "linux" ? null : `${Deno.build.os} has no /proc to tell the memory of a process`;
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
