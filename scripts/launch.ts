/** How every launcher of the released program starts Deno, besides its permissions (src/cli/permissions.ts). */

/** Options of every launcher: Deno never prompts, reads no configuration and fetches nothing. */
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
