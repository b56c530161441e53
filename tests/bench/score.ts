/**
 * `POST /v1/score`, durable and signed, compared with a bare handler that parses and echoes the same JSON:
 * requests a second and p99 at 128 connections, p50 at one.
 */
import { createOrganization } from "../program.ts";
import { type BenchOptions, median, type Row } from "./figures.ts";
import { type Load, load, noLoad, scoreBody } from "./load.ts";
import { deploymentOnDisk, noDisk, serveBundle, startServer } from "./machine.ts";
import { type RawInserts, rawInserts } from "./raw_inserts.ts";

const MANY = 128;
const INSERTS = 300;

export async function scores({ quick }: BenchOptions): Promise<readonly Row[]> {
  const impossible = await noLoad() ?? await noDisk();
  if (impossible !== null) return [{ name: "POST /v1/score", skipped: impossible }];
  const rounds = quick ? 2 : 7;
  const seconds = quick ? 2 : 5;
  const deployment = await deploymentOnDisk();
  const service = await serveBundle(deployment);
  const echo = await startServer("echo.ts");
  const inserts = rawInserts(deployment.directory);
  try {
    const key = await createOrganization(service, deployment.env);
    const many = { echo: [] as Load[], score: [] as Load[] };
    const one = { echo: [] as Load[], score: [] as Load[], insert: [] as number[] };
    // Interleaved, so that a busy moment of the machine affects both; the first rounds warm up.
    for (let round = -1; round < rounds; round += 1) {
      const common = { key, seconds, connections: MANY, prefix: `many-${round}` };
      const alone = { key, seconds, connections: 1, prefix: `one-${round}` };
      const found = {
        echo: await load({ ...common, url: echo.url }),
        score: await load({ ...common, url: service.url }),
        echoAlone: await load({ ...alone, url: echo.url }),
        scoreAlone: await load({ ...alone, url: service.url }),
        insert: medianInsert(inserts),
      };
      if (round < 0) continue;
      many.echo.push(found.echo);
      many.score.push(found.score);
      one.echo.push(found.echoAlone);
      one.score.push(found.scoreAlone);
      one.insert.push(found.insert);
    }
    const ran = `median of ${rounds} interleaved rounds of ${seconds} s`;
    return [
      {
        name: `scores a second, ${MANY} connections`,
        baseline: {
          of: `Hono on Deno.serve that parses and echoes the same bodies, ${MANY} connections; ${ran}`,
          value: median(many.echo.map(({ perSecond }) => perSecond)),
          unit: "per second",
        },
        measured: {
          of: "POST /v1/score of the bundle, synced and signed, 1,000 operators",
          value: median(many.score.map(({ perSecond }) => perSecond)),
          unit: "per second",
        },
        goal: { atLeast: 0.6 },
      },
      {
        name: `p99 of a score, ${MANY} connections`,
        baseline: {
          of: `p99 of the echo in the same rounds`,
          value: median(many.echo.map(({ p99 }) => p99)),
          unit: "µs",
        },
        measured: {
          of: "p99 of POST /v1/score",
          value: median(many.score.map(({ p99 }) => p99)),
          unit: "µs",
        },
        goal: { atMost: 3 },
      },
      {
        name: "p50 of a score, 1 connection",
        baseline: {
          of:
            `p50 of the echo at 1 connection, and one synced node:sqlite insert (WAL, synchronous=FULL) of the same bytes on the same disk`,
          value: median(one.echo.map(({ p50 }, round) => p50 + one.insert[round]!)),
          unit: "µs",
        },
        measured: { of: "p50 of POST /v1/score", value: median(one.score.map(({ p50 }) => p50)), unit: "µs" },
        goal: { atMost: 2 },
      },
    ];
  } finally {
    inserts.close();
    await echo.stop();
    await service.stop();
    await deployment.remove();
  }
}

/** Microseconds of a synced insert. */
function medianInsert(inserts: RawInserts): number {
  return median(Array.from({ length: INSERTS }, (_, index) => inserts.insert([scoreBody(`raw-${index}`)])));
}
