/**
 * The headers of a delivery: the specified signature, and that of Standard Webhooks over the same body.
 * Source: specification, Events; Standard Webhooks 1.0.0, "Signature scheme"; contract, section 5.
 */
import { createHmac } from "node:crypto";
import { formatSigningSecret } from "../keys/webhook_secret.ts";

const USER_AGENT = "SERVICE-Webhook/1.3";

export interface SignedDelivery {
  /** A UUID. */
  readonly deliveryId: string;
  /** As it is sent. */
  readonly body: string;
  /** Unix seconds of this attempt. */
  readonly timestamp: number;
}

/** @param secret the 32 bytes behind the `signing_secret`. */
export function deliveryHeaders(
  secret: Uint8Array,
  { deliveryId, body, timestamp }: SignedDelivery,
): Readonly<Record<string, string>> {
  // The specified scheme is keyed with the secret's text as it was given out, the standard one with its bytes.
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
