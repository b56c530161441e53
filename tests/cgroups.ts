/**
 * A memory limit for a process and its children, as a container has it: a Linux control group, version 1 or
 * 2.
 */

export interface MemoryGroup {
  /** A `sh` script that enters the group and becomes the command given as its arguments. */
  readonly enter: string;
  /** The most bytes that it used, file cache included. */
  peak(): number;
  /** Removes the group, once nothing runs in it. */
  remove(): Promise<void>;
}

/** The place at which groups are made, with the names of their files; null: this machine allows none. */
interface Version {
  readonly root: string;
  readonly limit: string;
  readonly peak: string;
  /** Limits swap too, which would otherwise evade the limit. */
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

/** A group with this limit in bytes; null if none can be made. */
export function memoryGroup(bytes: number): MemoryGroup | null {
  for (const { root, limit, peak, swap: [file, value] } of VERSIONS) {
    const path = `${root}/jiss-test-${Deno.pid}`;
    try {
      Deno.mkdirSync(path);
    } catch {
      continue;
    }
    try {
      // The file could not be created: the group has no memory limit then.
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
        // The kernel may need a moment to release a process that has ended.
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
