/**
 * Sign-in of a person by a passkey: the options of the two ceremonies, and the verification of their answers.
 *
 * Nothing here knows time, randomness or storage. Whoever calls this hands in the challenge, lets each be used once and
 * in its time, and keeps credentials: a credential id belongs to one user, and the counter is stored after each sign-in.
 * Statements about the authenticator (attestation) are neither asked for nor read.
 * Source: Web Authentication Level 3 (W3C), sections 7.1 and 7.2.
 */
import {
  PASSKEY_ALGORITHMS,
  PASSKEY_CEREMONY_MS,
  PASSKEY_CHALLENGE_BYTES,
  PASSKEY_USER_ID_MAX_BYTES,
  passkeyAuthenticationSchema,
  type PasskeyCreationOptions,
  passkeyRegistrationSchema,
  type PasskeyRequestOptions,
} from "../domain/passkey.ts";
import {
  bytesOf,
  checkAuthenticatorData,
  checkClientData,
  type Expected,
  parseAnswer,
  toBase64url,
} from "./answer.ts";
import { algorithmOf, algorithmOfSignature, isBelowModulus, NO_SIGNATURE, STAND_INS } from "./keys.ts";
import { PasskeyRefusal } from "./passkey_refusal.ts";
import type * as webauthn from "./webauthn.ts";

type Library = typeof webauthn;

/** Loads the package at the first passkey; loading it at each start would cost all who use none. */
function load(): Promise<Library> {
  return import("./webauthn.ts");
}

// ---- registration -----------------------------------------------------------------------------------------

export interface RegistrationQuestion {
  readonly rpId: string;
  /** The name of the service that people see. */
  readonly rpName: string;
  /** 1 to 64 bytes of UTF-8, which authenticators keep readable: no name and no address. */
  readonly userId: string;
  /** What tells a person's passkeys apart when one is chosen, such as an address of mail. */
  readonly userName: string;
  readonly userDisplayName: string;
  /** Ids of the passkeys that the user has. */
  readonly existing: readonly string[];
  /** 32 random bytes. */
  readonly challenge: Uint8Array;
}

/**
 * Options of `navigator.credentials.create`.
 * @throws {RangeError} if the challenge or the id of the user has another length
 */
export function registrationOptions(
  { rpId, rpName, userId, userName, userDisplayName, existing, challenge }: RegistrationQuestion,
): PasskeyCreationOptions {
  return {
    rp: { id: rpId, name: rpName },
    user: { id: userHandleOf(userId), name: userName, displayName: userDisplayName },
    challenge: challengeText(challenge),
    pubKeyCredParams: [PASSKEY_ALGORITHMS.ES256, PASSKEY_ALGORITHMS.RS256].map((alg) => ({
      type: "public-key",
      alg,
    })),
    timeout: PASSKEY_CEREMONY_MS,
    excludeCredentials: existing.map((id) => ({ type: "public-key", id })),
    authenticatorSelection: {
      residentKey: "required",
      requireResidentKey: true,
      userVerification: "required",
    },
    attestation: "none",
  };
}

/** A passkey to store. */
export interface NewPasskey {
  /** base64url, at most 1,364 characters. Refuse the registration if any user has it already. */
  readonly credentialId: string;
  /** COSE, 77 bytes (ES256) or 272 (RS256). */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly counter: number;
  /** Ways to reach the authenticator, as the browser knows them. */
  readonly transports: readonly string[];
  /** Whether it is kept in more than one place. */
  readonly backedUp: boolean;
}

/**
 * The new passkey of a registration.
 * @param response JSON from the browser, of any kind.
 * @throws {PasskeyRefusal} if anything about it is wrong, and nothing else
 */
export async function verifyRegistration(
  { response, ...expected }: Expected & { readonly response: unknown },
): Promise<NewPasskey> {
  const { id, response: { transports, ...sent } } = parseAnswer(passkeyRegistrationSchema, response);
  checkClientData(sent.clientDataJSON, { ...expected, type: "webauthn.create" });
  const attestation = bytesOf(sent.attestationObject);
  const library = await load();
  const data = authenticatorDataIn(attestation, library);
  const { counter, backedUp } = checkAuthenticatorData(data, expected);
  const credential = await credentialOf(data, { id, clientDataJSON: sent.clientDataJSON, expected, library });
  if (credential.id !== id) throw new PasskeyRefusal("malformed");
  const publicKey = Uint8Array.from(credential.publicKey);
  if (!await isUsable(publicKey, library)) throw new PasskeyRefusal("unsupported_key");
  return { credentialId: id, publicKey, counter, transports: [...new Set(transports)], backedUp };
}

function authenticatorDataIn(
  attestation: Uint8Array<ArrayBuffer>,
  { isoCBOR }: Library,
): Uint8Array<ArrayBuffer> {
  try {
    const object: unknown = isoCBOR.decodeFirst<unknown>(attestation);
    const data: unknown = object instanceof Map ? object.get("authData") : null;
    if (data instanceof Uint8Array) return Uint8Array.from(data);
  } catch {
    // It is refused below.
  }
  throw new PasskeyRefusal("malformed");
}

/**
 * The credential in the authenticator's data. The statement about the authenticator is replaced by none: to verify one,
 * the package would fetch addresses that its sender chose.
 */
async function credentialOf(
  data: Uint8Array<ArrayBuffer>,
  { id, clientDataJSON, expected, library }: {
    readonly id: string;
    readonly clientDataJSON: string;
    readonly expected: Expected;
    readonly library: Library;
  },
) {
  const object = library.isoCBOR.encode(
    new Map<string, string | Map<string, string> | Uint8Array>([
      ["fmt", "none"],
      ["attStmt", new Map<string, string>()],
      ["authData", data],
    ]),
  );
  const verified = await library.verifyRegistrationResponse({
    response: {
      id,
      rawId: id,
      type: "public-key",
      response: { clientDataJSON, attestationObject: toBase64url(object) },
      clientExtensionResults: {},
    },
    expectedChallenge: toBase64url(expected.challenge),
    expectedOrigin: expected.origin,
    expectedRPID: expected.rpId,
    requireUserVerification: true,
  }).catch(() => null);
  if (verified?.verified !== true) throw new PasskeyRefusal("malformed");
  return verified.registrationInfo.credential;
}

/** Whether a signature by this key could be verified: a point beside the curve, for one, cannot be used. */
async function isUsable(publicKey: Uint8Array<ArrayBuffer>, library: Library): Promise<boolean> {
  const algorithm = algorithmOf(publicKey, library);
  if (algorithm === null) return false;
  const attempt = {
    signature: NO_SIGNATURE[algorithm],
    data: new Uint8Array(),
    credentialPublicKey: publicKey,
  };
  try {
    await library.verifySignature(attempt);
    return true;
  } catch {
    return false;
  }
}

// ---- sign-in ----------------------------------------------------------------------------------------------

/**
 * Options of `navigator.credentials.get`. They are the same for everybody: the person chooses among the passkeys of the
 * device, and nothing tells who has one.
 * @throws {RangeError} if the challenge is not 32 bytes
 */
export function authenticationOptions(
  { rpId, challenge }: Pick<Expected, "rpId" | "challenge">,
): PasskeyRequestOptions {
  return {
    rpId,
    challenge: challengeText(challenge),
    timeout: PASSKEY_CEREMONY_MS,
    allowCredentials: [],
    userVerification: "required",
  };
}

/** A passkey as it is stored, with its user. */
export interface StoredPasskey extends Pick<NewPasskey, "credentialId" | "publicKey" | "counter"> {
  readonly userId: string;
}

/** What a sign-in changes of the stored passkey. */
export interface PasskeyUse {
  readonly newCounter: number;
  readonly backedUp: boolean;
}

/**
 * Verifies a sign-in. The time of a refusal depends on the answer alone: an unknown credential takes as long as a wrong
 * signature.
 * @param response JSON from the browser, of any kind.
 * @param credential the stored passkey with the answer's `id`; null if there is none.
 * @throws {PasskeyRefusal} if anything about it is wrong, and nothing else
 */
export async function verifyAuthentication(
  { response, credential, ...expected }: Expected & {
    readonly response: unknown;
    readonly credential: StoredPasskey | null;
  },
): Promise<PasskeyUse> {
  const { id, response: sent } = parseAnswer(passkeyAuthenticationSchema, response);
  checkClientData(sent.clientDataJSON, { ...expected, type: "webauthn.get" });
  const { counter, backedUp } = checkAuthenticatorData(bytesOf(sent.authenticatorData), expected);
  const signatureBytes = bytesOf(sent.signature);
  const algorithm = algorithmOfSignature(signatureBytes);
  if (algorithm === null) throw new PasskeyRefusal("malformed");
  bytesOf(sent.userHandle);
  const library = await load();

  // From here on what is stored decides. Each path verifies one signature, by a key of the signature's own algorithm.
  const stored = credential?.credentialId === id ? credential : null;
  const storedKey = stored === null ? STAND_INS[algorithm] : Uint8Array.from(stored.publicKey);
  const fits = algorithmOf(storedKey, library) === algorithm;
  const publicKey = fits ? storedKey : STAND_INS[algorithm];
  const isPossible = algorithm === "ES256" || isBelowModulus(signatureBytes, publicKey, library);
  const signature = toBase64url(isPossible ? signatureBytes : NO_SIGNATURE[algorithm]);
  const isSigned = await library.verifyAuthenticationResponse({
    response: {
      id,
      rawId: id,
      type: "public-key",
      response: { ...sent, signature },
      clientExtensionResults: {},
    },
    expectedChallenge: toBase64url(expected.challenge),
    expectedOrigin: expected.origin,
    expectedRPID: expected.rpId,
    requireUserVerification: true,
    // The package would look at the counter before the signature, and refuse sooner.
    credential: { id, publicKey, counter: 0 },
  }).then(({ verified }) => verified, () => false);
  if (stored === null) throw new PasskeyRefusal("unknown_credential");
  if (!isSigned || !isPossible || !fits) throw new PasskeyRefusal("wrong_signature");

  if (sent.userHandle !== userHandleOf(stored.userId)) throw new PasskeyRefusal("wrong_user");
  const isCounted = counter > 0 || stored.counter > 0;
  if (isCounted && counter <= stored.counter) throw new PasskeyRefusal("counter_regressed");
  return { newCounter: counter, backedUp };
}

// ---- both -------------------------------------------------------------------------------------------------

/** @throws {RangeError} */
function challengeText(challenge: Uint8Array): string {
  if (challenge.length !== PASSKEY_CHALLENGE_BYTES) {
    throw new RangeError(`a challenge has ${PASSKEY_CHALLENGE_BYTES} bytes`);
  }
  return toBase64url(challenge);
}

/** @throws {RangeError} */
function userHandleOf(userId: string): string {
  const bytes = new TextEncoder().encode(userId);
  if (bytes.length === 0 || bytes.length > PASSKEY_USER_ID_MAX_BYTES) {
    throw new RangeError(`the id of a user has 1 to ${PASSKEY_USER_ID_MAX_BYTES} bytes`);
  }
  return toBase64url(bytes);
}
