/**
 * Opens databases with a history. They are kept under `data/bench/` and used again as long as the schema and
 * the generator are the same.
 */
import { openService, SCHEMA_VERSION, type Service } from "../../src/service/compose.ts";
import { readEnvironment, realClock, realWorld } from "../../src/service/world.ts";
import { readConfig } from "../../src/config/config.ts";
import type { Clock } from "../../src/domain/world.ts";
import { createLog } from "../../src/observability/log.ts";
import { CLOCK_RULES } from "../../src/operations/installation/clock_watch.ts";
import { type Deployment, deploymentIn } from "../program.ts";
import { type Facts, HISTORY_END, type HistoryPlan, type Sizes, sizesOf } from "./history_plan.ts";
import { writeHistory } from "./history_writing.ts";

/** Changed whenever the written content changes. */
const GENERATOR_VERSION = 1;

const DIRECTORY = `${import.meta.dirname}/../../data/bench`;

export interface History {
  readonly facts: Facts & Sizes;
  readonly service: Service;
  readonly env: Readonly<Record<string, string>>;
}

/** Opens a history; makes it first if it is not there. */
export async function openHistory(plan: HistoryPlan): Promise<History> {
  const directory = `${DIRECTORY}/${plan.name}`;
  const made = `${directory}/made.json`;
  const stamp = { generator: GENERATOR_VERSION, schema: SCHEMA_VERSION, plan };
  const found = await Deno.readTextFile(made).then(JSON.parse, () => null);
  if (JSON.stringify(found?.stamp) === JSON.stringify(stamp)) {
    const deployment = await deploymentIn(directory);
    return { facts: { ...found.facts, ...sizesOf(plan) }, ...await open(deployment) };
  }
  await Deno.remove(directory, { recursive: true }).catch(() => {});
  await Deno.mkdir(directory, { recursive: true });
  const opened = await open(await deploymentIn(directory));
  const facts = await writeHistory(opened.service, plan);
  await Deno.writeTextFile(made, JSON.stringify({ stamp, facts }, null, 2));
  return { facts: { ...facts, ...sizesOf(plan) }, ...opened };
}

interface Opened {
  readonly service: Service;
  readonly env: Readonly<Record<string, string>>;
}

/** The service without a listener, at the end of the history. It notifies nobody, so nothing is delivered. */
async function open({ env }: Deployment): Promise<Opened> {
  const clock: Clock = { ...realClock, now: () => HISTORY_END };
  const config = readConfig({
    ...env,
    SSL_CERT_FILE: readEnvironment().SSL_CERT_FILE,
    JISS_AUDIT_RETENTION_DAYS: "365",
    JISS_RATE_LIMIT_IP: "1000000000",
    JISS_RATE_LIMIT_KEY: "1000000000",
  }, Deno.readTextFileSync);
  const service = await openService({
    clockRule: CLOCK_RULES.acceptance,
    config,
    clock,
    log: createLog({ format: "json", clock: clock.now, write: () => {} }),
    world: realWorld(),
    onFatal(error) {
      throw error;
    },
  });
  return { service, env };
}
