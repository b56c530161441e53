/**
 * Signing in by an identity provider. The provider says who the person is, and the administrator's map to which organization
 * and role the claims lead. The issuer and the subject together name the person for ever; an address does not.
 */
import type { Logging, Proving, Reading, Writing } from "../shared/capabilities.ts";
import type { Role } from "../../domain/access.ts";
import { ServiceError } from "../../domain/errors.ts";
import { USER_NAME_MAX_LENGTH, USERS_MAX } from "../../domain/limits.ts";
import { emailSchema } from "../../domain/user.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import { organizationExists } from "../../store/organizations.ts";
import {
  providedSessionsQuery,
  providedUsersQuery,
  userAccounts,
  userCounts,
  type UserRow,
  userSessions,
  usersOfEmail,
  usersOfSubject,
} from "../../store/users.ts";
import { isOpen } from "../organizations/authentication.ts";
import { readRegistered, type Remembering } from "../organizations/registered.ts";
import type { Call } from "../shared/call.ts";
import { drawEvent } from "../shared/drafts.ts";
import { NO_LINK } from "./accounts.ts";
import { beginSession, type Sessioning } from "./sessions.ts";
import type { Attempt, Candidate, SignedIn } from "./sign_in.ts";

type Needs = Reading & Pick<Proving, "installation"> & Writing & Logging & Remembering & Sessioning;

/** A person whom the provider has identified, and what the map gives the person. */
export interface ProvidedPerson {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  /** Whether the provider says that the address belongs to the person. */
  readonly emailVerified: boolean;
  readonly name: string | null;
  /** The provider's name of the session; null if it gave none. */
  readonly session: string | null;
  readonly orgId: string;
  readonly role: Role;
}

/**
 * Signs a person in, in one commit: with the user of the subject; or with the invited user of a verified address, who is
 * bound to the subject from then on; or with a new user. The role is the map's, at each sign-in.
 * @returns the session; or whom the attempt was about, if the organization is missing or inactive, or the user is disabled.
 */
export async function signInFromProvider(
  dependencies: Needs,
  person: ProvidedPerson,
  { agent, call: { now } }: Attempt,
): Promise<SignedIn | Candidate> {
  const { database, world, writer } = dependencies;
  const { issuer, subject, orgId, role } = person;
  if (!await organizationExists(database, orgId)) return { orgId: null, userId: null };
  const { organization, users } = await readRegistered(dependencies, orgId);
  if (!isOpen(organization)) return { orgId: null, userId: null };
  // Whoever may choose an address at the provider must not take that of somebody else here.
  const email = person.emailVerified ? emailSchema.safeParse(person.email).data ?? null : null;
  const known = users.find((user) => user.issuer === issuer && user.issuer_subject === subject) ??
    users.find((user) => email !== null && user.email === email && user.issuer === null);
  const userId = known?.user_id ?? `usr_${world.ulid(now)}`;
  const session = await beginSession(dependencies, {
    orgId,
    userId,
    method: "oidc",
    providerSession: person.session,
    agent,
    now,
  });
  const [bySystem, byUser] = [
    { actor: "system", orgId, prefix: null } as const,
    { actor: "user", orgId, prefix: null, userId } as const,
  ];
  const provided = drawEvent(world, { type: "USER_PROVIDED", caller: bySystem, now });
  const changed = drawEvent(world, { type: "USER_CHANGED", caller: bySystem, now });
  const signedIn = drawEvent(world, { type: "USER_SIGNED_IN", caller: byUser, now });
  return await writer.submit<SignedIn | Candidate>({
    needs: [
      { kind: userAccounts, key: [userId] },
      { kind: usersOfSubject, key: [orgId, issuer, subject] },
      { kind: userCounts, key: [orgId] },
      ...(email === null ? [] : [{ kind: usersOfEmail, key: [orgId, email] }]),
      ...session.needs,
    ],
    chains: [adminChain(orgId)],
    plan(unit) {
      const before = unit.get(userAccounts, [userId]);
      const isBound = (before?.issuer ?? null) !== null;
      if (before?.state === "disabled" || before?.state === "erased") {
        return () => ({ orgId, userId });
      }
      const holder = unit.get(usersOfSubject, [orgId, issuer, subject]);
      // Another request of this person, or of another one with this address, came first: the next try finds the user.
      const isOthers = isBound && (before!.issuer !== issuer || before!.issuer_subject !== subject);
      if (isOthers || (holder !== null && holder.user_id !== userId)) {
        throw new ServiceError("CONFLICT", "Sign in again.");
      }
      const isFree = email !== null && unit.get(usersOfEmail, [orgId, email]) === null;
      const name = (person.name ?? person.email ?? subject).slice(0, USER_NAME_MAX_LENGTH).toWellFormed();
      const user: UserRow = {
        ...(before ?? newUser(userId, orgId, now)),
        // The person has come in otherwise: an invitation is over.
        ...(isBound ? {} : NO_LINK),
        email: before?.email ?? (isFree ? email : null),
        name: before?.name ?? name,
        role,
        state: "active",
        issuer,
        issuer_subject: subject,
      };
      const isChanged = before === null || before.role !== role || before.issuer === null ||
        before.state !== "active";
      if (before === null) {
        const count = unit.get(userCounts, [orgId])?.count ?? 0;
        if (count >= USERS_MAX) {
          throw new ServiceError("CONFLICT", `The organization has ${USERS_MAX} users.`);
        }
        unit.put(userCounts, { org_id: orgId, count: count + 1 });
      }
      if (holder === null) {
        unit.put(usersOfSubject, { org_id: orgId, issuer, issuer_subject: subject, user_id: userId });
      }
      if (isFree) unit.put(usersOfEmail, { org_id: orgId, email, user_id: userId });
      const after = isChanged ? { ...user, changed_at: now } : user;
      if (isChanged) {
        unit.put(userAccounts, after);
        const event = before === null || before.issuer === null ? provided : changed;
        unit.append(adminChain(orgId), event({ user_id: userId, role, state: "active" }));
      }
      const row = session.plan(unit, after);
      unit.append(adminChain(orgId), signedIn({ user_id: userId, method: "oidc" }));
      return () => ({ user: after, organization, row, token: session.token });
    },
  });
}

/** The users whom a provider has signed in as a subject before, in any organization. */
export async function knownAtProvider(
  { database }: Pick<Needs, "database">,
  { issuer, subject }: Pick<ProvidedPerson, "issuer" | "subject">,
): Promise<readonly Candidate[]> {
  const rows = await database.read(providedUsersQuery({ issuer, subject }));
  return rows.map(({ org_id: orgId, user_id: userId }) => ({ orgId, userId }));
}

function newUser(userId: string, orgId: string, now: number) {
  return {
    user_id: userId,
    org_id: orgId,
    password: null,
    ...NO_LINK,
    session_epoch: 1,
    created_at: now,
    changed_at: now,
  };
}

/** What a logout token of the provider ends: one session by its name there, or all of a person. */
export interface ProviderLogout {
  readonly issuer: string;
  readonly subject: string | null;
  readonly session: string | null;
}

/** Ends the sessions that a logout token names, in all organizations. */
export async function endProvidedSessions(
  { database, world, writer }: Needs,
  logout: ProviderLogout,
  { now }: Call,
): Promise<void> {
  for (
    const { org_id: orgId, user_id: userId, session_hash } of await database.read(
      providedSessionsQuery(logout),
    )
  ) {
    const caller = { actor: "system", orgId, prefix: null } as const;
    const draft = drawEvent(world, { type: "USER_SIGNED_OUT", caller, now })({ user_id: userId });
    const key = [session_hash.toHex()];
    await writer.submit({
      needs: [{ kind: userSessions, key }],
      chains: [adminChain(orgId)],
      plan(unit) {
        if (unit.get(userSessions, key) !== null) {
          unit.remove(userSessions, key);
          unit.append(adminChain(orgId), draft);
        }
        return () => undefined;
      },
    });
  }
}
