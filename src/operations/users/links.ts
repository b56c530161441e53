/** One-time links: what one is for, and its use, which sets a password or a passkey, or only signs in. */
import type { Logging, Proving, Reading, Writing } from "../shared/capabilities.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { LinkPurpose } from "../../domain/user.ts";
import { equalBytes } from "../../evidence/crypto.ts";
import type { NewPasskey } from "../../identity/passkeys.ts";
import { hashPassword, PASSWORD_SALT_BYTES } from "../../keys/passwords.ts";
import { parseLinkToken } from "../../keys/user_secrets.ts";
import type { StoredOrganization } from "../../store/organizations.ts";
import { passkeys } from "../../store/passkeys.ts";
import { userAccounts, type UserRow } from "../../store/users.ts";
import { isOpen } from "../organizations/authentication.ts";
import { readRegistered, type Remembering } from "../organizations/registered.ts";
import type { Call } from "../shared/call.ts";
import { NO_LINK, passkeysOf } from "./accounts.ts";
import { planPasskey } from "./passkeys.ts";
import type { Sessioning } from "./sessions.ts";
import { type Attempt, begin, type SignedIn } from "./sign_in.ts";

type Needs = Reading & Pick<Proving, "installation"> & Writing & Logging & Remembering & Sessioning;

/** A one-time link that can be used now. */
export interface OpenLink {
  readonly purpose: LinkPurpose;
  readonly user: UserRow;
  readonly organization: StoredOrganization;
  readonly expiresAt: number;
}

/** Reads what a link is for, and uses nothing up. @throws {ServiceError} NOT_FOUND if it cannot be used. */
export async function readLink(dependencies: Needs, token: string, { now }: Call): Promise<OpenLink> {
  const parsed = parseLinkToken(token);
  if (parsed === null) throw unusableLink();
  const [stored] = await dependencies.database.read(userAccounts.load(JSON.stringify([[parsed.userId]])));
  if (stored === undefined) throw unusableLink();
  const { users, organization } = await readRegistered(dependencies, stored.org_id);
  const user = users.find(({ user_id }) => user_id === parsed.userId);
  if (user === undefined || !isOpen(organization) || !fitsLink(user, parsed.hash, now)) throw unusableLink();
  return { purpose: user.link_purpose as LinkPurpose, user, organization, expiresAt: user.link_expires_at! };
}

function fitsLink(user: UserRow, hash: Uint8Array, now: number): boolean {
  const { link_hash, link_expires_at, state } = user;
  return state !== "disabled" && state !== "erased" && link_hash !== null && now < link_expires_at! &&
    equalBytes(link_hash, hash);
}

/** One message for every reason: a link that was replaced is no different from one that never was. */
function unusableLink(): ServiceError {
  return new ServiceError(
    "NOT_FOUND",
    "This link was used, replaced or is over: ask an admin for a new one.",
  );
}

/**
 * Uses a link up, and signs in. If it sets a password or a passkey, every other way in ends: whoever may have taken an earlier link
 * is out.
 * @throws {ServiceError} NOT_FOUND if it cannot be used; VALIDATION_FAILED if a password is missing, or is one too many.
 */
export async function useLink(
  dependencies: Needs,
  { token, password = null, passkey = null, ...attempt }: Attempt & {
    readonly token: string;
    readonly password?: string | null;
    /** A passkey that was made for this link. */
    readonly passkey?: { readonly made: NewPasskey; readonly name: string } | null;
  },
): Promise<SignedIn> {
  const { call: { now } } = attempt;
  const { purpose, user } = await readLink(dependencies, token, attempt.call);
  requireCredential(purpose, { password, passkey });
  const { hash } = parseLinkToken(token)!;
  const own = (await passkeysOf(dependencies, { orgId: user.org_id, userId: user.user_id }))
    .map(({ credential_id }) => credential_id);
  const stored = password === null
    ? null
    : await hashPassword(password, dependencies.world.random(PASSWORD_SALT_BYTES), { kind: "known" });
  const signedIn = await begin(dependencies, {
    ...attempt,
    user,
    method: "link",
    setsPassword: stored !== null,
    addsPasskey: passkey !== null,
    needs: [...new Set([...own, ...(passkey === null ? [] : [passkey.made.credentialId])])].map((id) => ({
      kind: passkeys,
      key: [id],
    })),
    accept(row, unit) {
      if (!fitsLink(row, hash, now)) return null;
      const changed = { ...row, ...NO_LINK, state: "active", changed_at: now };
      if (purpose !== "set_password") return changed;
      for (const id of own) {
        if (unit.get(passkeys, [id]) !== null) unit.remove(passkeys, [id]);
      }
      if (passkey !== null) planPasskey(unit, row, { ...passkey, now });
      return { ...changed, password: stored, session_epoch: row.session_epoch + 1 };
    },
  });
  if (signedIn === null) throw unusableLink();
  return signedIn;
}

/** @throws {ServiceError} VALIDATION_FAILED if the link sets a password or a passkey and none is sent, or the other way round. */
function requireCredential(
  purpose: LinkPurpose,
  { password, passkey }: { readonly password: string | null; readonly passkey: unknown },
): void {
  const sent = [password, passkey].filter((one) => one !== null).length;
  if (sent === (purpose === "set_password" ? 1 : 0)) return;
  const message = sent === 0
    ? "is missing: this link sets a password, or a passkey in its place"
    : purpose === "sign_in"
    ? "must be left out: this link only signs in"
    : "and passkey must not both be sent";
  throw new ServiceError("VALIDATION_FAILED", `Change password: it ${message}.`, {
    details: [{ path: "password", message }],
  });
}
