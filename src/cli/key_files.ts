/**
 * The signing keys' files through a rotation. At every instant, whatever ends the program, the key that the database
 * knows is in one of the two files, whole, so that a start can go on from there:
 *
 * 1. the new key is written beside the present one: nothing has changed, and what is left over is removed next time;
 * 2. the present key is put under the previous one's name as well: a start signs with it twice, which says nothing
 *    new, and the next attempt takes the second file away;
 * 3. the new key takes the present one's place: a start, or the next attempt, records it and so completes the
 *    rotation. A service that is running goes on with the key that it holds until the new one is recorded.
 *
 * Each file comes into its place whole, by renaming, and the directory is on the disk before the next step.
 */
import { dirname } from "node:path";
import type { StorageConfig } from "../config/config.ts";
import type { Signer } from "../evidence/crypto.ts";
import { signerFromPem } from "../evidence/node_crypto.ts";
import { exists } from "./init.ts";
import { CommandFailure, EXIT } from "./shell.ts";
import { renameDurably, syncFolder, writeDurably } from "../store/durable_file.ts";

type KeyFiles = Pick<StorageConfig, "signingKeyFile" | "previousSigningKeyFile">;

/** The previous key, or null where there is no such file. @throws {CommandFailure} where it is no key. */
export function readPreviousKey({ previousSigningKeyFile }: KeyFiles): Signer | null {
  if (!exists(previousSigningKeyFile)) return null;
  try {
    return signerFromPem(Deno.readTextFileSync(previousSigningKeyFile));
  } catch (error) {
    throw new CommandFailure(
      `JISS_SIGNING_KEY_PREVIOUS_FILE cannot be read: ${(error as Error).message}`,
      EXIT.configuration,
    );
  }
}

/**
 * Puts a new key in the present one's place, and the present one in the previous one's, which must be free.
 * @throws {CommandFailure} where a file cannot be written: the present key is then still in use.
 */
export function placeNewKey({ signingKeyFile, previousSigningKeyFile }: KeyFiles, pem: string): void {
  try {
    // A name that leads elsewhere goes on leading there.
    const present = Deno.realPathSync(signingKeyFile);
    const owner = Deno.statSync(present);
    const next = `${present}.next`;
    writeAnew(next, pem, owner);
    const second = `${previousSigningKeyFile}.next`;
    writeAnew(second, Deno.readTextFileSync(present), owner);
    renameDurably(second, previousSigningKeyFile);
    renameDurably(next, present);
  } catch (error) {
    throw new CommandFailure(
      `the signing key's files cannot be written (${(error as Error).message}): the key in use is unchanged.
Where they are mounted from elsewhere, do there what this command does: keep the present key as JISS_SIGNING_KEY_PREVIOUS_FILE, put a new one (openssl genpkey -algorithm ed25519) as JISS_SIGNING_KEY_FILE, and restart the service, which records the rotation.`,
      EXIT.failure,
    );
  }
}

/** Whether a key was taken out of use and not destroyed. */
export function holdsKeyAside({ previousSigningKeyFile }: KeyFiles): boolean {
  return exists(asideOf(previousSigningKeyFile));
}

/**
 * Takes the previous key out of use and returns what destroys it. In between it can be put back by hand.
 * @throws {CommandFailure} where the file cannot be moved.
 */
export function setPreviousKeyAside({ previousSigningKeyFile }: KeyFiles): () => void {
  const aside = asideOf(previousSigningKeyFile);
  try {
    if (exists(previousSigningKeyFile)) renameDurably(previousSigningKeyFile, aside);
  } catch (error) {
    throw new CommandFailure(
      `the previous key's file cannot be moved (${
        (error as Error).message
      }). Where it is mounted from elsewhere, take it away there, then run this again.`,
      EXIT.failure,
    );
  }
  return () => {
    if (!exists(aside)) return;
    Deno.removeSync(aside);
    syncFolder(dirname(aside));
  };
}

function asideOf(previousSigningKeyFile: string): string {
  return `${previousSigningKeyFile}.dropped`;
}

type Owner = Pick<Deno.FileInfo, "uid" | "gid">;

/**
 * Writes a file for its owner alone, in the place of what an earlier attempt left. It belongs to whom the present key
 * belongs to, the service perhaps, whoever runs the command.
 */
function writeAnew(path: string, content: string, { uid, gid }: Owner): void {
  if (exists(path)) Deno.removeSync(path);
  writeDurably(path, content, { mustBeNew: true });
  if (Deno.statSync(path).uid !== uid) Deno.chownSync(path, uid, gid);
}

/** The raw public key of a private one; null if there is no such file, or it holds no key. */
export function publicKeyIn(path: string): Uint8Array | null {
  try {
    return signerFromPem(Deno.readTextFileSync(path)).publicKey;
  } catch {
    return null;
  }
}
