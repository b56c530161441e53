/** The input of a check of `jiss doctor`, and its finding. */
import type { Config } from "../../config/config.ts";
import type { Database } from "../../store/database.ts";
import type { SchemaTrouble } from "../../store/schema_check.ts";

export interface Examined {
  readonly config: Config;
  /** The database, perhaps of a running service: nothing is written to it. */
  readonly database: Database;
  /** How its schema differs from this program's; null if it does not. */
  readonly schemaTrouble: SchemaTrouble | null;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface Finding {
  /** `note`: it works, but needs something in time. `wrong`: it does not work, or is open to others. */
  readonly state: "ok" | "note" | "wrong";
  readonly what: string;
  /** How to mend it; null if there is nothing to mend. */
  readonly mend: string | null;
  /** The organizations that it is about, if it is about organizations. */
  readonly organizations?: readonly string[];
}

/** A check reads only and changes nothing. */
export type Check = (examined: Examined) => Promise<Finding> | Finding;

export function ok(what: string): Finding {
  return { state: "ok", what, mend: null };
}

/** The most names in one line of text; `--json` has all of them. */
const NAMES_TOLD = 5;

/** For example `acme, beta and 3 more`. */
export function someOf(names: readonly string[]): string {
  const told = names.slice(0, NAMES_TOLD).join(", ");
  return names.length > NAMES_TOLD ? `${told} and ${names.length - NAMES_TOLD} more` : told;
}

/** For example `1 key hangs` or `2 keys hang`. */
export function keysHang(count: number): string {
  return count === 1 ? "1 key hangs" : `${count} keys hang`;
}

/** The finding for a folder whose file system Deno may not examine. */
export function unseen(folder: string): Finding {
  return {
    state: "note",
    what: `nothing can be told of the file system that ${folder} lies on`,
    mend: "give deno --allow-sys=statfs, as the release has it; below /dev and /proc it may not look at all",
  };
}
