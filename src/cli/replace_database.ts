/**
 * Replaces the database with a backup. The backup is first copied and verified, and the old database is kept.
 *
 * A database and its write-ahead log belong together: if a log were left beside another database, SQLite
 * would write its pages into that database. So the log is moved first. If the program ends in between, no
 * service starts until `jiss restore` has run to its end.
 * Source: https://sqlite.org/howtocorrupt.html, section 1.4.
 */
import { nodeCrypto } from "../evidence/node_crypto.ts";
import { isOfAnotherDeployment } from "../operations/restoring/restores.ts";
import { findDamage } from "../operations/verification/verification.ts";
import { checkFile, holdsChain } from "../store/backup.ts";
import { loadChains } from "../store/chains.ts";
import { renameDurably, syncFile } from "../store/durable_file.ts";
import { StorageFailure } from "../store/faults.ts";
import { issuedPlaces, MEND_LOCK } from "../store/lock.ts";
import { markRestore } from "../store/unfinished_restore.ts";
import { SchemaRefused } from "../store/migrate.ts";
import type { Config } from "../config/config.ts";
import { isNewestKeyHeld, readCertifiedKeys } from "../operations/chains/certified_keys.ts";
import { unwrapInstallationKey } from "../operations/installation/installation.ts";
import type { Database } from "../store/database.ts";
import { readInstallation } from "../store/installation.ts";
import { publicKeyIn } from "./key_files.ts";
import { fileOf } from "./backup.ts";
import { exists } from "./init.ts";
import { CommandFailure, EXIT, isSystemError, type Shell } from "./shell.ts";
import { withStored } from "./stored.ts";

const PRIVATE_FILE = 0o600;

const WAL = "-wal";
/** Name endings of the files of one SQLite database, in the order in which they are moved. */
const FILE_SUFFIXES = [WAL, "-shm", ""] as const;

/** @returns the new path of the old database; null if there was none. */
export async function replaceDatabase(
  shell: Shell,
  config: Config,
  backup: string,
): Promise<string | null> {
  const { path } = fileOf(config);
  if (!exists(backup)) throw new CommandFailure(`there is no file ${backup}`, EXIT.failure);
  if (!Deno.statSync(backup).isFile) {
    throw new CommandFailure(`${backup} is not a regular file: name a backup`, EXIT.failure);
  }
  const reservation = await shell.reserveData(config.dataDir);
  if (reservation === null) {
    throw new CommandFailure(
      "a service uses this data directory: stop it first, and start it again afterwards",
      EXIT.failure,
    );
  }
  const copy = `${path}.restoring`;
  removeFiles(copy);
  try {
    await prepareCopy(shell, { config, backup, copy });
    markRestore(config.dataDir);
    return swapFiles(path, copy, new Date(shell.clock.now()).toISOString());
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new CommandFailure(`the backup cannot be put back: ${error.message}`, EXIT.failure);
  } finally {
    removeFiles(copy);
    reservation[Symbol.dispose]();
  }
}

/** Copies and verifies the backup. @throws {CommandFailure} if it must not be put back. */
async function prepareCopy(
  shell: Shell,
  { config, backup, copy }: {
    readonly config: Config;
    readonly backup: string;
    readonly copy: string;
  },
): Promise<void> {
  const refusal = (reason: string) =>
    new CommandFailure(`${backup} was not put back: ${reason}. Nothing was changed`, EXIT.failure);
  // Copied as bytes: SQLite cannot open a database in WAL mode in a folder that it cannot write to.
  for (const end of [WAL, ""]) if (exists(backup + end)) copyPrivately(backup + end, copy + end);
  const damage = checkFile(copy);
  if (damage !== null) throw refusal(`it is damaged or not a database (${damage})`);
  // For SQLite an empty file is a sound database, and so is the database of another program.
  if (!holdsChain(copy)) throw refusal("it contains no chain, so it is not a backup of this service");
  try {
    await shell.bringUpToDate(copy);
  } catch (error) {
    if (error instanceof SchemaRefused) throw refusal(error.message);
    throw error;
  }
  const file = { kind: "file", path: copy } as const;
  const [damageFound, heads, unusable] = await withStored(
    shell,
    { ...config, database: file },
    async (database) =>
      [
        await findDamage({ database, crypto: nodeCrypto }),
        await loadChains(database),
        await whyUnusable(database, config),
      ] as const,
  );
  if (damageFound !== null) {
    throw refusal(
      `its evidence does not verify. ${damageFound.chain}: ${damageFound.code}, ${damageFound.sentence}`,
    );
  }
  if (unusable !== null) throw refusal(unusable);
  const { lockFile } = config;
  if (!exists(lockFile)) return;
  const issued = readIssued(lockFile, refusal);
  if (
    heads.some((head) => issued.has(head.family) && isOfAnotherDeployment(head, issued.get(head.family)!))
  ) {
    throw refusal(
      `${lockFile} belongs to another installation than the backup. To use the backup here anyway, move jiss.db and lock.db, each with its -wal and -shm, away, and run this again`,
    );
  }
}

/** The reason why no service with this configuration could go on with the database; null if one could. */
async function whyUnusable(
  database: Database,
  { secretsKeys, signingKeyFile, previousSigningKeyFile }: Config,
): Promise<string | null> {
  const held = [signingKeyFile, previousSigningKeyFile].flatMap((path) => publicKeyIn(path) ?? []);
  const { rows } = await readCertifiedKeys({ database, crypto: nodeCrypto }, held);
  if (!isNewestKeyHeld(rows, held)) {
    return `none of the private keys at hand is the one that signed it last: put that key back as ${signingKeyFile}, from its backup; a backup from before jiss rotate-signing-key --drop-old has no key any more`;
  }
  const installation = await readInstallation(database);
  if (installation === null) return "the row of installation is missing in it";
  return unwrapInstallationKey(installation.wrapped_key, secretsKeys) === null
    ? "none of JISS_SECRETS_KEY, JISS_KEY_PEPPER and JISS_KEY_PEPPER_PREVIOUS opens its installation key: set the secret of its time"
    : null;
}

function readIssued(lockFile: string, refusal: (reason: string) => CommandFailure) {
  try {
    return issuedPlaces(lockFile);
  } catch (error) {
    if (!(error instanceof StorageFailure)) throw error;
    throw refusal(`${lockFile} cannot be read (${error.message}): ${MEND_LOCK}`);
  }
}

function copyPrivately(from: string, to: string): void {
  Deno.copyFileSync(from, to);
  Deno.chmodSync(to, PRIVATE_FILE);
}

function swapFiles(path: string, copy: string, instant: string): string | null {
  const oldPath = exists(path) ? `${path}.replaced-${instant.replaceAll(":", "")}` : null;
  for (const end of FILE_SUFFIXES) {
    if (oldPath !== null && exists(path + end)) Deno.renameSync(path + end, oldPath + end);
  }
  syncFile(copy);
  renameDurably(copy, path);
  return oldPath;
}

function removeFiles(path: string): void {
  for (const end of FILE_SUFFIXES) if (exists(path + end)) Deno.removeSync(path + end);
}
