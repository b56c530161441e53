/**
 * Reads do not grow with history: profile, dashboard, usage and operators over 1,000,000 stored interactions against
 * 10,000, with the same 1,000 operators in one organization.
 *
 * The 10,000 are scored through the service, spread over 90 days. The rest are copies of their rows in the tables that
 * these reads touch (interactions and usage counters), spread over the same days; entries of the chain, which they do
 * not touch, are not copied.
 */
import { EPOCH, type Harness, openHarness } from "../harness.ts";
import type { Ratio } from "./mod.ts";

const OPERATORS = 1_000;
const FEW = 10_000;
const MANY = 1_000_000;
const DAY_MS = 86_400_000;
const DAYS = 90;
const ROUNDS = 200;
const AT_MOST = 1.5;
const USAGE_KEY = "master-key-of-the-bench-ORG_USAGE_READ-01";

/** Operators whose profiles are asked for: with a full history in both, so that both answers have the same size. */
const ASKED = 10;
const HISTORY = 100;

const operatorOf = (index: number) => `operator-${index}`;

/** Interactions that an operator has among the few: {@link FEW} in all. */
function interactionsOf(index: number): number {
  if (index < ASKED) return HISTORY;
  return index < HISTORY ? 10 : 9;
}

export async function readsAndHistory(): Promise<readonly Ratio[]> {
  const few = await openFilled(FEW);
  const many = await openFilled(MANY);
  const reads: Readonly<Record<string, (harness: Opened, round: number) => Promise<unknown>>> = {
    profile: ({ ask }, round) => ask(`/v1/operator/${operatorOf(round % ASKED)}/profile`),
    dashboard: ({ ask }) => ask("/v1/organization/dashboard"),
    usage: ({ ask }) => ask("/v1/admin/org/bench/usage", USAGE_KEY),
    operators: ({ ask }) => ask("/v1/organization/operators?limit=200&sort=-jis"),
    "operators with sparklines": ({ ask }) => ask("/v1/organization/operators?limit=200&include=sparkline"),
  };
  const rows: Ratio[] = [];
  for (const [name, read] of Object.entries(reads)) {
    const times = { few: [] as number[], many: [] as number[] };
    // Interleaved, so that a busy moment of the machine falls on both.
    for (let round = -5; round < ROUNDS; round += 1) {
      const fewMs = await timed(() => read(few, round + 5));
      const manyMs = await timed(() => read(many, round + 5));
      if (round < 0) continue;
      times.few.push(fewMs);
      times.many.push(manyMs);
    }
    const [baseline, measured] = [median(times.few) * 1000, median(times.many) * 1000];
    rows.push({
      name: `${name}: 1,000,000 interactions to 10,000`,
      baseline: "the same read over 10,000 stored interactions of the same 1,000 operators",
      baseline_us: baseline,
      measured: "1,000,000 stored interactions; median of interleaved rounds",
      measured_us: measured,
      ratio: measured / baseline,
      at_most: AT_MOST,
    });
  }
  await few.close();
  await many.close();
  return rows;
}

interface Opened {
  ask(path: string, key?: string): Promise<void>;
  close(): Promise<void>;
}

async function openFilled(interactions: number): Promise<Opened> {
  const directory = await Deno.makeTempDir();
  const harness = await openHarness({
    path: `${directory}/bench.db`,
    masterSecrets: { ORG_USAGE_READ: [USAGE_KEY] },
  });
  harness.clock.advance(-DAYS * DAY_MS);
  const key = await harness.organization("bench");
  await scoreFew(harness, key);
  harness.clock.advance(EPOCH - harness.clock.now());
  await copyRows(harness, interactions);
  return {
    // The answer's bytes are read and not parsed: what a client does with them is not the service's cost.
    async ask(path, other = key) {
      const answer = await harness.app.request(path, { headers: { "X-API-Key": other } }, { peer: "::1" });
      if (answer.status !== 200) throw new Error(`${path}: ${await answer.text()}`);
      await answer.arrayBuffer();
    },
    async close() {
      // Not the harness's own close, whose oracle knows every row: the copies have no entry.
      await harness.abandon();
      await Deno.remove(directory, { recursive: true });
    },
  };
}

/** A batch of each operator, over the days. */
async function scoreFew(harness: Harness, key: string): Promise<void> {
  for (let index = 0; index < OPERATORS; index += 1) {
    harness.clock.advance(Math.floor(DAYS * DAY_MS / OPERATORS));
    const { status, text } = await harness.send("/v1/score/batch", {
      key,
      body: {
        operator_id: operatorOf(index),
        domain: "financial",
        interactions: Array.from({ length: interactionsOf(index) }, (_, item) => ({
          session_id: `real-${index}-${item}`,
          time_to_decision_ms: 3000 + ((index * 7919 + item * 104_729) % 20_000),
          decision: (index + item) % 4 === 0 ? "rejected" : "accepted",
          outcome_correct: (index * item) % 5 !== 0,
        })),
      },
    });
    if (status !== 200) throw new Error(text);
  }
}

/** Copies of the scored rows until there are `total`, each at an instant of its own. */
async function copyRows(harness: Harness, total: number): Promise<void> {
  const copies = total / FEW - 1;
  if (copies === 0) return;
  const columns = await harness.database.read<{ name: string }>({
    sql: "SELECT name FROM pragma_table_info('interaction')",
    parameters: [],
    query: {} as never,
    queryId: {} as never,
  });
  const values = columns.map(({ name }) => {
    if (name === "session_id") return "'copy-' || copy.value || '-' || session_id";
    if (name === "at") return `${EPOCH} - (position * 7919 + copy.value * 104729) % (${DAYS} * ${DAY_MS})`;
    return name;
  });
  const statement = (sql: string) => ({ sql, parameters: [] });
  await harness.database.batch([
    statement(`INSERT INTO interaction (${columns.map(({ name }) => name).join(", ")})
      SELECT ${values.join(", ")} FROM interaction
      CROSS JOIN json_each('${JSON.stringify(Array.from({ length: copies }, (_, index) => index))}') AS copy
      WHERE session_id LIKE 'real-%'`),
    statement("DELETE FROM usage_hour"),
    statement("DELETE FROM usage_instant"),
    statement("INSERT INTO usage_hour SELECT org_id, at / 3600000, count(*) FROM interaction GROUP BY 1, 2"),
    statement("INSERT INTO usage_instant SELECT org_id, at, count(*) FROM interaction GROUP BY 1, 2"),
  ]);
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
