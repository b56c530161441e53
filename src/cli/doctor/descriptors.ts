/** Checks how many file descriptors a process gets: each connection takes one or more. */
import { DESCRIPTORS_ADVISED } from "../../domain/limits.ts";
import { connectionsFor, descriptorsOf, freeDescriptors } from "../descriptors.ts";
import { type CheckInput, type Finding, ok } from "./check.ts";

/** Descriptors that the counting process itself has open already. */
const ALREADY_OPEN = 64;

export function descriptors({ config }: CheckInput): Finding {
  const enough = DESCRIPTORS_ADVISED - ALREADY_OPEN;
  const free = freeDescriptors(config.dataDir, enough);
  if (free >= enough) {
    return ok(`a process started here gets at least ${DESCRIPTORS_ADVISED} file descriptors`);
  }
  return {
    state: "note",
    what: `a process started here gets about ${free} file descriptors, enough for ${
      connectionsFor(free, descriptorsOf(config))
    } connections`,
    mend:
      `give the service ${DESCRIPTORS_ADVISED}: with LimitNOFILE= in a systemd unit, --ulimit nofile= for a container, or ulimit -Hn in a shell`,
  };
}
