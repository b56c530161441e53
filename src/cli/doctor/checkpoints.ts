/** Whether what was issued is known here apart from the database, and the database is not older than it. */
import { loadHeads } from "../../store/chains.ts";
import { isBehind, issuedPlaces } from "../../store/lock.ts";
import { exists } from "../init.ts";
import { type Examined, type Finding, ok, someOf } from "./check.ts";

export async function checkpoints({ config, database }: Examined): Promise<Finding> {
  const { lockFile } = config;
  if (!exists(lockFile)) {
    return {
      state: "wrong",
      what: `${lockFile} is not there: nobody here would notice a database that was put back`,
      mend:
        "where it was lost, hold the database against checkpoints kept elsewhere (jiss verify), then start the service, which makes a new one",
    };
  }
  const issued = issuedPlaces(lockFile);
  const heads = new Map((await loadHeads(database, [...issued.keys()])).map((head) => [head.family, head]));
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
