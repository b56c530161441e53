/**
 * Two replicas of the service on one libSQL server compared with one replica: scores a second of the same
 * clients, without a lost conflict.
 */
import { createOrganization, type RunningService } from "../program.ts";
import { sharedDeployment } from "../replicas.ts";
import { HAS_SQLD } from "../sqld.ts";
import { type BenchOptions, median, type Row } from "./figures.ts";
import { type Load, load, noLoad } from "./load.ts";
import { directoryOnDisk, noDisk, serveBundle } from "./machine.ts";

/** Two replicas must not be more than a tenth slower than one. */
const AT_LEAST = 0.9;
/** In all, over any number of replicas. */
const CONNECTIONS = 128;
const NAME = "two replicas on one sqld";

export async function replicas({ quick }: BenchOptions): Promise<readonly Row[]> {
  const impossible = HAS_SQLD ? await noLoad() ?? await noDisk() : "there is no sqld for this machine";
  if (impossible !== null) return [{ name: NAME, skipped: impossible }];
  const rounds = quick ? 2 : 7;
  const seconds = quick ? 2 : 5;
  const within = await directoryOnDisk();
  const deployment = await sharedDeployment(2, { within });
  const services: RunningService[] = [];
  try {
    for (const { env } of deployment.hosts) {
      const unlimited = { JISS_RATE_LIMIT_IP: "1000000000", JISS_RATE_LIMIT_KEY: "1000000000" };
      services.push(await serveBundle({ env: { ...env, ...unlimited } }));
    }
    const [one] = services;
    const key = await createOrganization(one!, deployment.hosts[0]!.env);
    const alone: number[] = [];
    const both: number[] = [];
    // Interleaved, so that a busy moment of the machine affects both; the first rounds warm up.
    for (let round = -1; round < rounds; round += 1) {
      const common = { key, seconds, connections: CONNECTIONS };
      // A refused request, for example for a lost conflict, ends the bench.
      const single = await load({ ...common, url: one!.url, prefix: `one-${round}` });
      const shared = await Promise.all(
        services.map(({ url }, index) =>
          load({ ...common, url, connections: CONNECTIONS / 2, prefix: `two-${round}-${index}` })
        ),
      );
      if (round < 0) continue;
      alone.push(single.perSecond);
      both.push(sum(shared));
    }
    const ran = `median of ${rounds} interleaved rounds of ${seconds} s`;
    return [{
      name: `${NAME}: scores a second, ${CONNECTIONS} connections`,
      baseline: {
        of: `one replica on a libSQL server of durability strong; ${ran}`,
        value: median(alone),
        unit: "per second",
      },
      measured: {
        of: "two replicas on it, half of the connections each, all in one organization; no request refused",
        value: median(both),
        unit: "per second",
      },
      goal: { atLeast: AT_LEAST },
    }];
  } finally {
    for (const service of services) await service.stop();
    await deployment.remove();
  }
}

function sum(loads: readonly Load[]): number {
  return loads.reduce((total, { perSecond }) => total + perSecond, 0);
}
