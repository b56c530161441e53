/**
 * `jiss init [DIR]`: makes every secret that a deployment needs, in files that only their owner can access.
 */
import { MASTER_SCOPES, masterSecretNames } from "../keys/master_keys.ts";
import { quoteForShell } from "./invocation.ts";
import { writeDurably } from "../store/durable_file.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";

export const ENVIRONMENT_FILE = "jiss.env";
const SIGNING_KEY_FILE = "signing-key.pem";
const PRIVATE_DIRECTORY = 0o700;

/** The secrets of a deployment, not yet in any file. */
export interface DraftedSecrets {
  /** Text of the environment file. */
  readonly environment: string;
  /** PKCS#8 PEM. */
  readonly signingKey: string;
}

export function draftSecrets(shell: Shell): DraftedSecrets {
  const lines = [
    `JISS_KEY_PEPPER=${shell.generateSecret()}`,
    ...MASTER_SCOPES.map((scope) => `${masterSecretNames(scope)[0]}=${shell.generateSecret()}`),
  ];
  return { environment: `${lines.join("\n")}\n`, signingKey: shell.generateSigningKey() };
}

/**
 * Writes both files, or neither.
 * @throws {CommandFailure} if one of them exists: nothing is ever overwritten.
 */
export function writeSecrets(
  directory: string,
  { environment, signingKey }: DraftedSecrets,
): { readonly directory: string } {
  makeDirectory(directory);
  const absolute = Deno.realPathSync(directory);
  const files: readonly (readonly [string, string])[] = [
    [`${absolute}/${ENVIRONMENT_FILE}`, environment],
    [`${absolute}/${SIGNING_KEY_FILE}`, signingKey],
  ];
  const existing = files.find(([path]) => exists(path));
  if (existing !== undefined) {
    throw new CommandFailure(`${existing[0]} already exists: nothing was written`, EXIT.failure);
  }
  const written: string[] = [];
  try {
    for (const [path, content] of files) {
      written.push(path);
      writeDurably(path, content, { mustBeNew: true });
    }
  } catch (error) {
    // Another process was quicker and made the last file.
    if (error instanceof Deno.errors.AlreadyExists) written.pop();
    // One file without the other, or a part of one, would only hinder the next attempt.
    for (const path of written.filter(exists)) Deno.removeSync(path);
    throw error;
  }
  return { directory: absolute };
}

/**
 * Makes a directory that only its owner can access, unless it exists.
 * @throws {CommandFailure} if it cannot.
 */
export function makeDirectory(directory: string): void {
  try {
    Deno.mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
  } catch (error) {
    const { name } = error as Error;
    throw new CommandFailure(
      `the directory ${
        JSON.stringify(directory)
      } cannot be created (${name}): check the path and its permissions`,
      EXIT.failure,
    );
  }
}

/** Whether there is anything at a path. */
export function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
    throw error;
  }
}

export function init(shell: Shell, directory: string): number {
  const { directory: absolute } = writeSecrets(directory, draftSecrets(shell));
  const environmentFile = `${absolute}/${ENVIRONMENT_FILE}`;
  console.log(`Wrote ${environmentFile} and ${SIGNING_KEY_FILE} beside it, readable only by their owner.
Keep a copy of both where only you can read it: without them the service cannot continue its log or verify API keys.

Start the service with them:
  set -a; . ${quoteForShell(environmentFile)}; JISS_DATA_DIR=${quoteForShell(absolute)}; set +a
  ${shell.commandLine("serve")}`);
  return EXIT.ok;
}
