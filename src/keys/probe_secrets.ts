/**
 * The secrets that hide probes until they are opened: the seed of each day, the salt of each probe, the tickets. All are
 * derived from the installation key, so that nothing of them is stored and no rotation of a secret changes them.
 */
import { hkdfSync } from "node:crypto";
import { hmacSha256 } from "./hmac.ts";

const KEY_LENGTH = 32;

/** The keys that are in use; deriving one takes longer than all that is made with it. */
const derived = new WeakMap<Uint8Array, Uint8Array>();

function probeKey(installationKey: Uint8Array): Uint8Array {
  const known = derived.get(installationKey);
  if (known !== undefined) return known;
  const key = new Uint8Array(hkdfSync("sha256", installationKey, "", "jiss probes v1", KEY_LENGTH));
  derived.set(installationKey, key);
  return key;
}

/** The seed of an organization's draws on a UTC day, 32 bytes: who has it can foretell them. */
export function probeSeed(installationKey: Uint8Array, orgId: string, day: string): Uint8Array {
  return hmacSha256(probeKey(installationKey), JSON.stringify(["seed", orgId, day]));
}

/** The salt of a probe's commitment, 32 bytes. */
export function probeSalt(installationKey: Uint8Array, orgId: string, probeId: string): Uint8Array {
  return hmacSha256(probeKey(installationKey), JSON.stringify(["salt", orgId, probeId]));
}

/** The ticket with which a probe is scored: 43 characters of base64url. */
export function probeTicket(
  installationKey: Uint8Array,
  orgId: string,
  { probeId, sessionId }: { readonly probeId: string; readonly sessionId: string },
): string {
  return hmacSha256(probeKey(installationKey), JSON.stringify(["ticket", orgId, probeId, sessionId]))
    .toBase64({ alphabet: "base64url", omitPadding: true });
}
