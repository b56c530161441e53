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
import { putBack } from "./put_back.ts";
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
    const aside = await putBack(shell, loadConfig(shell.readEnvironment()), file);
    console.log(`${file} verifies and is in the database's place.`);
    if (aside !== null) console.log(`What was there is ${aside}: delete it when you need it no more.`);
  }
  const record = await administer(shell, async ({ dependencies, areKeysMended }, config) => {
    const now = shell.clock.now();
    const isPutBack = file !== null || isRestoreUnfinished(config.dataDir);
    if (areKeysMended) {
      console.log("The rows of signing_key were made anew, from the keys at hand and the system chain.");
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
      ? "Nothing else was altered, and no chain begins a new epoch. A service that runs beside this has to be restarted."
      : toldOf(record, { isRunning: file === null }),
  );
  return EXIT.ok;
}

function requireReason(reason: string): void {
  const { length } = Array.from(reason);
  if (reason.trim() !== "" && length <= REASON_LIMIT && reason.isWellFormed() && !/\p{Cc}/u.test(reason)) {
    return;
  }
  throw new CommandFailure(
    `--acknowledge takes a reason of 1 to ${REASON_LIMIT} characters on one line: it stays in the evidence for good`,
    EXIT.usage,
  );
}

function toldOf(
  { chains, erased, lost }: RestoreRecord,
  { isRunning }: { readonly isRunning: boolean },
): string {
  const lines = [
    `The database is accepted as it stands. Its ${chains} chains each began their next epoch, which says why.`,
    `Erasures that it did not know, run again: ${erased.length}`,
    `Chains that were issued and are not in it: ${lost.length}${
      lost.map((origin) => `\n  ${origin}`).join("")
    }`,
    isRunning
      ? "A running service takes writes again; nothing has to be restarted."
      : "Start the service again.",
    'Altered entries, parts, reports and models were not mended, if there are any: jiss alerts list and GET /v1/audit/chain/verify tell of them (docs/operate/troubleshooting.md, "A chain was altered", step 5).',
    "Auditors will find the restore in their next bundle: hand them all epochs, as every export does.",
  ];
  return lines.join("\n");
}
