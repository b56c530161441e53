/** Whether the files that hold secrets and data are their owner's alone. */
import type { Config } from "../../config/config.ts";
import { ENVIRONMENT_FILE } from "../init.ts";
import { type Examined, type Finding, ok } from "./check.ts";

/** Others may do something with it, or its group may change it. */
const OPEN_TO_OTHERS = 0o027;
/** Of a directory: whoever may write there can put files of his own in the place of those that lie there. */
const REPLACEABLE = 0o022;
/** Others, or its group, may see which files lie there. */
const LISTED = 0o055;
/** The group may read it, as where a platform mounts it for a group. */
const OPEN_TO_GROUP = 0o040;

const FOLLOWERS = ["-wal", "-shm"];

export function fileModes({ config }: Examined): Finding {
  const directory = modeOf(config.dataDir);
  if (directory !== null && (directory & REPLACEABLE) !== 0) {
    return {
      state: "wrong",
      what: `others can put files of their own into ${config.dataDir} (${octal(directory)})`,
      mend: `chmod go-w ${config.dataDir}`,
    };
  }
  const modes = filesOf(config).flatMap((path) => {
    const mode = modeOf(path);
    return mode === null ? [] : [{ path, mode }];
  });
  const open = modes.filter(({ mode }) => (mode & OPEN_TO_OTHERS) !== 0);
  const shared = modes.filter(({ mode }) => (mode & OPEN_TO_GROUP) !== 0 && (mode & OPEN_TO_OTHERS) === 0);
  const told = withoutFollowers(open.length > 0 ? open : shared);
  if (told.length === 0) {
    if (directory === null || (directory & LISTED) === 0) {
      return ok("secrets and data are their owner's alone");
    }
    return {
      state: "note",
      what: `others than its owner can look into ${config.dataDir} (${
        octal(directory)
      }); they can read no file there`,
      mend: `chmod 0700 ${config.dataDir}`,
    };
  }
  const named = told.map(({ path, mode }) => `${path} (${octal(mode)})`).join(", ");
  return {
    state: open.length > 0 ? "wrong" : "note",
    what: `${open.length > 0 ? "others can get at" : "the group can read"} ${named}`,
    mend: `chmod go= ${told.map(({ path }) => path).join(" ")}`,
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
    ["", ...FOLLOWERS].map((end) => path + end)
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

/** SQLite makes what lies beside a database with the database's mode: of both, the database is to be mended first. */
function withoutFollowers(modes: readonly Mode[]): readonly Mode[] {
  return modes.filter(({ path }) =>
    !modes.some((other) => FOLLOWERS.some((end) => path === other.path + end))
  );
}

/** null where there is no such file, or the system has no modes. */
function modeOf(path: string): number | null {
  try {
    const { mode } = Deno.statSync(path);
    return mode === null ? null : mode & 0o777;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
