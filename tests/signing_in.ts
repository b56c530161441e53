/** Users who have signed in, made past the HTTP layer: no password is hashed, which would take a third of a second each. */
import type { Role } from "../src/domain/access.ts";
import { inviteUser } from "../src/operations/users/accounts.ts";
import { useLink } from "../src/operations/users/links.ts";
import { type ProvidedPerson, signInFromProvider } from "../src/operations/users/provider.ts";
import type { Harness } from "./harness.ts";

export interface TestUser {
  readonly userId: string;
  /** As a browser sends it back on plain HTTP. */
  readonly cookie: string;
  readonly sessionId: string;
}

let users = 0;

/** Invites a user of an organization, and signs the user in with a link that needs no password. */
export async function signedInUser(
  { dependencies, clock }: Harness,
  { orgId, role, email, name }: {
    readonly orgId: string;
    readonly role: Role;
    /** One of the test's own by default, as the name is. */
    readonly email?: string;
    readonly name?: string;
  },
): Promise<TestUser> {
  const now = clock.now();
  const call = { now, requestId: dependencies.world.ulid(now) };
  const caller = { actor: "system", orgId, prefix: null } as const;
  users += 1;
  const { link } = await inviteUser(dependencies, caller, {
    request: {
      email: email ?? `${role}-${users}@${orgId}.example`,
      name: name ?? `${role} ${users}`,
      role,
    },
    purpose: "sign_in",
    call,
  });
  const { token, row, user } = await useLink(dependencies, {
    token: link.token,
    agent: "a browser of the tests",
    call,
  });
  return {
    userId: user.user_id,
    cookie: `jiss_session=${token}`,
    sessionId: row.session_hash.toHex(),
  };
}

/** Signs somebody in whom an identity provider has identified, as its claims say. */
export function provided({ dependencies, clock }: Harness, claims: Partial<ProvidedPerson>) {
  const now = clock.now();
  return signInFromProvider(dependencies, {
    issuer: "https://idp.example",
    subject: "subject-1",
    email: null,
    emailVerified: false,
    name: "Ada Ruiz",
    session: null,
    orgId: "acme",
    role: "viewer",
    ...claims,
  }, { agent: "a browser of the tests", call: { now, requestId: dependencies.world.ulid(now) } });
}
