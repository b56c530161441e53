/** Small disks for a test, which become full or fail; checks that the machine allows them. */
import assert from "node:assert/strict";
import { powerIsMissing } from "./power.ts";

export const MOUNT_IS_MISSING = Deno.uid() !== 0 || !succeeds("unshare", ["-m", "true"]);

/** A disk that its kernel remounts read-only on request, as ext4 supports since Linux 4. */
export function failingDiskIsMissing(): boolean {
  return powerIsMissing() || !succeeds("findmnt", ["--version"]);
}

/** Whether a program is there and succeeds with these arguments. */
export function succeeds(name: string, args: readonly string[]): boolean {
  try {
    return new Deno.Command(name, { args: [...args], stdout: "null", stderr: "null" }).outputSync().success;
  } catch {
    return false;
  }
}

/** Runs a command to its end. @throws if it fails. */
export async function command(name: string, ...args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(name, { args: [...args] }).output();
  assert.ok(success, `${name} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout).trim();
}

/** A new disk in memory of this size (`6m`), mounted at a path; removed with {@link unmount}. */
export async function mountSmall(path: string, size: string): Promise<void> {
  await Deno.mkdir(path, { mode: 0o700 });
  await command("mount", "-t", "tmpfs", "-o", `size=${size},mode=0700`, "tmpfs", path);
}

export async function resize(path: string, size: string): Promise<void> {
  await command("mount", "-o", `remount,size=${size}`, path);
}

/** Nothing on it may be open for writing. */
export async function remountReadOnly(path: string): Promise<void> {
  await command("mount", "-o", "remount,ro", path);
}

/** Works even if a file on it is still open. */
export async function unmount(path: string): Promise<void> {
  await command("umount", "--lazy", path);
}

/** Copies the files of a folder into another one. */
export async function copyInto(from: string, to: string): Promise<void> {
  for await (const { name, isFile } of Deno.readDir(from)) {
    if (isFile) await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Writes a file until no room is left. */
export async function fill(path: string): Promise<void> {
  using file = await Deno.open(path, { create: true, append: true });
  const block = new Uint8Array(4_096);
  try {
    for (;;) await file.write(block);
  } catch (error) {
    assert.match((error as Error).message, /No space left/);
  }
}

/** An ext4 in a file, mounted at a path. */
export interface FailingDisk {
  /** Makes its kernel refuse every write to it from now on, as after an error of the disk below. */
  fail(): Promise<void>;
  /** Mounts a copy of what the disk holds at the same path. Nothing waits for processes that still hold the failed one. */
  replace(): Promise<void>;
}

/** @param image - the file with the disk's content. */
export async function mountFailing(image: string, path: string): Promise<FailingDisk> {
  await Deno.mkdir(path);
  await command("truncate", "--size", "32M", image);
  await command("mkfs.ext4", "-q", "-F", image);
  const mount = async (file: string) => {
    await command("mount", "-o", "loop,errors=remount-ro", file, path);
  };
  await mount(image);
  return {
    async fail() {
      const device = await command("findmnt", "--noheadings", "--output", "SOURCE", "--mountpoint", path);
      await Deno.writeTextFile(`/sys/fs/ext4/${device.split("/").at(-1)}/trigger_fs_error`, "a test\n");
    },
    async replace() {
      await unmount(path);
      await Deno.copyFile(image, `${image}-copy`);
      await mount(`${image}-copy`);
    },
  };
}
