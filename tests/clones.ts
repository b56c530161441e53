/** Copies of this repository, for tests of what is made from a clone. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";

const ROOT = await Deno.realPath(`${import.meta.dirname}/..`);

/** Copies the repository's files without those of the tests, in their present state, to another place. */
export async function cloneTo(place: string): Promise<void> {
  const { stdout, success } = await new Deno.Command("git", { args: ["ls-files", "-z"], cwd: ROOT }).output();
  assert.ok(success);
  const paths = new TextDecoder().decode(stdout).split("\0").filter((path) => path !== "");
  for (const path of paths.filter((path) => !/^tests\/.*\.ts$/.test(path))) await copyTo(place, path, path);
}

/** Copies a file of the repository to a path below a place. */
export async function copyTo(place: string, from: string, to: string): Promise<void> {
  await Deno.mkdir(dirname(join(place, to)), { recursive: true });
  await Deno.copyFile(`${ROOT}/${from}`, join(place, to));
}
