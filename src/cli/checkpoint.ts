/** `jiss checkpoint`: prints the newest checkpoint of every chain, to be kept on paper or by an auditor. */
import { adminChain, evidenceChain, splitName, SYSTEM_CHAIN } from "../evidence/chain_name.ts";
import { nodeCrypto } from "../evidence/node_crypto.ts";
import { fingerprint } from "../evidence/trust.ts";
import { loadChains, loadEpochs, newestCheckpoint, type StoredChain } from "../store/chains.ts";
import type { StorageConfig } from "../config/config.ts";
import { type CertifiedKeys, readCertifiedKeys } from "../operations/chains/certified_keys.ts";
import type { Database } from "../store/database.ts";
import { isBehind, issuedPlaces } from "../store/lock.ts";
import { allOrganizationsQuery } from "../store/organizations.ts";
import { exists } from "./init.ts";
import { publicKeyIn } from "./key_files.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";
import { storageOf, withStored } from "./stored.ts";

export async function checkpoint(shell: Shell): Promise<number> {
  const storage = storageOf(shell);
  return await withStored(shell, storage, async (database) => {
    if ((await loadEpochs(database, SYSTEM_CHAIN)).length === 0) {
      throw new CommandFailure("the database contains no chain yet: start the service once", EXIT.failure);
    }
    const keys = await readCertifiedKeys({ database, crypto: nodeCrypto }, heldKeys(storage));
    if (keys.rows.length === 0) throw unknownKey();
    const notes = await newestNotes(database, { keys, issued: issuedOf(storage) });
    const [origin] = notes[0]!.split("\n");
    const at = new Date(shell.clock.now()).toISOString();
    const text = [heading({ origin: origin!, at, fingerprints: fingerprints(keys) }), ...notes].join("\n");
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
The first one is of the system chain, which contains the checkpoints that the other chains had then.
To compare a bundle with them later: jiss verify BUNDLE --key KEY --checkpoint THIS_FILE
`;
}

/**
 * Public keys of the private keys at hand, the one in use first.
 * @throws {CommandFailure} 78 if there is none.
 */
function heldKeys(storage: StorageConfig): readonly Uint8Array[] {
  const { signingKeyFile, previousSigningKeyFile } = storage;
  const held = [signingKeyFile, previousSigningKeyFile].flatMap((path) => publicKeyIn(path) ?? []);
  if (held.length > 0) return held;
  throw new CommandFailure(
    `${signingKeyFile} contains no readable key, which is needed to recognize the service's own checkpoints: run this as the user of the service, with its JISS_DATA_DIR and JISS_SIGNING_KEY_FILE`,
    EXIT.configuration,
  );
}

function unknownKey(): CommandFailure {
  return new CommandFailure(
    "the key in JISS_SIGNING_KEY_FILE signed no checkpoint of this database's system chain: put the right key or the right database back",
    EXIT.configuration,
  );
}

/** The place up to which each family was issued, as `lock.db` keeps it; empty if that is not at hand. */
function issuedOf({ lockFile }: StorageConfig): ReturnType<typeof issuedPlaces> {
  return exists(lockFile) ? issuedPlaces(lockFile) : new Map();
}

/**
 * The newest checkpoint note of each family's newest chain, the system chain first, with the deployment's own
 * signatures.
 * @throws {CommandFailure} 1 if the service did not sign one, or if a chain is missing.
 */
async function newestNotes(
  database: Database,
  { keys: { notes: ownNotes }, issued }: {
    readonly keys: CertifiedKeys;
    readonly issued: ReturnType<typeof issuedPlaces>;
  },
): Promise<readonly string[]> {
  // The chains are read last: a running service may begin new ones.
  const organizations = await database.read(allOrganizationsQuery());
  // Chains come in the order of their epochs, so the map keeps the newest of each family.
  const chains = new Map((await loadChains(database)).map((chain) => [chain.family, chain]));
  const registered = organizations.flatMap(({ org_id }) => [evidenceChain(org_id), adminChain(org_id)]);
  const missing = [...issued.keys(), ...registered].find((family) => !chains.has(family));
  if (missing !== undefined) throw altered(`the chain ${missing} is missing`);
  const [behind] = [...issued].find(([family, place]) => isBehind(chains.get(family)!, place)) ?? [];
  if (behind !== undefined) throw altered(`the chain ${behind} is older than what was issued of it`);
  const isSystem = ({ family }: StoredChain) => family === SYSTEM_CHAIN;
  const systemFirst = [...chains.values()].sort((a, b) => Number(isSystem(b)) - Number(isSystem(a)));
  return await Promise.all(systemFirst.map(async ({ chain, origin, frontier: { size } }) => {
    // A running service may have signed more since the head was read.
    const found = await newestCheckpoint(database, chain);
    const checkpoint = found === null ? null : ownNotes.open(found.note, origin);
    if (checkpoint !== null && checkpoint.size >= size) return ownNotes.ownPart(found!.note, origin)!;
    throw altered(`the newest checkpoint of ${chain} is not the one that the service signed`);
  }));
}

function altered(problem: string): CommandFailure {
  return new CommandFailure(
    `${problem}: the database was altered, or an older one was put back. Nothing was printed: see docs/operate/troubleshooting.md`,
    EXIT.failure,
  );
}

/** The fingerprints of the keys that sign now, the newest first. */
function fingerprints({ rows }: CertifiedKeys): readonly string[] {
  return rows.filter(({ until_size }) => until_size === null).toReversed()
    .map(({ public_key }) => fingerprint(nodeCrypto, public_key));
}
