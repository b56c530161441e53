/** Checks that this machine's clock agrees with the last run of the service, and with the last entry. */
import { SYSTEM_CHAIN } from "../../evidence/chain_name.ts";
import { RECORDED_MS, startReference } from "../../operations/installation/clock_watch.ts";
import { loadHeads } from "../../store/chains.ts";
import { StorageFailure } from "../../store/faults.ts";
import { readStoredClock } from "../../store/lock.ts";
import type { StoredClock } from "../../store/issued.ts";
import { exists } from "../init.ts";
import { type CheckInput, type Finding, ok } from "./check.ts";

const SET_CLOCK = "set the clock, and keep it right with a time service";

export async function clock({ config, database, now }: CheckInput): Promise<Finding> {
  const [head] = await loadHeads(database, [SYSTEM_CHAIN]);
  if (head === undefined) return ok("no entry has been made yet");
  const reading = `this machine's clock says ${new Date(now).toISOString()}`;
  const lastEntryAt = Date.parse(head.lastTimestamp);
  if (now < lastEntryAt - RECORDED_MS) {
    return {
      state: "wrong",
      what:
        `${reading}, but the last entry has ${head.lastTimestamp}: new entries get that time until the clock has caught up`,
      mend: SET_CLOCK,
    };
  }
  const kept = exists(config.lockFile) ? readClock(config.lockFile) : null;
  const { ranLastAt, furthestAt, aheadMs } = startReference({ stored: kept, lastEntryAt, now });
  if (now > furthestAt + aheadMs) {
    return {
      state: "wrong",
      what: `${reading}, but the service ran last at ${
        new Date(ranLastAt).toISOString()
      }: nothing is recorded`,
      mend: `${SET_CLOCK}; if it is right, run jiss doctor --accept-clock`,
    };
  }
  return ok("this machine's clock continues from the last run of the service");
}

function readClock(lockFile: string): StoredClock | null {
  try {
    return readStoredClock(lockFile);
  } catch (error) {
    // The check `checkpoints` reports this.
    if (error instanceof StorageFailure) return null;
    throw error;
  }
}
