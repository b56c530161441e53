/**
 * The files of the signing keys during a rotation. If the program ends at any instant, one of the two files
 * contains the whole key that the database knows, so a start can go on from there:
 *
 * 1. The new key is written beside the present one. Nothing has changed; the next attempt removes this file.
 * 2. The present key is also copied to the previous key's file. A start signs with it twice, which does no
 *    harm; the next attempt removes the second file.
 * 3. The new key replaces the present one. A start, or the next attempt, records it and so completes the
 *    rotation. A running service keeps the key that it has until the new one is recorded.
 *
 * Each file is renamed into its place whole, and the directory is synced to the disk before the next step.
 */
import { dirname } from "node:path";
import type { StorageConfig } from "../config/config.ts";
import type { Signer } from "../evidence/crypto.ts";
import { signerFromPem } from "../evidence/node_crypto.ts";
import { exists } from "./init.ts";
import { CommandFailure, EXIT } from "./shell.ts";
import { renameDurably, syncFolder, writeDurably } from "../store/durable_file.ts";

type KeyFiles = Pick<StorageConfig, "signingKeyFile" | "previousSigningKeyFile">;

/** The previous key; null if there is no such file. @throws {CommandFailure} if the file is no key. */
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
 * Replaces the present key with a new one, and moves the present one to the previous key's file, which must
 * be free.
 * @throws {CommandFailure} if a file cannot be written: then the present key is still in use.
 */
export function placeNewKey({ signingKeyFile, previousSigningKeyFile }: KeyFiles, pem: string): void {
  try {
    // If the name is a symbolic link, the link is kept.
    const present = Deno.realPathSync(signingKeyFile);
    const owner = Deno.statSync(present);
    const next = `${present}.next`;
    writeReplacing(next, pem, owner);
    const second = `${previousSigningKeyFile}.next`;
    writeReplacing(second, Deno.readTextFileSync(present), owner);
    renameDurably(second, previousSigningKeyFile);
    renameDurably(next, present);
  } catch (error) {
    throw new CommandFailure(
      `the signing key's files cannot be written (${(error as Error).message}): the key in use is unchanged.
If they are mounted from elsewhere, do there what this command does: keep the present key as JISS_SIGNING_KEY_PREVIOUS_FILE, write a new one (openssl genpkey -algorithm ed25519) to JISS_SIGNING_KEY_FILE, and restart the service, which records the rotation.`,
      EXIT.failure,
    );
  }
}

/** Whether a key was taken out of use but not destroyed. */
export function hasDroppedKey({ previousSigningKeyFile }: KeyFiles): boolean {
  return exists(droppedPathOf(previousSigningKeyFile));
}

/**
 * Takes the previous key out of use, so that it can be put back by hand; returns a function that destroys it.
 * @throws {CommandFailure} if the file cannot be moved.
 */
export function setPreviousKeyAside({ previousSigningKeyFile }: KeyFiles): () => void {
  const aside = droppedPathOf(previousSigningKeyFile);
  try {
    if (exists(previousSigningKeyFile)) renameDurably(previousSigningKeyFile, aside);
  } catch (error) {
    throw new CommandFailure(
      `the previous key's file cannot be moved (${
        (error as Error).message
      }). If it is mounted from elsewhere, remove it there, then run this again.`,
      EXIT.failure,
    );
  }
  return () => {
    if (!exists(aside)) return;
    Deno.removeSync(aside);
    syncFolder(dirname(aside));
  };
}

function droppedPathOf(previousSigningKeyFile: string): string {
  return `${previousSigningKeyFile}.dropped`;
}

type Owner = Pick<Deno.FileInfo, "uid" | "gid">;

/**
 * Writes a file that only its owner can access, and replaces one that an earlier attempt left. Its owner is
 * that of the present key, perhaps the service's user, and not the user who runs the command.
 */
function writeReplacing(path: string, content: string, { uid, gid }: Owner): void {
  if (exists(path)) Deno.removeSync(path);
  writeDurably(path, content, { mustBeNew: true });
  if (Deno.statSync(path).uid !== uid) Deno.chownSync(path, uid, gid);
}

/** The raw public key of the private key in a file; null if there is no such file, or it contains no key. */
export function publicKeyIn(path: string): Uint8Array | null {
  try {
    return signerFromPem(Deno.readTextFileSync(path)).publicKey;
  } catch {
    return null;
  }
}
