/**
 * `jiss backup FILE`: makes a consistent copy of the embedded database while the service runs.
 *
 * `lock.db` is never part of it: the record of what this installation has issued must not go back in time
 * with the database. The signing key and the secrets are other files, and belong in another safe.
 */
import type { StorageConfig } from "../config/config.ts";
import { loadChains } from "../store/chains.ts";
import { checkFile, copyFile } from "../store/backup.ts";
import { SYSTEM_CHAIN } from "../evidence/chain_name.ts";
import { createFile } from "./output.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";
import { storageOf, withStored } from "./stored.ts";

export async function backup(shell: Shell, path: string): Promise<number> {
  const storage = storageOf(shell);
  const { path: database } = fileOf(storage);
  // Refuses a file that is no database of this program before anything is written.
  await withStored(shell, storage, () => Promise.resolve());
  const chains = await createFile(path, async (partial) => {
    await copyFile(database, partial);
    const damage = checkFile(partial);
    if (damage !== null) {
      throw new CommandFailure(
        `the database is damaged (${damage}), so it was not copied. Stop the service and put an earlier backup back: jiss restore FILE --acknowledge REASON`,
        EXIT.failure,
      );
    }
    const copy: StorageConfig = { ...storage, database: { kind: "file", path: partial } };
    return await withStored(shell, copy, (stored) => loadChains(stored));
  });
  const system = chains.findLast(({ family }) => family === SYSTEM_CHAIN);
  const { size } = Deno.statSync(path);
  console.log(
    [
      `Wrote ${path}: ${size} bytes, readable only by their owner, ${chains.length} chains, as of ${
        system?.lastTimestamp ?? "the beginning"
      }.`,
      "Keep it apart from the signing key and jiss.env; you need these too to continue from it. Never back up lock.db.",
      `To put it back: jiss restore ${path} --acknowledge REASON`,
    ].join("\n"),
  );
  return EXIT.ok;
}

/** The database's file. @throws {CommandFailure} 78 if the database is on a server. */
export function fileOf({ database }: StorageConfig): { readonly path: string } {
  if (database.kind === "file") return database;
  throw new CommandFailure(
    "the database is on a libSQL server: back it up and restore it with the server's own tools, then run jiss restore --acknowledge REASON",
    EXIT.configuration,
  );
}
