/** How the program was started, so that what it tells to run next can be pasted as it stands. */
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { RELEASE_PERMISSIONS, UNSTABLE_FEATURES } from "./permissions.ts";

export interface Started {
  /** Address of the main module. */
  readonly mainUrl: string;
  /** Whether it is one executable. */
  readonly isExecutable: boolean;
  /** Of Deno, or of that executable. */
  readonly execPath: string;
  readonly denoVersion: string;
  readonly directory: string;
  readonly exists: (path: string) => boolean;
}

/**
 * A command of this program, for a shell: `deno task jiss …` in a clone, the launcher that lies beside a bundle, that of the
 * npm package, the bundle with its permissions, or the executable.
 * @param args - words that a shell takes as they are.
 */
export function commandLineOf(
  { mainUrl, isExecutable, execPath, denoVersion, directory, exists }: Started,
  args: string,
): string {
  if (isExecutable) return `${quoted(execPath)} ${args}`;
  const main = fileURLToPath(mainUrl);
  const folder = dirname(main);
  if (basename(main) === "main.ts") {
    // By npx it is run where no Deno is installed.
    const deno = execPath.includes("/node_modules/") ? `npx -y deno@${denoVersion}` : "deno";
    const task = `${deno} task jiss ${args}`;
    return directory === folder ? task : `(cd ${quoted(folder)} && ${task})`;
  }
  const launcher = `${folder}/jiss`;
  if (exists(launcher)) return `${quoted(launcher)} ${args}`;
  const npmLauncher = `${folder}/jiss.mjs`;
  if (exists(npmLauncher)) {
    return folder === `${directory}/node_modules/jiss`
      ? `npx jiss ${args}`
      : `node ${quoted(npmLauncher)} ${args}`;
  }
  const flags = ["--no-config", ...UNSTABLE_FEATURES, ...RELEASE_PERMISSIONS].map(quoted).join(" ");
  return `${quoted(execPath)} run ${flags} ${quoted(main)} ${args}`;
}

/** As a POSIX shell takes it for one word. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
