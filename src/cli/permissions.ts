/** How Deno is started for the released program, and what it grants to it: nothing else starts it. */
import { METADATA_ADDRESSES } from "../webhooks/target.ts";

/** A second layer under the address check of webhooks. */
const DENIED = [
  "169.254.0.0/16",
  ...METADATA_ADDRESSES.map((address) => (address.includes(":") ? `[${address}]` : address)),
];

/**
 * What the compiled program may do, and the addresses that no setting opens: link-local ones and cloud metadata.
 * fe80::/10 belongs here too, but Deno 2.9.6 takes no IPv6 range in this flag (docs/understand/decisions.md); a test tells
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

/** Other options of every launcher: Deno asks nobody, reads no configuration and fetches nothing. */
export const LAUNCH_OPTIONS: readonly string[] = [
  "--quiet",
  "--no-prompt",
  "--no-config",
  "--no-remote",
  "--no-npm",
  "--cached-only",
];

/** Environment of every launcher: Deno would otherwise ask its makers for newer versions now and then. */
export const LAUNCH_ENVIRONMENT: Readonly<Record<string, string>> = { DENO_NO_UPDATE_CHECK: "1" };

/**
 * Environment of `jiss serve`, unless the administrator sets another: half of the least memory (docs/operate/install.md), in MiB,
 * for what the program makes, so that it is collected in time; large pieces, in bytes, go back to the system at once.
 */
export const SERVE_ENVIRONMENT: Readonly<Record<string, string>> = {
  DENO_V8_FLAGS: "--max-old-space-size=512",
  MALLOC_MMAP_THRESHOLD_: "131072",
};
