/**
 * `jiss rotate-signing-key`: brings in the next signing key, beside the present one; `--drop-old` ends the
 * overlap. The files are changed first, then the record. A running service uses the new keys from its next
 * write on.
 */
import type { Service } from "../service/compose.ts";
import type { Config } from "../config/config.ts";
import { equalBytes } from "../evidence/crypto.ts";
import { nodeCrypto, signerFromPem } from "../evidence/node_crypto.ts";
import { fingerprint } from "../evidence/trust.ts";
import { compareWithLock } from "../operations/restoring/restores.ts";
import { retireKey, takeInKey } from "../operations/shared/signing.ts";
import { rewriteInstallation } from "../store/installation.ts";
import { readSigningKeys } from "../store/signing_keys.ts";
import { administer } from "./administration.ts";
import { hasDroppedKey, placeNewKey, readPreviousKey, setPreviousKeyAside } from "./key_files.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";
import { storageOf, withStored } from "./stored.ts";

export async function rotateSigningKey(
  shell: Shell,
  { dropOld }: { readonly dropOld: boolean },
): Promise<number> {
  const ordinalBefore = await newestOrdinal(shell);
  const text = await administer(shell, async (service, config) => {
    // No other process starts, rotates or drops a key while files and record are changed.
    using _lock = await shell.lockDirectory(config.dataDir);
    await requireWritable(service);
    await service.dependencies.signing.reload();
    if (dropOld) return await endOverlap(shell, service, config);
    const isCompleted = service.dependencies.signing.known.at(-1)!.ordinal > ordinalBefore;
    return isCompleted ? rotationText(service, config) : await addNewKey(shell, service, config);
  });
  console.log(text);
  return EXIT.ok;
}

/** The newest key's ordinal. Read before the service is opened: opening completes an interrupted rotation. */
async function newestOrdinal(shell: Shell): Promise<number> {
  const known = await withStored(shell, storageOf(shell), readSigningKeys);
  return known.at(-1)?.ordinal ?? 1;
}

/**
 * Called before files are changed: that would be in vain if nothing can be recorded, because the disk is full
 * or the clock is refused.
 * @throws {CommandFailure} if the database is older than what was issued; {ServiceError} if it takes no
 *   writes.
 */
async function requireWritable({ dependencies }: Service): Promise<void> {
  if ((await compareWithLock(dependencies)).length > 0) {
    throw new CommandFailure(
      "the database is older than the issued checkpoints: run `jiss restore --acknowledge REASON` first, then rotate",
      EXIT.failure,
    );
  }
  await dependencies.writer.execute(rewriteInstallation());
}

// ---- a new key --------------------------------------------------------------------------------------------

async function addNewKey(shell: Shell, service: Service, config: Config): Promise<string> {
  const { dependencies } = service;
  const { signing } = dependencies;
  clearPreviousKey(service, config);
  const pem = shell.generateSigningKey();
  placeNewKey(config, pem);
  await takeInKey(dependencies, {
    current: signing.current(),
    next: signerFromPem(pem),
    now: shell.clock.now(),
    reason: "scheduled",
  });
  await signing.reload();
  return rotationText(service, config);
}

/** @throws {CommandFailure} if the previous key is still in use, or is unknown to the database. */
function clearPreviousKey(service: Service, config: Config): void {
  const active = service.dependencies.signing.known.filter((row) => row.until_size === null);
  if (active.length > 1) {
    throw new CommandFailure(
      "the overlap of the last rotation has not ended: end it first with `jiss rotate-signing-key --drop-old`",
      EXIT.failure,
    );
  }
  destroyUnusedKey(service, config);
}

/**
 * Destroys a key that an interrupted command left: a retired key, or a second copy of the present one.
 * @throws {CommandFailure} if the file contains a key that the database does not know.
 */
function destroyUnusedKey({ dependencies: { signing } }: Service, config: Config): void {
  const previous = readPreviousKey(config);
  if (previous !== null && !signing.known.some((row) => equalBytes(row.public_key, previous.publicKey))) {
    throw new CommandFailure(
      "JISS_SIGNING_KEY_PREVIOUS_FILE contains a key that this database does not know: move the file away first",
      EXIT.failure,
    );
  }
  setPreviousKeyAside(config)();
}

function rotationText({ dependencies: { signing } }: Service, config: Config): string {
  const [old, next] = signing.known.slice(-2).map((row) => fingerprint(nodeCrypto, row.public_key));
  return `The signing key was rotated. Until the overlap ends, both keys sign every checkpoint.
  new key  ${next}
  old key  ${old}
A running service signs with both from its next write on, without a restart.
Back up ${config.signingKeyFile} now: without it the log cannot be continued.
Auditors who pinned the old key need not do anything: bundles contain a certificate that both keys signed. Tell them the
new fingerprint, and give new auditors the new key. When all have it, run jiss rotate-signing-key --drop-old`;
}

// ---- the end of the overlap -------------------------------------------------------------------------------

async function endOverlap(shell: Shell, service: Service, config: Config): Promise<string> {
  const { dependencies } = service;
  const { signing } = dependencies;
  const active = signing.known.filter((row) => row.until_size === null);
  if (active.length < 2) {
    if (readPreviousKey(config) === null && !hasDroppedKey(config)) {
      throw new CommandFailure(
        "there is no old key to drop: no rotation has an overlap that has not ended",
        EXIT.failure,
      );
    }
    destroyUnusedKey(service, config);
    return "The old key had been retired before; its private key was deleted now.";
  }
  // First out of use, then retired: a signature after the retirement counts as forged. A running service that
  // reads its keys in between signs with the new one alone, which is enough for an overlap.
  const destroy = setPreviousKeyAside(config);
  await retireKey(dependencies, {
    current: await signing.refresh(),
    known: signing.known,
    now: shell.clock.now(),
  });
  destroy();
  const [next, ...old] = active.toReversed().map((row) => fingerprint(nodeCrypto, row.public_key));
  return `The overlap has ended: only the new key signs checkpoints. Its private key is in ${config.signingKeyFile}.
  key in use   ${next}
  retired key  ${old.join(" and ")}
The retired private key was deleted here. Keep its copies as long as you may put back a backup from before the rotation:
only that key can continue it. The retired public key still verifies what it signed.
A running service signs only with the new key from its next write on, without a restart.`;
}
