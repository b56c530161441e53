/** The input of a check of `jiss doctor`, and its finding. */
import type { Config } from "../../config/config.ts";
import type { Database } from "../../store/database.ts";
import type { KeyPepper } from "../../store/organizations.ts";
import type { SchemaTrouble } from "../../store/schema_check.ts";

export interface CheckInput {
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
export type Check = (input: CheckInput) => Promise<Finding> | Finding;

export function ok(what: string): Finding {
  return { state: "ok", what, mend: null };
}

/** The holders of keys as a finding names them. */
export function holdersOf(keys: readonly KeyPepper[]): readonly string[] {
  return keys.map(({ org_id, name }) => name === null ? org_id : `${org_id} (key ${JSON.stringify(name)})`)
    .sort();
}

/** The organizations of keys, each once, sorted. */
export function organizationsOf(keys: readonly KeyPepper[]): readonly string[] {
  return [...new Set(keys.map(({ org_id }) => org_id))].sort();
}

/** The most names in one line of text; `--json` has all of them. */
const NAMES_SHOWN = 5;

/** For example `acme, beta and 3 more`. */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN).join(", ");
  return names.length > NAMES_SHOWN ? `${shown} and ${names.length - NAMES_SHOWN} more` : shown;
}

/** For example `1 key depends` or `2 keys depend`. */
export function keysDepend(count: number): string {
  return count === 1 ? "1 key depends" : `${count} keys depend`;
}

/** The finding for a folder whose file system Deno may not examine. */
export function unknownFileSystem(folder: string): Finding {
  return {
    state: "note",
    what: `the file system of ${folder} cannot be examined`,
    mend:
      "start deno with --allow-sys=statfs, as the release does; folders below /dev and /proc cannot be examined at all",
  };
}
