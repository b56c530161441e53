/** Checks that `lock.db` knows the issued checkpoints, and that the database is not older than they are. */
import { isOfAnotherDeployment } from "../../operations/restoring/restores.ts";
import { loadHeads } from "../../store/chains.ts";
import { StorageFailure } from "../../store/faults.ts";
import { isBehind, issuedPlaces, MEND_LOCK } from "../../store/lock.ts";
import { isRestoreUnfinished } from "../../store/unfinished_restore.ts";
import { exists } from "../init.ts";
import { type CheckInput, type Finding, listNames, ok } from "./check.ts";

export async function checkpoints({ config, database }: CheckInput): Promise<Finding> {
  const { dataDir, lockFile } = config;
  if (isRestoreUnfinished(dataDir)) {
    return {
      state: "wrong",
      what: "a restore was interrupted: the service cannot start",
      mend: "run jiss restore FILE --acknowledge REASON again",
    };
  }
  if (!exists(lockFile)) {
    return {
      state: "wrong",
      what: `${lockFile} is missing: an older database that was put back would not be noticed`,
      mend:
        "if it was lost, compare the database with checkpoints that were kept elsewhere (jiss verify), then start the service, which makes a new one",
    };
  }
  const issued = readPlaces(lockFile);
  if (issued instanceof StorageFailure) {
    return { state: "wrong", what: `${lockFile} cannot be read (${issued.message})`, mend: MEND_LOCK };
  }
  const heads = new Map((await loadHeads(database, [...issued.keys()])).map((head) => [head.family, head]));
  const [foreign] = [...heads.values()].filter((head) =>
    isOfAnotherDeployment(head, issued.get(head.family)!)
  );
  if (foreign !== undefined) {
    return {
      state: "wrong",
      what: `${lockFile} belongs to another installation than the database: the service cannot start`,
      mend:
        "put back the database that belongs to it; if the database here is the right one, move lock.db with its -wal and -shm away",
    };
  }
  const behind = [...issued].filter(([family, place]) => {
    const head = heads.get(family);
    return head === undefined || isBehind(head, place);
  }).map(([family]) => family);
  if (behind.length === 0) {
    return ok(
      `the database is not older than the ${issued.size} issued checkpoints; keep some elsewhere: jiss checkpoint`,
    );
  }
  return {
    state: "wrong",
    what: `the database is older than the issued checkpoints of ${listNames(behind)}: nothing is recorded`,
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
