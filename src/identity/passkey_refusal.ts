/** Why a passkey's answer is refused. */

/** Refusals that depend on what the service has stored. They have one message, so that it tells nobody what that is. */
const NOT_ACCEPTED =
  "The service does not accept this passkey: use another one, or ask the administrator of your organization.";

/** Messages for the person who registers or signs in. */
const MESSAGES = {
  malformed: "The browser did not answer as a browser does: reload the page and try again.",
  wrong_ceremony: "The browser answered another question than the one asked: reload the page and try again.",
  wrong_challenge: "The answer belongs to another attempt: reload the page and try again.",
  wrong_origin: "The page was not opened at the service's own address: open it there and try again.",
  in_frame: "The page was shown inside of another page: open it in a window of its own and try again.",
  wrong_relying_party: "The passkey was made for another address than the service's own: use another one.",
  user_not_verified:
    "The device did not check who you are: set up a PIN, a fingerprint or face recognition on it and try again.",
  unsupported_key:
    "The device made a key of a kind that the service does not accept (ES256, or RS256 of 2,048 bits): use another device.",
  unknown_credential: NOT_ACCEPTED,
  wrong_signature: NOT_ACCEPTED,
  wrong_user: NOT_ACCEPTED,
  counter_regressed: NOT_ACCEPTED,
} as const;

export type PasskeyRefusalCode = keyof typeof MESSAGES;

/**
 * A refused answer. The message is for the person and holds nothing of the answer. The code is for the log: answering
 * a failed sign-in with it would tell which passkeys exist.
 */
export class PasskeyRefusal extends Error {
  override readonly name = "PasskeyRefusal";
  constructor(readonly code: PasskeyRefusalCode) {
    super(MESSAGES[code]);
  }
}
