/**
 * Allows one `jiss dev` at a time on a data directory: a second one would replace the key of the first. A
 * lock shows that one runs. Its address is in another file, since some systems let nobody read a locked file.
 */
import { ENVIRONMENT_FILE, exists, makeDirectory } from "./init.ts";
import { CommandFailure, EXIT } from "./shell.ts";

const LOCK_FILE = "dev.lock";
const ADDRESS_FILE = "dev-address.txt";
const PRIVATE_FILE = 0o600;
/** If one of these files is in a directory, there is a deployment in it. */
const DEPLOYMENT_FILES = [ENVIRONMENT_FILE, "jiss.db", "signing-key.pem"];

/** The hold of this process on the data directory, until the process ends. */
export interface DevRun {
  /** Tells a second run where this one listens. */
  publishAddress(url: string): void;
}

/** Like {@link claimDirectory}, but returns null if there is no such directory yet. @throws {CommandFailure} */
export async function claimIfPresent(directory: string): Promise<DevRun | null> {
  return exists(directory) ? await claimDirectory(directory) : null;
}

/**
 * Takes the directory, and makes it if it is missing.
 * @throws {CommandFailure} if another run has it, with its address; if it has a deployment that no run made.
 */
export async function claimDirectory(directory: string): Promise<DevRun> {
  makeDirectory(directory);
  const isDevDirectory = exists(`${directory}/${LOCK_FILE}`);
  if (!isDevDirectory && DEPLOYMENT_FILES.some((name) => exists(`${directory}/${name}`))) {
    throw new CommandFailure(
      `${directory} contains a deployment that jiss dev did not make, so nothing was changed: set JISS_DATA_DIR to another directory`,
      EXIT.failure,
    );
  }
  const file = Deno.openSync(`${directory}/${LOCK_FILE}`, { create: true, write: true, mode: PRIVATE_FILE });
  const address = `${directory}/${ADDRESS_FILE}`;
  if (!await file.tryLock(true)) {
    file.close();
    throw new CommandFailure(
      `jiss dev already runs on ${directory}, at ${
        readAddress(address)
      }: use it, stop it first, or set JISS_DATA_DIR to another directory`,
      EXIT.failure,
    );
  }
  // Removes the address of an earlier run until this one has an address.
  if (exists(address)) Deno.removeSync(address);
  return {
    publishAddress(url) {
      Deno.writeTextFileSync(address, `${url}\n`, { mode: PRIVATE_FILE });
    },
  };
}

function readAddress(path: string): string {
  const url = exists(path) ? Deno.readTextFileSync(path).trim() : "";
  return url === "" ? "an address that it has not written yet" : url;
}
