/** A bound on the memory of a process and what it starts, as a container has it: a control group of Linux, version 1 or 2. */

export interface MemoryGroup {
  /** A script of `sh` that enters it and becomes the command that its arguments name. */
  readonly enter: string;
  /** Bytes that it held at most, file cache included. */
  peak(): number;
  /** Once nothing runs in it. */
  remove(): Promise<void>;
}

/** Where groups are made, with the names of their files; null: this machine lets nobody make one. */
interface Version {
  readonly root: string;
  readonly limit: string;
  readonly peak: string;
  /** What else keeps the limit from being passed by: swap. */
  readonly swap: readonly [file: string, value: string];
}

const VERSIONS: readonly Version[] = [
  {
    root: "/sys/fs/cgroup",
    limit: "memory.max",
    peak: "memory.peak",
    swap: ["memory.swap.max", "0"],
  },
  {
    root: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    peak: "memory.max_usage_in_bytes",
    swap: ["memory.swappiness", "0"],
  },
];

/** A group of so many bytes; null where none can be made. */
export function memoryGroup(bytes: number): MemoryGroup | null {
  for (const { root, limit, peak, swap: [file, value] } of VERSIONS) {
    const path = `${root}/jiss-test-${Deno.pid}`;
    try {
      Deno.mkdirSync(path);
    } catch {
      continue;
    }
    try {
      // A file that is not there could not be made: the group has no bound on memory then.
      Deno.writeTextFileSync(`${path}/${limit}`, String(bytes), { create: false });
      Deno.writeTextFileSync(`${path}/${file}`, value, { create: false });
      Deno.readTextFileSync(`${path}/${peak}`);
    } catch {
      Deno.removeSync(path);
      continue;
    }
    return {
      enter: `echo $$ > ${path}/cgroup.procs && exec "$@"`,
      peak: () => Number(Deno.readTextFileSync(`${path}/${peak}`)),
      async remove() {
        // The kernel may take a moment to let go of a process that has ended.
        for (let attempt = 1;; attempt += 1) {
          try {
            return Deno.removeSync(path);
          } catch (error) {
            if (attempt === 100) throw error;
            await new Promise((next) => setTimeout(next, 50));
          }
        }
      },
    };
  }
  return null;
}

/** Whether this machine lets the test make such a group. */
export async function memoryGroupIsMissing(): Promise<boolean> {
  if (Deno.build.os !== "linux") return true;
  const group = memoryGroup(64 * 1024 * 1024);
  await group?.remove();
  return group === null;
}
