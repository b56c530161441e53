/** The permissions with which the released program runs. */
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
