/** Why a sign-in by OpenID Connect, or a logout token, was refused. */

export const OIDC_REASONS = [
  "provider_unavailable",
  "provider_slow",
  "provider_error",
  "misconfigured",
  "wrong_state",
  "wrong_nonce",
  "wrong_issuer",
  "wrong_audience",
  "wrong_token",
  "bad_signature",
  "expired",
  "not_yet_valid",
  "replayed_or_bad_code",
] as const;
export type OidcReason = (typeof OIDC_REASONS)[number];

/** A refusal with its reason. The message contains no code, token, claim or secret, so that it can be logged. */
export class OidcRefused extends Error {
  override readonly name = "OidcRefused";

  constructor(readonly reason: OidcReason, message: string) {
    super(message);
  }
}
