/**
 * `POST /v1/score/batch` with 100 interactions, compared with raw inserts of the same bytes in one
 * transaction.
 */
import { createOrganization } from "../program.ts";
import { type BenchOptions, median, type Row } from "./figures.ts";
import { load, noLoad, scoreBody } from "./load.ts";
import { deploymentOnDisk, noDisk, serveBundle } from "./machine.ts";
import { rawInserts } from "./raw_inserts.ts";

const BATCH = 100;
const CONNECTIONS = 8;
const TRANSACTIONS = 300;

export async function batches({ quick }: BenchOptions): Promise<readonly Row[]> {
  const impossible = await noLoad() ?? await noDisk();
  if (impossible !== null) return [{ name: "POST /v1/score/batch", skipped: impossible }];
  const rounds = quick ? 2 : 7;
  const seconds = quick ? 2 : 5;
  const deployment = await deploymentOnDisk();
  const service = await serveBundle(deployment);
  const inserts = rawInserts(deployment.directory);
  const texts = Array.from({ length: BATCH }, (_, index) => scoreBody(`raw-${index}`));
  try {
    const key = await createOrganization(service, deployment.env);
    const [raw, scored]: [number[], number[]] = [[], []];
    for (let round = -1; round < rounds; round += 1) {
      const transactions = Array.from({ length: TRANSACTIONS }, () => inserts.insert(texts));
      const { perSecond } = await load({
        url: service.url,
        key,
        seconds,
        connections: CONNECTIONS,
        prefix: `batch-${round}`,
        batch: BATCH,
      });
      if (round < 0) continue;
      raw.push(BATCH * 1e6 / median(transactions));
      scored.push(BATCH * perSecond);
    }
    return [{
      name: `interactions a second, in batches of ${BATCH}`,
      baseline: {
        of: `node:sqlite inserts of the same bytes, ${BATCH} in a synced transaction (WAL, synchronous=FULL)`,
        value: median(raw),
        unit: "per second",
      },
      measured: {
        of:
          `POST /v1/score/batch of the bundle, ${CONNECTIONS} connections; median of ${rounds} interleaved rounds of ${seconds} s`,
        value: median(scored),
        unit: "per second",
      },
      goal: { atLeast: 0.35 },
    }];
  } finally {
    inserts.close();
    await service.stop();
    await deployment.remove();
  }
}
