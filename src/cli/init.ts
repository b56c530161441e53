/** `jiss init [DIR]`: every secret a deployment needs, made here and written for their owner alone. */
import { MASTER_SCOPES, masterSecretNames } from "../keys/master_keys.ts";
import { writeDurably } from "../store/durable_file.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";

export const ENVIRONMENT_FILE = "jiss.env";
const SIGNING_KEY_FILE = "signing-key.pem";
const PRIVATE_DIRECTORY = 0o700;

/** The lines of a fresh environment file. */
function environmentLines(shell: Shell): readonly string[] {
  return [
    `JISS_KEY_PEPPER=${shell.generateSecret()}`,
    ...MASTER_SCOPES.map((scope) => `${masterSecretNames(scope)[0]}=${shell.generateSecret()}`),
  ];
}

/** Writes both files. @throws {CommandFailure} where one of them is there: nothing is ever overwritten. */
export function writeSecrets(shell: Shell, directory: string): { readonly directory: string } {
  Deno.mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
  const absolute = Deno.realPathSync(directory);
  const files: readonly (readonly [string, string])[] = [
    [`${absolute}/${ENVIRONMENT_FILE}`, `${environmentLines(shell).join("\n")}\n`],
    [`${absolute}/${SIGNING_KEY_FILE}`, shell.generateSigningKey()],
  ];
  const there = files.find(([path]) => exists(path));
  if (there !== undefined) {
    throw new CommandFailure(`${there[0]} is there already: nothing was written`, EXIT.failure);
  }
  for (const [path, content] of files) {
    writeDurably(path, content, { mustBeNew: true });
  }
  return { directory: absolute };
}

export function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

export function init(shell: Shell, directory: string): number {
  const { directory: absolute } = writeSecrets(shell, directory);
  const environmentFile = `${absolute}/${ENVIRONMENT_FILE}`;
  console.log(`Wrote ${environmentFile} and ${SIGNING_KEY_FILE} beside it, readable by their owner alone.
Keep a copy of both where only you can read it: without them nothing here can be verified or continued.

Start the service with them:
  set -a; . ${environmentFile}; set +a; JISS_DATA_DIR=${absolute} jiss serve`);
  return EXIT.ok;
}
