/** Whether this machine's clock goes on from the last entry. */
import { loadHeads } from "../../store/chains.ts";
import { SYSTEM_CHAIN } from "../../operations/dependencies.ts";
import { type Examined, type Finding, ok } from "./check.ts";

const MINUTE_MS = 60_000;
/** Entries take the last instant until the clock has caught up; more than this is recorded as CLOCK_ANOMALY. */
const BEHIND_MS = 5 * MINUTE_MS;
/** Source: evidence design, clock. */
const AHEAD_MS = 400 * 24 * 60 * MINUTE_MS;

const SET_CLOCK = "set the clock, and let a time service keep it";

export async function clock({ database, now }: Examined): Promise<Finding> {
  const head = (await loadHeads(database, [SYSTEM_CHAIN]))[0];
  if (head === undefined) return ok("no entry has been made yet");
  const last = Date.parse(head.lastTimestamp);
  const told = `this machine's clock says ${
    new Date(now).toISOString()
  }, the last entry ${head.lastTimestamp}`;
  if (now < last - BEHIND_MS) return { state: "wrong", what: `${told}: it is behind`, mend: SET_CLOCK };
  if (now > last + AHEAD_MS) {
    return { state: "wrong", what: `${told}: it is more than 400 days ahead`, mend: SET_CLOCK };
  }
  return ok("this machine's clock goes on from the last entry");
}
