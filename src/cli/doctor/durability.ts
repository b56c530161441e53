/** Checks that confirmed writes are on a disk, and stay there. */
import { dirname } from "node:path";
import { fileSystemOf } from "../../store/file_system.ts";
import { syncsCommits } from "../../store/libsql_server.ts";
import { type CheckInput, type Finding, ok, unknownFileSystem } from "./check.ts";

/** By `f_type` of statfs(2): the reason why a database must not be on this file system. */
const UNSUITABLE: ReadonlyMap<number, string> = new Map([
  [0x01021994, "in memory (tmpfs): a restart of the machine deletes it"],
  [0x858458f6, "in memory (ramfs): a restart of the machine deletes it"],
  [0x6969, "on a network (NFS): SQLite's locks and shared memory do not work there"],
  [0xff534d42, "on a network (CIFS): SQLite's locks and shared memory do not work there"],
  [0xfe534d42, "on a network (SMB): SQLite's locks and shared memory do not work there"],
  [0x517b, "on a network (SMB): SQLite's locks and shared memory do not work there"],
]);

/** `f_type` of a container's own layer, which is removed with the container. */
const OVERLAY = 0x794c7630;

export async function durability({ config, database }: CheckInput): Promise<Finding> {
  const { database: location } = config;
  if (location.kind === "server") {
    if (await syncsCommits(database)) return ok("the database server syncs each write before it confirms it");
    return {
      state: "wrong",
      what: "the database server confirms writes before it syncs them: the service writes nothing to it",
      mend:
        "run sqld with --enable-namespaces and set durability_mode to strong, or name its admin API in JISS_DATABASE_ADMIN_URL",
    };
  }
  const folder = dirname(location.path);
  const fileSystem = fileSystemOf(folder);
  if (fileSystem === null) return unknownFileSystem(folder);
  const reason = UNSUITABLE.get(fileSystem.type);
  if (reason !== undefined) {
    return {
      state: "wrong",
      what: `the database is ${reason}`,
      mend:
        "set JISS_DATA_DIR to a directory on a disk of this machine, or use a libSQL server (docs/operate/replicas.md)",
    };
  }
  if (fileSystem.type === OVERLAY) {
    return {
      state: "note",
      what: "the database is in a container's own layer, and is removed with the container",
      mend: "mount a volume at JISS_DATA_DIR",
    };
  }
  return ok("every write is synced to a disk of this machine before it is confirmed");
}
