/**
 * One `jiss dev` at a time on a data directory: a second one would take the key of the first away. A lock says that one
 * runs; a file beside it says where, since some systems let nobody read a locked file.
 */
import { exists } from "./init.ts";
import { CommandFailure, EXIT } from "./shell.ts";

const LOCK_FILE = "dev.lock";
const ADDRESS_FILE = "dev-address.txt";
const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

/** The data directory as this process's own, until the process ends. */
export interface DevRun {
  /** Tells a second run where this one listens. */
  listensAt(url: string): void;
}

/** Where nobody can run there, since there is no such directory, it is null. @throws {CommandFailure} as {@link takeRun}. */
export async function takeRunIfThere(directory: string): Promise<DevRun | null> {
  return exists(directory) ? await takeRun(directory) : null;
}

/** Makes the directory where it is missing. @throws {CommandFailure} with the address of the run that has it. */
export async function takeRun(directory: string): Promise<DevRun> {
  Deno.mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
  const file = Deno.openSync(`${directory}/${LOCK_FILE}`, { create: true, write: true, mode: PRIVATE_FILE });
  const address = `${directory}/${ADDRESS_FILE}`;
  if (!await file.tryLock(true)) {
    file.close();
    throw new CommandFailure(
      `jiss dev already runs on ${directory}, at ${
        readAddress(address)
      }: use that one, stop it first, or name another directory in JISS_DATA_DIR`,
      EXIT.failure,
    );
  }
  // What an earlier run left, until this one has an address.
  if (exists(address)) Deno.removeSync(address);
  return {
    listensAt(url) {
      Deno.writeTextFileSync(address, `${url}\n`, { mode: PRIVATE_FILE });
    },
  };
}

function readAddress(path: string): string {
  const url = exists(path) ? Deno.readTextFileSync(path).trim() : "";
  return url === "" ? "an address that it has not told yet" : url;
}
