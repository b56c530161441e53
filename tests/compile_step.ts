/** Runs the compile step to the path given: a process of its own, because it needs DENORT_BIN. */
import { compile } from "../scripts/compile.ts";

await compile(Deno.args[0]!);
