/** Checks that only their owner can access the files with secrets and data. */
import type { Config } from "../../config/config.ts";
import { ENVIRONMENT_FILE } from "../init.ts";
import { type CheckInput, type Finding, ok } from "./check.ts";

/** Others may read, write or execute the file, or its group may write it. */
const OPEN_TO_OTHERS = 0o027;
/** Group or others may write to the directory: they can replace its files with their own. */
const REPLACEABLE = 0o022;
/** Group or others may list or enter the directory. */
const LISTED = 0o055;
/** The group may read the file: some platforms mount files for a group. */
const OPEN_TO_GROUP = 0o040;

const SIDE_FILE_SUFFIXES = ["-wal", "-shm"];

export function fileModes({ config }: CheckInput): Finding {
  const directory = modeOf(config.dataDir);
  if (directory !== null && (directory & REPLACEABLE) !== 0) {
    return {
      state: "wrong",
      what: `other users can put files into ${config.dataDir} (${octal(directory)})`,
      mend: `chmod go-w ${config.dataDir}`,
    };
  }
  const modes = filesOf(config).flatMap((path) => {
    const mode = modeOf(path);
    return mode === null ? [] : [{ path, mode }];
  });
  const open = modes.filter(({ mode }) => (mode & OPEN_TO_OTHERS) !== 0);
  const shared = modes.filter(({ mode }) => (mode & OPEN_TO_GROUP) !== 0 && (mode & OPEN_TO_OTHERS) === 0);
  const reported = withoutSideFiles(open.length > 0 ? open : shared);
  if (reported.length === 0) {
    if (directory === null || (directory & LISTED) === 0) {
      return ok("only their owner can access secrets and data");
    }
    return {
      state: "note",
      what: `other users can list ${config.dataDir} (${octal(directory)}), but can read no file there`,
      mend: `chmod 0700 ${config.dataDir}`,
    };
  }
  const named = reported.map(({ path, mode }) => `${path} (${octal(mode)})`).join(", ");
  return {
    state: open.length > 0 ? "wrong" : "note",
    what: `${open.length > 0 ? "other users can access" : "the group can read"} ${named}`,
    mend: `chmod go= ${reported.map(({ path }) => path).join(" ")}`,
  };
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}

function filesOf(
  {
    dataDir,
    database,
    lockFile,
    signingKeyFile,
    previousSigningKeyFile,
    secretFiles,
    bootstrapOrganization,
  }: Config,
): readonly string[] {
  const databases = [...(database.kind === "file" ? [database.path] : []), lockFile].flatMap((path) =>
    ["", ...SIDE_FILE_SUFFIXES].map((end) => path + end)
  );
  return [
    `${dataDir}/${ENVIRONMENT_FILE}`,
    signingKeyFile,
    previousSigningKeyFile,
    ...secretFiles,
    ...(bootstrapOrganization === null ? [] : [bootstrapOrganization.api_key_file]),
    ...databases,
  ];
}

interface Mode {
  readonly path: string;
  readonly mode: number;
}

/**
 * Leaves out a `-wal` or `-shm` file if its database is in the list: SQLite makes them with the mode of the
 * database, so the database must be mended first.
 */
function withoutSideFiles(modes: readonly Mode[]): readonly Mode[] {
  return modes.filter(({ path }) =>
    !modes.some((other) => SIDE_FILE_SUFFIXES.some((end) => path === other.path + end))
  );
}

/** null if there is no such file, or the system has no modes. */
function modeOf(path: string): number | null {
  try {
    const { mode } = Deno.statSync(path);
    return mode === null ? null : mode & 0o777;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
