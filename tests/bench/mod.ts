/**
 * `task bench [name …] [--quick]`: ratios to named baselines of the same run, as a table and in
 * `dist/bench.json`. Times on a shared machine mean little, their ratios more. Exit code 1 if a goal is
 * missed.
 */
import { parseArgs } from "node:util";
import { batches } from "./batch.ts";
import { scoringWhileVerifying, verifyingSpeed } from "./evidence.ts";
import {
  type BenchOptions,
  isRatio,
  missOf,
  type Ratio,
  ratioOf,
  type Row,
  type Skipped,
} from "./figures.ts";
import { limiterChecks } from "./limits.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { memoryAfterScores } from "./memory.ts";
import { readsAndHistory } from "./reads.ts";
import { replicas } from "./replicas.ts";
import { scores } from "./score.ts";
import { startAndIdle } from "./start.ts";
import { scoringWithWebhooks } from "./webhooks.ts";

const BENCHES: Readonly<Record<string, (options: BenchOptions) => Promise<readonly Row[]>>> = {
  score: scores,
  batch: batches,
  start: startAndIdle,
  memory: memoryAfterScores,
  reads: readsAndHistory,
  replicas,
  limits: limiterChecks,
  verifying: verifyingSpeed,
  "while-verifying": scoringWhileVerifying,
  webhooks: scoringWithWebhooks,
};

const RESULTS = "dist/bench.json";

/** The file holds each bench as of its last run. */
interface Results {
  benches: Record<string, Result>;
}

interface Result {
  readonly at: string;
  readonly seconds: number;
  readonly quick: boolean;
  readonly machine: Machine;
  readonly rows: readonly unknown[];
}

const { values: { quick }, positionals, tokens } = parseArgs({
  args: Deno.args,
  options: { quick: { type: "boolean", default: false } },
  allowPositionals: true,
  strict: false,
  tokens: true,
});
const names = positionals.length > 0 ? positionals : Object.keys(BENCHES);
const unknown = [
  ...tokens.flatMap((token) => token.kind === "option" && token.name !== "quick" ? [token.rawName] : []),
  ...names.filter((name) => !Object.hasOwn(BENCHES, name)),
];
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(", ")}. There are: --quick, ${Object.keys(BENCHES).join(", ")}`);
  Deno.exit(2);
}

await Deno.mkdir("dist", { recursive: true });
const machine = await describeMachine();
console.log(Object.values(machine).join(", "));
const rows: Row[] = [];
for (const name of names) {
  const started = performance.now();
  const own = await BENCHES[name]!({ quick: quick === true }).catch((error): readonly Row[] => {
    console.error(error);
    return [{ name, skipped: error instanceof Error ? error.message : String(error), isFault: true }];
  });
  const seconds = Math.round((performance.now() - started) / 1000);
  tell(name, own);
  await keep(name, {
    at: new Date().toISOString(),
    seconds,
    quick: quick === true,
    machine,
    rows: own.map(plain),
  });
  rows.push(...own);
}
const ratios = rows.filter(isRatio);
const missed = ratios.filter((row) => missOf(row) > 1);
const skipped = rows.filter((row): row is Skipped => !isRatio(row));
console.log(
  `${
    ratios.length - missed.length
  } of ${ratios.length} goals met, ${skipped.length} skipped; ${RESULTS} has it all`,
);
Deno.exit(missed.length > 0 || skipped.some(({ isFault }) => isFault) ? 1 : 0);

function tell(name: string, own: readonly Row[]): void {
  console.log(`\n${name}${quick ? " (quick: these figures mean little)" : ""}`);
  const measured = own.filter(isRatio);
  if (measured.length > 0) console.table(measured.map(line));
  for (const row of own) {
    if (!isRatio(row)) console.log(`${row.isFault ? "FAILED" : "SKIPPED"} ${row.name}: ${row.skipped}`);
  }
  const pairs = measured.map(({ baseline, measured }) =>
    `  baseline: ${baseline.of}\n  measured: ${measured.of}`
  );
  for (const pair of new Set(pairs)) console.log(pair);
}

function line(row: Ratio) {
  const miss = missOf(row);
  return {
    name: row.name,
    baseline: rounded(row.baseline.value),
    measured: rounded(row.measured.value),
    unit: row.measured.unit,
    ratio: rounded(ratioOf(row)),
    goal: "atLeast" in row.goal ? `at least ${row.goal.atLeast}` : `at most ${row.goal.atMost}`,
    result: miss > 1 ? `missed by a factor of ${rounded(miss)}` : "met",
  };
}

function plain(row: Row): unknown {
  return isRatio(row)
    ? { ...row, ratio: ratioOf(row), met: missOf(row) <= 1, missed_times: missOf(row) }
    : row;
}

/** Three significant digits. */
function rounded(value: number): number {
  return Number(value.toPrecision(value >= 1000 ? 6 : 3));
}

async function keep(name: string, result: Result): Promise<void> {
  const results: Results = await Deno.readTextFile(RESULTS).then(JSON.parse, () => ({}));
  results.benches = { ...results.benches, [name]: result };
  await Deno.writeTextFile(RESULTS, `${JSON.stringify({ benches: results.benches }, null, 2)}\n`);
}
