/** Rows of an organization's users, and of their sessions. */
import { type CompiledQuery, type Insertable, type Selectable, sql } from "kysely";
import { heldColumn } from "./chains.ts";
import { compileOnce } from "./compile_once.ts";
import { type Database, query } from "./database.ts";
import { auditLog, keyIn, loadOnce, type RecordKind } from "./records.ts";
import type { UserAccountTable, UserSessionTable } from "./schema.ts";

/** A user; its seal is absent until it is saved. */
export type UserRow =
  & Omit<Selectable<UserAccountTable>, "seal">
  & Pick<Insertable<UserAccountTable>, "seal">;

export const userAccounts: RecordKind<UserRow> = {
  name: "user_account",
  isReferredTo: true,
  load: loadOnce((keys) =>
    query.selectFrom("user_account").selectAll().where(keyIn(["user_id"], keys)).compile()
  ),
  keyOf: (row) => [row.user_id],
  sealing: {
    values: (row) => [
      row.user_id,
      row.org_id,
      row.email,
      row.name,
      row.role,
      row.state,
      row.password,
      row.link_hash,
      row.link_purpose,
      row.link_expires_at,
      row.issuer,
      row.issuer_subject,
      row.session_epoch,
      row.created_at,
      row.changed_at,
    ],
    heldBy: auditLog,
  },
  save: (row) => row.state === "erased" ? { ...saveUser(row), replacesPersonal: true } : saveUser(row),
};

const saveUser = compileOnce((row: UserRow) =>
  query.insertInto("user_account").values(row).onConflict((conflict) =>
    conflict.column("user_id").doUpdateSet(({ ref }) => ({
      email: ref("excluded.email"),
      name: ref("excluded.name"),
      role: ref("excluded.role"),
      state: ref("excluded.state"),
      password: ref("excluded.password"),
      link_hash: ref("excluded.link_hash"),
      link_purpose: ref("excluded.link_purpose"),
      link_expires_at: ref("excluded.link_expires_at"),
      issuer: ref("excluded.issuer"),
      issuer_subject: ref("excluded.issuer_subject"),
      session_epoch: ref("excluded.session_epoch"),
      changed_at: ref("excluded.changed_at"),
      seal: ref("excluded.seal"),
    }))
  ).compile()
);

/** The user of an email address; there is no row if the organization has none. */
export interface UserOfEmail {
  readonly org_id: string;
  readonly email: string | null;
  readonly user_id: string;
}

export const usersOfEmail: RecordKind<UserOfEmail> = {
  name: "user_of_email",
  load: loadOnce((keys) =>
    query.selectFrom("user_account").select(["org_id", "email", "user_id"])
      .where(keyIn(["org_id", "email"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.email!],
};

/** The user of an identity provider's subject; there is no row if the organization has none. */
export interface UserOfSubject {
  readonly org_id: string;
  readonly issuer: string | null;
  readonly issuer_subject: string | null;
  readonly user_id: string;
}

export const usersOfSubject: RecordKind<UserOfSubject> = {
  name: "user_of_subject",
  load: loadOnce((keys) =>
    query.selectFrom("user_account").select(["org_id", "issuer", "issuer_subject", "user_id"])
      .where(keyIn(["org_id", "issuer", "issuer_subject"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.issuer!, row.issuer_subject!],
};

/** A session; its seal is absent until it is saved. */
export type UserSessionRow =
  & Omit<Selectable<UserSessionTable>, "seal">
  & Pick<Insertable<UserSessionTable>, "seal">;

export const userSessions: RecordKind<UserSessionRow> = {
  name: "user_session",
  load: loadOnce((keys) =>
    query.selectFrom("user_session").selectAll()
      .where(sql<boolean>`session_hash in (select unhex(value ->> 0) from json_each(${keys}))`).compile()
  ),
  keyOf: (row) => [row.session_hash.toHex()],
  sealing: {
    values: (row) => [
      row.session_hash,
      row.org_id,
      row.user_id,
      row.session_epoch,
      row.method,
      row.provider_session,
      row.agent,
      row.created_at,
      row.seen_at,
      row.expires_at,
    ],
    heldBy: auditLog,
  },
  save: compileOnce((row) =>
    query.insertInto("user_session").values(row).onConflict((conflict) =>
      conflict.column("session_hash").doUpdateSet(({ ref }) => ({
        seen_at: ref("excluded.seen_at"),
        seal: ref("excluded.seal"),
      }))
    ).compile()
  ),
  remove: ([hash]) => ({
    ...query.deleteFrom("user_session").where("session_hash", "=", Uint8Array.fromHex(hash!)).compile(),
    impersonal: true,
  }),
};

/** The number of an organization's users; there is no row if it has none. */
export interface UserCount {
  readonly org_id: string;
  readonly count: number;
}

export const userCounts: RecordKind<UserCount> = {
  name: "user_count",
  load: loadOnce((keys) =>
    query.selectFrom("user_account").select((row) => ["org_id", row.fn.countAll<number>().as("count")])
      .where(keyIn(["org_id"], keys)).groupBy("org_id").compile()
  ),
  keyOf: (row) => [row.org_id],
};

/** A session, with the set that the head of its organization's audit log holds. */
export type HeldSession = UserSessionRow & { readonly held: Uint8Array | null };

/** The session of a hash; null if there is none. */
export async function readSession(database: Database, hash: Uint8Array): Promise<HeldSession | null> {
  const [row] = await database.read(sessionQuery({ hash }));
  return row ?? null;
}

const sessionQuery = compileOnce(({ hash }: { readonly hash: Uint8Array }) =>
  query.selectFrom("user_session").selectAll().select(heldColumn("user_session"))
    .where("session_hash", "=", hash).compile()
);

/** The users of an identity provider's subject, in all organizations. */
export function providedUsersQuery(
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): CompiledQuery<Pick<UserRow, "org_id" | "user_id">> {
  return query.selectFrom("user_account").select(["org_id", "user_id"]).where("issuer", "=", issuer)
    .where("issuer_subject", "=", subject).compile();
}

/** The sessions that an identity provider ends: one by the provider's name, or all of a subject. */
export function providedSessionsQuery(
  { issuer, subject, session }: {
    readonly issuer: string;
    readonly subject: string | null;
    readonly session: string | null;
  },
): CompiledQuery<Pick<UserSessionRow, "org_id" | "user_id" | "session_hash">> {
  const sessions = query.selectFrom("user_session as s").innerJoin(
    "user_account as u",
    "u.user_id",
    "s.user_id",
  )
    .select(["s.org_id", "s.user_id", "s.session_hash"]).where("u.issuer", "=", issuer);
  return (session === null
    ? sessions.where("u.issuer_subject", "=", subject).where("s.method", "=", "oidc")
    : sessions.where("s.provider_session", "=", session)).compile();
}

/** The organizations that have users, by their ids. */
export function organizationsWithUsersQuery(
  { limit }: { readonly limit?: number } = {},
): CompiledQuery<{ readonly org_id: string }> {
  const rows = query.selectFrom("user_account").select("org_id").distinct().orderBy("org_id");
  return (limit === undefined ? rows : rows.limit(limit)).compile();
}

/** The sessions that ended before an instant, or were not used since another, epoch milliseconds. */
export function endedSessionsQuery(
  { endedBefore, unusedSince, limit }: {
    readonly endedBefore: number;
    readonly unusedSince: number;
    readonly limit: number;
  },
): CompiledQuery<Pick<UserSessionRow, "org_id" | "session_hash">> {
  return query.selectFrom("user_session").select(["org_id", "session_hash"])
    .where((row) => row.or([row("expires_at", "<=", endedBefore), row("seen_at", "<=", unusedSince)]))
    .limit(limit).compile();
}

/** An organization's users, the oldest first. */
export function usersQuery(orgId: string): CompiledQuery<UserRow> {
  return query.selectFrom("user_account").selectAll().where("org_id", "=", orgId)
    .orderBy("created_at").orderBy("user_id").compile();
}

/** The sessions of an organization's users, the oldest first. */
export function userSessionsQuery(orgId: string): CompiledQuery<UserSessionRow> {
  return query.selectFrom("user_session").selectAll().where("org_id", "=", orgId)
    .orderBy("created_at").orderBy("session_hash").compile();
}
