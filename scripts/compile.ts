/**
 * `task compile`: the bundle as one executable, dist/jiss, with the release's permissions frozen into it.
 *
 * `deno compile` takes its base binary, denort, from Deno's own download host, or from the file that DENORT_BIN
 * names. The bundle is compiled from a clean directory, because a node_modules beside it would be embedded whole.
 */
import { METADATA_ADDRESSES } from "../src/webhooks/target.ts";
import { bundle } from "./bundle.ts";

/** A second layer under the address check of webhooks. */
const DENIED = [
  "169.254.0.0/16",
  ...METADATA_ADDRESSES.map((address) => (address.includes(":") ? `[${address}]` : address)),
];

/**
 * What the compiled program may do, and the addresses that no setting opens: link-local ones and cloud metadata.
 * fe80::/10 belongs here too, but Deno 2.9.6 takes no IPv6 range in this flag (docs/decisions.md); a test tells
 * when it does.
 */
export const RELEASE_PERMISSIONS: readonly string[] = [
  "--allow-read",
  "--allow-write",
  "--allow-net",
  "--allow-env",
  // How much room is left: jiss doctor tells.
  "--allow-sys=statfs",
  `--deny-net=${DENIED.join(",")}`,
];

/** Rate limits that processes share stand in Deno KV, which Deno 2.9.6 has behind a flag. */
export const UNSTABLE_FEATURES: readonly string[] = ["--unstable-kv"];

export async function compile(output: string): Promise<void> {
  const clean = await Deno.makeTempDir({ prefix: "jiss-compile-" });
  try {
    await bundle(`${clean}/jiss.js`);
    const { success } = await new Deno.Command(Deno.execPath(), {
      args: [
        "compile",
        "--no-config",
        ...UNSTABLE_FEATURES,
        "--app-name",
        "jiss",
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
        "deno compile failed: it needs Deno's download host, or DENORT_BIN with the path of a denort",
      );
    }
  } finally {
    await Deno.remove(clean, { recursive: true });
  }
}

if (import.meta.main) {
  const root = await Deno.realPath(`${import.meta.dirname}/..`);
  await Deno.mkdir(`${root}/dist`, { recursive: true });
  await compile(`${root}/dist/jiss`);
  console.log("dist/jiss");
}
