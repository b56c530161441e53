/** Checks that confirmed writes are on a disk, and stay there. */
import { dirname } from "node:path";
import { fileSystemOf } from "../../store/file_system.ts";
import { syncsCommits } from "../../store/libsql_server.ts";
import { type Examined, type Finding, ok, unseen } from "./check.ts";

/** By `f_type` of statfs(2): the reason why a database must not be on this file system. */
const UNFIT: ReadonlyMap<number, string> = new Map([
  [0x01021994, "in memory (tmpfs): a restart of the machine loses everything"],
  [0x858458f6, "in memory (ramfs): a restart of the machine loses everything"],
  [0x6969, "on a network (NFS): SQLite's locks and its shared memory do not hold there"],
  [0xff534d42, "on a network (CIFS): SQLite's locks and its shared memory do not hold there"],
  [0xfe534d42, "on a network (SMB): SQLite's locks and its shared memory do not hold there"],
  [0x517b, "on a network (SMB): SQLite's locks and its shared memory do not hold there"],
]);

/** `f_type` of a container's own layer, which is removed with the container. */
const OVERLAY = 0x794c7630;

export async function durability({ config, database }: Examined): Promise<Finding> {
  const { database: location } = config;
  if (location.kind === "server") {
    if (await syncsCommits(database)) return ok("the database server syncs what it confirms");
    return {
      state: "wrong",
      what: "the database server does not sync what it confirms: nothing is written to it like that",
      mend:
        "run sqld with --enable-namespaces and set durability_mode to strong, or name its admin API in JISS_DATABASE_ADMIN_URL",
    };
  }
  const folder = dirname(location.path);
  const fileSystem = fileSystemOf(folder);
  if (fileSystem === null) return unseen(folder);
  const why = UNFIT.get(fileSystem.type);
  if (why !== undefined) {
    return {
      state: "wrong",
      what: `the database lies ${why}`,
      mend:
        "let JISS_DATA_DIR be on a disk of this machine, or use a libSQL server (docs/operate/replicas.md)",
    };
  }
  if (fileSystem.type === OVERLAY) {
    return {
      state: "note",
      what: "the database lies in a container's own layer, and goes with the container",
      mend: "mount a volume at JISS_DATA_DIR",
    };
  }
  return ok("every write is synced to a disk of this machine before it is confirmed");
}
