/**
 * `task soak [name]`: the long checks. Each prints its figures as JSON and fails by exit code; each has a short
 * form among the tests. Without a name they run one after another.
 */
import { bigBundles } from "./bundle.ts";
import { crashCycles } from "./crashes.ts";
import { fuzz } from "./fuzz.ts";
import { refusalTiming } from "./timing.ts";
import { webhookFlood } from "./webhooks.ts";

interface Soak {
  readonly about: string;
  run(): Promise<{ readonly figures: unknown; readonly passed: boolean }>;
}

const SOAKS: Readonly<Record<string, Soak>> = {
  crashes: {
    about: "200 kill -9 under load: nothing acknowledged is lost or doubled, every chain verifies",
    async run() {
      const figures = await crashCycles({ cycles: 200 });
      const { lost, doubled, usage_off_by, chains_verified } = figures;
      return { figures, passed: lost === 0 && doubled === 0 && usage_off_by === 0 && chains_verified };
    },
  },
  timing: {
    about: "200 refusals for each reason: none below the floor, equal to the byte, none told apart by rank",
    async run() {
      const figures = await refusalTiming({ refusals: 200, seed: "soak" });
      const { below_floor, different_answers, told_apart } = figures;
      return { figures, passed: below_floor === 0 && different_answers === 1 && told_apart.length === 0 };
    },
  },
  webhooks: {
    about:
      "10,000 events to a receiver beside one that never answers and one that answers 500: it is served as if alone",
    async run() {
      const figures = await webhookFlood({ events: 10_000, timeoutMs: 10_000, untilPaused: true });
      const { missing, doubled, ratio, memory_ratio, silent } = figures;
      return {
        figures,
        passed: missing === 0 && doubled === 0 && ratio <= 1.5 && memory_ratio <= 1.3 && silent.paused &&
          silent.attempts < 1_000,
      };
    },
  },
  bundle: {
    about:
      "1,000,000 entries, whole and erased, verified with a heap of 96 MiB: memory grows with operators alone",
    async run() {
      const figures = await bigBundles();
      const { runs, growth_mib, slack_mib } = figures;
      const isBounded = Object.values(growth_mib).every((grown) => grown !== null && grown <= slack_mib);
      return { figures, passed: isBounded && runs.every(({ exit_code }) => exit_code === 0) };
    },
  },
  fuzz: {
    about: "100,000 damaged requests: no 5xx, no hang, every answer in the envelope",
    async run() {
      const figures = await fuzz({ requests: 100_000, seed: "soak" });
      const { server_errors, without_envelope, hung, chains_verified } = figures;
      return { figures, passed: server_errors + without_envelope + hung === 0 && chains_verified };
    },
  },
};

const names = Deno.args.length > 0 ? Deno.args : Object.keys(SOAKS);
const unknown = names.filter((name) => !Object.hasOwn(SOAKS, name));
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(", ")}. There are:`);
  for (const [name, { about }] of Object.entries(SOAKS)) console.error(`  ${name}  ${about}`);
  Deno.exit(2);
}
let failed = false;
for (const name of names) {
  const { figures, passed } = await SOAKS[name]!.run();
  console.log(JSON.stringify({ soak: name, passed, figures }));
  failed ||= !passed;
}
Deno.exit(failed ? 1 : 0);
