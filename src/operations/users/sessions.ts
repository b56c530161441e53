/**
 * Sessions of users: begun by signing in, found by their cookies, ended by hand or by time. Only a cookie's hash is stored.
 * A session's row is one of the set that the head of the audit log holds, so that an ended one cannot be put back.
 */
import type { Logging, Naming, Proving, Reading, Scoring, Writing } from "../shared/capabilities.ts";
import type { Role } from "../../domain/access.ts";
import { isUnavailable, ServiceError } from "../../domain/errors.ts";
import { isoOrNull } from "../../domain/instant.ts";
import { AGENT_MAX_LENGTH, SESSIONS_OF_USER_MAX } from "../../domain/limits.ts";
import type { SignInMethod } from "../../domain/user.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import { secretHash, sessionHash, sessionToken, USER_SECRET_BYTES } from "../../keys/user_secrets.ts";
import { errorFields } from "../../observability/log.ts";
import type { StoredOrganization } from "../../store/organizations.ts";
import type { Need, UnitOfWork } from "../../store/unit_of_work.ts";
import {
  endedSessionsQuery,
  readSession,
  userAccounts,
  type UserRow,
  type UserSessionRow,
  userSessions,
} from "../../store/users.ts";
import { isOpenTo } from "../organizations/authentication.ts";
import { readRegistered, readRegisteredRow, type Remembering } from "../organizations/registered.ts";
import type { Call, GrantedCaller, OrganizationCaller } from "../shared/call.ts";
import { eventDraft } from "../shared/drafts.ts";
import { requireSealed } from "../shared/sealed_reads.ts";
import { requireUser, unknownUser, userBody } from "./accounts.ts";

/** How long a session lasts, and how long it lasts without a request, milliseconds. */
export interface SessionTimes {
  readonly lifetimeMs: number;
  readonly idleMs: number;
}

/** Holds the times of sessions. */
export interface Sessioning {
  readonly sessionTimes: SessionTimes;
}

type Needs =
  & Reading
  & Pick<Proving, "installation">
  & Writing
  & Logging
  & Remembering
  & Sessioning;

/** The caller of a request with a session's cookie. */
export interface UserCaller extends GrantedCaller {
  readonly actor: "user";
  readonly userId: string;
}

/** A session in use, its user and the user's organization. */
export interface OpenSession {
  readonly caller: UserCaller;
  readonly row: UserSessionRow;
  readonly user: UserRow;
  readonly organization: StoredOrganization;
}

/** The hash of a cookie that this installation issued; null for any other text. No database is asked. */
export function hashOfCookie(
  { installation }: Pick<Needs, "installation">,
  cookie: string,
): Uint8Array | null {
  return sessionHash(installation.key, cookie);
}

/**
 * The session of a cookie's hash; null if it ended, or its user may not sign in any more.
 * @throws {AlteredRows} if a row is not what this installation wrote.
 */
export async function openSession(
  dependencies: Needs,
  hash: Uint8Array,
  { now }: Pick<Call, "now">,
): Promise<OpenSession | null> {
  const { database, sessionTimes } = dependencies;
  const found = await readRegisteredRow(dependencies, async () => {
    const row = await readSession(database, hash);
    if (row === null) return null;
    const [user] = await database.read(userAccounts.load(JSON.stringify([[row.user_id]])));
    if (user === undefined) return null;
    requireSealed(dependencies, userSessions, [row]);
    requireSealed(dependencies, userAccounts, [user]);
    return { row, others: [user], user };
  }, { mayBePutBack: false });
  if (found === null) return null;
  const { row, user, organization } = found;
  const isOver = row.expires_at <= now || now - row.seen_at >= sessionTimes.idleMs;
  const isLocked = user.state !== "active" || user.session_epoch !== row.session_epoch;
  if (isOver || isLocked || !isOpenTo(organization, row.created_at)) return null;
  noteSeen(dependencies, row, now);
  const caller = {
    actor: "user",
    orgId: row.org_id,
    prefix: null,
    userId: user.user_id,
    grant: { kind: "role", role: user.role as Role },
  } as const;
  return { caller, row, user, organization };
}

/** The last request of a session is exact to a minute: so an open console costs one small commit a minute. */
const SEEN_RECORDED_MS = 60_000;

/** Records that a session was used. No request waits for it, and if it fails, the next request repeats it. */
function noteSeen(
  { writer, log }: Needs,
  { session_hash, org_id, seen_at }: UserSessionRow,
  now: number,
): void {
  if (now - seen_at < SEEN_RECORDED_MS) return;
  writer.submit({
    needs: [sessionNeed(session_hash)],
    chains: [adminChain(org_id)],
    plan(unit) {
      const row = unit.get(userSessions, [session_hash.toHex()]);
      if (row !== null) unit.put(userSessions, { ...row, seen_at: Math.max(now, row.seen_at) });
      return () => undefined;
    },
  }).catch((error) => {
    if (!isUnavailable(error)) log.error("the use of a session could not be recorded", errorFields(error));
  });
}

function sessionNeed(hash: Uint8Array): Need {
  return { kind: userSessions, key: [hash.toHex()] };
}

/** A session that begins with a commit: its rows and its cookie. */
export interface BeginningSession {
  /** The value of the cookie. */
  readonly token: string;
  readonly needs: readonly Need[];
  /** The user's organization. */
  readonly organization: StoredOrganization;
  /** Plans the session, and the end of the user's oldest ones if there are too many; returns its row. */
  plan(unit: UnitOfWork, user: UserRow): UserSessionRow;
}

/** Draws a session of a user. */
export async function beginSession(
  dependencies: Needs,
  { orgId, userId, method, providerSession = null, agent, now }: {
    readonly orgId: string;
    readonly userId: string;
    readonly method: SignInMethod;
    /** The identity provider's name of the session; null if it gave none. */
    readonly providerSession?: string | null;
    /** What the browser says of itself. */
    readonly agent: string;
    readonly now: number;
  },
): Promise<BeginningSession> {
  const { installation, world, sessionTimes } = dependencies;
  const random = world.random(USER_SECRET_BYTES);
  const hash = secretHash(random);
  const { sessions, organization } = await readRegistered(dependencies, orgId);
  const own = sessions.filter((session) => session.user_id === userId).map(({ session_hash }) =>
    session_hash
  );
  return {
    token: sessionToken(installation.key, random),
    needs: [sessionNeed(hash), ...own.map(sessionNeed)],
    organization: organization!,
    plan(unit, user) {
      const present = own.filter((one) => unit.get(userSessions, [one.toHex()]) !== null);
      const surplus = present.slice(0, Math.max(0, present.length + 1 - SESSIONS_OF_USER_MAX));
      for (const one of surplus) unit.remove(userSessions, [one.toHex()]);
      const row = {
        session_hash: hash,
        org_id: orgId,
        user_id: userId,
        session_epoch: user.session_epoch,
        method,
        provider_session: providerSession,
        agent: agent.toWellFormed().slice(0, AGENT_MAX_LENGTH),
        created_at: now,
        seen_at: now,
        expires_at: now + sessionTimes.lifetimeMs,
      };
      unit.put(userSessions, row);
      return row;
    },
  };
}

/** A session as answers show it; `current` is the hash of the session that asks. */
export function sessionBody(
  { session_hash, ...row }: UserSessionRow,
  current: Uint8Array | null,
): Record<string, unknown> {
  const id = session_hash.toHex();
  return {
    session_id: id,
    method: row.method,
    agent: row.agent,
    created_at: isoOrNull(row.created_at),
    seen_at: isoOrNull(row.seen_at),
    expires_at: isoOrNull(row.expires_at),
    is_current: id === current?.toHex(),
  };
}

/** What a user who is signed in is told of himself. */
export function meBody(
  { model, privacy }: Scoring & Naming,
  { user, organization, row }: Pick<OpenSession, "user" | "organization" | "row">,
): Record<string, unknown> {
  return {
    user: userBody(user),
    organization: { id: organization.org_id, name: organization.name },
    minimum_jis: model.document.thresholds.min_jis,
    privacy,
    session: sessionBody(row, row.session_hash),
  };
}

/** The sessions of a user that are open now, the oldest first. @throws {ServiceError} NOT_FOUND. */
export async function listSessions(
  dependencies: Needs,
  { orgId, userId, now }: { readonly orgId: string; readonly userId: string; readonly now: number },
): Promise<readonly UserSessionRow[]> {
  const { sessions, users } = await readRegistered(dependencies, orgId);
  const user = users.find((one) => one.user_id === userId && one.state !== "erased");
  if (user === undefined) throw unknownUser();
  const { idleMs } = dependencies.sessionTimes;
  return sessions.filter((row) =>
    row.user_id === userId && row.session_epoch === user.session_epoch &&
    row.expires_at > now && now - row.seen_at < idleMs
  );
}

/** Ends one session of a user. @throws {ServiceError} NOT_FOUND if the user has no such session. */
export async function endSession(
  { world, writer }: Needs,
  caller: OrganizationCaller,
  { userId, sessionId, call: { now } }: {
    readonly userId: string;
    readonly sessionId: string;
    readonly call: Call;
  },
): Promise<void> {
  const { orgId } = caller;
  const draft = eventDraft(world, { type: "USER_SIGNED_OUT", caller, now, detail: { user_id: userId } });
  await writer.submit({
    needs: [{ kind: userSessions, key: [sessionId] }],
    chains: [adminChain(orgId)],
    plan(unit) {
      const row = unit.get(userSessions, [sessionId]);
      if (row?.org_id !== orgId || row.user_id !== userId) {
        throw new ServiceError(
          "NOT_FOUND",
          "The user has no such session: list the sessions to see those that are open.",
        );
      }
      unit.remove(userSessions, [sessionId]);
      unit.append(adminChain(orgId), draft);
      return () => undefined;
    },
  });
}

/** Ends all sessions of a user, and returns how many were open. @throws {ServiceError} NOT_FOUND. */
export async function endAllSessions(
  dependencies: Needs,
  caller: OrganizationCaller,
  { userId, call: { now } }: { readonly userId: string; readonly call: Call },
): Promise<number> {
  const { world, writer } = dependencies;
  const { orgId } = caller;
  const open = await listSessions(dependencies, { orgId, userId, now });
  const draft = eventDraft(world, {
    type: "USER_SESSIONS_ENDED",
    caller,
    now,
    detail: { user_id: userId, sessions: open.length },
  });
  return await writer.submit({
    needs: [{ kind: userAccounts, key: [userId] }],
    chains: [adminChain(orgId)],
    plan(unit) {
      const row = requireUser(unit, { orgId, userId });
      // Rows of the sessions stay until the upkeep removes them: none of them has the new number.
      unit.put(userAccounts, { ...row, session_epoch: row.session_epoch + 1, changed_at: now });
      unit.append(adminChain(orgId), draft);
      return () => open.length;
    },
  });
}

/** Sessions that are removed in one commit. */
const SESSIONS_REMOVED_AT_ONCE = 100;

/** Removes the rows of sessions that ended by time. */
export async function forgetSessions(
  { database, writer, sessionTimes }: Pick<Needs, "database" | "writer" | "sessionTimes">,
  now: number,
): Promise<void> {
  for (;;) {
    const ended = await database.read(
      endedSessionsQuery({
        endedBefore: now,
        unusedSince: now - sessionTimes.idleMs,
        limit: SESSIONS_REMOVED_AT_ONCE,
      }),
    );
    for (const [orgId, rows] of Map.groupBy(ended, ({ org_id }) => org_id)) {
      await writer.submit({
        needs: rows.map(({ session_hash }) => sessionNeed(session_hash)),
        chains: [adminChain(orgId)],
        plan(unit) {
          for (const { session_hash } of rows) {
            const key = [session_hash.toHex()];
            if (unit.get(userSessions, key) !== null) unit.remove(userSessions, key);
          }
          return () => undefined;
        },
      });
    }
    if (ended.length < SESSIONS_REMOVED_AT_ONCE) return;
  }
}
