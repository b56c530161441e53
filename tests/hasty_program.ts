/**
 * The program, with a listener that waits seconds instead of minutes for clients, and assumes more
 * descriptors than the process has.
 */
import { shell } from "../main.ts";
import { run } from "../src/cli/program.ts";

const bounds = {
  room: { most: 4_096, isFull: (open: number) => open >= 4_096 },
  firstRequestMs: 2_000,
  clientMs: 3_000,
};

if (import.meta.main) Deno.exit(await run(Deno.args, { ...shell, bounds }));
