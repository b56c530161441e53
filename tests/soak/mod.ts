/**
 * `task soak [name]`: the long checks. Each prints its figures as JSON and fails by exit code; each has a
 * short form among the tests. Without a name they run one after another.
 */
import { bigBundles } from "./bundle.ts";
import { verifyClean } from "../clean_bundles.ts";
import { consoleWalk, consoleWithOperators } from "./console.ts";
import { tableText } from "../fuzzing/route_table.ts";
import { crashCycles } from "./crashes.ts";
import { fuzz } from "./fuzz.ts";
import { apiFuzzFaults, fuzzApi } from "./fuzz_api.ts";
import { keptSchemas } from "../kept_schemas/kept.ts";
import { killedFirstStart, killedRestore, killedUpgrade, killEverywhere } from "./kill_points.ts";
import { bundles, powerControl, powerCuts } from "./power_cuts.ts";
import type { Survived } from "./remembered.ts";
import { signInTiming } from "./sign_in_timing.ts";
import { refusalTiming } from "./timing.ts";
import { slowConnections } from "./slow_connections.ts";
import { webhookFlood } from "./webhooks.ts";

/** Options such as `--seed=1`, for the checks that have them. */
const options = new Map(
  Deno.args.flatMap((argument) => {
    const option = /^--(\w+)=(.*)$/.exec(argument);
    return option === null ? [] : [[option[1]!, option[2]!] as const];
  }),
);

interface Soak {
  readonly about: string;
  run(): Promise<{ readonly figures: unknown; readonly passed: boolean }>;
}

/**
 * Nothing acknowledged is lost or doubled, nothing erased is still there, and lock.db is not ahead of the
 * database.
 */
function isWhole({ lost, doubled, usage_off_by, unerased, lock_leads }: Survived): boolean {
  return [lost, doubled, usage_off_by, unerased, lock_leads].every((count) => count === 0);
}

const SOAKS: Readonly<Record<string, Soak>> = {
  crashes: {
    about:
      "200 kill -9 under load: nothing acknowledged is lost or doubled, every chain verifies, starts take no longer",
    async run() {
      const figures = await crashCycles({ cycles: 200 });
      return { figures, passed: isWhole(figures) && figures.ready_ratio <= 3 };
    },
  },
  kill_points: {
    about:
      "a first start, an upgrade and a restore killed before each sync, rename and removal: all are made good",
    async run() {
      const figures = {
        first_start: await killEverywhere(killedFirstStart()),
        upgrade: await killEverywhere(killedUpgrade(keptSchemas()[0]!)),
        restore: await killEverywhere(killedRestore()),
      };
      return { figures, passed: Object.values(figures).every((points) => points > 10) };
    },
  },
  power_cuts: {
    about:
      "200 power cuts under load: nothing acknowledged is lost or doubled, every chain verifies; without synchronous=FULL there is a loss",
    async run() {
      const folder = await Deno.makeTempDir({ prefix: "jiss-power-bundle-" });
      const { full, normal } = await bundles(folder);
      const figures = await powerCuts({ cuts: 200, bundle: full });
      const control = await powerControl({ cuts: 20, bundle: normal, untilLost: false });
      await Deno.remove(folder, { recursive: true });
      return { figures: { ...figures, control }, passed: isWhole(figures) && control.lost > 0 };
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
  sign_in_timing: {
    about: "100 refused attempts to sign in for each reason: latencies do not tell who exists",
    async run() {
      const figures = await signInTiming({ attempts: 100, seed: "soak" });
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
  slow_connections: {
    about:
      "1,500 slow clients for two minutes: a good one is served right, p99 within twice that without them",
    async run() {
      const figures = await slowConnections({
        connections: 1_500,
        requests: 1_200,
        seconds: 120,
        aloneSeconds: 120,
      });
      const { wrong, closed, open_at_once, p99_ratio } = figures;
      // The idle and those with half a head are closed three times in 120 seconds, the others once.
      const isClosed = closed.no_request >= 3_000 && closed.silent >= 500 && closed.crowded === 0;
      return { figures, passed: wrong === 0 && open_at_once >= 1_400 && isClosed && p99_ratio <= 2 };
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
  clean_bundles: {
    about: "1,000 bundles that honest deployments hand out: the verifier raises no alarm (--seed)",
    async run() {
      const figures = await verifyClean(options.get("seed") ?? "soak", { bundles: 1_000 });
      return { figures, passed: figures.bundles >= 1_000 };
    },
  },
  console: {
    about:
      "the console over 10,000 operators on a slow line: each view asks for at most 500 KB and shows at most 200 rows",
    async run() {
      const figures = await consoleWithOperators(10_000);
      return { figures, passed: figures.exit_code === 0 };
    },
  },
  console_walk: {
    about:
      "ten minutes through all views of the console, beside an integration on the same host: neither meets a limit",
    async run() {
      const figures = await consoleWalk(10);
      const { views, requests, limited, integration, exit_code } = figures;
      const isLong = views > 300 && requests > views && integration.requests > 400;
      return { figures, passed: exit_code === 0 && isLong && limited + integration.limited === 0 };
    },
  },
  fuzz_api: {
    about:
      "100,000 requests by the OpenAPI document over every route: each answer as documented, no 5xx, no growth (--seed, --path: one alone)",
    async run() {
      const path = options.get("path");
      const figures = await fuzzApi({
        requests: 100_000,
        seed: Number(options.get("seed") ?? 1),
        ...(path === undefined ? {} : { path }),
      });
      const { table, ...rest } = figures;
      console.log(tableText(table));
      const faults = path === undefined ? apiFuzzFaults(figures, 50) : [];
      return { figures: { ...rest, faults }, passed: faults.length === 0 };
    },
  },
  fuzz: {
    about:
      "100,000 damaged requests, 10,000 sockets with whatever on them, 10,000 altered bundles: no 5xx, no hang, nothing accepted",
    async run() {
      const figures = await fuzz({ requests: 100_000, seed: "soak" });
      const { server_errors, without_envelope, hung, chains_verified, raw, files } = figures;
      const findings = [...server_errors, ...raw.findings, ...files.findings];
      const passed = findings.length + without_envelope + hung === 0 && chains_verified;
      return { figures, passed };
    },
  },
};

const named = Deno.args.filter((argument) => !argument.startsWith("--"));
const names = named.length > 0 ? named : Object.keys(SOAKS);
const unknown = [
  ...names.filter((name) => !Object.hasOwn(SOAKS, name)),
  ...Deno.args.filter((argument) => argument.startsWith("--") && !/^--(seed|path)=./.test(argument)),
];
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
