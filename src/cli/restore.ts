/**
 * `jiss restore [FILE] --acknowledge REASON`: replaces the database with a backup. Without FILE, it accepts a
 * database that is older than the issued checkpoints as it is. The evidence records the reason. Without FILE,
 * a running service that was read-only takes writes again by itself.
 */
import {
  acknowledgeRestore,
  NothingToAcknowledge,
  type RestoreRecord,
} from "../operations/restoring/restores.ts";
import { finishRotation } from "../operations/shared/signing.ts";
import { isRestoreUnfinished, unmarkRestore } from "../store/unfinished_restore.ts";
import { administer } from "./administration.ts";
import { replaceDatabase } from "./replace_database.ts";
import { loadConfig } from "./run_service.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";

const REASON_LIMIT = 500;

export async function restore(
  shell: Shell,
  { file, reason }: { readonly file: string | null; readonly reason: string },
): Promise<number> {
  requireReason(reason);
  if (file !== null) {
    // Loads the whole configuration of the service, so that the later steps do not fail for a missing part.
    const oldPath = await replaceDatabase(shell, loadConfig(shell.readEnvironment()), file);
    console.log(`${file} was verified and is now the database.`);
    if (oldPath !== null) {
      console.log(`The earlier database is now ${oldPath}: delete it when you no longer need it.`);
    }
  }
  const record = await administer(shell, async ({ dependencies, areKeysMended }, config) => {
    const now = shell.clock.now();
    const isPutBack = file !== null || isRestoreUnfinished(config.dataDir);
    if (areKeysMended) {
      console.log("The rows of signing_key were written again, from the key files and the system chain.");
    }
    const acknowledged = await acknowledgeRestore(dependencies, { reason, now, isPutBack }).catch((error) => {
      if (areKeysMended && error instanceof NothingToAcknowledge) return null;
      throw error;
    });
    unmarkRestore(config.dataDir);
    // A database from before a rotation does not know the key in the signing key's file.
    await finishRotation({ ...dependencies, now });
    return acknowledged;
  }, { isRestore: true });
  console.log(
    record === null
      ? "Nothing else was altered, so no chain begins a new epoch. Restart the service if it is running."
      : restoreText(record, { isRunning: file === null }),
  );
  return EXIT.ok;
}

function requireReason(reason: string): void {
  const { length } = Array.from(reason);
  if (reason.trim() !== "" && length <= REASON_LIMIT && reason.isWellFormed() && !/\p{Cc}/u.test(reason)) {
    return;
  }
  throw new CommandFailure(
    `--acknowledge needs a reason of 1 to ${REASON_LIMIT} characters on one line: the evidence keeps it permanently`,
    EXIT.usage,
  );
}

function restoreText(
  { chains, erased, lost }: RestoreRecord,
  { isRunning }: { readonly isRunning: boolean },
): string {
  const lines = [
    `The database was accepted as it is. Each of its ${chains} chains began a new epoch, which records the reason.`,
    `Erasures that were missing from it and were repeated: ${erased.length}`,
    `Issued chains that are missing from it: ${lost.length}${lost.map((origin) => `\n  ${origin}`).join("")}`,
    isRunning ? "A running service accepts writes again, without a restart." : "Start the service again.",
    'Altered entries, parts, reports and models, if there are any, were not repaired: jiss alerts list and GET /v1/audit/chain/verify show them (docs/operate/troubleshooting.md, "A chain was altered", step 5).',
    "Auditors will find the restore in their next bundle: give them a new export, which contains all epochs.",
  ];
  return lines.join("\n");
}
