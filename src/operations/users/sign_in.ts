/** Signing in with a password. A refusal says nothing of whether the user exists, and costs the same. */
import type { Logging, Proving, Reading, Writing } from "../shared/capabilities.ts";
import type { SignInMethod, SignInRequest } from "../../domain/user.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import { hashPassword, isPassword, PASSWORD_SALT_BYTES } from "../../keys/passwords.ts";
import { organizationExists } from "../../store/organizations.ts";
import { organizationsWithUsersQuery, userAccounts, type UserRow } from "../../store/users.ts";
import type { Need, UnitOfWork } from "../../store/unit_of_work.ts";
import { isOpen } from "../organizations/authentication.ts";
import { readRegistered, type Remembering } from "../organizations/registered.ts";
import type { Call } from "../shared/call.ts";
import { drawEvent } from "../shared/drafts.ts";
import { NO_LINK } from "./accounts.ts";
import { beginSession, type OpenSession, type Sessioning, type UserCaller } from "./sessions.ts";

type Needs = Reading & Pick<Proving, "installation"> & Writing & Logging & Remembering & Sessioning;

/** A user who has signed in, with the session and its cookie. */
export interface SignedIn extends Pick<OpenSession, "user" | "organization" | "row"> {
  /** The value of the cookie. */
  readonly token: string;
}

/** What the HTTP layer knows of an attempt. */
export interface Attempt {
  /** What the browser says of itself. */
  readonly agent: string;
  readonly call: Call;
}

/** The organization in which somebody signs in, and the user, if there is one. */
export interface Candidate {
  readonly orgId: string | null;
  readonly userId: string | null;
}

/**
 * Signs in with a password.
 * @returns the session; or, if it is refused, whom the attempt was about, for the audit log.
 */
export async function signInWithPassword(
  dependencies: Needs,
  { request, address, ...attempt }: Attempt & {
    readonly request: SignInRequest;
    /** From where it comes, in the form in which addresses are limited. */
    readonly address: string;
  },
): Promise<SignedIn | Candidate> {
  const { found, organization } = await userOfEmail(dependencies, request);
  const isRight = await isPassword(request.password, found?.password ?? null, { kind: "stranger", address });
  const candidate = { orgId: organization?.org_id ?? null, userId: found?.user_id ?? null };
  if (!isRight || found === null || !isOpen(organization)) return candidate;
  return await begin(dependencies, {
    ...attempt,
    user: found,
    method: "password",
    accept: (row) => row.state === "active" && row.password === found.password ? row : null,
  }) ?? candidate;
}

/** The active user of an address in an organization; null if there is none. */
async function userOfEmail(dependencies: Needs, { organization: orgId, email }: SignInRequest) {
  const { database } = dependencies;
  const named = orgId ?? await onlyOrganization(dependencies);
  if (named === null || !await organizationExists(database, named)) {
    return { found: null, organization: undefined };
  }
  const { users, organization } = await readRegistered(dependencies, named);
  const found = users.find((user) => user.email === email && user.state === "active") ?? null;
  return { found, organization };
}

/** The only organization that has users; null if there are none or several. */
async function onlyOrganization({ database }: Reading): Promise<string | null> {
  const [first, ...others] = await database.read(organizationsWithUsersQuery({ limit: 2 }));
  return first !== undefined && others.length === 0 ? first.org_id : null;
}

/**
 * Replaces a user's own password; the user's other sessions end, and this one goes on.
 * @returns null if the current password is wrong.
 */
export async function changePassword(
  dependencies: Needs,
  caller: UserCaller,
  { current, next, attempt }: { readonly current: string; readonly next: string; readonly attempt: Attempt },
): Promise<SignedIn | null> {
  const { users } = await readRegistered(dependencies, caller.orgId);
  const user = users.find(({ user_id }) => user_id === caller.userId);
  const whose = { kind: "known" } as const;
  if (!await isPassword(current, user?.password ?? null, whose) || user === undefined) return null;
  const stored = await hashPassword(next, dependencies.world.random(PASSWORD_SALT_BYTES), whose);
  return await begin(dependencies, {
    ...attempt,
    user,
    method: "password",
    setsPassword: true,
    accept: (row) =>
      row.state === "active" && row.password === user.password
        ? {
          ...row,
          ...NO_LINK,
          password: stored,
          session_epoch: row.session_epoch + 1,
          changed_at: attempt.call.now,
        }
        : null,
  });
}

interface Beginning extends Attempt {
  readonly user: UserRow;
  readonly method: SignInMethod;
  readonly setsPassword?: boolean;
  readonly addsPasskey?: boolean;
  /** What `accept` reads besides the user. */
  readonly needs?: readonly Need[];
  /** The row with which the user signs in, in a plan; null if the user may not any more. */
  accept(row: UserRow, unit: UnitOfWork): UserRow | null;
}

/** Begins a session in one commit with what leads to it; null if `accept` refuses. */
export async function begin(
  dependencies: Needs,
  {
    user: { user_id: userId, org_id: orgId },
    method,
    agent,
    call: { now },
    setsPassword = false,
    addsPasskey = false,
    needs = [],
    accept,
  }: Beginning,
): Promise<SignedIn | null> {
  const { world, writer } = dependencies;
  const session = await beginSession(dependencies, { orgId, userId, method, agent, now });
  const caller = { actor: "user", orgId, prefix: null, userId } as const;
  const passwordSet = drawEvent(world, { type: "USER_PASSWORD_SET", caller, now });
  const passkeyAdded = drawEvent(world, { type: "USER_PASSKEY_ADDED", caller, now });
  const signedIn = drawEvent(world, { type: "USER_SIGNED_IN", caller, now });
  return await writer.submit<SignedIn | null>({
    needs: [{ kind: userAccounts, key: [userId] }, ...session.needs, ...needs],
    chains: [adminChain(orgId)],
    plan(unit: UnitOfWork) {
      const before = unit.get(userAccounts, [userId]);
      const user = before === null ? null : accept(before, unit);
      if (user === null) return () => null;
      if (user !== before) unit.put(userAccounts, user);
      const row = session.plan(unit, user);
      if (setsPassword) unit.append(adminChain(orgId), passwordSet({ user_id: userId }));
      if (addsPasskey) unit.append(adminChain(orgId), passkeyAdded({ user_id: userId }));
      unit.append(adminChain(orgId), signedIn({ user_id: userId, method }));
      return () => ({ user, organization: session.organization, row, token: session.token });
    },
  });
}
