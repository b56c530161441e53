/** The memory of a running service after 1,000,000 scores compared with 10,000: it keeps nothing of them. */
import { createOrganization, type RunningService } from "../program.ts";
import { type BenchOptions, median, type Row } from "./figures.ts";
import { deploymentOnDisk, noMemoryFigures, residentMiB, serveBundle, sleep } from "./machine.ts";

const BATCH = 100;
const CONNECTIONS = 4;
const OPERATORS = 1_000;
/** Samples after a load; the median counts. */
const LOOKS = 5;
const BETWEEN_LOOKS_MS = 2_000;

export async function memoryAfterScores({ quick }: BenchOptions): Promise<readonly Row[]> {
  const impossible = noMemoryFigures();
  const [few, many] = quick ? [1_000, 20_000] : [10_000, 1_000_000];
  const name = `memory after ${many} scores`;
  if (impossible !== null) return [{ name, skipped: impossible }];
  const deployment = await deploymentOnDisk();
  const service = await serveBundle(deployment);
  try {
    const client = new Client(service, await createOrganization(service, deployment.env));
    await client.scoreUntil(few);
    const baseline = await settled(service);
    await client.scoreUntil(many);
    const measured = await settled(service);
    return [{
      name,
      baseline: {
        of: `resident memory of the bundle's serve after ${few} scores, in batches of ${BATCH}`,
        value: baseline,
        unit: "MiB",
      },
      measured: { of: `of the same process after ${many}`, value: measured, unit: "MiB" },
      goal: { atMost: 1.2 },
    }];
  } finally {
    await service.stop();
    await deployment.remove();
  }
}

async function settled({ pid }: RunningService): Promise<number> {
  const looks: number[] = [];
  for (let look = 0; look < LOOKS; look += 1) {
    await sleep(BETWEEN_LOOKS_MS);
    looks.push(await residentMiB(pid));
  }
  return median(looks);
}

class Client {
  #scored = 0;

  constructor(private readonly service: RunningService, private readonly key: string) {}

  async scoreUntil(total: number): Promise<void> {
    const connection = async () => {
      while (this.#scored < total) await this.#batch();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  }

  async #batch(): Promise<void> {
    const first = this.#scored;
    this.#scored += BATCH;
    const { status, body } = await this.service.send("/v1/score/batch", {
      key: this.key,
      body: {
        operator_id: `operator-${(first / BATCH) % OPERATORS}`,
        domain: "financial",
        interactions: Array.from({ length: BATCH }, (_, item) => ({
          session_id: `session-${first + item}`,
          time_to_decision_ms: 3000 + ((first + item) * 7919) % 20_000,
          decision: (first + item) % 4 === 0 ? "rejected" : "accepted",
          outcome_correct: (first + item) % 5 !== 0,
        })),
      },
    });
    if (status !== 200) throw new Error(JSON.stringify(body));
  }
}
