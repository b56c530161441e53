/**
 * A disk whose power can be cut: what was written and never flushed is lost.
 *
 * Two file systems, one inside the other. The inner one is in a file of the outer one, whose page cache
 * stands for the disk's volatile cache: a flush of the inner one is an fsync of that file, and only it
 * reaches the outer one's device. The cut is ext4's own shutdown of the outer one, without flushing its log:
 * from then on nothing reaches its device, which is then copied and mounted elsewhere. So the inner one's
 * dirty pages are lost, and every block that it wrote and did not flush.
 */
import assert from "node:assert/strict";

/** Bytes of the device, and of the file system in it. */
const DEVICE_BYTES = 128 << 20;
const DISK_BYTES = 96 << 20;

/** https://github.com/torvalds/linux, include/uapi/linux/ext4.h: _IOR('X', 125, __u32), and the flag that flushes no log. */
const EXT4_IOC_SHUTDOWN = 0x8004587dn;
const NOLOGFLUSH = 2;

export interface PowerDisk {
  /** The place of the mount; another one after each cut. */
  readonly folder: string;
  /** Cuts the power; the caller must end the processes that write. */
  cut(): void;
  /**
   * Mounts a copy of what the cut left, once no process uses the folder any more.
   * @throws if the file system on it is damaged: the copy was not of one instant then.
   */
  restart(): Promise<void>;
  remove(): Promise<void>;
}

/** Whether this machine lets a test have such a disk. */
export function powerIsMissing(): boolean {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return true;
  const place = Deno.makeTempDirSync({ prefix: "jiss-power-" });
  try {
    new Deno.Command("truncate", { args: ["-s", "8M", `${place}/image`] }).outputSync();
    return !["mkfs.ext4 -q -F image", "mkdir folder", "mount -o loop image folder", "umount folder"].every(
      (line) => {
        const [command, ...args] = line.split(" ");
        return new Deno.Command(command!, { args, cwd: place, stdout: "null", stderr: "null" }).outputSync()
          .success;
      },
    );
  } catch {
    return true;
  } finally {
    Deno.removeSync(place, { recursive: true });
  }
}

async function run(command: string, ...args: readonly string[]): Promise<void> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args] }).output();
  const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  if (!success) throw new Error(`${command} ${args.join(" ")}: ${output}`);
}

/** Stops a mounted ext4 between two instructions, as `xfs_io -x -c shutdown` does. */
function shutDown(folder: string): void {
  const library = Deno.dlopen("libc.so.6", {
    open: { parameters: ["buffer", "i32"], result: "i32" },
    ioctl: { parameters: ["i32", "u64", "buffer"], result: "i32" },
    close: { parameters: ["i32"], result: "i32" },
  });
  const { symbols } = library;
  const descriptor = symbols.open(new TextEncoder().encode(`${folder}\0`), 0);
  const answered = symbols.ioctl(descriptor, EXT4_IOC_SHUTDOWN, new Uint32Array([NOLOGFLUSH]));
  symbols.close(descriptor);
  library.close();
  assert.equal(answered, 0, "ext4 was shut down");
}

/** Copies until the copy equals its source: nothing was being written any more. */
async function copySettled(from: string, to: string): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    await run("cp", "--sparse=always", from, to);
    const { code } = await new Deno.Command("cmp", { args: ["-s", from, to] }).output();
    if (code === 0) return;
  }
  throw new Error("the device is still written to");
}

/** One mounting of a device: its number distinguishes it from those before. */
interface Mounting {
  readonly device: string;
  readonly outer: string;
  readonly folder: string;
}

export async function openPowerDisk(): Promise<PowerDisk> {
  const place = await Deno.makeTempDir({ prefix: "jiss-power-" });
  // The test's own disk is not affected.
  await run("mount", "-t", "tmpfs", "-o", "mode=700", "tmpfs", place);
  let count = 0;

  function nextMounting(): Mounting {
    count += 1;
    const [device, outer, folder] = ["device", "outer", "disk"].map((name) => `${place}/${name}-${count}`);
    for (const path of [outer!, folder!]) Deno.mkdirSync(path);
    return { device: device!, outer: outer!, folder: folder! };
  }

  const mountInner = ({ outer, folder }: Mounting) => run("mount", "-o", "loop", `${outer}/disk`, folder);

  async function remove({ device, outer, folder }: Mounting): Promise<void> {
    await run("umount", folder);
    await run("umount", outer);
    for (const path of [device, outer, folder]) await Deno.remove(path);
  }

  let mounting = nextMounting();
  await run("truncate", "-s", String(DEVICE_BYTES), mounting.device);
  // A journal would order writes that a cache does not order.
  await run("mkfs.ext4", "-q", "-F", "-O", "^has_journal", mounting.device);
  await run("mount", "-o", "loop", mounting.device, mounting.outer);
  // Every block is allocated before the first cut: then only contents can be lost.
  const zeros = new Uint8Array(DISK_BYTES);
  await Deno.writeFile(`${mounting.outer}/disk`, zeros);
  await run("mkfs.ext4", "-q", "-F", "-E", "nodiscard", `${mounting.outer}/disk`);
  await run("sync", "-f", mounting.outer);
  await mountInner(mounting);

  return {
    get folder() {
      return mounting.folder;
    },
    cut: () => shutDown(mounting.outer),
    async restart() {
      const before = mounting;
      mounting = nextMounting();
      await copySettled(before.device, mounting.device);
      await remove(before);
      await run("mount", "-o", "loop", mounting.device, mounting.outer);
      // The journal is replayed, and nothing repaired: any damage was torn by the cut.
      await run("e2fsck", "-E", "journal_only", "-y", `${mounting.outer}/disk`);
      await run("e2fsck", "-f", "-n", `${mounting.outer}/disk`);
      await mountInner(mounting);
    },
    async remove() {
      const mounts = (await Deno.readTextFile("/proc/mounts")).split("\n").map((line) => line.split(" ")[1]!);
      // A failed test may have left a process in there.
      for (const path of mounts.filter((path) => path?.startsWith(place)).toReversed()) {
        await run("umount", "--lazy", path);
      }
      await Deno.remove(place);
    },
  };
}
