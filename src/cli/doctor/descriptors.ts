/** Checks how many file descriptors a process gets: each connection takes one or more. */
import { DESCRIPTORS_ADVISED } from "../../domain/limits.ts";
import { connectionsFor, descriptorsOf, freeDescriptors } from "../descriptors.ts";
import { type Examined, type Finding, ok } from "./check.ts";

/** Descriptors that the counting process itself has open already. */
const TAKEN = 64;

export function descriptors({ config }: Examined): Finding {
  const enough = DESCRIPTORS_ADVISED - TAKEN;
  const free = freeDescriptors(config.dataDir, enough);
  if (free >= enough) return ok(`a process from here gets ${DESCRIPTORS_ADVISED} file descriptors or more`);
  return {
    state: "note",
    what: `a process from here gets about ${free} file descriptors, enough for ${
      connectionsFor(free, descriptorsOf(config))
    } connections`,
    mend:
      `grant the service ${DESCRIPTORS_ADVISED}: LimitNOFILE= of a systemd unit, --ulimit nofile= of a container, ulimit -Hn of a shell`,
  };
}
