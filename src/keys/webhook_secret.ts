/**
 * The secret that signs a webhook's deliveries: it is derived, shown once, and wrapped at rest.
 * Source: specification, Webhook destination; contract, section 5; Standard Webhooks, "Signature scheme".
 */
import { Buffer } from "node:buffer";
import { hkdfSync } from "node:crypto";
import { unwrapWithAny, wrapSecret } from "./secrets.ts";

const SIGNING_SECRET_BYTES = 32;

/**
 * The signing secret, 32 bytes, derived from the secret that was shared at registration. It is specific to
 * this destination of this installation. Uses HKDF-SHA256 (RFC 5869), so that the shared secret need not be
 * kept.
 */
export function deriveSigningSecret(
  shared: string,
  { installationKey, webhookId }: { readonly installationKey: Uint8Array; readonly webhookId: string },
): Uint8Array {
  return new Uint8Array(
    hkdfSync("sha256", shared, installationKey, `jiss webhook signing v1 ${webhookId}`, SIGNING_SECRET_BYTES),
  );
}

/** The secret in the form that the receiver gets. */
export function formatSigningSecret(secret: Uint8Array): string {
  return `whsec_${Buffer.from(secret).toString("base64")}`;
}

/** Wraps the secret. `iv` is 12 random bytes, never used again. */
export function wrapSigningSecret(
  secret: Uint8Array,
  { key, webhookId, iv }: { readonly key: Uint8Array; readonly webhookId: string; readonly iv: Uint8Array },
): Uint8Array {
  return wrapSecret(secret, { key, purpose: purposeOf(webhookId), iv });
}

/** The secret, and the index of the key that unwrapped it; null if none does. */
export function unwrapSigningSecret(
  wrapped: Uint8Array,
  { keys, webhookId }: { readonly keys: readonly Uint8Array[]; readonly webhookId: string },
): { readonly plain: Uint8Array; readonly index: number } | null {
  return unwrapWithAny(wrapped, { keys, purpose: purposeOf(webhookId) });
}

function purposeOf(webhookId: string): string {
  return `webhook signing secret ${webhookId}`;
}
