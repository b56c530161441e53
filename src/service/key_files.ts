/** The files that a start reads or makes: the signing key, and the first organization's key. */
import { createPrivately } from "./data_directory.ts";
import type { Sending } from "../operations/shared/capabilities.ts";
import type { BootstrapOrganization } from "../config/config.ts";
import type { Signer } from "../evidence/crypto.ts";
import { signerFromPem } from "../evidence/node_crypto.ts";
import { API_KEY_RANDOM_BYTES, mayBeHeld, mintApiKey } from "../keys/api_key.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import type { World } from "../domain/world.ts";
import { isOwnKey } from "../operations/organizations/authentication.ts";
import { adviceForFile, StartError } from "../operations/shared/start_error.ts";
import type { SignerSource } from "../operations/shared/signing.ts";
import { createOrganization } from "../operations/organizations/organizations.ts";
import { inviteUser, issueLink, listUsers } from "../operations/users/accounts.ts";
import { holdsChains } from "../store/chain_rows.ts";
import type { Database } from "../store/database.ts";
import { writeDurably } from "../store/durable_file.ts";
import { organizationExists } from "../store/organizations.ts";

const PRIVATE_FILE = 0o600;

/** Mints API keys of organizations from a source of random bytes. */
export function keyMint({ random }: Pick<World, "random">): () => string {
  return () => mintApiKey(random(API_KEY_RANDOM_BYTES));
}

export interface SignerFiles {
  readonly signingKeyFile: string;
  readonly previousSigningKeyFile: string;
}

/**
 * Makes the signing key if the database holds no chain yet. A start that was cut short leaves an empty file.
 * @throws {StartError} if the key is missing and the database holds chains.
 */
export async function provideSigningKey(
  { signingKeyFile }: SignerFiles,
  { database, generate }: {
    readonly database: Database;
    /** Makes a private key, PKCS#8 PEM. */
    readonly generate: () => string;
  },
): Promise<void> {
  const isThere = stampOf(signingKeyFile) !== ABSENT;
  if (isThere && Deno.statSync(signingKeyFile).size > 0) return;
  if (await holdsChains(database)) {
    if (isThere) return;
    throw new StartError(
      "JISS_SIGNING_KEY_FILE names no file, and this database's chains were signed: put the signing key back",
    );
  }
  if (isThere) return fillPrivately(signingKeyFile, generate(), "JISS_SIGNING_KEY_FILE");
  if (!createPrivately(signingKeyFile, generate())) {
    throw new StartError("JISS_SIGNING_KEY_FILE appeared just now: start again");
  }
}

/** Reads the signing keys' files; `read` throws {StartError} if one is unreadable or no Ed25519 key. */
export function signerSource({ signingKeyFile, previousSigningKeyFile }: SignerFiles): SignerSource {
  return {
    stamp: () => `${stampOf(signingKeyFile)} ${stampOf(previousSigningKeyFile)}`,
    read: () => [
      readSigner("JISS_SIGNING_KEY_FILE", signingKeyFile),
      ...(stampOf(previousSigningKeyFile) === ABSENT
        ? []
        : [readSigner("JISS_SIGNING_KEY_PREVIOUS_FILE", previousSigningKeyFile)]),
    ],
  };
}

const ABSENT = "absent";

/** A text that changes when the file changes. */
function stampOf(path: string): string {
  try {
    const { ino, mtime, size } = Deno.statSync(path);
    return `${ino} ${mtime?.getTime()} ${size}`;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return ABSENT;
    throw error;
  }
}

function readSigner(variable: string, path: string): Signer {
  let pem: string;
  try {
    pem = Deno.readTextFileSync(path);
  } catch (error) {
    throw new StartError(`${variable} cannot be read: ${adviceForFile(error, "check its permissions")}`);
  }
  try {
    return signerFromPem(pem);
  } catch (error) {
    throw new StartError(`${variable} ${(error as Error).message}`);
  }
}

/**
 * Creates the first organization, from `JISS_BOOTSTRAP_ORG_FILE`, once, and invites its first admin. The organization's key
 * is in the file before the organization exists, so that no crash in between can lose it.
 */
export async function bootstrap(
  dependencies: Omit<Dependencies, keyof Sending>,
  { admin, ...organization }: BootstrapOrganization,
  { now, baseUrl }: { readonly now: number; readonly baseUrl: string | null },
): Promise<void> {
  await bootstrapOrganization(dependencies, organization, now);
  if (admin !== undefined) {
    await inviteFirstAdmin(dependencies, admin, { orgId: organization.org_id, now, baseUrl });
  }
}

/**
 * Invites the admin, and writes the link to its file. A start that was cut short in between writes a new link. Once the
 * link is used, nothing is done.
 */
async function inviteFirstAdmin(
  dependencies: Omit<Dependencies, keyof Sending>,
  { email, name, link_file: path }: NonNullable<BootstrapOrganization["admin"]>,
  { orgId, now, baseUrl }: { readonly orgId: string; readonly now: number; readonly baseUrl: string | null },
): Promise<void> {
  const caller = { actor: "system", orgId, prefix: null } as const;
  const call = { now, requestId: dependencies.world.ulid(now) };
  const users = await listUsers(dependencies, caller);
  const known = users.find((user) => user.email === email);
  const isWritten = (statOf(path, Deno.statSync)?.size ?? 0) > 0;
  if (known !== undefined && (known.state !== "invited" || isWritten)) return;
  const { token } = known === undefined
    ? (await inviteUser(dependencies, caller, { request: { email, name, role: "admin" }, call })).link
    : await issueLink(dependencies, caller, { userId: known.user_id, call });
  fillPrivately(path, `${baseUrl ?? ""}/console/link#${token}\n`, "JISS_BOOTSTRAP_ORG_FILE: admin.link_file");
  dependencies.log.info("the first admin was invited: the one-time link is in admin.link_file", {
    org_id: orgId,
  });
}

async function bootstrapOrganization(
  dependencies: Omit<Dependencies, keyof Sending>,
  { api_key_file, ...organization }: Omit<BootstrapOrganization, "admin">,
  now: number,
): Promise<void> {
  const name = "JISS_BOOTSTRAP_ORG_FILE: api_key_file";
  if (await organizationExists(dependencies.database, organization.org_id)) {
    await warnIfKeyFileIsStale(dependencies, { orgId: organization.org_id, path: api_key_file, now });
    return;
  }
  const apiKey = keyInFile(api_key_file, { name, mint: dependencies.mintKey });
  await createOrganization(dependencies, { actor: "system", orgId: null, prefix: null }, {
    organization,
    call: { now, requestId: dependencies.world.ulid(now) },
    scope: null,
    idempotency: null,
    apiKey,
  });
  dependencies.log.info("bootstrap organization created", { org_id: organization.org_id });
}

/** Warns if the file holds no working key of the organization: a program that uses it would be refused. */
async function warnIfKeyFileIsStale(
  dependencies: Omit<Dependencies, keyof Sending>,
  { orgId, path, now }: { readonly orgId: string; readonly path: string; readonly now: number },
): Promise<void> {
  let text: string | undefined;
  try {
    // Reading a pipe would wait.
    if (kindOf(path) !== "other") text = Deno.readTextFileSync(path).trim();
  } catch {
    // Nobody can read a key there.
  }
  if (text !== undefined && await isOwnKey(dependencies, { key: text, orgId, now })) return;
  dependencies.log.warn("the bootstrap organization's api_key_file holds no key of it that works", {
    org_id: orgId,
    mend: "put the key in use there, or run jiss org rotate-key and put the new one there",
  });
}

/**
 * The key that a file holds, or a newly minted one, which is then durably in the file. Only the file's owner
 * can read it.
 * @throws {StartError} if the file cannot be read or written, or holds something else; it calls the file
 *   `name`.
 */
export function keyInFile(
  path: string,
  { name, mint }: { readonly name: string; readonly mint: () => string },
): string {
  const kind = kindOf(path);
  if (kind === "other") {
    throw new StartError(`${name} must be an ordinary file: a device or a pipe keeps no key`);
  }
  const given = readKeyFile(path, name);
  if (given !== null) {
    // The permissions of a mounted file may not be changeable.
    if (kind === "file") closeToOthers(path);
    return given;
  }
  if (kind === "link") {
    throw new StartError(`${name} is a link to no key, and nothing is written through a link`);
  }
  const minted = mint();
  fillPrivately(path, `${minted}\n`, name);
  return minted;
}

/**
 * Writes a file that is empty or missing, for its owner alone.
 * @throws {StartError} if the file cannot be written; it calls the file `name`.
 */
function fillPrivately(path: string, content: string, name: string): void {
  try {
    writeDurably(path, content, { mustBeNew: false });
    Deno.chmodSync(path, PRIVATE_FILE);
  } catch (error) {
    throw new StartError(
      `${name} cannot be written: ${adviceForFile(error, "check the path and its permissions")}`,
    );
  }
}

/** A path that cannot be examined counts as a file: reading it then tells why. */
function kindOf(path: string): "file" | "link" | "other" {
  const own = statOf(path, Deno.lstatSync);
  if (own === null || own.isFile) return "file";
  if (!own.isSymlink) return "other";
  return statOf(path, Deno.statSync)?.isFile === false ? "other" : "link";
}

function statOf(path: string, stat: (path: string) => Deno.FileInfo): Deno.FileInfo | null {
  try {
    return stat(path);
  } catch {
    return null;
  }
}

function closeToOthers(path: string): void {
  try {
    Deno.chmodSync(path, PRIVATE_FILE);
  } catch {
    // The file holds the key all the same; `jiss doctor` tells who can read it.
  }
}

function readKeyFile(path: string, name: string): string | null {
  let text: string;
  try {
    text = Deno.readTextFileSync(path).trim();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw new StartError(`${name} cannot be read: ${adviceForFile(error, "check its permissions")}`);
  }
  if (text === "") return null;
  if (!mayBeHeld(text)) {
    throw new StartError(
      `${name} holds something else than a key that can be used: empty it, or put a key there`,
    );
  }
  return text;
}
