/**
 * The real program with a long evidence chain. The service's own writer fills the chain with reviews that
 * were not requested over HTTP: seconds instead of a minute. There are no rows of scores for them, so that
 * only the chain may be asked about.
 */
import { nodeCrypto, signerFromPem } from "../src/evidence/node_crypto.ts";
import { SigningKeys } from "../src/operations/shared/signing.ts";
import type { Database } from "../src/store/database.ts";
import { openLock } from "../src/store/lock.ts";
import { Writer } from "../src/store/writer.ts";
import { EPOCH, seededWorld, signerFiles } from "./harness.ts";
import {
  createOrganization,
  freshDeployment,
  type RunningService,
  startService,
  withDatabaseOf,
} from "./program.ts";
import { reviews } from "./reviews.ts";
import { sealsOf } from "./seals.ts";

const ORGANIZATION = "acme";
const ENTRIES_IN_COMMIT = 500;
const NO_HASH = new Uint8Array(32);

export interface LongChainOptions {
  /** Entries of the evidence chain, its genesis included. */
  readonly entries: number;
  readonly operators: number;
}

export interface LongChainService {
  readonly service: RunningService;
  /** The organization's key. */
  readonly key: string;
  /** Its data directory. */
  readonly data: string;
  /** Stops the service and removes its data. */
  close(): Promise<void>;
}

export async function startWithLongChain(options: LongChainOptions): Promise<LongChainService> {
  const deployment = await freshDeployment();
  const first = await startService(["serve"], deployment);
  const key = await createOrganization(first, deployment.env, ORGANIZATION);
  await first.stop();
  const data = `${deployment.directory}/data`;
  const secret = deployment.env.JISS_SECRETS_KEY ?? deployment.env.JISS_KEY_PEPPER!;
  await withDatabaseOf(data, (database) => fill(database, { directory: data, secret, ...options }));
  const service = await startService(["serve"], deployment);
  return {
    service,
    key,
    data,
    async close() {
      await service.stop();
      await deployment.remove();
    },
  };
}

async function fill(
  database: Database,
  { directory, secret, entries, operators }: LongChainOptions & {
    readonly directory: string;
    readonly secret: string;
  },
): Promise<void> {
  const fail = (error: unknown) => {
    throw error;
  };
  const lock = openLock({ path: `${directory}/lock.db`, onTrouble: fail });
  const signer = signerFromPem(await Deno.readTextFile(`${directory}/signing-key.pem`));
  const signing = new SigningKeys({
    database,
    crypto: nodeCrypto,
    world: seededWorld(),
    log: { error: fail },
    source: signerFiles([signer]),
  });
  await signing.reload();
  const writer = new Writer({
    database,
    crypto: nodeCrypto,
    seals: await sealsOf(database, secret),
    signing,
    lock,
    // Nobody else writes, so no commit is planned twice, which the reviews could not follow.
    monotonic: () => 0,
    backoff: () => Promise.reject(new Error("another process writes to the database")),
  });
  const family = `org/${ORGANIZATION}`;
  const story = reviews({ orgId: ORGANIZATION, operators, seed: "long", first: 1, from: EPOCH, roundMs: 1 });
  let { draft } = story.next(NO_HASH).value;
  for (let left = entries - 1; left > 0; left -= ENTRIES_IN_COMMIT) {
    await writer.submit({
      needs: [],
      chains: [family],
      plan(unit) {
        for (let count = Math.min(left, ENTRIES_IN_COMMIT); count > 0; count -= 1) {
          const { hash } = unit.append(family, draft);
          ({ draft } = story.next(hash).value);
        }
        return () => undefined;
      },
    });
  }
  await writer.close();
  lock.close();
}
