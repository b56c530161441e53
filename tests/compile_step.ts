/** Runs the compile step for the target and to the path given: a process of its own, because it needs DENORT_BIN. */
import { compile } from "../scripts/compile.ts";

const [output, target] = Deno.args;
await compile([{ target: target ?? null, output: output! }]);
