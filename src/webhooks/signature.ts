/**
 * The headers of a delivery: the specified signature, and the Standard Webhooks signature of the same body.
 * Source: specification, Events; Standard Webhooks 1.0.0, "Signature scheme"; contract, section 5.
 */
import { createHmac } from "node:crypto";
import { formatSigningSecret } from "../keys/webhook_secret.ts";

const USER_AGENT = "SERVICE-Webhook/1.3";

export interface SignedDelivery {
  /** A UUID. */
  readonly deliveryId: string;
  /** The body exactly as it is sent. */
  readonly body: string;
  /** Unix seconds of this attempt. */
  readonly timestamp: number;
}

/** @param secret The 32 bytes behind the `signing_secret`. */
export function deliveryHeaders(
  secret: Uint8Array,
  { deliveryId, body, timestamp }: SignedDelivery,
): Readonly<Record<string, string>> {
  // The key of the specified scheme is the secret's text as the receiver got it; the standard one uses its
  // bytes.
  const specified = createHmac("sha256", formatSigningSecret(secret)).update(`${timestamp}.${body}`).digest(
    "hex",
  );
  const standard = createHmac("sha256", secret).update(`${deliveryId}.${timestamp}.${body}`).digest("base64");
  return {
    "Content-Type": "application/json",
    "User-Agent": USER_AGENT,
    "X-SERVICE-Signature": `sha256=${specified}`,
    "X-SERVICE-Timestamp": String(timestamp),
    "X-SERVICE-Idempotency-Key": deliveryId,
    "webhook-id": deliveryId,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": `v1,${standard}`,
  };
}
