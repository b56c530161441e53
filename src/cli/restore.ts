/**
 * `jiss restore --acknowledge REASON`: accepts a database that is older than what was issued, as it stands, and says
 * in the evidence why. A service that runs beside it and was reading only takes writes again by itself.
 */
import { acknowledgeRestore, type RestoreRecord } from "../operations/restores.ts";
import { finishRotation } from "../operations/signing.ts";
import { administer } from "./administration.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";

const REASON_LIMIT = 500;

export async function restore(
  shell: Shell,
  { acknowledge: reason }: { readonly acknowledge: string },
): Promise<number> {
  requireReason(reason);
  const record = await administer(shell, async ({ dependencies }) => {
    const now = shell.clock.now();
    const acknowledged = await acknowledgeRestore(dependencies, { reason, now });
    // A database from before a rotation does not know the key that its files hold.
    await finishRotation({ ...dependencies, now });
    return acknowledged;
  }, { mayBeOlder: true });
  console.log(toldOf(record));
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

function toldOf({ chains, erased, lost }: RestoreRecord): string {
  const lines = [
    `The database is accepted as it stands. Its ${chains} chains each began their next epoch, which says why.`,
    `Erasures that it did not know, run again: ${erased.length}`,
    `Chains that were issued and are not in it: ${lost.length}${
      lost.map((origin) => `\n  ${origin}`).join("")
    }`,
    "A running service takes writes again; nothing has to be restarted.",
    "Auditors will find the restore in their next bundle: hand them all epochs, as every export does.",
  ];
  return lines.join("\n");
}
