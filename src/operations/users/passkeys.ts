/** Users' passkeys: made, listed, removed, and used to sign in. */
import type { Logging, Proving, Reading, Writing } from "../shared/capabilities.ts";
import { ServiceError } from "../../domain/errors.ts";
import { isoOrNull } from "../../domain/instant.ts";
import { PASSKEYS_OF_USER_MAX } from "../../domain/limits.ts";
import type {
  PasskeyAuthentication,
  PasskeyCreationOptions,
  PasskeyRegistration,
} from "../../domain/passkey.ts";
import type { NewPasskeyRequest } from "../../domain/user.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import {
  type NewPasskey,
  registrationOptions,
  verifyAuthentication,
  verifyRegistration,
} from "../../identity/passkeys.ts";
import { PasskeyRefusal } from "../../identity/passkey_refusal.ts";
import type { RelyingParty } from "../../identity/relying_party.ts";
import { type PasskeyRow, passkeys } from "../../store/passkeys.ts";
import type { UnitOfWork } from "../../store/unit_of_work.ts";
import { userAccounts, type UserRow } from "../../store/users.ts";
import { isOpen } from "../organizations/authentication.ts";
import { readRegistered, type Remembering } from "../organizations/registered.ts";
import type { Call } from "../shared/call.ts";
import { eventDraft } from "../shared/drafts.ts";
import { passkeysOf, requireUser } from "./accounts.ts";
import type { Sessioning, UserCaller } from "./sessions.ts";
import { type Attempt, begin, type Candidate, type SignedIn } from "./sign_in.ts";

type Needs = Reading & Pick<Proving, "installation"> & Writing & Logging & Remembering & Sessioning;

/** A ceremony that was begun: whom passkeys belong to, and the challenge that the answer must sign. */
export interface Ceremony {
  readonly party: RelyingParty;
  /** 32 random bytes. */
  readonly challenge: Uint8Array;
}

/** The options with which a browser makes a passkey for a user. */
export async function passkeyOptions(
  dependencies: Needs,
  { user, organization, party, challenge }: Ceremony & {
    readonly user: UserRow;
    readonly organization: { readonly name: string };
  },
): Promise<PasskeyCreationOptions> {
  const rows = await passkeysOf(dependencies, { orgId: user.org_id, userId: user.user_id });
  return registrationOptions({
    rpId: party.rpId,
    rpName: `JISS, ${organization.name}`,
    userId: user.user_id,
    userName: user.email ?? user.user_id,
    userDisplayName: user.name ?? user.user_id,
    existing: rows.map(({ credential_id }) => credential_id),
    challenge,
  });
}

/** The passkey of a registration. @throws {ServiceError} VALIDATION_FAILED if it is not what was asked for. */
export async function registeredPasskey(
  registration: PasskeyRegistration,
  { party, challenge }: Ceremony,
): Promise<NewPasskey> {
  try {
    return await verifyRegistration({ response: registration, challenge, ...party });
  } catch (error) {
    if (!(error instanceof PasskeyRefusal)) throw error;
    throw new ServiceError("VALIDATION_FAILED", error.message, {
      details: [{ path: "registration", message: error.message }],
    });
  }
}

/** Adds a passkey within a commit. @throws {ServiceError} CONFLICT if somebody has it already. */
export function planPasskey(
  unit: UnitOfWork,
  { user_id, org_id }: Pick<UserRow, "user_id" | "org_id">,
  { made, name, now }: { readonly made: NewPasskey; readonly name: string; readonly now: number },
): PasskeyRow {
  const { credentialId, publicKey, counter } = made;
  if (unit.get(passkeys, [credentialId]) !== null) {
    throw new ServiceError("CONFLICT", "This passkey is registered already: sign in with it.");
  }
  const row: PasskeyRow = {
    credential_id: credentialId,
    org_id,
    user_id,
    name,
    public_key: publicKey,
    counter,
    created_at: now,
    used_at: null,
  };
  unit.put(passkeys, row);
  return row;
}

/**
 * Adds a passkey to the user who is signed in. Whom an identity provider signs in gets none: it would open the service after the
 * provider has shut the person out.
 * @throws {ServiceError} VALIDATION_FAILED; CONFLICT.
 */
export async function addPasskey(
  dependencies: Needs,
  caller: UserCaller,
  { request: { name, registration }, ceremony, call: { now } }: {
    readonly request: NewPasskeyRequest;
    readonly ceremony: Ceremony;
    readonly call: Call;
  },
): Promise<Record<string, unknown>> {
  const { world, writer } = dependencies;
  const { orgId, userId } = caller;
  const made = await registeredPasskey(registration, ceremony);
  if ((await passkeysOf(dependencies, caller)).length >= PASSKEYS_OF_USER_MAX) {
    throw new ServiceError(
      "CONFLICT",
      `You have ${PASSKEYS_OF_USER_MAX} passkeys, the most that a user may have: remove one first.`,
    );
  }
  const draft = eventDraft(world, { type: "USER_PASSKEY_ADDED", caller, now, detail: { user_id: userId } });
  return await writer.submit({
    needs: [{ kind: passkeys, key: [made.credentialId] }, { kind: userAccounts, key: [userId] }],
    chains: [adminChain(orgId)],
    plan(unit) {
      if (requireUser(unit, caller).issuer !== null) {
        throw new ServiceError(
          "CONFLICT",
          "Your organization's account signs you in, so that you need no passkey, and can have none.",
        );
      }
      const row = planPasskey(unit, { user_id: userId, org_id: orgId }, { made, name, now });
      unit.append(adminChain(orgId), draft);
      return () => passkeyBody(row);
    },
  });
}

/** The passkeys of a user, the oldest first. */
export async function listPasskeys(
  dependencies: Needs,
  caller: Pick<UserCaller, "orgId" | "userId">,
): Promise<readonly Record<string, unknown>[]> {
  return (await passkeysOf(dependencies, caller)).map(passkeyBody);
}

/** Removes a passkey of the user who is signed in. @throws {ServiceError} NOT_FOUND. */
export async function removePasskey(
  { world, writer }: Needs,
  caller: UserCaller,
  { passkeyId, call: { now } }: { readonly passkeyId: string; readonly call: Call },
): Promise<void> {
  const { orgId, userId } = caller;
  const draft = eventDraft(world, { type: "USER_PASSKEY_REMOVED", caller, now, detail: { user_id: userId } });
  await writer.submit({
    needs: [{ kind: passkeys, key: [passkeyId] }],
    chains: [adminChain(orgId)],
    plan(unit) {
      const row = unit.get(passkeys, [passkeyId]);
      if (row?.org_id !== orgId || row.user_id !== userId) {
        throw new ServiceError(
          "NOT_FOUND",
          "There is no such passkey: GET /v1/me/passkeys lists the passkeys.",
        );
      }
      unit.remove(passkeys, [passkeyId]);
      unit.append(adminChain(orgId), draft);
      return () => undefined;
    },
  });
}

function passkeyBody(row: PasskeyRow): Record<string, unknown> {
  return {
    passkey_id: row.credential_id,
    name: row.name,
    created_at: isoOrNull(row.created_at),
    used_at: isoOrNull(row.used_at),
  };
}

/** A refused sign-in with a passkey. */
export interface RefusedPasskey extends Candidate {
  /** For the log alone: it may tell what is stored. */
  readonly reason: string;
}

/**
 * Signs in with a passkey.
 * @returns the session; or, if it is refused, whom the attempt was about, and why.
 */
export async function signInWithPasskey(
  dependencies: Needs,
  { answer, ceremony: { party, challenge }, ...attempt }: Attempt & {
    readonly answer: PasskeyAuthentication;
    readonly ceremony: Ceremony;
  },
): Promise<SignedIn | RefusedPasskey> {
  const { call: { now } } = attempt;
  const [stored] = await dependencies.database.read(passkeys.load(JSON.stringify([[answer.id]])));
  const registered = stored === undefined ? null : await readRegistered(dependencies, stored.org_id);
  const row = registered?.passkeys.find(({ credential_id }) => credential_id === answer.id) ?? null;
  const user = registered?.users.find(({ user_id }) => user_id === row?.user_id) ?? null;
  const refused = (reason: string): RefusedPasskey => ({
    orgId: user?.org_id ?? null,
    userId: user?.user_id ?? null,
    reason,
  });
  let newCounter: number;
  try {
    ({ newCounter } = await verifyAuthentication({
      response: answer,
      challenge,
      ...party,
      credential: row && {
        credentialId: row.credential_id,
        publicKey: Uint8Array.from(row.public_key),
        counter: row.counter,
        userId: row.user_id,
      },
    }));
  } catch (error) {
    if (!(error instanceof PasskeyRefusal)) throw error;
    return refused(error.code);
  }
  if (row === null || user === null) return refused("unknown_credential");
  if (!isOpen(registered?.organization)) return refused("inactive_organization");
  const signedIn = await begin(dependencies, {
    ...attempt,
    user,
    method: "passkey",
    needs: [{ kind: passkeys, key: [row.credential_id] }],
    accept(account, unit) {
      const present = unit.get(passkeys, [row.credential_id]);
      if (present === null || account.state !== "active") return null;
      // Two answers of an authenticator and its clone may come at once.
      const isCounted = newCounter > 0 || present.counter > 0;
      if (isCounted && newCounter <= present.counter) return null;
      unit.put(passkeys, { ...present, counter: newCounter, used_at: now });
      return account;
    },
  });
  return signedIn ?? refused("user_or_passkey_changed");
}
