/**
 * An organization's users: invited, changed, disabled and erased by an admin. The chain names users by their ids alone;
 * their names stand in their rows, which the head of the audit log holds, and are gone once a user is erased.
 */
import type { Reading, Writing } from "../shared/capabilities.ts";
import { ServiceError } from "../../domain/errors.ts";
import { isoOrNull } from "../../domain/instant.ts";
import { LINK_HOURS, USERS_MAX } from "../../domain/limits.ts";
import type { LinkPurpose, ShownUser, UserChange, UserRequest, UserState } from "../../domain/user.ts";
import type { Role } from "../../domain/access.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import { linkTokenOf, secretHash, USER_SECRET_BYTES } from "../../keys/user_secrets.ts";
import { type PasskeyRow, passkeys } from "../../store/passkeys.ts";
import type { UnitOfWork } from "../../store/unit_of_work.ts";
import { userAccounts, userCounts, type UserRow, usersOfEmail } from "../../store/users.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { drawEvent, eventDraft } from "../shared/drafts.ts";
import { readRegistered, type Remembering } from "../organizations/registered.ts";

/** The dependencies of these operations. */
type Needs = Reading & Writing & Remembering;

const HOUR_MS = 3_600_000;

/** A one-time link: its token is shown once, and stored as a hash. */
export interface IssuedLink {
  readonly token: string;
  readonly expiresAt: number;
}

/** A user as answers show one. */
export function userBody(row: UserRow): ShownUser {
  return {
    user_id: row.user_id,
    email: row.email,
    name: row.name,
    role: row.role as Role,
    state: row.state as UserState,
    has_password: row.password !== null,
    created_at: isoOrNull(row.created_at)!,
    changed_at: isoOrNull(row.changed_at)!,
  };
}

/**
 * Invites a user. The link, with which the user sets a password, is only in this answer.
 * @throws {ServiceError} CONFLICT if the organization has a user of this address, or as many users as it may have.
 */
export async function inviteUser(
  { world, writer }: Needs,
  caller: OrganizationCaller,
  { request: { email, name, role }, call: { now }, purpose = "set_password" }: {
    readonly request: UserRequest;
    readonly call: Call;
    readonly purpose?: LinkPurpose;
  },
): Promise<{ readonly user: ShownUser; readonly link: IssuedLink }> {
  const { orgId } = caller;
  const userId = `usr_${world.ulid(now)}`;
  const { columns, link } = drawLink(world, { userId, now, purpose });
  const row: UserRow = {
    user_id: userId,
    org_id: orgId,
    email,
    name,
    role,
    state: "invited",
    password: null,
    ...columns,
    issuer: null,
    issuer_subject: null,
    session_epoch: 1,
    created_at: now,
    changed_at: now,
  };
  const draft = eventDraft(world, {
    type: "USER_INVITED",
    caller,
    now,
    detail: { user_id: userId, role, link_expires_at: isoOrNull(link.expiresAt) },
  });
  return await writer.submit({
    needs: [
      { kind: usersOfEmail, key: [orgId, email] },
      { kind: userCounts, key: [orgId] },
      { kind: userAccounts, key: [userId] },
    ],
    chains: [adminChain(orgId)],
    plan(unit) {
      if (unit.get(usersOfEmail, [orgId, email]) !== null) {
        throw new ServiceError("CONFLICT", `There is a user ${email}: change that one, or issue a new link.`);
      }
      const count = unit.get(userCounts, [orgId])?.count ?? 0;
      if (count >= USERS_MAX) {
        throw new ServiceError(
          "CONFLICT",
          `There are ${count} users, and an organization has at most ${USERS_MAX}.`,
        );
      }
      unit.put(userCounts, { org_id: orgId, count: count + 1 });
      unit.put(usersOfEmail, { org_id: orgId, email, user_id: userId });
      unit.put(userAccounts, row);
      unit.append(adminChain(orgId), draft);
      return () => ({ user: userBody(row), link });
    },
  });
}

/**
 * Issues a new one-time link to a user, which replaces the one before. An erased or disabled user gets none.
 * @throws {ServiceError} NOT_FOUND; CONFLICT.
 */
export async function issueLink(
  { world, writer }: Needs,
  caller: OrganizationCaller,
  { userId, call: { now }, purpose = "set_password" }: {
    readonly userId: string;
    readonly call: Call;
    readonly purpose?: LinkPurpose;
  },
): Promise<IssuedLink> {
  const { orgId } = caller;
  const { columns, link } = drawLink(world, { userId, now, purpose });
  const draft = eventDraft(world, {
    type: "USER_LINK_ISSUED",
    caller,
    now,
    detail: { user_id: userId, purpose, link_expires_at: isoOrNull(link.expiresAt) },
  });
  return await writer.submit({
    needs: [{ kind: userAccounts, key: [userId] }],
    chains: [adminChain(orgId)],
    plan(unit) {
      const row = requireUser(unit, { orgId, userId });
      if (row.state === "disabled") {
        throw new ServiceError("CONFLICT", "The user is disabled: enable the user first.");
      }
      if (row.email === null) {
        throw new ServiceError(
          "CONFLICT",
          "The user has no address to sign in with: the identity provider signs the user in.",
        );
      }
      unit.put(userAccounts, { ...row, ...columns, changed_at: now });
      unit.append(adminChain(orgId), draft);
      return () => link;
    },
  });
}

function drawLink(
  world: Writing["world"],
  { userId, now, purpose }: { readonly userId: string; readonly now: number; readonly purpose: LinkPurpose },
) {
  const random = world.random(USER_SECRET_BYTES);
  const expiresAt = now + LINK_HOURS * HOUR_MS;
  return {
    columns: { link_hash: secretHash(random), link_purpose: purpose, link_expires_at: expiresAt },
    link: { token: linkTokenOf(userId, random), expiresAt },
  };
}

/** The columns of a row without a link. */
export const NO_LINK = { link_hash: null, link_purpose: null, link_expires_at: null } as const;

/** An organization's users, the oldest first. */
export async function listUsers(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
): Promise<readonly ShownUser[]> {
  const { users } = await readRegistered(dependencies, orgId);
  return users.map(userBody);
}

/**
 * A page of {@link listUsers}, and the id after which the next page begins; null on the last page. Null in place of all if no
 * user has the id after which the page is to begin.
 */
export async function pageOfUsers(
  dependencies: Needs,
  caller: OrganizationCaller,
  { limit, after }: { readonly limit: number; readonly after: string | null },
): Promise<{ readonly users: readonly ShownUser[]; readonly next: string | null } | null> {
  const users = await listUsers(dependencies, caller);
  // An erased user keeps the place: no page is lost by an erasure.
  const last = after === null ? -1 : users.findIndex(({ user_id }) => user_id === after);
  if (after !== null && last === -1) return null;
  const end = last + 1 + limit;
  const page = users.slice(last + 1, end);
  return { users: page, next: end >= users.length ? null : page.at(-1)!.user_id };
}

/**
 * Changes a user's name or role, or disables or enables the user. A role counts from the user's next request on; a disabled
 * user has no session and no link any more. A call that changes nothing writes nothing.
 * @throws {ServiceError} NOT_FOUND; CONFLICT if a user takes the own role or access away.
 */
export async function changeUser(
  dependencies: Needs,
  caller: OrganizationCaller,
  { userId, change: { name, role, disabled }, call: { now } }: {
    readonly userId: string;
    readonly change: Partial<UserChange>;
    readonly call: Call;
  },
): Promise<ShownUser> {
  const { world, writer } = dependencies;
  const { orgId } = caller;
  const hasPasskey = disabled === false && (await passkeysOf(dependencies, { orgId, userId })).length > 0;
  const draft = drawEvent(world, { type: "USER_CHANGED", caller, now });
  return await writer.submit({
    needs: [{ kind: userAccounts, key: [userId] }],
    chains: [adminChain(orgId)],
    plan(unit) {
      const before = requireUser(unit, { orgId, userId });
      const state = disabled === undefined ? before.state : stateAfter(before, { disabled, hasPasskey });
      const after: UserRow = {
        ...before,
        name: name ?? before.name,
        role: role ?? before.role,
        state,
        ...(state === "disabled" && before.state !== "disabled"
          ? { ...NO_LINK, session_epoch: before.session_epoch + 1 }
          : {}),
      };
      if (after.role !== before.role || after.state !== before.state) requireOther(caller, userId);
      const isSame = after.name === before.name && after.role === before.role && after.state === before.state;
      if (isSame) return () => userBody(before);
      unit.put(userAccounts, { ...after, changed_at: now });
      unit.append(adminChain(orgId), draft({ user_id: userId, role: after.role, state: after.state }));
      return () => userBody({ ...after, changed_at: now });
    },
  });
}

/** The state of a user after being disabled or enabled: whoever has no way to sign in is invited. */
function stateAfter(
  row: UserRow,
  { disabled, hasPasskey }: { readonly disabled: boolean; readonly hasPasskey: boolean },
): UserState {
  if (disabled) return "disabled";
  if (row.state !== "disabled") return row.state as UserState;
  return row.password !== null || row.issuer !== null || hasPasskey ? "active" : "invited";
}

/** Nobody takes away the own role or access: so an organization with an admin keeps one. @throws {ServiceError} CONFLICT. */
function requireOther({ userId: own }: OrganizationCaller, userId: string): void {
  if (own !== userId) return;
  throw new ServiceError(
    "CONFLICT",
    "This user is you: another admin can change your role, disable or erase you.",
  );
}

/**
 * Erases a user: name, address, password and sessions are gone. The id stays, since entries name it.
 * @throws {ServiceError} NOT_FOUND; CONFLICT if users would erase themselves.
 */
export async function eraseUser(
  dependencies: Needs,
  caller: OrganizationCaller,
  { userId, call: { now } }: { readonly userId: string; readonly call: Call },
): Promise<void> {
  const { world, writer } = dependencies;
  const { orgId } = caller;
  const rows = await passkeysOf(dependencies, { orgId, userId });
  const own = rows.map(({ credential_id }) => [credential_id]);
  const draft = eventDraft(world, { type: "USER_ERASED", caller, now, detail: { user_id: userId } });
  await writer.submit({
    needs: [{ kind: userAccounts, key: [userId] }, ...own.map((key) => ({ kind: passkeys, key }))],
    chains: [adminChain(orgId)],
    plan(unit) {
      const row = requireUser(unit, { orgId, userId });
      requireOther(caller, userId);
      for (const key of own) {
        if (unit.get(passkeys, key) !== null) unit.remove(passkeys, key);
      }
      unit.put(userAccounts, {
        ...row,
        ...NO_LINK,
        email: null,
        name: null,
        state: "erased",
        password: null,
        issuer: null,
        issuer_subject: null,
        session_epoch: row.session_epoch + 1,
        changed_at: now,
      });
      unit.append(adminChain(orgId), draft);
      return () => undefined;
    },
  });
}

/** The passkeys of a user, the oldest first. @throws as {@link readRegistered}. */
export async function passkeysOf(
  dependencies: Reading & Remembering,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
): Promise<readonly PasskeyRow[]> {
  const { passkeys: rows } = await readRegistered(dependencies, orgId);
  return rows.filter(({ user_id }) => user_id === userId);
}

/** A user of an organization who is not erased. @throws {ServiceError} NOT_FOUND. */
export function requireUser(
  unit: UnitOfWork,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
): UserRow {
  const row = unit.get(userAccounts, [userId]);
  if (row?.org_id === orgId && row.state !== "erased") return row;
  throw unknownUser();
}

export function unknownUser(): ServiceError {
  return new ServiceError("NOT_FOUND", "There is no such user: GET /v1/users lists the users.");
}
