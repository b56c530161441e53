/**
 * `task bench [name]`: ratios against named baselines in the same run, as a table and as `dist/bench.json`. Times on
 * a shared machine mean little, their ratios more.
 */
import { scoringWhileVerifying, verifyingSpeed } from "./evidence.ts";
import { limiterChecks } from "./limits.ts";
import { readsAndHistory } from "./reads.ts";
import { scoringWithWebhooks } from "./webhooks.ts";

/** One measured ratio and what it may be at most. */
export interface Ratio {
  readonly name: string;
  readonly baseline: string;
  readonly baseline_us: number;
  readonly measured: string;
  readonly measured_us: number;
  readonly ratio: number;
  readonly at_most: number;
}

const BENCHES: Readonly<Record<string, () => Promise<readonly Ratio[]>>> = {
  reads: readsAndHistory,
  limits: limiterChecks,
  verifying: verifyingSpeed,
  scoring: scoringWhileVerifying,
  webhooks: scoringWithWebhooks,
};

const names = Deno.args.length > 0 ? Deno.args : Object.keys(BENCHES);
const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(", ")}. There are: ${Object.keys(BENCHES).join(", ")}`);
  Deno.exit(2);
}
const rows: Ratio[] = [];
for (const name of names) rows.push(...await BENCHES[name]!());
console.table(rows.map(({ name, baseline_us, measured_us, ratio, at_most }) => ({
  name,
  "baseline µs": Math.round(baseline_us),
  "measured µs": Math.round(measured_us),
  ratio: Math.round(ratio * 1000) / 1000,
  "at most": at_most,
})));
for (const { baseline, measured } of new Map(rows.map((row) => [row.baseline, row])).values()) {
  console.log(`baseline: ${baseline}\nmeasured: ${measured}`);
}
await Deno.mkdir("dist", { recursive: true });
await Deno.writeTextFile("dist/bench.json", `${JSON.stringify(rows, null, 2)}\n`);
Deno.exit(rows.some(({ ratio, at_most }) => ratio > at_most) ? 1 : 0);
