/** Checks that there is space for further writes. */
import { dirname } from "node:path";
import { fileSystemOf } from "../../store/file_system.ts";
import { type CheckInput, type Finding, ok, unknownFileSystem } from "./check.ts";

const MIB = 2 ** 20;
/** Bytes. With less, the next writes may fail: the write-ahead log alone takes as much. */
const LOW = 64 * MIB;
/** Bytes for about 200,000 scores. */
const ADVISED = 1024 * MIB;

export function freeSpace({ config }: CheckInput): Finding {
  const { database } = config;
  const folder = database.kind === "file" ? dirname(database.path) : config.dataDir;
  const fileSystem = fileSystemOf(folder);
  if (fileSystem === null) return unknownFileSystem(folder);
  const { free } = fileSystem;
  const what = `${Math.floor(free / MIB)} MiB are free on the disk of ${folder}`;
  if (free >= ADVISED) return ok(what);
  return {
    state: free < LOW ? "wrong" : "note",
    what: database.kind === "file" ? `${what}; a score takes about 6 KB` : what,
    mend: "free some space: without free space, writes are refused with 503",
  };
}
