/** How the program was started, so that the commands that it prints can be pasted unchanged. */
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { RELEASE_PERMISSIONS, UNSTABLE_FEATURES } from "./permissions.ts";

export interface StartFacts {
  /** Address of the main module. */
  readonly mainUrl: string;
  /** Whether the program is one compiled executable. */
  readonly isExecutable: boolean;
  /** Path of Deno, or of that executable. */
  readonly execPath: string;
  readonly denoVersion: string;
  readonly directory: string;
  readonly exists: (path: string) => boolean;
}

/**
 * A command line of this program for a shell. It calls `deno task jiss …` in a clone, the launcher beside a
 * bundle, the launcher of the npm package, the bundle with its permissions, or the executable.
 * @param args - words that a shell takes unquoted.
 */
export function commandLineOf(
  { mainUrl, isExecutable, execPath, denoVersion, directory, exists }: StartFacts,
  args: string,
): string {
  if (isExecutable) return `${quoteForShell(execPath)} ${args}`;
  const main = fileURLToPath(mainUrl);
  const folder = dirname(main);
  if (basename(main) === "main.ts") {
    // Deno comes from npx if none is installed.
    const deno = execPath.includes("/node_modules/") ? `npx -y deno@${denoVersion}` : "deno";
    const task = `${deno} task jiss ${args}`;
    return directory === folder ? task : `(cd ${quoteForShell(folder)} && ${task})`;
  }
  const launcher = `${folder}/jiss`;
  if (exists(launcher)) return `${quoteForShell(launcher)} ${args}`;
  const npmLauncher = `${folder}/jiss.mjs`;
  if (exists(npmLauncher)) {
    return folder === `${directory}/node_modules/jiss`
      ? `npx jiss ${args}`
      : `node ${quoteForShell(npmLauncher)} ${args}`;
  }
  const flags = ["--no-config", ...UNSTABLE_FEATURES, ...RELEASE_PERMISSIONS].map(quoteForShell).join(" ");
  return `${quoteForShell(execPath)} run ${flags} ${quoteForShell(main)} ${args}`;
}

/** Quotes a word for a POSIX shell. */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
