/** The cost of `jiss verify` as a process of its own: processor time and peak of resident memory. */
import { programLine } from "./program.ts";

const WATCH_MS = 5;
/**
 * The engine lets the space for new objects grow by tens of MiB as it likes, on one machine and not on another. A small
 * one shows the memory that the program itself keeps.
 */
const SMALL_NEW_SPACE = { DENO_V8_FLAGS: "--max-semi-space-size=1" };

export interface Cost {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Processor time, in the system's ticks. */
  readonly ticks: number;
  /** Highest resident memory, MiB. */
  readonly mib: number;
}

/** Runs `jiss verify` with these arguments and watches it. Needs a system with /proc. */
export async function verifyingCost(args: readonly string[]): Promise<Cost> {
  const [command, ...rest] = programLine(["verify", ...args]);
  const child = new Deno.Command(command, {
    args: rest,
    env: SMALL_NEW_SPACE,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let [ticks, mib] = [0, 0];
  const watch = setInterval(() => {
    ticks = ticksOf(child.pid) ?? ticks;
    mib = peakOf(child.pid) ?? mib;
  }, WATCH_MS);
  const { code, stdout, stderr } = await child.output();
  clearInterval(watch);
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr), ticks, mib };
}

function peakOf(pid: number): number | null {
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1];
  return kib === undefined ? null : Number(kib) / 1024;
}

function ticksOf(pid: number): number | null {
  const fields = read(`/proc/${pid}/stat`).split(") ")[1]?.split(" ");
  return fields === undefined ? null : Number(fields[11]) + Number(fields[12]);
}

function read(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}
