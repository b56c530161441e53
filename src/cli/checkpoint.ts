/** `jiss checkpoint`: the newest checkpoint of every chain, to be written down, printed, or kept with an auditor. */
import { splitName } from "../evidence/chain_name.ts";
import { nodeCrypto } from "../evidence/node_crypto.ts";
import { fingerprint } from "../evidence/trust.ts";
import { SYSTEM_CHAIN } from "../evidence/chain_name.ts";
import { loadChains, newestCheckpoint, type StoredChain } from "../store/chains.ts";
import { type Database, query } from "../store/database.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";
import { storageOf, withStored } from "./stored.ts";

export async function checkpoint(shell: Shell): Promise<number> {
  return await withStored(shell, storageOf(shell), async (database) => {
    const notes = await newestNotes(database);
    const [origin] = notes[0]?.split("\n") ?? [];
    if (origin === undefined) {
      throw new CommandFailure("the database holds no chain yet: start the service once", EXIT.failure);
    }
    const at = new Date(shell.clock.now()).toISOString();
    const text = [heading({ origin, at, fingerprints: await fingerprints(database) }), ...notes].join("\n");
    console.log(text.trimEnd());
    return EXIT.ok;
  });
}

function heading(
  { origin, at, fingerprints }: {
    readonly origin: string;
    readonly at: string;
    readonly fingerprints: readonly string[];
  },
): string {
  return `Checkpoints of ${splitName(origin)?.prefix ?? origin} at ${at}
${fingerprints.length === 1 ? "Key in use:" : "Keys in use:"} ${fingerprints.join(" and ")}
The first one, of the system's own chain, pins all others as it last took them in.
To hold a bundle against them later: jiss verify BUNDLE --key KEY --checkpoint THIS_FILE
`;
}

/** Of each chain that goes on, the system's own first. */
async function newestNotes(database: Database): Promise<readonly string[]> {
  // Chains come in the order of their epochs: the newest of a family stands.
  const chains = new Map((await loadChains(database)).map((chain) => [chain.family, chain]));
  const isSystem = ({ family }: StoredChain) => family === SYSTEM_CHAIN;
  const inOrder = [...chains.values()].sort((a, b) => Number(isSystem(b)) - Number(isSystem(a)));
  const notes = await Promise.all(inOrder.map(({ chain }) => newestCheckpoint(database, chain)));
  return notes.flatMap((found) => found === null ? [] : [found.note]);
}

/** Of the keys that sign now, the newest first. */
async function fingerprints(database: Database): Promise<readonly string[]> {
  const rows = await database.read(
    query.selectFrom("signing_key").select("public_key").where("until_size", "is", null)
      .orderBy("ordinal", "desc").compile(),
  );
  return rows.map((row) => fingerprint(nodeCrypto, row.public_key));
}
