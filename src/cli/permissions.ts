/** How every launcher of the released program starts Deno, and which permissions it grants. */
import { METADATA_ADDRESSES } from "../webhooks/target.ts";

/** Addresses that Deno denies: a second layer under the address check of webhooks. */
const DENIED = [
  "169.254.0.0/16",
  ...METADATA_ADDRESSES.map((address) => (address.includes(":") ? `[${address}]` : address)),
];

/**
 * The permissions of the released program, and the addresses that no setting opens: link-local ones and cloud
 * metadata. fe80::/10 belongs here too, but Deno 2.9.6 takes no IPv6 range in this flag
 * (docs/understand/decisions.md); a test fails when it does.
 */
export const RELEASE_PERMISSIONS: readonly string[] = [
  "--allow-read",
  "--allow-write",
  "--allow-net",
  "--allow-env",
  // jiss doctor reports how much space is free.
  "--allow-sys=statfs",
  `--deny-net=${DENIED.join(",")}`,
];

/** Rate limits that processes share are in Deno KV, which needs this flag in Deno 2.9.6. */
export const UNSTABLE_FEATURES: readonly string[] = ["--unstable-kv"];

/** Other options of every launcher: Deno never prompts, reads no configuration and fetches nothing. */
export const LAUNCH_OPTIONS: readonly string[] = [
  "--quiet",
  "--no-prompt",
  "--no-config",
  "--no-remote",
  "--no-npm",
  "--cached-only",
];

/** Environment of every launcher: Deno would otherwise look for newer versions online. */
export const LAUNCH_ENVIRONMENT: Readonly<Record<string, string>> = { DENO_NO_UPDATE_CHECK: "1" };

/**
 * Environment of `jiss serve`, unless the administrator sets another. V8's heap gets half of the least memory
 * (docs/operate/install.md), in MiB, so that garbage is collected in time. Blocks from the threshold on, in
 * bytes, go back to the system as soon as they are free.
 */
export const SERVE_ENVIRONMENT: Readonly<Record<string, string>> = {
  DENO_V8_FLAGS: "--max-old-space-size=512",
  MALLOC_MMAP_THRESHOLD_: "131072",
};
