/** What a check of `jiss doctor` is given, and what it finds. */
import type { Config } from "../../config/config.ts";
import type { Database } from "../../store/database.ts";
import type { SchemaTrouble } from "../../store/schema_check.ts";

export interface Examined {
  readonly config: Config;
  /** As it stands, beside a running service perhaps: nothing is written to it. */
  readonly database: Database;
  /** In what its schema is another one than this program's; null if in nothing. */
  readonly schemaTrouble: SchemaTrouble | null;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface Finding {
  /** `note`: it works, and asks for something to be done in time. `wrong`: it does not work, or is open to others. */
  readonly state: "ok" | "note" | "wrong";
  readonly what: string;
  /** null where there is nothing to mend. */
  readonly mend: string | null;
  /** Those that it is about, where it is about organizations. */
  readonly organizations?: readonly string[];
}

/** Looks and changes nothing. */
export type Check = (examined: Examined) => Promise<Finding> | Finding;

export function ok(what: string): Finding {
  return { state: "ok", what, mend: null };
}

/** Names that a line holds; a program is given all of them. */
const NAMES_TOLD = 5;

/** `acme, beta and 3 more` */
export function someOf(names: readonly string[]): string {
  const told = names.slice(0, NAMES_TOLD).join(", ");
  return names.length > NAMES_TOLD ? `${told} and ${names.length - NAMES_TOLD} more` : told;
}

/** `1 key hangs`, `2 keys hang` */
export function keysHang(count: number): string {
  return count === 1 ? "1 key hangs" : `${count} keys hang`;
}

/** Of a folder whose file system may not be looked at. */
export function unseen(folder: string): Finding {
  return {
    state: "note",
    what: `nothing can be told of the file system that ${folder} lies on`,
    mend: "give deno --allow-sys=statfs, as the release has it; below /dev and /proc it may not look at all",
  };
}
