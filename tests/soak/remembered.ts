/** A load that remembers its answers, and checks of them after the service was ended in the middle of it. */
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { loadChains } from "../../src/store/chains.ts";
import { isBehind, issuedPlaces } from "../../src/store/lock.ts";
import { IS_SERVER } from "../database.ts";
import { scoreRequest } from "../harness.ts";
import { verifyDatabase } from "../oracle.ts";
import { checkFile } from "../../src/store/backup.ts";
import { createOrganization, rowsIn, type RunningService, withDatabaseOf } from "../program.ts";

const CONNECTIONS = 8;
/** Milliseconds between erasures, and between rotations of a key. */
const PAUSE_MS = 100;
/** If a service takes no writes, the load waits no longer than this. */
const SILENT_MS = 60_000;
/** How many earlier keys are tried again. */
const OLD_KEYS_TRIED = 2;
/** How many calls are asked again at once. */
const ASKED_AT_ONCE = 8;

interface Acknowledged {
  readonly path: string;
  readonly body: unknown;
  /** Canonical JSON. */
  readonly answer: string;
}

/** An operator that was erased, with the post that made it known. */
interface Erased {
  readonly operatorId: string;
  readonly body: unknown;
  /** Whether its bytes were reported as overwritten. */
  readonly isOverwritten: boolean;
}

/** The organization whose key is rotated again and again. */
interface Turning {
  readonly orgId: string;
  /** Every key that was issued, the newest last. */
  readonly keys: string[];
  /** A rotation was not answered: the newest key may be invalid. */
  isUncertain: boolean;
}

export interface Load {
  /**
   * Calls that were answered with 200: scores, batches, commits with a late label, decisions, erasures, key
   * rotations.
   */
  readonly acknowledged: number;
  /** Posts whose answer was cut off: they may or may not be recorded. */
  readonly unanswered: number;
  /** Posts and erases until the service is gone. */
  run(service: RunningService): Promise<void>;
  /**
   * Asks again what was acknowledged since the last time. @returns how many differ from their
   * acknowledgement.
   */
  lost(service: RunningService): Promise<number>;
  /** The same as {@link lost}, for everything. */
  lostOfAll(service: RunningService): Promise<number>;
  /** After each start: how many issued or revoked keys do not have the state that was acknowledged. */
  wrongKeys(service: RunningService): Promise<number>;
  /** Operators whose id is still in a file of the data directory though it was reported as overwritten. */
  unerasedIn(data: string): number;
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

/** A load on the running service of a deployment. */
export async function openLoad(
  service: RunningService,
  env: Readonly<Record<string, string>>,
): Promise<Load> {
  const key = await createOrganization(service, env);
  const acknowledged: Acknowledged[] = [];
  const erased: Erased[] = [];
  let turning = await nextTurning(service);
  let rotated = 0;
  let unanswered = 0;
  let runs = 0;
  let [askedCalls, askedErasures] = [0, 0];

  async function nextTurning(running: RunningService): Promise<Turning> {
    const orgId = `turning-${crypto.randomUUID().slice(0, 8)}`;
    return { orgId, keys: [await createOrganization(running, env, orgId)], isUncertain: false };
  }

  async function post(service: RunningService, name: string, operatorId: string): Promise<void> {
    for (let round = 0;; round += 1) {
      for (const [path, body] of callsOf(`${name}-${round}`, operatorId)) {
        const answer = await service.send(path, { key, body });
        if (answer.status === 200) acknowledged.push({ path, body, answer: canonicalJson(answer.body) });
      }
    }
  }

  async function erase(service: RunningService, name: string): Promise<void> {
    for (let round = 0;; round += 1) {
      const operatorId = `goes-${crypto.randomUUID()}`;
      const body = scoreRequest({ session_id: `${name}-${round}`, operator_id: operatorId });
      if ((await service.send("/v1/score", { key, body })).status !== 200) continue;
      const answer = await service.send(`/v1/operator/${operatorId}`, { key, method: "DELETE" });
      if (answer.status === 200) {
        erased.push({ operatorId, body, isOverwritten: answer.body.physical === "done" });
      }
      await new Promise((next) => setTimeout(next, PAUSE_MS));
    }
  }

  async function turn(service: RunningService): Promise<void> {
    for (;;) {
      turning.isUncertain = true;
      const answer = await service.send("/v1/admin/key/rotate", {
        key: turning.keys.at(-1)!,
        method: "POST",
      });
      if (answer.status === 200) {
        turning.keys.push(answer.body.new_api_key);
        rotated += 1;
      }
      turning.isUncertain = answer.status >= 500;
      await new Promise((next) => setTimeout(next, PAUSE_MS));
    }
  }

  async function isKept(service: RunningService, { path, body, answer }: Acknowledged): Promise<boolean> {
    const again = await service.send(path, { key, body });
    return again.headers.get("Idempotency-Replayed") === "true" && canonicalJson(again.body) === answer;
  }

  async function staysErased(service: RunningService, { operatorId, body }: Erased): Promise<boolean> {
    const again = await service.send("/v1/score", { key, body });
    const profile = await service.send(`/v1/operator/${operatorId}/profile`, { key });
    return again.status === 410 && profile.status === 404;
  }

  /** Another organization takes its turn if the newest key may be invalid. */
  async function wrongKeys(service: RunningService): Promise<number> {
    const { keys, isUncertain } = turning;
    const opens = async (candidate: string) =>
      (await service.send("/v1/organization/dashboard", { key: candidate })).status;
    const old = await Promise.all(keys.slice(-1 - OLD_KEYS_TRIED, -1).map(opens));
    const newest = await opens(keys.at(-1)!);
    if (newest !== 200) turning = await nextTurning(service);
    return old.filter((status) => status !== 401).length + (newest === 200 || isUncertain ? 0 : 1);
  }

  async function lostSince(
    service: RunningService,
    since: { readonly calls: number; readonly erasures: number },
  ): Promise<number> {
    const kept = await eachOf(acknowledged.slice(since.calls), (call) => isKept(service, call));
    const gone = await eachOf(erased.slice(since.erasures), (one) => staysErased(service, one));
    return [...kept, ...gone].filter((isRight) => !isRight).length;
  }

  return {
    get acknowledged() {
      return acknowledged.length + erased.length + rotated;
    },
    get unanswered() {
      return unanswered;
    },
    async run(service) {
      runs += 1;
      const untilGone = async (work: Promise<void>) => {
        try {
          await work;
        } catch (error) {
          // A connection that broke off; anything else is a mistake of the test.
          if (!(error instanceof TypeError) && !(error instanceof Deno.errors.Http)) throw error;
          unanswered += 1;
        }
      };
      const workers = Array.from(
        { length: CONNECTIONS },
        (_, worker) => post(service, `c${runs}-w${worker}`, `operator-${worker % 3}`),
      );
      await Promise.all([...workers, erase(service, `e${runs}`), turn(service)].map(untilGone));
    },
    async lost(service) {
      const since = { calls: askedCalls, erasures: askedErasures };
      [askedCalls, askedErasures] = [acknowledged.length, erased.length];
      return await lostSince(service, since);
    },
    lostOfAll: (service) => lostSince(service, { calls: 0, erasures: 0 }),
    wrongKeys,
    unerasedIn(data) {
      const texts = ["jiss.db", "jiss.db-wal"].map((name) => latin1Of(`${data}/${name}`));
      return erased.filter(({ operatorId, isOverwritten }) =>
        isOverwritten && texts.some((text) => text.includes(operatorId))
      ).length;
    },
  };
}

/** Waits for so many acknowledged calls. @throws if none comes any more. */
export async function untilAcknowledged(load: Load, target: number): Promise<void> {
  let [seen, since] = [load.acknowledged, performance.now()];
  while (load.acknowledged < target) {
    if (load.acknowledged > seen) [seen, since] = [load.acknowledged, performance.now()];
    if (performance.now() - since > SILENT_MS) throw new Error("nothing is acknowledged any more");
    await new Promise((next) => setTimeout(next, 1));
  }
}

async function eachOf<Item, Result>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += ASKED_AT_ONCE) {
    results.push(...await Promise.all(items.slice(from, from + ASKED_AT_ONCE).map(ask)));
  }
  return results;
}

function latin1Of(path: string): string {
  try {
    return new TextDecoder("latin1").decode(Deno.readFileSync(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

export interface Examined {
  /** Sessions and decisions that are in the chain more than once. */
  readonly doubled: number;
  /** Scores in the usage counters less scores in the chains. */
  readonly usage_off_by: number;
  /** Families of chains for which lock.db is ahead of the database. */
  readonly lock_leads: number;
}

/** The counts for a load whose service was ended again and again. */
export interface Survived extends Examined {
  readonly acknowledged: number;
  readonly unanswered: number;
  readonly lost: number;
  /** Operators whose bytes are there though they were reported as overwritten. */
  readonly unerased: number;
}

/**
 * Checks the files of a data directory that no process uses, and verifies every chain.
 * @param publicKey - of its first signing key.
 * @throws if a page, a chain or a row is not as it must be.
 */
export async function examine(
  data: string,
  { publicKey }: { readonly publicKey: Uint8Array },
): Promise<Examined> {
  const damage = IS_SERVER ? null : checkFile(`${data}/jiss.db`);
  if (damage !== null) throw new Error(damage);
  const [row] = await rowsIn<{ readonly doubled: number; readonly usage_off_by: number }>(
    data,
    `SELECT (SELECT count(*) FROM (SELECT 1 FROM audit_part AS part JOIN audit_entry AS entry USING (chain, seq)
        WHERE name = 'input' AND part.data IS NOT NULL GROUP BY chain, event_type,
          coalesce(part.data ->> 'session_id', part.data ->> 'decision_id') HAVING count(*) > 1)) AS doubled,
      (SELECT sum(count) FROM usage_hour) -
        (SELECT count(*) FROM audit_entry WHERE event_type = 'SCORE_COMPUTED') AS usage_off_by`,
  );
  await withDatabaseOf(data, (database) => verifyDatabase(database, { publicKey }));
  return { ...row!, lock_leads: await lockLeads(data) };
}

/** For how many families of chains lock.db is ahead of the database. */
export async function lockLeads(data: string): Promise<number> {
  const heads = await withDatabaseOf(data, loadChains);
  return [...issuedPlaces(`${data}/lock.db`)].filter(([family, place]) => {
    const head = heads.findLast((candidate) => candidate.family === family);
    return head === undefined || isBehind(head, place);
  }).length;
}

/** Works on a copy: opening a database recovers it, and the program must find it as the cut left it. */
export async function onCopy<Result>(data: string, look: (copy: string) => Promise<Result>): Promise<Result> {
  const copy = await Deno.makeTempDir({ prefix: "jiss-power-copy-" });
  try {
    for (const { name, isFile } of Deno.readDirSync(data)) {
      if (isFile) Deno.copyFileSync(`${data}/${name}`, `${copy}/${name}`);
    }
    return await look(copy);
  } finally {
    await Deno.remove(copy, { recursive: true });
  }
}
