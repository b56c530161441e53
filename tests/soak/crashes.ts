/** Kills the service with SIGKILL under load, again and again, and looks for what it had acknowledged. */
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { signerFromPem } from "../../src/evidence/node_crypto.ts";
import { scoreRequest } from "../harness.ts";
import { verifyDatabase } from "../oracle.ts";
import {
  createOrganization,
  freshDeployment,
  rowsIn,
  type RunningService,
  startService,
  withDatabaseOf,
} from "../program.ts";

const CONNECTIONS = 8;
/** Acknowledged calls in a cycle before the kill. */
const CALLS_BEFORE_KILL = [20, 90] as const;

export interface CrashFigures {
  readonly cycles: number;
  /** Calls that were answered with 200: scores, batches, commits with a late label, decisions. */
  readonly acknowledged: number;
  /** Posts whose answer was cut off: they may or may not be there. */
  readonly unanswered: number;
  readonly lost: number;
  readonly doubled: number;
  /** Scores in the usage counters less scores stored. */
  readonly usage_off_by: number;
  readonly chains_verified: boolean;
}

interface Acknowledged {
  readonly path: string;
  readonly body: unknown;
  /** Canonical JSON. */
  readonly answer: string;
}

interface Tally {
  readonly acknowledged: Acknowledged[];
  unanswered: number;
}

/** The calls of one round: a score, its commit with a late label, a batch, a decision. */
function callsOf(name: string, operatorId: string): readonly (readonly [path: string, body: unknown])[] {
  const session = (suffix: string) => `${name}-${suffix}`;
  const unlabelled = { outcome_correct: null };
  return [
    ["/v1/score", scoreRequest({ session_id: session("a"), operator_id: operatorId }, unlabelled)],
    [`/v1/score/${session("a")}/commit`, { outcome_correct: true }],
    ["/v1/score/batch", {
      operator_id: operatorId,
      domain: "general",
      interactions: ["b", "c", "d"].map((suffix) => ({
        session_id: session(suffix),
        time_to_decision_ms: 5000,
        decision: "accepted",
      })),
    }],
    ["/v1/decision/score", {
      decision_id: session("e"),
      operator_id: operatorId,
      domain: "general",
      time_to_decision_ms: 5000,
      decision: "accepted",
    }],
  ];
}

/** Posts until the service is gone; every answer is remembered. */
async function post(service: RunningService, key: string, { tally, cycle, worker }: {
  readonly tally: Tally;
  readonly cycle: number;
  readonly worker: number;
}): Promise<void> {
  for (let round = 0;; round += 1) {
    for (const [path, body] of callsOf(`c${cycle}-w${worker}-${round}`, `operator-${worker % 3}`)) {
      try {
        const answer = await service.send(path, { key, body });
        if (answer.status === 200) {
          tally.acknowledged.push({ path, body, answer: canonicalJson(answer.body) });
        }
      } catch {
        tally.unanswered += 1;
        return;
      }
    }
  }
}

/** Runs the cycles on one data directory, then asks every acknowledged call again and verifies every chain. */
export async function crashCycles({ cycles }: { readonly cycles: number }): Promise<CrashFigures> {
  const deployment = await freshDeployment();
  const tally: Tally = { acknowledged: [], unanswered: 0 };
  let key = "";
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const service = await startService(["serve"], deployment);
    if (cycle === 0) key = await createOrganization(service, deployment.env);
    const [least, most] = CALLS_BEFORE_KILL;
    const target = tally.acknowledged.length + least + ((cycle * 37) % (most - least));
    const workers = Array.from(
      { length: CONNECTIONS },
      (_, worker) => post(service, key, { tally, cycle, worker }),
    );
    while (tally.acknowledged.length < target) await new Promise((next) => setTimeout(next, 1));
    service.kill("SIGKILL");
    await Promise.all([...workers, service.status]);
  }

  const service = await startService(["serve"], deployment);
  let lost = 0;
  for (const { path, body, answer } of tally.acknowledged) {
    const again = await service.send(path, { key, body });
    const same = again.headers.get("Idempotency-Replayed") === "true" &&
      canonicalJson(again.body) === answer;
    if (!same) lost += 1;
  }
  await service.stop();

  const data = `${deployment.directory}/data`;
  const counted = await count(data);
  const verified = await verify(data);
  await deployment.remove();
  return {
    cycles,
    acknowledged: tally.acknowledged.length,
    unanswered: tally.unanswered,
    lost,
    doubled: counted.doubled,
    usage_off_by: counted.usage - counted.scores,
    chains_verified: verified,
  };
}

interface Counted {
  /** Sessions and decisions that stand in the chain more than once. */
  readonly doubled: number;
  readonly usage: number;
  readonly scores: number;
}

async function count(data: string): Promise<Counted> {
  const [row] = await rowsIn<Counted>(
    data,
    `SELECT (SELECT count(*) FROM (SELECT 1 FROM audit_part AS part JOIN audit_entry AS entry USING (chain, seq)
        WHERE name = 'input' GROUP BY chain, event_type,
          coalesce(part.data ->> 'session_id', part.data ->> 'decision_id') HAVING count(*) > 1)) AS doubled,
      (SELECT sum(count) FROM usage_hour) AS usage, (SELECT count(*) FROM interaction) AS scores`,
  );
  return row!;
}

async function verify(data: string): Promise<boolean> {
  const { publicKey } = signerFromPem(await Deno.readTextFile(`${data}/signing-key.pem`));
  const chains = await withDatabaseOf(data, (database) => verifyDatabase(database, { publicKey }));
  return chains.length >= 3;
}
