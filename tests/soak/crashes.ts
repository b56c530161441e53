/** Kills the service with SIGKILL under load, again and again, and looks for what it had acknowledged. */
import { DatabaseSync } from "node:sqlite";
import { signerFromPem } from "../../src/evidence/node_crypto.ts";
import { openEmbedded } from "../../src/store/embedded.ts";
import { scoreRequest } from "../harness.ts";
import { verifyDatabase } from "../oracle.ts";
import { createOrganization, freshDeployment, type RunningService, startService } from "../program.ts";

const CONNECTIONS = 8;
/** Acknowledged scores in a cycle before the kill. */
const SCORES_BEFORE_KILL = [20, 90] as const;

export interface CrashFigures {
  readonly cycles: number;
  readonly acknowledged: number;
  /** Posts whose answer was cut off: they may or may not be there. */
  readonly unanswered: number;
  readonly lost: number;
  readonly doubled: number;
  readonly chains_verified: boolean;
}

interface Tally {
  readonly acknowledged: Map<string, number>;
  unanswered: number;
}

/** Posts until the service is gone; every answer is remembered. */
async function post(service: RunningService, key: string, { tally, cycle, worker }: {
  readonly tally: Tally;
  readonly cycle: number;
  readonly worker: number;
}): Promise<void> {
  for (let index = 0;; index += 1) {
    const session_id = `c${cycle}-w${worker}-${index}`;
    try {
      const { status, body } = await service.send("/v1/score", {
        key,
        body: scoreRequest({ session_id, operator_id: `operator-${worker % 3}` }),
      });
      if (status === 200) tally.acknowledged.set(session_id, body.jis);
    } catch {
      tally.unanswered += 1;
      return;
    }
  }
}

/** Runs the cycles on one data directory, then looks every acknowledged score up and verifies every chain. */
export async function crashCycles({ cycles }: { readonly cycles: number }): Promise<CrashFigures> {
  const deployment = await freshDeployment();
  const tally: Tally = { acknowledged: new Map(), unanswered: 0 };
  let key = "";
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const service = await startService(["serve"], deployment);
    if (cycle === 0) key = await createOrganization(service, deployment.env);
    const [least, most] = SCORES_BEFORE_KILL;
    const target = tally.acknowledged.size + least + ((cycle * 37) % (most - least));
    const workers = Array.from(
      { length: CONNECTIONS },
      (_, worker) => post(service, key, { tally, cycle, worker }),
    );
    while (tally.acknowledged.size < target) await new Promise((next) => setTimeout(next, 1));
    service.kill("SIGKILL");
    await Promise.all([...workers, service.status]);
  }

  const service = await startService(["serve"], deployment);
  let lost = 0;
  for (const [session_id, jis] of tally.acknowledged) {
    const worker = Number(/-w(\d+)-/.exec(session_id)![1]);
    const again = await service.send("/v1/score", {
      key,
      body: scoreRequest({ session_id, operator_id: `operator-${worker % 3}` }),
    });
    if (again.headers.get("Idempotency-Replayed") !== "true" || again.body.jis !== jis) lost += 1;
  }
  await service.stop();

  const path = `${deployment.directory}/data/jiss.db`;
  const doubled = countDoubled(path);
  const verified = await verify(
    path,
    await Deno.readTextFile(`${deployment.directory}/data/signing-key.pem`),
  );
  await deployment.remove();
  return {
    cycles,
    acknowledged: tally.acknowledged.size,
    unanswered: tally.unanswered,
    lost,
    doubled,
    chains_verified: verified,
  };
}

/** Sessions that stand in the chain more than once. */
function countDoubled(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare(
    `SELECT count(*) AS n FROM (SELECT data ->> 'session_id' AS session FROM audit_part
      WHERE name = 'input' GROUP BY chain, session HAVING count(*) > 1)`,
  ).all() as { n: number }[];
  database.close();
  return rows[0]!.n;
}

async function verify(path: string, pem: string): Promise<boolean> {
  const database = openEmbedded({ path, onFatal: () => {} });
  const chains = await verifyDatabase(database, { publicKey: signerFromPem(pem).publicKey });
  await database.close();
  return chains.length >= 3;
}
