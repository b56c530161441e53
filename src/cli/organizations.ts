/**
 * `jiss org …`: manages organizations by hand. A running service sees each change at its next request.
 *
 * Changes follow the rules of the endpoints and write their audit events, with the actor `system`. A key is
 * printed by the command that minted it, and by no other.
 */
import { ServiceError } from "../domain/errors.ts";
import { type CreateOrganization, createOrganizationSchema, orgIdSchema } from "../domain/organization.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import type { Call } from "../operations/shared/call.ts";
import { createOrganization } from "../operations/organizations/organizations.ts";
import { directCall, inactivityOf } from "../operations/organizations/organization_change.ts";
import {
  reactivateFully,
  rotateByHand,
  type StateOperation,
  suspendOrganization,
} from "../operations/organizations/organization_states.ts";
import {
  allOrganizationsQuery,
  type OrganizationDetails,
  organizationDetailsQuery,
  organizationExists,
} from "../store/organizations.ts";
import { administer } from "./administration.ts";
import { printableLine } from "./printable.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";
import { storageOf, withStored } from "./stored.ts";
import { columns } from "./table.ts";

const ADMINISTRATOR = { actor: "system", orgId: null, prefix: null } as const;

const NO_RESTART = "A running service applies this at once, without a restart.";

// ---- create -----------------------------------------------------------------------------------------------

export interface CreateOptions {
  readonly name: string;
  readonly domain: string;
  readonly tier: string;
  readonly allowedOrigins: string;
  readonly keyFile?: string;
}

export async function createByHand(shell: Shell, orgId: string, options: CreateOptions): Promise<number> {
  const organization = parseOrganization(orgId, options);
  const { keyFile } = options;
  const body = await administer(shell, async ({ dependencies }) => {
    // Checked before a key is written to a file: that key would belong to no organization.
    if (await organizationExists(dependencies.database, orgId)) {
      throw new ServiceError("CONFLICT", `org_id ${orgId} exists: choose another one.`);
    }
    if (keyFile === undefined) printBeforeChange(`Creating the organization ${orgId}.`);
    const apiKey = keyFile === undefined
      ? null
      : shell.keyInFile(keyFile, { name: "--key-file", mint: dependencies.mintKey });
    const created = await createOrganization(dependencies, ADMINISTRATOR, {
      organization,
      call: callAt(shell, dependencies),
      scope: null,
      idempotency: null,
      apiKey,
    });
    return created.body;
  });
  const created = `The organization ${orgId} was created. ${NO_RESTART}`;
  if (keyFile === undefined) printKey(orgId, `${created}\n${keyText(body.api_key)}`);
  else console.log(`${created}\nIts key is in ${keyFile}, readable only by its owner.`);
  return EXIT.ok;
}

/** The argument or option that gives each field of an organization. */
const OPTION_BY_FIELD: Readonly<Record<string, string>> = {
  org_id: "ORG",
  name: "--name",
  domain: "--domain",
  tier: "--tier",
  allowed_origins: "--allowed-origins",
};

/** @throws {CommandFailure} 2, with all problems. */
function parseOrganization(orgId: string, options: CreateOptions): CreateOrganization {
  const { name, domain, tier, allowedOrigins } = options;
  const given = { org_id: orgId, name, domain, tier, allowed_origins: allowedOrigins };
  const parsed = createOrganizationSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) =>
    `${OPTION_BY_FIELD[String(path[0])]} ${message}`
  );
  throw new CommandFailure(problems.join("; "), EXIT.usage);
}

/**
 * Prints a text before a key is minted that can be printed only once: if printing fails, nothing is changed.
 * @throws {CommandFailure}
 */
function printBeforeChange(text: string): void {
  try {
    console.log(text);
  } catch (error) {
    throw new CommandFailure(
      `the new key could not be printed (${(error as Error).message}): nothing was changed`,
      EXIT.failure,
    );
  }
}

/** @throws {CommandFailure} if the text with the key could not be printed. */
function printKey(orgId: string, text: string): void {
  try {
    console.log(text);
  } catch (error) {
    throw new CommandFailure(
      `the new key of ${orgId} could not be printed (${
        (error as Error).message
      }) and is lost: mint another one with jiss org rotate-key ${orgId}`,
      EXIT.failure,
    );
  }
}

function keyText(key: unknown): string {
  return `
  API key (this is the only copy):  ${key}

The service stores only its hash: store the key now where it will be used. A lost key can only be replaced.`;
}

// ---- list and show ----------------------------------------------------------------------------------------

export interface ShownOptions {
  readonly json: boolean;
}

export async function listOrganizations(shell: Shell, { json }: ShownOptions): Promise<number> {
  const rows = await withStored(
    shell,
    storageOf(shell),
    (database) => database.read(allOrganizationsQuery()),
  );
  console.log(
    json ? JSON.stringify({ organizations: rows.map(organizationJson), count: rows.length }) : tableOf(rows),
  );
  return EXIT.ok;
}

export async function showOrganization(
  shell: Shell,
  orgId: string,
  { json }: ShownOptions,
): Promise<number> {
  const row = await withStored(shell, storageOf(shell), async (database) => {
    const [found] = await database.read(organizationDetailsQuery(orgId));
    if (found === undefined) throw unknownOrganization(orgId);
    return found;
  });
  console.log(json ? JSON.stringify(organizationJson(row)) : detailsText(row));
  return EXIT.ok;
}

/** The fields of the specification under their wire names, and the reasons why it is inactive. */
function organizationJson(row: OrganizationDetails) {
  return {
    org_id: row.org_id,
    name: row.name,
    domain: row.domain,
    tier: row.tier,
    allowed_origins: originsOf(row),
    active: row.active,
    reasons: reasonsOf(row),
    prefix: row.prefix,
    api_key_version: row.api_key_version,
    api_key_rotated_at: row.api_key_rotated_at === null ? null : iso(row.api_key_rotated_at),
    created_at: iso(row.created_at),
  };
}

function originsOf({ allowed_origins }: OrganizationDetails): readonly string[] {
  return allowed_origins.split(" ").filter((origin) => origin !== "");
}

/** `since` is null if the reason is older than the column that keeps it. */
function reasonsOf(row: OrganizationDetails): readonly { reason: string; since: string | null }[] {
  return Object.entries(inactivityOf(row)).map(([reason, since]) => ({
    reason,
    since: since === 0 ? null : iso(since),
  }));
}

function tableOf(rows: readonly OrganizationDetails[]): string {
  if (rows.length === 0) return "There are no organizations yet: create one with jiss org create.";
  return columns([
    ["ORG", "TIER", "DOMAIN", "STATE", "PREFIX", "CREATED", "NAME"],
    ...rows.map((row) => [
      row.org_id,
      row.tier,
      row.domain,
      row.active === 1 ? "active" : reasonsOf(row).map(({ reason }) => reason).join(","),
      row.prefix ?? "none",
      iso(row.created_at),
      printableLine(row.name),
    ]),
  ]);
}

function detailsText(row: OrganizationDetails): string {
  const { org_id: orgId, prefix, api_key_rotated_at: rotatedAt } = row;
  return columns([
    ["org_id", orgId],
    ["name", printableLine(row.name)],
    ["domain", row.domain],
    ["tier", row.tier],
    ["allowed origins", originsOf(row).join(" ") || "none"],
    ["active", row.active === 1 ? "yes" : `no: ${reasonsText(row)}`],
    ["key prefix", prefix ?? `none: mint one with jiss org rotate-key ${orgId}`],
    ["key version", String(row.api_key_version)],
    ["key rotated at", rotatedAt === null ? "never" : iso(rotatedAt)],
    ["created at", iso(row.created_at)],
  ]);
}

function reasonsText(row: OrganizationDetails): string {
  return reasonsOf(row).map(({ reason, since }) => since === null ? reason : `${reason} since ${since}`)
    .join(", ");
}

// ---- changes ----------------------------------------------------------------------------------------------

export async function rotateKey(shell: Shell, orgId: string): Promise<number> {
  const { body, row } = await changeState(shell, orgId, async (dependencies, caller, call) => {
    if (await organizationExists(dependencies.database, orgId)) {
      printBeforeChange(`Minting a new key for ${orgId}.`);
    }
    return await rotateByHand(dependencies, caller, call);
  });
  const inactive = row.active === 1
    ? ""
    : `\nThe key works once ${orgId} is active; it is inactive (${
      reasonsText(row)
    }): jiss org reactivate ${orgId}`;
  printKey(
    orgId,
    `${orgId} has a new key; the earlier key no longer works. ${NO_RESTART}\n${
      keyText(body.new_api_key)
    }${inactive}`,
  );
  return EXIT.ok;
}

export async function suspend(shell: Shell, orgId: string): Promise<number> {
  const { body } = await changeState(shell, orgId, suspendOrganization);
  console.log(
    `${orgId} has been suspended since ${body.suspended_at}: its key is refused until the organization is reactivated. ${NO_RESTART}`,
  );
  return EXIT.ok;
}

export async function reactivate(shell: Shell, orgId: string): Promise<number> {
  const { row } = await changeState(shell, orgId, reactivateFully);
  const key = row.prefix === null
    ? `Its key was destroyed: mint a new one with jiss org rotate-key ${orgId}.`
    : "Its key works again.";
  console.log(`${orgId} is active again. ${key} ${NO_RESTART}`);
  return EXIT.ok;
}

/** Runs the operation; returns its answer, and the organization after it. @throws {CommandFailure} */
async function changeState(shell: Shell, orgId: string, operation: StateOperation) {
  // An invalid name could be that of another chain.
  if (!orgIdSchema.safeParse(orgId).success) throw unknownOrganization(orgId);
  return await administer(shell, async ({ dependencies }) => {
    const call = directCall(orgId, callAt(shell, dependencies));
    const { body } = await operation(dependencies, ADMINISTRATOR, call);
    const [row] = await dependencies.database.read(organizationDetailsQuery(orgId));
    return { body, row: row! };
  });
}

function callAt({ clock }: Shell, { world }: Dependencies): Call {
  const now = clock.now();
  return { now, requestId: world.ulid(now) };
}

export function unknownOrganization(orgId: string): CommandFailure {
  return new CommandFailure(
    `there is no organization ${JSON.stringify(orgId)} in this database: see jiss org list`,
    EXIT.failure,
  );
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
