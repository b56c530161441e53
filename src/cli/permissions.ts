/** What Deno grants to the released program: nothing else starts it. */
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
