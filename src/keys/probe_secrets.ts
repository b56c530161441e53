/**
 * The secrets that hide probes until they are opened: the seed of each day, the salt of each probe, the tickets. All are
 * derived from the installation key, so that nothing of them is stored and no rotation of a secret changes them.
 */
import { derivedKey } from "./derived_key.ts";
import { hmacSha256 } from "./hmac.ts";

const probeKey = derivedKey("jiss probes v1");

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
