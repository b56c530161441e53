/**
 * Run by `tests/real/json_cost_test.ts` as a program of its own, with V8's `--expose-gc`: prints for each
 * shape the memory that its parsed value takes and the estimate of `survey` for its text.
 */
import { getHeapStatistics } from "node:v8";
import { measureJson } from "../src/http/json_cost.ts";
import { SHAPES } from "./heavy_bodies.ts";

const { gc } = globalThis as unknown as { readonly gc: () => void };

function used(): number {
  gc();
  gc();
  return getHeapStatistics().used_heap_size;
}

const bytes = Number(Deno.args[0]);
const kept: unknown[] = [null];
const measured: { readonly shape: string; readonly taken: number; readonly cost: number }[] = [];
for (const [shape, textOf] of Object.entries(SHAPES)) {
  const encoded = new TextEncoder().encode(textOf(bytes));
  const before = used();
  kept[0] = JSON.parse(new TextDecoder().decode(encoded));
  const taken = used() - before;
  kept[0] = null;
  measured.push({ shape, taken, cost: measureJson(encoded).cost });
}
console.log(JSON.stringify(measured));
