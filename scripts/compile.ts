/**
 * `task compile [target…]`: the bundle as one executable, with the release's permissions frozen into it. Without a
 * target it is dist/jiss, for the machine that it is made on; with targets, or `all`, dist/jiss-<target> for each.
 *
 * `deno compile` takes its base binary, denort, from Deno's own download host, or from the file that
 * DENORT_BIN names. That is one file, of one system: if it is set, one target is compiled at a time. The
 * bundle is compiled from a clean directory, because a node_modules beside it would be embedded whole.
 */
import { RELEASE_PERMISSIONS, UNSTABLE_FEATURES } from "../src/cli/permissions.ts";
import { bundle } from "./bundle.ts";

export { RELEASE_PERMISSIONS, UNSTABLE_FEATURES };

/** Every target of `deno compile` 2.9.6 for a system that Deno itself is released for. */
export const TARGETS: readonly string[] = [
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc",
];

export interface Compiled {
  /** null for the machine's own. */
  readonly target: string | null;
  readonly output: string;
}

/** @throws {Error} if a target is unknown, or if there are several targets and DENORT_BIN is set. */
export function compiledOf(
  args: readonly string[],
  { directory, denort }: { readonly directory: string; readonly denort: string | undefined },
): readonly Compiled[] {
  const unknown = args.filter((target) => target !== "all" && !TARGETS.includes(target));
  if (unknown.length > 0) {
    throw new Error(`unknown target ${unknown.join(", ")}: name any of ${TARGETS.join(", ")}, or all`);
  }
  if (args.length === 0) return [{ target: null, output: `${directory}/jiss` }];
  const targets = TARGETS.filter((target) => args.includes("all") || args.includes(target));
  if (targets.length > 1 && denort !== undefined) {
    throw new Error(
      `DENORT_BIN is for one system, but ${targets.length} targets were named: name one target, or unset DENORT_BIN ` +
        "to download denort for each target",
    );
  }
  return targets.map((target) => ({
    target,
    // Deno adds .exe if it is missing.
    output: `${directory}/jiss-${target}${target.includes("windows") ? ".exe" : ""}`,
  }));
}

export async function compile(compiled: readonly Compiled[]): Promise<void> {
  const clean = await Deno.makeTempDir({ prefix: "jiss-compile-" });
  try {
    await bundle(`${clean}/jiss.js`);
    for (const { target, output } of compiled) {
      const { success } = await new Deno.Command(Deno.execPath(), {
        args: [
          "compile",
          "--no-config",
          ...UNSTABLE_FEATURES,
          "--app-name",
          "jiss",
          ...(target === null ? [] : ["--target", target]),
          ...RELEASE_PERMISSIONS,
          "--output",
          output,
          "jiss.js",
        ],
        cwd: clean,
        stdout: "inherit",
        stderr: "inherit",
      }).output();
      if (!success) {
        throw new Error(
          `deno compile failed${
            target === null ? "" : ` for ${target}`
          }: allow access to Deno's download host, or ` +
            "set DENORT_BIN to the path of denort for that system, of the same version",
        );
      }
    }
  } finally {
    await Deno.remove(clean, { recursive: true });
  }
}

if (import.meta.main) {
  const root = await Deno.realPath(`${import.meta.dirname}/..`);
  try {
    const compiled = compiledOf(Deno.args, {
      directory: `${root}/dist`,
      denort: Deno.env.get("DENORT_BIN"),
    });
    await Deno.mkdir(`${root}/dist`, { recursive: true });
    await compile(compiled);
    for (const { output } of compiled) console.log(output.slice(root.length + 1));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(1);
  }
}
