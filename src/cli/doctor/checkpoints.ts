/** Checks that `lock.db` knows the issued checkpoints, and that the database is not older than they are. */
import { isOfAnotherDeployment } from "../../operations/restoring/restores.ts";
import { loadHeads } from "../../store/chains.ts";
import { StorageFailure } from "../../store/faults.ts";
import { isBehind, issuedPlaces, MEND_LOCK } from "../../store/lock.ts";
import { isRestoreUnfinished } from "../../store/unfinished_restore.ts";
import { exists } from "../init.ts";
import { type Examined, type Finding, ok, someOf } from "./check.ts";

export async function checkpoints({ config, database }: Examined): Promise<Finding> {
  const { dataDir, lockFile } = config;
  if (isRestoreUnfinished(dataDir)) {
    return {
      state: "wrong",
      what: "a restore was cut short: the service cannot start",
      mend: "run jiss restore FILE --acknowledge REASON again",
    };
  }
  if (!exists(lockFile)) {
    return {
      state: "wrong",
      what: `${lockFile} is not there: nobody here would notice a database that was put back`,
      mend:
        "if lock.db was lost, compare the database with checkpoints that are kept elsewhere (jiss verify), then start the service, which makes a new one",
    };
  }
  const issued = readPlaces(lockFile);
  if (issued instanceof StorageFailure) {
    return { state: "wrong", what: `${lockFile} cannot be read (${issued.message})`, mend: MEND_LOCK };
  }
  const heads = new Map((await loadHeads(database, [...issued.keys()])).map((head) => [head.family, head]));
  const [strange] = [...heads.values()].filter((head) =>
    isOfAnotherDeployment(head, issued.get(head.family)!)
  );
  if (strange !== undefined) {
    return {
      state: "wrong",
      what: `${lockFile} is of another installation than the database: the service cannot start`,
      mend:
        "put back the database that belongs to it; or, where this directory was given another one, put lock.db with its -wal and -shm aside",
    };
  }
  const behind = [...issued].filter(([family, place]) => {
    const head = heads.get(family);
    return head === undefined || isBehind(head, place);
  }).map(([family]) => family);
  if (behind.length === 0) {
    return ok(
      `the database is no older than the ${issued.size} checkpoints that were issued; keep some elsewhere: jiss checkpoint`,
    );
  }
  return {
    state: "wrong",
    what: `the database is older than what was issued of ${someOf(behind)}: nothing is recorded`,
    mend: "put the newer database back, or run jiss restore --acknowledge REASON",
  };
}

function readPlaces(lockFile: string): ReturnType<typeof issuedPlaces> | StorageFailure {
  try {
    return issuedPlaces(lockFile);
  } catch (error) {
    if (error instanceof StorageFailure) return error;
    throw error;
  }
}
