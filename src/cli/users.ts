/**
 * `jiss user …`: manages the users of an organization by hand, as the endpoints do, with the actor `system`. A one-time link
 * is printed by the command that issued it, and by no other.
 */
import type { Config } from "../config/config.ts";
import type { Role } from "../domain/access.ts";
import { orgIdSchema } from "../domain/organization.ts";
import { emailSchema, type ShownUser, userIdSchema, userRequestSchema } from "../domain/user.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import {
  changeUser,
  inviteUser,
  type IssuedLink,
  issueLink,
  listUsers,
} from "../operations/users/accounts.ts";
import { organizationExists } from "../store/organizations.ts";
import { administer } from "./administration.ts";
import { unknownOrganization } from "./organizations.ts";
import { printableLine } from "./printable.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";
import { columns } from "./table.ts";

export interface UserOptions {
  readonly json: boolean;
}

export interface AddUserOptions extends UserOptions {
  readonly name: string;
  readonly role: Role;
}

/** Whom a command is about. */
export interface NamedUser {
  readonly orgId: string;
  /** The address or the id. */
  readonly user: string;
}

/** Invites a user and prints the one-time link. */
export async function addUser(
  shell: Shell,
  { orgId, user: email }: NamedUser,
  { name, role, json }: AddUserOptions,
): Promise<number> {
  const parsed = userRequestSchema.safeParse({ email, name, role });
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) =>
      `${path[0] === "email" ? "EMAIL" : `--${String(path[0])}`} ${message}`
    );
    throw new CommandFailure(problems.join("; "), EXIT.usage);
  }
  return await inOrganization(shell, orgId, async ({ dependencies, caller, call, config }) => {
    const { user, link } = await inviteUser(dependencies, caller, { request: parsed.data, call });
    const shown = shownLink(config, link);
    if (json) return print({ ...user, ...shown });
    console.log(
      `${user.email} was invited to ${orgId} as ${user.role}. Pass this link on; it works once, until ${shown.expires_at}:\n\n  ${shown.link}`,
    );
  });
}

/** Prints the users of an organization. */
export async function showUsers(shell: Shell, orgId: string, { json }: UserOptions): Promise<number> {
  return await inOrganization(shell, orgId, async ({ dependencies, caller }) => {
    const users = await listUsers(dependencies, caller);
    if (json) return print({ users, count: users.length });
    if (users.length === 0) {
      return console.log(`${orgId} has no users: jiss user add ${orgId} EMAIL invites one.`);
    }
    const rows = users.map((user) => [
      user.email ?? (user.state === "erased" ? "(erased)" : "(none)"),
      printableLine(user.name ?? ""),
      user.role,
      user.state,
      user.user_id,
    ]);
    console.log(columns([["address", "name", "role", "state", "user_id"], ...rows]));
  });
}

/** Gives a user another role. */
export function setRole(shell: Shell, named: NamedUser, role: Role, options: UserOptions): Promise<number> {
  return change(shell, named, { role }, options);
}

/** Disables a user: the user cannot sign in, and has no session any more. */
export function disableUser(shell: Shell, named: NamedUser, options: UserOptions): Promise<number> {
  return change(shell, named, { disabled: true }, options);
}

/** Enables a disabled user. */
export function enableUser(shell: Shell, named: NamedUser, options: UserOptions): Promise<number> {
  return change(shell, named, { disabled: false }, options);
}

async function change(
  shell: Shell,
  named: NamedUser,
  wanted: { readonly role?: Role; readonly disabled?: boolean },
  { json }: UserOptions,
): Promise<number> {
  return await ofUser(shell, named, async ({ dependencies, caller, call, user: { user_id: userId } }) => {
    const user = await changeUser(dependencies, caller, { userId, change: wanted, call });
    if (json) return print({ ...user });
    console.log(`${user.email} of ${named.orgId} is ${user.state}, with the role ${user.role}.`);
  });
}

/** Issues a new one-time link, with which the user sets a new password. */
export async function resetUser(shell: Shell, named: NamedUser, { json }: UserOptions): Promise<number> {
  return await ofUser(shell, named, async ({ dependencies, caller, call, config, user }) => {
    const link = await issueLink(dependencies, caller, { userId: user.user_id, call });
    const shown = shownLink(config, link);
    if (json) return print({ user_id: user.user_id, ...shown });
    console.log(
      `${user.email} sets a new password with this link; it works once, until ${shown.expires_at}:\n\n  ${shown.link}`,
    );
  });
}

interface Act {
  readonly dependencies: Dependencies;
  readonly config: Config;
  readonly caller: { readonly actor: "system"; readonly orgId: string; readonly prefix: null };
  readonly call: { readonly now: number; readonly requestId: string };
}

/** @throws {CommandFailure} 1 if there is no such organization. */
async function inOrganization(
  shell: Shell,
  orgId: string,
  act: (given: Act) => Promise<void> | void,
): Promise<number> {
  // An invalid name could be that of another chain.
  if (!orgIdSchema.safeParse(orgId).success) throw unknownOrganization(orgId);
  await administer(shell, async ({ dependencies }, config) => {
    if (!await organizationExists(dependencies.database, orgId)) throw unknownOrganization(orgId);
    const now = shell.clock.now();
    await act({
      dependencies,
      config,
      caller: { actor: "system", orgId, prefix: null },
      call: { now, requestId: dependencies.world.ulid(now) },
    });
  });
  return EXIT.ok;
}

/** @throws {CommandFailure} 1 if there is no such user. */
function ofUser(
  shell: Shell,
  { orgId, user: named }: NamedUser,
  act: (given: Act & { readonly user: ShownUser }) => Promise<void> | void,
): Promise<number> {
  return inOrganization(shell, orgId, async (given) => {
    const users = await listUsers(given.dependencies, given.caller);
    const email = emailSchema.safeParse(named).data;
    const user = users.find(({ user_id, state, ...one }) =>
      state !== "erased" && (userIdSchema.safeParse(named).success ? user_id === named : one.email === email)
    );
    if (user === undefined) {
      throw new CommandFailure(
        `${orgId} has no user ${JSON.stringify(named)}: see jiss user list ${orgId}`,
        EXIT.failure,
      );
    }
    await act({ ...given, user });
  });
}

function print(value: Record<string, unknown>): void {
  console.log(JSON.stringify(value));
}

/** A link as it is passed on: its page is that of the configured address. */
export function shownLink(config: Config, { token, expiresAt }: IssuedLink) {
  return {
    link: `${addressOf(config)}/console/link#${token}`,
    expires_at: new Date(expiresAt).toISOString(),
  };
}

/** The address at which browsers reach the service, as far as the configuration tells it. */
function addressOf({ baseUrl, host, port, tls }: Config): string {
  if (baseUrl !== null) return baseUrl;
  const name = host.includes(":") ? `[${host}]` : host;
  return `${tls === null ? "http" : "https"}://${name}:${port}`;
}
